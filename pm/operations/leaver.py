"""The plugins that leave: what is known of them, what their leaving changes in the config, and how it is committed."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from admission import Owner, Problem
from lockfiles import Lock
from pm.config.edit import ConfigChange, Disable, Remove, Set
from pm.config.managed import check_changes
from pm.config.profiles import Enabled, own_names, read_own_selection, read_selection, selecting, selections
from pm.config.settings import Selection, Settings
from pm.errors import PmError
from pm.generations.build import (
    Edits,
    Prepared,
    consents_left,
    contents_after,
    select,
)
from pm.generations.inventory import Inventory, recorded_core, recorded_surroundings, take_inventory
from pm.generations.records import Member, Record, read_selected
from pm.host.core import core_to_json
from pm.names import canonical_key, leaf, same_key
from pm.operations.new_generation import fingerprint_later
from pm.operations.plugin_lookup import find_plugin
from pm.operations.receipt_rows import Start, plugin_of, shadowed, stays, tools
from pm.operations.run import OperationRun
from pm.operations.selected_generation import say_selected
from pm.places import Places, working_folder
from pm.plugins.discovery import Found
from pm.receipts.receipt import Plugin
from pm.verdict.state import Options, read_state
from pm.verdict.union import member_of, without


class Leaver(NamedTuple):
    """The plugin that goes, as far as it is known; its files may be broken or gone."""

    key: str
    names: tuple[str, ...]
    found: Found | None
    record: Record | None
    selection: Selection
    selecting: tuple[str, ...]
    """The settings that select it."""
    is_enabled: bool
    is_member: bool
    """Of the selected generation, in this profile."""

    @property
    def counts(self) -> bool:
        return self.is_enabled or self.is_member

    @property
    def staying(self) -> tuple[str, ...]:
        """The settings that select another plugin."""
        return tuple(setting for setting, _ in selections(self.selection) if setting not in self.selecting)

    @property
    def folder(self) -> Path | None:
        """The folder that `remove` takes away: never one of the core's or of a project."""
        return self.found.folder if self.found is not None and self.found.source == "user" else None


class Leaving(NamedTuple):
    """Plugins that go from a profile together."""

    leavers: tuple[Leaver, ...]
    record: Record | None
    profile: str

    @property
    def remaining(self) -> tuple[Member, ...]:
        """The members that stay."""
        members = self.record.members if self.record is not None else ()
        return without(members, (leaver.key for leaver in self.leavers), (self.profile,))

    @property
    def gone(self) -> tuple[str, ...]:
        """The keys of those that no other profile has either."""
        staying = self.remaining
        keys = (leaver.key for leaver in self.leavers)
        return tuple(key for key in keys if not any(same_key(member.key, key) for member in staying))

    @property
    def named(self) -> str:
        return ", ".join(f"`{leaver.key}`" for leaver in self.leavers)


def leaving(run: OperationRun, leavers: Sequence[Leaver]) -> Leaving:
    """Return plugins as they go together, and say in the receipt which ones stay."""
    together = Leaving(tuple(leavers), leavers[0].record, run.places.profile)
    if len(leavers) > 1:
        run.is_about_several({leaver.key: leaver.key for leaver in leavers})
    run.decides_on_inputs(map(plugin_of, together.remaining), "")
    return together


def leaver_of(run: OperationRun, word: str) -> Leaver:
    """Return what is known of the plugin that a word means, and say in the receipt which it is.

    Raise `PmError` (`unknown-plugin`).
    """
    places = run.places
    record = _record(run)
    selection = read_selection(places.home)
    found, selected_now = _inventory(run, record, selection)
    plugin = _meant(found, word, selection, record)
    key = plugin.key if plugin is not None else word
    members = record.members if record is not None else ()
    here = [member for member in members if same_key(member.key, key) and places.profile in member.profiles]
    enabled = {canonical_key(member.key) for member in selected_now.members}
    enabled |= {canonical_key(written) for written in selection.enabled}
    leaver = Leaver(
        key=here[0].key if here and plugin is None else key,
        names=own_names(plugin, found) if plugin is not None else (word,),
        found=plugin,
        record=record,
        selection=selection,
        selecting=selecting(selection, plugin, found)
        if plugin is not None
        else _naming(selection, (key, leaf(key)), selected_now),
        is_enabled=canonical_key(key) in enabled,
        is_member=bool(here),
    )
    _announce(run, leaver, found)
    return leaver


def _record(run: OperationRun) -> Record | None:
    """Return the selected generation's record; without a readable one the plugin goes all the same."""
    try:
        record = read_selected(run.places)
        if record is not None:
            recorded_core(run.places, record)
    except PmError as error:
        if error.code != "drift":  # what the disk does not give now is not lost
            raise
        message = f"{error.message}, so the selected generation stays as it is"
        run.note(Problem("record-unreadable", message, error.file, hint=error.hint))
        return None
    return record


def _inventory(run: OperationRun, record: Record | None, selection: Selection) -> Inventory:
    """Return the plugins that are there, with those of the core that was recorded: no core is looked for."""
    places, settings = run.places, _settings(run.places, selection)
    surroundings = recorded_surroundings(
        places, settings, record, environ=run.context.environ, project=working_folder()
    )
    return take_inventory(places.home, selection, surroundings)


def _settings(places: Places, selection: Selection) -> Settings:
    """Return the settings of the root's config as far as they can be read."""
    if places.home == places.root:
        return selection.section
    try:
        return read_own_selection(places.root).section
    except PmError:  # a plugin of this profile goes all the same
        return Settings()


def _meant(found: Sequence[Found], word: str, selection: Selection, record: Record | None) -> Found | None:
    """Return the plugin that a word means; `None` for one of which only the config or the record knows."""
    try:
        return find_plugin(found, word)
    except PmError:
        members = record.members if record is not None else ()
        known = (*selection.enabled, *selection.disabled, *selection.entries, *(member.key for member in members))
        selected = (selection.memory_provider, selection.context_engine)
        if any(same_key(word, written) for written in (*known, *selected) if written):
            return None
        raise


def _naming(selection: Selection, names: Sequence[str], enabled: Enabled) -> tuple[str, ...]:
    """Return the settings that select by one of these names a plugin that is not there."""
    return tuple(
        setting
        for setting, written in selections(selection)
        if written in enabled.missing and any(same_key(written, name) for name in names)
    )


def _announce(run: OperationRun, leaver: Leaver, found: Sequence[Found]) -> None:
    record = leaver.record
    if leaver.found is not None:
        plugin = plugin_of(member_of(leaver.found, (run.places.profile,)))
    else:
        plugin = Plugin(key=leaver.key, name=leaver.key, profile=run.places.profile)
    run.starts_from(
        Start(
            core=record.lock.core if record is not None else "",
            target=record.target if record is not None else "",
            before=record.lock if record is not None else None,
            generation=stays(record),
            shadowed=tuple(shadowed(found)),
            tools=tools(),
        )
    )
    run.is_about(plugin)


def edits_of(run: OperationRun, leavers: Sequence[Leaver], change: Callable[[Leaver], Disable | Remove]) -> Edits:
    """Return the edits of the config; what was selected as provider or engine is selected no longer."""
    check_changes(leavers[0].selection, map(change, leavers))
    changes = tuple(edit for leaver in leavers for edit in _edits_of(run, leaver, change(leaver)))
    return Edits({run.places.home: changes}, decided_on={run.places.home: leavers[0].selection})


def _edits_of(run: OperationRun, leaver: Leaver, change: Disable | Remove) -> Iterator[ConfigChange]:
    yield change
    for setting, written in selections(leaver.selection):
        if setting in leaver.selecting:
            if isinstance(change, Disable):  # `Remove` takes it out by itself
                yield Set(setting, "")
            message = f"`{setting}` was `{written}`, and is the built-in one now"
            run.note(Problem("selection-reset", message, "config.yaml", key=setting))


def commit_without(
    run: OperationRun, leaving: Leaving, prepared: Prepared, edits: Edits, *, consents: Mapping[str, object]
) -> None:
    """Select a generation of the members that stay, together with the edits."""
    record, remaining, profile = leaving.record, leaving.remaining, leaving.profile
    if record is None:
        message = "there is no generation to leave"
        raise AssertionError(message)
    selecting = {setting for leaver in leaving.leavers for setting in leaver.selecting}
    selection = leaving.leavers[0].selection
    chosen = {setting: name for setting, name in selections(selection) if setting not in selecting}
    here = {**record.selections.get(profile, {}), "home": str(run.places.home), "chosen": chosen}
    contents = contents_after(
        record,
        remaining,
        prepared.lock.fingerprint,
        consents=consents,
        selections={**record.selections, profile: here},
    )
    after = select(run.places, prepared, contents, edits, operation=run.mark)
    run.decides_on_inputs(run.operation.plugins, after.fingerprint)
    say_selected(run, record, after)


def disowned(lock: Lock, keys: Iterable[str]) -> Lock:
    """Return a lock in which plugins own nothing: what they alone required has no owner."""
    leaving = {Owner("plugin", key) for key in keys}
    pins = (pin._replace(owners=tuple(owner for owner in pin.owners if owner not in leaving)) for pin in lock.pins)
    return lock._replace(pins=tuple(pins))


def fingerprinted(
    run: OperationRun, record: Record, remaining: Sequence[Member], lock: Lock, *, gone: Sequence[str] = ()
) -> Lock:
    """Return a lock with the fingerprint of the members that stay; `gone` are the plugins whose consents end."""
    fingerprint = _fingerprint(run, record, remaining, consents_left(record.consents, lock, gone))
    return lock._replace(fingerprint=fingerprint)


def _fingerprint(run: OperationRun, record: Record, remaining: Sequence[Member], consents: Mapping[str, object]) -> str:
    """Return the fingerprint of the members that stay; empty if it is not known: then the next check decides anew."""
    try:
        with read_state(run.places, run.context.environ, Options(offline=True)) as (state, _):
            if core_to_json(state.hosted, state.interpreter.target) != record.core:
                return ""
            return fingerprint_later(state, state.union.of(remaining), consents)
    except PmError:
        return ""
