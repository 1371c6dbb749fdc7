"""Take the wheels that a lock names by path into the manager's state, each verified."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import BinaryIO

from lockfiles import Pin
from pm.errors import PmError
from pm.index.folders import sha256_of, wheel_in_state
from pm.system.files import written_whole

_CHUNK = 1 << 20


def adopt(pins: Iterable[Pin], wheels: Path, places: Mapping[str, Iterable[Path]]) -> tuple[Path, ...]:
    """Copy the wheels of pins that are locked by path into `wheels`, each verified, and return where they are now.

    `places` says for each name which files may be what its pin means. Raise `PmError` (`hash-mismatch`) if none is.
    """
    return tuple(_adopt(pin, wheels, places.get(pin.name, ())) for pin in pins)


def _adopt(pin: Pin, wheels: Path, places: Iterable[Path]) -> Path:
    artifact = pin.artifact
    kept = wheel_in_state(wheels, artifact.path)
    if kept.is_file() and sha256_of(kept) == artifact.sha256:
        return kept
    candidates = [path for path in places if path.name == artifact.filename]
    for path in candidates:
        if copied(path, kept, artifact.sha256):
            return kept
    where = ", ".join(f"`{path.parent}`" for path in candidates) or "no folder"
    raise PmError(
        "hash-mismatch",
        f"`{artifact.filename}` with the digest that was decided on ({artifact.sha256[:12]}…) is in {where} no longer",
        hint="check again, so that the file which is there now is judged",
        file=str(candidates[0]) if candidates else "",
    )


def copied(source: Path, target: Path, sha256: str) -> bool:
    """Copy a file if it has the digest; nothing is seen at `target` before it is complete and verified.

    Raise `OSError` if it cannot be read, `PmError` (`no-space`, `not-writable`).
    """
    try:
        with source.open("rb") as original, written_whole(target, durable=True) as copy:
            _copy(original, copy, sha256)
    except _AnotherContent:
        return False
    return True


class _AnotherContent(Exception):
    """What was read has another digest than it should."""


def _copy(original: BinaryIO, copy: BinaryIO, sha256: str) -> None:
    digest = hashlib.sha256()
    while chunk := original.read(_CHUNK):
        digest.update(chunk)
        copy.write(chunk)
    if digest.hexdigest() != sha256:
        raise _AnotherContent
