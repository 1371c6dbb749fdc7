"""Read what a wheel puts where from its directory and a few members, also of a file of which only parts are here."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO, cast

from lockfiles import Artifact
from pm.index.archive_structure import Flawed
from pm.index.contents import WheelContents, contents_of, counts
from pm.index.folders import sha256_of
from pm.index.foreign import Unreadable, boundary
from pm.index.own_paths import oddities
from pm.index.wheel_check import Wheel, heads_of, installed
from pm.index.wheels import BoundedWheel


def read_local(places: Iterable[Path], artifact: Artifact, *, thorough: bool = False) -> WheelContents | None:
    """Return the contents of the first of these files that is the wheel in question; `None` if none is."""
    for path in places:
        if path.name == artifact.filename and path.is_file() and sha256_of(path) == artifact.sha256:
            with path.open("rb") as file:
                return read_contents(file, thorough=thorough)
    return None


def read_contents(
    wheel: IO[bytes], want: Callable[[int, int], None] | None = None, *, thorough: bool = False
) -> WheelContents:
    """Return what a wheel puts where; of a file that is no usable wheel, its flaw.

    `want` is told which bytes will be read next, for a file of which only parts are here. With `thorough` every byte of
    the wheel is looked at.
    """
    try:
        with (
            boundary("it is not a readable wheel"),
            BoundedWheel(wheel) as bounded,
            zipfile.ZipFile(cast("IO[bytes]", bounded)) as archive,
        ):
            return _read_wheel(Wheel(archive, bounded, want), thorough=thorough)
    except (Flawed, Unreadable) as flaw:
        return contents_of({}, str(flaw))


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
