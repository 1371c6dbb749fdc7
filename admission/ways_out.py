"""Find the ways out of a refusal: each proposal alone and, where none of them suffices, several together.

A combination is a fold: a proposal is asked for, and from a refusal that has lost one of its reasons it goes on with
what is proposed there, the least invasive first. What is found is shrunk until every part of it is needed. What an
answer refutes is dropped; a single proposal that could not be answered is a suggestion.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from admission.decision import Admitted, Reason, Refused, Step
from admission.question import Question
from admission.steps import (
    NO_CORES,
    OtherCores,
    ProposedStep,
    changed,
    confirmed,
    narrowed,
    proposals,
    suggested,
)
from lockfiles import Lock

__all__ = ["Ask", "WaysOut"]

_Answer = Admitted | Refused | str
Ask = Callable[[Question, float], _Answer]
"""Answers a question within a share of the time that is left, or says what has to change before it can be answered."""

_MOST_WAYS = 4
"""Combinations for one refusal."""
_MOST_PARTS = 5
"""Changes in one combination: as many as a refusal has independent conflicts."""
_MOST_TRIED = 60
"""Sets of changes that are tried to find combinations."""
_CHEAP = (
    "leave-out",
    "allow-prerelease",
    "allow-newer",
    "allow-collision",
    "allow-direct-url",
    "widen",
    "update-core",
    "allow-build",
)
"""Actions in the order in which they are tried: what needs nothing new and is sure to help first."""
_HALF = 0.5
"""Share of the time that is left for a way that is sure to help, and for one set of several changes."""


class WaysOut:
    """The ways out of one refusal, as far as they were found."""

    def __init__(
        self,
        question: Question,
        refused: Refused,
        ask: Ask,
        *,
        cores: OtherCores = NO_CORES,
        fixed: Collection[str] = (),
        before: Lock | None = None,
    ) -> None:
        """`cores` are those that may be tried, `fixed` the plugins whose lines cannot be changed, `before` the lock."""
        self._search = _Search(question, refused, ask, cores=cores, fixed=fixed)
        self._before = before
        self._proposals: tuple[ProposedStep, ...] = ()
        self._answers: dict[Step, tuple[tuple[ProposedStep, ...], _Answer]] = {}
        self._combined: list[_Way] = []

    def find(self) -> None:
        """Try every proposal, and where none of them suffices several together; what was found stays if it is stopped.

        What is cheap and sure is tried first, and each has its share of the time.
        """
        for has_cores in (False, True):
            self._proposals = self._search.proposals((), has_cores=has_cores)
            left = [proposal for proposal in self._proposals if proposal.step not in self._answers]
            left.sort(key=lambda proposal: _CHEAP.index(proposal.step.action))
            for number, proposal in enumerate(left):
                share = _HALF if proposal.step.action == "leave-out" else 1 / (len(left) - number)
                self._answers[proposal.step] = self._search.alone(proposal, share)
        if not any(isinstance(answer, Admitted) for _, answer in self._answers.values()):
            for way in self._search.combinations():
                self._combined.append(way)

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps that were confirmed, from the least to the most invasive, and then what could not be answered."""
        known = [(p, *self._answers.get(p.step, ((p,), "it was not tried"))) for p in self._proposals]
        ways = [_Way(parts, answer) for _, parts, answer in known if isinstance(answer, Admitted)]
        confirmed_steps = (confirmed(way.parts, way.admitted, self._before) for way in (*ways, *self._combined))
        suggestions = (suggested(parts[0], answer) for _, parts, answer in known if isinstance(answer, str))
        return tuple(dict.fromkeys((*confirmed_steps, *suggestions)))


class _Way(NamedTuple):
    """Proposals that were admitted together, each with the exact text of its line."""

    parts: tuple[ProposedStep, ...]
    admitted: Admitted


class _Search:
    """What was asked so far about one refusal."""

    def __init__(
        self,
        question: Question,
        refused: Refused,
        ask: Ask,
        *,
        cores: OtherCores,
        fixed: Collection[str],
    ) -> None:
        self._question = question
        self._refused = refused
        self._ask = ask
        self._cores = cores
        self._fixed = fixed
        self._answers: dict[frozenset[object], _Answer] = {frozenset(): refused}
        self._tried = 0

    def answer(self, parts: Sequence[ProposedStep], share: float = _HALF) -> _Answer:
        """Return the answer to the question with some changes, which is the same in whatever order they are made."""
        key = frozenset(part.step for part in parts)
        if key not in self._answers:
            self._answers[key] = self._ask(changed(self._question, parts), share)
        return self._answers[key]

    def proposals(self, parts: Sequence[ProposedStep], *, has_cores: bool = True) -> tuple[ProposedStep, ...]:
        """Return what may help once some changes are made; there is only one core, and others are looked for last."""
        refused = self.answer(parts)
        if not isinstance(refused, Refused):
            return ()
        has_core = any(part.step.action == "update-core" for part in parts)
        cores = self._cores if has_cores and not has_core else NO_CORES
        found = proposals(changed(self._question, parts), refused, cores=cores, fixed=self._fixed)
        return tuple(proposal for proposal in found if proposal.step not in {part.step for part in parts})

    def alone(self, proposal: ProposedStep, share: float) -> tuple[tuple[ProposedStep, ...], _Answer]:
        """Return the answer to one proposal, with the exact text of its line if it is admitted."""
        if not proposal.certain:
            return (proposal,), "you trust its authors; its requirements are known only after the build"
        answer = self.answer((proposal,), share)
        return self._exact((proposal,), answer) if isinstance(answer, Admitted) else ((proposal,), answer)

    def _exact(self, parts: tuple[ProposedStep, ...], admitted: Admitted) -> tuple[tuple[ProposedStep, ...], _Answer]:
        """Return the parts with the exact text of each line, less those that need no other one, and their answer."""
        if all(part.line is None for part in parts):
            return parts, admitted
        exact = tuple(other for part in parts if (other := narrowed(part, admitted)) is not None)
        return exact, self.answer(exact)

    def combinations(self) -> Iterator[_Way]:
        """Yield for each first part what it leads out with, each combination once."""
        seen: set[frozenset[object]] = set()
        for first in self.proposals(()):
            way = next(self._completed((first,), self._refused), None) if first.certain else None
            if way is None or (key := frozenset(part.step for part in way.parts)) in seen:
                continue
            seen.add(key)
            yield way
            if len(seen) == _MOST_WAYS:
                return

    def _completed(self, parts: tuple[ProposedStep, ...], refused: Refused) -> Iterator[_Way]:
        """Yield what leads out and begins with these parts, of which the last is the answer to a refusal."""
        if self._tried == _MOST_TRIED:
            return
        self._tried += 1
        answer = self.answer(parts)
        if isinstance(answer, Admitted):
            exact, answer = self._exact(parts, answer)
            if isinstance(answer, Admitted) and (way := self._shrunk(_Way(exact, answer))) is not None:
                yield way
        elif isinstance(answer, Refused) and len(parts) < _MOST_PARTS and _removes_a_reason(refused, answer):
            # an operator who can take one kind of step, in the candidate or elsewhere, can take another of that kind
            for part in sorted(self.proposals(parts), key=partial(self._unlike, parts[0])):
                if part.certain:
                    yield from self._completed((*parts, part), answer)

    def _unlike(self, first: ProposedStep, other: ProposedStep) -> tuple[bool, ...]:
        one, two, own = first.step, other.step, self._question.candidate
        return two.action != one.action, (two.subject == own) != (one.subject == own), two.subject != one.subject

    def _shrunk(self, way: _Way) -> _Way | None:
        """Return a way of which no part can be left out; `None` where that is not known."""
        for part in reversed(way.parts):
            rest = tuple(other for other in way.parts if other is not part)
            answer = self.answer(rest)
            if isinstance(answer, Admitted):
                return self._shrunk(_Way(rest, answer))
            if isinstance(answer, str):
                return None
        return way


def _removes_a_reason(before: Refused, after: Refused) -> bool:
    left = {_identity(reason) for reason in after.reasons}
    return any(_identity(reason) not in left for reason in before.reasons)


def _identity(reason: Reason) -> object:
    """Return what makes it the same reason, also once a bound is left out: its demands, as they are written."""
    lines = frozenset((d.requirement.origin, d.requirement.name, d.requirement.text) for d in reason.demands)
    return reason.code, reason.package, lines or reason
