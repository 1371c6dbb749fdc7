"""Copies of plugins and their digests."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from pm.errors import PmError
from pm.plugins.tree import TreeEntry, copy_plugin, tree_digest, tree_entries


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    folder = tmp_path / "a 'plugin' ü"
    (folder / "sub").mkdir(parents=True)
    (folder / "plugin.yaml").write_text("name: x\n")
    (folder / "sub" / "run").write_text("#!")
    (folder / "sub" / "run").chmod(0o700)
    (folder / "AGENTS.md").symlink_to("plugin.yaml")
    (folder / "empty").mkdir()
    for left_out in (".git", "__pycache__", "sub/__pycache__", ".venv", "sub/.mypy_cache"):
        (folder / left_out).mkdir()
        (folder / left_out / "file").write_text("no part of it")
    (folder / "sub" / "old.pyc").write_text("no part of it")
    (folder / "sub" / ".git").write_text("gitdir: elsewhere")
    return folder


def test_what_belongs_to_a_plugin_is_listed_without_history_environments_and_caches(plugin: Path) -> None:
    assert list(tree_entries(plugin)) == [
        TreeEntry("AGENTS.md", "link"),
        TreeEntry("empty", "folder"),
        TreeEntry("plugin.yaml", "file", len("name: x\n")),
        TreeEntry("sub", "folder"),
        TreeEntry("sub/run", "program", len("#!")),
    ]


def test_a_copy_holds_what_belongs_to_the_plugin_and_has_the_same_digest(plugin: Path, tmp_path: Path) -> None:
    copy = copy_plugin(plugin, tmp_path / "trees" / "copy")
    assert sorted(path.relative_to(copy).as_posix() for path in copy.rglob("*")) == [
        "AGENTS.md",
        "empty",
        "plugin.yaml",
        "sub",
        "sub/run",
    ]
    assert (copy / "AGENTS.md").readlink() == Path("plugin.yaml")
    assert [(copy / name).stat().st_mode & 0o777 for name in ("plugin.yaml", "sub/run")] == [0o644, 0o755]
    assert tree_digest(copy) == tree_digest(plugin)


def test_the_digest_of_a_tree_is_the_same_for_ever(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "plugin.yaml").write_bytes(b"name: x\n")
    digest = "sha256:af0940e09b4b673fc577d5715934adc844d507a9e7c0a5c5ea99af5963520108"
    assert tree_digest(tmp_path / "p") == digest


def _content(folder: Path) -> None:
    (folder / "plugin.yaml").write_text("name: y\n")


def _name(folder: Path) -> None:
    (folder / "plugin.yaml").rename(folder / "plugin.yml")


def _program(folder: Path) -> None:
    (folder / "plugin.yaml").chmod(0o755)


def _target(folder: Path) -> None:
    (folder / "AGENTS.md").unlink()
    (folder / "AGENTS.md").symlink_to("sub/run")


def _no_link(folder: Path) -> None:
    (folder / "AGENTS.md").unlink()
    (folder / "AGENTS.md").write_text("plugin.yaml")


def _more(folder: Path) -> None:
    (folder / "empty" / "file").write_text("")


@pytest.mark.parametrize("change", [_content, _name, _program, _target, _no_link, _more])
def test_every_change_of_what_belongs_to_a_plugin_changes_the_digest(
    plugin: Path, change: Callable[[Path], None]
) -> None:
    before = tree_digest(plugin)
    change(plugin)
    assert tree_digest(plugin) != before


def test_what_does_not_belong_to_it_does_not(plugin: Path) -> None:
    before = tree_digest(plugin)
    (plugin / "__pycache__" / "new.pyc").write_text("")
    (plugin / ".git" / "HEAD").write_text("")
    (plugin / "another empty folder").mkdir()
    (plugin / "plugin.yaml").chmod(0o600)
    os.utime(plugin / "plugin.yaml", (1, 1))
    assert tree_digest(plugin) == before


def test_contents_cannot_be_moved_from_one_file_to_the_next(tmp_path: Path) -> None:
    for folder, files in {"one": {"a": "bc", "d": ""}, "two": {"a": "b", "cd": ""}}.items():
        (tmp_path / folder).mkdir()
        for name, text in files.items():
            (tmp_path / folder / name).write_text(text)
    assert tree_digest(tmp_path / "one") != tree_digest(tmp_path / "two")


@pytest.mark.parametrize("target", ["../outside", "/etc/passwd", "sub/../../outside", "link", "sub/up"])
def test_a_link_that_leads_out_is_refused_and_nothing_is_copied(plugin: Path, tmp_path: Path, target: str) -> None:
    (plugin / "sub" / "up").symlink_to("../..")
    (plugin / "link").symlink_to(target)
    with pytest.raises(PmError) as caught:
        copy_plugin(plugin, tmp_path / "copy")
    assert (caught.value.code, caught.value.key in {"link", "sub/up"}, (tmp_path / "copy").exists()) == (
        "unsafe-archive",
        True,
        False,
    )


def test_a_link_to_its_own_place_by_an_absolute_path_is_refused_too(plugin: Path) -> None:
    (plugin / "link").symlink_to(plugin / "plugin.yaml")
    with pytest.raises(PmError) as caught:
        tree_digest(plugin)
    assert caught.value.message == (
        f"`link` is a link that leads out of the plugin's folder, to `{plugin / 'plugin.yaml'}`"
    )


def test_a_pipe_is_refused(plugin: Path, tmp_path: Path) -> None:
    os.mkfifo(plugin / "pipe")
    with pytest.raises(PmError) as caught:
        copy_plugin(plugin, tmp_path / "copy")
    assert (caught.value.code, caught.value.message, (tmp_path / "copy").exists()) == (
        "unsafe-archive",
        "`pipe` is a device, pipe or socket, which a plugin must not contain",
        False,
    )


def test_a_folder_of_more_files_than_a_plugin_may_have_is_not_copied(plugin: Path, tmp_path: Path) -> None:
    for number in range(20_001):
        (plugin / "empty" / str(number)).touch()
    with pytest.raises(PmError, match="the folder holds more than 20,000 entries, which is no plugin") as caught:
        copy_plugin(plugin, tmp_path / "copy")
    assert (caught.value.code, list(tmp_path.glob("*copy*"))) == ("unsafe-archive", [])


def test_a_file_that_says_it_has_a_terabyte_is_not_copied(plugin: Path, tmp_path: Path) -> None:
    with (plugin / "model.bin").open("wb") as stream:
        stream.truncate(1 << 40)
    with pytest.raises(PmError, match=r"with `model\.bin` the folder holds more than 512 MiB") as caught:
        copy_plugin(plugin, tmp_path / "copy")
    assert caught.value.code == "unsafe-archive"


def test_folders_that_lie_deep_in_each_other_are_listed_digested_and_not_copied(plugin: Path, tmp_path: Path) -> None:
    before = tree_digest(plugin)
    folder = plugin / "empty"
    for _ in range(300):
        folder /= "d"
        folder.mkdir()
    assert (len(list(tree_entries(plugin))), tree_digest(plugin)) == (305, before)
    with pytest.raises(PmError, match=r"the folder holds more than 128 folders in each other"):
        copy_plugin(plugin, tmp_path / "copy")


def test_what_is_there_already_is_never_touched(plugin: Path, tmp_path: Path) -> None:
    (tmp_path / "copy").mkdir()
    with pytest.raises(PmError) as caught:
        copy_plugin(plugin, tmp_path / "copy")
    assert (caught.value.code, list((tmp_path / "copy").iterdir())) == ("not-writable", [])


def test_a_folder_that_is_missing_is_reported(tmp_path: Path) -> None:
    with pytest.raises(PmError) as caught:
        copy_plugin(tmp_path / "missing", tmp_path / "copy")
    assert (caught.value.code, (tmp_path / "copy").exists()) == ("not-writable", False)
