"""Ways through a lock: what requires a package, via which pins, and what depends on what."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from lockfiles.lock import Edge, Lock, Owner, Pin

__all__ = [
    "Branch",
    "Chain",
    "Link",
    "active_edges",
    "chains",
    "covering",
    "owners",
    "owners_of",
    "requirement_of",
    "tree",
]

DEEPEST = 100
"""Levels of a tree, if no other number is asked for."""


class Link(NamedTuple):
    """One pin on the way to a package."""

    name: str
    version: str
    requirement: str = ""
    """What the link before asks for: `protobuf<7,>=5.29.6`; empty for the first, which the owner asks for."""


class Chain(NamedTuple):
    """A shortest way from an owner to a package."""

    owner: Owner
    links: tuple[Link, ...]
    """From the pin that the owner asks for to the package."""


class Branch(NamedTuple):
    """A pin with what it needs, or in an inverted tree with what needs it."""

    name: str
    version: str
    requirement: str = ""
    """The requirement that joins it to the branch that it hangs on."""
    branches: "tuple[Branch, ...]" = ()
    repeated: bool = False
    """Shown in full somewhere before, so its branches are left out here."""
    deeper: bool = False
    """Has branches that lie below the depth that was asked for."""


def owners(lock: Lock) -> Mapping[str, tuple[Owner, ...]]:
    """Return for each name the owners that it is there for, directly or through other pins, sorted.

    A pin records which extras were asked of it, not which owner asked for which: each counts as asking for all.
    """
    reached = {owner: {name for name, _ in _ways(lock, owner)} for owner in _all_owners(lock)}
    return {pin.name: tuple(owner for owner, names in reached.items() if pin.name in names) for pin in lock.pins}


def owners_of(lock: Lock, name: str) -> tuple[Owner, ...]:
    """Return the owners that a package is there for; none for a name that is not pinned."""
    return owners(lock).get(name, ())


def chains(lock: Lock, name: str) -> tuple[Chain, ...]:
    """Return for each owner of a package one shortest chain to it; the shortest first, then by owner."""
    found = [_chain(lock, owner, name) for owner in owners_of(lock, name)]
    return tuple(sorted(found, key=lambda chain: (len(chain.links), chain.owner)))


def covering(lock: Lock, names: Sequence[str]) -> list[str]:
    """Return those of some pins, in their order, that none of the ones before leads to."""
    needs = _needs(lock)
    covered: set[str] = set()
    first = []
    for name in names:
        if name not in covered:
            first.append(name)
        waiting = [name]
        while waiting:
            if (other := waiting.pop()) not in covered:
                covered.add(other)
                waiting.extend(further for further, _ in needs[other])
    return first


def tree(lock: Lock, names: Sequence[str] = (), *, inverted: bool = False, depth: int = DEEPEST) -> tuple[Branch, ...]:
    """Return the pins as a tree in which each is shown once in full, down to `depth` levels.

    It begins at `names`; without them at what owners ask for (inverted: at what needs nothing), and then at the rest.
    It is a value with as many levels, and nothing can be done with one that has thousands.
    """
    needs = _needs(lock)
    joined = _inverted(needs) if inverted else needs
    first = [pin.name for pin in lock.pins if (not needs[pin.name] if inverted else pin.owners)]
    versions = lock.versions()
    shown: set[str] = set()

    def branch(name: str, requirement: str = "", level: int = 1) -> Branch:
        if name in shown:
            return Branch(name, versions[name], requirement, repeated=bool(joined[name]))
        if level == depth:
            # not shown in full: it may still be, where it hangs higher
            return Branch(name, versions[name], requirement, deeper=bool(joined[name]))
        shown.add(name)
        branches = tuple(branch(other, said, level + 1) for other, said in joined[name])
        return Branch(name, versions[name], requirement, branches)

    begin = names or (*first, *(name for name in versions if name not in first))
    return tuple(branch(name) for name in begin if name in versions and name not in shown)


def active_edges(pin: Pin) -> Iterator[Edge]:
    """Yield the edges that count: the plain ones, and those of the extras that were asked for."""
    return (edge for edge in pin.edges if not edge.extra or edge.extra in pin.extras)


def requirement_of(edge: Edge) -> str:
    """Return what an edge asks for as one line, without its marker: a lock holds for one target."""
    extras = f"[{','.join(edge.extras)}]" if edge.extras else ""
    return f"{edge.name}{extras}{edge.specifier}"


def _needs(lock: Lock) -> dict[str, list[tuple[str, str]]]:
    names = lock.versions()
    return {
        pin.name: sorted({(edge.name, requirement_of(edge)) for edge in active_edges(pin) if edge.name in names})
        for pin in lock.pins
    }


def _inverted(needs: Mapping[str, Sequence[tuple[str, str]]]) -> dict[str, list[tuple[str, str]]]:
    inverted: dict[str, list[tuple[str, str]]] = {name: [] for name in needs}
    for name, needed in needs.items():
        for other, requirement in needed:
            inverted[other].append((name, requirement))
    return inverted


def _all_owners(lock: Lock) -> list[Owner]:
    return sorted({owner for pin in lock.pins for owner in pin.owners})


_Place = tuple[str, str]
"""A name and one of its extras, or no extra."""


def _ways(lock: Lock, owner: Owner) -> dict[_Place, tuple[_Place, str] | None]:
    """Walk breadth first from what an owner asks for; give for each place the one before it and what that asks for."""
    pins = {pin.name: pin for pin in lock.pins}
    asked = [pin for pin in lock.pins if owner in pin.owners]
    reached: dict[_Place, tuple[_Place, str] | None] = {
        (pin.name, extra): None for pin in asked for extra in ("", *pin.extras)
    }
    waiting = deque(reached)
    while waiting:
        place = waiting.popleft()
        for edge in sorted(pins[place[0]].edges):
            if edge.extra != place[1] or edge.name not in pins:
                continue
            for further in ((edge.name, extra) for extra in ("", *edge.extras)):
                if further not in reached:
                    reached[further] = (place, requirement_of(edge))
                    waiting.append(further)
    return reached


def _chain(lock: Lock, owner: Owner, name: str) -> Chain:
    reached = _ways(lock, owner)
    versions = lock.versions()
    place: _Place = next(place for place in reached if place[0] == name)
    links: list[Link] = []
    while (before := reached[place]) is not None:
        links.append(Link(place[0], versions[place[0]], before[1]))
        place = before[0]
    links.append(Link(place[0], versions[place[0]]))
    return Chain(owner, tuple(reversed(links)))
