"""Find what a plugin's source imports and nobody brings. The source is parsed, never run."""

from __future__ import annotations

import ast
import os
import sys
import warnings
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from admission import Problem
from pm.reading.files import folder_files, text_of

_UNREAD = "source-not-parsed"
_MOST_FILES = 2000
_SKIPPED = frozenset({"__pycache__", "node_modules", "venv", "site-packages", "tests", "test"})
_IMPORT_FAILURES = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})


class UndeclaredImport(NamedTuple):
    """A module that the source imports and no requirement of the core or the plugin brings."""

    module: str
    """The top-level name."""
    file: str
    """Relative to the plugin's folder."""
    line: int
    guarded: bool
    """Every import of it is prepared to fail, or is there for type checkers only: information, not a warning."""


class Imports(NamedTuple):
    """What was found in all Python files of a plugin."""

    undeclared: tuple[UndeclaredImport, ...]
    """One for each module, at its first import that is not guarded; sorted by module."""
    unread: tuple[Problem, ...] = ()
    """Files that could not be parsed by the manager's own Python; nothing is known of what they import."""


def undeclared_imports(folder: Path, provided_modules: Collection[str]) -> Imports:
    """Return the top-level modules that the plugin imports and that neither the set, the standard library nor it has.

    `provided_modules` are the top-level modules of everything in the lock, the core's own among them. Tests and
    environments inside of the folder are not the plugin and are not looked at.
    """
    files = list(_python_files(folder))[:_MOST_FILES]
    known = frozenset(provided_modules) | sys.stdlib_module_names | _own_modules(folder, files)
    fetch = folder_files(folder)
    found: dict[str, UndeclaredImport] = {}
    unread: list[Problem] = []
    for file in files:
        tree = _parsed(text_of(fetch(file), file), file)
        if isinstance(tree, Problem):
            unread.append(tree)
            continue
        for module, line, guarded in _imported(tree):
            earlier = found.get(module)
            if module not in known and (earlier is None or (earlier.guarded and not guarded)):
                found[module] = UndeclaredImport(module, file, line, guarded)
    return Imports(tuple(found[module] for module in sorted(found)), tuple(unread))


def _python_files(folder: Path) -> Iterator[str]:
    """Yield the paths of Python files, relative and with `/`, sorted; folders behind links are somebody else's."""
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _SKIPPED)
        inside = Path(root).relative_to(folder)
        yield from ((inside / name).as_posix() for name in sorted(files) if name.endswith(".py"))


def _own_modules(folder: Path, files: Collection[str]) -> frozenset[str]:
    """Return the names under which files of the plugin could import each other."""
    parts = (part.removesuffix(".py") for file in files for part in file.split("/"))
    return frozenset({folder.name, *parts})


def _parsed(text: str | Problem | None, file: str) -> ast.Module | Problem:
    if isinstance(text, Problem):
        return text._replace(code=_UNREAD)
    version = f"Python {sys.version_info.major}.{sys.version_info.minor}"
    try:
        # What Python has to say of the author's style while parsing is not for the operator.
        with warnings.catch_warnings(action="ignore"):
            return ast.parse(text or "")
    except SyntaxError as error:
        message = f"{version} cannot parse this: {error.msg}"
        return Problem(_UNREAD, message, file, error.lineno or 0, error.offset or 0)
    except (ValueError, RecursionError, MemoryError) as error:
        return Problem(_UNREAD, f"{version} cannot parse this: {str(error) or 'it is nested too deep'}", file)


def _imported(tree: ast.Module) -> Iterator[tuple[str, int, bool]]:
    """Yield the top-level name, the line and whether it is guarded, of every absolute import."""
    waiting: list[tuple[ast.AST, bool]] = [(tree, False)]
    while waiting:
        node, guarded = waiting.pop()
        if isinstance(node, ast.Import):
            yield from ((alias.name.partition(".")[0], node.lineno, guarded) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            yield node.module.partition(".")[0], node.lineno, guarded
        # Pushed backwards, so that what comes first in the file comes first out.
        waiting.extend(reversed(list(_children(node, guarded=guarded))))


def _children(node: ast.AST, *, guarded: bool) -> Iterator[tuple[ast.AST, bool]]:
    protected: list[ast.stmt] = []
    if isinstance(node, ast.Try) and any(_catches_import_failure(handler) for handler in node.handlers):
        protected = [*node.body, *(statement for handler in node.handlers for statement in handler.body)]
    elif isinstance(node, ast.If) and _is_type_checking(node.test):
        protected = node.body
    identities = {id(statement) for statement in protected}
    for child in ast.iter_child_nodes(node):
        yield child, guarded or id(child) in identities or (isinstance(child, ast.ExceptHandler) and bool(protected))


def _catches_import_failure(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    named = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(isinstance(name, ast.Name) and name.id in _IMPORT_FAILURES for name in named)


def _is_type_checking(test: ast.expr) -> bool:
    return (isinstance(test, ast.Name) and test.id == "TYPE_CHECKING") or (
        isinstance(test, ast.Attribute) and test.attr == "TYPE_CHECKING"
    )
