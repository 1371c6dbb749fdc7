"""`hermes pm extras`: list the extras of the core, and choose more or fewer of them."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pm.cli.console import misused
from pm.cli.invocation import Call
from pm.names import shown


def change_extras(arguments: Namespace, words: Sequence[str]) -> int:
    """List extras, or choose more or fewer of them."""
    from pm.operations.extras import add_extras, remove_extras

    call, names = Call(arguments, words), list(dict.fromkeys(arguments.names))
    if arguments.action == "list":
        if names:
            raise misused("pm extras", f"`list` takes no names; `add {shown(names[0])}` chooses that extra")
        return _list(call)
    if not names:
        raise misused("pm extras", f"name the extras to {arguments.action}; `hermes pm extras` lists them")
    change = {"add": add_extras, "remove": remove_extras}[arguments.action]
    return call.change("extras", "", lambda run: change(run, names, call.options()))


def _list(call: Call) -> int:
    from pm.operations.extras import extras_of

    core, rows = extras_of(call.begin("extras"), call.options())
    listing = {"core": core, "extras": [row._asdict() for row in rows]}
    return call.print(listing, _text)


def _required(row: Mapping[str, Any]) -> str:
    return "(what it requires is not known here)" if row["requirements"] is None else ", ".join(row["requirements"])


def _text(listing: Mapping[str, Any]) -> str:
    return "\n".join(_lines(listing))


def _lines(listing: Mapping[str, Any]) -> Iterator[str]:
    if not listing["extras"]:
        yield f"{listing['core']} has no extras"
        return
    yield f"extras of {listing['core']} (* is chosen, + is part of one that is chosen)"
    width = max(len(row["name"]) for row in listing["extras"])
    for row in listing["extras"]:
        mark = "*" if row["chosen"] else "+" if row["active"] else " "
        yield f"{mark} {row['name']:<{width}}  {_required(row)}".rstrip()
