"""Folders are gone through, made and removed however deep they are."""

from __future__ import annotations

import os
from pathlib import Path

from pm.system.folders import make_folders, remove_tree, walk

DEPTH = 1500


def test_deep_folders_are_made_gone_through_and_removed(tmp_path: Path) -> None:
    make_folders(tmp_path.joinpath(*["d"] * DEPTH))
    assert sum(1 for _ in walk(tmp_path / "d")) == DEPTH
    remove_tree(tmp_path / "d")
    remove_tree(tmp_path / "d")
    assert list(tmp_path.iterdir()) == []


def test_folders_are_gone_through_as_the_standard_library_does_but_that_a_link_is_no_folder(tmp_path: Path) -> None:
    for path in ("a/b/c.txt", "a/d.txt", "e/f.txt", "g.txt"):
        make_folders((tmp_path / path).parent)
        (tmp_path / path).touch()
    (tmp_path / "a" / "link").symlink_to("../e")
    found = {}
    for directory, folders, others in walk(tmp_path):
        folders.sort()
        found[os.path.relpath(directory, tmp_path)] = (list(folders), sorted(others))
        folders[:] = [name for name in folders if name != "e"]
    assert found == {".": (["a", "e"], ["g.txt"]), "a": (["b"], ["d.txt", "link"]), "a/b": ([], ["c.txt"])}
    assert list(walk(tmp_path / "none")) == [(str(tmp_path / "none"), [], [])]
