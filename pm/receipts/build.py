"""Turn what an operation knows, and how it ended, into its receipt."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import assert_never

from admission import Admitted, Demand, Notice, Problem, Proof, Reason, Refused, Step, Undecided
from lockfiles import Lock, Owner
from lockfiles.subset import Change
from lockfiles.subset import changes as changes_between
from pm.errors import PmError
from pm.names import safe_lines, safe_text
from pm.receipts.codes import code_of, exit_status
from pm.receipts.commands import command
from pm.receipts.levels import level_of
from pm.receipts.receipt import (
    AvailableRow,
    ChangeRow,
    ChangesRow,
    CheckedBy,
    DemandRow,
    Done,
    Operation,
    OwnerRow,
    Part,
    PlaceRow,
    ProofRow,
    ReasonRow,
    Receipt,
    StepRow,
    WarningRow,
    place_of,
    time_text,
)
from pm.receipts.sentences import CLOSING, explanation, summary

__all__ = ["build", "changes_row", "noted", "noticed"]

_WITH_STEPS = ("refused", "failed", "undecided", "not-ready", "drift", "interrupted")


def build(
    operation: Operation, result: Admitted | Refused | Undecided | PmError | Done, *, finished_at: datetime
) -> Receipt:
    """Return the receipt of an operation that ended with `result`."""
    done = _done(result)
    reasons = tuple(_reason(reason) for reason in done.reasons)
    changes = changes_row(operation.before, done.lock)
    codes = [reason.code for reason in reasons]
    restart = operation.strict and operation.generation.restart_required
    said = _together(operation.warnings, map(noticed, done.warnings))
    warnings = tuple(warning._replace(level=level_of(warning, _judged_keys(operation))) for warning in said)
    status = exit_status(done.outcome, codes, restart=restart)
    if operation.fails_on_warning and any(warning.level == "warning" for warning in warnings):
        status = status or _REFUSED
    return Receipt(
        id=operation.id,
        operation=operation.name,
        outcome=done.outcome,
        exit_status=status,
        summary=summary(operation, done.outcome, reasons, changes, freed=done.freed),
        started_at=time_text(operation.started_at),
        finished_at=time_text(finished_at),
        duration_ms=round((finished_at - operation.started_at).total_seconds() * 1000),
        trigger=operation.trigger,
        sequence=operation.sequence,
        dry_run=operation.dry_run,
        plugin=operation.plugin,
        plugins=operation.plugins,
        reasons=reasons,
        steps=_steps(_closed(done, operation), operation),
        changes=changes,
        generation=operation.generation,
        facts=operation.facts,
        pages=operation.pages,
        core=operation.core,
        target=operation.target,
        inputs_fingerprint=operation.inputs_fingerprint,
        exclude_newer=operation.exclude_newer,
        consents=operation.consents,
        warnings=warnings,
        shadowed=operation.shadowed,
        audit=operation.audit,
        tools=operation.tools,
        timings=operation.timings,
    )


_REFUSED = 1
"""The status of what was judged and found wrong."""


def _judged_keys(operation: Operation) -> set[str]:
    """Return the keys of the plugins that an operation is about; of all of them where it is about none of them."""
    if operation.named:
        return set(operation.named)
    if operation.plugin is not None:
        return {operation.plugin.key}
    return {plugin.key for plugin in operation.plugins}


def noted(problem: Problem, *, owner: str = "") -> WarningRow:
    """Return a note of a declaration as a receipt's warning, with its place."""
    place = PlaceRow(problem.file, problem.line, problem.column, problem.key) if problem.file or problem.key else None
    return WarningRow(problem.code, safe_lines(problem.message), "", owner, place, safe_text(problem.hint))


def noticed(notice: Notice) -> WarningRow:
    """Return a notice of a decision or an index as a receipt's warning."""
    place = place_of(notice.origin) if notice.origin is not None else None
    return WarningRow(
        notice.code, safe_lines(notice.message), notice.package, notice.owner, place, safe_text(notice.hint)
    )


def _done(result: Admitted | Refused | Undecided | PmError | Done) -> Done:
    match result:
        case Done():
            return result
        case Admitted(lock, warnings):
            return Done("admitted", lock=lock, warnings=warnings)
        case Refused(reasons, steps, warnings):
            return Done("refused", reasons=reasons, steps=steps, warnings=warnings)
        case Undecided(code, message, tried, package):
            told = f"{message} ({'; '.join(tried)})" if tried else message
            return Done("undecided", reasons=(Reason(code, told, package),))
        case PmError():
            return Done(code_of(result.code).outcome, reasons=(_reason_of(result),), steps=_steps_of(result))
        case _:
            assert_never(result)


def _steps_of(error: PmError) -> tuple[Step, ...]:
    action, value = error.step
    if error.word[1]:
        return (Step("reword", error.word[0], value=error.word[1]),)
    if action == "retry":
        return (Step(action, "", when=value),)
    return (Step(action, "", value=value, when=error.when),) if action else ()


def _reason_of(error: PmError) -> Reason:
    return Reason(error.code, error.message, file=error.file, line=error.line, key=error.key, hint=error.hint)


def _closed(done: Done, operation: Operation) -> tuple[Step, ...]:
    """Return the steps with one at the end that is always possible."""
    if done.outcome not in _WITH_STEPS or (done.steps and done.steps[-1].action in CLOSING):
        return done.steps
    subject = operation.plugin.key if operation.plugin else operation.core
    if done.outcome == "drift":
        return (*done.steps, Step("repair", subject))
    when = "; ".join(dict.fromkeys(code_of(reason.code).when for reason in done.reasons)) or "the cause is gone"
    return (*done.steps, Step("retry", subject, when=when))


def _steps(steps: Sequence[Step], operation: Operation) -> tuple[StepRow, ...]:
    own = operation.plugin.key if operation.plugin else ""
    return tuple(_step(step, command(step, operation, steps[:number]), own) for number, step in enumerate(steps))


def _step(step: Step, pasted: str, own: str) -> StepRow:
    part = _part(step, own)
    return StepRow(
        action=part.action,
        subject=part.subject,
        value=part.value,
        command=pasted,
        explanation=part.explanation,
        confirmed=step.confirmed,
        declared_at=part.declared_at,
        before=part.before,
        after=part.after,
        effect=tuple(map(safe_text, step.effect)),
        when=safe_text(step.when),
        parts=tuple(_part(part, own) for part in step.parts),
    )


def _part(step: Step, own: str) -> Part:
    """Return what a step changes, by itself or with others; `own` is the plugin that the operation is about."""
    return Part(
        action=step.action,
        subject=step.subject,
        value=step.value or step.after,
        explanation=safe_text(explanation(step, own)),
        declared_at=place_of(step.origin) if step.origin else None,
        before=step.before,
        after=step.after,
    )


def _reason(reason: Reason) -> ReasonRow:
    placed = reason.file or reason.key
    return ReasonRow(
        code=reason.code,
        message=safe_lines(reason.message),
        package=reason.package,
        demands=tuple(_demand(demand) for demand in reason.demands),
        available=tuple(AvailableRow(*available) for available in reason.available),
        also=tuple(_demand(demand) for demand in reason.also),
        proof=_proof(reason.proof) if reason.proof else None,
        declared_at=PlaceRow(reason.file, reason.line, reason.column, reason.key) if placed else None,
        hint=safe_text(reason.hint),
        what_now=code_of(reason.code).what_now,
        opened_by=tuple(_demand(demand) for demand in reason.opened_by),
    )


def _demand(demand: Demand) -> DemandRow:
    requirement = demand.requirement
    return DemandRow(
        owner=OwnerRow(*requirement.origin.owner),
        requirement=requirement.text or requirement.canonical,
        declared_at=place_of(requirement.origin),
        chain=demand.chain,
    )


def _proof(proof: Proof) -> ProofRow:
    return ProofRow(proof.minimal, proof.verified, CheckedBy(proof.search, proof.complete))


def _together(noted_before: Sequence[WarningRow], found: Iterable[WarningRow]) -> tuple[WarningRow, ...]:
    """Return all warnings, each said once: a decision repeats what a declaration's own notes say with their place."""
    said = {(warning.code, warning.message) for warning in noted_before}
    return (*noted_before, *(warning for warning in found if (warning.code, warning.message) not in said))


def changes_row(before: Lock | None, after: Lock | None) -> ChangesRow:
    """Return what an environment of one lock gains, loses and moves to become one of the other."""
    if after is None:
        return ChangesRow()
    added, removed, moved = changes_between(before, after)
    return ChangesRow(tuple(map(_change, added)), tuple(map(_change, removed)), tuple(map(_change, moved)))


def _change(change: Change) -> ChangeRow:
    return ChangeRow(change.name, change.before or None, change.after or None, _owners(change.owners))


def _owners(owners: Iterable[Owner]) -> tuple[OwnerRow, ...]:
    return tuple(OwnerRow(*owner) for owner in owners)
