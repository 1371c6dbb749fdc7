"""`hermes pm services`: which services start in an environment by its path, and how they start what is selected."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pm.cli.invocation import Call
from pm.operations.service_units import Unit, naming_units, write_drop_in
from pm.places import Places


def look_at_services(arguments: Namespace, words: Sequence[str]) -> int:
    """List the services that start in an environment by its path; with `--write` they start what is selected."""
    call = Call(arguments, words)
    units = naming_units(call.places, os.environ)
    writes = arguments.write and not arguments.dry_run
    rows = [_row(call.places, unit, writes=writes) for unit in units]
    return call.print({"services": rows, "dry_run": arguments.dry_run}, _text)


def _row(places: Places, unit: Unit, *, writes: bool) -> dict[str, object]:
    written = str(write_drop_in(places, unit)) if writes and unit.drop_in is not None else ""
    return {
        "file": str(unit.file),
        "environments": sorted(unit.numbers),
        "drop_in": str(unit.drop_in or ""),
        "commands": [{"key": key, "value": value} for key, value in unit.changed],
        "written": written,
    }


def _text(listing: Mapping[str, Any]) -> str:
    rows = listing["services"]
    if not rows:
        return "no service starts by the path of a generation"
    return "\n".join(line for row in rows for line in _lines(row))


def _lines(row: Mapping[str, Any]) -> Iterable[str]:
    numbers = ", ".join(map(str, row["environments"]))
    yield f"{row['file']} names the environment {numbers} by its path"
    if row["written"]:
        yield f"  {row['written']} lets it start what is selected"
        yield "  now `systemctl daemon-reload`, or `systemctl --user daemon-reload` for a service of a user"
    elif row["drop_in"]:
        yield f"  `hermes pm services --write` writes {row['drop_in']}:"
        yield from (f"    {command['key']}={command['value']}" for command in row["commands"])
    else:
        yield "  install this service again with `hermes run -- hermes gateway install`, or change the path by hand"
