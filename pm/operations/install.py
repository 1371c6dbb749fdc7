"""Install a plugin from a folder or an archive: staged, read, judged, and only then put in its place."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from admission import Admitted, Problem, Reason, Refused
from admission.gates import judge_gates
from pm.config.edit import Enable
from pm.config.profiles import own_names
from pm.generations.build import Edits, apply
from pm.generations.verification import changed_trees, is_kept
from pm.names import is_key, same_key, shown
from pm.operations.candidate import CandidatePlugin, announced_source, in_place_of
from pm.operations.catalog_lookup import asked_source, check_candidate, known_catalog
from pm.operations.core_choice import need_core_choice
from pm.operations.enabling import check_enabling
from pm.operations.import_check import note_imports
from pm.operations.kept_trees import recorded_tree
from pm.operations.leftovers import staging
from pm.operations.new_generation import decided_on, realise
from pm.operations.placing import placing
from pm.operations.plugin_status import again, is_running
from pm.operations.resolution import resolve
from pm.operations.run import OperationRun, Result
from pm.operations.use import with_selecting_step
from pm.plugins.discovery import Found
from pm.plugins.tree import link_target, tree_digest
from pm.receipts.receipt import Done
from pm.sources.stage import staged_source
from pm.verdict.resolve import Resolver, open_resolver
from pm.verdict.state import Options, State
from pm.verdict.union import member_of


class InstallOptions(NamedTuple):
    """How a plugin is to be installed."""

    enable: bool = False
    force: bool = False
    """Replace an installed copy of the same key."""
    commit: str = ""
    """Of a repository, the commit that is wanted and no other."""
    keep: bool = False
    """If it is refused, leave it installed and not enabled."""


def install(run: OperationRun, source: str, how: InstallOptions, options: Options) -> Result:
    """Install a plugin; refused, nothing of it remains but the receipt, unless it is to be kept."""
    below = run.places.cache / "staged" if run.operation.dry_run else staging(run.places)
    run.context.tell(f"reading {source}")
    asked = asked_source(run, source, how.commit, offline=options.offline)
    catalog = known_catalog(run, offline=options.offline)
    with (
        staged_source(asked.source, below, name=asked.name, offline=options.offline) as taken,
        open_resolver(run.places, run.context.environ, options, run.context.index_options) as resolver,
    ):
        state = resolver.state
        run.reads(state)
        if how.enable:
            need_core_choice(run, state)
        candidate = announced_source(run, taken, state)
        same = not how.force and is_there_already(state, candidate)
        refused = check_candidate(run, state, catalog, candidate) or in_the_way(run, candidate, how, same=same)
        if refused is not None:
            return refused
        if same and is_so_already(state, candidate, how):
            run.decides_on(state.union)
            note_not_enabled(run, state, candidate.key)
            return Done("unchanged")
        return _Installation(run, resolver, candidate, how).result()


def in_the_way(run: OperationRun, candidate: CandidatePlugin, how: InstallOptions, *, same: bool) -> Refused | None:
    """Refuse a plugin that cannot be put in its place; `None` for one that can be, or whose files are there already."""
    if how.force and (target := link_target(candidate.place)):
        _note_replaced_link(run, candidate.place, target)
    return candidate.misplaced or (None if how.force or same else _installed_already(candidate))


def is_so_already(state: State, candidate: CandidatePlugin, how: InstallOptions) -> bool:
    """Say whether a plugin whose files are there already is as it was asked for."""
    return candidate.old is not None and (not how.enable or is_running(state, candidate.old))


def _installed_already(candidate: CandidatePlugin) -> Refused | None:
    """Refuse to replace an installed copy unasked; `None` if there is none."""
    if candidate.old is None:
        return None
    version, target = candidate.old.declaration.version, link_target(candidate.place)
    linked = f", as a link to {shown(target)}" if target else ""
    message = f"`{candidate.old.key}`{f' {version}' if version else ''} is already installed{linked}"
    return Refused((Reason("name-taken", message),))


def _note_replaced_link(run: OperationRun, place: Path, target: str) -> None:
    from shlex import join

    message = f"{shown(str(place))} was a link to {shown(target)}, which stays as it is; a copy takes its place"
    hint = f"`{join(['ln', '-sfn', target, str(place)])}` makes it again, once the copy is away"
    run.note(Problem("link-replaced", message, hint=hint))


def is_there_already(state: State, candidate: CandidatePlugin) -> bool:
    """Say whether just these files were put there by an earlier installation, and are unchanged since."""
    if candidate.old is None:
        return False
    digest = tree_digest(candidate.staged.folder)
    there = member_of(candidate.old, ())._replace(tree_digest=digest)
    return (
        recorded_tree(state.places, candidate.place) == digest
        and is_kept(state.places, digest)
        and not any(changed_trees(state.places, (there,)))
    )


def note_not_enabled(run: OperationRun, state: State, key: str) -> None:
    """Say of a plugin that no config enables how that is done."""
    if any(in_place_of(member, key) for member in state.here.enabled.members):
        return
    message = f"`{key}` is installed and disabled; whether it fits was not checked"
    run.note(Problem("not-enabled", message, hint=f"`hermes plugins enable {key}` checks and enables it"))


class _Installation:
    """Puts a plugin in its place, in one of three ways."""

    def __init__(self, run: OperationRun, resolver: Resolver, candidate: CandidatePlugin, how: InstallOptions) -> None:
        self._run = run
        self._resolver = resolver
        self._state = resolver.state
        self._candidate = candidate
        self._how = how

    def result(self) -> Result:
        # a copy that replaces an enabled one would run in its place, so it is judged as one
        old = [found for found in self._state.here.enabled.members if in_place_of(found, self._candidate.key)]
        return self._enabled() if self._how.enable or old else self._disabled()

    def _enabled(self) -> Result:
        run, state, candidate = self._run, self._state, self._candidate
        check_enabling(state, (candidate.found,))
        member = candidate.member._replace(enabled_since=enabled_since(candidate, state))
        verdict = resolve(run, self._resolver, state.union.with_member(member), candidate.key)
        if not isinstance(verdict.decision, Admitted):
            return self._kept(verdict.decision)
        folder, lock = candidate.staged.folder, verdict.decision.lock
        note_imports(run, self._resolver, candidate.found, folder=folder, lock=lock)
        if run.operation.dry_run:
            return verdict.decision
        with placing(run, state, (candidate,)) as placement:
            names = own_names(candidate.found, tuple(found_after((candidate,), state)))
            edits = Edits(
                {state.places.home: (Enable(candidate.key, names),)},
                trees=placement.replacements,
                decided_on=decided_on(state),
            )
            result = realise(run, self._resolver, verdict, edits, trees=placement.trees)
        if isinstance(result, Admitted):
            return with_selecting_step(state, candidate.found, result)
        return self._kept(result)

    def _kept(self, result: Result) -> Result:
        """Leave a refused plugin installed and not enabled if that was asked for; one that was there stays."""
        wanted = self._how.keep and self._candidate.old is None and is_key(self._candidate.key)
        if not isinstance(result, Refused) or not wanted or self._run.operation.dry_run:
            return result
        self._put()
        self._run.leaves("disabled")
        return result._replace(steps=(*result.steps, again(self._candidate.key, result)))

    def _disabled(self) -> Result:
        """Put a plugin in its place without resolving: only what it could never run with is refused."""
        key = self._candidate.key
        alone = self._state.union.of((self._candidate.member,))
        self._run.decides_on_inputs((), alone.fingerprint)
        reasons = judge_gates(alone.constraints)
        if reasons:
            return self._kept(Refused(reasons))
        if not self._run.operation.dry_run:
            self._put()
        note_not_enabled(self._run, self._state, key)
        return Done("admitted")

    def _put(self) -> None:
        """Put the plugin's folder in its place, and change nothing else."""
        with placing(self._run, self._state, (self._candidate,)) as placement:
            edits = Edits(trees=placement.replacements)
            apply(self._run.places, edits, None, operation=self._run.operation.name)


def found_after(candidates: Sequence[CandidatePlugin], state: State) -> Iterator[Found]:
    """Yield the plugins that are there with the new ones in their places."""
    yield from (found for found in state.here.found if not any(in_place_of(found, each.key) for each in candidates))
    yield from (each.found for each in candidates)


def enabled_since(candidate: CandidatePlugin, state: State) -> str:
    """Return since when a plugin is enabled; empty for one that is not yet."""
    return next((member.enabled_since for member in state.members if same_key(member.key, candidate.key)), "")
