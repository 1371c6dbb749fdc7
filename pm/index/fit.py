"""`Fit`: how well the wheels of others fit one target."""

import itertools
import math

from packaging.version import Version

from admission import Target
from pm.index.leniency import lenient_specifier

WheelKey = tuple[int, int, str]
NO_WHEEL: WheelKey = (0, 0, "")
UNFIT = 1 << 30
"""The rank of tags of another target; what is above it are no tags."""
_MALFORMED = UNFIT + 1
_VERSION_AND_BUILD = 2
_TAG_PARTS = 3
_MOST_TAGS = 1000
"""Into which one compressed set may expand; the largest real ones have a few dozen."""


class Fit:
    """What a target can use: remembers every text that it judged."""

    def __init__(self, target: Target) -> None:
        self._rank_of_tag = {tag: rank for rank, tag in reversed(list(enumerate(target.tags)))}
        # A pre-release of an interpreter counts as its release, as for pip and uv.
        self._python = Version(target.python).base_version
        self._ranks: dict[str, int] = {}
        self._pythons: dict[str, bool] = {"": True}
        self._keys: dict[tuple[str, str], WheelKey] = {}

    def rank(self, tags: str) -> int:
        """Return how much the target likes a wheel's `py-abi-platform` part; the smallest number is the best."""
        known = self._ranks.get(tags)
        if known is None:
            known = self._ranks[tags] = self._rank(tags)
        return known

    def _rank(self, tags: str) -> int:
        parts = [part.split(".") for part in tags.split("-")]
        if len(parts) != _TAG_PARTS or not all(map(all, parts)) or math.prod(map(len, parts)) > _MOST_TAGS:
            return _MALFORMED
        if not all(python.isidentifier() for python in parts[0]):
            return _MALFORMED
        return min(self._rank_of_tag.get("-".join(tag), UNFIT) for tag in itertools.product(*parts))

    def accepts_python(self, requires_python: str) -> bool:
        """Whether a `Requires-Python` lets the target in; raise `Unreadable` for one that means nothing."""
        known = self._pythons.get(requires_python)
        if known is None:
            known = self._pythons[requires_python] = self._accepts(requires_python)
        return known

    def _accepts(self, requires_python: str) -> bool:
        specifier = lenient_specifier(requires_python)
        return specifier.contains(self._python, prereleases=True)

    def preference(self, filename: str) -> WheelKey:
        """Return a key by which the best of several usable wheels is the largest."""
        parts = filename[:-4].split("-")
        build = parts[2] if len(parts) > _TAG_PARTS + _VERSION_AND_BUILD else ""
        return self.key("-".join(parts[-_TAG_PARTS:]), build)

    def key(self, tags: str, build: str) -> WheelKey:
        """Return the same for tags and a build, which is a number and perhaps letters; one without comes before all."""
        known = self._keys.get((tags, build))
        if known is None:
            letters = build.lstrip("0123456789")
            number = build[: len(build) - len(letters)]
            known = self._keys[tags, build] = (-self.rank(tags), int(number) if number else -1, letters)
        return known
