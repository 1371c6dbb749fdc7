"""`hermes pm gc` and `rollback`: what nobody needs goes, and what was selected once can be selected again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from fixtures.homes import PLUGINS, Home, write_plugin

NEW = PLUGINS / "admitted-simple"


def generations(home: Home) -> list[str]:
    return sorted(path.name for path in (home.state / "generations").iterdir())


def test_the_newest_and_the_selected_stay_and_the_rest_goes(home: Home) -> None:
    for name in ("ash", "birch", "cedar", "elm"):
        home.install(home.plugin(name, "demo-colors" if name == "ash" else "demo-transport"))
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
