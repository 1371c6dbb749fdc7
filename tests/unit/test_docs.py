"""The pages hold: their links lead somewhere, the code that they name exists, and their examples are what happens."""

from __future__ import annotations

import ast
import builtins
import importlib
import re
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from resolvelib import AbstractProvider, BaseReporter, Resolver

from admission import Admitted, Facts, decide
from admission.gates import root_requirements
from admission.search import search
from admission.universe import Universe, roots_of
from fixtures.worlds import World, candidate, page
from pm.config.settings import Settings
from pm.receipts.codes import CODES
from pm.receipts.examples import example
from pm.receipts.render import render

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in sorted(DOCS.rglob("*.md"))}
SOURCES = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for package in ("admission", "lockfiles", "pm")
    for path in sorted((ROOT / package).rglob("*.py"))
}
REFUSAL = PAGES["docs/how-to/read-a-refusal.md"]
DECIDES = PAGES["docs/explanation/how-it-decides.md"]

FENCED = re.compile(r"^```.*?^```\n", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"`([^`\n]+)`")
MODULE_NAME = re.compile(r"(?:pm|admission|lockfiles)(?:\.[A-Za-z_]+)+")
SOURCE_FILE = re.compile(r"(?:pm|admission|lockfiles)/[\w/]+\.py|(?:core|fixtures|tests|scripts|docs)/[\w./-]+")
CLASS_NAME = re.compile(r"(?:[A-Z][a-z]+)+(?:\.[a-z_]+)?")
HEADING = re.compile(r"^#+ +(.*)$", re.MULTILINE)


def prose(text: str) -> str:
    """Return a page without its blocks of code."""
    return FENCED.sub("", text)


def anchor(heading: str) -> str:
    """Return the fragment that a heading gets when a page is shown."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def named(pattern: re.Pattern[str]) -> list[object]:
    """Return what a pattern matches as a whole of all that stands in code quotes, told apart by its page."""
    found = {(file, text) for file, body in PAGES.items() for text in CODE.findall(prose(body))}
    return [pytest.param(text, id=f"{file}-{text}") for file, text in sorted(found) if pattern.fullmatch(text)]


def pages_named_in_sources() -> list[object]:
    """Return the pages to which the code sends its reader."""
    found = {(file, name) for file, text in SOURCES.items() for name in re.findall(r"docs/[\w/-]+\.\w+", text)}
    return [pytest.param(name, id=f"{file}-{name}") for file, name in sorted(found)]


def links() -> list[tuple[str, str]]:
    return [(file, link) for file, text in PAGES.items() for link in LINK.findall(prose(text)) if "://" not in link]


def resolved(name: str) -> object:
    """Return what a dotted name means: a module, or something in one, or something in that.

    Raise `AttributeError` or `ImportError` if it means nothing.
    """
    parts = name.split(".")
    found: object = importlib.import_module(parts[0])
    for position, part in enumerate(parts[1:], 2):
        if not hasattr(found, part):
            importlib.import_module(".".join(parts[:position]))
        found = getattr(found, part)
    return found


def defined_names() -> Iterator[str]:
    """Yield every class and type of the manager and of the core, and its fields and methods as `Class.name`."""
    core = [path.read_text(encoding="utf-8") for path in (ROOT / "core").rglob("*.py")]
    for text in (*SOURCES.values(), *core):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ClassDef):
                yield node.name
                for part in ast.walk(node):
                    if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
                        yield f"{node.name}.{part.target.id}"
                    if isinstance(part, ast.FunctionDef):
                        yield f"{node.name}.{part.name}"
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "NewType":
                yield ast.literal_eval(node.args[0])


OF_THE_CONTRACT = {"MemoryProvider"}
"""Classes that plugins are written against."""
KNOWN = {*defined_names(), *dir(builtins), *dir(typing), *OF_THE_CONTRACT}


# -- every page


@pytest.mark.parametrize(("file", "link"), links())
def test_a_link_leads_to_a_file_and_a_heading_of_it(file: str, link: str) -> None:
    path, _, fragment = link.partition("#")
    target = (ROOT / file).parent / path if path else ROOT / file
    assert target.exists()
    assert not fragment or fragment in map(anchor, HEADING.findall(target.read_text(encoding="utf-8")))


def test_the_index_lists_every_page() -> None:
    listed = {f"docs/{link}" for link in LINK.findall(PAGES["docs/README.md"])}
    assert PAGES.keys() - listed == {"docs/README.md"}


@pytest.mark.parametrize("name", named(MODULE_NAME))
def test_a_name_of_the_code_or_of_the_settings_exists(name: str) -> None:
    assert name.removeprefix("pm.") in Settings._fields or resolved(name)


@pytest.mark.parametrize("name", named(SOURCE_FILE))
def test_a_file_of_the_checkout_exists(name: str) -> None:
    assert (ROOT / name).exists()


@pytest.mark.parametrize("name", named(CLASS_NAME))
def test_a_class_and_its_field_exist(name: str) -> None:
    assert name in KNOWN


@pytest.mark.parametrize("name", ["pm.nothing", "pm.receipts.codes.NOTHING", "admission.decide.nothing"])
def test_a_name_that_means_nothing_is_found_out(name: str) -> None:
    with pytest.raises((ImportError, AttributeError)):
        resolved(name)


@pytest.mark.parametrize("name", pages_named_in_sources())
def test_a_page_that_the_code_sends_its_reader_to_exists(name: str) -> None:
    assert (ROOT / name).exists()


# -- how to read a refusal


def test_the_refusal_on_the_page_is_the_one_that_the_program_writes() -> None:
    block = re.search(r"<!-- example: ([a-z-]+) -->\n\n```text\n(.*?)```", REFUSAL, re.DOTALL)
    assert block is not None
    assert block[2] == render(example(block[1]), width=80)


@pytest.mark.parametrize(
    "code",
    [
        "conflict",
        "core-conflict",
        "core-version",
        "python-version",
        "no-wheel",
        "prerelease-only",
        "offline",
        "index-unreachable",
    ],
)
def test_the_page_says_what_to_do_about_a_code(code: str) -> None:
    assert code in CODES
    assert any(f"`{code}`" in heading for heading in HEADING.findall(REFUSAL))


def test_the_page_says_which_steps_the_program_proposes() -> None:
    calls = (
        node
        for file, text in SOURCES.items()
        if not file.startswith("pm/receipts/example")
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in {"Step", "StepValue"}
    )
    proposed = {
        call.args[0].value
        for call in calls
        if call.args and isinstance(call.args[0], ast.Constant) and call.args[0].value
    }
    said = re.search(r"This version proposes (.*?), the steps that close a list\.", " ".join(REFUSAL.split()))
    assert said is not None
    assert set(CODE.findall(said[1])) == proposed


# -- how it decides


EXAMPLE: Mapping[str, Mapping[str, list[str]]] = {
    "p3": {"1": [], "2": ["p2>=1"]},
    "p2": {"2": ["p0", "p3==1"]},
    "p0": {"3": ["p2"]},
}


class Plain(AbstractProvider[str, tuple[str, str], str]):
    """The simplest provider for a small world: the newest version that all requirements accept."""

    def identify(self, requirement_or_candidate: str | tuple[str, str]) -> str:
        text = requirement_or_candidate
        return text[:2] if isinstance(text, str) else text[0]

    def get_preference(self, identifier: str, *_: object, **__: object) -> str:
        return identifier

    def find_matches(
        self,
        identifier: str,
        requirements: Mapping[str, Iterator[str]],
        incompatibilities: Mapping[str, Iterator[tuple[str, str]]],
    ) -> Sequence[tuple[str, str]]:
        asked, shut = list(requirements[identifier]), list(incompatibilities[identifier])
        found = [(identifier, version) for version in sorted(EXAMPLE[identifier], reverse=True)]
        return [one for one in found if one not in shut and all(self.is_satisfied_by(text, one) for text in asked)]

    def is_satisfied_by(self, requirement: str, candidate: tuple[str, str]) -> bool:
        accepted: Callable[[str], bool] = {"==": "1".__eq__, ">=": "1".__le__}.get(requirement[2:4], lambda _: True)
        return accepted(candidate[1])

    def get_dependencies(self, candidate: tuple[str, str]) -> list[str]:
        return EXAMPLE[candidate[0]][candidate[1]]


def test_the_table_of_the_page_is_the_smallest_case() -> None:
    rows = re.findall(r"^\| `(p\d)` \| (\d) \| (.*) \|$", DECIDES, re.MULTILINE)
    assert rows == [
        (name, version, " and ".join(f"`{text}`" for text in needs) or "nothing")
        for name, versions in EXAMPLE.items()
        for version, needs in versions.items()
    ]


def test_the_library_alone_does_not_come_back_from_the_smallest_case() -> None:
    with pytest.raises(RecursionError):
        Resolver(Plain(), BaseReporter()).resolve(["p3"])


def test_the_smallest_case_is_decided_as_the_page_says() -> None:
    world = World(
        Facts(
            {name: page(name, list(versions)) for name, versions in EXAMPLE.items()},
            {
                name: {v: candidate(name, v, needs) for v, needs in versions.items()}
                for name, versions in EXAMPLE.items()
            },
        ),
        (("a", "p3"),),
    )
    question = world.question()
    universe = Universe(world.facts, question.constraints, roots_of(root_requirements(question.constraints)), {})
    assert search(universe, universe.roots, 2_000).outcome == "found"
    decision = decide(question, world.facts)
    assert isinstance(decision, Admitted)
    assert decision.lock.versions() == {"p3": "1"}


def test_the_refusal_on_the_first_page_is_one_as_it_looks() -> None:
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = re.findall(r"^    (✗.*?)\n\n", page, re.MULTILINE | re.DOTALL)[0].split("    …\n")
    looks = (ROOT / "docs" / "reference" / "receipts" / "core-conflict.txt").read_text(encoding="utf-8")
    for part in shown:
        text = re.sub(r"^    ", "", part.strip("\n"), flags=re.MULTILINE).replace("hermes-pm ", "hermes ")
        assert text in looks
