"""Compare a generation with what was recorded, byte by byte: every file of its RECORDs, and what no RECORD names."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from lockfiles import Lock
from pm.errors import PmError
from pm.generations.distributions import (
    digest_of_file,
    installed,
    lines_by_name,
    lines_of,
    own_files,
    site_packages,
)
from pm.generations.drift import Drift
from pm.generations.environment import check_environment
from pm.generations.file_faults import Fault
from pm.generations.records import Member, Record
from pm.generations.shared_paths import winners
from pm.host.interpreter import Interpreter, describe_interpreter
from pm.names import shown
from pm.places import Places
from pm.plugins.tree import files_of_digest, fitting_entries, link_target, tree_digest, tree_entries
from pm.system.folders import walk

_OF_THE_ENVIRONMENT = frozenset({"_virtualenv.py", "_virtualenv.pth"})
"""What uv puts beside the distributions of every environment."""
Hashes = dict[tuple[int, int], str]
"""Device and inode → digest of the content: environments share most of their files."""


def differences(folder: Path, lock: Lock, interpreter: Interpreter, hashes: Hashes | None = None) -> list[Fault]:
    """Return everything by which an environment differs from its lock and its RECORDs; sorted, nothing is run.

    With `hashes` no file is read that was read for another environment.
    """
    site = site_packages(folder)
    check = check_environment(folder, lock, interpreter)
    cheap = (*check.drift, *check.unsettled)
    thorough = (*changed_files(site, {} if hashes is None else hashes), *_changed_own(folder), *_foreign(folder, site))
    return [*cheap, *sorted(thorough)]


def differences_of_selected(
    places: Places, record: Record, drift: Drift | None, hashes: Hashes | None = None
) -> list[Fault]:
    """Return by what the selected environment is not what was recorded: its files, or where these agree, its drift.

    Where no file can be compared, it is the drift alone.
    """
    seen = [Fault("drift", drift.message)] if drift is not None else []
    interpreter = Path(record.interpreter)
    if drift is not None and (drift.kind in ("gone", "incomplete") or not interpreter.exists()):
        return seen
    described = describe_interpreter(interpreter, places.cache)
    return differences(places.environment(record.environment), record.lock, described, hashes) or seen


def changed_trees(places: Places, members: Iterable[Member]) -> Iterator[Fault]:
    """Yield the files of plugins that are not as they were admitted; what a plugin wrote besides is its own.

    The kept copies are taken for whole: `damaged_copies` says which are not.
    """
    for member in members:
        kept = places.tree(member.tree_digest)
        if member.link or not member.tree_digest or not kept.is_dir():
            continue
        if not Path(member.root).is_dir():
            yield Fault("drift", f"the folder of the plugin `{member.key}` is gone: {shown(member.root)}")
            continue
        for entry in tree_entries(kept):
            place = Path(member.root) / entry.path
            if entry.kind in ("file", "program") and not _same(kept / entry.path, place):
                message = f"{shown(str(place))} of the plugin `{member.key}` is not as it was admitted"
                yield Fault("drift", message, member.key)


def edited_links(members: Iterable[Member]) -> Iterator[tuple[Member, str]]:
    """Yield the plugins whose folder was admitted as a link and is not what it was then, with what is otherwise."""
    for member in members:
        folder = Path(member.root)
        if not member.link:
            continue
        now = link_target(folder)
        if not now:
            yield member, f"was a link to {shown(member.link)}, and is none any more"
        elif now != member.link:
            yield member, f"led to {shown(member.link)}, and leads to {shown(now)} now"
        elif digest_in_place(folder) != member.tree_digest:
            yield member, f"is a link to {shown(now)}, where files were edited since"


def digest_in_place(folder: Path) -> str:
    """Return the digest of what belongs to a plugin where it lies; empty for what cannot be looked at.

    What is beyond the limits of a plugin is not: looking through a file of a terabyte takes hours.
    """
    try:
        fitting_entries(folder)
        return tree_digest(folder)
    except (PmError, OSError):
        return ""


class DamagedCopy(NamedTuple):
    """A kept copy of a plugin's files that is not what its name says."""

    member: Member
    files: frozenset[str] | None
    """The files in the plugin's folder that the copy can be made of again; `None` if those are not there either."""


def damaged_copies(places: Places, members: Iterable[Member]) -> Iterator[DamagedCopy]:
    """Yield the kept copies of plugins that are damaged or gone; which side is damaged is told by the digest."""
    for member in members:
        copied = member.source == "user" and member.tree_digest and not member.link
        if copied and not is_kept(places, member.tree_digest):
            yield DamagedCopy(member, _files_in_place(places, member))


def is_kept(places: Places, digest: str) -> bool:
    """Say whether the tree of a digest is kept, and whole."""
    try:
        return tree_digest(places.tree(digest)) == digest
    except (PmError, OSError):
        return False


def _files_in_place(places: Places, member: Member) -> frozenset[str] | None:
    kept = places.tree(member.tree_digest)
    try:
        fitting_entries(Path(member.root))
        named = [entry.path for entry in tree_entries(kept)] if kept.is_dir() else []
        return files_of_digest(Path(member.root), member.tree_digest, named)
    except (PmError, OSError):
        return None


def changed_files(site: Path, hashes: Hashes) -> Iterator[Fault]:
    """Yield the files whose content is not what their distribution's RECORD says."""
    for name, line in winners(lines_by_name(site)).values():
        path = site / line.path
        # one with another size is a fault already
        same_size = path.is_file() and line.size in (None, path.stat().st_size)
        if line.has_sha256 and same_size and _known_digest(path, hashes) != line.digest:
            message = f"{shown(line.path)} of `{name}` was changed"
            yield Fault("drift", message, name)


def _known_digest(path: Path, hashes: Hashes) -> str:
    status = path.stat()
    file = (status.st_dev, status.st_ino)
    if file not in hashes:
        hashes[file] = digest_of_file(path)
    return hashes[file]


def _changed_own(folder: Path) -> Iterator[Fault]:
    """Yield what the manager itself has put there and what was changed since."""
    for line in own_files(folder):
        path = folder / line.path
        # one with another size is a fault already
        if path.is_file() and path.stat().st_size == line.size and digest_of_file(path) != line.digest:
            yield Fault("drift", f"{shown(line.path)} of the manager was changed")


def _foreign(folder: Path, site: Path) -> Iterator[Fault]:
    """Yield the files that neither a distribution nor the manager brought; bytecode counts as well."""
    ours = {os.path.normpath(site / line.path) for one in installed(site) for line in lines_of(one)}
    ours |= {os.path.normpath(folder / line.path) for line in own_files(folder)}
    for directory, folders, files in walk(site):
        folders.sort()
        for name in sorted(files):
            path = Path(directory, name)
            if os.path.normpath(path) not in ours and name not in _OF_THE_ENVIRONMENT:
                yield Fault("drift", f"{shown(str(path.relative_to(site)))} was not put there by the manager")


def _same(one: Path, other: Path) -> bool:
    try:
        return one.read_bytes() == other.read_bytes()
    except OSError:
        return False
