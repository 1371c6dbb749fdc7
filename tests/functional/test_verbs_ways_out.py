"""Whoever pastes what a refusal says gets the plugin: several changes at once, or a build."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from fixtures.homes import Home, follow, new_home
from fixtures.hosts import host, new_hosted_home, releases
from fixtures.server import IndexServer
from fixtures.wheels import DEFAULT_RECIPE, Distribution, read_recipe


def apply_patch(folder: Path, patch: Path) -> None:
    subprocess.run(["patch", "-p1", "--fuzz=0", "--input", patch], cwd=folder, check=True, stdout=subprocess.DEVNULL)


def test_two_bounds_that_stand_in_the_way_are_widened_by_one_patch(
    home: Home, require_tool: Callable[[str], Path]
) -> None:
    require_tool("patch")
    home.install(home.plugin("ash", "demo-socket<3"))
    birch = home.plugin("birch", "PyYAML<6", "demo-colors", "demo-socket>=3")
    refused = home.ask("plugins", "check", birch)
    step = refused.value["steps"][0]
    assert (refused.gist, refused.steps) == (
        "1 refused conflict core-conflict",
        ["together birch", "together ash, birch", "together birch, ash", "retry birch"],
    )
    assert (step["confirmed"], step["effect"], step["parts"]) == (
        True,
        ["+ demo-colors 2.0"],
        [
            {
                "action": "widen",
                "subject": "birch",
                "value": "demo-socket>=2.4",
                "explanation": "write `demo-socket>=2.4` instead of `demo-socket>=3` in plugin.yaml:6",
                "declared_at": {"file": "plugin.yaml", "line": 6, "column": 0, "key": "python_dependencies"},
                "before": "demo-socket>=3",
                "after": "demo-socket>=2.4",
            },
            {
                "action": "widen",
                "subject": "birch",
                "value": "PyYAML<7",
                "explanation": "write `PyYAML<7` instead of `PyYAML<6` in plugin.yaml:4",
                "declared_at": {"file": "plugin.yaml", "line": 4, "column": 0, "key": "python_dependencies"},
                "before": "PyYAML<6",
                "after": "PyYAML<7",
            },
        ],
    )
    looked = follow(home, step["command"])
    assert (looked.status, "birch.patch is written" in looked.stderr) == (1, True)
    apply_patch(birch, home.work / "birch.patch")
    admitted = home.install(birch)
    assert (admitted.gist, admitted.changes) == ("0 admitted", ["+demo-colors 2.0"])


def test_a_bound_and_a_consent_are_taken_by_pasting_one_command_twice(
    home: Home, require_tool: Callable[[str], Path]
) -> None:
    require_tool("patch")
    birch = home.plugin("birch", "PyYAML<6", "dawnpress!=0.28.1")
    refused = home.install(birch)
    together = [step for step in refused.value["steps"] if "allow-prerelease" in {p["action"] for p in step["parts"]}]
    [command] = [step["command"] for step in together]
    assert command == (
        f"hermes plugins check {birch} --patch birch.patch --patch-at plugin.yaml:4 --allow-prerelease dawnpress "
        f"&& hermes plugins install {birch} --enable --allow-prerelease dawnpress"
    )
    assert (follow(home, command).status, home.pointer) == (1, None)
    apply_patch(birch, home.work / "birch.patch")
    assert (follow(home, command).status, home.admitted) == (0, ["birch in default"])
    assert home.pins["dawnpress"] == "1.0.dev3"


def test_a_bound_of_another_plugin_is_widened_by_a_patch_of_its_own(
    home: Home, require_tool: Callable[[str], Path]
) -> None:
    require_tool("patch")
    home.install(home.plugin("ash", "demo-socket<3"))
    birch = home.plugin("birch", "demo-socket>=3")
    refused = home.install(birch)
    steps = {f"{step['action']} {step['subject']}": step["command"] for step in refused.value["steps"]}
    assert steps["widen ash"] == f"hermes plugins check {birch} --patch ash.patch --patch-for ash"
    assert follow(home, steps["widen ash"]).status == 1
    apply_patch(home.path / "plugins" / "ash", home.work / "ash.patch")
    assert (home.install(birch).gist, home.admitted) == ("0 admitted", ["ash in default", "birch in default"])
    nobody = home.say("plugins", "check", home.plugin("elm", "demo-socket<3"), "--patch", "x", "--patch-for", "oak")
    assert (nobody.status, "`oak` is not part of this verdict" in nobody.stderr) == (2, True)


def test_the_text_tells_all_that_has_to_be_done_and_one_command(home: Home) -> None:
    home.install(home.plugin("ash", "demo-socket<3"))
    home.install(home.plugin("elm", "flintspark<7"))
    birch = home.plugin("birch", "demo-socket>=3", "flintspark>=7")
    said = home.say("plugins", "check", birch)
    assert (
        "What now\n"
        "  1. all of these changes together (confirmed by a dry run)\n"
        "     a. write `demo-socket>=2.4` instead of `demo-socket>=3` in plugin.yaml:4\n"
        "     b. write `flintspark>=6.4` instead of `flintspark>=7` in plugin.yaml:5\n"
        f"     hermes plugins check {birch} --patch birch.patch\n"
        "  2. all of these changes together (confirmed by a dry run)\n"
        "     a. write `demo-socket<4` instead of `demo-socket<3` in plugin.yaml:4 of `ash`\n"
        "     b. write `flintspark<8` instead of `flintspark<7` in plugin.yaml:4 of `elm`\n"
    ) in said.stdout
    assert (
        "  3. all of these changes together (confirmed by a dry run)\n"
        "     a. disable `ash`\n"
        "     b. disable `elm`\n"
        f"     hermes plugins disable ash && hermes plugins disable elm && hermes plugins check {birch}\n"
        "     demo-socket 2.4 → 3.0\n"
        "     flintspark 6.4 → 7.0\n"
    ) in said.stdout


def test_a_package_with_wheels_for_other_machines_only_is_built_from_its_source_once_that_is_allowed(
    tmp_path: Path,
) -> None:
    """Case no-wheel-for-platform-01."""
    board = Distribution("board", "1.0", tags=["cp311-cp311-musllinux_1_2_armv7l"], sdist=True)
    with IndexServer(tmp_path / "files", [*read_recipe(DEFAULT_RECIPE), board]) as server:
        home = new_home(tmp_path / "home", indexes=[server.url])
        refused = home.install(home.plugin("birch", "board"))
        step = refused.value["steps"][0]
        assert (refused.gist, step["action"], step["confirmed"], step["when"]) == (
            "1 refused no-wheel",
            "allow-build",
            False,
            "you trust its authors; its requirements are known only after the build",
        )
        assert refused.value["reasons"][0]["available"] == [
            {
                "versions": "1.0",
                "reason": "no wheel for this target: wheels are for cp311 on musllinux_1_2_armv7l; "
                "a source distribution exists",
            }
        ]
        assert (follow(home, step["command"]).status, home.admitted) == (0, ["birch in default"])
        assert home.pins["board"] == "1.0"


@pytest.fixture
def aged(tmp_path: Path) -> Home:
    """Return a home whose core and whose plugin `ash` want an old package; a newer core wants the newer one."""
    home = new_hosted_home(
        tmp_path,
        "hermes-agent==1.0",
        host("1.0", "board==1.0"),
        host("2.0", "board==2.0"),
        *releases("board", v1_0=(), v2_0=()),
        *releases("above", v1_0=["board>=2"]),
    )
    home.install(home.plugin("ash", "board==1.0"))
    return home


def test_a_core_moves_only_after_the_bound_that_is_in_its_way_is_widened(
    aged: Home, require_tool: Callable[[str], Path]
) -> None:
    require_tool("patch")
    birch = aged.plugin("birch", "above")
    step = aged.install(birch).value["steps"][0]
    assert [part["action"] for part in step["parts"]] == ["widen", "update-core"]
    assert step["command"] == (
        f"hermes plugins check {birch} --patch ash.patch --patch-for ash --core hermes-agent==2.0 "
        "&& hermes pm init --core hermes-agent==2.0 "
        f"&& hermes plugins install {birch} --enable"
    )
    assert follow(aged, step["command"]).status == 1
    apply_patch(aged.path / "plugins" / "ash", aged.work / "ash.patch")
    assert (follow(aged, step["command"]).status, aged.admitted) == (0, ["ash in default", "birch in default"])
    assert aged.pins == {"above": "1.0", "board": "2.0", "hermes-agent": "2.0"}


def test_a_core_moves_only_after_the_plugin_that_is_in_its_way_is_switched_off(aged: Home) -> None:
    birch = aged.plugin("birch", "above")
    step = aged.install(birch).value["steps"][1]
    assert [part["action"] for part in step["parts"]] == ["update-core", "leave-out"]
    assert (follow(aged, step["command"]).status, aged.admitted) == (0, ["birch in default"])
    assert aged.pins == {"above": "1.0", "board": "2.0", "hermes-agent": "2.0"}


def test_a_newer_core_and_then_the_plugin_that_was_asked_for_are_one_command(aged: Home) -> None:
    aged.ask("plugins", "remove", "ash")
    step = aged.install(aged.plugin("birch", "above")).value["steps"][0]
    assert (step["action"], follow(aged, step["command"]).status) == ("update-core", 0)
    assert (aged.admitted, aged.pins["board"]) == (["birch in default"], "2.0")


def test_the_bound_of_a_plugin_in_the_way_of_a_core_is_written_as_a_patch(
    aged: Home, require_tool: Callable[[str], Path]
) -> None:
    require_tool("patch")
    refused = aged.ask("pm", "init", "--core", "hermes-agent==2.0")
    step = refused.value["steps"][0]
    assert (refused.gist, step["command"]) == (
        "1 refused core-conflict",
        "hermes plugins check --patch ash.patch --patch-for ash --core hermes-agent==2.0",
    )
    assert follow(aged, step["command"]).status == 1
    apply_patch(aged.path / "plugins" / "ash", aged.work / "ash.patch")
    assert follow(aged, step["command"]).status == 0
    assert (aged.ask("pm", "init", "--core", "hermes-agent==2.0").gist, aged.pins["board"]) == ("0 admitted", "2.0")


def test_everything_can_be_judged_with_another_core_and_nothing_is_changed(aged: Home) -> None:
    before = aged.snapshot(["pm/cache"])
    newer = aged.ask("plugins", "check", "--core", "hermes-agent==2.0")
    running = aged.ask("plugins", "check", "ash", "--core", "hermes-agent==2.0")
    same = aged.ask("plugins", "check", "--core", "hermes-agent==1.0")
    assert [newer.gist, running.gist, same.gist] == ["1 refused core-conflict"] * 2 + ["0 admitted"]
    assert (newer.value["core"], newer.demands) == (
        "hermes-agent==2.0",
        ["core hermes-agent: board==2.0 at METADATA", "plugin ash: board==1.0 at plugin.yaml:4"],
    )
    assert aged.snapshot(["pm/cache"]) == before


@pytest.mark.parametrize("words", [("check",), ("validate", "./birch")])
def test_the_folder_of_another_core_is_looked_for_where_one_works(home: Home, words: tuple[str, ...]) -> None:
    home.plugin("birch", "demo-colors", author="me", description="x")
    project = home.work / "project"
    project.mkdir()
    (project / "pyproject.toml").write_text('[project]\nname = "hermes-agent"\nversion = "7.0"\n')
    answer = home.ask("plugins", *words, "--core", "./project")
    assert (answer.status, answer.value["core"]) == (0, "hermes-agent==7.0")


def test_whoever_only_asks_is_shown_what_it_takes_and_not_to_ask_for_less(aged: Home) -> None:
    asked = aged.ask("pm", "why", "--not", "board>=2")
    assert [(step["confirmed"], [part["action"] for part in step["parts"]]) for step in asked.value["steps"]] == [
        (True, ["widen", "update-core"]),
        (True, ["update-core", "leave-out"]),
        (False, []),
    ]
    assert [step["command"] for step in asked.value["steps"][:2]] == [
        "hermes pm why --not 'board>=2'",
        "hermes plugins disable ash && hermes pm init --core hermes-agent==2.0 && hermes pm why --not 'board>=2'",
    ]
    assert follow(aged, asked.value["steps"][1]["command"]).status == 0


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (["./birch", "--patch-for", "ash"], "`--patch-for` requires `--patch`"),
        (["./birch", "--patch-at", "plugin.yaml:4"], "`--patch-at` requires `--patch`"),
        (["./birch", "--replay", "latest"], "`--replay` cannot be used with a plugin, `--patch` or `--core`"),
        (
            ["--replay", "latest", "--patch", "x"],
            "`--replay` cannot be used with a plugin, `--patch` or `--core`",
        ),
        (["--replay", "x", "--core", "y"], "`--replay` cannot be used with a plugin, `--patch` or `--core`"),
        (["--budget", "-1"], "argument --budget: `-1` is not a number from 1 on"),
        (["--budget", "x"], "argument --budget: `x` is not a number from 1 on"),
        (["--steps-budget", "nan"], "argument --steps-budget: `nan` is not a number of seconds"),
        (["--steps-budget", "-1"], "argument --steps-budget: `-1` is not a number of seconds"),
        (["--allow-prerelease", "x y"], "argument --allow-prerelease: `x y` is not the name of a package"),
        (["--allow-build", ""], "argument --allow-build: `` is not the name of a package"),
    ],
)
def test_words_that_would_not_be_heard_are_refused(home: Home, words: list[str], fault: str) -> None:
    said = home.say("plugins", "check", *words)
    assert (said.status, said.stdout, said.stderr.splitlines()[-1]) == (2, "", f"hermes plugins check: error: {fault}")


def test_no_receipt_has_an_empty_name(home: Home) -> None:
    home.ask("pm", "init")
    assert home.ask("plugins", "check", "--replay", "").gist == "2 failed unknown-receipt"


def test_nothing_is_said_of_bounds_where_nothing_could_be_judged(home: Home) -> None:
    home.config.write_text(home.config.read_text() + "  exclude_newer: soon\n")
    said = home.say("plugins", "check", home.plugin("birch", "demo-colors"), "--patch", "x")
    assert (said.status, "bound" in said.stderr, (home.work / "x").exists()) == (3, False, False)
    home.config.write_text(home.config.read_text().replace("  exclude_newer: soon\n", ""))
    fits = home.say("plugins", "check", home.plugin("birch", "demo-colors"), "--patch", "x")
    assert (fits.status, fits.stderr.splitlines()[-1]) == (0, "x is not written: no bound is in the way")


def test_of_two_bounds_that_would_do_the_one_of_the_step_is_written(
    tmp_path: Path, require_tool: Callable[[str], Path]
) -> None:
    require_tool("patch")
    home = new_hosted_home(
        tmp_path,
        "hermes-agent==1.0",
        host("1.0"),
        *releases("above", v1_0=["below==1.0"], v2_0=["below==2.0"]),
        *releases("below", v1_0=(), v2_0=()),
    )
    birch = home.plugin("birch", "above>=2", "below==1.0")
    first, second, _ = home.ask("plugins", "check", birch).value["steps"]
    assert (first["value"], second["value"]) == ("above>=1.0", "below>=1.0,<=2.0")
    assert follow(home, second["command"]).status == 1
    apply_patch(birch, home.work / "birch.patch")
    assert (birch / "plugin.yaml").read_text().splitlines()[3:5] == ['  - "above>=2"', '  - "below>=1.0,<=2.0"']
    assert follow(home, second["command"]).status == 0
    said = home.say(
        "plugins", "check", home.plugin("birch", "above>=2", "below==1.0"), "--patch", "x", "--patch-at", "y"
    )
    assert (said.status, "no confirmed step changes just `y`" in said.stderr) == (3, True)


def test_what_cannot_be_patched_is_told_beside_the_one_object_on_standard_output(home: Home) -> None:
    home.install(home.plugin("ash", "demo-socket<3"))
    birch = home.plugin("birch", "demo-socket>=3")
    (birch / "plugin.yaml").write_text('name: birch\npython_dependencies: ["demo-socket>\\x3d3"]\n')
    answer = home.say("plugins", "check", birch, "--patch", "x", "--json")
    assert (answer.status, answer.value["outcome"], (home.work / "x").exists()) == (3, "refused", False)
    assert "in a form that can be changed as text (no-patch)" in answer.stderr


def test_a_candidate_may_be_named_as_the_one_whose_bound_is_written(home: Home) -> None:
    home.install(home.plugin("ash", "demo-socket<3"))
    birch = home.plugin("birch", "demo-socket>=3")
    assert home.say("plugins", "check", birch, "--patch", "own").status == 1
    assert home.say("plugins", "check", birch, "--patch", "named", "--patch-for", "birch").status == 1
    assert (home.work / "named").read_text() == (home.work / "own").read_text()
