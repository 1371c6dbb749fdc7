"""Tables in Markdown."""

from collections.abc import Iterable

__all__ = ["table"]


def table(titles: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return rows as a table."""
    titles = tuple(titles)
    lines = [titles, ("---" for _ in titles), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, cells))} |" for cells in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
