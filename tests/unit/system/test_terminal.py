"""What a stream can show: one rule for its width, one for colours, one for its encoding."""

from __future__ import annotations

import fcntl
import io
import os
import struct
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

import pytest

from pm.system.terminal import can_show, columns, has_colour, obeys, terminal_columns


@contextmanager
def terminal(width: int) -> Iterator[TextIO]:
    """Open a pseudo terminal of some width."""
    leader, follower = os.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    with os.fdopen(leader, "rb", buffering=0), os.fdopen(follower, "w", encoding="utf-8") as stream:
        yield stream


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("COLUMNS", "NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)


def test_text_is_as_wide_as_the_terminal() -> None:
    with terminal(73) as stream:
        assert (columns(stream), terminal_columns(stream)) == (73, 73)


def test_a_terminal_that_does_not_say_counts_as_none() -> None:
    with terminal(0) as stream:
        assert (columns(stream), terminal_columns(stream)) == (100, 0)


def test_without_a_terminal_text_is_a_hundred_columns_wide(tmp_path: Path) -> None:
    with (tmp_path / "file").open("w", encoding="utf-8") as stream:
        assert columns(stream) == 100
    assert [columns(stream) for stream in (stream, io.StringIO(), None)] == [100, 100, 100]


def test_columns_wins_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    with terminal(73) as stream:
        assert (columns(stream), terminal_columns(stream)) == (60, 73)
    assert columns(io.StringIO()) == 60


@pytest.mark.parametrize("text", ["", "0", "-1", "wide", "1.5"])
def test_columns_that_says_no_width_says_nothing(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("COLUMNS", text)
    with terminal(73) as stream:
        assert columns(stream) == 73


def test_a_terminal_obeys_and_has_colours() -> None:
    with terminal(80) as stream:
        assert (obeys(stream), has_colour(stream)) == (True, True)
    assert [(obeys(stream), has_colour(stream)) for stream in (io.StringIO(), None)] == [(False, False)] * 2


def test_a_terminal_without_colours_may_obey_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    with terminal(80) as stream:
        monkeypatch.setenv("NO_COLOR", "1")
        assert (obeys(stream), has_colour(stream)) == (True, False)
        monkeypatch.delenv("NO_COLOR")
        monkeypatch.setenv("TERM", "dumb")
        assert (obeys(stream), has_colour(stream)) == (False, False)


@pytest.mark.parametrize(
    ("encoding", "expected"), [("utf-8", True), ("ascii", False), ("latin-1", False), ("cp437", False)]
)
def test_signs_are_shown_if_the_encoding_has_all_of_them(encoding: str, *, expected: bool) -> None:
    assert can_show(io.TextIOWrapper(io.BytesIO(), encoding=encoding), "├→…") is expected
    assert can_show(None, "├→…")
