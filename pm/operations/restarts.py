"""Whether a process that runs must be started again: what it may have imported, and would find changed or gone.

The rule and its words are those of the module that lies in every generation (`pm/inside/_hermes_pm.py`). A process
that asks it knows what it has imported; from here any distribution of its environment may have been.
"""

from __future__ import annotations

from pm.errors import PmError
from pm.generations.distributions import site_packages
from pm.generations.leases import leased
from pm.inside import _hermes_pm
from pm.places import EnvironmentNumber, Places


def restart_reasons(places: Places, before: EnvironmentNumber | None, after: EnvironmentNumber) -> tuple[str, ...]:
    """Return what a process of the generation before may have imported and would find changed or gone.

    To it comes what `running_behind` knows of, of processes in the generation before and in earlier ones.
    """
    may = _difference(places, before, after) if before is not None and before != after else ()
    try:
        behind = running_behind(places, after)
    except PmError:  # the change is made: leases that cannot be read make it no failure
        behind = ()
    return tuple(dict.fromkeys((*may, *behind)))


def running_behind(places: Places, selected: EnvironmentNumber) -> tuple[str, ...]:
    """Return for each environment that something runs in and that is not the selected one, what differs there."""
    reasons: dict[str, None] = {}
    for number in leased(places.locks):
        if number != selected:
            # what is only added counts too: a process does not see it before it is started again
            found = _difference(places, number, selected) or (f"a process runs in generation {number}",)
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
