"""The dry run: what would happen, and whether everything that is enabled is ready. Nothing is changed or stored."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack

from admission import Admitted, Reason, Refused, Step, Undecided
from lockfiles import Lock
from lockfiles.subset import changes
from pm.errors import PmError
from pm.generations.admitted import is_admitted
from pm.generations.records import Member, Record
from pm.names import shown
from pm.operations.candidate import announced_source
from pm.operations.catalog_lookup import asked_source, check_candidate, is_name, known_catalog, note_withdrawn
from pm.operations.core_choice import need_core_choice
from pm.operations.damage import environment_damage, journal_damage, restored_by
from pm.operations.import_check import note_imports
from pm.operations.plugin_lookup import find_plugin
from pm.operations.plugin_status import again, announced, is_running
from pm.operations.resolution import recorded_or_resolved, resolve
from pm.operations.restarts import running_behind
from pm.operations.run import OperationRun, Result
from pm.plugins.discovery import Found
from pm.receipts.receipt import Done
from pm.sources.spelling import is_source, local_source
from pm.sources.stage import Staged, looked_at
from pm.verdict.resolve import Resolver, open_resolver
from pm.verdict.state import Options, State
from pm.verdict.union import member_of, with_member

Decided = Admitted | Refused | Undecided


def check(run: OperationRun, words: Sequence[str], options: Options) -> Result:
    """Judge plugins as if they were to be enabled, each a key or a source; without a word, say whether all is ready.

    With another core than the config's, everything that is enabled is judged with it.
    """
    left = journal_damage(run.places)
    if left is not None and left.shows:
        return Done("not-ready", reasons=(left.reason,), steps=(left.step,))
    with open_resolver(run.places, run.context.environ, options, run.context.index_options) as resolver:
        run.reads(resolver.state)
        if not words and options.core is None:
            return _readiness(run, resolver)
        if not words:
            return resolve(run, resolver, resolver.state.union).decision
        need_core_choice(run, resolver.state)
        if len(words) == 1:
            return _one(run, resolver, words[0])
        return _several(run, resolver, words)


def _one(run: OperationRun, resolver: Resolver, word: str) -> Result:
    state = resolver.state
    found = _installed(state, word)
    if found is not None:
        member = announced(run, state, found)
        if is_running(state, found):
            run.decides_on(state.union)
            return Done("ready")
        decision = recorded_or_resolved(run, resolver, state.union.with_member(member), found.key).decision
        _note_imports(run, resolver, found, decision)
        if isinstance(decision, Refused):
            return decision._replace(steps=(*decision.steps, again(found.key, decision)))
        return decision
    with _looked_at(run, state, word) as taken:
        candidate = announced_source(run, taken, state)
        catalog = known_catalog(run, offline=state.options.offline)
        refused = candidate.misplaced or check_candidate(run, state, catalog, candidate)
        if refused is not None:
            return refused
        decision = resolve(run, resolver, state.union.with_member(candidate.member), candidate.key).decision
        _note_imports(run, resolver, candidate.found._replace(folder=taken.folder), decision)
        return decision


def _looked_at(run: OperationRun, state: State, word: str) -> AbstractContextManager[Staged]:
    asked = asked_source(run, word, "", offline=state.options.offline)
    return looked_at(asked.source, run.places.cache / "staged", name=asked.name, offline=state.options.offline)


def _note_imports(run: OperationRun, resolver: Resolver, found: Found, decision: Decided) -> None:
    if isinstance(decision, Admitted):
        note_imports(run, resolver, found, folder=found.folder, lock=decision.lock)


def _several(run: OperationRun, resolver: Resolver, words: Sequence[str]) -> Result:
    """Judge several plugins together: whether all of them can be enabled."""
    state = resolver.state
    members, judged = state.members, []
    with ExitStack() as stack:
        for word in words:
            found = _installed(state, word)
            if found is None:
                taken = stack.enter_context(_looked_at(run, state, word))
                candidate = announced_source(run, taken, state)
                if candidate.misplaced is not None:
                    return candidate.misplaced
                run.is_about(None)
                found = candidate.found
                judged.append(found._replace(folder=taken.folder))
            else:
                judged.append(found)
            members = with_member(members, member_of(_placed(found, word), (state.places.profile,)))
        asked = [found.key for found in judged]
        run.is_about_several(dict(zip(asked, words, strict=True)))
        decision = resolve(run, resolver, state.union.of(members), asked=asked).decision
        for found in judged:
            _note_imports(run, resolver, found, decision)
        return decision


def _placed(found: Found, word: str) -> Found:
    """Return a plugin whose problems say where their files lie: of several plugins each has a `plugin.yaml`."""
    problems = tuple(one._replace(file=f"{word.rstrip('/')}/{one.file}") for one in found.declaration.problems)
    return found._replace(declaration=found.declaration._replace(problems=problems))


def _installed(state: State, word: str) -> Found | None:
    """Return the installed plugin that a word means; `None` for a source.

    Raise `PmError` (`unknown-plugin`) for a word that is neither.
    """
    if is_source(word):
        return None
    try:
        return find_plugin(state.here.found, word)
    except PmError as error:
        try:
            if not (is_name(word) and state.settings.catalog):
                local_source(word)
        except PmError:
            said = f"there is no plugin {shown(word)}, and no folder or archive of this name"
            raise PmError("unknown-plugin", said, hint=error.hint) from error
        return None


# -- is everything ready?


def _readiness(run: OperationRun, resolver: Resolver) -> Result:
    state = resolver.state
    record = state.record
    if record is not None and (behind := running_behind(state.places, record.environment)):
        run.must_restart(behind)
    damage = environment_damage(state.places, state.record)
    if damage is not None:
        return damage.ending
    note_withdrawn(run, state.here.enabled.members)
    if record is not None and record.fingerprint == state.union.fingerprint and not _not_admitted(state):
        run.decides_on(state.union)
        return Done("ready")
    verdict = resolve(run, resolver, state.union)
    if not isinstance(verdict.decision, Admitted):
        return verdict.decision
    return _selected_or_not(state, verdict.decision, verdict.proposal.members)


def _selected_or_not(state: State, decision: Admitted, members: Sequence[Member]) -> Done:
    """Say whether what is admitted is what the selected generation was made for, and if not what makes one."""
    record, waiting = state.record, _not_admitted(state)
    if record is None:
        reason = Reason("no-generation", "no generation was made yet, so nothing can run")
        step = Step("update-core", "", "make a generation with everything that is enabled", confirmed=True)
        return Done("not-ready", decision.lock, (reason, *waiting), (step,), decision.warnings)
    if waiting:
        steps = (
            *_restoring(state),
            *(_admit(member, confirmed=member in members) for member in _unadmitted(state)),
        )
        return Done("not-ready", decision.lock, waiting, steps, decision.warnings)
    outdated = _outdated(state, record, decision.lock)
    if outdated is not None:
        step = Step("update-core", "", "make a generation for the present settings", confirmed=True)
        return Done("not-ready", decision.lock, (outdated,), (step,), decision.warnings)
    return Done("ready", decision.lock, warnings=decision.warnings)


def _restoring(state: State) -> tuple[Step, ...]:
    """Return the step that puts back the folders of plugins that are gone, if their files are kept."""
    missing = (name for profile in state.profiles for name in profile.enabled.missing)
    damages = (restored_by(state.places, state.record, written) for written in missing)
    return tuple(dict.fromkeys(damage.step for damage in damages if damage is not None))


def _outdated(state: State, record: Record, lock: Lock) -> Reason | None:
    """Return why the selected generation is not what the settings ask for, though every plugin in it is admitted."""
    core = state.settings.core
    if core != record.core.get("setting"):
        named = f"`pm.core` is `{core}`" if core else "`pm.core` is no longer set"
        message = f"{named}, and generation {record.generation} was made for {record.lock.core}"
        return Reason("not-admitted", message, file=str(state.places.root / "config.yaml"), key="pm.core")
    added, _, moved = changes(record.lock, lock)
    if not added and not moved:
        return None
    names = ", ".join(f"`{change.name}` {change.after}" for change in (*added, *moved))
    message = f"the present settings require {names}, which generation {record.generation} does not contain"
    return Reason("not-admitted", message)


def _unadmitted(state: State) -> list[Member]:
    """Return what is enabled and not held by the selected generation, as it is now and for every profile."""
    recorded = state.recorded
    return [m for m in state.members if not is_admitted(recorded, m.key, m.digest, root=m.root, profiles=m.profiles)]


def _not_admitted(state: State) -> tuple[Reason, ...]:
    waiting = [
        Reason(
            "not-admitted", f"`{member.key}` is enabled in {_profiles(member)} and was not admitted in its present form"
        )
        for member in _unadmitted(state)
    ]
    for unfit in state.unfit:
        problem = unfit.found.declaration.problems[0]
        message = f"`{unfit.found.key}` is enabled in `{unfit.profile}` and cannot be read: {problem.message}"
        waiting.append(
            Reason(
                code="not-admitted",
                message=message,
                file=problem.file,
                line=problem.line,
                column=problem.column,
                key=problem.key,
                hint=problem.hint,
            )
        )
    waiting.extend(
        Reason("not-admitted", problem.message, file=problem.file, line=problem.line, hint=problem.hint)
        for problem in state.unavailable
    )
    return tuple(waiting)


def _profiles(member: Member) -> str:
    return ", ".join(f"`{name}`" for name in member.profiles)


def _admit(member: Member, *, confirmed: bool) -> Step:
    return Step(
        "re-enable",
        member.key,
        "check it and enable it" if confirmed else "see why it does not fit",
        confirmed=confirmed,
    )
