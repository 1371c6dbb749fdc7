"""`hermes plugins search`: what the operator's catalog lists."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pm.cli.console import table
from pm.cli.invocation import Call
from pm.errors import PmError
from pm.names import same_key

if TYPE_CHECKING:
    from pm.cli.listings import View
    from pm.sources.catalog import Catalog
    from pm.sources.catalog_entries import CatalogEntry

_COLUMNS = ("name", "version", "tier", "installed", "description")


def search_catalog(arguments: Namespace, words: Sequence[str]) -> int:
    """List the entries of the catalog that hold all words."""
    from pm.operations.catalog_lookup import catalog_of

    call = Call(arguments, words)
    catalog = catalog_of(call.places, os.environ, offline=arguments.offline)
    if catalog is None:
        hint = "write `pm:` with `catalog:` and a folder or an https address into the `config.yaml` of the root"
        raise PmError("invalid-source", "no catalog is chosen", hint=hint, key="pm.catalog")
    wanted = [word.lower() for word in arguments.words]
    found = [entry for entry in catalog.page.entries if all(word in _searched(entry) for word in wanted)]
    listing = {
        "catalog": catalog.location,
        "stale": catalog.stale,
        "plugins": [entry_row(entry, call.view(), catalog) for entry in found],
        "problems": list(catalog.page.problems),
    }
    return call.print(listing, lambda shown: _text(shown, verbose=arguments.verbose))


def _searched(entry: CatalogEntry) -> str:
    return f"{entry.name} {entry.description} {entry.category} {entry.tier}".lower()


def entry_row(entry: CatalogEntry, view: View, catalog: Catalog) -> dict[str, object]:
    """Return an entry as listings show it."""
    from pm.sources.catalog_entries import withdrawn_by

    row = withdrawn_by(catalog.withdrawn, {entry.name}, entry.repo)
    names = [name for found in view.found if found.source == "user" for name in found.names]
    installed = any(same_key(entry.name, name) for name in names)
    return {
        **entry._asdict(),
        "known_issues": list(entry.known_issues),
        "installed": installed,
        "withdrawn": row.reason or "withdrawn" if row is not None else "",
    }


def _text(listing: Mapping[str, Any], *, verbose: bool) -> str:
    return "\n".join(_lines(listing, verbose=verbose))


def _lines(listing: Mapping[str, Any], *, verbose: bool) -> Iterator[str]:
    rows = [
        {**row, "installed": "yes" if row["installed"] else "-", "version": row["version"] or "-"}
        for row in listing["plugins"]
    ]
    yield table(rows, _COLUMNS) if rows else "no plugin of the catalog matches"
    yield from (f"{row['name']} was withdrawn: {row['withdrawn']}" for row in rows if row["withdrawn"])
    if listing["stale"]:
        yield f"a kept copy of the catalog is shown; {listing['stale']}"
    problems = listing["problems"]
    if problems and not verbose:
        yield f"{len(problems)} entries cannot be used; `-v` says why"
    yield from problems if verbose else ()


def entry_text(listing: Mapping[str, Any]) -> str:
    """Return an entry of the catalog that is not installed as text."""
    return "\n".join(_entry_lines(listing["catalog_entry"]))


def _entry_lines(entry: Mapping[str, Any]) -> Iterator[str]:
    version = f" {entry['version']}" if entry["version"] else ""
    yield f"{entry['name']}{version}, in the catalog ({entry['tier']}), not installed"
    if entry["description"]:
        yield entry["description"]
    yield ""
    folder = f"#{entry['subdir']}" if entry["subdir"] else ""
    yield f"repository       {entry['repo']}{folder} at {entry['sha']}"
    if entry["requires_hermes"]:
        yield f"requires_hermes  {entry['requires_hermes']}"
    yield from (f"known issue      {issue}" for issue in entry["known_issues"])
    if entry["withdrawn"]:
        yield f"withdrawn        {entry['withdrawn']}"
    yield f"`hermes plugins install {entry['name']} --enable` checks and installs it"
