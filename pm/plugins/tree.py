"""Copy a plugin's folder, and digest it: what belongs to the plugin, without what machines leave behind in it."""

import hashlib
import os
import stat
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from pm.errors import PmError
from pm.limits import PLUGIN_BYTES, PLUGIN_DEPTH, PLUGIN_ENTRIES
from pm.names import shown
from pm.system.files import disk_error, require_space, unfinished
from pm.system.folders import remove_tree

LEFT_OUT_FOLDERS = frozenset(
    {
        "__pycache__", ".git", ".hg", ".svn",
        ".venv", ".tox", ".nox", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis",
    }
)  # fmt: skip
"""Folders, wherever they lie, that are not the plugin: history, environments, caches."""
LEFT_OUT_FILES = frozenset({".git", ".DS_Store"})
"""`.git` is a file in a worktree or submodule."""
LEFT_OUT_SUFFIXES = (".pyc", ".pyo")


class TreeEntry(NamedTuple):
    """One file, link or folder of a plugin."""

    path: str
    """Relative, with `/`."""
    kind: str
    """`file`, `program` (an executable file), `link` or `folder`."""
    size: int = 0
    """Of a file, as it would be copied: one with holes takes less on its disk."""


def tree_entries(folder: Path) -> Iterator[TreeEntry]:
    """Yield what belongs to the plugin of a folder, sorted within each folder, a folder before what is in it.

    Raise `PmError` (`unsafe-archive`) for a link that leads out of the folder, and for devices, pipes and sockets.
    """
    root = folder.resolve()
    waiting = [*reversed(_listed(root, root, ""))]
    while waiting:
        entry = waiting.pop()
        yield entry
        if entry.kind == "folder":
            waiting.extend(reversed(_listed(root, root / entry.path, f"{entry.path}/")))


def fitting_entries(folder: Path) -> list[TreeEntry]:
    """Return what belongs to the plugin of a folder if that is within the limits of what is copied.

    Raise `PmError` (`unsafe-archive`) as `tree_entries` does, and beyond the limits.
    """
    entries: list[TreeEntry] = []
    total = 0
    for entry in tree_entries(folder):
        entries.append(entry)
        total += entry.size
        if len(entries) > PLUGIN_ENTRIES.value:
            raise _too_much(folder, entry, f"{PLUGIN_ENTRIES.value:,} {PLUGIN_ENTRIES.unit}")
        if entry.path.count("/") > PLUGIN_DEPTH.value:
            raise _too_much(folder, entry, f"{PLUGIN_DEPTH.value} {PLUGIN_DEPTH.unit} in each other")
        if total > PLUGIN_BYTES.value:
            raise _too_much(folder, entry, f"{PLUGIN_BYTES.value // 1024 // 1024} MiB")
    return entries


def _too_much(folder: Path, entry: TreeEntry, most: str) -> PmError:
    message = f"with {shown(entry.path)} the folder holds more than {most}, which is no plugin"
    return PmError("unsafe-archive", message, file=str(folder / entry.path), key=entry.path)


def copy_plugin(source: Path, destination: Path, only: Collection[str] | None = None) -> Path:
    """Copy what belongs to a plugin into a folder that is not there yet; the copy has the digest of the original.

    Where a plugin has written files of its own, `only` are the files and links that belong to it.

    Raise `PmError` (`unsafe-archive`) as `fitting_entries` does, before anything is written; (`no-space`) before that,
    too, where it cannot fit; (`no-space`, `not-writable`) if the disk fails. Then nothing of the copy is on the disk.
    """
    entries = [entry for entry in fitting_entries(source) if only is None or _is_of(entry, only)]
    require_space(destination, sum(entry.size for entry in entries))
    with staged_folder(destination) as stage:
        for entry in entries:
            _copy(source / entry.path, stage / entry.path, entry)
    return destination


def _is_of(entry: TreeEntry, paths: Collection[str]) -> bool:
    """Say whether an entry is one of these files, or the folder of one."""
    if entry.kind != "folder":
        return entry.path in paths
    return any(path.startswith(f"{entry.path}/") for path in paths)


@contextmanager
def staged_folder(destination: Path) -> Iterator[Path]:
    """Give a folder beside the destination that becomes it if all goes well, and vanishes if not.

    Raise `PmError` (`not-writable`, `no-space`) if the destination is there already, or the disk fails.
    """
    if os.path.lexists(destination):
        raise PmError("not-writable", f"`{destination}` already exists", file=str(destination))
    stage = unfinished(destination)
    try:
        stage.mkdir(parents=True, mode=0o755)
        yield stage
        stage.rename(destination)
    except OSError as error:
        raise disk_error(error, destination) from error
    finally:
        with suppress(OSError):  # what a later operation sweeps
            remove_tree(stage)


def link_target(folder: Path) -> str:
    """Return where a plugin's folder leads that is a link, to a checkout for example; empty for a folder."""
    return os.path.realpath(folder) if folder.is_symlink() else ""


def tree_digest(folder: Path) -> str:
    """Digest what belongs to a plugin: paths, contents, targets of links, and what is executable; nothing else.

    Empty folders do not count, nor do times, owners or the other permissions.
    """
    return _digest_of(_contents(folder))


def files_of_digest(folder: Path, digest: str, named: Collection[str]) -> frozenset[str] | None:
    """Return which files and links of a folder are the plugin of a digest; `None` if they are not all there.

    The others were written by the plugin itself. `named` are files that are known to belong to it, as far as they are
    known: of further ones each is tried.
    """
    contents = _contents(folder)
    known = [row for row in contents if row.path in named]
    unknown = [row for row in contents if row.path not in named]
    sizes = range(len(unknown) + 1) if len(unknown) <= _TRIED_ALTOGETHER else (0, len(unknown), 1)
    for size in sizes:
        for further in combinations(unknown, size):
            rows = sorted((*known, *further))
            if _digest_of(rows) == digest:
                return frozenset(row.path for row in rows)
    return None


_TRIED_ALTOGETHER = 10
"""Files of which it is not known whether they belong to a plugin: of so many, every choice is tried."""


class _Content(NamedTuple):
    """One file or link, as a digest takes it in."""

    path: str
    kind: str
    content: bytes


def _contents(folder: Path) -> list[_Content]:
    entries = sorted(entry for entry in tree_entries(folder) if entry.kind != "folder")
    return [_Content(entry.path, entry.kind, _content_digest(folder / entry.path, entry)) for entry in entries]


def _digest_of(contents: Iterable[_Content]) -> str:
    digest = hashlib.sha256()
    for path, kind, content in contents:
        for part in (os.fsencode(path), kind.encode(), content):
            digest.update(len(part).to_bytes(8, "big") + part)
    return "sha256:" + digest.hexdigest()


def _listed(root: Path, folder: Path, prefix: str) -> list[TreeEntry]:
    try:
        with os.scandir(folder) as scanned:
            found = sorted(scanned, key=lambda entry: entry.name)
    except OSError as error:
        message = f"{shown(str(folder))} cannot be read: {(error.strerror or str(error)).lower()}"
        raise PmError("not-writable", message, file=str(folder)) from error
    return [_entry(root, entry, prefix + entry.name) for entry in found if not _left_out(entry)]


def _left_out(entry: os.DirEntry[str]) -> bool:
    if entry.is_dir(follow_symlinks=False):
        return entry.name in LEFT_OUT_FOLDERS
    return entry.name in LEFT_OUT_FILES or entry.name.endswith(LEFT_OUT_SUFFIXES)


def _entry(root: Path, entry: os.DirEntry[str], path: str) -> TreeEntry:
    status = entry.stat(follow_symlinks=False)
    mode = status.st_mode
    if stat.S_ISDIR(mode):
        return TreeEntry(path, "folder")
    if stat.S_ISREG(mode):
        kind = "program" if mode & (stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH) else "file"
        return TreeEntry(path, kind, status.st_size)
    if not stat.S_ISLNK(mode):
        fault = "is a device, pipe or socket, which a plugin must not contain"
        raise PmError("unsafe-archive", f"{shown(path)} {fault}", file=entry.path, key=path)
    _check_link(root, entry, path)
    return TreeEntry(path, "link")


def _check_link(root: Path, entry: os.DirEntry[str], path: str) -> None:
    target = Path(entry.path).readlink()
    try:
        inside = not target.is_absolute() and Path(entry.path).resolve().is_relative_to(root)
    except (OSError, RuntimeError):  # a link that leads round in circles
        inside = False
    if not inside:
        message = f"{shown(path)} is a link that leads out of the plugin's folder, to {shown(str(target))}"
        raise PmError("unsafe-archive", message, file=entry.path, key=path)


def _copy(source: Path, destination: Path, entry: TreeEntry) -> None:
    if entry.kind == "folder":
        destination.mkdir()
    elif entry.kind == "link":
        destination.symlink_to(source.readlink())
    else:
        import shutil  # with it come three compressors, and looking at a tree needs none

        shutil.copyfile(source, destination, follow_symlinks=False)
        destination.chmod(0o755 if entry.kind == "program" else 0o644)


def _content_digest(path: Path, entry: TreeEntry) -> bytes:
    if entry.kind == "link":
        return os.fsencode(path.readlink())
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").digest()
