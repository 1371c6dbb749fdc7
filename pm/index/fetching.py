"""One round of fetching: what is needed, and ahead of it what the metadata that arrives will ask for.

Everything but the asking itself happens in the thread that runs the round: workers get values and give values back.
"""

import gc
import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from math import inf
from typing import NamedTuple

from admission import Candidate, Exclusion, Page
from pm.errors import OutOfTime, PmError
from pm.index.guessing import Guesses
from pm.index.limits import Limits
from pm.index.listings import Listing, ListingRows, listing_rows, previous_of, read_listing, still_valid
from pm.index.reading import Reader
from pm.index.store import Entry
from pm.index.views import Known

_TRIES = 3
"""Versions of one package that are guessed at in one round."""


_LISTENING = 0.25
"""Seconds for which an answer is waited for before the clock is looked at."""


class Progress(NamedTuple):
    """How far a round is."""

    pages: int
    candidates: int
    waiting: int
    """Questions that were asked and are not answered yet."""


class _Job(NamedTuple):
    """Something for a worker: a page, or with a version a candidate."""

    name: str
    version: str = ""


class _PageRead(NamedTuple):
    """A page that a worker read, with its rows."""

    at: int
    rows: ListingRows
    unreadable: tuple[str, ...]


_Outcome = _PageRead | Candidate
_Work = tuple[_Job, Callable[[], _Outcome]]


class Round:
    """Asks for what is needed, and guesses ahead within limits."""

    def __init__(
        self,
        *,
        reader: Reader,
        known: Known,
        may_build: frozenset[str],
        limits: Limits,
        report: Callable[[Progress], None] | None = None,
        until: float = inf,
    ) -> None:
        self.fetched: dict[str, Entry] = dict(known.fetched)
        """What is known besides the loaded file: the result, also of a round that failed."""
        self.unreadable: dict[str, tuple[str, ...]] = {}
        """Name → files on its page of which not even the version can be told."""
        self._reader = reader
        self._known = known._replace(fetched=self.fetched)
        self._may_build = may_build
        self._limits = limits
        self._report = report
        self._until = until
        """When all must have come (`time.monotonic`)."""
        self._listings: dict[str, Listing] = {}
        self._guesses: Guesses | None = None
        self._work: queue.SimpleQueue[_Work | None] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[tuple[_Job, _Outcome | Exception]] = queue.SimpleQueue()
        self._asked: dict[_Job, float] = {}
        self._open: set[_Job] = set()
        self._needed: set[_Job] = set()
        self._behind_page: dict[str, list[_Job]] = {}
        """Candidates that wait for their package's page."""
        self._workers = 0
        self._guessed = 0

    def run(
        self,
        pages: Iterable[str],
        candidates: Iterable[tuple[str, str]],
        guesses: Guesses | None = None,
    ) -> None:
        """Ask for pages and candidates. Raise `PmError` if one of them cannot be had; the others are kept."""
        for name in pages:
            self._need(_Job(name))
        for name, version in candidates:
            self._need(_Job(name, version))
        if guesses is not None:
            self._guesses = guesses
            guesses.reads(self._page, self._candidate)
            for name, version in candidates:
                guesses.decided(name, version)
        try:
            with _collector_paused():
                self._guess()
                self._work_off()
        finally:
            for _ in range(self._workers):
                self._work.put(None)

    def _work_off(self) -> None:
        give_up_guessing = self._until
        while self._needed or (self._open and time.monotonic() < give_up_guessing):
            self._check_time()
            if not self._needed:
                give_up_guessing = min(give_up_guessing, time.monotonic() + self._limits.guessing)
            try:
                job, outcome = self._answers.get(timeout=_LISTENING)
            except queue.Empty:
                self._check_patience()
                continue
            self._open.discard(job)
            self._take(job, outcome)
            self._needed.discard(job)
            self._guess()
            if self._report:
                done = [asked for asked in self._asked if asked not in self._open]
                pages = sum(1 for asked in done if not asked.version)
                self._report(Progress(pages, len(done) - pages, len(self._open)))

    def _check_time(self) -> None:
        """Raise if the time is over and something that is needed has not come."""
        if self._needed and time.monotonic() >= self._until:
            late = min(self._needed)
            what = f"the metadata of `{late.name}` {late.version}" if late.version else f"the page of `{late.name}`"
            raise OutOfTime(late.name, what)

    def _check_patience(self) -> None:
        """Raise if a page takes longer than all its limits together, as with a server that trickles its headers."""
        longest = self._limits.total + self._limits.connect + self._limits.read
        for job in sorted(self._needed & self._open):
            if not job.version and time.monotonic() - self._asked[job] > longest * 2:
                message = f"no index gave the page of `{job.name}` within {longest * 2:.0f} seconds"
                raise PmError("index-unreachable", message, hint="try again later")

    def _take(self, job: _Job, outcome: _Outcome | Exception) -> None:
        if isinstance(outcome, Exception):
            # A guess that fails is forgotten: what the search needs is asked for again, and then heard.
            if job in self._needed or not isinstance(outcome, PmError):
                raise outcome
        elif isinstance(outcome, Candidate):
            self._take_candidate(outcome)
        else:
            self._take_page(job.name, outcome)
        if self._guesses and not isinstance(outcome, Exception):
            self._guesses.look_at(job.name)

    def _take_page(self, name: str, read: _PageRead) -> None:
        before = self._known.entry(name)
        entry = Entry(
            name,
            at=read.at,
            signature=self._known.signatures.get(name, ""),
            page_row=read.rows.page,
            listing_row=read.rows.rest,
        )
        if before is not None and before.candidate_rows:
            entry = entry.with_candidates(still_valid(before, read.rows.listing))
        self.fetched[name] = entry
        self._listings[name] = read.rows.listing
        if read.unreadable:
            self.unreadable[name] = read.unreadable
        for version in entry.candidate_rows:
            self._judge_python(entry.candidate(version))
        for job in self._behind_page.pop(name, ()):
            self._submit(job)

    def _take_candidate(self, candidate: Candidate) -> None:
        entry = self._known.entry(candidate.name)
        if entry is not None:
            self.fetched[candidate.name] = entry.with_candidate(candidate)
            self._judge_python(candidate)

    def _judge_python(self, candidate: Candidate | None) -> None:
        """Put a version out on the page if only its metadata said that it is for other interpreters."""
        if candidate is None or self._reader.accepts_python(candidate.requires_python):
            return
        listing = self._listing(candidate.name)
        position = (
            listing.reduced.versions.index(candidate.version) if candidate.version in listing.reduced.versions else -1
        )
        if position < 0 or position in listing.reduced.excluded:
            return
        exclusion = Exclusion("python-version", candidate.requires_python)
        reduced = listing.reduced._replace(excluded={**listing.reduced.excluded, position: exclusion})
        of_index = reduced if listing.of_index is listing.reduced else listing.of_index
        rows = listing_rows(listing._replace(reduced=reduced, of_index=of_index))
        self._listings[candidate.name] = rows.listing
        self.fetched[candidate.name] = self.fetched[candidate.name].with_page(rows.page, rows.rest)

    def _need(self, job: _Job) -> None:
        self._needed.add(job)
        if job.version and not self._has_listing(job.name):
            self._behind_page.setdefault(job.name, []).append(job)
            self._need(_Job(job.name))
        elif job not in self._asked:
            self._submit(job)

    def _guess(self) -> None:
        if self._guesses is None:
            return
        for name, version in self._guesses.unknown():
            job = _Job(name, version)
            if job not in self._asked and self._guessed < self._limits.guesses and self._is_worth_a_guess(job):
                self._guessed += 1
                self._submit(job)

    def _is_worth_a_guess(self, job: _Job) -> bool:
        if not job.version:
            return self._reader.can_ask
        if not self._has_listing(job.name) or sum(1 for asked in self._asked if asked.name == job.name) > _TRIES:
            return False
        file = self._listing(job.name).file(job.version)
        # Nothing is ever built on a guess, and offline only folders can answer.
        return file is not None and file.is_wheel and (bool(file.local) or self._reader.can_ask)

    def _submit(self, job: _Job) -> None:
        self._asked[job] = time.monotonic()
        self._open.add(job)
        self._work.put((job, self._work_for(job)))
        if self._workers < min(self._limits.workers, len(self._open)):
            self._workers += 1
            threading.Thread(target=_work, args=(self._work, self._answers), daemon=True).start()

    def _work_for(self, job: _Job) -> Callable[[], _Outcome]:
        if job.version:
            listing = self._listing(job.name)
            return lambda: self._reader.candidate(job.name, job.version, listing)
        entry = self._known.entry(job.name)
        previous = previous_of(entry.page_row, entry.listing_row) if entry and entry.listing_row else None
        at = entry.at if entry is not None and previous is not None else 0

        def read() -> _PageRead:
            listing, asked_at = self._reader.page(job.name, previous, at)
            return _PageRead(asked_at, listing_rows(listing), listing.reduced.unreadable)

        return read

    def _has_listing(self, name: str) -> bool:
        entry = self._known.valid(name)
        return entry is not None and bool(entry.listing_row)

    def _listing(self, name: str) -> Listing:
        listing = self._listings.get(name)
        if listing is None:
            entry = self._known.entry(name)
            listing = read_listing(entry.page_row, entry.listing_row) if entry else Listing()
            self._listings[name] = listing
        return listing

    def _page(self, name: str) -> Page | None:
        entry = self._known.valid(name)
        return entry.page(may_build=name in self._may_build) if entry else None

    def _candidate(self, name: str, version: str) -> Candidate | None:
        entry = self._known.valid(name)
        return entry.candidate(version) if entry else None


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Spare the collector the walk through pages of ten thousand files, which hold no cycles: a twelfth of a round."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _work(work: queue.SimpleQueue[_Work | None], answers: queue.SimpleQueue[tuple[_Job, _Outcome | Exception]]) -> None:
    while (item := work.get()) is not None:
        job, do = item
        try:
            answers.put((job, do()))
        except Exception as error:  # noqa: BLE001 - carried to the thread that runs the round, and raised there
            answers.put((job, error))
