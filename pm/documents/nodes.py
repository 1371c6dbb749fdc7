"""What a YAML or JSON file says, with the place of every value: scalars keep the text as it is written."""

import re
from typing import NamedTuple

from admission import Problem
from pm.limits import DOCUMENT_DEPTH, DOCUMENT_VALUES, NUMBER_DIGITS, SHOWN_VALUE, Limit
from pm.names import cut, shown, visible

MERGE = "merge"
"""The kind of a key that merges another mapping."""


class ScalarNode(NamedTuple):
    """A single value. `version: 2.10` is the text `2.10`, whatever a loader would make of it."""

    text: str
    kind: str
    """What a loader would make of it: `text`, `null`, `boolean`, `integer`, `number`, `date` or `merge`."""
    line: int
    column: int
    """1-based, of the first character of the text, after a quote."""


class ListNode(NamedTuple):
    """A list of values."""

    items: "tuple[Node, ...]"
    line: int
    column: int
    kind: str = "list"


class MappingNode(NamedTuple):
    """Keys with values."""

    entries: "tuple[tuple[ScalarNode, Node], ...]"
    """In the order of the file; a key that is written twice is here twice."""
    line: int
    column: int
    kind: str = "mapping"

    def get(self, name: str) -> "Node | None":
        """Return the value of a key: the last one, as loaders do; else that of a merged mapping (`<<`)."""
        found = next((value for key, value in reversed(self.entries) if key.text == name), None)
        return found if found is not None else self._merged(name)

    def _merged(self, name: str) -> "Node | None":
        values = (source.get(name) for source in self.merged if isinstance(source, MappingNode))
        return next((value for value in values if value is not None), None)

    @property
    def merged(self) -> "tuple[Node, ...]":
        """What a `<<` without quotes merges, the one first that counts first."""
        value = next((value for key, value in reversed(self.entries) if key.kind == MERGE), None)
        if value is None:
            return ()
        return value.items if isinstance(value, ListNode) else (value,)


Node = ScalarNode | ListNode | MappingNode


class NodeSize(NamedTuple):
    """How much a value stands for when all aliases and merges are followed."""

    height: int = 0
    """Levels below it."""
    merged: int = 0
    """Keys that its merges come to."""
    merge_depth: int = 0


_TRUTHS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


def given(section: MappingNode, name: str) -> Node | None:
    """Return a value; a key without one (`enabled:` and nothing after it) counts as not written."""
    node = section.get(name)
    return None if isinstance(node, ScalarNode) and node.kind == "null" else node


def truth(node: Node) -> bool | None:
    """Return the truth value of a plain `true`, `no`, `off` …; `None` for anything else, a quoted one too."""
    return _TRUTHS.get(node.text.lower()) if isinstance(node, ScalarNode) and node.kind == "boolean" else None


def described(node: Node) -> str:
    """Return what a message calls a value of the wrong kind."""
    return shown(node.text) if isinstance(node, ScalarNode) else named_kind(node)


def named_kind(node: Node) -> str:
    """Return the kind of a value with its article: `a list`, `an integer`."""
    return f"an {node.kind}" if node.kind[0] in "aeiou" else f"a {node.kind}"


class Document(NamedTuple):
    """A file as it was understood, with everything that is wrong with its form."""

    root: Node | None
    """`None` for an empty file, or one that cannot be read at all."""
    problems: tuple[Problem, ...] = ()
    duplicates: tuple[Problem, ...] = ()
    """Those of the problems that are about a key which stands twice."""


def misread(file: str, path: str, node: ScalarNode, read: str) -> Problem:
    """Return the note that hosts read something else than what is written."""
    message = f"`{path}` is {shown(node.text)}, which hosts read as {read}"
    hint = f'write `"{visible(node.text)}"`, if the text is meant'
    return Problem("unquoted-value", message, file, node.line, node.column, path, hint)


def duplicate_key(file: str, path: str, *, first: int, second: int) -> Problem:
    """Return the problem of a key that stands twice in one mapping."""
    return Problem(
        "duplicate-key",
        f"`{path}` is written twice, on lines {first} and {second}",
        file,
        line=second,
        key=path,
        hint="keep one of the two: readers do not agree which one counts",
    )


def too_deep(file: str, line: int = 0, column: int = 0, key: str = "") -> Problem:
    """Return the problem of a document that is nested deeper than its limit."""
    message = f"the file is nested deeper than {_amount(DOCUMENT_DEPTH)}"
    return Problem("invalid-declaration", message, file, line, column, key)


def too_many_values(file: str, line: int, column: int = 0) -> Problem:
    """Return the problem of a document that holds more values than its limit."""
    return Problem("invalid-declaration", f"the file holds more than {_amount(DOCUMENT_VALUES)}", file, line, column)


def too_many_digits(text: str, file: str) -> Problem | None:
    """Return the problem of a text in which a number has more digits than the limit; `None` if none has."""
    match = re.search(rf"(?<![0-9_])[0-9](?:_?[0-9]){{{NUMBER_DIGITS.value}}}", text)
    if match is None:
        return None
    return long_number(file, *place_of(text, match.start()))


def long_number(file: str, line: int, column: int) -> Problem:
    """Return the problem of a number that has more digits than the limit."""
    return Problem("invalid-declaration", f"a number has more than {_amount(NUMBER_DIGITS)}", file, line, column)


def place_of(text: str, offset: int) -> tuple[int, int]:
    """Return the line and the column of a place, both 1-based."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def _amount(limit: Limit) -> str:
    return f"{limit.value:,} {limit.unit}"


def member(path: str, name: str) -> str:
    """Return the path of a key inside of a mapping as it is shown, `memory.provider`: of a long key only a part."""
    short = cut(name, SHOWN_VALUE.value)
    return f"{path}.{short}" if path else short
