"""`Facts`: what is known of the index, for one target, as an immutable value.

The shape is that of the snapshot on disk: which version a package has, which of them this target can use, and for each
version whose metadata was read its file and its requirements with the markers already judged.
"""

from collections.abc import Mapping
from typing import NamedTuple

from lockfiles import Artifact, Edge


class Exclusion(NamedTuple):
    """Why a target cannot use a version, or only under an exact pin."""

    code: str
    """`no-wheel`, `python-version`, `yanked-only`, `build-needs-consent`."""
    detail: str
    """The tags that exist, the `Requires-Python`, or the reason of the yank."""


class Page(NamedTuple):
    """All versions of one package that the index knows."""

    name: str
    versions: tuple[str, ...]
    """Ascending in the order of PEP 440, without duplicates."""
    excluded: Mapping[int, Exclusion] = {}
    """Position in `versions` → why this target cannot use it; a version is yanked if all its usable files are."""
    uploaded: tuple[str, ...] = ()
    """For each version the earliest upload time of its usable files (ISO 8601, UTC); empty when none is known."""
    buildable: int = 0
    """The set of positions, as bits, that a consent to build the package would make usable."""


class Candidate(NamedTuple):
    """One version of one distribution, with the file this target would install and its requirements."""

    name: str
    version: str
    artifact: Artifact
    requires: tuple[Edge, ...] = ()
    """`Requires-Dist` whose markers hold for the target; an edge of an extra names it. Sorted."""
    extras: tuple[str, ...] = ()
    """`Provides-Extra`, normalised, sorted."""
    index: str = ""  # type: ignore[assignment] # the standard's word (PEP 751); `tuple.index` is not used
    """Address of the index, spelled as uv spells it; empty for a folder."""
    requires_python: str = ""
    invalid: str = ""
    """Why its metadata cannot be read; such a candidate is never chosen."""
    broken: tuple[tuple[str, str], ...] = ()
    """Extra → why it cannot be had: where it is asked for, the candidate is never chosen."""


class Facts(NamedTuple):
    """Pages and candidates. A missing name is unknown; a page without versions says that no such package exists."""

    pages: Mapping[str, Page]
    candidates: Mapping[str, Mapping[str, Candidate]]
    """Name → version → candidate."""

    def candidate(self, name: str, version: str) -> Candidate | None:
        return self.candidates.get(name, {}).get(version)


NOTHING_KNOWN = Facts(pages={}, candidates={})
