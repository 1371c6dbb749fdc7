"""Ask for a decision until the facts suffice: the one place where deciding and fetching meet."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from admission import Admitted, Need, Notice, Problem, Question, Refused, Undecided, decide
from admission.gates import root_requirements
from lockfiles import environment_marker
from pm.errors import PmError
from pm.generations.fault_reasons import refusal_of, warning_of
from pm.generations.file_faults import faults_of
from pm.generations.records import Member
from pm.index import IndexClient
from pm.verdict.state import State

PROOF_ROUNDS = 4
"""How often facts are fetched that would only make a refusal's explanation better."""

_SHOWN = 5


class Verdict(NamedTuple):
    """A verdict, and whom it is about."""

    decision: Admitted | Refused | Undecided
    members: tuple[Member, ...]
    """Of the union that was judged."""
    notes: tuple[Problem, ...] = ()


def judge(state: State, members: Sequence[Member], candidate: str = "", asked: Collection[str] = ()) -> Verdict:
    """Decide whether the core and these members hold together, and fetch what must be known for that.

    Somebody whom a config enables and nobody ever admitted is judged along; but where that one stands in the way of
    others, they are judged without it, and a note says so: the candidate and those that are `asked` about stay. Raise
    `PmError` for an index that does not cooperate.
    """
    judged = _judge(state, members, candidate)
    if not isinstance(judged.decision, Refused):
        return judged
    staying = tuple(m for m in members if m.key == candidate or m.key in asked or state.was_admitted(m))
    if len(staying) == len(members) or (not candidate and not staying):
        return judged
    again = _judge(state, staying, candidate)
    if not isinstance(again.decision, Admitted):
        # without the others it is refused as well, and this is the shorter explanation
        return again if isinstance(again.decision, Refused) else judged
    left_out = (member for member in members if member not in staying)
    return again._replace(notes=(*again.notes, *(_not_admitted(member) for member in left_out)))


def question_of(state: State, members: Sequence[Member], candidate: str) -> Question:
    """Return what `decide` is asked about a union."""
    options = state.options
    question = Question(state.constraints(members), candidate=candidate, pins=state.pins)
    return question._replace(budget=options.budget) if options.budget else question


def answered(state: State, question: Question) -> tuple[Admitted | Refused | Undecided, list[Problem]]:
    """Return the whole verdict on a question, that on its files too, and what it warns of.

    Raise `PmError` for an index that does not cooperate, and for a refusal that nobody could give offline.
    """
    decision = settled(state.client, question)
    if isinstance(decision, Refused) and state.client.partial:
        names = _listed(state.client.partial)
        raise PmError(
            "offline",
            f"without an index only the folders' files of {names} are known, which is not enough to refuse anything",
            hint="ask once without `--offline`",
        )
    error = state.client.unlisted
    if isinstance(decision, Refused) and error is not None and state.settings.find_links:
        raise error
    if not isinstance(decision, Admitted):
        return decision, []
    environment = dict(state.interpreter.target.environment)
    lock = decision.lock._replace(environment=environment_marker(environment))
    return _with_files(state, decision._replace(lock=lock), question)


def _judge(state: State, members: Sequence[Member], candidate: str) -> Verdict:
    decision, notes = answered(state, question_of(state, members, candidate))
    return Verdict(decision, tuple(members), tuple(notes))


def _with_files(state: State, admitted: Admitted, question: Question) -> tuple[Admitted | Refused, list[Problem]]:
    """Refuse a set whose requirements hold together, and whose files do not: one would overwrite or hide another."""
    foreseen = faults_of(admitted.lock, state.client, interpreter=state.interpreter, places=state.places)
    broken = [fault for fault in foreseen.faults if fault.code == "build-failed"]
    if broken:
        raise PmError(broken[0].code, broken[0].message)
    notes = [warning_of(fault) for fault in foreseen.faults if fault.harmless]
    if foreseen.unknown:
        message = f"which files {_listed(foreseen.unknown)} would bring is not known offline; a build finds out"
        notes.append(Problem("contents-unknown", message))
    refused = refusal_of(foreseen.faults, admitted.lock, root_requirements(question.constraints))
    return (refused if refused is not None else admitted), notes


def settled(client: IndexClient, question: Question) -> Admitted | Refused | Undecided:
    """Decide a question on the facts of an index, which is asked until they suffice."""
    proof_rounds = 0
    while True:
        decision = decide(question, client.facts)
        if isinstance(decision, Need):
            if decision.purpose == "proof":
                proof_rounds += 1
                if proof_rounds > PROOF_ROUNDS:
                    question = question._replace(frozen=True)
                    continue
            client.fetch(decision, question)
        elif not client.refresh():
            return decision


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:_SHOWN])
    return shown + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")


def _not_admitted(member: Member) -> Problem:
    message = f"`{member.key}` is enabled and was left out: with it, the set does not hold together"
    return Problem(
        "not-admitted", message, key="plugins.enabled", hint=f"`hermes plugins enable {member.key}` says why"
    )


def notices(state: State) -> tuple[Notice, ...]:
    """Return what the sources and the index have to say."""
    error = state.client.unlisted
    # pip goes on without a folder of its configuration that is not there, and so do we
    missing = (Notice("find-links-unused", error.message),) if error is not None else ()
    return (*state.sources.warnings, *state.client.warnings, *missing)
