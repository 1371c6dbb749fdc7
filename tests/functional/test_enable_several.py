"""Several plugins are enabled by one decision: all of them by one commit, or none."""

from __future__ import annotations

import pytest

from fixtures.homes import Home, follow, write_plugin


@pytest.fixture
def own(home: Home) -> Home:
    """Return a home with a generation and four plugins that are installed and disabled."""
    home.ask("pm", "init")
    for name, requirement in (
        ("ash", "demo-colors<2"),
        ("birch", "demo-socket"),
        ("cedar", "demo-colors>=2"),
        ("memory/dill", "demo-transport"),
    ):
        write_plugin(home.path / "plugins" / name, requirement)
    return home


def test_all_of_them_are_enabled_by_one_generation(own: Home) -> None:
    answer = own.ask("plugins", "enable", "ash", "birch", "dill", "ash")
    assert (answer.gist, answer.value["plugin"], own.pointer and own.pointer["generation"]) == ("0 admitted", None, 2)
    assert own.admitted == ["ash in default", "birch in default", "memory/dill in default"]
    assert [row["key"] for row in answer.value["plugins"]] == ["ash", "birch", "memory/dill"]
    assert own.ask("plugins", "enable", "birch", "ash").gist == "0 unchanged"


def test_if_they_do_not_fit_together_none_is_enabled_and_a_step_leaves_one_out(own: Home) -> None:
    before = own.snapshot(besides=("pm/receipts", "pm/locks", "pm/cache"))
    answer = own.ask("plugins", "enable", "ash", "birch", "cedar")
    assert answer.gist == "1 refused conflict"
    assert own.snapshot(besides=("pm/receipts", "pm/locks", "pm/cache")) == before
    steps = {step["subject"]: step for step in answer.value["steps"] if step["action"] == "leave-out"}
    assert {key: step["command"] for key, step in steps.items()} == {
        "ash": "hermes plugins enable birch cedar",
        "cedar": "hermes plugins enable ash birch",
    }
    assert all(step["confirmed"] for step in steps.values())
    assert follow(own, steps["cedar"]["command"]).status == 0
    assert own.admitted == ["ash in default", "birch in default"]


def test_what_is_enabled_already_is_left_as_it_is(own: Home) -> None:
    own.ask("plugins", "enable", "ash")
    since = own.ask("plugins", "show", "ash").value["enabled_since"]
    assert own.ask("plugins", "enable", "ash", "birch").gist == "0 admitted"
    assert own.admitted == ["ash in default", "birch in default"]
    assert own.ask("plugins", "show", "ash").value["enabled_since"] == since


def test_a_name_that_is_not_there_enables_none_of_the_others(own: Home) -> None:
    answer = own.ask("plugins", "enable", "ash", "nothing")
    assert (answer.gist, own.admitted) == ("2 failed unknown-plugin", [])


def test_a_dry_run_gives_the_verdict_and_changes_nothing(own: Home) -> None:
    assert own.ask("plugins", "enable", "ash", "birch", "--dry-run").gist == "0 admitted"
    assert own.ask("plugins", "enable", "ash", "cedar", "--dry-run").gist == "1 refused conflict"
    assert own.admitted == []
