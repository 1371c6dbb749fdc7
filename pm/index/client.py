"""`IndexClient`: what is known of the sources for one target, and how more becomes known."""

import hashlib
import itertools
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

from admission import Facts, Need, Notice, Question, Target
from admission.address import WheelAddress
from lockfiles import Lock, Pin
from pm.errors import OutOfTime, PmError
from pm.index.assignment import asked_for, assigned
from pm.index.contents import WheelContents, load_contents
from pm.index.folders import list_folders, signature, unlisted
from pm.index.kept_facts import KeptFacts
from pm.index.limits import Limits
from pm.index.package_sources import Sources
from pm.index.store import Entry
from pm.index.views import Known, facts_of

if TYPE_CHECKING:
    from pm.index.fetching import Progress
    from pm.index.guessing import Guesses
    from pm.index.listed_files import ListedFile
    from pm.index.listings import Listing
    from pm.index.reading import Reader
    from pm.index.transport import Transport

FRESH = 600
"""Seconds for which a page is taken as it is; an older one that a decision used is asked for again when online."""
_LATER = 60
"""Seconds by which a clock may have been set back before a page counts as old."""
_SHOWN = 10


class IndexOptions(NamedTuple):
    """How the sources are used."""

    offline: bool = False
    refresh: bool = False
    """Whether pages are asked for again that were asked for before this client was opened."""
    allow_build: frozenset[str] = frozenset()
    """Normalised names whose source distributions may be built."""
    interpreter: Path | None = None
    """The target's, for builds."""
    own_builds: Mapping[tuple[str, str], Path] = {}
    """Name and version → the wheel that was built here and is locked: as long as it is there it is the one."""
    limits: Limits = Limits()
    report: "Callable[[Progress], None] | None" = None
    """Told of every answer, in the thread that calls `fetch`."""


def open_index(
    cache: Path, target: Target, sources: Sources, index_options: IndexOptions | None = None
) -> "IndexClient":
    """Open what the cache knows of the sources for a target. Nothing is asked before `fetch` or `refresh`."""
    return IndexClient(cache, target, sources, index_options or IndexOptions())


class IndexClient:
    """The sources as one target sees them."""

    def __init__(self, cache: Path, target: Target, sources: Sources, index_options: IndexOptions) -> None:
        self._warnings: list[Notice] = []
        self._cache = cache
        self._target = target
        self._sources = sources
        self._index_options = index_options
        self._kept = KeptFacts(cache, _key(target, sources))
        self._folder_files = list_folders(sources.folders)
        signatures = {name: signature(files) for name, files in self._folder_files.items()}
        self._known = Known(self._kept.loaded, {}, signatures)
        self._consulted: set[str] = set()
        self._until = inf
        self._opened_at = int(time.time())
        self._unreadable: dict[str, Notice] = {}
        """Name → files on its page of which not even the version can be told."""
        self._guesses: Guesses | None = None
        self._reader: Reader | None = None
        self._transport: Transport | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def within(self, until: float) -> Iterator[None]:
        """Raise `OutOfTime` for what is asked for meanwhile and has not come until then (`time.monotonic`)."""
        before, self._until = self._until, min(until, self._until)
        try:
            yield
        finally:
            self._until = before

    def close(self) -> None:
        """Keep what is known, and close the connections."""
        self.save()
        if self._transport is not None:
            self._transport.close()

    @property
    def warnings(self) -> list[Notice]:
        """What went wrong without being in the way: the cache, and files that cannot be used of what was looked at."""
        files = (self._unreadable[name] for name in sorted(self._consulted & self._unreadable.keys()))
        return [*self._warnings, *files]

    @property
    def facts(self) -> Facts:
        """What is known now. The value does not change; after `fetch` and `refresh` there is a new one."""
        return facts_of(self._known, self._index_options.allow_build, self._consulted)

    @property
    def partial(self) -> tuple[str, ...]:
        """Pages that were looked at and hold folders' files only, because an index could not be asked offline.

        With these a set may be admitted, but a refusal would be about what was never asked for.
        """
        return tuple(sorted(name for name in self._consulted if self._asks_servers and self._age_of(name) is None))

    @property
    def unlisted(self) -> PmError | None:
        """Why a folder could not be listed: with the others a set may be admitted, but nothing can be refused."""
        return unlisted(self._sources.folders)

    def fetch(self, need: Need, question: Question | None = None) -> Facts:
        """Make known what is needed and return the facts; with `question`, also fetch ahead what it will lead to.

        Raise `PmError` (`index-unreachable`, `tls`, `unauthorized`, `hash-mismatch`, `build-failed`, `offline`).
        """
        self._load_listings()
        if self._index_options.offline:
            self._check_offline(need)
        self._round(need, guess=True, question=question)
        return self.facts

    def stale(self, names: Iterable[str] | None = None) -> tuple[str, ...]:
        """Return which pages that were looked at (or which of `names`) are too old to rely on; offline none is."""
        if self._index_options.offline or not self._sources.indexes:
            return ()
        asked = self._consulted if names is None else names
        ages = {name: self._age_of(name) for name in asked}
        old = {name for name, age in ages.items() if age is None or not -_LATER <= age < FRESH}
        return tuple(sorted(old | {name for name in asked if self._index_options.refresh and self._is_of_before(name)}))

    def revalidate(self, names: Iterable[str]) -> bool:
        """Ask again for pages that were read before this client was opened, and say whether the facts changed.

        Raise `PmError` as `fetch` does.
        """
        if self._index_options.offline or not self._asks_servers:
            return False
        return self._changed_by_asking(tuple(sorted(name for name in set(names) if self._is_of_before(name))))

    def answered_by(self, name: str) -> str:
        """Return the address of the index that knew a package; empty if none did."""
        self._load_listings()
        return self._listing(name).heard.address

    def has_index_for(self, name: str) -> bool:
        """Whether an index may answer for a package, or none is configured at all: not if all are for other names."""
        return not self._sources.indexes or bool(asked_for(name, self._sources.indexes))

    def asked_at(self, names: Iterable[str]) -> dict[str, int]:
        """Return when an index was asked for these pages, in seconds, besides those that no index was asked for."""
        entries = {name: self._known.entry(name) for name in sorted(names) if WheelAddress.of_page(name) is None}
        return {name: entry.at for name, entry in entries.items() if entry and entry.at and self._sources.indexes}

    def newest_upload(self, name: str) -> str:
        """Return when the newest file of a package was uploaded (ISO 8601, UTC); empty if that is not known."""
        entry = self._known.valid(name)
        return max(entry.page(may_build=False).uploaded, default="") if entry else ""

    def _is_of_before(self, name: str) -> bool:
        entry = self._known.entry(name)
        return entry is not None and entry.at < self._opened_at

    def refresh(self, names: Iterable[str] | None = None) -> bool:
        """Ask again for stale pages, and say whether the facts changed: then the verdict must be asked for again.

        Raise `PmError` as `fetch` does.
        """
        return self._changed_by_asking(self.stale(names))

    def _changed_by_asking(self, names: tuple[str, ...]) -> bool:
        if not names:
            return False
        self._load_listings()
        before = self._known
        self._round(Need(pages=names), guess=False)
        return any(_differs(before.valid(name), self._known.valid(name)) for name in names)

    def adopt(self, lock: Lock, wheels: Path) -> tuple[Path, ...]:
        """Copy the wheels that a lock names by path into the state's folder of wheels, and return where they are.

        Raise `PmError` (`hash-mismatch`) if one is not what was decided on any more.
        """
        from pm.index.adoption import adopt

        self._load_listings()
        pins = [pin for pin in lock.pins if pin.artifact.path]
        return adopt(pins, wheels, {pin.name: list(self._places(pin)) for pin in pins})

    def download(self, name: str, version: str) -> Path:
        """Return the whole file of a known version, verified and kept in the cache.

        Raise `PmError` (`offline`, `index-unreachable`, `hash-mismatch`).
        """
        self._load_listings()
        file = self._listing(name).file(version)
        if file is None:
            raise PmError("no-wheel", f"no file of {name} {version} can be used")
        if file.local:
            return Path(file.local)
        kept = self._cache / "wheels" / (file.sha256 or "unknown") / file.filename
        if not kept.is_file():
            if self._index_options.offline:
                raise PmError("offline", f"`--offline` forbids to fetch `{file.filename}`, and the cache lacks it")
            import threading

            reader = self._ready_reader()
            if self._transport is not None:
                self._transport.cancelled = threading.Event()
            reader.download(file, kept)
        return kept

    def contents(self, pins: Iterable[Pin], elsewhere: Callable[[Pin], Iterable[Path]]) -> dict[str, WheelContents]:
        """Return by name what the wheels of pins put where. Each wheel is looked into once and never asked for again.

        `elsewhere` says which files of this machine may be the wheel that a pin names by path, besides the sources'.
        Pins whose contents cannot be told (offline, or a file is gone) are left out. Raise `PmError` as `fetch` does.
        """
        wanted = list(pins)
        known = {pin.name: load_contents(self._cache, pin.artifact.sha256) for pin in wanted}
        missing = [pin for pin in wanted if known[pin.name] is None and pin.artifact.is_wheel]
        learnt = dict(self._learn_contents(missing, elsewhere)) if missing else {}
        return {name: contents for name, contents in (known | learnt).items() if contents is not None}

    def _learn_contents(
        self, pins: list[Pin], elsewhere: Callable[[Pin], Iterable[Path]]
    ) -> Iterator[tuple[str, WheelContents]]:
        from pm.index.wheel_reading import read_local

        if any(pin.artifact.path for pin in pins):
            self._load_listings()
        remote = []
        for pin in pins:
            contents = read_local(self._local(pin, elsewhere), pin.artifact)
            if contents is not None:
                yield pin.name, self._keep_contents(pin, contents)
            elif pin.artifact.url:
                remote.append(pin)
        if remote and not self._index_options.offline:
            yield from self._ask_contents(remote)

    def _ask_contents(self, pins: list[Pin]) -> Iterator[tuple[str, WheelContents]]:
        import queue
        import threading
        from functools import partial

        from pm.index.contents import side_by_side

        reader = self._ready_reader(asks_addresses=True)
        if self._transport is None:
            return
        cancelled = self._transport.cancelled = threading.Event()
        try:
            tasks = [partial(reader.contents, _listed_file(pin)) for pin in pins]
            for position, contents in side_by_side(tasks, self._index_options.limits.workers, self._until):
                if contents is not None:
                    yield pins[position].name, self._keep_contents(pins[position], contents)
        except queue.Empty as late:
            raise OutOfTime("", "the contents of all wheels") from late
        finally:
            cancelled.set()

    def examined(
        self, pins: Iterable[Pin], elsewhere: Callable[[Pin], Iterable[Path]]
    ) -> Iterator[tuple[str, WheelContents]]:
        """Look at each byte of wheels that were not looked at so, one after the other, and yield what was learnt.

        Of the others, which are small, only the digest is compared with that of the file that the index has now.
        Raise `PmError` (`hash-mismatch` …) as `contents` does.
        """
        from pm.index.wheel_reading import read_local

        for pin in pins:
            known = load_contents(self._cache, pin.artifact.sha256)
            if not pin.artifact.is_wheel:
                continue
            if known is not None and known.proved:
                if pin.artifact.url and not self._index_options.offline:
                    self._ask_whole(pin)
                continue
            contents = read_local(self._local(pin, elsewhere), pin.artifact, thorough=True)
            if contents is None and pin.artifact.url and not self._index_options.offline:
                contents = self._ask_whole(pin)
            if contents is not None:
                yield pin.name, self._keep_contents(pin, contents)

    def _ask_whole(self, pin: Pin) -> WheelContents | None:
        import threading

        reader = self._ready_reader()
        if self._transport is None:
            return None
        self._transport.cancelled = threading.Event()
        return reader.whole_contents(_listed_file(pin))

    def _local(self, pin: Pin, elsewhere: Callable[[Pin], Iterable[Path]]) -> Iterable[Path]:
        """Return the files of this machine that may be the wheel that a pin means."""
        if pin.artifact.path:
            return itertools.chain(elsewhere(pin), self._places(pin))
        return (self._cache / "wheels" / pin.artifact.sha256 / pin.artifact.filename,)

    def _keep_contents(self, pin: Pin, contents: WheelContents) -> WheelContents:
        from pm.index.contents import save_contents

        try:
            save_contents(self._cache, pin.artifact.sha256, contents)
        except PmError as error:
            self._warnings = [Notice("cache-not-written", f"what wheels contain cannot be kept: {error.message}")]
        return contents

    def _places(self, pin: Pin) -> Iterator[Path]:
        """Yield the files that may be what a pin means: of folders, of local indexes, of builds."""
        yield from (Path(file.path) for file in self._folder_files.get(pin.name, ()))
        file = self._listing(pin.name).file(pin.version)
        if file is not None and file.local:
            yield Path(file.local)
        yield from (self._cache / "built").glob(f"*/{pin.artifact.filename}")

    def _round(self, need: Need, *, guess: bool, question: Question | None = None) -> None:
        import threading

        from pm.index.fetching import Round

        asked = (*need.pages, *(name for name, _ in need.candidates))
        reader = self._ready_reader(asks_addresses=any(map(WheelAddress.of_page, asked)))
        cancelled = threading.Event()
        if self._transport is not None:
            self._transport.cancelled = cancelled
        work = Round(
            reader=reader,
            known=self._known,
            may_build=self._index_options.allow_build,
            limits=self._index_options.limits,
            report=self._index_options.report,
            until=self._until,
        )
        try:
            work.run(need.pages, need.candidates, self._guesses_for(question) if guess else None)
        finally:
            cancelled.set()
            changed = work.fetched != self._known.fetched
            self._known = self._known._replace(fetched=work.fetched)
            self._unreadable |= {name: _left_out(name, files) for name, files in work.unreadable.items()}
            if changed:
                self._write(self._kept.note_change)

    def _guesses_for(self, question: Question | None) -> "Guesses":
        """Return what follows the requirements of a question, on from where it was."""
        from pm.index.guessing import Guesses

        if self._guesses is None or question is None or self._guesses.question is not question:
            self._guesses = Guesses(question)
        return self._guesses

    def _ready_reader(self, *, asks_addresses: bool = False) -> "Reader":
        """Return what reads from the sources; without an index it asks servers only for files of addresses."""
        if self._reader is None or (asks_addresses and self._transport is None):
            from pm.index.builds import Workshop
            from pm.index.reading import Reader
            from pm.index.retrieval import Retrieval
            from pm.index.transport import Transport

            limits, sources, interpreter = (
                self._index_options.limits,
                self._sources.complete(),
                self._index_options.interpreter,
            )
            if (sources.indexes or asks_addresses) and not self._index_options.offline:
                self._transport = Transport(sources, limits)
            transport = self._transport
            downloads = self._cache / "downloads"
            self._reader = Reader(
                target=self._target,
                indexes=sources.indexes,
                folder_files=self._folder_files,
                transport=transport,
                retrieval=Retrieval(transport, downloads) if transport else None,
                workshop=Workshop(
                    interpreter, sources, self._cache / "built", self._cache / "uv", self._index_options.own_builds
                )
                if interpreter
                else None,
            )
        return self._reader

    def _load_listings(self) -> None:
        self._known = self._known._replace(loaded=self._kept.load_listings())

    def save(self) -> None:
        """Keep what has become known in the cache; that happens now and then, and at the end."""
        self._write(self._kept.save)

    def _write(self, write: Callable[[Mapping[str, Entry]], None]) -> None:
        try:
            write(self._known.fetched)
        except PmError as error:
            self._warnings = [Notice("cache-not-written", f"the facts cannot be kept: {error.message}")]

    def _check_offline(self, need: Need) -> None:
        """Raise if something is needed that only a server has: what is not known never counts as not there."""
        pages = [name for name in need.pages if not self._can_read_offline(name)]
        candidates = [f"{name} {version}" for name, version in need.candidates if not self._has_file(name, version)]
        if not pages and not candidates:
            return
        missing = ", ".join(f"`{name}`" for name in [*pages, *candidates][:_SHOWN])
        more = len(pages) + len(candidates) - _SHOWN
        raise PmError(
            "offline",
            f"`--offline` forbids to ask an index, and the cache knows nothing of {missing}"
            + (f" and {more} more" if more > 0 else ""),
            hint="ask once without `--offline`, or put the wheels into a folder and name it in `pm.find_links`",
        )

    def _can_read_offline(self, name: str) -> bool:
        entry = self._known.entry(name)
        is_known = name in self._folder_files or bool(entry and entry.listing_row)
        asks_servers = any(not index.is_local for index in asked_for(name, self._sources.indexes))
        return not asks_servers or is_known or WheelAddress.of_page(name) is not None

    def _has_file(self, name: str, version: str) -> bool:
        file = self._listing(name).file(version)
        if file is None:
            return self._can_read_offline(name) and WheelAddress.of_page(name) is None
        return bool(file.local)

    @property
    def _asks_servers(self) -> bool:
        return any(not index.is_local for index in self._sources.indexes)

    def _listing(self, name: str) -> "Listing":
        from pm.index.listings import Listing, read_listing

        entry = self._known.entry(name)
        return read_listing(entry.page_row, entry.listing_row) if entry and entry.listing_row else Listing()

    def _age_of(self, name: str) -> float | None:
        """Return how old a page is in seconds; `None` if no index was asked for it."""
        entry = self._known.entry(name)
        return time.time() - entry.at if entry and entry.at else None


def _listed_file(pin: Pin) -> "ListedFile":
    from pm.index.listed_files import ListedFile

    artifact = pin.artifact
    return ListedFile(artifact.filename, artifact.url, artifact.sha256, artifact.size)


def _left_out(name: str, files: tuple[str, ...]) -> Notice:
    named = ", ".join(dict.fromkeys(files))
    many = "1 file" if len(files) == 1 else f"{len(files)} files"
    text = f"{many} offered for `{name}` cannot be used, because no name can be so: {named}"
    return Notice("index-file-unusable", text, name)


def _key(target: Target, sources: Sources) -> str:
    """Say what the facts in a file are about."""
    indexes = [assigned(index) for index in sources.indexes]
    value = [target.name, target.python, target.environment, target.tags, indexes]
    return hashlib.sha256(json.dumps(value, ensure_ascii=True).encode()).hexdigest()


def _differs(before: Entry | None, after: Entry | None) -> bool:
    """Whether a package's facts differ, not merely the time of asking."""
    if before is None or after is None:
        return before is not after
    return before.page_row != after.page_row or not before.candidate_rows.keys() <= after.candidate_rows.keys()
