"""Keys of plugins, and the many ways to spell one."""

from __future__ import annotations

import pytest

from pm.limits import SHOWN_LINE, SHOWN_LINES
from pm.names import (
    canonical_key,
    is_key,
    leaf,
    marked_lines,
    safe_lines,
    safe_text,
    same_key,
    shown,
    without_commands,
)


@pytest.mark.parametrize("key", ["mem0", "memory/mem0", "Disk-Cleanup", "a", "9router", "agent_memory_es", "a" * 64])
def test_a_key_is_one_or_two_segments_of_letters_digits_hyphens_and_underscores(key: str) -> None:
    assert is_key(key)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a/b/c",
        "../evil",
        "a/..",
        ".hidden",
        "-r",
        "_private",
        "a b",
        "augmem.hermes",
        "ключ",
        "a/",
        "/a",
        "a\n",
        "C:",
        "a" * 65,
    ],
)
def test_what_could_be_no_folder_below_plugins_is_no_key(text: str) -> None:
    assert not is_key(text)


def test_an_unsafe_name_is_no_key_and_is_made_visible() -> None:
    """Case archive-path-traversal-03; that it is refused is tested where declarations are read."""
    name = "../../electron\x1b[2J"
    assert (is_key(name), shown(name)) == (False, "`../../electron\\x1b[2J`")


@pytest.mark.parametrize("spelling", ["jovi-metrix", "Jovi_Metrix", "JOVI.METRIX", "jovi--metrix", " jovi_metrix "])
def test_case_and_separators_do_not_make_another_plugin(spelling: str) -> None:
    """Cases name-normalisation-03 and name-normalisation-05."""
    assert same_key(spelling, "Jovi-Metrix")


def test_a_category_makes_another_plugin() -> None:
    assert canonical_key("web/firecrawl") != canonical_key("browser/firecrawl")


def test_the_leaf_of_a_key_is_its_last_segment() -> None:
    assert [leaf("memory/mem0"), leaf("mem0")] == ["mem0", "mem0"]


def test_a_shown_text_hides_nothing_and_is_bounded() -> None:
    assert shown("a\r\u202eb") == "`a\\r\\u202eb`"
    assert shown("x" * 300, limit=5) == "`xxxxx…`"


def test_a_shown_text_has_no_credential_even_where_it_is_cut() -> None:
    assert shown("https://user:secret@example.org/x", limit=15) == "`https://****@ex…`"
    assert shown("https://user:" + "s" * 300 + "@example.org") == "`https://****@example.org`"


ESCAPED = r"a\x1b[2J\u202eb\xa0c\ud800 https://****@example.org/?token=****"
WRITTEN = "a\x1b[2J\u202eb\xa0c\ud800 https://me:secret@example.org/?token=secret"


def test_a_safe_text_is_one_line_without_credentials_and_without_what_a_terminal_obeys() -> None:
    assert safe_text(WRITTEN) == ESCAPED
    assert safe_text("one\ntwo\r\n") == r"one\ntwo\r\n"
    assert safe_text("plain ✓ 記憶") == "plain ✓ 記憶"


def test_of_several_lines_those_stay_that_are_marked_and_cannot_be_taken_for_another_section() -> None:
    assert safe_lines(f"{WRITTEN}\n\ttwo\r\n") == f"{ESCAPED}\\n\\ttwo\\r\\n"
    assert safe_lines("it failed:\n| one\n| \ttwo\nWhat now") == "it failed:\n| one\n| \\ttwo\\nWhat now"


def test_of_what_a_program_says_the_last_lines_are_shown() -> None:
    assert marked_lines("one\r\ntwo\n") == "\n| one\n| two"
    assert marked_lines(" \n") == ""
    said = marked_lines("\n".join(map(str, range(100))))
    assert (said.count("\n"), said.endswith("\n| 98\n| 99")) == (SHOWN_LINES.value, True)


def test_what_is_too_long_is_cut() -> None:
    assert safe_text("x" * 100_000) == "x" * (SHOWN_LINE.value - 1) + "…"
    assert len(safe_text("\u202e" * 100_000)) == SHOWN_LINE.value


@pytest.mark.parametrize(
    ("text", "shown_as"),
    [
        ("::stop-commands::x", "\\x3a:stop-commands::x"),
        ("a\n  ::error::b\n::: c", "a\n  \\x3a:error::b\n\\x3a:: c"),
        ("a ##[error]b", "a #\\x23[error]b"),
        ("a::b : c", "a::b : c"),
    ],
)
def test_no_line_of_an_output_is_a_workflow_command(text: str, shown_as: str) -> None:
    assert without_commands(text) == shown_as


@pytest.mark.parametrize("text", [WRITTEN, "a\nb", "", "\\x1b", "x" * 9000, "\x1b" * 9000, "a\n| b\n| | c\n"])
def test_what_is_safe_stays_as_it_is(text: str) -> None:
    assert safe_text(safe_text(text)) == safe_text(text)
    assert safe_lines(safe_lines(text)) == safe_lines(text)
