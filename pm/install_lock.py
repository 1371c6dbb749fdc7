"""One changing operation at a time for each root; whoever waits learns who holds it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from pm.atomic import disk_error, read_json, write_json
from pm.errors import PmError
from pm.places import Places

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
        lock = FileLock(places.locks / "install.lock")
        try:
            lock.acquire(timeout=0)
        except Timeout:
            tell(f"waiting for {_holder(places)}")
            lock.acquire(timeout=seconds)
    except Timeout as error:
        text = f"{_holder(places)} has held the install lock for {seconds:g} seconds"
        raise PmError("busy", text, hint="try again when it is done; nothing was changed") from error
    except OSError as error:
        raise disk_error(error, places.locks) from error
    try:
        write_json(owner, {"operation": operation, "pid": os.getpid()})
        yield
    finally:
        with suppress(OSError):  # a note that stays is written over by the next one, a lock that stays is not
            owner.unlink()
        lock.release()


def _holder(places: Places) -> str:
    owner = read_json(places.locks / "install.json")
    if isinstance(owner, dict):
        return f"`{owner.get('operation')}` of process {owner.get('pid')}"
    return "another operation"
