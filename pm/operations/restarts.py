"""Whether a process that runs must be started again: what it may have imported, and would find changed or gone."""

from __future__ import annotations

from lockfiles.subset import changes
from pm.errors import PmError
from pm.leases import leased
from pm.places import Places
from pm.records import Record, read_record


def restart_reasons(before: Record | None, after: Record) -> tuple[str, ...]:
    """Return what a process of the generation before may have imported and would find changed or gone."""
    if before is None or before.environment == after.environment:
        return ()
    _, removed, moved = changes(before.lock, after.lock)
    return (
        *(f"{change.name} {change.before} → {change.after}" for change in moved),
        *(f"{change.name} {change.before} is gone" for change in removed),
    )


def running_behind(places: Places, selected: Record) -> tuple[str, ...]:
    """Return for each environment that something runs in and that is not the selected one, what differs there."""
    reasons: dict[str, None] = {}
    for number in leased(places.locks):
        if number != selected.environment:
            reasons |= dict.fromkeys(_difference(places, number, selected))
    return tuple(reasons)


def _difference(places: Places, number: int, selected: Record) -> tuple[str, ...]:
    """Return what differs from an environment; at least that something runs there at all."""
    try:
        record = read_record(places, number)
    except PmError:  # its record is gone or damaged, and the process runs on all the same
        return (f"a process runs in generation {number}",)
    return restart_reasons(record, selected) or (f"a process runs in generation {number}",)
