"""List folders of distribution files; nothing in them is opened."""

import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from admission import canonical_name
from pm.errors import PmError

_SDIST_ENDINGS = (".tar.gz", ".zip", ".tar.bz2", ".tgz", ".tar.xz")
_CHUNK = 1 << 20
DIGEST_PART = 16
"""Letters of a digest that name the folder a wheel is kept in."""


class FolderFile(NamedTuple):
    """One distribution file of a folder, as a listing of the folder shows it."""

    filename: str
    path: str
    """Absolute."""
    stamp: str
    """Size and time of the last change."""


def list_folders(folders: Sequence[Path]) -> dict[str, tuple[FolderFile, ...]]:
    """Return the distribution files of all folders by normalised name; of one file name only the first counts.

    A folder that cannot be listed has no files here; `unlisted` says so.
    """
    found: dict[str, dict[str, FolderFile]] = {}
    for folder in folders:
        for name, file in _list_folder(folder):
            found.setdefault(name, {}).setdefault(file.filename, file)
    return {name: tuple(files[filename] for filename in sorted(files)) for name, files in found.items()}


def unlisted(folders: Sequence[Path]) -> PmError | None:
    """Return `index-unreachable` for a folder that cannot be listed: what is in it is unknown, which is not nothing."""
    for folder in folders:
        try:
            os.scandir(folder).close()
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            message = f"the folder `{folder}` of `find_links` cannot be listed: {reason}"
            return PmError("index-unreachable", message, file=str(folder))
    return None


def _list_folder(folder: Path) -> Iterator[tuple[str, FolderFile]]:
    try:
        entries = list(os.scandir(folder))
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return
    for entry in entries:
        name = _distribution(entry.name)
        if name and entry.is_file():
            status = entry.stat()
            yield name, FolderFile(entry.name, entry.path, f"{status.st_size}-{status.st_mtime_ns}")


def _distribution(filename: str) -> str:
    if filename.endswith(".whl"):
        return canonical_name(filename.partition("-")[0])
    ending = next((ending for ending in _SDIST_ENDINGS if filename.endswith(ending)), "")
    return canonical_name(filename[: -len(ending)].rpartition("-")[0]) if ending else ""


def signature(files: tuple[FolderFile, ...]) -> str:
    """Digest what a listing shows of a package's files; an empty text for none."""
    if not files:
        return ""
    text = "\n".join(f"{file.path}\0{file.stamp}" for file in files)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:DIGEST_PART]


def place_in_state(sha256: str, filename: str) -> str:
    """Return the path by which a lock names a wheel that is kept in the manager's state."""
    return f"../../wheels/{sha256[:DIGEST_PART]}/{filename}"


def wheel_in_state(wheels: Path, path: str) -> Path:
    """Return where a wheel lies that a lock names by such a path, as uv finds it from an environment's folder."""
    return wheels.joinpath(*PurePosixPath(path).parts[-2:])


def sha256_of(path: str | os.PathLike[str]) -> str:
    """Return the digest of a file."""
    digest = hashlib.sha256()
    with Path(path).open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
