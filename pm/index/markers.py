"""Take the `extra` part out of a marker, so that what is left says when a dependency of that extra applies."""

import re
from functools import lru_cache
from typing import NamedTuple

from admission import canonical_name

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<paren>[()])
      | (?P<word>and|or)\b
      | (?P<term>(?:"[^"]*"|'[^']*'|[a-z_.]+)\s*(?:===|==|~=|!=|<=|>=|<|>|not\s+in|in)\s*(?:"[^"]*"|'[^']*'|[a-z_.]+))
    )""",
    re.VERBOSE,
)
_EXTRA = re.compile(r"""^(?:extra\s*(==|!=)\s*["']([^"']*)["']|["']([^"']*)["']\s*(==|!=)\s*extra)$""")
_MENTIONED = re.compile(r"""\bextra\s*[=!]=\s*["']([^"']*)["']|["']([^"']*)["']\s*[=!]=\s*extra\b""")


class _Clause(NamedTuple):
    """What is left of a part of a marker."""

    text: str
    has_or: bool = False
    """Whether it needs parentheses beside an `and`."""


# A part of a marker while it is simplified: a clause, or a truth that its neighbours absorb.
_Simplified = _Clause | bool


def extras_in(marker: str) -> tuple[str, ...]:
    """Return the extras a marker compares with, as they are written there."""
    return tuple(dict.fromkeys(first or second for first, second in _MENTIONED.findall(marker)))


@lru_cache(maxsize=4096)
def without_extra(marker: str, extra: str) -> str:
    """Return a marker as it reads once `extra` is asked for (`""`: no extra); empty if it then always holds."""
    if "extra" not in marker:
        return marker
    tokens = _tokens(marker)
    simplified = _any_of(tokens, extra)
    return simplified.text if isinstance(simplified, _Clause) else ""


def _tokens(marker: str) -> list[str]:
    """Return the tokens, last one first."""
    tokens = []
    position = 0
    while position < len(marker.rstrip()):
        match = _TOKEN.match(marker, position)
        if match is None:  # packaging has parsed it before; what this small grammar does not know stays as it is
            return [marker]
        tokens.append(match[0].strip())
        position = match.end()
    return tokens[::-1]


def _any_of(tokens: list[str], extra: str) -> _Simplified:
    parts = [_all_of(tokens, extra)]
    while tokens and tokens[-1] == "or":
        tokens.pop()
        parts.append(_all_of(tokens, extra))
    clauses = [part for part in parts if isinstance(part, _Clause)]
    if True in parts or not clauses:
        return True in parts
    return clauses[0] if len(clauses) == 1 else _Clause(" or ".join(clause.text for clause in clauses), has_or=True)


def _all_of(tokens: list[str], extra: str) -> _Simplified:
    parts = [_term(tokens, extra)]
    while tokens and tokens[-1] == "and":
        tokens.pop()
        parts.append(_term(tokens, extra))
    clauses = [part for part in parts if isinstance(part, _Clause)]
    if False in parts or not clauses:
        return False not in parts
    if len(clauses) == 1:
        return clauses[0]
    return _Clause(" and ".join(f"({clause.text})" if clause.has_or else clause.text for clause in clauses))


def _term(tokens: list[str], extra: str) -> _Simplified:
    part = tokens.pop()
    if part == "(":
        inside = _any_of(tokens, extra)
        tokens.pop()
        return inside
    match = _EXTRA.match(part)
    if match is None:
        return _Clause(part)
    operator, name = match[1] or match[4], match[2] if match[1] else match[3]
    return (canonical_name(name) == extra) is (operator == "==")
