"""Widen a specifier by as little as possible, so that it accepts one more version, and write it as its author would."""

import re
from collections.abc import Iterator

from packaging.specifiers import Specifier
from packaging.version import InvalidVersion, Version

__all__ = ["widened"]

_BOUND = re.compile(r"(\s*)(===|==|~=|!=|<=|>=|<|>)(\s*)(.*?)\s*", re.DOTALL)


def widened(specifier: str, version: str) -> str:
    """Return a specifier set that accepts all that this one accepts, and the version too; empty if no bound is left.

    The order of bounds and the blanks between them stay as they are written. An upper bound keeps its length: for
    0.19.1, `<0.18` becomes `<0.20` and `<0.18.0` becomes `<0.20.0`. Only pre-releases of the first release of a series
    (`==1.4.*`) may be accepted no longer: `>=1.4.dev0` would let them in, and ask for every other pre-release as well.
    """
    wanted = Version(version)
    texts = [text for text in specifier.split(",") if text.strip()]
    blank = " " if len(texts) > 1 and texts[1][:1].isspace() else ""
    bounds: dict[str, str] = {}
    for text in texts:
        for bound in _wider(text, wanted, blank):
            bounds.setdefault("".join(bound.split()), bound)
    return ",".join(bounds.values()).strip()


def _wider(text: str, wanted: Version, blank: str) -> Iterator[str]:
    """Yield what one bound becomes: itself, a wider one, two where it was both, nothing where it has to go."""
    match = _BOUND.fullmatch(text)
    if match is None or Specifier(text.strip()).contains(wanted, prereleases=True):
        yield text
        return
    before, operator, between, limit = match.groups()
    for number, (new, version) in enumerate(_bounds(operator, limit, wanted)):
        yield f"{blank if number else before}{new}{between}{version}"


def _bounds(operator: str, limit: str, wanted: Version) -> Iterator[tuple[str, str]]:
    if operator in (">=", ">"):
        yield ">=", wanted.public
    elif operator == "<=":
        yield "<=", wanted.public
    elif operator == "<":
        yield "<", _limit_above(wanted, Version(limit))
    elif operator == "~=" or limit.endswith(".*"):
        yield from _series(operator, limit, wanted) if operator != "!=" else ()
    elif operator in ("==", "==="):
        yield from _between(limit, wanted)
    # what `!=` leaves out is let in by leaving the bound out


def _between(limit: str, wanted: Version) -> Iterator[tuple[str, str]]:
    try:
        pinned = Version(limit)
    except InvalidVersion:  # `===` compares texts, and this one is no version that a bound could let in besides
        return
    if pinned.public == wanted.public:
        yield "==", wanted.public
    else:
        yield ">=", min(pinned, wanted).public
        yield "<=", max(pinned, wanted).public


def _series(operator: str, limit: str, wanted: Version) -> Iterator[tuple[str, str]]:
    """Spell out a series (`==1.4.*`, `~=1.4.2`) with one end moved."""
    base = Version(limit.removesuffix(".*"))
    length = len(base.release) if operator == "==" else len(base.release) - 1
    is_below = wanted < base
    yield ">=", wanted.public if is_below else base.public
    yield "<", _above(base if is_below else wanted, length)


def _limit_above(wanted: Version, limit: Version) -> str:
    """Return a limit above a version that is written like another one: with as many parts, and a zero at its end."""
    length = len(limit.release)
    if length > 1 and limit.release[-1] == 0:
        return f"{_above(wanted, length - 1)}.0"
    return _above(wanted, length)


def _above(version: Version, length: int) -> str:
    """Return the first release above a version that has so many parts: 0.20 above 0.19.1 with two."""
    parts = [*version.release, *([0] * length)][: max(length, 1)]
    epoch = f"{version.epoch}!" if version.epoch else ""
    return epoch + ".".join(map(str, [*parts[:-1], parts[-1] + 1]))
