"""Read JSON as nodes with places; numbers keep their text, and a key that is written twice is found."""

from __future__ import annotations

import json
import re
from json.decoder import scanstring  # type: ignore[attr-defined]  # the stub leaves it out; it is how json reads a string
from typing import TYPE_CHECKING

from admission import Problem
from pm.documents.boundary import parsed
from pm.documents.nodes import (
    Document,
    ListNode,
    MappingNode,
    Node,
    ScalarNode,
    duplicate_key,
    member,
    too_deep,
    too_many_digits,
    too_many_values,
)
from pm.limits import DOCUMENT_DEPTH, DOCUMENT_VALUES

if TYPE_CHECKING:
    from collections.abc import Iterator

_SPACE = re.compile(r"[ \t\n\r]*")
_BARE = re.compile(r"[^\s,\]}]+")
_LITERALS = {"null": "null", "true": "boolean", "false": "boolean"}


def read_json(text: str, file: str) -> Document:
    """Return the value of a JSON text; an empty file has none."""
    if not text.strip():
        return Document(None)
    digits = too_many_digits(text, file)
    if digits is not None:
        return Document(None, (digits,))
    return parsed(lambda: _read(text, file), lambda why: Document(None, (_no_json(why, file),)))


def _read(text: str, file: str) -> Document:
    try:
        json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        why = f"{error.msg[:1].lower()}{error.msg[1:]}"
        return Document(None, (_no_json(why, file)._replace(line=error.lineno, column=error.colno),))
    except RecursionError:
        return Document(None, (too_deep(file),))
    return _JsonWalk(text, file).document()


def _refuse_constant(name: str) -> None:
    message = f"`{name}` is not a value"
    raise ValueError(message)


def _no_json(why: str, file: str) -> Problem:
    return Problem("invalid-declaration", f"this is not JSON: {why}", file)


class _BeyondLimit(ValueError):
    """The rest of the document is not read."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


class _JsonWalk:
    """Goes over a text that is known to be JSON, which is why nothing here can fail but its limits."""

    def __init__(self, text: str, file: str) -> None:
        self._text = text
        self._file = file
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self._problems: list[Problem] = []
        self._duplicates: list[Problem] = []
        self._at = 0
        self._values = 0

    def document(self) -> Document:
        try:
            root = self._value("", 0)
        except _BeyondLimit as error:
            return Document(None, (error.problem,))
        empty = isinstance(root, ScalarNode) and root.kind == "null"
        return Document(None if empty else root, tuple(self._problems), tuple(self._duplicates))

    def _value(self, path: str, depth: int) -> Node:
        self._skip_space()
        line, column = self._place()
        self._values += 1
        if depth > DOCUMENT_DEPTH.value:
            raise _BeyondLimit(too_deep(self._file))
        if self._values > DOCUMENT_VALUES.value:
            raise _BeyondLimit(too_many_values(self._file, line, column))
        opening = self._text[self._at]
        if opening == "{":
            return MappingNode(tuple(self._entries(path, depth)), line, column)
        if opening == "[":
            return ListNode(tuple(self._items(path, depth)), line, column)
        return self._scalar(path)

    def _items(self, path: str, depth: int) -> Iterator[Node]:
        index = 0
        self._at += 1
        while not self._closes("]"):
            yield self._value(f"{path}[{index}]", depth + 1)
            index += 1

    def _entries(self, path: str, depth: int) -> Iterator[tuple[ScalarNode, Node]]:
        first_lines: dict[str, int] = {}
        self._at += 1
        while not self._closes("}"):
            key = self._scalar(path)
            inner = member(path, key.text)
            if key.text in first_lines:
                self._duplicates.append(duplicate_key(self._file, inner, first=first_lines[key.text], second=key.line))
                self._problems.append(self._duplicates[-1])
            first_lines.setdefault(key.text, key.line)
            self._skip_space()
            self._at += 1  # the colon
            yield key, self._value(inner, depth + 1)

    def _closes(self, bracket: str) -> bool:
        """Step over the comma, or over the closing bracket and say so."""
        self._skip_space()
        if self._text[self._at] == ",":
            self._at += 1
            self._skip_space()
        closes = self._text[self._at] == bracket
        self._at += closes
        return closes

    def _scalar(self, path: str) -> ScalarNode:
        line, column = self._place()
        if self._text[self._at] == '"':
            value, self._at = scanstring(self._text, self._at + 1)
            if any("\ud800" <= one <= "\udfff" for one in value):
                message = "the text holds one half of a surrogate pair, which is no character"
                self._problems.append(Problem("invalid-declaration", message, self._file, line, column, path))
                value = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            return ScalarNode(value, "text", line, column + 1)
        match = _BARE.match(self._text, self._at)
        word = match.group() if match else ""
        self._at += len(word)
        kind = _LITERALS.get(word) or ("number" if any(one in word for one in ".eE") else "integer")
        return ScalarNode(word, kind, line, column)

    def _skip_space(self) -> None:
        match = _SPACE.match(self._text, self._at)
        self._at = match.end() if match else self._at

    def _place(self) -> tuple[int, int]:
        from bisect import bisect_right

        line = bisect_right(self._starts, self._at)
        return line, self._at - self._starts[line - 1] + 1
