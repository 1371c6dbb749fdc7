"""Use the time in which another program, or the disk, is waited for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def meanwhile(work: Callable[[], object]) -> Iterator[None]:
    """Do a work on a thread of its own while the block runs, and wait for both; neither may need the other."""
    from threading import Thread

    thread = Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        thread.join()
