"""`packages` of an index: its names come from it alone, whatever another index has under them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from fixtures.homes import Home, new_home
from fixtures.server import IndexServer
from fixtures.wheels import DEFAULT_RECIPE, Distribution, read_recipe

OURS = [Distribution("acme-core", "1.0", requires=("acme-base", "demo-colors")), Distribution("acme-base", "1.0")]
TAKEN_FOR_OURS = [
    Distribution("acme-core", "99.0"),
    Distribution("acme-base", "99.0"),
    Distribution("acme-new", "99.0"),
]


class Indexes(NamedTuple):
    """A home between two indexes; the public one comes first and has newer files under our names."""

    home: Home
    public: IndexServer
    ours: IndexServer

    def setting(self, packages: str) -> None:
        """Write the two indexes with the patterns of ours."""
        (self.home.user / "no-wheels").mkdir(exist_ok=True)
        ours = f"{{name: ours, url: {self.ours.url}{packages and f', packages: {packages}'}}}"
        text = f"  find_links: [{self.home.user}/no-wheels]\n  indexes: [{{url: {self.public.url}}}, {ours}]\n"
        self.home.config.write_text(f"pm:\n{text}")


@pytest.fixture
def indexes(tmp_path: Path) -> Iterator[Indexes]:
    with (
        IndexServer(tmp_path / "public", [*TAKEN_FOR_OURS, *read_recipe(DEFAULT_RECIPE)]) as public,
        IndexServer(tmp_path / "ours", [*OURS, Distribution("demo-colors", "9.0")]) as ours,
    ):
        yield Indexes(new_home(tmp_path / "home"), public, ours)


def test_our_names_come_from_our_index_and_all_others_are_not_asked_of_it(indexes: Indexes) -> None:
    indexes.setting("['acme-*']")
    assert indexes.home.install(indexes.home.plugin("ash", "Acme_Core")).gist == "0 admitted"
    pins = indexes.home.pins
    assert {name: pins[name] for name in ("acme-base", "acme-core", "demo-colors")} == {
        "acme-base": "1.0",
        "acme-core": "1.0",
        "demo-colors": "2.0",
    }
    assert indexes.public.paths("*acme*") == []
    assert [*indexes.ours.paths("*demo*"), *indexes.ours.paths("*pyyaml*")] == []


def test_the_lock_names_the_index_of_each_package(indexes: Indexes) -> None:
    indexes.setting("['acme-*']")
    indexes.home.install(indexes.home.plugin("ash", "acme-core"))
    [lock] = indexes.home.state.rglob("pylock.toml")
    told = {package["name"]: package.get("index") for package in tomllib.loads(lock.read_text())["packages"]}
    assert (told["acme-core"], told["demo-colors"]) == (indexes.ours.url, indexes.public.url)


def test_a_change_of_patterns_is_decided_again(indexes: Indexes) -> None:
    indexes.setting("")
    plugin = indexes.home.plugin("ash", "acme-base")
    assert [change for change in indexes.home.ask("plugins", "check", plugin).changes if "acme" in change] == [
        "+acme-base 99.0"
    ]
    indexes.setting("['acme-*']")
    assert [change for change in indexes.home.ask("plugins", "check", plugin).changes if "acme" in change] == [
        "+acme-base 1.0"
    ]


def test_a_name_of_ours_that_only_another_index_has_is_refused_with_who_was_asked(indexes: Indexes) -> None:
    indexes.setting("['acme-*']")
    answer = indexes.home.install(indexes.home.plugin("ash", "acme-new"))
    [reason] = answer.value["reasons"]
    assert answer.gist == "1 refused not-found-on-index"
    assert reason["message"] == (
        f"no index has a package `acme-new`: the index `ours` (`{indexes.ours.url}`) was asked, and no other, "
        "because `packages` has the name"
    )
    assert indexes.public.paths("*acme*") == []


def test_a_name_that_no_index_knows_is_refused_with_all_that_were_asked(indexes: Indexes) -> None:
    indexes.setting("")
    [reason] = indexes.home.install(indexes.home.plugin("ash", "acme-none")).value["reasons"]
    assert reason["message"] == (
        f"no index has a package `acme-none`: the index `{indexes.public.url}`, "
        f"the index `ours` (`{indexes.ours.url}`) were asked"
    )


def test_a_broken_index_of_ours_is_never_replaced_by_another(indexes: Indexes) -> None:
    indexes.setting("['acme-*']")
    plugin = indexes.home.plugin("ash", "acme-base")
    indexes.ours.__exit__(None, None, None)
    assert indexes.home.install(plugin).gist == "3 failed index-unreachable"


@pytest.mark.parametrize("pattern", ["acme-[ab]*", "acme *", "", "acmé-*", "acme-*,tool"])
def test_a_pattern_that_could_never_match_is_an_error_of_the_config(indexes: Indexes, pattern: str) -> None:
    indexes.setting(f"['{pattern}']")
    answer = indexes.home.install(indexes.home.plugin("ash", "acme-base"))
    [reason] = answer.value["reasons"]
    assert answer.gist == "3 failed config-unreadable"
    assert reason["message"].startswith("`pm.indexes[1].packages` must be a list of names of packages")


def test_where_every_index_has_patterns_what_none_of_them_has_is_said_to_be_asked_of_none(indexes: Indexes) -> None:
    indexes.setting("['acme-*']")
    text = indexes.home.config.read_text().replace(f"{{url: {indexes.public.url}}}, ", "")
    indexes.home.config.write_text(text)
    refused = indexes.home.install(indexes.home.plugin("ash", "acme-core"))
    said = "because each has `packages` and none has the name"
    assert refused.gist == "1 refused not-found-on-index not-found-on-index"
    assert {said in reason["message"] for reason in refused.value["reasons"]} == {True}
    [reason] = indexes.home.ask("pm", "init", "--core", "hermes-agent==0.19.0").value["reasons"]
    assert reason["message"] == f"no index was asked for the core `hermes-agent`, {said}"
    assert reason["hint"] == "add an index without `packages` to `pm.indexes`"
