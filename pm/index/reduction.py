"""Reduce the files of one package to one best file for each version, and say of the other versions why they are out.

A page of an index can name ten thousand files; a target can use one file of a version. This runs once when a page is
fetched, so it is written for speed: file names are split by hand (tests compare with `packaging.utils`), and every text
that repeats (tags, versions, `Requires-Python`) is judged once.
"""

import itertools
import math
import re
from collections.abc import Iterable, Mapping
from operator import itemgetter
from typing import NamedTuple

from packaging.version import InvalidVersion, Version

from admission import Exclusion, Target, canonical_name
from pm.index.leniency import lenient_specifier
from pm.index.simple_page import RawFile, announced_metadata, sha256_of
from pm.redaction import without_credentials

_WheelKey = tuple[int, int, str, str]
_NO_WHEEL = (0, 0, "", "")
_UNFIT = 1 << 30
_MALFORMED = _UNFIT + 1
_SDIST_ENDINGS = (".tar.gz", ".zip", ".tar.bz2", ".tgz", ".tar.xz")
_VERSION_AND_BUILD = 2
_TAG_PARTS = 3
_MOST_TAGS = 1000
"""Into which one compressed set may expand; the largest real ones have a few dozen."""
_SHOWN = 8
_BUILD = re.compile(r"[0-9]+[A-Za-z0-9_.]*")
"""Stricter than the standard, which allows a `/` in it: the name becomes that of a file."""
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?Z")


class ListedFile(NamedTuple):
    """One file that an index or a folder offers."""

    filename: str
    url: str = ""
    """Absolute, without credentials; empty for a local file."""
    sha256: str = ""
    """Empty where the source gives none: then it is learnt from the file itself."""
    size: int | None = None
    upload_time: str = ""
    requires_python: str = ""
    metadata: str = ""
    """Digest of the announced metadata file (PEP 658); `*` if it is announced without a digest."""
    local: str = ""
    """Absolute path, for a file of a folder."""
    stamp: str = ""
    """Size and time of a local file, to see a change without reading it."""

    @property
    def is_wheel(self) -> bool:
        return self.filename.endswith(".whl")

    @property
    def identity(self) -> tuple[object, ...]:
        """What must not change for that a candidate read from this file stays valid."""
        return (self.filename, self.sha256, self.size, self.stamp, self.local)


class Reduced(NamedTuple):
    """One package as far as one target needs it."""

    versions: tuple[str, ...] = ()
    excluded: Mapping[int, Exclusion] = {}
    consented: Mapping[int, Exclusion | None] = {}
    """What `excluded` says instead once the operator consented to building this package; `None`: usable."""
    uploaded: tuple[str, ...] = ()
    """Upload time of the file of each version, to the second; empty when none is known."""
    files: Mapping[int, ListedFile] = {}
    """Position → the file that would be installed, also of yanked versions and of those that a consent makes usable."""


class Fit:
    """What a target can use: remembers every text that it judged."""

    def __init__(self, target: Target) -> None:
        self._rank_of_tag = {tag: rank for rank, tag in reversed(list(enumerate(target.tags)))}
        # A pre-release of an interpreter counts as its release, as for pip and uv.
        self._python = Version(target.python).base_version
        self._ranks: dict[str, int] = {}
        self._pythons: dict[str, bool] = {"": True}

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
        return min(self._rank_of_tag.get("-".join(tag), _UNFIT) for tag in itertools.product(*parts))

    def accepts_python(self, requires_python: str) -> bool:
        """Whether a `Requires-Python` lets the target in; one that cannot be read does."""
        known = self._pythons.get(requires_python)
        if known is None:
            specifier = lenient_specifier(requires_python)
            known = specifier is None or specifier.contains(self._python, prereleases=True)
            self._pythons[requires_python] = known
        return known

    def preference(self, file: ListedFile) -> _WheelKey:
        """Return a key by which the best of several usable wheels is the largest."""
        parts = file.filename[:-4].split("-")
        build = parts[2] if len(parts) > _TAG_PARTS + _VERSION_AND_BUILD else ""
        return _wheel_key(self.rank("-".join(parts[-_TAG_PARTS:])), build, "")


def _wheel_key(rank: int, build: str, filename: str) -> _WheelKey:
    """Return the key; a build is a number and perhaps letters, and a wheel without one comes before all builds."""
    letters = build.lstrip("0123456789")
    number = build[: len(build) - len(letters)]
    return (-rank, int(number) if number else -1, letters, filename)


class _VersionFiles:
    """The files of one version, while a page is read."""

    __slots__ = ("best", "foreign", "refused_pythons", "sdist", "yanked", "yanked_sdist")

    def __init__(self) -> None:
        self.best: tuple[_WheelKey, RawFile] | None = None
        self.yanked: tuple[_WheelKey, RawFile] | None = None
        self.sdist: RawFile | None = None
        self.yanked_sdist: RawFile | None = None
        self.foreign: set[str] = set()
        """Tags of wheels for other targets."""
        self.refused_pythons: set[str] = set()


def reduce_files(name: str, files: Iterable[RawFile], fit: Fit) -> Reduced:
    """Reduce what a source offers for one package; names and versions that cannot be read are left out."""
    gathered = _Gathered(name, fit)
    foreign: list[tuple[str, str, RawFile]] = []
    for file in files:
        filename = file["filename"]
        if not filename.endswith(".whl"):
            gathered.add_sdist(file)
            continue
        head = filename.rsplit("-", 3)[0]
        tags = filename[len(head) + 1 : -4]
        rank = fit.rank(tags)
        if rank == _UNFIT:
            foreign.append((head, tags, file))
        elif rank < _UNFIT:
            gathered.add_wheel(file, head, tags)
    for head, tags, file in foreign:  # four wheels of five: looked at only where no other wheel is usable
        if head not in gathered.usable_heads:
            gathered.add_foreign(file, head, tags)
    by_version = _by_version(gathered.by_text)
    return _reduced([by_version[version] for version in sorted(by_version)])


class _Gathered:
    """The files of one package by the text of their version, while a page is read."""

    def __init__(self, name: str, fit: Fit) -> None:
        self.by_text: dict[str, _VersionFiles] = {}
        self.usable_heads: set[str] = set()
        """`name-version` of the wheels that the target can use."""
        self._fit = fit
        self._name = name
        self._is_ours: dict[str, bool] = {name: True}

    def add_wheel(self, file: RawFile, head: str, tags: str) -> None:
        """Add a wheel whose tags fit the target."""
        version, build = self._split(head)
        if not version or self._refuses_python(file, version):
            return
        files = self._files(version)
        wheel = (_wheel_key(self._fit.rank(tags), build, file["filename"]), file)
        if _is_yanked(file):
            files.yanked = max(files.yanked or wheel, wheel, key=itemgetter(0))
        else:
            files.best = max(files.best or wheel, wheel, key=itemgetter(0))
            self.usable_heads.add(head)

    def add_foreign(self, file: RawFile, head: str, tags: str) -> None:
        """Take note of a wheel for other targets."""
        version, _ = self._split(head)
        if version and not self._refuses_python(file, version):
            self._files(version).foreign.add(tags)

    def add_sdist(self, file: RawFile) -> None:
        """Add a source distribution; any other kind of file is left out."""
        filename = file["filename"]
        ending = next((ending for ending in _SDIST_ENDINGS if filename.endswith(ending)), "")
        written, _, version = filename[: -len(ending)].rpartition("-") if ending else ("", "", "")
        if not version or not self._names(written) or self._refuses_python(file, version):
            return
        files = self._files(version)
        if _is_yanked(file):
            files.yanked_sdist = files.yanked_sdist or file
        else:
            files.sdist = files.sdist or file

    def _split(self, head: str) -> tuple[str, str]:
        """Split `name-version` or `name-version-build` into version and build; empty if it is neither."""
        written, *rest = head.split("-")
        version, build = (*rest, "")[:2] if 1 <= len(rest) <= _VERSION_AND_BUILD else ("", "")
        is_wheel = (len(rest) == 1 or _BUILD.fullmatch(build)) and self._names(written)
        return (version, build) if is_wheel else ("", "")

    def _names(self, written: str) -> bool:
        known = self._is_ours.get(written)
        if known is None:
            known = self._is_ours[written] = canonical_name(written) == self._name
        return known

    def _refuses_python(self, file: RawFile, version: str) -> bool:
        requires_python = file.get("requires-python") or ""
        if self._fit.accepts_python(requires_python):
            return False
        self._files(version).refused_pythons.add(requires_python)
        return True

    def _files(self, version: str) -> _VersionFiles:
        files = self.by_text.get(version)
        if files is None:
            files = self.by_text[version] = _VersionFiles()
        return files


def _is_yanked(file: RawFile) -> bool:
    return bool(file.get("yanked"))


def _by_version(by_text: Mapping[str, _VersionFiles]) -> dict[Version, tuple[str, _VersionFiles]]:
    """Bring together the spellings of one version (`1.0`, `1.0.0`); the one with the best file stays."""
    by_version: dict[Version, tuple[str, _VersionFiles]] = {}
    for text, files in by_text.items():
        try:
            version = Version(text)
        except InvalidVersion:
            continue
        other = by_version.get(version)
        by_version[version] = (str(version), files) if other is None else _joined((str(version), files), other)
    return by_version


def _joined(one: tuple[str, _VersionFiles], other: tuple[str, _VersionFiles]) -> tuple[str, _VersionFiles]:
    (text, files), (_, others) = sorted((one, other), key=lambda pair: (_standing(pair[1]), pair[0]), reverse=True)
    joined = _VersionFiles()
    joined.best = files.best or others.best
    joined.yanked = files.yanked or others.yanked
    joined.sdist = files.sdist or others.sdist
    joined.yanked_sdist = files.yanked_sdist or others.yanked_sdist
    joined.foreign = files.foreign | others.foreign
    joined.refused_pythons = files.refused_pythons | others.refused_pythons
    return text, joined


def _standing(files: _VersionFiles) -> tuple[int, _WheelKey]:
    """Return a key by which the spelling with the best file is the largest."""
    best = files.best or files.yanked
    return (3 if files.best else 2 if files.yanked else 1 if files.sdist else 0), best[0] if best else _NO_WHEEL


def _reduced(versions: list[tuple[str, _VersionFiles]]) -> Reduced:
    excluded: dict[int, Exclusion] = {}
    consented: dict[int, Exclusion | None] = {}
    chosen: dict[int, ListedFile] = {}
    for position, (_, files) in enumerate(versions):
        if files.best:
            chosen[position] = _listed(files.best[1])
            continue
        if files.yanked:
            chosen[position] = _listed(files.yanked[1])
            excluded[position] = _yank(files.yanked[1])
            continue
        excluded[position] = _exclusion(files)
        if sdist := files.sdist or files.yanked_sdist:
            chosen[position] = _listed(sdist)
            consented[position] = None if files.sdist else _yank(sdist)
    uploaded = tuple(
        _second(chosen[position].upload_time) if position in chosen else "" for position in range(len(versions))
    )
    return Reduced(
        versions=tuple(text for text, _ in versions),
        excluded=excluded,
        consented=consented,
        uploaded=uploaded if any(uploaded) else (),
        files=chosen,
    )


def _exclusion(files: _VersionFiles) -> Exclusion:
    """Say why no wheel of a version is usable; `Requires-Python` first if it alone shuts the target out."""
    if files.foreign:
        return Exclusion("no-wheel", _compact(files.foreign))
    if files.sdist or files.yanked_sdist:
        return Exclusion("build-needs-consent", "only a source distribution exists")
    return Exclusion("python-version", " or ".join(sorted(files.refused_pythons)))


def _compact(tags: set[str]) -> str:
    """Write many tags as the interpreters and the platforms they are for."""
    split = [tag.split("-") for tag in tags]
    pythons = sorted({python for pythons, _, _ in split for python in pythons.split(".")}, key=_numbers)
    platforms = sorted({platform for _, _, platforms in split for platform in platforms.split(".")}, key=_numbers)
    return f"wheels are for {_some(pythons)} on {_some(platforms)}"


def _numbers(text: str) -> list[tuple[int, str]]:
    """Sort `cp39` before `cp310`."""
    head = text.rstrip("0123456789")
    return [(int(text[len(head) :] or "0"), head)] if head in {"cp", "py", "pp"} else [(_UNFIT, text)]


def _some(texts: list[str]) -> str:
    more = len(texts) - _SHOWN
    return ", ".join(texts[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _yank(file: RawFile) -> Exclusion:
    reason = file.get("yanked", "")
    return Exclusion("yanked-only", reason if isinstance(reason, str) else "")


def _listed(file: RawFile) -> ListedFile:
    size, time, url = file.get("size"), file.get("upload-time"), file.get("url", "")
    return ListedFile(
        filename=file["filename"],
        url=without_credentials(url) if "@" in url else url,
        sha256=sha256_of(file),
        size=size if isinstance(size, int) else None,
        upload_time=time if isinstance(time, str) and _TIME.fullmatch(time) else "",
        requires_python=file.get("requires-python") or "",
        metadata=announced_metadata(file),
        local=file.get("local", ""),
        stamp=file.get("stamp", ""),
    )


def _second(time: str) -> str:
    """Cut fractions of a second off, so that times compare as texts."""
    return time.partition(".")[0].rstrip("Z") + "Z" if time else ""


def merge(of_index: Reduced, of_folders: Reduced, fit: Fit) -> Reduced:
    """Bring together what an index and folders offer for one package; a folder's file wins where both are as good."""
    by_version: dict[Version, list[tuple[Reduced, int]]] = {}
    for part in (of_folders, of_index):
        for position, text in enumerate(part.versions):
            by_version.setdefault(Version(text), []).append((part, position))
    chosen = [max(parts, key=lambda pair: _merge_key(pair[0], pair[1], fit)) for _, parts in sorted(by_version.items())]
    uploaded = tuple(part.uploaded[position] if part.uploaded else "" for part, position in chosen)
    return Reduced(
        versions=tuple(part.versions[position] for part, position in chosen),
        excluded={new: part.excluded[old] for new, (part, old) in enumerate(chosen) if old in part.excluded},
        consented={new: part.consented[old] for new, (part, old) in enumerate(chosen) if old in part.consented},
        uploaded=uploaded if any(uploaded) else (),
        files={new: part.files[old] for new, (part, old) in enumerate(chosen) if old in part.files},
    )


def _merge_key(part: Reduced, position: int, fit: Fit) -> tuple[int, _WheelKey]:
    """Usable first, then yanked, then what a consent makes usable, then what nothing does."""
    file = part.files.get(position)
    if position not in part.excluded and file:
        return 3, fit.preference(file)
    if part.excluded[position].code == "yanked-only":
        return 2, _NO_WHEEL
    return (1 if position in part.consented else 0), _NO_WHEEL
