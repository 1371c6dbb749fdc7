"""The one rule for requirements on the core itself, whichever way they arrive: they are gates, and never searched."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from admission.question import Core

__all__ = ["HOST", "CoreFault", "accepts", "core_fault", "nearest", "told_extras"]

HOST = "hermes-agent"
"""The host's name: every core answers to it, with the version that it speaks."""
_MOST_EXTRAS = 60
"""Names of extras in one hint."""


class CoreFault(NamedTuple):
    """Why a core does not satisfy a requirement on it."""

    code: str
    """`core-version`, `core-extra` or `unknown-extra`."""
    asked: str
    """What is required, as far as it is at fault."""
    message: str
    """What the core is instead."""
    hint: str = ""


def core_fault(core: Core, name: str, specifier: str, extras: Iterable[str]) -> CoreFault | None:
    """Judge a requirement on the core by one of its names; `None` if it is satisfied.

    Its own name is compared with its own version, the host's name with what it speaks.
    """
    version = core.version if name == core.name != HOST else core.gate_version
    if specifier and not accepts(specifier, version):
        return CoreFault(code="core-version", asked=f"the core `{specifier}`", message=f"the core is {_told(core)}")
    asked = f"`{name}[{','.join(extras)}]{specifier}`"
    missing = [extra for extra in extras if extra not in core.active]
    unknown = [extra for extra in missing if extra not in core.offers]
    if unknown and name == core.name:
        message = f"{core.name} {core.version} has no extra `{unknown[0]}`"
        hint = told_extras(unknown[0], core.offers)
        return CoreFault(code="unknown-extra", asked=asked, message=message, hint=hint)
    if missing:
        offered = missing[0] in core.offers
        said = f"was chosen without its extra `{missing[0]}`" if offered else f"has no extra `{missing[0]}`"
        return CoreFault(code="core-extra", asked=asked, message=f"the core {core.name} {core.version} {said}")
    return None


def told_extras(extra: str, offered: Sequence[str]) -> str:
    """Return which extras exist where one does not, the nearest by name first."""
    if not offered:
        return "it has no extras"
    near = nearest(extra, offered)
    meant = f"did you mean {' or '.join(f'`{name}`' for name in near)}? " if near else ""
    return f"{meant}it has {', '.join(offered[:_MOST_EXTRAS])}"


def nearest(name: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return the names that are written nearly so, the nearest first."""
    from difflib import get_close_matches  # for what is wrong only

    return tuple(get_close_matches(name, names, n=3, cutoff=0.7))


def _told(core: Core) -> str:
    spoken = f", which counts as {core.speaks}" if core.speaks and core.speaks != core.version else ""
    return f"{core.name} {core.version}{spoken}"


def accepts(specifier: str, version: str) -> bool:
    """Judge a version with PEP 440: a development version counts as its release too; unreadable bounds accept none."""
    try:
        accepted = SpecifierSet(specifier)
    except InvalidSpecifier:
        return False
    return any(accepted.contains(v, prereleases=True) for v in (version, version.partition(".dev")[0]))
