"""To go back to a generation that was damaged works, or the one step that is named does."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fixtures.homes import Home, follow

USES = "import demo_transport; print('runs')"


def environment(home: Home) -> Path:
    """Return the environment of the generation that is gone back to, which can be written to."""
    folder = home.state / "generations" / "2"
    for path in (folder, folder / "bin", *folder.glob("lib"), *folder.glob("lib/python3.*"), *folder.glob("lib/*/*")):
        path.chmod(0o755)
    return folder


def site(home: Home) -> Path:
    return next(environment(home).glob("lib/python3.*/site-packages"))


def record(home: Home) -> Path:
    return home.state / "generations" / "2.json"


def file_missing(home: Home) -> None:
    (site(home) / "demo_transport.py").unlink()


def file_changed(home: Home) -> None:
    path = site(home) / "demo_transport.py"
    before = path.read_bytes()
    path.unlink()  # other environments have the file too
    path.write_bytes(b"#" + before[1:])


def file_added(home: Home) -> None:
    (site(home) / "stranger.py").write_text("")


def distribution_gone(home: Home) -> None:
    for path in site(home).glob("demo_transport*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def own_module_gone(home: Home) -> None:
    (site(home) / "_hermes_pm.py").unlink()


def own_module_changed(home: Home) -> None:
    path = site(home) / "_hermes_pm.py"
    path.chmod(0o644)
    path.write_bytes(b"#" + path.read_bytes()[1:])


def link_to_the_interpreter_gone(home: Home) -> None:
    (environment(home) / "bin" / "python").unlink()


def environment_gone(home: Home) -> None:
    shutil.rmtree(environment(home))


def environment_incomplete(home: Home) -> None:
    shutil.rmtree(site(home))


def environment_is_a_file(home: Home) -> None:
    folder = environment(home)
    shutil.rmtree(folder)
    folder.write_text("")


BUILT_AGAIN = [
    file_missing,
    file_changed,
    file_added,
    distribution_gone,
    own_module_gone,
    own_module_changed,
    link_to_the_interpreter_gone,
    environment_gone,
    environment_incomplete,
    environment_is_a_file,
]


def record_cut(home: Home) -> None:
    record(home).write_bytes(record(home).read_bytes()[:100])


def record_is_a_folder(home: Home) -> None:
    record(home).unlink()
    record(home).mkdir()


def lock_in_the_record_changed(home: Home) -> None:
    """Build nothing that was never admitted."""
    file_missing(home)
    value = json.loads(record(home).read_text())
    text = json.dumps(value["lock"])
    assert "demo_transport-" in text
    value["lock"] = json.loads(text.replace("demo_transport-", "demo_transfort-"))
    record(home).write_text(json.dumps(value))


def interpreter_gone(home: Home) -> None:
    value = json.loads(record(home).read_text())
    record(home).write_text(json.dumps(value | {"interpreter": str(home.work / "gone" / "python")}))


def files_of_a_plugin_lost(home: Home) -> None:
    """Of what the plugin was then, there is no copy any more."""
    members = json.loads(record(home).read_text())["members"]
    [kept] = [member["tree_digest"] for member in members if member["declaration"]["key"] == "birch"]
    shutil.rmtree(home.state / "trees" / kept.removeprefix("sha256:"))
    shutil.rmtree(home.path / "plugins" / "birch")


LOST = [record_cut, record_is_a_folder, lock_in_the_record_changed, interpreter_gone, files_of_a_plugin_lost]
Damage = Callable[[Home], object]


@pytest.fixture
def home(home: Home) -> Home:
    """Return a home with three generations, of which the last is selected."""
    home.configure("  keep_generations: 9\n")
    home.install(home.plugin("ash", "demo-colors"))
    home.install(home.plugin("birch", "demo-transport"))
    home.install(home.plugin("cedar", "demo-speedups"))
    return home


def state(home: Home) -> tuple[object, ...]:
    run = home.say("run", "--", "python", "-c", USES)
    return home.ask("pm", "verify").gist, home.ask("plugins", "check").gist, run.stdout, home.admitted


WELL = ("0 verified", "0 ready", "runs\n", ["ash in default", "birch in default"])


@pytest.mark.parametrize("damage", BUILT_AGAIN)
def test_what_is_damaged_of_an_environment_is_built_again(home: Home, damage: Damage) -> None:
    damage(home)
    before = home.snapshot(["pm/cache"])
    dry = home.ask("pm", "rollback", "--dry-run")
    assert (dry.gist, dry.value["generation"]["after"], home.snapshot(["pm/cache"]) == before) == (
        "0 rolled-back",
        4,
        True,
    )
    done = home.ask("pm", "rollback")
    assert (done.gist, done.value["generation"]["after"]) == ("0 rolled-back", 4)
    assert "generation-damaged" in done.warnings
    assert state(home) == WELL
    assert home.ask("pm", "rollback", "3").gist == "0 rolled-back"
    again = home.ask("pm", "rollback", "2")
    assert (again.gist, again.value["generation"]["after"], state(home)) == ("0 rolled-back", 5, WELL)


@pytest.mark.parametrize("words", [("rollback",), ("rollback", "2")])
@pytest.mark.parametrize("damage", LOST)
def test_where_nothing_can_be_built_the_step_leads_to_another_generation(
    home: Home, damage: Damage, words: tuple[str, ...]
) -> None:
    damage(home)
    refused = home.ask("pm", *words)
    assert (refused.status != 0, home.admitted[-1]) == (True, "cedar in default")
    assert [(step["action"], step["command"]) for step in refused.value["steps"]] == [
        ("roll-back", "hermes pm rollback 1")
    ]
    assert "pm init" not in refused.stdout
    assert (follow(home, refused.value["steps"][0]["command"]).status, home.admitted) == (0, ["ash in default"])
    assert home.ask("pm", "verify").gist == "0 verified"


def test_no_step_leads_to_a_generation_that_is_damaged_itself(home: Home) -> None:
    record_cut(home)
    shutil.rmtree(home.state / "generations" / "1")
    refused = home.ask("pm", "rollback")
    assert (refused.gist, [(step["action"], step["when"]) for step in refused.value["steps"]]) == (
        "1 drift drift",
        [("retry", "another generation is there to go back to")],
    )
    assert home.ask("pm", "rollback", "1").gist == "0 rolled-back"


def test_an_interpreter_that_is_back_is_what_a_second_try_waits_for(home: Home) -> None:
    for number in (1, 2):
        path = home.state / "generations" / f"{number}.json"
        value = json.loads(path.read_text())
        path.write_text(json.dumps(value | {"interpreter": str(home.work / "python")}))
    refused = home.ask("pm", "rollback", "2")
    [step] = refused.value["steps"]
    assert (refused.gist, step["action"], step["when"]) == (
        "3 failed no-interpreter",
        "retry",
        "the interpreter that it was built with is there again",
    )
    (home.work / "python").symlink_to(Path(sys.base_prefix, "bin", Path(sys.executable).resolve().name))
    assert follow(home, step["command"]).status == 0
    assert home.admitted == ["ash in default", "birch in default"]


def test_what_cannot_be_fetched_is_told_with_another_generation_as_the_step(home: Home) -> None:
    distribution_gone(home)
    elsewhere = next((home.state / "generations" / "3").glob("lib/python3.*/site-packages"))
    elsewhere.chmod(0o755)
    for path in (*elsewhere.glob("demo_transport*"), home.state / "wheels", home.state / "cache"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    refused = home.ask("pm", "rollback", "--offline")
    assert (refused.status, [step["action"] for step in refused.value["steps"]]) == (3, ["roll-back"])
    assert "pm init" not in refused.stdout
    assert (follow(home, refused.value["steps"][0]["command"]).status, home.admitted) == (0, ["ash in default"])
