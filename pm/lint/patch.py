"""Write confirmed bounds as a diff of the author's own files: their lines change, every other byte stays."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from difflib import unified_diff
from pathlib import Path
from typing import NamedTuple

from admission import Declaration, Requirement, parse_requirement
from pm.documents.files import Content, folder_files
from pm.errors import PmError
from pm.names import same_key
from pm.plugins.declaration import assemble
from pm.receipts.receipt import Part, PlaceRow, Plugin, Receipt, StepRow, place_of
from pm.receipts.sentences import line_text

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_FORMS = ("{}", '"{}"', "'{}'")
"""A text that grows a comma needs quotes in a YAML list on one line."""


def patch_text(receipt: Receipt, key: str = "", places: Collection[str] = ()) -> str:
    """Return the confirmed wider bounds of a receipt as a unified diff, for `patch -p1` in the plugin's folder.

    It is the plugin that the receipt is about, or another member by its `key`. The bounds are those of the first step
    that has any, or has them in just these `places`: all of them, where bounds only lead out together. What is changed
    was read again: it asks for what it asked for before, and only these requirements are others. Raise `PmError`
    (`no-patch`) if there are none, or if a line is not written so that it could be changed as text; (`unknown-plugin`)
    for a key that no plugin of the receipt has.
    """
    plugin = _named(receipt, key) if key else receipt.plugin
    ways = [way for step in receipt.steps if (way := _bounds(step, plugin.key))] if plugin else []
    bounds = next((way for way in ways if not places or _places(way) == sorted(places)), ())
    if ways and not bounds:
        raise PmError("no-patch", f"no confirmed step changes just {' and '.join(f'`{place}`' for place in places)}")
    if plugin is None or not bounds:
        raise PmError("no-patch", "no wider bound of this plugin was confirmed, so there is nothing to write")
    folder = Path(plugin.source.location)
    if not plugin.source.location or not folder.is_dir():
        place = f"`{folder}` is not a folder" if plugin.source.location else f"`{plugin.key}` comes with the core"
        raise PmError("no-patch", f"{place}, so there is no file of the author to change")
    files = _PatchedFiles(folder, plugin.key)
    for bound in bounds:
        files = _widened(files, bound)
    return "".join(
        line for name, after in sorted(files.changed.items()) for line in _diff(_content(folder / name), after, name)
    )


def _named(receipt: Receipt, key: str) -> Plugin:
    judged: tuple[Plugin, ...] = (receipt.plugin,) if receipt.plugin is not None else ()
    for plugin in (*judged, *receipt.plugins):  # what is judged lies elsewhere than in its place
        if same_key(plugin.key, key):
            return plugin
    raise PmError("unknown-plugin", f"`{key}` is not part of this verdict, so none of its requirements is in conflict")


class _Bound(NamedTuple):
    """A requirement of a plugin that gets another text."""

    place: PlaceRow
    before: str
    after: str


def _bounds(step: StepRow, key: str) -> tuple[_Bound, ...]:
    """Return the wider bounds of a plugin that a step is, or has as parts; none of a step that was not confirmed."""
    changes: tuple[StepRow | Part, ...] = (step, *step.parts) if step.confirmed else ()
    return tuple(
        _Bound(change.declared_at, change.before, change.after)
        for change in changes
        if (change.action, change.subject) == ("widen", key) and change.declared_at is not None
    )


def _places(bounds: Iterable[_Bound]) -> list[str]:
    """Return where bounds are written, as `--patch-at` names it."""
    return sorted(line_text(bound.place) for bound in bounds)


class _PatchedFiles(NamedTuple):
    """The files of a plugin, some of them with another content than they have."""

    folder: Path
    key: str
    changed: Mapping[str, str] = {}

    def declared(self) -> Declaration:
        """Return what the plugin declares."""
        fetch = folder_files(self.folder)

        def content(name: str) -> Content:
            return self.changed[name].encode() if name in self.changed else fetch(name)

        return assemble(content, key=self.key, fallback=self.folder.name, core_names=frozenset())


def _widened(files: _PatchedFiles, bound: _Bound) -> _PatchedFiles:
    """Return the files with the new text of a bound in the place of the old one, in the quotes that are there."""
    declaration = files.declared()
    meant = next((requirement for requirement in declaration.requirements if _is_meant(requirement, bound)), None)
    name, line = bound.place.file, bound.place.line
    hint = f"write `{bound.after}` there yourself"
    if meant is None:
        message = f"`{bound.before}` is not what {line_text(bound.place)} requires"
        raise PmError("no-patch", message, file=str(files.folder / name), line=line, hint=hint)
    before = files.changed.get(name) or _content(files.folder / name)
    expected = _with(declaration, meant, bound.after)
    for after in _candidates(before, bound):
        changed = files._replace(changed={**files.changed, name: after})
        if _means(changed.declared()) == expected:
            return changed
    message = f"`{bound.before}` is not written on line {line} in a form that can be changed as text"
    raise PmError("no-patch", message, file=str(files.folder / name), line=line, hint=hint)


def _is_meant(requirement: Requirement, bound: _Bound) -> bool:
    """Return whether a bound is about a requirement: the same text in the same place."""
    return (place_of(requirement.origin), requirement.text) == (bound.place, bound.before)


def _content(file: Path) -> str:
    try:
        with file.open(encoding="utf-8", newline="") as stream:
            return stream.read()
    except (OSError, UnicodeDecodeError) as error:
        raise PmError("no-patch", f"`{file}` cannot be read as text: {error}", file=str(file)) from error


def _candidates(content: str, bound: _Bound) -> Iterator[str]:
    """Yield the content with the new text in each place of the old one, the nearest to its line first.

    Readers do not agree on what ends a line, so the number alone does not tell.
    """
    lines, number = _LINE.findall(content), bound.place.line
    standing = sorted((i for i, line in enumerate(lines) if bound.before in line), key=lambda i: abs(i + 1 - number))
    for i in standing:
        for form in _FORMS:
            for match in re.finditer(re.escape(bound.before), lines[i]):
                changed = lines[i][: match.start()] + form.format(bound.after) + lines[i][match.end() :]
                yield "".join((*lines[:i], changed, *lines[i + 1 :]))


_Meaning = tuple[list[tuple[object, ...]], int]


def _with(declaration: Declaration, requirement: Requirement, text: str) -> _Meaning:
    """Return what a declaration has to mean once one of its requirements has another text."""
    rows, problems = _means(declaration)
    rows[declaration.requirements.index(requirement)] = _row(parse_requirement(text, requirement.origin))
    return rows, problems


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
