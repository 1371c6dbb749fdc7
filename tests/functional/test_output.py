"""Output that cannot be written changes nothing of what a command does, and nothing of how it is said to have ended."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
from pathlib import Path

import pytest

from fixtures.homes import HERMES, Home

WAYS = {
    "standard output is closed": ">&-",
    "standard error is closed": "2>&-",
    "all streams are closed": "<&- >&- 2>&-",
    "standard output is full": ">/dev/full",
    "standard error is full": "2>/dev/full",
    "both are full": ">/dev/full 2>/dev/full",
    "a reader that has gone": "| true",
}
JSON_WAYS = {
    "ascii": {"PYTHONIOENCODING": "ascii"},
    "latin-1": {"PYTHONIOENCODING": "latin-1:strict"},
    "utf-8, strictly": {"PYTHONIOENCODING": "utf-8:strict"},
    "no locale": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "unbuffered": {"PYTHONUNBUFFERED": "1"},
}


@pytest.fixture
def home(home: Home) -> Home:
    """Return a home with a plugin whose name no terminal shows as it is."""
    home.install(home.plugin("ash", "demo-colors", description="für alle 日本 \u202e"))
    home.ask("plugins", "disable", "ash")
    return home


def under_shell(home: Home, words: str, way: str) -> subprocess.CompletedProcess[str]:
    """Run a command with its streams as a shell redirects them; the status is the command's."""
    script = f"set -o pipefail; '{HERMES}' {words} {way}"
    return subprocess.run(
        ["bash", "-c", script],
        env=home.environ,
        cwd=home.work,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def latest(home: Home) -> tuple[str, str, int]:
    """Return what the receipt of the last operation says of it."""
    receipt = json.loads((home.state / "receipts" / "latest.json").read_text())
    return receipt["operation"], receipt["outcome"], receipt["exit_status"]


@pytest.mark.parametrize("words", ["plugins enable ash", "plugins enable ash --json --verbose"])
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_an_operation_ends_as_it_ends_whatever_becomes_of_its_output(home: Home, way: str, words: str) -> None:
    done = under_shell(home, words, way)
    assert (done.returncode, latest(home), home.admitted) == (0, ("enable", "admitted", 0), ["ash in default"])
    assert "Traceback" not in done.stdout + done.stderr
    refused = under_shell(
        home, words.replace("enable ash", f"install {home.plugin('birch', 'demo-colors>=99')} --enable"), way
    )
    assert (refused.returncode, latest(home), home.admitted) == (1, ("install", "refused", 1), ["ash in default"])


def test_a_full_disk_is_told_with_the_place_where_the_answer_is(home: Home) -> None:
    answers = [
        under_shell(home, words, ">/dev/full") for words in ("plugins enable ash", "plugins check", "plugins list")
    ]
    lost = "hermes: the output cannot be written: No space left on device"
    assert [(answer.returncode, answer.stderr) for answer in answers] == [
        (0, f"{lost}; `hermes pm receipts show latest` tells how it ended\n"),
        (0, f"{lost}\n"),
        (3, f"{lost}\n"),
    ]


def test_no_file_takes_the_place_of_a_stream_that_is_closed(home: Home) -> None:
    before = home.snapshot(["pm", "config.yaml.lock"])
    under_shell(home, "plugins frobnicate --json", "<&- >&- 2>&-")
    under_shell(home, "plugins enable nowhere --verbose", "<&- >&- 2>&-")
    texts = [path.read_bytes() for path in home.state.rglob("*") if path.is_file() and "cache" not in path.parts]
    assert home.snapshot(["pm", "config.yaml.lock"]) == before
    assert [text for text in texts if text.startswith(b"hermes:") or b"usage:" in text] == []


def test_a_command_in_a_generation_finds_closed_what_was_closed(home: Home) -> None:
    asks = "sh -c 'if [ -e /proc/self/fd/2 ]; then echo open > found; else echo closed > found; fi'"
    assert (under_shell(home, f"run -- {asks}", "2>&-").returncode, (home.work / "found").read_text()) == (
        0,
        "closed\n",
    )
    assert (under_shell(home, f"run -- {asks}", "").returncode, (home.work / "found").read_text()) == (0, "open\n")


@pytest.mark.parametrize("environ", JSON_WAYS.values(), ids=JSON_WAYS)
def test_in_every_encoding_json_is_one_object_and_text_is_shown(home: Home, environ: dict[str, str]) -> None:
    value, text = (
        subprocess.run(
            [HERMES, "plugins", "show", "ash", *options],
            env=home.environ | environ,
            cwd=home.work,
            capture_output=True,
            check=False,
            timeout=60,
        )
        for options in (["--json"], [])
    )
    assert (json.loads(value.stdout)["key"], value.returncode) == ("ash", 0)
    assert (text.stdout.startswith(b"ash 1.0.0, disabled\n"), text.returncode, text.stderr) == (True, 0, b"")


def test_a_reader_that_does_not_wait_gets_everything(home: Home) -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    assert fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096) == 4096
    command: list[str | Path] = [HERMES, "pm", "receipts", "example", "core-conflict", "--json"]
    with subprocess.Popen(command, env=home.environ, cwd=home.work, stdout=writing) as process:
        os.close(writing)
        with os.fdopen(reading, "rb") as stream:
            content = stream.read()
        assert (process.wait(60), len(content) > 4096, isinstance(json.loads(content), dict)) == (0, True, True)
