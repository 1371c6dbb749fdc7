"""No code is printed that no page explains: every code that the source can name stands in a documented table."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from pm.receipts.codes import CODES
from pm.receipts.warning_codes import WARNINGS

ROOT = Path(__file__).parents[2]
REFERENCE = (ROOT / "docs" / "reference" / "codes.md").read_text(encoding="utf-8")
TABLES = {"pm/receipts/failure_codes.py", "pm/receipts/refusal_codes.py", "pm/receipts/warning_codes.py"}
"""What defines codes does not use them."""
SOURCE = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for package in ("admission", "pm")
    for path in sorted((ROOT / package).rglob("*.py"))
    if path.relative_to(ROOT).as_posix() not in TABLES
}

REFUSING = frozenset({"PmError", "Reason", "Undecided", "Exclusion"})
"""Nouns with a code that ends an operation, or would."""
TELLING = frozenset({"Fault", "Notice", "Oddity", "Problem", "WarningRow"})
"""Nouns with a code that may only warn."""


class Named(NamedTuple):
    """A code where the source names it."""

    noun: str
    """Of the two sets above; empty where a code is passed on, returned or given as a default."""
    code: str
    """Empty where it cannot be told from the text."""
    place: str


class Codes(ast.NodeVisitor):
    """Finds what one module names as a code.

    That is what it gives to a noun, to the keyword or parameter `code` of a function, to a variable of that name, as a
    default of it, or back from a function `…_code`.
    """

    def __init__(self, file: str, tree: ast.Module, constants: Mapping[str, Mapping[str, str]]) -> None:
        self.found: list[Named] = []
        self._file = file
        self._nouns = {noun: noun for noun in REFUSING | TELLING}
        self._constants = dict(constants_of(tree))
        self._takes_code = dict(takers_of(tree))
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                self._import(node.names, constants.get(str(node.module), {}))
        self.visit(tree)

    def _import(self, aliases: Iterable[ast.alias], constants: Mapping[str, str]) -> None:
        for alias in aliases:
            name = alias.asname or alias.name
            if alias.name in self._nouns:
                self._nouns[name] = self._nouns[alias.name]
            if alias.name in constants:
                self._constants[name] = constants[alias.name]

    def visit_Call(self, node: ast.Call) -> None:
        function = node.func
        name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
        noun = self._nouns.get(name, "") if isinstance(function, ast.Name) else ""
        place = 0 if noun else self._takes_code.get(name, len(node.args))
        given = [keyword.value for keyword in node.keywords if keyword.arg == "code"]
        for value in given or node.args[place : place + 1]:
            self._take(noun, value)
        self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        arguments = node.args
        positional = [*arguments.posonlyargs, *arguments.args]
        defaults = [*zip(reversed(positional), reversed(arguments.defaults), strict=False)]
        for argument, default in (*defaults, *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)):
            if argument.arg == "code" and default is not None:
                self._take("", default)
        if node.name.endswith("code") and isinstance(node.returns, ast.Name) and node.returns.id == "str":
            for statement in ast.walk(node):
                if isinstance(statement, ast.Return) and not isinstance(statement.value, ast.Name | None):
                    self._take("", statement.value)
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        if any(isinstance(target, ast.Name) and target.id == "code" for target in node.targets):
            self._take("", node.value)
        self.generic_visit(node)

    def _take(self, noun: str, value: ast.expr) -> None:
        place = f"{self._file}:{value.lineno}"
        if isinstance(value, ast.Name) and value.id in self._constants:
            self.found.append(Named(noun, self._constants[value.id], place))
        elif texts := [text for text in literals(value) if text]:
            self.found.extend(Named(noun, text, place) for text in texts)
        elif not passed_on(value):
            self.found.append(Named(noun, "", place))


def constants_of(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield the names of a module that are bound to a text, with it."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            for text in literals(node.value):
                yield node.targets[0].id, text


def takers_of(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield the functions that take a code by position, with the position at a call."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name != "__init__":
            names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
            if "code" in names:
                yield node.name, names.index("code") - (names[0] in {"self", "cls"})


def literals(value: ast.expr) -> list[str]:
    """Return the texts that an expression may come to, as far as they stand in it."""
    if isinstance(value, ast.IfExp):
        return [*literals(value.body), *literals(value.orelse)]
    return [value.value] if isinstance(value, ast.Constant) and isinstance(value.value, str) else []


def passed_on(value: ast.expr) -> bool:
    """Say whether an expression only hands on the code of another value, or names none (an empty text)."""
    match value:
        case ast.Starred():  # a value that is read back from where it was stored
            return True
        case ast.Call():  # of a `…_code`, whose own texts are found
            return True
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name == "code"
        case _:
            return isinstance(value, ast.Constant)


def codes_of(sources: Mapping[str, str]) -> list[Named]:
    trees = {file: ast.parse(text) for file, text in sources.items()}
    constants = {file.removesuffix(".py").replace("/", "."): dict(constants_of(tree)) for file, tree in trees.items()}
    return [named for file, tree in trees.items() for named in Codes(file, tree, constants).found]


def missing(found: Iterable[Named], documented: Iterable[str]) -> Iterator[str]:
    known = set(documented)
    return (f"`{named.code}` in {named.place}" for named in found if named.code not in known)


FOUND = codes_of(SOURCE)
SNIPPET = """
from pm.errors import PmError
from admission import Notice
from b.c import ELSEWHERE
_UNREAD = "from-a-constant"
def alone_code(value) -> str:
    return "returned" if value else ""
def _problem(message, *, code="by-default"):
    return Problem(code, message)
def told(fault, row):
    code = "assigned"
    raise PmError("raised" if fault else "otherwise", "message")
    Notice("aliased", "message")
    Reason(message="", code="by-keyword")
    Fault(_UNREAD, "message")
    _problem("message", code="passed")
    fault._replace(code="replaced")
    Problem(fault.code, "message")
    Problem(*row)
    Problem(f"made-{fault}", "message")
    Problem(fault.kind, "message")
    Problem(ELSEWHERE, "message")
    self._placed("message", "by-position")
    helper("no-code")
class A:
    def _placed(self, message, code):
        return Problem(code, message)
"""


def test_every_way_of_naming_a_code_is_found() -> None:
    assert codes_of({"a.py": SNIPPET, "b/c.py": "ELSEWHERE = 'imported'"}) == [
        Named("", "returned", "a.py:7"),
        Named("", "by-default", "a.py:8"),
        Named("", "assigned", "a.py:11"),
        Named("PmError", "raised", "a.py:12"),
        Named("PmError", "otherwise", "a.py:12"),
        Named("Notice", "aliased", "a.py:13"),
        Named("Reason", "by-keyword", "a.py:14"),
        Named("Fault", "from-a-constant", "a.py:15"),
        Named("", "passed", "a.py:16"),
        Named("", "replaced", "a.py:17"),
        Named("Problem", "", "a.py:20"),
        Named("Problem", "", "a.py:21"),
        Named("Problem", "imported", "a.py:22"),
        Named("", "by-position", "a.py:23"),
    ]


def test_no_code_is_put_together_while_running() -> None:
    assert [named.place for named in FOUND if not named.code] == []


def test_every_code_that_ends_an_operation_is_documented() -> None:
    assert list(missing((named for named in FOUND if named.noun in REFUSING), CODES)) == []


def test_every_code_of_a_warning_is_documented() -> None:
    assert list(missing(FOUND, [*CODES, *WARNINGS])) == []


def test_no_name_is_both_a_code_and_a_code_of_warnings_only() -> None:
    assert CODES.keys() & WARNINGS.keys() == set()


PRINTED = {named.code for named in FOUND if not named.place.startswith("pm/receipts/example")}


def test_every_documented_warning_can_be_printed() -> None:
    assert WARNINGS.keys() - PRINTED == set()


def test_every_documented_code_can_be_printed_but_that_of_a_field_which_nothing_fills_yet() -> None:
    assert CODES.keys() - PRINTED == {"vulnerable"}  # of `audit`, which every receipt has


@pytest.mark.parametrize("code", [*CODES, *WARNINGS])
def test_the_reference_has_a_row_for_every_code(code: str) -> None:
    tables = REFERENCE.split("## Outcomes and exit status")[0] + REFERENCE.split("## Warnings")[1]
    rows = [line for line in tables.splitlines() if line.startswith((f"| `{code}` |", f"| [`{code}`]("))]
    assert len(rows) == 1
