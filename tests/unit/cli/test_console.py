"""Talk: what a person sees of progress, complaints and questions, whatever others have written."""

from __future__ import annotations

import fcntl
import io
import os
import struct
import sys
import termios
from collections.abc import Callable, Mapping
from contextlib import suppress

import pytest

from pm.cli.console import Talk, ask, complain, misused, safe_listing, table, tell
from pm.errors import PmError

EVIL = "\x1b[2J https://me:secret@example.org"
TAME = r"\x1b[2J https://****@example.org"


def seen(monkeypatch: pytest.MonkeyPatch, say: Callable[[Talk], None], *, quiet: bool = False) -> str:
    """Return what is seen of some talk on a terminal of twenty columns."""
    leader, follower = os.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 20, 0, 0))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "200")
    with os.fdopen(follower, "w", encoding="utf-8") as stream, monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", stream)
        say(Talk(quiet=quiet, verbose=False))
    return read_to_the_end(leader).decode()


def read_to_the_end(leader: int) -> bytes:
    """Return everything that was written to a pseudo-terminal which nothing has open for writing any more."""
    said = b""
    with os.fdopen(leader, "rb", buffering=0) as reader, suppress(OSError):  # which is how Linux says that it ended
        while part := reader.read(10_000):
            said += part
    return said


def test_progress_is_one_line_of_the_terminal_however_wide_text_is_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    said = seen(monkeypatch, lambda talk: talk.tell("reading all that there is"))
    assert said == "\r\x1b[Kreading all that th"


def test_progress_cannot_command_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    def say(talk: Talk) -> None:
        talk.tell("\x1b[2Ja")
        talk.progress(1, 8)
        talk.clear()

    assert seen(monkeypatch, say) == "\r\x1b[K\\x1b[2Ja\r\x1b[K\\x1b[2Ja: 1 of 9 an\r\x1b[K"


def test_quiet_talk_says_nothing_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    def say(talk: Talk) -> None:
        talk.tell("a")
        talk.progress(1, 1)
        talk.say("b")

    assert seen(monkeypatch, say, quiet=True) == ""


def test_off_a_terminal_progress_is_only_said_when_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    Talk(quiet=False, verbose=False).tell("unheard")
    Talk(quiet=False, verbose=True).tell("heard")
    assert capsys.readouterr() == ("", "heard\n")


def test_whatever_is_said_is_safe(capsys: pytest.CaptureFixture[str]) -> None:
    Talk(quiet=False, verbose=False).say(EVIL)
    tell(EVIL)
    assert misused("pm init", EVIL).code == 2
    assert complain(PmError("busy", f"one\n{EVIL}\n| ::error::b", hint=EVIL, file="a\x1b", line=2)) == 4
    assert capsys.readouterr().err.splitlines() == [
        TAME,
        f"hermes-pm: {TAME}",
        f"hermes-pm pm init: error: {TAME}",
        rf"hermes-pm: a\x1b:2: one\n{TAME}",
        "| ::error::b (busy)",
        f"        {TAME}",
    ]


def test_without_a_terminal_nothing_is_asked(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("yes\n"))
    assert ask("really?") is None
    monkeypatch.setattr(sys, "stdin", None)
    assert ask("really?") is None
    assert capsys.readouterr().err == ""


def test_every_text_of_a_listing_is_safe_in_one_line() -> None:
    listing = {"rows": [{"key": EVIL, "lines": ("a\nb",), "number": 3, "none": None, "flag": True}]}
    assert safe_listing(listing) == {
        "rows": [{"key": TAME, "lines": [r"a\nb"], "number": 3, "none": None, "flag": True}]
    }


def test_a_table_is_as_wide_as_its_longest_cells() -> None:
    rows: list[Mapping[str, object]] = [{"key": "ash", "state": "enabled"}, {"key": "a-longer-one", "state": None}]
    assert table(rows, ("key", "state")) == "key           state\nash           enabled\na-longer-one  -"
