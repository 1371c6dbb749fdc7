"""Where what others wrote is parsed: whatever a parser raises over it is one outcome, that it cannot be read."""

from collections.abc import Callable
from typing import TypeVar

from pm.errors import PARSING_TROUBLE

TROUBLE = PARSING_TROUBLE

_Value = TypeVar("_Value")
_Row = TypeVar("_Row", bound=tuple[object, ...])


def parsed(parse: Callable[[], _Value], unreadable: Callable[[str], _Value]) -> _Value:
    """Return what was parsed, or what `unreadable` makes of the words for why it cannot be."""
    try:
        return parse()
    except TROUBLE as error:
        return unreadable(told(error))


def alike(value: _Row, example: _Row) -> _Row:
    """Return a row of values if each is of the same type as in an example; raise `TypeError` if not."""
    if [*map(type, value)] != [*map(type, example)]:
        raise TypeError(value)
    return value


def texts(value: object) -> tuple[str, ...]:
    """Return a list of texts as a tuple; raise `TypeError` for anything else."""
    if isinstance(value, list | tuple) and all(type(item) is str for item in value):
        return tuple(value)
    raise TypeError(value)


def told(error: BaseException) -> str:
    """Return why something cannot be read, in words for its author."""
    if isinstance(error, RecursionError):
        return "it is nested too deep"
    if isinstance(error, MemoryError):
        return "it takes too much memory"
    said = (str(error).splitlines() or [""])[0]
    return f"{said[:1].lower()}{said[1:]}" if said else f"the parser gives up with `{type(error).__name__}`"
