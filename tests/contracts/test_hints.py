"""A command that a text of the manager names is run here, where that text is shown: it works, and leads on.

Steps of refusals have tests of their own (tests/functional/test_verbs_ways_out.py, tests/property/test_ways_out.py).
"""

from __future__ import annotations

import ast
import re
import shlex
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from fixtures.homes import HERMES, Home, new_home, write_plugin
from fixtures.hosts import host
from fixtures.wheels import DEFAULT_RECIPE, build_recipe, read_recipe
from pm.generations.distributions import site_packages

ROOT = Path(__file__).parents[2]
LOOKS = (
    "generations",
    "services",
    "list",
    "show",
    "check",
    "validate",
    "verify",
    "receipts",
    "status",
    "why",
    "tree",
    "--help",
    "run",
)
"""Verbs that change nothing: where one of them is named, there is something to see, and no other answer afterwards."""


class Situation(NamedTuple):
    """A home in which a command shows a text that names other commands."""

    prepare: Callable[[Home], object]
    words: tuple[str, ...]
    shown: str
    """A part of what it says, with the commands that are followed."""
    environ: tuple[tuple[str, str], ...] = ()
    filled: tuple[tuple[str, str], ...] = ()
    """What an operator writes for a word that stands for something: `FOLDER`."""


def _nothing(_: Home) -> None:
    """Leave the home as it is."""


def _one(home: Home) -> None:
    home.install(home.plugin("ash", "demo-colors"))


def _service(home: Home) -> None:
    _one(home)
    unit = home.user / ".config" / "systemd" / "user" / "hermes-gateway.service"
    unit.parent.mkdir(parents=True)
    unit.write_text(f"[Service]\nExecStart={home.generation}/bin/python -m hermes_cli.main gateway run\n")


def _by_hand(home: Home) -> None:
    _one(home)
    write_plugin(home.path / "plugins" / "birch", "demo-socket")
    config = home.config.read_text("utf-8")
    home.config.write_text(config.replace("    - ash\n", "    - ash\n    - birch\n"), "utf-8")


def _by_hand_and_stopped(home: Home) -> None:
    _by_hand(home)
    home.config.write_text(home.config.read_text("utf-8").replace("pm:\n", "pm:\n  on_unadmitted: stop\n"), "utf-8")


def _in_conflict(home: Home) -> None:
    home.install(home.plugin("ash", "demo-socket<3"))
    write_plugin(home.path / "plugins" / "birch", "demo-socket>=3")
    config = home.config.read_text("utf-8")
    home.config.write_text(config.replace("    - ash\n", "    - ash\n    - birch\n"), "utf-8")
    home.plugin("cedar", "demo-colors")


def _disabled(home: Home) -> None:
    _one(home)
    home.plugin("birch", "demo-socket")


def _gone(home: Home) -> None:
    _one(home)
    home.plugin("birch", "demo-socket")
    shutil.rmtree(home.path / "plugins" / "ash")


def _never_there(home: Home) -> None:
    _one(home)
    config = home.config.read_text("utf-8")
    home.config.write_text(config.replace("    - ash\n", "    - ash\n    - ghost\n"), "utf-8")


def _without_pointer(home: Home) -> None:
    _one(home)
    (home.state / "pointer.json").write_text("damaged")


def _without_record(home: Home) -> None:
    _one(home)
    [record] = home.state.glob("generations/*.json")
    record.write_text("damaged")


def _taken_from(home: Home) -> None:
    _one(home)
    site = site_packages(home.generation)
    site.chmod(0o755)
    shutil.rmtree(next(site.glob("demo_colors-*.dist-info")))


def _receipts_damaged(home: Home) -> None:
    _one(home)
    for receipt in home.state.glob("receipts/*.json"):
        receipt.write_text("damaged")


def _manager_inside(home: Home) -> None:
    _one(home)
    program = home.generation / "bin" / "hermes"
    program.parent.chmod(0o755)
    program.unlink(missing_ok=True)
    program.symlink_to(HERMES)


def _wheels_gone(home: Home) -> None:
    shelf = home.path.parent / "shelf"
    build_recipe(shelf, read_recipe(DEFAULT_RECIPE))
    home.config.write_text(re.sub(r"find_links: .*", f"find_links: [{shelf}]", home.config.read_text("utf-8")), "utf-8")
    _one(home)
    (site_packages(home.generation) / "demo_colors.py").write_text("damaged = True\n")
    for wheel in [*shelf.glob("demo_colors-2*"), *home.state.glob("wheels/*/demo_colors-2*")]:
        wheel.unlink()
    shutil.rmtree(home.state / "cache")


def _other_core(home: Home) -> None:
    shelf = home.path.parent / "shelf"
    build_recipe(shelf, [*read_recipe(DEFAULT_RECIPE), host("0.19.0")])
    config = re.sub(r"find_links: .*", f"find_links: [{shelf}]\n  core: hermes-agent", home.config.read_text("utf-8"))
    home.config.write_text(config, "utf-8")
    home.ask("pm", "init")


MANAGED = (("HERMES_MANAGED", "nix"),)
SITUATIONS = {
    "no generation: verify": Situation(_nothing, ("pm", "verify"), "`hermes pm init` makes one"),
    "no generation: run": Situation(_nothing, ("run", "--", "true"), "`hermes pm init` makes one"),
    "no generation: why": Situation(_nothing, ("pm", "why", "pyyaml"), "`hermes pm init` makes one"),
    "no generation: status": Situation(_nothing, ("pm", "status"), "none yet; `hermes pm init` makes one"),
    "no plugin": Situation(
        lambda home: home.plugin("ash", "demo-colors"),
        ("plugins", "list"),
        "`hermes plugins install FOLDER` installs one",
        filled=(("FOLDER", "ash"),),
    ),
    "damaged pointer": Situation(_without_pointer, ("pm", "verify"), "`hermes pm init` makes a new generation"),
    "damaged record": Situation(
        _without_record, ("plugins", "disable", "ash"), "`hermes pm init` makes a new generation"
    ),
    "another generation": Situation(_one, ("pm", "diff", "9"), "`hermes pm generations` lists them"),
    "no generation before": Situation(_one, ("pm", "diff"), "name two: `hermes pm generations` lists them"),
    "a service by a path": Situation(
        _service,
        ("pm", "status"),
        "starts by the path of a generation; `hermes pm services` says what to write",
    ),
    "what a service needs": Situation(_service, ("pm", "services"), "`hermes pm services --write` writes"),
    "taken away": Situation(_taken_from, ("run", "--", "true"), "`hermes pm repair` builds it again"),
    "the manager inside": Situation(_manager_inside, ("chat",), "`hermes pm repair` builds the generation again"),
    "no such command": Situation(_other_core, ("chat",), "`hermes --help` lists what there is"),
    "enabled by hand": Situation(_by_hand, ("run", "--", "true"), "`hermes plugins enable birch` admits it"),
    "enabled by hand, and stopped": Situation(
        _by_hand_and_stopped,
        ("run", "--", "true"),
        "`hermes plugins enable birch` admits it; `hermes run --safe -- …` starts without plugins",
        filled=(("…", "true"),),
    ),
    "in the way": Situation(
        _in_conflict, ("plugins", "install", "cedar", "--enable"), "`hermes plugins check birch` says what can be done"
    ),
    "disabled": Situation(
        _disabled, ("plugins", "install", "birch"), "`hermes plugins enable birch` checks and enables it"
    ),
    "gone": Situation(
        _gone,
        ("plugins", "install", "birch", "--enable"),
        "`hermes pm rollback 1` puts it back, `hermes plugins remove ash` removes it",
    ),
    "gone, and started": Situation(_gone, ("run", "--", "true"), "`hermes pm rollback 1` puts the files back"),
    "no such verb": Situation(_one, ("plugins", "lst"), "did you mean `hermes plugins list`?"),
    "never there": Situation(_never_there, ("run", "--", "true"), "put it back, or `hermes plugins remove ghost`"),
    "misspelt": Situation(_one, ("plugins", "show", "zebra"), "`hermes plugins list` shows the names"),
    "no such receipt": Situation(_one, ("pm", "receipts", "show", "zebra"), "`hermes pm receipts` lists them"),
    "damaged receipt": Situation(
        _receipts_damaged, ("pm", "receipts", "show", "latest"), "`hermes pm receipts` lists the others"
    ),
    "managed": Situation(_one, ("plugins", "disable", "ash"), "`hermes plugins check` works here", environ=MANAGED),
    "wheels gone": Situation(
        _wheels_gone,
        ("pm", "repair"),
        "the wheels may be gone from the index; `hermes pm init` resolves again",
    ),
}


@pytest.mark.parametrize("name", SITUATIONS)
def test_what_a_text_names_works_where_it_is_shown(name: str, tmp_path: Path, wheels: Path) -> None:
    situation = SITUATIONS[name]
    for command in _commands(situation):
        home = _prepared(situation, tmp_path, wheels)
        said = _told(home, situation.words, situation)
        assert situation.shown in said
        done = home.say(*command, **dict(situation.environ))
        assert (done.status, done.stderr) == (0, "") or _is_answer(situation, done.status), done
        if done.status == 0 and not set(command[:2]) & set(LOOKS):
            assert situation.shown not in _told(home, situation.words, situation)


def test_every_text_that_names_a_command_is_shown_in_one_of_the_situations() -> None:
    shown = [situation.shown for situation in SITUATIONS.values()]
    unseen = {place for place, text in _texts() if not any(_may_be(text, one) for one in shown)}
    unseen = {place for place in unseen if place.partition(": ")[0] not in FOLLOWED_ELSEWHERE}
    assert unseen == NOT_FOLLOWED


FOLLOWED_ELSEWHERE = {"pm/cli/doctor_verb.py", "pm/operations/doctor.py"}
"""Modules whose every text is followed by a test of their own: tests/functional/test_doctor.py."""
NOT_FOLLOWED = {
    # another version of the manager is needed
    "pm/host/core.py: `hermes pm init` moves to the embedded core of this manager",
    # the whole of its own text is what to do
    "pm/cli/run_verb.py: name a command: `hermes run -- CMD …`",
    # tests/functional/test_healing.py follows these, for each kind of damage and from each verb
    "pm/generations/drift.py: `hermes pm init` builds it with another one",
    "pm/launch/exec.py: `hermes pm init --python {}` builds it with another one",
    "pm/operations/damage.py: `hermes pm {}{}` puts it right",
    "pm/operations/damage.py: `hermes pm repair` finishes or undoes it",
    "pm/operations/verify.py: `hermes plugins install --force` with its source brings its files back",
    # tests/functional/test_launch.py
    "pm/launch/exec.py: `hermes pm verify` says what differs",
    # tests/functional/test_generations.py
    "pm/cli/listings_text.py: {} more come with the core; `hermes plugins list --all` shows them",
    # tests/functional/test_verbs_locked.py
    "admission/notices.py: `hermes pm rollback` goes back to it; to have both, {}",
    # tests/functional/test_catalog.py
    "pm/operations/catalog_lookup.py: `hermes plugins search` lists it",
    "pm/operations/catalog_lookup.py: `hermes plugins disable {}` disables it; it stays as it is unless you do",
    "pm/operations/catalog_lookup.py: check that you meant it; `hermes plugins show {}` shows the other",
    "pm/cli/search_verb.py: `hermes plugins install {} --enable` checks and installs it",
    # tests/functional/test_update_plugins.py
    (
        "pm/operations/update_plugins.py: `hermes plugins update {} --ref COMMIT` moves it; installed anew, it follows"
        " a branch"
    ),
    (
        "pm/operations/update_plugins.py: `hermes plugins install SOURCE --force` replaces it, and its source is known"
        " from then on"
    ),
    "pm/operations/update_plugins.py: `hermes update` updates the core",
    "pm/operations/update_plugins.py: `hermes plugins install {}` installs it beside this one",
    "pm/operations/update_plugins.py: update the files there; `hermes plugins enable {}` admits them as they are then",
    "pm/cli/outdated.py: `hermes plugins update {}` checks and installs what is newer",
    # tests/functional/test_update.py
    "pm/operations/update.py: `hermes update --core {}=={}`",
    "pm/operations/update.py: {}; `hermes pm extras remove {}` gives up what is chosen and no longer there",
    "pm/cli/update_verb.py: choose it in the checkout with git, then `hermes update` takes its files as they are",
    # tests/functional/test_extras.py
    "pm/cli/extras_verb.py: name the extras to {}; `hermes pm extras` lists them",
    "pm/operations/extras.py: `hermes pm init --core '{}'` chooses the published core with them",
    # tests/functional/test_linked_plugins.py
    "pm/operations/verify.py: `hermes plugins check {}` judges it as it is now",
    # tests/contracts/test_stopped.py
    "pm/cli/main.py: ; `hermes pm receipts show latest` tells how it ended",
    # shown where the disk refuses it at the moment: it works once the disk does
    "pm/operations/surplus.py: `hermes pm gc` tries it again",
    "pm/launch/exec.py: an operation was interrupted; `hermes pm repair` finishes or undoes it",
    # commands of a host that has profiles, which the embedded core has not
    "pm/places.py: `hermes profile create {}` makes it",
    "pm/places.py: `hermes profile use default` goes back to the root, and `--home` names one",
    # a command of the host; and what tells who wrote a file
    (
        "pm/cli/services_verb.py:   install this service again with `hermes run -- hermes gateway install`, "
        "or change the path by hand"
    ),
    (
        "pm/operations/service_units.py: # Written by `hermes pm services --write`: it starts in the generation that is"
        " selected."
    ),
    # tests/functional/test_used_home.py
    ("pm/host/used_home.py: `hermes pm init --core {}` takes the {} that is installed, {}"),
    "pm/host/used_home.py: `hermes pm init --core 'hermes-agent==VERSION'` takes yours",
    "pm/host/used_home.py: `hermes pm init --embedded-core` takes the one that comes with the manager",
    # what cannot be done
    "pm/operations/new_generation.py: `hermes pm rollback` cannot restore its files",
}
"""Texts whose commands are not run here, with the reason beside each."""


def _prepared(situation: Situation, folder: Path, wheels: Path) -> Home:
    for path in folder.iterdir():
        shutil.rmtree(path)
    home = new_home(folder / "home", wheels=wheels)
    situation.prepare(home)
    return home


def _told(home: Home, words: tuple[str, ...], situation: Situation) -> str:
    """Return what a command says, in one line: as text it is broken into lines."""
    answer = home.say(*words, **dict(situation.environ))
    return " ".join((answer.stdout + " " + answer.stderr).split())


def _is_answer(situation: Situation, status: int) -> bool:
    """Say whether a refusal is what was promised: its reasons."""
    return status == 1 and "says what" in situation.shown


def _commands(situation: Situation) -> list[tuple[str, ...]]:
    texts = re.findall(r"`hermes ([^`]+)`", situation.shown)
    for word, value in situation.filled:
        texts = [text.replace(word, value) for text in texts]
    return [tuple(shlex.split(text)) for text in texts]


_PAGES = {
    "failure_codes.py",
    "refusal_codes.py",
    "warning_codes.py",
    "example_refusals.py",
    "plugins_table.py",
    "pm_table.py",
    "verb.py",
    "verb_table.py",
    "bundle_readme.py",
}
"""Modules whose texts are read in pages of the documentation or elsewhere, and not in a situation."""


def _texts() -> Iterator[tuple[str, str]]:
    """Yield the texts of the manager that name a command, with `{}` for what is filled in, by their places."""
    for package in ("pm", "admission"):
        for module in sorted((ROOT / package).rglob("*.py")):
            if module.name not in _PAGES:
                yield from _texts_of(module)


def _texts_of(module: Path) -> Iterator[tuple[str, str]]:
    tree = ast.parse(module.read_text("utf-8"))
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        text = _text(node) if id(node) not in docstrings | parts else ""
        if "`hermes " in text:
            yield f"{module.relative_to(ROOT)}: {text}", text


def _text(node: ast.AST) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) or "{}" for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _may_be(text: str, shown: str) -> bool:
    """Say whether a text, or a part of it, is shown."""
    pattern = ".*".join(re.escape(part) for part in text.split("{}"))
    return shown in text or re.search(pattern, shown) is not None
