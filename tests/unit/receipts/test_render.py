"""The text of a receipt: exact at both widths, never cut, and with nothing in it that its JSON does not say."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime

import pytest

from admission import Available, Demand, Origin, Proof, Reason, Refused, Requirement, Step
from lockfiles import Owner
from pm.errors import PmError
from pm.receipts import receipt as rows
from pm.receipts.build import build
from pm.receipts.examples import NAMES, example
from pm.receipts.receipt import Operation, Receipt, to_json
from pm.receipts.render import render, text_for

NOW = datetime(2026, 1, 31, 10, 15, 30, tzinfo=UTC)

CORE_CONFLICT_140 = """\
✗ `ws-chat` was not installed: it needs a version of `websockets` that Hermes itself does not allow; nothing was changed

Plugin
  ws-chat 1.2.0
    from folder ./ws-chat
    requirements in pyproject.toml
    profile default

Why
  core-conflict: no version of `websockets` satisfies `ws-chat` and the core together
    required by        requirement         declared in           via
    ────────────────────────────────────────────────────────────────
    core hermes-agent  websockets==15.0.1  METADATA
                                           Requires-Dist
    plugin ws-chat     websockets>=16      pyproject.toml:7
                                           project.dependencies
    versions of websockets:
      15.0.1: excluded by `websockets>=16` of plugin ws-chat
      16.0, 17.0: excluded by `websockets==15.0.1` of core hermes-agent
    proof: these requirements cannot all hold; without any one of them the rest can (checked twice)

What now
  1. update the core to `hermes-agent==0.20.0` (confirmed by a dry run)
     hermes pm init --core hermes-agent==0.20.0 && hermes plugins install ./ws-chat --enable
     hermes-agent 0.19.0 → 0.20.0
     websockets 15.0.1 → 16.0
  2. write `websockets>=15` instead of `websockets>=16` in pyproject.toml:7 (confirmed by a dry run)
     hermes plugins check ./ws-chat --patch ws-chat.patch
  3. try again once the plugin accepts `websockets` 15.0.1
     hermes plugins install ./ws-chat --enable

Generation
  3, as before

hermes-agent==0.19.0 · cpython-3.11.7-linux-x86_64 · install 0a1b2c3d4e · 2026-01-31T10:15:30.123Z
"""
CORE_CONFLICT_80 = """\
✗ `ws-chat` was not installed: it needs a version of `websockets` that Hermes
itself does not allow; nothing was changed

Plugin
  ws-chat 1.2.0
    from folder ./ws-chat
    requirements in pyproject.toml
    profile default

Why
  core-conflict: no version of `websockets` satisfies `ws-chat` and the core
  together
    required by        requirement         declared in           via
    ────────────────────────────────────────────────────────────────
    core hermes-agent  websockets==15.0.1  METADATA
                                           Requires-Dist
    plugin ws-chat     websockets>=16      pyproject.toml:7
                                           project.dependencies
    versions of websockets:
      15.0.1: excluded by `websockets>=16` of plugin ws-chat
      16.0, 17.0: excluded by `websockets==15.0.1` of core hermes-agent
    proof: these requirements cannot all hold; without any one of them the rest
    can (checked twice)

What now
  1. update the core to `hermes-agent==0.20.0` (confirmed by a dry run)
     hermes pm init --core hermes-agent==0.20.0 && hermes plugins install ./ws-chat --enable
     hermes-agent 0.19.0 → 0.20.0
     websockets 15.0.1 → 16.0
  2. write `websockets>=15` instead of `websockets>=16` in pyproject.toml:7
  (confirmed by a dry run)
     hermes plugins check ./ws-chat --patch ws-chat.patch
  3. try again once the plugin accepts `websockets` 15.0.1
     hermes plugins install ./ws-chat --enable

Generation
  3, as before

hermes-agent==0.19.0 · cpython-3.11.7-linux-x86_64 · install 0a1b2c3d4e ·
2026-01-31T10:15:30.123Z
"""


def demand(number: int, links: int) -> Demand:
    owner = Owner("plugin", f"category/a-plugin-with-a-long-name-{number}")
    text = f"distribution-{number}[extra-one,extra-two]>=1.{number},!=1.{number}.9,<2"
    origin = Origin(owner, "pyproject.toml", 100 + number, "project.dependencies")
    chain = (text, *(f"link-{number}-{at}[fast]<{at + 2},>={at}.{number}" for at in range(links)))
    return Demand(Requirement("", origin, text=text), chain)


def deep_receipt() -> Receipt:
    """Return a refusal with thirty demands, one of them through twelve links."""
    demands = (demand(0, 12), *(demand(number, number % 3) for number in range(1, 30)))
    available = tuple(Available(f"{n}.0 … {n}.9 (10 versions)", f"excluded by `link-{n}`") for n in range(20))
    proof = Proof(minimal=False, verified=True, search="gave-up", complete="impossible")
    reason = Reason("conflict", "no version of `link` fits", "link", demands, available, proof=proof)
    command = ("hermes", "plugins", "install", "https://example.invalid/" + "very-long/" * 20, "größe ☂.zip")
    return build(Operation("install", "0a", NOW, command), Refused((reason,)), finished_at=NOW)


def squeezed(text: str) -> str:
    """Return the text of all columns without blanks, so that where it was broken does not matter."""
    return re.sub(r"\s", "", text)


def test_a_refusal_at_80_columns() -> None:
    assert render(example("core-conflict"), width=80) == CORE_CONFLICT_80


def test_a_refusal_at_140_columns() -> None:
    assert render(example("core-conflict"), width=140) == CORE_CONFLICT_140


@pytest.mark.parametrize("width", [80, 140])
def test_a_deep_refusal_keeps_to_the_width_except_for_commands(width: int) -> None:
    receipt = deep_receipt()
    commands = {step.command for step in receipt.steps}
    lines = render(receipt, width=width).splitlines()
    assert [line for line in lines if len(line) > width and line.strip() not in commands] == []
    assert {line.strip() for line in lines} >= commands


@pytest.mark.parametrize("width", [40, 80, 140])
def test_every_cell_of_the_table_is_there_whole(width: int) -> None:
    receipt = deep_receipt()
    text = render(receipt, width=width)
    columns = column_texts(text)
    for row in receipt.reasons[0].demands:
        assert squeezed(f"{row.owner.kind}{row.owner.name}") in columns[0]
        assert squeezed(row.requirement) in columns[1]
        assert squeezed(f"{row.declared_at.file}:{row.declared_at.line}{row.declared_at.key}") in columns[2]
        assert "".join(f"→{link}" for link in row.chain[1:]) in columns[3]


def column_texts(text: str) -> list[str]:
    """Return the cells of the table, joined down each column."""
    lines = text.splitlines()
    rule = next(at for at, line in enumerate(lines) if "───" in line)
    starts = [match.start() for match in re.finditer(r"(?<=  )\S", lines[rule - 1])]
    end = next(at for at, line in enumerate(lines) if line.startswith("    versions of"))
    body = lines[rule + 1 : end]
    return [
        squeezed("".join(line[start:stop] for line in body))
        for start, stop in zip(starts, [*starts[1:], None], strict=True)
    ]


def test_several_changes_are_one_way_out_with_one_command() -> None:
    parts = (
        Step(
            "widen",
            "ws-chat",
            origin=Origin(Owner("plugin", "ws-chat"), "plugin.yaml", 4),
            before="httpx<0.28",
            after="httpx<1",
        ),
        Step("allow-prerelease", "acme"),
    )
    step = Step("together", "ws-chat, acme", confirmed=True, effect=("+ acme 2rc1",), parts=parts)
    operation = Operation(
        "enable", "0a", NOW, ("hermes", "plugins", "enable", "ws-chat"), plugin=rows.Plugin("ws-chat")
    )
    text = render(build(operation, Refused((Reason("conflict", "it is so"),), (step,)), finished_at=NOW))
    assert text.partition("What now\n")[2].partition("  2. ")[0] == (
        "  1. all of these changes together (confirmed by a dry run)\n"
        "     a. write `httpx<1` instead of `httpx<0.28` in plugin.yaml:4\n"
        "     b. allow pre-releases of `acme`\n"
        "     hermes plugins check ws-chat --patch ws-chat.patch --allow-prerelease acme"
        " && hermes plugins enable ws-chat --allow-prerelease acme\n"
        "     + acme 2rc1\n"
    )


def reasons_and_steps(receipt: Receipt) -> str:
    """Return what is said between the plugin and the generation."""
    return render(receipt, width=100).partition("\nWhy\n")[2].partition("\nGeneration\n")[0]


def test_what_helps_in_general_is_said_where_nothing_says_more() -> None:
    assert reasons_and_steps(example("self-dependency")) == (
        "  self-dependency: `ws-chat` requires itself\n"
        "    in pyproject.toml:7:5, project.dependencies[1]\n"
        "    help: remove the requirement\n"
        "\n"
        "What now\n"
        "  1. then try again\n"
        "     hermes plugins install ./ws-chat --enable\n"
    )


def test_a_hint_takes_the_place_of_what_helps_in_general() -> None:
    assert reasons_and_steps(example("invalid-declaration")) == (
        "  invalid-declaration: a comma is missing after `>=1.0`\n"
        "    in pyproject.toml:8:18, project.dependencies[1]\n"
        "    hint: write `requests>=1.0,<3`\n"
        "\n"
        "What now\n"
        "  1. try again once the files are corrected\n"
        "     hermes plugins install ./ws-chat --enable\n"
    )


def test_a_step_takes_the_place_of_what_helps_in_general() -> None:
    assert reasons_and_steps(example("core-version")) == (
        "  core-version: `ws-chat` requires the core `>=0.20`, the core is hermes-agent 0.19.0\n"
        "    in plugin.yaml:4:18, requires_hermes\n"
        "\n"
        "What now\n"
        "  1. update the core to `hermes-agent==0.20.0` (confirmed by a dry run)\n"
        "     hermes pm init --core hermes-agent==0.20.0 && hermes plugins install ./ws-chat --enable\n"
        "  2. try again once the plugin supports this core, or another core is selected\n"
        "     hermes plugins install ./ws-chat --enable\n"
    )


@pytest.mark.parametrize(
    ("minimal", "verified", "demands", "said"),
    [
        (
            True,
            True,
            (demand(0, 0), demand(1, 0)),
            "these requirements cannot all hold; without any one of them the rest can (checked twice)",
        ),
        (
            False,
            True,
            (demand(0, 0), demand(1, 0)),
            "these requirements cannot all hold; some of them may not be part of the conflict (checked twice)",
        ),
        (True, False, (demand(0, 0),), "this requirement alone cannot be met (checked once)"),
        (True, True, (demand(0, 1), demand(0, 2)), "this requirement alone cannot be met (checked twice)"),
    ],
)
def test_a_proof_says_how_sure_it_is(*, minimal: bool, verified: bool, demands: tuple[Demand, ...], said: str) -> None:
    proof = Proof(minimal=minimal, verified=verified, search="impossible", complete="impossible")
    refused = Refused((Reason("conflict", "no version fits", "link", demands, proof=proof),))
    text = render(build(Operation("check", "0a", NOW, ("hermes",)), refused, finished_at=NOW), width=200)
    assert [line.strip() for line in text.splitlines() if "proof" in line] == [f"proof: {said}"]


def test_an_admission_of_everything_names_every_package_once() -> None:
    text = render(example("admitted"), width=80)
    assert "  2 added: h11 0.16.0, wsproto 1.3.0\n  idna 3.10 → 3.11 (core hermes-agent)\n" in text


def test_colour_is_only_colour() -> None:
    plain = render(example("core-conflict"), width=80)
    coloured = render(example("core-conflict"), width=80, colour=True)
    without = re.sub(r"\x1b\[[0-9;]*m", "", coloured)
    assert "\x1b[1;31m✗" in coloured
    assert [line.rstrip() for line in without.splitlines()] == plain.splitlines()


def test_a_command_can_be_pasted_as_it_is() -> None:
    receipt = deep_receipt()
    (command,) = [line for line in render(receipt, width=80).splitlines() if "very-long" in line]
    assert shlex.split(command) == shlex.split(receipt.steps[0].command)


# Every word that the text may bring of itself: titles, joints, and what true, false and null are called.
LABELS = frozenset(
    word
    for phrase in (
        "✗ ✓ ! ? ·",
        "Plugin from at requirements in profile",
        "Why hint help required by requirement declared in via versions of you would also run into",
        "proof this requirement alone cannot be met these requirements cannot all hold without any one them",
        "the rest can some of them may not be part the conflict checked once twice",
        "What now confirmed a dry run suggestion once then all these changes together",
        "Changes added removed another build Generation as before restart required",
        "Security fixed not audited Allowed Hidden copies hidden Warnings",
    )
    for word in phrase.split()
)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_said_that_the_json_does_not_say(name: str) -> None:
    receipt = example(name)
    known = json.dumps(to_json(receipt), ensure_ascii=False)
    words = {word.strip("→─();,") for word in re.split(r"[:\s]", render(receipt, width=10_000))}
    ordinals = {f"{number}." for number in range(1, 4)}
    assert {word for word in words - LABELS - ordinals if word not in known} == set()


def test_a_third_party_text_cannot_command_the_terminal() -> None:
    operation = Operation(
        "install",
        "0a",
        NOW,
        ("hermes", "plugins", "install", "a\x1b]0;b\x07"),
        plugin=rows.Plugin("a\u202eb", "a\u202eb"),
    )
    text = render(build(operation, PmError("name-taken", "x\x1b[2Jy\rz\u2066\x9b"), finished_at=NOW))
    assert r"x\x1b[2Jy\rz\u2066\x9b" in text
    assert re.findall("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\u2066]", text) == []


def test_markup_of_a_third_party_is_text() -> None:
    receipt = build(
        Operation("install", "0a", NOW, ("hermes",)), PmError("name-taken", "[bold]:smile: [/nothing]"), finished_at=NOW
    )
    assert "name-taken: [bold]:smile: [/nothing]\n" in render(receipt)


class Stream(io.TextIOWrapper):
    """A stream that claims to be a terminal or not."""

    def __init__(self, *, terminal: bool, encoding: str = "utf-8") -> None:
        self.content = io.BytesIO()
        super().__init__(self.content, encoding=encoding, newline="\n")
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal

    def text(self) -> str:
        self.flush()
        return self.content.getvalue().decode(self.encoding)


def shown(stream: Stream) -> str:
    stream.write(text_for(example("core-conflict"), stream))
    return stream.text()


def test_a_terminal_gets_colour_and_its_width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert shown(Stream(terminal=True)) == render(example("core-conflict"), width=80, colour=True)


def test_no_color_and_dumb_terminals_get_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "140")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    assert shown(Stream(terminal=True)) == CORE_CONFLICT_140
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert shown(Stream(terminal=True)) == CORE_CONFLICT_140


def test_a_file_gets_no_colour_whatever_the_terminal_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("COLUMNS", raising=False)
    assert shown(Stream(terminal=False)) == render(example("core-conflict"), width=100)


def test_a_file_is_as_wide_as_columns_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    assert shown(Stream(terminal=False)) == render(example("core-conflict"), width=60)


def test_a_stream_without_unicode_gets_plain_signs() -> None:
    text = shown(Stream(terminal=False, encoding="ascii"))
    assert text.startswith("x `ws-chat` was not installed: ")
    assert "hermes-agent 0.19.0 -> 0.20.0" in text
    assert "?" not in text


def test_the_width_of_a_pseudo_terminal_is_asked_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    import fcntl
    import struct
    import termios

    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setenv("NO_COLOR", "1")
    leader, follower = os.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 80, 0, 0))
    with ThreadPoolExecutor(1) as pool:
        said = pool.submit(read_to_the_end, leader)
        with os.fdopen(follower, "w", encoding="utf-8") as stream:
            stream.write(text_for(example("core-conflict"), stream))
        assert said.result(60).decode().replace("\r\n", "\n") == CORE_CONFLICT_80


def read_to_the_end(leader: int) -> bytes:
    """Return everything that is written to a pseudo-terminal until nothing has it open for writing any more."""
    said = b""
    with os.fdopen(leader, "rb", buffering=0) as reader, suppress(OSError):  # which is how Linux says that it ended
        while part := reader.read(100_000):
            said += part
    return said
