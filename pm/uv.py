"""Call uv: for environments, for installing a lock, for finding interpreters. Its words are shown, never parsed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pm import processes
from pm.errors import PmError
from pm.places import Places
from pm.sources import Sources


def uv_binary() -> Path:
    """Return the uv that came with the manager; raise `PmError` (`not-writable`) if it is gone."""
    from uv import find_uv_bin

    try:
        return Path(find_uv_bin())
    except FileNotFoundError as error:
        raise PmError("not-writable", "the program `uv` is missing", hint="install `hermes-pm` again") from error


def find_python(request: str) -> Path | None:
    """Return an installed interpreter that a request (`3.12`, `>=3.11,<3.14`) admits; nothing is downloaded."""
    command: list[str | Path] = [
        uv_binary(),
        "python",
        "find",
        "--no-project",
        "--no-config",
        "--system",
        "--no-python-downloads",
        request,
    ]
    done = processes.run(command, seconds=60)
    return Path(done.stdout.strip()) if done.status == 0 and done.stdout.strip() else None


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
    command += ["--python", folder / "bin" / "python", "--no-build"]
    command += ["--offline"] if sources is None else []
    asked = sources.environment_for_uv() if sources is not None else {}
    _run(places, [*command, lock], asked, "the lock could not be installed")


def _run(places: Places, command: list[str | Path], asked: Mapping[str, str], failure: str) -> None:
    # our own cache, never the user's: a file edited in a generation would be edited in every environment of theirs
    ours = {"UV_CACHE_DIR": str(places.cache / "uv"), "UV_NO_PROGRESS": "1"}
    environment = processes.scrubbed_environment() | dict(asked) | ours
    done = processes.run(command, environment=environment, directory=places.state)
    if done.status != 0:
        raise PmError("build-failed", f"{failure}: {_tail(done.stderr)}")


def _tail(text: str, lines: int = 12) -> str:
    return "\n".join(text.strip().splitlines()[-lines:]) or "uv said nothing"
