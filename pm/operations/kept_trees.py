"""The folders of plugins: what is kept of them by digest, and what a plugin wrote into its own."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from filecmp import cmp
from pathlib import Path

from admission import Problem
from pm.errors import PmError
from pm.generations.transaction import Replacement
from pm.generations.verification import is_kept
from pm.names import shown
from pm.operations.installed_trees import INSTALLED, InstalledTree, installed_bytes, installed_trees, spelled
from pm.operations.run import OperationRun
from pm.places import Places
from pm.plugins.tree import (
    LEFT_OUT_FILES,
    LEFT_OUT_FOLDERS,
    LEFT_OUT_SUFFIXES,
    copy_plugin,
    fitting_entries,
    tree_digest,
    tree_entries,
)
from pm.system.files import read_regular, unfinished
from pm.system.folders import make_folders, remove_tree, walk

# no part of a plugin's tree, and still made there on purpose: an environment of the plugin's own
_NOBODYS = LEFT_OUT_FOLDERS - {".venv"}


def keep_tree(places: Places, folder: Path) -> str:
    """Keep a copy of what belongs to a plugin by its digest, which is returned; the operation that names it flushes it.

    Raise `PmError` (`unsafe-archive`, `no-space`, `not-writable`).
    """
    fitting_entries(folder)
    digest = tree_digest(folder)
    if not is_kept(places, digest):
        keep_again(places, digest, folder)
    return digest


def unkept(folder: Path, trouble: PmError | OSError) -> Problem:
    """Return the warning that no copy of a plugin's folder is kept, and why."""
    reason = trouble.message if isinstance(trouble, PmError) else f"{shown(str(trouble.filename))} cannot be read"
    return Problem("tree-not-kept", f"no copy of `{folder}` is kept: {reason}")


def keep_again(places: Places, digest: str, folder: Path, only: Collection[str] | None = None) -> None:
    """Keep the tree of a digest as it lies in a folder, in place of a copy that is damaged or gone.

    `only` are its files, where a plugin has written others beside them. Raise `PmError` as `keep_tree` does.
    """
    kept = places.tree(digest)
    if kept.exists():
        damaged = unfinished(kept)  # which the next operation deletes, if this one does not come so far
        kept.rename(damaged)
        with suppress(OSError):
            remove_tree(damaged)
    copy_plugin(folder, kept, only)
    if tree_digest(kept) != digest:
        remove_tree(kept)
        raise PmError("not-writable", f"`{folder}` changed while it was copied", file=str(folder))


def forget_tree(places: Places, digest: str) -> None:
    """Remove a kept tree if neither a plugin's folder nor a generation's record names it, as far as can be told."""
    records = places.generations.glob("*.json")
    with suppress(OSError):  # what was done is done, and `gc` takes what is not needed
        is_installed = any(tree.digest == digest for tree in installed_trees(places).values())
        if not is_installed and not any(digest.encode() in read_regular(record) for record in records):
            remove_tree(places.tree(digest))


def placed(places: Places, tree: InstalledTree, folder: Path, *, recorded: str | None) -> Replacement:
    """Return the replacement of a plugin's folder by a kept tree; what the plugin wrote into its folder comes along.

    `recorded` is the digest of the tree that was put there before; empty if that is not known, and nothing comes along;
    `None` if no plugin lies there: then what lies there is the operator's data, and comes along.
    """
    stage = _beside(folder)
    copy_plugin(places.tree(tree.digest), stage)
    _carry(own_files(places, folder, recorded), folder, stage)
    return Replacement(folder, tree=stage)


def emptied(places: Places, folder: Path, *, recorded: str) -> Replacement:
    """Return the replacement that takes a plugin away, and leaves what it wrote into its folder itself."""
    own = own_files(places, folder, recorded)
    if not own:
        return Replacement(folder)
    stage = _beside(folder)
    stage.mkdir()
    _carry(own, folder, stage)
    return Replacement(folder, tree=stage)


def discard(places: Places, replacements: Iterable[Replacement]) -> None:
    """Remove staged folders that no transaction has taken, and the bytecode of the plugins whose files were replaced.

    Python takes a module of the same size and second for the one that it has compiled before.
    """
    for replacement in replacements:
        if replacement.tree is not None:
            with suppress(OSError):  # what the next operation sweeps
                remove_tree(replacement.tree)
        if replacement.content is None:
            _forget_bytecode(places, replacement.path)


def _forget_bytecode(places: Places, folder: Path) -> None:
    for spelling in {os.path.abspath(folder), os.path.realpath(folder)}:  # noqa: PTH100 - a linked home is both
        for kept in places.bytecodes.glob("*"):
            shutil.rmtree(kept / spelling.lstrip(os.sep), ignore_errors=True)


def recorded_tree(places: Places, folder: Path, known: str = "") -> str:
    """Return the digest of the tree that the manager put into a folder, else the one that is known otherwise."""
    return installed_trees(places).get(spelled(folder), InstalledTree(known)).digest


def noted(places: Places, changes: Mapping[Path, InstalledTree | None]) -> Replacement:
    """Return the replacement of the file that says which tree lies where: it changes together with the folders.

    `None` for a folder that goes.
    """
    trees = {**installed_trees(places), **{spelled(folder): tree for folder, tree in changes.items()}}
    content = installed_bytes({path: tree for path, tree in trees.items() if tree is not None})
    return Replacement(places.trees / INSTALLED, content=content)


def _carry(paths: Iterable[str], folder: Path, stage: Path) -> None:
    for path in paths:
        target = stage / path
        if not os.path.lexists(target):
            make_folders(target.parent)
            shutil.copy2(folder / path, target, follow_symlinks=False)


def replaced_files(places: Places, digest: str, folder: Path, recorded: str | None) -> list[str]:
    """Return what comes along no further, because the kept tree that is to be placed has a file of that name."""
    theirs = {entry.path for entry in tree_entries(places.tree(digest))}
    return [path for path in own_files(places, folder, recorded) if path in theirs]


def keep_what_is_lost(run: OperationRun, folder: Path, recorded: str, digest: str = "") -> None:
    """Keep a copy of a plugin's folder that is about to go, if it holds what is kept nowhere else, and say so.

    `digest` is of the tree that takes its place. Raise `PmError` as `keep_tree` does.
    """
    places = run.places
    if recorded == "":
        why = "were not put there by the manager"
    elif _changed_files(places, folder, recorded) or (digest and replaced_files(places, digest, folder, recorded)):
        why = "were changed since"
    else:
        return
    backup = places.tree(keep_tree(places, folder))
    message = f"the files in `{folder}` {why}; a copy is kept"
    run.note(Problem("tree-kept", message, hint=f"it is in `{backup}`"))


def _changed_files(places: Places, folder: Path, recorded: str) -> list[str]:
    """Return the files of the recorded tree that have another content now."""
    kept = places.tree(recorded)
    entries = tree_entries(kept) if kept.is_dir() else ()
    files = (entry.path for entry in entries if entry.kind in ("file", "program"))
    return [path for path in files if (folder / path).is_file() and not cmp(kept / path, folder / path, shallow=False)]


def own_files(places: Places, folder: Path, recorded: str | None) -> list[str]:
    """Return what lies in a plugin's folder and is no part of its recorded tree, sorted; bytecode does not count.

    Without a recorded tree (`""`) it is not known; where no plugin lies (`None`) that is everything.
    """
    if recorded is None:
        return sorted(_paths(folder))
    kept = places.tree(recorded) if recorded else None
    if kept is None or not kept.is_dir() or not folder.is_dir():
        return []
    theirs = {entry.path for entry in tree_entries(kept)}
    return sorted(path for path in _paths(folder, _NOBODYS) if not _is_left(path) and path not in theirs)


def _paths(folder: Path, besides: Collection[str] = ()) -> Iterator[str]:
    """Yield all files and links below a folder, whatever they are: this is no plugin that must be fit to be copied."""
    for directory, folders, others in walk(folder):
        folders[:] = [name for name in folders if name not in besides]
        for name in others:
            path = Path(directory, name)
            if path.is_symlink() or path.is_file():  # a pipe or socket belongs to the process that made it
                yield path.relative_to(folder).as_posix()


def _is_left(path: str) -> bool:
    return path.rpartition("/")[2] in LEFT_OUT_FILES or path.endswith(LEFT_OUT_SUFFIXES)


def _beside(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.pm-{os.urandom(6).hex()}.tree")
