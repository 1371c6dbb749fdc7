"""A plugin that is a package: its metadata is its declaration."""

from __future__ import annotations

from admission import Declaration, Origin, Owner, Problem, Requirement
from pm.reading import read_distribution

METADATA = """\
Metadata-Version: 2.4
Name: Apify_Hermes.plugin
Version: 0.1.4
Summary: runs actors
Requires-Python: >=3.11
Requires-Dist: hermes-agent>=0.15.1
Requires-Dist: apify-client<4,>=3.0.1
Requires-Dist: httpx>=0.27; sys_platform
  == "linux"
Requires-Dist: pytest; extra == 'dev'
Requires-Dist: hermes-agent[all]; extra == "full"
Provides-Extra: dev
Provides-Extra: full

Requires-Dist: in-the-body
"""


def test_requirements_of_a_distribution_are_its_declaration() -> None:
    owner = Owner("plugin", "Apify_Hermes-plugin")
    expected = Declaration(
        key="Apify_Hermes-plugin",
        name="Apify_Hermes.plugin",
        version="0.1.4",
        description="runs actors",
        requirements=(
            Requirement(
                "apify-client",
                Origin(owner, "METADATA", 7, "Requires-Dist"),
                "<4,>=3.0.1",
                text="apify-client<4,>=3.0.1",
            ),
            Requirement(
                "httpx",
                Origin(owner, "METADATA", 8, "Requires-Dist"),
                ">=0.27",
                marker='sys_platform == "linux"',
                text='httpx>=0.27; sys_platform == "linux"',
            ),
        ),
        requires_python=">=3.11",
        gates=(
            Requirement(
                "hermes-agent",
                Origin(owner, "METADATA", 6, "Requires-Dist"),
                ">=0.15.1",
                text="hermes-agent>=0.15.1",
            ),
        ),
        notes=(
            Problem(
                "optional-dependencies-not-installed",
                "optional dependencies are not installed: extra `dev`, extra `full`",
                "METADATA",
                12,
                key="Provides-Extra",
            ),
        ),
    )
    assert read_distribution(METADATA, core_names=frozenset({"hermes-agent"})) == expected


def test_an_old_form_of_bounds_is_read_with_its_obvious_correction() -> None:
    """Case invalid-specifier-07: lenient for what an index serves."""
    declaration = read_distribution("Name: x\nRequires-Python: >=3.6.*\n", core_names=frozenset())
    assert (declaration.requires_python, declaration.problems) == (">=3.6", ())


def test_bounds_that_mean_nothing_are_a_problem() -> None:
    declaration = read_distribution("Name: x\nRequires-Python: latest\n", core_names=frozenset())
    assert [(p.line, p.key) for p in declaration.problems] == [(2, "Requires-Python")]


def test_an_invalid_requirement_of_a_distribution_is_a_problem() -> None:
    declaration = read_distribution("Name: x\nRequires-Dist: y z\n", core_names=frozenset())
    assert [(p.code, p.line, p.column) for p in declaration.problems] == [("invalid-declaration", 2, 18)]


def test_a_distribution_may_be_given_another_key() -> None:
    assert read_distribution("Name: x\n", key="memory/y", core_names=frozenset()) == Declaration(
        key="memory/y", name="x"
    )
