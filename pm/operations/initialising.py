"""Choose the core and the Python, and make a generation of what is enabled."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from admission import Admitted
from pm.config_edit import Change, Set
from pm.cores import is_project
from pm.generations import Edits
from pm.operations.admitting import decided_on, realise
from pm.operations.course import Course, Result
from pm.operations.standing import drift_of
from pm.operations.verdicts import verdict
from pm.receipts.receipt import Done
from pm.records import Member
from pm.situation import Situation, Wishes, observed


def initialise(course: Course, wishes: Wishes) -> Result:
    """Judge the core with everything that is enabled, write `pm.core` and `pm.python`, and select the result."""
    wishes = _absolute(wishes)._replace(anew=True)
    course.places.home.mkdir(parents=True, exist_ok=True)
    with observed(course.places, course.scene.environ, wishes, course.scene.terms) as situation:
        course.learn(situation)
        changes = _changes(situation)
        if not changes and _is_made(situation, situation.members):
            course.judged(situation, situation.members)
            return Done("unchanged")
        judged = verdict(course, situation, situation.members)
        if not changes and isinstance(judged.decision, Admitted) and _is_made(situation, judged.members):
            return Done("unchanged")
        edits = Edits({course.places.root: changes}, decided_on=decided_on(situation))
        return realise(course, situation, judged, edits)


def _absolute(wishes: Wishes) -> Wishes:
    """Return the wishes with a project's folder spelled so that it means the same from everywhere."""
    if wishes.core and is_project(wishes.core) and not wishes.core.startswith("~"):
        return wishes._replace(core=str(Path(wishes.core).absolute()))
    return wishes


def _changes(situation: Situation) -> tuple[Change, ...]:
    wishes, settings = situation.wishes, situation.settings
    wanted = (("pm.core", wishes.core, settings.core), ("pm.python", wishes.python, settings.python))
    return tuple(Set(name, wish) for name, wish, is_set in wanted if wish is not None and wish != is_set)


def _is_made(situation: Situation, members: Sequence[Member]) -> bool:
    record = situation.record
    python = situation.settings.python if situation.wishes.python is None else situation.wishes.python
    return (
        record is not None
        and (record.python, record.interpreter) == (python, str(situation.interpreter.path))
        and record.fingerprint == situation.constraints(members).fingerprint
        and drift_of(situation.places, record) is None
    )
