"""Who is told what: notifications for the people of a tenant, alerts for operators, and the messages that carry alerts.

`tell` writes notifications, `watch` evaluates the rules, `alerts` opens and closes, `deliveries` is the queue of messages.
Nothing here sends anything: that is `jobs.workers.delivery`.
"""

from jobs.notifications.tell import artifact_failed

__all__ = ["artifact_failed"]
