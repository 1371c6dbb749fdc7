"""Which modules a lock brings, and what a plugin imports beyond them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from admission import Problem
from lockfiles import Lock, Pin
from pm.documents.boundary import alike
from pm.documents.parse_cache import remembered, stamp_of
from pm.errors import PmError
from pm.generations.records import Member
from pm.operations.run import OperationRun
from pm.places import expanded
from pm.plugins.discovery import Found
from pm.system.folders import walk
from pm.verdict.resolve import Resolver
from pm.verdict.state import State

if TYPE_CHECKING:
    from pm.lint.review import Provided


_NOT_OF_THE_PLUGIN = frozenset({"__pycache__", "node_modules", "venv", "site-packages"})
"""Folders in which nothing is looked at."""


def note_imports(
    run: OperationRun, resolver: Resolver, found: Found | Member, *, folder: Path | None, lock: Lock
) -> None:
    """Warn of modules that the source of an admitted plugin imports, and that nothing in its lock brings.

    A module that is used if it is there, and a file that could not be read, are the author's business (`validate`).
    What was found is kept as long as neither the source nor the lock changes.
    """
    if folder is None or found.declaration.external or not found.declaration.declared:
        return
    state = resolver.state
    # the modules of a core that is a project's folder are whatever lies there; what is staged is never looked at again
    again = state.hosted.kind != "project" and not folder.is_relative_to(run.places.state)
    cache = run.places.cache / "imports" if again else None
    brought = (state.options.offline, state.hosted.setting, [pin.artifact.sha256 for pin in lock.pins])
    findings = remembered(
        cache,
        stamp_of([*_stamps(folder), repr(brought).encode()]),
        read=partial(_missing, resolver, found, folder, lock),
        encode=lambda findings: [list(finding) for finding in findings],
        decode=_findings,
    )
    for finding in findings:
        run.note(finding, owner=found.key)


def _findings(value: object) -> tuple[Problem, ...]:
    if not isinstance(value, list):
        raise TypeError(value)
    return tuple(alike(Problem(*row), Problem("", "")) for row in value)


def _missing(resolver: Resolver, found: Found | Member, folder: Path, lock: Lock) -> tuple[Problem, ...]:
    from pm.lint.review import Review  # parses source, which a dry run of a known plugin does without

    return Review(folder, found.declaration).missing_imports(provided(resolver, lock))


def _stamps(folder: Path) -> Iterator[bytes]:
    """Yield what changes with the source of a plugin, and with what is beside it."""
    yield os.fsencode(folder)
    for directory, folders, files in walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _NOT_OF_THE_PLUGIN)
        for name in sorted(files):
            if name.endswith((".py", ".toml")):
                path = os.path.join(directory, name)  # noqa: PTH118 - a Path for each costs more
                status = os.lstat(path)
                yield repr((path, status.st_ino, status.st_size, status.st_mtime_ns)).encode()


def provided(resolver: Resolver, lock: Lock) -> Provided:
    """Return the modules that a lock brings: what lies in its wheels, and where that is not known, its own names."""
    from pm.generations.file_faults import top_level_names
    from pm.lint.review import Provided

    contents = resolver.index.contents(lock.pins, _carried)
    modules = set(_of_a_project(resolver.state))
    for held in contents.values():
        modules |= top_level_names(held.tops)
    unknown = tuple(sorted(pin.name for pin in lock.pins if pin.name not in contents))
    return Provided(frozenset({*modules, *(name.replace("-", "_") for name in unknown)}), unknown)


def _carried(_: Pin) -> Iterator[Path]:
    """Yield the wheel that the manager brings along, which a pin may mean."""
    from pm.host.embedded import embedded_core_wheel

    try:
        yield embedded_core_wheel()
    except PmError:  # an installation without one can hold no pin on it either
        return


def _of_a_project(state: State) -> Iterator[str]:
    """Yield the modules of a core that is a project's folder: it is put on the path, and no lock holds it."""
    hosted = state.hosted
    if hosted.kind != "project":
        return
    from pm.lint.review import HOST_MODULES

    yield from HOST_MODULES
    folder = expanded(hosted.setting)
    for root in (folder, folder / "src"):
        if root.is_dir():
            yield from (path.name.removesuffix(".py") for path in root.iterdir())
