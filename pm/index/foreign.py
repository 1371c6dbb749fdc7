"""The boundary behind which everything is parsed that indexes, servers and wheels say: trouble there has one outcome.

What others wrote can be wrong in every way that a parser knows, and parsers say so in their own ways. Behind this
boundary it is `Unreadable` with a reason, and the caller says of what: of a file, a version or a page, and nothing else
is unusable. How much is read at all is in `pm.limits`.
"""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager

from pm.errors import PARSING_TROUBLE
from pm.limits import Limit
from pm.names import shown

TROUBLE = (
    *PARSING_TROUBLE,
    TypeError,  # pages are JSON that is read as it comes: a number where a text belongs …
    AttributeError,  # … or where a mapping does
    RuntimeError,  # `NotImplementedError` of archives, and what their members raise that need a password
    struct.error,
    zipfile.BadZipFile,
)
"""What parsers of any document raise, and besides what those of pages and archives do."""


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
