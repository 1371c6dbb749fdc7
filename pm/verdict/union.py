"""The union of a core and its plugins: members joined, put in, taken out, and proposed to be decided."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from admission import ConstraintSet, Policy, UnionMember, declaration_digest
from pm.generations.records import Member
from pm.host.core import HostedCore
from pm.host.interpreter import Interpreter
from pm.names import canonical_key
from pm.plugins.discovery import Found
from pm.plugins.tree import link_target


class Proposal(NamedTuple):
    """A union as it is put to be decided: joined, and its fingerprint taken, once."""

    members: tuple[Member, ...]
    constraints: ConstraintSet
    fingerprint: str
    """Of the constraints."""

    def of(self, members: Iterable[Member]) -> "Proposal":
        """Return the union of the same core with other members."""
        together = tuple(members)
        constraints = self.constraints._replace(members=union_of(together))
        return Proposal(together, constraints, constraints.fingerprint)

    def with_member(self, member: Member) -> "Proposal":
        """Return the union with a plugin in the profiles that it names."""
        return self.of(with_member(self.members, member))


def proposal(members: Iterable[Member], hosted: HostedCore, interpreter: Interpreter, policy: Policy) -> Proposal:
    """Return the union of a core and members."""
    return Proposal((), ConstraintSet(hosted.core, (), interpreter.target, policy), "").of(members)


def member_of(found: Found, profiles: Sequence[str], since: str = "") -> Member:
    """Return a plugin that was found as a member of the union."""
    return Member(
        declaration=found.declaration,
        source=found.source,
        root=str(found.folder) if found.folder is not None else "",
        profiles=tuple(profiles),
        digest=declaration_digest(found.declaration),
        enabled_since=since,
        link=link_target(found.folder) if found.source == "user" and found.folder is not None else "",
    )


def joined(members: Iterable[Member]) -> tuple[Member, ...]:
    """Return members with each folder once, sorted: a folder may serve several profiles."""
    return _together(members, by_folder=True)


def union_of(members: Iterable[Member]) -> tuple[UnionMember, ...]:
    """Return members as a constraint set holds them: the same plugin in two profiles asks for the same twice."""
    distinct = _together(members, by_folder=False)
    return tuple(UnionMember(member.declaration, member.profiles, member.digest) for member in distinct)


def _together(members: Iterable[Member], *, by_folder: bool) -> tuple[Member, ...]:
    together: dict[tuple[str, str, str], Member] = {}
    for member in members:
        key = (canonical_key(member.declaration.key), member.digest, member.root if by_folder else "")
        known = together.get(key)
        profiles = tuple(sorted({*(known.profiles if known else ()), *member.profiles}))
        together[key] = (known or member)._replace(profiles=profiles)
    return tuple(together[key] for key in sorted(together))


def with_member(members: Iterable[Member], member: Member) -> tuple[Member, ...]:
    """Return the union with a plugin in the profiles that it names, in place of what stood there under its key."""
    return joined([*without(members, (member.declaration.key,), member.profiles), member])


def without(members: Iterable[Member], keys: Iterable[str], profiles: Iterable[str]) -> tuple[Member, ...]:
    """Return the union without plugins in some profiles; in others they stay."""
    leaving, homes = {canonical_key(key) for key in keys}, set(profiles)
    staying = (
        member._replace(profiles=tuple(name for name in member.profiles if name not in homes))
        if canonical_key(member.declaration.key) in leaving
        else member
        for member in members
    )
    return tuple(member for member in staying if member.profiles)
