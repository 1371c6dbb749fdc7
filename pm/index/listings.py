"""`Listing`: what the sources said of one package, with the file behind each version, and its rows on disk.

A listing is only opened when something must be fetched; the hot path reads the page alone.
"""

import io
import json
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from pm.index.reduction import ListedFile, Reduced
from pm.index.rows import page_row, read_page_row
from pm.index.store import Entry


class Heard(NamedTuple):
    """Where and in which edition a page was read."""

    address: str = ""
    """Address of the index that knew the package; empty if none did."""
    etag: str = ""
    modified: str = ""
    digest: str = ""
    """Of the page's bytes, for indexes that give neither of the others."""


class Listing(NamedTuple):
    """What the index says of one package, and what it amounts to together with the folders."""

    heard: Heard = Heard()
    of_index: Reduced = Reduced()
    reduced: Reduced = Reduced()
    """Merged with the folders' files; the same value where no folder has any."""

    def file(self, version: str) -> ListedFile | None:
        """Return the file that would be installed for a version."""
        versions = self.reduced.versions
        return self.reduced.files.get(versions.index(version)) if version in versions else None


def listing_rows(listing: Listing) -> tuple[bytes, bytes]:
    """Write a listing as its page and the rest."""
    is_merged = listing.reduced is not listing.of_index
    head = [*listing.heard, page_row(listing.of_index).decode("ascii") if is_merged else ""]
    rows = io.BytesIO()  # of a long page, lines that are joined later would be in memory twice
    rows.write(_dumped(head))
    for reduced in (listing.reduced, listing.of_index)[: 2 if is_merged else 1]:
        for row in _file_rows(reduced):
            rows.write(b"\n" + row)
    return page_row(listing.reduced), rows.getvalue()


def read_listing(page: bytes, rest: bytes) -> Listing:
    """Read what `listing_rows` wrote; files are read when they are asked for."""
    lines = rest.split(b"\n")
    *heard, page_of_index = json.loads(lines[0])
    reduced = _read_reduced(page, lines[1:])
    of_index = (
        _read_reduced(page_of_index.encode("ascii"), lines[1 + len(reduced.versions) :]) if page_of_index else reduced
    )
    return Listing(Heard(*heard), of_index, reduced)


def still_valid(before: Entry, now: Listing) -> dict[str, bytes]:
    """Return the candidates whose file is still the same: an index that replaced one has made a stranger of it."""
    if not before.listing_row:
        return {}
    then = read_listing(before.page_row, before.listing_row)
    kept = {}
    for version, row in before.candidate_rows.items():
        file, earlier = now.file(version), then.file(version)
        if file is not None and earlier is not None and file.identity == earlier.identity:
            kept[version] = row
    return kept


def newest_of(ours: Entry, theirs: Entry) -> Entry:
    """Return the later of two entries for one package, with the candidates of both that still stand."""
    newer, older = (theirs, ours) if theirs.at > ours.at else (ours, theirs)
    if not newer.listing_row or newer.signature != older.signature:
        return newer
    kept = still_valid(older, read_listing(newer.page_row, newer.listing_row))
    return newer.with_candidates({**kept, **newer.candidate_rows})


def _read_reduced(page: bytes, lines: list[bytes]) -> Reduced:
    versions, uploaded, excluded, consented = read_page_row(page)
    return Reduced(versions, excluded, consented, uploaded, _FileRows(lines[: len(versions)]))


def _file_rows(reduced: Reduced) -> Iterator[bytes]:
    for position in range(len(reduced.versions)):
        file = reduced.files.get(position)
        yield _dumped(list(file)) if file else b""


class _FileRows(Mapping[int, ListedFile]):
    """Files as they stand on disk, each parsed when it is looked at."""

    __slots__ = ("_lines",)

    def __init__(self, lines: list[bytes]) -> None:
        self._lines = lines

    def __getitem__(self, position: int) -> ListedFile:
        if not 0 <= position < len(self._lines) or not self._lines[position]:
            raise KeyError(position)
        return ListedFile(*json.loads(self._lines[position]))

    def __iter__(self) -> Iterator[int]:
        return (position for position, line in enumerate(self._lines) if line)

    def __len__(self) -> int:
        return sum(1 for _ in self)


_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=True).encode


def _dumped(value: object) -> bytes:
    return _encode(value).encode("ascii")
