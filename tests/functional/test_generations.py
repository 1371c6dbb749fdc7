"""Which generations there are, and what differs between two of them."""

from __future__ import annotations

import pytest

from fixtures.homes import Answer, Home, write_plugin
from pm.cli.verb_table import ALIASES


@pytest.fixture
def own(home: Home) -> Home:
    """Return a home with three generations: nothing, a plugin, the plugin disabled."""
    home.ask("pm", "init")
    home.install(home.plugin("ash", "demo-colors<2"))
    home.ask("plugins", "disable", "ash")
    return home


def test_each_generation_is_listed_with_what_made_it(own: Home) -> None:
    rows = own.ask("pm", "generations").value["generations"]
    names = ("number", "operation", "core", "packages", "plugins", "environment", "selected", "previous", "in_use")
    assert [[row[name] for name in names] for row in rows] == [
        [3, "disable", "hermes-embedded-core==0.1.0", 3, [], 2, True, False, False],
        [2, "install", "hermes-embedded-core==0.1.0", 3, ["ash"], 2, False, True, False],
        [1, "init", "hermes-embedded-core==0.1.0", 2, [], 1, False, False, False],
    ]
    assert all(row["bytes"] > 0 for row in rows)
    text = own.say("pm", "generations").stdout.splitlines()
    assert text[0].split() == ["number", "created", "operation", "core", "packages", "plugins", "own", "size", "is"]
    assert [line.split()[-1] for line in text[1:]] == ["selected", "previous", "-"]


def test_one_that_runs_is_in_use(own: Home) -> None:
    process = own.start("run", "--", "sh", "-c", "echo; exec sleep 60")
    try:
        assert process.stdout is not None
        process.stdout.readline()
        rows = own.ask("pm", "generations").value["generations"]
        assert [row["in_use"] for row in rows] == [True, True, False]
    finally:
        process.kill()
        process.communicate()


def test_a_record_that_cannot_be_read_is_listed_as_that(own: Home) -> None:
    (own.state / "generations" / "2.json").write_text("{")
    answer = own.ask("pm", "generations")
    assert [(row["number"], row["readable"]) for row in answer.value["generations"]] == [
        (3, True),
        (2, False),
        (1, True),
    ]
    assert "2       -" in own.say("pm", "generations").stdout
    assert own.ask("pm", "diff", "2", "3").status == 1


def test_before_the_first_one_it_is_said_how_to_make_it(home: Home) -> None:
    assert home.say("pm", "generations") == Answer(0, "no generation was made yet; `hermes pm init` makes one\n", "")
    assert home.ask("pm", "diff").value["error"]["code"] == "no-generation"


def test_two_generations_are_compared_whichever_is_the_later_one(own: Home) -> None:
    found = own.ask("pm", "diff", "1", "2").value
    owners = [{"kind": "plugin", "name": "ash"}]
    assert found == {
        "from": 1,
        "to": 2,
        "core": {"from": "hermes-embedded-core==0.1.0", "to": "hermes-embedded-core==0.1.0"},
        "added": [{"name": "demo-colors", "from": None, "to": "1.2", "owners": owners}],
        "removed": [],
        "moved": [],
        "plugins": [{"key": "ash", "profiles": ["default"], "from": None, "to": "1.0.0"}],
    }
    assert own.say("pm", "diff", "1", "2").stdout == "generation 1 → 2\n+ plugin ash 1.0.0\n+ demo-colors 1.2\n"
    assert own.say("pm", "diff", "2", "1").stdout == "generation 2 → 1\n- plugin ash 1.0.0\n- demo-colors 1.2\n"
    assert own.say("pm", "diff").stdout == "generation 2 → 3\n- plugin ash 1.0.0\n"
    assert own.say("pm", "diff", "2").stdout == "generation 2 → 3\n- plugin ash 1.0.0\n"
    assert own.say("pm", "diff", "2", "2").stdout == "generation 2 → 2\nno difference\n"


def test_other_files_of_the_same_version_are_a_difference(own: Home) -> None:
    own.ask("plugins", "enable", "ash")
    own.install(own.plugin("ash", "demo-colors<2", files={"more.py": "x = 1\n"}), "--force")
    assert "~ plugin ash 1.0.0 → the same version with other files\n" in own.say("pm", "diff").stdout


@pytest.mark.parametrize("words", [("9",), ("1", "9"), ("0",), ("-1",)])
def test_a_generation_that_is_not_there_is_said(own: Home, words: tuple[str, ...]) -> None:
    answer = own.say("pm", "diff", "--", *words, "--json") if words[0] == "-1" else own.say("pm", "diff", *words)
    assert answer.status == 2


def test_fewer_are_kept_where_that_is_said_and_never_less_than_the_selected_one(own: Home) -> None:
    assert own.ask("pm", "gc", "--keep", "2", "--dry-run").gist == "0 collected"
    assert own.ask("pm", "gc", "--keep", "2").gist == "0 collected"
    assert [row["number"] for row in own.ask("pm", "generations").value["generations"]] == [3, 2]
    own.ask("pm", "gc", "--keep", "1")
    assert [row["number"] for row in own.ask("pm", "generations").value["generations"]] == [3]
    assert own.say("pm", "gc", "--keep", "0").status == 2
    assert own.say("run", "--", "python", "-c", "import demo_colors").status == 0


# -- the listing of plugins


def test_what_comes_with_the_core_and_is_not_enabled_is_counted_and_not_listed(own: Home) -> None:
    assert [row["key"] for row in own.ask("plugins", "list").value["plugins"]] == ["ash"]
    assert own.say("plugins", "list", "--plain").stdout == "disabled  user     1.0.0    ash\n"
    assert own.ask("plugins", "list", "--enabled").value["plugins"] == []


def test_the_plugins_of_the_core_are_listed_where_all_is_asked_for_or_they_are_enabled(home: Home) -> None:
    core = home.work / "core"
    for name in ("dusk", "elm"):
        write_plugin(core / "plugins" / name)
    (core / "pyproject.toml").write_text('[project]\nname = "some-core"\nversion = "1.0"\ndependencies = []\n')
    assert home.ask("pm", "init", "--core", core).gist == "0 admitted"
    home.ask("plugins", "enable", "elm")
    assert [row["key"] for row in home.ask("plugins", "list").value["plugins"]] == ["elm"]
    assert [row["key"] for row in home.ask("plugins", "list", "--all").value["plugins"]] == ["dusk", "elm"]
    assert "1 more come with the core; `hermes plugins list --all` shows them\n" in home.say("plugins", "list").stdout


@pytest.mark.parametrize(("family", "alias"), ALIASES)
def test_the_host_s_names_of_verbs_are_understood(own: Home, family: str, alias: str) -> None:
    verb = ALIASES[family, alias]
    if verb == "list":
        assert own.ask(family, alias).value == own.ask(family, verb).value
    else:
        assert own.ask(family, alias, "ash", "--dry-run").gist == "0 removed"


def test_the_host_s_options_are_understood(own: Home) -> None:
    assert own.say("plugins", "list", "--user", "--no-bundled", "--plain", "--enabled").status == 0
    assert own.ask("plugins", "install", "-f", own.work / "ash", "--no-enable").gist == "0 admitted"
