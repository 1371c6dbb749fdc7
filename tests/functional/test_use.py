"""A memory provider is enabled first and used only once it is selected: the step says so, and selects it."""

from __future__ import annotations

import pytest

from fixtures.homes import UNTOUCHED_BY_REFUSALS, Home, follow, write_plugin

PROVIDER = {"__init__.py": "class Notes(MemoryProvider): ...\n\n\ndef register(ctx):\n    pass\n"}


@pytest.fixture
def home(home: Home) -> Home:
    write_plugin(home.path / "plugins" / "memory" / "notes", "demo-colors", files=PROVIDER)
    write_plugin(home.path / "plugins" / "ash", "demo-socket")
    return home


def test_a_provider_that_is_enabled_is_followed_by_the_step_that_selects_it(home: Home) -> None:
    answer = home.ask("plugins", "enable", "notes")
    [step] = answer.value["steps"]
    assert (answer.gist, step["action"], step["command"]) == ("0 admitted", "select", "hermes plugins use memory notes")
    assert "provider" not in home.config.read_text()
    assert "hermes plugins use memory notes" in home.say("pm", "receipts", "show", "latest").stdout
    assert follow(home, step["command"]).status == 0
    assert "provider: notes" in home.config.read_text()
    again = home.ask("plugins", "use", "memory", "notes")
    assert (again.gist, again.value["steps"]) == ("0 unchanged", [])


def test_installing_one_says_it_too_and_another_plugin_has_no_such_step(home: Home) -> None:
    source = home.plugin("recall", files=PROVIDER)
    assert home.install(source).steps == ["select recall"]
    assert home.ask("plugins", "enable", "ash").steps == []


def test_selecting_is_one_admission_with_enabling(home: Home) -> None:
    home.config.write_text(f"# mine\n{home.config.read_text()}")
    before = home.snapshot(UNTOUCHED_BY_REFUSALS)
    assert home.ask("plugins", "use", "memory", "notes", "--dry-run").gist == "0 admitted"
    assert home.snapshot(UNTOUCHED_BY_REFUSALS) == before
    answer = home.ask("plugins", "use", "memory", "notes")
    assert (answer.gist, home.admitted) == ("0 admitted", ["memory/notes in default"])
    assert answer.value["summary"].startswith("`notes` is selected")
    assert home.config.read_text().startswith("# mine\n")
    assert home.ask("plugins", "check").gist == "0 ready"
    back = home.ask("plugins", "use", "memory", "builtin")
    assert (back.gist, home.admitted) == ("0 admitted", ["memory/notes in default"])
    assert home.ask("plugins", "use", "memory", "builtin").gist == "0 unchanged"


def test_one_that_does_not_fit_is_refused_and_nothing_is_selected(home: Home) -> None:
    write_plugin(home.path / "plugins" / "memory" / "never", "demo-colors>=99", files=PROVIDER)
    before = home.snapshot(UNTOUCHED_BY_REFUSALS)
    answer = home.ask("plugins", "use", "memory", "never")
    assert (answer.gist, answer.steps[-1]) == ("1 refused no-matching-version", "re-enable memory/never")
    assert home.snapshot(UNTOUCHED_BY_REFUSALS) == before


def test_what_is_no_provider_is_not_selected_as_one(home: Home) -> None:
    [reason] = home.ask("plugins", "use", "memory", "ash").value["reasons"]
    assert (reason["code"], reason["message"], reason["hint"]) == (
        "unknown-plugin",
        "`ash` is no memory provider",
        "providers here are `notes`",
    )
    assert home.ask("plugins", "use", "context-engine", "ash").gist == "0 admitted"
    assert "engine: ash" in home.config.read_text()
    assert home.say("plugins", "use", "voice", "ash").status == 2
