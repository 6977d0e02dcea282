"""Bulk operations: the list, one of them, the steps that steer it, its file."""

from jobs.console.views.operations.export import export
from jobs.console.views.operations.pages import operation, operations
from jobs.console.views.operations.steering import dialog, pause, resume, stop

__all__ = ["dialog", "export", "operation", "operations", "pause", "resume", "stop"]
