"""A transaction changes everything it names or nothing, and what an interruption left is finished, undone or parked."""

from __future__ import annotations

import errno
import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from pm.errors import PmError
from pm.generations import transaction
from pm.generations.transaction import Recovered, Replacement, commit, digest_file, recover
from pm.places import Places


@pytest.fixture
def places(tmp_path: Path) -> Places:
    found = Places(tmp_path, tmp_path)
    found.state.mkdir()
    found.pointer.write_text("old pointer")
    (tmp_path / "config.yaml").write_text("old config")
    plugin = tmp_path / "plugins" / "one"
    plugin.mkdir(parents=True)
    (plugin / "code.py").write_text("old code")
    return found


def staged_tree(places: Places) -> Path:
    tree = places.home / "plugins" / ".staged"
    tree.mkdir()
    (tree / "code.py").write_text("new code")
    return tree


def replacements(places: Places) -> list[Replacement]:
    return [
        Replacement(places.home / "config.yaml", content=b"new config"),
        Replacement(places.home / "plugins" / "one", tree=staged_tree(places)),
        Replacement(places.home / "plugins" / "two", content=None),
    ]


def content(places: Places) -> dict[str, str]:
    files = sorted(path for path in places.home.rglob("*") if path.is_file())
    return {str(path.relative_to(places.home)): path.read_text() for path in files}


OLD = {"config.yaml": "old config", "plugins/one/code.py": "old code", "pm/pointer.json": "old pointer"}
NEW = {"config.yaml": "new config", "plugins/one/code.py": "new code", "pm/pointer.json": "new pointer"}


def test_a_commit_changes_files_folders_and_the_pointer_and_leaves_nothing_else(places: Places) -> None:
    commit(places, replacements(places), b"new pointer", operation="install")
    assert content(places) == NEW


def test_a_removal_is_a_replacement_by_nothing(places: Places) -> None:
    gone = [Replacement(places.home / "plugins" / "one"), Replacement(places.home / "config.yaml")]
    commit(places, gone, b"new pointer", operation="remove")
    assert content(places) == {"pm/pointer.json": "new pointer"}


def test_a_transaction_without_a_pointer_is_committed_by_its_journal(places: Places) -> None:
    commit(places, replacements(places), None, operation="install")
    assert content(places) == NEW | {"pm/pointer.json": "old pointer"}


def test_an_equal_pointer_does_not_count_as_written(places: Places) -> None:
    commit(places, replacements(places), b"old pointer", operation="install")
    assert content(places) == NEW | {"pm/pointer.json": "old pointer"}


def test_a_config_that_somebody_changed_meanwhile_stops_everything(places: Places) -> None:
    changes = [
        Replacement(places.home / "plugins" / "one", tree=staged_tree(places)),
        Replacement(places.home / "config.yaml", content=b"new config", expected="sha256:of-another-text"),
    ]
    with pytest.raises(PmError) as caught:
        commit(places, changes, b"new pointer", operation="install")
    assert caught.value.code == "config-changed"
    assert content(places) == OLD


# Commits the transaction of `replacements` in a process of its own that kills itself just before its n-th change of a
# name (rename, link, unlink, folder), or before the pointer for n = 0. Exits with 0 if it came to its end.
PROGRAM = """
import os, signal, sys
from pathlib import Path
from pm.places import Places
from pm.generations.transaction import Replacement, commit
home, deadline = Path(sys.argv[1]), int(sys.argv[2])
places, seen = Places(home, home), 0
def watch(event, arguments):
    global seen
    if event in ("os.rename", "os.link", "os.remove", "os.rmdir"):
        seen += 1
        to_pointer = event == "os.rename" and str(arguments[1]) == str(places.pointer)
        if seen == deadline or (deadline == 0 and to_pointer):
            os.kill(os.getpid(), signal.SIGKILL)
changes = [
    Replacement(home / "config.yaml", content=b"new config"),
    Replacement(home / "plugins" / "one", tree=home / "plugins" / ".staged"),
    Replacement(home / "plugins" / "two"),
]
sys.addaudithook(watch)
commit(places, changes, b"new pointer", operation="install")
"""


def run_and_kill(places: Places, deadline: int) -> int:
    """Return the status of the process: 0, or -9 if it was killed."""
    root = Path(transaction.__file__).parents[2]
    environment = {"PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", PROGRAM, str(places.home), str(deadline)]
    return subprocess.run(command, env=environment, check=False).returncode


@pytest.fixture
def interrupted(places: Places) -> Places:
    """Return a home whose commit was killed after everything but the pointer."""
    staged_tree(places)
    assert run_and_kill(places, 0) == -signal.SIGKILL
    assert places.pointer.read_text() == "old pointer"
    return places


@pytest.mark.parametrize("deadline", range(1, 17))
def test_killed_at_any_change_the_home_is_as_its_pointer_says_after_recovery(places: Places, deadline: int) -> None:
    staged_tree(places)
    status = run_and_kill(places, deadline)
    recover(places)
    # before the journal stands, what was staged is no part of anything yet
    found = {name: text for name, text in content(places).items() if "/." not in f"/{name}"}
    assert (status, found) == (-signal.SIGKILL, NEW if places.pointer.read_text() == "new pointer" else OLD)


def test_the_last_kill_point_lies_behind_the_end_of_the_commit(places: Places) -> None:
    staged_tree(places)
    assert run_and_kill(places, 17) == 0
    assert content(places) == NEW


def test_what_was_interrupted_before_the_pointer_is_undone(interrupted: Places) -> None:
    assert recover(interrupted) == Recovered("undone", "install")
    assert content(interrupted) == OLD
    assert recover(interrupted) == Recovered("nothing")


def test_what_was_interrupted_after_the_pointer_is_finished(interrupted: Places) -> None:
    interrupted.pointer.write_text("new pointer")
    assert recover(interrupted) == Recovered("finished", "install")
    assert content(interrupted) == NEW


def test_a_file_that_a_plugin_wrote_into_its_folder_does_not_stop_recovery(interrupted: Places) -> None:
    (interrupted.home / "plugins" / "one" / "state.db").write_text("of the plugin")
    assert recover(interrupted) == Recovered("undone", "install")
    assert content(interrupted) == OLD


def test_a_config_edited_by_hand_meanwhile_is_left_and_the_journal_parked(interrupted: Places) -> None:
    config = interrupted.home / "config.yaml"
    config.write_text("by hand")
    recovered = recover(interrupted)
    assert (recovered.outcome, recovered.operation, recovered.details[0]) == ("parked", "install", str(config))
    assert config.read_text() == "by hand"
    assert json.loads(Path(recovered.details[1]).read_text())["operation"] == "install"
    assert recover(interrupted) == Recovered("nothing")


def test_on_a_file_system_without_second_names_the_old_file_is_copied(
    places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "link", _impossible)
    commit(places, replacements(places), b"new pointer", operation="install")
    assert content(places) == NEW


def test_on_a_file_system_that_does_not_flush_folders_a_commit_works(
    places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    flush = os.fsync
    monkeypatch.setattr(os, "fsync", lambda file: _invalid() if _is_folder(file) else flush(file))
    commit(places, replacements(places), b"new pointer", operation="install")
    assert content(places) == NEW


def test_a_second_ctrl_c_when_all_is_undone_is_told_as_the_first_one(
    places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop_twice(*_: object) -> None:
        monkeypatch.setattr(os, "fsync", lambda _: None if places.journal.exists() else _stop("second"))
        _stop("first")

    monkeypatch.setattr(os, "link", stop_twice)
    with pytest.raises(KeyboardInterrupt, match="first"):
        commit(places, replacements(places), b"new pointer", operation="install")
    assert content(places) == OLD


def _impossible(*_: object) -> None:
    raise OSError(errno.EPERM, os.strerror(errno.EPERM))


def _invalid() -> None:
    raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))


def _stop(word: str) -> None:
    raise KeyboardInterrupt(word)


def _is_folder(file: int) -> bool:
    return stat.S_ISDIR(os.fstat(file).st_mode)


def test_a_damaged_journal_is_parked(places: Places) -> None:
    places.journal.write_text("{half")
    assert recover(places).outcome == "parked"
    assert not places.journal.exists()


def journal_of(places: Places, **changed: str) -> None:
    """Write a journal that undoes the creation of a file, with some of its values changed."""
    path = places.home / "plugins" / "one"
    stem = str(path.with_name(".one.pm-0123456789ab"))
    entry = {"path": str(path), "kind": "tree", "before": "", "after": "inode:1"}
    entry |= {"staged": f"{stem}.new", "kept": f"{stem}.old"} | changed
    pointer = {"before": "", "after": "sha256:0"}
    value = {"schema": 1, "operation": "install", "committed": False, "pointer": pointer, "replacements": [entry]}
    places.journal.write_text(json.dumps(value))


@pytest.mark.parametrize(
    "changed",
    [
        {"staged": "{foreign}"},
        {"kept": "{foreign}"},
        {"staged": "{foreign}/.one.pm-0123456789ab.new"},
        {"staged": "{home}/plugins/.one.pm-0123456789ab.old"},
        {"staged": "{home}/plugins/.one.pm-ba9876543210.new"},
        {"staged": "{home}/plugins/x/../.one.pm-0123456789ab.new"},
        {"path": "{foreign}/file", "staged": "{foreign}/.file.pm-0123456789ab.new"},
        {
            "path": "{foreign}/file",
            "kind": "file",
            "staged": "{foreign}/.file.pm-0123456789ab.new",
            "kept": "{foreign}/.file.pm-0123456789ab.old",
        },
        {
            "path": "{home}/plugins/../../foreign/file",
            "staged": "{home}/plugins/../../foreign/.file.pm-0123456789ab.new",
            "kept": "{home}/plugins/../../foreign/.file.pm-0123456789ab.old",
        },
        {"kind": "device"},
    ],
)
def test_a_journal_that_names_what_no_transaction_changes_is_parked_and_nothing_is_deleted(
    places: Places, tmp_path_factory: pytest.TempPathFactory, changed: dict[str, str]
) -> None:
    """Row C25."""
    foreign = tmp_path_factory.mktemp("foreign")
    for name in ("file", ".file.pm-0123456789ab.new", ".file.pm-0123456789ab.old", ".one.pm-0123456789ab.new"):
        (foreign / name).write_text("foreign")
    before = sorted((path.name, path.read_text()) for path in foreign.iterdir())
    journal_of(places, **{name: text.format(foreign=foreign, home=places.home) for name, text in changed.items()})
    assert recover(places).outcome == "parked"
    assert (
        sorted((path.name, path.read_text()) for path in foreign.iterdir()),
        content(places).keys() >= OLD.keys(),
    ) == (
        before,
        True,
    )


def test_the_journal_of_a_transaction_is_no_such(places: Places) -> None:
    journal_of(places)
    (places.home / "plugins" / "one").rename(places.home / "plugins" / ".one.pm-0123456789ab.old")
    assert recover(places).outcome == "undone"


def test_what_an_interruption_left_is_told_without_changing_it(interrupted: Places) -> None:
    before = content(interrupted)
    left = transaction.interrupted(interrupted)
    assert left is not None
    assert (left.operation, bool(left.unsettled), content(interrupted)) == ("install", True, before)
    recover(interrupted)
    assert transaction.interrupted(interrupted) is None


def test_a_missing_file_has_no_digest(tmp_path: Path) -> None:
    assert not digest_file(tmp_path / "missing")
