"""Call uv: for environments, for installing a lock, for finding interpreters. Its words are shown, never parsed."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from pm import processes
from pm.errors import PmError
from pm.install_lock import held_by_programs
from pm.places import Places
from pm.room import forget_unpacked, full_folder
from pm.sources import Sources


def uv_binary() -> Path:
    """Return the uv that came with the manager; raise `PmError` (`not-writable`) if it is gone."""
    from uv import find_uv_bin

    try:
        return Path(find_uv_bin())
    except FileNotFoundError as error:
        raise PmError("not-writable", "the program `uv` is missing", hint="install `hermes-pm` again") from error


def find_python(request: str, cache: Path) -> Path | None:
    """Return the installed interpreter of a request that names one (`python3.12`, `pypy`); nothing is downloaded."""
    done = _ask_for_pythons(cache, "find", "--no-project", "--system", request)
    return Path(done.stdout.strip()) if done.status == 0 and done.stdout.strip() else None


def installed_pythons(cache: Path) -> list[tuple[str, Path]]:
    """Return version and path of the installed CPythons that uv knows, in the order of the PATH."""
    import json

    done = _ask_for_pythons(cache, "list", "--only-installed", "--output-format", "json")
    rows = json.loads(done.stdout) if done.status == 0 and done.stdout.strip() else []
    return [
        (row["version"], Path(row["path"]))
        for row in rows
        if row["implementation"] == "cpython" and row["variant"] == "default" and row["path"]
    ]


def _ask_for_pythons(cache: Path, *arguments: str) -> processes.Finished:
    command: list[str | Path] = [uv_binary(), "python", *arguments, "--no-config", "--no-python-downloads"]
    places = {name: os.environ[name] for name in _WHERE_PYTHONS_ARE if name in os.environ}
    # even this question writes into uv's cache
    environment = processes.scrubbed_environment() | places | _own_cache(cache)
    return processes.run(command, environment=environment, seconds=60)


_WHERE_PYTHONS_ARE = ("UV_PYTHON_INSTALL_DIR", "XDG_DATA_HOME", "PYENV_ROOT")


def create_environment(places: Places, folder: Path, interpreter: Path) -> None:
    """Make an empty environment for an interpreter at its final place; raise `PmError` (`build-failed`)."""
    command: list[str | Path] = [uv_binary(), "venv", "--quiet", "--no-project", "--no-config"]
    command += ["--python", interpreter, folder]
    _run(places, command, {}, "an environment could not be made")


def sync(places: Places, folder: Path, lock: Path, sources: Sources | None) -> None:
    """Install a lock into an environment, verified by its hashes; without sources from uv's cache alone.

    Raise `PmError` (`build-failed`).
    """
    command: list[str | Path] = [uv_binary(), "pip", "sync", "--quiet", "--no-config", "--preview-features", "pylock"]
    command += ["--python", folder / "bin" / "python", "--no-build", "--allow-empty-requirements"]
    command += ["--offline"] if sources is None else []
    asked = sources.environment_for_uv() if sources is not None else {}
    _run(places, [*command, lock], asked, "the lock could not be installed")


def forget(places: Places, names: Sequence[str]) -> None:
    """Take distributions out of our cache: a file that was damaged in an environment may be the same file there.

    Raise `PmError` (`build-failed`).
    """
    if names:
        command: list[str | Path] = [uv_binary(), "cache", "clean", "--quiet", "--no-config", *names]
        forget_unpacked(places, names)
        _run(places, command, {}, "damaged files could not be taken out of the cache")


def _run(places: Places, command: list[str | Path], asked: Mapping[str, str], failure: str) -> None:
    environment = processes.scrubbed_environment() | dict(asked) | _own_cache(places.cache)
    with held_by_programs(places) as lock:
        done = processes.run(command, environment=environment, directory=places.state, held=[lock])
    if done.status == 0:
        return
    full = processes.gave_up_on_a_full_disk(done.stderr)
    if full is not None:
        folder = full_folder(places, done.stderr[: full.start()])
        hint = "free some space and run it again; nothing was changed"
        text = f"{failure}, no space is left: {_tail(done.stderr)}"
        raise PmError("no-space", text, file=str(folder or ""), hint=hint)
    raise PmError("build-failed", f"{failure}: {_tail(done.stderr)}")


def _own_cache(cache: Path) -> dict[str, str]:
    # never the user's: a file edited in a generation would be edited in every environment of theirs
    return {"UV_CACHE_DIR": str(cache / "uv"), "UV_NO_PROGRESS": "1"}


def _tail(text: str, lines: int = 12) -> str:
    return "\n".join(text.strip().splitlines()[-lines:]) or "uv said nothing"
