"""Correct a text that is not a requirement, where it is obvious what was meant."""

from __future__ import annotations

import re

from packaging.requirements import InvalidRequirement, Requirement

__all__ = ["corrected"]

_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"
_OPERATOR = r"(?:===?|>=|<=|!=|~=|<|>)"
_MISSING_COMMA = re.compile(rf"({_OPERATOR}\s{{0,9}}[0-9][^\s,;<>=!~]*)\s{{0,9}}(?={_OPERATOR})")
_WILD_BOUND = re.compile(r"((?:>=|<(?!=)|~=)\s{0,9}[0-9]+(?:\.[0-9]+)*)\.\*")
_TURNED_OPERATOR = re.compile(r"=([<>])(?=\s{0,9}[0-9])")
_SINGLE_EQUALS = re.compile(r"(?<![<>=!~])=(?=\s{0,9}[0-9])")
_NO_OPERATOR = re.compile(rf"({_NAME}(?:\[[^\]]*\])?) {{1,9}}v?([0-9]+(?:\.[0-9]+)+)")
_CARET = re.compile(r"\s{0,9}\^\s{0,9}([0-9]{1,9}(?:\.[0-9]{1,9}){0,9})(?![0-9.])")
_REPEATED_COMMA = re.compile(r",(?:\s{0,9},)+")
_COMMENT = re.compile(r"(?<!\s)\s{1,9}#.*$", re.DOTALL)
_BARE_MARKER_VERSION = re.compile(
    rf"(python(?:_full)?_version\s{{0,9}}{_OPERATOR}\s{{0,9}})([0-9]+(?:\.[0-9]+)*)(?![0-9.'\"])"
)
_LOOKALIKES = str.maketrans(
    {"≥": ">=", "≤": "<=", "≠": "!=", "“": '"', "”": '"', "\u2018": "'", "\u2019": "'", "\ufeff": "", "\xa0": " "}
)


def corrected(text: str) -> str:
    """Return the obvious correction, if it parses; else an empty text. `<=2.4.*` has no obvious meaning."""
    guess = _COMMENT.sub("", text.translate(_LOOKALIKES).strip()).rstrip(";, ")
    bounds, semicolon, marker = guess.partition(";")
    if "://" not in bounds:  # an address holds `=` and digits of its own
        bounds = _corrected_bounds(bounds)
    guess = bounds + semicolon + _BARE_MARKER_VERSION.sub(r'\1"\2"', marker)
    try:
        Requirement(guess)
    except InvalidRequirement:
        return ""
    return "" if guess == text else guess


def _corrected_bounds(bounds: str) -> str:
    bounds = _TURNED_OPERATOR.sub(r"\1=", bounds)
    bounds = _SINGLE_EQUALS.sub("==", bounds)
    bounds = _CARET.sub(_spelled_out, bounds)
    bounds = _REPEATED_COMMA.sub(",", bounds)
    bounds = _MISSING_COMMA.sub(r"\1,", bounds)
    bounds = _WILD_BOUND.sub(r"\1", bounds)
    whole = _NO_OPERATOR.fullmatch(bounds.strip())
    return f"{whole[1]}=={whole[2]}" if whole else bounds


def _spelled_out(caret: re.Match[str]) -> str:
    """Return the bounds that `^1.2` stands for elsewhere: up to the next change of its first number but zero."""
    numbers = [int(number) for number in caret[1].split(".")]
    leading = next((place for place, number in enumerate(numbers) if number), len(numbers) - 1)
    limit = [*numbers[:leading], numbers[leading] + 1]
    return f">={caret[1]},<{'.'.join(map(str, limit))}"
