"""Go through folders of others and remove them, however deep they are: no level of the stack is taken for each."""

from __future__ import annotations

import itertools
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType
    from typing import NoReturn


def walk(top: Path) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield each folder below a path, itself first, with the names of its folders and of everything else in it.

    As `os.walk` does: what is taken out of the list of folders is not gone into, and what cannot be read is empty. A
    link is no folder, wherever it leads.
    """
    waiting = [os.fspath(top)]
    while waiting:
        directory = waiting.pop()
        folders: list[str] = []
        others: list[str] = []
        with suppress(OSError), os.scandir(directory) as entries:
            for entry in entries:
                (folders if entry.is_dir(follow_symlinks=False) else others).append(entry.name)
        yield directory, folders, others
        waiting += [os.path.join(directory, name) for name in reversed(folders)]  # noqa: PTH118 - a Path costs more


def make_folders(path: Path) -> None:
    """Make a folder with those above it that are missing. Raise `OSError` for what cannot be made."""
    missing = list(itertools.takewhile(lambda folder: not folder.exists(), (path, *path.parents)))
    for folder in reversed(missing):
        folder.mkdir(exist_ok=True)


def remove_if_empty(folder: Path) -> None:
    """Remove a folder in which nothing lies."""
    try:
        folder.rmdir()
    except OSError:
        return


def remove_tree(folder: Path) -> None:
    """Remove a folder with all that is in it, however deep that is, and also where folders in it are read-only.

    Raise `OSError` for what cannot be removed; it names the whole path.
    """
    if not folder.is_dir():
        return
    try:
        _remove(folder)
    except RecursionError:  # it takes a level of the stack for each folder
        _flatten(folder)
        _remove(folder)
    except PermissionError:  # to open folders first, whether that is needed or not, takes half as long again
        _open_folders(folder)
        _remove(folder)


def _remove(folder: Path) -> None:
    import shutil  # with it come three compressors, and most operations remove nothing

    shutil.rmtree(folder, onerror=_raise_named)


def _raise_named(_: object, path: str, raised: tuple[type[BaseException], BaseException, TracebackType]) -> NoReturn:
    if isinstance(raised[1], OSError):
        raised[1].filename = path  # it names the last part only
    raise raised[1]


def _open_folders(top: Path) -> None:
    """Give the owner all rights on the folders in a folder: without them nothing in them can be removed."""
    top.chmod(stat.S_IRWXU)
    for folder, inner, _ in walk(top):
        for name in inner:
            Path(folder, name).chmod(stat.S_IRWXU)


def _flatten(top: Path) -> None:
    """Move what lies deep in a folder up into it, so that nothing in it is deep."""
    waiting = [(top, 0)]
    for number in itertools.count():
        if not waiting:
            return
        folder, depth = waiting.pop()
        if depth == _DEEP:
            folder, depth = folder.rename(top / f".{number}.{os.urandom(4).hex()}"), 1
        with os.scandir(folder) as entries:
            waiting += [(Path(entry.path), depth + 1) for entry in entries if entry.is_dir(follow_symlinks=False)]


_DEEP = 8
"""Folders in each other whose names make no path that is too long for the system, however long they are."""
