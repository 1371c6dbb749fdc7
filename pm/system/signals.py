"""Stop when Ctrl-C, SIGTERM or SIGHUP asks for it: as long as nothing is committed, and told as what it is.

The signals belong to the program, so only the command listens (`pm.cli.main`). The first one raises `Stopped` wherever
the program is; what tidies up then is not disturbed, unless a person presses Ctrl-C again. Once a change is made, or it
is known how an operation ended, it is too late: what is left takes a moment, and then it can be said what was done.
While that is said a signal ends the program as it ends any other: the reader of a pipe may not read for days.
"""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stopped(KeyboardInterrupt):
    """A signal asks the program to stop; its text is the signal's name."""


class _Ears:
    """What becomes of a signal that arrives now."""

    def __init__(self) -> None:
        self.is_too_late = False
        self.is_stopping = False
        self.is_busy = False
        self.heard: list[int] = []
        """Signals that the program listens to."""
        self.waiting: list[int] = []
        """Signals that arrived in a moment that must not be cut in two."""

    def hear(self, number: int, _frame: FrameType | None = None) -> None:
        if self.is_too_late or (self.is_stopping and number != signal.SIGINT):
            return
        if self.is_busy:
            self.waiting.append(number)
            return
        self.is_stopping = True
        raise Stopped(signal.Signals(number).name)


_EARS = _Ears()


def listen() -> None:
    """Hear the signals from now on; one that the starting program wants ignored (`nohup`) stays ignored."""
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _EARS.hear)
            _EARS.heard.append(number)


def hear_again() -> None:
    """Begin an operation, which can be stopped whatever the one before it did."""
    _EARS.is_too_late = _EARS.is_stopping = False
    for number in _EARS.heard:
        signal.signal(number, _EARS.hear)


def too_late() -> None:
    """Hear no signal any more: what was done is done, or it is known how it ended."""
    _EARS.is_too_late = True


def is_too_late() -> bool:
    """Say whether no signal is heard any more: a change was made, or it is known how the operation ended."""
    return _EARS.is_too_late


def only_to_be_said() -> None:
    """Let a signal end the program at once: how its operation ended is stored, and has only to be said."""
    for number in _EARS.heard:
        signal.signal(number, signal.SIG_DFL)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Hear what arrives in a moment that must not be cut in two only at its end."""
    import threading  # which everything that starts a program has already, and a quick answer needs not

    if threading.current_thread() is not threading.main_thread():  # no signal is heard there anyway
        yield
        return
    _EARS.is_busy = True
    try:
        yield
    finally:
        _EARS.is_busy = False
        waiting, _EARS.waiting = _EARS.waiting, []
        for number in waiting[:1]:
            _EARS.hear(number)
