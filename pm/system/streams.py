"""The standard streams of a command: trouble with them is remembered, and changes nothing that the command does."""

from __future__ import annotations

import codecs
import errno
import io
import os
import sys

TYPE_CHECKING = False  # as in `typing`, whose import would cost the quickest answer a tenth of its time
if TYPE_CHECKING:
    from typing import TextIO

__all__ = ["Output", "open_streams"]

_MOST_HELD = 1 << 16


class Output(io.TextIOBase):
    """A text stream that writes to a descriptor as long as that takes what is written, and never raises.

    Signs that its encoding lacks become escapes.
    """

    def __init__(self, descriptor: int, encoding: str, *, at_once: bool) -> None:
        self._descriptor = descriptor
        self._name = encoding
        self._encoder = codecs.getincrementalencoder(encoding)("backslashreplace")
        self._at_once = at_once
        self._held: list[str] = []
        self._length = 0
        self.lost: OSError | None = None
        """Why something could not be written; all that came after it is lost too."""

    @property
    def encoding(self) -> str:  # type: ignore[override] # the base class has a variable, which nothing may set here
        return self._name

    def fileno(self) -> int:
        return self._descriptor

    def isatty(self) -> bool:
        return os.isatty(self._descriptor)

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self._held.append(text)
        self._length += len(text)
        if self._at_once or self._length > _MOST_HELD:
            self.flush()
        return len(text)

    def flush(self) -> None:
        held, self._held, self._length = self._held, [], 0
        if held and self.lost is None:
            try:
                _write_all(self._descriptor, self._encoder.encode("".join(held)))
            except OSError as error:
                self.lost = error

    @property
    def has_no_reader(self) -> bool:
        """Say whether the reader has closed it, who may have enough."""
        return isinstance(self.lost, BrokenPipeError)


def _write_all(descriptor: int, content: bytes) -> None:
    left = memoryview(content)
    while left:
        try:
            left = left[os.write(descriptor, left) :]
        except BlockingIOError:  # the program that started us reads without waiting, and shares its pipe with us
            _wait_until_writable(descriptor)


def _wait_until_writable(descriptor: int) -> None:
    import select

    select.select([], [descriptor], [])


def open_streams() -> tuple[Output, Output]:
    """Replace standard output and standard error, and return them.

    A descriptor that the starting program has closed is taken by nothing: else the next file that is opened would be
    what the output is written to. Programs that are started find it closed again.
    """
    for descriptor in (0, 1, 2):
        _occupy(descriptor)
    output = Output(1, _encoding(sys.stdout), at_once=sys.stdout is not None and sys.stdout.isatty())
    errors = Output(2, _encoding(sys.stderr), at_once=True)
    sys.stdout, sys.stderr = output, errors
    return output, errors


def _occupy(descriptor: int) -> None:
    try:
        os.fstat(descriptor)
    except OSError as error:
        if error.errno != errno.EBADF:
            return
        # the lowest number that is free is this one, since those before it are taken
        os.open(os.devnull, os.O_RDWR)


def _encoding(stream: TextIO | None) -> str:
    """Return the encoding in which a stream is read.

    For names of files Python is started as if every locale had UTF-8 (`scripts/hermes`); a terminal reads what its
    locale says.
    """
    return _of_the_locale() or (stream.encoding if stream is not None else "") or "utf-8"


def _of_the_locale() -> str:
    """Return the encoding of the locale where it is another one than Python was started with; else an empty text."""
    spoken = next(filter(None, map(os.environ.get, ("LC_ALL", "LC_CTYPE", "LANG"))), "C")
    is_told = "PYTHONIOENCODING" in os.environ or "PYTHONUTF8" in os.environ
    if is_told or not sys.flags.utf8_mode or spoken in ("C", "POSIX") or "utf" in spoken.lower():
        return ""
    import locale

    found = locale.getencoding().lower()
    return "" if found in ("ansi_x3.4-1968", "us-ascii") else found
