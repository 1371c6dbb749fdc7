"""Reduce the files of one package to one best file for each version, and say of the other versions why they are out.

A page of an index can name ten thousand files; a target can use one file of a version. This runs once when a page is
fetched, so it is written for speed: file names are split by hand (tests compare with `packaging.utils`), and every text
that repeats (tags, versions, `Requires-Python`) is judged once.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import groupby
from typing import NamedTuple

from packaging.version import InvalidVersion, Version

from admission import Exclusion, canonical_name
from pm.index.fit import NO_WHEEL, UNFIT, Fit, WheelKey
from pm.index.foreign import TROUBLE, Unreadable, brief
from pm.index.listed_files import Gathering, ListedFile, Text, joined, rows_of
from pm.index.page_addresses import PageAddresses
from pm.index.simple_page import RawFile, announced_metadata, sha256_of
from pm.limits import FILE_NAME_LENGTH, REQUIRES_PYTHON_LENGTH

_SDIST_ENDINGS = (".tar.gz", ".zip", ".tar.bz2", ".tgz", ".tar.xz")
_VERSION_AND_BUILD = 2
_MOST_TOLD = 1000
"""Kinds of wheels of one version, or bounds of its interpreters, that are told: a page can have one for each file."""
_SHOWN = 8
_BUILD = re.compile(r"[0-9]+[A-Za-z0-9_.]*")
"""Stricter than the standard, which allows a `/` in it: the name becomes that of a file."""
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?Z")
_PLAIN_VERSION = re.compile(r"(?:0|[1-9][0-9]*+)(?:\.(?:0|[1-9][0-9]*+))*+", re.ASCII)
"""One that is written as it is shown."""


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


class _Found(NamedTuple):
    """A file of a page, and how good it is."""

    key: WheelKey
    number: int
    """Of the file among those that were gathered."""
    uploaded: str = ""
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
            if rank == UNFIT:
                foreign.setdefault(head, set()).add(gathered.same((tags, _requires_python(file))))
            elif rank < UNFIT:
                gathered.add_wheel(file, head, tags)
    for head, wheels in foreign.items():  # four wheels of five: only where no other wheel is usable
        gathered.add_foreign(head, wheels)
    return _reduced(gathered)


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
        self.files = Gathering()
        self._fit = fit
        self._name = name
        self._addresses = PageAddresses(address)
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
        key = self._fit.key(tags, build)
        yank = _yank(file)
        files = self._files(version)
        better = files.yanked if yank else files.best
        if better is not None and (
            better.key > key or (better.key == key and self._name_of(better) >= file["filename"])
        ):
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
        found = self._found(files, file, NO_WHEEL, yank)
        if found is not None and yank:
            files.yanked_sdist = found
        elif found is not None:
            files.sdist = found

    def _found(self, files: _VersionFiles, file: RawFile, key: WheelKey, yank: Exclusion | None) -> _Found | None:
        """Return a file as it is used; `None` for one that refuses the target's Python, and for one with a flaw."""
        try:  # the boundary, without what its context manager costs for each of 200,000 files
            if self._refuses_python(_requires_python(file), files):
                return None
            listed = _listed(file, self._addresses)
            return _Found(key, self.files.add(listed), _second(listed.upload_time), yank)
        except TROUBLE as trouble:
            unforeseen = Unreadable("what the index says of it cannot be read")
            error = trouble if isinstance(trouble, Unreadable) else unforeseen
            files.add_flawed(_Found(key, self.files.add(_flawed(file["filename"], error)), "", yank))
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

    def in_order(self) -> Iterator[tuple[str, _VersionFiles]]:
        """Take the versions out, each once, in their order."""
        releases = {text: release for text in self.by_text if (release := _release(text)) is not None}
        for _, texts in groupby(sorted(releases, key=releases.__getitem__), key=releases.__getitem__):
            of_one = {text: self.by_text.pop(text) for text in texts}
            if len(of_one) == 1 and _PLAIN_VERSION.fullmatch(text := next(iter(of_one))):  # nearly always
                yield text, of_one[text]
            else:
                by_version = self._by_version(of_one)
                yield from (by_version[version] for version in sorted(by_version))

    def _by_version(self, by_text: Mapping[str, _VersionFiles]) -> dict[Version, tuple[str, _VersionFiles]]:
        """Bring together the spellings of one version (`1.0`, `1.0.0`); the one with the best file stays."""
        by_version: dict[Version, tuple[str, _VersionFiles]] = {}
        for text, files in by_text.items():
            version = Version(text)
            one, other = (str(version), files), by_version.get(version)
            by_version[version] = one if other is None else _joined(*sorted((one, other), key=self._standing))
        return by_version

    def _standing(self, spelling: tuple[str, _VersionFiles]) -> tuple[int, WheelKey, str, str]:
        """Return a key by which the spelling with the best file is the last."""
        text, files = spelling
        best = files.best or files.yanked
        rank = 3 if files.best else 2 if files.yanked else 1 if files.sdist else 0
        return (rank, best.key, self._name_of(best), text) if best else (rank, NO_WHEEL, "", text)

    def _name_of(self, found: _Found) -> str:
        return self.files.file(found.number).filename


def _joined(worse: tuple[str, _VersionFiles], better: tuple[str, _VersionFiles]) -> tuple[str, _VersionFiles]:
    (_, others), (text, files) = worse, better
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


def _release(text: str) -> tuple[int, ...] | None:
    """Return what versions are ordered by first of all, without the rest, which takes much memory."""
    if _PLAIN_VERSION.fullmatch(text):
        epoch, release = 0, tuple(map(int, text.split(".")))
    else:
        try:
            version = Version(text)
        except InvalidVersion:
            return None
        epoch, release = version.epoch, version.release
    end = len(release)
    while end and not release[end - 1]:
        end -= 1
    return (epoch, *release[:end])


def _reduced(gathered: _Gathered) -> Reduced:
    texts: list[str] = []
    uploaded: list[str] = []
    excluded: dict[int, Exclusion] = {}
    consented: dict[int, Exclusion | None] = {}
    numbers: list[int | None] = []
    for text, files in gathered.in_order():
        if not _is_something(files):
            continue
        position, chosen = len(texts), _chosen(files)
        texts.append(text)
        uploaded.append(chosen.uploaded if chosen else "")
        numbers.append(chosen.number if chosen else None)
        if exclusion := _exclusion(files, chosen):
            excluded[position] = exclusion
        if chosen and (chosen is files.sdist or chosen is files.yanked_sdist):
            consented[position] = chosen.yank
    return Reduced(
        versions=tuple(texts),
        excluded=excluded,
        consented=consented,
        uploaded=tuple(uploaded) if any(uploaded) else (),
        files=gathered.files.kept(numbers),
        unreadable=tuple(gathered.unreadable),
    )


def _chosen(files: _VersionFiles) -> _Found | None:
    """Return the file that stands for a version: the best, and one with a flaw only where there is nothing else."""
    found = files.best or files.yanked or files.sdist or files.yanked_sdist
    return found or (None if files.foreign or files.refused_pythons else files.flawed)


def _is_something(files: _VersionFiles) -> bool:
    """Whether a version has a file at all: one of which nothing could be read has none."""
    found = files.best or files.yanked or files.sdist or files.yanked_sdist or files.flawed
    return bool(found or files.foreign or files.refused_pythons)


def _exclusion(files: _VersionFiles, chosen: _Found | None) -> Exclusion | None:
    """Say why no wheel of a version is usable; `Requires-Python` first if it alone shuts the target out."""
    if chosen is not None and chosen is not files.sdist and chosen is not files.yanked_sdist:
        return chosen.yank
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
    return [(int(text[len(head) :] or "0"), head)] if head in {"cp", "py", "pp"} else [(UNFIT, text)]


def _some(texts: list[str]) -> str:
    more = len(texts) - _SHOWN
    return ", ".join(texts[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _yank(file: RawFile) -> Exclusion | None:
    reason = file.get("yanked")
    if not reason:
        return None
    return Exclusion("yanked-only", reason[:_LONGEST_REASON] if isinstance(reason, str) else "")


_LONGEST_REASON = 1000


def _listed(file: RawFile, addresses: PageAddresses) -> ListedFile:
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
    chosen = [_better(parts, fit) for _, parts in sorted(by_version.items())]
    uploaded = tuple(part.uploaded[position] if part.uploaded else "" for part, position in chosen)
    return Reduced(
        versions=tuple(part.versions[position] for part, position in chosen),
        excluded={new: part.excluded[old] for new, (part, old) in enumerate(chosen) if old in part.excluded},
        consented={new: part.consented[old] for new, (part, old) in enumerate(chosen) if old in part.consented},
        uploaded=uploaded if any(uploaded) else (),
        files=joined(_row(part, position) for part, position in chosen),
        unreadable=(*of_index.unreadable, *of_folders.unreadable),
    )


def _row(part: Reduced, position: int) -> Text:
    return rows_of(part.files, len(part.versions)).row(position)


def _better(parts: list[tuple[Reduced, int]], fit: Fit) -> tuple[Reduced, int]:
    return parts[0] if len(parts) == 1 else max(parts, key=lambda pair: _merge_key(pair[0], pair[1], fit))


def _merge_key(part: Reduced, position: int, fit: Fit) -> tuple[int, WheelKey]:
    """Usable first, then yanked, then what a consent makes usable, then what nothing does, then what has a flaw."""
    file = part.files.get(position)
    if file and file.flaw:
        return -1, NO_WHEEL
    if position not in part.excluded and file:
        return 3, fit.preference(file.filename)
    if part.excluded[position].code == "yanked-only":
        return 2, NO_WHEEL
    return (1 if position in part.consented else 0), NO_WHEEL
