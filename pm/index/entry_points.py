"""The scripts that an installer writes for the `entry_points.txt` of a wheel."""

from __future__ import annotations

import configparser
import re
from collections.abc import Iterator

from pm.names import shown

_SECTIONS = ("console_scripts", "gui_scripts")
_OBJECT = re.compile(r"(?P<object>[\w.-]+\s*:\s*[\w.-]+)(?:\s*\[\s*[^,\s].*\])?\s*")
"""`module : function [extras]`, as uv reads it."""
_LONG_BLANKS = re.compile(r"[^\S\n]{100,}")
"""Blanks for which `configparser` takes time in the square of their number."""


def scripts_of(text: str) -> dict[str, str]:
    """Return script → the object that it calls, without blanks.

    Raise `ValueError` for a text that uv does not read, or a script that it does not write.
    """
    parser = configparser.ConfigParser(delimiters=("=",), interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # the documented way to keep upper case
    try:
        parser.read_string(_LONG_BLANKS.sub(" ", re.sub("\r\n?", "\n", text)))
    except configparser.Error as error:
        raise ValueError(f"its `entry_points.txt` cannot be read: {shown(error.message)}") from error
    return dict(_scripts(parser))


def _scripts(parser: configparser.ConfigParser) -> Iterator[tuple[str, str]]:
    for section in _SECTIONS:
        for name, value in parser.items(section) if parser.has_section(section) else ():
            called = _OBJECT.fullmatch(value)
            if called is None:
                raise ValueError(f"its script {shown(name)} calls {shown(value)}, which is no object of a module")
            if "/" in name or "\0" in name or name in {".", ".."}:
                raise ValueError(f"its script {shown(name)} would not lie among the scripts")
            yield name, "".join(called["object"].split())
