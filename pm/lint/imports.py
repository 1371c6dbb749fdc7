"""Find what a plugin's source imports and no distribution brings. The source is parsed, never run."""

import ast
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from admission import Problem
from pm.lint.python_files import PythonFile, last_name

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
    """What was found in the Python files of a plugin."""

    undeclared: tuple[UndeclaredImport, ...]
    """One for each module, at its first import that is not guarded; sorted by module."""
    unread: tuple[Problem, ...] = ()
    """Files that could not be parsed by the manager's own Python; nothing is known of what they import."""


def undeclared_imports(source: PythonFile, files: Iterable[str], provided_modules: Collection[str]) -> Imports:
    """Return the top-level modules that files import and that neither the set, the standard library nor the plugin has.

    `provided_modules` are the top-level modules of everything in the lock, the core's own among them. Tests and
    environments inside of the folder are not the plugin and are not looked at.
    """
    found: dict[str, UndeclaredImport] = {}
    unread: list[Problem] = []
    for file in files:
        if file in source.unread:
            unread.append(source.unread[file])
        tree = source.trees.get(file)
        for module, line, guarded in _imported(tree) if tree is not None else ():
            earlier = found.get(module)
            if (
                source.is_foreign(module)
                and module not in provided_modules
                and (earlier is None or (earlier.guarded and not guarded))
            ):
                found[module] = UndeclaredImport(module, file, line, guarded)
    return Imports(tuple(found[module] for module in sorted(found)), tuple(unread))


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
    if isinstance(node, ast.Try) and any(_means_import_failure(handler.type) for handler in node.handlers):
        protected = [*node.body, *(statement for handler in node.handlers for statement in handler.body)]
    elif isinstance(node, ast.With | ast.If) and _excuses(node):
        protected = node.body
    identities = {id(statement) for statement in protected}
    for child in ast.iter_child_nodes(node):
        yield child, guarded or id(child) in identities or (isinstance(child, ast.ExceptHandler) and bool(protected))


def _excuses(node: ast.With | ast.If) -> bool:
    if isinstance(node, ast.If):
        return last_name(node.test) == "TYPE_CHECKING"
    return any(_suppresses(item.context_expr) for item in node.items)


def _means_import_failure(caught: ast.expr | None) -> bool:
    if caught is None:
        return True
    named = caught.elts if isinstance(caught, ast.Tuple) else [caught]
    return any(isinstance(name, ast.Name) and name.id in _IMPORT_FAILURES for name in named)


def _suppresses(context: ast.expr) -> bool:
    return (
        isinstance(context, ast.Call)
        and last_name(context.func) == "suppress"
        and any(_means_import_failure(argument) for argument in context.args)
    )
