"""Read what others wrote as the hosts read it, and within limits: nothing is waited for, and nothing takes for ever."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from yaml.events import Event

__all__ = ["TROUBLE", "read_text", "read_yaml"]

TROUBLE = (ArithmeticError, AssertionError, LookupError, MemoryError, RecursionError, ValueError)
"""What parsers raise over texts that they were not made for."""
_LARGEST = 4 * 1024 * 1024
_DEEPEST = 64
_MOST_MERGED = 10_000


def read_text(path: Path) -> str:
    """Return the text of a regular file. Raise `OSError`, `UnicodeDecodeError`, or `ValueError` for anything else."""
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise ValueError(f"`{path}` is not a regular file")
    if status.st_size > _LARGEST:
        raise ValueError(f"`{path}` is larger than {_LARGEST // 1024} KiB")
    # what became a pipe since is not waited for
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), encoding="utf-8-sig") as file:  # noqa: PTH123 - a descriptor
        return file.read(_LARGEST)


def read_yaml(text: str, *, as_texts: bool = False) -> Any:  # noqa: ANN401 - any YAML value
    """Return the value of a YAML text, as hosts read it with PyYAML; with `as_texts` every plain value is its text.

    A key that is written twice, nesting and merges beyond the limits are refused. Raise `ValueError`.
    """
    import yaml

    base: Any = getattr(yaml, "CBaseLoader" if as_texts else "CSafeLoader", None)
    base = base or (yaml.BaseLoader if as_texts else yaml.SafeLoader)

    class Loader(base):  # type: ignore[misc]  # libyaml's where it is there
        def flatten_mapping(self, node: Any) -> None:  # noqa: ANN401 - a node of whichever loader
            super().flatten_mapping(node)
            if len(node.value) > _MOST_MERGED:
                _refuse(f"its merges come to more than {_MOST_MERGED} keys")

    try:
        _check(yaml.parse(text, Loader=base))
        return yaml.load(text, Loader=Loader)  # noqa: S506 - a safe one
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error


def _check(events: Iterable[Event]) -> None:
    """Refuse a text by its events, before values are made of it: a loader takes a level of its stack for each."""
    import yaml

    levels: list[_Level] = []
    for event in events:
        if isinstance(event, yaml.CollectionEndEvent):
            levels.pop()
        elif isinstance(event, yaml.NodeEvent):
            if levels:
                levels[-1].take(event)
            if isinstance(event, yaml.CollectionStartEvent):
                levels.append(_Level(is_mapping=isinstance(event, yaml.MappingStartEvent)))
                if len(levels) > _DEEPEST:
                    _refuse(f"it is nested deeper than {_DEEPEST} levels")


class _Level:
    """A list or a mapping that is being read."""

    def __init__(self, *, is_mapping: bool) -> None:
        self._is_mapping = is_mapping
        self._is_key = True
        self._keys: set[str] = set()

    def take(self, event: Event) -> None:
        """Read what comes next; every second part of a mapping is a key."""
        if self._is_mapping and self._is_key:
            key = getattr(event, "value", None)
            if key in self._keys:
                _refuse(f"the key `{key}` is written twice")
            self._keys |= {key} if key is not None else set()
        self._is_key = not self._is_key


def _refuse(message: str) -> NoReturn:
    raise ValueError(message)
