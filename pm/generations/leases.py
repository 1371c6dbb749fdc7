"""Keep a generation's environment from being collected while something runs in it.

A lease is a shared `flock` on `<root>/pm/locks/generation-<n>`. It belongs to the open file and not to a process, so it
passes through `exec` to the started command and on to its children, and the system ends it with the last of them,
however they die. Garbage collection takes the exclusive lock, which fails as long as there is a lease. The file may be
removed under that lock: who waited for it meanwhile sees that the name means another file now, and asks again.
"""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pm.places import EnvironmentNumber, Places
from pm.system.files import disk_error

_NAME = "generation-"
# Scripts open the descriptors 3 to 9 by their number, which would silently close a lease that lies there.
_LOWEST_DESCRIPTOR = 10


def take_lease(places: Places, environment: EnvironmentNumber) -> int:
    """Return an inheritable descriptor that leases an environment until it is closed everywhere.

    Waits while another process collects just that environment; whether it is still there afterwards is the caller's
    question. Raise `PmError` (`not-writable`, `no-space`).
    """
    path = _file(places.locks, environment)
    try:
        places.locks.mkdir(parents=True, exist_ok=True)
        descriptor = _locked(path, fcntl.LOCK_SH)
        try:
            return fcntl.fcntl(descriptor, fcntl.F_DUPFD, _LOWEST_DESCRIPTOR)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise disk_error(error, path) from error


def make_leasable(places: Places, environment: EnvironmentNumber) -> None:
    """Make the file that leases of an environment lock: later the state may be read-only.

    Raise `PmError` (`not-writable`, `no-space`).
    """
    path = _file(places.locks, environment)
    try:
        places.locks.mkdir(parents=True, exist_ok=True)
        os.close(_opened(path, os.O_CREAT))
    except OSError as error:
        raise disk_error(error, path) from error


@contextmanager
def exclusively(places: Places, environment: EnvironmentNumber) -> Iterator[bool]:
    """Say whether no process leases an environment; if so, none can until this ends.

    Raise `PmError` (`not-writable`, `no-space`).
    """
    descriptor = _exclusive(places, environment)
    try:
        yield descriptor is not None
    finally:
        if descriptor is not None:
            os.close(descriptor)


def leased(locks: Path) -> tuple[EnvironmentNumber, ...]:
    """Return the numbers of the environments that something runs in, sorted.

    Raise `PmError` (`not-writable`).
    """
    try:
        numbers = sorted(_numbers(locks))
        if not numbers:
            return ()
        # One asker at a time: asking takes the lock for a moment, and a second asker would take that for a lease.
        turn = _locked(locks / "leases.lock", fcntl.LOCK_EX)
        try:
            return tuple(number for number in numbers if is_held(_file(locks, number)))
        finally:
            os.close(turn)
    except OSError as error:
        raise disk_error(error, locks) from error


def is_held(path: Path) -> bool:
    """Say whether a process holds a lock on a file, shared or exclusive; on one that is not there none does."""
    try:
        descriptor = _opened(path)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def _exclusive(places: Places, environment: EnvironmentNumber) -> int | None:
    path = _file(places.locks, environment)
    try:
        places.locks.mkdir(parents=True, exist_ok=True)
        return _locked(path, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return None
    except OSError as error:
        raise disk_error(error, path) from error


def _locked(path: Path, kind: int) -> int:
    """Return a descriptor that holds a lock on the file that the path names now."""
    while True:
        descriptor = _opened(path, os.O_CREAT)
        try:
            fcntl.flock(descriptor, kind)
            if _is_named(path, descriptor):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _opened(path: Path, create: int = 0) -> int:
    try:
        return os.open(path, os.O_RDWR | create | os.O_NONBLOCK | os.O_CLOEXEC, 0o644)
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS) or not path.exists():
            raise
        # another user's state: a file that is there can be locked without the right to write to it
        return os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)


def _is_named(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def _file(locks: Path, environment: EnvironmentNumber) -> Path:
    return locks / f"{_NAME}{environment}"


def _numbers(locks: Path) -> Iterator[EnvironmentNumber]:
    names = os.listdir(locks) if locks.is_dir() else []  # noqa: PTH208 - names are enough
    for name in names:
        number = name.removeprefix(_NAME)
        if number != name and number.isdecimal():
            yield EnvironmentNumber(int(number))
