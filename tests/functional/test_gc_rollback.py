"""`hermes pm gc` and `rollback`: what nobody needs goes, and what was selected once can be selected again."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fixtures.homes import PLUGINS, Home, write_plugin
from fixtures.running import Running

NEW = PLUGINS / "admitted-simple"


def generations(home: Home) -> list[str]:
    return sorted(path.name for path in (home.state / "generations").iterdir())


def test_the_newest_and_the_selected_stay_and_the_rest_goes(home: Home) -> None:
    home.configure("  keep_generations: 9\n")
    for name in ("ash", "birch", "cedar", "elm"):
        home.install(home.plugin(name, "demo-colors" if name == "ash" else "demo-transport"))
    home.config.write_text(home.config.read_text().replace("keep_generations: 9", "keep_generations: 3"))
    before = generations(home)
    dry = home.ask("pm", "gc", "--dry-run")
    assert (dry.gist, generations(home)) == ("0 collected", before)
    done = home.ask("pm", "gc")
    assert done.gist == "0 collected"
    assert [name for name in generations(home) if name.endswith(".json")] == ["2.json", "3.json", "4.json"]
    assert (home.ask("pm", "verify").gist, home.ask("plugins", "check").gist) == ("0 verified", "0 ready")
    again = home.ask("pm", "gc")
    assert (again.gist, again.value["summary"], again.warnings) == ("0 collected", "nothing to delete", [])


def test_an_environment_that_something_runs_in_stays(home: Home) -> None:
    home.configure("  keep_generations: 1\n")
    home.install(home.plugin("ash", "demo-colors"))
    waits = "import sys; print('here', flush=True); sys.stdin.read()"
    process = home.start("run", "--", "python", "-c", waits, stdin=subprocess.PIPE)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "here\n"
        home.install(home.plugin("birch", "demo-transport"))
        home.ask("pm", "gc")
        assert "1" in generations(home)
        assert home.say("pm", "status", "--json").value["restart_required"] is True
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
    home.ask("pm", "gc")
    assert generations(home) == ["2", "2.json"]


# --- after a commit


def test_a_commit_deletes_what_is_not_kept(home: Home) -> None:
    """Row D7."""
    home.configure("  keep_generations: 2\n")
    answers = [
        home.install(home.plugin(name, requirement))
        for name, requirement in (("ash", "demo-colors"), ("birch", "demo-transport"), ("cedar", "demo-speedups"))
    ]
    assert [answer.gist for answer in answers] == ["0 admitted"] * 3
    assert generations(home) == ["2", "2.json", "3", "3.json"]
    assert answers[2].warnings == []
    assert home.ask("pm", "gc").value["summary"] == "nothing to delete"
    assert (home.ask("pm", "verify", "--all").gist, home.ask("pm", "rollback").gist) == ("0 verified", "0 rolled-back")


def test_a_commit_leaves_what_something_runs_in(home: Home) -> None:
    home.configure("  keep_generations: 1\n")
    home.install(home.plugin("ash", "demo-colors"))
    with Running(home) as runs:
        home.install(home.plugin("birch", "demo-transport"))
        home.install(home.plugin("cedar", "demo-speedups"))
        assert generations(home) == ["1", "1.json", "3", "3.json"]
        assert runs.imports("demo_colors", "__version__") == "2.0"
    home.ask("plugins", "disable", "cedar")
    assert generations(home) == ["3", "4.json"]


@pytest.mark.parametrize(
    ("unit", "text", "stays"),
    [
        ("hermes.service", "[Service]\nExecStart={root}/pm/generations/1/bin/hermes gateway\n", True),
        ("hermes.service.d/path.conf", "[Service]\nEnvironment=PATH={root}/pm/generations/1/bin:/usr/bin\n", True),
        ("hermes.service", "[Service]\nExecStart=%h/../home/pm/generations/1/bin/hermes\n", False),
        ("hermes.service", "[Service]\nExecStart={root}/pm/generations/12/bin/hermes\n", False),
        ("hermes.service", "[Service]\nExecStart=/other{root}-2/pm/generations/1/bin/hermes\n", False),
        ("notes.txt", "{root}/pm/generations/1/bin/hermes\n", False),
    ],
)
def test_what_a_service_starts_by_its_path_stays(home: Home, unit: str, text: str, *, stays: bool) -> None:
    home.configure("  keep_generations: 1\n")
    home.install(home.plugin("ash", "demo-colors"))
    file = home.user / ".config" / "systemd" / "user" / unit
    file.parent.mkdir(parents=True)
    file.write_text(text.format(root=home.path))
    home.install(home.plugin("birch", "demo-transport"))
    home.ask("pm", "gc")
    assert ("1" in generations(home), "1.json" in generations(home)) == (stays, stays)


def test_what_cannot_be_deleted_after_a_commit_is_told_and_the_commit_stands(
    home: Home, require_tool: Callable[[str], Path]
) -> None:
    home.configure("  keep_generations: 1\n")
    home.install(home.plugin("ash", "demo-colors"))
    closed = home.state / "generations" / "1" / "pyvenv.cfg"
    chattr = require_tool("chattr")
    if subprocess.run([chattr, "+i", closed], capture_output=True, check=False).returncode:
        pytest.skip("files cannot be made immovable here")
    try:
        answer = home.install(home.plugin("birch", "demo-transport"))
    finally:
        subprocess.run([chattr, "-R", "-i", home.state / "generations"], capture_output=True, check=False)
    assert (answer.gist, answer.warnings, home.admitted) == (
        "0 admitted",
        ["not-collected"],
        ["ash in default", "birch in default"],
    )
    assert home.ask("pm", "gc").gist == "0 collected"
    assert generations(home) == ["2", "2.json"]


# --- how much goes


def space(home: Home) -> int:
    """Return the bytes of all files below the state, each counted once, whatever it is called."""
    files = (path.lstat() for path in home.state.rglob("*") if not path.is_dir() or path.is_symlink())
    return sum({(status.st_dev, status.st_ino): status.st_size for status in files}.values())


def told(text: str) -> float:
    number, unit = text.split()
    return float(number) * {"kB": 1000, "MB": 1_000_000}[unit]


@pytest.mark.parametrize("cache", [(), ("--cache",)])
def test_what_is_told_as_freed_is_what_goes(home: Home, cache: tuple[str, ...]) -> None:
    """Row D7: files of environments have other names in uv's cache, and in each other."""
    home.configure("  keep_generations: 9\n")
    for name, requirement in (("ash", "demo-colors"), ("birch", "demo-transport"), ("cedar", "demo-speedups")):
        home.install(home.plugin(name, requirement))
    home.ask("plugins", "remove", "birch")
    home.config.write_text(home.config.read_text().replace("keep_generations: 9", "keep_generations: 1"))
    shutil.rmtree(home.state / "cache" / "uv")
    dry = home.ask("pm", "gc", *cache, "--dry-run").value["summary"]
    before = space(home)
    done = home.ask("pm", "gc", *cache).value["summary"]
    said = re.fullmatch(r"freed ([0-9.]+ .B)", done)
    assert said is not None
    assert dry == f"would free {said[1]}; this was a dry run, nothing was changed"
    # what is told is rounded, and the receipt is new
    assert abs(before - space(home) - told(said[1])) < 62_000


def test_with_the_cache_goes_what_no_kept_generation_has_and_the_rest_works_on(home: Home) -> None:
    home.configure("  keep_generations: 1\n")
    home.install(home.plugin("ash", "demo-colors"))
    home.install(home.plugin("birch", "demo-transport"))
    home.ask("plugins", "remove", "birch")
    assert home.ask("pm", "gc", "--cache").gist == "0 collected"
    held = {path.name.partition("-")[0] for path in home.state.glob("cache/uv/archive-v*/*/*.dist-info")}
    assert held == {name.replace("-", "_") for name in home.pins}
    assert home.ask("pm", "gc", "--cache").value["summary"] == "nothing to delete"
    assert (home.ask("pm", "verify").gist, home.ask("plugins", "check").gist) == ("0 verified", "0 ready")
    assert home.install(home.work / "birch").gist == "0 admitted"
    assert home.ask("pm", "verify").gist == "0 verified"


# --- going back


def test_going_back_takes_code_config_and_environment_together(home: Home, tmp_path: Path) -> None:
    old = write_plugin(tmp_path / "old" / "ash", "demo-colors", version="1", files={"data.txt": "old"})
    new = write_plugin(tmp_path / "new" / "ash", "demo-transport", version="2", files={"data.txt": "new"})
    home.install(old)
    config, pins = home.config.read_text(), home.pins
    (home.path / "plugins" / "ash" / "mine.txt").write_text("kept")
    home.install(new, "--force")
    home.install(home.plugin("birch"))
    answer = home.ask("pm", "rollback", "1")
    assert (answer.gist, answer.value["generation"]["after"]) == ("0 rolled-back", 1)
    folder = home.path / "plugins" / "ash"
    assert ((folder / "data.txt").read_text(), (folder / "mine.txt").read_text()) == ("old", "kept")
    assert (home.pins, home.admitted) == (pins, ["ash in default"])
    assert "birch" in home.config.read_text().partition("disabled:")[2]
    assert config.partition("plugins:")[0] == home.config.read_text().partition("plugins:")[0]
    assert (home.ask("pm", "verify").gist, home.ask("plugins", "check").gist) == ("0 verified", "0 ready")
    assert home.ask("pm", "rollback", "3").gist == "0 rolled-back"
    assert ((folder / "data.txt").read_text(), home.admitted) == ("new", ["ash in default", "birch in default"])


def test_another_profile_changes_only_where_that_is_agreed_to(home: Home) -> None:
    work = home.profile("work")
    home.install(home.plugin("ash", "demo-colors"))
    work.install(work.plugin("birch", "demo-transport"))
    before = home.snapshot({"pm"})
    answer = home.ask("pm", "rollback")
    assert (answer.gist, home.snapshot({"pm"})) == ("3 failed not-agreed", before)
    assert home.ask("pm", "rollback", "--yes").gist == "0 rolled-back"
    assert (home.admitted, work.ask("plugins", "list").value["plugins"][0]["state"]) == (["ash in default"], "disabled")


def test_there_is_nothing_before_the_first(home: Home) -> None:
    home.install(NEW)
    assert home.ask("pm", "rollback").gist == "2 failed unknown-generation"
    assert home.ask("pm", "rollback", "7").gist == "2 failed unknown-generation"
    assert home.ask("pm", "rollback", "1").gist == "0 unchanged"


def test_a_generation_that_was_collected_is_not_gone_back_to(home: Home) -> None:
    home.configure("  keep_generations: 1\n")
    home.install(home.plugin("ash", "demo-colors"))
    home.install(home.plugin("birch", "demo-transport"))
    home.ask("pm", "gc")
    assert home.ask("pm", "rollback").gist == "2 failed unknown-generation"


# Runs `hermes`, and is somebody else who switches a plugin on at the moment at which the config is locked.
MEDDLING = """
import sys
from pathlib import Path
from pm.cli.main import main
config = Path(sys.argv[1])
def meddle(event, arguments):
    if event == "open" and str(arguments[0]).endswith("config.yaml.lock") and "zelkova" not in config.read_text():
        config.write_text(config.read_text().replace("enabled:", "enabled:\\n    - zelkova"))
sys.addaudithook(meddle)
sys.exit(main(sys.argv[2:]))
"""


def test_going_back_does_not_go_over_what_somebody_switches_meanwhile(home: Home) -> None:
    home.install(home.plugin("ash", "demo-colors"))
    home.install(home.plugin("birch", "demo-transport"))
    pointer = (home.state / "pointer.json").read_bytes()
    words = [sys.executable, "-c", MEDDLING, str(home.config), "pm", "rollback", "--json"]
    done = subprocess.run(words, env=home.environ, cwd=home.work, capture_output=True, text=True, check=False)
    assert (done.returncode, json.loads(done.stdout)["reasons"][0]["code"]) == (3, "config-changed")
    assert ((home.state / "pointer.json").read_bytes(), "zelkova" in home.config.read_text()) == (pointer, True)
