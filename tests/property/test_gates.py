"""Gates hold for every plugin that is admitted, and a demand on the core is judged alike whichever way it arrives."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from admission import (
    Admitted,
    ConstraintSet,
    Core,
    Declaration,
    Facts,
    Origin,
    Owner,
    Policy,
    Question,
    Refused,
    Requirement,
    UnionMember,
    decide,
    parse_requirement,
)
from fixtures.worlds import TARGET, candidate, page

HOST = "hermes-agent"
_VERSIONS = ["0.18.0", "0.19.0", "0.19.0.post1", "0.20.0.dev1", "0.20.0rc1", "0.20.0", "0.20.0+local.1", "1!0.1"]
_EXTRAS = ("all", "matrix", "voice")
_BOUNDS = [
    *("", ">=0.19", ">=0.20.0", "<0.20", "<0.20.0", "==0.20.0", "==0.20.*", "~=0.19.0", "!=0.20.0", "===0.19.0"),
    *(">0.19.0", "<=0.20.0", ">=0.18,<0.20", ">=99", "==0.20.0+local.1", ">=0.20.0.dev0", "==0.20.0rc1"),
]
_PYTHONS = ["", ">=3.11", "<3.11", ">=3.12", "==3.11.*", ">=3.11.7,<4"]


@st.composite
def cores(draw: st.DrawFn) -> Core:
    """Return a core with a name and a version of its own, that may speak for another version of the host."""
    offers = tuple(extra for extra in _EXTRAS if draw(st.booleans()))
    return Core(
        name=draw(st.sampled_from([HOST, "acme-core"])),
        version=draw(st.sampled_from(_VERSIONS)),
        speaks=draw(st.sampled_from(["", *_VERSIONS])),
        offers=offers,
        active=tuple(extra for extra in offers if draw(st.booleans())),
    )


@st.composite
def demands(draw: st.DrawFn, names: tuple[str, ...] = (HOST, "acme-core")) -> str:
    extras = sorted(draw(st.sets(st.sampled_from(_EXTRAS), max_size=2)))
    listed = f"[{','.join(extras)}]" if extras else ""
    return f"{draw(st.sampled_from(names))}{listed}{draw(st.sampled_from(_BOUNDS))}"


def _requirement(text: str, plugin: str = "ash") -> Requirement:
    return parse_requirement(text, Origin(Owner("plugin", plugin), "plugin.yaml", 4))


def _question(core: Core, *declarations: Declaration, candidate: str = "", policy: Policy = Policy()) -> Question:  # noqa: B008 - a value
    members = tuple(UnionMember(declaration) for declaration in declarations)
    return Question(ConstraintSet(core, members, TARGET, policy), candidate=candidate)


def _codes(question: Question, facts: Facts) -> set[str]:
    decision = decide(question, facts)
    assert isinstance(decision, Admitted | Refused)
    return {reason.code for reason in decision.reasons} if isinstance(decision, Refused) else set()


@given(cores(), demands())
def test_a_demand_on_the_core_is_judged_alike_from_a_plugin_and_through_a_distribution(core: Core, demand: str) -> None:
    asked = _requirement(demand)
    if asked.name not in (core.name, HOST):
        return  # the name of a package of an index
    direct = _question(core, Declaration("ash", "ash", gates=(asked,)))
    through = _question(core, Declaration("ash", "ash", requirements=(_requirement("through"),)))
    facts = Facts({"through": page("through", ["1"])}, {"through": {"1": candidate("through", "1", [demand])}})
    assert _codes(direct, facts) == _codes(through, facts)


def _holds(core: Core, asked: Requirement) -> bool:
    """Judge a gate as it is defined, in words of its own."""
    own = asked.name == core.name and core.name != HOST
    version = core.version if own else (core.speaks or core.version)
    spoken = {version, Version(version).base_version} if Version(version).is_devrelease else {version}
    fits = any(SpecifierSet(asked.specifier).contains(each, prereleases=True) for each in spoken)
    return fits and set(asked.extras) <= set(core.active)


@st.composite
def declarations(draw: st.DrawFn, key: str) -> Declaration:
    """Return a plugin with gates of every kind, in which nothing has to be resolved."""
    return Declaration(
        key=key,
        name=key,
        requires_python=draw(st.sampled_from(_PYTHONS)),
        requires_core=draw(st.sampled_from(["", "", *_BOUNDS])),
        gates=tuple(_requirement(text, key) for text in draw(st.lists(demands((HOST,)), max_size=2))),
    )


@given(cores(), declarations("ash"), declarations("elm"), st.sampled_from(["", "ash", "elm"]))
def test_a_set_is_admitted_exactly_if_the_gates_of_every_member_hold(
    core: Core, ash: Declaration, elm: Declaration, candidate: str
) -> None:
    gates = [gate for each in (ash, elm) for gate in (*each.gates, _requirement(HOST + each.requires_core))]
    pythons = [SpecifierSet(each.requires_python).contains(TARGET.python) for each in (ash, elm)]
    decision = decide(_question(core, ash, elm, candidate=candidate), Facts({}, {}))
    assert isinstance(decision, Admitted) == (all(pythons) and all(_holds(core, gate) for gate in gates))


# -- addresses

_ADDRESS = f"x @ https://files.example.invalid/x-VERSION-py3-none-any.whl#sha256={'0' * 64}"
_RELEASES = ["1", "2", "2rc1", "3"]
_ON_X = ["x", "x>=2", "x<2", "x==3", "x!=2", "x==2rc1", "x>=2rc1", "through", "through>=2"]


def _with_an_index(version: str, released: list[str]) -> Facts:
    """Return facts of an index that has releases of `x`, and of an address that leads to one version."""
    address = f"{_ADDRESS.replace('VERSION', version)}"
    there = candidate("x", version, [])
    there = there._replace(artifact=there.artifact._replace(url="https://files.example.invalid/x"))
    return Facts(
        {
            "x": page("x", released),
            "through": page("through", ["1", "2"]),
            address: page(address, [version]),
        },
        {
            "x": {each: candidate("x", each, []) for each in released},
            "through": {"1": candidate("through", "1", ["x<2"]), "2": candidate("through", "2", ["x>=2"])},
            address: {version: there},
        },
    )


def _plugins(version: str, demands: list[str]) -> list[Declaration]:
    texts = {"addressed": _ADDRESS.replace("VERSION", version), **{f"p{i}": text for i, text in enumerate(demands)}}
    return [
        Declaration(key=key, name=key, requirements=(_requirement(text, key),)) for key, text in sorted(texts.items())
    ]


def _accepts(demand: str, version: str) -> bool:
    bounds = {"through": ["<2", ">=2"], "through>=2": [">=2"]}.get(demand, [demand.removeprefix("x")])
    return any(SpecifierSet(each).contains(version, prereleases=True) for each in bounds)


@given(
    st.sampled_from(_RELEASES),
    st.lists(st.sampled_from(_RELEASES), min_size=1, unique=True),
    st.lists(st.sampled_from(_ON_X), max_size=3),
    st.sampled_from([Policy(), Policy(allow_direct_urls=("addressed",))]),
)
def test_an_address_never_becomes_a_release_of_an_index(
    version: str, released: list[str], on_x: list[str], policy: Policy
) -> None:
    facts, members = _with_an_index(version, released), _plugins(version, on_x)
    question = _question(Core("demo-core", "1"), *members, policy=policy)
    decision = decide(question, facts)
    if not policy.allow_direct_urls:
        assert isinstance(decision, Refused)
        assert {reason.code for reason in decision.reasons} == {"direct-url"}
        return
    assert isinstance(decision, Admitted) == all(_accepts(demand, version) for demand in on_x)
    if isinstance(decision, Admitted):
        assert [pin.artifact.url for pin in decision.lock.pins if pin.name == "x"] == [
            "https://files.example.invalid/x"
        ]
        return
    assert isinstance(decision, Refused)
    for reason in decision.reasons:
        named = {demand.requirement.origin.owner.name for demand in reason.demands}
        alone = [member for member in members if member.key in named]
        rest = question._replace(constraints=question.constraints._replace(members=tuple(map(UnionMember, alone))))
        assert isinstance(decide(rest, facts), Refused)
