"""Read the Python requirements of a plugin's `pyproject.toml`. No build backend is asked for anything."""

from __future__ import annotations

from collections.abc import Mapping

from admission import InvalidRequirementText, Problem, canonical_name, parse_specifier
from pm.documents.files import PROJECT_FILE, Content, Fetch, text_of
from pm.documents.nodes import too_many_values
from pm.documents.toml_positions import TomlPosition, TomlPositions, toml_places
from pm.documents.toml_text import read_toml
from pm.limits import REQUIREMENTS_FILES
from pm.names import shown, visible
from pm.plugins.raw import Project, Written
from pm.plugins.requirements_file import read_requirements_files
from pm.redaction import redact

FILE = PROJECT_FILE
_Table = Mapping[str, object]


def read_project(content: Content, fetch: Fetch) -> Project:
    """Read the `pyproject.toml` of a plugin; `fetch` gets the files that it names."""
    text = text_of(content, FILE)
    if text is None:
        return Project()
    if isinstance(text, Problem):
        return Project(exists=True, problems=(text,))
    return _of_text(text, fetch)


def _of_text(text: str, fetch: Fetch) -> Project:
    document, problems = read_toml(text, FILE)
    if document is None:
        return Project(exists=True, problems=problems)
    places = toml_places(text)
    if places.ends_at is not None:
        return Project(exists=True, problems=(too_many_values(FILE, *places.ends_at),))
    if "project" not in document:
        return Project(exists=True, notes=_poetry_note(document, places))
    table = document["project"]
    if not isinstance(table, dict):
        message = f"`project` must be a table, not {_named(table)}"
        return Project(exists=True, owns=True, problems=(_problem(places, ("project",), message),))
    return _of_table(document, table, places, fetch)


def _of_table(document: _Table, table: _Table, places: TomlPositions, fetch: Fetch) -> Project:
    fields = _ProjectFields(document, table, places, fetch)
    return Project(
        exists=True,
        owns=True,
        name=fields.text("name"),
        version=fields.text("version"),
        description=fields.text("description"),
        requires_python=fields.requires_python(),
        texts=fields.dependencies(),
        exempt=fields.exempt(),
        problems=tuple(fields.problems),
        not_installed=fields.not_installed(),
        notes=fields.sources(),
    )


class _ProjectFields:
    """Takes the fields out of the `[project]` table and of the tool tables beside it."""

    def __init__(self, document: _Table, table: _Table, places: TomlPositions, fetch: Fetch) -> None:
        self.problems: list[Problem] = []
        self._document = document
        self._table = table
        self._places = places
        self._fetch = fetch

    def text(self, key: str) -> str:
        value = self._table.get(key, "")
        if isinstance(value, str):
            return value
        self._refuse(("project", key), f"`project.{key}` must be a text, not {_named(value)}")
        return ""

    def requires_python(self) -> str:
        written = self.text("requires-python").strip()
        try:
            return parse_specifier(written)
        except InvalidRequirementText as error:
            hint = f'write `requires-python = "{visible(error.correction)}"`' if error.correction else ""
            self._refuse(("project", "requires-python"), f"{shown(written)} is not a set of version bounds", hint=hint)
            return ""

    def dependencies(self) -> tuple[Written, ...]:
        dynamic = self._table.get("dynamic", [])
        if not isinstance(dynamic, list):
            message = f"`project.dynamic` must be an array of strings, not {_named(dynamic)}"
            self._refuse(("project", "dynamic"), message)
            return ()
        is_dynamic = "dependencies" in dynamic
        if "dependencies" not in self._table:
            return self._dynamic() if is_dynamic else ()
        if is_dynamic:
            message = "`project.dependencies` is written here and also named in `project.dynamic`"
            self._refuse(("project", "dynamic"), message, hint="take it out of `dynamic`")
        return self._static(self._table["dependencies"])

    def _static(self, value: object) -> tuple[Written, ...]:
        key = "project.dependencies"
        if not isinstance(value, list):
            single = isinstance(value, str) and "\n" not in value
            hint = f'write `dependencies = ["{visible(str(value))}"]`' if single else ""
            message = f"`{key}` must be an array of strings, not {_named(value)}"
            self._refuse(("project", "dependencies"), message, hint=hint)
            return ()
        texts: list[Written] = []
        for index, item in enumerate(value):
            path = ("project", "dependencies", str(index))
            if isinstance(item, str):
                texts.append(self._written(item, path, key, index))
            else:
                self._refuse(path, f"`{key}[{index}]` must be a string, not {_named(item)}", item=f"{key}[{index}]")
        return tuple(texts)

    def _written(self, text: str, path: tuple[str, ...], key: str, index: int) -> Written:
        place = self._places.of(*path)
        # The text starts after its quote; where the string holds an escape, columns inside of it mean nothing.
        column = 0 if "\n" in text or "\\" in text or not place.column else place.column + 1
        return Written(text, FILE, place.line, column, key, index)

    def _dynamic(self) -> tuple[Written, ...]:
        """Read what can be read without running anything: the files that setuptools is told to take the list from."""
        described = _at(self._document, "tool", "setuptools", "dynamic", "dependencies")
        files = described.get("file") if isinstance(described, Mapping) else None
        names = [files] if isinstance(files, str) else files
        if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
            message = "the requirements are `dynamic`: known only after a build, which would run the plugin's code"
            hint = "write them under `[project]` as `dependencies = [...]`"
            self._refuse(("project", "dynamic"), message, code="dynamic-dependencies", hint=hint)
            return ()
        if len(names) > REQUIREMENTS_FILES.value:
            message = f"the requirements are kept in more than {REQUIREMENTS_FILES.value} {REQUIREMENTS_FILES.unit}"
            self.problems.append(self._dynamic_origin()._replace(message=message))
            return ()
        texts, problems = read_requirements_files([str(name) for name in names], self._fetch, self._dynamic_origin())
        self.problems += problems
        return texts

    def _dynamic_origin(self) -> Problem:
        """Return where the files are named, as a problem that has no message yet."""
        return _problem(self._places, ("tool", "setuptools", "dynamic", "dependencies"), "")

    def exempt(self) -> tuple[str, ...]:
        table = _at(self._document, "tool", "uv", "exclude-newer-package")
        names = table.items() if isinstance(table, Mapping) else ()
        return tuple(sorted({canonical_name(str(name)) for name, value in names if value is False}))

    def not_installed(self) -> tuple[Problem, ...]:
        """Return one note for everything that is written here and not installed."""
        optional = _names("extra", self._table.get("optional-dependencies"))
        groups = _names("group", self._document.get("dependency-groups"))
        if not optional and not groups:
            return ()
        path = ("project", "optional-dependencies") if optional else ("dependency-groups",)
        named = ", ".join([*optional, *groups])
        message = f"optional dependencies and dependency groups are not installed: {named}"
        return (_problem(self._places, path, message, code="optional-dependencies-not-installed"),)

    def sources(self) -> tuple[Problem, ...]:
        table = _at(self._document, "tool", "uv", "sources")
        if not isinstance(table, Mapping) or not table:
            return ()
        named = ", ".join(shown(str(name)) for name in sorted(table))
        message = f"`tool.uv.sources` is not read; taken from an index instead: {named}"
        return (_problem(self._places, ("tool", "uv", "sources"), message, code="sources-not-read"),)

    def _refuse(
        self, path: tuple[str, ...], message: str, *, code: str = "invalid-declaration", hint: str = "", item: str = ""
    ) -> None:
        problem = _problem(self._places, path, message, code=code, hint=hint)
        self.problems.append(problem._replace(key=item) if item else problem)


def _names(noun: str, table: object) -> list[str]:
    return [f"{noun} {shown(str(name))}" for name in table] if isinstance(table, Mapping) else []


def _at(table: object, *path: str) -> object:
    """Return what stands at a path of tables; `None` when the way breaks off."""
    for part in path:
        if not isinstance(table, Mapping):
            return None
        table = table.get(part)
    return table


def _problem(
    places: TomlPositions, path: tuple[str, ...], message: str, *, code: str = "invalid-declaration", hint: str = ""
) -> Problem:
    place = places.of(*path)
    if not place.line:
        # A table that is never written as a header has no place of its own; the first thing inside of it has.
        within = (found for known, found in places.found.items() if known[: len(path)] == path)
        place = next(within, TomlPosition(0, 0))
    return Problem(code, redact(message), FILE, place.line, place.column, ".".join(path), redact(hint))


def _named(value: object) -> str:
    names = {str: "a string", bool: "a boolean", int: "an integer", float: "a float", list: "an array", dict: "a table"}
    return names.get(type(value), f"a {type(value).__name__}")


def _poetry_note(document: _Table, places: TomlPositions) -> tuple[Problem, ...]:
    path = ("tool", "poetry", "dependencies")
    if not _at(document, *path):
        return ()
    message = "`tool.poetry.dependencies` is not read, so nothing of it is prepared"
    hint = "write the requirements under `[project]` as `dependencies = [...]`"
    return (_problem(places, path, message, code="dependencies-not-read", hint=hint),)
