"""Find the place of every key and array item of a TOML text, which `tomllib` does not tell."""

import re
import tomllib
from bisect import bisect_right
from contextlib import suppress
from typing import NamedTuple

from pm.limits import DOCUMENT_VALUES


class TomlPosition(NamedTuple):
    """Where something stands; both are 1-based."""

    line: int
    column: int


class TomlPositions(NamedTuple):
    """All places of a text, by path: `("project", "dependencies", "0")`."""

    found: dict[tuple[str, ...], TomlPosition]
    duplicates: tuple[tuple[tuple[str, ...], TomlPosition, TomlPosition], ...]
    """Paths that are given twice, with both places."""
    ends_at: TomlPosition | None = None
    """Where a text holds more values than the limit, and its places end."""

    def of(self, *path: str) -> TomlPosition:
        """Return a place; line 0 when it is unknown."""
        return self.found.get(path, TomlPosition(0, 0))


def toml_places(text: str) -> TomlPositions:
    """Return the places of a text. In a text that is not TOML, those up to the fault."""
    walk = _TomlWalk(text)
    # The text may be no TOML, or too deep. What was found stands: `tomllib` is the judge.
    with suppress(_Lost, RecursionError):
        walk.document()
    return TomlPositions(walk.found, tuple(walk.duplicates), walk.ends_at)


class _Lost(ValueError):
    """The text is not TOML here."""


_BLANK = re.compile(r"(?:[ \t\n\r]|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_STRING = re.compile(
    r'"""(?:[^\\]|\\[\s\S])*?"{3,5}'
    r"|'''[\s\S]*?'{3,5}"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'[^'\n]*'"
)
_SCALAR = re.compile(r"[^\s,#\]}](?:[^,#\]}\n]*[^\s,#\]}])?")


class _TomlWalk:
    """Steps over a text from one key to the next. Values matter only for where they end."""

    def __init__(self, text: str) -> None:
        self.found: dict[tuple[str, ...], TomlPosition] = {}
        self.duplicates: list[tuple[tuple[str, ...], TomlPosition, TomlPosition]] = []
        self.ends_at: TomlPosition | None = None
        self._text = text
        self._at = 0
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self._headers: set[tuple[str, ...]] = set()
        self._tables: dict[tuple[str, ...], int] = {}
        """How many items each array of tables has so far."""

    def document(self) -> None:
        table: tuple[str, ...] = ()
        while True:
            self._count()
            self._skip(_BLANK)
            if self._at >= len(self._text):
                return
            if self._text.startswith("[", self._at):
                table = self._header()
            else:
                self._pair(table)

    def _header(self) -> tuple[str, ...]:
        place = self._place()
        brackets = 2 if self._text.startswith("[[", self._at) else 1
        self._at += brackets
        path = self._inside_arrays(self._key())
        self._expect("]" * brackets)
        if brackets > 1:
            index = self._tables.get(path, 0)
            self._tables[path] = index + 1
            self.found.setdefault(path, place)
            path = (*path, str(index))
        elif path in self._headers:
            self.duplicates.append((path, self.found[path], place))
        self._headers.add(path)
        self.found.setdefault(path, place)
        return path

    def _inside_arrays(self, key: tuple[str, ...]) -> tuple[str, ...]:
        """Return the path of a header: below an array of tables it means the last item."""
        path: tuple[str, ...] = ()
        for part in key[:-1]:
            path = (*path, part)
            path = (*path, str(self._tables[path] - 1)) if path in self._tables else path
        return (*path, key[-1])

    def _pair(self, table: tuple[str, ...]) -> None:
        place = self._place()
        path = (*table, *self._key())
        self._expect("=")
        self._skip(_SPACE)
        if path in self.found:
            self.duplicates.append((path, self.found[path], place))
        self.found.setdefault(path, place)
        self._value(path)

    def _key(self) -> tuple[str, ...]:
        parts = [self._key_part()]
        while self._skip(_SPACE) and self._text.startswith(".", self._at):
            self._at += 1
            parts.append(self._key_part())
        return tuple(parts)

    def _key_part(self) -> str:
        self._skip(_SPACE)
        if self._text[self._at : self._at + 1] in {'"', "'"}:
            quoted = self._take(_STRING)
            return _string_value(quoted)
        return self._take(_BARE_KEY)

    def _value(self, path: tuple[str, ...]) -> None:
        opening = self._text[self._at : self._at + 1]
        if opening == "[":
            self._array(path)
        elif opening == "{":
            self._inline_table(path)
        else:
            self._take(_STRING if opening in {'"', "'"} else _SCALAR)

    def _array(self, path: tuple[str, ...]) -> None:
        self._at += 1
        index = 0
        while not self._closes("]"):
            self._count()
            item = (*path, str(index))
            self.found.setdefault(item, self._place())
            self._value(item)
            index += 1

    def _inline_table(self, path: tuple[str, ...]) -> None:
        self._at += 1
        while not self._closes("}"):
            self._pair(path)

    def _closes(self, bracket: str) -> bool:
        """Step over a comma, or over the closing bracket and say so."""
        self._skip(_BLANK)
        if self._text.startswith(",", self._at):
            self._at += 1
            self._skip(_BLANK)
        closes = self._text.startswith(bracket, self._at)
        self._at += closes
        return closes

    def _count(self) -> None:
        if len(self.found) > DOCUMENT_VALUES.value:
            self.ends_at = self._place()
            raise _Lost

    def _take(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self._text, self._at)
        if match is None:
            raise _Lost
        self._at = match.end()
        return match.group()

    def _expect(self, text: str) -> None:
        self._skip(_SPACE)
        if not self._text.startswith(text, self._at):
            raise _Lost
        self._at += len(text)

    def _skip(self, pattern: re.Pattern[str]) -> bool:
        match = pattern.match(self._text, self._at)
        self._at = match.end() if match else self._at
        return True

    def _place(self) -> TomlPosition:
        line = bisect_right(self._starts, self._at)
        return TomlPosition(line, self._at - self._starts[line - 1] + 1)


def _string_value(quoted: str) -> str:
    try:
        value = tomllib.loads(f"v = {quoted}")["v"]
    except tomllib.TOMLDecodeError as error:
        raise _Lost from error
    return str(value)
