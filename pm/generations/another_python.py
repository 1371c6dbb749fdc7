"""The Python that a generation can be made with when the one that it was built with is gone."""

from __future__ import annotations

from pm.config.profiles import read_own_selection
from pm.errors import PmError
from pm.generations.inventory import recorded_core
from pm.generations.records import Record
from pm.host.interpreter import find_interpreter
from pm.places import Places


def another_python(places: Places, record: Record | None) -> str | None:
    """Return what `hermes pm init --python` has to be given; empty if it needs no such word, `None` if none is there.

    It needs none where `pm.python`, or the core's own range, still leads to an interpreter that is installed.
    """
    try:
        request = read_own_selection(places.root).settings.python
        requires = recorded_core(places, record).core.requires_python if record is not None else ""
    except PmError:
        request = requires = ""
    if _leads_to_one(places, request, requires):
        return ""
    return _installed(places, requires) if request else None


def _leads_to_one(places: Places, request: str, requires: str) -> bool:
    try:
        find_interpreter(request, "" if request else requires, places.cache)
    except PmError:
        return False
    return True


def _installed(places: Places, requires: str) -> str | None:
    """Return what asks for an installed interpreter that the core admits: a version, or a path unknown to uv."""
    try:
        found = find_interpreter("", requires, places.cache)
    except PmError:
        return None
    version = ".".join(found.target.python.split(".")[:2])
    return version if _leads_to_one(places, version, "") else str(found.path)
