"""Receipts on disk: one private file for each stored operation, the latest beside them, the oldest dropped."""

import json
import re
from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from pm.errors import PmError
from pm.places import GenerationNumber
from pm.receipts.receipt import FactsFile, InvalidReceipt, Receipt, from_json, receipt_text, time_text
from pm.system.files import disk_error, read_regular, write_bytes

__all__ = [
    "Stored",
    "UnknownReceipt",
    "facts_digest",
    "facts_file",
    "facts_name",
    "find",
    "list_receipts",
    "load",
    "store",
]

KEPT = 200
"""Newest receipts that stay; those of kept generations stay too."""

_PRIVATE = 0o600
_NAME = r"(?P<stamp>[0-9]{8}T[0-9]{6}\.[0-9]{3}Z)-(?P<operation>[a-z]+(?:-[a-z]+)*)-(?P<id>[0-9a-f]+)\.json"


class Stored(NamedTuple):
    """One receipt in the folder, as far as its name tells."""

    path: Path
    stamp: str
    """UTC, `20260131T101530.123Z`."""
    operation: str
    id: str


class UnknownReceipt(ValueError):
    """No receipt has this id, or several begin so."""


def store(
    receipt: Receipt, directory: Path, *, facts: str = "", kept_generations: Collection[GenerationNumber] = ()
) -> Path:
    """Write a receipt, and the index facts of its verdict beside it; drop what is older than the newest 200.

    The receipts that made `kept_generations` stay whatever their age. Raise `PmError` (`no-space`, `not-writable`).
    """
    path = directory / f"{_stamp(receipt.started_at)}-{receipt.operation}-{receipt.id}.json"
    content = receipt_text(receipt).encode()
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if facts:
            write_bytes(directory / facts_name(receipt.id), facts.encode(), mode=_PRIVATE)
        write_bytes(path, content, mode=_PRIVATE, durable=True)
        for latest in (f"latest-{receipt.operation}.json", "latest.json"):
            write_bytes(directory / latest, content, mode=_PRIVATE)
        _drop_old(directory, kept_generations)
    except OSError as error:
        raise disk_error(error, directory) from error
    return path


def _stamp(time: str) -> str:
    return re.sub("[-:]", "", time)


def facts_file(receipt_id: str, text: str) -> FactsFile:
    """Return how a receipt names the facts that are kept beside it."""
    return FactsFile(facts_name(receipt_id), facts_digest(text))


def facts_digest(text: str) -> str:
    """Return the digest by which a receipt knows its facts again: `sha256:` with 64 hex digits."""
    import hashlib

    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def facts_name(receipt_id: str) -> str:
    """Return the name of the file that holds the index facts of a receipt."""
    return f"{receipt_id}.facts.json"


def load(path: Path) -> Receipt:
    """Read one receipt.

    Raise `InvalidReceipt` for a broken one, `PmError` for a file that cannot be read.
    """
    try:
        return from_json(json.loads(read_regular(path)))
    except OSError as error:
        message = f"the receipt `{path.name}` cannot be read: {error.strerror}"
        raise PmError("not-writable", message, file=str(path)) from error
    except (InvalidReceipt, ValueError, RecursionError) as error:
        raise InvalidReceipt(f"`{path.name}` {_told(error)}") from error


def list_receipts(directory: Path) -> tuple[Stored, ...]:
    """Return what the folder holds, the newest first; nothing for a folder that is not there.

    What was stamped while the clock was ahead comes last: it would be the newest for as long as the clock has been.
    """
    paths = sorted(directory.iterdir(), reverse=True) if directory.is_dir() else []
    matches = ((path, re.fullmatch(_NAME, path.name)) for path in paths)
    now = _stamp(time_text(datetime.now(UTC)))
    stored = [Stored(path, *match.groups()) for path, match in matches if match]
    return tuple(sorted(stored, key=lambda one: one.stamp > now))


def find(directory: Path, receipt_id: str) -> Path:
    """Return the file of a receipt by its id or the beginning of it; `latest` is the newest.

    Raise `UnknownReceipt` for none and for several.
    """
    found = [
        stored
        for stored in list_receipts(directory)
        if receipt_id == "latest" or (receipt_id and stored.id.startswith(receipt_id))
    ]
    if not found:
        raise UnknownReceipt(f"there is no receipt `{receipt_id}`")
    if len(found) > 1 and receipt_id != "latest":
        raise UnknownReceipt(f"{len(found)} receipts begin with `{receipt_id}`")
    return found[0].path


def _drop_old(directory: Path, kept_generations: Collection[GenerationNumber]) -> None:
    for stored in list_receipts(directory)[KEPT:]:
        if not _made_one_of(stored.path, kept_generations):
            stored.path.unlink(missing_ok=True)
            (directory / facts_name(stored.id)).unlink(missing_ok=True)


def _made_one_of(path: Path, generations: Collection[GenerationNumber]) -> bool:
    try:
        generation = load(path).generation
    except (InvalidReceipt, PmError):  # damaged, or another process has dropped it
        return False
    return generation.after in generations and generation.after != generation.before


def _told(error: Exception) -> str:
    return str(error) if isinstance(error, InvalidReceipt) else f"is not JSON: {error}"
