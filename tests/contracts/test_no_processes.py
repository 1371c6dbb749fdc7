"""What needs no new environment starts no other program and asks no index, however many plugins are switched on."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from fixtures.homes import HERMES, Home, new_home, write_plugin
from fixtures.server import IndexServer
from fixtures.wheels import DEFAULT_RECIPE, read_recipe

PLUGINS = [f"plugin-{number:02}" for number in range(40)]
ASKED = ("demo-colors", "demo-transport>=1", "demo-socket")
TRACED = "trace=execve,connect"
CALL = re.compile(r"(?:execve|connect)\(.*")


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """Return a home with forty plugins switched on; the index that they came from does not answer any more."""
    below = tmp_path_factory.mktemp("crowd")
    with IndexServer(below / "files", read_recipe(DEFAULT_RECIPE)) as server:
        home = new_home(below / "home", indexes=[server.url])
        for number, name in enumerate(PLUGINS):
            write_plugin(home.path / "plugins" / name, ASKED[number % len(ASKED)])
        home.configure(
            "  keep_generations: 20\nplugins:\n  enabled:\n" + "".join(f"    - {name}\n" for name in PLUGINS)
        )
        if home.ask("pm", "init").gist != "0 admitted":
            raise AssertionError("the plugins do not fit together")
    return home


@pytest.fixture
def traced(crowd: Home, require_tool: Callable[[str], Path], tmp_path: Path) -> Callable[..., tuple[int, list[str]]]:
    """Return what runs a verb, and gives its status with the programs that it started and the addresses it asked."""

    def run(*words: str | Path) -> tuple[int, list[str]]:
        log = tmp_path / "calls"
        tracer: list[str | Path] = [require_tool("strace"), "-f", "-o", log, "-e", TRACED, "-e", "signal=none"]
        status = crowd.say_traced(*words, "--json", tracer=tracer).status
        calls = [line for line in log.read_text().splitlines() if "resumed>" not in line]
        return status, [found for line in calls for found in CALL.findall(line) if f'"{HERMES}"' not in found]

    return run


@pytest.mark.parametrize(
    ("before", "words"),
    [
        ((), ("plugins", "check")),
        (("enable", "plugin-00"), ("plugins", "disable", "plugin-00")),
        (("disable", "plugin-01"), ("plugins", "enable", "plugin-01")),
        (("disable", "plugin-03"), ("pm", "rollback")),
        (("disable", "plugin-04"), ("pm", "rollback", "1")),
        ((), ("pm", "init")),
        (("enable", "plugin-02"), ("plugins", "install", "plugin-02", "--enable", "--force")),
    ],
)
def test_a_verb_that_needs_no_build_starts_nothing_and_asks_nobody(
    before: tuple[str, ...], words: tuple[str, ...], crowd: Home, traced: Callable[..., tuple[int, list[str]]]
) -> None:
    write_plugin(crowd.work / "plugin-02", ASKED[2])
    if before:
        crowd.ask("plugins", *before)
    assert traced(*words) == (0, [])


def test_a_verb_that_builds_is_seen_to_start_uv(crowd: Home, traced: Callable[..., tuple[int, list[str]]]) -> None:
    site = next(crowd.generation.glob("lib/python3*/site-packages"))
    site.chmod(0o755)
    (site / "stranger.py").write_text("")
    status, calls = traced("pm", "repair")
    assert (status, any("/uv" in call for call in calls)) == (0, True)
