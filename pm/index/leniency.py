"""Read what an index says although it breaks PEP 440 or PEP 508, where its meaning is plain.

Plugins are read strictly, because their author is there to correct them. Metadata on an index stays as it is for ever,
and a strict reading would refuse releases that are installed everywhere.
"""

from __future__ import annotations

import re

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from pm.index.foreign import Unreadable, brief
from pm.limits import VERSION_DIGITS

_LONG_NUMBER = re.compile(rf"[0-9]{{{VERSION_DIGITS.value + 1}}}")
_WILD_BOUND = re.compile(r"(>=|<=|~=|<|>)\s*([0-9]+(?:\.[0-9]+)*)\.\*")
_TURNED_ROUND = re.compile(r"=([<>])(?=\s*[0-9])")
_MISSING_COMMA = re.compile(r"([0-9A-Za-z*])\s*(?=(?:===?|>=|<=|!=|~=|<|>)\s*[0-9])")
_EMPTY_CLAUSES = re.compile(r",\s*(?=,|$|\))")


def lenient_specifier(text: str) -> SpecifierSet:
    """Return the set that a `Requires-Python` means; raise `Unreadable` if that cannot be told."""
    check_numbers(text)
    try:
        return SpecifierSet(text)
    except InvalidSpecifier:
        try:
            return SpecifierSet(mended_bounds(text.strip("'\" ")))
        except InvalidSpecifier as error:
            raise Unreadable(f"its `Requires-Python` {brief(text)} cannot be read") from error


def check_numbers(text: str) -> None:
    """Raise `Unreadable` for a text that has a number of more digits than any version."""
    if len(text) > VERSION_DIGITS.value and _LONG_NUMBER.search(text):
        raise Unreadable(f"a number in {brief(text)} has more than {VERSION_DIGITS.value} digits")


def mended_bounds(text: str) -> str:
    """Return the text with the known slips of bounds written as they were meant."""
    text = _TURNED_ROUND.sub(r"\1=", text)
    text = _WILD_BOUND.sub(lambda match: _without_wildcard(match[1], match[2]), text)
    text = _MISSING_COMMA.sub(r"\1,", text)
    return _EMPTY_CLAUSES.sub("", text)


def _without_wildcard(operator: str, version: str) -> str:
    """`>=3.6.*` is `>=3.6`; `<=3.9.*` still holds for 3.9.1, and `>3.6.*` does not hold for it."""
    if operator in {"<=", ">"}:
        head, _, last = version.rpartition(".")
        following = f"{head}.{int(last) + 1}" if head else str(int(last) + 1)
        return f"<{following}" if operator == "<=" else f">={following}"
    return f"{operator}{version}"
