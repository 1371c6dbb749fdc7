"""Read which versions a project's own lock, `uv.lock` or `pylock.toml`, prefers; nothing of it is binding."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from admission import Problem, canonical_name
from pm.documents.files import Content, Fetch, regular_file, text_of
from pm.limits import PROJECT_LOCK_BYTES

LOCK_FILES = ("uv.lock", "pylock.toml")
"""The first one that exists is read."""
_HINT = "write it again, or delete it: its versions are only preferred"


def preferred_versions(fetch: Fetch, without: frozenset[str]) -> dict[str, str] | Problem:
    """Return name → `==version` of the lock, or what is wrong with its file; without a lock nothing is preferred.

    A package that it locks in several versions, each for other targets, is left out, as is one that is no release of
    an index: elsewhere the same version can have other content.
    """
    for file in LOCK_FILES:
        content = fetch(file)
        if content is not None:
            text = text_of(content, file)
            return _preferred(file, text, without) if isinstance(text, str) else _unreadable(file, text)
    return {}


def lock_file(folder: Path, name: str) -> Content:
    """Return the bytes of a lock, which may be larger than what people write."""
    return regular_file(folder / name, name, PROJECT_LOCK_BYTES)


def is_version(text: str) -> bool:
    """Say whether a text is a version (PEP 440)."""
    from packaging.version import InvalidVersion, Version

    try:
        Version(text)
    except InvalidVersion:
        return False
    return True


def _preferred(file: str, text: str, without: frozenset[str]) -> dict[str, str] | Problem:
    from pm.documents.toml_text import read_toml

    document, problems = read_toml(text, file)
    if document is None:
        return problems[0]._replace(hint=_HINT)
    packages = document.get("package" if file == "uv.lock" else "packages")
    versions: dict[str, set[str]] = {}
    for package in packages if isinstance(packages, list) else ():
        if isinstance(package, dict) and _from_index(package):
            versions.setdefault(canonical_name(str(package.get("name"))), set()).add(str(package.get("version")))
    single = {name: next(iter(found)) for name, found in versions.items() if len(found) == 1}
    return {name: f"=={version}" for name, version in single.items() if name not in without and is_version(version)}


def _from_index(package: Mapping[str, Any]) -> bool:
    source = package.get("source")
    if source is not None:
        return isinstance(source, dict) and "registry" in source
    return not {"vcs", "directory", "archive"} & set(package)


def _unreadable(file: str, problem: Problem | None) -> Problem:
    # only the bytes of a file that is there come here, so there is a problem with them
    found = problem or Problem("invalid-declaration", "the file cannot be read", file)
    return found if found.hint else found._replace(hint=_HINT)
