"""What is there and in which state: the listings of plugins and of the selected generation, without any resolving."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from admission import declaration_digest
from pm.config.profiles import read_selection
from pm.config.settings import Selection
from pm.errors import PmError
from pm.generations.admitted import is_admitted
from pm.generations.inventory import recorded_core, recorded_surroundings, take_inventory
from pm.generations.pointer import AdmittedMember, read_pointer
from pm.generations.records import Member, Record, read_selected
from pm.limits import CONFIG_BYTES
from pm.names import same_key
from pm.operations.damage import Damage, damage_of, restored_by, unreadable
from pm.operations.installed_trees import origin_of
from pm.operations.service_units import naming_units
from pm.places import Places
from pm.plugins.discovery import Found
from pm.plugins.tree import link_target
from pm.system.files import read_regular


class View(NamedTuple):
    """One home as it is now."""

    places: Places
    record: Record | None
    selection: Selection
    found: tuple[Found, ...]
    enabled: frozenset[str]
    """Keys."""
    missing: tuple[str, ...]
    """What the config enables and was not found, as written."""
    known_settings: frozenset[str]
    """Names of environment variables that are set, here or in the home's `.env`."""
    config_problem: PmError | None = None
    """Why a config cannot be read; then only what was admitted last counts as enabled."""
    damage: Damage | None = None
    """What is damaged of what the manager keeps here: then nothing is ready."""


def look(places: Places, environ: Mapping[str, str], project: Path | None) -> View:
    """Read what is there; nothing is decided, asked or written outside of the cache.

    A record that cannot be read is damage, and everything else is shown without it. Of a config that cannot be read
    only the last admitted plugins count as enabled, as far as record or pointer tell. Raise `PmError` (`not-writable`).
    """
    record, unread = _record(places)
    damage = damage_of(places) or unread
    selection, settings, problem = _selections(places, record)
    surroundings = recorded_surroundings(places, settings.section, record, environ=environ, project=project)
    found, enabled = take_inventory(places.home, selection, surroundings)
    return View(
        places=places,
        record=record,
        selection=selection,
        found=found,
        enabled=frozenset(member.key for member in enabled.members),
        missing=enabled.missing,
        known_settings=frozenset(environ) | _dotenv_names(places.home / ".env"),
        config_problem=problem,
        damage=damage,
    )


def _selections(places: Places, record: Record | None) -> tuple[Selection, Selection, PmError | None]:
    """Return what the configs of the home and of the root select, and what is wrong with one of them."""
    found: list[Selection] = []
    problem: PmError | None = None
    for home in (places.home, places.root):
        try:
            found.append(read_selection(home, places.cache / "read"))
        except PmError as error:
            problem = problem or error
            found.append(Selection(enabled=_last_admitted(places, record)))
    return found[0], found[1], problem


def _last_admitted(places: Places, record: Record | None) -> tuple[str, ...]:
    """Return the keys of the plugins that the selected generation holds for this profile, as far as they are known."""
    rows = _pointed_at(places) if record is None else record.members
    return tuple(row.key for row in rows if places.profile in row.profiles)


def _pointed_at(places: Places) -> Sequence[AdmittedMember]:
    try:
        pointer = read_pointer(places)
    except PmError:  # it is told as damage
        return ()
    return pointer.admitted if pointer is not None else ()


def with_config_problem(listing: dict[str, object], view: View) -> dict[str, object]:
    """Return a listing with what is wrong with the config, if something is."""
    problem = view.config_problem
    if problem is None:
        return listing
    said = {name: getattr(problem, name) for name in ("code", "message", "hint", "file", "line", "key")}
    return {**listing, "config_problem": said}


def _record(places: Places) -> tuple[Record | None, Damage | None]:
    """Return the selected generation's record, or by what it cannot be read."""
    try:
        record = read_selected(places)
        if record is not None:
            recorded_core(places, record)
    except PmError as error:
        if error.code != "drift":
            raise
        return None, unreadable(error)
    return record, None


def plugins(view: View) -> list[dict[str, object]]:
    """Return every copy of every plugin, and what the config enables and was not found."""
    rows = [row(view, found) for found in view.found]
    return [*rows, *(_missing_row(written) for written in view.missing)]


def of_the_core_unused(row: Mapping[str, object]) -> bool:
    """Say whether a row is of a plugin that comes with the core and is not enabled."""
    return row["source"] == "bundled" and row["state"] == "disabled"


def damages(view: View) -> list[Damage]:
    """Return what is damaged, each with the step that puts it right."""
    missing = (restored_by(view.places, view.record, written) for written in view.missing)
    found = [view.damage] if view.damage is not None else [damage for damage in missing if damage is not None]
    return list(dict.fromkeys(found))


def enabled(view: View) -> list[dict[str, object]]:
    """Return what the config enables, found or not."""
    return list(filter(is_enabled, plugins(view)))


def is_enabled(row: Mapping[str, object]) -> bool:
    """Say whether the config enables the plugin of a row, found or not."""
    return row["state"] in ("enabled", "missing")


def row(view: View, found: Found) -> dict[str, object]:
    """Return one copy of a plugin as `plugins list --json` shows it."""
    enabled = found.key in view.enabled and not found.hidden_by
    return {
        "key": found.key,
        "name": found.declaration.name or found.key,
        "version": found.declaration.version,
        "state": "hidden" if found.hidden_by else "enabled" if enabled else "disabled",
        "source": found.source,
        "link": link_target(found.folder) if found.folder is not None else "",
        "ready": _readiness(view, found) if enabled else None,
        "description": found.declaration.description,
        "hidden_by": found.hidden_by,
        "memory_provider": found.memory_provider,
    }


def details(view: View, found: Found) -> dict[str, object]:
    """Return everything that is known of one copy, as `plugins show --json` gives it."""
    declaration = found.declaration
    member = next((m for m in _members(view) if same_key(m.key, found.key)), None)
    return {
        **row(view, found),
        "folder": str(found.folder) if found.folder is not None else None,
        "requires_python": declaration.requires_python,
        "requires_hermes": declaration.requires_core,
        "requirements": [
            {"requirement": r.text or r.canonical, "file": r.origin.file, "line": r.origin.line, "key": r.origin.key}
            for r in (*declaration.requirements, *declaration.gates)
        ],
        "external_dependencies": [dependency._asdict() for dependency in declaration.external_dependencies],
        "requires_env": [{"name": name, "set": name in view.known_settings} for name in declaration.requires_env],
        "hooks": list(declaration.hooks),
        "problems": [problem._asdict() for problem in declaration.problems],
        "notes": [problem._asdict() for problem in declaration.notes],
        "admitted": _is_admitted(view, found),
        "enabled_since": member.enabled_since if member is not None else "",
        "origin": origin_of(view.places, found)._asdict(),
        "copies": [
            {"source": other.source, "folder": str(other.folder or ""), "hidden_by": other.hidden_by}
            for other in view.found
            if same_key(other.key, found.key)
        ],
    }


def status(view: View, environ: Mapping[str, str]) -> dict[str, object]:
    """Return what `pm status --json` shows: the selected generation, and everything that is enabled."""
    record = view.record
    behind = _running_behind(view)
    status: dict[str, object] = {
        "generation": _generation(view),
        "core": record.lock.core if record is not None else None,
        "target": record.target if record is not None else None,
        "plugins": enabled(view),
        "restart_required": bool(behind),
        "restart_reasons": list(behind),
        "home": str(view.places.home),
        "profile": view.places.profile,
        "interrupted": view.places.journal.exists(),
    }
    services = [
        {"file": str(unit.file), "environments": sorted(unit.numbers)} for unit in naming_units(view.places, environ)
    ]
    if services:
        status["services"] = services
    if view.selection.decided:
        status["administrator"] = administrator(view.selection)
    return with_config_problem(status, view)


def administrator(selection: Selection) -> dict[str, object]:
    """Return what the administrator decides for every home, and in which file."""
    return {"file": selection.decided_in, "settings": list(selection.decided)}


def _generation(view: View) -> dict[str, object] | None:
    record = view.record
    if record is None:
        return None
    path = view.places.environment(record.environment)
    return {"number": record.generation, "path": str(path), "lock_digest": record.lock_digest}


def _running_behind(view: View) -> tuple[str, ...]:
    """Return why processes that still run in another environment than the selected one must be started again."""
    from pm.operations.restarts import running_behind

    return running_behind(view.places, view.record.environment) if view.record is not None else ()


def _readiness(view: View, found: Found) -> str:
    declaration = found.declaration
    if not declaration.fit or view.damage is not None:
        return "not-ready"
    if not _is_admitted(view, found):
        return "not-admitted"
    if any(name not in view.known_settings for name in declaration.requires_env):
        return "needs-config"
    return "ready"


def _is_admitted(view: View, found: Found) -> bool:
    """Say whether the selected generation holds this copy for this profile, as it declares now."""
    digest, root = declaration_digest(found.declaration), str(found.folder or "")
    return is_admitted(_members(view), found.key, digest, root=root, profiles=(view.places.profile,))


def _members(view: View) -> Iterable[Member]:
    return view.record.members if view.record is not None else ()


def _missing_row(written: str) -> dict[str, object]:
    return {
        "key": written,
        "name": written,
        "version": "",
        "state": "missing",
        "source": "",
        "link": "",
        "ready": "missing",
        "description": "",
        "hidden_by": "",
        "memory_provider": False,
    }


def _dotenv_names(file: Path) -> frozenset[str]:
    """Return the names that a `.env` sets; its values are not read."""
    try:
        text = read_regular(file, CONFIG_BYTES).decode(errors="replace")
    except OSError:
        return frozenset()
    return frozenset(_names(text))


def _names(text: str) -> Iterator[str]:
    for line in text.splitlines():
        name, equals, value = line.strip().removeprefix("export ").partition("=")
        if equals and value.strip() and not name.startswith("#"):
            yield name.strip()
