"""Paths that several distributions write: which of their files lies there, and where that is open after a build."""

import os
from collections.abc import Iterable, Iterator, Mapping

from pm.dist_info import RecordLine
from pm.index.own_paths import settled


def plain(path: str) -> str:
    """Return a path without detours: nearly every one has none, and to find that out by `normpath` takes long."""
    odd = path.startswith(".") or path.endswith("/") or "//" in path or "/." in path
    return settled(os.path.normpath(path)) if odd else path


def winners(records: Mapping[str, Iterable[RecordLine]]) -> dict[str, tuple[str, RecordLine]]:
    """Return for each path which distribution has its file there, the last by name that writes it, and its line."""
    return {plain(line.path): (name, line) for name in sorted(records) for line in records[name]}


def contested(files: Mapping[str, Mapping[str, str]]) -> dict[str, tuple[str, ...]]:
    """Return the paths that several distributions write, each with their names, unless all bring the same file.

    `files` says for each distribution what it writes, as path → digest; files of which no digest is known may differ.
    uv writes distributions at once, so whose file lies at such a path is open until it is written once more.
    """
    paths = dict.fromkeys(_differing(files))
    return {path: tuple(sorted(name for name, written in files.items() if path in written)) for path in paths}


def _differing(files: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    seen: dict[str, str] = {}
    for written in files.values():
        for path, digest in written.items():
            if path in seen and not (digest and digest == seen[path]):
                yield path
            seen[path] = digest
