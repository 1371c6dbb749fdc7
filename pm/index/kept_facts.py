"""`KeptFacts`: the file that keeps the facts of one target, as one process reads it and adds to it."""

import hashlib
import time
from collections.abc import Mapping
from math import inf
from pathlib import Path

from pm.index.store import Entry, Loaded, load, save

_SAVING = 2.0
"""Seconds between two writings of the facts while rounds follow each other: all of them are written each time."""


class KeptFacts:
    """The facts that are kept in the cache under a key. Other processes may replace the file at any time."""

    def __init__(self, cache: Path, key: str) -> None:
        self._path = cache / "facts" / f"{hashlib.sha256(key.encode()).hexdigest()[:24]}.facts"
        self._key = key
        self._whole: tuple[int, ...] | None = None
        """The file as it was when it was last read or written whole."""
        self._is_unsaved = False
        self._saved_at = -inf
        self.loaded = load(self._path, key)
        """What was read last: without the listings until `load_listings`."""

    def load_listings(self) -> Loaded:
        """Load the whole file, unless it is what was read or written here last: another process may know more."""
        seen = _seen(self._path)
        if self._whole is None or seen != self._whole:
            self._whole = seen
            self.loaded = load(self._path, self._key, whole=True)
        return self.loaded

    def note_change(self, fetched: Mapping[str, Entry]) -> None:
        """Take note that more has become known; it is written now and then."""
        self._is_unsaved = True
        if time.monotonic() - self._saved_at > _SAVING:
            self.save(fetched)

    def save(self, fetched: Mapping[str, Entry]) -> None:
        """Keep what has become known since the file was loaded. Raise `PmError` if it cannot be written."""
        if self._is_unsaved:
            self._is_unsaved = False
            self._saved_at = time.monotonic()
            save(self._path, self._key, self._with(fetched).values())
            self._whole = _seen(self._path)

    def _with(self, fetched: Mapping[str, Entry]) -> dict[str, Entry]:
        from pm.index.listings import newest_of

        loaded = self.load_listings()
        entries = {name: entry for name in loaded.names() if (entry := loaded.get(name)) is not None}
        for name, entry in fetched.items():
            theirs = entries.get(name)
            entries[name] = entry if theirs is None else newest_of(entry, theirs)
        return entries


def _seen(path: Path) -> tuple[int, ...]:
    """Return what changes whenever a file is replaced."""
    try:
        status = path.stat()
    except OSError:
        return ()
    return status.st_ino, status.st_mtime_ns, status.st_size
