"""Switch an installed plugin on: one admission, and the config with it."""

from __future__ import annotations

from admission import Admitted, Refused
from pm.config.edit import Enable
from pm.config.profiles import own_names
from pm.generations.build import Edits
from pm.operations.import_check import note_imports
from pm.operations.new_generation import decided_on, realise
from pm.operations.plugin_lookup import find_plugin
from pm.operations.plugin_status import again, announced, is_running
from pm.operations.resolution import recorded_or_verdict
from pm.operations.run import Course, Result
from pm.receipts.receipt import Done
from pm.verdict.state import Wishes, observed, with_member


def enable(course: Course, word: str, wishes: Wishes) -> Result:
    """Judge a plugin together with everything that is enabled, and switch it on if it is admitted."""
    with observed(course.places, course.scene.environ, wishes, course.scene.terms) as situation:
        course.learn(situation)
        found = find_plugin(situation.here.found, word)
        member = announced(course, situation, found)
        if is_running(situation, found):
            course.judged(situation, situation.members)
            return Done("unchanged")
        judged = recorded_or_verdict(course, situation, with_member(situation.members, member), found.key)
        if isinstance(judged.decision, Admitted) and is_running(situation, found, judged.members):
            return Done("unchanged")
        if isinstance(judged.decision, Admitted):
            note_imports(course, situation, found, folder=found.folder, lock=judged.decision.lock)
        edits = Edits(
            {situation.places.home: (Enable(found.key, own_names(found, situation.here.found)),)},
            decided_on=decided_on(situation),
        )
        result = realise(course, situation, judged, edits)
        return (
            result._replace(steps=(*result.steps, again(found.key, result))) if isinstance(result, Refused) else result
        )
