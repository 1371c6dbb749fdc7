"""`ConstraintSet` and `Question`: the whole input of a decision, as values."""

import hashlib
import json
from collections.abc import Mapping
from typing import NamedTuple

from admission.declaration import Declaration
from admission.requirement import Origin, Requirement
from admission.target import Target
from lockfiles import Pin


class Core(NamedTuple):
    """The host that plugins must fit."""

    name: str
    """Normalised distribution name."""
    version: str
    requirements: tuple[Requirement, ...] = ()
    """Its own, and those of the extras that were chosen (their origin's owner is `core-extra:NAME`)."""
    requires_python: str = ""
    preferences: Mapping[str, str] = {}
    """Package → specifier that any extra or the core's own lock gives: preferred for the whole set, never binding."""
    speaks: str = ""
    """The version that answers to `requires_hermes`; empty means `version`."""
    pin: Pin | None = None
    """The core itself as it stands in the lock; `None` for a project folder, which is not built."""
    extras: tuple[str, ...] = ()
    """As they were chosen, sorted."""
    active: tuple[str, ...] = ()
    """The extras that count, sorted: those that were chosen, and those that these ask for."""
    offers: tuple[str, ...] = ()
    """All extras that it has, sorted."""

    @property
    def gate_version(self) -> str:
        return self.speaks or self.version


class UnionMember(NamedTuple):
    """A plugin that is, or would be, part of the union."""

    declaration: Declaration
    profiles: tuple[str, ...] = ()
    """Names of the profiles that enable it, sorted."""
    digest: str = ""
    """`declaration_digest` of the declaration, where it is known already; empty otherwise."""


EVERY_PLUGIN = "*"
"""In a consent that names plugins: all of them."""


class Policy(NamedTuple):
    """What the operator consented to, and the rules of the index."""

    prerelease: str = "default"
    """`default` or `direct-opt-in` (docs/explanation/how-it-decides.md)."""
    allow_prerelease: tuple[str, ...] = ()
    allow_build: tuple[str, ...] = ()
    allow_collision: tuple[str, ...] = ()
    """Distributions that may write the same files as others, with other content."""
    allow_direct_urls: tuple[str, ...] = ()
    """Keys of plugins, in any spelling, that may name wheels by their addresses; or `EVERY_PLUGIN`."""
    exclude_newer: str = ""
    """The setting as written: `` (off), a span such as `14 days`, or an instant."""
    not_after: str = ""
    """The instant that the setting means for this decision (ISO 8601, UTC); empty without quarantine."""
    indexes: tuple[str, ...] = ()
    """Addresses of indexes and folders without credentials, in order."""

    def may_name_addresses(self, key: str) -> bool:
        """Say whether a plugin's requirements may name wheels by their addresses."""
        return EVERY_PLUGIN in self.allow_direct_urls or _plain(key) in map(_plain, self.allow_direct_urls)


class ConstraintSet(NamedTuple):
    """The union: the core, every enabled plugin of every profile, and the candidate."""

    core: Core
    members: tuple[UnionMember, ...]
    """Sorted by key."""
    target: Target
    policy: Policy

    @property
    def fingerprint(self) -> str:
        """The digest of everything that can change the verdict; not of paths, order or comments."""
        value = {
            "core": [
                self.core.name,
                self.core.version,
                self.core.requires_python,
                self.core.gate_version,
                list(self.core.extras),
                list(self.core.active),
                list(self.core.offers),
            ],
            "roots": sorted({(str(r.origin.owner), r.canonical) for r in self.core.requirements}),
            "preferences": sorted(self.core.preferences.items()),
            "members": sorted(member.digest or declaration_digest(member.declaration) for member in self.members),
            "target": [self.target.name, self.target.python, [list(pair) for pair in self.target.environment]],
            "policy": [
                self.policy.prerelease,
                sorted(self.policy.allow_prerelease),
                sorted(self.policy.allow_build),
                # a fingerprint from before plugins could be named here is still that of the same inputs
                EVERY_PLUGIN in self.policy.allow_direct_urls or sorted(self.policy.allow_direct_urls) or False,
                self.policy.exclude_newer,
                list(self.policy.indexes),
                # a fingerprint from before this consent existed is still that of the same inputs
                *([sorted(self.policy.allow_collision)] if self.policy.allow_collision else []),
            ],
        }
        return _digest(value)


class Question(NamedTuple):
    """What `decide` is asked."""

    constraints: ConstraintSet
    candidate: str = ""
    """Key of the member that is judged; empty when the whole set is."""
    pins: Mapping[str, str] = {}
    """Name → version of the current lock: kept wherever they fit."""
    budget: int = 10_000
    """Rounds of search before the answer is `Undecided`."""
    frozen: bool = False
    """Explain a refusal from the facts that are there instead of asking for more (`Need` with purpose `proof`)."""


def declaration_digest(declaration: Declaration) -> str:
    """Digest the canonical declaration: key, kind, requirements, gates, `requires-python`; not its description."""
    return _digest(
        {
            "key": _plain(declaration.key),
            "kind": declaration.kind,
            "requires_python": declaration.requires_python,
            "requires_core": declaration.requires_core,
            "external": declaration.external,
            "requirements": sorted({requirement.canonical for requirement in declaration.requirements}),
            "gates": sorted({requirement.canonical for requirement in declaration.gates}),
            "exempt": sorted(declaration.exempt),
            "problems": sorted({(p.code, p.message) for p in declaration.problems}),
        }
    )


def _plain(key: str) -> str:
    return key.lower().replace("_", "-").replace(".", "-")


def _digest(value: object) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


__all__ = ["EVERY_PLUGIN", "ConstraintSet", "Core", "Origin", "Policy", "Question", "UnionMember", "declaration_digest"]
