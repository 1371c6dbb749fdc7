"""Read a project's folder as the core: its `pyproject.toml` says what is hard, the lock beside it what is preferred.

Nothing of the project is run. A dynamic version is read where it is written down in a file, and no build backend is
asked.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from admission import Core, Origin, Owner, Problem, Requirement, Target, canonical_name
from pm.documents.files import PROJECT_FILE, Content, Fetch, folder_files, text_of
from pm.errors import PmError
from pm.host.project_lock import LOCK_FILES, is_version, lock_file, preferred_versions
from pm.names import HOST_NAME, MARK, shown
from pm.places import expanded
from pm.plugins.raw import Written


class Named(NamedTuple):
    """A project's folder as a setting names it."""

    folder: Path
    """Absolute."""
    extras: tuple[str, ...]
    """Normalised, sorted."""


class ProjectCore(NamedTuple):
    """What the files of a project's folder make of it as a core."""

    core: Core
    notes: tuple[Problem, ...]
    """What is odd about them and stops nothing; with absolute file names."""


def named_project(setting: str, root: Path) -> Named:
    """Return the folder and the extras of a setting such as `../hermes`, `~/hermes` or `/srv/hermes[honcho,voice]`.

    A relative folder is relative to `root`, where the setting is written, so that it means the same from everywhere.
    """
    folder = root / expanded(setting)
    extras = re.fullmatch(_EXTRAS, setting)
    if extras is None or folder.is_dir():  # a folder may have brackets in its name
        return Named(_normal(folder), ())
    chosen = {canonical_name(extra.strip()) for extra in extras[2].split(",") if extra.strip()}
    return Named(_normal(root / expanded(extras[1])), tuple(sorted(chosen)))


def without_extras(setting: str) -> str:
    """Return what a setting says of a project's folder, without the extras."""
    extras = re.fullmatch(_EXTRAS, setting)
    return setting if extras is None or expanded(setting).is_dir() else extras[1]


_EXTRAS = r"(.+)\[([^\[\]]*)\]"


def _normal(folder: Path) -> Path:
    import os

    return Path(os.path.abspath(folder))  # noqa: PTH100 - a link keeps its name: what it leads to may be switched


def project_files(folder: Path) -> Fetch:
    """Return a way to get the files of a project; a lock may be larger than what people write."""
    small = folder_files(folder)

    def fetch(name: str) -> Content:
        return lock_file(folder, name) if name in LOCK_FILES else small(name)

    return fetch


def read_project_core(folder: Path, extras: Iterable[str], target: Target, fetch: Fetch) -> ProjectCore:
    """Read the core that a project's folder is, with some of its extras.

    Raise `PmError` with all faults of its files (`invalid-declaration`, `dynamic-dependencies`, `direct-url` …), or
    (`unknown-extra`).
    """
    from pm.plugins.pyproject import read_project

    read = read_project(fetch(PROJECT_FILE), fetch)
    if not read.owns and not read.problems:
        raise _no_project(folder, exists=read.exists)
    document = _table(fetch)
    if document is None:
        raise _faults(folder, read.problems)
    project = _Project(document, fetch, read.name, read.version)
    options = _Wishes(project, canonical_name(read.name), read.texts)
    chosen = options.chosen(folder, extras)
    locked = preferred_versions(fetch, frozenset({HOST_NAME, options.own}))
    version, speaks = project.version(), project.speaks()
    problems = (*map(_of_a_core, read.problems), *project.problems, *options.problems(chosen))
    if problems or isinstance(locked, Problem):
        raise _faults(folder, (*problems, locked) if isinstance(locked, Problem) else problems)
    core = Core(
        name=options.own,
        version=version,
        requirements=options.requirements(chosen),
        requires_python=read.requires_python,
        preferences=dict(sorted((exact_pins(options.pins(target)) | locked).items())),
        speaks=speaks,
        extras=tuple(sorted(extras)),
        active=tuple(extra for extra in chosen if extra),
        offers=options.extras,
    )
    notes = tuple(note._replace(file=str(folder / note.file)) for note in (*read.notes, *options.notes()))
    return ProjectCore(core, notes)


def reached_extras(chosen: Iterable[str], asks: Mapping[str, Iterable[str]]) -> frozenset[str]:
    """Return the chosen extras and those that they ask for: `all` may be written as `hermes-agent[cli,voice]`.

    `asks` says for each extra (an empty text: without any) which extras of the same project it asks for.
    """
    reached: set[str] = set()
    waiting = [*asks.get("", ()), *chosen]
    while waiting:
        extra = waiting.pop()
        if extra not in reached:
            reached.add(extra)
            waiting += asks.get(extra, ())
    return frozenset(reached)


def exact_pins(written: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the first exact pin of each package among names and specifiers, by name."""
    pins: dict[str, str] = {}
    for name, specifier in written:
        if specifier.startswith("==") and "*" not in specifier and "," not in specifier:
            pins.setdefault(name, specifier)
    return dict(sorted(pins.items()))


# -- requirements


class _Wishes:
    """What a project asks for, plainly and with each of its extras."""

    def __init__(self, project: "_Project", own: str, texts: Iterable[Written]) -> None:
        from pm.plugins.requirements import Reading, judge

        self.own = own
        core_names = frozenset({HOST_NAME, own})
        self._judged = {"": judge(texts, Reading(Owner("core", own), core_names))}
        for extra, written in project.extras().items():
            self._judged[extra] = judge(written, Reading(Owner("core-extra", extra), core_names))

    @property
    def extras(self) -> tuple[str, ...]:
        """The extras that it has, sorted."""
        return tuple(sorted(extra for extra in self._judged if extra))

    def chosen(self, folder: Path, wanted: Iterable[str]) -> tuple[str, ...]:
        """Return whose requirements count: the plain ones, those of the wanted extras, and of what these ask for."""
        unknown = sorted(set(wanted) - set(self.extras))
        if unknown:
            has = f"it has {', '.join(self.extras)}" if self.extras else "it has none"
            raise PmError(
                "unknown-extra", f"the core in `{folder}` has no extra `{unknown[0]}`", hint=has, key="pm.core"
            )
        reached = reached_extras(wanted, self._asks())
        return ("", *sorted(reached & set(self.extras)))

    def requirements(self, chosen: Iterable[str]) -> tuple[Requirement, ...]:
        return tuple(requirement for extra in chosen for requirement in self._judged[extra].requirements)

    def pins(self, target: Target) -> Iterator[tuple[str, str]]:
        """Yield what the extras ask for on a target, also those that were not chosen."""
        from admission.gates import applies

        for extra in self.extras:
            for requirement in self._judged[extra].requirements:
                if applies(requirement.marker, target):
                    yield requirement.name, requirement.specifier

    def problems(self, chosen: Iterable[str]) -> Iterator[Problem]:
        """Yield the faults; of an extra that was not chosen only what makes the file itself invalid."""
        counting = set(chosen)
        for extra, judged in self._judged.items():
            for problem in judged.problems:
                if extra in counting or problem not in judged.unwanted:
                    yield _of_a_core(problem)
            if extra in counting:
                yield from (_other_core(gate) for gate in judged.gates if gate.name != self.own)

    def notes(self) -> Iterator[Problem]:
        for judged in self._judged.values():
            yield from judged.notes
            for gate in judged.gates:
                for extra in gate.extras if gate.name == self.own else ():
                    if extra not in self._judged:
                        yield _at(gate.origin, "unknown-extra", f"`{gate.text}`: there is no extra `{extra}` here")

    def _asks(self) -> dict[str, list[str]]:
        return {
            extra: [further for gate in judged.gates if gate.name == self.own for further in gate.extras]
            for extra, judged in self._judged.items()
        }


def _other_core(gate: Requirement) -> Problem:
    text = f"`{gate.text}` asks for a core, and this project is to be the core itself"
    hint = f"name that release instead: `pm.core: {gate.canonical}`"
    return _at(gate.origin, "invalid-declaration", text)._replace(hint=hint)


def _at(origin: Origin, code: str, message: str) -> Problem:
    return Problem(code, message, origin.file, origin.line, key=origin.key)


def _of_a_core(problem: Problem) -> Problem:
    """Return a problem in words that fit a core: its files are read by the same functions as a plugin's."""
    if problem.code == "dynamic-dependencies":
        message = "the requirements are `dynamic`: known only after a build, and nothing is run to read them"
        return problem._replace(message=message)
    if problem.code == "direct-url":
        return problem._replace(hint="name a version of an index: the core's requirements are resolved like all others")
    return problem


# -- the other fields


class _Project:
    """Takes out of a `pyproject.toml` what only a core has."""

    def __init__(self, document: Mapping[str, Any], fetch: Fetch, name: str, version: str) -> None:
        from pm.documents.toml_positions import toml_places

        self.problems: list[Problem] = []
        self._document = document
        self._fetch = fetch
        self._version = version
        self._places = toml_places(str(text_of(fetch(PROJECT_FILE), PROJECT_FILE)))
        self._dynamic = _inside(document, "project", "dynamic")
        if not re.fullmatch(_NAME, name):
            said = f"{shown(name)} is not the name of a project" if name else "`project.name` is missing"
            self._refuse(("project", "name"), said, hint='write `name = "hermes-agent"`')

    def version(self) -> str:
        """Return the version that gates are judged against."""
        if self._version:
            return self._checked(self._version, "project", "version")
        is_dynamic = isinstance(self._dynamic, list) and "version" in self._dynamic
        found = self._version_in_files() if is_dynamic else ""
        if not found and not self.speaks():
            unread = "is `dynamic`: known only after a build, and nothing is run to read it"
            hint = 'write `version = "…"` in `[project]`, or `speaks = "…"` in `[tool.hermes-pm]`: plugins ask for it'
            said = f"`project.version` {unread if is_dynamic else 'is missing'}"
            self._refuse(("project", "dynamic" if is_dynamic else "version"), said, hint=hint)
        return found or self.speaks()

    def speaks(self) -> str:
        """Return what the project wants `requires_hermes` to be judged against; empty: its version."""
        written = _inside(self._document, "tool", "hermes-pm", "speaks")
        if written is not None and not isinstance(written, str):
            self._refuse(("tool", "hermes-pm", "speaks"), "`tool.hermes-pm.speaks` must be a string")
            return ""
        return self._checked(written, "tool", "hermes-pm", "speaks") if written else ""

    def extras(self) -> dict[str, list[Written]]:
        """Return the texts of the optional dependencies by normalised extra."""
        table = _inside(self._document, "project", "optional-dependencies")
        if table is None:
            return {}
        if not isinstance(table, dict):
            self._refuse(("project", "optional-dependencies"), "`project.optional-dependencies` must be a table")
            return {}
        written: dict[str, list[Written]] = {}
        for name, texts in table.items():
            written.setdefault(canonical_name(name), []).extend(self._texts(name, texts))
        return written

    def _texts(self, extra: str, texts: object) -> Iterator[Written]:
        key = f"project.optional-dependencies.{extra}"
        path = ("project", "optional-dependencies", extra)
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            self._refuse(path, f"`{key}` must be an array of strings")
            return
        for position, text in enumerate(texts):
            place = self._places.of(*path, str(position))
            # the text starts after its quote; in one with escapes the columns mean nothing
            column = place.column + 1 if place.column and "\\" not in text and "\n" not in text else 0
            yield Written(text, PROJECT_FILE, place.line, column, key, position)

    def _version_in_files(self) -> str:
        """Read a version that a backend would only copy: setuptools' `file` and `attr`, hatchling's `path`."""
        setuptools = _inside(self._document, "tool", "setuptools", "dynamic", "version")
        hatch = _inside(self._document, "tool", "hatch", "version")
        file, attr = _inside(setuptools, "file"), _inside(setuptools, "attr")
        if isinstance(file, list) and len(file) == 1:
            file = file[0]
        if isinstance(file, str):
            return self._plausible(self._text_of(file).strip())
        if isinstance(attr, str):
            module, _, name = attr.rpartition(".")
            path = module.replace(".", "/")
            files = (f"{top}{path}{end}" for top in ("", "src/") for end in (".py", "/__init__.py"))
            return next(filter(None, (self._literal(file, re.escape(name)) for file in files)), "")
        path = _inside(hatch, "path")
        if isinstance(path, str) and not {"pattern", "expression"} & set(hatch):
            return self._literal(path, "__version__|VERSION")
        return ""

    def _literal(self, file: str, names: str) -> str:
        pattern = rf"^(?:{names})(?: ?: ?str)? *= *(['\"])v?([^'\"\n]+)\1"
        found = re.search(pattern, self._text_of(file), re.MULTILINE)
        return self._plausible(found[2]) if found else ""

    def _text_of(self, file: str) -> str:
        text = text_of(self._fetch(file), file) if file.isprintable() else None
        return text if isinstance(text, str) else ""

    def _plausible(self, version: str) -> str:
        return version if is_version(version) else ""

    def _checked(self, version: str, *path: str) -> str:
        if not is_version(version):
            self._refuse(path, f"{shown(version)} is not a version", hint="write one such as `0.19.0`")
        return version

    def _refuse(self, path: tuple[str, ...], message: str, *, hint: str = "") -> None:
        place = self._places.of(*path)
        line = place.line or self._places.of(path[0]).line
        problem = Problem("invalid-declaration", message, PROJECT_FILE, line, place.column, ".".join(path), hint)
        if problem not in self.problems:
            self.problems.append(problem)


_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"


def _table(fetch: Fetch) -> dict[str, Any] | None:
    """Return the document if it is one with a `[project]`; `read_project` says what is wrong with any other."""
    from pm.documents.toml_text import read_toml

    text = text_of(fetch(PROJECT_FILE), PROJECT_FILE)
    document = read_toml(text, PROJECT_FILE).values if isinstance(text, str) else None
    return document if document is not None and isinstance(document.get("project"), dict) else None


def _inside(table: object, *path: str) -> Any:  # noqa: ANN401 - whatever stands there; who asks looks at its type
    for part in path:
        if not isinstance(table, Mapping):
            return None
        table = table.get(part)
    return table


# -- refusals


def _no_project(folder: Path, *, exists: bool) -> PmError:
    file = folder / PROJECT_FILE
    if exists:
        text = f"`{file}` has no `[project]`, so it does not say what the core needs"
        return PmError(
            "invalid-declaration", text, hint="write its name, version and dependencies there", file=str(file)
        )
    there = folder.is_dir()
    text = f"the folder `{folder}` has no `{PROJECT_FILE}`" if there else f"the folder `{folder}` is not there"
    hint = f"the core is a folder with a `{PROJECT_FILE}`, or a release such as `{HOST_NAME}==0.19.0`"
    return PmError("invalid-declaration", text, hint=hint, key="pm.core")


def _faults(folder: Path, problems: Iterable[Problem]) -> PmError:
    """Return all faults as one error; it stands at the first."""
    ordered = sorted(problems, key=lambda problem: (problem.file != PROJECT_FILE, problem.line, problem.column))
    first = ordered[0]
    places = [f"`{problem.file}` line {problem.line}" if problem.line else f"`{problem.file}`" for problem in ordered]
    if len(ordered) == 1:
        message, hint = f"the core's {places[0]}: {first.message}", first.hint
    else:
        told = [
            f"{problem.message}\n{MARK}  {problem.hint}" if problem.hint else problem.message for problem in ordered
        ]
        lines = (f"{place}: {text}" for place, text in zip(places, told, strict=True))
        message, hint = f"\n{MARK}".join([f"the core's project has {len(ordered)} faults", *lines]), ""
    file = str(folder / first.file)
    return PmError(first.code, message, hint=hint, file=file, line=first.line, key=first.key)
