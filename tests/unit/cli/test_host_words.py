"""Commands as the host's users write them: its own options before, between and behind the words of the manager."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pm.cli.host_words import meant_places, understood
from pm.errors import PmError


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """Return the environment of a home with one profile."""
    (tmp_path / "profiles" / "coder").mkdir(parents=True)
    return {"HERMES_HOME": str(tmp_path)}


def home(environ: dict[str, str]) -> str:
    return os.path.join(environ["HERMES_HOME"], "profiles", "coder")  # noqa: PTH118 - compared with text


@pytest.mark.parametrize(
    "words",
    [
        ["-p", "coder", "plugins", "list"],
        ["--profile", "coder", "plugins", "list"],
        ["--profile=coder", "plugins", "list"],
        ["plugins", "-p", "coder", "list"],
        ["plugins", "list", "-p", "coder"],
        ["plugins", "list", "--profile=coder"],
        ["--yolo", "-m", "plugins", "-p", "coder", "plugins", "list"],
        ["-c", "last one", "-p", "coder", "plugins", "list"],
    ],
)
def test_a_profile_means_its_home_wherever_it_is_named(words: list[str], environ: dict[str, str]) -> None:
    assert understood(words, environ) == ["plugins", "list", "--home", home(environ)]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["run", "-p", "coder", "--", "ls", "-p", "x"], ["run", "--home", "HOME", "--", "ls", "-p", "x"]),
        (["-p", "coder", "run", "--safe", "ls", "-p", "x"], ["run", "--safe", "--home", "HOME", "ls", "-p", "x"]),
        (["run", "--", "ls", "-p", "coder"], ["run", "--", "ls", "-p", "coder"]),
        (["run", "ls", "-p", "coder"], ["run", "ls", "-p", "coder"]),
    ],
)
def test_what_follows_a_program_belongs_to_it(words: list[str], expected: list[str], environ: dict[str, str]) -> None:
    assert understood(words, environ) == [home(environ) if word == "HOME" else word for word in expected]


def test_a_home_that_is_said_wins(environ: dict[str, str]) -> None:
    words = ["-p", "coder", "plugins", "list", "--home", "/other"]
    assert understood(words, environ) == ["plugins", "list", "--home", "/other"]


def test_the_profile_called_default_is_the_root(environ: dict[str, str]) -> None:
    environ = environ | {"HERMES_HOME": home(environ)}
    root = str(Path(environ["HERMES_HOME"]).parents[1])
    assert understood(["-p", "default", "pm", "status"], environ) == ["pm", "status", "--home", root]


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["-p", "coder"],
        ["--yolo"],
        ["chat", "-p", "coder"],
        ["-p", "coder", "chat", "plugins"],
        ["-z", "plugins", "list"],
        ["-c", "-p", "coder", "plugins", "list"],
        ["memory", "status"],
        ["mcp", "add", "x", "--args", "-p", "coder", "plugins"],
    ],
)
def test_the_words_of_the_core_stay_as_they_are(words: list[str], environ: dict[str, str]) -> None:
    assert understood(words, environ) == words


@pytest.mark.parametrize("name", ["nothing", "..", "-", "a/b", ""])
def test_a_profile_that_does_not_exist_is_said(name: str, environ: dict[str, str]) -> None:
    with pytest.raises(PmError) as raised:
        understood([f"--profile={name}", "plugins", "list"], environ) if name else understood(
            ["-p", "nothing", "pm", "status"], environ
        )
    assert raised.value.code == "unknown-profile"


def test_a_value_that_is_no_name_of_a_profile_names_none(environ: dict[str, str]) -> None:
    words = ["plugins", "list", "-p", "no:xdist"]
    assert understood(words, environ) == words


def test_the_core_is_started_for_the_profile_that_its_words_name(environ: dict[str, str]) -> None:
    assert str(meant_places(["chat", "-p", "coder"], environ).home) == home(environ)
    assert str(meant_places(["chat", "-p", "nothing"], environ).home) == environ["HERMES_HOME"]
