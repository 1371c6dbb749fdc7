"""Find what mixes up the profiles of one process: state of modules and classes, and what is read at import.

A host may serve several profiles in one process, each with a home and secrets of its own, and imports a plugin once for
all of them. Real plugins keep many dictionaries in modules that are perfectly fine, since their keys name a session, a
path or a home. So only what can hardly be meant is reported; what a key distinguishes is not.
"""

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from admission import Problem
from pm.lint.python_files import PythonFile, last_name, statements, subclasses

_BASE = "MemoryProvider"
_LISTS = frozenset({"list", "deque"})
_MAPPINGS = frozenset({"dict", "defaultdict", "OrderedDict"})
_CONTAINERS = _LISTS | _MAPPINGS | {"set", "Counter"}
_GROWS = frozenset({"append", "appendleft", "extend", "insert"})
_CHANGES = _GROWS | {"add", "update", "setdefault", "pop", "popleft", "popitem", "remove", "discard", "clear"}
_SECRET = re.compile(r"(?:.*_)?(?:API_?KEY|ACCESS_KEY|SECRET|SECRET_KEY|TOKEN|PASSWORD|PASSWD)")
_HOME = ".hermes"

Function = ast.FunctionDef | ast.AsyncFunctionDef


def isolation_findings(source: PythonFile, loaded: Iterable[str], secrets: Collection[str]) -> Iterator[Problem]:
    """Yield what the loaded files share between profiles, in the order of the files and their lines.

    `secrets` are the names of variables that the plugin says it needs: each profile has its own.
    """
    providers = subclasses(source.trees.values(), _BASE)
    at_import = frozenset(_called_at_import(source.trees.values()))
    for file in loaded:
        tree = source.trees.get(file)
        if tree is not None:
            module = _Module(file, tree, providers, at_import)
            found = (*module.reads(secrets), *module.shared_providers(), *module.shared_state())
            by_line = {(problem.line, problem.code): problem for problem in reversed(found)}
            yield from (by_line[place] for place in sorted(by_line))


class _Module:
    """One file, and what is known of all of them."""

    def __init__(
        self, file: str, tree: ast.Module, providers: frozenset[str], called_at_import: frozenset[str]
    ) -> None:
        self._file = file
        self._tree = tree
        self._providers = providers
        self._called_at_import = called_at_import

    # -- what is read at import

    def reads(self, secrets: Collection[str]) -> Iterator[Problem]:
        """Yield what is asked of a profile while the module is imported."""
        homes = {
            node.name: read
            for node in self._tree.body
            if isinstance(node, ast.FunctionDef)
            and (read := next(filter(None, map(_home_read, _returned(node))), "")) != ""
        }
        for node in run_at_import(self._tree):
            called = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
            home = _home_read(node) or homes.get(called, "")
            secret = _variable_read(node)
            if home:
                hint = "ask for it where it is used, or in `initialize`"
                yield self._read(node, f"the home (`{home}`)", hint)
            elif secret in secrets or _SECRET.fullmatch(secret):
                hint = "ask `agent.secret_scope.get_secret` for it where it is used, or in `initialize`"
                yield self._read(node, f"`{secret}`", hint)

    def _read(self, node: ast.AST, what: str, hint: str) -> Problem:
        message = f"{what} is read when the module is imported: one profile's value is then used for all"
        return self._problem("profile-read-at-import", message, node, hint)

    # -- instances of the provider

    def shared_providers(self) -> Iterator[Problem]:
        """Yield names of a module or class that hold an instance of the provider."""
        told: set[str] = set()
        for name, node in _named_at_import(self._tree):
            made = last_name(node.value.func) if isinstance(node.value, ast.Call) else ""
            if made in self._providers and name not in told:
                told.add(name)
                message = f"`{name}` holds one `{made}` for all profiles, and the host refuses it to the second one"
                yield self._problem("provider-shared", message, node, f"make a new `{made}` in each call of `register`")

    # -- containers

    def shared_state(self) -> Iterator[Problem]:
        """Yield containers of the module, and of provider classes, that functions change."""
        kept = {name: it for name, it in _containers(self._tree.body).items() if it.kind in _KINDS}
        written = _Changes(kept)
        for function in _outermost_functions(self._tree):
            if function.name not in self._called_at_import:
                written.visit(function, frozenset())
        for name, container in kept.items():
            if name in written.changed:
                message = f"functions change `{name}`, which all profiles of a process share"
                hint = "keep it in an instance, or under a key that names the profile's home"
                yield self._problem("state-shared", message, container.node, hint)
        for node in ast.walk(self._tree):
            if isinstance(node, ast.ClassDef) and node.name in self._providers:
                yield from self._class_state(node)

    def _class_state(self, provider: ast.ClassDef) -> Iterator[Problem]:
        kept = _containers(provider.body)
        owners = {"self", "cls", provider.name}
        changed: set[str] = set()
        for node in ast.walk(provider):
            if isinstance(node, ast.Attribute) and last_name(node.value) in owners and isinstance(node.ctx, ast.Store):
                kept.pop(node.attr, None)  # the instance gets one of its own
            for target in _changed(node):
                if isinstance(target, ast.Attribute) and last_name(target.value) in owners:
                    changed.add(target.attr)
        for name, container in kept.items():
            if name in changed:
                message = f"methods change `{provider.name}.{name}`, which all instances of the class share"
                yield self._problem("state-shared", message, container.node, f"set `self.{name}` in `__init__`")

    def _problem(self, code: str, message: str, node: ast.AST, hint: str) -> Problem:
        return Problem(code, message, self._file, getattr(node, "lineno", 0), hint=hint)


# -- what runs at import


def run_at_import(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield the nodes that are evaluated when a module is imported: everything but the bodies of functions."""
    waiting: list[ast.AST] = list(reversed(tree.body))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and _is_never_at_import(node.test):
            waiting.extend(reversed(node.orelse))
            continue
        yield node
        waiting.extend(reversed(list(_evaluated(node))))


def _evaluated(node: ast.AST) -> Iterable[ast.AST]:
    if isinstance(node, Function):
        return [*node.decorator_list, *_defaults(node.args)]
    if isinstance(node, ast.Lambda):
        return _defaults(node.args)
    return ast.iter_child_nodes(node)


def _defaults(arguments: ast.arguments) -> list[ast.expr]:
    return [*arguments.defaults, *(default for default in arguments.kw_defaults if default is not None)]


def _is_never_at_import(test: ast.expr) -> bool:
    named = {last_name(node) for node in ast.walk(test) if isinstance(node, ast.Name | ast.Attribute)}
    return bool(named & {"__name__", "TYPE_CHECKING"})


def _called_at_import(trees: Iterable[ast.Module]) -> Iterator[str]:
    """Yield the names of functions that modules call or decorate with while they are imported: they fill registries."""
    for tree in trees:
        for node in run_at_import(tree):
            if isinstance(node, ast.Call):
                yield last_name(node.func)
            elif isinstance(node, Function | ast.ClassDef):
                yield from map(last_name, node.decorator_list)


def _named_at_import(tree: ast.Module) -> Iterator[tuple[str, ast.Assign | ast.AnnAssign]]:
    """Yield the assignments to names of the module and its classes; those by functions that say `global` as well."""
    for node in run_at_import(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign):
            yield from ((name, node) for name in _targets(node))
    for function in (node for node in ast.walk(tree) if isinstance(node, Function)):
        shared = _declared_global(function)
        for node in _own_nodes(function) if shared else ():
            if isinstance(node, ast.Assign | ast.AnnAssign):
                yield from ((name, node) for name in _targets(node) if name in shared)


# -- what a profile is asked for


def _home_read(node: ast.AST) -> str:
    """Return the way in which an expression asks for the home of the profile; empty for any other."""
    if isinstance(node, ast.Call):
        name = last_name(node.func)
        if name == "get_hermes_home":
            return "get_hermes_home()"
        if name == "expanduser" and any(_is_home_text(inner, "~/") for inner in ast.walk(node)):
            return f"~/{_HOME}"
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and _is_home_text(node.right, ""):
        left = node.left
        return f"~/{_HOME}" if isinstance(left, ast.Call) and last_name(left.func) in {"home", "expanduser"} else ""
    return "HERMES_HOME" if _variable_read(node) == "HERMES_HOME" else ""


def _is_home_text(node: ast.AST, before: str) -> bool:
    text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
    return text == before + _HOME or text.startswith(f"{before}{_HOME}/")


def _variable_read(node: ast.AST) -> str:
    """Return the name of the environment variable or secret that an expression reads; empty for any other."""
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and last_name(node.value) == "environ":
        return _text(node.slice)
    if not isinstance(node, ast.Call) or not node.args:
        return ""
    name = last_name(node.func)
    of_environ = isinstance(node.func, ast.Attribute) and last_name(node.func.value) == "environ"
    return _text(node.args[0]) if name in {"getenv", "get_secret"} or (name == "get" and of_environ) else ""


def _text(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _returned(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """Yield the parts of what a function returns."""
    for node in _own_nodes(function):
        if isinstance(node, ast.Return) and node.value is not None:
            yield from ast.walk(node.value)


# -- containers and what changes them


class _Kept(NamedTuple):
    kind: str
    """`list`, `mapping` or `other`."""
    node: ast.stmt


_KINDS = frozenset({"list", "mapping"})


def _containers(body: Iterable[ast.stmt]) -> dict[str, _Kept]:
    """Return the containers that can be changed and that statements give a name."""
    found: dict[str, _Kept] = {}
    for node in statements(body):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            kind = _kind(node.value)
            found |= {name: _Kept(kind, node) for name in _targets(node) if kind}
    return found


def _kind(value: ast.expr) -> str:
    made = last_name(value.func) if isinstance(value, ast.Call) else ""
    if isinstance(value, ast.List) or made in _LISTS:
        return "list"
    if isinstance(value, ast.Dict) or made in _MAPPINGS:
        return "mapping"
    return "other" if isinstance(value, ast.Set) or made in _CONTAINERS else ""


class _Changes:
    """Looks for functions that change containers of their module in a way that no key tells apart."""

    def __init__(self, kept: Mapping[str, _Kept]) -> None:
        self._kept = kept
        self.changed: set[str] = set()

    def visit(self, function: Function, hidden: frozenset[str]) -> None:
        """Look into a function, in which the names `hidden` mean something else."""
        hidden |= _bound(function)
        for node in _own_nodes(function):
            if isinstance(node, Function):
                self.visit(node, hidden)
            name = self._changed_as_one(node)
            if name and name not in hidden:
                self.changed.add(name)

    def _changed_as_one(self, node: ast.AST) -> str:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name = node.func.value.id if isinstance(node.func.value, ast.Name) else ""
            kind = self._kept[name].kind if name in self._kept else ""
            grows = kind == "list" and node.func.attr in _GROWS
            return name if grows or (kind == "mapping" and _sets_fixed_keys(node)) else ""
        if isinstance(node, ast.Assign) and not isinstance(node.value, ast.Constant):
            for target in node.targets:
                name = (
                    target.value.id if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name) else ""
                )
                if name in self._kept and isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant):
                    return name
        return ""


def _sets_fixed_keys(call: ast.Call) -> bool:
    """Say whether a call writes keys into a mapping that are the same for every profile."""
    method = last_name(call.func)
    if method == "setdefault":
        return bool(call.args) and isinstance(call.args[0], ast.Constant)
    if method != "update":
        return False
    mappings = [argument for argument in call.args if isinstance(argument, ast.Dict)]
    keys = [key for mapping in mappings for key in mapping.keys]
    return bool(call.keywords) or (bool(keys) and all(isinstance(key, ast.Constant) for key in keys))


def _changed(node: ast.AST) -> Iterator[ast.expr]:
    """Yield what a statement or call changes the content of."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CHANGES:
        yield node.func.value
    elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
        yield node.value


def _targets(node: ast.Assign | ast.AnnAssign) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _outermost_functions(tree: ast.Module) -> Iterator[Function]:
    """Yield the functions of a module and the methods of its classes, not those inside of them."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        for node in ast.iter_child_nodes(waiting.pop()):
            if isinstance(node, Function):
                yield node
            else:
                waiting.append(node)


def _own_nodes(function: Function) -> Iterator[ast.AST]:
    """Yield the nodes of a function's body; of the functions inside of it only themselves."""
    waiting: list[ast.AST] = list(reversed(function.body))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, Function | ast.Lambda):
            waiting.extend(reversed(list(ast.iter_child_nodes(node))))


def _bound(function: Function) -> frozenset[str]:
    """Return the names that a function binds for itself."""
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    bound = {argument.arg for argument in named if argument is not None}
    for node in _own_nodes(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.add(node.id)
    return frozenset(bound) - _declared_global(function)


def _declared_global(function: Function) -> frozenset[str]:
    return frozenset(name for node in _own_nodes(function) if isinstance(node, ast.Global) for name in node.names)
