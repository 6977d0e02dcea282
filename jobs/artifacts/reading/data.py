"""JSON and YAML, bounded: no billion laughs, no thousand levels."""

import json
import re
from typing import Any

import yaml

from jobs.artifacts.limits import Limits
from jobs.artifacts.reading.document import Unreadable
from jobs.domain.json_input import depth_of


def parse_json(text: str, limits: Limits) -> Any:
    """The value. Raises ValueError when it is no JSON, `Unreadable` when it is nested too deeply."""
    if depth_of(text) > limits.depth:
        raise Unreadable(f"nested deeper than {limits.depth} levels")
    return json.loads(text)


class _Counting(yaml.SafeLoader):
    """Counts what aliases would make, before it is made. The C loader would be faster, but cannot be stopped."""

    def __init__(self, text: str, limits: Limits) -> None:
        super().__init__(text)
        self._limits, self._sizes, self._depth = limits, dict[int, int](), 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        self._depth += 1
        if self._depth > self._limits.depth:
            raise Unreadable(f"nested deeper than {self._limits.depth} levels")
        node = super().compose_node(parent, index)
        self._depth -= 1
        size = 1
        if isinstance(node, yaml.SequenceNode):
            size += sum(self._sizes.get(id(one), 1) for one in node.value)
        elif isinstance(node, yaml.MappingNode):
            size += sum(self._sizes.get(id(key), 1) + self._sizes.get(id(value), 1) for key, value in node.value)
        self._sizes[id(node)] = size
        if size > self._limits.nodes:
            raise Unreadable(f"it holds more than {self._limits.nodes:,} values, aliases counted")
        return node


def parse_yaml(text: str, limits: Limits) -> Any:
    """The first document, of a long one the beginning. Raises ValueError when it is no YAML, `Unreadable` when it would grow
    too large."""
    if len(text) > limits.yaml_chars:
        text = _whole_entries(text[: limits.yaml_chars])
    try:
        loader = _Counting(text, limits)
    except yaml.YAMLError as error:
        raise ValueError("it is no YAML: it holds a character that none may have") from error
    try:
        return loader.get_data() if loader.check_data() else None  # type: ignore[no-untyped-call]
    except (yaml.YAMLError, RecursionError, TypeError, AttributeError, OverflowError) as error:
        raise ValueError(f"it is no YAML: {type(error).__name__}") from error
    finally:
        loader.dispose()


def _whole_entries(text: str) -> str:
    """Without the last entry of the outermost level, which may be cut in its middle; else without the last line."""
    starts = [match.start() for match in re.finditer(r"^[^\s#]", text, re.M)]
    return text[: starts[-1]] if len(starts) > 1 and starts[-1] > len(text) // 2 else text[: text.rfind("\n") + 1]
