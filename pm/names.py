"""Keys of plugins: their grammar, and the many spellings under which one plugin can stand in a config.

And any name or text that others have written, as it may be shown.
"""

from __future__ import annotations

import re

from pm.redaction import redact

HOST_NAME = "hermes-agent"
"""The distribution of the host, which a core of any name stands for."""
EMBEDDED_NAME = "hermes-embedded-core"
"""The distribution of the core that travels inside the manager's own."""
_SEGMENT = r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}"
_KEY = re.compile(rf"{_SEGMENT}(?:/{_SEGMENT})?")


def is_key(text: str) -> bool:
    """Say whether a text is a key: one or two segments, `name` or `category/name`."""
    return _KEY.fullmatch(text) is not None


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


def shown(text: str, limit: int = 200) -> str:
    """Return a text in backticks, as it may be shown (`safe_text`); a long one is cut."""
    whole = redact(text)
    return f"`{visible(whole if len(whole) <= limit else whole[:limit] + '…')}`"


def safe_text(text: str) -> str:
    """Return a text as it may be shown in one line: without credentials, and `visible`."""
    return visible(redact(text))


def safe_lines(text: str) -> str:
    """Return a text of several lines as it may be shown: each of them as `safe_text` returns it."""
    return "\n".join(map(visible, redact(text).split("\n")))


def visible(text: str) -> str:
    """Return a text with escapes for what a terminal hides or obeys: control characters, odd spaces, surrogates."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)
