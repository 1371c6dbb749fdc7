"""The host moves to another release together with its plugins, or not at all, and what it means for each is told."""

from __future__ import annotations

import shutil
from pathlib import Path

from fixtures.homes import UNTOUCHED_BY_REFUSALS
from fixtures.hosts import chains, host, is_proved, new_hosted_home, offer, releases, steps
from fixtures.wheels import Distribution

CORE = "hermes-agent==0.19.0"
NEXT = ("pm", "init", "--core", "hermes-agent==0.20.0")


def test_what_plugins_declared_is_in_the_environment_of_the_new_host_too(tmp_path: Path) -> None:
    """Case host-upgrade-breaks-plugins-01: core and plugins are decided on as one set."""
    home = new_hosted_home(
        tmp_path, CORE, host("0.19.0", "demo-colors==1.0"), host("0.20.0"), *releases("hindsight-client", v0_6_1=())
    )
    home.install(home.plugin("recall", "hindsight-client>=0.4"))
    answer = home.ask(*NEXT)
    assert (answer.gist, answer.changes, home.admitted) == (
        "0 admitted",
        ["-demo-colors 1.0", "hermes-agent 0.19.0 → 0.20.0"],
        ["recall in default"],
    )
    assert home.pins == {"hermes-agent": "0.20.0", "hindsight-client": "0.6.1"}


def test_a_host_that_does_not_go_with_a_plugin_is_not_moved_to_and_the_plugin_is_named(tmp_path: Path) -> None:
    """Case host-upgrade-breaks-plugins-01, where it cannot: nobody is dropped silently."""
    home = new_hosted_home(
        tmp_path,
        CORE,
        host("0.19.0"),
        host("0.20.0", "wirekit>=2"),
        *releases("wirekit", v1_0=(), v2_0=()),
        *releases("hindsight-client", v0_6_1=["wirekit<2"]),
    )
    home.install(home.plugin("recall", "hindsight-client>=0.4"))
    before = home.snapshot(UNTOUCHED_BY_REFUSALS)
    answer = home.ask(*NEXT)
    assert (answer.gist, chains(answer.value), is_proved(answer.value)) == (
        "1 refused core-conflict",
        ["recall: hindsight-client>=0.4 → wirekit<2", "hermes-agent: wirekit>=2"],
        True,
    )
    assert steps(answer.value)[0] == "leave-out recall"
    assert home.snapshot(UNTOUCHED_BY_REFUSALS) == before
    assert home.pins == {"hermes-agent": "0.19.0", "hindsight-client": "0.6.1", "wirekit": "1.0"}


def test_a_plugin_whose_package_is_gone_is_not_ready_and_the_package_is_named(tmp_path: Path) -> None:
    """Case host-upgrade-breaks-plugins-03: an enabled plugin is never a silent nothing."""
    home = new_hosted_home(tmp_path, CORE, host("0.19.0"), *releases("langfuse", v3_0=()))
    home.install(home.plugin("traces", "langfuse"))
    [packages] = home.generation.glob("lib/python3.*/site-packages")
    packages.chmod(0o755)
    for path in home.generation.glob("lib/python3.*/site-packages/langfuse*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    answer = home.ask("plugins", "check")
    assert (answer.gist, answer.value["reasons"][0]["message"]) == (
        "1 drift drift",
        "`langfuse` was taken from generation 1",
    )
    assert home.ask("pm", "repair").gist == "0 repaired"
    assert home.pins == {"hermes-agent": "0.19.0", "langfuse": "3.0"}


def test_a_package_that_somebody_else_put_there_is_named_too(tmp_path: Path) -> None:
    home = new_hosted_home(tmp_path, CORE, host("0.19.0"))
    home.ask("pm", "init")
    [packages] = home.generation.glob("lib/python3.*/site-packages")
    packages.chmod(0o755)
    (packages / "stray-1.0.dist-info").mkdir()
    assert home.ask("plugins", "check").value["reasons"][0]["message"] == "`stray` was added to generation 1"


def test_a_plugin_that_would_fail_in_the_new_host_is_not_run_to_find_out_and_a_safe_start_leaves_it_out(
    tmp_path: Path,
) -> None:
    """Case host-upgrade-breaks-plugins-05: its code runs when its operator starts the host, and not before."""
    home = new_hosted_home(tmp_path, CORE, host("0.19.0"), host("0.20.0"))
    mark = home.work / "was-imported"
    source = home.plugin(
        "fragile", "demo-colors", files={"__init__.py": f"open({str(mark)!r}, 'w').close()\nraise ImportError\n"}
    )
    home.install(source)
    assert home.ask(*NEXT).gist == "0 admitted"
    started = home.say("run", "--safe", "--", "python", "-c", "import hermes_agent; print(hermes_agent.__version__)")
    assert (started.status, started.stdout, mark.exists()) == (0, "0.20.0\n", False)


def test_a_release_for_the_next_host_is_passed_over_and_where_it_is_pinned_the_older_one_is_offered(
    tmp_path: Path,
) -> None:
    """Case host-upgrade-breaks-plugins-07."""
    home = new_hosted_home(
        tmp_path,
        "hermes-agent==1.8.2",
        host("1.8.2"),
        host("2.0"),
        *releases("export-plugin", v1_8_0=["hermes-agent<2"], v1_9_0=["hermes-agent>=2"]),
    )
    pinned = home.install(home.plugin("export", "export-plugin==1.9.0"))
    assert (pinned.gist, chains(pinned.value), steps(pinned.value)) == (
        "1 refused core-version",
        ["export: export-plugin==1.9.0 → hermes-agent>=2"],
        [
            "widen export → export-plugin>=1.8.0,<=1.9.0",
            "update-core hermes-agent → hermes-agent==2.0",
            "retry export ?",
        ],
    )
    assert home.install(home.plugin("export", "export-plugin")).gist == "0 admitted"
    assert home.pins == {"export-plugin": "1.8.0", "hermes-agent": "1.8.2"}


def test_a_requirement_on_the_host_never_moves_the_host(tmp_path: Path) -> None:
    """Case host-upgrade-breaks-plugins-09: it is a gate, and the newer host that would pass it is a step."""
    home = new_hosted_home(tmp_path, "hermes-agent==1.8.2", host("1.8.2"), host("1.9.0"))
    home.ask("pm", "init")
    before = home.snapshot(UNTOUCHED_BY_REFUSALS)
    answer = home.install(home.plugin("lights", "hermes-agent>=1.9.0", "demo-colors"))
    assert (answer.gist, answer.demands, steps(answer.value)) == (
        "1 refused core-version",
        ["plugin lights: hermes-agent>=1.9.0 at plugin.yaml:4"],
        ["update-core hermes-agent → hermes-agent==1.9.0", "retry lights ?"],
    )
    assert home.snapshot(UNTOUCHED_BY_REFUSALS) == before
    home.ask("pm", "init", "--core", "hermes-agent==1.9.0")
    assert home.install(home.plugin("lights", "hermes-agent>=1.9.0", "demo-colors")).gist == "0 admitted"


def test_a_host_that_pins_an_older_version_than_what_runs_is_told_before_and_after(tmp_path: Path) -> None:
    """Case host-upgrade-breaks-plugins-11: a package that moves down is a warning in dry run and receipt alike."""
    home = new_hosted_home(tmp_path, CORE, host("0.19.0", "cryptography>=46"))
    offer(home, host("0.20.0", "cryptography==46.0.7"), *releases("cryptography", v46_0_7=(), v48_0_1=()))
    home.ask("pm", "init")
    assert home.pins["cryptography"] == "48.0.1"
    dry, done = home.ask(*NEXT, "--dry-run"), home.ask(*NEXT)
    moved = ["cryptography 48.0.1 → 46.0.7", "hermes-agent 0.19.0 → 0.20.0"]
    assert [(answer.gist, answer.changes) for answer in (dry, done)] == [("0 admitted", moved)] * 2
    assert [answer.warnings for answer in (dry, done)] == [["core-package-moved", "moved-down"]] * 2
    assert "cryptography 48.0.1 → 46.0.7: older than before" in done.value["warnings"][1]["message"]


def test_a_plugin_that_needs_the_newer_version_stops_the_host_from_moving_down(tmp_path: Path) -> None:
    """Case host-upgrade-breaks-plugins-11: whoever depends on the fixed version says so in its declaration."""
    home = new_hosted_home(tmp_path, CORE, host("0.19.0", "cryptography>=46"), Distribution("cryptography", "48.0.1"))
    offer(home, host("0.20.0", "cryptography==46.0.7"), Distribution("cryptography", "46.0.7"))
    home.install(home.plugin("vault", "cryptography>=48.0.1"))
    answer = home.ask(*NEXT)
    assert (answer.gist, chains(answer.value), home.pins["cryptography"]) == (
        "1 refused core-conflict",
        ["hermes-agent: cryptography==46.0.7", "vault: cryptography>=48.0.1"],
        "48.0.1",
    )
