"""Start other programs: the only importer of `subprocess`, with a scrubbed environment, a time limit and redaction."""

import errno
import fcntl
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from pm.errors import PmError
from pm.redaction import redact, without_secrets_of
from pm.system.signals import undisturbed

# What a program that we start may know of its surroundings. Index, proxy and certificate settings pass; everything that
# could change which interpreter or environment is used (VIRTUAL_ENV, PYTHONPATH, UV_*, PIP_*) does not.
_PASSED = (
    "PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TMPDIR", "TZ", "SYSTEMROOT",
    "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NETRC",
    "UV_NATIVE_TLS", "UV_SYSTEM_CERTS", "UV_INSECURE_HOST", "UV_HTTP_TIMEOUT", "UV_KEYRING_PROVIDER",
)  # fmt: skip


class Finished(NamedTuple):
    """A program that ended by itself."""

    status: int
    stdout: str
    stderr: str
    """Redacted."""


class Stillness(NamedTuple):
    """How long a program may do nothing, where it may take as long as it does something."""

    seconds: float = 600.0


def scrubbed_environment(environ: Mapping[str, str] | None = None, **extra: str) -> dict[str, str]:
    """Return the variables that a started program gets: the passed ones and `extra`."""
    source = os.environ if environ is None else environ
    return {name: source[name] for name in _PASSED if name in source} | extra


def temporary_folder() -> Path:
    """Return where started programs put what they need for a while."""
    return Path(os.environ.get("TMPDIR") or "/tmp")  # noqa: S108 - nothing is made there by us


def gave_up_on_a_full_disk(said: str) -> re.Match[str] | None:
    """Return where a program said that the disk is full; `None` if it did not.

    Not its words but the system's number, as Rust and Python write it: when the program has tidied up after itself,
    the disk is not full any more.
    """
    return re.search(rf"\(os error (?:{_FULL})\)|\[Errno (?:{_FULL})\]", said)


_FULL = f"{errno.ENOSPC}|{errno.EDQUOT}"


def run(
    command: Sequence[str | Path],
    *,
    environment: Mapping[str, str] | None = None,
    directory: Path | None = None,
    stdin: str | None = None,
    seconds: float | Stillness = 600.0,
    held: Sequence[int] = (),
) -> Finished:
    """Run a program to its end and return what it said.

    When this process ends, however it does, the program ends too, with everything that it has started. `held` are
    descriptors that all of them have open. Raise `PmError` (`interrupted`) after `seconds`, or so many in which
    it did nothing, (`not-writable`) if it cannot be started at all.
    """
    try:
        with ExitStack() as stack:
            lifeline = stack.enter_context(_lifeline())
            with undisturbed():
                program = subprocess.Popen(
                    [str(part) for part in command],
                    env=dict(environment) if environment is not None else scrubbed_environment(),
                    cwd=directory,
                    stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    encoding="utf-8",
                    errors="replace",
                    # so it can be ended as a whole, and Ctrl-C reaches us alone: we know what to do then; without a
                    # terminal: a program that asks something there (git, ssh) would be stopped, and waited for in vain
                    start_new_session=True,
                    pass_fds=(lifeline, *held),
                )
                stack.enter_context(_ended_as_a_whole(program, lifeline))
            stdout, stderr = _said(program, stdin, seconds)
    except subprocess.TimeoutExpired as error:
        name = Path(command[0]).name
        what = "did nothing for" if isinstance(seconds, Stillness) else "did not end within"
        raise PmError("interrupted", f"`{name}` {what} {error.timeout:g} seconds and was stopped") from error
    except OSError as error:
        text = f"`{command[0]}` cannot be started: {error.strerror}"
        raise PmError("not-writable", text, file=str(command[0])) from error
    told = without_secrets_of(stderr, os.environ if environment is None else environment)
    return Finished(program.returncode, stdout, redact(told))


def _said(program: subprocess.Popen[str], stdin: str | None, seconds: float | Stillness) -> tuple[str, str]:
    """Return what a program says until it ends; raise `subprocess.TimeoutExpired` if it takes too long."""
    done: tuple[str, ...] = ()
    while True:
        try:
            return program.communicate(stdin, timeout=seconds.seconds if isinstance(seconds, Stillness) else seconds)
        except subprocess.TimeoutExpired:
            before, done = done, _done_so_far(program.pid)
            if not isinstance(seconds, Stillness) or done == before:
                raise
            stdin = None  # it has it already


def _done_so_far(pid: int) -> tuple[str, ...]:
    """Return what changes while a program reads, writes or computes; nothing where the system does not tell."""
    texts = []
    for name in ("io", "stat"):
        with suppress(OSError):
            texts.append(Path(f"/proc/{pid}/{name}").read_text(encoding="utf-8", errors="replace"))
    return tuple(texts)


@contextmanager
def _lifeline() -> Iterator[int]:
    """Give the end of a pipe of which only this process has the other one: it closes when this process is gone."""
    read, write = os.pipe()
    try:
        yield read
    finally:
        os.close(read)
        os.close(write)


@contextmanager
def _ended_as_a_whole(program: subprocess.Popen[str], lifeline: int) -> Iterator[None]:
    """See to it that nothing of a program's process group is left if we are cut short, or killed."""
    _signal_when_closed(lifeline, -program.pid)
    with program:
        try:
            yield
        except BaseException:
            with suppress(ProcessLookupError, PermissionError):  # which macOS says of one that has just ended
                os.killpg(program.pid, signal.SIGKILL)
            raise
    # it ended by itself: what it leaves running is none of our business
    _signal_when_closed(lifeline, 0)


def _signal_when_closed(lifeline: int, owner: int) -> None:
    """Have Linux kill the owner of a pipe when its other end is closed, or no process, if the owner is 0.

    `PR_SET_PDEATHSIG` would be the usual way, and reaches only the program itself; it has to be asked for in the child,
    between `fork` and `exec`, which Python allows only where no other thread runs. Where there is no such signal (not
    everything that calls itself Linux has it), an orphan is waited for (`pm.generations.install_lock`).
    """
    if sys.platform == "linux":
        with suppress(OSError):
            fcntl.fcntl(lifeline, fcntl.F_SETOWN, owner)
            fcntl.fcntl(lifeline, fcntl.F_SETSIG, signal.SIGKILL)
            flags = fcntl.fcntl(lifeline, fcntl.F_GETFL)
            fcntl.fcntl(lifeline, fcntl.F_SETFL, flags | os.O_ASYNC if owner else flags & ~os.O_ASYNC)
