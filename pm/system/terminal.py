"""What a stream can show: how wide its text may be, whether it obeys as a terminal, which signs its encoding has."""

from __future__ import annotations

import os

TYPE_CHECKING = False  # as in `typing`, whose import would cost the quickest answer a tenth of its time
if TYPE_CHECKING:
    from typing import TextIO

__all__ = ["can_show", "columns", "has_colour", "obeys", "terminal_columns"]

_WITHOUT_TERMINAL = 100


def columns(stream: TextIO | None) -> int:
    """Return how wide the text for a stream is: what `COLUMNS` says, else as its terminal, else 100 columns."""
    told = os.environ.get("COLUMNS", "")
    if told.isdecimal() and int(told):
        return int(told)
    return terminal_columns(stream) or _WITHOUT_TERMINAL


def terminal_columns(stream: TextIO | None) -> int:
    """Return how wide the terminal of a stream is; 0 if it has none, or one that does not say."""
    try:
        return os.get_terminal_size(stream.fileno()).columns if stream is not None else 0
    except (OSError, ValueError):  # no terminal; a stream that is closed, or is no file
        return 0


def obeys(stream: TextIO | None) -> bool:
    """Say whether a stream is a terminal that obeys: a line can be taken away again, and text can have a colour."""
    return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"


def has_colour(stream: TextIO | None) -> bool:
    """Say whether text for a stream is coloured: on a terminal, unless `NO_COLOR` is set."""
    return obeys(stream) and not os.environ.get("NO_COLOR")


def can_show(stream: TextIO | None, signs: str) -> bool:
    """Say whether the encoding of a stream has these signs."""
    try:
        signs.encode((stream and stream.encoding) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
