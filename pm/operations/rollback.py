"""Go back to an earlier generation: environment, plugin folders and what each profile selects, together and unbuilt."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from admission import Problem
from pm.config.edit import ConfigChange, Disable, Enable, Set
from pm.config.profiles import Profile, enabled_plugins, read_profiles, read_selection, selecting
from pm.config.settings import Selection
from pm.errors import PmError
from pm.generations.build import Edits, apply, is_whole, pointer_to
from pm.generations.inventory import recorded_surroundings, take_inventory
from pm.generations.records import Member, Record, read_record, recorded
from pm.generations.transaction import Replacement
from pm.generations.verification import changed_trees, differences, digest_in_place, is_kept
from pm.host.interpreter import describe_interpreter
from pm.names import canonical_key, leaf, same_key, shown
from pm.operations.damage import environment_damage
from pm.operations.kept_trees import discard, keep_what_is_lost, noted, placed, recorded_tree
from pm.operations.receipt_rows import plugin_of
from pm.operations.run import OperationRun, Result
from pm.operations.selected_generation import say_selected, selected_record
from pm.places import DEFAULT_PROFILE, GenerationNumber, working_folder
from pm.plugins.discovery import is_plugin
from pm.plugins.tree import link_target
from pm.receipts.receipt import Done


def roll_back(run: OperationRun, number: GenerationNumber | None, *, agreed: bool) -> Result:
    """Select an earlier generation again, by default the one before; nothing is resolved or built.

    Where another profile than this one would change, that must be agreed to. Raise `PmError` (`unknown-generation`,
    `drift` for one that is not what it was, `not-agreed`); then everything stays.
    """
    record = selected_record(run)
    target = _target(run, record, number)
    is_selected = target.generation == record.generation
    damage = environment_damage(run.places, record) if is_selected else None
    if damage is not None:
        return damage.ending
    run.goes_back_to(map(plugin_of, target.members), target.lock.core)
    moved = tuple(_moved(run, record, target))
    if is_selected and not moved:
        return Done("unchanged")
    _check(run, record, target, moved)
    profiles = read_profiles(run.places.root)
    changes = dict(_changes(run, profiles, record, target))
    others = sorted(name for name, (_, edits) in changes.items() if edits and name != run.places.profile)
    for name, (_, edits) in sorted(changes.items()):
        for edit in edits:
            run.note(Problem("profile-changes", _said(name, edit)))
    if others and not agreed:
        names = ", ".join(f"`{name}`" for name in others)
        raise PmError("not-agreed", f"other profiles would change as well: {names}", hint="give `--yes` to agree")
    settings = _settings(run, target)
    for edit in settings:
        run.note(Problem("profile-changes", _said(DEFAULT_PROFILE, edit)))
    home, edits = changes[DEFAULT_PROFILE]
    changes[DEFAULT_PROFILE] = (home, (*settings, *edits))
    if not run.operation.dry_run:
        decided_on = {profile.home: profile.selection for profile in profiles if profile.selection is not None}
        _go(run, target, moved, Edits(dict(changes.values()), decided_on=decided_on))
    say_selected(run, record, target)
    return Done("rolled-back", target.lock)


def _target(run: OperationRun, record: Record, number: GenerationNumber | None) -> Record:
    places = run.places
    known = recorded(places)
    if number is None:
        earlier = [n for n in known if n < record.generation]
        if not earlier:
            hint = f"there are {', '.join(map(str, known))}" if len(known) > 1 else "it is the only one"
            raise PmError("unknown-generation", f"there is no generation before {record.generation}", hint=hint)
        number = earlier[-1]
    if not places.record(number).exists():
        there = ", ".join(map(str, known))
        raise PmError("unknown-generation", f"there is no generation {number}", hint=f"there are {there}")
    return read_record(places, number)


def _check(run: OperationRun, record: Record, target: Record, moved: Sequence[tuple[Member, str | None]]) -> None:
    """Raise if the environment is not what its lock says, or a plugin's files of then are not kept."""
    folder = run.places.environment(target.environment)
    step = ("repair", "") if target.environment == record.environment else _another(run, record, target)
    if not folder.is_dir():
        message = f"the environment of generation {target.generation} is gone"
        raise PmError("drift", message, file=str(folder), step=step)
    interpreter = describe_interpreter(Path(target.interpreter), run.places.cache)
    faults = differences(folder, target.lock, interpreter)
    if faults:
        message = f"generation {target.generation} is damaged: {faults[0].message}"
        raise PmError("drift", message, file=str(folder), hint="choose another generation", step=step)
    for member, _ in moved:
        if not is_kept(run.places, member.tree_digest):
            message = f"the files that `{member.key}` had then are no longer kept, or damaged"
            raise PmError("drift", message, file=member.root, step=_another(run, record, target))


def _another(run: OperationRun, record: Record, target: Record) -> tuple[str, str]:
    """Return the step to the newest other generation whose environment is whole; without one, a second try."""
    places = run.places
    for number in reversed(recorded(places)):
        if number not in (record.generation, target.generation):
            with suppress(PmError):
                other = read_record(places, number)
                if is_whole(places, other, describe_interpreter(Path(other.interpreter), places.cache)):
                    return "roll-back", str(number)
    return "retry", "another generation is there to go back to"


def _moved(run: OperationRun, record: Record, target: Record) -> Iterator[tuple[Member, str | None]]:
    """Yield the plugins whose folder holds another tree now than then, with the digest of what it holds.

    It is empty if that is not known, and `None` if no plugin lies there.
    """
    known = {member.root: member.tree_digest for member in record.members}
    for member in target.members:
        if member.source != "user" or not member.tree_digest:
            continue
        if linked := link_target(Path(member.root)) or member.link:
            _note_link(run, member, linked)
            continue
        there = is_plugin(Path(member.root))
        now = recorded_tree(run.places, Path(member.root), known.get(member.root, "")) if there else None
        # what no record put there may be just what it was; to go back to what is selected is to undo what was edited
        is_other = now != member.tree_digest and bool(now or not there)
        is_in_doubt = now != member.tree_digest or target.generation == record.generation
        if is_other or (is_in_doubt and any(changed_trees(run.places, (member,)))):
            yield member, now


def _note_link(run: OperationRun, member: Member, target: str) -> None:
    """Say of a plugin that is or was a link to the operator's own folder that nothing is put in its place."""
    place = shown(member.root)
    if not link_target(Path(member.root)):
        message = f"{place} was a link to {shown(target)} then, and is none any more; it stays as it is"
        hint = f"`ln -sfn {target} {member.root}` makes it again, once the folder is away"
        run.note(Problem("link-stays", message, hint=hint))
    elif not member.link or target != member.link or digest_in_place(Path(member.root)) != member.tree_digest:
        message = f"{place} is a link to {shown(target)} and stays one; its files are not those of then"
        run.note(Problem("link-stays", message, hint="go back in that folder by its own history"))


def _changes(
    run: OperationRun, profiles: Sequence[Profile], record: Record, target: Record
) -> Iterator[tuple[str, tuple[Path, tuple[ConfigChange, ...]]]]:
    """Yield for each profile what its config must say otherwise, so that it selects what it selected then."""
    for profile in profiles:
        if profile.selection is None:
            raise profile.error or PmError("config-unreadable", f"the config of `{profile.name}` cannot be read")
        changes = _switches(run, profile.home, profile.selection, _Then(profile.name, record, target))
        yield profile.name, (profile.home, tuple(changes))


class _Then(NamedTuple):
    """A profile in the generation that is left, and in the one that is gone back to."""

    profile: str
    record: Record
    target: Record

    def members(self, record: Record) -> list[Member]:
        return [member for member in record.members if self.profile in member.profiles]


def _settings(run: OperationRun, target: Record) -> tuple[ConfigChange, ...]:
    """Return how the settings must change that the generation was made with; they stand with the root."""
    now = read_selection(run.places.root).section
    wanted = (("pm.core", str(target.core["setting"]), now.core), ("pm.python", target.python, now.python))
    return tuple(Set(name, then) for name, then, is_set in wanted if then != is_set)


def _switches(run: OperationRun, home: Path, selection: Selection, then: _Then) -> Iterator[ConfigChange]:
    """Yield how a profile's config must change so that it enables what was a member of it then."""
    settings = read_selection(run.places.root).settings
    surroundings = recorded_surroundings(
        run.places, settings, then.target, environ=run.context.environ, project=working_folder()
    )
    found, _ = take_inventory(home, selection, surroundings)
    members = then.members(then.target)
    gone = [m for m in then.members(then.record) if not any(same_key(m.key, other.key) for other in members)]
    now = {"memory.provider": selection.memory_provider, "context.engine": selection.context_engine}
    chosen = then.target.selections.get(then.profile, {}).get("chosen")
    if chosen is None:  # an older record does not tell: a plugin that goes is selected no longer
        leaving = [plugin for plugin in found if any(same_key(plugin.key, member.key) for member in gone)]
        chosen = now | {setting: "" for plugin in leaving for setting in selecting(selection, plugin, found)}
    wanted = {setting: chosen.get(setting, "") for setting in now}
    yield from (Set(setting, name) for setting, name in wanted.items() if now[setting] != name)
    after = selection._replace(memory_provider=wanted["memory.provider"], context_engine=wanted["context.engine"])
    enabled = enabled_plugins(after, found)
    on = {canonical_key(plugin.key) for plugin in enabled.members}
    # files that come back with this are not found yet, and are called by their key or its end
    coming = {canonical_key(name) for name in enabled.missing}
    for member in members:
        key, end = canonical_key(member.key), canonical_key(leaf(member.key))
        if key not in on and not coming & {key, end}:
            yield Enable(member.key)
    for member in gone:
        if canonical_key(member.key) in on:
            yield Disable(member.key)


def _said(profile: str, change: ConfigChange) -> str:
    if isinstance(change, Set):
        return f"the profile `{profile}` sets `{change.setting}` to `{change.value}`"
    return f"the profile `{profile}` {'enables' if isinstance(change, Enable) else 'disables'} `{change.key}`"


def _go(
    run: OperationRun,
    target: Record,
    moved: Sequence[tuple[Member, str | None]],
    edits: Edits,
) -> None:
    places = run.places
    trees: list[Replacement] = []
    try:
        for member, now in moved:
            place = Path(member.root)
            if now is not None:
                keep_what_is_lost(run, place, now, member.tree_digest)
            trees.append(placed(places, member.tree_digest, place, recorded=now)[0])
        digests = {Path(member.root): member.tree_digest for member, _ in moved}
        kept = [noted(places, digests)] if digests else []
        with run.phase("commit"):
            edits = edits._replace(trees=(*trees, *kept))
            apply(places, edits, pointer_to(places, target), operation="rollback")
    finally:
        discard(places, trees)
