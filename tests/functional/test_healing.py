"""Each kind of damage has one step that puts it right: every verb that sees the damage names it, and it works."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from fixtures.homes import Answer, Home, write_plugin

BIRCH = {"data/one.txt": "one", "two.txt": "two"}
USES = "import demo_transport, demo_colors; print('runs')"
LOOKING = {
    "check": ("plugins", "check"),
    "list": ("plugins", "list"),
    "status": ("pm", "status"),
    "verify": ("pm", "verify"),
    "run": ("run", "--", "python", "-c", USES),
}
CHANGING = {
    "gc": ("pm", "gc"),
    "enable": ("plugins", "enable", "ash"),
    "disable": ("plugins", "disable", "cedar"),
    "install": ("plugins", "install", "{work}/cedar", "--force"),
    "rollback": ("pm", "rollback", "99"),
    "init": ("pm", "init"),
    "repair": ("pm", "repair"),
}


class Setting(NamedTuple):
    home: Home
    python: Path
    """An interpreter of the home's own."""


Damage = Callable[[Setting], object]


def site(home: Home) -> Path:
    folder = next(home.generation.glob("lib/python3.*/site-packages"))
    for writable in (home.generation, folder.parent, folder, home.generation / "lib", home.generation / "bin"):
        writable.chmod(0o755)
    return folder


# Runs `hermes`, and is killed when the new folder of a plugin is to get its name.
KILLED = """
import os, signal, sys
from pm.cli.main import main
def kill(event, arguments):
    if event == "os.rename" and os.fspath(arguments[1]) == sys.argv[1] and not os.path.exists(sys.argv[1]):
        os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(kill)
sys.exit(main(sys.argv[2:]))
"""


# --- what one look tells ----------------------------------------------------------------------------------------------


def killed_between_two_names(setting: Setting) -> None:
    """Row B5: of the folder of a plugin that is replaced the old files have another name, and the new none yet."""
    home, place = setting.home, setting.home.path / "plugins" / "birch"
    source = write_plugin(home.work / "newer" / "birch", "demo-transport", version=os.urandom(4).hex(), files=BIRCH)
    words = [sys.executable, "-c", KILLED, str(place), "plugins", "install", str(source), "--force", "--enable"]
    done = subprocess.run(words, env=home.environ, cwd=home.work, capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL
    assert ((home.state / "journal.json").exists(), place.exists()) == (True, False)


def environment_gone(setting: Setting) -> None:
    shutil.rmtree(setting.home.generation)


def environment_wheels_and_cache_gone(setting: Setting) -> None:
    """Leave the record, and the folder that the wheels came from."""
    shutil.rmtree(setting.home.state / "wheels")
    shutil.rmtree(setting.home.state / "cache")
    for folder in (path for path in setting.home.state.glob("generations/*") if path.is_dir()):
        shutil.rmtree(folder)


def environment_incomplete(setting: Setting) -> None:
    shutil.rmtree(site(setting.home))


def distribution_gone(setting: Setting) -> None:
    for path in site(setting.home).glob("demo_transport*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def stranger_in_the_environment(setting: Setting) -> None:
    (site(setting.home) / "stranger.py").write_text("")


def link_to_the_interpreter_gone(setting: Setting) -> None:
    site(setting.home)
    (setting.home.generation / "bin" / "python").unlink()


def record_cut(setting: Setting) -> None:
    pointer = setting.home.pointer
    assert pointer is not None
    record = setting.home.state / "generations" / f"{pointer['generation']}.json"
    record.write_bytes(record.read_bytes()[:100])


def record_gone(setting: Setting) -> None:
    pointer = setting.home.pointer
    assert pointer is not None
    (setting.home.state / "generations" / f"{pointer['generation']}.json").unlink()


def pointer_cut(setting: Setting) -> None:
    (setting.home.state / "pointer.json").write_bytes(b"")


def pointer_leads_elsewhere(setting: Setting) -> None:
    """Row C25: another folder is never started in."""
    pointer = setting.home.state / "pointer.json"
    elsewhere = setting.home.work / "elsewhere" / "generations" / setting.home.generation.name
    if not elsewhere.exists():
        shutil.copytree(setting.home.generation, elsewhere, symlinks=True)
    pointer.write_text(pointer.read_text().replace(str(setting.home.generation), str(elsewhere)))


def plugin_gone(setting: Setting) -> None:
    """Row B4."""
    shutil.rmtree(setting.home.path / "plugins" / "birch")


def interpreter_gone(setting: Setting) -> None:
    """Row B6, case interpreter-gone-01."""
    if not setting.python.exists():
        setting.python.with_suffix(".away").rename(setting.python)
    assert setting.home.ask("pm", "init", "--python", setting.python).status == 0
    setting.python.rename(setting.python.with_suffix(".away"))


# --- what only a comparison tells -------------------------------------------------------------------------------------


def module_edited(setting: Setting) -> None:
    module = site(setting.home) / "demo_transport.py"
    module.write_bytes(b"#" + module.read_bytes()[1:])


def module_emptied_and_record_gone(setting: Setting) -> None:
    """Row B3."""
    folder = site(setting.home)
    (folder / "demo_transport.py").write_bytes(b"")
    next(folder.glob("demo_transport-*.dist-info/RECORD")).unlink()


def plugin_edited(setting: Setting) -> None:
    (setting.home.path / "plugins" / "birch" / "two.txt").write_text("edited")


def plugin_file_gone(setting: Setting) -> None:
    (setting.home.path / "plugins" / "birch" / "two.txt").unlink()


def kept(setting: Setting) -> Path:
    """Return the copy that is kept of a plugin's files."""
    pointer = setting.home.pointer
    assert pointer is not None
    (digest,) = (str(row["tree_digest"]) for row in pointer["admitted"] if row["key"] == "birch")
    return setting.home.state / "trees" / digest.removeprefix("sha256:")


def copy_edited(setting: Setting) -> None:
    """Row G10."""
    (kept(setting) / "two.txt").write_text("damaged")


def copy_without_a_file(setting: Setting) -> None:
    (kept(setting) / "two.txt").unlink()


def copy_gone(setting: Setting) -> None:
    shutil.rmtree(kept(setting))


SEEN_AT_ONCE = [
    killed_between_two_names,
    environment_gone,
    environment_wheels_and_cache_gone,
    environment_incomplete,
    distribution_gone,
    stranger_in_the_environment,
    link_to_the_interpreter_gone,
    record_cut,
    record_gone,
    pointer_cut,
    pointer_leads_elsewhere,
    plugin_gone,
    interpreter_gone,
]
TRIED_FAST = (killed_between_two_names, environment_gone, interpreter_gone)
DAMAGES = [pytest.param(one, marks=() if one in TRIED_FAST else pytest.mark.slow) for one in SEEN_AT_ONCE]
SEEN_WHEN_COMPARED = [
    module_edited,
    module_emptied_and_record_gone,
    plugin_edited,
    plugin_file_gone,
    copy_edited,
    copy_without_a_file,
    copy_gone,
]


WELL: Mapping[str, Any] = {
    "verify": "0 verified",
    "check": "0 ready",
    "ready": {"ash": "ready", "birch": "ready"},
    "run": (0, "runs\n", ""),
    "files": {**BIRCH, "own.txt": "what the plugin wrote"},
    "journal": False,
}


@pytest.fixture
def setting(home: Home) -> Setting:
    home.install(home.plugin("ash", "demo-colors"))
    home.install(home.plugin("birch", "demo-transport", files=BIRCH))
    home.ask("plugins", "install", home.plugin("cedar"))
    (home.path / "plugins" / "birch" / "own.txt").write_text("what the plugin wrote")
    base = Path(sys.base_prefix)
    other = home.work / "other"
    (other / "bin").mkdir(parents=True)
    (other / "lib").symlink_to(base / "lib")
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    python = Path(shutil.copy2(base / "bin" / name, other / "bin" / name))
    return Setting(home, python)


def said(home: Home, words: tuple[str, ...]) -> Answer:
    words = tuple(word.format(work=home.work) if "{work}" in word else word for word in words)
    return home.say(*words, *(() if words[0] == "run" else ("--json",)))


def steps_named(answer: Answer) -> list[str]:
    """Return the commands that an answer names: in steps, in the hints of warnings, in listings, in what is told."""
    if not answer.stdout.startswith("{"):
        return re.findall(r"`(hermes pm [^`]+)`", answer.stderr)
    value = answer.value
    steps = [step["command"] for step in value.get("steps", ()) if step["action"] in ("repair", "set-up", "roll-back")]
    hints = [hint for row in value.get("warnings", ()) for hint in re.findall(r"`(hermes pm [^`]+)`", row["hint"])]
    return [*steps, *(row["step"] for row in value.get("damage", ())), *hints]


def state(home: Home) -> Mapping[str, object]:
    """Return what has to be so where nothing is damaged."""
    birch = home.path / "plugins" / "birch"
    run = home.say("run", "--", "python", "-c", USES)
    return {
        "verify": home.ask("pm", "verify").gist,
        "check": home.ask("plugins", "check").gist,
        "ready": {row["key"]: row["ready"] for row in home.ask("plugins", "list").value["plugins"] if row["ready"]},
        "run": (run.status, run.stdout, run.stderr),
        "files": {path: (birch / path).read_text() for path in WELL["files"] if (birch / path).exists()},
        "journal": (home.state / "journal.json").exists(),
    }


def wrong(setting: Setting, damage: Damage, verb: str, words: tuple[str, ...]) -> str:
    """Damage a home, ask a verb, take the step that it names, and return what is not well then; empty if all is."""
    home = setting.home
    damage(setting)
    answer = said(home, words)
    if verb != "run" and "Traceback" in answer.stderr:
        return answer.stderr
    if verb in CHANGING and is_well(home, damage):
        return ""
    named = steps_named(answer)
    if not named:
        return f"no step is named: {answer.stdout or answer.stderr}"
    step = home.ask(*shlex.split(named[0])[1:])
    if step.status:
        return f"{named[0]}: {step.gist} {[reason['message'] for reason in step.value['reasons']]}"
    if is_well(home, damage):
        return ""
    after = state(home)
    return f"after {named[0]}: { {key: value for key, value in after.items() if value != WELL[key]} }"


def is_well(home: Home, damage: Damage) -> bool:
    found = state(home)
    # what a plugin wrote itself is kept nowhere else
    return found == WELL or (damage is plugin_gone and found == {**WELL, "files": BIRCH})


@pytest.mark.parametrize("damage", DAMAGES)
def test_every_verb_that_looks_names_the_step_that_puts_it_right(setting: Setting, damage: Damage) -> None:
    asked = LOOKING
    if damage in (plugin_gone, killed_between_two_names):
        asked = {verb: words for verb, words in LOOKING.items() if verb != "run"}  # which starts, or mends it itself
    found = {verb: wrong(setting, damage, verb, words) for verb, words in asked.items()}
    assert found == dict.fromkeys(found, "")


@pytest.mark.parametrize("damage", DAMAGES)
def test_every_verb_that_changes_something_heals_it_or_names_the_step(setting: Setting, damage: Damage) -> None:
    asked = CHANGING
    if damage is plugin_gone:
        asked = {"repair": CHANGING["repair"]}  # the others are not about the plugin, and do what they are for
    found = {verb: wrong(setting, damage, verb, words) for verb, words in asked.items()}
    assert found == dict.fromkeys(found, "")


@pytest.mark.parametrize("damage", SEEN_WHEN_COMPARED)
def test_a_comparison_names_the_step_that_puts_it_right(setting: Setting, damage: Damage) -> None:
    asked = {"verify": LOOKING["verify"], "repair": CHANGING["repair"]}
    found = {verb: wrong(setting, damage, verb, words) for verb, words in asked.items()}
    assert found == dict.fromkeys(found, "")


def test_a_start_finishes_what_was_interrupted(setting: Setting) -> None:
    """Row B5."""
    killed_between_two_names(setting)
    home = setting.home
    started = home.say("run", "--", "python", "-c", USES)
    told = "hermes: an interrupted operation was undone\n"
    assert (started.status, started.stdout, started.stderr) == (0, "runs\n", told)
    assert state(home) == WELL


def test_a_plugin_between_two_names_is_never_advised_to_be_removed(setting: Setting) -> None:
    """Row B5."""
    killed_between_two_names(setting)
    answers = [said(setting.home, words) for words in (LOOKING["check"], LOOKING["list"], LOOKING["status"])]
    assert "plugins remove" not in "".join(answer.stdout for answer in answers)
    assert answers[0].gist == "1 not-ready interrupted"


def test_where_neither_folder_nor_copy_is_whole_its_source_is_asked_for(setting: Setting) -> None:
    plugin_edited(setting)
    copy_edited(setting)
    home = setting.home
    answer = home.ask("pm", "verify")
    hint = "`hermes plugins install --force` with its source brings its files back"
    assert (answer.gist, answer.value["reasons"][0]["hint"]) == ("1 drift drift", hint)
    assert home.install(home.work / "birch", "--force").gist == "0 admitted"
    assert home.ask("pm", "verify").gist == "0 verified"
