"""Read one page or one candidate from the sources: what the workers of a fetch do."""

import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, NamedTuple, cast
from urllib.parse import unquote, urljoin, urlsplit

from admission import Candidate, Target
from admission.address import WheelAddress, file_name
from lockfiles import Artifact
from pm.errors import PmError
from pm.index.assignment import asked_for
from pm.index.builds import Workshop, build_wheel
from pm.index.contents import WheelContents
from pm.index.fit import Fit
from pm.index.folders import FolderFile, place_in_state, sha256_of
from pm.index.foreign import Unreadable, boundary, check_length
from pm.index.listed_files import ListedFile
from pm.index.listings import Heard, Listing, Previous
from pm.index.metadata import Judge, read_core_metadata
from pm.index.package_sources import IndexAddress
from pm.index.reduction import Reduced, merge, reduce_files
from pm.index.retrieval import Retrieval, retrieve_locally, verified_digest
from pm.index.simple_page import ACCEPT, RawFile, read_page
from pm.index.transport import Again, HttpAnswer, Transport
from pm.index.wheels import metadata_of_wheel
from pm.limits import PAGE_BYTES
from pm.redaction import redact
from pm.system.files import working_folder

_OK = 200
_NOT_MODIFIED = 304
_NO_PAGE = frozenset({404, 410})
_IN_MEMORY = 1024 * 1024
"""Bytes of a page; the rest of a longer one is on disk until it is read."""


class PageRead(NamedTuple):
    """What the sources say of one package now."""

    listing: Listing
    at: int
    """When the index was asked; 0 if it was not."""


class Reader:
    """Reads pages and candidates for one target; used by many threads at once."""

    def __init__(
        self,
        *,
        target: Target,
        indexes: tuple[IndexAddress, ...],
        folder_files: Mapping[str, tuple[FolderFile, ...]],
        transport: Transport | None,
        retrieval: Retrieval | None,
        workshop: Workshop | None,
    ) -> None:
        self._fit = Fit(target)
        self._judge = Judge(target)
        self._indexes = indexes
        self._folder_files = folder_files
        self._transport = transport
        """`None`: no index is configured, or offline."""
        self._retrieval = retrieval
        self._workshop = workshop
        self._one_page = threading.Lock()

    def page(self, name: str, previous: Previous | None, at: int) -> PageRead:
        """Return what the sources say of a package; `previous` is what they said at the time `at`.

        The page of an address has its one file, and nothing needs to be asked for it.
        """
        address = WheelAddress.of_page(name)
        if address is not None:
            reduced = reduce_files(address.name, [_raw_of_address(address)], self._fit)
            return PageRead(Listing(Heard(), reduced, reduced), int(time.time()))
        heard, of_index, at = self._of_index(name, previous, at)
        files = self._folder_files.get(name, ())
        if not files:
            return PageRead(Listing(heard, of_index, of_index), at)
        of_folders = reduce_files(name, [_raw(name, file) for file in files], self._fit)
        return PageRead(Listing(heard, of_index, merge(of_index, of_folders, self._fit)), at)

    def _of_index(self, name: str, previous: Previous | None, at: int) -> tuple[Heard, Reduced, int]:
        """Ask the indexes in order; the first that knows the name has it."""
        now = int(time.time())
        for index in asked_for(name, self._indexes):
            if index.is_local:
                found = self._local_index(index, name)
            elif self._transport is None:
                return (previous.heard, previous.of_index(), at) if previous else (Heard(), Reduced(), 0)
            else:
                found = self._asked(self._transport, index, name, previous)
            if found is not None:
                return *found, now
        return Heard(), Reduced(), now

    def _asked(
        self, transport: Transport, index: IndexAddress, name: str, previous: Previous | None
    ) -> tuple[Heard, Reduced] | None:
        heard = previous.heard if previous and previous.heard.address == index.url else Heard()
        conditions = {"If-None-Match": heard.etag, "If-Modified-Since": heard.modified}
        headers = {"Accept": ACCEPT} | {key: value for key, value in conditions.items() if value}

        def read(answer: HttpAnswer) -> tuple[Heard, Reduced] | None:
            if answer.status in _NO_PAGE:
                return None
            if answer.status == _NOT_MODIFIED and previous and (heard.etag or heard.modified):
                return heard, previous.of_index()
            if answer.status != _OK:
                raise Again(f"it answered {answer.status}")
            with tempfile.SpooledTemporaryFile(_IN_MEMORY) as content, _page_of_server():
                digest = _page_into(cast("IO[bytes]", content), answer)
                now_heard = Heard(
                    index.url, answer.headers.get("ETag", ""), answer.headers.get("Last-Modified", ""), digest
                )
                if previous and heard.digest == digest:
                    return now_heard, previous.of_index()
                content.seek(0)
                return now_heard, self._reduced(
                    name, cast("IO[bytes]", content), answer.headers.get("Content-Type", ""), answer.url
                )

        return transport.ask(f"{index.url}/{name}/", read, headers=headers)

    def _reduced(self, name: str, content: IO[bytes], content_type: str, address: str) -> Reduced:
        """Reduce a page, one after the other: threads would not make it faster, and each page takes memory."""
        with self._one_page, boundary("its entries cannot be read"):
            return reduce_files(name, read_page(content, content_type), self._fit, address)

    def _local_index(self, index: IndexAddress, name: str) -> tuple[Heard, Reduced] | None:
        """Read an index that is laid out in a folder: `NAME/index.json`, `NAME/index.html`, or the files themselves."""
        root = Path(unquote(urlsplit(index.url).path))
        if not root.is_dir():
            raise PmError("index-unreachable", f"the index `{index.url}` is not a folder", file=str(root))
        folder = root / name
        for page, content_type in (("index.json", "application/json"), ("index.html", "text/html")):
            if (folder / page).is_file():
                return Heard(index.url), self._local_page(name, folder / page, content_type)
        base = f"{folder.as_uri()}/"
        files = [_with_path({"filename": path.name, "url": path.as_uri()}, base) for path in sorted(folder.glob("*"))]
        files = [file for file in files if file.get("local")]
        return (Heard(index.url), reduce_files(name, files, self._fit)) if files else None

    def _local_page(self, name: str, page: Path, content_type: str) -> Reduced:
        try:
            with page.open("rb") as content, boundary("its entries cannot be read"):
                check_length(page.stat().st_size, PAGE_BYTES, "it")
                address = page.as_uri()
                files = (_with_path(file, address) for file in read_page(content, content_type))
                return reduce_files(name, files, self._fit, address)
        except Unreadable as error:
            raise PmError("index-unreachable", f"`{page}` is not a page: {error}", file=str(page)) from error

    @property
    def can_ask(self) -> bool:
        """Whether what is not known may be asked for: not if an index is a server and must not be asked."""
        return self._transport is not None or all(index.is_local for index in self._indexes)

    def accepts_python(self, requires_python: str) -> bool:
        """Whether the target's interpreter is one that a `Requires-Python` lets in."""
        return self._fit.accepts_python(requires_python)

    def candidate(self, name: str, version: str, listing: Listing) -> Candidate:
        """Return one candidate. Raise `PmError` if its metadata cannot be had; metadata that is wrong is a value."""
        file = listing.file(version)
        if file is None:
            return _unusable(name, version, listing)
        address = WheelAddress.of_page(name)
        package = name if address is None else address.name
        try:
            artifact, metadata = self._artifact(file, package, version)
        except Unreadable as error:
            artifact = Artifact(file.filename, file.sha256, file.url, size=file.size, upload_time=file.upload_time)
            return Candidate(name, version, artifact, invalid=str(error))
        index = listing.heard.address if artifact.url else ""
        candidate = self._judge.candidate(metadata, name=package, version=version, artifact=artifact, index=index)
        candidate = candidate._replace(name=name)
        if not candidate.invalid and not self.accepts_python(candidate.requires_python):
            return candidate._replace(invalid=f"it is for Python {candidate.requires_python}")
        return candidate

    def _artifact(self, file: ListedFile, name: str, version: str) -> tuple[Artifact, bytes]:
        own = self._workshop.kept.get((name, version)) if self._workshop is not None else None
        if own is not None and own.is_file():
            # another build, or a wheel that was published since, would be another file under the same version
            return _from_state(own, name, file.upload_time)
        if file.flaw:
            raise Unreadable(file.flaw)
        if not file.is_wheel:
            return _from_state(self._built(file, name), name, file.upload_time)
        if file.local:
            found = retrieve_locally(file, name)
            place = place_in_state(found.sha256, file.filename)
            return Artifact(file.filename, found.sha256, "", place, found.size, file.upload_time), found.metadata
        found = self._remote.retrieve(file, name)
        return Artifact(file.filename, found.sha256, file.url, "", found.size, file.upload_time), found.metadata

    def download(self, file: ListedFile, path: Path) -> None:
        """Put a whole file of an index in its place, verified."""
        self._remote.download(file, path)

    def contents(self, file: ListedFile) -> WheelContents | None:
        """Return what a wheel of an index puts where; `None` if that cannot be told."""
        return self._remote.contents(file)

    def whole_contents(self, file: ListedFile) -> WheelContents | None:
        """Return what a wheel of an index puts where, by all of its bytes."""
        return self._remote.whole_contents(file)

    def _built(self, file: ListedFile, name: str) -> Path:
        if self._workshop is None:
            raise PmError("build-failed", f"`{name}` must be built, and no interpreter of the target is known")
        if file.local:
            return build_wheel(Path(file.local), verified_digest(file), name, self._workshop)
        with working_folder(self._workshop.built) as folder:
            path = folder / file.filename
            self._remote.download(file, path)
            return build_wheel(path, file.sha256 or sha256_of(path), name, self._workshop)

    @property
    def _remote(self) -> Retrieval:
        if self._retrieval is None:
            raise PmError("offline", "`--offline` forbids to ask an index")
        return self._retrieval


def _raw_of_address(address: WheelAddress) -> RawFile:
    """Describe the wheel at an address as an index would."""
    return {"filename": file_name(address.url), "url": address.url, "hashes": {"sha256": address.sha256}}


def _raw(name: str, file: FolderFile) -> RawFile:
    """Describe a folder's file as an index would."""
    raw: RawFile = {"filename": file.filename, "url": "", "local": file.path, "stamp": file.stamp}
    raw["size"] = int(file.stamp.partition("-")[0])
    if file.filename.endswith(".whl"):
        try:
            with boundary("it is not a readable wheel"):
                raw["requires-python"] = read_core_metadata(metadata_of_wheel(file.path, name)).requires_python
        except (Unreadable, OSError):  # the page lists it all the same, and its candidate says what is wrong
            raw["requires-python"] = ""
    return raw


def _page_into(content: IO[bytes], answer: HttpAnswer) -> str:
    """Write a page, and return its digest; what is too long now will be so again."""
    try:
        return answer.write_to(content, PAGE_BYTES.value)
    except Unreadable as error:
        message = f"the page `{redact(answer.url)}` cannot be read: {error}"
        raise PmError("index-unreachable", message) from error


@contextmanager
def _page_of_server() -> Iterator[None]:
    """Say of a page that cannot be read that the server sent something else; perhaps it passes."""
    try:
        yield
    except Unreadable as error:
        raise Again(f"it sent something else than a page: {error}") from error


def _with_path(file: RawFile, base: str) -> RawFile:
    """Say where a file of a local index is; one that is elsewhere or gone is left as an address."""
    # what is no address, or no name that a file can have, is no file of this machine
    with suppress(OSError, ValueError, TypeError, KeyError):
        parts = urlsplit(urljoin(base, file["url"]))
        path = Path(unquote(parts.path))
        if parts.scheme == "file" and path.is_file():
            status = path.stat()
            file["stamp"] = f"{status.st_size}-{status.st_mtime_ns}"
            file["size"] = status.st_size
            file["local"] = str(path)
    return file


def _unusable(name: str, version: str, listing: Listing) -> Candidate:
    versions = listing.reduced.versions
    exclusion = listing.reduced.excluded.get(versions.index(version)) if version in versions else None
    why = f"{exclusion.code}: {exclusion.detail}" if exclusion else "no source has this version"
    return Candidate(name, version, Artifact(filename="", sha256=""), invalid=why)


def _from_state(wheel: Path, name: str, upload_time: str) -> tuple[Artifact, bytes]:
    digest = sha256_of(wheel)
    place = place_in_state(digest, wheel.name)
    return Artifact(wheel.name, digest, "", place, wheel.stat().st_size, upload_time), metadata_of_wheel(wheel, name)
