"""Where an installed plugin came from, and whether there is something else today."""

from pathlib import Path
from typing import NamedTuple

from pm.errors import PmError
from pm.names import shown
from pm.places import Places
from pm.plugins.tree import tree_digest
from pm.receipts.receipt import SourceRow
from pm.sources.spelling import ArchiveFile, Folder, Git, Source, is_commit, read_source
from pm.sources.stage import staged_source


class Standing(NamedTuple):
    """How an installed plugin stands to its source."""

    state: str
    """`current`, `newer`, `pinned` to a commit, `unknown` where it came from, or `unreachable`."""
    available: str = ""
    """The commit of a repository that is newer."""
    message: str = ""
    """Why it is not known."""


def source_of(origin: SourceRow) -> Source:
    """Return the source of an origin as it is asked again; raise `PmError` (`invalid-source`) if it is gone."""
    source = read_source(origin.location)
    return source._replace(ref=origin.ref) if isinstance(source, Git) else source


def is_pinned(origin: SourceRow) -> bool:
    """Say whether a commit was asked for and no branch: then there is nothing newer."""
    return origin.kind == "git" and is_commit(origin.ref)


def standing_of(origin: SourceRow, digest: str, places: Places, *, offline: bool) -> Standing:
    """Return how a tree of a digest stands to the source that it came from; nothing is installed."""
    if not origin.kind:
        return Standing("unknown", message="the manager did not install it, or an older version of it did")
    if is_pinned(origin):
        return Standing("pinned")
    try:
        return _asked(origin, digest, places, offline=offline)
    except PmError as error:
        return Standing("unreachable", message=error.message)


def _asked(origin: SourceRow, digest: str, places: Places, *, offline: bool) -> Standing:
    source = source_of(origin)
    if isinstance(source, Git):
        return _of_repository(source, origin, offline=offline)
    return Standing("current" if _digest(source, places) == digest else "newer")


def _of_repository(source: Git, origin: SourceRow, *, offline: bool) -> Standing:
    from pm.sources.git import remote_commit

    if offline:
        raise PmError("offline", f"{shown(source.shown)} would have to be asked, and `--offline` was said")
    commit = remote_commit(source)
    return Standing("current") if commit == origin.commit else Standing("newer", available=commit)


def _digest(source: Folder | ArchiveFile, places: Places) -> str:
    if isinstance(source, Folder):
        return tree_digest(Path(source.path))
    with staged_source(source, places.cache / "staged") as taken:
        return tree_digest(taken.folder)
