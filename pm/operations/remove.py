"""Switch a plugin off, or remove it: always possible, without resolving, without a network, whatever state it is in."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from admission import ConstraintSet, Declaration, Owner, Policy, Problem, Refused
from admission.gates import root_requirements
from lockfiles import Lock
from lockfiles.graph import owners as owners_by_name
from lockfiles.subset import NotASubset, subset
from pm.config.edit import ConfigChange, Disable, Remove, Set
from pm.config.profiles import Enabled, enabled_plugins, own_names, read_selection, selecting, selections
from pm.config.settings import Selection
from pm.errors import PmError
from pm.generations.build import (
    Edits,
    Ingredients,
    Prepared,
    apply,
    consents_left,
    contents_after,
    next_number,
    numbers,
    prepare,
    select,
)
from pm.generations.records import Member, Record, read_record, read_selected
from pm.generations.transaction import Replacement
from pm.host.core import core_from_json, core_names, core_to_json
from pm.host.interpreter import describe_interpreter
from pm.index.package_sources import Sources
from pm.names import canonical_key, leaf, same_key
from pm.operations.kept_trees import discard, emptied, keep_what_is_lost, recorded_tree
from pm.operations.new_generation import constraints_later, selected
from pm.operations.plugin_lookup import find_plugin
from pm.operations.run import OperationRun, Result, plugin_of, shadowed, standing, tools
from pm.places import Places, working_folder
from pm.plugins.declaration_cache import Rules
from pm.plugins.discovery import Found, find_plugins
from pm.receipts.receipt import Done, InvalidReceipt, Plugin
from pm.receipts.store import list_receipts, load
from pm.verdict.state import Options, member_of, observed, sources_of, union_of, without


def disable(run: OperationRun, word: str) -> Result:
    """Switch a plugin off in this profile; its packages stay until the next build, which drops what was its own."""
    leaver = _leaver(run, word)
    if not leaver.counts:
        return Done("unchanged")
    edits = _edits(run, leaver, Disable(leaver.key, leaver.names))
    record = leaver.record
    if run.operation.dry_run:
        return Done("disabled")
    if record is None or not leaver.is_member:
        apply(run.places, edits, None, operation="disable")
        return Done("disabled")
    remaining = leaver.remaining(run.places.profile)
    lock = _disowned(record.lock, leaver.key) if leaver.leaves_union(run.places.profile) else record.lock
    lock = _fingerprinted(run, record, remaining, lock)
    prepared = Prepared(next_number(run.places), record.environment, lock)
    _commit(run, leaver, prepared, edits, consents=consents_left(record.consents, lock))
    return Done("disabled")


def remove(run: OperationRun, word: str, options: Options) -> Result:
    """Remove a plugin from this profile: folder, every mention in the config, and what only it needed."""
    try:
        leaver = _leaver(run, word)
    except PmError as error:
        if error.code != "unknown-plugin" or not _was_here(run, word):
            raise
        run.know(plugin=Plugin(key=word, name=word, profile=run.places.profile))
        return Done("unchanged")
    edits = _edits(run, leaver, Remove(leaver.key, leaver.names, leaver.staying))
    removes_folder = leaver.folder is not None
    if leaver.found is not None and not removes_folder:
        message = f"`{leaver.key}` comes with the {leaver.found.source} plugins: it stays there, switched off"
        run.note(Problem("stays-there", message))
    record = leaver.record
    lock = _without(run, leaver) if record is not None and (leaver.is_member or _holds_leftovers(record)) else None
    if run.operation.dry_run:
        return Done("removed", lock)
    trees = _taken_away(run, leaver) if removes_folder else ()
    edits = edits._replace(trees=trees)
    try:
        if record is None or lock is None:
            apply(run.places, edits, None, operation="remove")
            return Done("removed")
        prepared = _rebuilt(run, record, lock, options)
        _commit(run, leaver, prepared, edits, consents=consents_left(record.consents, lock))
        return Done("removed", prepared.lock)
    finally:
        discard(run.places, trees)


class _Leaver(NamedTuple):
    """Who goes, as far as it is known; its files may be broken or gone."""

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
        """The settings that select somebody else."""
        return tuple(setting for setting, _ in selections(self.selection) if setting not in self.selecting)

    @property
    def folder(self) -> Path | None:
        """The folder that `remove` takes away: never one of the core's or of a project."""
        return self.found.folder if self.found is not None and self.found.source == "user" else None

    def remaining(self, profile: str) -> tuple[Member, ...]:
        members = self.record.members if self.record is not None else ()
        return without(members, (self.key,), (profile,))

    def leaves_union(self, profile: str) -> bool:
        """Say whether no other profile has it either."""
        return not any(same_key(member.key, self.key) for member in self.remaining(profile))


def _leaver(run: OperationRun, word: str) -> _Leaver:
    places = run.places
    record = _record(run)
    selection = read_selection(places.home)
    found = _found(run, record, selection)
    plugin = _meant(found, word, selection, record)
    key = plugin.key if plugin is not None else word
    members = record.members if record is not None else ()
    here = [member for member in members if same_key(member.key, key) and places.profile in member.profiles]
    selected_now = enabled_plugins(selection, found)
    enabled = {canonical_key(member.key) for member in selected_now.members}
    enabled |= {canonical_key(written) for written in selection.enabled}
    leaver = _Leaver(
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


def _was_here(run: OperationRun, word: str) -> bool:
    """Say whether a plugin of this key was in this profile, as far as records and receipts tell: it is gone already."""
    profile = run.places.profile
    return any(same_key(key, word) and profile in profiles for key, profiles in _once_here(run.places))


def _once_here(places: Places) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the keys and profiles of all plugins that records and receipts tell of, as far as these can be read."""
    for number in set(numbers(places)):
        with suppress(PmError):
            yield from ((member.key, member.profiles) for member in read_record(places, number).members)
    for stored in list_receipts(places.receipts):
        with suppress(PmError, InvalidReceipt):
            receipt = load(stored.path) if stored.operation == "install" else None
            if receipt is not None and receipt.plugin is not None and receipt.outcome == "admitted":
                yield receipt.plugin.key, (receipt.plugin.profile,)


def _record(run: OperationRun) -> Record | None:
    """Return the selected generation's record; without a readable one the plugin goes all the same."""
    try:
        return read_selected(run.places)
    except PmError as error:
        if error.code != "drift":  # what the disk does not give now is not lost
            raise
        message = f"{error.message}, so the selected generation stays as it is"
        run.note(Problem("record-unreadable", message, error.file, hint="`hermes pm init` makes a new generation"))
        return None


def _found(run: OperationRun, record: Record | None, selection: Selection) -> tuple[Found, ...]:
    """Return the plugins that are there, with those of the core that was recorded: no core is looked for."""
    bundled: Mapping[str, Declaration] = core_from_json(record.core).bundled if record is not None else {}
    names = core_names(selection.section.core if record is None else str(record.core["setting"]))
    rules = Rules(names, cache_directory=run.places.cache / "read")
    return find_plugins(run.places.home, bundled, run.context.environ, rules, project=working_folder())


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


def _announce(run: OperationRun, leaver: _Leaver, found: Sequence[Found]) -> None:
    record = leaver.record
    if leaver.found is not None:
        plugin = plugin_of(member_of(leaver.found, (run.places.profile,)))
    else:
        plugin = Plugin(key=leaver.key, name=leaver.key, profile=run.places.profile)
    remaining = leaver.remaining(run.places.profile)
    run.know(
        plugin=plugin,
        plugins=tuple(plugin_of(member) for member in remaining),
        core=record.lock.core if record is not None else "",
        target=record.target if record is not None else "",
        before=record.lock if record is not None else None,
        generation=standing(record),
        shadowed=tuple(shadowed(found)),
        tools=tools(),
    )


def _edits(run: OperationRun, leaver: _Leaver, change: Disable | Remove) -> Edits:
    """Return the edits of the config; who is selected as provider or engine is selected no longer."""
    changes: list[ConfigChange] = [change]
    for setting, written in selections(leaver.selection):
        if setting in leaver.selecting:
            if isinstance(change, Disable):  # `Remove` takes it out by itself
                changes.append(Set(setting, ""))
            message = f"`{setting}` named `{written}`, and is the built-in one now"
            run.note(Problem("selection-reset", message, "config.yaml", key=setting))
    return Edits({run.places.home: tuple(changes)}, decided_on={run.places.home: leaver.selection})


def _commit(
    run: OperationRun, leaver: _Leaver, prepared: Prepared, edits: Edits, *, consents: Mapping[str, object]
) -> None:
    record = leaver.record
    if record is None:
        message = "nobody leaves a generation that is not there"
        raise AssertionError(message)
    remaining = leaver.remaining(run.places.profile)
    profile = run.places.profile
    chosen = {setting: name for setting, name in selections(leaver.selection) if setting in leaver.staying}
    here = {**record.selections.get(profile, {}), "home": str(run.places.home), "chosen": chosen}
    contents = contents_after(
        record,
        remaining,
        prepared.lock.fingerprint,
        consents=consents,
        selections={**record.selections, profile: here},
    )
    after = select(run.places, prepared, contents, edits, operation=run.mark)
    run.know(inputs_fingerprint=after.fingerprint)
    selected(run, record, after)


# -- what stays


def _holds_leftovers(record: Record) -> bool:
    """Say whether the environment holds packages that nobody asks for any more: a plugin was switched off before."""
    return any(not owners for owners in owners_by_name(record.lock).values())


def _without(run: OperationRun, leaver: _Leaver) -> Lock | None:
    """Return the lock of those who stay; `None` if nobody leaves it."""
    record = leaver.record
    if record is None:
        return None
    remaining = leaver.remaining(run.places.profile)
    if not leaver.leaves_union(run.places.profile):
        return _fingerprinted(run, record, remaining, record.lock)
    try:
        lock = _subset(run, record, remaining)
    except (NotASubset, PmError) as error:
        message = f"what only `{leaver.key}` needed stays until the next build: {error}"
        run.note(Problem("superset-kept", message))
        lock = _disowned(record.lock, leaver.key)
    return _fingerprinted(run, record, remaining, lock)


def _subset(run: OperationRun, record: Record, remaining: Sequence[Member]) -> Lock:
    hosted = core_from_json(record.core)
    target = describe_interpreter(Path(record.interpreter), run.places.cache).target
    roots = root_requirements(ConstraintSet(hosted.core, union_of(remaining), target, Policy()))
    owners: dict[str, set[Owner]] = {}
    for root in roots:
        owners.setdefault(root.name, set()).add(root.origin.owner)
    asked: list[tuple[str, Sequence[str]]] = [(root.name, root.extras) for root in roots]
    pin = hosted.core.pin
    if pin is not None:
        asked.append((pin.name, pin.extras))
        owners.setdefault(pin.name, set()).update(pin.owners)
    return subset(record.lock, asked, owners)


def _disowned(lock: Lock, key: str) -> Lock:
    """Return a lock in which nothing is there on behalf of a plugin: what was only its own is there for nobody."""
    leaving = Owner("plugin", key)
    pins = (pin._replace(owners=tuple(owner for owner in pin.owners if owner != leaving)) for pin in lock.pins)
    return lock._replace(pins=tuple(pins))


def _fingerprinted(run: OperationRun, record: Record, remaining: Sequence[Member], lock: Lock) -> Lock:
    fingerprint = _fingerprint(run, record, remaining, consents_left(record.consents, lock))
    return lock._replace(fingerprint=fingerprint)


def _fingerprint(run: OperationRun, record: Record, remaining: Sequence[Member], consents: Mapping[str, object]) -> str:
    """Return the fingerprint of those who stay; empty if it cannot be told now, and the next check decides anew."""
    try:
        with observed(run.places, run.context.environ, Options(offline=True)) as state:
            if core_to_json(state.hosted, state.interpreter.target) != record.core:
                return ""
            return constraints_later(state, remaining, consents).fingerprint
    except PmError:
        return ""


# -- the environment and the folder


def _rebuilt(run: OperationRun, record: Record, lock: Lock, options: Options) -> Prepared:
    """Build the environment of those who stay, from the cache if it has everything.

    Without the wheels, and without a network to get them, the environment stays as it is: a superset.
    """
    try:
        interpreter = describe_interpreter(Path(record.interpreter), run.places.cache)
        hosted = core_from_json(record.core)
        built: Prepared | Refused | None = None
        with run.phase("build", f"building an environment of {len(lock.pins)} packages"):
            for sources in _ways(run, options):
                built = _tried(run, lock, Ingredients(hosted, interpreter, sources, None), record)
                if isinstance(built, Prepared):
                    return built
    except PmError as error:
        message = f"what nobody needs any more stays until the next build: {error.message.splitlines()[0]}"
    else:
        message = "what nobody needs any more stays until the next build: not every wheel is there to build without it"
    run.note(Problem("superset-kept", message))
    owned = {pin.name: pin.owners for pin in lock.pins}
    pins = tuple(pin._replace(owners=owned.get(pin.name, ())) for pin in record.lock.pins)
    kept = record.lock._replace(pins=pins, fingerprint=lock.fingerprint)
    return Prepared(next_number(run.places), record.environment, kept)


def _ways(run: OperationRun, options: Options) -> Iterator[Sources | None]:
    yield None
    if not options.offline:
        settings = read_selection(run.places.root).settings
        yield sources_of(settings, run.places, run.context.environ)


def _tried(run: OperationRun, lock: Lock, ingredients: Ingredients, record: Record) -> Prepared | Refused | None:
    try:
        return prepare(run.places, lock, ingredients, record)
    except PmError as error:
        if error.code not in ("build-failed", "offline"):
            raise
        return None


def _taken_away(run: OperationRun, leaver: _Leaver) -> tuple[Replacement, ...]:
    folder = leaver.folder
    if folder is None:
        return ()
    places = run.places
    members = leaver.record.members if leaver.record is not None else ()
    known = next((member.tree_digest for member in members if member.root == str(folder)), "")
    recorded = recorded_tree(places, folder, known)
    try:
        keep_what_is_lost(run, folder, recorded)
    except (PmError, OSError) as error:
        run.note(Problem("tree-not-kept", f"no copy of `{folder}` is kept: {error}"))
    replacements = emptied(places, folder, recorded=recorded)
    if replacements[0].tree is not None:
        message = f"what `{leaver.key}` wrote into its folder itself stays in `{folder}`"
        run.note(Problem("files-kept", message))
    return replacements
