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
