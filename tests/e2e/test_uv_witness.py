"""uv, which shares no code with us, comes to the same verdict on every set but where a table says why it does not.

The kinds of differences are explained in docs/explanation/differences-to-uv.md.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from fixtures.server import IndexServer
from fixtures.wheels import DEFAULT_RECIPE, Distribution, read_recipe
from fixtures.witness import (
    CORPUS,
    Draw,
    Judges,
    Plugin,
    compared,
    compared_at_random,
    corpus_plugins,
    lightest,
    published_cores,
)

DIFFERENCES = {
    # -- addresses: an address is refused before anything is resolved; uv was asked about the package of that name
    "repo-magnus919-hermes-cashew": "refused direct-url(), uv: admitted",
    "catalog-cashew": "refused direct-url(), uv: admitted",
    "repo-t3-venture-labs-limited-myah-hermes-plugin": "refused direct-url(), uv: admitted",
}
"""Plugins seen in the field that are judged differently, each alone beside the newest core."""

RANDOM_DIFFERENCES = {
    # -- its wheel's metadata says 0.7.6: uv does not install it either
    "set 130 with tabulate==0.7.6b0": "refused no-matching-version(tabulate), uv: admitted",
}
"""Random sets that are judged differently."""

SMALL_DIFFERENCES = {
    # -- pre-releases: uv takes one where nothing else is left, we ask
    "dawnpress>=0.29": "refused prerelease-only(dawnpress), uv: admitted",
    "dawnpress==1.*": "refused prerelease-only(dawnpress), uv: admitted",
    "dawnpress>0.28.1": "refused prerelease-only(dawnpress), uv: admitted",
    "dawnpress!=0.28.1": "refused prerelease-only(dawnpress), uv: admitted",
    "leads-to-prereleases": "refused prerelease-only(dawnpress), uv: admitted",
    "names-a-prerelease": "refused prerelease-only(dawnpress), uv: admitted",
    # -- yanked releases: for uv only the plugin's own pin counts
    "pins-a-yanked-one": "admitted, uv: refused",
    # -- upper bounds of Requires-Python: uv ignores them
    "capped>=2": "refused python-version(capped), uv: admitted",
    # -- addresses: uv fails at the first release that names one, we go on to the next
    "names-an-address": "admitted, uv: refused",
    # -- arbitrary equality: the standard compares texts, uv versions
    "demo-colors===2.00": "refused no-matching-version(demo-colors), uv: admitted",
    # -- metadata of a later standard: we do not guess what it means
    "written-later": "refused no-matching-version(written-later), uv: admitted",
    # -- metadata of another version than the file's name says: uv refuses that when it installs, we when we decide
    "mislabelled==1.0b0": "refused no-matching-version(mislabelled), uv: admitted",
    # -- files: uv looks at requirements only
    "one-path other-path": "refused file-collision(one-path), uv: admitted",
    "hides-the-host": "refused module-shadowing(hides-the-host), uv: admitted",
    # -- extras of the core: what is not installed with it is refused, and uv warns
    "demo-host[extra]": "refused unknown-extra(demo-host), uv: admitted",
}
"""Small worlds that show a difference of each kind: what a plugin requires → both verdicts."""

ALIKE = (
    "demo-colors", "demo-colors[no-such-extra]", "demo-colors>=3", "nowhere",
    "dawnpress", "dawnpress>=1.0.dev1", "dawnpress<1.0.dev3,>=1.0.dev1", "dawnpress>=1.0", "embryo", "embryo>=0.1",
    "pins-a-prerelease", "rustbolt", "rustbolt==1.1", "rustbolt>=1.1", "rustbolt~=1.1", "leads-to-a-yanked-one",
    "capped", "raised>=2", "raised", "winonly", "rawhide", "local", "local==1.0", "local==1.0+cpu", "local===1.0",
    "names-an-address==1.0", "legacy-wildcard", "legacy-parentheses", "unreadable", "misnamed", "mislabelled",
    "demo-host>=2", "demo-host<2", "needs-another-host", "needs-the-host",
    "pins-itself", "circle", "lanternkit flintspark>=7", "lanternkit flintspark<7", "oldscribe",
)  # fmt: skip
"""What a plugin requires, and both say the same."""

INSTANT = "2026-11-01T00:00:00Z"
"""Nothing that was published later counts for either: what they say now they say tomorrow."""
needs_corpus = pytest.mark.skipif(
    not CORPUS.exists(), reason="the corpus of declarations is not part of the repository"
)


def small_index() -> list[Distribution]:
    """Return packages that each show one thing."""
    return [
        *read_recipe(DEFAULT_RECIPE),
        Distribution("demo-host", "1.0"),
        Distribution("leads-to-prereleases", "1.0", requires=["dawnpress>=0.29"]),
        Distribution("names-a-prerelease", "1.0", requires=["dawnpress>=1.0.dev1"]),
        Distribution("pins-a-prerelease", "1.0", requires=["dawnpress==1.0.dev1"]),
        Distribution("pins-a-yanked-one", "1.0", requires=["rustbolt==1.1"]),
        Distribution("leads-to-a-yanked-one", "1.0", requires=["rustbolt>=1.1"]),
        Distribution("capped", "1.0"),
        Distribution("capped", "2.0", requires_python=">=3.8,<3.10"),
        Distribution("raised", "1.0"),
        Distribution("raised", "2.0", requires_python=">=3.40"),
        Distribution("names-an-address", "0.9"),
        Distribution("names-an-address", "1.0", requires=["demo-colors @ https://127.0.0.1/demo_colors-1.0.tar.gz"]),
        Distribution("written-later", "1.0", metadata="Metadata-Version: 3.0\nName: written-later\nVersion: 1.0\n\n"),
        Distribution("misnamed", "1.0", metadata="Metadata-Version: 2.1\nName: another\nVersion: 1.0\n\n"),
        Distribution("mislabelled", "0.9"),
        Distribution("mislabelled", "1.0b0", metadata="Metadata-Version: 2.1\nName: mislabelled\nVersion: 1.0\n\n"),
        Distribution("legacy-wildcard", "1.0", requires=["demo-colors >=1.0.*"]),
        Distribution("legacy-parentheses", "1.0", requires=["demo-colors (>=1.0,<=2.*)"]),
        Distribution("unreadable", "1.0", requires=["demo-colors (<2.0de,>=1.0)"]),
        Distribution("local", "1.0"),
        Distribution("local", "1.0+cpu"),
        Distribution("one-path", "1.0", files={"shared/__init__.py": "one = True\n"}),
        Distribution("other-path", "1.0", files={"shared/__init__.py": "one = False\n"}),
        Distribution("hides-the-host", "1.0", files={"demo_host/__init__.py": ""}),
        Distribution("needs-another-host", "1.0", requires=["demo-host>=2"]),
        Distribution("needs-the-host", "1.0", requires=["demo-host>=0.9"]),
        Distribution("pins-itself", "1.0", requires=["pins-itself==1.0"]),
        Distribution("circle", "1.0", requires=["circle-closes>=1"]),
        Distribution("circle-closes", "1.0", requires=["circle==1.0"]),
    ]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judges]:
    """Return both judges before a small index on loopback."""
    folder = tmp_path_factory.mktemp("small")
    with IndexServer(folder / "files", small_index()) as server:
        settings = f"pm:\n  indexes: [{{url: {json.dumps(server.url)}}}]\n  find_links: [{json.dumps(str(folder))}]\n"
        with Judges(folder / "judges", settings=settings) as judges:
            yield judges


def test_in_small_worlds_uv_says_the_same_but_for_the_differences_of_each_kind(small: Judges) -> None:
    sets = {text: ("demo-host==1.0", [Plugin("ash", tuple(text.split()))]) for text in (*ALIKE, *SMALL_DIFFERENCES)}
    found = compared(small, sets)
    assert found.differences == SMALL_DIFFERENCES
    assert found.sets == len(ALIKE) + len(SMALL_DIFFERENCES)


def test_uv_says_the_same_of_a_plugin_that_is_for_another_python(small: Judges) -> None:
    verdicts = small.hear("demo-host==1.0", [Plugin("ash", ("demo-colors",), requires_python=">=3.40")])
    assert (verdicts.ours, verdicts.uv) == ("refused python-version()", "refused")


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judges]:
    """Return both judges before the configured package index, as it was at an instant."""
    folder = tmp_path_factory.mktemp("real")
    settings = f"pm:\n  find_links: [{json.dumps(str(folder))}]\n"
    with Judges(folder / "judges", settings=settings, exclude_newer=INSTANT) as judges:
        yield judges


@needs_corpus
@pytest.mark.slow
@pytest.mark.real_index
def test_of_every_plugin_alone_uv_says_the_same_but_for_what_is_explained(real: Judges) -> None:
    core = published_cores()[-1]
    found = compared(real, {plugin.key: (core, [plugin]) for plugin in corpus_plugins()})
    assert found.differences == DIFFERENCES
    assert found.sets == len(corpus_plugins())


@needs_corpus
@pytest.mark.slow
@pytest.mark.real_index
def test_of_all_plugins_together_uv_says_the_same(real: Judges) -> None:
    core = published_cores()[-1]
    plugins = [plugin for plugin in corpus_plugins() if plugin.key not in DIFFERENCES]
    fitting = [plugin for plugin in plugins if real.hear(core, [plugin]).uv == "admitted"]
    found = compared(real, {"all": (core, corpus_plugins()), "all that are admitted alone": (core, fitting)})
    assert found.differences == {}
    assert found.refused == 2


@needs_corpus
@pytest.mark.slow
@pytest.mark.real_index
def test_every_published_core_can_be_updated_to_with_the_four_memory_plugins_as_uv_says(real: Judges) -> None:
    names = ("hindsight", "honcho", "mem0", "supermemory")
    keys = {f"bundled-memory-{name}" for name in names}
    plugins = [plugin for plugin in corpus_plugins() if plugin.key in keys]
    found = compared(real, {core: (core, plugins) for core in published_cores()})
    assert found.differences == {}
    assert (found.admitted, len(plugins)) == (len(published_cores()), len(names))


@needs_corpus
@pytest.mark.slow
@pytest.mark.real_index
def test_of_500_random_sets_uv_says_the_same_and_installs_and_checks_ten_of_our_locks(
    real: Judges, tmp_path: Path
) -> None:
    plugins = [plugin for plugin in corpus_plugins() if plugin.key not in DIFFERENCES]
    found = compared_at_random(real, Draw(2026, plugins, published_cores()), 500)
    assert found.differences == RANDOM_DIFFERENCES
    assert found.sets == 500
    assert min(found.admitted, found.refused) > 100, "one of the two verdicts was hardly ever given"
    locks = lightest(found.locks, 10)
    ends = [real.install(lock, tmp_path / str(number)) for number, lock in enumerate(locks)]
    assert [(installed.status, checked.status) for installed, checked in ends] == [(0, 0)] * 10, ends
