"""Question an interpreter once, in isolated mode, and describe it as a `Target`."""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from admission import Target
from pm.errors import PmError
from pm.names import shown
from pm.places import expanded, user_home
from pm.system.files import read_json, write_json

if TYPE_CHECKING:
    from packaging.specifiers import SpecifierSet

_SCHEMA = 3

# Runs inside the interpreter in question with `-I -S`: no site, so none of an environment's `.pth` files. The path of
# our packaging goes last, so that it can answer for the tags of *that* interpreter (its libc, its flags).
_QUESTION = """
import sys
if sys.version_info < (3, 11):
    sys.exit("it is Python {}.{}.{}".format(*sys.version_info[:3]))
import json
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

    Raise `PmError` (`no-interpreter`) if it cannot be started or is older than 3.11.
    """
    import packaging

    path = Path(os.path.abspath(path))  # noqa: PTH100 - in an environment the link itself says which one it is
    real = Path(os.path.realpath(path))
    try:
        status = real.stat()
    except OSError as error:
        text = f"the interpreter {shown(str(path))} cannot be read: {error.strerror}"
        raise PmError("no-interpreter", text, file=str(path)) from error
    key = [_SCHEMA, packaging.__version__, str(path), str(real), status.st_size, status.st_mtime_ns]
    file = cache / "interpreters" / f"{_digest(str(path))}.json"
    stored = read_json(file)
    if isinstance(stored, dict) and stored.get("key") == key:
        known = _interpreter(stored.get("answer"))
        if known is not None:
            return known
    answer = _ask(path)
    asked = _interpreter(answer)
    if asked is None:
        raise _unusable(path, "it does not answer as a Python does")
    with suppress(PmError):  # a cache that cannot be written is no fault of the operation
        write_json(file, {"key": key, "answer": answer})
    return asked


def default_interpreter() -> Path:
    """Return the base interpreter of the manager itself."""
    return Path(getattr(sys, "_base_executable", None) or sys.executable)


def find_interpreter(request: str, requires_python: str, cache: Path) -> Interpreter:
    """Return the interpreter of a request (a path, `3.12`, `>=3.12`), or without one the first that the core admits.

    Without a request: the manager's base interpreter, else the newest installed one. Nothing is downloaded.
    Raise `PmError` (`no-interpreter`) if there is none.
    """
    if request:
        path = expanded(request) if os.sep in request else _find(request, cache)
        return describe_interpreter(path, cache)
    own = describe_interpreter(default_interpreter(), cache)
    if _admits(requires_python, own.target.python):
        return own
    return describe_interpreter(_find(requires_python, cache), cache)


def _admits(requires_python: str, version: str) -> bool:
    if not requires_python:
        return True
    from packaging.specifiers import SpecifierSet

    return SpecifierSet(requires_python).contains(version, prereleases=True)


def _find(request: str, cache: Path) -> Path:
    """Return the newest installed interpreter of a version or range, or the one that uv finds under a name."""
    from pm.host.pythons import find_python

    wanted = _versions(request)
    found = find_python(request, cache) if wanted is None else _newest_installed(wanted, cache)
    if found is None:
        raise PmError(
            "no-interpreter",
            f"no installed Python satisfies {shown(request)}",
            hint="install one, or name its path with `--python PATH` (`pm.python` in config.yaml)",
        )
    return found


def _versions(request: str) -> "SpecifierSet | None":
    """Return the versions that a request means; `None` for a name such as `python3.12`."""
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        return SpecifierSet(request if request[:1] in "<>=~!" else f"=={request}.*")
    except InvalidSpecifier:
        return None


def _newest_installed(wanted: "SpecifierSet", cache: Path) -> Path | None:
    """Return the newest interpreter that uv or pyenv know; a pre-release only where there is nothing else."""
    from packaging.version import InvalidVersion, Version

    from pm.host.pythons import installed_pythons

    paths: dict[Version, Path] = {}
    for text, path in (*installed_pythons(cache), *_kept_by_pyenv()):
        with suppress(InvalidVersion):
            paths.setdefault(Version(text), path)  # of one version the first on the PATH
    admitted = list(wanted.filter(paths))
    return paths[max(admitted)] if admitted else None


def _kept_by_pyenv() -> Iterator[tuple[str, Path]]:
    """Yield what pyenv keeps: its programs on the PATH refuse to start for a version that is not selected."""
    home = user_home(os.environ)
    if os.environ.get("PYENV_ROOT"):
        root = expanded(os.environ["PYENV_ROOT"]) / "versions"
    elif home is not None:
        root = home / ".pyenv" / "versions"
    else:
        return
    for folder in sorted(root.iterdir()) if root.is_dir() else ():
        python = folder / "bin" / "python3"
        if python.exists():
            yield folder.name, python


def _ask(path: Path) -> object:
    """Return what the interpreter answers, or `None` for something that no Python would say."""
    import packaging

    from pm.system import processes

    ours = str(Path(packaging.__file__).parent.parent)
    try:
        done = processes.run([path, "-I", "-S", "-c", _QUESTION, ours], seconds=60)
    except PmError as error:
        raise PmError("no-interpreter", error.message, file=str(path)) from error
    if done.status != 0:
        raise _unusable(path, (done.stderr.strip().splitlines() or ["it said nothing"])[-1])
    try:
        answer: object = json.loads(done.stdout)
    except ValueError:
        return None
    return answer


def _unusable(path: Path, reason: str) -> PmError:
    return PmError(
        "no-interpreter", f"{shown(str(path))} is not a usable Python 3.11 or newer: {reason}", file=str(path)
    )


def _interpreter(answer: object) -> Interpreter | None:
    """Return an answer as a value; `None` if it is no answer to our question."""
    if not isinstance(answer, dict):
        return None
    with suppress(KeyError, TypeError, AttributeError):
        return _of_answer(answer)
    return None


def _of_answer(answer: Mapping[str, Any]) -> Interpreter:
    environment = answer["environment"]
    platform = f"{environment['sys_platform']}-{environment['platform_machine']}"
    target = Target(
        name=f"{answer['implementation']}-{answer['version']}-{platform}",
        python=str(answer["version"]),
        environment=tuple(sorted((str(name), str(value)) for name, value in environment.items())),
        tags=tuple(answer["tags"]),
    )
    return Interpreter(Path(answer["base"]), target, frozenset(answer["standard_modules"]))


def _digest(text: str) -> str:
    import hashlib

    return hashlib.sha256(text.encode()).hexdigest()[:16]
