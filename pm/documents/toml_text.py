"""Read TOML within limits: its values, or what is in the way of them."""

import re
import tomllib
from typing import NamedTuple

from admission import Problem
from pm.documents.boundary import parsed
from pm.documents.nodes import duplicate_key, too_deep, too_many_digits
from pm.documents.toml_positions import toml_places
from pm.limits import DOCUMENT_DEPTH


class TomlText(NamedTuple):
    """A TOML text as it was understood."""

    values: dict[str, object] | None
    """`None` if it is not TOML, or beyond a limit."""
    problems: tuple[Problem, ...] = ()


def read_toml(text: str, file: str) -> TomlText:
    """Return the values of a TOML text, or why it has none, with the place."""
    problem = beyond_limits(text, file)
    if problem is not None:
        return TomlText(None, (problem,))
    return parsed(lambda: _loaded(text, file), lambda why: TomlText(None, (_no_toml(why, file),)))


def beyond_limits(text: str, file: str) -> Problem | None:
    """Return what `tomllib` would take too long for, or raise about, in a text; `None` if it can be given to it."""
    return too_many_digits(text, file) or _deep_key(text, file)


def _loaded(text: str, file: str) -> TomlText:
    try:
        return TomlText(tomllib.loads(text))
    except RecursionError:
        return TomlText(None, (Problem("invalid-declaration", "the file is nested too deep", file),))
    except tomllib.TOMLDecodeError as error:
        said = str(error)
    return TomlText(None, _written_twice(said, text, file) or (_explained(said, text, file),))


_TWICE = re.compile(r"cannot (?:overwrite|declare|redefine|mutate|define)|duplicate", re.IGNORECASE)
_POSITION = re.compile(r"\s*\(at (?:line (\d+), column (\d+)|end of document)\)$")


def _written_twice(said: str, text: str, file: str) -> tuple[Problem, ...]:
    """Return the problems of keys that stand twice, if that is what the parser complains of."""
    if not _TWICE.match(said):
        return ()
    return tuple(
        duplicate_key(file, ".".join(path), first=first.line, second=second.line)._replace(column=second.column)
        for path, first, second in toml_places(text).duplicates
    )


def _explained(said: str, text: str, file: str) -> Problem:
    position = _POSITION.search(said)
    line = int(position[1]) if position and position[1] else text.count("\n") + 1
    column = int(position[2]) if position and position[2] else 0
    reason = _POSITION.sub("", said)
    return _no_toml(f"{reason[:1].lower()}{reason[1:]}", file)._replace(line=line, column=column)


def _no_toml(why: str, file: str) -> Problem:
    return Problem("invalid-declaration", f"this is not TOML: {why}", file)


def _deep_key(text: str, file: str) -> Problem | None:
    """Return the problem of a dotted key of too many parts: `tomllib` takes time in their square."""
    if all(line.count(".") < DOCUMENT_DEPTH.value for line in text.split("\n")):
        return None
    # what stands in comments and strings is no key; a quoted part of a key is one part
    bare = re.sub(_QUOTED, lambda match: "q" + "\n" * match[0].count("\n"), text)
    match = re.search(rf"(?<![\w.-])(?:[\w-]+[ \t]*\.[ \t]*){{{DOCUMENT_DEPTH.value}}}", bare, re.ASCII)
    return too_deep(file, bare.count("\n", 0, match.start()) + 1) if match is not None else None


# what has no end takes the rest of the text or line, as for `tomllib`: else each of many would look for its own
_QUOTED = (
    r"#[^\n]*"
    r'|"""(?:[^\\]|\\[\s\S])*?(?:"{3,5}|\\?\Z)'
    r"|'''[\s\S]*?(?:'{3,5}|\Z)"
    r'|"(?:[^"\\\n]|\\.)*"?'
    r"|'[^'\n]*'?"
)
