"""The index client against a real server on loopback: what becomes known, and with how few questions."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from uv import find_uv_bin

from admission import (
    Candidate,
    ConstraintSet,
    Core,
    Exclusion,
    Need,
    Origin,
    Owner,
    Page,
    Policy,
    Question,
    parse_requirement,
)
from fixtures.server import Fault, IndexServer, Shape, write_index
from fixtures.wheels import DEFAULT_RECIPE, LINUX_311, Distribution, read_recipe
from lockfiles import Artifact, Edge
from pm.errors import PmError
from pm.index import FRESH, IndexClient, IndexOptions, Limits, open_index
from pm.index.package_sources import Sources, index_address

_LIMITS = Limits(connect=2, read=2, total=5, attempts=3, pause=0.01, longest_pause=0.1, guessing=2)
_ORIGIN = Origin(Owner("plugin", "demo"))


def _open(tmp_path: Path, *urls: str, folders: Sequence[Path] = (), terms: IndexOptions | None = None) -> IndexClient:
    sources = Sources(indexes=tuple(index_address(url) for url in urls), folders=tuple(folders))
    return open_index(tmp_path / "cache", LINUX_311, sources, terms or IndexOptions(limits=_LIMITS))


def _question(*requirements: str) -> Question:
    roots = tuple(parse_requirement(text, _ORIGIN) for text in requirements)
    return Question(ConstraintSet(Core("core", "1", roots), (), LINUX_311, Policy()))


@pytest.fixture
def server(tmp_path: Path) -> Iterator[IndexServer]:
    with IndexServer(tmp_path / "files", read_recipe(DEFAULT_RECIPE)) as running:
        yield running


def test_a_page_and_a_candidate_become_facts(tmp_path: Path, server: IndexServer) -> None:
    with _open(tmp_path, f"{server.url}/") as index:
        facts = index.fetch(Need(pages=("demo-transport",), candidates=(("demo-transport", "1.3.0"),)))
    offer = next(offer for offer in server.offers if offer.path.name == "demo_transport-1.3.0-py3-none-any.whl")
    assert facts.pages["demo-transport"] == Page(
        name="demo-transport",
        versions=("1.0", "1.3.0"),
        uploaded=("2024-01-01T00:00:00Z", "2024-01-01T00:00:00Z"),
    )
    assert facts.candidate("demo-transport", "1.3.0") == Candidate(
        name="demo-transport",
        version="1.3.0",
        artifact=Artifact(
            filename=offer.path.name,
            sha256=offer.sha256,
            url=f"http://{server.host}/files/{offer.path.name}",
            size=len(offer.content),
            upload_time="2024-01-01T00:00:00.000000Z",
        ),
        requires=(Edge("demo-socket", "<3,>=2"), Edge("demo-speedups", ">=1", extra="fast")),
        extras=("fast",),
        index=server.url,
    )


def test_the_html_form_says_the_same_except_for_sizes_and_times(tmp_path: Path, server: IndexServer) -> None:
    with _open(tmp_path / "json", server.url) as index:
        by_json = index.fetch(Need(candidates=(("demo-transport", "1.3.0"),)))
    server.shape = Shape(json=False)
    with _open(tmp_path / "html", server.url) as index:
        by_html = index.fetch(Need(candidates=(("demo-transport", "1.3.0"),)))
    expected = by_json.candidate("demo-transport", "1.3.0")
    assert expected is not None
    assert by_html.pages["demo-transport"] == by_json.pages["demo-transport"]._replace(uploaded=())
    assert by_html.candidate("demo-transport", "1.3.0") == expected._replace(
        artifact=expected.artifact._replace(upload_time="")
    )


def test_a_package_that_no_index_has_is_an_empty_page(tmp_path: Path, server: IndexServer) -> None:
    with _open(tmp_path, server.url) as index:
        facts = index.fetch(Need(pages=("nowhere",)))
    assert facts.pages["nowhere"] == Page("nowhere", ())


def test_the_recipe_holds_what_its_packages_are_for(tmp_path: Path, server: IndexServer) -> None:
    names = ("dawnpress", "embryo", "rawhide", "rustbolt", "snakecap", "winonly")
    with _open(tmp_path, server.url) as index:
        facts = index.fetch(Need(pages=names))
    assert {name: (facts.pages[name].versions, dict(facts.pages[name].excluded)) for name in names} == {
        "dawnpress": (("0.28.1", "1.0.dev1", "1.0.dev3"), {}),
        "embryo": (("0.1a1", "0.1a2"), {}),
        "rawhide": (("1.0",), {0: Exclusion("build-needs-consent", "only a source distribution exists")}),
        "rustbolt": (("1.0", "1.1"), {1: Exclusion("yanked-only", "loses screws")}),
        "snakecap": (("3.3", "4.0"), {1: Exclusion("python-version", ">=3.5,<3.10")}),
        "winonly": (("1.0",), {0: Exclusion("no-wheel", "wheels are for cp311, cp312 on win_amd64")}),
    }


def test_what_a_question_leads_to_is_known_after_one_call(tmp_path: Path, server: IndexServer) -> None:
    question = _question("demo-transport[fast]>=1", "lanternkit<2.1")
    with _open(tmp_path, server.url) as index:
        facts = index.fetch(Need(pages=("demo-transport", "lanternkit")), question)
    known = {(name, version) for name in facts.candidates for version in facts.candidates[name]}
    assert known == {
        ("demo-socket", "2.4"),
        ("demo-speedups", "1.1"),
        ("demo-transport", "1.3.0"),
        ("flintspark", "6.4"),
        ("lanternkit", "2.0"),
        ("wickcore", "1.1"),
    }


def test_a_guess_follows_the_current_lock_before_the_newest_version(tmp_path: Path, server: IndexServer) -> None:
    question = _question("flintspark>=5")._replace(pins={"flintspark": "5.29"})
    with _open(tmp_path, server.url) as index:
        facts = index.fetch(Need(pages=("flintspark",)), question)
    assert list(facts.candidates["flintspark"]) == ["5.29"]


def test_guessing_stops_at_its_limit(tmp_path: Path, server: IndexServer) -> None:
    terms = IndexOptions(limits=_LIMITS._replace(guesses=2))
    with _open(tmp_path, server.url, terms=terms) as index:
        index.fetch(Need(pages=("demo-transport",)), _question("demo-transport"))
    assert len(server.asked) == 3


def test_a_guess_that_fails_is_no_failure(tmp_path: Path, server: IndexServer) -> None:
    server.withdraw("demo-socket")
    with _open(tmp_path, server.url) as index:
        facts = index.fetch(Need(candidates=(("demo-transport", "1.3.0"),)))
    assert facts.candidate("demo-transport", "1.3.0") is not None


def test_an_announced_metadata_file_is_the_only_thing_asked_of_a_wheel(tmp_path: Path, server: IndexServer) -> None:
    server.shape = Shape(announces_metadata=True)
    with _open(tmp_path, server.url) as index:
        index.fetch(Need(candidates=(("flintspark", "7.0"),)))
    assert server.paths() == ["/simple/flintspark/", "/files/flintspark-7.0-py3-none-any.whl.metadata"]


def test_without_announcement_the_end_of_the_wheel_is_read_by_one_range(tmp_path: Path, server: IndexServer) -> None:
    with _open(tmp_path, server.url) as index:
        index.fetch(Need(candidates=(("flintspark", "7.0"),)))
    wheel = server.asked[-1]
    assert (server.paths(), wheel.headers["range"].startswith("bytes=0-")) == (
        ["/simple/flintspark/", "/files/flintspark-7.0-py3-none-any.whl"],
        True,
    )


def test_a_large_wheel_is_read_in_parts_and_never_whole(tmp_path: Path, server: IndexServer) -> None:
    noise = {f"large/part{number}.txt": os.urandom(50_000).hex() for number in range(8)}
    server.offer(Distribution("large", "1.0", requires=["demo-colors>=1"], files=noise))
    server.shape = Shape(json=False)  # and so without a size
    with _open(tmp_path, server.url) as index:
        facts = index.fetch(Need(candidates=(("large", "1.0"),)))
    candidate = facts.candidate("large", "1.0")
    assert candidate is not None
    assert (candidate.requires, candidate.artifact.size) == (
        (Edge("demo-colors", ">=1"),),
        len(server.offers[-1].content),
    )
    assert [asked.headers.get("range") for asked in server.asked if "large-" in asked.path] == ["bytes=-65536"]


def test_a_wheel_whose_metadata_stands_at_its_beginning_takes_a_second_range(
    tmp_path: Path, server: IndexServer
) -> None:
    from zipfile import ZIP_STORED, ZipFile, ZipInfo

    server.offer(Distribution("turned", "1.0", requires=["demo-colors>=1"]))
    wheel = server.offers[-1].path
    with ZipFile(wheel) as archive:
        members = {
            name: archive.read(name) for name in sorted(archive.namelist(), key=lambda name: "METADATA" not in name)
        }
    with ZipFile(wheel, "w") as archive:
        for name, content in {**members, "turned.bin": os.urandom(200_000)}.items():
            archive.writestr(ZipInfo(name), content, ZIP_STORED)
    with _open(tmp_path, server.url) as index:
        facts = index.fetch(Need(candidates=(("turned", "1.0"),)))
    candidate = facts.candidate("turned", "1.0")
    assert candidate is not None
    assert (candidate.requires, len(server.paths("*turned-*"))) == ((Edge("demo-colors", ">=1"),), 2)


def test_a_server_without_ranges_is_asked_for_metadata_files_that_it_does_not_announce(
    tmp_path: Path, server: IndexServer
) -> None:
    server.shape = Shape(ranges=False)
    with _open(tmp_path, server.url) as index:
        index.fetch(Need(candidates=(("flintspark", "6.4"),)))
        index.fetch(Need(candidates=(("flintspark", "7.0"),)))
    assert server.paths("/files/*") == [
        "/files/flintspark-6.4-py3-none-any.whl",
        "/files/flintspark-6.4-py3-none-any.whl.metadata",
        "/files/flintspark-7.0-py3-none-any.whl.metadata",
    ]


def test_a_server_without_ranges_and_metadata_files_sends_whole_wheels(tmp_path: Path, server: IndexServer) -> None:
    server.shape = Shape(ranges=False, serves_metadata=False)
    with _open(tmp_path, server.url) as index:
        index.fetch(Need(candidates=(("flintspark", "6.4"),)))
        facts = index.fetch(Need(candidates=(("flintspark", "7.0"),)))
    assert server.paths("/files/*7.0*") == ["/files/flintspark-7.0-py3-none-any.whl"]
    assert facts.candidate("flintspark", "7.0") is not None


def test_an_index_without_digests_has_them_learnt_from_the_files(tmp_path: Path, server: IndexServer) -> None:
    server.shape = Shape(json=False, hashes=False)
    with _open(tmp_path, server.url) as index:
        facts = index.fetch(Need(candidates=(("flintspark", "7.0"),)))
    offer = next(offer for offer in server.offers if offer.path.name == "flintspark-7.0-py3-none-any.whl")
    candidate = facts.candidate("flintspark", "7.0")
    assert candidate is not None
    assert (candidate.artifact.sha256, candidate.artifact.size) == (offer.sha256, len(offer.content))


def test_metadata_that_only_itself_excludes_the_target_puts_the_version_out(
    tmp_path: Path, server: IndexServer
) -> None:
    metadata = "Metadata-Version: 2.1\nName: quiet\nVersion: 1.0\nRequires-Python: <3.9\n\n"
    server.offer(Distribution("quiet", "1.0", metadata=metadata))
    with _open(tmp_path, server.url) as index:
        index.fetch(Need(candidates=(("quiet", "1.0"),)))
    with _open(tmp_path, server.url) as index:
        facts = index.facts
    candidate = facts.candidate("quiet", "1.0")
    assert candidate is not None
    assert (dict(facts.pages["quiet"].excluded), candidate.invalid) == (
        {0: Exclusion("python-version", "<3.9")},
        "it is for Python <3.9",
    )


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ("Metadata-Version: 2.1\nName: odd\nVersion: 2.0\n\n", "its metadata says that it is `odd 2.0`"),
        (
            "Metadata-Version: 2.1\nName: odd\nVersion: 1.0\nRequires-Dist: pyarrow (<2.0de)\n\n",
            "its requirement `pyarrow (<2.0de)` cannot be read",
        ),
    ],
)
def test_a_candidate_that_cannot_be_read_says_why(
    tmp_path: Path, server: IndexServer, metadata: str, expected: str
) -> None:
    server.offer(Distribution("odd", "1.0", metadata=metadata))
    with _open(tmp_path, server.url) as index:
        candidate = index.fetch(Need(candidates=(("odd", "1.0"),))).candidate("odd", "1.0")
    assert candidate is not None
    assert candidate.invalid == expected


def test_a_candidate_that_does_not_exist_is_invalid_and_not_an_error(tmp_path: Path, server: IndexServer) -> None:
    with _open(tmp_path, server.url) as index:
        facts = index.fetch(Need(candidates=(("winonly", "1.0"), ("winonly", "9.9"))))
    invalid = {version: facts.candidates["winonly"][version].invalid for version in ("1.0", "9.9")}
    assert invalid == {
        "1.0": "no-wheel: wheels are for cp311, cp312 on win_amd64",
        "9.9": "no source has this version",
    }


def test_the_next_process_asks_nothing(tmp_path: Path, server: IndexServer) -> None:
    need = Need(pages=("demo-colors",), candidates=(("demo-colors", "2.0"),))
    with _open(tmp_path, server.url) as index:
        expected = index.fetch(need)
    before = len(server.asked)
    with _open(tmp_path, server.url) as index:
        known = index.facts
        assert (known.pages["demo-colors"], known.candidate("demo-colors", "2.0")) == (
            expected.pages["demo-colors"],
            expected.candidate("demo-colors", "2.0"),
        )
        assert index.refresh() is False
    assert len(server.asked) == before


def test_two_clients_lose_nothing_of_each_other(tmp_path: Path, server: IndexServer) -> None:
    with _open(tmp_path, server.url) as one, _open(tmp_path, server.url) as other:
        one.fetch(Need(candidates=(("demo-colors", "1.0"),)))
        other.fetch(Need(candidates=(("demo-colors", "2.0"), ("flintspark", "7.0"))))
        one.fetch(Need(candidates=(("demo-colors", "1.2"),)))
    with _open(tmp_path, server.url) as index:
        known = index.facts
    assert {name: sorted(known.candidates[name]) for name in known.candidates} == {
        "demo-colors": ["1.0", "1.2", "2.0"],
        "flintspark": ["7.0"],
    }


def test_facts_that_were_handed_out_do_not_change(tmp_path: Path, server: IndexServer) -> None:
    with _open(tmp_path, server.url) as index:
        before = index.facts
        index.fetch(Need(pages=("demo-colors",)))
        after = index.facts
    assert ("demo-colors" in before.pages, "demo-colors" in after.pages) == (False, True)


def _let_time_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    import time

    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + FRESH + 1)


def test_only_pages_that_were_looked_at_become_stale(
    tmp_path: Path, server: IndexServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with _open(tmp_path, server.url) as index:
        index.fetch(Need(pages=("demo-colors", "flintspark")))
    with _open(tmp_path, server.url) as index:
        assert index.facts.pages["demo-colors"].versions[-1] == "2.0"
        fresh = index.stale()
        _let_time_pass(monkeypatch)
        assert (fresh, index.stale(), index.stale(["flintspark"])) == ((), ("demo-colors",), ("flintspark",))


@pytest.mark.parametrize("shape", [Shape(), Shape(etags=True)], ids=["without-etag", "with-etag"])
def test_a_stale_page_that_is_still_the_same_changes_nothing(
    tmp_path: Path, server: IndexServer, monkeypatch: pytest.MonkeyPatch, shape: Shape
) -> None:
    server.shape = shape
    with _open(tmp_path, server.url) as index:
        index.fetch(Need(candidates=(("demo-colors", "2.0"),)))
        assert index.facts.pages["demo-colors"].versions[-1] == "2.0"
        _let_time_pass(monkeypatch)
        before = len(server.asked)
        assert (index.refresh(), index.stale()) == (False, ())
        assert index.facts.candidate("demo-colors", "2.0") is not None
    assert len(server.asked) == before + 1


def test_a_page_with_an_etag_is_not_sent_again(
    tmp_path: Path, server: IndexServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.shape = Shape(etags=True)
    with _open(tmp_path, server.url) as index:
        index.fetch(Need(pages=("demo-colors",)))
        _let_time_pass(monkeypatch)
        index.refresh(["demo-colors"])
    assert "if-none-match" in server.asked[-1].headers


def test_a_new_version_is_a_change(tmp_path: Path, server: IndexServer, monkeypatch: pytest.MonkeyPatch) -> None:
    with _open(tmp_path, server.url) as index:
        index.fetch(Need(pages=("demo-colors",)))
        assert index.facts.pages["demo-colors"].versions[-1] == "2.0"
        server.offer(Distribution("demo-colors", "3.0"))
        _let_time_pass(monkeypatch)
        assert index.refresh() is True
        assert index.facts.pages["demo-colors"].versions[-1] == "3.0"


def test_a_candidate_whose_file_was_replaced_is_dropped(
    tmp_path: Path, server: IndexServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case hash-mismatch-05."""
    with _open(tmp_path, server.url) as index:
        index.fetch(Need(candidates=(("demo-colors", "1.0"), ("demo-colors", "2.0"))))
        assert "demo-colors" in index.facts.pages
        server.offer(Distribution("demo-colors", "2.0", requires=["flintspark"]))
        _let_time_pass(monkeypatch)
        changed = index.refresh(["demo-colors"])
        known = index.facts
    assert (changed, list(known.candidates["demo-colors"])) == (True, ["1.0"])


def test_the_first_index_that_knows_a_name_has_it(tmp_path: Path, server: IndexServer) -> None:
    """Case private-index-proxy-01."""
    own = IndexServer(tmp_path / "own", [Distribution("demo-colors", "1.1")])
    with own, _open(tmp_path, own.url, server.url) as index:
        facts = index.fetch(Need(pages=("demo-colors", "flintspark")))
    assert (facts.pages["demo-colors"].versions, facts.pages["flintspark"].versions) == (
        ("1.1",),
        ("5.29", "6.4", "7.0"),
    )


def test_an_index_that_is_laid_out_as_files_is_read_offline_too(tmp_path: Path) -> None:
    root = write_index(tmp_path / "mirror ü", read_recipe(DEFAULT_RECIPE))
    terms = IndexOptions(offline=True, limits=_LIMITS)
    with _open(tmp_path, root.as_uri(), terms=terms) as index:
        facts = index.fetch(Need(candidates=(("demo-transport", "1.3.0"), ("rustbolt", "1.1"))))
    candidate = facts.candidate("demo-transport", "1.3.0")
    assert candidate is not None
    assert (candidate.artifact.url, candidate.index, dict(facts.pages["rustbolt"].excluded)) == (
        "",
        "",
        {1: Exclusion("yanked-only", "loses screws")},
    )


def test_a_file_of_a_local_index_that_is_not_what_the_index_says_is_not_believed(tmp_path: Path) -> None:
    root = write_index(tmp_path / "mirror", [Distribution("demo-colors", "1.0")])
    wheel = tmp_path / "mirror" / "files" / "demo_colors-1.0-py3-none-any.whl"
    wheel.write_bytes(wheel.read_bytes() + b"more")
    with _open(tmp_path, root.as_uri()) as index, pytest.raises(PmError) as caught:
        index.fetch(Need(candidates=(("demo-colors", "1.0"),)))
    assert caught.value.code == "hash-mismatch"


def test_offline_what_is_known_is_used_at_any_age(
    tmp_path: Path, server: IndexServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with _open(tmp_path, server.url) as index:
        index.fetch(Need(pages=("demo-colors",)))
    _let_time_pass(monkeypatch)
    before = len(server.asked)
    with _open(tmp_path, server.url, terms=IndexOptions(offline=True)) as index:
        versions = index.facts.pages["demo-colors"].versions
        assert (versions, index.stale(), index.refresh()) == (("1.0", "1.2", "2.0"), (), False)
    assert len(server.asked) == before


def test_offline_what_is_not_known_is_named_and_no_question_is_asked(tmp_path: Path, server: IndexServer) -> None:
    """Case index-outage-01."""
    with _open(tmp_path, server.url) as index:
        index.fetch(Need(pages=("demo-colors",)))
    before = len(server.asked)
    with _open(tmp_path, server.url, terms=IndexOptions(offline=True)) as index, pytest.raises(PmError) as caught:
        index.fetch(Need(pages=("flintspark", "demo-colors"), candidates=(("demo-colors", "2.0"),)))
    assert (caught.value.code, caught.value.message, caught.value.hint, len(server.asked)) == (
        "offline",
        "`--offline` forbids to ask an index, and the cache knows nothing of `flintspark`, `demo-colors 2.0`",
        "ask once without `--offline`, or put the wheels into a folder and name it in `pm.find_links`",
        before,
    )


def test_a_damaged_cache_is_asked_for_again(tmp_path: Path, server: IndexServer) -> None:
    with _open(tmp_path, server.url) as index:
        index.fetch(Need(candidates=(("demo-colors", "2.0"),)))
    file = next((tmp_path / "cache" / "facts").iterdir())
    content = file.read_bytes()
    file.write_bytes(content[: len(content) - 20])
    with _open(tmp_path, server.url) as index:
        facts = index.fetch(Need(candidates=(("demo-colors", "1.0"),)))
    assert sorted(facts.candidates["demo-colors"]) == ["1.0"]


def test_a_cache_that_cannot_be_written_is_a_warning(tmp_path: Path, server: IndexServer) -> None:
    (tmp_path / "cache").write_text("in the way")
    with _open(tmp_path, server.url) as index:
        facts = index.fetch(Need(pages=("demo-colors",)))
        codes = [warning.code for warning in index.warnings]
    assert (facts.pages["demo-colors"].versions, codes) == (("1.0", "1.2", "2.0"), ["cache-not-written"])


def test_what_is_fetched_is_reported(tmp_path: Path, server: IndexServer) -> None:
    seen: list[tuple[int, ...]] = []
    with _open(
        tmp_path, server.url, terms=IndexOptions(limits=_LIMITS, report=lambda step: seen.append(tuple(step)))
    ) as index:
        index.fetch(Need(candidates=(("demo-colors", "2.0"),)))
    assert seen == [(1, 0, 1), (1, 1, 0)]


def test_uv_finds_on_the_fixture_index_what_we_find(tmp_path: Path, server: IndexServer) -> None:
    command = [find_uv_bin(), "pip", "compile", "--quiet", "--no-config", "--no-header", "--no-annotate", "-"]
    options = ["--default-index", server.url, "--cache-dir", str(tmp_path / "uv"), "--python", sys.executable]
    roots = ["demo-transport[fast]", "lanternkit", "PyYAML>=6.0.2,<7"]
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    done = subprocess.run(
        [*command, *options], env=environ, input="\n".join(roots), capture_output=True, text=True, check=True
    )
    with _open(tmp_path, server.url) as index:
        facts = index.fetch(Need(pages=("demo-transport", "lanternkit", "pyyaml")), _question(*roots))
    known = {f"{name}=={version}" for name in facts.candidates for version in facts.candidates[name]}
    assert set(done.stdout.splitlines()) == known


def test_an_index_that_says_not_modified_unasked_has_said_nothing(tmp_path: Path) -> None:
    """What another index said is no answer of this one."""
    recipe = read_recipe(DEFAULT_RECIPE)
    with IndexServer(tmp_path / "first") as first, IndexServer(tmp_path / "second", recipe) as second:
        sources = Sources(indexes=(index_address(first.url), index_address(second.url)))
        limits = Limits(attempts=1, pause=0.01)
        with open_index(tmp_path / "cache", LINUX_311, sources, IndexOptions(limits=limits)) as index:
            index.fetch(Need(pages=("demo-colors",)))
        first.faults = [Fault("/simple/demo-colors/", "status", times=-1, status=304)]
        options = IndexOptions(limits=limits, refresh=True)
        with open_index(tmp_path / "cache", LINUX_311, sources, options) as index, pytest.raises(PmError) as caught:
            index.fetch(Need(pages=("demo-colors",)))
    assert (caught.value.code, "it answered 304" in caught.value.message) == ("index-unreachable", True)
