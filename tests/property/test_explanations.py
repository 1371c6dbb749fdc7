"""What a refusal says of every release that a requirement accepts is true of every one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from admission import Policy, Reason, Refused, decide
from fixtures.brute_force import is_prerelease, satisfies
from fixtures.worlds import World, spoiled_world

_OF_RELEASES = frozenset({"prerelease-only", "yanked-only", "quarantined", "no-wheel", "python-version"})


def _fate(world: World, name: str, position: int) -> str:
    """Return why a version may not be chosen as it comes, in the words of a code; empty if it may."""
    page = world.facts.pages[name]
    code = page.excluded[position].code if position in page.excluded else ""
    if code not in ("", "yanked-only"):
        return code
    if world.not_after and page.uploaded and page.uploaded[position] > world.not_after and name not in world.held:
        return "quarantined"
    return code or ("prerelease-only" if is_prerelease(page.versions[position]) else "")


def _fates(world: World, reason: Reason) -> set[str]:
    """Return the fates of all versions that the demand accepts of which a reason's message speaks."""
    ends = [demand.chain[-1] for demand in reason.demands]
    asked = Requirement(next((end for end in ends if f"`{end}`" in reason.message), ends[0]))
    name, versions = canonicalize_name(asked.name), world.facts.pages[reason.package].versions
    accepted = (i for i, version in enumerate(versions) if satisfies(str(asked.specifier), version))
    return {_fate(world, name, position) for position in accepted}


@given(st.integers(0, 2**32), st.sampled_from(["default", "direct-opt-in"]))
def test_what_is_said_of_every_release_is_true_of_every_one(seed: int, policy: str) -> None:
    world = spoiled_world(seed)
    decision = decide(world.question(policy=Policy(prerelease=policy)), world.facts)
    reasons = [r for r in (decision.reasons if isinstance(decision, Refused) else ()) if r.code in _OF_RELEASES]
    told = [(reason.code, " can be chosen: " in reason.message, _fates(world, reason)) for reason in reasons]
    assert [fates for code, _, fates in told if code not in fates or "" in fates] == []
    assert [fates for code, is_counted, fates in told if (fates == {code}) is is_counted] == []
