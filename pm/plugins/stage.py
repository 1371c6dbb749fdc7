"""Take a plugin from where the operator says it is, and stage a copy that no other process changes."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from pm.errors import PmError
from pm.names import shown
from pm.places import expanded
from pm.receipts.receipt import SourceRow
from pm.redaction import redact_value
from pm.system.files import working_folder

ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz", ".tar.zst")
_LATER = r"(?i:[a-z][a-z0-9+.-]*://.*|git@.*|pypi:.*)"


class Staged(NamedTuple):
    """A plugin's files as they are judged, and installed if they are admitted."""

    folder: Path
    """Named as the source's folder is: a declaration without a name takes it from there."""
    source: SourceRow


def is_source(text: str) -> bool:
    """Say whether a word means a folder, an archive or an address, and not the key of an installed plugin."""
    return text.startswith((".", "/", "~")) or text.lower().endswith(ARCHIVES) or _is_address(text)


def _is_address(text: str) -> bool:
    return (":" in text or "@" in text) and re.fullmatch(_LATER, text) is not None


@contextmanager
def staged(text: str, below: Path) -> Iterator[Staged]:
    """Give a copy of a source below a folder, and remove it afterwards.

    Raise `PmError` (`not-found-on-index` for a source that is not there or of a kind that is not supported,
    `unsafe-archive`, `no-space`, `not-writable`).
    """
    path = source_path(text)
    try:
        with working_folder(below) as place:
            yield _taken(path, place)
    finally:
        remove_if_empty(below)


def _taken(path: Path, place: Path) -> Staged:
    if path.is_dir():
        from pm.plugins.tree import copy_plugin

        return Staged(
            copy_plugin(path, place / _named(path.resolve().name)), SourceRow("folder", redact_value(str(path)))
        )
    from pm.plugins.archive import unpack

    return Staged(unpack(path, place / _named(_stem(path.name))), SourceRow("archive", redact_value(str(path))))


@contextmanager
def looked_at(text: str, below: Path) -> Iterator[Staged]:
    """Give a source to be judged and not installed: a folder as it lies there, an archive unpacked for a while.

    Raise `PmError` as `staged` does: what could not be installed is not admitted either.
    """
    path = source_path(text)
    if path.is_dir():
        from pm.plugins.tree import fitting_entries

        fitting_entries(path)
        yield Staged(path.resolve(), SourceRow("folder", redact_value(str(path))))
    else:
        with staged(text, below) as taken:
            yield taken


def source_path(text: str) -> Path:
    """Return the folder or archive that a source names; raise `PmError` for everything else."""
    if _is_address(text):
        raise PmError(
            "invalid-source",
            f"{shown(text)} is not a folder or an archive, and other sources are not supported yet",
            hint="fetch it first, then install the folder",
        )
    if not text.strip():  # a path of no parts is the working folder, and a variable of the shell may be empty
        raise PmError("invalid-source", "the source is empty", hint="a source is a folder or an archive")
    path = expanded(text)
    if path.is_dir() or (path.is_file() and text.lower().endswith(ARCHIVES)):
        return path
    if path.is_file():
        kinds = ", ".join(f"`{suffix}`" for suffix in ARCHIVES)
        raise PmError("invalid-source", f"{shown(text)} is a file, and not an archive of a supported kind: {kinds}")
    raise PmError("invalid-source", f"{shown(text)} does not exist", hint="a source is a folder or an archive")


def _stem(name: str) -> str:
    lowered = name.lower()
    suffix = max((suffix for suffix in ARCHIVES if lowered.endswith(suffix)), key=len)
    return name[: -len(suffix)]


def _named(name: str) -> str:
    """Return the name of a source's folder; one that is hidden or has none is called `plugin`."""
    return name.lstrip(".") or "plugin"


def remove_if_empty(folder: Path) -> None:
    """Remove a folder in which nothing lies."""
    try:
        folder.rmdir()
    except OSError:
        return
