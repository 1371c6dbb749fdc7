"""Install several plugins by one decision and one commit: either all of them are, or none."""

from collections.abc import Sequence
from contextlib import ExitStack
from functools import reduce
from typing import NamedTuple

from admission import Admitted, Refused, Step
from admission.gates import judge_gates
from pm.config.edit import Enable
from pm.config.profiles import own_names
from pm.errors import PmError
from pm.generations.build import Edits, apply
from pm.names import canonical_key, shown
from pm.operations.candidate import CandidatePlugin, announced_source, in_place_of
from pm.operations.catalog_lookup import asked_source, check_candidate, known_catalog
from pm.operations.core_choice import need_core_choice
from pm.operations.enabling import check_enabling
from pm.operations.import_check import note_imports
from pm.operations.install import (
    InstallOptions,
    enabled_since,
    found_after,
    in_the_way,
    is_so_already,
    is_there_already,
    note_not_enabled,
)
from pm.operations.leftovers import staging
from pm.operations.new_generation import decided_on, realise
from pm.operations.placing import placing
from pm.operations.resolution import resolve
from pm.operations.run import OperationRun, Result
from pm.receipts.receipt import Done
from pm.sources.stage import staged_source
from pm.verdict.resolve import Resolver, Verdict, open_resolver
from pm.verdict.state import Options, State
from pm.verdict.union import Proposal


class Batch(NamedTuple):
    """Plugins that are judged together, and what came of it."""

    candidates: tuple[CandidatePlugin, ...]
    enabled: tuple[CandidatePlugin, ...]
    """Those of them that are enabled with it, or that replace an enabled one."""
    verdict: Verdict | None
    """On these; `None` if there are none, or if one of all is refused before."""
    refused: Refused | None = None


def install_several(run: OperationRun, sources: Sequence[str], how: InstallOptions, options: Options) -> Result:
    """Install plugins; if one of them is refused, all stay as they were.

    Raise `PmError` (`invalid-source`) for a source that is none, and for two that hold the same plugin.
    """
    below = run.places.cache / "staged" if run.operation.dry_run else staging(run.places)
    with (
        ExitStack() as stack,
        open_resolver(run.places, run.context.environ, options, run.context.index_options) as resolver,
    ):
        state = resolver.state
        run.reads(state)
        if how.enable:
            need_core_choice(run, state)
        candidates = []
        catalog = known_catalog(run, offline=options.offline)
        for source in sources:
            run.context.tell(f"reading {source}")
            asked = asked_source(run, source, "", offline=options.offline)
            taken = stack.enter_context(staged_source(asked.source, below, name=asked.name, offline=options.offline))
            candidates.append(announced_source(run, taken, state))
            run.is_about(None)  # what the next source raises is no fault of this one
        check_distinct(candidates)
        run.is_about_several({each.key: source for each, source in zip(candidates, sources, strict=True)})
        refusals = [check_candidate(run, state, catalog, each) for each in candidates]
        withdrawn = [reason for refused in refusals if refused is not None for reason in refused.reasons]
        return Refused(tuple(withdrawn)) if withdrawn else _installed(run, resolver, candidates, how)


def _installed(
    run: OperationRun, resolver: Resolver, candidates: Sequence[CandidatePlugin], how: InstallOptions
) -> Result:
    state = resolver.state
    there = {each.key for each in candidates if not how.force and is_there_already(state, each)}
    ways = (in_the_way(run, each, how, same=each.key in there) for each in candidates)
    reasons = [reason for refused in ways if refused is not None for reason in refused.reasons]
    if reasons:
        return Refused(tuple(reasons))
    so_already = [each for each in candidates if each.key in there and is_so_already(state, each, how)]
    for each in so_already:
        note_not_enabled(run, state, each.key)
    new = [each for each in candidates if each not in so_already]
    if not new:
        run.decides_on(state.union)
        return Done("unchanged")
    batch = judged(run, resolver, new, enable=how.enable)
    return batch.refused or carried_out(run, resolver, batch)


def check_distinct(candidates: Sequence[CandidatePlugin]) -> None:
    """Raise `PmError` (`invalid-source`) for two sources that hold the same plugin."""
    seen: dict[str, CandidatePlugin] = {}
    for each in candidates:
        other = seen.setdefault(canonical_key(each.key), each)
        if other is not each:
            both = f"{shown(other.staged.source.location)} and {shown(each.staged.source.location)}"
            raise PmError("invalid-source", f"{both} are both the plugin `{each.key}`", hint="name one of them")


def judged(run: OperationRun, resolver: Resolver, candidates: Sequence[CandidatePlugin], *, enable: bool) -> Batch:
    """Judge plugins together: what is enabled with everything else, and the rest by what it could never run with."""
    state = resolver.state
    enabled = tuple(each for each in candidates if enable or _is_enabled(state, each))
    disabled = [each for each in candidates if each not in enabled]
    batch = Batch(tuple(candidates), enabled, None)
    reasons = [reason for each in disabled for reason in judge_gates(state.union.of((each.member,)).constraints)]
    if reasons:
        return batch._replace(refused=Refused(tuple(reasons)))
    if not enabled:
        run.decides_on_inputs((), state.union.fingerprint)
        return batch
    check_enabling(state, (each.found for each in enabled))
    members = [each.member._replace(enabled_since=enabled_since(each, state)) for each in enabled]
    union = reduce(Proposal.with_member, members, state.union)
    keys = [each.key for each in enabled]
    alone = keys[0] if len(candidates) == 1 else ""
    verdict = resolve(run, resolver, union, alone, asked=() if alone else keys)
    refused = verdict.decision if isinstance(verdict.decision, Refused) else None
    return batch._replace(verdict=verdict, refused=refused and _said_of_sources(run, refused, keys))


def _said_of_sources(run: OperationRun, refused: Refused, keys: Sequence[str]) -> Refused:
    """Return a refusal whose steps say of the plugins that were asked for that one of them is left as it is."""
    verb = "update" if run.operation.name == "update-plugins" else "install"
    return refused._replace(steps=tuple(_said_of(step, keys, verb) for step in refused.steps))


def _said_of(step: Step, keys: Sequence[str], verb: str) -> Step:
    step = step._replace(parts=tuple(_said_of(part, keys, verb) for part in step.parts))
    if step.action != "leave-out" or step.subject not in keys:
        return step
    return step._replace(explanation=f"{verb} the others without `{step.subject}`")


def _is_enabled(state: State, candidate: CandidatePlugin) -> bool:
    return any(in_place_of(found, candidate.key) for found in state.here.enabled.members)


def carried_out(run: OperationRun, resolver: Resolver, batch: Batch) -> Result:
    """Put the plugins of a batch in their places, and select a generation with those of them that are enabled."""
    state, verdict = resolver.state, batch.verdict
    for each in batch.candidates:
        if each not in batch.enabled:
            note_not_enabled(run, state, each.key)
    if verdict is not None and not isinstance(verdict.decision, Admitted):
        return verdict.decision
    if verdict is not None and isinstance(verdict.decision, Admitted):
        for each in batch.enabled:
            note_imports(run, resolver, each.found, folder=each.staged.folder, lock=verdict.decision.lock)
    if run.operation.dry_run:
        return verdict.decision if verdict is not None else Done("admitted")
    with placing(run, state, batch.candidates) as placement:
        if verdict is None:
            apply(run.places, Edits(trees=placement.replacements), None, operation=run.operation.name)
            return Done("admitted")
        after = tuple(found_after(batch.candidates, state))
        changes = tuple(Enable(each.key, own_names(each.found, after)) for each in batch.enabled)
        edits = Edits({state.places.home: changes}, trees=placement.replacements, decided_on=decided_on(state))
        return realise(run, resolver, verdict, edits, trees=placement.trees)
