"""A plugin's Python files, each parsed once and never run, and which of them a host would load."""

from __future__ import annotations

import ast
import itertools
import sys
import warnings
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path

from admission import Problem
from pm.documents.files import folder_files, text_of
from pm.limits import SOURCE_SIGNS
from pm.system.folders import walk

UNREAD = "source-not-parsed"
_MOST_FILES = 2000
_MOST_IN_BRACES = 10_000_000_000
"""Characters of a file, for each brace in it: older Pythons parse a text with values (`f"{a}"`) in the square."""
_SKIPPED = frozenset({"__pycache__", "node_modules", "venv", "site-packages", "tests", "test"})
_LAYOUTS: tuple[tuple[str, ...], ...] = ((), ("src",))
"""Where the packages of a project can lie."""

Parts = tuple[str, ...]


class PythonFile:
    """The Python files of one folder. Tests and environments inside of it are not the plugin."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files: tuple[str, ...] = tuple(itertools.islice(_python_files(folder), _MOST_FILES))
        """Relative and with `/`, sorted."""
        self.trees: dict[str, ast.Module] = {}
        """The files that could be parsed."""
        self.unread: dict[str, Problem] = {}
        """Those that could not, by the manager's own Python: nothing is known of what they do.

        Nor is it of the files after one that is beyond the limit.
        """
        fetch = folder_files(folder)
        left = SOURCE_SIGNS.value
        for file in self.files:
            text = text_of(fetch(file), file)
            left -= _signs(text) if isinstance(text, str) else 0
            if left < 0:
                self.unread[file] = _beyond(file)
                return
            tree = _parsed(text, file)
            if isinstance(tree, Problem):
                self.unread[file] = tree
            else:
                self.trees[file] = tree

    @cached_property
    def own_modules(self) -> frozenset[str]:
        """The names under which files of the plugin could import each other."""
        parts = (part.removesuffix(".py") for file in self.files for part in file.split("/"))
        return frozenset({self.folder.name, *parts})

    def is_foreign(self, module: str) -> bool:
        """Say whether a top-level module is neither the plugin's own nor the standard library's."""
        return module not in self.own_modules and module not in sys.stdlib_module_names

    def loaded(self, starts: Iterable[str]) -> tuple[str, ...]:
        """Return the files that are loaded with these, sorted: themselves and what they import of the plugin's own.

        Programs that lie beside the plugin are left out that way, and run in a process of their own anyhow.
        """
        waiting = [file for file in starts if file in self.trees or file in self.unread]
        found = set(waiting)
        while waiting:
            for file in self._imported_by(waiting.pop()):
                if file not in found:
                    found.add(file)
                    waiting.append(file)
        return tuple(sorted(found))

    def files_of(self, module: Sequence[str], below: Iterable[Parts] = _LAYOUTS) -> Iterator[str]:
        """Yield the files that a module consists of, with those of the packages around it."""
        for base in below:
            for length in range(1, len(module) + 1):
                path = "/".join((*base, *module[:length]))
                yield from (file for file in (f"{path}.py", f"{path}/__init__.py") if file in self._known)

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(self.files)

    def _imported_by(self, file: str) -> Iterator[str]:
        tree = self.trees.get(file)
        here = tuple(file.split("/")[:-1])
        for node in ast.walk(tree) if tree is not None else ():
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield from self._absolute(alias.name.split("."), here)
            elif isinstance(node, ast.ImportFrom):
                module = node.module.split(".") if node.module else []
                for alias in node.names:
                    if node.level:
                        base = here[: len(here) - node.level + 1]
                        yield from self._package(base)
                        yield from self.files_of([*module, alias.name], [base])
                    else:
                        yield from self._absolute([*module, alias.name], here)

    def _absolute(self, module: list[str], here: Parts) -> Iterator[str]:
        # plugins put their own folder on the path, and hosts load them as packages that are named for the folder
        yield from self.files_of(module, (*_LAYOUTS, here))
        if module[0] == self.folder.name:
            yield from self.files_of(module[1:], [()])

    def _package(self, folder: Parts) -> Iterator[str]:
        file = "/".join((*folder, "__init__.py"))
        if file in self._known:
            yield file


def imported_names(tree: ast.AST) -> dict[str, str]:
    """Return the names that absolute imports bind, each with the top-level module that it comes from."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                names[alias.asname or top] = top
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            top = node.module.partition(".")[0]
            names |= {alias.asname or alias.name: top for alias in node.names}
    return names


def statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield statements, and those inside of conditions, loops, `try` and `with`; not those of functions and classes."""
    waiting: list[ast.AST] = [*reversed([*body])]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.stmt):
            yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.expr):
            waiting.extend(reversed([*ast.iter_child_nodes(node)]))


def last_name(node: ast.expr) -> str:
    """Return the last part of a dotted name: `MemoryProvider` of `agent.memory_provider.MemoryProvider`."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def subclasses(trees: Collection[ast.AST], base: str) -> frozenset[str]:
    """Return the names of the classes that derive from a base of this name, whatever lies between."""
    classes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    found = {base}
    while True:
        more = {node.name for node in classes if found.intersection(map(last_name, node.bases))} - found
        if not more:
            return frozenset(found - {base})
        found |= more


def _python_files(folder: Path) -> Iterator[str]:
    """Yield the paths of Python files; folders behind links do not belong to the plugin."""
    for root, folders, files in walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _SKIPPED)
        inside = Path(root).relative_to(folder)
        yield from ((inside / name).as_posix() for name in sorted(files) if name.endswith(".py"))


def _signs(text: str) -> int:
    """Return how many signs of a text can begin another node of a tree."""
    return len(text) - len(text.translate(_SIGNS))


_SIGNS = dict.fromkeys(map(ord, "\n,;:.=()[]{}+-*/%@&|^~<>"))


def _beyond(file: str) -> Problem:
    message = f"the files of the plugin have more than {SOURCE_SIGNS.value:,} {SOURCE_SIGNS.unit}"
    return Problem(UNREAD, f"{message}: what is in this one and in those after it is not looked into", file)


def _parsed(text: str | Problem | None, file: str) -> ast.Module | Problem:
    if isinstance(text, Problem):
        return text._replace(code=UNREAD)
    if text is not None and len(text) * text.count("{") > _MOST_IN_BRACES:
        return Problem(UNREAD, "the file is too large for the braces in it", file)
    version = f"Python {sys.version_info.major}.{sys.version_info.minor}"
    try:
        # What Python has to say of the author's style while parsing is not for the operator.
        with warnings.catch_warnings(action="ignore"):
            return ast.parse(text or "")
    except SyntaxError as error:
        message = f"{version} cannot parse this: {error.msg}"
        return Problem(UNREAD, message, file, error.lineno or 0, error.offset or 0)
    except (ValueError, RecursionError, MemoryError) as error:
        return Problem(UNREAD, f"{version} cannot parse this: {str(error) or 'it is nested too deep'}", file)
