"""A verdict as part of an operation: timed, and with everything that its receipt says of it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import partial

from admission import Admitted, Problem, Refused
from pm.generations.fault_reasons import FILE_CODES
from pm.generations.records import Member
from pm.operations.run import OperationRun
from pm.verdict.resolve import Verdict, judge, notices, question_of
from pm.verdict.state import State


def verdict(
    run: OperationRun, state: State, members: Sequence[Member], candidate: str = "", *, asked: Collection[str] = ()
) -> Verdict:
    """Judge a union, and say in the receipt what was judged; `asked` are the keys if it is about several plugins."""
    with run.phase("decide", "deciding"):
        judged = judge(state, members, candidate, asked)
    run.judged(state, judged.members)
    for note in judged.notes:
        run.note(note)
    if isinstance(judged.decision, Refused):
        from pm.verdict.ways_out import with_steps

        with run.phase("steps", "trying ways out"):
            refused = with_steps(state, judged.members, candidate, judged.decision)
        judged = judged._replace(decision=refused)
    for notice in notices(state):
        run.notice(notice)
    for replaced in _replaced(state, judged):
        run.note(replaced)
    if not run.operation.dry_run:
        with run.phase("evidence"):
            run.evidence = _evidence(state, judged, candidate)
    return judged


def recorded_or_verdict(run: OperationRun, state: State, members: Sequence[Member], candidate: str) -> Verdict:
    """Answer from the selected lock where it was made for just these members, though for fewer profiles."""
    record = state.record
    if record is None or record.fingerprint != state.constraints(members).fingerprint:
        return verdict(run, state, members, candidate)
    run.judged(state, members)
    return Verdict(Admitted(record.lock), tuple(members))


def _replaced(state: State, judged: Verdict) -> Iterator[Problem]:
    """Warn of files that an index serves under the name of a locked one with other bytes: nobody should do that."""
    record, decision = state.record, judged.decision
    if record is None or not isinstance(decision, Admitted):
        return
    before = {pin.artifact.filename: pin.artifact.sha256 for pin in record.lock.pins}
    for pin in decision.lock.pins:
        known = before.get(pin.artifact.filename)
        if known is not None and known != pin.artifact.sha256:
            message = f"`{pin.artifact.filename}` has other bytes than when it was locked"
            yield Problem(
                "file-replaced", message, hint="ask whoever runs the index why; a release is not published twice"
            )


def _evidence(state: State, judged: Verdict, candidate: str) -> str:
    """Return what the verdict rests on, and of a refusal because of files what these are."""
    from pm.generations.file_faults import telling_files
    from pm.verdict.evidence import evidence_of

    reasons = judged.decision.reasons if isinstance(judged.decision, Refused) else ()
    about_files = any(reason.code in FILE_CODES for reason in reasons)
    telling = partial(telling_files, index=state.client, interpreter=state.interpreter, places=state.places)
    question = question_of(state, judged.members, candidate)
    return evidence_of(question, state.client.facts, telling if about_files else None)
