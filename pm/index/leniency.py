"""Read what an index says although it breaks PEP 440 or PEP 508, where its meaning is plain.

Plugins are read strictly, because their author is there to correct them. Metadata on an index stays as it is for ever,
and a strict reading would refuse releases that are installed everywhere.
"""

from __future__ import annotations

import re

from packaging.specifiers import InvalidSpecifier, SpecifierSet

_WILD_BOUND = re.compile(r"(>=|<=|~=|<|>)\s*([0-9]+(?:\.[0-9]+)*)\.\*")
_TURNED_ROUND = re.compile(r"=([<>])(?=\s*[0-9])")
_MISSING_COMMA = re.compile(r"([0-9A-Za-z*])\s*(?=(?:===?|>=|<=|!=|~=|<|>)\s*[0-9])")
_EMPTY_CLAUSES = re.compile(r",\s*(?=,|$|\))")


def lenient_specifier(text: str) -> SpecifierSet | None:
    """Return the set that a text means, or `None` if that cannot be told."""
    try:
        return SpecifierSet(text)
    except InvalidSpecifier:
        try:
            return SpecifierSet(mended_bounds(text.strip("'\" ")))
        except InvalidSpecifier:
            return None


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
