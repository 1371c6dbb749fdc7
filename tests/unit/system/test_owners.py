"""Whose files are, and where that user is at home."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

import pytest

from pm.system.owners import owners_home


def test_the_home_of_the_user_that_a_path_belongs_to_is_known(tmp_path: Path) -> None:
    assert owners_home(tmp_path) == Path(pwd.getpwuid(os.getuid()).pw_dir)
    assert owners_home(tmp_path / "none") is None


@pytest.mark.skipif(os.geteuid() != 0, reason="root alone gives files away")
def test_a_user_that_is_not_in_the_system_has_no_home(tmp_path: Path) -> None:
    os.chown(tmp_path, 61_234, 61_234)
    assert owners_home(tmp_path) is None
