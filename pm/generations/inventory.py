"""What plugins are there for a profile: found and read by one set of rules, whichever verb asks."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from admission import Declaration
from pm.config.profiles import Enabled, enabled_plugins
from pm.config.settings import Selection, Settings
from pm.generations.records import Record
from pm.generations.set_up import unreadable_state
from pm.host.core import HostedCore, core_from_json
from pm.host.core_setting import core_names
from pm.places import Places
from pm.plugins.declaration_cache import Rules
from pm.plugins.discovery import Found, find_plugins


class Surroundings(NamedTuple):
    """What it depends on which plugins are found, and how they are read."""

    bundled: Mapping[str, Declaration]
    """The plugins that the core brings."""
    rules: Rules
    environ: Mapping[str, str]
    project: Path | None = None
    """The folder that the operator works in, which may hold plugins of a project."""


class Inventory(NamedTuple):
    """The plugins of one profile."""

    found: tuple[Found, ...]
    enabled: Enabled


def take_inventory(home: Path, selection: Selection, surroundings: Surroundings) -> Inventory:
    """Find the plugins of a home, and which of them its config enables; raise `PmError` for an unreadable folder."""
    bundled, rules, environ, project = surroundings
    found = find_plugins(home, bundled, environ, rules, project=project)
    return Inventory(found, enabled_plugins(selection, found))


def recorded_surroundings(
    places: Places,
    settings: Settings,
    record: Record | None,
    *,
    environ: Mapping[str, str],
    project: Path | None,
) -> Surroundings:
    """Return the surroundings of the selected generation: its core is taken as it was recorded, and none is looked for.

    Raise `PmError` (`drift`) for a record whose core cannot be read.
    """
    if record is None:
        return Surroundings({}, reading_rules(places, core_names(settings.core)), environ, project)
    hosted = recorded_core(places, record)
    rules = reading_rules(places, core_names(hosted.setting) | hosted.names)
    return Surroundings(hosted.bundled, rules, environ, project)


def recorded_core(places: Places, record: Record) -> HostedCore:
    """Return the core of a generation; raise `PmError` (`drift`) if the record does not tell it."""
    try:
        return core_from_json(record.core)
    except (TypeError, ValueError, LookupError) as error:
        text = f"the core of generation {record.generation} cannot be read"
        raise unreadable_state(places, text, places.record(record.generation)) from error


def reading_rules(places: Places, core_names: frozenset[str]) -> Rules:
    """Return the rules that declarations are read by: what counts as the core."""
    return Rules(core_names, places.cache / "read")
