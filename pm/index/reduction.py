"""Reduce the files of one package to one best file for each version, and say of the other versions why they are out.

A page of an index can name ten thousand files; a target can use one file of a version. This runs once when a page is
fetched, so it is written for speed: file names are split by hand (tests compare with `packaging.utils`), and every text
that repeats (tags, versions, `Requires-Python`) is judged once.
"""

import itertools
import math
import re
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

from packaging.version import InvalidVersion, Version

from admission import Exclusion, Target, canonical_name
from pm.index.foreign import TROUBLE, Unreadable, brief, check_length
from pm.index.leniency import lenient_specifier
from pm.index.simple_page import RawFile, announced_metadata, sha256_of
from pm.limits import ADDRESS_LENGTH, FILE_NAME_LENGTH, REQUIRES_PYTHON_LENGTH
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
_MOST_TOLD = 1000
"""Kinds of wheels of one version, or bounds of its interpreters, that are told: a page can have one for each file."""
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
    flaw: str = ""
    """Why it cannot be used, for a file that stands here only because its version has no better one."""

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
    unreadable: tuple[str, ...] = ()
    """Files of which not even the version can be told, as a warning names them; not kept on disk."""


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
        """Whether a `Requires-Python` lets the target in; raise `Unreadable` for one that means nothing."""
        known = self._pythons.get(requires_python)
        if known is None:
            known = self._pythons[requires_python] = self._accepts(requires_python)
        return known

    def _accepts(self, requires_python: str) -> bool:
        specifier = lenient_specifier(requires_python)
        return specifier.contains(self._python, prereleases=True)

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


class _Found(NamedTuple):
    """A file of a page, and how good it is."""

    key: _WheelKey
    file: ListedFile
    yank: Exclusion | None = None


def _flawed(filename: str, error: Unreadable) -> ListedFile:
    return ListedFile(filename, flaw=f"`{filename}` cannot be used: {error}")


_NOTHING: frozenset[str] = frozenset()
"""One for all: an empty set of its own for each of 200,000 versions takes 80 MB."""


class _VersionFiles:
    """The files of one version, while a page is read."""

    __slots__ = ("best", "flawed", "foreign", "refused_pythons", "sdist", "yanked", "yanked_sdist")

    def __init__(self) -> None:
        self.best: _Found | None = None
        self.yanked: _Found | None = None
        self.sdist: _Found | None = None
        self.yanked_sdist: _Found | None = None
        self.flawed: _Found | None = None
        """One that cannot be used although the target could; of those, one that is not yanked if there is one."""
        self.foreign = _NOTHING
        """Tags of wheels for other targets."""
        self.refused_pythons = _NOTHING

    def add_flawed(self, found: _Found) -> None:
        if self.flawed is None or (self.flawed.yank and not found.yank):
            self.flawed = found


def reduce_files(name: str, files: Iterable[RawFile], fit: Fit, address: str = "") -> Reduced:
    """Reduce what a source offers for one package; names and versions that cannot be read are left out.

    Addresses of files are made absolute against `address`. Raise `Unreadable` for a page that is none.
    """
    gathered = _Gathered(name, fit, address)
    foreign: dict[str, set[tuple[str, str]]] = {}
    for file in files:
        filename = file["filename"]
        if not _is_file_name(filename):
            gathered.leave_out(filename)
        elif not filename.endswith(".whl"):
            gathered.add_sdist(file)
        else:
            head = filename.rsplit("-", 3)[0]
            tags = filename[len(head) + 1 : -4]
            rank = fit.rank(tags)
            if rank == _UNFIT:
                foreign.setdefault(head, set()).add(gathered.same((tags, _requires_python(file))))
            elif rank < _UNFIT:
                gathered.add_wheel(file, head, tags)
    for head, wheels in foreign.items():  # four wheels of five: only where no other wheel is usable
        gathered.add_foreign(head, wheels)
    return _reduced(_in_order(gathered.by_text), tuple(gathered.unreadable))


def _is_file_name(filename: str) -> bool:
    """Say whether a text can be the name of a distribution's file: it never leads out of a folder."""
    if len(filename) > FILE_NAME_LENGTH.value or "/" in filename or "\\" in filename:
        return False
    return filename.isascii() and filename.isprintable() and filename != ""


def _requires_python(file: RawFile) -> str:
    """Return what a page says of interpreters; of what is no text or too long, something that cannot be read."""
    value: object = file.get("requires-python")
    if not value:
        return ""
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= REQUIRES_PYTHON_LENGTH.value else f"{text[: REQUIRES_PYTHON_LENGTH.value]}…"


class _Gathered:
    """The files of one package by the text of their version, while a page is read."""

    def __init__(self, name: str, fit: Fit, address: str) -> None:
        self.by_text: dict[str, _VersionFiles] = {}
        self._wheels: dict[tuple[str, str], tuple[str, str]] = {}
        self.unreadable: list[str] = []
        self._fit = fit
        self._name = name
        self._addresses = _Addresses(address)
        self._is_ours: dict[str, bool] = {name: True}

    def leave_out(self, filename: str) -> None:
        """Take note of a file whose name cannot be one; the first few are enough."""
        if len(self.unreadable) < _SHOWN:
            self.unreadable.append(brief(filename) if filename else "an entry without a name")

    def add_wheel(self, file: RawFile, head: str, tags: str) -> None:
        """Add a wheel whose tags fit the target."""
        version, build = self._split(head)
        if not version:
            return
        key = _wheel_key(self._fit.rank(tags), build, file["filename"])
        yank = _yank(file)
        files = self._files(version)
        better = files.yanked if yank else files.best
        if better is not None and better.key >= key:
            return
        found = self._found(files, file, key, yank)
        if found is not None and yank:
            files.yanked = found
        elif found is not None:
            files.best = found

    def add_foreign(self, head: str, wheels: Iterable[tuple[str, str]]) -> None:
        """Take note of wheels for other targets, each by its tags and its `Requires-Python`."""
        version, _ = self._split(head)
        if not version or self._files(version).best is not None:
            return
        files = self._files(version)
        for tags, requires_python in sorted(wheels):
            try:
                is_refused = self._refuses_python(requires_python, files)
            except Unreadable:  # its tags keep this target out in any case
                is_refused = False
            if not is_refused and len(files.foreign) < _MOST_TOLD:
                files.foreign |= {tags}

    def same(self, wheel: tuple[str, str]) -> tuple[str, str]:
        """Return the one value that stands for all equal ones: thousands of wheels share their tags."""
        return self._wheels.setdefault(wheel, wheel)

    def add_sdist(self, file: RawFile) -> None:
        """Add a source distribution; any other kind of file is left out."""
        filename = file["filename"]
        ending = next((ending for ending in _SDIST_ENDINGS if filename.endswith(ending)), "")
        written, _, version = filename[: -len(ending)].rpartition("-") if ending else ("", "", "")
        if not version or not self._names(written):
            return
        yank = _yank(file)
        files = self._files(version)
        if (files.yanked_sdist if yank else files.sdist) is not None:
            return
        found = self._found(files, file, _NO_WHEEL, yank)
        if found is not None and yank:
            files.yanked_sdist = found
        elif found is not None:
            files.sdist = found

    def _found(self, files: _VersionFiles, file: RawFile, key: _WheelKey, yank: Exclusion | None) -> _Found | None:
        """Return a file as it is used; `None` for one that refuses the target's Python, and for one with a flaw."""
        try:  # the boundary, without what its context manager costs for each of 200,000 files
            if self._refuses_python(_requires_python(file), files):
                return None
            return _Found(key, _listed(file, self._addresses), yank)
        except TROUBLE as trouble:
            unforeseen = Unreadable("what the index says of it cannot be read")
            error = trouble if isinstance(trouble, Unreadable) else unforeseen
            files.add_flawed(_Found(key, _flawed(file["filename"], error), yank))
            return None

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

    def _refuses_python(self, requires_python: str, files: _VersionFiles) -> bool:
        if self._fit.accepts_python(requires_python):
            return False
        if len(files.refused_pythons) < _MOST_TOLD:
            files.refused_pythons |= {requires_python}
        return True

    def _files(self, version: str) -> _VersionFiles:
        files = self.by_text.get(version)
        if files is None:
            files = self.by_text[version] = _VersionFiles()
        return files


def _in_order(by_text: dict[str, _VersionFiles]) -> list[tuple[str, _VersionFiles]]:
    by_version = _by_version(by_text)
    by_text.clear()
    return [by_version[version] for version in sorted(by_version)]


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
    for flawed in filter(None, (files.flawed, others.flawed)):
        joined.add_flawed(flawed)
    joined.foreign = files.foreign | others.foreign
    joined.refused_pythons = files.refused_pythons | others.refused_pythons
    return text, joined


def _standing(files: _VersionFiles) -> tuple[int, _WheelKey]:
    """Return a key by which the spelling with the best file is the largest."""
    best = files.best or files.yanked
    return (3 if files.best else 2 if files.yanked else 1 if files.sdist else 0), best.key if best else _NO_WHEEL


def _reduced(versions: list[tuple[str, _VersionFiles]], unreadable: tuple[str, ...]) -> Reduced:
    excluded: dict[int, Exclusion] = {}
    consented: dict[int, Exclusion | None] = {}
    chosen: dict[int, ListedFile] = {}
    versions = [(text, files) for text, files in versions if _is_something(files)]
    for position, (_, files) in enumerate(versions):
        if found := files.best or files.yanked:
            chosen[position] = found.file
            if found.yank:
                excluded[position] = found.yank
            continue
        sdist = files.sdist or files.yanked_sdist
        if files.flawed and not sdist and not files.foreign and not files.refused_pythons:
            chosen[position] = files.flawed.file
            if files.flawed.yank:
                excluded[position] = files.flawed.yank
            continue
        excluded[position] = _exclusion(files)
        if sdist:
            chosen[position] = sdist.file
            consented[position] = sdist.yank
    uploaded = tuple(
        _second(chosen[position].upload_time) if position in chosen else "" for position in range(len(versions))
    )
    return Reduced(
        versions=tuple(text for text, _ in versions),
        excluded=excluded,
        consented=consented,
        uploaded=uploaded if any(uploaded) else (),
        files=chosen,
        unreadable=unreadable,
    )


def _is_something(files: _VersionFiles) -> bool:
    """Whether a version has a file at all: one of which nothing could be read has none."""
    found = files.best or files.yanked or files.sdist or files.yanked_sdist or files.flawed
    return bool(found or files.foreign or files.refused_pythons)


def _exclusion(files: _VersionFiles) -> Exclusion:
    """Say why no wheel of a version is usable; `Requires-Python` first if it alone shuts the target out."""
    if files.foreign:
        return Exclusion("no-wheel", _compact(files.foreign))
    if files.sdist or files.yanked_sdist:
        return Exclusion("build-needs-consent", "only a source distribution exists")
    return Exclusion("python-version", " or ".join(sorted(files.refused_pythons)))


def _compact(tags: Collection[str]) -> str:
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


def _yank(file: RawFile) -> Exclusion | None:
    reason = file.get("yanked")
    if not reason:
        return None
    return Exclusion("yanked-only", reason[:_LONGEST_REASON] if isinstance(reason, str) else "")


_LONGEST_REASON = 1000


class _Addresses:
    """Makes the addresses of a page absolute; most of them lead to one folder."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._folders: dict[str, str] = {}

    def absolute(self, written: object) -> str:
        """Return an address as it can be asked for, without credentials. Raise `Unreadable` for what is none."""
        if not isinstance(written, str):
            raise Unreadable("it has no address")
        check_length(len(written), ADDRESS_LENGTH, "its address")
        folder, _, name = written.rpartition("/")
        begin = self._folders.get(folder)
        if begin is None:
            begin = self._folders[folder] = self._folder(folder)
        if not begin or not _PLAIN_NAME.fullmatch(name):
            return self._parsed(written)
        return begin + name

    def _folder(self, written: str) -> str:
        """Return the absolute address of a folder with its slash; empty where each file must be looked at."""
        if not written or not _PLAIN_FOLDER.fullmatch(written):
            return ""
        with suppress(Unreadable):
            return f"{self._parsed(f'{written}/')}"
        return ""

    def _parsed(self, written: str) -> str:
        try:
            address = urljoin(self._base, written) if "://" not in written else written
            parts = urlsplit(address)
            parts.port  # noqa: B018 - raises for one that is no number
        except ValueError as error:
            raise Unreadable(f"its address {brief(written)} cannot be read") from error
        if not _ADDRESS.match(address) or (parts.scheme != "file" and not parts.hostname):
            raise Unreadable(f"its address {brief(written)} cannot be asked for")
        return without_credentials(address) if "@" in address else address


_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+%~!-]*")
_PLAIN_FOLDER = re.compile(r"[A-Za-z0-9._+%~!:/-]+")
_ADDRESS = re.compile(r"(?:https?|file)://[^\s\x00-\x20\x7f]*\Z", re.IGNORECASE)


def _listed(file: RawFile, addresses: _Addresses) -> ListedFile:
    size, time, local = file.get("size"), file.get("upload-time"), file.get("local", "")
    return ListedFile(  # by position, which takes half of the time
        file["filename"],
        "" if local else addresses.absolute(file.get("url")),
        sha256_of(file),
        size if type(size) is int and size >= 0 else None,
        time if isinstance(time, str) and _TIME.fullmatch(time) else "",
        file.get("requires-python") or "",
        announced_metadata(file),
        local,
        file.get("stamp", ""),
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
        unreadable=(*of_index.unreadable, *of_folders.unreadable),
    )


def _merge_key(part: Reduced, position: int, fit: Fit) -> tuple[int, _WheelKey]:
    """Usable first, then yanked, then what a consent makes usable, then what nothing does, then what has a flaw."""
    file = part.files.get(position)
    if file and file.flaw:
        return -1, _NO_WHEEL
    if position not in part.excluded and file:
        return 3, fit.preference(file)
    if part.excluded[position].code == "yanked-only":
        return 2, _NO_WHEEL
    return (1 if position in part.consented else 0), _NO_WHEEL
