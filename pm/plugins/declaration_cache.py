"""`Declaration`s as JSON values and back, and reading them through the cache."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from admission import Declaration, ExternalDependency, Origin, Owner, Problem, Requirement
from pm.documents.boundary import alike, texts
from pm.documents.files import DECLARATION_FILES, SOURCE_FILE, Content, Fetch, folder_files
from pm.documents.parse_cache import remembered, stamp_of


class Rules(NamedTuple):
    """By which rules plugins are read, and where what was read is kept."""

    core_names: frozenset[str]
    """Names of the core's distribution: requirements on them are gates."""
    cache_directory: Path | None = None
    """`None`: nothing is kept."""


def read_declaration_cached(folder: Path, rules: Rules, *, key: str | None = None) -> Declaration:
    """Read a plugin's declaration as `read_declaration` does, from the cache if its files are those of last time."""
    fetch = folder_files(folder)
    further: dict[str, str] = {}

    def read() -> Declaration:
        from pm.plugins.declaration import assemble  # the parsers are only for what is new

        noting = _noting(fetch, further)
        return assemble(noting, key=key, fallback=folder.name, core_names=rules.core_names)

    circumstances = (folder.name, key, sorted(rules.core_names))
    return remembered(
        rules.cache_directory,
        stamp_of([*(_content_digest(fetch, name).encode() for name in _ALWAYS_READ), repr(circumstances).encode()]),
        read=read,
        encode=lambda declaration: [further, declaration_to_json(declaration)],
        decode=lambda value: _if_unchanged(value, fetch),
    )


_ALWAYS_READ = (*DECLARATION_FILES, SOURCE_FILE)


def _noting(fetch: Fetch, further: dict[str, str]) -> Fetch:
    """Return a `fetch` that notes what is read besides the files that every plugin may have.

    A project can name files of its own for its dynamic requirements; only reading it tells which.
    """

    def noting(name: str) -> Content:
        if name not in _ALWAYS_READ:
            further[name] = _content_digest(fetch, name)
        return fetch(name)

    return noting


def _if_unchanged(value: object, fetch: Fetch) -> Declaration:
    further, declaration = _list(value)
    if any(_content_digest(fetch, name) != digest for name, digest in _mapping(further).items()):
        raise ValueError(further)
    return declaration_from_json(declaration)


def _content_digest(fetch: Fetch, name: str) -> str:
    # The `repr` of a problem with a file is as good as its bytes: another problem is another reading.
    return hashlib.sha256(repr(fetch(name)).encode()).hexdigest()


def declaration_to_json(declaration: Declaration) -> object:
    """Return a value that `json` can write and `declaration_from_json` reads back to an equal declaration."""
    return dict(zip(Declaration._fields, declaration, strict=True))


def declaration_from_json(value: object) -> Declaration:
    """Return the declaration of a value that `declaration_to_json` made, before or after a trip through a file.

    Raise `TypeError`, `ValueError` or `LookupError` for any other value.
    """
    fields: dict[str, Any] = dict(_mapping(value))
    for name in ("requirements", "gates"):
        fields[name] = tuple(map(requirement_from_json, _list(fields[name])))
    for name in ("problems", "notes"):
        fields[name] = tuple(map(problem_from_json, _list(fields[name])))
    external = _list(fields["external_dependencies"])
    fields["external_dependencies"] = tuple(ExternalDependency(*texts(row)) for row in external)
    for name in ("exempt", "requires_env", "hooks"):
        fields[name] = texts(fields[name])
    return alike(Declaration(**fields), Declaration(key="", name=""))


def problem_from_json(row: object) -> Problem:
    """Return the problem of a row; raise `TypeError` for any other value."""
    return alike(Problem(*_list(row)), Problem("", ""))


def requirement_from_json(row: object) -> Requirement:
    """Return the requirement of a row; raise `TypeError` or `ValueError` for any other value."""
    values: dict[str, Any] = dict(zip(Requirement._fields, _list(row), strict=True))
    owner, *place = _list(values["origin"])
    values["origin"] = alike(Origin(Owner(*texts(owner)), *place), _NOWHERE)
    values["extras"] = texts(values["extras"])
    return alike(Requirement(**values), Requirement("", _NOWHERE))


_NOWHERE = Origin(Owner("plugin", ""))


def _list(value: object) -> Sequence[Any]:
    if isinstance(value, list | tuple):
        return value
    raise TypeError(value)


def _mapping(value: object) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    raise TypeError(value)
