"""Keep the facts of one target in one file that many processes share and that damage cannot turn into an error.

The file is a header and, for each package, its page and candidates, and behind all of them the listings, which only
fetching needs. The header holds place, length and checksum of each, so that loading costs the same however much the
file has gathered: what belongs to a package is checked and parsed when it is looked at. Whatever does not agree (a cut
file, a changed byte, another program's file) counts as not known and is fetched again. A file is only replaced whole.
"""

import json
import os
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from admission import Candidate, Page
from pm.index.rows import candidate_row, page_of, read_candidate_row
from pm.system.files import written_whole

if TYPE_CHECKING:
    from pm.index.listed_files import Text

_MAGIC = b"hermes-pm facts 5"
"""A higher number for another form, or for another reading of what indexes say: older files count as not known."""
_LONGEST_FIRST_LINE = 100


class Entry:
    """What is known of one package; never changed, only replaced."""

    __slots__ = ("_candidates", "_page", "at", "candidate_rows", "listing_row", "name", "page_row", "signature")

    def __init__(
        self,
        name: str,
        *,
        at: int,
        signature: str,
        page_row: bytes,
        listing_row: "Text" = b"",
        candidate_rows: Mapping[str, bytes] | None = None,
    ) -> None:
        self.name = name
        self.at = at
        """When the index was asked, in seconds; 0 if it was not."""
        self.signature = signature
        """Of the folders' files that were merged in; empty if there were none."""
        self.page_row = page_row
        self.listing_row = listing_row
        """Empty unless the whole file was loaded."""
        self.candidate_rows = candidate_rows or {}
        self._page: tuple[bool, Page] | None = None
        self._candidates: dict[str, Candidate] = {}

    def page(self, *, may_build: bool) -> Page:
        """Return the page as it stands with or without a consent to build the package."""
        if self._page is None or self._page[0] is not may_build:
            self._page = (may_build, page_of(self.name, self.page_row, may_build=may_build))
        return self._page[1]

    def candidate(self, version: str) -> Candidate | None:
        """Return a candidate, if its metadata was read."""
        known = self._candidates.get(version)
        if known is None and version in self.candidate_rows:
            known = self._candidates[version] = read_candidate_row(self.name, version, self.candidate_rows[version])
        return known

    def with_candidate(self, candidate: Candidate) -> "Entry":
        """Return the entry with one more candidate."""
        return self.with_candidates({**self.candidate_rows, candidate.version: candidate_row(candidate)})

    def with_page(self, page_row: bytes, listing_row: "Text") -> "Entry":
        """Return the entry with another page."""
        return Entry(
            self.name,
            at=self.at,
            signature=self.signature,
            page_row=page_row,
            listing_row=listing_row,
            candidate_rows=self.candidate_rows,
        )

    def with_candidates(self, rows: Mapping[str, bytes]) -> "Entry":
        """Return the entry with other candidates; its page, if it was read, needs not be read again."""
        entry = Entry(
            self.name,
            at=self.at,
            signature=self.signature,
            page_row=self.page_row,
            listing_row=self.listing_row,
            candidate_rows=rows,
        )
        entry._page = self._page
        return entry


class _RowPlace(NamedTuple):
    """Where the rows of one package stand in a file."""

    at: int
    signature: str
    start: int
    page_length: int
    length: int
    checksum: int
    listing_start: int
    listing_length: int
    listing_checksum: int


class Loaded:
    """The entries of one file, each made when it is looked at."""

    __slots__ = ("_entries", "_facts", "_listings", "_places", "header")

    def __init__(
        self,
        header: bytes = b"",
        places: Mapping[str, list[Any]] | None = None,
        facts: bytes = b"",
        listings: bytes = b"",
    ) -> None:
        self.header = header
        """As it stands in the file: two files with the same header hold the same facts."""
        self._places = places or {}
        self._facts = facts
        self._listings = listings
        self._entries: dict[str, Entry | None] = {}

    def names(self) -> Iterable[str]:
        """Return the names of all packages, also of those whose rows are damaged."""
        return self._places.keys()

    def get(self, name: str) -> Entry | None:
        """Return what is known of a package; `None` also if it is damaged."""
        if name not in self._entries:
            place = self._places.get(name)
            self._entries[name] = None if place is None else self._entry(name, _RowPlace(*place))
        return self._entries[name]

    def _entry(self, name: str, place: _RowPlace) -> Entry | None:
        rows = self._facts[place.start : place.start + place.length]
        if zlib.crc32(rows) != place.checksum:
            return None
        # a view: of a long page a copy would be in memory beside the file
        listing = memoryview(self._listings)[place.listing_start : place.listing_start + place.listing_length]
        return Entry(
            name,
            at=place.at,
            signature=place.signature,
            page_row=rows[: place.page_length],
            listing_row=listing if zlib.crc32(listing) == place.listing_checksum else b"",
            candidate_rows=_candidate_rows(rows[place.page_length :]),
        )


def _candidate_rows(rows: bytes) -> dict[str, bytes]:
    pairs = (line.partition(b" ") for line in rows.split(b"\n") if line)
    return {version.decode("ascii"): row for version, _, row in pairs}


def load(path: Path, key: str, *, whole: bool = False) -> Loaded:
    """Read the file that belongs to a key; with `whole` also the listings. A file that is not one of ours is empty."""
    try:
        with path.open("rb") as file:
            header, facts_length = _read_header(file)
            content = json.loads(header)
            if content["for"] != key:
                return Loaded()
            facts = file.read(facts_length)
            # of a known length: reading to the end gathers pieces, and has all of it in memory twice
            rest = os.fstat(file.fileno()).st_size - file.tell() if whole else 0
            return Loaded(header, content["places"], facts, file.read(rest))
    except (OSError, ValueError, KeyError, TypeError):
        return Loaded()


def _read_header(file: BinaryIO) -> tuple[bytes, int]:
    magic, checksum, length, facts_length = file.readline(_LONGEST_FIRST_LINE).rsplit(b" ", 3)
    header = file.read(int(length))
    if magic != _MAGIC or zlib.crc32(header) != int(checksum):
        raise ValueError("not a file of facts")
    return header, int(facts_length)


def save(path: Path, key: str, entries: Iterable[Entry]) -> None:
    """Replace the file by one with these entries. Raise `PmError` (`no-space`, `not-writable`)."""
    with written_whole(path, mode=0o600) as file:
        file.writelines(_content(key, sorted(entries, key=lambda entry: entry.name)))


def _content(key: str, entries: list[Entry]) -> "list[Text]":
    facts: list[bytes] = []
    places: dict[str, _RowPlace] = {}
    start = listing_start = 0
    for entry in entries:
        candidates = b"".join(
            b"%s %s\n" % (version.encode("ascii"), row) for version, row in entry.candidate_rows.items()
        )
        rows = entry.page_row + candidates
        listing = entry.listing_row
        places[entry.name] = _RowPlace(
            at=entry.at,
            signature=entry.signature,
            start=start,
            page_length=len(entry.page_row),
            length=len(rows),
            checksum=zlib.crc32(rows),
            listing_start=listing_start,
            listing_length=len(listing),
            listing_checksum=zlib.crc32(listing),
        )
        facts.append(rows)
        start += len(rows)
        listing_start += len(listing)
    header = json.dumps({"for": key, "places": places}, separators=(",", ":"), ensure_ascii=True).encode("ascii")
    first = b"%s %d %d %d\n" % (_MAGIC, zlib.crc32(header), len(header), start)
    return [first, header, *facts, *(entry.listing_row for entry in entries)]
