"""The human text of a receipt, made of nothing but what its JSON says."""

import re
from collections.abc import Collection, Iterator, Sequence
from io import StringIO
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple, TextIO

from pm.names import safe_lines, safe_text, visible, without_commands
from pm.receipts.plain import with_texts
from pm.receipts.receipt import (
    ChangeRow,
    ChangesRow,
    Copy,
    DemandRow,
    Finding,
    OwnerRow,
    PlaceRow,
    Plugin,
    ProofRow,
    ReasonRow,
    Receipt,
    Shadowed,
    StepRow,
    Transition,
    WarningRow,
    from_json,
    to_json,
)
from pm.receipts.sentences import CLOSING
from pm.system.terminal import can_show, columns, has_colour

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

__all__ = ["render", "text_for"]

_LEAST_WIDTH = 40


class _Line(NamedTuple):
    """One line of text, broken at the width of the terminal unless it is a command."""

    text: str
    indent: int = 2
    style: str = ""
    whole: bool = False


_BLANK = _Line("", 0)


def text_for(receipt: Receipt, stream: TextIO) -> str:
    """Return the text of a receipt as a stream can show it: as wide, in colour or not, in signs that it has."""
    text = render(receipt, width=columns(stream), colour=has_colour(stream))
    if not can_show(stream, _SIGNS):
        text = text.translate(_ASCII)
    encoding = stream.encoding or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def render(receipt: Receipt, *, width: int = 80, colour: bool = False) -> str:
    """Return the text of a receipt for `width` columns.

    Only commands may be longer than a line: they are there to be pasted.
    """
    from rich.console import Console

    out = StringIO()
    console = Console(
        file=out,
        width=max(width, _LEAST_WIDTH),
        force_terminal=colour,
        no_color=not colour,
        color_system="standard" if colour else None,
        markup=False,
        highlight=False,
        emoji=False,
        legacy_windows=False,
    )
    # What is shown has been through JSON, so nothing can be said that a program could not read.
    for block in _blocks(from_json(with_texts(to_json(receipt), safe_text, _OTHERWISE))):
        _print(console, block)
    return without_commands("".join(f"{line.rstrip()}\n" for line in out.getvalue().split("\n")[:-1]))


# what a program said has lines, and a command is there to be pasted, however long it is
_OTHERWISE = {"message": safe_lines, "command": visible}


def _blocks(receipt: Receipt) -> "Iterator[_Line | _Demands]":
    mark, style = _MARKS.get(receipt.outcome, ("✓", "bold green"))
    yield _Line(f"{mark} {receipt.summary}", 0, style)
    for title, section in (
        ("Plugin", _plugin(receipt.plugin)),
        ("Why", _reasons(receipt)),
        ("What now", _steps(receipt)),
        ("Changes", _changes(receipt.changes)),
        ("Generation", _generation(receipt.generation)),
        ("Security", _security(receipt)),
        ("Allowed", (_Line(f"{consent.action} {consent.subject}") for consent in receipt.consents)),
        ("Hidden copies", chain.from_iterable(map(_shadowed, receipt.shadowed))),
        ("Warnings", chain.from_iterable(map(_warning, receipt.warnings))),
    ):
        first = next(section, None)
        if first is not None:
            yield from (_BLANK, _Line(title, 0, "bold"), first)
            yield from section
    told = [receipt.core, receipt.target, f"{receipt.operation} {receipt.id}", receipt.started_at]
    yield from (_BLANK, _Line(" · ".join(filter(None, told)), 0, "dim"))


_MARKS = {
    "refused": ("✗", "bold red"),
    "failed": ("✗", "bold red"),
    "interrupted": ("✗", "bold red"),
    "undecided": ("?", "bold yellow"),
    "not-ready": ("!", "bold yellow"),
    "drift": ("!", "bold yellow"),
}


def _plugin(plugin: Plugin | None) -> Iterator[_Line]:
    if plugin is None:
        return
    yield _Line(f"{plugin.key} {plugin.version}".rstrip())
    commit = f" at {plugin.source.commit}" if plugin.source.commit else ""
    yield _Line(f"from {plugin.source.kind} {plugin.source.location}".rstrip() + commit, 4)
    if plugin.declared_in:
        yield _Line(f"requirements in {plugin.declared_in}", 4)
    if plugin.profile:
        yield _Line(f"profile {plugin.profile}", 4)


# --- reasons ---


def _reasons(receipt: Receipt) -> "Iterator[_Line | _Demands]":
    reasons = receipt.reasons
    for number, reason in enumerate(reasons, 1):
        if number > 1:
            yield _BLANK
        yield _Line(
            f"{number}. {reason.code}: {reason.message}" if len(reasons) > 1 else f"{reason.code}: {reason.message}"
        )
        yield from _reason(reason)
        if _needs_help(receipt, reason):
            yield _Line(f"help: {reason.what_now}", 4)


def _needs_help(receipt: Receipt, reason: ReasonRow) -> bool:
    """Say whether neither a hint nor a step tells more than what helps in general."""
    return bool(reason.what_now) and not reason.hint and all(step.action == "retry" for step in receipt.steps)


def _reason(reason: ReasonRow) -> "Iterator[_Line | _Demands]":
    if reason.declared_at:
        yield _Line(f"in {_place(reason.declared_at)}", 4)
    if reason.hint:
        yield _Line(f"hint: {reason.hint}", 4)
    if reason.demands:
        yield _demands(reason.demands)
    if reason.opened_by:
        yield _Line("what opens a pre-release or a yanked version that this is about:", 4)
        yield _demands(reason.opened_by)
    if reason.available:
        yield _Line(f"versions of {reason.package}:" if reason.package else "versions:", 4)
        yield from (_Line(f"{versions}: {out}", 6) for versions, out in reason.available)
    if reason.also:
        yield _Line("you would also run into:", 4)
        yield _demands(reason.also)
    if reason.proof:
        yield _Line(_proof(reason.proof, {demand[:3] for demand in reason.demands}), 4)


class _Demands(NamedTuple):
    """A table of demands, laid out once the width is known."""

    rows: tuple[tuple[str, str, str, str], ...]


def _demands(demands: Sequence[DemandRow]) -> _Demands:
    return _Demands(
        tuple(
            (
                _owner(demand.owner),
                demand.requirement,
                _place(demand.declared_at).replace(", ", "\n"),
                "\n".join(f"→{link}" for link in demand.chain[1:]),
            )
            for demand in demands
        )
    )


def _proof(proof: ProofRow, requirements: Collection[object]) -> str:
    if len(requirements) == 1:
        said = "this requirement alone cannot be met"
    elif proof.minimal:
        said = "these requirements cannot all hold; without any one of them the rest can"
    else:
        said = "these requirements cannot all hold; some of them may not be part of the conflict"
    return f"proof: {said} (checked {'twice' if proof.verified else 'once'})"


def _owner(owner: OwnerRow) -> str:
    return f"{owner.kind} {owner.name}"


def _place(place: PlaceRow) -> str:
    position = ":".join(str(number) for number in (place.line, place.column) if number)
    return ", ".join(filter(None, [":".join(filter(None, [place.file, position])), place.key]))


# --- ways out ---


def _steps(receipt: Receipt) -> Iterator[_Line]:
    helped = bool(receipt.reasons) and all(_needs_help(receipt, reason) for reason in receipt.reasons)
    for number, step in enumerate(receipt.steps, 1):
        yield _Line(f"{number}. {_closing(step, helped=helped) if _closes(step) else _way(step)}")
        yield from (_Line(f"{chr(ord('a') + n)}. {part.explanation}", 5) for n, part in enumerate(step.parts))
        if step.when and not _closes(step):
            yield _Line(f"once {step.when}:", 5)
        yield _Line(step.command, 5, "cyan", whole=True)
        yield from (_Line(change, 5) for change in step.effect)


def _way(step: StepRow) -> str:
    """Return what a step changes, and how sure it is that this helps."""
    said = "all of these changes together" if step.parts else step.explanation
    return f"{said} ({'confirmed by a dry run' if step.confirmed else 'suggestion'})"


def _closes(step: StepRow) -> bool:
    return step.action in CLOSING and not step.confirmed


def _closing(step: StepRow, *, helped: bool) -> str:
    """Return the step that is always possible, and what has to change before it, unless that stands above it."""
    if helped and step.action == "retry":
        return f"then {step.explanation}"
    return f"{step.explanation} once {step.when}" if step.when else step.explanation


# --- what changed ---


def _changes(changes: ChangesRow) -> Iterator[_Line]:
    if changes.added:
        yield _Line(f"{len(changes.added)} added: {', '.join(f'{c.name} {c.to}' for c in changes.added)}")
    if changes.removed:
        yield _Line(f"{len(changes.removed)} removed: {', '.join(f'{c.name} {c.from_}' for c in changes.removed)}")
    yield from (_Line(_moved(change)) for change in changes.moved)


def _moved(change: ChangeRow) -> str:
    said = f"{change.from_} → {change.to}" if change.from_ != change.to else f"{change.to} (another build)"
    owners = f" ({', '.join(map(_owner, change.owners))})" if change.owners else ""
    return f"{change.name} {said}{owners}"


def _generation(generation: Transition) -> Iterator[_Line]:
    if generation.after is None and generation.before is None:
        return
    if generation.before != generation.after:
        numbers = [str(number) for number in (generation.before, generation.after) if number is not None]
        yield _Line(" → ".join(numbers))
    else:
        yield _Line(f"{generation.after}, as before")
    if generation.restart_required:
        yield _Line("restart required", 2, "bold yellow")
    yield from (_Line(reason, 4) for reason in generation.restart_reasons)


def _security(receipt: Receipt) -> Iterator[_Line]:
    if receipt.audit is None:
        return
    for finding in receipt.audit.findings:
        yield from _finding(finding)
    if receipt.audit.not_audited:
        yield _Line(f"not audited: {', '.join(receipt.audit.not_audited)}")


def _finding(finding: Finding) -> Iterator[_Line]:
    names = ", ".join([finding.id, *finding.aliases])
    yield _Line(" ".join(filter(None, [f"{finding.package} {finding.version}: {names}", finding.severity])))
    if finding.fixed_in:
        yield _Line(f"fixed in {', '.join(finding.fixed_in)}", 4)
    if finding.owners:
        yield _Line(f"required by {', '.join(map(_owner, finding.owners))}", 4)
    if finding.chain:
        yield _Line(" → ".join(finding.chain), 4)


def _shadowed(shadowed: Shadowed) -> Iterator[_Line]:
    yield _Line(f"{shadowed.key}: {_copy(shadowed.hidden)}")
    yield _Line(f"hidden by {_copy(shadowed.used)}", 4)


def _copy(copy: Copy) -> str:
    return " ".join(filter(None, copy))


def _warning(warning: WarningRow) -> Iterator[_Line]:
    about = ", ".join(filter(None, [warning.owner.replace(":", " ", 1), warning.package]))
    yield _Line(f"{warning.code}: {warning.message}" + (f" ({about})" if about else ""))
    if warning.declared_at:
        yield _Line(f"in {_place(warning.declared_at)}", 4)
    if warning.hint:
        yield _Line(f"hint: {warning.hint}", 4)


# --- the terminal ---


def _print(console: "Console", block: _Line | _Demands) -> None:
    from rich.padding import Padding
    from rich.text import Text

    if isinstance(block, _Demands):
        console.print(Padding(_table(block, console.width - 4), (0, 0, 0, 4)))
    elif block.whole:
        console.print(Text(" " * block.indent + block.text, block.style), no_wrap=True, overflow="ignore", crop=False)
    else:
        console.print(Padding(Text(block.text, block.style, overflow="fold"), (0, 0, 0, block.indent)))


_TITLES = ("required by", "requirement", "declared in", "via")
_GAP = 2  # one blank of padding, one of the box


def _table(demands: _Demands, width: int) -> "Table":
    from rich import box
    from rich.cells import cell_len
    from rich.table import Table
    from rich.text import Text

    columns = list(zip(_TITLES, *demands.rows, strict=True))
    wanted = [max(cell_len(line) for cell in column for line in cell.split("\n")) for column in columns]
    words = [max(cell_len(word) for cell in column for word in cell.split()) for column in columns]
    room = width - _GAP * (len(_TITLES) - 1)
    if sum(words) > room:
        words = [max(cell_len(part) for cell in column for part in _PARTS.split(cell)) for column in columns]
    # rich cuts a table that is too wide, and a cut requirement is a wrong one: so the widths are given to it.
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    widths = _shared(wanted, words, room)
    for title, least in zip(_TITLES, widths, strict=True):
        table.add_column(title, width=least, overflow="fold")
    for row in demands.rows:
        table.add_row(*(Text(_parted(cell, least), overflow="fold") for cell, least in zip(row, widths, strict=True)))
    return table


# Where a long word is broken: around the bounds of a requirement, after the parts of a path, a key or a name.
_PARTS = re.compile(r"\s+|(?<=[,/\]])|(?<=[.-])(?=[A-Za-z])|(?=\[)|(?<![<>=!~])(?=[<>=!~])")


def _parted(cell: str, width: int) -> str:
    """Return a cell in which words that are longer than a line are broken between their parts, if they have some."""
    from rich.cells import cell_len

    lines = []
    for line in cell.split("\n"):
        filled = ""
        for word in re.split(r"(?<=\s)", line):
            for part in _PARTS.split(word.rstrip()) if cell_len(word.rstrip()) > width else [word.rstrip()]:
                if filled and cell_len(filled + part) > width:
                    lines.append(filled.rstrip())
                    filled = ""
                filled += part
            filled += word[len(word.rstrip()) :]
        lines.append(filled.rstrip())
    return "\n".join(lines)


def _shared(wanted: Sequence[int], words: Sequence[int], width: int) -> list[int]:
    """Return the widths of columns that share `width`: none gets more than it wants, and words are broken last."""
    widths = list(wanted)
    while sum(widths) > width:
        spare = [have - word for have, word in zip(widths, words, strict=True)]
        widths[spare.index(max(spare)) if max(spare) > 0 else widths.index(max(widths))] -= 1
    return widths


_SIGNS = "✓✗→·…─"
_ASCII = str.maketrans({"✓": "*", "✗": "x", "→": "->", "·": "|", "…": "...", "─": "-"})
