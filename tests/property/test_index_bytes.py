"""Whatever happens to the bytes of a page, of metadata or of a wheel: they are read, or said to be unreadable.

The damage is done to real ones: pages as an index serves them, the metadata of what is installed here, and wheels.
"""

from __future__ import annotations

import importlib.metadata
import io
import json
import time
import zipfile
from collections.abc import Callable
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.limited import MEMORY, SECONDS, limited
from fixtures.mutations import mutations
from fixtures.server import IndexServer, Shape
from fixtures.wheels import LINUX_311, Distribution, build_wheels
from lockfiles import Artifact
from pm.index.fit import Fit
from pm.index.foreign import Unreadable
from pm.index.listings import Heard, Listing, listing_rows, read_listing
from pm.index.metadata import Judge
from pm.index.reduction import Reduced, reduce_files
from pm.index.rows import candidate_row, page_of, read_candidate_row
from pm.index.simple_page import read_page
from pm.index.wheel_reading import read_contents
from pm.index.wheels import metadata_of_wheel

_BATCH = 100
_COUNTS = [pytest.param(100, id="some"), pytest.param(2000, id="many", marks=pytest.mark.slow)]
_ADDRESS = "https://host.invalid/simple/demo/"


class _Slowest(NamedTuple):
    seconds: float
    label: str


def _check(content: bytes, count: int, name: str, read: Callable[[bytes], object]) -> None:
    """Read so many damaged copies in forks of this process, each with its limits."""
    damaged = mutations(content, count, name)
    while batch := list(islice(damaged, _BATCH)):

        def call(batch: list[tuple[str, bytes]] = batch) -> _Slowest:
            slowest = _Slowest(0.0, "")
            for label, copy in batch:
                begun = time.monotonic()
                try:
                    with suppress(Unreadable):
                        read(copy)
                except BaseException as error:
                    raise AssertionError(label) from error
                slowest = max(slowest, _Slowest(time.monotonic() - begun, label))
            return slowest

        ending = limited(call, seconds=SECONDS * 6, memory=MEMORY)
        assert ending.is_good, ending.told
        seconds = float(ending.told.partition("seconds=")[2].partition(",")[0])
        assert seconds < SECONDS, ending.told


def _read_page(content: bytes, content_type: str) -> Reduced:
    """Read a page and everything that is kept of it."""
    reduced = reduce_files("demo", read_page(io.BytesIO(content), content_type), Fit(LINUX_311), _ADDRESS)
    page, rest, _ = listing_rows(Listing(Heard(), reduced, reduced))
    again = read_listing(page, rest).reduced
    assert (again.versions, dict(again.files)) == (reduced.versions, dict(reduced.files))
    page_of("demo", page, may_build=True)
    for file in reduced.files.values():
        assert file.flaw or file.url.startswith(("http://", "https://", "file://"))
        assert "/" not in file.filename
    return reduced


def _read_metadata(content: bytes) -> object:
    candidate = Judge(LINUX_311).candidate(
        content, name="demo", version="1.0", artifact=Artifact(filename="demo.whl", sha256=""), index=""
    )
    assert read_candidate_row("demo", "1.0", candidate_row(candidate)) == candidate
    return candidate


def _read_wheel(content: bytes) -> object:
    read_contents(io.BytesIO(content))
    return _read_metadata(metadata_of_wheel(io.BytesIO(content), "demo"))


def _release(number: int) -> Distribution:
    tags = ("py3-none-any", "cp311-cp311-manylinux_2_17_x86_64", "cp312-cp312-win_amd64")
    return Distribution(
        "demo",
        f"1.{number}rc1" if number % 5 == 0 else f"1.{number}",
        requires_python=">=3.8,<4" if number % 2 else "",
        tags=tags[: number % 3 + 1],
        yanked="it loses data" if number == 7 else None,
        sdist=number % 4 == 0,
    )


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Return the two forms of one page, with everything that a page can say."""
    offered = [_release(number) for number in range(20)]
    with IndexServer(tmp_path_factory.mktemp("files"), offered, Shape(announces_metadata=True)) as server:
        forms = {form: server.page("demo", as_json=form == "json") for form in ("json", "html")}
    return {form: page for form, page in forms.items() if page is not None}


@pytest.mark.parametrize("count", _COUNTS)
@pytest.mark.parametrize("form", ["json", "html"])
def test_a_damaged_page_is_read_or_unreadable(pages: dict[str, bytes], form: str, count: int) -> None:
    assert len(_read_page(pages[form], form).versions) == 20
    _check(pages[form], count, f"page {form}", lambda content: _read_page(content, form))


@pytest.mark.parametrize("count", _COUNTS)
def test_damaged_metadata_is_read_or_unreadable(count: int) -> None:
    originals = [_metadata_of(name) for name in ("urllib3", "packaging", "hypothesis", "pytest")]
    for number, original in enumerate(originals):
        _check(original, count // len(originals), f"metadata {number}", _read_metadata)


def _metadata_of(name: str) -> bytes:
    text = importlib.metadata.distribution(name).read_text("METADATA")
    assert text is not None
    version = importlib.metadata.version(name)
    return (
        text.replace(f"\nName: {name}\n", "\nName: demo\n").replace(f"Version: {version}\n", "Version: 1.0\n").encode()
    )


@pytest.mark.parametrize("count", _COUNTS)
def test_a_damaged_wheel_is_read_or_unreadable(tmp_path: Path, count: int) -> None:
    entry_points = "[console_scripts]\ndemo = demo:main [extra]\n"
    files = {f"demo/part_{number}.py": f"VALUE = {number}\n" * 50 for number in range(20)}
    more = {"demo-1.0.dist-info/entry_points.txt": entry_points, "demo-1.0.data/scripts/tool": "#!python\n"}
    [wheel] = build_wheels(tmp_path, Distribution("demo", "1.0", requires=("other>=1",), files=files | more))
    _read_wheel(wheel.read_bytes())
    _check(wheel.read_bytes(), count, "wheel", _read_wheel)


@pytest.mark.parametrize(
    ("members", "record"),
    [
        ([*(f"a{number}" for number in range(20_000)), "z/z.py"], "z/,,\n" * 300_000),
        (["a/" * 30_000 + str(number) for number in range(100)], ""),
    ],
    ids=["folders", "depth"],
)
def test_a_wheel_of_many_folders_takes_no_long_time(members: list[str], record: str) -> None:
    wheel = io.BytesIO()
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in members:
            archive.writestr(name, "")
        for name, text in {"WHEEL": "Wheel-Version: 1.0\n", "RECORD": record}.items():
            archive.writestr(f"demo-1.0.dist-info/{name}", text)
    ending = limited(lambda: read_contents(wheel), seconds=SECONDS, memory=MEMORY)
    assert ending.is_good, ending.told


_odd = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.lists(st.text()),
    st.dictionaries(st.text(), st.text()),
)
_texts = st.one_of(st.sampled_from(["demo-1.0-py3-none-any.whl", "demo-2.0.tar.gz", "http://[::1", "9" * 5000]), _odd)
_keys = ("filename", "url", "hashes", "requires-python", "size", "upload-time", "yanked", "core-metadata")
_entries = st.one_of(_odd, st.fixed_dictionaries({"filename": _texts}, optional=dict.fromkeys(_keys[1:], _texts)))


@given(st.lists(_entries, max_size=4), _odd)
def test_a_page_of_odd_values_is_read_or_unreadable(entries: list[object], meta: object) -> None:
    good = {"filename": "demo-5.0-py3-none-any.whl", "url": "demo-5.0-py3-none-any.whl"}
    page = {"meta": {"api-version": "1.0"} if meta is None else meta, "files": [*entries, good]}
    if isinstance(meta, dict) and str(meta.get("api-version", "1.0")).partition(".")[0] != "1":
        return
    assert "5.0" in _read_page(json.dumps(page).encode(), "json").versions


@given(st.binary(), st.sampled_from(["json", "html", ""]))
def test_any_bytes_are_a_page_or_none(content: bytes, content_type: str) -> None:
    with suppress(Unreadable):
        _read_page(content, content_type)


@given(st.lists(st.one_of(st.text(), st.from_regex(r"[A-Za-z-]{1,20}: .{0,40}")), max_size=8))
def test_any_lines_are_metadata_or_unreadable(lines: list[str]) -> None:
    _read_metadata("\n".join(["Name: demo", "Version: 1.0", *lines]).encode("utf-8", "surrogatepass"))


@given(st.binary())
def test_any_bytes_in_an_archive_are_metadata_or_unreadable(content: bytes) -> None:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("demo-1.0.dist-info/METADATA", content)
    _read_wheel(target.getvalue())
