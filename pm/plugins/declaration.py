"""Read what one plugin declares. Its files are read as text: nothing of it is imported or run, whatever they say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from admission import Declaration, ExternalDependency, Owner, Problem, Requirement, canonical_name
from pm.documents.boundary import parsed
from pm.documents.files import PROJECT_FILE, Fetch, folder_files, text_of
from pm.names import is_key, shown
from pm.plugins.manifest import read_manifest
from pm.plugins.providers import is_in_memory_category, names_a_provider
from pm.plugins.raw import LEGACY_LISTS, Manifest, Project
from pm.plugins.requirements import Reading, ReadRequirements, judge
from pm.redaction import redact

_MOST_PROBLEMS = 50
_REQUIREMENTS = "requirements.txt"
_NAMED = 5


def read_declaration(folder: Path, *, key: str | None = None, core_names: frozenset[str]) -> Declaration:
    """Read the declaration of a plugin's folder: only its root, all problems of all files at once.

    Without a `key` the plugin is called by its manifest's name, else its project's, else its folder's. `core_names` are
    names of the core's distribution: requirements on them are gates. An address that can never mean something else (a
    wheel with its digest) is a requirement; any other is a problem.
    """
    return assemble(folder_files(folder), key=key, fallback=folder.name, core_names=core_names)


def assemble(fetch: Fetch, *, key: str | None, fallback: str, core_names: frozenset[str]) -> Declaration:
    """Read the declaration of a plugin whose files are got by `fetch`; `fallback` is the name of their folder.

    Whatever the files hold, this returns: what cannot be read is a problem of this plugin. What is only shown has no
    credentials, since records keep it.
    """

    def read() -> Declaration:
        return _assembled(fetch, key, fallback, _reading(core_names))

    return parsed(read, lambda why: _unreadable(why, key or fallback))


def _assembled(fetch: Fetch, key: str | None, fallback: str, reading: Reading) -> Declaration:
    manifest, project = read_manifest(fetch), _project(fetch)
    name = manifest.name or project.name or fallback
    own_key, unsafe = _own_key(key, (manifest.name, project.name, fallback), manifest.file or PROJECT_FILE)
    own = reading._replace(owner=Owner("plugin", own_key), own_name=canonical_name(project.name))
    counted = _Counted(manifest, project, own)
    return Declaration(
        key=own_key,
        name=name,
        version=redact(manifest.version or project.version),
        description=redact(manifest.description or project.description),
        kind=redact(manifest.kind)
        or ("exclusive" if is_in_memory_category(own_key) or names_a_provider(fetch) else ""),
        requirements=counted.requirements,
        requires_python="" if manifest.external else project.requires_python,
        requires_core=manifest.requires_core,
        requires_core_file=manifest.file if manifest.requires_core else "",
        requires_core_line=manifest.requires_core_line,
        gates=counted.gates,
        external=manifest.external,
        declared=bool(manifest.file) or project.exists,
        exempt=() if manifest.external else project.exempt,
        external_dependencies=tuple(ExternalDependency(*map(redact, one)) for one in manifest.external_dependencies),
        requires_env=tuple(map(redact, manifest.requires_env)),
        hooks=tuple(map(redact, manifest.hooks)),
        problems=_first((*unsafe, *manifest.problems, *project.problems, *counted.problems)),
        notes=_first(
            (*manifest.notes, *project.not_installed, *project.notes, *counted.notes, *_unread(fetch, counted))
        ),
    )


def _unread(fetch: Fetch, counted: _Counted) -> Iterator[Problem]:
    """Yield a note for a `requirements.txt` that asks for what is declared nowhere: no host reads it."""
    text = text_of(fetch(_REQUIREMENTS), _REQUIREMENTS)
    if not isinstance(text, str) or counted.reads(_REQUIREMENTS):
        return
    from pm.plugins.requirements_file import names_in  # hardly any plugin has one

    declared = {requirement.name for requirement in (*counted.declared, *counted.gates)}
    missing = [(line, name) for line, name in names_in(text, _REQUIREMENTS) if name not in declared]
    if missing:
        named = _listed(name for _, name in missing[:_NAMED]) + (" …" if len(missing) > _NAMED else "")
        message = f"no host reads `{_REQUIREMENTS}`, so what it asks for is not prepared: {named}"
        hint = "list it in `python_dependencies` of the manifest, or under `[project]` of a `pyproject.toml`"
        yield Problem("dependencies-not-read", message, _REQUIREMENTS, missing[0][0], 1, "", hint)


def _reading(core_names: Iterable[str]) -> Reading:
    names = frozenset(canonical_name(core_name) for core_name in core_names)
    return Reading(owner=Owner("plugin", ""), core_names=names, takes_addresses=True)


def _unreadable(why: str, key: str) -> Declaration:
    problem = Problem("invalid-declaration", f"the plugin's files cannot be read: {why}")
    return Declaration(key=key, name=key, declared=True, problems=(problem,))


def _project(fetch: Fetch) -> Project:
    content = fetch(PROJECT_FILE)
    if content is None:
        return Project()
    from pm.plugins.pyproject import read_project  # most plugins have none, and need no TOML parser

    return read_project(content, fetch)


class _Counted:
    """Which of the two lists of requirements counts, and what is to be said about the other one."""

    def __init__(self, manifest: Manifest, project: Project, reading: Reading) -> None:
        self._manifest = manifest
        self._project = project
        self._owned = judge(project.texts, reading)
        legacy = judge(manifest.texts, reading)
        self._legacy = legacy._replace(problems=(*manifest.list_problems, *legacy.problems))
        self._used, self._unused = (self._owned, self._legacy) if project.owns else (self._legacy, self._owned)

    @property
    def requirements(self) -> tuple[Requirement, ...]:
        return () if self._manifest.external else self._used.requirements

    @property
    def declared(self) -> tuple[Requirement, ...]:
        """What is asked for in the list that counts, also where it is not prepared."""
        return self._used.requirements

    def reads(self, file: str) -> bool:
        """Say whether a file is one that the project keeps its requirements in."""
        return any(text.file == file for text in self._project.texts)

    @property
    def gates(self) -> tuple[Requirement, ...]:
        """Gates hold for an external plugin, too: it runs beside the core, whatever its packages are."""
        return self._used.gates

    @property
    def problems(self) -> tuple[Problem, ...]:
        return () if self._manifest.external else self._used.problems

    @property
    def notes(self) -> tuple[Problem, ...]:
        """A fault of a list that does not count makes no plugin unfit, and is told all the same."""
        faults = (*self._used.problems, *self._unused.problems) if self._manifest.external else self._unused.problems
        return (*self._used.notes, *self._unused.notes, *faults, *self._external(), *self._differ())

    def _external(self) -> Iterator[Problem]:
        asked = self._used.requirements
        if self._manifest.external and asked:
            named = _listed(requirement.text for requirement in asked)
            message = f"these were not prepared, since the plugin brings its own environment (`external`): {named}"
            origin = asked[0].origin
            yield Problem("external-runtime", message, origin.file, origin.line, 0, origin.key)

    def _differ(self) -> Iterator[Problem]:
        if not self._project.owns or not self._manifest.texts or self._agree():
            return
        first = self._manifest.texts[0]
        lists = [key for key in LEGACY_LISTS if any(text.key == key for text in self._manifest.texts)]
        message = (
            f"`{first.file}` and `{PROJECT_FILE}` require different packages, and `{PROJECT_FILE}` is used: "
            f"{_listed(text.text for text in self._manifest.texts)} in {_listed(lists)}, "
            f"{_listed(text.text for text in self._project.texts)} in `project.dependencies`"
        )
        hint = "keep one of the two lists"
        yield Problem("declarations-differ", message, first.file, first.line, first.column, first.key, hint)

    def _agree(self) -> bool:
        if {text.text.strip() for text in self._project.texts} == {text.text.strip() for text in self._manifest.texts}:
            return True
        faulty = self._owned.problems or self._legacy.problems
        return not faulty and _canonical(self._owned) == _canonical(self._legacy)


def _canonical(judged: ReadRequirements) -> set[str]:
    return {requirement.canonical for requirement in (*judged.requirements, *judged.gates)}


def _listed(texts: Iterable[str]) -> str:
    return ", ".join(shown(text) for text in texts) or "nothing"


def _own_key(key: str | None, names: tuple[str, ...], file: str) -> tuple[str, tuple[Problem, ...]]:
    """Return the plugin's key. A name that is one but for dots keeps its identity with `-` in their place."""
    if key is not None:
        return key, () if is_key(key) else (_unsafe(key, file),)
    written = [name for name in names if name]
    candidates = (spelling for name in written for spelling in (name, name.replace(".", "-")))
    found = next((name for name in candidates if is_key(name)), None)
    if found is not None:
        return found, ()
    return written[-1], (_unsafe(written[-1], file),)


def _unsafe(name: str, file: str) -> Problem:
    hint = "give the plugin a `name` of letters, digits, `-` and `_` in its manifest"
    return Problem("unsafe-name", f"{shown(name)} cannot be the key of a plugin", file, key="name", hint=hint)


def _first(problems: tuple[Problem, ...]) -> tuple[Problem, ...]:
    """Bound what one plugin can make people read: a hostile file may hold a hundred thousand faults."""
    distinct = tuple(dict.fromkeys(problems))
    if len(distinct) <= _MOST_PROBLEMS:
        return distinct
    last = distinct[_MOST_PROBLEMS]
    more = Problem(last.code, f"and {len(distinct) - _MOST_PROBLEMS} more of this kind", last.file, last.line)
    return (*distinct[:_MOST_PROBLEMS], more)
