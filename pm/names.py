"""Keys of plugins: their grammar, and the many spellings under which one plugin can stand in a config.

And any name or text that others have written, as it may be shown.
"""

from __future__ import annotations

import re

from pm.limits import SHOWN_LINE, SHOWN_LINES, SHOWN_VALUE
from pm.redaction import redact, redact_value

HOST_NAME = "hermes-agent"
"""The distribution of the host, which a core of any name stands for."""
EMBEDDED_NAME = "hermes-embedded-core"
"""The distribution of the core that travels inside the manager's own."""
_SEGMENT = r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}"
_KEY = re.compile(rf"{_SEGMENT}(?:/{_SEGMENT})?")


_NEVER_PLUGINS = frozenset({"__pycache__", "node_modules"})
"""Folders that other programs make wherever they work."""


def is_key(text: str) -> bool:
    """Say whether a text is a key: one or two segments, `name` or `category/name`, each of them `may_be_plugin`."""
    return _KEY.fullmatch(text) is not None and all(map(may_be_plugin, text.split("/")))


def may_be_plugin(name: str) -> bool:
    """Say whether a folder of this name is looked at: no plugin is found in a hidden one, nor in what tools make."""
    return not name.startswith(".") and name.lower() not in _NEVER_PLUGINS


def canonical_key(key: str) -> str:
    """Return what all spellings of a key share: neither case matters, nor which of `-`, `_` and `.` is written."""
    text = key.strip().replace("_", "-").replace(".", "-").lower()
    return re.sub("-+", "-", text) if "--" in text else text


def leaf(key: str) -> str:
    """Return the last segment of a key: `mem0` of `memory/mem0`."""
    return key.rpartition("/")[2]


def same_key(one: str, other: str) -> bool:
    """Say whether two texts are spellings of one key."""
    return canonical_key(one) == canonical_key(other)


def shown(text: str, limit: int = SHOWN_VALUE.value) -> str:
    """Return a whole value in backticks, as it may be shown (`safe_text`); a long one is cut."""
    return f"`{cut(visible(cut(redact_value(text), limit + 1)), limit + 1)}`"


def safe_text(text: str) -> str:
    """Return a text as it may be shown in one line: without credentials, `visible`, and cut."""
    limit = SHOWN_LINE.value
    return cut(visible(cut(redact(text), limit)), limit)


def safe_lines(text: str) -> str:
    """Return a text of several lines as it may be shown: those that are marked stay lines, and each is `safe_text`.

    So a text that has further lines by itself can look like nothing that the manager says.
    """
    first, *others = map(safe_text, text.split(f"\n{MARK}"))
    return f"\n{MARK}".join([first, *others[-SHOWN_LINES.value :]])


def marked_lines(text: str) -> str:
    """Return the last lines of what a program said, marked: each begins a new line of a message."""
    lines = text.strip().splitlines()[-SHOWN_LINES.value :]
    return "".join(f"\n{MARK}{line}" for line in lines)


MARK = "| "
"""Begins each further line of a text that others have written."""


def cut(text: str, limit: int) -> str:
    """Return a text of at most so many characters; a sign tells that some are missing."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def visible(text: str) -> str:
    """Return a text with escapes for what a terminal hides or obeys: control characters, odd spaces, surrogates."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)


def without_commands(text: str) -> str:
    """Return an output in which no line is a workflow command: GitHub obeys lines that begin with `::`, after blanks.

    An older form is obeyed wherever it stands in a line.
    """
    if "##[" in text:
        text = text.replace("##[", "#\\x23[")
    return re.sub(r"(?m)^([^\S\n]*):(?=:)", r"\1\\x3a", text) if "::" in text else text
