"""Question an interpreter once, in isolated mode, and describe it as a `Target`."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from admission import Target
from pm.atomic import read_json, write_json
from pm.errors import PmError

_SCHEMA = 2

# Runs inside the interpreter in question with `-I -S`: no site, so none of an environment's `.pth` files. The path of
# our packaging goes last, so that it can answer for the tags of *that* interpreter (its libc, its flags).
_QUESTION = """
import json, sys
sys.path.append(sys.argv[1])
from packaging.markers import default_environment
from packaging.tags import sys_tags
print(json.dumps({
    "environment": default_environment(),
    "tags": [str(tag) for tag in sys_tags()],
    "implementation": sys.implementation.name,
    "version": "{}.{}.{}".format(*sys.version_info[:3]),
    "standard_modules": sorted(sys.stdlib_module_names),
    "base": sys._base_executable,
}))
"""


class Interpreter(NamedTuple):
    """An interpreter that generations can be built for."""

    path: Path
    """The base interpreter, not one of an environment."""
    target: Target
    standard_modules: frozenset[str]
    """Top-level names of its standard library."""


def describe_interpreter(path: Path, cache: Path) -> Interpreter:
    """Return what an interpreter is; asked once, and again when its file changes.

    Raise `PmError` (`python-version`) if it cannot be started or is older than 3.11.
    """
    real = Path(os.path.realpath(path))
    try:
        status = real.stat()
    except OSError as error:
        text = f"the interpreter `{path}` cannot be read: {error.strerror}"
        raise PmError("python-version", text, file=str(path)) from error
    key = [_SCHEMA, str(path), str(real), status.st_size, status.st_mtime_ns]
    file = cache / "interpreters" / f"{_digest(str(path))}.json"
    stored = read_json(file)
    if isinstance(stored, dict) and stored.get("key") == key:
        answer = stored["answer"]
    else:
        answer = _ask(path)
        write_json(file, {"key": key, "answer": answer})
    return _interpreter(answer)


def default_interpreter() -> Path:
    """Return the base interpreter of the manager itself."""
    return Path(getattr(sys, "_base_executable", None) or sys.executable)


def find_interpreter(request: str, requires_python: str, cache: Path) -> Interpreter:
    """Return the interpreter of a request (a path, `3.12`, `>=3.12`), or without one the first that the core admits.

    Without a request: the manager's base interpreter, else the newest installed one. Nothing is downloaded.
    Raise `PmError` (`python-version`) if there is none.
    """
    if request:
        looks_like_path = os.sep in request or request.startswith("~")
        path = Path(request).expanduser() if looks_like_path else _find(request)
        return describe_interpreter(path, cache)
    own = describe_interpreter(default_interpreter(), cache)
    if _admits(requires_python, own.target.python):
        return own
    return describe_interpreter(_find(requires_python), cache)


def _admits(requires_python: str, version: str) -> bool:
    if not requires_python:
        return True
    from packaging.specifiers import SpecifierSet

    return SpecifierSet(requires_python).contains(version, prereleases=True)


def _find(request: str) -> Path:
    """Return the newest installed interpreter that a request admits, as uv finds it or as pyenv keeps it."""
    from pm import uv

    found = uv.find_python(request) or _newest_of_pyenv(request)
    if found is None:
        raise PmError(
            "python-version",
            f"no installed Python satisfies `{request}`",
            hint="install one, or name its path with `--python PATH` (`pm.python` in config.yaml)",
        )
    return found


def _newest_of_pyenv(request: str) -> Path | None:
    """Look where pyenv keeps its versions: its programs on PATH refuse to start for a version that is not selected."""
    from packaging.specifiers import InvalidSpecifier, SpecifierSet
    from packaging.version import InvalidVersion, Version

    try:
        wanted = SpecifierSet(request if request[:1] in "<>=~!" else f"=={request}.*")
    except InvalidSpecifier:
        return None
    found: list[tuple[Version, Path]] = []
    for folder in _pyenv_versions():
        try:
            version = Version(folder.name)
        except InvalidVersion:
            continue
        if wanted.contains(version) and (folder / "bin" / "python3").exists():
            found.append((version, folder / "bin" / f"python{version.major}.{version.minor}"))
    return max(found)[1] if found else None


def _pyenv_versions() -> Iterable[Path]:
    root = Path(os.environ.get("PYENV_ROOT") or "~/.pyenv").expanduser() / "versions"
    return sorted(root.iterdir()) if root.is_dir() else []


def _ask(path: Path) -> object:
    import packaging

    from pm import processes

    ours = str(Path(packaging.__file__).parent.parent)
    done = processes.run([path, "-I", "-S", "-c", _QUESTION, ours], seconds=60)
    if done.status != 0:
        lines = done.stderr.strip().splitlines() or ["it said nothing"]
        raise PmError("python-version", f"`{path}` is not a usable Python 3.11 or newer: {lines[-1]}", file=str(path))
    return json.loads(done.stdout)


def _interpreter(answer: dict[str, object]) -> Interpreter:
    environment = answer["environment"]
    tags = answer["tags"]
    modules = answer["standard_modules"]
    if not (isinstance(environment, dict) and isinstance(tags, list) and isinstance(modules, list)):
        raise PmError("python-version", "the interpreter's own description cannot be read")
    platform = f"{environment['sys_platform']}-{environment['platform_machine']}"
    target = Target(
        name=f"{answer['implementation']}-{answer['version']}-{platform}",
        python=str(answer["version"]),
        environment=tuple(sorted((str(name), str(value)) for name, value in environment.items())),
        tags=tuple(tags),
    )
    return Interpreter(Path(str(answer["base"])), target, frozenset(modules))


def _digest(text: str) -> str:
    import hashlib

    return hashlib.sha256(text.encode()).hexdigest()[:16]
