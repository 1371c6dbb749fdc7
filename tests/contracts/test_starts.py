"""Every verb says in a process that starts as a user's does what it says in a fork, by which most tests ask it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from fixtures.homes import PLUGINS, ROOT, Answer, Home, new_home

UNFIT = PLUGINS / "conflicts-with-core"
LIFE = (
    "pm init",
    "plugins install {work}/ash --enable",
    f"plugins install {UNFIT} --enable",
    "plugins validate {work}/ash",
    "plugins check",
    f"plugins check {UNFIT}",
    "plugins list",
    "plugins show ash",
    "pm status",
    "pm tree",
    "pm why demo-colors",
    "pm why --not demo-colors>=3",
    "pm receipts",
    "pm bundle --output {work}/out",
    "run -- python -c pass",
    "plugins disable ash",
    "plugins enable ash",
    "pm rollback",
    "pm verify",
    "pm repair",
    "plugins remove ash",
    "pm gc",
)
"""What is done in a home, from its beginning on: every verb, also where it refuses."""
NEVER_THE_SAME = re.compile(
    r"\d{4}-?\d\d-?\d\dT[\d:.]+Z|\b[0-9a-f]{10}\b|(?<=duration_ms\": )\d+|\b\d+ ms\b|\"timings\": \{[^}]*\}"
)
"""Times, identities of receipts and durations."""


def test_every_verb_is_among_them() -> None:
    page = (ROOT / "docs" / "reference" / "command-line.md").read_text(encoding="utf-8")
    verbs = re.findall(r"^### `hermes (.+)`$", page, re.MULTILINE)
    assert [verb for verb in verbs if not any(words.startswith(verb) for words in LIFE)] == []


@pytest.mark.parametrize("more", [["--json"], []], ids=["json", "text"])
def test_every_verb_says_the_same_in_a_process_that_starts(tmp_path: Path, wheels: Path, more: list[str]) -> None:
    place = tmp_path / "place"
    forked = life(new_home(place / "home", wheels=wheels), Home.say, more)
    place.rename(tmp_path / "done")
    assert life(new_home(place / "home", wheels=wheels), Home.say_anew, more) == forked


def life(home: Home, say: Callable[..., Answer], more: list[str]) -> list[tuple[str, Answer]]:
    """Do everything in a home, and return what was said, without what is never the same."""
    home.plugin("ash", "demo-colors")
    return [(words, unchanging(say(home, *told(home, words, more)))) for words in LIFE]


def told(home: Home, words: str, more: list[str]) -> list[str]:
    return [*words.format(work=home.work).split(), *([] if words.startswith("run ") else more)]


def unchanging(answer: Answer) -> Answer:
    return Answer(answer.status, NEVER_THE_SAME.sub("…", answer.stdout), NEVER_THE_SAME.sub("…", answer.stderr))
