"""Leases are shared, belong to open files, and keep out whoever wants an environment alone."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from pm.errors import PmError
from pm.generations.leases import exclusively, is_held, leased, take_lease
from pm.places import EnvironmentNumber, Places


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path, tmp_path)


def test_a_lease_keeps_out_whoever_wants_an_environment_alone(places: Places) -> None:
    lease = take_lease(places, EnvironmentNumber(4))
    with exclusively(places, EnvironmentNumber(4)) as free, exclusively(places, EnvironmentNumber(5)) as other:
        assert (free, other) == (False, True)
    os.close(lease)
    with exclusively(places, EnvironmentNumber(4)) as free:
        assert free


def test_several_leases_of_one_environment_are_possible(places: Places) -> None:
    one, other = take_lease(places, EnvironmentNumber(4)), take_lease(places, EnvironmentNumber(4))
    os.close(one)
    assert leased(places.locks) == (4,)
    os.close(other)
    assert leased(places.locks) == ()


def test_a_lease_can_be_inherited_and_is_held_by_the_child(places: Places) -> None:
    lease = take_lease(places, EnvironmentNumber(4))
    child = subprocess.Popen(["cat"], stdin=subprocess.PIPE, pass_fds=[lease])
    os.close(lease)
    held = leased(places.locks)
    child.communicate()
    assert (held, leased(places.locks)) == ((4,), ())


def test_a_descriptor_of_a_lease_passes_through_exec_and_is_none_that_scripts_use(places: Places) -> None:
    lease = take_lease(places, EnvironmentNumber(4))
    assert (os.get_inheritable(lease), lease >= 10) == (True, True)
    os.close(lease)


def test_all_leased_environments_are_listed_in_order(places: Places) -> None:
    leases = [take_lease(places, EnvironmentNumber(number)) for number in (10, 9, 2)]
    (places.locks / "generation-x").write_text("")
    (places.locks / "install.lock").write_text("")
    assert leased(places.locks) == (2, 9, 10)
    for lease in leases:
        os.close(lease)


def test_nothing_is_leased_where_no_command_ever_ran(places: Places) -> None:
    assert (leased(places.locks), places.locks.exists()) == ((), False)


def test_a_file_that_is_not_there_is_held_by_nobody(places: Places) -> None:
    assert not is_held(places.locks / "install.lock")


def test_the_lock_file_may_be_removed_by_whoever_holds_it_alone(places: Places) -> None:
    with exclusively(places, EnvironmentNumber(4)) as free:
        (places.locks / "generation-4").unlink()
    lease = take_lease(places, EnvironmentNumber(4))
    assert (free, leased(places.locks)) == (True, (4,))
    os.close(lease)


def test_a_failure_under_the_lock_ends_it(places: Places) -> None:
    with pytest.raises(FileNotFoundError), exclusively(places, EnvironmentNumber(4)):
        (places.locks / "generation-5").unlink()
    assert not is_held(places.locks / "generation-4")


def test_a_place_that_cannot_be_written_says_so(places: Places) -> None:
    places.state.mkdir()
    places.locks.write_text("a file")
    with pytest.raises(PmError) as raised:
        take_lease(places, EnvironmentNumber(4))
    assert (raised.value.code, raised.value.file) == ("not-writable", str(places.locks))
