"""A full disk is told with the folder that lies on it and what is missing, and there is always a way to make room."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fixtures.homes import Home, new_home
from fixtures.volumes import Volume
from fixtures.wheels import DEFAULT_RECIPE, Distribution, build_recipe, read_recipe

# what a file holds and what it takes are two things: each of these takes a block
CRUMBS = Distribution("crumbs", "1.0", files={f"crumbs/part{number}.py": "#\n" for number in range(900)})
LARGE = Distribution("large", "1.0", files={"large.py": f"#{os.urandom(1_500_000).hex()}\n"})
HUNGRY = """
import os, shutil, tempfile
HERE = os.path.dirname(os.path.abspath(__file__))
def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    with tempfile.TemporaryFile() as scratch:
        scratch.write(bytes(4_000_000))
        scratch.flush()
    name = os.listdir(os.path.join(HERE, "wheel"))[0]
    shutil.copy(os.path.join(HERE, "wheel", name), wheel_directory)
    return name
"""


BUSY = """
import os, shutil, subprocess, tempfile
HERE = os.path.dirname(os.path.abspath(__file__))
def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, "configure")
        with open(script, "w") as file:
            file.write("#!/bin/sh\\nexit 0\\n")
        os.chmod(script, 0o755)
        subprocess.run([script], check=True)
    name = os.listdir(os.path.join(HERE, "wheel"))[0]
    shutil.copy(os.path.join(HERE, "wheel", name), wheel_directory)
    return name
"""


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheels")
    backends = {"hungry": HUNGRY, "busy": BUSY}
    built = [Distribution(name, "1.0", tags=(), sdist=True, backend=text) for name, text in backends.items()]
    build_recipe(folder, [*read_recipe(DEFAULT_RECIPE), CRUMBS, LARGE, *built])
    return folder


@pytest.fixture
def home(tmp_path: Path, wheels: Path) -> Home:
    return new_home(tmp_path / "home", wheels=wheels)


@pytest.fixture
def small(home: Home, require_tool: Callable[[str], Path], request: pytest.FixtureRequest) -> Iterator[Volume]:
    """Give a small file system over one folder of a home in which a plugin is installed."""
    place, size = request.param
    with Volume(home.path / place, size, require_tool) as volume:
        installed = volume.ask(home, "plugins", "install", home.plugin("ash", "demo-colors"), "--enable")
        assert installed.gist == "0 admitted"
        yield volume


def state(home: Home, volume: Volume) -> dict[str, str]:
    """Return what a refused operation leaves as it is."""
    left_out = ("pm/cache/", "pm/wheels", "pm/receipts/", "pm/locks/")
    return {path: kind for path, kind in volume.snapshot(home.path).items() if not path.startswith(left_out)}


@pytest.mark.parametrize(
    ("small", "place"),
    [
        (("pm/cache", "3m"), "the cache `{state}/cache`"),
        (("pm/generations", "3m"), "the generations `{state}/generations`"),
    ],
    indirect=["small"],
)
def test_what_fills_the_disk_although_it_seemed_to_fit_is_told_with_the_folder(
    home: Home, small: Volume, place: str
) -> None:
    before = state(home, small)
    answer = small.ask(home, "plugins", "install", home.plugin("birch", "crumbs"), "--enable")
    [reason] = answer.value["reasons"]
    assert (answer.gist, reason["message"].partition(":")[0]) == (
        "3 failed no-space",
        "the lock could not be installed, no space is left",
    )
    told = r"(.+) is full: [0-9.]+ [kM]B are free of at least [0-9.]+ [kM]B that the build needs; free some space .*"
    assert re.findall(told, reason["hint"]) == [place.format(state=home.state)]
    assert state(home, small) == before
    assert small.ask(home, "plugins", "check").gist == "0 ready"


@pytest.mark.parametrize("small", [("pm/wheels", "64k")], indirect=True)
def test_a_full_state_is_told_before_anything_is_copied(home: Home, small: Volume) -> None:
    before = state(home, small)
    answer = small.ask(home, "plugins", "install", home.plugin("birch", "large"), "--enable")
    [reason] = answer.value["reasons"]
    assert (answer.gist, reason["message"].partition(" MB in ")[2].partition(", ")[0]) == (
        "3 failed no-space",
        f"the wheels `{home.state}/wheels`",
    )
    assert state(home, small) == before


@pytest.mark.parametrize("small", [("pm", "8m")], indirect=True)
def test_on_a_disk_without_a_byte_left_looking_and_starting_work_and_gc_makes_room(home: Home, small: Volume) -> None:
    birch = home.plugin("birch", "demo-transport")
    config = home.config.read_text("utf-8")
    home.config.write_text(config.replace("pm:\n", "pm:\n  keep_generations: 9\n"), "utf-8")
    for number in range(4):
        words = ("enable", "ash") if number % 2 else ("disable", "ash")
        assert small.ask(home, "plugins", *words).status == 0
    filler = small.inside(home.state / "cache" / "filler")
    fill(filler)
    before = state(home, small)
    refused = [
        small.ask(home, "plugins", "install", birch, "--enable"),
        small.ask(home, "plugins", "disable", "ash"),
        small.ask(home, "plugins", "remove", "ash"),
        small.ask(home, "pm", "rollback"),
    ]
    assert [answer.gist for answer in refused] == ["3 failed no-space"] * 4
    assert state(home, small) == before
    assert small.ask(home, "plugins", "check").gist == "0 ready"
    started = small.ask(home, "run", "--", "python", "-c", "import demo_colors")
    assert (started.status, started.stderr) == (0, "")
    home.config.write_text(
        home.config.read_text("utf-8").replace("keep_generations: 9", "keep_generations: 1"), "utf-8"
    )
    collected = small.ask(home, "pm", "gc")
    assert (collected.gist, collected.value["sequence"]) == ("0 collected", 6)
    filler.unlink()
    assert small.ask(home, "plugins", "install", birch, "--enable").gist == "0 admitted"


def fill(path: Path) -> None:
    """Write into a file until no space is left, not even for one byte."""
    with path.open("wb", buffering=0) as file:
        for size in (1 << 16, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError:
                continue


@pytest.mark.parametrize("small", [("pm/cache", "5m")], indirect=True)
def test_what_the_cache_has_already_needs_no_room_there(home: Home, small: Volume) -> None:
    birch = home.plugin("birch", "large")
    assert small.ask(home, "plugins", "install", birch, "--enable").gist == "0 admitted"
    assert small.ask(home, "plugins", "remove", "birch").gist == "0 removed"
    assert small.ask(home, "plugins", "install", birch, "--enable").gist == "0 admitted"


def test_a_build_that_fills_its_folder_is_told_as_that(home: Home, require_tool: Callable[[str], Path]) -> None:
    source = home.plugin("birch", "hungry")
    words = ("plugins", "install", source, "--enable", "--allow-build", "hungry")
    built = home.state / "cache" / "built"
    with Volume(built, "1m", require_tool) as volume:
        answer = volume.ask(home, *words)
        [reason] = answer.value["reasons"]
        assert answer.gist == "3 failed no-space"
        assert reason["message"].startswith("`hungry-1.0.tar.gz` cannot be built, no space is left:\n")
        assert f"`{built}`" in reason["hint"]
    assert home.ask(*words).gist == "0 admitted"


def test_a_build_may_run_what_it_writes_where_nothing_may_be_run_from_the_temporary_folder(
    home: Home, require_tool: Callable[[str], Path]
) -> None:
    """Case sdist-build-fails-03."""
    source = home.plugin("birch", "busy")
    with Volume(home.work / "tmp", "4m,noexec", require_tool) as volume:
        answer = volume.ask(
            home,
            *("plugins", "install", source, "--enable", "--allow-build", "busy"),
            TMPDIR=str(home.work / "tmp"),
        )
    assert answer.gist == "0 admitted"
