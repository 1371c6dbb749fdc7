"""What a hostile reader found: consents that outlive their plugin, plugins that share a word, answers out of date."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from fixtures.homes import Home, snapshot, write_plugin

PROJECTS = {"HERMES_ENABLE_PROJECT_PLUGINS": "1"}
CORE = {"hermes-embedded-core": "0.1.0", "pyyaml": "6.0.3"}


# -- consents


def test_a_consent_goes_with_the_package_it_was_given_for(home: Home) -> None:
    home.install(home.plugin("ash", "dawnpress>0.29"), "--allow-prerelease", "dawnpress")
    home.ask("plugins", "remove", "ash")
    ready = home.ask("plugins", "check", "--offline")
    answer = home.install(home.plugin("birch", "dawnpress>0.29"))
    assert (ready.gist, answer.gist, answer.value["consents"]) == ("0 ready", "1 refused prerelease-only", [])


def test_what_was_built_once_is_not_built_unasked_for_somebody_else(home: Home) -> None:
    home.install(home.plugin("ash", "rawhide"), "--allow-build", "rawhide")
    home.ask("plugins", "remove", "ash")
    answer = home.install(home.plugin("birch", "rawhide"))
    assert (answer.gist, home.pins) == ("1 refused build-needs-consent", CORE)


def test_a_plugin_that_is_switched_off_and_on_again_needs_no_second_consent(home: Home) -> None:
    home.install(home.plugin("ash", "rawhide"), "--allow-build", "rawhide")
    home.ask("plugins", "disable", "ash")
    answer = home.ask("plugins", "enable", "ash")
    assert answer.gist == "0 admitted"


def test_a_consent_to_addresses_that_nobody_needed_is_not_kept(home: Home) -> None:
    home.install(home.plugin("ash", "demo-colors"), "--allow-direct-urls")
    ready = home.ask("plugins", "check")
    answer = home.install(home.plugin("birch", "demo-colors"))
    assert (ready.gist, ready.value["timings"], answer.value["consents"]) == ("0 ready", {}, [])


# -- two plugins that one word may mean


def test_a_plugin_is_switched_on_by_its_key_where_its_name_means_another(home: Home) -> None:
    _two_of_a_name(home)
    home.configure("plugins:\n  enabled: [foo]\n  disabled: [cat/foo]\n")
    home.ask("pm", "init")
    answer = home.ask("plugins", "enable", "cat/foo")
    assert (answer.gist, _listed(home), home.admitted) == (
        "0 admitted",
        "plugins:\n  enabled: [foo, cat/foo]\n  disabled: []\n",
        ["cat/foo in default", "foo in default"],
    )


def test_switching_a_plugin_off_leaves_another_of_its_name_on(home: Home) -> None:
    _two_of_a_name(home)
    home.configure("plugins:\n  enabled: [foo, cat/foo]\n")
    home.ask("pm", "init")
    home.ask("plugins", "disable", "cat/foo")
    assert (_listed(home), home.admitted, home.ask("plugins", "check").gist) == (
        "plugins:\n  enabled: [foo]\n  disabled:\n    - cat/foo\n",
        ["foo in default"],
        "0 ready",
    )


def test_removing_a_plugin_leaves_another_of_its_name_on(home: Home) -> None:
    _two_of_a_name(home)
    home.configure("plugins:\n  enabled: [foo, cat/foo]\n")
    home.ask("pm", "init")
    home.ask("plugins", "remove", "cat/foo")
    assert (_listed(home), home.admitted, home.ask("plugins", "check").gist) == (
        "plugins:\n  enabled: [foo]\n",
        ["foo in default"],
        "0 ready",
    )


def test_a_memory_provider_stays_selected_when_a_plugin_of_its_name_goes(home: Home) -> None:
    write_plugin(home.path / "plugins/foo", "demo-colors")
    write_plugin(home.path / "plugins/memory/foo", kind="exclusive")
    home.configure("plugins:\n  enabled: [foo]\nmemory:\n  provider: foo\n")
    home.ask("pm", "init")
    off = home.ask("plugins", "disable", "foo")
    gone = home.ask("plugins", "remove", "foo")
    assert (off.warnings, gone.warnings, _listed(home), home.admitted) == (
        [],
        ["tree-kept"],
        "plugins:\n  enabled: []\n  disabled: []\nmemory:\n  provider: foo\n",
        ["memory/foo in default"],
    )


def _two_of_a_name(home: Home) -> None:
    write_plugin(home.path / "plugins/foo", "demo-colors")
    write_plugin(home.path / "plugins/cat/foo", "flintspark")


def _listed(home: Home) -> str:
    text = home.config.read_text()
    return text[text.index("plugins:") :]


# -- answers about readiness that are kept


def test_a_changed_plugin_of_a_project_shows_from_everywhere(home: Home) -> None:
    project = home.work / ".hermes/plugins/ash"
    write_plugin(project, "demo-colors")
    home.configure("plugins:\n  enabled: [ash]\n")
    home.ask("pm", "init", **PROJECTS)
    home.work = home.user
    before = [home.ask("plugins", "check", **PROJECTS).gist for _ in range(2)]
    write_plugin(project, "flintspark")
    assert (before, home.ask("plugins", "check", **PROJECTS).gist) == (
        ["0 ready", "0 ready"],
        "1 not-ready not-admitted",
    )


def test_a_changed_plugin_of_a_core_that_is_a_project_shows(home: Home) -> None:
    core = home.work / "core"
    write_plugin(core / "plugins/bund", "demo-colors")
    (core / "pyproject.toml").write_text('[project]\nname = "hermes-agent"\nversion = "0.19.0"\n')
    home.configure("plugins:\n  enabled: [bund]\n")
    home.ask("pm", "init", "--core", core)
    before = [home.ask("plugins", "check").gist for _ in range(2)]
    write_plugin(core / "plugins/bund", "flintspark")
    assert (before, home.ask("plugins", "check").gist) == (["0 ready", "0 ready"], "1 not-ready not-admitted")


def test_an_answer_that_was_resolved_is_found_out_anew(home: Home, wheels: Path) -> None:
    folder = home.work / "wheels"
    shutil.copytree(wheels, folder)
    home.config.write_text(home.config.read_text().replace(str(wheels), str(folder)))
    home.install(home.plugin("ash", "demo-colors"))
    home.config.write_text(home.config.read_text().replace("pm:\n", 'pm:\n  exclude_newer: "2020-01-01"\n'))
    before = home.ask("plugins", "check").gist
    for wheel in folder.glob("demo_colors-*"):
        wheel.unlink()
    assert (before, home.ask("plugins", "check").gist) == ("0 ready", "1 refused not-found-on-index")


def test_the_summary_knows_the_variables_of_now(home: Home) -> None:
    home.install(home.plugin("ash", requires_env=["ASH_TOKEN"]))
    before = home.say("plugins", "check", "--summary").stdout
    (home.path / ".env").write_text("ASH_TOKEN=set\n")
    assert (before, home.say("plugins", "check", "--summary").stdout) == (
        "needs-config  ash 1.0.0\nHermes is ready\n",
        "ready         ash 1.0.0\nHermes is ready\n",
    )


# -- one verdict, also on files


def test_a_folder_that_cannot_be_installed_is_not_admitted_by_a_check(home: Home) -> None:
    plugin = home.plugin("ash", "demo-colors")
    (plugin / "data").symlink_to(home.user)
    assert (home.ask("plugins", "check", plugin).gist, home.install(plugin).gist) == (
        "1 refused unsafe-archive",
        "1 refused unsafe-archive",
    )


def test_a_plugin_that_was_put_there_with_a_link_to_its_data_is_in_nobodys_way(home: Home) -> None:
    plugin = write_plugin(home.path / "plugins/ash", "demo-colors")
    (plugin / "data").symlink_to(home.user)
    home.configure("plugins:\n  enabled: [ash]\n")
    made = home.ask("pm", "init")
    other = home.install(home.plugin("birch"))
    answers = [home.ask("plugins", "disable", "ash"), home.ask("plugins", "check", "ash")]
    on = home.ask("plugins", "enable", "ash")
    assert [made.gist, made.warnings, other.gist, *(answer.gist for answer in answers), on.gist, home.admitted] == [
        "0 admitted",
        ["tree-not-kept"],
        "0 admitted",
        "0 disabled",
        "0 admitted",
        "0 admitted",
        ["ash in default", "birch in default"],
    ]


# -- odd places


def test_a_home_that_was_moved_is_told_and_built_again(home: Home) -> None:
    home.install(home.plugin("ash", "demo-colors"))
    home.path = home.path.rename(home.path.with_name("moved"))
    before = home.ask("plugins", "check")
    repaired = home.ask("pm", "repair")
    run = home.say("run", "--", "python", "-c", "import demo_colors")
    assert (before.gist, repaired.gist, run, home.ask("plugins", "check").gist) == (
        "1 drift drift",
        "0 repaired",
        (0, "", ""),
        "0 ready",
    )


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("plugins list", 0),
        ("plugins check", 0),
        ("pm status", 0),
        ("plugins disable ash", 0),
        ("plugins remove ash", 0),
    ],
)
def test_a_working_folder_that_is_gone_stops_nothing(home: Home, words: str, status: int) -> None:
    home.install(home.plugin("ash", "demo-colors"))
    home.work.joinpath("gone").mkdir()
    home.work = home.work / "gone"
    process = home.start(*words.split(), under=["sh", "-c", 'rmdir "$PWD" && exec "$@"', "sh"])
    _, stderr = process.communicate(timeout=120)
    # the command is a shell's script, and some shells speak of that themselves
    told = [line for line in stderr.splitlines() if "getcwd" not in line]
    assert (process.returncode, told) == (status, [])


# -- going back


def test_going_back_selects_the_memory_provider_of_then(home: Home) -> None:
    write_plugin(home.path / "plugins/memory/mem", "demo-colors", kind="exclusive")
    home.install(home.plugin("ash", "flintspark"))
    home.configure("memory:\n  provider: mem\n")
    home.ask("pm", "init")
    back = home.ask("pm", "rollback", "1")
    without = (_listed(home), home.ask("plugins", "check").gist)
    forth = home.ask("pm", "rollback", "2")
    assert (back.gist, without, forth.gist, _listed(home), home.ask("plugins", "check").gist) == (
        "0 rolled-back",
        ('plugins:\n  enabled:\n    - ash\nmemory:\n  provider: ""\n', "0 ready"),
        "0 rolled-back",
        'plugins:\n  enabled:\n    - ash\nmemory:\n  provider: "mem"\n',
        "0 ready",
    )
    assert (back.warnings, forth.warnings) == (["profile-changes"], ["profile-changes"])


def test_going_back_over_a_provider_that_was_switched_off_selects_it_again(home: Home) -> None:
    write_plugin(home.path / "plugins/memory/mem", "demo-colors", kind="exclusive")
    home.configure("memory:\n  provider: mem\n")
    home.ask("pm", "init")
    home.ask("plugins", "disable", "mem")
    home.ask("pm", "rollback")
    ready = home.ask("plugins", "check").gist
    home.ask("pm", "rollback", "2")
    assert (ready, home.ask("plugins", "check").gist, home.admitted) == ("0 ready", "0 ready", [])


def test_going_back_switches_on_what_a_config_lists_as_switched_off(home: Home) -> None:
    home.install(home.plugin("ash", "demo-colors"))
    listed = home.config.read_text()
    home.ask("plugins", "disable", "ash")
    home.config.write_text(listed + "  disabled: [ash]\n")
    home.ask("pm", "rollback")
    assert (home.ask("plugins", "check").gist, _listed(home)) == (
        "0 ready",
        "plugins:\n  enabled:\n    - ash\n  disabled: []\n",
    )


def test_going_back_takes_the_core_of_then_along(home: Home) -> None:
    core = home.work / "core"
    core.mkdir()
    (core / "pyproject.toml").write_text(
        '[project]\nname = "hermes-agent"\nversion = "0.19.0"\ndependencies = ["demo-transport"]\n'
    )
    home.install(home.plugin("ash", "demo-colors"))
    home.ask("pm", "init", "--core", core)
    home.ask("pm", "rollback")
    answer = home.ask("plugins", "check")
    assert (answer.gist, answer.value["core"], answer.changes) == ("0 ready", "hermes-embedded-core==0.1.0", [])


def test_what_a_removed_plugin_left_behind_is_there_after_going_back(home: Home) -> None:
    home.install(home.plugin("ash", "demo-colors"))
    mine = home.path / "plugins/ash/mine.txt"
    mine.write_text("mine")
    home.ask("plugins", "remove", "ash")
    home.ask("pm", "rollback")
    assert (mine.read_text(), home.ask("plugins", "check").gist) == ("mine", "0 ready")


# -- what users wrote


def test_a_file_that_somebody_changed_is_kept_when_its_plugin_is_replaced_goes_back_or_goes(home: Home) -> None:
    plugin = home.plugin("ash", files={"settings.json": "{}"})
    home.install(plugin)
    settings = home.path / "plugins/ash/settings.json"
    answers = []
    ways: list[list[str | Path]] = [["install", plugin, "--force"], ["remove", "ash"]]
    for number, words in enumerate(ways):
        settings.write_text(f'{{"precious": {number}}}')
        (plugin / "__init__.py").write_text(f"VERSION = {number}\n")
        answers.append(home.ask("plugins", *words))
    home.ask("pm", "rollback")
    settings.write_text('{"precious": 2}')
    answers.append(home.ask("pm", "rollback", "1"))
    home.ask("pm", "gc")
    kept = sorted(path.read_text() for path in home.state.glob("trees/*/settings.json"))
    assert [answer.warnings for answer in answers] == [["tree-kept"], ["tree-kept"], ["tree-kept"]]
    assert kept == ['{"precious": 0}', '{"precious": 1}', '{"precious": 2}', "{}", "{}"]


# -- profiles


def test_what_a_profile_switched_on_by_itself_is_admitted_for_it_too(home: Home) -> None:
    home.install(home.plugin("ash", "demo-colors"))
    work = home.profile("work")
    write_plugin(work.path / "plugins/ash", "demo-colors")
    work.config.write_text("plugins:\n  enabled: [ash]\n")
    on = work.ask("plugins", "enable", "ash", "--offline")
    again = work.ask("plugins", "enable", "ash", "--offline")
    admitted = home.admitted
    home.ask("plugins", "remove", "ash")
    assert (on.gist, on.value["timings"].get("decide"), again.gist, admitted) == (
        "0 admitted",
        None,
        "0 unchanged",
        ["ash in default", "ash in work"],
    )
    assert (work.ask("plugins", "check").gist, home.pins) == ("0 ready", CORE | {"demo-colors": "2.0"})


def test_what_a_plugin_wrote_stays_whatever_way_leads_to_its_home(home: Home) -> None:
    real = home.path
    home.path = real.with_name("link")
    home.path.symlink_to(real)
    plugin = home.plugin("ash")
    home.install(plugin)
    (real / "plugins/ash/mine.txt").write_text("mine")
    home.path = real
    answer = home.install(plugin, "--force")
    assert (answer.gist, answer.warnings, (real / "plugins/ash/mine.txt").read_text()) == ("0 admitted", [], "mine")


# killed between the two renames that replace a plugin's folder
KILLED = """
import os, signal, sys
def watch(event, arguments):
    if event == "os.rename" and str(arguments[1]).endswith("/plugins/ash"):
        os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(watch)
from pm.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


def test_a_plugin_is_in_its_place_again_though_somebody_changed_the_config_after_a_crash(home: Home) -> None:
    plugin = home.plugin("ash", "demo-colors")
    home.install(plugin)
    home.ask("plugins", "disable", "ash")
    before = snapshot(home.path / "plugins")
    (plugin / "__init__.py").write_text("VERSION = 2\n")
    words = ["plugins", "install", str(plugin), "--force", "--enable"]
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, *words], env=home.environ, cwd=home.work, capture_output=True, check=False
    )
    home.configure("display:\n  color: blue\n")
    answer = home.ask("pm", "verify")
    collected = home.ask("pm", "gc")
    assert (killed.returncode, answer.gist, collected.warnings[0], snapshot(home.path / "plugins")) == (
        -signal.SIGKILL,
        "1 drift interrupted",
        "interrupted",
        before,
    )


def test_a_profile_that_is_called_as_the_root_is_another_one(home: Home) -> None:
    home.install(home.plugin("ash", "demo-colors"))
    other = home.profile("default")
    write_plugin(other.path / "plugins/birch", "flintspark")
    answer = other.ask("plugins", "enable", "birch")
    run = other.say("run", "--", "python", "-c", "")
    assert (answer.gist, run, home.admitted) == (
        "0 admitted",
        (0, "", ""),
        ["ash in default", "birch in profiles/default"],
    )


# -- the interpreter of a generation


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """Return another interpreter of the same version, which can go."""
    base = Path(sys.base_prefix)
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    (tmp_path / "other/bin").mkdir(parents=True)
    (tmp_path / "other/lib").symlink_to(base / "lib")
    return Path(shutil.copy2(base / "bin" / name, tmp_path / "other/bin" / name))


def test_another_interpreter_gets_an_environment_of_its_own(home: Home, python: Path) -> None:
    home.install(home.plugin("ash", "demo-colors"))
    home.ask("pm", "init", "--python", python)
    assert (home.generation / "bin/python").resolve() == python


def test_nothing_runs_elsewhere_when_the_interpreter_of_the_generation_is_gone(home: Home, python: Path) -> None:
    home.ask("pm", "init", "--python", python)
    python.unlink()
    run = home.say("run", "--", "python", "-c", "print('elsewhere')")
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    verified, made = home.ask("pm", "verify"), home.ask("pm", "init", "--python", version)
    assert (run.status, run.stdout, verified.gist, made.gist, home.ask("plugins", "check").gist) == (
        1,
        "",
        "1 drift drift",
        "0 admitted",
        "0 ready",
    )


def test_an_environment_whose_interpreter_is_gone_is_not_ready_though_another_would_do(
    home: Home, python: Path
) -> None:
    home.ask("pm", "init", "--python", python)
    home.config.write_text(home.config.read_text().replace(f'python: "{python}"', 'python: ""'))
    before = home.ask("plugins", "check").gist
    python.unlink()
    assert (before, home.ask("plugins", "check").gist, home.ask("pm", "init").gist) == (
        "0 ready",
        "1 drift drift",
        "0 admitted",
    )


def test_a_dry_run_is_refused_where_the_change_would_be(home: Home) -> None:
    (home.path / ".managed").touch()
    plugin = home.plugin("ash", "demo-colors")
    answers = [home.install(plugin, "--dry-run"), home.install(plugin), home.ask("plugins", "check", plugin)]
    assert [answer.gist for answer in answers] == [
        "1 refused managed-environment",
        "1 refused managed-environment",
        "0 admitted",
    ]
