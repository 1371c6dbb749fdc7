"""Widen a specifier by as little as possible, so that it accepts one more version."""

from __future__ import annotations

from collections.abc import Iterator

from packaging.specifiers import Specifier, SpecifierSet
from packaging.version import Version

__all__ = ["widened"]


def widened(specifier: str, version: str) -> str:
    """Return a specifier set that accepts all that this one accepts, and the version too; the order of bounds is kept.

    `<0.18` becomes `<0.20` for 0.19.1: an upper bound keeps its length. Empty if the last bound falls away.
    """
    wanted = Version(version)
    bounds: list[str] = []
    for part in _in_order(specifier):
        if part.contains(wanted, prereleases=True):
            bounds.append(str(part))
        else:
            bounds.extend(_wider(part, wanted))
    return ",".join(dict.fromkeys(bounds))


def _in_order(specifier: str) -> list[Specifier]:
    """Return the bounds as they are written: a `SpecifierSet` has an order of its own."""
    return [Specifier(text.strip()) for text in specifier.split(",") if text.strip()]


def _wider(part: Specifier, wanted: Version) -> Iterator[str]:
    operator, text = part.operator, part.version
    if operator in (">=", ">"):
        yield f">={wanted}"
    elif operator == "<=":
        yield f"<={wanted}"
    elif operator == "<":
        yield f"<{_above(wanted, len(Version(text).release))}"
    elif operator == "===" or (operator == "==" and not text.endswith(".*")):
        yield from _between(Version(text), wanted)
    elif operator in ("==", "~="):
        yield from _series(operator, text, wanted)
    # what `!=` leaves out is let in by leaving the bound out


def _between(one: Version, other: Version) -> Iterator[str]:
    yield f">={min(one, other)}"
    yield f"<={max(one, other)}"


def _series(operator: str, text: str, wanted: Version) -> Iterator[str]:
    """Spell out a series (`==1.4.*`, `~=1.4.2`) with one end moved."""
    base = Version(text.removesuffix(".*"))
    length = len(base.release) if operator == "==" else len(base.release) - 1
    lowest = Version(f"{base}.dev0") if operator == "==" else base
    if wanted < lowest:
        yield f">={wanted}"
        yield f"<{_above(base, length)}"
    else:
        yield f">={lowest}" if operator == "~=" else f">={base}"
        yield f"<{_above(wanted, length)}"


def _above(version: Version, length: int) -> str:
    """Return the first release above a version that has so many parts: 0.20 above 0.19.1 with two."""
    parts = [*version.release, *([0] * length)][: max(length, 1)]
    return ".".join(map(str, [*parts[:-1], parts[-1] + 1]))


def accepts(specifier: str, version: str) -> bool:
    """Say whether a specifier set accepts a version, pre-releases included."""
    return SpecifierSet(specifier).contains(version, prereleases=True)
