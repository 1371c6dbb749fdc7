"""Names that may be taken for others: spelled nearly alike, and not the same."""

import re
from collections.abc import Iterable


def looks_like(name: str, known: Iterable[str]) -> str:
    """Return the known name that another one may be taken for; empty if there is none, or it is known itself."""
    names = {other.lower() for other in known}
    if name.lower() in names:
        return ""
    return next((other for other in sorted(names) if _is_alike(_skeleton(name), _skeleton(other))), "")


def _is_alike(one: str, other: str) -> bool:
    return one == other or _is_one_slip(one, other)


_SHORTEST = 6
"""Of names that one letter tells apart: shorter ones are too often words of their own."""


def _skeleton(name: str) -> str:
    return re.sub(r"[-_.]", "", name.lower()).translate(str.maketrans("01345", "oleas"))


def _is_one_slip(one: str, other: str) -> bool:
    """Say whether one letter was left out, added, changed, or two were swapped."""
    if min(len(one), len(other)) < _SHORTEST or abs(len(one) - len(other)) > 1:
        return False
    start = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    rest, others = one[start:], other[start:]
    swapped = rest[:2] == others[1::-1] and rest[2:] == others[2:]
    return rest[1:] == others or rest == others[1:] or rest[1:] == others[1:] or (swapped and len(rest) > 1)
