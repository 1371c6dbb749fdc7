"""Choose the core and the Python, and make a generation of what is enabled."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from admission import Admitted
from pm.config.edit import Change, Set
from pm.config.profiles import CONFIG, read_selection
from pm.config.settings import Settings
from pm.errors import PmError
from pm.generations.build import Edits
from pm.generations.bundle import Bundle, check_wheels
from pm.generations.records import Member
from pm.operations.new_generation import decided_on, realise
from pm.operations.plugin_status import drift_of
from pm.operations.resolution import verdict
from pm.operations.run import Course, Result
from pm.receipts.receipt import Done
from pm.verdict.state import Situation, Wishes, observed


def initialise(course: Course, wishes: Wishes, bundle: Bundle | None = None) -> Result:
    """Judge the core with everything that is enabled, write `pm.core` and `pm.python`, and select the result.

    With a bundle its core is meant unless another one is wished for, and from then on packages come from its wheels
    alone. Raise `PmError` (`hash-mismatch`) if one of them is not what it should be, (`config-unreadable`) if the
    config says that packages come from elsewhere.
    """
    wishes = wishes._replace(anew=True)
    environ = course.scene.environ
    if bundle is not None:
        _check(course, bundle)
        wishes = wishes._replace(core=bundle.core if wishes.core is None else wishes.core)
        environ = _of_a_folder(environ, bundle.wheels)
    course.places.home.mkdir(parents=True, exist_ok=True)
    with observed(course.places, environ, wishes, course.scene.terms) as situation:
        course.learn(situation)
        changes = (*_changes(situation), *_folders(situation.settings, bundle))
        is_new = bundle is not None and situation.record is not None and not bundle.agrees(situation.record.lock)
        if not changes and not is_new and _is_made(situation, situation.members):
            course.judged(situation, situation.members)
            return Done("unchanged")
        judged = verdict(course, situation, situation.members)
        admitted = isinstance(judged.decision, Admitted)
        if not changes and not is_new and admitted and _is_made(situation, judged.members):
            return Done("unchanged")
        edits = Edits({course.places.root: changes}, decided_on=decided_on(situation))
        return realise(course, situation, judged, edits)


def _check(course: Course, bundle: Bundle) -> None:
    """Raise what speaks against a bundle before anything is changed."""
    settings = read_selection(course.places.root).settings
    for name, is_other in (
        ("pm.indexes", bool(settings.indexes)),
        ("pm.find_links", bool(settings.find_links) and not _is_from(settings, bundle)),
    ):
        if is_other:
            file = str(course.places.root / CONFIG)
            message = f"`{name}` says that packages come from elsewhere, and a bundle would be all that there is"
            raise PmError("config-unreadable", message, hint="take it out first, if that is meant", file=file, key=name)
    with course.phase("verify", f"comparing {len(bundle.lock.pins)} wheels"):
        check_wheels(bundle)


def _is_from(settings: Settings, bundle: Bundle) -> bool:
    return [Path(folder).expanduser().absolute() for folder in settings.find_links] == [bundle.wheels]


def _of_a_folder(environ: Mapping[str, str], folder: Path) -> Mapping[str, str]:
    """Return surroundings in which whatever the config leaves open comes from a folder: told as pip is told."""
    told = {
        "UV_NO_CONFIG": "1",
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": folder.as_uri(),  # a path with blanks would be several
    }
    return {name: value for name, value in environ.items() if not name.startswith("UV_")} | told


def _folders(settings: Settings, bundle: Bundle | None) -> Iterator[Change]:
    """Yield what says that packages come from a bundle, and that no index is asked."""
    if bundle is not None and settings.indexes != ():
        yield Set("pm.indexes", ())
    if bundle is not None and not _is_from(settings, bundle):
        yield Set("pm.find_links", (str(bundle.wheels),))


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
