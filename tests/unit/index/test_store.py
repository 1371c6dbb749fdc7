"""The file of facts gives back what was written, and damage is never more than something that is not known."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admission import Candidate, Exclusion, Page
from lockfiles import Artifact, Edge
from pm.index.listed_files import ListedFile
from pm.index.listings import Heard, Listing, listing_rows, read_listing
from pm.index.reduction import Reduced
from pm.index.rows import candidate_row, read_candidate_row
from pm.index.store import Entry, load, save

_KEY = "what the facts are about"
_REDUCED = Reduced(
    versions=("1.0", "1.1", "1.2", "2.0"),
    excluded={
        0: Exclusion("no-wheel", "wheels are for cp39 on win_amd64"),
        1: Exclusion("no-wheel", "wheels are for cp39 on win_amd64"),
        2: Exclusion("yanked-only", "verlor Dateien — ünd"),
    },
    consented={0: None, 1: Exclusion("yanked-only", "")},
    uploaded=("", "2024-01-02T03:04:05Z", "", "2024-02-02T03:04:05Z"),
    files={
        1: ListedFile("demo-1.1.tar.gz", "http://host.invalid/demo-1.1.tar.gz", "ab" * 32),
        3: ListedFile("demo-2.0-py3-none-any.whl", local="/wheels ü/demo-2.0-py3-none-any.whl", stamp="12-34"),
    },
)
_CANDIDATE = Candidate(
    name="demo",
    version="2.0",
    artifact=Artifact("demo-2.0-py3-none-any.whl", "cd" * 32, "http://host.invalid/demo.whl", "", 12, "2024"),
    requires=(
        Edge("plain"),
        Edge("more", "<2,>=1", ("a", "b"), 'os_name == "posix"'),
        Edge("rare", extra="fast"),
    ),
    extras=("fast",),
    index="http://host.invalid/simple",
    requires_python=">=3.8",
    invalid="",
)


def _entry(name: str, at: int = 100) -> Entry:
    page_row, listing_row, _ = listing_rows(Listing(Heard("http://host.invalid/simple", "etag"), _REDUCED, _REDUCED))
    entry = Entry(name, at=at, signature="", page_row=page_row, listing_row=listing_row)
    return entry.with_candidate(_CANDIDATE._replace(name=name))


def _pages(path: Path) -> dict[str, Page | None]:
    loaded = load(path, _KEY, whole=True)
    entries = {name: loaded.get(name) for name in loaded.names()}
    return {name: entry.page(may_build=False) if entry else None for name, entry in entries.items()}


_PAGE = Page("demo", _REDUCED.versions, _REDUCED.excluded, _REDUCED.uploaded, buildable=0b0001)


def test_a_file_gives_back_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "facts" / "one.facts"
    save(path, _KEY, [_entry("demo")])
    entry = load(path, _KEY, whole=True).get("demo")
    assert entry is not None
    listing = read_listing(entry.page_row, entry.listing_row)
    assert (entry.at, entry.page(may_build=False), entry.candidate("2.0"), entry.candidate("1.1")) == (
        100,
        _PAGE,
        _CANDIDATE,
        None,
    )
    assert (listing.heard, listing.reduced._replace(files=dict(listing.reduced.files))) == (
        Heard("http://host.invalid/simple", "etag"),
        _REDUCED,
    )


def test_a_consent_to_build_changes_what_a_page_says(tmp_path: Path) -> None:
    path = tmp_path / "one.facts"
    save(path, _KEY, [_entry("demo")])
    entry = load(path, _KEY).get("demo")
    assert entry is not None
    assert [dict(entry.page(may_build=consent).excluded) for consent in (True, False)] == [
        {1: Exclusion("yanked-only", ""), 2: _REDUCED.excluded[2]},
        dict(_REDUCED.excluded),
    ]


def test_a_listing_that_was_merged_with_folders_keeps_what_the_index_alone_says() -> None:
    alone = Reduced(versions=("1.0",), files={0: ListedFile("demo-1.0-py3-none-any.whl", "http://host.invalid/d.whl")})
    rows = listing_rows(Listing(Heard(), alone, _REDUCED))
    listing = read_listing(rows.page, rows.rest)
    assert (listing.of_index._replace(files=dict(listing.of_index.files)), listing.reduced.versions) == (
        alone,
        _REDUCED.versions,
    )


def test_without_the_listings_nothing_but_the_listings_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "one.facts"
    save(path, _KEY, [_entry("demo")])
    entry = load(path, _KEY).get("demo")
    assert entry is not None
    assert (entry.page(may_build=False), entry.listing_row) == (_PAGE, b"")


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"hermes-pm facts 2 1 1 1\n{", b"hermes-pm facts 9 0 0 0\n", b"\0" * 99]
)
def test_a_foreign_file_holds_nothing(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "one.facts"
    path.write_bytes(content)
    assert _pages(path) == {}


def test_a_file_about_something_else_holds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "one.facts"
    save(path, "another key", [_entry("demo")])
    assert _pages(path) == {}


@pytest.mark.parametrize("path", ["missing.facts", "."])
def test_what_is_no_file_holds_nothing(tmp_path: Path, path: str) -> None:
    assert _pages(tmp_path / path) == {}


@given(data=st.data())
def test_a_changed_byte_never_changes_what_a_page_says(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("cache") / "one.facts"
    save(path, _KEY, [_entry("demo"), _entry("other")])
    content = bytearray(path.read_bytes())
    content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content)
    known = {name: page for name, page in _pages(path).items() if page is not None}
    assert known == {name: _PAGE._replace(name=name) for name in known}


@given(data=st.data())
def test_a_file_that_was_cut_off_gives_back_what_is_still_whole(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("cache") / "one.facts"
    save(path, _KEY, [_entry("demo"), _entry("other")])
    content = path.read_bytes()
    path.write_bytes(content[: data.draw(st.integers(0, len(content) - 1))])
    known = {name: page for name, page in _pages(path).items() if page is not None}
    assert known == {name: _PAGE._replace(name=name) for name in known}


def test_a_reader_beside_many_writers_always_finds_a_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "one.facts"
    save(path, _KEY, [_entry("demo")])
    stop = threading.Event()

    def write(name: str) -> None:
        while not stop.is_set():
            save(path, _KEY, [_entry("demo"), _entry(name)])

    writers = [threading.Thread(target=write, args=(f"writer-{number}",)) for number in range(3)]
    for writer in writers:
        writer.start()
    seen = [_pages(path).get("demo") for _ in range(100)]
    stop.set()
    for writer in writers:
        writer.join()
    assert (seen, sorted(tmp_path.iterdir())) == ([_PAGE] * 100, [path])


_text = st.text(max_size=8)
_edges = st.builds(
    Edge,
    name=_text,
    specifier=_text,
    extras=st.lists(st.from_regex(r"[a-z][a-z0-9-]{0,3}", fullmatch=True), max_size=3).map(tuple),
    marker=_text,
    extra=_text,
)


@given(st.lists(_edges, max_size=4).map(tuple), st.lists(_text, max_size=3).map(tuple), _text)
def test_every_candidate_is_read_as_it_was_written(
    requires: tuple[Edge, ...], extras: tuple[str, ...], invalid: str
) -> None:
    candidate = _CANDIDATE._replace(requires=requires, extras=extras, invalid=invalid)
    assert read_candidate_row("demo", "2.0", candidate_row(candidate)) == candidate
