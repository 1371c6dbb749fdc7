"""What a refusal that asks for a consent would lead to: files that cannot lie together are told before it is given."""

import time
from collections.abc import Iterator, Mapping

from admission import Admitted, Candidate, Decision, Facts, Need, Page, Question, Reason, Refused
from admission.gates import root_requirements
from admission.verdict import Deliberation
from lockfiles import Artifact, Lock
from pm.errors import PmError
from pm.generations.fault_reasons import refusal_of
from pm.generations.file_faults import faults_of
from pm.verdict.resolve import Resolver

_SECONDS = 5.0


def with_files_behind(resolver: Resolver, question: Question, refused: Refused) -> Refused:
    """Return a refusal that only asks for builds, with the files in front that would be refused after these.

    Of a package that must be built, nothing but its versions is known: it counts as one without requirements and files.
    What cannot be known now, or not soon, is not told.
    """
    names = frozenset(reason.package for reason in refused.reasons if "allow-build" in reason.consents)
    if len(names) < len(refused.reasons):
        return refused
    until = time.monotonic() + _SECONDS
    try:
        with resolver.index.within(until):
            decision = _as_if_built(resolver, question, names)
            clashing = _clashing(resolver, question, decision, names)
    except PmError:  # that a build needs consent is clear in any case
        return refused
    return refused._replace(reasons=(*clashing, *refused.reasons))


def _as_if_built(resolver: Resolver, question: Question, names: frozenset[str]) -> Decision:
    deliberation = Deliberation(question._replace(frozen=True))
    while True:
        facts = resolver.index.facts
        decision = deliberation.decide(
            Facts(_BuiltPages(facts.pages, names), _BuiltCandidates(facts.candidates, names))
        )
        if not isinstance(decision, Need):
            return decision
        resolver.index.fetch(decision, question)


def _clashing(resolver: Resolver, question: Question, decision: Decision, names: frozenset[str]) -> tuple[Reason, ...]:
    if not isinstance(decision, Admitted):
        return ()
    state = resolver.state
    lock: Lock = decision.lock._replace(pins=tuple(pin for pin in decision.lock.pins if pin.name not in names))
    allowed = question.constraints.policy.allow_collision
    foreseen = faults_of(
        lock, resolver.index, interpreter=state.interpreter, places=state.places, allow_collision=allowed
    )
    told = refusal_of(foreseen.clashes, lock, root_requirements(question.constraints))
    return told.reasons if told is not None else ()


class _BuiltPages(Mapping[str, Page]):
    """Pages on which what must be built of some packages can be used."""

    def __init__(self, pages: Mapping[str, Page], names: frozenset[str]) -> None:
        self._pages = pages
        self._names = names

    def __getitem__(self, name: str) -> Page:
        page = self._pages[name]
        if name not in self._names:
            return page
        excluded = {place: why for place, why in page.excluded.items() if not page.buildable >> place & 1}
        return page._replace(excluded=excluded, buildable=0)

    def __iter__(self) -> Iterator[str]:
        return iter(self._pages)

    def __len__(self) -> int:
        return len(self._pages)


class _BuiltCandidates(Mapping[str, Mapping[str, Candidate]]):
    """Candidates, of which those of some packages ask for nothing."""

    def __init__(self, candidates: Mapping[str, Mapping[str, Candidate]], names: frozenset[str]) -> None:
        self._candidates = candidates
        self._names = names

    def __getitem__(self, name: str) -> Mapping[str, Candidate]:
        return _Undemanding(name) if name in self._names else self._candidates[name]

    def __iter__(self) -> Iterator[str]:
        return iter({*self._candidates, *self._names})

    def __len__(self) -> int:
        return len({*self._candidates, *self._names})


class _Undemanding(Mapping[str, Candidate]):
    """Every version of a package, as if it asked for nothing."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getitem__(self, version: str) -> Candidate:
        return Candidate(self._name, version, Artifact(f"{self._name}-{version}.tar.gz", ""))

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0
