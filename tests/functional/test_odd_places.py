"""Homes that lie oddly: behind links, on several file systems, with names as long as they can be, of several owners."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from fixtures.homes import Home, new_home, snapshot, write_plugin
from fixtures.running import Running, as_somebody, owned_by
from fixtures.volumes import Volume
from fixtures.wheels import DEFAULT_RECIPE, Distribution, build_recipe, read_recipe

CORE = {"hermes-embedded-core": "0.1.0", "pyyaml": "6.0.3"}
LONGEST = 255
"""Bytes of a file's name."""
SOMEBODY = 65534


def slow(name: str) -> object:
    return pytest.param(name, marks=pytest.mark.slow)


def everything_works(home: Home) -> None:
    """Install, look, start, switch off, go back, repair, remove and collect, and find what was asked for last."""
    ash, birch = home.plugin("ash", "demo-colors"), home.plugin("birch", "demo-transport")
    assert home.install(ash).gist == "0 admitted"
    assert home.install(birch).gist == "0 admitted"
    assert home.ask("plugins", "check").gist == "0 ready"
    started = home.say("run", "--", "python", "-c", "import demo_colors, demo_transport; print(demo_colors.__file__)")
    assert (started.status, started.stderr) == (0, "")
    assert Path(started.stdout.strip()).is_relative_to(home.generation)
    assert home.ask("plugins", "disable", "birch").gist == "0 disabled"
    assert home.ask("pm", "rollback").gist == "0 rolled-back"
    assert home.admitted == ["ash in default", "birch in default"]
    assert home.install(birch, "--force").gist == "0 admitted"
    (next(home.generation.glob("lib/python3*/site-packages")) / "demo_colors.py").write_text("damaged = True\n")
    assert (home.ask("pm", "verify").status, home.ask("pm", "repair").gist) == (1, "0 repaired")
    assert home.ask("plugins", "remove", "birch").gist == "0 removed"
    assert home.ask("pm", "gc").gist == "0 collected"
    assert (home.ask("pm", "verify").gist, home.ask("plugins", "check").gist) == ("0 verified", "0 ready")
    assert (home.admitted, home.pins) == (["ash in default"], {"demo-colors": "2.0"} | CORE)


# -- links


def test_a_home_behind_a_link_works_and_stays_behind_it(tmp_path: Path, wheels: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "home").symlink_to("real")
    home = new_home(tmp_path / "home", wheels=wheels)
    everything_works(home)
    assert ((tmp_path / "home").is_symlink(), home.generation.is_relative_to(tmp_path / "home")) == (True, True)
    direct = Home(tmp_path / "real", surroundings=tmp_path)
    assert direct.ask("plugins", "check").gist == "0 ready"
    assert direct.ask("plugins", "disable", "ash").gist == "0 disabled"


@pytest.mark.parametrize("name", ["pm", "plugins", *map(slow, ["config.yaml", "pm/cache", "pm/trees", "profiles"])])
def test_whatever_part_of_a_home_is_a_link_stays_one(home: Home, name: str) -> None:
    place, real = home.path / name, home.work / "elsewhere" / Path(name).name
    real.parent.mkdir()
    if place.exists():
        place.rename(real)
    else:
        real.mkdir()
    place.parent.mkdir(exist_ok=True)
    place.symlink_to(real)
    everything_works(home)
    assert (place.is_symlink(), place.readlink()) == (True, real)


def test_a_root_that_leads_elsewhere_since_is_another_home(tmp_path: Path, wheels: Path) -> None:
    """What runs goes on in the files that it started in, and the new place knows nothing of them."""
    for name in ("one", "two"):
        new_home(tmp_path / name, wheels=wheels)
    link = tmp_path / "home"
    link.symlink_to("one")
    home = Home(link, surroundings=tmp_path)
    home.install(home.plugin("ash", "demo-colors"))
    with Running(home) as runs:
        before = snapshot(tmp_path / "one")
        link.unlink()
        link.symlink_to("two")
        assert home.say("run", "--", "true").status == 1
        assert home.ask("plugins", "check").gist == "1 not-ready no-generation"
        assert home.install(home.plugin("birch", "demo-transport")).gist == "0 admitted"
        assert home.ask("pm", "gc").gist == "0 collected"
        assert (snapshot(tmp_path / "one"), home.admitted) == (before, ["birch in default"])
        link.unlink()
        link.symlink_to("one")
        assert runs.imports("demo_colors", "__version__") == "2.0"
        assert home.ask("plugins", "check").gist == "0 ready"


# -- file systems


@pytest.mark.parametrize("name", ["pm/cache", "plugins", *map(slow, ["pm", "pm/generations", "pm/trees", "pm/locks"])])
def test_parts_of_a_home_on_another_file_system_work(
    home: Home, require_tool: Callable[[str], Path], name: str
) -> None:
    with Volume(home.path / name, "30m", require_tool) as volume:
        ash = volume.ask(home, "plugins", "install", home.plugin("ash", "demo-colors"), "--enable")
        birch = volume.ask(home, "plugins", "install", home.plugin("birch", "demo-transport"), "--enable")
        assert (ash.gist, birch.gist) == ("0 admitted", "0 admitted")
        started = volume.ask(home, "run", "--", "python", "-c", "import demo_transport")
        assert (started.status, started.stderr) == (0, "")
        assert volume.ask(home, "plugins", "remove", "birch").gist == "0 removed"
        assert volume.ask(home, "pm", "rollback", "2").gist == "0 rolled-back"
        assert volume.ask(home, "pm", "verify").gist == "0 verified"
        assert volume.ask(home, "pm", "gc").gist == "0 collected"
        assert volume.ask(home, "plugins", "check").gist == "0 ready"


# -- names


def test_names_as_long_as_the_disk_allows_are_installed_verified_replaced_and_gone_back_to(tmp_path: Path) -> None:
    wheels = tmp_path / "wheels"
    module, letters = "m" * (LONGEST - 3) + ".py", "ü" * (LONGEST // 2) + "x"
    long = Distribution("long", "1.0", files={module: "X = 1\n", f"data/{letters}": "1"})
    build_recipe(wheels, [*read_recipe(DEFAULT_RECIPE), long])
    home = new_home(tmp_path / "home", wheels=wheels)
    files = {f"{'p' * LONGEST}": "1", f"data/{letters}": "2", f"{'d' * LONGEST}/{'f' * LONGEST}": "3"}
    source = write_plugin(home.work / "ash", "long", files=files)
    assert home.install(source).gist == "0 admitted"
    started = home.say("run", "--", "python", "-c", f"import {module.removesuffix('.py')} as m; print(m.X)")
    assert (started.status, started.stdout) == (0, "1\n")
    own = home.path / "plugins" / "ash" / ("o" * LONGEST)
    own.write_text("written by the plugin")
    (source / ("p" * LONGEST)).write_text("changed")
    assert home.install(source, "--force").gist == "0 admitted"
    assert home.ask("pm", "rollback", "1").gist == "0 rolled-back"
    folder = home.path / "plugins" / "ash"
    assert ({path: (folder / path).read_text() for path in files}, own.read_text()) == (files, "written by the plugin")
    assert (home.ask("pm", "verify").gist, home.ask("pm", "gc").gist) == ("0 verified", "0 collected")


# -- owners


@pytest.mark.parametrize(
    ("place", "looks", "start"),
    [
        ("pm", ["3", "3", "3"], 3),
        ("pm/pointer.json", ["3", "3", "3"], 3),
        ("pm/generations", ["3", "3", "3"], 3),
        ("pm/generations/1.json", ["3", "3", "3"], 0),
        ("pm/receipts", ["0", "0", "0"], 0),
        ("config.yaml", ["3", "0", "0"], 0),
    ],
)
def test_what_only_somebody_else_may_read_is_told_with_the_owner_and_nothing_is_changed(
    home: Home, require_tool: Callable[[str], Path], place: str, looks: list[str], start: int
) -> None:
    home.install(home.plugin("ash", "demo-colors"))
    birch = home.plugin("birch", "demo-transport")
    closed = home.path / place
    with owned_by(SOMEBODY, closed):
        mode = closed.stat().st_mode
        closed.chmod(0o700 if closed.is_dir() else 0o600)
        before = home.snapshot(["pm/locks", "pm/receipts", "pm/cache", "pm/pycache"])
        seen = [
            as_somebody(home, require_tool, *words)
            for words in (("plugins", "check"), ("pm", "status"), ("pm", "verify"))
        ]
        changes = [
            as_somebody(home, require_tool, *words)
            for words in (
                ("plugins", "install", birch, "--enable"),
                ("plugins", "disable", "ash"),
                ("plugins", "remove", "ash"),
                ("pm", "init"),
                ("pm", "gc"),
            )
        ]
        started = as_somebody(home, require_tool, "run", "--", "python", "-c", "import demo_colors")
        after = home.snapshot(["pm/locks", "pm/receipts", "pm/cache", "pm/pycache"])
        closed.chmod(mode)
    assert [str(answer.status) for answer in seen] == looks
    assert [answer.status for answer in changes] == [3] * 5
    assert (started.status, after) == (start, before)
    said = "".join(answer.stdout + answer.stderr for answer in (*seen, *changes, started))
    assert ("it belongs to `nobody`" in said or place == "config.yaml", "Traceback" in said) == (True, False)
    assert home.install(birch).gist == "0 admitted"


def test_a_state_that_nobody_can_write_starts_what_was_never_started(
    home: Home, require_tool: Callable[[str], Path]
) -> None:
    home.install(home.plugin("ash", "demo-colors"))
    closed = [home.path, home.state, *(path for path in home.state.iterdir() if path.is_dir())]
    modes = {path: path.stat().st_mode for path in closed}
    for path in closed:
        path.chmod(0o555)
    started = as_somebody(home, require_tool, "run", "--", "python", "-c", "import demo_colors")
    for path, mode in modes.items():
        path.chmod(mode)
    assert (started.status, started.stderr) == (0, "")


# -- what was cleaned


def test_without_its_cache_everything_works_on(home: Home) -> None:
    ash, birch = home.plugin("ash", "demo-colors"), home.plugin("birch", "demo-transport")
    cache = home.state / "cache"
    for words, gist in (
        (("plugins", "install", ash, "--enable"), "0 admitted"),
        (("plugins", "install", birch, "--enable"), "0 admitted"),
        (("plugins", "check"), "0 ready"),
        (("plugins", "disable", "birch"), "0 disabled"),
        (("plugins", "enable", "birch"), "0 admitted"),
        (("plugins", "remove", "birch"), "0 removed"),
        (("pm", "rollback"), "0 rolled-back"),
        (("pm", "verify"), "0 verified"),
        (("pm", "repair"), "0 unchanged"),
        (("pm", "gc"), "0 collected"),
    ):
        shutil.rmtree(cache, ignore_errors=True)
        assert (words, home.ask(*words).gist) == (words, gist)
    shutil.rmtree(cache, ignore_errors=True)
    assert home.say("run", "--", "python", "-c", "import demo_colors").status == 0


def test_offline_without_a_cache_what_is_there_is_enough_to_switch_off_remove_go_back_and_repair(served: Home) -> None:
    home = served
    home.install(home.plugin("ash", "demo-colors"))
    home.install(home.plugin("birch", "demo-transport"))
    before = home.pins
    for words, gist in (
        (("plugins", "disable", "birch"), "0 disabled"),
        (("plugins", "remove", "birch"), "0 removed"),
        (("pm", "rollback", "2"), "0 rolled-back"),
        (("pm", "verify"), "0 verified"),
    ):
        shutil.rmtree(home.state / "cache", ignore_errors=True)
        assert (words, home.ask(*words, "--offline").gist) == (words, gist)
    assert home.pins == before
    site = next(home.generation.glob("lib/python3*/site-packages"))
    site.chmod(0o755)
    (site / "stranger.py").write_text("")
    shutil.rmtree(home.state / "cache", ignore_errors=True)
    assert home.ask("pm", "repair", "--offline").gist == "0 repaired"
    assert (home.ask("pm", "verify").gist, home.pins) == ("0 verified", before)
    assert home.say("chat", "--version").stdout == "hermes-embedded-core 0.1.0\n"
    assert str(home.generation) in (home.generation / "bin" / "hermes").read_text()


def test_offline_without_a_cache_a_damaged_file_is_not_taken_for_a_whole_one(served: Home) -> None:
    served.install(served.plugin("ash", "demo-colors"))
    served.install(served.plugin("birch", "demo-transport"))
    (next(served.generation.glob("lib/python3*/site-packages")) / "demo_colors.py").write_text("damaged = True\n")
    shutil.rmtree(served.state / "cache")
    pointer = served.pointer
    assert (served.ask("pm", "repair", "--offline").gist, served.pointer) == ("3 failed offline", pointer)
    assert served.ask("pm", "repair").gist == "0 repaired"
    assert served.ask("pm", "verify").gist == "0 verified"


@pytest.mark.parametrize("linked", ["demo_colors.py", "demo_colors-1.0.dist-info"])
def test_offline_without_a_cache_what_lies_elsewhere_and_is_only_linked_is_not_shared_with_a_new_generation(
    served: Home, linked: str
) -> None:
    served.install(served.plugin("ash", "demo-colors==1.0"))
    site = next(served.generation.glob("lib/python3*/site-packages"))
    site.chmod(0o755)
    somebodys = (site / linked).rename(served.work / linked)
    (site / linked).symlink_to(somebodys)
    shutil.rmtree(served.state / "cache")
    before = served.pointer, snapshot(served.work)
    (site / "stranger.py").write_text("")
    assert served.ask("pm", "repair", "--offline").gist == "3 failed offline"
    assert (served.pointer, snapshot(served.work)) == before
