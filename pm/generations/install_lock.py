"""One changing operation at a time for each root; one that waits says which one holds the lock.

The lock ends with its process. A program that it had started may outlive it for a moment and goes on writing, so it
holds a lock of its own, and an operation begins when that one is free too.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pm.errors import PmError
from pm.places import Places
from pm.system.files import disk_error, read_json, write_json

WAIT = 60.0
"""Seconds that an operation waits for another one before it gives up with `busy`."""


@contextmanager
def install_lock(
    places: Places, operation: str, *, seconds: float = WAIT, tell: Callable[[str], None] = lambda _: None
) -> Iterator[None]:
    """Hold the root's install lock; `tell` hears once who is waited for.

    Raise `PmError` (`busy`) after `seconds`, (`not-writable`) if the state cannot be written.
    """
    from filelock import FileLock, Timeout

    owner = places.locks / "install.json"
    try:
        places.locks.mkdir(parents=True, exist_ok=True)
        # a mark in place of a lock would outlive a process that is killed, and leases have no such way out either
        lock = FileLock(places.locks / "install.lock", fallback_to_soft=False)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            tell(f"waiting for {_holder(places)}")
            lock.acquire(timeout=seconds)
        try:
            _wait_for_programs(places, seconds, tell)
        except BaseException:
            lock.release()
            raise
    except Timeout as error:
        text = f"{_holder(places)} has held the install lock for {seconds:g} seconds"
        raise PmError("busy", text, hint="try again when it is done; nothing was changed") from error
    except OSError as error:
        raise disk_error(error, places.locks) from error
    try:
        _note_holder(places, operation)
        yield
    finally:
        with suppress(OSError):  # a note that stays is written over by the next one, a lock that stays is not
            owner.unlink()
        lock.release()


@contextmanager
def held_by_programs(places: Places) -> Iterator[int]:
    """Give a descriptor for a program that writes to the state: no other operation begins as long as it may do so.

    That is until this ends, and if it is left by an exception, until all who have the descriptor have closed it. Raise
    `PmError` (`not-writable`, `no-space`).
    """
    path = _programs(places)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise disk_error(error, path) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        yield descriptor
        # for all processes that have it: what the program leaves running on purpose may have it open for days
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    finally:
        os.close(descriptor)


def _wait_for_programs(places: Places, seconds: float, tell: Callable[[str], None]) -> None:
    from filelock import FileLock, Timeout

    if not _programs(places).exists():
        return
    lock = FileLock(_programs(places), fallback_to_soft=False)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        tell(f"waiting for a program that {_holder(places)} had started")
        lock.acquire(timeout=seconds)
    lock.release()


def _programs(places: Places) -> Path:
    return places.locks / "programs.lock"


def _note_holder(places: Places, operation: str) -> None:
    try:
        write_json(places.locks / "install.json", {"operation": operation, "pid": os.getpid()})
    except PmError as error:
        if error.code != "no-space":  # an operation that waits knows less then, and there is a way to make room
            raise


def _holder(places: Places) -> str:
    owner = read_json(places.locks / "install.json")
    if isinstance(owner, dict):
        return f"`{owner.get('operation')}` of process {owner.get('pid')}"
    return "another operation"
