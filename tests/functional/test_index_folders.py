"""Folders of wheels are sources like an index, and what a lock takes from them is copied into the state."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from admission import Candidate, Exclusion, Need, Page
from fixtures.server import IndexServer
from fixtures.wheels import LINUX_311, Distribution, build_sdist, build_wheels
from lockfiles import Artifact, Edge, Lock, Pin
from pm.errors import PmError
from pm.index import IndexClient, IndexOptions, Limits, open_index
from pm.index.folders import sha256_of
from pm.index.package_sources import Sources, index_address

_LIMITS = Limits(connect=2, read=2, total=5, attempts=2, pause=0.01, guessing=2)


def _open(
    tmp_path: Path, folders: Sequence[Path], *urls: str, offline: bool = False, allow_build: Sequence[str] = ()
) -> IndexClient:
    sources = Sources(indexes=tuple(index_address(url) for url in urls), folders=tuple(folders))
    terms = IndexOptions(
        offline=offline, allow_build=frozenset(allow_build), interpreter=Path(sys.executable), limits=_LIMITS
    )
    return open_index(tmp_path / "cache", LINUX_311, sources, terms)


def _lock_of(candidate: Candidate) -> Lock:
    return Lock(pins=(Pin(candidate.name, candidate.version, candidate.artifact),))


def test_a_folder_alone_is_a_source(tmp_path: Path) -> None:
    folder = tmp_path / "räder und mehr"
    (wheel,) = build_wheels(folder, Distribution("demo", "1.0", requires=["other>=2"], requires_python=">=3.8"))
    build_wheels(folder, Distribution("demo", "2.0", requires_python="<3.9"))
    (folder / "notes.txt").write_text("no distribution")
    with _open(tmp_path, [folder], offline=True) as index:
        facts = index.fetch(Need(pages=("demo", "other"), candidates=(("demo", "1.0"),)))
    digest = sha256_of(wheel)
    assert (facts.pages["demo"], facts.pages["other"], facts.candidate("demo", "1.0")) == (
        Page("demo", ("1.0", "2.0"), {1: Exclusion("python-version", "<3.9")}),
        Page("other", ()),
        Candidate(
            name="demo",
            version="1.0",
            artifact=Artifact(
                filename=wheel.name,
                sha256=digest,
                path=f"../../wheels/{digest[:16]}/{wheel.name}",
                size=wheel.stat().st_size,
            ),
            requires=(Edge("other", ">=2"),),
            requires_python=">=3.8",
        ),
    )


def test_a_folder_that_is_missing_has_no_wheels(tmp_path: Path) -> None:
    with _open(tmp_path, [tmp_path / "missing"]) as index:
        assert index.fetch(Need(pages=("demo",))).pages["demo"] == Page("demo", ())


def test_the_files_of_folder_and_index_are_one_page(tmp_path: Path) -> None:
    build_wheels(tmp_path / "wheels", Distribution("demo", "1.0", requires=["from-folder"]))
    build_wheels(tmp_path / "wheels", Distribution("demo", "3.0"))
    offered = [Distribution("demo", "1.0", requires=["from-index"]), Distribution("demo", "2.0")]
    server = IndexServer(tmp_path / "files", offered)
    with server, _open(tmp_path, [tmp_path / "wheels"], server.url) as index:
        facts = index.fetch(Need(candidates=(("demo", "1.0"), ("demo", "2.0"))))
    known = {version: facts.candidates["demo"][version] for version in ("1.0", "2.0")}
    assert (facts.pages["demo"].versions, known["1.0"].requires, known["1.0"].index, known["2.0"].index) == (
        ("1.0", "2.0", "3.0"),
        (Edge("from-folder"),),
        "",
        server.url,
    )


@pytest.mark.parametrize("offline", [False, True])
def test_a_wheel_that_came_or_went_since_is_noticed_without_asking_the_index(tmp_path: Path, *, offline: bool) -> None:
    folder = tmp_path / "wheels"
    build_wheels(folder, Distribution("demo", "1.0"))
    with IndexServer(tmp_path / "files", [Distribution("demo", "2.0"), Distribution("other", "1.0")]) as server:
        with _open(tmp_path, [folder], server.url) as index:
            index.fetch(Need(pages=("demo", "other")))
        (folder / "demo-1.0-py3-none-any.whl").unlink()
        build_wheels(folder, Distribution("demo", "3.0"))
        with _open(tmp_path, [folder], server.url, offline=offline) as index:
            known = ("demo" in index.facts.pages, "other" in index.facts.pages)
            facts = index.fetch(Need(pages=("demo",)))
    assert (known, facts.pages["demo"].versions) == ((False, True), ("2.0", "3.0"))


def test_a_candidate_of_a_wheel_that_was_replaced_is_read_again(tmp_path: Path) -> None:
    folder = tmp_path / "wheels"
    build_wheels(folder, Distribution("demo", "1.0", requires=["one"]))
    with _open(tmp_path, [folder]) as index:
        index.fetch(Need(candidates=(("demo", "1.0"),)))
    build_wheels(folder, Distribution("demo", "1.0", requires=["another-one"]))
    with _open(tmp_path, [folder]) as index:
        before = "demo" in index.facts.pages
        candidate = index.fetch(Need(candidates=(("demo", "1.0"),))).candidate("demo", "1.0")
    assert candidate is not None
    assert (before, candidate.requires) == (False, (Edge("another-one"),))


def test_offline_a_page_of_folders_alone_is_said_to_be_partial(tmp_path: Path) -> None:
    build_wheels(tmp_path / "wheels", Distribution("demo", "1.0"))
    with _open(tmp_path, [tmp_path / "wheels"], "http://index.invalid/simple", offline=True) as index:
        versions = index.fetch(Need(pages=("demo",))).pages["demo"].versions
        assert (versions, index.partial) == (("1.0",), ("demo",))


def test_a_wheel_that_is_none_is_an_invalid_candidate(tmp_path: Path) -> None:
    folder = tmp_path / "wheels"
    folder.mkdir()
    (folder / "demo-1.0-py3-none-any.whl").write_bytes(b"PK is not enough")
    with _open(tmp_path, [folder]) as index:
        candidate = index.fetch(Need(candidates=(("demo", "1.0"),))).candidate("demo", "1.0")
    assert candidate is not None
    assert candidate.invalid == "it is not a readable wheel"


def test_a_wheel_that_a_lock_names_is_copied_once_and_verified(tmp_path: Path) -> None:
    folder, wheels = tmp_path / "räder", tmp_path / "state" / "wheels"
    (source,) = build_wheels(folder, Distribution("demo", "1.0"))
    with _open(tmp_path, [folder]) as index:
        candidate = index.fetch(Need(candidates=(("demo", "1.0"),))).candidate("demo", "1.0")
        assert candidate is not None
        kept = index.adopt(_lock_of(candidate), wheels)
        shutil.rmtree(folder)
        again = index.adopt(_lock_of(candidate), wheels)
    expected = wheels / candidate.artifact.sha256[:16] / source.name
    assert (kept, again, sha256_of(expected)) == ((expected,), (expected,), candidate.artifact.sha256)
    assert [path.name for path in wheels.rglob("*") if path.is_file()] == [source.name]


def test_a_wheel_that_changed_since_it_was_decided_on_is_not_copied(tmp_path: Path) -> None:
    folder, wheels = tmp_path / "wheels", tmp_path / "state"
    build_wheels(folder, Distribution("demo", "1.0"))
    with _open(tmp_path, [folder]) as index:
        candidate = index.fetch(Need(candidates=(("demo", "1.0"),))).candidate("demo", "1.0")
        assert candidate is not None
        build_wheels(folder, Distribution("demo", "1.0", requires=["more"]))
        with pytest.raises(PmError) as caught:
            index.adopt(_lock_of(candidate), wheels)
    assert caught.value.code == "hash-mismatch"
    assert [path for path in wheels.rglob("*") if path.is_file()] == []


def test_a_damaged_copy_in_the_state_is_replaced(tmp_path: Path) -> None:
    folder, wheels = tmp_path / "wheels", tmp_path / "state"
    build_wheels(folder, Distribution("demo", "1.0"))
    with _open(tmp_path, [folder]) as index:
        candidate = index.fetch(Need(candidates=(("demo", "1.0"),))).candidate("demo", "1.0")
        assert candidate is not None
        (kept,) = index.adopt(_lock_of(candidate), wheels)
        kept.write_bytes(b"damaged")
        index.adopt(_lock_of(candidate), wheels)
    assert sha256_of(kept) == candidate.artifact.sha256


def test_a_source_distribution_is_built_only_with_consent(tmp_path: Path) -> None:
    folder = tmp_path / "wheels"
    build_sdist(folder, Distribution("rawhide", "1.0", tags=(), requires=["demo>=1"]))
    with _open(tmp_path, [folder]) as index:
        refused = index.fetch(Need(pages=("rawhide",)))
    with _open(tmp_path, [folder], allow_build=["rawhide"]) as index:
        allowed = index.facts.pages["rawhide"]
        candidate = index.fetch(Need(candidates=(("rawhide", "1.0"),))).candidate("rawhide", "1.0")
        assert candidate is not None
        (kept,) = index.adopt(_lock_of(candidate), tmp_path / "state")
    with _open(tmp_path, [folder]) as index:
        withdrawn = dict(index.facts.pages["rawhide"].excluded)
    out = {0: Exclusion("build-needs-consent", "only a source distribution exists")}
    assert (dict(refused.pages["rawhide"].excluded), dict(allowed.excluded), withdrawn) == (out, {}, out)
    assert (candidate.requires, candidate.artifact.path, kept.name) == (
        (Edge("demo", ">=1"),),
        f"../../wheels/{sha256_of(kept)[:16]}/rawhide-1.0-py3-none-any.whl",
        "rawhide-1.0-py3-none-any.whl",
    )


def test_nothing_is_built_on_a_guess(tmp_path: Path) -> None:
    server = IndexServer(tmp_path / "files", [Distribution("top", "1.0", requires=["rawhide"])])
    server.offer(Distribution("rawhide", "1.0", tags=(), sdist=True))
    with server, _open(tmp_path, [], server.url, allow_build=["rawhide"]) as index:
        facts = index.fetch(Need(candidates=(("top", "1.0"),)))
    assert ("rawhide" in facts.pages, "rawhide" in facts.candidates, (tmp_path / "cache" / "built").exists()) == (
        True,
        False,
        False,
    )


def test_a_source_distribution_of_an_index_is_built_once_for_all_caches_of_facts(tmp_path: Path) -> None:
    need = Need(candidates=(("rawhide", "1.0"),))
    with IndexServer(tmp_path / "files", [Distribution("rawhide", "1.0", tags=(), sdist=True)]) as server:
        with _open(tmp_path, [], server.url, allow_build=["rawhide"]) as index:
            first = index.fetch(need).candidate("rawhide", "1.0")
        shutil.rmtree(tmp_path / "cache" / "facts")
        with _open(tmp_path, [], server.url, allow_build=["rawhide"]) as index:
            second = index.fetch(need).candidate("rawhide", "1.0")
    assert first is not None
    assert (second, first.index, len(list((tmp_path / "cache" / "built").rglob("*.whl")))) == (first, "", 1)


def test_a_build_that_fails_says_how_it_ended(tmp_path: Path) -> None:
    folder = tmp_path / "wheels"
    build_sdist(folder, Distribution("rawhide", "1.0", tags=(), buildable=False))
    with _open(tmp_path, [folder], allow_build=["rawhide"]) as index, pytest.raises(PmError) as caught:
        index.fetch(Need(candidates=(("rawhide", "1.0"),)))
    assert (caught.value.code, "error: the flux compiler is not installed" in caught.value.message) == (
        "build-failed",
        True,
    )
