"""Run a command in the selected generation: lease it, look at it, and become the command.

Only the standard library is needed up to the `exec`, and nothing is decided here: what the config enables is compared
with what was admitted, and a difference is told (docs/reference/launcher.md).
"""

import errno
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, NoReturn

from pm.errors import PmError
from pm.generations.distributions import site_packages
from pm.generations.drift import Drift, drift_of
from pm.generations.leases import is_held, take_lease
from pm.generations.pointer import Pointer, selected
from pm.launch.admitted import Unadmitted, unadmitted
from pm.launch.front_door import front_door
from pm.launch.overriding import overriding
from pm.places import Places
from pm.system.program import FRONT_DOOR
from pm.system.umask import as_given

_NOT_EXECUTABLE = 126
_NOT_FOUND = 127
_EMBEDDED = "hermes-embedded-core=="

_ADMITTED = "HERMES_PM_ADMITTED"
"""Tells a core what declares the same as when it was admitted: it has no reader of declarations."""
_LONGEST = 100_000
"""Linux starts no program with a variable of 128 KiB, its name included."""

# What would lead the started command to another interpreter or environment than its own. Where tools load from (index,
# proxy, cache) is the operator's matter and stays.
_REMOVED = (
    # other modules, another standard library
    "PYTHONPATH", "PYTHONHOME", "PYTHONPLATLIBDIR",
    # what an interpreter on macOS takes for its own path
    "PYTHONEXECUTABLE", "__PYVENV_LAUNCHER__",
    # the environment that was active before
    "VIRTUAL_ENV_PROMPT", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "CONDA_PROMPT_MODIFIER",
    # the interpreter, project or environment that uv works with
    "UV_PYTHON", "UV_SYSTEM_PYTHON", "UV_PROJECT", "UV_PROJECT_ENVIRONMENT", "UV_INTERNAL__PARENT_INTERPRETER",
    # the interpreter that pip works with, and where it puts things
    "PIP_PYTHON", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_USER",
    # where the host would put what it installs, in spite of the switch below
    "HERMES_LAZY_INSTALL_TARGET",
    # what another start compared, and through which door it came
    _ADMITTED, FRONT_DOOR,
)  # fmt: skip

# The second is for cores that load a memory provider without looking at the first; it leaves out the operator's own
# rules and notes too.
_SAFE = {"HERMES_SAFE_MODE": "1", "HERMES_IGNORE_RULES": "1"}


def launch(
    places: Places,
    command: Sequence[str],
    *,
    safe: bool = False,
    environ: Mapping[str, str],
    tell: Callable[[str], None],
) -> NoReturn:
    """Become a command of at least one word, in the selected generation and under a lease on it.

    `tell` hears what is odd about the generation; that stops nothing. `SystemExit` with 127 or 126 if there is no such
    command or it cannot be executed. Raise `PmError` (`no-generation`, `not-admitted`, `drift`, `not-writable`,
    `no-space`).
    """
    _recover(places, tell)
    _start(command, _Scene(places, *_lease(places), environ, tell), safe=safe)


def hand_over(
    places: Places, words: Sequence[str], *, environ: Mapping[str, str], tell: Callable[[str], None]
) -> NoReturn:
    """Become the core's own `hermes` with these words, in the selected generation and under a lease on it.

    Raise `PmError` as `launch` does, and (`unknown-plugin`) if the core has no such command.
    """
    _recover(places, tell)
    pointer, drift = _lease(places)
    program = pointer.programs / "hermes"
    asked = " ".join(("hermes", *words[:1]))
    if not program.exists():
        text = f"`{asked}` is no command of the manager, and the core brings no `hermes` of its own"
        raise PmError("unknown-plugin", text, hint="`hermes --help` lists what there is")
    if _is_ourselves(program):
        text = f"`{asked}` is no command of the manager, and the generation's own `hermes` is the manager again"
        raise PmError("drift", text, file=str(program), hint="`hermes pm repair` builds the generation again")
    # by its path: the next `hermes` on PATH is the manager
    _start([str(program), *words], _Scene(places, pointer, drift, environ, tell), safe=False)


def launched_environment(
    places: Places,
    pointer: Pointer,
    environ: Mapping[str, str],
    *,
    safe: bool = False,
    standing: Mapping[str, Sequence[str]] | None = None,
    door: Path | None = None,
) -> dict[str, str]:
    """Return the variables of a command that runs in a generation; `standing` as in `Unadmitted`."""
    environment = {name: value for name, value in environ.items() if name not in _REMOVED}
    return environment | {
        "PATH": _path(places, pointer, environ.get("PATH", os.defpath), door),
        "VIRTUAL_ENV": str(pointer.folder),
        "HERMES_HOME": str(places.home),
        "HERMES_PM_GENERATION": str(pointer.generation),
        # the host honours no other value
        "HERMES_DISABLE_LAZY_INSTALLS": "1",
        **({"HERMES_BIN": str(door)} if door is not None else {}),
        # by the environment, as leases are: generations that share one share its bytecode
        "PYTHONPYCACHEPREFIX": str(places.bytecode(pointer.environment)),
        # a core that is a project is not installed
        **({"PYTHONPATH": os.pathsep.join(pointer.core_path)} if pointer.core_path else {}),
        **({_ADMITTED: _handed_over(standing, places.profile)} if standing is not None else {}),
        **(_SAFE if safe else {}),
    }


def _handed_over(standing: Mapping[str, Sequence[str]], profile: str) -> str:
    text = json.dumps(standing)
    return text if len(text) <= _LONGEST else json.dumps({profile: standing.get(profile, [])})


def _path(places: Places, pointer: Pointer, path: str, door: Path | None) -> str:
    """Put the front door first and then the generation's programs; take out those that a caller runs with."""
    generations = str(places.generations)
    first = [str(door.parent)] if door is not None else []
    folders = path.split(os.pathsep) if path else ()
    others = (folder for folder in folders if _grandparent(folder) != generations and folder not in first)
    return os.pathsep.join([*first, str(pointer.programs), *others])


def _grandparent(path: str) -> str:
    return os.path.dirname(os.path.dirname(path))  # noqa: PTH120 - an entry of PATH is no path before it is used


def _is_ourselves(program: Path) -> bool:
    """Say whether a program is the one that runs now: the manager was installed into a generation."""
    running = Path(sys.argv[0])
    return running.exists() and program.samefile(running)


class _Scene(NamedTuple):
    """What a command is started with."""

    places: Places
    pointer: Pointer
    drift: Drift | None
    environ: Mapping[str, str]
    tell: Callable[[str], None]


def _start(command: Sequence[str], context: _Scene, *, safe: bool) -> NoReturn:
    places, pointer, drift, environ, tell = context
    for line in _oddities(drift):
        tell(line)
    found = Unadmitted() if safe else unadmitted(places, pointer, environ)
    for line in (*(_without_plugins(pointer) if safe else _not_admitted(found)), *overriding(places, environ)):
        tell(line)
    door = front_door(places)
    environment = launched_environment(places, pointer, environ, safe=safe, standing=found.standing, door=door)
    _become(command, environment, tell)


# -- which generation


def _lease(places: Places) -> tuple[Pointer, Drift | None]:
    """Return the selected generation with a lease on it, which the descriptor that stays open holds, and its drift.

    Between reading the pointer and getting the lease another generation can be selected and this one collected. Raise
    `PmError` (`drift`) where nothing can be started.
    """
    pointer = selected(places)
    while True:
        descriptor = take_lease(places, pointer.environment)
        now = selected(places)
        if now.folder == pointer.folder:
            drift = drift_of(places, now)
            if drift is not None and not drift.runs:
                raise PmError("drift", drift.message, file=str(drift.place), hint=_hint(places, drift))
            return now, drift
        os.close(descriptor)
        pointer = now


def _hint(places: Places, drift: Drift) -> str:
    """Return what puts right what cannot be started: of an interpreter that is gone, what takes its place."""
    if drift.kind != "no-interpreter":
        return drift.hint
    from pm.generations.another_python import another_python
    from pm.generations.records import read_record

    try:
        python = another_python(places, read_record(places, drift.pointer.generation))
    except PmError:
        return drift.hint
    if python is None:
        return "nothing can be started until a Python that the core supports is installed"
    return f"`hermes pm init --python {python}` builds it with another one" if python else drift.hint


def _recover(places: Places, tell: Callable[[str], None]) -> None:
    """Finish or undo what an interrupted operation left, where that can be done; else say what does it.

    An operation that is under way has a journal too, and holds the install lock.
    """
    if not places.journal.exists() or is_held(places.locks / "install.lock"):
        return
    from pm.generations.install_lock import install_lock
    from pm.generations.transaction import recover

    try:
        with install_lock(places, "run", seconds=0):
            recovered = recover(places)
    except (PmError, OSError):
        tell("an operation was interrupted; `hermes pm repair` finishes or undoes it")
        return
    if recovered.outcome == "parked":
        kept = f"its journal is kept as `{recovered.details[-1]}`"
        differs = "`hermes pm verify` says what differs"
        tell(f"an interrupted operation can be neither finished nor undone: {kept}, and {differs}")
    elif recovered.outcome != "nothing":
        tell(f"an interrupted operation was {recovered.outcome}")


# -- what is odd about it


def _oddities(drift: Drift | None) -> Iterator[str]:
    """Yield what an operator should know of the generation before the command runs."""
    if drift is not None:
        yield f"{drift.message}{' since it was built' if drift.kind == 'changed' else ''}; {drift.hint}"


def _not_admitted(found: Unadmitted) -> Iterator[str]:
    """Yield which plugins were not admitted; raise `PmError` (`not-admitted`) where the settings say so."""
    if found.note:
        yield found.note
    if not found.message:
        return
    if found.stops:
        hint = f"{found.step}; `hermes run --safe -- …` starts without plugins"
        raise PmError("not-admitted", found.message, hint=hint)
    yield f"{found.message}; {found.step}"


def _without_plugins(pointer: Pointer) -> Iterator[str]:
    """Yield what safe mode cannot promise: a core leaves plugins out by itself, or not."""
    if pointer.core.startswith(_EMBEDDED):
        return
    if _reads_safe_mode(pointer):
        yield (
            f"`{pointer.core}` leaves plugins out in safe mode, but outside of a chat it may still load "
            "the memory provider that the config selects"
        )
    else:
        yield f"`{pointer.core}` does not know `HERMES_SAFE_MODE`: it may load plugins all the same"


def _reads_safe_mode(pointer: Pointer) -> bool:
    loaders = site_packages(pointer.folder).glob("hermes_cli/plugins*.py")
    return any(b"HERMES_SAFE_MODE" in loader.read_bytes() for loader in loaders)


# -- becoming the command


def _become(command: Sequence[str], environment: Mapping[str, str], tell: Callable[[str], None]) -> NoReturn:
    name = command[0]
    program = _program(name, environment["PATH"], tell)
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    _default_signals()
    as_given()
    try:
        _execute(program, command, environment)
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        if missing and os.path.lexists(program):
            tell(f"`{name}`: what its first line names is not there")
        else:
            tell(f"`{name}`: {(error.strerror or str(error)).lower()}")
        raise SystemExit(_NOT_FOUND if missing else _NOT_EXECUTABLE) from error


def _execute(program: str, command: Sequence[str], environment: Mapping[str, str]) -> NoReturn:
    try:
        os.execve(program, list(command), environment)  # noqa: S606 - becoming a command is what this module is for
    except OSError as error:
        if error.errno != errno.ENOEXEC:
            raise
    # a script that does not say what it is written for is one for the shell
    os.execve("/bin/sh", ["sh", program, *command[1:]], environment)  # noqa: S606 - the same


def _program(name: str, path: str, tell: Callable[[str], None]) -> str:
    """Return the file that a shell would run for a name; leave with the status that it would have if there is none."""
    if os.sep in name:
        return name
    candidates = [os.path.join(folder or os.curdir, name) for folder in path.split(os.pathsep)]  # noqa: PTH118 - a Path would make `./x` to `x`
    files = [candidate for candidate in candidates if name and os.path.isfile(candidate)]  # noqa: PTH113 - as above
    for file in files:
        if os.access(file, os.X_OK):
            return file
    if files:
        tell(f"`{files[0]}`: permission denied")
        raise SystemExit(_NOT_EXECUTABLE)
    tell(f"`{name}`: command not found")
    raise SystemExit(_NOT_FOUND)


def _default_signals() -> None:
    """Give the command the signals that Python ignores for itself: `yes | head` must end."""
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
