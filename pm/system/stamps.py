"""What tells, without reading a file, whether what an answer rests on is as it was.

A stamp is what `stat` says (inode, size, times of content and of status). Only little of the standard library is
needed: a prompt or a dashboard asks every few seconds.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from pm.system.managed_scope import managed_scope

_PLUGIN_FILES = ("plugin.yaml", "plugin.yml", "plugin.json", "pyproject.toml", "__init__.py")

Stamp = list[int] | None
"""Of one path; `None` if nothing is there."""


def stamps(paths: Iterable[str]) -> list[Stamp]:
    """Return what tells whether each path is still what it was; `None` for one that is not there."""
    return [_stamp(path) for path in paths]


def inputs(home: str, more: Iterable[str]) -> list[str]:
    """Return the files and folders that say what is enabled, what it declares, and what is selected."""
    root = root_of(home)
    profiles = f"{root}/profiles"
    paths = [profiles, f"{root}/pm/pointer.json", f"{root}/pm/journal.json", f"{root}/.managed", *more]
    paths.append(f"{managed_scope(os.environ)}/config.yaml")
    for place in dict.fromkeys([root, *_subfolders(profiles), home]):
        paths += [f"{place}/config.yaml", *plugin_files(f"{place}/plugins")]
    return [*paths, *plugin_files(f"{working_folder()}/.hermes/plugins")]


def plugin_files(folder: str) -> list[str]:
    """Return a folder of plugins with all files that say what those declare."""
    paths = [folder]
    for plugin in _subfolders(folder):
        for place in (plugin, *_subfolders(plugin)):
            paths += [place, *(f"{place}/{name}" for name in _PLUGIN_FILES)]
    return paths


def code_stamps() -> list[list[object]]:
    """Return what changes when the manager's own modules do: an updated manager believes no older one's answers."""
    ours = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 - as below
    top = os.path.dirname(ours)  # noqa: PTH120 - as below
    folders = [ours, *_subfolders(ours), f"{top}/admission", f"{top}/lockfiles"]
    return [[folder, *_modules(folder)] for folder in folders if not folder.endswith("__pycache__")]


def _modules(folder: str) -> tuple[int, int, int]:
    """Return how many modules a folder holds, their size together, and when the newest was written."""
    with os.scandir(folder) as entries:
        statuses = [entry.stat() for entry in entries if entry.name.endswith(".py")]
    newest = max((status.st_mtime_ns for status in statuses), default=0)
    return len(statuses), sum(status.st_size for status in statuses), newest


def working_folder() -> str:
    """Return the working folder; empty where it is gone."""
    try:
        return os.getcwd()  # noqa: PTH109 - as above
    except FileNotFoundError:
        return ""


def root_of(home: str) -> str:
    """Return the root of a profile's home."""
    parent, name = os.path.split(os.path.dirname(home))  # noqa: PTH120 - as above
    return parent if name == "profiles" else home


def _subfolders(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.path for entry in entries if _may_be_folder(entry))
    except OSError:
        return []


def _may_be_folder(entry: os.DirEntry[str]) -> bool:
    """Say whether something is a folder, or a link: what it names may come and go."""
    return entry.is_symlink() or entry.is_dir(follow_symlinks=False)


def _stamp(path: str) -> Stamp:
    try:
        status = os.stat(path)  # noqa: PTH116 - as above
    except OSError:
        return None
    return [status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns]
