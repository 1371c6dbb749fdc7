"""A verdict as part of an operation: timed, and with everything that its receipt says of it."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime

from admission import Admitted, Notice, Problem, Refused
from pm.index import FRESH
from pm.operations.run import OperationRun
from pm.verdict.resolve import Resolver, Verdict, question_of
from pm.verdict.state import State, own_builds
from pm.verdict.union import Proposal


def resolve(
    run: OperationRun, resolver: Resolver, proposal: Proposal, candidate: str = "", *, asked: Collection[str] = ()
) -> Verdict:
    """Judge a union, and say in the receipt what was judged; `asked` are the keys if it is about several plugins."""
    with run.phase("decide", "deciding"):
        verdict = resolver.resolve(proposal, candidate, asked)
    run.decides_on(verdict.proposal)
    for note in verdict.notes:
        run.note(note)
    _tell_ages(run, resolver.index.asked_at(verdict.consulted.pages))
    if not run.operation.dry_run:
        with run.phase("evidence"):
            run.keeps_evidence(_evidence(resolver, verdict))
    if isinstance(verdict.decision, Refused):
        from pm.verdict.behind_consents import with_files_behind

        told = with_files_behind(resolver, verdict.question, verdict.decision)
        verdict = verdict._replace(decision=_with_steps(run, resolver, verdict, told))
    for notice in resolver.notices():
        run.notice(notice)
    for replaced in _replaced(resolver.state, verdict):
        run.note(replaced)
    return verdict


def _tell_ages(run: OperationRun, asked_at: Mapping[str, int]) -> None:
    """Say how old the pages of a verdict are, and warn of those that are older than what is asked for again online."""
    run.rests_on(asked_at)
    old = sorted((at, name) for name, at in asked_at.items() if time.time() - at > FRESH)
    if old:
        at, oldest = old[0]
        moment = datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M UTC")
        others = f", and {len(old) - 1} more since" if len(old) > 1 else ""
        message = f"the verdict rests on what an index said some time ago: of `{oldest}` on {moment}{others}"
        run.notice(Notice("old-pages", message, hint="run it without `--offline` to have the index asked again"))


def _with_steps(run: OperationRun, resolver: Resolver, verdict: Verdict, refused: Refused) -> Refused:
    """Store the verdict and say it, and only then look for ways out of it: that may take long, or be stopped."""
    from pm.verdict.index_reasons import with_indexes, without_detours
    from pm.verdict.ways_out import with_steps

    refused = with_indexes(refused, verdict, resolver)
    run.keeps_verdict(refused)
    with run.phase("steps", "trying possible steps"):
        sought = with_steps(resolver, verdict, refused)
    if sought.stopped_by:
        message = f"{sought.stopped_by} ended the search for ways out; the verdict was clear by then"
        run.note(Problem("interrupted", message, hint="run it once more to see them all"))
    return without_detours(sought.refused, resolver)


def recorded_or_resolved(run: OperationRun, resolver: Resolver, proposal: Proposal, candidate: str) -> Verdict:
    """Answer from the selected lock where it was made for just these members, though for fewer profiles."""
    record = resolver.state.record
    if record is None or record.fingerprint != proposal.fingerprint:
        return resolve(run, resolver, proposal, candidate)
    run.decides_on(proposal)
    return Verdict(Admitted(record.lock), proposal, question_of(resolver.state, proposal, candidate))


def _replaced(state: State, verdict: Verdict) -> Iterator[Problem]:
    """Warn of files that an index serves under the name of a locked one with other bytes: that should not happen."""
    record, decision = state.record, verdict.decision
    if record is None or not isinstance(decision, Admitted):
        return
    own = own_builds(state.places, record)
    pins = (pin for pin in record.lock.pins if (pin.name, pin.version) not in own)
    before = {pin.artifact.filename: pin.artifact.sha256 for pin in pins}
    for pin in decision.lock.pins:
        known = before.get(pin.artifact.filename)
        if known is not None and known != pin.artifact.sha256:
            message = f"`{pin.artifact.filename}` is not the file that was locked: its bytes differ"
            yield Problem(
                "file-replaced", message, hint="ask the index's administrator why; a release is not published twice"
            )


def _evidence(resolver: Resolver, verdict: Verdict) -> str:
    """Return what the verdict rests on, and of a refusal because of files what these are."""
    from pm.generations.file_faults import telling_files
    from pm.verdict.evidence import TellingFiles, evidence_of

    state, lock, question = resolver.state, verdict.lock, verdict.question
    # what the requirements alone admit is only refused because of files
    if lock is None or not isinstance(verdict.decision, Refused):
        return evidence_of(question, verdict.consulted)
    told = telling_files(
        lock,
        index=resolver.index,
        interpreter=state.interpreter,
        places=state.places,
        allow_collision=question.constraints.policy.allow_collision,
    )
    return evidence_of(question, verdict.consulted, TellingFiles(*told))
