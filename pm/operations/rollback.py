"""Go back to an earlier generation: environment, plugin folders and what each profile selects, together.

What is whole is selected as it is, unbuilt; a damaged environment is built again from its lock, as `repair` does it.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from admission import Problem, Refused, Step
from pm.config.edit import ConfigChange, Disable, Enable, Set
from pm.config.managed import check_changes
from pm.config.profiles import Profile, enabled_plugins, read_own_selection, read_profiles, selecting
from pm.config.settings import Selection
from pm.errors import PmError
from pm.generations.build import Edits, Prepared, apply, contents_after, is_whole, pointer_to, select
from pm.generations.file_faults import Fault
from pm.generations.inventory import recorded_surroundings, take_inventory
from pm.generations.records import Member, Record, next_number, read_record, recorded
from pm.generations.transaction import Replacement
from pm.generations.verification import changed_trees, differences, digest_in_place, is_kept
from pm.host.interpreter import describe_interpreter
from pm.names import canonical_key, leaf, same_key, shown
from pm.operations.damage import environment_damage
from pm.operations.installed_trees import InstalledTree
from pm.operations.kept_trees import discard, keep_what_is_lost, noted, placed, recorded_tree
from pm.operations.rebuild import built_again
from pm.operations.receipt_rows import plugin_of
from pm.operations.run import OperationRun, Result
from pm.operations.selected_generation import say_selected, selected_record
from pm.places import DEFAULT_PROFILE, GenerationNumber, working_folder
from pm.plugins.discovery import is_plugin
from pm.plugins.tree import link_target
from pm.receipts.receipt import Done
from pm.verdict.state import Options

_Moved = tuple[Member, str | None]
"""A plugin whose folder holds another tree now than then, with the digest of what it holds."""


class _GoingBack(NamedTuple):
    """Which generation is left, and which is gone back to."""

    record: Record
    target: Record
    faults: Sequence[Fault] = ()
    """By what the environment that is gone back to is not what its lock says."""
    moved: Sequence[_Moved] = ()


def roll_back(run: OperationRun, number: GenerationNumber | None, options: Options, *, agreed: bool) -> Result:
    """Select an earlier generation again, by default the one before; nothing is resolved.

    One whose environment is damaged is built again from its lock, and so gets a new number. Where another profile than
    this one would change, that must be agreed to. Raise `PmError` (`unknown-generation`, `not-agreed`, `drift` where a
    record or the files of a plugin are lost, and as a build does); then everything stays.
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
    way = _GoingBack(record, target, moved=moved)
    way = way._replace(faults=_faults(run, way))
    _require_trees(run, way)
    profiles = read_profiles(run.places.root)
    changes = dict(_changes(run, profiles, record, target))
    others = sorted(name for name, (_, changed) in changes.items() if changed and name != run.places.profile)
    for name, (_, changed) in sorted(changes.items()):
        for each in changed:
            run.note(Problem("profile-changes", _said(name, each)))
    if others and not agreed:
        names = ", ".join(f"`{name}`" for name in others)
        raise PmError("not-agreed", f"other profiles would change as well: {names}", hint="give `--yes` to agree")
    settings = _settings(run, target)
    for edit in settings:
        run.note(Problem("profile-changes", _said(DEFAULT_PROFILE, edit)))
    home, own = changes[DEFAULT_PROFILE]
    changes[DEFAULT_PROFILE] = (home, (*settings, *own))
    decided_on = {profile.home: profile.selection for profile in profiles if profile.selection is not None}
    edits = Edits(dict(changes.values()), decided_on=decided_on)
    after = _gone_back(run, way, edits, options)
    if isinstance(after, Refused):
        return after
    say_selected(run, record, after)
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
    try:
        return read_record(places, number)
    except PmError as error:
        if error.code == "drift":
            error.hint, error.step = "", _another(run, record, number)
        raise


def _faults(run: OperationRun, way: _GoingBack) -> Sequence[Fault]:
    """Return by what the environment is not what its lock says.

    Raise `PmError` (`no-interpreter`) if it can be neither compared nor built again.
    """
    target, folder = way.target, run.places.environment(way.target.environment)
    with _or_another(run, way, "the interpreter that it was built with is there again"):
        interpreter = describe_interpreter(Path(target.interpreter), run.places.cache)
    try:
        return differences(folder, target.lock, interpreter)
    except PmError as error:
        if error.code not in ("drift", "install-failed"):
            raise
        gone = "is gone" if not folder.is_dir() else "is not complete"
        return (Fault("drift", f"its environment {gone}"),)


def _require_trees(run: OperationRun, way: _GoingBack) -> None:
    """Raise if the files that a plugin had then are not kept."""
    for member, _ in way.moved:
        if not is_kept(run.places, member.tree_digest):
            message = f"the files that `{member.key}` had then are no longer kept, or damaged"
            step = _another(run, way.record, way.target.generation)
            raise PmError("drift", message, file=member.root, step=step)


def _gone_back(run: OperationRun, way: _GoingBack, edits: Edits, options: Options) -> Record | Refused:
    """Select the generation as it is, or what is built in its place; return what is selected then."""
    target = way.target
    if way.faults:
        message = f"generation {target.generation} is not what it was, so it is built again: {way.faults[0].message}"
        run.note(Problem("generation-damaged", message))
    if run.operation.dry_run:
        return target._replace(generation=next_number(run.places)) if way.faults else target
    prepared = _built(run, way, options) if way.faults else None
    return prepared if isinstance(prepared, Refused) else _go(run, way, edits, prepared)


def _built(run: OperationRun, way: _GoingBack, options: Options) -> Prepared | Refused:
    """Build the environment of a generation again; where that fails, the step is another generation that is whole."""
    with _or_another(run, way):
        prepared = built_again(run, way.target, way.faults, options)
    if not isinstance(prepared, Refused):
        return prepared
    action, value = _another(run, way.record, way.target.generation)
    steps = (Step(action, "", value=value),) if action == "roll-back" else ()
    return prepared._replace(steps=steps)


@contextmanager
def _or_another(run: OperationRun, way: _GoingBack, when: str = "") -> Iterator[None]:
    """Let what goes wrong name the step to another generation; without one, when it can be tried again."""
    try:
        yield
    except PmError as error:
        step = _another(run, way.record, way.target.generation)
        if step[0] == "roll-back" or error.code == "drift":
            # a new generation of what is enabled now, which a damaged record is worth elsewhere, would be no way back
            error.hint, error.step = "" if error.code == "drift" else error.hint, step
        elif when:
            error.step = ("retry", when)
        raise


def _another(run: OperationRun, record: Record, number: GenerationNumber) -> tuple[str, str]:
    """Return the step to the newest other generation that is whole, plugins included; without one, a second try."""
    for other in reversed(recorded(run.places)):
        if other not in (record.generation, number) and _can_be_selected(run, record, other):
            return "roll-back", str(other)
    return "retry", "another generation is there to go back to"


def _can_be_selected(run: OperationRun, record: Record, number: GenerationNumber) -> bool:
    try:
        other = read_record(run.places, number)
        interpreter = describe_interpreter(Path(other.interpreter), run.places.cache)
    except PmError:
        return False
    trees = (member.tree_digest for member, _ in _moved(run, record, other))
    return is_whole(run.places, other, interpreter) and all(is_kept(run.places, digest) for digest in trees)


def _moved(run: OperationRun, record: Record, target: Record) -> Iterator[_Moved]:
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
    from shlex import join

    place = shown(member.root)
    if not link_target(Path(member.root)):
        message = f"{place} was a link to {shown(target)} then, and is none any more; it stays as it is"
        hint = f"`{join(['ln', '-sfn', target, member.root])}` makes it again, once the folder is away"
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
        changes = tuple(_switches(run, profile.home, profile.selection, _Then(profile.name, record, target)))
        check_changes(profile.selection, changes)
        yield profile.name, (profile.home, changes)


class _Then(NamedTuple):
    """A profile in the generation that is left, and in the one that is gone back to."""

    profile: str
    record: Record
    target: Record

    def members(self, record: Record) -> list[Member]:
        return [member for member in record.members if self.profile in member.profiles]


def _settings(run: OperationRun, target: Record) -> tuple[ConfigChange, ...]:
    """Return how the settings must change that the generation was made with; they stand with the root."""
    now = read_own_selection(run.places.root).section
    wanted = (("pm.core", str(target.core["setting"]), now.core), ("pm.python", target.python, now.python))
    return tuple(Set(name, then) for name, then, is_set in wanted if then != is_set)


def _switches(run: OperationRun, home: Path, selection: Selection, then: _Then) -> Iterator[ConfigChange]:
    """Yield how a profile's config must change so that it enables what was a member of it then."""
    settings = read_own_selection(run.places.root).settings
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


def _go(run: OperationRun, way: _GoingBack, edits: Edits, prepared: Prepared | None) -> Record:
    """Select the generation, or what was built in its place, together with folders and configs."""
    places, target, moved = run.places, way.target, way.moved
    trees: list[Replacement] = []
    try:
        for member, now in moved:
            place = Path(member.root)
            if now is not None:
                keep_what_is_lost(run, place, now, member.tree_digest)
            trees.append(placed(places, _tree_of(member), place, recorded=now))
        changes = {Path(member.root): _tree_of(member) for member, _ in moved}
        kept = [noted(places, changes)] if changes else []
        with run.phase("commit"):
            edits = edits._replace(trees=(*trees, *kept))
            if prepared is not None:
                contents = contents_after(target, target.members, target.fingerprint)
                return select(places, prepared, contents, edits, operation=run.mark)
            apply(places, edits, pointer_to(places, target), operation="rollback")
            return target
    finally:
        discard(places, trees)


def _tree_of(member: Member) -> InstalledTree:
    return InstalledTree(member.tree_digest, member.origin)
