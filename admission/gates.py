"""Judge what needs no resolving: a plugin's own faults, the interpreter, the core's version."""

from __future__ import annotations

from collections.abc import Iterator

from admission.address import PUBLISH, address_of
from admission.core_gate import HOST, CoreFault, accepts, core_fault
from admission.decision import Demand, Reason
from admission.declaration import Declaration
from admission.question import ConstraintSet, Core, Policy
from admission.requirement import Origin, Owner, Requirement
from admission.target import Target

__all__ = ["applies", "judge_gates", "judge_member", "root_requirements"]


def judge_gates(constraints: ConstraintSet) -> tuple[Reason, ...]:
    """Return why a set cannot be admitted whatever is resolved. Gates hold for every member, whichever is judged."""
    members = (reason for member in constraints.members for reason in judge_member(member.declaration, constraints))
    return (*_judge_core(constraints.core, constraints.target), *members)


def judge_member(declaration: Declaration, constraints: ConstraintSet) -> tuple[Reason, ...]:
    """Return why one plugin cannot be admitted with a core and a target, whatever is resolved."""
    return tuple(_judge_member(declaration, constraints))


def root_requirements(constraints: ConstraintSet) -> list[Requirement]:
    """Return the requirements that are resolved: the core's and every member's that apply to the target."""
    names = {constraints.core.name, HOST}
    requirements = list(constraints.core.requirements)
    for member in constraints.members:
        if not member.declaration.external:
            requirements.extend(member.declaration.requirements)
    return [r for r in requirements if r.name not in names and applies(r.marker, constraints.target)]


def applies(marker: str, target: Target) -> bool:
    """Judge a marker in the target's environment, never in the manager's own (PEP 508)."""
    if not marker:
        return True
    from packaging.markers import Marker

    environment: dict[str, str | set[str]] = dict(target.environment)
    return Marker(marker).evaluate({**environment, "extra": ""}, context="metadata")


def _judge_core(core: Core, target: Target) -> Iterator[Reason]:
    if core.requires_python and not accepts(core.requires_python, target.python):
        yield Reason(
            code="python-version",
            message=f"{core.name} {core.version} requires Python `{core.requires_python}`, this is {target.python}",
            package=core.name,
        )


def _judge_member(declaration: Declaration, constraints: ConstraintSet) -> Iterator[Reason]:
    core, target = constraints.core, constraints.target
    for problem in declaration.problems:
        yield Reason(
            code=problem.code,
            message=problem.message,
            file=problem.file,
            line=problem.line,
            column=problem.column,
            key=problem.key,
            hint=problem.hint,
        )
    yield from _addresses(declaration, constraints.policy)
    if declaration.requires_python and not accepts(declaration.requires_python, target.python):
        yield Reason(
            code="python-version",
            message=f"`{declaration.key}` requires Python `{declaration.requires_python}`, this is {target.python}",
        )
    hermes = [_gate(declaration)] if declaration.requires_core else []
    for gate in (*hermes, *(gate for gate in declaration.gates if applies(gate.marker, target))):
        fault = core_fault(core, gate.name, gate.specifier, gate.extras)
        if fault is not None:
            yield _core_misfit(declaration, core, gate, fault)


def _addresses(declaration: Declaration, policy: Policy) -> Iterator[Reason]:
    """Refuse requirements that name an address without consent, or one that nothing can be installed from.

    To take a release of that name from an index instead would be another package than the one that was named.
    """
    for requirement in declaration.requirements if not declaration.external else ():
        installable = address_of(requirement) is not None
        if requirement.url and not (installable and policy.may_name_addresses(declaration.key)):
            yield _address_reason(requirement, installable=installable)


def _address_reason(requirement: Requirement, *, installable: bool) -> Reason:
    origin = requirement.origin
    why = "which is not allowed" if installable else "from which nothing can be installed"
    return Reason(
        code="direct-url",
        message=f"`{requirement.name}` is required from an address, {why}",
        package=requirement.name,
        demands=(Demand(requirement, (requirement.canonical,)),),
        file=origin.file,
        line=origin.line,
        key=origin.key,
        hint=_PUBLISH_INSTEAD.format(name=requirement.name) if installable else PUBLISH.format(name=requirement.name),
        consents=("allow-direct-url",) if installable else (),
    )


_PUBLISH_INSTEAD = "publish `{name}` to an index and name a version, or allow the address: `--allow-direct-urls`"


def _gate(declaration: Declaration) -> Requirement:
    specifier = declaration.requires_core
    owner = Owner("plugin", declaration.key)
    origin = Origin(owner, declaration.requires_core_file, declaration.requires_core_line, "requires_hermes")
    return Requirement(name=HOST, origin=origin, specifier=specifier, text=specifier)


def _core_misfit(declaration: Declaration, core: Core, gate: Requirement, fault: CoreFault) -> Reason:
    return Reason(
        code=fault.code,
        message=f"`{declaration.key}` requires {fault.asked}, {fault.message}",
        package=core.name,
        demands=(Demand(gate, (gate.canonical,)),),
        file=gate.origin.file,
        line=gate.origin.line,
        key=gate.origin.key,
        hint=fault.hint,
    )
