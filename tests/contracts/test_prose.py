"""What is said to people is made of values, and no module reads it again to find out what happened."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for package in ("admission", "lockfiles", "pm")
    for path in sorted((ROOT / package).rglob("*.py"))
}

SENTENCES = frozenset({"explanation", "hint", "message", "summary", "what_now"})
"""Fields of our values that hold sentences; a code, a place or a name has a field of its own."""
TAKING_APART = frozenset(
    {
        *("count", "endswith", "find", "index", "partition", "rfind", "rindex", "rpartition", "rsplit", "split"),
        *("removeprefix", "removesuffix", "startswith"),
        *("findall", "finditer", "fullmatch", "match", "search"),
    }
)
"""Methods that look into a text; of `re` and its patterns those that are given one."""


def read_as_data(tree: ast.Module) -> Iterator[int]:
    """Yield the lines on which a field that holds a sentence is compared, or looked into."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            compared = [node.left, *node.comparators]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in TAKING_APART:
            compared = [node.func.value, *node.args]
        else:
            continue
        yield from (one.lineno for one in compared if isinstance(one, ast.Attribute) and one.attr in SENTENCES)


SNIPPET = """
a = error.message
b = "offline" in error.message
c = step.explanation == d
e = step.explanation.partition("` in ")
f = re.search("x", row.summary)
g = error.message or reason.hint
h = f"{error.message}: {len(error.message)}"
i = message.partition(":")
"""


def test_every_way_of_reading_a_sentence_is_found() -> None:
    assert [*read_as_data(ast.parse(SNIPPET))] == [3, 4, 5, 6]


def test_no_sentence_is_read_as_data() -> None:
    assert [f"{file}:{line}" for file, text in SOURCE.items() for line in read_as_data(ast.parse(text))] == []


KINDS = {"error": "PmError", "ended": "SystemExit", "exclusion": "Exclusion", "e": "Exclusion"}
"""Names of values whose code says what kind of trouble, or of fate, it is: that is what it is for."""
BY_CODE = {
    "admission/steps.py": "a refusal that another core may lift is told by its code",
    "pm/index/reduction.py": "the fate of a version",
    "pm/host/project_core.py": "words only: faults are told otherwise of a core than of a plugin",
    "pm/operations/replay.py": "a receipt that was read back has nothing else",
    "pm/verdict/index_reasons.py": "words, and which steps are shown: some refusals another index could answer",
    "pm/receipts/levels.py": "words and a status that is asked for: a notice or a warning",
    "pm/receipts/sentences.py": "words only",
}
"""Modules that look at the code of something else, with the reason."""


def codes_compared(tree: ast.Module) -> Iterator[ast.Attribute]:
    """Yield the codes that are compared with others."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            compared = (node.left, *node.comparators)
            yield from (one for one in compared if isinstance(one, ast.Attribute) and one.attr == "code")


def decided_by_code(tree: ast.Module) -> list[str]:
    """Return whose code is compared, but for those whose code is their kind."""
    whose = (ast.unparse(code.value) for code in codes_compared(tree))
    return [name for name in whose if name not in KINDS]


def test_a_code_that_is_compared_is_found() -> None:
    text = "a = error.code == b\nc = note.code in (d, e)\nf = x[0].code != g\nh = problem.code"
    assert decided_by_code(ast.parse(text)) == ["note", "x[0]"]


def test_no_code_of_a_problem_or_a_warning_makes_a_verdict() -> None:
    assert {file for file, text in SOURCE.items() if decided_by_code(ast.parse(text))} == BY_CODE.keys()
