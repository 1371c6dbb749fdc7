"""Ways out of a refusal: questions with one thing changed, and what their answers mean as steps.

A proposal is the refused question with a change, so whether it helps is decided by the same `decide` on the same facts.
What an answer refutes is dropped; what nobody could answer is a suggestion.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from admission.decision import Admitted, Demand, Reason, Refused, Step
from admission.question import Core, Member, Policy, Question, declaration_digest
from admission.requirement import InvalidRequirementText, Owner, Requirement, parse_requirement, parse_specifier
from admission.widening import widened
from lockfiles import Lock
from lockfiles.subset import changes

__all__ = ["Proposal", "confirmed", "narrowed", "proposals", "suggested"]

MOST = 12
"""Proposals for one refusal."""
_WRITTEN = re.compile(
    r"(?P<name>\s*[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?(?:\s*\[[^\]]*\])?)(?P<before>\s*\(?\s*)"
    r"(?P<bounds>[^();]*?)(?P<after>\s*\)?\s*)(?P<marker>(?:;.*)?)",
    re.DOTALL,
)


class Proposal(NamedTuple):
    """One change that may help, as the question that would be asked with it."""

    step: Step
    question: Question
    line: Requirement | None = None
    """For `widen`: the requirement whose bounds are left out here, to see which version would be chosen."""
    certain: bool = True
    """Whether an answer can be trusted; not for a build, whose requirements are only known afterwards."""


def proposals(question: Question, refused: Refused, *, cores: Sequence[Core] = ()) -> tuple[Proposal, ...]:
    """Return what may help, from the least to the most invasive: a wider bound, a newer core, a consent, a plugin less.

    `cores` are the releases of the core that may be tried, the newest first.
    """
    found = [
        *_wider_bounds(question, refused),
        *_newer_cores(question, refused, cores),
        *_consents(question, refused),
        *_one_less(question, refused),
    ]
    return tuple({(p.step.action, p.step.subject, p.step.value, p.line): p for p in found}.values())[:MOST]


def narrowed(proposal: Proposal, admitted: Admitted) -> Proposal | None:
    """Return the proposal with the exact new text of its line, to be asked for again; `None` if no bound is wider."""
    line = proposal.line
    if line is None:
        return proposal
    version = admitted.lock.versions().get(line.name)
    if version is None:
        return None
    text = _rewritten(line, version)
    other = parse_requirement(text, line.origin)
    if other.specifier == line.specifier:
        return None
    question = _with_line(proposal.question, line._replace(specifier="", text=line.text), other)
    place = f"{line.origin.file}:{line.origin.line}" if line.origin.line else line.origin.file or line.origin.key
    explanation = f"write `{text}` instead of `{line.text or line.canonical}` in {place}"
    return Proposal(proposal.step._replace(value=text, explanation=explanation), question)


def confirmed(proposal: Proposal, admitted: Admitted, before: Lock | None) -> Step:
    """Return the step of a proposal that was admitted, with what it would change in the selected lock."""
    added, removed, moved = changes(before, admitted.lock)
    effect = (
        *(f"+ {change.name} {change.after}" for change in added),
        *(f"- {change.name} {change.before}" for change in removed),
        *(f"{change.name} {change.before} → {change.after}" for change in moved if change.before != change.after),
    )
    return proposal.step._replace(confirmed=proposal.certain, effect=effect if proposal.certain else ())


def suggested(proposal: Proposal, why: str) -> Step:
    """Return the step of a proposal that nobody could answer."""
    return proposal.step._replace(confirmed=False, when=why)


# -- wider bounds


def _wider_bounds(question: Question, refused: Refused) -> Iterator[Proposal]:
    """Propose the candidate's own lines first, then those of other plugins that take part."""
    demands = [demand for reason in refused.reasons for demand in reason.demands]
    lines = [demand.requirement for demand in demands if demand.requirement.origin.owner.kind == "plugin"]
    lines.sort(key=lambda line: line.origin.owner.name != question.candidate)
    for line in dict.fromkeys(lines):
        if line.specifier and not line.url:
            loosened = line._replace(specifier="", text=line.text)
            subject = line.origin.owner.name
            step = Step("widen", subject, f"accept other versions of `{line.name}`")
            yield Proposal(step, _with_line(question, line, loosened), line)


def _with_line(question: Question, line: Requirement, other: Requirement) -> Question:
    """Return the question in which one line of a plugin says something else."""
    members = tuple(
        _member(member, tuple(other if r == line else r for r in member.declaration.requirements))
        if member.declaration.key == line.origin.owner.name
        else member
        for member in question.constraints.members
    )
    return question._replace(constraints=question.constraints._replace(members=members))


def _member(member: Member, requirements: tuple[Requirement, ...]) -> Member:
    declaration = member.declaration._replace(requirements=requirements)
    return member._replace(declaration=declaration, digest=declaration_digest(declaration))


def _rewritten(line: Requirement, version: str) -> str:
    """Return the author's line with bounds that accept a version; everything else stays as it is written."""
    written = _WRITTEN.fullmatch(line.text)
    if written is None or not _means(written["bounds"], line.specifier):
        written = _WRITTEN.fullmatch(line.canonical)
    if written is None:
        message = f"`{line.canonical}` is not written as a requirement"
        raise AssertionError(message)
    name, before, bounds, after, marker = written.groups()
    wider = widened(bounds, version)
    return f"{name}{before}{wider}{after}{marker}" if wider else f"{name}{after.replace(')', '')}{marker}".rstrip()


def _means(bounds: str, specifier: str) -> bool:
    try:
        return parse_specifier(bounds) == specifier
    except InvalidRequirementText:
        return False


# -- newer cores


def _newer_cores(question: Question, refused: Refused, cores: Sequence[Core]) -> Iterator[Proposal]:
    if not any(_is_about_the_core(reason) for reason in refused.reasons):
        return
    for core in cores:
        constraints = question.constraints._replace(core=core)
        step = Step(
            "update-core",
            core.name,
            f"update the core to {core.version}",
            value=f"{core.name}{_extras(core)}=={core.version}",
        )
        yield Proposal(step, question._replace(constraints=constraints))


def _extras(core: Core) -> str:
    return f"[{','.join(core.extras)}]" if core.extras else ""


def _is_about_the_core(reason: Reason) -> bool:
    owners = {demand.requirement.origin.owner.kind for demand in (*reason.demands, *reason.also)}
    return reason.code in ("core-conflict", "core-version") or bool(owners & {"core", "core-extra"})


# -- consents


def _consents(question: Question, refused: Refused) -> Iterator[Proposal]:
    policy = question.constraints.policy
    for reason in refused.reasons:
        name = reason.package
        if reason.code == "prerelease-only":
            changed = policy._replace(allow_prerelease=tuple(sorted({*policy.allow_prerelease, name})))
            step = Step("allow-prerelease", name, f"allow pre-releases of `{name}`")
            yield Proposal(step, _with_policy(question, changed))
        elif reason.code == "quarantined":
            changed = policy._replace(exclude_newer="", not_after="")
            step = Step("allow-newer", name, "take files that are younger than the quarantine allows", value="off")
            yield Proposal(step, _with_policy(question, changed))
        elif reason.code == "build-needs-consent":
            step = Step("allow-build", name, f"allow to build `{name}` from its source, which runs its code")
            yield Proposal(step, question, certain=False)


def _with_policy(question: Question, policy: Policy) -> Question:
    return question._replace(constraints=question.constraints._replace(policy=policy))


# -- one plugin less


def _one_less(question: Question, refused: Refused) -> Iterator[Proposal]:
    """Propose to leave out each other plugin that takes part in a conflict; who must go is the operator's choice."""
    demands: list[Demand] = [demand for reason in refused.reasons for demand in reason.demands]
    others = dict.fromkeys(demand.requirement.origin.owner for demand in demands)
    for owner in others:
        if owner.kind == "plugin" and owner.name != question.candidate:
            yield _without(question, owner)


def _without(question: Question, owner: Owner) -> Proposal:
    members = tuple(m for m in question.constraints.members if m.declaration.key != owner.name)
    constraints = question.constraints._replace(members=members)
    step = Step("leave-out", owner.name, f"go on without `{owner.name}`")
    return Proposal(step, question._replace(constraints=constraints))
