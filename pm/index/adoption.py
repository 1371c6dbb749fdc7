"""Take the wheels that a lock names by path into the manager's state, each verified."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from lockfiles import Pin
from pm.errors import PmError
from pm.index.folders import DIGEST_PART, sha256_of

_CHUNK = 1 << 20


def adopt(pins: Iterable[Pin], wheels: Path, places: Mapping[str, Iterable[Path]]) -> tuple[Path, ...]:
    """Copy the wheels of pins that are locked by path into `wheels`, each verified, and return where they are now.

    `places` says for each name which files may be what its pin means. Raise `PmError` (`hash-mismatch`) if none is.
    """
    return tuple(_adopt(pin, wheels, places.get(pin.name, ())) for pin in pins)


def _adopt(pin: Pin, wheels: Path, places: Iterable[Path]) -> Path:
    artifact = pin.artifact
    kept = wheels / artifact.sha256[:DIGEST_PART] / artifact.filename
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
    """Copy a file if it has the digest; nothing is seen at `target` before it is complete and verified."""
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    digest = hashlib.sha256()
    try:
        with source.open("rb") as original, temporary.open("wb") as copy:
            while chunk := original.read(_CHUNK):
                digest.update(chunk)
                copy.write(chunk)
            copy.flush()
            os.fsync(copy.fileno())
        if digest.hexdigest() != sha256:
            return False
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
    return True
