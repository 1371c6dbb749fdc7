"""`hermes plugins outdated`: how the installed plugins stand to their sources."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pm.cli.console import table
from pm.errors import PmError
from pm.operations.catalog_lookup import catalog_of, kept_catalog
from pm.operations.plugin_lookup import find_plugin
from pm.operations.update_plugins import Outdated, outdated

if TYPE_CHECKING:
    from pm.cli.listings import View
    from pm.sources.catalog import Catalog

_COLUMNS = ("key", "version", "state", "source")


def outdated_rows(view: View, names: Sequence[str], *, offline: bool) -> list[dict[str, object]]:
    """Return the user's plugins, or those that are named, each as it stands to its source."""
    found = [find_plugin(view.found, name) for name in names] if names else view.found
    catalog = kept_catalog(view.places, os.environ) if offline else _catalog(view)
    return [_row(one) for one in outdated(view.places, found, catalog, offline=offline)]


def _catalog(view: View) -> Catalog | None:
    try:
        return catalog_of(view.places, os.environ, offline=False)
    except PmError:  # said of each plugin that came from it
        return kept_catalog(view.places, os.environ)


def _row(one: Outdated) -> dict[str, object]:
    return {
        "key": one.found.key,
        "version": one.found.declaration.version,
        "state": one.standing.state,
        "origin": one.origin._asdict(),
        "available": one.standing.available,
        "message": one.standing.message,
    }


def outdated_text(listing: Mapping[str, Any]) -> str:
    """Return the listing as text."""
    return "\n".join(_lines(listing["plugins"]))


def _lines(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if not rows:
        yield "no plugin is installed that has a source"
        return
    yield table([{**row, "source": _source(row)} for row in rows], _COLUMNS)
    yield from (f"{row['key']}: {row['message']}" for row in rows if row["message"])
    newer = [row["key"] for row in rows if row["state"] == "newer"]
    if newer:
        yield f"`hermes plugins update {' '.join(newer)}` checks and installs what is newer"


def _source(row: Mapping[str, Any]) -> str:
    origin = row["origin"]
    commit = f" {origin['commit'][:12]}" if origin["commit"] else ""
    newer = f" → {row['available'][:12]}" if row["available"] else ""
    return f"{origin['location']}{commit}{newer}"
