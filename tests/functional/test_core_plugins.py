"""The embedded core imports the plugins that are enabled and admitted, and no other."""

from __future__ import annotations

import json
import os
import py_compile
import shutil
import subprocess
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest

from fixtures.homes import HERMES, ROOT, Answer, Home, new_home, snapshot, write_plugin
from fixtures.wheels import DEFAULT_RECIPE, Distribution, build_recipe, read_recipe
from hermes_cli.config import parse_mapping
from hermes_cli.plugin_sources import enabled_plugins as enabled_by_core
from hermes_cli.plugin_sources import find_plugins as found_by_core
from pm.config.profiles import enabled_plugins as enabled_by_manager
from pm.config.profiles import read_selection
from pm.plugins.declaration_cache import Rules
from pm.plugins.discovery import find_plugins as found_by_manager

SOURCE = """\
import os
from pathlib import Path

from .words import greeting

with open(os.path.join(os.environ["HOME"], "imported"), "a") as marks:
    marks.write(f"{Path(__file__).parent}\\n")


def register(ctx):
    ctx.register_hook("greet", lambda name: greeting(ctx.plugin_id, name))
"""
WORDS = """\
def greeting(who, name):
    return f"{who} greets {name}"
"""
FILES = {"__init__.py": SOURCE, "words.py": WORDS}

SHOW = """\
import json
from hermes_cli.plugins import discover_plugins, get_plugin_manager, invoke_hook

discover_plugins()
manager = get_plugin_manager()
print(json.dumps({
    "loaded": [row["key"] for row in manager.list_plugins() if row["enabled"]],
    "errors": {row["key"]: row["error"] for row in manager.list_plugins() if row["error"]},
    "skipped": [one._asdict() for one in manager.skipped],
    "said": invoke_hook("greet", name="you"),
}))
"""


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the small index's wheels, with the real reader of YAML in place of the stand-in: here the core runs.

    It is compiled once, and not in each generation.
    """
    folder = tmp_path_factory.mktemp("wheels")
    reader = distribution("PyYAML")
    files: dict[str, str | bytes] = {
        f"{file}c": compiled(Path(str(file.locate())), folder) for file in reader.files or () if file.suffix == ".py"
    }
    files |= {str(file): Path(str(file.locate())).read_bytes() for file in reader.files or () if file.suffix == ".so"}
    build_recipe(folder, [*read_recipe(DEFAULT_RECIPE), Distribution("PyYAML", reader.version, files=files)])
    return folder


def compiled(source: Path, folder: Path) -> bytes:
    target = folder / "compiled"
    py_compile.compile(str(source), str(target), doraise=True)
    return target.read_bytes()


@pytest.fixture
def ready(home: Home) -> Home:
    """Return a home in whose generation `ash` was admitted."""
    assert home.install(home.plugin("ash", "demo-colors>=1", files=FILES)).gist == "0 admitted"
    return home


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, wheels: Path) -> Home:
    """Return such a home for the tests in which nothing of it is imported."""
    home = new_home(tmp_path_factory.mktemp("shared") / "home", wheels=wheels)
    assert home.install(home.plugin("ash", "demo-colors>=1", files=FILES)).gist == "0 admitted"
    return home


def show(home: Home, **environ: str) -> Answer:
    return home.say("run", "--", "python", "-c", SHOW, **environ)


def imported(home: Home) -> list[str]:
    """Return the folders whose `__init__.py` has run, relative to the root."""
    marks = home.user / "imported"
    lines = marks.read_text().splitlines() if marks.exists() else []
    return [os.path.relpath(line, home.root) for line in lines]


def by_hand(home: Home, *names: str) -> None:
    """Enable plugins as an editor does, behind what is enabled."""
    text = home.config.read_text() if home.config.exists() else ""
    start, found, listed = text.partition("  enabled:\n")
    added = "".join(f"    - {name}\n" for name in names)
    home.config.write_text(f"{start}{found}{added}{listed}" if found else f"{text}plugins:\n  enabled:\n{added}")


def refusal(home: Home, key: str, generation: int) -> dict[str, str]:
    return {
        "key": key,
        "path": str(home.path / "plugins" / key),
        "message": f"in its present form it is not part of generation {generation}",
        "step": f"`hermes plugins enable {key}` admits it",
        "code": "not-admitted",
    }


def core_line(key: str, generation: int) -> str:
    return (
        f"plugin_not_admitted: `{key}` is enabled and not imported: "
        f"in its present form it is not part of generation {generation}; "
        f"`hermes plugins enable {key}` admits it\n"
    )


def run_line(home: Home, generation: int, listed: str, key: str) -> str:
    text = f"enabled in `{home.config}` and not part of generation {generation}: {listed}"
    return f"hermes: {text}; `hermes plugins enable {key}` admits it\n"


def test_a_plugin_that_was_admitted_is_imported_and_registers(ready: Home) -> None:
    answer = show(ready)
    assert (answer.status, answer.stderr, answer.value) == (
        0,
        "",
        {"loaded": ["ash"], "errors": {}, "skipped": [], "said": ["ash greets you"]},
    )
    assert imported(ready) == ["plugins/ash"]


def test_one_that_was_enabled_by_hand_is_not_imported_and_the_others_are(ready: Home) -> None:
    write_plugin(ready.path / "plugins" / "birch", files=FILES)
    by_hand(ready, "birch")
    answer = show(ready)
    assert (answer.status, answer.stderr, answer.value) == (
        0,
        run_line(ready, 1, "`birch`", "birch") + core_line("birch", 1),
        {
            "loaded": ["ash"],
            "errors": {"birch": "not-admitted: in its present form it is not part of generation 1"},
            "skipped": [refusal(ready, "birch", 1)],
            "said": ["ash greets you"],
        },
    )
    assert imported(ready) == ["plugins/ash"]


def test_the_step_that_is_named_admits_it(ready: Home) -> None:
    write_plugin(ready.path / "plugins" / "birch", files=FILES)
    by_hand(ready, "birch")
    enabled = ready.ask("plugins", "enable", "birch")
    answer = show(ready)
    assert (enabled.gist, answer.stderr, answer.value["loaded"]) == ("0 admitted", "", ["ash", "birch"])


def test_one_that_is_only_installed_is_not_imported(ready: Home) -> None:
    assert ready.ask("plugins", "install", ready.plugin("birch", files=FILES), "--no-enable").status == 0
    answer = show(ready)
    assert (answer.stderr, answer.value["loaded"], answer.value["skipped"]) == ("", ["ash"], [])


def test_one_that_declares_something_else_since_is_not_imported(ready: Home) -> None:
    folder = ready.path / "plugins" / "ash"
    write_plugin(folder, "demo-colors>=1", files=FILES, description="other words")
    reworded = show(ready)
    write_plugin(folder, "demo-colors>=1.1", files=FILES)
    changed = show(ready)
    again = show(ready)
    assert (reworded.stderr, reworded.value["loaded"]) == ("", ["ash"])
    assert [changed, again] == [
        Answer(
            0,
            json.dumps(
                {
                    "loaded": [],
                    "errors": {"ash": "not-admitted: in its present form it is not part of generation 1"},
                    "skipped": [refusal(ready, "ash", 1)],
                    "said": [],
                }
            )
            + "\n",
            run_line(ready, 1, "`ash` (changed since it was admitted)", "ash") + core_line("ash", 1),
        )
    ] * 2
    assert imported(ready) == ["plugins/ash"]


def test_one_whose_own_file_of_requirements_changed_is_not_imported(home: Home) -> None:
    project = (
        '[project]\nname = "ash"\nversion = "1"\ndynamic = ["dependencies"]\n'
        '[tool.setuptools.dynamic]\ndependencies = {file = ["needs.txt"]}\n'
    )
    files = {**FILES, "pyproject.toml": project, "needs.txt": "demo-colors>=1\n"}
    assert home.install(home.plugin("ash", files=files)).gist == "0 admitted"
    before = show(home)
    (home.path / "plugins" / "ash" / "needs.txt").write_text("demo-colors>=1.1\n")
    assert (before.value["loaded"], show(home).value["loaded"]) == (["ash"], [])


def test_one_that_was_switched_off_and_is_enabled_by_hand_is_not_imported(ready: Home) -> None:
    enabled = ready.config.read_text()
    assert ready.ask("plugins", "disable", "ash").gist == "0 disabled"
    ready.config.write_text(enabled)
    answer = show(ready)
    assert (answer.status, answer.value["loaded"], answer.value["skipped"]) == (0, [], [refusal(ready, "ash", 2)])
    assert imported(ready) == []


def test_the_other_copy_of_an_admitted_plugin_is_not_imported(ready: Home) -> None:
    write_plugin(ready.work / ".hermes" / "plugins" / "ash", "demo-colors>=1", files=FILES)
    off, on = show(ready), show(ready, HERMES_ENABLE_PROJECT_PLUGINS="1")
    told = run_line(ready, 1, "`ash` (another copy than the one that was admitted)", "ash") + core_line("ash", 1)
    assert (off.stderr, off.value["loaded"], on.stderr, on.value["loaded"]) == ("", ["ash"], told, [])
    enabled = ready.ask("plugins", "enable", "ash", HERMES_ENABLE_PROJECT_PLUGINS="1")
    assert (enabled.status, show(ready, HERMES_ENABLE_PROJECT_PLUGINS="1").value["loaded"]) == (0, ["ash"])


def test_every_spelling_in_the_config_means_the_same_plugin(home: Home) -> None:
    assert home.install(home.plugin("Red_Ash", files=FILES)).gist == "0 admitted"
    config = home.config.read_text()
    answers = []
    for spelling in ("red-ash", "RED_ASH", "Red.Ash"):
        home.config.write_text(config.replace("- Red_Ash", f"- {spelling}"))
        answers.append(show(home).value["loaded"])
    home.configure("  disabled:\n    - red.ash\n")
    assert [*answers, show(home).value["loaded"]] == [["Red_Ash"]] * 3 + [[]]


def test_a_plugin_of_the_core_is_imported_if_it_was_admitted(tmp_path: Path, wheels: Path) -> None:
    home = new_home(tmp_path / "home", wheels=wheels)
    core = shutil.copytree(ROOT / "core", tmp_path / "core", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("elm", "fir"):
        write_plugin(core / "plugins" / name, files=FILES)
    home.configure(f"  core: {core}\n")
    assert home.ask("plugins", "enable", "elm").gist == "0 admitted"
    by_hand(home, "fir")
    answer = show(home)
    assert (answer.value["loaded"], [one["key"] for one in answer.value["skipped"]]) == (["elm"], ["fir"])
    assert imported(home) == ["../core/plugins/elm"]


def test_a_memory_provider_is_found_and_left_to_whoever_runs_it(home: Home) -> None:
    source = f"{SOURCE}    ctx.register_memory_provider(object())\n"
    assert home.install(home.plugin("recall", files={**FILES, "__init__.py": source})).gist == "0 admitted"
    answer = show(home)
    assert (answer.stderr, answer.value["loaded"], answer.value["skipped"], imported(home)) == ("", [], [], [])


HANDED = "import os; print(os.environ['HERMES_PM_ADMITTED'])"


def test_a_plugin_of_a_project_is_compared_from_every_folder(ready: Home, tmp_path: Path) -> None:
    folder = write_plugin(ready.work / ".hermes" / "plugins" / "cedar", "demo-colors>=1", files=FILES)
    enabled = ready.ask("plugins", "enable", "cedar", HERMES_ENABLE_PROJECT_PLUGINS="1")
    elsewhere = Home(ready.path, surroundings=tmp_path / "elsewhere")
    before = [elsewhere.say("run", "--", "python", "-c", HANDED).value for _ in range(2)]
    write_plugin(folder, "demo-colors>=1.1", files=FILES)
    after = elsewhere.say("run", "--", "python", "-c", HANDED).value
    ash = str(ready.path / "plugins" / "ash")
    assert (enabled.gist, before, after) == (
        "0 admitted",
        [{"default": [ash, str(folder)]}] * 2,
        {"default": [ash]},
    )


# -- the rules are the manager's


PROVIDER = "class Recall(MemoryProvider): ...\n"


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return a home and a project with plugins that are called in every odd way."""
    home, project = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("project")
    plugins, others = home / "plugins", project / ".hermes" / "plugins"
    write_plugin(plugins / "ash")
    write_plugin(plugins / "Silver_Birch", name="birch.tree")
    write_plugin(plugins / "räume und mehr", name="rooms")
    write_plugin(plugins / "trees" / "elm")
    write_plugin(plugins / "shrubs" / "elm")
    write_plugin(plugins / "trees" / "yew", name="taxus")
    write_plugin(plugins / "memory" / "recall", files={"__init__.py": PROVIDER})
    write_plugin(plugins / "keeper", kind="exclusive")
    write_plugin(plugins / "engine")
    write_plugin(plugins / ".hidden")
    write_plugin(plugins / "__pycache__" / "cached")
    (plugins / "empty").mkdir()
    (plugins / "bare").mkdir()
    (plugins / "bare" / "__init__.py").write_text("")
    (plugins / "faulty").mkdir()
    (plugins / "faulty" / "plugin.yaml").write_text("name: [\n")
    (plugins / "json").mkdir()
    (plugins / "json" / "plugin.json").write_text('{\n\t"name": "jay", "version": 1.0}')
    (plugins / "packaged").mkdir()
    (plugins / "packaged" / "pyproject.toml").write_text('[project]\nname = "my.project"\nversion = "1"\n')
    write_plugin(plugins / "umlaut", name="Übung", files={"pyproject.toml": '[project]\nname = "practice"\n'})
    for name, text in (("number", "name: 012"), ("empty name", "name: null"), ("shouted", "kind: Exclusive")):
        (plugins / name).mkdir()
        (plugins / name / "plugin.yaml").write_text(f"{text}\nversion: 1.10\n")
    write_plugin(others / "ash")
    write_plugin(others / "recall", files={"__init__.py": PROVIDER})
    return home, project


BY_KEY = ("ash", "bare", "birch-tree", "faulty", "jay", "memory/recall", "my-project", "rooms")
BY_FOLDER = ("birch-tree", "jay", "memory/recall", "my-project", "rooms")
ALL_TREES = ("shrubs/elm", "trees/elm", "trees/yew")


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ("", ()),
        ("plugins: {enabled: [ASH, bare, birch_tree, faulty, jay, Memory/Recall, my.project, rooms]}", BY_KEY),
        ("plugins: {enabled: [silver-birch, json, packaged, räume und mehr, recall]}", BY_FOLDER),
        ("plugins: {enabled: [elm, yew]}", ("trees/yew",)),
        ("plugins: {enabled: [trees/elm, shrubs.elm, taxus, shrubs/elm]}", ALL_TREES),
        ("plugins: {enabled: [practice, '012', shouted]}", ("012", "practice", "shouted")),
        ("plugins: {enabled: [empty, hidden, cached, ghost, '', 'null']}", ()),
        ("plugins: {enabled: [ash, birch.tree, jay], disabled: [Ash, silver_birch]}", ("jay",)),
        ("plugins: {disabled: [recall]}\nmemory: {provider: RECALL}", ("memory/recall",)),
        ("memory: {provider: keeper}\ncontext: {engine: engine}", ("engine", "keeper")),
        ("memory: {provider: jay}\ncontext: {engine: elm}", ("jay",)),
        ("memory: {provider: shouted}\ncontext: {engine: umlaut}", ("practice", "shouted")),
        ("memory: {provider: Built-In}\ncontext: {engine: compressor}", ()),
        ("memory: {provider: off}\ncontext:\nplugins:\n  enabled:", ()),
    ],
)  # fmt: skip
def test_the_core_finds_and_chooses_what_the_manager_does(
    crowd: tuple[Path, Path], config: str, expected: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    home, project = crowd
    (home / "config.yaml").write_text(config)
    monkeypatch.chdir(project)
    answers = []
    for switch in ("0", "1"):
        monkeypatch.setenv("HERMES_ENABLE_PROJECT_PLUGINS", switch)
        by_core = enabled_by_core(parse_mapping(config, home), found_by_core(home))
        found = found_by_manager(home, {}, os.environ, Rules(frozenset()), project=project)
        by_manager = enabled_by_manager(read_selection(home), found).members
        assert {plugin.path for plugin in by_core} == {str(plugin.folder) for plugin in by_manager}
        answers += [tuple(plugin.key for plugin in by_core), tuple(sorted(plugin.key for plugin in by_manager))]
    assert answers == [expected] * 4


def test_a_version_is_told_as_it_is_written(crowd: tuple[Path, Path]) -> None:
    versions = {plugin.key: (plugin.kind, plugin.version) for plugin in found_by_core(crowd[0])}
    assert (versions["012"], versions["shouted"]) == (("standalone", "1.10"), ("exclusive", "1.10"))


# -- profiles


BOTH = """\
import json, sys
from hermes_constants import set_hermes_home_override
from hermes_cli.plugins import discover_plugins, get_plugin_manager, invoke_hook

said = []
for home in sys.argv[1:]:
    set_hermes_home_override(home)
    discover_plugins()
    said.append([invoke_hook("greet", name="you"), [one.key for one in get_plugin_manager().skipped]])
copies = [name for name in sys.modules if name.startswith("hermes_plugins.ash") and name.endswith(".words")]
print(json.dumps({"said": said, "copies": len(copies)}))
"""


def test_one_that_was_admitted_for_another_profile_is_not_imported(ready: Home) -> None:
    work = ready.profile("work")
    write_plugin(work.path / "plugins" / "ash", "demo-colors>=1", files=FILES)
    by_hand(work, "ash")
    here, there = show(ready), show(work)
    assert (here.stderr, here.value["loaded"]) == ("", ["ash"])
    assert (there.stderr, there.value["loaded"], there.value["skipped"]) == (
        run_line(work, 1, "`ash`", "ash") + core_line("ash", 1),
        [],
        [refusal(work, "ash", 1)],
    )
    assert imported(ready) == ["plugins/ash"]


def test_a_process_that_serves_two_profiles_asks_for_each_of_them(ready: Home) -> None:
    work = ready.profile("work")
    write_plugin(work.path / "plugins" / "birch", files=FILES)
    by_hand(work, "birch")
    write_plugin(work.path / "plugins" / "ash", "demo-colors>=1", files=FILES)
    assert work.ask("plugins", "enable", "ash").status == 0
    by_hand(work, "cedar")
    write_plugin(work.path / "plugins" / "cedar", files=FILES)
    answer = ready.say("run", "--", "python", "-c", BOTH, ready.path, work.path)
    assert (answer.status, answer.value) == (
        0,
        {
            "said": [[["ash greets you"], []], [["ash greets you", "birch greets you"], ["cedar"]]],
            "copies": 2,
        },
    )
    write_plugin(work.path / "plugins" / "ash", "demo-colors>=1.1", files=FILES)
    changed = ready.say("run", "--", "python", "-c", BOTH, ready.path, work.path)
    assert (changed.stderr.count("hermes:"), changed.value["said"][1]) == (0, [["birch greets you"], ["ash", "cedar"]])


# -- how it is started


def test_whoever_asks_for_it_starts_nothing_that_was_not_admitted(ready: Home) -> None:
    write_plugin(ready.path / "plugins" / "birch", files=FILES)
    by_hand(ready, "birch")
    ready.config.write_text(ready.config.read_text().replace("pm:\n", "pm:\n  on_unadmitted: stop\n"))
    assert (show(ready).status, imported(ready)) == (1, [])


def test_safe_mode_imports_nothing_and_changes_no_config(shared: Home) -> None:
    before = snapshot(shared.path, ["pm"])
    answer = shared.say("run", "--safe", "--", "python", "-c", SHOW)
    assert (answer.status, answer.stderr, answer.value) == (
        0,
        "",
        {"loaded": [], "errors": {}, "skipped": [], "said": []},
    )
    assert (imported(shared), snapshot(shared.path, ["pm"])) == ([], before)


def test_the_home_may_be_reached_by_a_link(ready: Home) -> None:
    link = ready.work / "link"
    link.symlink_to(ready.path)
    answer = show(ready, HERMES_HOME=str(link))
    assert (answer.stderr, answer.value["loaded"]) == ("", ["ash"])


def test_a_child_of_a_running_process_imports_what_was_admitted_to_its_own_generation(ready: Home) -> None:
    install = f'"{HERMES}" plugins install "{ready.plugin("birch", "demo-transport", files=FILES)}" --enable -q'
    answer = ready.say("run", "--", "sh", "-c", f'{install} 2>/dev/null >&2; exec python -c "$0"', SHOW)
    assert (answer.value["loaded"], answer.value["skipped"]) == (["ash"], [refusal(ready, "birch", 1)])
    assert show(ready).value["loaded"] == ["ash", "birch"]


def plain(home: Home, **environ: str) -> tuple[str, Any]:
    """Run the generation's interpreter as somebody does who knows nothing of the manager."""
    done = subprocess.run(
        [home.generation / "bin" / "python", "-c", SHOW],
        env={**home.environ, **environ},
        cwd=home.work,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stderr, json.loads(done.stdout)


def test_a_process_that_was_not_started_by_the_launcher_imports_nothing(shared: Home) -> None:
    stderr, shown = plain(shared)
    told = (
        "plugin_not_admitted: `ash` is enabled and not imported: the process was not started by `hermes run`; "
        "`hermes run` starts in the environment that it was admitted to\n"
    )
    assert (stderr, shown["loaded"], imported(shared)) == (told, [], [])


def test_a_home_that_nobody_manages_is_used_as_it_is(shared: Home, tmp_path: Path) -> None:
    other = tmp_path / "other"
    write_plugin(other / "plugins" / "birch", files=FILES)
    (other / "config.yaml").write_text("plugins:\n  enabled: [birch]\n")
    stderr, shown = plain(shared, HERMES_HOME=str(other), HOME=str(tmp_path))
    assert (stderr, shown["loaded"], shown["said"]) == ("", ["birch"], ["birch greets you"])


@pytest.mark.parametrize("handed", ["", "not JSON", "[]", '{"default": 1}', '{"default": [1]}', "1"])
def test_where_it_is_not_known_what_was_admitted_nothing_is_imported(shared: Home, handed: str) -> None:
    stderr, shown = plain(shared, HERMES_PM_GENERATION="1", HERMES_PM_ADMITTED=handed)
    told = (
        "plugin_not_admitted: `ash` is enabled and not imported: `hermes run` did not say what was admitted; "
        "`hermes plugins check` says why\n"
    )
    assert (stderr, shown["loaded"]) == (told, [])


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"key": 1}', None])
def test_a_kept_answer_that_is_damaged_is_found_out_anew(ready: Home, damage: str | None) -> None:
    write_plugin(ready.path / "plugins" / "birch", files=FILES)
    by_hand(ready, "birch")
    before = show(ready)
    kept = ready.state / "cache" / "starts" / "default.json"
    kept.write_text(json.dumps({**json.loads(kept.read_text()), "answer": {"foo": 1}}) if damage is None else damage)
    assert show(ready) == before


def test_a_damaged_record_leaves_it_unknown_and_stops_nothing(ready: Home) -> None:
    (ready.state / "generations" / "1.json").write_text("{}")
    answer = show(ready)
    assert (answer.status, answer.value["loaded"], imported(ready)) == (0, [], [])


@pytest.mark.parametrize("fault", ["plugins: [", "moved: 2024-13-45", "size: !!int large", "deep: " + "[" * 5000])
def test_a_config_that_cannot_be_read_enables_nothing(shared: Home, fault: str) -> None:
    config = shared.config.read_text()
    shared.config.write_text(f"{config}{fault}\n")
    stderr, shown = plain(shared, HERMES_PM_GENERATION="1", HERMES_PM_ADMITTED="{}")
    shared.config.write_text(config)
    assert (stderr.partition(":")[0], shown["loaded"], imported(shared)) == ("no plugin is imported", [], [])


# -- plugins that do not behave


BROKEN = {
    "exits": "import sys\nsys.exit(3)\n",
    "half": (
        "def register(ctx):\n"
        "    ctx.register_hook('greet', lambda name: 'half')\n"
        "    ctx.register_tool('half', 'demo', {}, print)\n"
        "    raise RuntimeError('no\\nluck')\n"
    ),
    "needs": "import not_there_at_all\n",
    "silent": "",
    "unparsed": "def\n",
    "wrong": "def register(ctx):\n    ctx.register_rocket()\n",
}


def test_a_plugin_that_cannot_be_loaded_takes_no_other_along(home: Home) -> None:
    for name, source in BROKEN.items():
        write_plugin(home.path / "plugins" / name, files={"__init__.py": source})
    (write_plugin(home.path / "plugins" / "hollow") / "__init__.py").unlink()
    for name, deep in (("abyss", "plugin.json"), ("canyon", "pyproject.toml")):
        (home.path / "plugins" / name).mkdir()
        (home.path / "plugins" / name / deep).write_text("a = " * (name == "canyon") + "[" * 100_000)
    for name in ("ash", "zelkova"):
        write_plugin(home.path / "plugins" / name, files=FILES)
    by_hand(home, *BROKEN, "hollow", "ash")
    assert home.ask("plugins", "enable", "zelkova").gist == "0 admitted"
    answer = show(home)
    assert answer.value == {
        "loaded": ["ash", "zelkova"],
        "errors": {
            "exits": "SystemExit: 3",
            "half": "RuntimeError: no luck",
            "hollow": "NotAPlugin: it has no `__init__.py`",
            "needs": "ModuleNotFoundError: No module named 'not_there_at_all'",
            "silent": "NotAPlugin: its `__init__.py` has no `register(ctx)`",
            "unparsed": "SyntaxError: invalid syntax (__init__.py, line 1)",
            "wrong": "AttributeError: 'PluginContext' object has no attribute 'register_rocket'",
        },
        "skipped": [],
        "said": ["ash greets you", "zelkova greets you"],
    }
    told = [f"`{key}` is not loaded: {error}" for key, error in answer.value["errors"].items()]
    assert (answer.status, answer.stderr.splitlines()) == (0, told)


REGISTERS = """\
def register(ctx):
    ctx.register_hook("greet", lambda name: 1 / 0)
    ctx.register_hook("greet", lambda name: None)
    ctx.register_hook("greet", lambda name: f"hello {name}")
    ctx.register_tool(name="grow", toolset="trees", schema={"name": "grow"}, handler=print, emoji="*")
    ctx.register_command("/Plant", print, "plants it", args_hint="NAME")
    ctx.register_cli_command("tree", "trees", setup_fn=print)
    ctx.register_skill("prune", "/skills/prune", "cuts it")
"""
REGISTERED = """\
import json
from hermes_cli.plugins import *

discover_plugins()
manager = get_plugin_manager()
print(json.dumps({
    "plugins": manager.list_plugins(),
    "kinds": {kind: manager.registered(kind) for kind in ("tool", "command", "cli_command", "skill")},
    "hooks": [len(iter_hook_callbacks("greet")), len(iter_hook_callbacks("other"))],
    "said": invoke_hook("greet", name="you"),
}, default=lambda value: getattr(value, "__name__", str(value))))
"""


def test_what_a_plugin_registers_can_be_looked_up(home: Home) -> None:
    plugin = home.plugin("ash", files={"__init__.py": REGISTERS}, description="a tree", kind="standalone")
    assert home.install(plugin).gist == "0 admitted"
    answer = home.say("run", "--", "python", "-c", REGISTERED)
    assert (answer.status, answer.stderr, answer.value) == (
        0,
        "`ash`: hook `greet`: ZeroDivisionError: division by zero\n",
        {
            "plugins": [
                {
                    "name": "ash",
                    "key": "ash",
                    "kind": "standalone",
                    "version": "1.0.0",
                    "description": "a tree",
                    "source": "user",
                    "enabled": True,
                    "error": None,
                }
            ],
            "kinds": {
                "tool": {
                    "grow": {
                        "plugin": "ash",
                        "toolset": "trees",
                        "schema": {"name": "grow"},
                        "handler": "print",
                        "emoji": "*",
                    }
                },
                "command": {
                    "plant": {
                        "plugin": "ash",
                        "handler": "print",
                        "description": "plants it",
                        "args_hint": "NAME",
                    }
                },
                "cli_command": {
                    "tree": {
                        "plugin": "ash",
                        "help": "trees",
                        "setup_fn": "print",
                        "handler_fn": None,
                        "description": "",
                    }
                },
                "skill": {"ash:prune": {"plugin": "ash", "path": "/skills/prune", "description": "cuts it"}},
            },
            "hooks": [3, 0],
            "said": ["hello you"],
        },
    )


AGAIN = """\
import json, pathlib, sys
from hermes_cli.plugins import discover_plugins, invoke_hook

said = []
for force in (False, False, True):
    discover_plugins(force)
    said.append(invoke_hook("greet", name="you"))
    pathlib.Path(sys.argv[1], "words.py").write_text("def greeting(who, name):\\n    return 'something new'\\n")
print(json.dumps({"said": said}))
"""


def test_plugins_are_loaded_once_and_by_force_again_from_their_files(ready: Home) -> None:
    answer = ready.say("run", "--", "python", "-c", AGAIN, ready.path / "plugins" / "ash")
    assert answer.value == {"said": [["ash greets you"], ["ash greets you"], ["something new"]]}


STOPPED = """\
import json
from hermes_cli.plugins import discover_plugins, get_plugin_manager

said = []
for attempt in range(2):
    try:
        discover_plugins()
    except KeyboardInterrupt:
        said.append("stopped")
said += [(row["key"], row["enabled"]) for row in get_plugin_manager().list_plugins()]
print(json.dumps({"said": said}))
"""


def test_after_an_interrupt_plugins_are_loaded_from_the_beginning(ready: Home) -> None:
    source = "import sys\nif not hasattr(sys, 'asked'):\n    sys.asked = 1\n    raise KeyboardInterrupt\n"
    birch = ready.plugin("birch", files={"__init__.py": f"{source}def register(ctx): ...\n"})
    assert ready.install(birch).gist == "0 admitted"
    answer = ready.say("run", "--", "python", "-c", STOPPED)
    assert answer.value == {"said": ["stopped", ["ash", True], ["birch", True]]}
