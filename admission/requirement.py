"""`Requirement`: what is asked for, together with the plugin, core or distribution that asks, and the place."""

import re
from typing import NamedTuple

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from lockfiles import Owner

__all__ = [
    "InvalidRequirementText",
    "Origin",
    "Owner",
    "Requirement",
    "canonical_name",
    "parse_requirement",
    "parse_specifier",
]

_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"
# The plain form that nearly every declaration uses: name, extras, comma-separated bounds of digits and dots. Everything
# else (markers, addresses, wildcards, spaces, pre-releases and every error) goes to packaging's parser, which costs
# 18 ms to import. tests/property says that both agree on all that matches here.
_PLAIN = re.compile(
    rf"({_NAME})(?:\[({_NAME}(?:,{_NAME})*)\])?((?:(?:==|>=|<=|!=|~=|<|>)[0-9]+(?:\.[0-9]+)*,?)*)(?<!,)"
)
_SEPARATORS = re.compile(r"[-_.]+")
LONGEST = 4096
"""Characters that a requirement may have; the patterns below stay cheap within it."""


def canonical_name(name: str) -> str:
    """Return the normalised form of a distribution's or an extra's name (PEP 503, PEP 685)."""
    return _SEPARATORS.sub("-", name).lower()


class Origin(NamedTuple):
    """The owner of a requirement, and where it is written."""

    owner: Owner
    file: str = ""
    """Relative to the plugin's folder, or `METADATA`; empty when it was given on the command line."""
    line: int = 0
    """1-based; 0 when the format has no lines of its own."""
    key: str = ""
    """For example `project.dependencies` or `pip_dependencies`."""


class Requirement(NamedTuple):
    """One requirement in the sense of PEP 508, normalised."""

    name: str
    """Normalised (PEP 503)."""
    origin: Origin
    specifier: str = ""
    """As packaging writes the set; empty for any version."""
    extras: tuple[str, ...] = ()
    """Normalised (PEP 685), sorted."""
    marker: str = ""
    """As packaging writes it; empty for always."""
    url: str = ""
    text: str = ""
    """As it is written in the file."""

    @property
    def canonical(self) -> str:
        """The requirement as one normalised PEP 508 line."""
        extras = f"[{','.join(self.extras)}]" if self.extras else ""
        url = f" @ {self.url}" if self.url else ""
        marker = f"{' ' if self.url else ''}; {self.marker}" if self.marker else ""
        return f"{self.name}{extras}{url}{self.specifier}{marker}"


class InvalidRequirementText(ValueError):
    """A text that is not a requirement in the sense of PEP 508."""

    def __init__(self, message: str, *, text: str, column: int = 0, correction: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.text = text
        self.column = column
        """1-based place of the first character that cannot be read; 0 when unknown."""
        self.correction = correction
        """The corrected text, where it is obvious; else empty."""


def parse_requirement(text: str, origin: Origin) -> Requirement:
    """Parse one PEP 508 text.

    Raise `InvalidRequirementText`, with the column and where obvious the corrected text.
    """
    match = _PLAIN.fullmatch(text) if len(text) <= LONGEST else None
    if match is None:
        return _parse_with_packaging(text, origin)
    name, extras, specifier = match.groups()
    try:
        canonical_specifier = str(SpecifierSet(specifier)) if specifier else ""
    except InvalidSpecifier:
        return _parse_with_packaging(text, origin)
    return Requirement(
        name=canonical_name(name),
        origin=origin,
        specifier=canonical_specifier,
        extras=_canonical_extras(extras.split(",")) if extras else (),
        text=text,
    )


def parse_specifier(text: str) -> str:
    """Return the normalised form of a set of bounds, as `Requires-Python` holds it.

    Raise `InvalidRequirementText`, with the column and where obvious the corrected text.
    """
    if len(text) > LONGEST:
        raise _too_long(text)
    try:
        return str(SpecifierSet(text))
    except InvalidSpecifier as error:
        raise _explained_specifier(text) from error


def _canonical_extras(extras: list[str]) -> tuple[str, ...]:
    return tuple(sorted({canonical_name(extra) for extra in extras}))


def _parse_with_packaging(text: str, origin: Origin) -> Requirement:
    from packaging.requirements import InvalidRequirement
    from packaging.requirements import Requirement as Parsed

    if len(text) > LONGEST:
        raise _too_long(text)
    try:
        parsed = Parsed(text)
    except InvalidRequirement as error:
        raise _explained(text, error) from error
    except RecursionError as error:
        raise InvalidRequirementText("its marker is nested too deep", text=text) from error
    return Requirement(
        name=canonical_name(parsed.name),
        origin=origin,
        specifier=str(parsed.specifier),
        extras=_canonical_extras(list(parsed.extras)),
        marker=str(parsed.marker) if parsed.marker else "",
        url=parsed.url or "",
        text=text,
    )


def _too_long(text: str) -> InvalidRequirementText:
    return InvalidRequirementText(f"it is longer than {LONGEST} characters", text=text)


def _explained(text: str, error: Exception) -> InvalidRequirementText:
    from admission.correction import corrected  # for what is wrong only: its patterns take a millisecond to compile

    message = str(error).splitlines()[0]
    # packaging's parser keeps the span of the fault on the exception behind the public one; its end is the first
    # character that does not fit. Without a span (another kind of fault) there is no column.
    span: tuple[int, int] | None = getattr(error.__cause__, "span", None)
    return InvalidRequirementText(
        message[:1].lower() + message[1:], text=text, column=span[1] + 1 if span else 0, correction=corrected(text)
    )


def _explained_specifier(text: str) -> InvalidRequirementText:
    """Explain a set of bounds as if a name stood before it, so that both kinds of text get the same corrections."""
    name, message = "x", "expected version bounds such as `>=3.11,<3.14`"
    try:
        _parse_with_packaging(name + text, _NOWHERE)
    except InvalidRequirementText as explained:
        column = max(explained.column - len(name), 0)
        return InvalidRequirementText(
            message, text=text, column=column, correction=explained.correction.removeprefix(name)
        )
    # With a name before it the text means something else: `3.11` would go on the name, `[a]` would be its extras.
    return InvalidRequirementText(message, text=text, column=1)


_NOWHERE = Origin(Owner("plugin", ""))
