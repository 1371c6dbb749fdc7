"""The one place that keeps what a plugin raises away from the host and from other plugins."""

import logging
from collections.abc import Callable
from typing import NamedTuple, TypeVar

__all__ = ["Raised", "guarded"]

_T = TypeVar("_T")
_log = logging.getLogger(__name__)


class Raised(NamedTuple):
    """What a plugin raised, in one line."""

    error: str


def guarded(what: str, call: Callable[[], _T]) -> _T | Raised:
    """Return what a call into a plugin returns; if it raises, log one line that begins with `what` and return that."""
    try:
        return call()
    # `sys.exit` in a plugin's module is its mistake and not the operator's wish; an interrupt is, and passes
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a plugin raises, the host goes on
        raised = Raised(" ".join(f"{type(error).__name__}: {error}".split()))
        _log.warning("%s: %s", what, raised.error)
        _log.debug("%s", what, exc_info=True)
        return raised
