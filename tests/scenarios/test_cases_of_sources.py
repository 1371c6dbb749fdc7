"""Where a package or a plugin comes from when several places have it, none has it, or it must be built."""

from __future__ import annotations

from pathlib import Path

from fixtures.homes import UNTOUCHED_BY_REFUSALS, Home, new_home, write_plugin
from fixtures.server import IndexServer
from fixtures.wheels import DEFAULT_RECIPE, Distribution, build_recipe, read_recipe

NEEDED = read_recipe(DEFAULT_RECIPE)
"""By the core, among others."""

# -- local-version-or-hardware-build


def test_a_local_build_that_is_installed_satisfies_a_plain_requirement_and_stays(tmp_path: Path) -> None:
    """Case local-version-or-hardware-build-01: the build segment is kept."""
    wheels = tmp_path / "wheels"
    offered = [Distribution("tensor", version) for version in ("2.4.0", "2.4.0+cu121", "2.5.0")]
    build_recipe(wheels, [*NEEDED, *offered])
    home = new_home(tmp_path / "home", wheels=wheels)
    home.install(home.plugin("ash", "tensor==2.4.0+cu121"))
    answer = home.install(home.plugin("birch", "tensor>=2"))
    assert (answer.gist, answer.changes, home.pins["tensor"]) == ("0 admitted", [], "2.4.0+cu121")


def test_a_local_build_that_no_index_has_is_refused_and_what_runs_stays(stocked: Home) -> None:
    """Case local-version-or-hardware-build-03: `+cu118` is not on the index that is asked."""
    stocked.install(stocked.plugin("ash", "kit==1.0"))
    before = stocked.snapshot(UNTOUCHED_BY_REFUSALS)
    answer = stocked.install(stocked.plugin("birch", "kit==1.0+cu118"))
    assert (answer.gist, answer.demands) == (
        "1 refused no-matching-version",
        ["plugin birch: kit==1.0+cu118 at plugin.yaml:4"],
    )
    assert stocked.snapshot(UNTOUCHED_BY_REFUSALS) == before


# -- index-outage


def test_a_plugin_that_is_enabled_while_the_index_is_out_of_reach_stays_disabled(tmp_path: Path) -> None:
    """Case index-outage-03: nothing is said about the plugin, and what runs goes on."""
    offered = [*NEEDED, Distribution("kit", "1.0"), Distribution("gear", "1.0")]
    with IndexServer(tmp_path / "files", offered) as server:
        home = new_home(tmp_path / "home", indexes=[server.url])
        home.install(home.plugin("ash", "kit"))
        home.ask("plugins", "install", home.plugin("birch", "gear"))
    before = home.snapshot(UNTOUCHED_BY_REFUSALS)
    answer = home.ask("plugins", "enable", "birch")
    assert (answer.gist, home.admitted) == ("3 failed index-unreachable", ["ash in default"])
    assert home.snapshot(UNTOUCHED_BY_REFUSALS) == before
    rows = home.ask("plugins", "list").value["plugins"]
    assert [(row["key"], row["state"], row["ready"]) for row in rows] == [
        ("ash", "enabled", "ready"),
        ("birch", "disabled", None),
    ]
    assert home.say("run", "--", "python", "-c", "import kit").status == 0


# -- same-name-two-sources


def test_of_two_copies_one_is_used_and_the_receipt_names_both(stocked: Home) -> None:
    """Case same-name-two-sources-01: one precedence, and only the requirements of the copy that is used count."""
    switch = {"HERMES_ENABLE_PROJECT_PLUGINS": "1"}
    user = write_plugin(stocked.path / "plugins" / "ash", "kit==1.0", version="1")
    project = write_plugin(stocked.work / ".hermes" / "plugins" / "ash", "kit==2.0", version="2")
    answer = stocked.ask("plugins", "enable", "ash", **switch)
    [shadowed] = answer.value["shadowed"]
    assert (answer.gist, stocked.pins["kit"]) == ("0 admitted", "2.0")
    assert (shadowed["used"]["location"], shadowed["hidden"]["location"]) == (str(project), str(user))


# -- sdist-build-fails


BROKEN = """\
import sys


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    print("error: command 'no-such-compiler' failed: No such file or directory", file=sys.stderr)
    raise SystemExit(1)
"""


def test_a_source_distribution_that_does_not_build_says_what_it_misses(tmp_path: Path) -> None:
    """Case sdist-build-fails-01: the end of the build's own words, and nothing is enabled."""
    wheels = tmp_path / "wheels"
    build_recipe(wheels, [*NEEDED, Distribution("spidery", "1.0", tags=(), sdist=True, backend=BROKEN)])
    home = new_home(tmp_path / "home", wheels=wheels)
    answer = home.install(home.plugin("ash", "spidery"), "--allow-build", "spidery")
    [reason] = answer.value["reasons"]
    assert (answer.gist, home.pointer, (home.path / "plugins" / "ash").exists()) == (
        "3 failed build-failed",
        None,
        False,
    )
    assert "command 'no-such-compiler' failed" in reason["message"]


# -- credential-leak


def test_a_word_in_an_address_that_is_refused_is_not_shown(stocked: Home) -> None:
    """Case credential-leak-05."""
    answer = stocked.install(stocked.plugin("ash", "kit @ git+https://ada:hunter2@git.example.invalid/x.git"))
    assert answer.gist == "1 refused direct-url"
    assert "hunter2" not in answer.stdout + answer.stderr
    assert "git.example.invalid/x.git" in answer.stdout


# -- private-index-proxy


def test_what_is_decided_is_what_is_installed_where_two_indexes_have_a_name(tmp_path: Path) -> None:
    """Case private-index-proxy-03: what installs does not merge the indexes by another rule than what decides."""
    private = [*NEEDED, Distribution("kit", "1.0", files={"kit.py": "ORIGIN = 'private'\n"})]
    public = [Distribution("kit", "1.0", files={"kit.py": "ORIGIN = 'public'\n"}), Distribution("kit", "9.0")]
    with IndexServer(tmp_path / "one", private) as first, IndexServer(tmp_path / "two", public) as second:
        home = new_home(tmp_path / "home", indexes=[first.url, second.url])
        answer = home.install(home.plugin("ash", "kit"))
    assert (answer.gist, home.pins["kit"]) == ("0 admitted", "1.0")
    assert home.say("run", "--", "python", "-c", "import kit; print(kit.ORIGIN)").stdout == "private\n"
