"""Call uv for environments and for installing a lock. Its words are shown, never parsed."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from pm.errors import PmError
from pm.generations.disk_space import forget_unpacked, full_folder
from pm.generations.distributions import interpreter_in
from pm.generations.install_lock import held_by_programs
from pm.generations.uv_cache import closed_in_cache
from pm.host.pythons import own_cache, uv_binary
from pm.index.package_sources import Sources
from pm.names import marked_lines
from pm.places import Places
from pm.system import processes


def create_environment(places: Places, folder: Path, interpreter: Path) -> None:
    """Make an empty environment for an interpreter at its final place; raise `PmError` (`no-interpreter`)."""
    command: list[str | Path] = [uv_binary(), "venv", "--quiet", "--no-project", "--no-config"]
    command += ["--python", interpreter, folder]
    _run(places, command, {}, _Failure("no-interpreter", "an environment could not be made"))


def sync(places: Places, folder: Path, lock: Path, sources: Sources | None) -> None:
    """Install a lock into an environment, verified by its hashes; without sources from uv's cache alone.

    Raise `PmError` (`install-failed`).
    """
    _pip(places, ["sync", *_with(folder), "--allow-empty-requirements", lock], sources)
    with suppress(FileNotFoundError):
        (folder / ".lock").chmod(0o644)  # uv lets everyone write it, whatever the mask says


def overwrite(places: Places, folder: Path, lock: Path, sources: Sources | None) -> None:
    """Install the pins of a lock once more, over what other distributions wrote at their paths.

    Raise `PmError` (`install-failed`).
    """
    _pip(places, ["install", *_with(folder), "--no-deps", "--reinstall", "--requirements", lock], sources)


def _with(folder: Path) -> tuple[str | Path, ...]:
    return ("--python", interpreter_in(folder), "--no-build")


def _pip(places: Places, words: Sequence[str | Path], sources: Sources | None) -> None:
    command: list[str | Path] = [uv_binary(), "pip", *words, "--quiet", "--no-config", "--preview-features", "pylock"]
    command += ["--offline"] if sources is None else []
    asked = sources.environment_for_uv() if sources is not None else {}
    _run(places, command, asked, _Failure("install-failed", "the lock could not be installed"))


def forget(places: Places, names: Sequence[str]) -> None:
    """Take distributions out of our cache: a file that was damaged in an environment may be the same file there.

    Raise `PmError` (`install-failed`).
    """
    if names:
        command: list[str | Path] = [uv_binary(), "cache", "clean", "--quiet", "--no-config", *names]
        forget_unpacked(places, names)
        _run(places, command, {}, _Failure("install-failed", "damaged files could not be taken out of the cache"))


class _Failure(NamedTuple):
    """What it means that uv ended with an error."""

    code: str
    said: str


def _run(places: Places, command: list[str | Path], asked: Mapping[str, str], failure: _Failure) -> None:
    environment = processes.scrubbed_environment() | dict(asked) | own_cache(places.cache)
    with held_by_programs(places) as lock:
        # uv itself gives a server up that is silent; what keeps coming may take its time
        still = processes.Stillness()
        done = processes.run(command, environment=environment, directory=places.state, seconds=still, held=[lock])
    if done.status == 0:
        return
    full = processes.gave_up_on_a_full_disk(done.stderr)
    if full is not None:
        folder = full_folder(places, done.stderr[: full.start()])
        hint = "free some space and run it again; nothing was changed"
        text = f"{failure.said}, no space is left:{_told(done.stderr)}"
        raise PmError("no-space", text, file=str(folder or ""), hint=hint)
    closed = closed_in_cache(places)
    if closed is not None:
        closed.message = f"{failure.said}, {closed.message}:{_told(done.stderr)}"
        raise closed
    raise PmError(failure.code, f"{failure.said}:{_told(done.stderr)}")


def _told(text: str) -> str:
    return marked_lines(text) or " uv said nothing"
