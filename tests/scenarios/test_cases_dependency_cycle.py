"""Packages and plugins that need each other in a circle are decided like all others, and a broken circle is shown."""

from __future__ import annotations

from admission import Admitted, Facts, Refused, decide
from fixtures.worlds import World, candidate, page


def world(releases: dict[str, dict[str, list[str]]], *roots: tuple[str, str]) -> World:
    """Return a world from package → version → what it needs."""
    candidates = {
        name: {version: candidate(name, version, needs) for version, needs in versions.items()}
        for name, versions in releases.items()
    }
    return World(Facts({name: page(name, list(versions)) for name, versions in releases.items()}, candidates), roots)


def decided(small: World, budget: int = 2_000) -> dict[str, str] | list[tuple[str, list[tuple[str, ...]]]]:
    """Return the versions that were admitted, or of each reason the code and the chains."""
    decision = decide(small.question()._replace(budget=budget), small.facts)
    if isinstance(decision, Admitted):
        return decision.lock.versions()
    assert isinstance(decision, Refused)
    return [(reason.code, [demand.chain for demand in reason.demands]) for reason in decision.reasons]


def ring(length: int, last: str = "") -> dict[str, dict[str, list[str]]]:
    """Return packages each of which needs the next, and the last the first; `last` is what it asks of that."""
    packages: dict[str, dict[str, list[str]]] = {f"p{i}": {"1": [f"p{i + 1}"]} for i in range(length - 1)}
    return packages | {f"p{length - 1}": {"1": [f"p0{last}"]}}


def test_two_packages_that_need_each_other_are_admitted_together() -> None:
    """Case dependency-cycle-01."""
    both = {"quark-a": {"1": ["quark-b"]}, "quark-b": {"1": ["quark-a"]}}
    expected = {"quark-a": "1", "quark-b": "1"}
    assert decided(world(both, ("a", "quark-a"))) == expected
    assert decided(world(both, ("b", "quark-b"))) == expected
    assert decided(world(both, ("a", "quark-b"), ("b", "quark-a"))) == expected


def test_a_circle_that_asks_for_another_version_of_its_beginning_is_refused_and_shown() -> None:
    """Case dependency-cycle-01, where it cannot be closed."""
    broken = {"quark-a": {"1": ["quark-b"], "2": []}, "quark-b": {"1": ["quark-a>=2"]}}
    assert decided(world(broken, ("a", "quark-a==1"))) == [
        ("conflict", [("quark-a==1",), ("quark-a==1", "quark-b", "quark-a>=2")]),
    ]
    assert decided(world(broken, ("a", "quark-a"))) == {"quark-a": "2"}


def test_a_circle_of_three_ends_for_every_beginning() -> None:
    """Case dependency-cycle-03."""
    expected = {"p0": "1", "p1": "1", "p2": "1"}
    assert [decided(world(ring(3), ("a", f"p{i}"))) for i in range(3)] == [expected] * 3


def test_a_circle_of_five_hundred_packages_takes_no_more_rounds_than_it_has_packages() -> None:
    """Case dependency-cycle-03: the effort grows with the number of packages and not faster."""
    assert decided(world(ring(500), ("a", "p0")), budget=501) == {f"p{i}": "1" for i in range(500)}
    reasons = decided(world(ring(500, last=">=2"), ("a", "p0")), budget=501)
    assert reasons == [("no-matching-version", [(*("p0", *(f"p{i}" for i in range(1, 500))), "p0>=2")])]


def test_a_circle_through_extras_and_one_of_a_package_with_itself_end_too() -> None:
    plain: dict[str, dict[str, list[str]]] = {"web": {"1": []}, "client": {"1": ["web"]}}
    circle = world(plain, ("a", "web[client]"))
    web = {"1": candidate("web", "1", [], {"client": ["client", "web[client]"]})}
    circle = circle._replace(facts=circle.facts._replace(candidates={**circle.facts.candidates, "web": web}))
    assert decided(circle) == {"client": "1", "web": "1"}
    assert decided(world({"own": {"1": ["own>=1"]}}, ("a", "own"))) == {"own": "1"}
    assert decided(world({"own": {"1": ["own>=2"], "2": ["own<2"]}}, ("a", "own"))) == [
        ("conflict", [("own",)]),
    ]


def test_in_a_circle_the_older_version_is_found_that_a_search_alone_does_not_find() -> None:
    small = {"p0": {"3": ["p2"]}, "p2": {"2": ["p0", "p3==1"]}, "p3": {"1": [], "2": ["p2>=1"]}}
    assert decided(world(small, ("a", "p3"))) == {"p3": "1"}
