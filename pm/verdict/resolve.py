"""Ask for a decision until the facts suffice: the one place where deciding and fetching meet."""

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import inf
from typing import NamedTuple, TypeVar

from admission import (
    NOTHING_KNOWN,
    Admitted,
    ConstraintSet,
    Decision,
    Facts,
    Need,
    Notice,
    Owner,
    Problem,
    Question,
    Refused,
    Undecided,
)
from admission.gates import judge_member, root_requirements
from admission.verdict import Deliberation
from lockfiles import Lock, environment_marker
from pm.errors import OutOfTime, PmError
from pm.generations.admitted import was_decided_on
from pm.generations.fault_reasons import refusal_of, warning_of
from pm.generations.file_faults import faults_of
from pm.generations.records import Member
from pm.index import IndexClient, IndexOptions
from pm.places import Places
from pm.verdict.state import Options, State, read_state
from pm.verdict.union import Proposal

PROOF_ROUNDS = 10
"""How often facts are fetched that would only make a refusal's explanation better."""

PROOF_SECONDS = 10.0
"""For how long they are waited for."""

_SHOWN = 5
_Value = TypeVar("_Value")


class Answer(NamedTuple):
    """What came of one question."""

    decision: Admitted | Refused | Undecided
    consulted: Facts = NOTHING_KNOWN
    """What the decision rests on."""
    lock: Lock | None = None
    """What the requirements alone admit; `None` where they do not. The files may still be refused."""
    notes: tuple[Problem, ...] = ()


class Verdict(NamedTuple):
    """An answer, and what it is about."""

    decision: Admitted | Refused | Undecided
    proposal: Proposal
    """What was judged in the end."""
    question: Question
    consulted: Facts = NOTHING_KNOWN
    """What the decision rests on."""
    lock: Lock | None = None
    """What the requirements alone admit; `None` where they do not, and where nothing was decided."""
    notes: tuple[Problem, ...] = ()


@contextmanager
def open_resolver(
    places: Places, environ: Mapping[str, str], options: Options, index_options: IndexOptions | None = None
) -> Iterator["Resolver"]:
    """Read what an operation starts from, and give what answers about it; raise `PmError` as `read_state` does."""
    with read_state(places, environ, options, index_options) as (state, index):
        yield Resolver(state, index)


class Resolver:
    """Answers what can be installed from one state: it holds the package index open, and what that said so far."""

    def __init__(self, state: State, index: IndexClient) -> None:
        self.state = state
        self.index = index

    def resolve(self, proposal: Proposal, candidate: str = "", asked: Collection[str] = ()) -> Verdict:
        """Decide whether the core and these members hold together, and fetch what must be known for that.

        A plugin that a config enables and the selected generation does not hold is judged along; but where it fails a
        gate or stands in the way of others, they are judged without it, and a note says so: the candidate and those
        that are `asked` about stay. Raise `PmError` for an index that does not cooperate.
        """
        until = time.monotonic() + self.state.options.time_limit
        judged = _Judged(self.state, candidate, frozenset(asked), until)
        unfit = {member: note for member in proposal.members if (note := judged.unfit(member, proposal.constraints))}
        if unfit:
            proposal = proposal.of(member for member in proposal.members if member not in unfit)
        verdict = self._without_lost_addresses(proposal, judged)
        return verdict._replace(notes=(*verdict.notes, *unfit.values()))

    def _without_lost_addresses(self, proposal: Proposal, judged: "_Judged") -> Verdict:
        """Return the verdict on members; where something cannot be fetched, without those whose address it may be."""
        try:
            return self._fitting(proposal, judged)
        except PmError as error:
            apart = [member for member in proposal.members if judged.may_be_lost(member)]
            if not apart:
                raise
            try:
                verdict = self._fitting(proposal.of(m for m in proposal.members if m not in apart), judged)
            except PmError:
                raise error from None
            return verdict._replace(notes=(*verdict.notes, *(_left_out(member, error.message) for member in apart)))

    def _fitting(self, proposal: Proposal, judged: "_Judged") -> Verdict:
        """Return the verdict on members, else on those of them that others have to make room for."""
        verdict = self._verdict(proposal, judged)
        if not isinstance(verdict.decision, Refused):
            return verdict
        members = proposal.members
        staying = tuple(member for member in members if judged.stays(member, verdict))
        if len(staying) == len(members) or (not judged.candidate and not staying):
            return verdict
        again = self._verdict(proposal.of(staying), judged)
        if not isinstance(again.decision, Admitted):
            # without the others it is refused as well, and this is the shorter explanation
            return again if isinstance(again.decision, Refused) else verdict
        left_out = (member for member in members if member not in staying)
        return again._replace(notes=(*again.notes, *(_not_admitted(member) for member in left_out)))

    def _verdict(self, proposal: Proposal, judged: "_Judged") -> Verdict:
        question = question_of(self.state, proposal, judged.candidate)
        answer = self.answer(question, judged.until)
        return Verdict(answer.decision, proposal, question, answer.consulted, answer.lock, answer.notes)

    def answer(self, question: Question, until: float = inf) -> Answer:
        """Return the whole verdict on a question, that on its files too, and what it warns of.

        What was not decided until then (`time.monotonic`) stays undecided. Raise `PmError` for an index that does not
        cooperate, or not in time, and for a refusal that offline rests on too little.
        """
        try:
            return self._answer(question, until)
        except OutOfTime as error:
            return Answer(Undecided("resolution-budget", error.message, package=error.package))

    def _answer(self, question: Question, until: float) -> Answer:
        decision, consulted = settled(self.index, question, until)
        if isinstance(decision, Refused):
            self._raise_unknown()
        if not isinstance(decision, Admitted):
            return Answer(decision, consulted)
        environment = dict(self.state.interpreter.target.environment)
        lock = decision.lock._replace(environment=environment_marker(environment))
        with self.index.within(until):
            told, notes = self._with_files(decision._replace(lock=lock), question)
        return Answer(told, consulted, lock, notes)

    def _raise_unknown(self) -> None:
        """Raise where a refusal would rest on folders alone, or on folders of which one is not there."""
        if self.index.partial:
            names = _listed(self.index.partial)
            raise PmError(
                "offline",
                f"offline, only files in folders are known of {names}, which is not enough to refuse anything",
                hint="run it once without `--offline`",
            )
        if self.index.unlisted is not None and self.state.settings.find_links:
            raise self.index.unlisted

    def _with_files(self, admitted: Admitted, question: Question) -> tuple[Admitted | Refused, tuple[Problem, ...]]:
        """Refuse a set whose requirements hold together and whose files do not: one overwrites or hides another."""
        state, lock = self.state, admitted.lock
        foreseen = faults_of(
            lock,
            self.index,
            interpreter=state.interpreter,
            places=state.places,
            allow_collision=question.constraints.policy.allow_collision,
        )
        notes = [warning_of(fault) for fault in foreseen.clashes if fault.harmless]
        if foreseen.unknown:
            message = f"which files {_listed(foreseen.unknown)} would write is not known offline; the build finds out"
            notes.append(Problem("contents-unknown", message))
        roots = root_requirements(question.constraints) if foreseen.clashes else ()
        return refusal_of(foreseen.clashes, lock, roots) or admitted, tuple(notes)

    def notices(self) -> tuple[Notice, ...]:
        """Return what the sources and the index have to say."""
        error = self.index.unlisted
        # pip goes on without a folder of its configuration that is not there, and so do we
        missing = (Notice("find-links-unused", error.message),) if error is not None else ()
        return (*self.state.sources.warnings, *self.index.warnings, *missing)


class _Judged(NamedTuple):
    """What a verdict is asked for: who stays whatever comes of it, who makes room, and how long it may take."""

    state: State
    candidate: str
    asked: frozenset[str]
    until: float
    """When the answer must be there (`time.monotonic`)."""

    def unfit(self, member: Member, constraints: ConstraintSet) -> Problem | None:
        """Return why a member is left out before anything is resolved; `None` if it is judged along.

        Gates hold for every member, so that what fails one is not admitted with what another plugin asks for. When all
        of the selected generation is judged with another core, what fails is a reason and not left out unasked.
        """
        if self._is_asked(member) or (not self.candidate and self._was_admitted(member)):
            return None
        reasons = judge_member(member.declaration, constraints)
        return _left_out(member, reasons[0].message) if reasons else None

    def stays(self, member: Member, verdict: Verdict) -> bool:
        """Say whether others have to make room for a member, or fit beside it, whatever they are."""
        if self._is_asked(member):
            return True
        return self._was_admitted(member) and not (self._is_elsewhere and _owns_files(member, verdict))

    def may_be_lost(self, member: Member) -> bool:
        """Say whether an address that a member names may never have been read; it is not what is judged."""
        if self._is_asked(member) or self._was_admitted(member):
            return False
        return any(requirement.url for requirement in member.declaration.requirements)

    def _is_asked(self, member: Member) -> bool:
        return member.key == self.candidate or member.key in self.asked

    def _was_admitted(self, member: Member) -> bool:
        return was_decided_on(self.state.recorded, member.key, member.digest)

    @property
    def _is_elsewhere(self) -> bool:
        """Whether a candidate is judged with another core or target than that of the selected generation."""
        return bool(self.candidate) and not _is_host_of(self.state)


def _owns_files(member: Member, verdict: Verdict) -> bool:
    """Say whether a set is refused for files alone, and a member asks for some of them."""
    if verdict.lock is None or not isinstance(verdict.decision, Refused):
        return False
    demands = (demand for reason in verdict.decision.reasons for demand in reason.demands)
    return Owner("plugin", member.key) in {demand.requirement.origin.owner for demand in demands}


def _is_host_of(state: State) -> bool:
    """Say whether the selected generation was made with the core and for the target of now."""
    record, core = state.record, state.hosted.core
    if record is None:
        return False
    told = (record.core.get("name"), record.core.get("version"), record.core.get("extras"), record.target)
    return told == (core.name, core.version, list(core.extras), state.interpreter.target.name)


def question_of(state: State, proposal: Proposal, candidate: str) -> Question:
    """Return what `decide` is asked about a union."""
    options = state.options
    question = Question(proposal.constraints, candidate=candidate, pins=state.pins)
    return question._replace(budget=options.budget) if options.budget else question


def settled(index: IndexClient, question: Question, until: float = inf) -> tuple[Admitted | Refused | Undecided, Facts]:
    """Decide a question on the facts of an index, which is asked until they suffice; return what was consulted too.

    Raise `OutOfTime` if it did not answer until then (`time.monotonic`), and `PmError` as the index does.
    """
    with index.within(until):
        try:
            return _settled(index, question, until)
        finally:
            index.save()


def _settled(index: IndexClient, question: Question, until: float) -> tuple[Admitted | Refused | Undecided, Facts]:
    deciding = Deciding(question, lambda: time.monotonic() < until)
    explaining = _Explaining(until)
    while True:
        decision, consulted = deciding.decide(index.facts)
        if isinstance(decision, Need) and decision.purpose == "verdict":
            index.fetch(decision, question)
        elif isinstance(decision, Need):
            if not explaining.has_fetched(index, decision, question):
                deciding.deliberation.explain_from_what_is_known()
        elif not index.refresh() and not _is_revised(index, decision, question):
            return decision, consulted
        else:
            deciding = Deciding(question, lambda: time.monotonic() < until)


def _is_revised(index: IndexClient, decision: Decision, question: Question) -> bool:
    """Ask again for the pages that a refusal is about, though they are young; say whether one of them has changed.

    What was published a minute ago is what an author tries next, unless no release could help. An index that does not
    answer now did so before.
    """
    if not isinstance(decision, Refused) or question.frozen:
        return False
    helped = [reason.package for reason in decision.reasons if reason.package and not reason.holds_for_all_versions]
    try:
        with index.within(time.monotonic() + PROOF_SECONDS):
            return bool(helped) and index.revalidate(helped)
    except PmError:
        return False


class _Explaining:
    """Fetches what would only make the explanation of a refusal better: in a few rounds, and not for long."""

    def __init__(self, until: float) -> None:
        self._latest = until
        self._until = 0.0
        self._rounds = PROOF_ROUNDS

    def has_fetched(self, index: IndexClient, need: Need, question: Question) -> bool:
        """Fetch, and say whether it came: the refusal is clear, and stands without it."""
        self._rounds -= 1
        if self._rounds < 0:
            return False
        self._until = self._until or min(self._latest, time.monotonic() + PROOF_SECONDS)
        try:
            with index.within(self._until):
                index.fetch(need, question)
        except PmError:
            return False
        return True


class Deciding:
    """A deliberation that notes which facts it looks at: those alone decide the same."""

    def __init__(self, question: Question, may_go_on: Callable[[], bool] = lambda: True) -> None:
        self.deliberation = Deliberation(question, may_go_on)
        self._pages: set[str] = set()
        self._candidates: set[str] = set()

    def decide(self, facts: Facts) -> tuple[Decision, Facts]:
        """Decide on what is known now, and return the part of it that the decision rests on too."""
        pages, candidates = _Consulted(facts.pages, self._pages), _Consulted(facts.candidates, self._candidates)
        decision = self.deliberation.decide(Facts(pages, candidates))
        return decision, Facts(pages.consulted(), candidates.consulted())


class _Consulted(Mapping[str, _Value]):
    """A mapping that notes which names were asked for, whether they were there or not."""

    def __init__(self, inner: Mapping[str, _Value], seen: set[str]) -> None:
        self._inner = inner
        self._seen = seen

    def __getitem__(self, key: str) -> _Value:
        self._seen.add(key)
        return self._inner[key]

    def __contains__(self, key: object) -> bool:
        if isinstance(key, str):
            self._seen.add(key)
        return key in self._inner

    def consulted(self) -> dict[str, _Value]:
        """Return what was asked for and there."""
        return {name: self._inner[name] for name in self._seen if name in self._inner}

    def __iter__(self) -> Iterator[str]:
        return iter(self._inner)

    def __len__(self) -> int:
        return len(self._inner)


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:_SHOWN])
    return shown + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")


def _not_admitted(member: Member) -> Problem:
    return _left_out(member, "the requirements cannot all hold with it")


def _left_out(member: Member, why: str) -> Problem:
    message = f"`{member.key}` is enabled and was left out: {why}"
    hint = f"`hermes plugins check {member.key}` says what can be done"
    return Problem("not-admitted", message, key="plugins.enabled", hint=hint)
