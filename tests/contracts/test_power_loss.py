"""Whenever the power fails, and whatever a disk kept of what was not flushed, all of the old or of the new is found."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from fixtures.faults import MORE_OPERATIONS, OPERATIONS, Point, Staging, is_staged, leftovers
from fixtures.homes import Home, snapshot
from fixtures.power_loss import COMPLETE, LEFT_OUT, Call, Disk, State, write_state
from fixtures.sampling import ALL as EVERY_POINT
from fixtures.sampling import Sample
from pm.generations.distributions import stamp
from pm.generations.transaction import digest as digest_of_file
from pm.generations.transaction import recover
from pm.operations.leftovers import sweep
from pm.places import Places
from pm.plugins.tree import tree_digest
from pm.system.files import read_json

ALL = OPERATIONS | MORE_OPERATIONS
SOME = 60
"""Moments, of up to some hundreds."""
QUICK = ("install", "install switched off", "disable", "rollback of files", "gc")
WITH_POINTER = [name for name in ALL if name not in ("install switched off", "gc")]
NOTHING = Call("nothing")


class Tape(NamedTuple):
    """How the calls of an operation changed the disk."""

    home: Path
    disk: Disk
    """Before it."""
    calls: list[Call]
    begin: int
    """How many calls are made before the power may fail."""
    is_gradual: bool

    @property
    def committed(self) -> int:
        """The number of the call before which it can only be undone: the pointer is replaced, or the journal again."""
        targets = {number: Path(call.paths[1]).name for number, call in enumerate(self.calls) if call.name == "rename"}
        pointers = [number for number, name in targets.items() if name == "pointer.json"]
        journals = [number for number, name in targets.items() if name == "journal.json"]
        return next(iter([*pointers, *journals[1:]]), len(self.calls))

    @property
    def lasting(self) -> int:
        """The number of the call after which it can only be finished."""
        flush = Call("fsync", (str(self.home / "pm"),))
        return next((n for n in range(self.committed, len(self.calls)) if self.calls[n] == flush), len(self.calls))


class Moment(NamedTuple):
    """What a disk may hold when the power fails, and what may come of it."""

    number: int
    """Of the calls that were made."""
    state: State
    inodes: dict[int, int]
    can_be_undone: bool
    can_be_finished: bool


@pytest.fixture(autouse=True)
def _disk_without_flushes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Save the time in which what this process mends would reach a disk: it is looked at and thrown away."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


def taped(staging: Staging) -> Tape:
    disk, calls = staging.record()
    # what is replayed is what has happened
    assert seen(disk.after(calls).seen) == really_seen(staging.home.path)
    return Tape(staging.home.path, disk, calls, 0, staging.operation.gradual)


def taped_mending(staging: Staging, point: Point) -> Tape:
    disk, killed, mended = staging.record_mending(point)
    assert seen(disk.after([*killed, *mended]).seen) == really_seen(staging.home.path)
    return Tape(staging.home.path, disk, [*killed, *mended], len(killed), staging.operation.gradual)


def seen(state: State) -> dict[str, str]:
    """Return the files that processes see."""
    return {path: digest(state.files[number]) for path, number in state.paths() if number in state.files}


def really_seen(home: Path) -> dict[str, str]:
    paths = snapshot(home, LEFT_OUT)
    files = {path: state.split()[-1] for path, state in paths.items() if is_file(state)}
    environments = {path.rpartition("/")[0] for path in files if path.endswith("/pyvenv.cfg")}
    own = {path: state for path, state in files.items() if not is_in_environment(path)}
    return dict(sorted((own | {f"{folder}/{COMPLETE}": digest(b"yes") for folder in environments}).items()))


def is_in_environment(path: str) -> bool:
    return path.startswith("pm/generations/") and path.count("/") > 2


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def is_file(state: str) -> bool:
    return not state.endswith("folder")


# -- what may be there when the power fails, and what comes of it


def moments(tape: Tape) -> Iterator[Moment]:
    """Let the power fail after each call, and yield everything that the disk may hold then, once."""
    disk = tape.disk.after(tape.calls[: tape.begin])
    known: set[object] = set()
    for number in range(tape.begin, len(tape.calls) + 1):
        if number > tape.begin:
            disk.do(tape.calls[number - 1])
        undone, finished = number <= tape.lasting, number > tape.committed
        for state in disk.after_power_loss():
            key = hash((undone, finished, *relevant(state)))
            if key not in known:
                known.add(key)
                yield Moment(number, state, disk.inodes, undone, finished)


def relevant(state: State) -> Iterator[object]:
    """Yield what makes a difference: not what lies in a folder that is swept as a whole."""
    for path, number in state.paths():
        if not (is_staged(path.rpartition("/")[0]) or path.startswith("pm/staged/")):
            yield path, state.files.get(number, number)


def some_and_all(quick: Iterable[str], every: Iterable[str]) -> list[object]:
    """Return operations with how many of their moments are tried: quick ones now, and every one slowly."""
    some: list[object] = [pytest.param(name, SOME, id=f"{name}-some") for name in quick]
    return some + [pytest.param(name, EVERY_POINT, id=f"{name}-all", marks=pytest.mark.slow) for name in every]


def faults(tape: Tape, chosen: Iterable[Moment]) -> dict[str, list[str]]:
    """Return what is wrong after the power failed, by the last call that was made."""
    wrong: dict[str, set[str]] = {}
    for call, problems in wrong_moments(tape, chosen):
        wrong.setdefault(call, set()).update(problems)
    return {call: sorted(problems) for call, problems in wrong.items()}


def wrong_moments(tape: Tape, chosen: Iterable[Moment]) -> Iterator[tuple[str, set[str]]]:
    before = as_selected(tape, tape.disk)
    after = as_selected(tape, tape.disk.after(tape.calls))
    # what a commit collects goes one after the other, once the new is selected
    collected = {path for path in before.keys() - after.keys() if path.startswith("pm/generations/")}
    for moment in chosen:
        write_state(moment.state, tape.home, moment.inodes)
        problems = set(mended(tape.home))
        now = selected(tape.home)
        new = {path: state for path, state in now.items() if path not in collected}
        is_one = (moment.can_be_undone and now == before) or (moment.can_be_finished and new == after)
        if not (is_one or tape.is_gradual):
            problems.add("it is neither all of the old nor all of the new, or it is the wrong one")
        if problems:
            yield f"{moment.number} {tape.calls[moment.number - 1]}", problems


def as_selected(tape: Tape, disk: Disk) -> dict[str, str]:
    write_state(disk.seen, tape.home, {})
    return selected(tape.home)


def selected(home: Path) -> dict[str, str]:
    """Return the files that must be all of the old or all of the new."""
    paths = snapshot(home, [*LEFT_OUT, "pm/journal.json"])
    return {path: state for path, state in paths.items() if is_file(state) and is_of_the_selection(path)}


def is_of_the_selection(path: str) -> bool:
    is_kept = path.startswith(("pm/trees/", "pm/wheels/")) and path.count("/") > 2
    return not (is_staged(path) or is_kept or path.endswith(COMPLETE))


def mended(home: Path) -> Iterator[str]:
    """Mend a home as the next change does, and yield what is wrong with it then."""
    places = Places(home, home)
    outcome = recover(places).outcome
    if outcome == "parked" or places.journal.exists():
        yield f"the journal is {outcome}"
    sweep(places)
    yield from (f"{path} is left" for path in snapshot(home, LEFT_OUT) if is_staged(path))
    for path in sorted(places.generations.glob("*.json")):
        yield from record_faults(places, path)
    if places.pointer.exists() and not points_at_all(places, read_json(places.pointer)):
        yield "the pointer names what is not complete"


def record_faults(places: Places, path: Path) -> Iterator[str]:
    record = read_json(path)
    if not isinstance(record, dict):
        yield f"{path.name} is damaged"
        return
    if not is_complete(places.environment(record["environment"])):
        yield f"the environment of {path.name} is not complete"
    digests = (member["tree_digest"] for member in record["members"] if member["tree_digest"])
    yield from (f"a tree of {path.name} is damaged" for digest in digests if not is_whole(places, digest))


def points_at_all(places: Places, pointer: object) -> bool:
    """Say whether a pointer can be read, and names an environment and a record that are there."""
    return (
        isinstance(pointer, dict)
        and is_complete(Path(pointer["path"]))
        and places.record(pointer["generation"]).exists()
    )


def is_complete(environment: Path) -> bool:
    marker = environment / COMPLETE
    return marker.exists() and marker.read_bytes() == b"yes"


def is_whole(places: Places, digest: str) -> bool:
    tree = places.trees / digest.removeprefix("sha256:")
    return tree.is_dir() and tree_digest(tree) == digest


@pytest.mark.parametrize(("staging", "count"), some_and_all(QUICK, ALL), indirect=["staging"])
def test_whenever_the_power_fails_all_of_the_old_or_of_the_new_is_found(
    staging: Staging, count: int, sample: Sample
) -> None:
    tape = taped(staging)
    assert faults(tape, sample([*moments(tape)], count)) == {}


@pytest.mark.parametrize(
    ("staging", "times"),
    [("install", 1), ("install switched off", 1), ("rollback of files", 1), ("disable", 0), ("rollback", 0)],
    indirect=["staging"],
)
def test_what_was_written_is_flushed_as_a_whole_once_and_not_where_there_is_little(
    staging: Staging, times: int
) -> None:
    calls = [call.name for call in staging.record()[1]]
    assert calls.count("sync") == times


# -- when it fails again


def around_the_commit(staging: Staging) -> tuple[Point, Point]:
    """Return the call that replaces the pointer, and the one that flushes that."""
    tape = taped(staging)
    counts = (("rename", tape.calls[: tape.committed + 1]), ("fsync", tape.calls[: tape.lasting + 1]))
    commit, flush = (Point(name, sum(call.name == name for call in calls)) for name, calls in counts)
    return commit, flush


@pytest.mark.parametrize(("staging", "count"), some_and_all(["install --force"], WITH_POINTER), indirect=["staging"])
def test_whenever_the_power_fails_while_an_interrupted_operation_is_mended_it_can_be_mended_again(
    staging: Staging, count: int, sample: Sample
) -> None:
    tapes = [taped_mending(staging, point) for point in around_the_commit(staging)]
    assert [faults(tape, sample([*moments(tape)], count)) for tape in tapes] == [{}, {}]


@pytest.mark.slow
@pytest.mark.parametrize("staging", ["install --force", "rollback of files"], indirect=True)
def test_killed_anywhere_and_without_power_while_it_is_mended_it_can_be_mended_again(staging: Staging) -> None:
    tapes = ((point, taped_mending(staging, point)) for point in staging.points)
    wrong = {str(point): faults(tape, moments(tape)) for point, tape in tapes}
    assert {point: found for point, found in wrong.items() if found} == {}


# -- the real commands


class Aftermath(NamedTuple):
    """How commands end after the power failed."""

    start: int
    mended: str
    again: str
    """How the same operation ends then."""
    left: tuple[str, ...] = ()


def aftermath(staging: Staging, environments: Path, moment: Moment) -> Aftermath:
    staging.restore()
    write_state(moment.state, staging.home.path, moment.inodes)
    for folder in (path for path in environments.iterdir() if path.is_dir()):
        place = staging.home.state / "generations" / folder.name
        if is_complete(place):
            shutil.rmtree(place)
            shutil.copytree(folder, place, symlinks=True)
    home = staging.home
    take_stamp_of_copy(home)
    start = home.say("run", "--", "python", "-c", "pass").status
    mended = home.ask("plugins", "disable", "nobody").gist
    return Aftermath(start, mended, staging.again().gist, leftovers(home))


def take_stamp_of_copy(home: Home) -> None:
    """Have the pointer name the stamp of a copied environment, which has other inodes, and the journal this pointer."""
    file, journal = home.state / "pointer.json", home.state / "journal.json"
    pointer = home.pointer
    if pointer is None or not any(home.generation.glob("lib/python3.*/site-packages")):
        return
    before = file.read_bytes()
    pointer["site_packages_stamp"] = stamp(home.generation)
    file.write_text(json.dumps(pointer, indent=2, sort_keys=True) + "\n", "utf-8")
    if journal.exists():
        text = journal.read_text("utf-8")
        journal.write_text(text.replace(digest_of_file(before), digest_of_file(file.read_bytes())), "utf-8")


@pytest.mark.parametrize(
    "count", [pytest.param(3, id="some"), pytest.param(EVERY_POINT, id="all", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("staging", ["install", "rollback of files"], indirect=True)
def test_after_the_power_failed_commands_start_and_the_next_change_mends_what_it_left(
    staging: Staging, count: int, tmp_path: Path, sample: Sample
) -> None:
    operation = staging.operation
    environments = tmp_path / "environments"
    tape = taped(staging)
    shutil.copytree(staging.home.state / "generations", environments, symlinks=True)
    mended = "2 failed unknown-plugin"
    undone, finished = Aftermath(0, mended, operation.gist), Aftermath(0, mended, operation.again)
    near = [moment for moment in moments(tape) if tape.committed - 40 < moment.number < tape.lasting + 5]
    found = [(moment, aftermath(staging, environments, moment)) for moment in sample(near, count)]
    assert [
        (moment.number, after)
        for moment, after in found
        if not ((moment.can_be_undone and after == undone) or (moment.can_be_finished and after == finished))
    ] == []


# -- these tests can fail


@pytest.mark.parametrize(
    ("name", "flush"),
    [
        ("the sync before the commit", "sync"),
        ("flushes of folders", "fsync of a folder"),
        ("flushes of files", "fsync of a file"),
    ],
)
@pytest.mark.parametrize("staging", ["rollback of files"], indirect=True)
def test_without_flushes_the_power_fails_at_a_wrong_moment(staging: Staging, name: str, flush: str) -> None:
    tape = taped(staging)
    without = tape._replace(calls=[NOTHING if kind_of(call) == flush else call for call in tape.calls])
    assert next(wrong_moments(without, moments(without)), None) is not None, name


def kind_of(call: Call) -> str:
    is_file = call.name == "fsync" and Path(call.paths[0]).suffix == ".tmp"
    return "fsync of a file" if is_file else "fsync of a folder" if call.name == "fsync" else call.name


@pytest.mark.parametrize("staging", ["disable"], indirect=True)
def test_mending_that_does_not_flush_the_pointer_first_is_noticed(staging: Staging) -> None:
    tape = taped_mending(staging, around_the_commit(staging)[1])
    without = without_call(tape, tape.lasting)
    assert faults(without, moments(without)) != {}


def without_call(tape: Tape, number: int) -> Tape:
    return tape._replace(calls=[*tape.calls[:number], NOTHING, *tape.calls[number + 1 :]])


@pytest.mark.slow
@pytest.mark.parametrize("staging", ["disable"], indirect=True)
def test_every_flush_between_the_journal_and_the_pointer_is_needed(staging: Staging) -> None:
    tape = taped(staging)
    journal = next(n for n, call in enumerate(tape.calls) if call.name == "rename" and "journal" in call.paths[1])
    # the name of the pointer is flushed twice: the second time by finishing, which cannot rely on the first
    flushes = [n for n in range(journal, tape.lasting) if tape.calls[n].name == "fsync"]
    tapes = ((str(tape.calls[n]), without_call(tape, n)) for n in flushes)
    unneeded = [call for call, without in tapes if not faults(without, moments(without))]
    assert (len(flushes), unneeded) == (5, [])
