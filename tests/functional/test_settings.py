"""Every setting that is documented does something, or is an error that says that it does not: none is only accepted."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from fixtures.homes import Home, new_home
from fixtures.server import IndexServer, Shape
from fixtures.wheels import Distribution
from pm.config.settings import IndexSetting, Settings

FILES = (Path(__file__).parents[2] / "docs" / "reference" / "files.md").read_text(encoding="utf-8")


class World(NamedTuple):
    """A home, and what its settings can name."""

    home: Home
    server: IndexServer
    other: IndexServer
    """A second index, which has another release of `demo-colors` and asks for a login."""
    wheels: Path

    def setting(self, *lines: str) -> World:
        """Return the world with these lines below `pm:`, and no folder of wheels but one that they name."""
        named = {"URL": self.server.url, "OTHER": self.other.url, "LOGIN": _with_login(self.other.url)}
        empty = [] if any("find_links" in line for line in lines) else [f"find_links: [{self.home.user}/no-wheels]"]
        text = "".join(f"  {line}\n" for line in (*lines, *empty))
        text = re.sub(r"\b(URL|OTHER|LOGIN)\b", lambda found: named[found[0]], text)
        self.home.config.write_text("pm:\n" + text.replace("WHEELS", str(self.wheels)), encoding="utf-8")
        return self

    def checks(self, *requirements: str, **environ: str) -> str:
        """Return what is said of a plugin with these requirements."""
        answer = self.home.ask("plugins", "check", self.home.plugin("ash", *requirements), **environ)
        codes = (reason["code"] for reason in answer.value["reasons"])
        changes = (change for change in answer.changes if not change.startswith(("+pyyaml", "+hermes")))
        return " ".join((answer.value["outcome"], *codes, *changes))

    def checks_address(self) -> str:
        """Return what is said of a plugin that names a wheel by its address."""
        offer = next(offer for offer in self.server.offers if offer.path.name.startswith("demo_colors-1.2"))
        return self.checks(f"demo-colors @ http://{self.server.host}/files/{offer.path.name}#sha256={offer.sha256}")

    def keeps(self) -> str:
        """Return which generations are left after two plugins were installed."""
        for name in ("ash", "birch"):
            assert self.home.install(self.home.plugin(name)).gist == "0 admitted"
        return " ".join(sorted(path.stem for path in self.home.state.glob("generations/[0-9]*.json")))

    def searches(self) -> str:
        """Return the names that the catalog lists."""
        listed = self.home.path / "listed"
        listed.mkdir(exist_ok=True)
        entry = {"name": "acme", "repo": "https://forge.invalid/acme", "sha": "a" * 40}
        (listed / "acme.yaml").write_text(json.dumps(entry))
        answer = self.home.ask("plugins", "search").value
        return ", ".join(row["name"] for row in answer["plugins"]) if "plugins" in answer else "no catalog"

    def runs(self) -> str:
        """Return how a command ends where a plugin is enabled that was not admitted."""
        assert self.home.ask("pm", "init").gist == "0 admitted"
        self.home.plugin("ash").rename(self.home.path / "plugins" / "ash")
        self.home.configure("plugins:\n  enabled: [ash]\n")
        return f"ended with {self.home.say('run', '--', 'true').status}"


def _with_login(url: str) -> str:
    return url.replace("://", "://user:word@")


@pytest.fixture
def world(tmp_path: Path, server: IndexServer, wheels: Path) -> Iterator[World]:
    for name in ("aone", "btwo"):
        server.offer(Distribution(name, "1.0", files={"shared/engine.py": f"whose = '{name}'\n"}))
    home = new_home(tmp_path / "home")
    (home.path / "plugins").mkdir()
    offered = [Distribution("demo-colors", "9.0")]
    with IndexServer(tmp_path / "other", offered, Shape(userinfo="user:word")) as other:
        yield World(home, server, other, wheels)


class Case(NamedTuple):
    """What one setting changes."""

    see: Callable[[World], str]
    given: str
    """The setting."""
    seen: str
    without: str = ""
    """What is seen without it."""
    instead: tuple[str, ...] = ("indexes: [{url: URL}]",)
    """What stands there without it."""


_DEMO, _NINE = "admitted +demo-colors 2.0", "admitted +demo-colors 9.0"
_UNENFORCED = "failed setting-not-enforced"
CASES: dict[str, Case] = {
    "core": Case(
        lambda world: world.checks("demo-colors"), "core: aone==1.0", "admitted +aone 1.0 +demo-colors 2.0", _DEMO
    ),
    "python": Case(lambda world: world.checks("demo-colors"), "python: '3.99'", "failed no-interpreter", _DEMO),
    "exclude_newer": Case(
        lambda world: world.checks("demo-colors"), "exclude_newer: 2001-01-01", "refused quarantined quarantined", _DEMO
    ),
    "allow_build": Case(
        lambda world: world.checks("rawhide"),
        "allow_build: [rawhide]",
        "admitted +rawhide 1.0",
        "refused build-needs-consent",
    ),
    "allow_prerelease": Case(
        lambda world: world.checks("dawnpress>=0.29"),
        "allow_prerelease: [dawnpress]",
        "admitted +dawnpress 1.0.dev3",
        "refused prerelease-only",
    ),
    "allow_collision": Case(
        lambda world: world.checks("aone", "btwo"),
        "allow_collision: [aone]",
        "admitted +aone 1.0 +btwo 1.0",
        "refused file-collision",
    ),
    "allow_direct_urls": Case(
        World.checks_address, "allow_direct_urls: true", "admitted +demo-colors 1.2", "refused direct-url"
    ),
    "keep_generations": Case(World.keeps, "keep_generations: 1", "2", "1 2"),
    "audit": Case(lambda world: world.checks("demo-colors"), "audit: warn", _UNENFORCED, _DEMO),
    "catalog": Case(World.searches, "catalog: listed", "acme", "no catalog"),
    "on_unadmitted": Case(World.runs, "on_unadmitted: stop", "ended with 1", "ended with 0"),
    "indexes": Case(
        lambda world: world.checks("demo-colors"),
        "indexes: [{url: URL}]",
        _DEMO,
        "refused not-found-on-index not-found-on-index",
        ("indexes: []",),
    ),
    "find_links": Case(
        lambda world: world.checks("demo-colors"),
        "find_links: [WHEELS]",
        _DEMO,
        "refused not-found-on-index not-found-on-index",
        ("indexes: []",),
    ),
    "indexes.url": Case(lambda world: world.checks("demo-colors"), "indexes: [{url: LOGIN}, {url: URL}]", _NINE, _DEMO),
    "indexes.name": Case(
        lambda world: world.checks("demo-colors", UV_INDEX_ACME_USERNAME="user", UV_INDEX_ACME_PASSWORD="word"),
        "indexes: [{url: OTHER, name: acme}, {url: URL}]",
        _NINE,
        "failed unauthorized",
        ("indexes: [{url: OTHER}, {url: URL}]",),
    ),
    "indexes.default": Case(
        lambda world: world.checks("demo-colors"),
        "indexes: [{url: URL, default: true}, {url: LOGIN}]",
        _NINE,
        _DEMO,
        ("indexes: [{url: URL}, {url: LOGIN}]",),
    ),
    "indexes.packages": Case(
        lambda world: world.checks("demo-colors"),
        "indexes: [{url: URL}, {url: LOGIN, packages: ['demo-*']}]",
        _NINE,
        _DEMO,
        ("indexes: [{url: URL}, {url: LOGIN}]",),
    ),
}


def test_every_setting_has_a_case_and_its_place_in_the_docs() -> None:
    settings = {*Settings._fields, *(f"indexes.{name}" for name in IndexSetting._fields)}
    section = FILES.partition("### The section `pm:`")[2].partition("\n## ")[0]
    named = set(re.findall(r"`pm\.([a-z_]+)`", section))
    assert CASES.keys() == settings
    assert named == set(Settings._fields)
    assert all(f"`{name}`" in section for name in IndexSetting._fields)


@pytest.mark.parametrize("name", CASES)
def test_a_setting_changes_what_is_seen_or_is_an_error(world: World, name: str) -> None:
    case = CASES[name]
    kept = [line for line in case.instead if not case.given.startswith("indexes:")]
    assert case.see(world.setting(*kept, case.given)) == case.seen


@pytest.mark.parametrize("name", CASES)
def test_without_it_something_else_is_seen(world: World, name: str) -> None:
    case = CASES[name]
    assert (case.see(world.setting(*case.instead)), case.without != case.seen) == (case.without, True)
