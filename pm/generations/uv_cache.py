"""uv's cache of ours: which of its entries are damaged, so that these are dropped and fetched once more.

uv unpacks a wheel once and links its files into every environment. A file that was cut by a power failure, or edited
in an environment, is the same file in the cache and in all environments to come, and uv compares nothing. The RECORD
that was unpacked with the files tells whether they are whole.
"""

import errno
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from lockfiles import Lock
from pm.dist_info import RecordLine
from pm.errors import PmError
from pm.generations.distributions import InstalledDistribution, digest_of_file, installed, lists_itself, read_lines
from pm.places import Places
from pm.system.files import disk_error, require_writable

_ARCHIVES = "archive-v*"
_ENTRIES = ("wheels-v*/*/*", "wheels-v*/*/*/*")
"""Where a folder for each distribution of an index, an address or a folder of wheels can lie."""


def damaged_in_cache(places: Places, lock: Lock) -> tuple[str, ...]:
    """Return the distributions of a lock that uv's cache has an entry of and holds no whole files for, sorted.

    An entry that says which files it means cannot be read without uv: so each of which no whole files of this version
    are there counts as damaged.
    """
    cache = places.cache / "uv"
    versions = lock.versions()
    entries = {path.name for pattern in _ENTRIES for path in cache.glob(pattern)} & versions.keys()
    if not entries:
        return ()
    whole = {(one.name, one.version) for one in _whole(cache, entries)}
    return tuple(sorted(name for name in entries if (name, versions[name]) not in whole))


def unneeded_in_cache(places: Places, locks: Iterable[Lock]) -> Iterator[Path]:
    """Yield what uv's cache holds of distributions that no lock names, and what it keeps of pages and builds.

    Files of an environment stay when their other name in the cache goes.
    """
    cache = places.cache / "uv"
    needed = {(pin.name, pin.version) for lock in locks for pin in lock.pins}
    names = {name for name, _ in needed}
    for folder in sorted(cache.glob(f"{_ARCHIVES}/*")):
        held = {(one.name, one.version) for one in installed(folder)}
        if not held & needed:
            yield folder
    for pattern in _ENTRIES:
        yield from (path for path in sorted(cache.glob(pattern)) if _is_entry(path) and path.name not in names)
    for pattern in _OF_NO_LOCK:
        yield from sorted(cache.glob(pattern))


def require_usable_cache(places: Places) -> None:
    """Raise `PmError` (`not-writable`) for what uv writes to with every call, before anything is fetched for it."""
    cache = places.cache / "uv"
    require_writable(cache, *(path for path in cache.glob("*") if path.is_dir()), *cache.glob("sdists-v*/.git"))


def closed_in_cache(places: Places) -> PmError | None:
    """Return what of uv's cache belongs to another user and cannot be written."""
    for folder, folders, _ in os.walk(places.cache / "uv"):
        for name in folders:
            path = Path(folder, name)
            if path.lstat().st_uid != os.geteuid() and not os.access(path, os.W_OK):
                return disk_error(PermissionError(errno.EACCES, os.strerror(errno.EACCES)), path)
    return None


_OF_NO_LOCK = ("simple-v*", "flat-index-v*", "builds-v*", "git-v*", "environments-v*", "sdists-v*/[a-z]*")


def _is_entry(path: Path) -> bool:
    """Say whether a folder is that of a distribution: it holds files, and that of an index holds folders."""
    return path.is_dir() and any(one.is_file() for one in path.iterdir())


def _whole(cache: Path, names: Iterable[str]) -> Iterator[InstalledDistribution]:
    """Yield the distributions of these names whose unpacked files all are what their RECORD says."""
    wanted = set(names)
    for folder in sorted(cache.glob(f"{_ARCHIVES}/*")):
        for distribution in installed(folder):
            if distribution.name in wanted and _is_whole(folder, distribution):
                yield distribution


def _is_whole(folder: Path, distribution: InstalledDistribution) -> bool:
    lines = read_lines(distribution.record)
    return lists_itself(distribution, lines) and all(_is_as_listed(folder / line.path, line) for line in lines)


def _is_as_listed(path: Path, line: RecordLine) -> bool:
    try:
        size = path.stat().st_size
        return line.size in (None, size) and (not line.has_sha256 or digest_of_file(path) == line.digest)
    except OSError:
        return False
