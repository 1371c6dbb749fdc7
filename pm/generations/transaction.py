"""Change several files and folders together: all of it, or after a crash none of it.

A transaction is a list of replacements, written to `journal.json` before the first of them happens. The pointer is
replaced last, and that one rename is the commit: a journal found later is finished if the pointer (or the journal
itself, where no pointer takes part) says committed, and undone if not. Undoing and finishing may be interrupted and
repeated. What another process changed meanwhile is left alone and the journal is parked.

A file is recognised by its digest. A folder is recognised by its inode, which a rename keeps: a plugin may write into
its folder at any time without becoming another plugin. Only the standard library is needed here.
"""

import contextlib
import errno
import hashlib
import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from pm.errors import PmError
from pm.generations.leases import is_held
from pm.places import Places
from pm.system.files import (
    disk_error,
    is_damaged,
    read_regular,
    read_stored,
    require_replaceable,
    sync_folder,
    write_bytes,
    write_json,
)
from pm.system.folders import remove_tree
from pm.system.owners import hand_over
from pm.system.signals import too_late

SCHEMA = 1


class Replacement(NamedTuple):
    """One path and what shall be there."""

    path: Path
    content: bytes | None = None
    """The new content of a file; `None` for a folder."""
    tree: Path | None = None
    """A finished folder on the same file system that takes the place, its files on the disk; `None` with no content
    removes what is there."""
    mode: int = 0o600
    """Of a file that is not there yet; one that is keeps its own."""
    expected: str | None = None
    """The digest that a file had when this was decided; another one now is `config-changed`; empty for no file."""


class _JournalEntry(NamedTuple):
    """One replacement as the journal holds it."""

    path: str
    kind: str
    """`file` or `tree`."""
    before: str
    """Digest or inode; empty if nothing was there."""
    after: str
    """The same of what shall be there; empty if nothing."""
    staged: str
    kept: str


class Recovered(NamedTuple):
    """What became of a journal that an interrupted operation left."""

    outcome: str
    """`nothing`, `finished`, `undone` or `parked`."""
    operation: str = ""
    details: tuple[str, ...] = ()
    """For `parked`: the paths that are neither as before nor as planned, and where the journal lies now.

    Of a journal that cannot be read there are no such paths.
    """


class Interrupted(NamedTuple):
    """A transaction that its process did not end; `recover` does that."""

    operation: str
    """Empty for a journal that cannot be read."""
    unsettled: tuple[str, ...] = ()
    """The paths that `recover` changes: what lies there now is neither what was there nor what shall be there."""


def commit(places: Places, replacements: Sequence[Replacement], pointer: bytes | None, *, operation: str) -> None:
    """Apply the replacements and then the pointer; if anything fails before the pointer, nothing has changed.

    What fails after the pointer is no failure of this: it is done, and the next change tidies up. Raise `PmError`
    (`config-changed`, `no-space`, `not-writable`).
    """
    before, after = digest_file(places.pointer), digest(pointer) if pointer is not None else None
    if after == before:
        # an equal pointer could not tell whether it was written: the journal itself says so then
        pointer = after = None
    # before anything is written, and only of what belongs to the operator: the state is the manager's own
    require_replaceable(*(one.path for one in replacements if not one.path.is_relative_to(places.state)))
    entries: list[_JournalEntry] = []
    try:
        for replacement in replacements:
            _stage(replacement, entries)
        journal = {
            "schema": SCHEMA,
            "operation": operation,
            "committed": False,
            "pointer": {"before": before, "after": after},
            "replacements": [entry._asdict() for entry in entries],
        }
        write_json(places.journal, journal, durable=True)
    except BaseException:
        _withdraw(places, entries)
        raise
    try:
        _apply(entries)
        too_late()
        if pointer is not None:
            write_bytes(places.pointer, pointer, durable=True)
        else:
            write_json(places.journal, journal | {"committed": True}, durable=True)
    except BaseException as error:
        if _is_done(places):
            _COMMITS.made += 1
            return  # whatever went wrong came after the commit
        if isinstance(error, OSError):
            raise disk_error(error, places.state) from error
        raise
    _COMMITS.made += 1
    _settled(places)


class _Commits:
    made = 0


_COMMITS = _Commits()


def commits_made() -> int:
    """Return how many changes this process has made: whatever happens after one, it is made."""
    return _COMMITS.made


def recover(places: Places) -> Recovered:
    """Finish or undo what an interrupted transaction left; safe to call at any time under the install lock.

    Raise `PmError` (`no-space`, `not-writable`); then it can be called again.
    """
    try:
        return _recovered(places)
    except OSError as error:
        raise disk_error(error, places.state) from error


def interrupted(places: Places) -> Interrupted | None:
    """Return the transaction that no process goes on with; `None` if there is none, or an operation is under way.

    Nothing is changed. Raise `PmError` (`not-writable`).
    """
    try:
        if not places.journal.exists() or is_held(places.locks / "install.lock"):
            return None
        journal = _read_journal(places)
        entries = _entries_of(places, journal)
        if entries is None or not isinstance(journal, dict):
            return Interrupted("")
        committed = _is_committed(places, journal)
        wanted = ((entry, entry.after if committed else entry.before) for entry in entries)
        unsettled = tuple(entry.path for entry, state in wanted if _state(entry) != state)
        return Interrupted(str(journal.get("operation", "")), unsettled)
    except FileNotFoundError:  # its own process has ended it meanwhile
        return None
    except OSError as error:
        raise disk_error(error, places.journal, verb="read") from error


def _recovered(places: Places) -> Recovered:
    _sweep(places)
    if not places.journal.exists():
        return Recovered("nothing")
    journal = _read_journal(places)
    entries = _entries_of(places, journal)
    if entries is None or not isinstance(journal, dict):
        return _park(places, "", ())
    operation = str(journal.get("operation", ""))
    committed = _is_committed(places, journal)
    if committed:
        sync_folder(places.state)  # the process that renamed the pointer may have been killed before it was on the disk
    foreign = () if committed else tuple(entry.path for entry in entries if not _is_ours(entry))
    for entry in reversed(entries):
        if entry.path in foreign:
            continue
        if not committed:
            _undo(entry)
        with contextlib.suppress(OSError):  # what cannot be removed now is swept another time, and does no harm
            _discard(Path(entry.staged))
            _discard(Path(entry.kept))
    _sync_parents(entries)
    if foreign:
        # what others changed is theirs, and everything else is as it was
        return _park(places, operation, foreign)
    places.journal.unlink(missing_ok=True)
    sync_folder(places.state)
    return Recovered("finished" if committed else "undone", operation)


def _settled(places: Places) -> str:
    """Return what became of the journal; empty if that failed too, and the next change has to do it."""
    try:
        return recover(places).outcome
    except (PmError, KeyboardInterrupt):
        return ""


def _is_done(places: Places) -> bool:
    """Finish or undo after something went wrong, and say whether the change is made all the same."""
    outcome = _settled(places)
    journal = _read_journal(places) if not outcome and places.journal.exists() else None
    return outcome == "finished" or (isinstance(journal, dict) and _is_committed(places, journal))


def _withdraw(places: Places, entries: Iterable[_JournalEntry]) -> None:
    """Remove what was staged for a transaction that did not begin."""
    with contextlib.suppress(OSError):  # why it did not begin is what matters, and the next change sweeps the rest
        places.journal.unlink(missing_ok=True)
        for entry in entries:
            _discard(Path(entry.staged))


def digest_file(path: Path) -> str:
    """Return the digest of a file's content; empty if there is none, and no digest at all of what is no file."""
    try:
        return digest(read_regular(path))
    except FileNotFoundError:
        return ""
    except OSError as error:
        if not is_damaged(error):
            raise
        return f"unreadable:{error.errno}"


def digest(content: bytes) -> str:
    """Return the digest by which a file's content is known."""
    return "sha256:" + hashlib.sha256(content).hexdigest()


# -- staging


def _stage(replacement: Replacement, entries: list[_JournalEntry]) -> None:
    """Put the new content beside its place, and add an entry that says how to go there and back."""
    path = replacement.path
    is_file = replacement.content is not None or (replacement.tree is None and path.is_file())
    stem = path.with_name(f".{path.name}.pm-{os.urandom(6).hex()}")
    staged, kept = stem.with_name(stem.name + ".new"), stem.with_name(stem.name + ".old")
    before = digest_file(path) if is_file else _inode(path)
    if replacement.expected is not None and before != replacement.expected:
        raise PmError(
            "config-changed",
            f"`{path}` was changed by another process while this was decided",
            file=str(path),
            hint="run it again; nothing was changed",
        )
    after = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if replacement.content is not None:
            mode = stat.S_IMODE(path.stat().st_mode) if before else replacement.mode
            write_bytes(staged, replacement.content, mode=mode, durable=True, like=path)
            after = digest(replacement.content)
        elif replacement.tree is not None:
            hand_over(replacement.tree, path if before else path.parent)
            if before and path.is_dir():
                replacement.tree.chmod(stat.S_IMODE(path.stat().st_mode))
            replacement.tree.rename(staged)
            after = _inode(staged)
    except BaseException as error:
        with contextlib.suppress(OSError):  # why it failed is what matters, and the next change sweeps the rest
            _discard(staged)
        if isinstance(error, OSError):
            raise disk_error(error, path) from error
        raise
    entries.append(_JournalEntry(str(path), "file" if is_file else "tree", before, after, str(staged), str(kept)))


def _inode(path: Path) -> str:
    try:
        status = path.lstat()
    except FileNotFoundError:
        return ""
    # not its device, which is numbered anew with every start of the system
    return f"inode:{status.st_ino}"


def _state(entry: _JournalEntry) -> str:
    path = Path(entry.path)
    return digest_file(path) if entry.kind == "file" else _inode(path)


# -- applying and undoing


def _apply(entries: Sequence[_JournalEntry]) -> None:
    """Change each place; what it held is safely beside it before, since a disk keeps changes in the order it likes."""
    files = [entry for entry in entries if entry.kind == "file" and entry.before and entry.after]
    others = [entry for entry in entries if entry.before and entry not in files]
    for entry in files:
        _keep(Path(entry.path), Path(entry.kept))
    _sync_parents(files)
    for entry in others:
        Path(entry.path).rename(entry.kept)
    _sync_parents(others)
    for entry in entries:
        if entry.after:
            Path(entry.staged).replace(entry.path)
    _sync_parents(entries)


def _keep(path: Path, kept: Path) -> None:
    """Give a file a second name, so that at no moment there is none; where a file cannot have two, copy it."""
    try:
        os.link(path, kept)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        write_bytes(kept, path.read_bytes(), mode=stat.S_IMODE(path.stat().st_mode), durable=True)


# also what the kernel says of a file of another user (`fs.protected_hardlinks`)
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)


def _is_ours(entry: _JournalEntry) -> bool:
    """Return whether a path is as it was before, as it shall be, or on the way between."""
    state = _state(entry)
    return state in (entry.before, entry.after) or (not state and Path(entry.kept).exists())


def _undo(entry: _JournalEntry) -> None:
    path, staged, kept = Path(entry.path), Path(entry.staged), Path(entry.kept)
    state = _state(entry)
    if state == entry.before:
        return
    if state and state == entry.after:
        if entry.kind == "tree":
            path.rename(staged)
        elif not entry.before:
            path.unlink()
    if entry.before and kept.exists():
        kept.replace(path)


def _discard(path: Path) -> None:
    """Remove what a transaction leaves beside a place."""
    if path.is_dir() and not path.is_symlink():
        remove_tree(path)
    else:
        path.unlink(missing_ok=True)


def _sync_parents(entries: Iterable[_JournalEntry]) -> None:
    for parent in sorted({Path(entry.path).parent for entry in entries}):
        with contextlib.suppress(FileNotFoundError):
            sync_folder(parent)


# -- the journal


def _read_journal(places: Places) -> object:
    """Return what the journal says, `None` if it is damaged; one that the disk does not give now is not damaged."""
    return read_stored(places.journal)


def _entries_of(places: Places, journal: object) -> list[_JournalEntry] | None:
    """Return what a journal says; `None` if that cannot be read, or names what no transaction changes."""
    if not isinstance(journal, dict) or journal.get("schema") != SCHEMA:
        return None
    try:
        entries = [
            _JournalEntry(**{name: str(value) for name, value in entry.items()}) for entry in journal["replacements"]
        ]
    except (KeyError, TypeError, AttributeError):
        return None
    folders = _changed_folders(places)
    return entries if all(_is_possible(places, entry, folders) for entry in entries) else None


def _is_possible(places: Places, entry: _JournalEntry, folders: frozenset[str]) -> bool:
    """Say whether a transaction can have written this: then following it touches nothing of anything else."""
    path = Path(entry.path)
    staged, kept = _BESIDE.fullmatch(entry.staged), _BESIDE.fullmatch(entry.kept)
    if entry.kind not in ("file", "tree") or staged is None or kept is None or ".." in path.parts:
        return False
    stem = str(path.with_name(f".{path.name}.pm-"))
    named = (staged["stem"], staged["end"], kept["stem"], kept["end"]) == (stem, "new", stem, "old")
    return (
        named
        and staged["mark"] == kept["mark"]
        and (os.path.realpath(path.parent) in folders or path in _configs(places))
    )


_BESIDE = re.compile(r"(?P<stem>.+\.pm-)(?P<mark>[0-9a-f]{12})\.(?P<end>new|old)", re.DOTALL)
_CONFIG = "config.yaml"


def _configs(places: Places) -> Iterator[Path]:
    """Yield where configs are written: behind a link, where one is a link."""
    for home in _homes(places):
        yield from (home / _CONFIG, (home / _CONFIG).resolve())


def _changed_folders(places: Places) -> frozenset[str]:
    """Return the folders in which a transaction replaces what lies there, without links."""
    plugins = [home / "plugins" for home in _homes(places)]
    groups = (group for folder in plugins if folder.is_dir() for group in folder.iterdir())
    folders = (places.generations, places.trees, *plugins, *groups)
    return frozenset(map(os.path.realpath, folders))


def _homes(places: Places) -> tuple[Path, ...]:
    profiles = places.root / "profiles"
    return (places.root, places.home, *(profiles.iterdir() if profiles.is_dir() else ()))


def _is_committed(places: Places, journal: dict[str, object]) -> bool:
    pointer = journal.get("pointer")
    after = pointer.get("after") if isinstance(pointer, dict) else None
    if after is None:
        return journal.get("committed") is True
    return digest_file(places.pointer) == str(after)


def _sweep(places: Places) -> None:
    """Remove half-written pointers and journals: their writer was killed, since the install lock is ours."""
    for file in (places.pointer, places.journal):
        for leftover in places.state.glob(f".{file.name}.*.tmp"):
            leftover.unlink(missing_ok=True)


def _park(places: Places, operation: str, details: tuple[str, ...]) -> Recovered:
    """Set a journal aside that can neither be finished nor undone; the selected generation runs on."""
    try:
        content = read_regular(places.journal)
    except OSError as error:
        if not is_damaged(error):
            raise
        content = os.urandom(6)
    parked = places.journal.with_name(f"journal.parked-{hashlib.sha256(content).hexdigest()[:12]}.json")
    places.journal.rename(parked)
    sync_folder(places.state)
    return Recovered("parked", operation, (*details, str(parked)))
