"""`hermes pm doctor`: what commonly goes wrong with a home, each with what puts it right."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pm.cli.invocation import Call
from pm.operations.doctor import Symptom, ordered, surroundings, why_not_found

if TYPE_CHECKING:
    from pm.cli.listings import View
    from pm.plugins.discovery import Found

_NOTES = frozenset({"plugin-hidden", "no-generation"})
"""Findings that may well be meant so: they are told, and the status stays 0."""


def examine(arguments: Namespace, words: Sequence[str]) -> int:
    """Tell what is wrong; the status is 1 if something is."""
    call = Call(arguments, words)
    view = call.view()
    findings = ordered([*_of_view(view), *surroundings(call.places, os.environ)])
    rows = [{**finding._asdict(), "level": _level(finding)} for finding in findings]
    call.print({"home": str(call.places.home), "findings": rows}, _text)
    return int(any(row["level"] == "problem" for row in rows))


def _level(finding: Symptom) -> str:
    return "note" if finding.name in _NOTES else "problem"


def _of_view(view: View) -> Iterator[Symptom]:
    """Yield what is wrong with configs, generations and plugins."""
    from pm.cli.listings import damages

    if view.config_problem is not None:
        problem = view.config_problem
        place = f"{problem.file}:{problem.line}" if problem.line else problem.file
        fix = problem.hint or f"correct {place}"
        yield Symptom("config-unreadable", f"{problem.message} ({place})", fix, problem.file)
    found = damages(view)
    for damage in found:
        yield Symptom("damaged", damage.reason.message, damage.advice, damage.reason.file)
    if view.record is None and not found:
        yield Symptom("no-generation", "no generation was made yet", "`hermes pm init` makes one")
    for written in () if found else view.missing:
        yield why_not_found(view.places, written)
    for plugin in view.found:
        yield from _of_plugin(view, plugin)
    yield from _of_processes(view)


def _of_plugin(view: View, found: Found) -> Iterator[Symptom]:
    from pm.cli.listings import row

    key, folder = found.key, str(found.folder or "")
    if found.hidden_by:
        message = f"the {found.source} copy of `{key}` is never used: the {found.hidden_by} one hides it"
        yield Symptom("plugin-hidden", message, "remove one of the copies, or give one another `name`", folder)
    if found.key not in view.enabled or found.hidden_by:
        return
    if not found.declaration.fit:
        problem = found.declaration.problems[0]
        place = f"{folder}/{problem.file}:{problem.line}" if problem.line else folder
        fix = f"correct it, or `hermes plugins disable {key}` takes it out of the way"
        yield Symptom("plugin-unreadable", f"`{key}`: {problem.message} ({place})", fix, folder)
    elif row(view, found)["ready"] == "not-admitted":
        fix = f"`hermes plugins enable {key}` checks it and admits it"
        yield Symptom("not-admitted", f"`{key}` is enabled, and not admitted as it is now", fix, folder)
    for name in found.declaration.requires_env:
        if name not in view.known_settings:
            fix = f"write `{name}=…` into `{view.places.home / '.env'}`"
            yield Symptom("variable-missing", f"`{key}` needs the variable `{name}`, which is not set", fix, folder)


def _of_processes(view: View) -> Iterator[Symptom]:
    from pm.operations.restarts import running_behind

    behind = running_behind(view.places, view.record.environment) if view.record is not None else ()
    if behind:
        yield Symptom("restart-needed", f"a process runs in an earlier environment: {behind[0]}", "restart Hermes")


def _text(listing: Mapping[str, Any]) -> str:
    return "\n".join(_lines(listing))


def _lines(listing: Mapping[str, Any]) -> Iterator[str]:
    findings = listing["findings"]
    if not findings:
        yield f"nothing is wrong with {listing['home']}"
        return
    for number, row in enumerate(findings, 1):
        yield f"{number}. {row['name']}: {row['message']}"
        yield f"   {row['fix']}"
