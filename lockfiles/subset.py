"""What is left of a lock when a plugin goes, without any search; and what differs between two locks.

A part of a solved set that is closed under its own edges is solved too, so removing a plugin never needs an index.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from lockfiles.graph import owners as owners_by_name
from lockfiles.lock import Edge, Lock, Owner, Pin

__all__ = ["Change", "Changes", "NotASubset", "changes", "subset"]


class NotASubset(ValueError):
    """Something is asked for that the lock was not solved with; it must be resolved."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name


class Change(NamedTuple):
    """What happens to one name between two locks."""

    name: str
    before: str = ""
    """The version; empty where it is not pinned."""
    after: str = ""
    """Equal to `before` when only the file changes: the same version, built or published again."""
    owners: tuple[Owner, ...] = ()
    """On whose behalf it is there, or was."""


class Changes(NamedTuple):
    """Everything that differs between two locks; each sorted by name."""

    added: tuple[Change, ...] = ()
    removed: tuple[Change, ...] = ()
    moved: tuple[Change, ...] = ()


def subset(lock: Lock, roots: Iterable[tuple[str, Iterable[str]]], owners: Mapping[str, Iterable[Owner]]) -> Lock:
    """Return the lock of what stays: the pins that `roots` (names with extras) reach, and no others.

    `owners` says what requires which name. The fingerprint is left empty, since other inputs belong to it. Raise
    `NotASubset` if a root, or the extra of one, is not part of the lock.
    """
    asked = _asked(lock, roots)
    pins = tuple(
        pin._replace(extras=tuple(sorted(asked[pin.name])), owners=tuple(sorted(set(owners.get(pin.name, ())))))
        for pin in lock.pins
        if pin.name in asked
    )
    return lock._replace(pins=pins, fingerprint="")


def changes(before: Lock | None, after: Lock) -> Changes:
    """Return what an environment of `before` would gain, lose and move to become one of `after`."""
    old = {pin.name: pin for pin in before.pins} if before else {}
    new = {pin.name: pin for pin in after.pins}
    added, removed = sorted(new.keys() - old.keys()), sorted(old.keys() - new.keys())
    moved = [name for name in sorted(old.keys() & new.keys()) if _differ(old[name], new[name])]
    gone_owners = owners_by_name(before) if before and removed else {}
    owners = owners_by_name(after) if added or moved else {}
    return Changes(
        added=tuple(Change(name, "", new[name].version, owners[name]) for name in added),
        removed=tuple(Change(name, old[name].version, "", gone_owners[name]) for name in removed),
        moved=tuple(Change(name, old[name].version, new[name].version, owners[name]) for name in moved),
    )


def _differ(one: Pin, other: Pin) -> bool:
    return (one.version, one.artifact.sha256) != (other.version, other.artifact.sha256)


def _asked(lock: Lock, roots: Iterable[tuple[str, Iterable[str]]]) -> dict[str, set[str]]:
    """Return each reached name with the extras that are asked of it."""
    pins = {pin.name: pin for pin in lock.pins}
    asked: dict[str, set[str]] = {}
    waiting: list[tuple[str, str]] = []
    for name, extras in roots:
        if name not in pins:
            raise NotASubset(name, f"`{name}` is not part of the lock")
        waiting.extend((name, extra) for extra in ("", *extras))
    seen: set[tuple[str, str]] = set()
    while waiting:
        place = waiting.pop()
        if place in seen:
            continue
        seen.add(place)
        name, extra = place
        asked.setdefault(name, set()).update({extra} - {""})
        for edge in pins[name].edges:
            if edge.extra == extra and _is_pinned(edge, pins[name], pins):
                waiting.extend((edge.name, further) for further in ("", *edge.extras))
    return asked


def _is_pinned(edge: Edge, pin: Pin, pins: Mapping[str, Pin]) -> bool:
    # An edge that the solved set left open is an arc to the core: a gate that was judged, and nothing to install.
    if edge.extra and edge.extra not in pin.extras and edge.name not in pins:
        raise NotASubset(pin.name, f"the extra `{edge.extra}` of `{pin.name}` is not part of the lock")
    return edge.name in pins
