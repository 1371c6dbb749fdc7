"""Write a confirmed step as a diff of the author's own file: one line changes, every other byte stays."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path

from admission import canonical_name
from pm.errors import PmError
from pm.receipts.receipt import Demand, Receipt, Step


def patch_text(receipt: Receipt) -> str:
    """Return the confirmed wider bounds of a receipt as a unified diff, for `patch -p1` in the plugin's folder.

    Raise `PmError` (`no-patch`) if there is none, or if the line is not written so that it could be changed as text.
    """
    plugin = receipt.plugin
    steps = [step for step in receipt.steps if step.action == "widen" and step.confirmed]
    own = [step for step in steps if plugin is not None and step.subject == plugin.key]
    if plugin is None or not own:
        raise PmError("no-patch", "no wider bound of this plugin was confirmed, so there is nothing to write")
    folder = Path(plugin.source.location)
    if not folder.is_dir():
        raise PmError("no-patch", f"`{folder}` is not a folder, so no file of the author's can be compared")
    step = own[0]
    demand = _line_of(receipt, step)
    file = folder / demand.declared_at.file
    before = _content(file)
    after = _changed(before, demand, step.value, file)
    name = demand.declared_at.file
    return "".join(_diff(before, after, name))


def _line_of(receipt: Receipt, step: Step) -> Demand:
    """Return the demand that a step is about: that of its plugin on the package of the new text."""
    wanted = _name(step.value)
    for reason in receipt.reasons:
        for demand in (*reason.demands, *reason.also):
            if demand.owner.name == step.subject and _name(demand.requirement) == wanted and demand.declared_at.line:
                return demand
    raise PmError("no-patch", f"where `{wanted}` is written is not known to the line")


def _name(requirement: str) -> str:
    from packaging.requirements import Requirement

    return canonical_name(Requirement(requirement).name)


def _content(file: Path) -> str:
    try:
        with file.open(encoding="utf-8", newline="") as stream:
            return stream.read()
    except (OSError, UnicodeDecodeError) as error:
        raise PmError("no-patch", f"`{file}` cannot be read as text: {error}", file=str(file)) from error


def _changed(before: str, demand: Demand, text: str, file: Path) -> str:
    """Return the content with the new text on the demand's line, in the quotes that are there."""
    lines = before.splitlines(keepends=True)
    number = demand.declared_at.line
    if number > len(lines) or lines[number - 1].count(demand.requirement) != 1:
        raise PmError(
            "no-patch",
            f"`{demand.requirement}` does not stand on line {number} as it is meant, so it cannot be changed as text",
            file=str(file),
            line=number,
            hint=f"write `{text}` there yourself",
        )
    lines[number - 1] = lines[number - 1].replace(demand.requirement, text)
    return "".join(lines)


def _diff(before: str, after: str, name: str) -> Iterator[str]:
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    for line in unified_diff(old, new, f"a/{name}", f"b/{name}"):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
