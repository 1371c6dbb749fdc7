"""A refusal's sentence is true of every release that it speaks of, and says of the others what is in their way."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence

import pytest

from admission import Exclusion, Facts, Policy, Reason, Refused, decide
from admission.gates import root_requirements
from admission.obstacles import ObstacleSearch
from admission.universe import Arc, Universe, roots_of
from fixtures.worlds import World, candidate, page

Releases = Mapping[str, Sequence[str]]
ADDRESS = "it asks for `boto @ https://files.example.invalid/boto.whl`, a direct address, which is never followed"


def _facts(**packages: Releases) -> Facts:
    return Facts(
        {name: page(name, list(releases)) for name, releases in packages.items()},
        {
            name: {version: candidate(name, version, list(requires)) for version, requires in releases.items()}
            for name, releases in packages.items()
        },
    )


def _with(facts: Facts, name: str, version: str, **fields: object) -> Facts:
    """Return facts in which one release is another one."""
    known = facts.candidates[name]
    return facts._replace(
        candidates={**facts.candidates, name: {**known, version: known[version]._replace(**fields)}},  # type: ignore[arg-type] # fields of a candidate
    )


def _refused(facts: Facts, *roots: tuple[str, str], policy: Policy = Policy()) -> tuple[Reason, ...]:  # noqa: B008 - a value
    decision = decide(World(facts, roots).question(policy=policy), facts)
    assert isinstance(decision, Refused)
    return decision.reasons


# -- what every release has, and what only some have

_WHY = {
    "1.0": Exclusion("no-wheel", ""),
    "1.1": Exclusion("python-version", ">=3.12"),
    "1.2": Exclusion("yanked-only", ""),
    "1.3": Exclusion("build-needs-consent", ""),
}


@pytest.mark.parametrize(
    ("versions", "code", "said"),
    [
        (
            ["1.0", "2.0rc1"],
            "prerelease-only",
            "2.0rc1 is a pre-release and 1.0 has no wheel for this target",
        ),
        (
            ["1.0", "1.1"],
            "python-version",
            "1.1 requires another Python and 1.0 has no wheel for this target",
        ),
        (
            ["1.2", "1.3", "2.0rc1", "2.0rc2"],
            "prerelease-only",
            "2.0rc2 and 2.0rc1 are pre-releases, 1.3 is a source distribution only and 1.2 is yanked",
        ),
        (
            ["1.2", "2.0rc1", "2.0rc2", "2.0rc3"],
            "prerelease-only",
            "3 releases are pre-releases and 1.2 is yanked",
        ),
    ],
)
def test_what_only_some_releases_have_is_not_said_of_all(versions: list[str], code: str, said: str) -> None:
    known = page("x", [*versions, "3.1"], {version: _WHY[version] for version in versions if version in _WHY})
    facts = Facts({"x": known}, {"x": {version: candidate("x", version, []) for version in (*versions, "3.1")}})
    [reason] = _refused(facts, ("a", "x<3"))
    assert (reason.code, reason.message) == (code, f"no release of `x` that satisfies `x<3` can be chosen: {said}")


def test_a_quarantine_is_not_said_to_keep_out_what_is_yanked() -> None:
    known = page("x", ["1", "2"], {"1": Exclusion("yanked-only", "")})
    known = known._replace(uploaded=("2024-01-01T00:00:00Z", "2025-01-01T00:00:00Z"))
    facts = Facts({"x": known}, {"x": {version: candidate("x", version, []) for version in ("1", "2")}})
    [reason] = _refused(facts, ("a", "x"), policy=Policy(exclude_newer="x", not_after="2024-06-01T00:00:00Z"))
    assert reason.message == (
        "no release of `x` that satisfies `x` can be chosen: 2 is newer than `pm.exclude_newer` allows and 1 is yanked"
    )


# -- metadata that keeps releases out


def test_a_release_that_cannot_be_used_is_named_with_its_package() -> None:
    facts = _with(_facts(through={"1": ["x"]}, x={"1": []}), "x", "1", invalid="its metadata has no `Name`")
    [reason] = _refused(facts, ("a", "through"))
    assert (reason.code, reason.package, reason.message) == (
        "no-matching-version",
        "x",
        "no release of `x` that satisfies `x` can be used: 1 because its metadata has no `Name`",
    )
    assert [demand.chain for demand in reason.demands] == [("through", "x")]
    assert reason.available == (("1", "matches, but cannot be used, because its metadata has no `Name`"),)


def test_an_extra_that_cannot_be_had_is_no_unreadable_metadata() -> None:
    facts = _facts(x={"1": [], "2": []})
    for version in ("1", "2"):
        facts = _with(facts, "x", version, broken=(("far", ADDRESS),))
    [reason] = _refused(facts, ("a", "x[far]"))
    assert reason.message == f"no release of `x` that satisfies `x[far]` can be used: the newest, 2, because {ADDRESS}"
    assert reason.available == (("2, 1", f"matches, but cannot be used, because {ADDRESS}"),)


def test_a_release_that_can_be_read_is_not_said_to_be_unreadable() -> None:
    facts = _with(_facts(x={"1": ["y>=2"], "2": []}, y={"1": []}), "x", "2", invalid="its metadata has no `Name`")
    [reason] = _refused(facts, ("a", "x"))
    assert (reason.code, reason.message) == (
        "conflict",
        "no version of `x` satisfies everything that `x` of `a` requires",
    )
    assert reason.available == (
        ("2", "matches, but cannot be used, because its metadata has no `Name`"),
        ("1", "matches, but requires `y>=2`, and no release of `y` satisfies `y>=2`"),
    )


def test_an_unreadable_release_that_two_demands_meet_at_is_not_said_of_what_only_one_accepts() -> None:
    facts = _facts(x={"1": [], "2": [], "3": []})
    facts = _with(facts, "x", "2", invalid="its metadata has no `Name`")
    [reason] = _refused(facts, ("a", "x>=2"), ("b", "x<3"))
    assert (reason.code, reason.message) == ("conflict", "no version of `x` satisfies `a` and `b` together")
    assert reason.available == (
        ("3", "excluded by `x<3`"),
        ("2", "matches, but cannot be used, because its metadata has no `Name`"),
        ("1", "excluded by `x>=2`"),
    )


# -- a chain that not every version takes


@pytest.mark.parametrize(
    ("old", "beside"),
    [
        (["z<1"], "; `x` 1 does not require `y>=9`, but requires `z<1`, and no release of `z` satisfies `z<1`"),
        (["w"], "; `x` 1 does not require `y>=9`, but requires `w`, and `w` 1 requires `x>=2`, and `x` 1 is not that"),
        (["y>=9"], ""),
        (["y>=8"], ""),
    ],
)
def test_what_is_in_the_way_of_releases_that_do_without_is_said(old: list[str], beside: str) -> None:
    facts = _facts(x={"1": old, "2": ["y>=9"]}, y={"1": []}, w={"1": ["x>=2"]}, z={"1": []})
    [reason] = _refused(facts, ("a", "x"))
    assert reason.message == f"no release of `y` satisfies `y>=9`{beside}"


def test_of_many_releases_that_do_without_the_newest_is_told() -> None:
    old = {f"1.{number}": ["z>=2"] for number in range(30)}
    facts = _facts(x={**old, "2.0": ["y>=2"]}, y={"1": [], "2": []}, z={"1": [], "2": []})
    [reason] = _refused(facts, ("core", "y<2"), ("core", "z<2"), ("a", "x"))
    assert reason.message == (
        "no version of `y` satisfies `a` and the core together; of 30 releases of `x` that do not require `y>=2`, "
        "the newest, 1.29, requires `z>=2`, and the core requires `z<2`"
    )


class _Counting(Universe):
    """A universe that counts how often the requirements of a version are looked at."""

    looked = 0

    def arcs_on(self, names: Container[str], name: str, position: int, extra: str = "") -> Iterable[Arc]:
        self.looked += 1
        return super().arcs_on(names, name, position, extra)


def test_what_is_in_the_way_is_looked_for_at_each_package_a_few_times_only() -> None:
    layers = {
        f"l{depth}-{number}": {"1": [f"l{depth + 1}-{other}" for other in range(8)] if depth < 6 else []}
        for depth in range(1, 7)
        for number in range(8)
    }
    facts = _facts(**layers)
    question = World(facts, (("a", "l1-0"),)).question()
    universe = _Counting(facts, question.constraints, roots_of(root_requirements(question.constraints)), {})
    assert ObstacleSearch(universe, {}).obstacle("l1-0", 0) is None
    assert universe.looked < 2 * len(layers)
