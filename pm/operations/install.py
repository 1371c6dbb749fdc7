"""Install a plugin from a folder or an archive: staged, read, judged, and only then put in its place."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from admission import Admitted, Problem, Reason, Refused
from admission.gates import judge_gates
from pm.config.edit import Enable
from pm.config.profiles import own_names
from pm.generations.build import Edits, apply
from pm.generations.transaction import Replacement
from pm.generations.verification import changed_trees, is_kept
from pm.names import is_key, same_key, shown
from pm.operations.candidate import CandidatePlugin, announced_source, in_place_of
from pm.operations.core_choice import need_core_choice
from pm.operations.import_check import note_imports
from pm.operations.installed_trees import InstalledTree
from pm.operations.kept_trees import (
    discard,
    forget_tree,
    keep_tree,
    keep_what_is_lost,
    placed,
    recorded_tree,
)
from pm.operations.leftovers import staging
from pm.operations.new_generation import decided_on, realise
from pm.operations.plugin_status import again, is_running
from pm.operations.resolution import resolve
from pm.operations.run import OperationRun, Result
from pm.plugins.discovery import Found
from pm.plugins.tree import link_target, tree_digest
from pm.receipts.receipt import Done
from pm.sources.stage import staged
from pm.system.folders import remove_if_empty
from pm.system.owners import hand_over
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
    with (
        staged(source, below, how.commit, offline=options.offline) as taken,
        open_resolver(run.places, run.context.environ, options, run.context.index_options) as resolver,
    ):
        state = resolver.state
        run.reads(state)
        if how.enable:
            need_core_choice(run, state)
        candidate = announced_source(run, taken, state)
        if how.force and (target := link_target(candidate.place)):
            _note_replaced_link(run, candidate.place, target)
        same = not how.force and _is_there_already(state, candidate)
        return (
            candidate.misplaced
            or (None if how.force or same else _installed_already(candidate))
            or (_unchanged(run, state, candidate, how) if same else None)
            or _Installation(run, resolver, candidate, how).result()
        )


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


def _is_there_already(state: State, candidate: CandidatePlugin) -> bool:
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


def _unchanged(run: OperationRun, state: State, candidate: CandidatePlugin, how: InstallOptions) -> Done | None:
    """Say that what was asked for is so already; `None` if the plugin is still to be enabled."""
    found = candidate.old
    if found is None or (how.enable and not is_running(state, found)):
        return None
    run.decides_on(state.union)
    if not any(in_place_of(member, candidate.key) for member in state.here.enabled.members):
        _note_not_enabled(run, candidate.key)
    return Done("unchanged")


def _note_not_enabled(run: OperationRun, key: str) -> None:
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
        member = candidate.member._replace(enabled_since=_since(candidate, state))
        verdict = resolve(run, self._resolver, state.union.with_member(member), candidate.key)
        if not isinstance(verdict.decision, Admitted):
            return self._kept(verdict.decision)
        folder, lock = candidate.staged.folder, verdict.decision.lock
        note_imports(run, self._resolver, candidate.found, folder=folder, lock=lock)
        if run.operation.dry_run:
            return verdict.decision
        with self._placing() as (tree, replacements):
            names = own_names(candidate.found, tuple(_found_after(candidate, state)))
            edits = Edits(
                {state.places.home: (Enable(candidate.key, names),)},
                trees=replacements,
                decided_on=decided_on(state),
            )
            result = realise(run, self._resolver, verdict, edits, trees={str(candidate.place): tree})
        return result if isinstance(result, Admitted) else self._kept(result)

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
        _note_not_enabled(self._run, key)
        return Done("admitted")

    def _put(self) -> None:
        """Put the plugin's folder in its place, and change nothing else."""
        with self._placing() as (_, replacements):
            edits = Edits(trees=replacements)
            apply(self._run.places, edits, None, operation=self._run.operation.name)

    @contextmanager
    def _placing(self) -> Iterator[tuple[InstalledTree, tuple[Replacement, ...]]]:
        """Give the plugin's tree and what puts it in its place; what was not used is gone afterwards."""
        around = self._candidate.place.parent
        missing = [folder for folder in (around, around.parent) if not folder.exists()]
        staged = self._candidate.staged
        tree = InstalledTree(keep_tree(self._run.places, staged.folder), staged.origin)
        replacements: tuple[Replacement, ...] = ()
        try:
            replacements = self._place(tree)
            for folder in reversed(missing):
                hand_over(folder, folder.parent)
            yield tree, replacements
        finally:
            discard(self._run.places, replacements)
            forget_tree(self._run.places, tree.digest)
            for folder in missing:
                remove_if_empty(folder)

    def _place(self, tree: InstalledTree) -> tuple[Replacement, ...]:
        places, place = self._run.places, self._candidate.place
        if link_target(place):
            return placed(places, tree, place, recorded="")
        known = next((m.tree_digest for m in self._state.recorded if m.root == str(place)), "")
        recorded = recorded_tree(places, place, known) or (None if self._candidate.old is None else "")
        if recorded is not None:
            keep_what_is_lost(self._run, place, recorded, tree.digest)
        return placed(places, tree, place, recorded=recorded)


def _found_after(candidate: CandidatePlugin, state: State) -> Iterator[Found]:
    """Yield the plugins that are there with the new one in its place."""
    yield from (found for found in state.here.found if not in_place_of(found, candidate.key))
    yield candidate.found


def _since(candidate: CandidatePlugin, state: State) -> str:
    return next((member.enabled_since for member in state.members if same_key(member.key, candidate.key)), "")
