"""The distributions of an environment: where they lie, what their RECORDs list, what was added or taken away.

No other module opens a RECORD or looks for `*.dist-info` folders in an environment; their form is `pm.dist_info`. Each
start of a command imports this, so it needs little of the standard library.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from pm.dist_info import ENDING, METADATA, RECORD, RecordLine, distribution_of, record_lines, record_text, sha256_text
from pm.errors import PmError
from pm.system.files import write_bytes

LOCK_NAME = "pylock.toml"
"""In the folder of an environment: the lock that it was built from."""
_CHUNK = 1 << 20


class InstalledDistribution(NamedTuple):
    """One distribution as it lies in the site-packages."""

    name: str
    """Normalised."""
    version: str
    info: Path
    """Its `.dist-info` folder."""

    @property
    def record(self) -> Path:
        return self.info / RECORD

    @property
    def metadata(self) -> Path:
        return self.info / METADATA


def site_packages(folder: Path) -> Path:
    """Return where an environment's distributions lie; raise `PmError` (`drift`) if it is not complete."""
    found = sorted((folder / "lib").glob("python3.*/site-packages"))
    if not found:
        raise PmError("drift", f"`{folder}` is not a complete environment", file=str(folder))
    return found[0]


def interpreter_in(folder: Path) -> Path:
    """Return an environment's interpreter: a link to the one that it was built with."""
    return folder / "bin" / "python"


def stamp(folder: Path) -> str:
    """Return a cheap sign that changes when a top-level name is added to or removed from the site-packages."""
    status = site_packages(folder).stat()
    return f"{status.st_ino}:{status.st_mtime_ns}"


def installed(site: Path) -> Iterator[InstalledDistribution]:
    """Yield the distributions of site-packages in the order of their folders' names; no file is opened."""
    for info in sorted(site.glob(f"*{ENDING}")):
        yield InstalledDistribution(*distribution_of(info.name), info)


def foreign_distributions(folder: Path) -> tuple[list[str], list[str]]:
    """Return the names of distributions that were added to an environment and taken from it, sorted.

    Told from the names of folders and from the lock beside them; nothing for a lock that cannot be read.
    """
    locked = _locked(folder / LOCK_NAME)
    if locked is None:
        return [], []
    there = {distribution.name for distribution in installed(site_packages(folder))}
    return sorted(there - locked), sorted(locked - there)


def _locked(lock: Path) -> set[str] | None:
    import tomllib  # and not `lockfiles.pylock`: a start that finds something odd waits for this

    try:
        return {str(package["name"]) for package in tomllib.loads(lock.read_text(encoding="utf-8"))["packages"]}
    except (OSError, ValueError, LookupError, TypeError):
        return None


def own_files(folder: Path) -> list[RecordLine]:
    """Return what the manager has put into an environment, by paths from its folder.

    The environment itself says so: another version of the manager has put something else there, and an older one
    nothing.
    """
    return read_lines(own_record(folder))


def own_record(folder: Path) -> Path:
    """Return where it is noted, beside the lock, what the manager has put there: in the form of a RECORD."""
    from pm.inside import MODULE  # a start needs nothing of it

    return folder / f"{MODULE}.{RECORD}"


def read_lines(record: Path) -> list[RecordLine]:
    """Return the lines of a RECORD; empty if it is missing or cannot be read."""
    try:
        return list(_lines(record.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return []


@lru_cache(maxsize=1024)
def _lines(text: str) -> tuple[RecordLine, ...]:
    return tuple(record_lines(text))


def lists_itself(distribution: InstalledDistribution, lines: Iterable[RecordLine]) -> bool:
    """Say whether the lines of a distribution's RECORD name its METADATA: of one that was cut they do not."""
    return f"{distribution.info.name}/{METADATA}" in {line.path for line in lines}


def lines_of(distribution: InstalledDistribution) -> list[RecordLine]:
    """Return what the RECORD of a distribution says of the files that are there; empty if it cannot be read.

    uv leaves lines of scripts that it wrote anew for an entry point, and beside the lines of what it wrote itself those
    that the wheel had: of a file with two lines, and of the RECORD itself, only the name is known.
    """
    data = distribution.info.name.removesuffix(ENDING) + ".data/"
    lines = [line for line in read_lines(distribution.record) if not line.path.startswith(data)]
    own = f"{distribution.info.name}/{RECORD}"
    said: dict[str, RecordLine] = {}
    for line in lines:
        path = line.path
        known = path not in said or said[path] == line
        said[path] = line if known and path != own else RecordLine(path, "", None)
    return list(said.values())


def lines_by_name(site: Path) -> dict[str, list[RecordLine]]:
    """Return what the RECORDs of all distributions say."""
    return {one.name: lines_of(one) for one in installed(site)}


def write_lines(record: Path, lines: Iterable[RecordLine]) -> None:
    """Write a RECORD in place of what may lie there. Raise `PmError` (`no-space`, `not-writable`)."""
    write_bytes(record, record_text(lines).encode())


def digest_of(content: bytes) -> str:
    """Return the digest of a content as a RECORD gives it."""
    import hashlib

    return sha256_text(hashlib.sha256(content).digest())


def digest_of_file(path: Path) -> str:
    """Return the digest of a file as a RECORD gives it. Raise `OSError`."""
    import hashlib

    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
    return sha256_text(digest.digest())
