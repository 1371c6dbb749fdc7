"""The boundary behind which everything is parsed that indexes, servers and wheels say: trouble there has one outcome.

What others wrote can be wrong in every way that a parser knows, and parsers say so in their own ways. Behind this
boundary it is `Unreadable` with a reason, and the caller says of what: of a file, a version or a page, and nothing else
is unusable. How much is read at all is in `pm.limits`.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from pm.limits import Limit
from pm.names import shown

TROUBLE = (
    ValueError,  # numbers of too many digits, addresses that are none, texts that are no UTF-8, JSON that is none
    TypeError,  # a number where a text belongs
    AttributeError,
    LookupError,
    ArithmeticError,
    AssertionError,
    RuntimeError,  # also `RecursionError`, and `NotImplementedError` of archives
    StopIteration,
    EOFError,
    MemoryError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)
"""What parsers raise for bytes that they do not understand."""


class Unreadable(ValueError):
    """Something that others wrote cannot be read; says why, so that it can stand behind `it cannot be used:`."""


@contextmanager
def boundary(reason: str) -> Iterator[None]:
    """Turn whatever parsing raises inside into `Unreadable` with this reason; one that has its own keeps it."""
    try:
        yield
    except Unreadable:
        raise
    except TROUBLE as error:
        raise Unreadable(reason) from error


def check_length(length: int, limit: Limit, what: str) -> None:
    """Raise `Unreadable` for something that exceeds its limit; `what` says in its words what it is."""
    if length > limit.value:
        raise Unreadable(f"{what} has more than {limit.value:,} {limit.unit}")


def brief(text: object) -> str:
    """Return what others wrote as a reason may show it."""
    return shown(text if isinstance(text, str) else repr(text), _SHOWN)


_SHOWN = 100
