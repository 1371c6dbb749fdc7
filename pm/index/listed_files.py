"""`ListedFile`: one file that a source offers, and `FileRows`: very many of them, as the rows that stand on disk.

A page can name two hundred thousand files, and a decision looks at a few: so they are kept as text, in one piece, and
each is read when it is looked at.
"""

import io
import json
import re
from array import array
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

Text = bytes | memoryview


class ListedFile(NamedTuple):
    """One file that an index or a folder offers."""

    filename: str
    url: str = ""
    """Absolute, without credentials; empty for a local file."""
    sha256: str = ""
    """Empty where the source gives none: then it is learnt from the file itself."""
    size: int | None = None
    upload_time: str = ""
    requires_python: str = ""
    metadata: str = ""
    """Digest of the announced metadata file (PEP 658); `*` if it is announced without a digest."""
    local: str = ""
    """Absolute path, for a file of a folder."""
    stamp: str = ""
    """Size and time of a local file, to see a change without reading it."""
    flaw: str = ""
    """Why it cannot be used, for a file that stands here only because its version has no better one."""

    @property
    def is_wheel(self) -> bool:
        return self.filename.endswith(".whl")

    @property
    def identity(self) -> tuple[object, ...]:
        """What must not change for that a candidate read from this file stays valid."""
        return (self.filename, self.sha256, self.size, self.stamp, self.local)


_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=True).encode


def file_row(file: ListedFile) -> bytes:
    """Write a file as its row."""
    return _encode(file).encode("ascii")


def read_file_row(row: Text) -> ListedFile:
    """Read what `file_row` wrote."""
    return ListedFile(*json.loads(bytes(row)))


class FileRows(Mapping[int, ListedFile]):
    """Files by the position of their version; a version without a file has an empty row."""

    __slots__ = ("_starts", "text")

    def __init__(self, text: Text, starts: "array[int]") -> None:
        self.text = text
        """All rows, each with the end of its line."""
        self._starts = starts
        """Where each row begins, and where the last one ends."""

    def row(self, position: int) -> Text:
        """Return the row of a version; empty for one without a file."""
        if not 0 <= position < len(self._starts) - 1:
            return b""
        return self.text[self._starts[position] : self._starts[position + 1] - 1]

    def at(self, text: Text) -> "FileRows":
        """Return the same rows where they stand in another text, so that the first one can be forgotten."""
        return FileRows(text, self._starts)

    def __getitem__(self, position: int) -> ListedFile:
        row = self.row(position)
        if not row:
            raise KeyError(position)
        return read_file_row(row)

    def __iter__(self) -> Iterator[int]:
        return (position for position in range(len(self._starts) - 1) if self.row(position))

    def __len__(self) -> int:
        return sum(1 for _ in self)


class Gathering:
    """Files in the order in which they come, of which some will be kept."""

    def __init__(self) -> None:
        self._text = io.BytesIO()
        self._ends = array("Q", [0])

    def add(self, file: ListedFile) -> int:
        """Take a file, and return its number."""
        self._text.write(file_row(file))
        self._ends.append(self._text.tell())
        return len(self._ends) - 2

    def file(self, number: int) -> ListedFile:
        """Return a file by its number."""
        with self._text.getbuffer() as text:
            return read_file_row(text[self._ends[number] : self._ends[number + 1]])

    def kept(self, numbers: Iterable[int | None]) -> FileRows:
        """Return the rows of some files in another order; `None` for a version without a file."""
        text, ends = self._text.getbuffer(), self._ends
        return joined(b"" if number is None else text[ends[number] : ends[number + 1]] for number in numbers)


def joined(rows: Iterable[Text]) -> FileRows:
    """Put rows into one text, in their order; they are taken one by one and not needed afterwards."""
    text, starts = io.BytesIO(), array("Q", [0])
    for row in rows:
        text.write(row)
        text.write(b"\n")
        starts.append(text.tell())
    return FileRows(text.getvalue(), starts)


def rows_of(files: Mapping[int, ListedFile], count: int) -> FileRows:
    """Return the rows of the files of so many versions."""
    if isinstance(files, FileRows):
        return files
    return joined(file_row(files[position]) if position in files else b"" for position in range(count))


def found_in(text: memoryview, count: int) -> FileRows:
    """Return the first so many rows of a text."""
    ends = (match.end() for match, _ in zip(re.finditer(rb"\n", text), range(count), strict=False))
    starts = array("Q", [0, *ends])
    return FileRows(text[: starts[-1]], starts)
