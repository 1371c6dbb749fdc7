"""A large refusal keeps to the width of a terminal, in colour too: nothing is lost, and commands can be pasted."""

import re
import shlex
from datetime import UTC, datetime

import pytest
from rich.cells import cell_len

from admission import Available, Demand, Origin, Proof, Reason, Refused, Requirement, Step
from lockfiles import Owner
from pm.receipts.build import build
from pm.receipts.receipt import Operation, Plugin, Receipt, SourceRow
from pm.receipts.render import render

NOW = datetime(2026, 1, 31, 10, 15, 30, tzinfo=UTC)
CHAIN = (
    'instructor[openai] >=1.2, <2; python_version >= "3.11"',
    "langchain-openai<2,>=0.3",
    "openai<3.0.0,>=2.20.0",
    "httpx[http2,socks]<1,>=0.23.0",
    "httpcore==1.*",
    "h11<0.17,>=0.16",
    'typing-extensions>=4.12.2; python_version < "3.13"',
    "pydantic[email]!=2.9.0,<3,>=2.7",
    "email-validator>=2.0.0",
    "dnspython>=2.0.0",
    "aioquic>=1.0.0.post1",
    "cryptography>=46",
    "cffi>=2.0.0",
)
FOLDER = "./my plugins/it's größer 記憶"
COMMAND = ("hermes", "plugins", "install", FOLDER, "--enable", "--home", f"/home/someone/{'deep/' * 20}and wide")
WIDTHS = pytest.mark.parametrize("width", [80, 140])
COLOURS = pytest.mark.parametrize("colour", [False, True], ids=["plain", "colour"])
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def demand(kind: str, name: str, place: tuple[str, int, str], chain: tuple[str, ...]) -> Demand:
    return Demand(Requirement("", Origin(Owner(kind, name), *place), text=chain[0]), chain)


def plugin_demand(number: int) -> Demand:
    chain = (f"package-{number}[all,extra-{number}]~=1.{number}.0,!=1.{number}.9", *CHAIN[1 : 1 + number % 4])
    return demand(
        "plugin", f"category/plugin-number-{number}", ("pyproject.toml", 100 + number, "project.dependencies"), chain
    )


def large_refusal() -> Receipt:
    """Return a refusal with thirty demands, one of them through twelve links, and a step of each kind of text."""
    demands = (
        demand("core", "hermes-agent", ("METADATA", 0, "Requires-Dist"), ("cffi==1.17.1",)),
        demand("plugin", "memory/記憶-hindsight", ("pyproject.toml", 27, "project.dependencies"), CHAIN),
        *map(plugin_demand, range(28)),
    )
    reason = Reason(
        "core-conflict",
        "no version of `cffi` satisfies the core and 29 plugins together",
        "cffi",
        demands,
        tuple(Available(f"{n}.9 … {n}.0 ({n + 2} versions)", f"excluded by `{CHAIN[n]}`") for n in range(12)),
        proof=Proof(minimal=True, verified=True, search="impossible", complete="impossible"),
    )
    wider = 'instructor[openai] >=1.0, <2; python_version >= "3.11"'
    own = demands[1].requirement.origin
    effect = ("+ a 1", "- b 2", "c 1 → 2")
    steps = (
        Step("widen", own.owner.name, origin=own, before=CHAIN[0], after=wider, confirmed=True, effect=effect),
        Step("update-core", "hermes-agent", value="hermes-agent[web]==0.20.0", confirmed=True),
        Step("leave-out", "category/plugin-number-3", confirmed=True),
    )
    together = Step("together", "all", confirmed=True, parts=steps)
    plugin = Plugin(
        "memory/記憶-hindsight", "Hindsight", "1.2.0", SourceRow("folder", FOLDER), "default", "pyproject.toml"
    )
    operation = Operation("install", "0a1b", NOW, COMMAND, argument=FOLDER, plugin=plugin, core="hermes-agent==0.19.0")
    return build(operation, Refused((reason,), (*steps, together)), finished_at=NOW)


def plain(text: str) -> str:
    return _COLOUR.sub("", text)


def squeezed(text: str) -> str:
    """Return a text without blanks, so that where it was broken does not matter."""
    return re.sub(r"\s", "", text)


def cells(text: str) -> list[str]:
    """Return the columns of the table of demands, each joined from top to bottom."""
    lines = plain(text).splitlines()
    rule = next(at for at, line in enumerate(lines) if "───" in line)
    starts = [match.start() for match in re.finditer(r"(?<=  )\S", lines[rule - 1])]
    end = next(at for at, line in enumerate(lines) if line.startswith("    versions of"))
    wide = [_spread(line) for line in lines[rule + 1 : end]]
    return [
        squeezed("".join(line[start:stop] for line in wide).replace("\0", ""))
        for start, stop in zip(starts, [*starts[1:], None], strict=True)
    ]


def _spread(line: str) -> str:
    """Return a line in which every character is as many characters as it is columns wide."""
    return "".join(sign + "\0" * (cell_len(sign) - 1) for sign in line)


@WIDTHS
@COLOURS
def test_no_line_is_longer_than_the_terminal_is_wide(*, width: int, colour: bool) -> None:
    receipt = large_refusal()
    commands = {step.command for step in receipt.steps}
    lines = plain(render(receipt, width=width, colour=colour)).splitlines()
    assert [line for line in lines if cell_len(line) > width and line.strip() not in commands] == []


@WIDTHS
@COLOURS
def test_every_demand_and_every_link_of_its_chain_is_there_whole(*, width: int, colour: bool) -> None:
    receipt = large_refusal()
    who, what, where, through = cells(render(receipt, width=width, colour=colour))
    demands = receipt.reasons[0].demands
    assert who == "".join(squeezed(f"{row.owner.kind}{row.owner.name}") for row in demands)
    assert what == "".join(squeezed(row.requirement) for row in demands)
    assert through == "".join(squeezed(f"→{link}") for row in demands for link in row.chain[1:])
    assert where == "".join(
        squeezed(f"{place.file}{f':{place.line}' if place.line else ''}{place.key}")
        for place in (row.declared_at for row in demands)
    )


@WIDTHS
@COLOURS
def test_what_stands_outside_of_the_table_is_there_whole(*, width: int, colour: bool) -> None:
    receipt = large_refusal()
    text = squeezed(plain(render(receipt, width=width, colour=colour)))
    told = [receipt.summary, receipt.reasons[0].message]
    told += [f"{row.versions}: {row.reason}" for row in receipt.reasons[0].available]
    told += [text for step in receipt.steps for text in (step.when, *step.effect)]
    told += [change.explanation for step in receipt.steps for change in step.parts or (step,)]
    assert [line for line in told if squeezed(line) not in text] == []


@WIDTHS
@COLOURS
def test_a_command_is_one_line_that_a_shell_reads_as_it_is_meant(*, width: int, colour: bool) -> None:
    receipt = large_refusal()
    lines = [line.strip() for line in plain(render(receipt, width=width, colour=colour)).splitlines()]
    shown = [line for line in lines if line.startswith("hermes ")]
    assert shown == [step.command for step in receipt.steps]
    assert shlex.split(shown[-1]) == list(COMMAND)


@WIDTHS
def test_colour_changes_no_sign(width: int) -> None:
    receipt = large_refusal()
    coloured = render(receipt, width=width, colour=True)
    assert coloured != plain(coloured)
    assert [line.rstrip() for line in plain(coloured).splitlines()] == render(receipt, width=width).splitlines()


def test_a_long_word_is_broken_around_its_bounds_and_not_within_a_name_or_a_number() -> None:
    lines = render(large_refusal(), width=80).splitlines()
    start = next(at for at, line in enumerate(lines) if "package-3[all" in line)
    assert lines[start : start + 5] == [
        "    plugin          package-3[all,       pyproject.         →langchain-openai<2,",
        "    category/       extra-3]~=1.3.0,     toml:103           >=0.3",
        "    plugin-         !=1.3.9              project.           →openai<3.0.0,",
        "    number-3                             dependencies       >=2.20.0",
        "                                                            →httpx[http2,socks]",
    ]
