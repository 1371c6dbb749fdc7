"""Fifteen small inputs that have hurt users of other systems, each with what must come of it here."""

from __future__ import annotations

import signal
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from fixtures.homes import UNTOUCHED_BY_REFUSALS, Answer, Home, new_home, write_plugin
from fixtures.hosts import HOST, chains, host, is_proved, new_hosted_home, offer, releases, steps
from fixtures.server import Fault, IndexServer
from fixtures.wheels import DEFAULT_RECIPE, build_recipe, read_recipe

CORE = "hermes-agent==0.19.0"
EMBEDDED = {"hermes-embedded-core": "0.1.0", "pyyaml": "6.0.3"}


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """Return a home with the embedded core and a folder of wheels."""
    build_recipe(tmp_path / "wheels", read_recipe(DEFAULT_RECIPE))
    return new_home(tmp_path / "home", wheels=tmp_path / "wheels")


def test_t1_what_the_core_pins_and_a_plugin_wants_newer_is_refused_before_anything_is_imported(tmp_path: Path) -> None:
    sockets = releases("websockets", v15_0_1=(), v16_0=(), v17_0=())
    hosted = new_hosted_home(tmp_path, CORE, host("0.19.0", "websockets==15.0.1"), *sockets)
    mark = hosted.work / "was-imported"
    source = hosted.plugin("stream", "websockets>=16", files={"__init__.py": f"open({str(mark)!r}, 'w').close()\n"})
    answer = hosted.install(source)
    assert (answer.gist, chains(answer.value), is_proved(answer.value)) == (
        "1 refused core-conflict",
        ["hermes-agent: websockets==15.0.1", "stream: websockets>=16"],
        True,
    )
    assert steps(answer.value) == ["widen stream → websockets>=15.0.1", "retry stream ?"]
    assert (mark.exists(), hosted.pointer) == (False, None)


def test_t2_two_plugins_that_overlap_get_the_version_in_which_they_do(tmp_path: Path) -> None:
    hosted = new_hosted_home(
        tmp_path,
        CORE,
        host("0.19.0"),
        *releases("tokenizers", v0_21=(), v0_22_2=(), v0_23_1=()),
        *releases("transformers", v4_57=["tokenizers>=0.21,<0.23"], v5_0=["tokenizers>=0.23"]),
    )
    hosted.install(hosted.plugin("embed", "transformers<5"))
    answer = hosted.install(hosted.plugin("chunk", "tokenizers>=0.22"))
    assert (answer.gist, answer.changes) == ("0 admitted", [])
    assert hosted.pins == {HOST: "0.19.0", "tokenizers": "0.22.2", "transformers": "4.57"}


def test_t3_a_pin_on_a_release_that_is_gone_says_which_there_are_and_the_bound_that_admits(tmp_path: Path) -> None:
    crawlers = releases("firecrawl-py", v4_18_0=(), v4_19_1=())
    hosted = new_hosted_home(tmp_path, CORE, host("0.19.0"), *crawlers)
    answer = hosted.install(hosted.plugin("crawl", "firecrawl-py==4.17.0"))
    [reason] = answer.value["reasons"]
    assert (answer.gist, reason["message"], reason["available"]) == (
        "1 refused no-matching-version",
        "no release of `firecrawl-py` satisfies `firecrawl-py==4.17.0`",
        [{"versions": "4.19.1, 4.18.0", "reason": "excluded by `firecrawl-py==4.17.0`"}],
    )
    assert steps(answer.value) == ["widen crawl → firecrawl-py>=4.17.0,<=4.19.1", "retry crawl ?"]


def test_t4_an_update_keeps_a_plugin_with_a_legacy_list_and_the_selected_memory_provider(tmp_path: Path) -> None:
    clients = releases("honcho-ai", v2_2_0=())
    hosted = new_hosted_home(tmp_path, CORE, host("0.19.0"), host("0.20.0"), *clients)
    hosted.install(hosted.plugin("legacy", pip_dependencies=["demo-colors"]))
    write_plugin(hosted.path / "plugins" / "honcho", "honcho-ai", kind="exclusive")
    hosted.configure("memory:\n  provider: honcho\n")
    hosted.ask("pm", "init", "--core", CORE)
    answer = hosted.ask("pm", "init", "--core", "hermes-agent==0.20.0")
    assert (answer.gist, answer.changes) == ("0 admitted", ["hermes-agent 0.19.0 → 0.20.0"])
    assert hosted.admitted == ["honcho in default", "legacy in default"]
    assert hosted.pins == {"demo-colors": "2.0", HOST: "0.20.0", "honcho-ai": "2.2.0"}


def test_t5_a_pin_of_an_extra_that_nobody_chose_moves_nothing_down(tmp_path: Path) -> None:
    extras = {"hindsight": ["hindsight-client==0.6.1"]}
    hosted = new_hosted_home(
        tmp_path,
        CORE,
        host("0.19.0", extras=extras),
        *releases("hindsight-client", v0_7_0=()),
        *releases("other", v1=()),
    )
    hosted.install(hosted.plugin("recall", "hindsight-client>=0.6.1"))
    offer(hosted, *releases("hindsight-client", v0_6_1=()))
    answer = hosted.install(hosted.plugin("more", "other"))
    assert (answer.gist, answer.changes, hosted.pins["hindsight-client"]) == ("0 admitted", ["+other 1"], "0.7.0")


@pytest.mark.parametrize(
    ("bound", "gist", "demands"),
    [
        (">=2.28", "0 admitted", []),
        ("<2.30", "1 refused core-conflict", ["hermes-agent: requests==2.33.0", "nix: requests<2.30"]),
    ],
)
def test_t6_an_overlap_by_name_is_no_collision_and_one_by_version_is_named(
    tmp_path: Path, bound: str, gist: str, demands: list[str]
) -> None:
    shared = releases("requests", v2_28_0=(), v2_33_0=())
    hosted = new_hosted_home(tmp_path, CORE, host("0.19.0", "requests==2.33.0"), *shared)
    answer = hosted.ask(
        "plugins", "check", hosted.plugin("nix", f"requests{bound}"), "--offline", HERMES_MANAGED="nixos"
    )
    assert (answer.gist, chains(answer.value)) == (gist, demands)


def test_t7_an_environment_that_cannot_be_written_is_one_answer_and_nothing_is_tried_again(home: Home) -> None:
    home.state.mkdir(exist_ok=True)
    (home.state / "generations").write_text("in the way")
    prepared = [*UNTOUCHED_BY_REFUSALS, "pm/trees", "pm/wheels"]
    before = home.snapshot(prepared)
    answer = home.install(home.plugin("ash", "demo-colors"))
    assert (answer.gist, answer.stderr) == ("3 failed not-writable", "")
    assert home.snapshot(prepared) == before


@pytest.mark.parametrize(
    ("version", "code"),
    [
        (1, ""),
        (2, ""),
        (3, "unsupported-manifest-version"),
        (True, "invalid-declaration"),
        ("2", "invalid-declaration"),
    ],
)
def test_t8_a_manifest_version_means_the_same_to_every_verb(home: Home, version: object, code: str) -> None:
    source = home.plugin("ash", "demo-colors", manifest_version=version)
    folder = write_plugin(home.path / "plugins" / "birch", "demo-colors", manifest_version=version)
    answers = [
        home.ask("plugins", "validate", source),
        home.ask("plugins", "check", source),
        home.ask("plugins", "check", folder.name),
        home.install(source),
        home.ask("plugins", "enable", folder.name),
    ]
    assert [codes(answer) for answer in answers] == [[code] if code else []] * len(answers)
    assert [answer.status for answer in answers] == [1 if code else 0] * len(answers)


def codes(answer: Answer) -> list[str]:
    return [reason["code"] for reason in answer.value["reasons"]]


def test_t9_a_removed_plugin_leaves_no_trace_not_even_its_grant(home: Home) -> None:
    home.install(home.plugin("ash", "demo-colors"))
    home.install(home.plugin("birch", "demo-socket"))
    home.configure("  disabled: [Birch]\n  entries:\n    birch: {llm: {allow: true}}\n    ash: {llm: {allow: true}}\n")
    answer = home.ask("plugins", "remove", "birch")
    assert (answer.gist, answer.changes, home.pins) == (
        "0 removed",
        ["-demo-socket 3.0"],
        {"demo-colors": "2.0"} | EMBEDDED,
    )
    assert "birch" not in home.config.read_text().lower()
    assert "ash: {llm: {allow: true}}" in home.config.read_text()


def test_t10_two_spellings_of_one_plugin_are_one_state(home: Home) -> None:
    write_plugin(home.path / "plugins" / "cat" / "foo", "demo-colors")
    home.configure("plugins:\n  enabled: [cat/foo]\n  disabled: [foo]\n")
    assert states(home) == [("cat/foo", "disabled")]
    assert home.ask("plugins", "enable", "foo").gist == "0 admitted"
    assert states(home) == [("cat/foo", "enabled")]
    assert home.config.read_text().endswith("plugins:\n  enabled: [cat/foo]\n  disabled: []\n")


def states(home: Home) -> list[tuple[str, str]]:
    return [(row["key"], row["state"]) for row in home.ask("plugins", "list").value["plugins"]]


def test_t11_what_only_the_second_profile_enables_is_in_the_union(home: Home) -> None:
    work = home.profile("work")
    work.install(work.plugin("birch", "demo-colors<2"))
    answer = home.install(home.plugin("ash", "demo-colors>=2"))
    assert (answer.gist, chains(answer.value)) == (
        "1 refused conflict",
        ["ash: demo-colors>=2", "birch: demo-colors<2"],
    )
    assert (home.admitted, home.pins["demo-colors"]) == (["birch in work"], "1.2")


def test_t12_an_extra_whose_package_is_gone_is_named_and_the_others_still_come(tmp_path: Path) -> None:
    extras = {"voice": ["vanished==1.0"], "web": ["demo-colors==1.0"]}
    hosted = new_hosted_home(tmp_path, CORE, host("0.19.0", extras=extras))
    refused = hosted.ask("pm", "init", "--core", "hermes-agent[voice,web]==0.19.0")
    assert (refused.gist, refused.demands, hosted.pointer) == (
        "1 refused not-found-on-index",
        ["core-extra voice: vanished==1.0 at METADATA"],
        None,
    )
    assert hosted.ask("pm", "init", "--core", "hermes-agent[web]==0.19.0").gist == "0 admitted"
    assert hosted.install(hosted.plugin("ash", "demo-socket")).gist == "0 admitted"
    assert hosted.pins == {"demo-colors": "1.0", "demo-socket": "3.0", HOST: "0.19.0"}


def test_t13_an_outage_of_the_mirror_that_pip_is_set_to_costs_nobody_a_place(tmp_path: Path) -> None:
    config = tmp_path / "pip.conf"
    with IndexServer(tmp_path / "files", read_recipe(DEFAULT_RECIPE)) as server:
        config.write_text(f"[global]\nindex-url = {server.url}\n")
        mirrored = Home(tmp_path / "home", surroundings=tmp_path, environ={"PIP_CONFIG_FILE": str(config)})
        assert mirrored.install(mirrored.plugin("ash", "demo-colors")).gist == "0 admitted"
        assert server.paths("/simple/demo-colors/") != []
    before = mirrored.snapshot(UNTOUCHED_BY_REFUSALS)
    answer = mirrored.install(mirrored.plugin("birch", "demo-transport"))
    assert (answer.gist, answer.steps) == ("3 failed index-unreachable", ["retry birch"])
    assert mirrored.snapshot(UNTOUCHED_BY_REFUSALS) == before
    assert (mirrored.ask("plugins", "check").gist, mirrored.admitted) == ("0 ready", ["ash in default"])


class Watched(IndexServer):
    """Tells when a fault has begun."""

    begun = threading.Event()

    def fault_for(self, asked: str) -> Fault | None:
        fault = super().fault_for(asked)
        if fault is not None:
            self.begun.set()
        return fault


def test_t14_whoever_kills_a_build_finds_the_old_generation_selected_and_importable(tmp_path: Path) -> None:
    with Watched(tmp_path / "files", read_recipe(DEFAULT_RECIPE)) as server:
        served = new_home(tmp_path / "home", indexes=[server.url])
        served.install(served.plugin("ash", "demo-colors"))
        birch = served.plugin("birch", "demo-speedups")
        served.ask("plugins", "check", birch)
        server.faults = [Fault("*demo_speedups*.whl", "stall", times=-1)]
        process = served.start("plugins", "install", birch, "--enable", "--json")
        assert server.begun.wait(60)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
        shown = served.say("run", "--", "python", "-c", "import demo_colors; print(demo_colors.__version__)")
        assert (shown.status, shown.stdout, served.admitted) == (0, "2.0\n", ["ash in default"])


def test_t15_a_running_process_is_told_which_of_its_packages_have_other_versions_now(tmp_path: Path) -> None:
    hosted = new_hosted_home(tmp_path, CORE, host("0.19.0"), *releases("wirekit", v1_0=(), v2_0=()))
    hosted.install(hosted.plugin("ash", "wirekit<2"))
    with hosted.start(
        "run", "--", "python", "-c", "import wirekit; print('up', flush=True); input()", stdin=subprocess.PIPE
    ) as runs:
        assert runs.stdout is not None
        assert runs.stdout.readline() == "up\n"
        newer = write_plugin(hosted.work / "newer" / "ash", "wirekit>=2", version="2.0.0")
        answer = hosted.install(newer, "--force")
        assert restart(answer.value) == (True, ["wirekit 1.0 → 2.0", "ash 1.0.0 → 2.0.0"])
        assert restart(hosted.ask("plugins", "check").value) == (True, ["wirekit 1.0 → 2.0"])
        runs.communicate("\n", timeout=60)
    assert restart(hosted.ask("plugins", "check").value) == (False, [])


def restart(receipt: dict[str, Any]) -> tuple[bool, list[str]]:
    return receipt["generation"]["restart_required"], receipt["generation"]["restart_reasons"]


# -- and three more that cost little


def test_an_empty_list_in_the_project_beside_a_list_in_the_manifest_is_told(home: Home) -> None:
    project = '[project]\nname = "ash"\nversion = "1"\ndependencies = []\n'
    answer = home.install(home.plugin("ash", "demo-colors", files={"pyproject.toml": project}))
    assert (answer.gist, answer.warnings, home.pins) == ("0 admitted", ["declarations-differ"], EMBEDDED)


def test_one_plugin_in_two_profiles_asks_for_nothing_more(home: Home) -> None:
    source, work = home.plugin("ash", "demo-colors"), home.profile("work")
    home.install(source)
    assert (work.install(source).changes, home.admitted) == ([], ["ash in default", "ash in work"])
    assert home.ask("plugins", "check").gist == "0 ready"


def test_files_that_a_plugin_writes_into_its_own_folder_change_no_verdict(home: Home) -> None:
    home.install(home.plugin("ash", "demo-colors"))
    pointer = home.pointer
    folder = home.path / "plugins" / "ash"
    (folder / "cache.db").write_text("grows")
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "x.pyc").write_bytes(b"\0")
    assert (home.ask("plugins", "check").gist, home.pointer) == ("0 ready", pointer)
    assert home.ask("plugins", "enable", "ash").gist == "0 unchanged"
