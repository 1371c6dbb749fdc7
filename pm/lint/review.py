"""What an author would want to know of a plugin's files, beside whether its requirements hold. Nothing of it is run."""

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from admission import Declaration, Problem
from pm.documents.files import MANIFEST_FILES, PROJECT_FILE, SOURCE_FILE, folder_files, text_of
from pm.documents.nodes import ListNode, MappingNode, ScalarNode, given
from pm.documents.toml_positions import toml_places
from pm.documents.toml_text import read_toml
from pm.lint.imports import UndeclaredImport, undeclared_imports
from pm.lint.python_files import PythonFile, last_name, statements
from pm.names import shown
from pm.plugins.providers import is_memory_provider

ENTRY_POINT_GROUPS = ("hermes_agent.plugins", "hermes_agent.memory_providers")
"""Groups of entry points through which a host finds plugins that are installed as packages."""
HOST_MODULES = frozenset(
    {
        "acp_adapter", "agent", "batch_runner", "cli", "cron", "gateway", "hermes_bootstrap", "hermes_cli",
        "hermes_constants", "hermes_logging", "hermes_state", "hermes_time", "mcp_serve", "model_tools", "plugins",
        "providers", "run_agent", "tools", "toolset_distributions", "toolsets", "trajectory_compressor", "tui_gateway",
        "utils",
    }
)  # fmt: skip
"""Top-level modules of the host: `top_level.txt` of `hermes-agent` 0.19.0."""
_SETUP_FILE = "config_schema.py"
_COMMANDS_FILE = "cli.py"
_READABLE = frozenset({"", ".md", ".rst", ".txt"})


class EntryPoint(NamedTuple):
    """A line of a `pyproject.toml` that tells a host where the plugin is."""

    group: str
    name: str
    module: tuple[str, ...]
    line: int


class Provided(NamedTuple):
    """Which modules a set of distributions brings."""

    modules: Collection[str]
    """Top-level names, and where a distribution's contents are not known its own name."""
    unknown: tuple[str, ...] = ()
    """Distributions whose contents are not known, sorted."""


class Review:
    """Looks through the folder of one plugin."""

    def __init__(self, folder: Path, declaration: Declaration) -> None:
        self._folder = folder
        self._declaration = declaration
        self._source = PythonFile(folder)
        self._entry_points = tuple(_entry_points(folder))

    def findings(self) -> tuple[Problem, ...]:
        """Return everything that the files alone tell, sorted by file and line."""
        from pm.lint.isolation import isolation_findings  # what is admitted is asked for its imports alone

        found = (
            *self._readme(),
            *self._start(),
            *self._single_modules(),
            *self._hooks(),
            *isolation_findings(self._source, self._imported(), self._declaration.requires_env),
            *self._external(),
        )
        return tuple(sorted(found, key=lambda problem: (problem.file, problem.line, problem.code)))

    def imports(self, provided: Provided) -> tuple[Problem, ...]:
        """Return what is imported and not brought by a set, and which files could not be read for it."""
        found = undeclared_imports(self._source, self._loaded(), provided.modules)
        return (*(_undeclared(item, provided) for item in found.undeclared), *found.unread)

    def missing_imports(self, provided: Provided) -> tuple[Problem, ...]:
        """Return what is imported and certain to fail: neither is its absence caught, nor may something bring it."""
        found = undeclared_imports(self._source, self._loaded(), provided.modules)
        return tuple(_undeclared(item, provided) for item in found.undeclared if _is_certain(item, provided))

    @cached_property
    def _manifest(self) -> tuple[str, MappingNode | None]:
        # what is imported is asked of every plugin that is admitted, and needs no manifest
        return _manifest(self._folder)

    # -- what a host loads

    def _imported(self) -> tuple[str, ...]:
        """Return the files that a host imports into its own process, which may serve several profiles."""
        return self._source.loaded([SOURCE_FILE, _SETUP_FILE, *self._entry_files()])

    def _loaded(self) -> tuple[str, ...]:
        """Return the files that a host loads at all: commands run in a process for one profile."""
        return self._source.loaded([SOURCE_FILE, _SETUP_FILE, _COMMANDS_FILE, *self._entry_files()])

    def _entry_files(self) -> Iterator[str]:
        for entry in self._entry_points:
            yield from self._source.files_of(entry.module)

    # -- findings

    def _readme(self) -> Iterator[Problem]:
        names = (Path(path.name.lower()) for path in self._folder.iterdir())
        if not any(name.stem == "readme" and name.suffix in _READABLE for name in names):
            message = "there is no README that says what the plugin does before it is installed"
            yield Problem("readme-missing", message, hint="add a `README.md`")

    def _start(self) -> Iterator[Problem]:
        """Yield why a host would not find where the plugin starts. Without Python there is nothing to start."""
        if not self._source.files or self._entry_points:
            return
        if SOURCE_FILE not in self._source.files:
            message = f"there is no `{SOURCE_FILE}`: no host loads the plugin from its folder"
            yield Problem("init-missing", message, hint=f"add an `{SOURCE_FILE}` with a function `register(ctx)`")
        elif self._needs_register() and not self._has_register():
            message = "there is no `register` here: no host can start the plugin"
            yield Problem("register-missing", message, SOURCE_FILE, 1, hint="add a function `register(ctx)`")

    def _needs_register(self) -> bool:
        # a model provider registers itself when it is imported
        return self._declaration.kind != "model-provider" and SOURCE_FILE in self._source.trees

    def _has_register(self) -> bool:
        tree = self._source.trees[SOURCE_FILE]
        bound = set(_bound(tree.body))
        if bound & {"register", "__getattr__", "*"}:
            return True
        # of a memory provider the class suffices, and it may be imported
        provides = is_memory_provider(self._folder, self._declaration.key, self._declaration.kind)
        return provides and any(name[:1].isupper() for name in bound)

    def _single_modules(self) -> Iterator[Problem]:
        for entry in self._entry_points:
            files = list(self._source.files_of(entry.module))
            if not files or not files[-1].endswith(f"{entry.module[-1]}.py"):
                continue
            folder = files[-1].rpartition("/")[0]
            beside = (f"{folder}/{name}" if folder else name for name in (_COMMANDS_FILE, _SETUP_FILE))
            for name in beside:
                if name in self._source.files and name != files[-1]:
                    yield _single_module(entry, name)

    def _hooks(self) -> Iterator[Problem]:
        file, manifest = self._manifest
        if manifest is not None:
            starts = SOURCE_FILE in self._source.files or any(self._entry_files())
            loaded = self._loaded() if starts else ()
            from pm.lint.hooks import hook_findings

            yield from hook_findings(manifest, file, self._source, loaded)

    def _external(self) -> Iterator[Problem]:
        key = "external_dependencies"
        file, manifest = self._manifest
        node = given(manifest, key) if manifest is not None else None
        for position, item in enumerate(node.items if isinstance(node, ListNode) else ()):
            if isinstance(item, MappingNode):
                name, check = (given(item, part) for part in ("name", "check"))
                named = shown(name.text) if isinstance(name, ScalarNode) else f"`{key}[{position}]`"
                message = f"{named} is not a Python package, and it was not checked whether it is there"
                message += ", and its `check` was not run" if check is not None else ""
                place = (file, item.line, item.column, f"{key}[{position}]")
                yield Problem("external-unchecked", message, *place)


def _single_module(entry: EntryPoint, unread: str) -> Problem:
    module = ".".join(entry.module)
    message = f"the entry point `{entry.name}` names the single module `{module}`, so no host reads `{unread}`"
    hint = f"make `{module}` a package with `{unread.rpartition('/')[2]}` in it"
    key = f"project.entry-points.{entry.group}.{entry.name}"
    return Problem("entry-point-single-module", message, PROJECT_FILE, entry.line, key=key, hint=hint)


# -- reading files


def _manifest(folder: Path) -> tuple[str, MappingNode | None]:
    """Return the manifest's file and mapping; what is wrong with it is the declaration's to say."""
    fetch = folder_files(folder)
    for name in MANIFEST_FILES:
        text = text_of(fetch(name), name)
        if isinstance(text, str):
            root = _read(text, name)
            return name, root if isinstance(root, MappingNode) else None
    return "", None


def _read(text: str, file: str) -> object:
    if file.endswith(".json"):
        from pm.documents.json_nodes import read_json

        return read_json(text, file).root
    from pm.documents.yaml_nodes import read_yaml

    return read_yaml(text, file).root


def _entry_points(folder: Path) -> Iterator[EntryPoint]:
    text = text_of(folder_files(folder)(PROJECT_FILE), PROJECT_FILE)
    if not isinstance(text, str):
        return
    document = read_toml(text, PROJECT_FILE).values
    if document is None:
        return  # the declaration says so
    places = toml_places(text)
    for group in ENTRY_POINT_GROUPS:
        for name, value in _table(document, "project", "entry-points", group).items():
            module = tuple(str(value).partition(":")[0].strip().split("."))
            if all(part.isidentifier() for part in module):
                yield EntryPoint(group, name, module, places.of("project", "entry-points", group, name).line)


def _table(value: object, *path: str) -> Mapping[str, object]:
    for part in path:
        value = value.get(part) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def _bound(body: Sequence[ast.stmt]) -> Iterator[str]:
    """Yield the names that statements of a module give to something."""
    for node in statements(body):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from (alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            yield from map(last_name, node.targets if isinstance(node, ast.Assign) else [node.target])


# -- undeclared imports


def _is_certain(item: UndeclaredImport, provided: Provided) -> bool:
    """Return whether a module is missing whatever happens: a core may have it, or a wheel that was not looked into."""
    return not (item.guarded or item.module in HOST_MODULES or provided.unknown)


def _undeclared(item: UndeclaredImport, provided: Provided) -> Problem:
    """Return what is to be said of a module that is imported and that no distribution is known to bring."""
    module, file, line = f"`{item.module}`", item.file, item.line
    if item.guarded:
        message = f"{module} is imported if it is there; no requirement of core or plugin provides it"
        return Problem("import-optional", message, file, line)
    if item.module in HOST_MODULES:
        message = f"this core has no module {module}; `hermes-agent` has"
        hint = "name a core that has it with `--core`, or import it where its absence is caught"
        return Problem("core-module-missing", message, file, line, hint=hint)
    if provided.unknown:
        message = f"it is not known whether {_listed(provided.unknown)} provide {module}"
        return Problem("import-not-judged", message, file, line, hint="run it once without `--offline`")
    hint = "list the package that has it among the requirements"
    return Problem("undeclared-import", f"no requirement of core or plugin provides {module}", file, line, hint=hint)


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(f"`{name}`" for name in names[:_NAMED]) + (f" and {more} more" if more > 0 else "")


_NAMED = 3
