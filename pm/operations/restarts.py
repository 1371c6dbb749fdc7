"""Whether a process that runs must be started again: what it may have imported, and would find changed or gone.

The rule and its words are those of the module that lies in every generation (`pm/inside/_hermes_pm.py`). A process
that asks it knows what it has imported; from here any distribution of its environment may have been.
"""

from __future__ import annotations

from pm.errors import PmError
from pm.generations.distributions import site_packages
from pm.generations.leases import leased
from pm.generations.records import Member, Record
from pm.inside import _hermes_pm
from pm.places import EnvironmentNumber, Places


def restart_reasons(places: Places, before: Record | None, after: Record) -> tuple[str, ...]:
    """Return what a process of the generation before may have imported and would find changed or gone.

    To it comes what `running_behind` knows of, of processes in the generation before and in earlier ones.
    """
    moved = before is not None and before.environment != after.environment
    may = _difference(places, before.environment, after.environment) if before is not None and moved else ()
    try:
        behind = running_behind(places, after)
    except PmError:  # the change is made: leases that cannot be read make it no failure
        behind = ()
    return tuple(dict.fromkeys((*may, *behind)))


def replaced_plugins(before: Record | None, after: Record) -> tuple[str, ...]:
    """Return the plugins whose folder holds other files than before: a process that imported from it would mix both."""
    known = {member.root: member for member in before.members} if before is not None else {}
    replaced = ((known[member.root], member) for member in after.members if member.root in known)
    return tuple(_replaced(old, new) for old, new in replaced if old.tree_digest and old.tree_digest != new.tree_digest)


def _replaced(old: Member, new: Member) -> str:
    versions = old.declaration.version, new.declaration.version
    if versions[0] == versions[1]:
        return f"the files of `{new.key}` {versions[1]}".rstrip()
    return f"{new.key} {versions[0]} → {versions[1]}"


def running_behind(places: Places, selected: Record) -> tuple[str, ...]:
    """Return for each environment that something runs in and that is not the selected one, what differs there."""
    reasons: dict[str, None] = {}
    for number in leased(places.locks):
        if number != selected.environment:
            # what is only added counts too: a process does not see it before it is started again
            found = _difference(places, number, selected.environment) or (f"a process runs in generation {number}",)
            reasons |= dict.fromkeys(found)
    return tuple(reasons)


def _difference(places: Places, number: EnvironmentNumber, selected: EnvironmentNumber) -> tuple[str, ...]:
    """Return what is changed or gone in the selected environment; of one that is gone itself, everything is."""
    try:
        site = site_packages(places.environment(number))
    except PmError:
        return (_hermes_pm.gone(number),)
    try:
        other = site_packages(places.environment(selected))
        return tuple(map(str, _hermes_pm.changed(str(site), str(other))))
    except (PmError, OSError):  # the selected one is gone: nothing can be started there, which is told as drift
        return ()
