"""Read what a distribution declares: the `METADATA` of a wheel, as the requirements of a plugin that is a package."""

from __future__ import annotations

import re
from collections.abc import Iterator

from admission import Declaration, InvalidRequirementText, Owner, Problem, canonical_name, parse_specifier
from pm.names import is_key, shown
from pm.reading.requirements import Reading, judge
from pm.reading.written import Written

FILE = "METADATA"
_EXTRA_MARKER = re.compile(r"\bextra\s*(?:==|in)|(?:==|in)\s*extra\b")


def read_distribution(metadata: str, *, key: str | None = None, core_names: frozenset[str]) -> Declaration:
    """Return the declaration of a distribution, from the text of its core metadata.

    Its `Requires-Dist` are its requirements; those of its extras are not installed, and this is said once. Without a
    `key` it is called by its own name.
    """
    headers = list(_headers(metadata))
    name = _first(headers, "name")
    own_key = key or name.replace(".", "-")
    texts = [
        Written(value, FILE, line, len("Requires-Dist: ") + 1, "Requires-Dist", position)
        for position, (value, line) in enumerate(_all(headers, "requires-dist"))
    ]
    base = [text for text in texts if not _EXTRA_MARKER.search(text.text) or " or " in text.text]
    core = frozenset(canonical_name(core_name) for core_name in core_names)
    judged = judge(base, Reading(Owner("plugin", own_key), core, canonical_name(name)))
    requires_python, python_problems = _requires_python(headers)
    message = f"{shown(own_key)} cannot be the key of a plugin"
    unsafe = () if is_key(own_key) else (Problem("unsafe-name", message, FILE),)
    return Declaration(
        key=own_key,
        name=name,
        version=_first(headers, "version"),
        description=_first(headers, "summary"),
        requirements=judged.requirements,
        requires_python=requires_python,
        gates=judged.gates,
        problems=(*unsafe, *python_problems, *judged.problems),
        notes=(*judged.notes, *_extras_note(headers)),
    )


def _headers(metadata: str) -> Iterator[tuple[str, str, int]]:
    """Yield name, value and line of the fields before the body; an indented line continues the field before it."""
    held: tuple[str, str, int] | None = None
    for number, line in enumerate(metadata.replace("\r\n", "\n").split("\n"), start=1):
        if not line.strip():
            break
        if line[0] in " \t" and held is not None:
            held = (held[0], f"{held[1]} {line.strip()}", held[2])
            continue
        if held is not None:
            yield held
        name, _, value = line.partition(":")
        held = (name.strip().lower(), value.strip(), number)
    if held is not None:
        yield held


def _all(headers: list[tuple[str, str, int]], wanted: str) -> list[tuple[str, int]]:
    return [(value, line) for name, value, line in headers if name == wanted]


def _first(headers: list[tuple[str, str, int]], wanted: str) -> str:
    return next((value for value, _ in _all(headers, wanted)), "")


def _requires_python(headers: list[tuple[str, str, int]]) -> tuple[str, tuple[Problem, ...]]:
    """Return the bounds, corrected where it is obvious: what an index serves is not the operator's to mend."""
    for written, line in _all(headers, "requires-python"):
        try:
            return parse_specifier(written), ()
        except InvalidRequirementText as error:
            if error.correction:
                return parse_specifier(error.correction), ()
            message = f"{shown(written)} is no set of version bounds"
            return "", (Problem("invalid-declaration", message, FILE, line, key="Requires-Python"),)
    return "", ()


def _extras_note(headers: list[tuple[str, str, int]]) -> tuple[Problem, ...]:
    extras = _all(headers, "provides-extra")
    if not extras:
        return ()
    named = ", ".join(f"extra {shown(name)}" for name, _ in extras)
    message = f"optional dependencies are not installed: {named}"
    return (Problem("optional-dependencies-not-installed", message, FILE, extras[0][1], key="Provides-Extra"),)
