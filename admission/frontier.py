"""Name what must be known before a search is worth starting: the roots' way down along the best candidates."""

from __future__ import annotations

from collections.abc import Sequence

from admission.decision import Need
from admission.universe import Root, Universe, Unknown

__all__ = ["frontier"]


def frontier(universe: Universe, roots: Sequence[Root]) -> Need | None:
    """Return the pages and candidates that the likely solution touches and nobody has read; `None` if all are known.

    The likely solution takes for each package the first version that all demands seen so far accept.
    """
    pages: set[str] = set()
    unread: set[tuple[str, str]] = set()
    masks: dict[str, int] = {}
    extras: dict[str, set[str]] = {}
    visited: set[tuple[str, int, str]] = set()
    pending: list[str] = []
    for root in roots:
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
            continue
        for extra in sorted(extras[name]):
            if (name, position, extra) in visited:
                continue
            visited.add((name, position, extra))
            try:
                arcs = universe.arcs(name, position, extra)
            except Unknown as unknown:
                unread.update(unknown.candidates)
                pages.update(_unknown_pages(universe, name, position, extra))
                continue
            for arc in arcs:
                masks[arc.name] = masks.get(arc.name, -1) & arc.mask
                extras.setdefault(arc.name, {""}).update(arc.extras)
                pending.append(arc.name)
    if not pages and not unread:
        return None
    return Need(tuple(sorted(pages)), tuple(sorted(unread)))


def _unknown_pages(universe: Universe, name: str, position: int, extra: str) -> set[str]:
    """Return all unknown pages that a known version names, not only the first."""
    candidate = universe.candidate(name, position)
    named = {edge.name for edge in candidate.requires if edge.extra == extra} if candidate is not None else set()
    return named - universe.core_names - universe.facts.pages.keys()
