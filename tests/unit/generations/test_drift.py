"""One look at the selected environment tells what is wrong with it, which place that is, and what puts it right."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pm.generations.distributions import LOCK_NAME, stamp
from pm.generations.drift import Drift, drift_of
from pm.generations.pointer import Pointer
from pm.places import GenerationNumber, Places

AGAIN = "`hermes pm repair` builds it again"


@pytest.fixture
def places(tmp_path: Path) -> Places:
    """Return a state whose fifth generation has the third environment, which holds `demo` and is as it was selected."""
    made = Places(tmp_path / "home", tmp_path / "home")
    folder = made.generations / "3"
    (folder / "lib" / "python3.11" / "site-packages" / "Demo-1.0.dist-info").mkdir(parents=True)
    (folder / LOCK_NAME).write_text('[[packages]]\nname = "demo"\n')
    (folder / "bin").mkdir()
    (folder / "bin" / "python").symlink_to(sys.executable)
    return made


@pytest.fixture
def pointer(places: Places) -> Pointer:
    folder = places.generations / "3"
    return Pointer(GenerationNumber(5), folder, "core==1", (), stamp(folder))


def told(drift: Drift | None) -> tuple[str, str, str, bool]:
    assert drift is not None
    return drift.kind, drift.message, drift.hint, drift.runs


def test_an_environment_that_is_as_it_was_selected_has_none(places: Places, pointer: Pointer) -> None:
    assert drift_of(places, pointer) is None


def test_a_pointer_may_name_the_same_folder_by_another_way(places: Places, pointer: Pointer, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(places.home)
    elsewhere = pointer._replace(folder=tmp_path / "link" / "pm" / "generations" / "3")
    assert drift_of(places, elsewhere) is None


def test_an_environment_that_is_gone(places: Places, pointer: Pointer) -> None:
    pointer.folder.rename(places.state / "moved")
    drift = drift_of(places, pointer)
    assert told(drift) == ("gone", "the environment of generation 5 is gone", AGAIN, False)
    assert drift == Drift("gone", pointer, pointer.folder)


def test_a_state_that_was_moved(places: Places, pointer: Pointer, tmp_path: Path) -> None:
    moved = pointer._replace(folder=tmp_path / "before" / "3")
    text = f"was built in `{moved.folder}` and lies in `{pointer.folder}` now, where it cannot run"
    said = ("displaced", f"the environment of generation 5 {text}", "`hermes pm repair` builds it here", False)
    assert told(drift_of(places, moved)) == said


def test_of_a_state_that_was_copied_the_original_is_not_run(places: Places, pointer: Pointer, tmp_path: Path) -> None:
    python = tmp_path / "original" / "3" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    copied = pointer._replace(folder=python.parent.parent)
    assert drift_of(places, copied) == Drift("displaced", copied, pointer.folder)


def test_an_environment_without_its_distributions(places: Places, pointer: Pointer) -> None:
    (pointer.folder / "lib").rename(places.state / "lib")
    assert told(drift_of(places, pointer)) == (
        "incomplete",
        "the environment of generation 5 is not complete",
        AGAIN,
        False,
    )


def test_an_environment_whose_link_to_its_interpreter_is_gone(places: Places, pointer: Pointer) -> None:
    (pointer.folder / "bin" / "python").unlink()
    said = ("incomplete", "the environment of generation 5 is not complete", AGAIN, False)
    assert told(drift_of(places, pointer)) == said


def test_an_interpreter_that_is_gone(places: Places, pointer: Pointer) -> None:
    python = pointer.folder / "bin" / "python"
    python.unlink()
    python.symlink_to("/no/such/python")
    message = "the interpreter that generation 5 was built with is gone"
    hint = "`hermes pm init` builds it with another one"
    assert told(drift_of(places, pointer)) == ("no-interpreter", message, hint, False)
    assert drift_of(places, pointer) == Drift("no-interpreter", pointer, python)


@pytest.mark.parametrize(
    ("made", "moved", "said"),
    [
        (["module.py"], [], "something was added to generation 5 or taken from it"),
        (["Other_One-2.dist-info"], [], "`other-one` was added to generation 5"),
        (["a-1.dist-info", "b-1.dist-info"], [], "`a`, `b` were added to generation 5"),
        ([], ["Demo-1.0.dist-info"], "`demo` was taken from generation 5"),
        (["a-1.dist-info"], ["Demo-1.0.dist-info"], "`a` was added to and `demo` was taken from generation 5"),
    ],
)
def test_distributions_that_were_added_or_taken(
    places: Places, pointer: Pointer, made: list[str], moved: list[str], said: str
) -> None:
    site = pointer.folder / "lib" / "python3.11" / "site-packages"
    for name in made:
        (site / name).mkdir()
    for name in moved:
        (site / name).rename(places.state / name)
    assert told(drift_of(places, pointer)) == ("changed", said, AGAIN, True)


def test_what_was_added_is_not_named_without_a_lock(places: Places, pointer: Pointer) -> None:
    (pointer.folder / LOCK_NAME).write_text("packages = 1")
    (pointer.folder / "lib" / "python3.11" / "site-packages" / "a-1.dist-info").mkdir()
    drift = drift_of(places, pointer)
    assert drift is not None
    assert (drift.kind, drift.added, drift.taken) == ("changed", (), ())
