"""Every verb says in a process that starts as a user's does what it says in a fork, by which most tests ask it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from fixtures.homes import PLUGINS, ROOT, Answer, Home, new_home

UNFIT = PLUGINS / "conflicts-with-core"
LIFE = (
    "pm init",
    "plugins install {work}/ash --enable --json",
    f"plugins install {UNFIT} --enable",
    f"plugins install {UNFIT} --enable --json",
    "plugins validate {work}/ash",
    "plugins check --json",
    f"plugins check {UNFIT}",
    "plugins list --json",
    "plugins list",
    "plugins show ash",
    "pm status --json",
    "pm tree",
    "pm why demo-colors",
    "pm why --not demo-colors>=3 --json",
    "pm receipts",
    "pm bundle --output {work}/out --json",
    "run -- python -c pass",
    "plugins disable ash --json",
    "plugins enable ash",
    "pm rollback --json",
    "pm verify",
    "pm repair --json",
    "pm generations --json",
    "pm diff 1 2",
    "pm services",
    "pm doctor --json",
    "plugins outdated",
    "plugins search",
    "plugins use memory builtin",
    "plugins update ash --json",
    "update --json",
    "pm extras",
    "plugins remove ash",
    "pm gc --json",
    "pm completion bash",
    "link --bin {work}/programs --json",
    "unlink --bin {work}/programs",
    "uninstall --dry-run --json",
)
"""What is done in a home, from its beginning on: every verb, also where it refuses, in words and as JSON."""
NEVER_THE_SAME = re.compile(
    r"\d{4}-?\d\d-?\d\dT[\d:.]+Z|\b[0-9a-f]{10}\b|(?<=duration_ms\": )\d+|(?<=bytes\": )\d+|\b\d+ ms\b"
    r"|\"timings\": \{[^}]*\}"
)
"""Times, identities of receipts and durations."""


def test_every_verb_is_among_them() -> None:
    page = (ROOT / "docs" / "reference" / "command-line.md").read_text(encoding="utf-8")
    verbs = re.findall(r"^### `hermes (.+)`$", page, re.MULTILINE)
    assert [verb for verb in verbs if not any(words.startswith(verb) for words in LIFE)] == []


def test_every_verb_says_the_same_in_a_process_that_starts(tmp_path: Path, wheels: Path) -> None:
    place = tmp_path / "place"
    forked = life(new_home(place / "home", wheels=wheels), Home.say)
    place.rename(tmp_path / "done")
    assert life(new_home(place / "home", wheels=wheels), Home.say_anew) == forked


def life(home: Home, say: Callable[..., Answer]) -> list[tuple[str, Answer]]:
    """Do everything in a home, and return what was said, without what is never the same."""
    home.plugin("ash", "demo-colors")
    return [(words, unchanging(say(home, *words.format(work=home.work).split()))) for words in LIFE]


def unchanging(answer: Answer) -> Answer:
    return Answer(answer.status, NEVER_THE_SAME.sub("…", answer.stdout), NEVER_THE_SAME.sub("…", answer.stderr))
