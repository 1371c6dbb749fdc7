"""Keep what was read of files, by the digest of their bytes, so that reading them again needs no parser.

An entry is only ever trusted when its own digest holds: a damaged, foreign or half-written one counts as missing and is
written anew. Without a place to write to, everything works and is slower.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TypeVar

import packaging

from pm.errors import PmError
from pm.redaction import redact
from pm.system.files import read_regular, write_bytes
from pm.system.stamps import code_stamps

_MOST_ENTRIES = 1024
_Value = TypeVar("_Value")


def remembered(
    directory: Path | None,
    stamp: str,
    *,
    read: Callable[[], _Value],
    encode: Callable[[_Value], object],
    decode: Callable[[object], _Value],
) -> _Value:
    """Return the value that was kept under a stamp, or read it and keep it.

    `decode` raises `ValueError`, `TypeError`, `LookupError` or `AttributeError` for what `encode` never wrote.
    """
    if directory is None:
        return read()
    path = directory / f"{stamp}.json"
    kept = _kept(path)
    if kept is not None:
        with suppress(ValueError, TypeError, LookupError, AttributeError):
            return decode(kept)
    value = read()
    text = json.dumps(encode(value), separators=(",", ":"))
    if redact(text) == text:  # what holds a credential is read anew each time and never written down
        _keep(path, text)
    return value


def stamp_of(parts: Iterable[bytes]) -> str:
    """Digest everything that a reading depends on: the given parts, and the code that reads."""
    digest = hashlib.sha256(_code_stamp())
    for part in parts:
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.hexdigest()


@cache
def _code_stamp() -> bytes:
    """Return what changes when the manager or `packaging` does: a reading may depend on any room."""
    return json.dumps([packaging.__version__, *code_stamps()]).encode()


def _kept(path: Path) -> object:
    try:
        digest, _, text = read_regular(path).partition(b"\n")
    except OSError:
        return None
    if hashlib.sha256(text).hexdigest().encode() != digest:
        return None
    with suppress(ValueError, RecursionError):
        return json.loads(text)
    return None


def _keep(path: Path, text: str) -> None:
    content = text.encode()
    # A cache that cannot be written (read-only, full) is no fault of the operation.
    with suppress(PmError, OSError):
        _drop_oldest(path.parent)
        write_bytes(path, hashlib.sha256(content).hexdigest().encode() + b"\n" + content)


def _drop_oldest(directory: Path) -> None:
    """Keep the directory from growing without end: past the limit, the older half goes."""
    entries = list(directory.iterdir()) if directory.exists() else []
    if len(entries) < _MOST_ENTRIES:
        return
    by_age = sorted(entries, key=lambda path: (path.stat().st_mtime_ns, path.name))
    for path in by_age[: _MOST_ENTRIES // 2]:
        path.unlink(missing_ok=True)
