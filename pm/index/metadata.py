"""Turn the `METADATA` of a wheel into a `Candidate` whose markers are judged for the target."""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from packaging.markers import InvalidMarker, Marker, UndefinedComparison, UndefinedEnvironmentName, prepare_environment
from packaging.requirements import InvalidRequirement
from packaging.requirements import Requirement as ParsedRequirement
from packaging.version import InvalidVersion, Version

from admission import Candidate, Target, canonical_name
from lockfiles import Artifact, Edge
from pm.index.foreign import Unreadable, boundary, brief, check_length
from pm.index.leniency import check_numbers, lenient_specifier, mended_bounds
from pm.index.markers import extras_in, without_extra
from pm.limits import (
    EXTRAS,
    METADATA_BYTES,
    REQUIREMENT_LENGTH,
    REQUIREMENT_LINES,
    REQUIREMENTS_LENGTH,
    REQUIRES_PYTHON_LENGTH,
)

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

_FIELD = re.compile(r"([A-Za-z][A-Za-z-]*):[ \t]*(.*)")
_EXTRA_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
_NAME_AND_EXTRAS = re.compile(r"\s*[A-Za-z0-9][A-Za-z0-9._-]*\s*(?:\[[^\]]*\])?\s*")
_NEWEST_MAJOR = 2


class CoreMetadata(NamedTuple):
    """The fields that deciding needs, as they are written."""

    name: str
    version: str
    requires: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()
    requires_python: str = ""
    metadata_version: str = ""


def read_core_metadata(content: bytes) -> CoreMetadata:
    """Read the header of a `METADATA` or `PKG-INFO` file; its long description is not looked at."""
    fields: dict[str, list[str]] = {}
    for key, value in _fields(content.decode("utf-8", errors="replace")):
        fields.setdefault(key, []).append(value)

    def first(key: str) -> str:
        return fields.get(key, [""])[0]

    return CoreMetadata(
        name=first("name"),
        version=first("version"),
        requires=tuple(fields.get("requires-dist", ())),
        extras=tuple(fields.get("provides-extra", ())),
        requires_python=first("requires-python"),
        metadata_version=first("metadata-version"),
    )


def _fields(text: str) -> Iterator[tuple[str, str]]:
    """Yield the fields with their continuation lines joined, up to the first empty line.

    A line of blanks is not empty but continues a field: many a licence has such lines. Only a line feed ends a line
    here, since texts hold form feeds and other things that Python takes for the end of one.
    """
    key, parts = "", [""]
    for written in text.lstrip("\ufeff").split("\n"):
        line = written.rstrip("\r")
        if not line:
            break
        if line[0] in " \t":
            parts.append(line.strip())
            continue
        if key:
            yield key, " ".join(parts)
        match = _FIELD.match(line)
        key, parts = (match[1].lower(), [match[2].strip()]) if match else ("", [""])
    if key:
        yield key, " ".join(parts)


class Judge:
    """Judges requirements for one target; remembers what it parsed, since releases repeat each other's lines."""

    def __init__(self, target: Target) -> None:
        self._environment: Mapping[str, str | AbstractSet[str]] = prepare_environment(dict(target.environment))
        self._judged: dict[str, tuple[Edge, ...]] = {}
        self._broken: dict[str, tuple[tuple[str, str], ...]] = {}
        """Line → the extras that cannot be had because of it, with why."""

    def candidate(
        self,
        content: bytes,
        *,
        name: str,
        version: str,
        artifact: Artifact,
        index: str,
        extras: Collection[str] | None = None,
    ) -> Candidate:
        """Return the candidate that a metadata file describes; one that cannot be read says so in `invalid`.

        With `extras` what plainly stands behind other extras is not read: that is more than half of all lines.
        """
        blank = Candidate(name=name, version=version, artifact=artifact, index=index)
        try:
            with boundary("its metadata cannot be read"):
                return self._read(content, blank, extras)
        except Unreadable as error:
            return blank._replace(invalid=str(error))

    def _read(self, content: bytes, blank: Candidate, extras: Collection[str] | None) -> Candidate:
        check_length(len(content), METADATA_BYTES, "its metadata")
        metadata = read_core_metadata(content)
        _check_identity(metadata, blank.name, blank.version)
        _check_lengths(metadata)
        requires_python = lenient_specifier(metadata.requires_python)
        lines = (line for line in metadata.requires if extras is None or not _is_behind_others(line, extras))
        requires = {edge for line in lines for edge in self.edges(line)}
        return blank._replace(
            requires=tuple(sorted(requires)),
            extras=tuple(sorted({canonical_name(extra) for extra in metadata.extras if _EXTRA_NAME.fullmatch(extra)})),
            requires_python=str(requires_python),
            broken=tuple(sorted({fault for line in metadata.requires for fault in self._broken.get(line, ())})),
        )

    def edges(self, line: str) -> tuple[Edge, ...]:
        """Return what one `Requires-Dist` asks for on this target: nothing, or one edge plain or for each extra."""
        known = self._judged.get(line)
        if known is None:
            known = self._judged[line] = self._edges(line)
        return known

    def _edges(self, line: str) -> tuple[Edge, ...]:
        requirement = _parsed(line)
        if isinstance(requirement, Unreadable):
            return self._none_of(self._extras_of_unreadable(line, requirement), line, requirement)
        extras = self._extras(requirement.marker, line)
        if requirement.url:
            why = Unreadable(f"it asks for {brief(line)}, a direct address, which is never followed")
            return self._none_of(extras, line, why)
        return tuple(_edge(requirement, extra) for extra in extras)

    def _none_of(self, extras: tuple[str, ...], line: str, why: Unreadable) -> tuple[Edge, ...]:
        """Note that extras cannot be had; raise where the release itself cannot."""
        if "" in extras:
            raise why
        if extras:
            self._broken[line] = tuple((extra, str(why)) for extra in extras)
        return ()

    def _extras_of_unreadable(self, line: str, why: Unreadable) -> tuple[str, ...]:
        """Return the extras that a line which cannot be read stands behind."""
        try:
            return self._extras(Marker(line.partition(";")[2]), line)
        except InvalidMarker:
            raise why from None

    def _extras(self, marker: Marker | None, line: str) -> tuple[str, ...]:
        """Return the extras for which a marker holds; `""` alone if it needs none."""
        if marker is None or self._holds(marker, "", line):
            return ("",)
        # An extra whose name is none in the sense of PEP 685 cannot be asked for; nothing behind it is enabled.
        named = dict.fromkeys(canonical_name(extra) for extra in extras_in(str(marker)) if _EXTRA_NAME.fullmatch(extra))
        return tuple(extra for extra in named if self._holds(marker, extra, line))

    def _holds(self, marker: Marker, extra: str, line: str) -> bool:
        try:
            return marker.evaluate_prepared({**self._environment, "extra": extra})
        except (UndefinedComparison, UndefinedEnvironmentName) as error:
            raise Unreadable(f"the marker of its requirement {brief(line)} cannot be judged") from error


def _is_behind_others(line: str, extras: Collection[str]) -> bool:
    """Say whether a requirement surely needs an extra that is none of these."""
    marker = line.partition(";")[2]
    if "extra" not in marker or "!=" in marker or re.search(r"\bor\b", marker):
        return False
    named = {canonical_name(name) for name in extras_in(marker)}
    return bool(named) and named.isdisjoint(extras)


def _check_lengths(metadata: CoreMetadata) -> None:
    check_length(len(metadata.requires_python), REQUIRES_PYTHON_LENGTH, "its `Requires-Python`")
    check_length(len(metadata.extras), EXTRAS, "its list of extras")
    check_length(len(metadata.requires), REQUIREMENT_LINES, "its list of requirements")
    check_length(sum(map(len, metadata.requires)), REQUIREMENTS_LENGTH, "its list of requirements")
    check_length(max(map(len, metadata.requires), default=0), REQUIREMENT_LENGTH, "one of its requirements")


def _check_identity(metadata: CoreMetadata, name: str, version: str) -> None:
    if not metadata.name:
        raise Unreadable("its metadata has no `Name`")
    if canonical_name(metadata.name) != name or not _same_version(metadata.version, version):
        raise Unreadable(f"its metadata says that it is {brief(f'{metadata.name} {metadata.version}')}")
    major = metadata.metadata_version.partition(".")[0]
    if major.isdigit() and int(major) > _NEWEST_MAJOR:
        raise Unreadable(
            f"its `Metadata-Version` {brief(metadata.metadata_version)} is newer than this manager can read"
        )


def _same_version(written: str, expected: str) -> bool:
    check_numbers(written)
    try:
        return Version(written) == Version(expected)
    except InvalidVersion:
        return False


def _parsed(line: str) -> ParsedRequirement | Unreadable:
    try:
        check_numbers(line)
        return ParsedRequirement(line)
    except Unreadable as error:
        return error
    except InvalidRequirement:
        demand, semicolon, marker = line.partition(";")
    try:
        return ParsedRequirement(_mended(demand) + semicolon + marker)
    except InvalidRequirement:
        return Unreadable(f"its requirement {brief(line)} cannot be read")


def _mended(demand: str) -> str:
    match = _NAME_AND_EXTRAS.match(demand)
    return match[0] + mended_bounds(demand[match.end() :]) if match else demand


def _edge(requirement: ParsedRequirement, extra: str) -> Edge:
    return Edge(
        name=canonical_name(requirement.name),
        specifier=str(requirement.specifier),
        extras=tuple(sorted({canonical_name(asked) for asked in requirement.extras})),
        marker=without_extra(str(requirement.marker), extra) if requirement.marker else "",
        extra=extra,
    )
