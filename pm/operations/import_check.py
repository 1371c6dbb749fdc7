"""Which modules a lock brings, and what a plugin imports beyond them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lockfiles import Lock, Pin
from pm.errors import PmError
from pm.lint.review import HOST_MODULES, Provided, Review
from pm.operations.run import OperationRun
from pm.places import expanded
from pm.plugins.discovery import Found
from pm.verdict.resolve import Resolver
from pm.verdict.state import State


def note_imports(run: OperationRun, resolver: Resolver, found: Found, *, folder: Path | None, lock: Lock) -> None:
    """Warn of modules that the source of an admitted plugin imports, and that nothing in its lock brings.

    A module that is used if it is there, and a file that could not be read, are the author's business (`validate`).
    """
    if folder is None or found.declaration.external or not found.declaration.declared:
        return
    for finding in Review(folder, found.declaration).missing_imports(provided(resolver, lock)):
        run.note(finding, owner=found.key)


def provided(resolver: Resolver, lock: Lock) -> Provided:
    """Return the modules that a lock brings: what lies in its wheels, and where that is not known, its own names."""
    from pm.generations.file_faults import top_level_names

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
    yield from HOST_MODULES
    folder = expanded(hosted.setting)
    for root in (folder, folder / "src"):
        if root.is_dir():
            yield from (path.name.removesuffix(".py") for path in root.iterdir())
