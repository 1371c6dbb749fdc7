"""Listings as text for a person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pm.cli.console import table

_PLUGIN = ("key", "version", "state", "source", "ready")
_RECEIPT = ("id", "time", "operation", "outcome", "summary")


def plain_text(listing: Mapping[str, Any]) -> str:
    """Return a line for each plugin: state, source, version and key."""
    rows = listing["plugins"]
    return "\n".join(
        f"{row['state']:<9} {row['source'] or '-':<8} {row['version'] or '-':<8} {row['key']}" for row in rows
    )


def plugins_text(listing: Mapping[str, Any], left_out: int = 0) -> str:
    """Return the listing of plugins as text; so many are left out that come with the core and are not enabled."""
    rows = listing["plugins"]
    none = "no plugin is installed; `hermes plugins install FOLDER` installs one"
    text = table(rows, _PLUGIN) if rows else none
    more = [f"{left_out} more come with the core; `hermes plugins list --all` shows them"] if left_out else []
    managed = administrator_lines(listing)
    return "\n".join([*_config_problem(listing), text, *more, *_links(rows), *managed, *_damage_lines(listing)])


def _links(rows: list[dict[str, Any]]) -> Iterator[str]:
    yield from (f"link        `{row['key']}` leads to {row['link']}" for row in rows if row.get("link"))


def _config_problem(listing: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with the config, if something is: then the listing rests on what was admitted last."""
    problem = listing.get("config_problem")
    if problem is not None:
        place = f"{problem['file']}:{problem['line']}" if problem["line"] else problem["file"]
        counting = "only what was admitted last counts as enabled"
        yield f"config      cannot be read, so {counting}: {problem['message']} ({place})"
        yield from (f"            {hint}" for hint in (problem["hint"],) if hint)


def receipts_text(listing: Mapping[str, Any]) -> str:
    """Return the listing of receipts as text."""
    rows = [row | {"time": _instant(row["time"])} for row in listing["receipts"]]
    return table(rows, _RECEIPT) if rows else "no receipt is stored"


def _instant(stamp: str) -> str:
    """Return the time stamp of a file's name as receipts write an instant, to the second."""
    date, _, time = stamp.partition("T")
    return f"{date[:4]}-{date[4:6]}-{date[6:]}T{time[:2]}:{time[2:4]}:{time[4:6]}Z"


def summary_text(summary: Mapping[str, Any]) -> str:
    """Return a line for each plugin, the sentence of the verdict, and a line for each of several reasons."""
    lines = [f"{row['ready']:<13} {row['key']} {row['version']}".rstrip() for row in summary["plugins"]]
    return "\n".join([*lines, summary["summary"], *(f"  {reason}" for reason in summary["reasons"]), ""])


def status_text(status: Mapping[str, Any]) -> str:
    """Return the status as text."""
    return "\n".join(_status_lines(status))


def details_text(details: Mapping[str, Any]) -> str:
    """Return what is known of one plugin as text."""
    return "\n".join(_details_lines(details))


def _status_lines(status: Mapping[str, Any]) -> Iterator[str]:
    generation = status["generation"]
    yield f"home        {status['home']} (profile {status['profile']})"
    if generation is None:
        yield f"generation  {'unknown' if status.get('damage') else _none_yet(status)}"
    else:
        yield f"generation  {generation['number']}, in {generation['path']}"
        yield f"core        {status['core']}"
        yield f"target      {status['target']}"
    yield from _config_problem(status)
    if status["restart_required"]:
        yield "restart     a running process still uses an earlier environment; restart it to use this one"
        yield from (f"            {reason}" for reason in status["restart_reasons"])
    yield from _damage_lines(status)
    yield from administrator_lines(status)
    for unit in status.get("services", ()):
        told = "starts by the path of a generation; `hermes pm services` says what to write"
        yield f"service     {unit['file']} {told}"
    yield ""
    plugins = status["plugins"]
    none = "no plugin is enabled" if "config_problem" not in status else "no plugin is known to be enabled"
    yield table(plugins, _PLUGIN) if plugins else none
    waiting = [plugin["key"] for plugin in plugins if plugin["ready"] == "not-admitted"]
    if waiting:
        yield ""
        yield "enabled in the config but not admitted, so they do not run as they are now; to admit them:"
        yield from (f"  hermes plugins enable {key}" for key in waiting)


def administrator_lines(listing: Mapping[str, Any]) -> Iterator[str]:
    """Yield what the administrator decides, if there is such a thing."""
    decided = listing.get("administrator")
    if decided is not None:
        settings = decided["settings"]
        verb = "is" if len(settings) == 1 else "are"
        yield f"managed     {', '.join(settings)} {verb} set for every home by {decided['file']}"


def _none_yet(status: Mapping[str, Any]) -> str:
    first = " once the config can be read" if "config_problem" in status else ""
    return f"none yet; `hermes pm init` makes one{first}"


def _damage_lines(listing: Mapping[str, Any]) -> Iterator[str]:
    for row in listing.get("damage", ()):
        what = f"`{row['step']}` puts it right" if row["step"] else "nothing can be started"
        when = f" {'once' if row['step'] else 'until'} {row['when']}" if row["when"] else ""
        yield f"damaged     {row['message']}; {what}{when}"


def _details_lines(details: Mapping[str, Any]) -> Iterator[str]:
    version = f" {details['version']}" if details["version"] else ""
    yield f"{details['key']}{version}, {details['state']}" + (f", {details['ready']}" if details["ready"] else "")
    if details["description"]:
        yield details["description"]
    yield from _config_problem(details)
    yield from _damage_lines(details)
    yield ""
    yield f"source           {details['source']}" + (f", {details['folder']}" if details["folder"] else "")
    if details["link"]:
        yield f"link to          {details['link']}"
    if details["origin"]["kind"]:
        yield f"installed from   {_origin(details['origin'])}"
    for name, title in (
        ("requires_python", "requires-python"),
        ("requires_hermes", "requires_hermes"),
        ("enabled_since", "enabled since"),
    ):
        if details[name]:
            yield f"{title:<16} {details[name]}"
    yield from _needs(details)
    for title, rows in (("fault", details["problems"]), ("note", details["notes"])):
        for row in rows:
            yield f"{title:<16} {row['message']} ({_place(row)})" + (f"; {row['hint']}" if row["hint"] else "")
    for copy in details["copies"]:
        if copy["hidden_by"]:
            yield f"hidden copy      {copy['source']} {copy['folder']} (the {copy['hidden_by']} one is used)"


def _origin(origin: Mapping[str, str]) -> str:
    commit = f" at {origin['commit']}" if origin["commit"] else ""
    asked = f" ({origin['ref']})" if origin["ref"] not in ("", origin["commit"]) else ""
    return f"{origin['kind']} {origin['location']}{commit}{asked}"


def _needs(details: Mapping[str, Any]) -> Iterator[str]:
    for row in details["requirements"]:
        yield f"requires         {row['requirement']}  ({_place(row)})"
    for row in details["external_dependencies"]:
        how = f": {row['install']}" if row["install"] else ""
        yield f"external         {row['name']}{how} (the manager neither installs nor checks it)"
    for row in details["requires_env"]:
        yield f"variable         {row['name']} ({'is set' if row['set'] else 'is not set'})"


def _place(row: Mapping[str, Any]) -> str:
    line = f":{row['line']}" if row["line"] else ""
    return f"{row['file']}{line}" if row["file"] else row["key"] or "no place"
