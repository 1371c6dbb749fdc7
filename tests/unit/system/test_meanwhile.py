"""What is done while something else is waited for is done when that is."""

from __future__ import annotations

import threading

import pytest

from pm.system.meanwhile import meanwhile


def test_a_work_is_done_on_a_thread_of_its_own_before_the_block_is_left() -> None:
    begun, may_end, done = threading.Event(), threading.Event(), []

    def work() -> None:
        begun.set()
        assert may_end.wait(20)
        done.append(threading.current_thread())

    with meanwhile(work):
        assert begun.wait(20)
        may_end.set()
    assert done != [threading.main_thread()]
    assert len(done) == 1


def test_what_the_block_raises_is_raised_when_the_work_is_done() -> None:
    done: list[str] = []
    with pytest.raises(KeyError), meanwhile(lambda: done.append("done")):
        raise KeyError
    assert done == ["done"]
