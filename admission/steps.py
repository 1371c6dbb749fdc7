"""Proposals that may lead out of a refusal: each changes one thing, and becomes a step once its answer is known.

A proposal changes the refused question, so whether it helps is decided by the same `decide` on the same facts.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from admission.decision import Admitted, Demand, Reason, Refused, Step
from admission.question import Core, Policy, Question, UnionMember, declaration_digest
from admission.requirement import InvalidRequirementText, Owner, Requirement, parse_requirement, parse_specifier
from admission.widening import widened
from lockfiles import Lock
from lockfiles.subset import changes

__all__ = [
    "NO_CORES",
    "ChosenCore",
    "OtherCores",
    "ProposedStep",
    "changed",
    "confirmed",
    "narrowed",
    "proposals",
    "suggested",
]

MOST = 12
"""Proposals for one refusal."""
_INVASIVE = (
    "widen",
    "update-core",
    "allow-prerelease",
    "allow-newer",
    "allow-collision",
    "allow-direct-url",
    "leave-out",
)
"""Actions that can be confirmed, from the least to the most invasive."""
_WRITTEN = re.compile(
    r"(?P<name>\s*[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?(?:\s*\[[^\]]*\])?)(?P<before>\s*\(?\s*)"
    r"(?P<bounds>[^();]*?)(?P<after>\s*\)?\s*)(?P<marker>(?:;.*)?)",
    re.DOTALL,
)


class ProposedStep(NamedTuple):
    """One change that may help; its step tells it from every other change."""

    step: Step
    change: Callable[[Question], Question]
    line: Requirement | None = None
    """For `widen`: the requirement whose bounds are left out here, to see which version would be chosen."""
    certain: bool = True
    """Whether an answer can be trusted; not for a build, whose requirements are only known afterwards."""


class ChosenCore(NamedTuple):
    """A core with the setting that chooses it."""

    setting: str
    core: Core


class OtherCores(NamedTuple):
    """The cores that may be tried; each is asked for when the core takes part in a refusal."""

    newer: Callable[[], Sequence[Core]] = tuple
    """Newer releases, the newest first."""
    richer: Callable[[], Sequence[ChosenCore]] = tuple
    """The same core with the extras that are missing."""


NO_CORES = OtherCores()


def proposals(
    question: Question,
    refused: Refused,
    *,
    cores: OtherCores = NO_CORES,
    fixed: Collection[str] = (),
) -> tuple[ProposedStep, ...]:
    """Return what may help, from the least to the most invasive: a wider bound, another core, a consent, a plugin less.

    `fixed` are the plugins whose lines cannot be changed.
    """
    found = [
        *_other_releases(refused, fixed),
        *_wider_bounds(question, refused, fixed),
        *_richer_cores(refused, cores),
        *_newer_cores(refused, cores),
        *_consents(refused),
        *_one_less(question, refused),
    ]
    return tuple({proposal.step: proposal for proposal in found}.values())[:MOST]


def changed(question: Question, parts: Sequence[ProposedStep]) -> Question:
    """Return the question with the changes of some proposals."""
    for part in parts:
        question = part.change(question)
    return question


def narrowed(proposal: ProposedStep, admitted: Admitted) -> ProposedStep | None:
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
    return ProposedStep(proposal.step._replace(after=text), partial(_with_line, line=line, other=other))


def confirmed(parts: Sequence[ProposedStep], admitted: Admitted, before: Lock | None) -> Step:
    """Return the step of proposals that were admitted together, with what it would change in the selected lock."""
    added, removed, moved = changes(before, admitted.lock)
    effect = (
        *(f"+ {change.name} {change.after}" for change in added),
        *(f"- {change.name} {change.before}" for change in removed),
        *(f"{change.name} {change.before} → {change.after}" for change in moved if change.before != change.after),
    )
    return _joined([part.step for part in parts])._replace(confirmed=True, effect=effect)


def suggested(proposal: ProposedStep, why: str) -> Step:
    """Return the step of a proposal that could not be answered."""
    return proposal.step._replace(confirmed=False, when=why)


def _joined(steps: Sequence[Step]) -> Step:
    if len(steps) == 1:
        return steps[0]
    steps = sorted(steps, key=lambda step: _INVASIVE.index(step.action))
    subjects = dict.fromkeys(step.subject for step in steps)
    return Step("together", ", ".join(subjects), parts=tuple(steps))


# -- wider bounds


def _wider_bounds(question: Question, refused: Refused, fixed: Collection[str]) -> Iterator[ProposedStep]:
    """Propose the candidate's own lines first, then those of other plugins that take part."""
    passed_over = {reason.package for reason in refused.reasons if reason.broken}
    demands = [demand for reason in refused.reasons for demand in reason.demands]
    lines = [demand.requirement for demand in demands if demand.requirement.origin.owner.kind == "plugin"]
    lines = [line for line in lines if line.name not in passed_over]
    lines.sort(key=lambda line: line.origin.owner.name != question.candidate)
    for line in dict.fromkeys(lines):
        if line.specifier and not line.url and line.origin.owner.name not in fixed:
            loosened = line._replace(specifier="", text=line.text)
            step = Step("widen", line.origin.owner.name, origin=line.origin, before=line.text or line.canonical)
            yield ProposedStep(step, partial(_with_line, line=line, other=loosened), line)


def _other_releases(refused: Refused, fixed: Collection[str]) -> Iterator[ProposedStep]:
    """Propose to pass over the release whose file is broken, in the lines that ask for its package themselves."""
    for reason in refused.reasons:
        lines = dict.fromkeys(demand.requirement for demand in reason.demands if reason.broken)
        for line in lines:
            owner = line.origin.owner
            if owner.kind == "plugin" and owner.name not in fixed and line.name == reason.package and not line.url:
                text = _passing_over(line, reason.broken)
                step = Step("widen", owner.name, origin=line.origin, before=line.text or line.canonical, after=text)
                yield ProposedStep(step, partial(_with_line, line=line, other=parse_requirement(text, line.origin)))


def _passing_over(line: Requirement, version: str) -> str:
    """Return the author's line without one version; where it asks for that one alone, for any other."""
    name, before, bounds, after, marker = _parts_of(line)
    kept = "" if _EXACT.fullmatch(bounds) else bounds.rstrip()
    comma = "" if not kept else ", " if re.search(r",\s", kept) else ","
    return f"{name}{before}{kept}{comma}!={version}{after}{marker}"


_EXACT = re.compile(r"\s*===?[^,*]*")


def _with_line(question: Question, line: Requirement, other: Requirement) -> Question:
    """Return the question in which one line of a plugin says something else."""
    members = tuple(
        _member(member, tuple(other if r == line else r for r in member.declaration.requirements))
        if member.declaration.key == line.origin.owner.name
        else member
        for member in question.constraints.members
    )
    return question._replace(constraints=question.constraints._replace(members=members))


def _member(member: UnionMember, requirements: tuple[Requirement, ...]) -> UnionMember:
    declaration = member.declaration._replace(requirements=requirements)
    return member._replace(declaration=declaration, digest=declaration_digest(declaration))


def _rewritten(line: Requirement, version: str) -> str:
    """Return the author's line with bounds that accept a version; everything else stays as it is written."""
    name, before, bounds, after, marker = _parts_of(line)
    wider = widened(bounds, version)
    return f"{name}{before}{wider}{after}{marker}" if wider else f"{name}{after.replace(')', '')}{marker}".rstrip()


def _parts_of(line: Requirement) -> tuple[str, ...]:
    """Return the parts of a line as its author wrote it: name, what stands around the bounds, bounds and marker."""
    written = _WRITTEN.fullmatch(line.text)
    if written is None or not _means(written["bounds"], line.specifier):
        written = _WRITTEN.fullmatch(line.canonical)
    if written is None:
        message = f"`{line.canonical}` is not written as a requirement"
        raise AssertionError(message)
    return written.groups()


def _means(bounds: str, specifier: str) -> bool:
    try:
        return parse_specifier(bounds) == specifier
    except InvalidRequirementText:
        return False


# -- other cores


def _richer_cores(refused: Refused, cores: OtherCores) -> Iterator[ProposedStep]:
    if not any(reason.code == "core-extra" for reason in refused.reasons):
        return
    for setting, core in cores.richer():
        explanation = f"choose the core `{setting}`, with the extras that are missing"
        step = Step("update-core", core.name, explanation, value=setting)
        yield ProposedStep(step, partial(_with_core, core=core))


def _newer_cores(refused: Refused, cores: OtherCores) -> Iterator[ProposedStep]:
    if not any(_is_about_the_core(reason) for reason in refused.reasons):
        return
    for core in cores.newer():
        step = Step("update-core", core.name, value=f"{core.name}{_extras(core)}=={core.version}")
        yield ProposedStep(step, partial(_with_core, core=core))


def _with_core(question: Question, core: Core) -> Question:
    return question._replace(constraints=question.constraints._replace(core=core))


def _extras(core: Core) -> str:
    return f"[{','.join(core.extras)}]" if core.extras else ""


def _is_about_the_core(reason: Reason) -> bool:
    owners = {demand.requirement.origin.owner.kind for demand in (*reason.demands, *reason.also)}
    return reason.code in ("core-conflict", "core-version", "core-extra") or bool(owners & {"core", "core-extra"})


# -- consents


def _consents(refused: Refused) -> Iterator[ProposedStep]:
    for reason in refused.reasons:
        name = reason.package
        for action in reason.consents:
            match action:
                case "allow-prerelease":
                    yield ProposedStep(Step("allow-prerelease", name), partial(_with_prereleases, name=name))
                case "allow-collision":
                    yield ProposedStep(Step("allow-collision", name), partial(_with_collisions, name=name))
                case "allow-direct-url":
                    for owner in (demand.requirement.origin.owner for demand in reason.demands):
                        yield ProposedStep(
                            Step("allow-direct-url", owner.name), partial(_with_addresses, key=owner.name)
                        )
                case "allow-newer":
                    yield ProposedStep(Step("allow-newer", name, value="off"), _without_quarantine)
                case _:
                    yield ProposedStep(Step("allow-build", name), _unchanged, certain=False)


def _with_prereleases(question: Question, name: str) -> Question:
    policy = question.constraints.policy
    return _with_policy(question, policy._replace(allow_prerelease=tuple(sorted({*policy.allow_prerelease, name}))))


def _with_collisions(question: Question, name: str) -> Question:
    policy = question.constraints.policy
    return _with_policy(question, policy._replace(allow_collision=tuple(sorted({*policy.allow_collision, name}))))


def _with_addresses(question: Question, key: str) -> Question:
    policy = question.constraints.policy
    return _with_policy(question, policy._replace(allow_direct_urls=tuple(sorted({*policy.allow_direct_urls, key}))))


def _without_quarantine(question: Question) -> Question:
    return _with_policy(question, question.constraints.policy._replace(exclude_newer="", not_after=""))


def _unchanged(question: Question) -> Question:
    return question


def _with_policy(question: Question, policy: Policy) -> Question:
    return question._replace(constraints=question.constraints._replace(policy=policy))


# -- one plugin less


def _one_less(question: Question, refused: Refused) -> Iterator[ProposedStep]:
    """Propose to leave out each other plugin of a conflict; which of them has to go is the operator's choice."""
    demands: list[Demand] = [demand for reason in refused.reasons for demand in reason.demands]
    others = dict.fromkeys(demand.requirement.origin.owner for demand in demands)
    for owner in others:
        if owner.kind == "plugin" and owner.name != question.candidate:
            yield ProposedStep(Step("leave-out", owner.name), partial(_without, owner=owner))


def _without(question: Question, owner: Owner) -> Question:
    members = tuple(m for m in question.constraints.members if m.declaration.key != owner.name)
    return question._replace(constraints=question.constraints._replace(members=members))
