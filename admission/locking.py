"""Turn an assignment into the lock that it means."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from admission.assignment import Assignment
from admission.question import Question
from admission.universe import Universe
from lockfiles import Edge, Lock, Owner, Pin

__all__ = ["lock_of"]


def lock_of(question: Question, universe: Universe, chosen: Assignment, extras: Mapping[str, AbstractSet[str]]) -> Lock:
    """Return the lock of a verified assignment and the extras it reaches: pins, owners, edges, and the core itself."""
    constraints = question.constraints
    owners: dict[str, set[Owner]] = {}
    for root in universe.roots:
        owners.setdefault(root.requirement.name, set()).add(root.requirement.origin.owner)
    pins = [_pin(universe, name, chosen[name], extras=extras[name], owners=owners.get(name, set())) for name in chosen]
    core = constraints.core
    if core.pin is not None:
        pins.append(core.pin._replace(edges=_core_edges(universe)))
    return Lock(
        pins=tuple(sorted(pins)),
        requires_python=core.requires_python,
        target=constraints.target.name,
        core=f"{core.name}=={core.version}",
        fingerprint=constraints.fingerprint,
        exclude_newer=constraints.policy.not_after,
    )


def _pin(universe: Universe, name: str, position: int, *, extras: AbstractSet[str], owners: AbstractSet[Owner]) -> Pin:
    candidate = universe.candidate(name, position)
    if candidate is None:
        message = f"the metadata of `{name}` is not known"
        raise ValueError(message)
    active = {"", *extras}
    return Pin(
        name=name,
        version=candidate.version,
        artifact=candidate.artifact,
        index=candidate.index,
        requires_python=candidate.requires_python,
        extras=tuple(sorted(extras)),
        owners=tuple(sorted(owners)),
        edges=tuple(
            sorted(edge for edge in candidate.requires if edge.extra in active and edge.name not in universe.core_names)
        ),
    )


def _core_edges(universe: Universe) -> tuple[Edge, ...]:
    return tuple(
        sorted(
            Edge(
                r.name,
                r.specifier,
                r.extras,
                r.marker,
                r.origin.owner.name if r.origin.owner.kind == "core-extra" else "",
            )
            for root in universe.roots
            if (r := root.requirement).origin.owner.kind in ("core", "core-extra")
        )
    )
