"""Nobody changes a file of a generation that is selected or runs, nor of a plugin folder that is not named."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fixtures.homes import Home, new_home, snapshot, write_plugin
from pm.operations.leftovers import sweep
from pm.places import Places

WAITS = "import sys; print('here', flush=True); sys.stdin.read()"


@pytest.fixture
def home(tmp_path: Path, wheels: Path) -> Iterator[Home]:
    """Give a home of one test."""
    with furnished(tmp_path / "home", wheels) as home:
        yield home


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, wheels: Path) -> Iterator[Home]:
    """Give the same home to all tests that find and leave it as it is."""
    with furnished(tmp_path_factory.mktemp("shared") / "home", wheels) as home:
        home.plugin("fir", "demo-nowhere")
        yield home


@contextmanager
def furnished(path: Path, wheels: Path) -> Iterator[Home]:
    """Give a home with two profiles and plugins of all kinds, in whose first generation something runs."""
    home = new_home(path, wheels=wheels)
    home.configure("  keep_generations: 2\n")
    home.install(home.plugin("ash", "demo-colors"))
    with home.start("run", "--", "python", "-c", WAITS, stdin=subprocess.PIPE) as host:
        assert host.stdout is not None
        assert host.stdout.readline() == "here\n"
        home.install(home.plugin("birch", "demo-transport"))
        home.ask("plugins", "install", home.plugin("cedar", "demo-socket"))
        home.install(home.plugin("juniper", python_runtime="external"))
        _write_own(home.path / "plugins" / "juniper")
        work = home.profile("work")
        work.install(write_plugin(work.work / "elm", "demo-colors"))
        _write_others(home.path / "plugins")
        _write_others(work.path / "plugins")
        yield home
        host.communicate("", timeout=60)


def _write_others(plugins: Path) -> None:
    """Write what lies in plugin folders and is nobody's plugin, or a plugin that wrote more into its own folder."""
    (plugins / "undeclared").mkdir()
    (plugins / "undeclared" / "notes.txt").write_text("mine")
    _write_own(write_plugin(plugins / "wrapper"))


def _write_own(wrapper: Path) -> None:
    """Write what a plugin makes for itself that wraps another program: environments, and a mark that they are made."""
    (wrapper / ".installed").write_text("yes")
    for name in ("venv", ".venv"):
        (wrapper / name / "bin").mkdir(parents=True)
        (wrapper / name / "pyvenv.cfg").write_text("home = /usr/bin\n")
        (wrapper / name / "bin" / "python").symlink_to("/usr/bin/python3")


def generations(home: Home) -> dict[str, dict[str, str]]:
    """Return the environment that is selected and the one that something runs in, with all their files."""
    return {str(folder): snapshot(folder) for folder in {home.generation, home.state / "generations" / "1"}}


def plugins(home: Home) -> dict[str, dict[str, str]]:
    return {path.parent.name: snapshot(path) for path in (home.path / "plugins", home.path / "profiles/work/plugins")}


def text(words: object) -> str:
    return " ".join(words) if isinstance(words, tuple) else ""


def told(home: Home, words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word.format(work=home.work, home=home.path) for word in words)


@pytest.mark.parametrize(
    ("words", "gist"),
    [
        (("plugins", "enable", "cedar"), "0 admitted"),
        (("plugins", "disable", "birch"), "0 disabled"),
        (("plugins", "disable", "elm", "--home", "{home}/profiles/work"), "0 disabled"),
        (("pm", "gc"), "0 collected"),
    ],
    ids=text,
)
def test_neither_generations_nor_plugin_folders_are_changed(home: Home, words: tuple[str, ...], gist: str) -> None:
    before = generations(home), plugins(home)
    answer = home.ask(*told(home, words))
    selected, others = before
    after = {folder: snapshot(Path(folder)) for folder in selected}
    assert (answer.gist, after, plugins(home)) == (gist, selected, others)


@pytest.mark.parametrize(
    ("words", "gist"),
    [
        (("plugins", "check"), "0 ready"),
        (("plugins", "check", "{work}/birch"), "0 admitted"),
        (("plugins", "install", "{work}/fir", "--enable"), "1 refused not-found-on-index"),
        (("plugins", "install", "{work}/birch", "--enable"), "0 unchanged"),
        (("plugins", "install", "{work}/birch", "--enable", "--force", "--dry-run"), "0 admitted"),
        (("plugins", "remove", "birch", "--dry-run"), "0 removed"),
        (("pm", "init"), "0 unchanged"),
        (("pm", "verify"), "0 verified"),
        (("pm", "repair"), "0 unchanged"),
        (("pm", "gc", "--dry-run"), "0 collected"),
        (("pm", "rollback", "--dry-run", "--yes"), "0 rolled-back"),
    ],
    ids=text,
)
def test_nor_where_there_is_nothing_to_do_or_nothing_is_done(shared: Home, words: tuple[str, ...], gist: str) -> None:
    before = generations(shared), plugins(shared), shared.pointer
    answer = shared.ask(*told(shared, words))
    assert (answer.gist, generations(shared), plugins(shared), shared.pointer) == (gist, *before)


@pytest.mark.parametrize(
    ("words", "gist", "changed"),
    [
        (("plugins", "install", "{work}/fir", "--enable"), "0 admitted", "fir"),
        (("plugins", "install", "{work}/fir", "--no-enable"), "0 admitted", "fir"),
        (("plugins", "install", "{work}/birch", "--enable", "--force"), "0 admitted", "birch"),
        (("plugins", "remove", "birch"), "0 removed", "birch"),
        (("pm", "rollback", "1", "--yes"), "0 rolled-back", "nothing"),
    ],
    ids=text,
)
def test_no_generation_is_changed_and_of_plugin_folders_only_the_one_that_is_named(
    home: Home, words: tuple[str, ...], gist: str, changed: str
) -> None:
    home.plugin("fir", "demo-speedups")
    left_out = [changed]
    before = {folder: snapshot(Path(folder)) for folder in generations(home)}
    others = snapshot(home.path / "plugins", left_out), snapshot(home.path / "profiles/work/plugins")
    answer = home.ask(*told(home, words))
    after = {folder: snapshot(Path(folder)) for folder in before}
    assert (answer.gist, after) == (gist, before)
    assert (snapshot(home.path / "plugins", left_out), snapshot(home.path / "profiles/work/plugins")) == others


@pytest.mark.parametrize(
    "words",
    [
        ("run", "--", "python", "-c", "import demo_transport, hermes_constants"),
        ("run", "--safe", "--", "python", "-c", "import demo_socket"),
        ("run", "--", "hermes", "--version"),
        ("chat", "--version"),
        ("plugins", "list"),
        ("plugins", "show", "birch"),
        ("pm", "status"),
        ("pm", "receipts"),
        ("pm", "why", "demo-colors"),
    ],
    ids=" ".join,
)
def test_nor_by_a_look_or_a_start(shared: Home, words: tuple[str, ...]) -> None:
    before = generations(shared), plugins(shared)
    assert shared.say(*words).status == 0
    assert (generations(shared), plugins(shared)) == before


def test_nor_by_a_repair_of_what_somebody_else_has_changed(home: Home) -> None:
    site = next(home.generation.glob("lib/python3*/site-packages"))
    (site / "demo_transport.py").write_text("changed = True\n")
    selected, others = generations(home), plugins(home)
    assert home.ask("pm", "repair").gist == "0 repaired"
    assert ({folder: snapshot(Path(folder)) for folder in selected}, plugins(home)) == (selected, others)


OWN = (".installed", ".venv/pyvenv.cfg", "venv/pyvenv.cfg", ".venv/bin/python", "venv/bin/python")


def own(home: Home) -> dict[str, str]:
    """Return what the wrapping plugin has made for itself."""
    return {path: state for path, state in snapshot(home.path / "plugins" / "juniper").items() if path in OWN}


def test_what_a_plugin_made_for_itself_outlives_its_replacement_and_its_removal(home: Home) -> None:
    before = own(home)
    assert sorted(before) == sorted(OWN)
    newer = write_plugin(home.work / "newer" / "juniper", python_runtime="external", version="2")
    assert home.ask("plugins", "install", newer, "--force").gist == "0 admitted"
    assert own(home) == before
    assert home.ask("pm", "rollback", "--yes").gist == "0 rolled-back"
    assert own(home) == before
    assert home.ask("plugins", "remove", "juniper").gist == "0 removed"
    assert own(home) == before


def test_an_environment_outlives_the_record_of_its_own_number(tmp_path: Path, wheels: Path) -> None:
    home = new_home(tmp_path / "home", wheels=wheels)
    home.configure("  keep_generations: 2\n")
    home.install(home.plugin("ash", "demo-colors"))
    home.install(home.plugin("birch", "demo-transport"))
    home.ask("plugins", "disable", "birch")
    assert home.ask("pm", "gc").gist == "0 collected"
    before = generations_on_disk(home), snapshot(home.generation)
    assert home.ask("plugins", "disable", "nobody").gist == "2 failed unknown-plugin"
    assert (generations_on_disk(home), snapshot(home.generation)) == before
    assert home.ask("pm", "verify").gist == "0 verified"


def generations_on_disk(home: Home) -> list[str]:
    return sorted(path.name for path in (home.state / "generations").iterdir())


def test_what_lies_beside_plugins_and_is_not_ours_is_not_swept(home: Home) -> None:
    places = Places(home.path, home.path)
    for name in ("plugins/.hidden", "plugins/.ash.pm-notes.tree", "plugins/ash/.a.tmp", ".config.yaml.swp"):
        (home.path / name).write_text("mine")
    kept = home.snapshot(["pm"])
    for name in (
        "plugins/.ash.pm-0123456789ab.tree",
        ".config.yaml.pm-0123456789ab.new",
        "plugins/ash/.x.pm-0123456789ab.old",
    ):
        (home.path / name).write_text("of a killed operation")
    sweep(places)
    assert home.snapshot(["pm"]) == kept


def test_what_a_parked_journal_names_is_not_swept(home: Home) -> None:
    path = home.path / ".config.yaml.pm-0123456789ab.old"
    path.write_text("as it was before")
    (home.state / "journal.parked-0123456789ab.json").write_text(f'{{"replacements": [{{"kept": "{path}"}}]}}')
    sweep(Places(home.path, home.path))
    assert path.read_text() == "as it was before"
