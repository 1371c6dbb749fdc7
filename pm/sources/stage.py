"""Take a plugin from where the operator says it is, and stage a copy that no other process changes."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from pm.errors import PmError
from pm.names import shown
from pm.receipts.receipt import SourceRow
from pm.redaction import redact_value
from pm.sources.spelling import ARCHIVES, Folder, Git, Source, read_source
from pm.system.files import working_folder
from pm.system.folders import remove_if_empty


class Staged(NamedTuple):
    """A plugin's files as they are judged, and installed if they are admitted."""

    folder: Path
    """Named as the source's folder is: a declaration without a name takes it from there."""
    source: SourceRow

    @property
    def origin(self) -> SourceRow:
        """The source as it is found from everywhere: with the whole path of what lies on this machine."""
        if self.source.kind not in ("folder", "archive"):
            return self.source
        return self.source._replace(location=os.path.abspath(self.source.location))  # noqa: PTH100 - links stay


@contextmanager
def staged(text: str, below: Path, commit: str = "", *, offline: bool = False) -> Iterator[Staged]:
    """Give a copy of a source below a folder, and remove it afterwards; `commit` as in `read_source`.

    Raise `PmError` (`invalid-source`, `offline` and `source-unreachable` for a repository that must not or cannot be
    fetched, `unsafe-archive`, `no-space`, `not-writable`).
    """
    with staged_source(read_source(text, commit), below, offline=offline) as taken:
        yield taken


@contextmanager
def staged_source(source: Source, below: Path, *, name: str = "", offline: bool = False) -> Iterator[Staged]:
    """Give a copy of a source that was read already, as `staged` does; `name` is that of a catalog's entry."""
    if offline and isinstance(source, Git):
        message = f"{shown(source.shown)} would have to be fetched, and `--offline` was said"
        raise PmError("offline", message, hint="run it without `--offline`, or clone it and name the folder")
    try:
        with working_folder(below) as place:
            taken = _taken(source, place)
            row = taken.source._replace(kind="catalog", ref=name) if name else taken.source
            yield taken._replace(source=row)
    finally:
        remove_if_empty(below)


def _taken(source: Source, place: Path) -> Staged:
    if isinstance(source, Git):
        from pm.sources.git import fetched

        folder, commit = fetched(source, place, _named(_last(source)))
        return Staged(folder, SourceRow("git", source.shown, commit, source.ref))
    row = SourceRow("folder" if isinstance(source, Folder) else "archive", redact_value(str(source.path)))
    if isinstance(source, Folder):
        from pm.plugins.tree import copy_plugin

        return Staged(copy_plugin(source.path, place / _named(source.path.resolve().name)), row)
    from pm.plugins.archive import unpack

    return Staged(unpack(source.path, place / _named(_stem(source.path.name))), row)


@contextmanager
def looked_at(source: Source, below: Path, *, name: str = "", offline: bool = False) -> Iterator[Staged]:
    """Give a source to be judged and not installed: a folder as it lies there, everything else staged for a while.

    Raise `PmError` as `staged` does: what could not be installed is not admitted either.
    """
    if isinstance(source, Folder):
        from pm.plugins.tree import fitting_entries

        fitting_entries(source.path)
        yield Staged(source.path.resolve(), SourceRow("folder", redact_value(str(source.path))))
    else:
        with staged_source(source, below, name=name, offline=offline) as taken:
            yield taken


def _stem(name: str) -> str:
    lowered = name.lower()
    suffix = max((suffix for suffix in ARCHIVES if lowered.endswith(suffix)), key=len)
    return name[: -len(suffix)]


def _named(name: str) -> str:
    """Return the name of a source's folder; one that is hidden or has none is called `plugin`."""
    return name.lstrip(".") or "plugin"


def _last(source: Git) -> str:
    """Return the last part of what names a folder of a repository, or the repository itself."""
    named = source.subdir or source.url.rstrip("/").removesuffix("/.git").removesuffix(".git")
    return named.replace(":", "/").rpartition("/")[2]
