"""Read the files that a project's dynamic dependencies are kept in: one requirement a line, comments, nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath

from admission import Problem, canonical_name
from pm.documents.files import Fetch, text_of
from pm.names import shown
from pm.plugins.raw import Written

_KEY = "project.dependencies"
"""What the lines of such a file are."""
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?(?=\s*(?:$|[\[(<>=!~;@,]))")
_COMMENT = re.compile(r"(?:^|\s)#.*$")
_OPTIONS_AFTER = re.compile(r"\s--[a-z-]+(?:[= ].*)?$")


def read_requirements_files(
    names: Sequence[str], fetch: Fetch, named_at: Problem
) -> tuple[tuple[Written, ...], list[Problem]]:
    """Return the requirement texts of files of a plugin's folder, and what is wrong with the files.

    `named_at` is the place that names them; its message is filled in here.
    """
    texts: list[Written] = []
    problems: list[Problem] = []
    for name in names:
        found = _text(name, fetch)
        if isinstance(found, str):
            texts += _lines(found, name)
        elif found is None:
            problems.append(named_at._replace(message=f"{shown(name)} is named here and does not exist"))
        else:
            problems.append(found if found.file else named_at._replace(message=found.message))
    problems += [problem for text in texts if (problem := _option_problem(text)) is not None]
    return tuple(text for text in texts if _option_problem(text) is None), problems


def names_in(text: str, file: str) -> Iterator[tuple[int, str]]:
    """Yield line and normalised name of the requirements in a file's text; options of pip and addresses are none."""
    for written in _lines(text, file):
        name = _NAME.match(written.text.strip())
        if name is not None and "://" not in written.text.partition("@")[0]:
            yield written.line, canonical_name(name.group())


def _text(name: str, fetch: Fetch) -> str | Problem | None:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name or not name.isprintable():
        return Problem("invalid-declaration", f"{shown(name)} leads out of the plugin's folder")
    return text_of(fetch(name), name)


def _lines(text: str, file: str) -> Iterator[Written]:
    """Yield the requirements; a line that ends with a backslash goes on in the next one."""
    requirements = ((line, _COMMENT.sub("", written).rstrip()) for line, written in _joined(text.split("\n")))
    for index, (line, requirement) in enumerate(found for found in requirements if found[1].strip()):
        yield Written(requirement, file, line, 1, _KEY, index)


def _joined(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    start, held = 0, ""
    for number, line in enumerate(lines, start=1):
        start = start if held else number
        if line.endswith("\\"):
            held += line[:-1]
            continue
        yield start, held + line
        held = ""
    if held:
        yield start, held


def _option_problem(text: Written) -> Problem | None:
    match = _OPTIONS_AFTER.search(text.text)
    if match is None or text.text.strip().startswith("-"):
        return None
    message = f"{shown(match.group().strip())} is an option of pip and is not read"
    hint = f"write `{text.text[: match.start()].strip()}`"
    return Problem("invalid-declaration", message, text.file, text.line, text.column + match.start() + 1, "", hint)
