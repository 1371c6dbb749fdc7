"""Ways out of a refusal: what is proposed, in which order, with which exact text, and what it would change."""

import pytest

from admission import (
    Core,
    Demand,
    Exclusion,
    Facts,
    Owner,
    Policy,
    Question,
    Reason,
    Refused,
    Step,
    parse_requirement,
)
from admission.requirement import Origin
from admission.steps import proposals
from fixtures.ways_out import steps_of
from fixtures.worlds import World, candidate, page
from lockfiles import Artifact, Lock, Pin


def _facts(**versions: list[str]) -> Facts:
    """Return packages with versions that need nothing."""
    return Facts(
        {name: page(name, known) for name, known in versions.items()},
        {name: {version: candidate(name, version, []) for version in known} for name, known in versions.items()},
    )


_WRITTEN = Origin(Owner("plugin", "new"), "pyproject.toml", 1)


def _asked(world: World, candidate_key: str = "", policy: Policy | None = None) -> Question:
    return world.question(policy=policy or Policy())._replace(candidate=candidate_key)


def _told(steps: list[Step]) -> list[tuple[str, str, str, bool]]:
    return [(step.action, step.subject, step.value or step.after, step.confirmed) for step in steps]


def test_the_line_of_the_candidate_is_widened_to_what_the_core_pins() -> None:
    world = World(_facts(httpx=["0.27", "0.28.1", "0.29"]), (("core", "httpx==0.28.1"), ("new", "httpx >=0.29, <1")))
    assert steps_of(_asked(world, "new"), world.facts) == [
        Step(
            "widen",
            "new",
            origin=_WRITTEN,
            before="httpx >=0.29, <1",
            after="httpx >=0.28.1, <1",
            confirmed=True,
            effect=("+ httpx 0.28.1",),
        )
    ]


def test_name_extras_marker_and_their_quotes_stay_as_they_are_written() -> None:
    written = "HTTPX [Socks] (<0.28) ; python_version < '4'"
    world = World(_facts(httpx=["0.27", "0.28.1"]), (("core", "httpx==0.28.1"), ("new", written)))
    [step] = steps_of(_asked(world, "new"), world.facts)
    assert step.after == "HTTPX [Socks] (<0.29) ; python_version < '4'"


def test_a_bound_that_has_to_go_leaves_nothing_behind() -> None:
    world = World(_facts(a=["1"], b=["1"]), (("core", "a==1"), ("new", "a (!=1); python_version<'4'")))
    [step] = steps_of(_asked(world, "new"), world.facts)
    assert step.after == "a; python_version<'4'"


def test_the_line_of_the_candidate_comes_before_those_of_others_and_who_may_be_left_out_last() -> None:
    world = World(_facts(a=["1", "2", "3"]), (("old", "a<2"), ("new", "a>=2.5")))
    assert _told(steps_of(_asked(world, "new"), world.facts)) == [
        ("widen", "new", "a>=1", True),
        ("widen", "old", "a<4", True),
        ("leave-out", "old", "", True),
    ]


def test_nobody_is_left_out_of_a_set_to_let_the_candidate_in_but_the_others() -> None:
    world = World(_facts(a=["1", "2"]), (("old", "a==1"), ("new", "a==2"), ("far", "a")))
    assert [step.subject for step in steps_of(_asked(world, "new"), world.facts) if step.action == "leave-out"] == [
        "old"
    ]


def test_what_a_dry_run_refutes_is_not_offered() -> None:
    known = _facts(low=["1", "2"])
    facts = Facts(
        {**known.pages, "high": page("high", ["2", "3"])},
        {**known.candidates, "high": {v: candidate("high", v, ["low==2"]) for v in ("2", "3")}},
    )
    world = World(facts, (("core", "low==1"), ("new", "high>=3")))
    assert steps_of(_asked(world, "new"), facts) == []


def test_where_several_lines_are_in_the_way_they_are_widened_together() -> None:
    world = World(
        _facts(a=["1", "2"], b=["1", "2"], c=["1"]),
        (("core", "a==1"), ("core", "b==1"), ("new", "a>=2"), ("new", "b>=2"), ("new", "c<2")),
    )
    wide_a, wide_b = (
        Step("widen", "new", origin=_WRITTEN, before=f"{name}>=2", after=f"{name}>=1") for name in ("a", "b")
    )
    assert steps_of(_asked(world, "new"), world.facts) == [
        Step("together", "new", confirmed=True, effect=("+ a 1", "+ b 1", "+ c 1"), parts=(wide_a, wide_b))
    ]


def test_whoever_takes_one_kind_of_step_is_offered_another_of_that_kind_to_go_with_it() -> None:
    world = World(
        _facts(a=["1", "2"], b=["1", "2"]), (("ash", "a==1"), ("birch", "b==1"), ("new", "a>=2"), ("new", "b>=2"))
    )
    assert _parts(steps_of(_asked(world, "new"), world.facts)) == [
        ["widen new a>=1", "widen new b>=1"],
        ["widen ash a>=1,<=2", "widen birch b>=1,<=2"],
        ["leave-out ash", "leave-out birch"],
    ]


def test_a_wider_bound_and_a_consent_go_together() -> None:
    world = World(_facts(a=["1", "2"], b=["1", "2rc1"]), (("core", "a==1"), ("new", "a>=2"), ("new", "b!=1")))
    assert _parts(steps_of(_asked(world, "new"), world.facts)) == [
        ["widen new a>=1", "widen new b"],
        ["widen new a>=1", "allow-prerelease b"],
    ]


def test_what_only_shows_in_another_core_is_widened_with_it() -> None:
    world = World(_facts(a=["1", "2"]), (("core", "a==1"), ("new", "a<2")))
    asked = _asked(world, "new")
    [member] = asked.constraints.members
    declaration = member.declaration._replace(requires_core=">=2")
    constraints = asked.constraints._replace(members=(member._replace(declaration=declaration),))
    own = Origin(Owner("core", "demo-core"), "METADATA")
    core = Core("demo-core", "2.0", (parse_requirement("a==2", own),))
    assert _parts(steps_of(asked._replace(constraints=constraints), world.facts, cores=[core])) == [
        ["widen new a<3", "update-core demo-core demo-core==2.0"]
    ]


def test_nothing_superfluous_is_part_of_a_combination() -> None:
    world = World(
        _facts(a=["1", "2", "3"], b=["1", "2"]),
        (("core", "a==1"), ("ash", "a<3"), ("core", "b==1"), ("new", "a>=3"), ("new", "b==2")),
    )
    assert _parts(steps_of(_asked(world, "new"), world.facts)) == [["widen new a>=1", "widen new b>=1,<=2"]]


def test_a_build_is_no_part_of_a_combination_and_suggested_beside_it() -> None:
    known = _facts(a=["1", "2"], b=["1", "2"])
    out = {"1": Exclusion("build-needs-consent", "only a source distribution")}
    facts = known._replace(pages={**known.pages, "c": page("c", ["1"], out)})
    world = World(facts, (("core", "a==1"), ("new", "a==2"), ("new", "c")))
    assert _told(steps_of(_asked(world, "new"), facts)) == [("allow-build", "c", "", False)]


def _parts(steps: list[Step]) -> list[list[str]]:
    return [
        [f"{part.action} {part.subject} {part.value or part.after}".rstrip() for part in step.parts] for step in steps
    ]


def test_a_bound_of_a_package_further_down_is_not_the_authors_to_widen() -> None:
    known = _facts(low=["1", "2"])
    facts = Facts(
        {**known.pages, "high": page("high", ["1", "2"])},
        {**known.candidates, "high": {v: candidate("high", v, [f"low=={v}"]) for v in ("1", "2")}},
    )
    world = World(facts, (("core", "low==1"), ("new", "high>=2")))
    assert _told(steps_of(_asked(world, "new"), facts)) == [("widen", "new", "high>=1", True)]


@pytest.mark.parametrize(
    ("written", "instead"),
    [
        ("a", "a!=2.0"),
        ("A [x] >=1,<3; python_version < '4'", "A [x] >=1,<3,!=2.0; python_version < '4'"),
        ("a (>=1, <3)", "a (>=1, <3, !=2.0)"),
        ("a ; python_version<'4'", "a !=2.0; python_version<'4'"),
        ("a==2.0", "a!=2.0"),
        ("a === 2.0", "a !=2.0"),
        ("a==2.*", "a==2.*,!=2.0"),
        ("a>=2.0,==2.0", "a>=2.0,==2.0,!=2.0"),
    ],
)
def test_a_release_whose_file_is_broken_is_left_out_by_the_line_that_asks_for_it(written: str, instead: str) -> None:
    origin = Origin(Owner("plugin", "new"), "pyproject.toml", 1)
    demand = Demand(parse_requirement(written, origin), (written,))
    refused = Refused((Reason("invalid-wheel", "it is broken", package="a", demands=(demand,), broken="2.0"),))
    question = _asked(World(_facts(a=["1", "2.0"]), (("new", written),)), "new")
    [proposal] = proposals(question, refused)
    assert (proposal.step.action, proposal.step.before, proposal.step.after) == ("widen", written, instead)
    (changed,) = proposal.change(question).constraints.members[0].declaration.requirements
    assert changed == parse_requirement(instead, origin)
    assert list(proposals(question, refused, fixed=["new"])) == []


def test_newer_cores_are_tried_where_the_core_takes_part() -> None:
    world = World(_facts(a=["1", "2"]), (("core", "a==1"), ("new", "a>=2")))
    own = Origin(Owner("core", "demo-core"), "METADATA")
    cores = [
        Core("demo-core", version, (parse_requirement(text, own),), extras=("web",))
        for version, text in (("3.0", "a==1"), ("2.0", "a>=1"))
    ]
    assert _told(steps_of(_asked(world, "new"), world.facts, cores=cores)) == [
        ("widen", "new", "a>=1", True),
        ("update-core", "demo-core", "demo-core[web]==2.0", True),
    ]


def test_newer_cores_are_not_tried_where_plugins_alone_are_in_each_others_way() -> None:
    world = World(_facts(a=["1", "2"]), (("old", "a==1"), ("new", "a==2")))
    assert "update-core" not in [
        step.action for step in steps_of(_asked(world, "new"), world.facts, cores=[Core("demo-core", "2.0")])
    ]


def test_a_prerelease_is_allowed_by_name() -> None:
    facts = _facts(a=["1", "2rc1"])
    world = World(facts, (("new", "a>=1.5"),))
    assert _told(steps_of(_asked(world, "new"), facts)) == [
        ("widen", "new", "a>=1", True),
        ("allow-prerelease", "a", "", True),
    ]


def test_a_prerelease_is_allowed_where_only_it_suits_everybody() -> None:
    facts = _facts(a=["1", "1.7rc1", "2"])
    world = World(facts, (("core", "a<2"), ("new", "a>=1.5")))
    assert _told(steps_of(_asked(world, "new"), facts)) == [
        ("widen", "new", "a>=1", True),
        ("allow-prerelease", "a", "", True),
    ]


def test_the_quarantine_is_lifted_only_by_a_step_of_its_own() -> None:
    known = _facts(a=["1", "2"])
    uploaded = ("2026-01-01T00:00:00Z", "2026-03-01T00:00:00Z")
    facts = known._replace(pages={"a": known.pages["a"]._replace(uploaded=uploaded)})
    policy = Policy(exclude_newer="2026-02-01T00:00:00Z", not_after="2026-02-01T00:00:00Z")
    world = World(facts, (("new", "a>=2"),))
    assert _told(steps_of(_asked(world, "new", policy), facts)) == [
        ("widen", "new", "a>=1", True),
        ("allow-newer", "a", "off", True),
    ]


def test_a_build_is_a_suggestion_because_what_it_needs_is_only_known_afterwards() -> None:
    facts = Facts({"a": page("a", ["1"], {"1": Exclusion("build-needs-consent", "only a source distribution")})}, {})
    world = World(facts, (("new", "a"),))
    [step] = steps_of(_asked(world, "new"), facts)
    assert (step.action, step.confirmed, step.effect, step.when) == (
        "allow-build",
        False,
        (),
        "you trust its authors; its requirements are known only after the build",
    )


def test_a_build_is_suggested_where_wheels_are_for_other_machines_and_a_source_is_there() -> None:
    out = {version: Exclusion("no-wheel", "wheels are for cp311 on win_amd64") for version in ("1", "2")}
    facts = Facts({"a": page("a", ["1", "2"], out)._replace(buildable=0b01)}, {})
    world = World(facts, (("new", "a"),))
    assert _told(steps_of(_asked(world, "new"), facts)) == [("allow-build", "a", "", False)]
    other = World(facts, (("new", "a!=1"),))
    assert _told(steps_of(_asked(other, "new"), facts)) == []


def test_a_build_is_suggested_where_only_what_would_be_built_suits_everybody() -> None:
    known = _facts(a=["1", "2", "3"])
    out = {"2": Exclusion("build-needs-consent", "only a source distribution")}
    facts = known._replace(pages={"a": page("a", ["1", "2", "3"], out)})
    world = World(facts, (("core", "a<3"), ("new", "a>=1.5")))
    assert [step.action for step in steps_of(_asked(world, "new"), facts)] == ["widen", "allow-build"]


def test_no_build_is_thought_of_where_versions_that_need_none_suit_everybody() -> None:
    known = _facts(a=["1", "2"], low=["1", "2"])
    out = {"1": Exclusion("build-needs-consent", "only a source distribution")}
    facts = Facts(
        {**known.pages, "a": page("a", ["1", "2"], out)},
        {**known.candidates, "a": {"2": candidate("a", "2", ["low==2"])}},
    )
    world = World(facts, (("core", "low==1"), ("new", "a")))
    assert steps_of(_asked(world, "new"), facts) == []


def test_the_effect_is_told_against_what_is_locked_now() -> None:
    facts = _facts(a=["1", "2"], b=["1"], c=["1"])
    before = Lock(tuple(Pin(name, "1", Artifact(f"{name}.whl", "0" * 64), owners=()) for name in ("a", "b")))
    world = World(facts, (("old", "a==1"), ("new", "a==2"), ("new", "c")))
    steps = steps_of(_asked(world, "new"), facts, before=before)
    assert [(step.after or step.subject, step.effect) for step in steps] == [
        ("a>=1,<=2", ("+ c 1", "- b 1")),
        ("a>=1,<=2", ("+ c 1", "- b 1", "a 1 → 2")),
        ("old", ("+ c 1", "- b 1", "a 1 → 2")),
    ]


def test_a_plugin_of_which_nobody_can_change_a_line_gives_way_only_as_a_whole() -> None:
    world = World(_facts(a=["1", "2"]), (("old", "a==1"), ("new", "a==2")))
    asked, facts = _asked(world, "new"), world.facts
    assert [(s.action, s.subject) for s in steps_of(asked, facts, fixed={"new"})] == [
        ("widen", "old"),
        ("leave-out", "old"),
    ]
    assert [(s.action, s.subject) for s in steps_of(asked, facts, fixed={"new", "old"})] == [("leave-out", "old")]
