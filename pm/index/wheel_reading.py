"""Read what a wheel puts where from its directory and a few members, also of a file of which only parts are here."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO, cast

from lockfiles import Artifact
from pm.index.contents import WheelContents, contents_of, counts
from pm.index.folders import sha256_of
from pm.index.own_paths import oddities
from pm.index.wheel_check import Flawed, Wheel, heads_of, installed

_LARGEST_DIRECTORY = 16 * 1024 * 1024
"""Bytes; ten times the largest real ones."""


def read_local(places: Iterable[Path], artifact: Artifact, *, thorough: bool = False) -> WheelContents | None:
    """Return the contents of the first of these files that is the wheel in question; `None` if none is."""
    for path in places:
        if path.name == artifact.filename and path.is_file() and sha256_of(path) == artifact.sha256:
            with path.open("rb") as file:
                return read_contents(file, thorough=thorough)
    return None


def read_contents(
    wheel: IO[bytes], want: Callable[[int, int], None] | None = None, *, thorough: bool = False
) -> WheelContents | None:
    """Return what a wheel puts where; of a file that is no usable wheel, its flaw.

    `None` if its directory is too large to be read. `want` is told which bytes will be read next, for a file of which
    only parts are here. With `thorough` every byte of the wheel is looked at.
    """
    measured = _Measured(wheel)
    try:
        with zipfile.ZipFile(cast("IO[bytes]", measured)) as archive:
            return _read_wheel(Wheel(archive, measured, want), thorough=thorough)
    except _TooLarge:
        return None
    except Flawed as flawed:
        return contents_of({}, str(flawed))
    except (zipfile.BadZipFile, EOFError, NotImplementedError, OverflowError, RuntimeError, ValueError, zlib.error):
        return contents_of({}, "it is not a readable wheel")


class _TooLarge(Exception):
    """A directory that is larger than any real one."""


def _read_wheel(wheel: Wheel, *, thorough: bool) -> WheelContents:
    targets, scripts, proved = installed(wheel, thorough=thorough)
    files: dict[str, str] = {}
    moved: dict[str, str] = {}
    for path, target in targets.items():
        if counts(target):
            member = wheel.members[path]
            (files if target == path else moved)[target] = f"{member.CRC:08x}-{member.file_size}"
    calls = {path: f"calls {called}" for path, called in scripts.items()}
    odd = oddities({*targets.values()} - scripts.keys(), heads_of(wheel, targets))
    # in the installer's order: what is moved overwrites what lies there, and the scripts that it makes come last
    return contents_of(files | moved | calls, "", odd, proved=proved)


class _Measured(io.RawIOBase):
    """A file that is not read in pieces larger than a reasonable directory."""

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__()
        self._file = file

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._file.tell()

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._file.seek(offset, whence)

    def read(self, size: int = -1, /) -> bytes:
        if size > _LARGEST_DIRECTORY:
            raise _TooLarge
        return self._file.read(size)
