"""The real host from the configured index, with its bundled memory providers, as its users run it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from uv import find_uv_bin

from fixtures.homes import UNTOUCHED_BY_REFUSALS, Answer, Home, snapshot
from fixtures.running import as_somebody

pytestmark = [pytest.mark.real_index, pytest.mark.slow]

CORE = "hermes-agent==0.19.0"
PROVIDERS = ("hindsight", "honcho", "mem0", "supermemory")
PACKAGES = ("hindsight-client", "honcho-ai", "mem0ai", "supermemory")

# Asked inside of the generation: what the host believes to be missing, and whether it would install anything.
QUESTION = """
import importlib, json, sys
import mem0
from tools.lazy_deps import LAZY_DEPS, ensure, feature_missing
features = [name for name in sorted(LAZY_DEPS) if name.rpartition(".")[2] in sys.argv[1:]]
missing = {name: list(feature_missing(name)) for name in features}
for name in features:
    ensure(name, prompt=False)
print(json.dumps({"mem0": mem0.__file__, "missing": missing}))
"""

# The host's own installer, which takes uv if it finds one on the PATH, and else makes itself a pip.
INSTALLER = """
import sys
from hermes_cli.tools_config import _pip_install
print(_pip_install(sys.argv[1:2]).returncode)
"""


class Furnished(NamedTuple):
    """A home with the core and its four memory providers, and what switching each of them on gave."""

    home: Home
    answers: tuple[Answer, ...]


def _real_home(folder: Path, cache: Path | None = None) -> Home:
    """Return a home that asks what uv and pip of this machine ask; `cache` is that of another one, to be quick."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("HERMES_")}
    home = Home(folder / "home", surroundings=folder, environ=environ)
    if cache is not None:
        shutil.copytree(cache, home.state / "cache", symlinks=True)
    return home


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Furnished:
    home = _real_home(tmp_path_factory.mktemp("real"))
    first = home.ask("pm", "init", "--core", CORE)
    return Furnished(home, (first, *(home.ask("plugins", "enable", name) for name in PROVIDERS)))


@pytest.fixture
def another(tmp_path: Path, furnished: Furnished) -> Callable[[str], Home]:
    """Return a function that makes a home with the core alone, by a name."""

    def make(name: str) -> Home:
        home = _real_home(tmp_path / name, furnished.home.state / "cache")
        home.config.write_text(f"pm:\n  core: {CORE}\n")
        return home

    return make


def _preferred(home: Home) -> dict[str, str]:
    """Return the versions at which the core's own extras pin the packages of its memory providers."""
    pointer = home.pointer
    assert pointer is not None
    record: dict[str, Any] = json.loads((home.state / "generations" / f"{pointer['generation']}.json").read_text())
    return {name: record["core"]["preferences"][name].removeprefix("==") for name in PACKAGES}


def test_the_four_memory_providers_are_admitted_one_after_the_other_at_the_versions_that_the_core_pins(
    furnished: Furnished,
) -> None:
    home, answers = furnished
    assert [answer.gist for answer in answers] == ["0 admitted"] * 5
    assert {name: home.pins[name] for name in PACKAGES} == _preferred(home)
    assert home.admitted == [f"memory/{name} in default" for name in PROVIDERS]
    assert home.pins == home.locked
    assert home.ask("plugins", "check").gist == "0 ready"


def test_all_four_at_once_come_to_the_same_generation(furnished: Furnished, another: Callable[[str], Home]) -> None:
    home = another("at-once")
    home.configure(f"plugins:\n  enabled: [{', '.join(f'memory/{name}' for name in PROVIDERS)}]\n")
    answer = home.ask("pm", "init")
    here, there = home.pointer, furnished.home.pointer
    assert here is not None
    assert there is not None
    assert (answer.gist, home.pins, here["fingerprint"]) == (
        "0 admitted",
        furnished.home.pins,
        there["fingerprint"],
    )


def test_inside_of_the_generation_the_host_misses_nothing_and_installs_nothing(furnished: Furnished) -> None:
    home = furnished.home
    before = snapshot(home.generation)
    asked = home.say("run", "--", "python", "-c", QUESTION, *PROVIDERS)
    site = next(home.generation.glob("lib/python3.*/site-packages"))
    assert (asked.status, asked.value) == (
        0,
        {
            "mem0": str(site / "mem0" / "__init__.py"),
            "missing": {f"memory.{name}": [] for name in PROVIDERS},
        },
    )
    version = home.say("run", "--", "hermes", "--version")
    assert (version.status, version.stdout.splitlines()[0].startswith("Hermes Agent v0.19.0")) == (0, True)
    assert f"Install directory: {site}" in version.stdout.splitlines()
    assert snapshot(home.generation) == before
    assert home.ask("plugins", "check").gist == "0 ready"


@pytest.mark.parametrize(
    ("tools", "package", "said"),
    [
        ("with uv", "idna", ""),
        ("with uv", "toml", "`toml` was"),
        ("without uv", "idna", "`pip`, `setuptools` were"),
        ("without uv", "toml", "`pip`, `setuptools`, `toml` were"),
    ],
)
def test_what_the_hosts_own_installer_adds_is_named_at_the_next_start_and_goes_with_a_repair(
    another: Callable[[str], Home], tools: str, package: str, said: str
) -> None:
    home = another("installer")
    home.ask("pm", "init", "--python", "3.11")
    before = snapshot(home.generation)
    installed = home.say("run", "--", "python", "-c", INSTALLER, package, PATH=PATHS[tools])
    assert (installed.status, installed.stdout) == (0, "0\n")
    told = f"hermes: {said} added to generation 1 since it was built; `hermes pm repair` builds it again\n"
    assert home.say("run", "--", "true").stderr == (told if said else "")
    checked, verified = home.ask("plugins", "check"), home.ask("pm", "verify")
    assert (checked.status, verified.status, snapshot(home.generation) == before) == (
        (1, 1, False) if said else (0, 0, True)
    )
    named = [reason["package"] for reason in verified.value["reasons"]]
    assert named == [name for name in ("pip", "setuptools", "toml") if f"`{name}`" in said]
    assert home.ask("pm", "repair").gist == ("0 repaired" if said else "0 unchanged")
    assert home.say("run", "--", "true").stderr == ""


PATHS = {"without uv": "/usr/bin:/bin", "with uv": f"{find_uv_bin().rpartition('/')[0]}:/usr/bin:/bin"}


@pytest.mark.parametrize("tools", ["with uv", "without uv"])
def test_whoever_has_no_rights_of_root_adds_nothing(
    another: Callable[[str], Home], require_tool: Callable[[str], Path], tools: str
) -> None:
    home = another("no-rights")
    home.ask("pm", "init")
    before = snapshot(home.generation)
    words = ("run", "--", "python", "-c", INSTALLER, "toml")
    assert as_somebody(home, require_tool, *words, PATH=PATHS[tools]).stdout != "0\n"
    assert (snapshot(home.generation), home.ask("plugins", "check").gist) == (before, "0 ready")


def test_a_plugin_that_needs_newer_websockets_than_the_core_pins_is_refused(furnished: Furnished) -> None:
    home = furnished.home
    before = home.snapshot(UNTOUCHED_BY_REFUSALS)
    answer = home.install(home.plugin("talker", "websockets>=16"))
    reason = answer.value["reasons"][0]
    assert (answer.gist, answer.value["plugin"]["key"], reason["package"], sorted(answer.demands)) == (
        "1 refused core-conflict",
        "talker",
        "websockets",
        ["core hermes-agent: websockets==15.0.1 at METADATA", "plugin talker: websockets>=16 at plugin.yaml:4"],
    )
    assert reason["proof"]["checked_by"] == {"search": "impossible", "complete": "impossible"}
    assert home.snapshot(UNTOUCHED_BY_REFUSALS) == before


def test_a_plugin_that_only_pre_releases_satisfy_is_told_so_and_what_would_stand_in_the_way_too(
    furnished: Furnished,
) -> None:
    home = furnished.home
    before = home.snapshot(UNTOUCHED_BY_REFUSALS)
    answer = home.install(home.plugin("fetcher", "httpx>=0.29"))
    assert (answer.gist, answer.demands, answer.also) == (
        "1 refused prerelease-only",
        ["plugin fetcher: httpx>=0.29 at plugin.yaml:4"],
        ["core hermes-agent: httpx[socks]==0.28.1 at METADATA"],
    )
    assert "allow-prerelease httpx" not in [
        f"{step['action']} {step['subject']}" for step in answer.value["steps"] if step["confirmed"]
    ]
    assert home.snapshot(UNTOUCHED_BY_REFUSALS) == before


def test_two_plugins_that_conflict_through_a_dependency_of_a_dependency_are_refused_in_both_orders_with_one_proof(
    another: Callable[[str], Home],
) -> None:
    here, there = another("here"), another("there")
    memory, wire = here.plugin("memory-user", "mem0ai>=2.0.10,<3"), here.plugin("wire", "protobuf>=7")
    firsts = here.install(memory), there.install(wire)
    before, before_there = here.snapshot(UNTOUCHED_BY_REFUSALS), there.snapshot(UNTOUCHED_BY_REFUSALS)
    second, swapped = here.install(wire), there.install(memory)
    assert [answer.gist for answer in firsts] == ["0 admitted"] * 2
    assert [second.gist, swapped.gist] == ["1 refused conflict"] * 2
    assert second.value["reasons"] == swapped.value["reasons"]
    assert sorted(second.demands) == [
        "plugin memory-user: mem0ai>=2.0.10,<3 at plugin.yaml:4",
        "plugin wire: protobuf>=7 at plugin.yaml:4",
    ]
    assert (here.admitted, there.admitted) == (["memory-user in default"], ["wire in default"])
    assert (here.snapshot(UNTOUCHED_BY_REFUSALS), there.snapshot(UNTOUCHED_BY_REFUSALS)) == (before, before_there)


@pytest.mark.parametrize(("python", "chosen"), [("3.11", "toml"), ("3.12", "iniconfig"), ("3.13", "iniconfig")])
def test_markers_and_wheels_follow_the_interpreter_of_the_generation(
    another: Callable[[str], Home], python: str, chosen: str
) -> None:
    home = another(python)
    made = home.ask("pm", "init", "--python", python)
    if made.gist == "1 refused python-version":
        pytest.skip(f"Python {python} is not installed here")
    plugin = home.plugin("marked", "toml; python_version < '3.12'", "iniconfig; python_version >= '3.12'")
    answer = home.install(plugin)
    pointer = home.pointer
    assert pointer is not None
    assert [made.gist, answer.gist] == ["0 admitted"] * 2
    assert ([change.split()[0] for change in answer.changes], pointer["target"].startswith(f"cpython-{python}.")) == (
        [f"+{chosen}"],
        True,
    )
    site = home.generation / "lib" / f"python{python}" / "site-packages"
    tag = f"cpython-{python.replace('.', '')}-"
    compiled = {path.name.split(".")[1] for path in site.rglob("*.cpython-*.so")}
    assert (bool(compiled), [name for name in compiled if not name.startswith(tag)]) == (True, [])
    asked = home.say("run", "--", "python", "-c", "import pydantic_core, sys; print(sys.version_info[:2])")
    assert asked.stdout.strip() == f"({python.replace('.', ', ')})"
    assert home.config.read_text().startswith(f'pm:\n  core: {CORE}\n  python: "{python}"\n')
