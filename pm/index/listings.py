"""`Listing`: what the sources said of one package, with the file behind each version, and its rows on disk.

A listing is only opened when something must be fetched; the hot path reads the page alone.
"""

import io
import json
import re
from collections.abc import Callable
from typing import NamedTuple

from pm.index.listed_files import ListedFile, Text, found_in, rows_of
from pm.index.reduction import Reduced
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


class Previous(NamedTuple):
    """What an index said of one package before."""

    heard: Heard
    of_index: Callable[[], Reduced]
    """Reads it, where nothing else has been said since."""


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


class ListingRows(NamedTuple):
    """A listing as it is written: its page and the rest."""

    page: bytes
    rest: bytes
    listing: Listing
    """The same listing, whose files are read from `rest`."""


def listing_rows(listing: Listing) -> ListingRows:
    """Write a listing."""
    is_merged = listing.reduced is not listing.of_index
    parts = (listing.reduced, listing.of_index)[: 2 if is_merged else 1]
    files = [rows_of(part.files, len(part.versions)) for part in parts]
    head = [*listing.heard, page_row(listing.of_index).decode("ascii") if is_merged else ""]
    text = io.BytesIO()  # of a long page, lines that are joined later would be in memory twice
    text.write(_dumped(head) + b"\n")
    starts = []
    for rows in files:
        starts.append(text.tell())
        text.write(rows.text)
    rest = text.getvalue()
    read = [
        part._replace(files=rows.at(memoryview(rest)[start:]))
        for part, rows, start in zip(parts, files, starts, strict=True)
    ]
    return ListingRows(page_row(listing.reduced), rest, Listing(listing.heard, read[-1], read[0]))


def previous_of(page: bytes, rest: Text) -> Previous:
    """Read of what `listing_rows` wrote only where it was heard: of a long page the rest takes much memory."""
    return Previous(_read_head(memoryview(rest))[0], lambda: read_listing(page, rest).of_index)


def read_listing(page: bytes, rest: Text) -> Listing:
    """Read what `listing_rows` wrote; files are read when they are asked for."""
    text = memoryview(rest)
    heard, page_of_index, end = _read_head(text)
    reduced, others = _read_reduced(page, text[end:])
    of_index = _read_reduced(page_of_index.encode("ascii"), others)[0] if page_of_index else reduced
    return Listing(heard, of_index, reduced)


def _read_head(text: memoryview) -> tuple[Heard, str, int]:
    """Return what stands in the first line, and where it ends."""
    end = next(re.finditer(rb"\n", text)).end()
    *heard, page_of_index = json.loads(bytes(text[:end]))
    return Heard(*heard), page_of_index, end


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
    if not newer.listing_row or newer.signature != older.signature or not older.candidate_rows:
        return newer
    kept = still_valid(older, read_listing(newer.page_row, newer.listing_row))
    return newer.with_candidates({**kept, **newer.candidate_rows})


def _read_reduced(page: bytes, text: memoryview) -> tuple[Reduced, memoryview]:
    """Return a package and what stands behind its files."""
    versions, uploaded, excluded, consented = read_page_row(page)
    files = found_in(text, len(versions))
    return Reduced(versions, excluded, consented, uploaded, files), text[len(files.text) :]


_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=True).encode


def _dumped(value: object) -> bytes:
    return _encode(value).encode("ascii")
