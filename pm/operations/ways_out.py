"""Try the ways out of a refusal: each is the same question with one change, and the same engine answers it."""

from __future__ import annotations

import time
from collections.abc import Sequence

from admission import Admitted, Core, Question, Refused, Step, Undecided
from admission.steps import Proposal, confirmed, narrowed, proposals, suggested
from pm.cores import newer_cores
from pm.errors import PmError
from pm.judging import answered, question_of
from pm.records import Member
from pm.situation import Situation

NEWEST_CORES = 3


def with_steps(situation: Situation, members: Sequence[Member], candidate: str, refused: Refused) -> Refused:
    """Return a refusal with the steps that were confirmed, and those that nobody could answer as suggestions.

    What was refuted is not shown. When the time for steps is over, what was not tried yet stays a suggestion.
    """
    question = question_of(situation, members, candidate)
    until = time.monotonic() + situation.wishes.steps_seconds
    steps = []
    for proposal in proposals(question, refused, cores=_cores(situation, refused, until)):
        step = _tried(situation, proposal, until)
        if step is not None and step.action == "update-core" and any(m.source == "bundled" for m in members):
            # a plugin of the core's may ask for something else there
            step = suggested(proposal, "the plugins that this core brings are judged with it")
        if step is not None and step not in steps:
            steps.append(step)
    return refused._replace(steps=(*steps, *refused.steps))


def _tried(situation: Situation, proposal: Proposal, until: float) -> Step | None:
    """Return the step of a proposal that helps or may help; `None` for one that does not."""
    if not proposal.certain:
        return suggested(proposal, "its requirements are only known after the build")
    if time.monotonic() > until:
        return suggested(proposal, "it is tried: the time for steps was over (`--steps-budget`)")
    try:
        decision = _asked(situation, proposal.question)
        if proposal.line is not None and isinstance(decision, Admitted):
            other = narrowed(proposal, decision)
            if other is None:
                return None
            proposal, decision = other, _asked(situation, other.question)
    except PmError as error:
        return suggested(proposal, f"the index answers: {error.message}")
    if isinstance(decision, Admitted):
        return confirmed(proposal, decision, situation.record.lock if situation.record is not None else None)
    return None if isinstance(decision, Refused) else suggested(proposal, "it is decided with a larger `--budget`")


def _asked(situation: Situation, question: Question) -> Admitted | Refused | Undecided:
    decision, _ = answered(situation, question._replace(frozen=True))
    return decision


def _cores(situation: Situation, refused: Refused, until: float) -> Sequence[Core]:
    """Return the newest newer releases of the core, if the refusal is about it and they can be known."""
    codes = {reason.code for reason in refused.reasons}
    owners = {
        demand.requirement.origin.owner.kind for reason in refused.reasons for demand in (*reason.demands, *reason.also)
    }
    if situation.hosted.kind != "release" or time.monotonic() > until:
        return ()
    if not codes & {"core-conflict", "core-version"} and not owners & {"core", "core-extra"}:
        return ()
    try:
        return newer_cores(situation.hosted, situation.client, NEWEST_CORES)
    except PmError:  # what cannot be known now is not proposed
        return ()
