"""Write a confirmed step as a diff of the author's own file: one line changes, every other byte stays."""

import re
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path
from typing import NamedTuple

from admission import Declaration, Requirement, parse_requirement
from pm.errors import PmError
from pm.reading.declaration import assemble
from pm.reading.files import Content, folder_files
from pm.receipts.receipt import Demand, Receipt, Step

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_FORMS = ("{}", '"{}"', "'{}'")
"""A text that grows a comma needs quotes in a YAML list on one line."""


def patch_text(receipt: Receipt) -> str:
    """Return the confirmed wider bounds of a receipt as a unified diff, for `patch -p1` in the plugin's folder.

    The changed file was read again: it asks for what it asked for before, and only the one requirement is another.
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
    change = _Change(folder, plugin.key, _line_of(receipt, own[0]), own[0].value)
    before = _content(change.file)
    return "".join(_diff(before, _changed(before, change), change.demand.declared_at.file))


class _Change(NamedTuple):
    """What is to be written, and where."""

    folder: Path
    key: str
    demand: Demand
    text: str

    @property
    def file(self) -> Path:
        return self.folder / self.demand.declared_at.file


def _line_of(receipt: Receipt, step: Step) -> Demand:
    """Return the demand that a step is about: the one whose text and place its explanation names."""
    for reason in receipt.reasons:
        for demand in (*reason.demands, *reason.also):
            place = demand.declared_at
            told = f"instead of `{demand.requirement}` in {place.file}:{place.line}"
            if demand.owner.name == step.subject and place.line and step.explanation.endswith(told):
                return demand
    raise PmError("no-patch", f"which line `{step.value}` would change is not known", hint="write it there yourself")


def _content(file: Path) -> str:
    try:
        with file.open(encoding="utf-8", newline="") as stream:
            return stream.read()
    except (OSError, UnicodeDecodeError) as error:
        raise PmError("no-patch", f"`{file}` cannot be read as text: {error}", file=str(file)) from error


def _changed(before: str, change: _Change) -> str:
    """Return the content with the new text in the place of the demand's, in the quotes that are there."""
    old, line = change.demand.requirement, change.demand.declared_at.line
    expected = _expected(change)
    for after in _candidates(before, old, change.text, line):
        if expected is not None and _means(_declared(change, after)) == expected:
            return after
    raise PmError(
        "no-patch",
        f"`{old}` does not stand on line {line} so that it could be changed as text",
        file=str(change.file),
        line=line,
        hint=f"write `{change.text}` there yourself",
    )


def _candidates(before: str, old: str, new: str, number: int) -> Iterator[str]:
    """Yield the contents with the new text in each place of the old one, the nearest to its line first.

    Readers do not agree on what ends a line, so the number alone does not tell.
    """
    lines = _LINE.findall(before)
    standing = sorted((i for i, line in enumerate(lines) if old in line), key=lambda i: abs(i + 1 - number))
    for i in standing:
        for form in _FORMS:
            for match in re.finditer(re.escape(old), lines[i]):
                changed = lines[i][: match.start()] + form.format(new) + lines[i][match.end() :]
                yield "".join((*lines[:i], changed, *lines[i + 1 :]))


_Meaning = tuple[list[tuple[object, ...]], int]


def _expected(change: _Change) -> _Meaning | None:
    """Return what the changed file has to mean; nothing if it is not known which of its requirements is changed."""
    declaration = _declared(change, None)
    place = change.demand.declared_at
    asked = (*declaration.requirements, *declaration.gates)
    meant = [
        i
        for i, requirement in enumerate(asked)
        if (requirement.text, requirement.origin.file, requirement.origin.line)
        == (change.demand.requirement, place.file, place.line)
    ]
    if len(meant) != 1:
        return None
    rows, problems = _means(declaration)
    rows[meant[0]] = _row(parse_requirement(change.text, asked[meant[0]].origin))
    return rows, problems


def _declared(change: _Change, content: str | None) -> Declaration:
    """Return what the plugin declares, with another content of the file or with the one that is there."""
    fetch = folder_files(change.folder)
    name = change.demand.declared_at.file

    def changed(asked: str) -> Content:
        return content.encode() if content is not None and asked == name else fetch(asked)

    return assemble(changed, key=change.key, fallback=change.folder.name, core_names=frozenset())


def _means(declaration: Declaration) -> _Meaning:
    asked = (*declaration.requirements, *declaration.gates)
    return [_row(requirement) for requirement in asked], len(declaration.problems)


def _row(requirement: Requirement) -> tuple[object, ...]:
    return (*requirement._replace(text=""), requirement.text)


def _diff(before: str, after: str, name: str) -> Iterator[str]:
    old, new = _LINE.findall(before), _LINE.findall(after)
    end = "\t" if " " in name else ""  # where a name with a blank ends
    for line in unified_diff(old, new, f"a/{name}{end}", f"b/{name}{end}"):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
