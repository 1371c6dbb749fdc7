"""Ask whether one more requirement could be had, and why not: nothing is changed, and nothing of it is stored."""

from admission import (
    Admitted,
    Declaration,
    InvalidRequirementText,
    Origin,
    Owner,
    Requirement,
    declaration_digest,
    parse_requirement,
)
from pm.errors import PmError
from pm.generations.records import Member
from pm.operations.resolution import resolve
from pm.operations.run import OperationRun, Result
from pm.receipts.receipt import Done
from pm.verdict.resolve import open_resolver
from pm.verdict.state import Options, State


def why_not(run: OperationRun, text: str, options: Options) -> Result:
    """Judge everything that is enabled together with a member that asks for one requirement and nothing else.

    Raise `PmError` (`invalid-declaration`) for a text that is no requirement.
    """
    requirement = _wanted(text)
    with open_resolver(run.places, run.context.environ, options, run.context.index_options) as resolver:
        state = resolver.state
        run.reads(state)
        question = _question(state, requirement)
        decision = resolve(run, resolver, state.union.with_member(question), question.key).decision
        run.leaves_out(question.key)
        if isinstance(decision, Admitted) and _is_there(run, decision):
            return Done("unchanged", decision.lock, warnings=decision.warnings)
        return decision


def _wanted(text: str) -> Requirement:
    try:
        wanted = parse_requirement(text, Origin(Owner("plugin", "")))
    except InvalidRequirementText as error:
        hint = f"write `{error.correction}`" if error.correction else "write it as in `httpx>=0.29`"
        raise PmError("invalid-declaration", f"`{text}` is not a requirement: {error.message}", hint=hint) from error
    # the member has no name of its own, so it is called by what it requires
    owner = Owner("plugin", wanted.name if wanted.url else wanted.canonical)
    return wanted._replace(origin=Origin(owner))


def _question(state: State, requirement: Requirement) -> Member:
    """Return a member that asks for one requirement, which is a gate if it is on the core itself."""
    key = requirement.origin.owner.name
    on_core = requirement.name in state.hosted.names
    declaration = Declaration(
        key=key,
        name=key,
        requirements=() if on_core else (requirement,),
        gates=(requirement,) if on_core else (),
    )
    profile = state.places.profile
    return Member(declaration, "question", "", (profile,), declaration_digest(declaration))


def _is_there(run: OperationRun, decision: Admitted) -> bool:
    before = run.operation.before
    return before is not None and before.versions() == decision.lock.versions()
