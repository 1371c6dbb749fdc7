"""The page of the limits of foreign input, written from their table."""

from pm.limits import Limit, table
from scripts.reference import markdown

__all__ = ["limits_page"]


def limits_page() -> str:
    """Return the page."""
    titles = ("limit", "of", "why", "beyond it, this is unusable")
    rows = ((_amount(limit), limit.of, limit.reason, limit.unusable) for limit in table())
    return _PAGE.format(limits=markdown.table(titles, rows))


def _amount(limit: Limit) -> str:
    return f"{limit.value:,} {limit.unit}"


_PAGE = """\
# Limits of what others wrote

This page is written by `python -m scripts.reference docs/reference`; a test compares it with the code.

Plugins, package indexes, wheels and archives are written by others, and so are configs in part. Each is read up to a
limit, so that one of them can neither fill the memory nor take all of the time. What exceeds a limit, or cannot be read
at all, makes that plugin, that version or that page unusable, with a code, and nothing else.

{limits}
"""
