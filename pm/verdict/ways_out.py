"""Try the ways out of a refusal: each is the same question with some changes, and the same engine answers it."""

import time
from collections.abc import Collection, Sequence
from functools import cache
from typing import NamedTuple

from admission import Admitted, Core, Question, Refused, Step, parse_requirement
from admission.steps import ChosenCore, OtherCores
from admission.ways_out import WaysOut
from pm.errors import PmError
from pm.host.core import HostedCore, find_core, newer_cores, setting_with
from pm.verdict.resolve import Resolver, Verdict

NEWEST_CORES = 3
_ROUNDS = 2_000
"""For one step, beside its share of the time."""


class StepsSought(NamedTuple):
    """A refusal with the steps that were found."""

    refused: Refused
    stopped_by: str = ""
    """The signal that ended the trying; empty if it came to its end."""


def with_steps(resolver: Resolver, verdict: Verdict, refused: Refused) -> StepsSought:
    """Return a refusal with the steps that were confirmed, and those that could not be tried as suggestions.

    What was refuted is not shown. When the time for steps is over, what was not tried yet stays a suggestion. A signal
    ends the trying and not the operation, whose verdict is clear.
    """
    state, members = resolver.state, verdict.proposal.members
    until = time.monotonic() + state.options.steps_seconds

    def ask(question: Question, share: float) -> Admitted | Refused | str:
        now = time.monotonic()
        return _asked(resolver, question, now + (until - now) * share) if now < until else _LATER

    extras = _asked_of_the_core(refused, state.hosted)

    @cache
    def newer() -> Sequence[Core]:
        return _newer(resolver, extras, until)

    @cache
    def richer() -> Sequence[ChosenCore]:
        return _richer(resolver, extras, until)

    question = verdict.question
    record = state.record
    before = record.lock if record is not None else None
    # a question is what is asked for, and the files of a plugin of the core's lie in its wheel
    fixed = {member.key for member in members if member.source in ("bundled", "question")}
    ways = WaysOut(question, refused, ask, cores=OtherCores(newer, richer), fixed=fixed, before=before)
    stopped_by = ""
    try:
        ways.find()
    except KeyboardInterrupt as stopped:
        stopped_by = str(stopped) or "Ctrl-C"
    steps = ways.steps
    if any(member.source == "bundled" for member in members):
        is_known = state.hosted.kind != "embedded" and not stopped_by
        same = {chosen.setting for chosen in richer()} if is_known else set[str]()
        steps = tuple(_unsure_about_the_core(step, same) for step in steps)
    return StepsSought(refused._replace(steps=(*steps, *refused.steps)), stopped_by)


_LATER = "it is tried with more time (`--steps-budget`)"


def _asked(resolver: Resolver, question: Question, until: float) -> Admitted | Refused | str:
    try:
        asked = question._replace(frozen=True, budget=min(question.budget, _ROUNDS))
        decision = resolver.answer(asked, until).decision
    except PmError as error:
        return f"the index answers: {error.message}"
    if isinstance(decision, Admitted | Refused):
        return decision
    if time.monotonic() >= until:
        return _LATER
    return "it is tried by itself: it takes more rounds than one step may"


def _asked_of_the_core(refused: Refused, hosted: HostedCore) -> frozenset[str]:
    """Return the extras that demands on the core name, in a refusal that is about them."""
    demands = (demand for reason in refused.reasons if reason.package in hosted.names for demand in reason.demands)
    asked = (parse_requirement(demand.chain[-1], demand.requirement.origin) for demand in demands if demand.chain)
    return frozenset(extra for requirement in asked if requirement.name in hosted.names for extra in requirement.extras)


def _newer(resolver: Resolver, extras: Collection[str], until: float) -> Sequence[Core]:
    """Return the newest newer releases of the core with some more extras, if they can be known."""
    hosted = resolver.state.hosted
    if hosted.kind != "release" or time.monotonic() > until:
        return ()
    try:
        with resolver.index.within(until):
            return newer_cores(hosted, resolver.index, NEWEST_CORES, extras)
    except PmError:  # what cannot be known now is not proposed
        return ()


def _richer(resolver: Resolver, extras: Collection[str], until: float) -> Sequence[ChosenCore]:
    """Return the core with some more extras, if there is one that has them."""
    state = resolver.state
    if not extras or time.monotonic() > until:
        return ()
    setting = setting_with(state.hosted, extras)
    try:
        with resolver.index.within(until):
            found = find_core(setting, state.places, state.interpreter.target, resolver.index, recorded={})
    except PmError:  # the same
        return ()
    return (ChosenCore(setting, found.core),)


def _unsure_about_the_core(step: Step, same: Collection[str]) -> Step:
    """Return a step to another core as a suggestion: a plugin of the core's may ask for something else there.

    `same` are settings that choose the core of now with more extras.
    """
    cores = {part.value for part in (step, *step.parts) if part.action == "update-core"}
    if cores <= set(same):
        return step
    return step._replace(confirmed=False, effect=(), when="the plugins that this core brings are checked with it")
