"""`hermes pm why --not` tells why a requirement cannot be had, or what it takes, and changes nothing."""

from pathlib import Path

import pytest

from fixtures.homes import UNTOUCHED_BY_LOOKING, Answer, Home, new_home


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, wheels: Path) -> Home:
    """Return a home in which a plugin runs that holds `demo-socket` below 3."""
    home = new_home(tmp_path_factory.mktemp("shared") / "home", wheels=wheels)
    home.install(home.plugin("ash", "demo-socket<3"))
    return home


def why_not(home: Home, *words: str) -> Answer:
    """Ask, and show that nothing was changed or stored."""
    before = home.snapshot(UNTOUCHED_BY_LOOKING)
    answer = home.ask("pm", "why", "--not", *words)
    assert home.snapshot(UNTOUCHED_BY_LOOKING) == before
    return answer


def test_who_is_in_the_way_is_proved_and_what_would_change_it_was_tried(shared: Home) -> None:
    answer = why_not(shared, "demo-socket>=3")
    assert answer.gist == "1 refused conflict"
    assert answer.demands == [
        "plugin ash: demo-socket<3 at plugin.yaml:4",
        "plugin demo-socket>=3: demo-socket>=3 at ",
    ]
    assert [(step["action"], step["command"], step["effect"]) for step in answer.value["steps"]] == [
        ("widen", "hermes pm why --not 'demo-socket>=3'", ["demo-socket 2.4 → 3.0"]),
        ("leave-out", "hermes plugins disable ash && hermes pm why --not 'demo-socket>=3'", ["demo-socket 2.4 → 3.0"]),
        ("retry", "hermes pm why --not 'demo-socket>=3'", []),
    ]
    assert answer.value["steps"][0]["explanation"] == (
        "write `demo-socket<4` instead of `demo-socket<3` in plugin.yaml:4 of `ash`"
    )


def test_the_receipt_is_about_a_question_and_names_only_plugins_that_there_are(shared: Home) -> None:
    value = why_not(shared, "demo-socket>=3").value
    assert (value["operation"], value["plugin"], value["sequence"]) == ("why", None, None)
    assert [plugin["key"] for plugin in value["plugins"]] == ["ash"]
    assert value["summary"] == (
        "`demo-socket>=3` cannot be installed here: "
        "no version of `demo-socket` satisfies it and everything else that is enabled"
    )


@pytest.mark.parametrize(
    ("wanted", "gist", "summary"),
    [
        ("demo-socket", "0 unchanged", "`demo-socket` is already installed"),
        ("demo-colors", "0 admitted", "`demo-colors` can be installed here"),
        ("demo-socket<2", "1 refused no-matching-version", ""),
        ("no-such-package", "1 refused not-found-on-index", ""),
        ("hermes-agent>=99", "1 refused core-version", ""),
        ("a b c", "1 refused invalid-declaration", ""),
        ("x @ http://user:secret@127.0.0.1/x-1-py3-none-any.whl", "1 refused direct-url", ""),
    ],
)
def test_whatever_is_wanted_has_an_answer(shared: Home, wanted: str, gist: str, summary: str) -> None:
    answer = why_not(shared, wanted)
    assert answer.gist == gist
    assert answer.value["summary"] == summary or not summary
    assert "secret" not in answer.stdout


def test_what_can_be_had_says_what_would_come(shared: Home) -> None:
    answer = why_not(shared, "demo-colors<2")
    assert [change[: change.index(" ")] for change in answer.changes] == ["+demo-colors"]


def test_a_misspelled_requirement_comes_with_its_correction(shared: Home) -> None:
    [reason] = why_not(shared, "demo-socket=>3").value["reasons"]
    assert reason["hint"] == "write `demo-socket>=3`"


def test_before_anything_is_set_up_the_core_alone_is_asked(home: Home) -> None:
    assert home.ask("pm", "why", "--not", "demo-socket>=3").gist == "0 admitted"
    assert sorted(home.snapshot(UNTOUCHED_BY_LOOKING)) == ["config.yaml", "pm"]


def test_the_text_is_that_of_a_refusal(shared: Home) -> None:
    answer = shared.say("pm", "why", "--not", "demo-socket>=3")
    assert (answer.status, answer.stderr) == (1, "")
    assert "    plugin ash             demo-socket<3   plugin.yaml:4\n" in answer.stdout
    assert "      3.0: excluded by `demo-socket<3`\n" in answer.stdout


def test_a_package_or_a_requirement_is_named_and_not_both(shared: Home) -> None:
    both = shared.say("pm", "why", "demo-socket", "--not", "demo-socket>=3")
    neither = shared.say("pm", "why")
    assert (both.status, neither.status) == (2, 2)
