"""Try the ways out of a refusal: each is the same question with some changes, and the same engine answers it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cache

from admission import Admitted, Core, Question, Refused, Step
from admission.ways_out import ways_out
from pm.errors import PmError
from pm.host.core import newer_cores
from pm.verdict.resolve import Resolver, Verdict

NEWEST_CORES = 3
_ROUNDS = 2_000
"""For one step: the time for all of them is only looked at between two."""


def with_steps(resolver: Resolver, verdict: Verdict, refused: Refused) -> Refused:
    """Return a refusal with the steps that were confirmed, and those that could not be tried as suggestions.

    What was refuted is not shown. When the time for steps is over, what was not tried yet stays a suggestion.
    """
    state, members = resolver.state, verdict.proposal.members
    until = time.monotonic() + state.options.steps_seconds

    def ask(question: Question) -> Admitted | Refused | str:
        return _asked(resolver, question, until)

    @cache
    def cores() -> Sequence[Core]:
        return _cores(resolver, until)

    question = verdict.question
    record = state.record
    before = record.lock if record is not None else None
    # a question is what is asked for, and the files of a plugin of the core's lie in its wheel
    fixed = {member.key for member in members if member.source in ("bundled", "question")}
    steps = ways_out(question, refused, ask, cores=cores, fixed=fixed, before=before)
    if any(member.source == "bundled" for member in members):
        steps = tuple(map(_unsure_about_the_core, steps))
    return refused._replace(steps=(*steps, *refused.steps))


def _asked(resolver: Resolver, question: Question, until: float) -> Admitted | Refused | str:
    if time.monotonic() > until:
        return "it is tried with more time (`--steps-budget`)"
    try:
        asked = question._replace(frozen=True, budget=min(question.budget, _ROUNDS))
        decision = resolver.answer(asked).decision
    except PmError as error:
        return f"the index answers: {error.message}"
    return (
        decision
        if isinstance(decision, Admitted | Refused)
        else "it is tried by itself: it takes more rounds than one step may"
    )


def _cores(resolver: Resolver, until: float) -> Sequence[Core]:
    """Return the newest newer releases of the core, if they can be known."""
    hosted = resolver.state.hosted
    if hosted.kind != "release" or time.monotonic() > until:
        return ()
    try:
        return newer_cores(hosted, resolver.index, NEWEST_CORES)
    except PmError:  # what cannot be known now is not proposed
        return ()


def _unsure_about_the_core(step: Step) -> Step:
    """Return a step to another core as a suggestion: a plugin of the core's may ask for something else there."""
    if "update-core" not in {step.action, *(part.action for part in step.parts)}:
        return step
    return step._replace(confirmed=False, effect=(), when="the plugins that this core brings are checked with it")
