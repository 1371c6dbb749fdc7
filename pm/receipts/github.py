"""A receipt as workflow commands, which GitHub shows beside the lines that they are about."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from pm.names import safe_text, visible, without_commands
from pm.places import expanded
from pm.receipts.levels import level_of
from pm.receipts.receipt import DemandRow, PlaceRow, ReasonRow, Receipt, WarningRow, from_json, to_json

__all__ = ["github_lines", "grouped", "write_summary"]


def github_lines(receipt: Receipt, path: str) -> Iterator[str]:
    """Yield a command for each finding: `error` for reasons, `warning` for warnings, `notice` for information.

    `path` is the plugin's folder or archive as it was given; files are named relative to the current directory.
    """
    # What is shown has been through JSON, where credentials are taken out.
    receipt = from_json(to_json(receipt))
    key = receipt.plugin.key if receipt.plugin else ""
    source = _Source(expanded(path))
    for reason in receipt.reasons:
        yield from _reason(reason, key, source)
    for warning in receipt.warnings:
        yield _warning(warning, key, source)


def grouped(receipt: Receipt, whole: str) -> Iterator[str]:
    """Yield a receipt's text in a group that opens: proof and steps, which no line of a file has room for."""
    yield f"::group::{without_commands(visible(receipt.summary))}"
    yield from whole.rstrip("\n").split("\n")
    yield "::endgroup::"


def write_summary(receipt: Receipt, whole: str, environ: Mapping[str, str]) -> str:
    """Add a receipt's text to the summary of the job, if there is one; return why that was not possible."""
    file = environ.get("GITHUB_STEP_SUMMARY", "")
    if not file:
        return ""
    mark = "✗" if receipt.exit_status else "✓"
    fence = "`" * max(3, 1 + max(map(len, _TICKS.findall(whole)), default=0))
    try:
        with open(file, "a", encoding="utf-8", errors="backslashreplace") as summary:  # noqa: PTH123 - as the runner names it
            summary.write(
                f"### {mark} {without_commands(visible(receipt.summary))}\n\n{fence}text\n{whole.rstrip()}\n{fence}\n"
            )
    except OSError as error:
        return f"the summary of the job cannot be written: {error.strerror}"
    return ""


_TICKS = re.compile(r"`+")


class _Source:
    """The folder or archive in which the files lie that places name."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._is_folder = path.is_dir()

    def command(self, kind: str, code: str, place: PlaceRow | None, said: Iterable[str]) -> str:
        """Return a command that is shown at a place. Of an archive only the whole can be shown."""
        place = place or PlaceRow()
        if self._is_folder or not place.file:
            return _command(kind, self._properties(place) | {"title": code}, said)
        line = f":{place.line}" if place.line else ""
        return _command(kind, {"file": _from_here(self._path), "title": code}, [f"{place.file}{line}", *said])

    def _properties(self, place: PlaceRow) -> dict[str, str]:
        if not place.file:
            return {}
        properties = {"file": _from_here(self._path / place.file)}
        if place.line:
            properties["line"] = str(place.line)
            if place.column:
                properties["col"] = str(place.column)
        return properties


def _reason(reason: ReasonRow, key: str, source: _Source) -> Iterator[str]:
    """Yield a command for each line of the plugin that takes part, or one for the plugin as a whole."""
    own = [demand.declared_at for demand in reason.demands if _is_own(demand, key)]
    said = [reason.message, _hint(reason.hint), *_others(reason, key)]
    for place in dict.fromkeys(own) if own else (reason.declared_at,):
        yield source.command("error", reason.code, place, said)


def _others(reason: ReasonRow, key: str) -> Iterator[str]:
    """Yield what the core and other plugins ask for, which is no line of this plugin."""
    for demand in reason.demands:
        if not _is_own(demand, key):
            chain = " → ".join((demand.requirement, *demand.chain[1:]))
            yield f"{demand.owner.kind} {demand.owner.name}: {chain}"


def _is_own(demand: DemandRow, key: str) -> bool:
    return (demand.owner.kind, demand.owner.name) == ("plugin", key)


def _warning(warning: WarningRow, key: str, source: _Source) -> str:
    """Return the command for a warning; what is not about the plugin itself has no place in its files."""
    about_plugin = bool(key) and warning.owner in {key, f"plugin:{key}"}
    kind = level_of(warning, {key} if key else ())
    place = warning.declared_at if about_plugin else None
    return source.command(kind, warning.code, place, [warning.message, _hint(warning.hint)])


def _hint(hint: str) -> str:
    return f"hint: {hint}" if hint else ""


def _from_here(path: Path) -> str:
    """Return a path relative to the current directory; as it is, if it leads somewhere else."""
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 - a link in a checkout keeps the name it has there
    here = Path.cwd()
    return absolute.relative_to(here).as_posix() if absolute.is_relative_to(here) else str(path)


def _command(kind: str, properties: Mapping[str, str], said: Iterable[str]) -> str:
    written = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    lines = [safe_text(line) for text in said for line in text.splitlines()]
    return f"::{kind} {written}::{_data(without_commands(chr(10).join(lines)))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return without_commands(visible(_data(text).replace(":", "%3A").replace(",", "%2C")))
