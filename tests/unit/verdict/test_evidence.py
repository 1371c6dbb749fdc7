"""What a verdict rested on is written down so that it can be decided again, and holds nothing that is not needed."""

import json

import pytest

from admission import (
    Admitted,
    Core,
    Decision,
    Declaration,
    Exclusion,
    Facts,
    Origin,
    Owner,
    Policy,
    Problem,
    Question,
    Refused,
    UnionMember,
    decide,
    parse_requirement,
)
from fixtures.evidence import evidence
from fixtures.worlds import World, candidate, page
from lockfiles import Artifact, Pin
from pm.errors import PmError
from pm.receipts.store import facts_digest
from pm.verdict.evidence import read_evidence

CORE = Origin(Owner("core", "demo-core"), "METADATA")
WEB = Origin(Owner("core-extra", "web"), "METADATA")
FACTS = Facts(
    {
        "a": page(
            "a", ["1", "2", "3rc1"], {"1": Exclusion("yanked-only", "broken on 日曜日"), "2": Exclusion("no-wheel", "")}
        ),
        "b": page("b", ["1.0", "1.0+local", "2!1"]),
        "gone": page("gone", []),
        "odd": page("odd", ["1"]),
        "stranger": page("stranger", ["1"]),
        "source": page("source", ["1", "2"], dict.fromkeys(("1", "2"), Exclusion("no-wheel", "")))._replace(
            buildable=2
        ),
    },
    {
        "a": {
            "1": candidate("a", "1", ["b>=1; python_version > '3'"], {"x": ["gone"]}),
            "3rc1": candidate("a", "3rc1", []),
        },
        "b": {"1.0": candidate("b", "1.0", []), "2!1": candidate("b", "2!1", ["demo-core>=1"])},
        "odd": {"1": candidate("odd", "1", [])._replace(invalid="`odd 1` asks for `b (<2.0de)`")},
        "stranger": {"1": candidate("stranger", "1", [])},
    },
)


def question(*texts: str, policy: Policy | None = None) -> Question:
    asked = World(FACTS, tuple(("new", text) for text in texts)).question(policy=policy or Policy())
    return asked._replace(candidate="new")


def again(asked: Question, facts: Facts = FACTS) -> Decision:
    return decide(*read_evidence(evidence(asked, facts)))


def refusal(asked: Question) -> tuple[Refused, Decision]:
    """Return a refusal and what is decided from its evidence."""
    decision = decide(asked._replace(frozen=True), FACTS)
    assert isinstance(decision, Refused)
    return decision, again(asked)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a<2", "yanked-only"),
        ("a", "prerelease-only"),
        ("a==2", "no-wheel"),
        ("source", "no-wheel"),
        ("a==3", "no-matching-version"),
        ("a>=3rc1,<3rc1", "no-matching-version"),
        ("gone", "not-found-on-index"),
        ("odd", "no-matching-version"),
        ("a[x]==1", "not-found-on-index"),
    ],
)
def test_a_refusal_is_the_same_to_its_last_word(text: str, code: str) -> None:
    decision, repeated = refusal(question(text))
    assert [reason.code for reason in decision.reasons] == [code]
    assert repeated == decision


def test_all_that_a_core_says_is_kept() -> None:
    pin = Pin("demo-core", "1.0", Artifact("demo_core-1.0-py3-none-any.whl", "0" * 64, path="core.whl"))
    core = Core(
        "demo-core",
        "1.0",
        (parse_requirement("b==1.0", CORE), parse_requirement("a==1; python_version > '3'", WEB)),
        requires_python=">=3.11",
        preferences={"b": "==1.0"},
        speaks="0.19.0",
        pin=pin,
        extras=("web",),
    )
    asked = question("b")
    asked = asked._replace(constraints=asked.constraints._replace(core=core), pins={"b": "1.0"}, budget=77)
    repeated, _ = read_evidence(evidence(asked, FACTS))
    assert repeated == asked._replace(frozen=True)


def test_all_that_members_and_the_operator_say_is_kept() -> None:
    own = Origin(Owner("plugin", "memory/odd"), "pyproject.toml", 7, "project.dependencies")
    declaration = Declaration(
        key="memory/odd",
        name="Odd 日",
        kind="exclusive",
        requirements=(parse_requirement("b [x,y] >=1; python_version > '3'", own),),
        requires_python=">=3.11",
        requires_core=">=0.19",
        gates=(parse_requirement("demo-core>=1", own),),
        exempt=("b",),
        notes=(Problem("undeclared-import", "it imports `z`", "__init__.py", 3, 5),),
    )
    policy = Policy(
        allow_prerelease=("a",),
        allow_build=("odd",),
        exclude_newer="14 days",
        not_after="2026-01-01T00:00:00Z",
        indexes=("http://127.0.0.1/simple",),
    )
    asked = question("b", policy=policy)
    members = (UnionMember(declaration, ("default", "work"), "sha256:1"), *asked.constraints.members)
    asked = asked._replace(constraints=asked.constraints._replace(members=members))
    repeated, _ = read_evidence(evidence(asked, FACTS))
    assert repeated == asked._replace(frozen=True)


def test_only_what_was_looked_at_is_written_and_no_file_of_an_index() -> None:
    text = evidence(question("b"), FACTS)
    value = json.loads(text)
    assert (list(value["pages"]), list(value["candidates"])) == (["b"], ["b"])
    assert "127.0.0.1" not in text
    assert "0" * 64 not in text


def test_times_of_uploads_are_written_only_where_they_decide() -> None:
    uploaded = ("2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z")
    facts = FACTS._replace(pages={**FACTS.pages, "b": FACTS.pages["b"]._replace(uploaded=uploaded)})
    policy = Policy(exclude_newer="2026-01-15T00:00:00Z", not_after="2026-01-15T00:00:00Z")
    repeated = again(question("b", policy=policy), facts)
    assert isinstance(repeated, Admitted)
    assert repeated.lock.versions() == {"b": "1.0"}
    assert "2026" not in evidence(question("b"), facts)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        "null",
        '{"schema": 2}',
        '{"schema": 1}',
        '{"schema": 1, "pages": {"a": "1"}, "candidates": {}, "question": {}}',
        '{"schema": 1, "pages": {}, "candidates": {"a": {"1": "[]"}}, "question": {}}',
        '{"schema": 1, "pages": [], "candidates": [], "question": []}',
        "[" * 100_000,
    ],
)
def test_any_other_text_is_invalid_evidence(text: str) -> None:
    with pytest.raises(PmError) as caught:
        read_evidence(text)
    assert caught.value.code == "invalid-evidence"


@pytest.mark.parametrize(
    "files",
    [
        {},
        [],
        {"distributions": 1, "standard_modules": []},
        {"distributions": {"b": 1}, "standard_modules": []},
        {"distributions": {"b": {}}},
    ],
)
def test_damaged_files_are_invalid_evidence(files: object) -> None:
    value = json.loads(evidence(question("b"), FACTS))
    with pytest.raises(PmError) as caught:
        read_evidence(json.dumps(value | {"files": files}))
    assert caught.value.code == "invalid-evidence"


def test_a_digest_tells_another_text() -> None:
    text = evidence(question("b"), FACTS)
    assert facts_digest(text) != facts_digest(f"{text} ")
