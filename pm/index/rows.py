"""Write pages, candidates and listed files as compact rows of ASCII, and read them back.

What repeats is written once: versions and times are one text each, and versions that are out for the same reason share
a row with runs of positions.
"""

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from admission import Candidate, Exclusion, Page
from lockfiles import Artifact, Edge

if TYPE_CHECKING:
    from pm.index.reduction import Reduced

_UNKNOWN = "?"


def _dumped(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True).encode("ascii")


def page_row(reduced: "Reduced") -> bytes:
    """Write what is known of one package, without its files: three lines."""
    return _lines(reduced.versions, reduced.uploaded, [_grouped(reduced.excluded), _grouped(reduced.consented)])


def row_of_page(page: Page) -> bytes:
    """Write a page as it stands, with or without a consent to build."""
    buildable = {position: None for position in range(len(page.versions)) if page.buildable >> position & 1}
    return _lines(page.versions, page.uploaded, [_grouped(dict(page.excluded)), _grouped(buildable)])


def _lines(versions: Iterable[str], uploaded: Iterable[str], exclusions: object) -> bytes:
    times = " ".join(time or _UNKNOWN for time in uploaded)
    return b"\n".join((" ".join(versions).encode("ascii"), times.encode("ascii"), _dumped(exclusions)))


def _grouped(exclusions: Mapping[int, Exclusion | None]) -> list[list[object]]:
    positions: dict[Exclusion | None, list[int]] = {}
    for position in sorted(exclusions):
        runs = positions.setdefault(exclusions[position], [])
        if runs and runs[-1] == position - 1:
            runs[-1] = position
        else:
            runs += [position, position]
    return [[*(exclusion or ("", "")), runs] for exclusion, runs in positions.items()]


class PageParts(NamedTuple):
    """What `page_row` wrote."""

    versions: tuple[str, ...]
    uploaded: tuple[str, ...]
    excluded: dict[int, Exclusion]
    consented: dict[int, Exclusion | None]


def read_page_row(row: bytes) -> PageParts:
    """Read what `page_row` wrote."""
    versions, uploaded, (excluded, consented) = _read_lines(row)
    return PageParts(versions, uploaded, _excluded(excluded), _ungrouped(consented))


def page_of(name: str, row: bytes, *, may_build: bool) -> Page:
    """Return the page that a row holds, as it stands with or without a consent to build the package."""
    versions, uploaded, (excluded, consented) = _read_lines(row)
    if may_build and consented:
        return Page(name, versions, _only_out(_ungrouped(excluded) | _ungrouped(consented)), uploaded)
    return Page(name, versions, _excluded(excluded), uploaded, _usable(consented))


_Groups = list[tuple[str, str, list[int]]]


def _read_lines(row: bytes) -> tuple[tuple[str, ...], tuple[str, ...], tuple[_Groups, _Groups]]:
    versions, times, exclusions = row.decode("ascii").split("\n")
    uploaded = tuple(times.split(" ")) if times else ()
    if _UNKNOWN in times:
        uploaded = tuple("" if time == _UNKNOWN else time for time in uploaded)
    return tuple(versions.split(" ")) if versions else (), uploaded, json.loads(exclusions)


def _excluded(groups: _Groups) -> dict[int, Exclusion]:
    """Read exclusions; the inner loop is the largest part of loading facts, hence its shape."""
    exclusions: dict[int, Exclusion] = {}
    for code, detail, runs in groups:
        exclusion = Exclusion(code, detail)
        for index in range(0, len(runs), 2):
            first, last = runs[index], runs[index + 1]
            if first == last:
                exclusions[first] = exclusion
            else:
                exclusions.update(dict.fromkeys(range(first, last + 1), exclusion))
    return exclusions


def _usable(groups: _Groups) -> int:
    """Return the positions that are out for no reason any more, as bits."""
    mask = 0
    for code, _, runs in groups:
        for index in range(0, 0 if code else len(runs), 2):
            mask |= (1 << runs[index + 1] + 1) - (1 << runs[index])
    return mask


def _ungrouped(groups: _Groups) -> dict[int, Exclusion | None]:
    return {position: exclusion if exclusion.code else None for position, exclusion in _excluded(groups).items()}


def _only_out(exclusions: dict[int, Exclusion | None]) -> dict[int, Exclusion]:
    return {position: exclusion for position, exclusion in exclusions.items() if exclusion is not None}


def candidate_row(candidate: Candidate) -> bytes:
    """Write one candidate; its name and version are the key it is kept under."""
    artifact = candidate.artifact
    requires = [
        [edge.name, edge.specifier, ",".join(edge.extras), edge.marker, edge.extra] for edge in candidate.requires
    ]
    return _dumped(
        [
            [artifact.filename, artifact.sha256, artifact.url, artifact.path, artifact.size, artifact.upload_time],
            [edge[:4] if not edge[4] else edge for edge in requires],
            list(candidate.extras),
            candidate.index,
            candidate.requires_python,
            candidate.invalid,
            *([[list(fault) for fault in candidate.broken]] if candidate.broken else []),
        ]
    )


def read_candidate_row(name: str, version: str, row: bytes) -> Candidate:
    """Read what `candidate_row` wrote."""
    artifact, requires, extras, index, requires_python, invalid, *broken = json.loads(row)
    edges = tuple(
        [Edge(edge[0], edge[1], tuple(edge[2].split(",")) if edge[2] else (), edge[3], *edge[4:]) for edge in requires]
    )
    read = Candidate(name, version, Artifact(*artifact), edges, tuple(extras), index, requires_python, invalid)
    return read._replace(broken=tuple((extra, why) for extra, why in broken[0])) if broken else read
