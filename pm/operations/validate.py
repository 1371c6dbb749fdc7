"""The author's check: one plugin alone with a core, and what its files tell beside that. Nothing of it is run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from admission import Admitted, Problem
from admission.gates import root_requirements
from lockfiles import Lock
from lockfiles.subset import subset
from pm.config.profiles import Enabled
from pm.errors import PmError
from pm.lint.review import Review
from pm.operations.candidate import announced_source, refusal_of_place
from pm.operations.import_check import provided
from pm.operations.resolution import verdict
from pm.operations.run import Course, Result
from pm.places import Places
from pm.plugins.stage import source_path, staged
from pm.receipts.receipt import Done
from pm.verdict.state import Inhabited, Situation, Wishes, member_of, observed

_HOME_FAULTS = frozenset({"config-unreadable", "drift", "not-writable"})
"""What no author can help: a home whose config, state or folders cannot be read, or whose profile is not there."""


def validate(course: Course, path: str, wishes: Wishes) -> Result:
    """Judge the core together with the plugin of a folder or archive, and look through the plugin's files.

    Of a home only the `pm:` settings and the consents count, and it may be missing: neither its other plugins nor the
    versions that it runs do. What the files tell are warnings of the receipt, whatever the verdict is.
    """
    course.scene.tell(f"reading {path}")
    with staged(path, course.places.cache / "staged") as taken, _alone(course, wishes) as situation:
        course.learn(situation)
        candidate = announced_source(course, taken, situation)
        course.know(plugin=course.operation.plugin and course.operation.plugin._replace(profile=""))
        review = Review(taken.folder, candidate.found.declaration)
        with course.phase("review", "looking through the files"):
            _note(course, candidate.key, review.findings())
        refused = refusal_of_place(candidate, force=True)
        if refused is not None:
            return refused
        member = member_of(candidate.found._replace(folder=source_path(path)), ())
        decision = verdict(course, situation, (member,), candidate.key).decision
        if not isinstance(decision, Admitted):
            return decision
        with course.phase("review", "comparing imports with requirements"):
            _note(course, candidate.key, review.imports(provided(situation, decision.lock)))
        course.know(before=_of_the_core(situation, decision.lock))
        return Done("ready", decision.lock, warnings=decision.warnings)


def _note(course: Course, key: str, findings: tuple[Problem, ...]) -> None:
    for finding in findings:
        course.note(finding, owner=key)


# -- the situation of an author


@contextmanager
def _alone(course: Course, wishes: Wishes) -> Iterator[Situation]:
    """Give the situation without what is installed and selected in the home, but for what the core itself brings."""
    with ExitStack() as stack:
        situation = _observed(course, wishes._replace(project=None), stack)
        bundled = tuple(copy._replace(hidden_by="") for copy in situation.here.found if copy.source == "bundled")
        here = Inhabited(situation.here.profile, bundled, Enabled((), ()))
        yield situation._replace(record=None, profiles=(here,), members=(), unfit=(), notes=())


def _observed(course: Course, wishes: Wishes, stack: ExitStack) -> Situation:
    """Read the situation of the home; where that is at fault, that of a home which is not there."""
    scene = course.scene
    try:
        return stack.enter_context(observed(scene.places, scene.environ, wishes, scene.terms))
    except PmError as error:
        if error.code not in _HOME_FAULTS:
            raise
        message = f"the home was not used, and the defaults count: {error.message}"
        course.note(Problem("home-not-used", message, error.file, error.line, key=error.key, hint=error.hint))
    nowhere = scene.places.cache / "no-home"
    return stack.enter_context(observed(Places(nowhere, nowhere), scene.environ, wishes, scene.terms))


# -- what the core and the plugin bring


def _of_the_core(situation: Situation, lock: Lock) -> Lock:
    """Return the part of a lock that would be there without the plugin, so that the receipt tells what that adds."""
    core = situation.hosted.core
    asked = [(root.name, root.extras) for root in root_requirements(situation.constraints(()))]
    if core.pin is not None:
        asked.append((core.pin.name, core.pin.extras))
    return subset(lock, asked, {})
