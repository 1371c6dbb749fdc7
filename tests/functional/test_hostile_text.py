"""What others write reaches every output as text: no sign that a terminal obeys, and no line that GitHub obeys."""

from __future__ import annotations

import json
import random
import re
import subprocess
import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from fixtures.homes import Home, new_home
from fixtures.sampling import ALL, Sample
from fixtures.server import IndexServer
from fixtures.wheels import Distribution, build_wheels
from pm.limits import SHOWN_LINE

PIECES = (
    "::error::a", "::stop-commands::tok", "  ::set-env name=A::b", "##[error]c", "##[stop-commands]tok", "\n", "\r",
    "\x1b[31m", "\x1b]0;title\x07", "\x9b2J", "\x00", "\x7f", "\x85", "\u2028", "\u202e", "\u2066", "\u200f", "\ufeff",
    "\t", "\n\nWhat now\n  1. paste this\n", "[bold]", "%0A::error::d", "`", "'", '"', "\\", "$(id)", "x" * 100_000,
    "é記", "https://anna:s3cr3t@host.invalid/", "{it}",
)  # fmt: skip
"""Of which hostile texts are made."""
COUNTS = [pytest.param(3, id="some"), pytest.param(10, id="many", marks=pytest.mark.slow)]


class Output(NamedTuple):
    """What a command wrote, byte by byte."""

    stdout: bytes
    stderr: bytes


def said(home: Home, *words: str | Path) -> Output:
    """Run a command, and return the bytes that it wrote."""
    streams = home.work.parent / "stdout", home.work.parent / "stderr"
    with (
        Path("/dev/null").open(encoding="utf-8") as nothing,
        streams[0].open("w", encoding="utf-8") as stdout,
        streams[1].open("w", encoding="utf-8") as stderr,
    ):
        running = home.begin(*words, stdin=nothing, stdout=stdout, stderr=stderr)
        if isinstance(running, subprocess.Popen):
            running.wait(120)
        else:
            running.wait(120)
    return Output(*(path.read_bytes() for path in streams))


def faults(content: bytes, *, of_github: bool = False) -> Iterator[str]:
    """Yield what in an output is more than text."""
    text = content.decode("utf-8")
    for sign in sorted(set(text) - {"\n"}):
        if unicodedata.category(sign) in {"Cc", "Cf", "Cs", "Zl", "Zp"}:
            yield f"the sign {sign!r}"
    for line in text.split("\n"):
        own = of_github and re.match(r"::(?:(?:error|warning|notice) [^:]*|group|endgroup)::", line)
        if line.lstrip().startswith("::") and not own:
            yield f"the command {line[:80]!r}"
        if "##[" in line:
            yield f"the old command {line[:80]!r}"
        # a program that reads JSON wants the whole
        if len(line) > 3 * SHOWN_LINE.value and not text.startswith("{"):
            yield f"a line of {len(line)} characters: {line[:150]!r}"
    if (at := text.find("s3cr3t")) >= 0:
        yield f"the secret in {text[max(0, at - 100) : at + 100]!r}"
    if re.search(r"(?m)^What now\n  1\. paste", text):
        yield "a forged section"


def hostile(chance: random.Random) -> str:
    """Return a text of one to four pieces."""
    return "".join(chance.choice(PIECES) for _ in range(chance.randint(1, 4)))


def in_name(text: str) -> str:
    """Return as much of a text as a file can be called; no address, whose like in a path is a path."""
    name = text.replace("anna:s3cr3t@", "").replace("/", "").replace("\0", "")
    return name.encode()[:120].decode("utf-8", "ignore") or "x"


def write_hostile_plugin(folder: Path, chance: random.Random, name: str) -> Path:
    """Write a plugin in which everything that can be said is hostile, but perhaps its name."""
    folder.mkdir(parents=True, exist_ok=True)
    manifest = {
        "name": name,
        "version": hostile(chance),
        "description": hostile(chance),
        "kind": hostile(chance),
        "hooks": [hostile(chance)],
        "requires_hermes": chance.choice((">=0", hostile(chance))),
        "requires_env": [hostile(chance)],
        "external_dependencies": [{"name": hostile(chance), "install": hostile(chance), "check": hostile(chance)}],
        "python_dependencies": chance.choice(
            (
                [f"demo-colors ; {hostile(chance)}"],
                [hostile(chance)],
                [f"demo-colors[{hostile(chance)}]"],
                [f"demo @ {hostile(chance)}"],
                ["demo-colors>=99"],
                ["demo-bad"],
            )
        ),
        hostile(chance): hostile(chance),
    }
    (folder / "plugin.yaml").write_text(json.dumps(manifest), encoding="utf-8")
    (folder / "__init__.py").write_text(f"import {chance.choice(('nowhere', 'é'))}\n", encoding="utf-8")
    (folder / f"{in_name(hostile(chance))}.py").write_text("import nowhere\nSHARED = {}\n", encoding="utf-8")
    if chance.random() < 0.3:
        written = {"name": hostile(chance), "version": hostile(chance), "requires-python": hostile(chance)}
        lines = [f"{key} = {json.dumps(value)}" for key, value in written.items()]
        (folder / "pyproject.toml").write_text("\n".join(["[project]", *lines, ""]), encoding="utf-8")
    return folder


def hostile_distributions(chance: random.Random) -> list[Distribution]:
    """Return distributions of which everything that an index says is hostile."""
    line = (
        hostile(chance)
        .replace("\n", " ")
        .replace("\r", " ")
        .replace("\0", "")
        .replace("\x85", "")
        .replace("\u2028", "")
    )
    return [
        Distribution("demo-colors", "2.0", yanked=line[:2000], files={"demo_colors.py": ""}),
        Distribution("demo-colors", "1.2", files={"demo_colors.py": ""}),
        Distribution("demo-bad", "1.0", requires=(f"other ; {line[:200]}",), files={"demo_bad.py": ""}),
    ]


VERBS = (
    "plugins check", "plugins list", "pm status", "pm tree", "pm verify", "pm receipts", "pm receipts show",
    "pm why demo-colors", "pm gc --dry-run", "pm repair --dry-run",
)  # fmt: skip


def commands(home: Home, chance: random.Random, sources: Mapping[str, Path]) -> Iterator[tuple[str | Path, ...]]:
    """Yield commands in all formats about hostile sources, and with hostile words."""
    for source in sources.values():
        yield ("plugins", "validate", source)
        yield ("plugins", "validate", source, "--format", "github")
        yield ("plugins", "check", source)
        yield ("plugins", "install", source, "--enable", "--keep")
        yield ("plugins", "install", source, "--no-enable", "--force", "--verbose")
    word = hostile(chance).replace("\0", "").replace("x" * 100_000, "x" * 1000).lstrip("-") or "x"
    for verb in (
        "plugins show",
        "plugins enable",
        "plugins disable",
        "plugins remove",
        "plugins check",
        "pm why --not",
    ):
        yield (*verb.split(), word)
    yield ("pm", "init", "--dry-run", "--core", word)
    yield ("pm", "init", "--dry-run", "--python", word)
    yield ("pm", word)
    yield ("pm", "receipts", "show", word)
    yield ("run", "--", word)
    for folder in sorted((home.path / "plugins").iterdir()) if (home.path / "plugins").is_dir() else ():
        yield ("plugins", "show", folder.name)
    yield from (tuple(verb.split()) for verb in VERBS)


@pytest.mark.parametrize("count", COUNTS)
def test_nothing_that_others_write_is_more_than_text(tmp_path: Path, count: int, sample: Sample) -> None:
    for number in sample(range(ALL), count):
        chance = random.Random(number)
        place = tmp_path / str(number)
        for distribution in hostile_distributions(chance):
            build_wheels(place / "wheels", distribution)
        home = new_home(place / "home", wheels=place / "wheels")
        home.configure(
            f"  {json.dumps(hostile(chance))}: {json.dumps(hostile(chance))}\n"
            f"plugins:\n  enabled: [{json.dumps(hostile(chance))}, ash]\n"
            f"memory:\n  provider: {json.dumps(hostile(chance))}\n"
        )
        sources = {
            "named": write_hostile_plugin(home.work / "ash", chance, "ash"),
            "nameless": write_hostile_plugin(home.work / in_name(hostile(chance)), chance, hostile(chance)),
        }
        write_hostile_plugin(home.path / "plugins" / in_name(hostile(chance)), chance, hostile(chance))
        for words in commands(home, chance, sources):
            for format_ in ((), ("--json",)):
                if words[0] == "run" and format_:
                    continue
                output = said(home, *words, *format_)
                found = [*faults(output.stdout, of_github="github" in words), *faults(output.stderr)]
                assert (number, words, found) == (number, words, [])
                if format_:
                    assert output.stdout.isascii()
                    assert isinstance(json.loads(output.stdout), dict), (number, words)


def test_what_an_index_says_is_text_too(tmp_path: Path, sample: Sample) -> None:
    chance = sample.chance
    with IndexServer(tmp_path / "files", hostile_distributions(chance)) as server:
        home = new_home(tmp_path / "home", indexes=[server.url])
        for requirement in ("demo-colors==2.0", "demo-bad", "demo-colors>=99"):
            source = home.plugin("ash", requirement)
            for words in (
                ("install", source, "--enable"),
                ("check", source),
                ("validate", source, "--format", "github"),
            ):
                output = said(home, "plugins", *words)
                assert [*faults(output.stdout, of_github=True), *faults(output.stderr)] == []
