"""Go down from the roots along the best candidates: what must be known before a search is worth starting, or its end.

Where nothing on the way had to be taken back, the walk has found the assignment that a search would look for.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from admission.decision import Need
from admission.universe import Universe, Unknown

__all__ = ["Walk", "frontier", "unknown_pages", "with_neighbours"]

_NEIGHBOURS = 8


class Walk(NamedTuple):
    """How far the way down led."""

    need: Need | None
    """The pages and candidates that the likely solution touches and that are not read yet; `None` if all are known."""
    likely: Mapping[str, int]
    """Package → position, if each was taken once and kept; else empty. Still to be verified demand by demand."""


def frontier(universe: Universe) -> Walk:
    """Walk down from the roots, taking for each package the first version that all demands seen so far accept."""
    pages: set[str] = set()
    unread: set[tuple[str, str]] = set()
    masks: dict[str, int] = {}
    extras: dict[str, set[str]] = {}
    visited: set[tuple[str, int, str]] = set()
    taken: dict[str, set[int]] = {}
    impossible = False
    pending: list[str] = []
    for root in universe.roots:
        try:
            arc = universe.root_arc(root)
        except Unknown as unknown:
            pages.add(unknown.page)
            continue
        masks[arc.name] = masks.get(arc.name, -1) & arc.mask
        extras.setdefault(arc.name, {""}).update(arc.extras)
        pending.append(arc.name)
    while pending:
        name = pending.pop()
        package = universe.package(name)
        mask = masks[name] & (package.free or package.conditional)
        position = next(iter(universe.in_order(name, mask)), None)
        if position is None:
            impossible = True
            continue
        taken.setdefault(name, set()).add(position)
        for extra in sorted(extras[name]):
            if (name, position, extra) in visited:
                continue
            visited.add((name, position, extra))
            try:
                arcs = universe.arcs(name, position, extra)
            except Unknown as unknown:
                unread.update(unknown.candidates)
                pages.update(unknown_pages(universe, name, position, extra))
                continue
            for arc in arcs:
                masks[arc.name] = masks.get(arc.name, -1) & arc.mask
                extras.setdefault(arc.name, {""}).update(arc.extras)
                pending.append(arc.name)
    if pages or unread:
        return Walk(Need(tuple(sorted(pages)), tuple(sorted(unread))), {})
    kept = not impossible and all(len(positions) == 1 for positions in taken.values())
    return Walk(None, {name: min(positions) for name, positions in taken.items()} if kept else {})


def unknown_pages(universe: Universe, name: str, position: int, extra: str) -> set[str]:
    """Return all unknown pages that a known version names, not only the first."""
    candidate = universe.candidate(name, position)
    named = {edge.name for edge in candidate.requires if edge.extra == extra} if candidate is not None else set()
    return named - universe.core_names - universe.facts.pages.keys()


def with_neighbours(
    universe: Universe,
    candidates: Iterable[tuple[str, str]],
    *,
    at_once: bool = False,
    beside: Iterable[tuple[str, str]] = (),
) -> tuple[tuple[str, str], ...]:
    """Return unread candidates and the versions that would be tried next: one round trip instead of many.

    As many as were read of a package before, since the first often suffices; `at_once` as many as are ever asked for.
    Those `beside` have no neighbours.
    """
    asked = dict.fromkeys(candidates)
    for name, version in tuple(asked):
        package = universe.package(name)
        position = package.sets.positions[version]
        read = sum(1 for other in universe.facts.candidates.get(name, {}) if other != version)
        left = _NEIGHBOURS if at_once else min(read, _NEIGHBOURS)
        for below in universe.in_order(name, package.free & ((1 << position) - 1)):
            if left <= 0:
                break
            if universe.candidate(name, below) is None:
                asked[name, package.page.versions[below]] = None
                left -= 1
    return tuple(sorted({*asked, *beside}))
