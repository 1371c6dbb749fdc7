"""Faults of an environment, foreseen or found in it, as reasons of a refusal and as warnings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from admission import Demand, Origin, Owner, Problem, Reason, Refused, Requirement
from lockfiles import Lock
from lockfiles.graph import chains
from pm.generations.file_faults import Fault

FILE_CODES = frozenset({"file-collision", "invalid-wheel", "module-shadowing"})
"""Codes of a refusal because of what is in the files, whose requirements hold together."""


def refusal_of(clashes: Iterable[Fault], lock: Lock, roots: Sequence[Requirement] = ()) -> Refused | None:
    """Return the refusal that clashes of files mean; `None` if all of them are harmless.

    Among the `roots`, which the lock was made from, is where each demand is written.
    """
    reasons = [
        Reason(
            code=fault.code,
            message=fault.message,
            package=fault.package,
            consents=_consents(fault, lock),
            # with what no other takes part in, its own file is what is wrong
            broken="" if fault.others else lock.versions().get(fault.package, ""),
            demands=tuple(_demand(lock, name, roots) for name in (fault.package, *fault.others) if lock.pin(name)),
        )
        for fault in clashes
        if not fault.harmless
    ]
    return Refused(tuple(reasons)) if reasons else None


def _consents(fault: Fault, lock: Lock) -> tuple[str, ...]:
    """Return by which consent a fault would be harmless: none lets a file of the core be overwritten."""
    core = lock.core.partition("==")[0]
    takes_part = {fault.package, *fault.others}
    return ("allow-collision",) if fault.others and core not in takes_part else ()


def warning_of(fault: Fault) -> Problem:
    """Return a harmless fault as a warning."""
    return Problem(fault.code, fault.message)


def _demand(lock: Lock, name: str, roots: Sequence[Requirement]) -> Demand:
    """Return who asks for a distribution, and through which chain it arrives."""
    ways = chains(lock, name)
    if not ways:
        return Demand(Requirement(name=name, origin=Origin(Owner("distribution", name)), text=name), (name,))
    first = ways[0]
    texts = tuple(link.requirement or f"{link.name}=={link.version}" for link in first.links)
    written = [root for root in roots if (root.origin.owner, root.name) == (first.owner, first.links[0].name)]
    if written:
        return Demand(written[0], (written[0].canonical, *texts[1:]))
    return Demand(Requirement(name=name, origin=Origin(first.owner), text=texts[0]), texts)
