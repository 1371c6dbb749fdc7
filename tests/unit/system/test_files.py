"""Files are there whole or not at all, and what cannot be read counts as missing."""

from __future__ import annotations

import errno
import json
import os
import stat
from pathlib import Path

import pytest

from pm.errors import PmError
from pm.system.files import disk_error, read_json, write_bytes, write_json


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def refused(path: Path) -> tuple[str, str, str]:
    with pytest.raises(PmError) as caught:
        write_bytes(path, b"new", durable=True)
    return caught.value.code, caught.value.message, caught.value.file


# --- writing ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("durable", [False, True])
def test_a_file_is_replaced_with_its_mode_and_nothing_is_left_beside_it(tmp_path: Path, *, durable: bool) -> None:
    path = tmp_path / "deep" / "down" / "file"
    write_bytes(path, b"old", mode=0o644, durable=durable)
    write_bytes(path, b"new", mode=0o600, durable=durable)
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode), names(path.parent)) == (b"new", 0o600, ["file"])


@pytest.mark.parametrize("name", ["n" * 255, "長" * 85])
def test_the_longest_names_that_a_disk_knows_can_be_written(tmp_path: Path, name: str) -> None:
    write_bytes(tmp_path / name, b"new")
    assert names(tmp_path) == [name]


def test_a_link_is_replaced_and_what_it_led_to_stays(tmp_path: Path) -> None:
    (tmp_path / "target").write_bytes(b"old")
    (tmp_path / "link").symlink_to("target")
    write_bytes(tmp_path / "link", b"new")
    assert ((tmp_path / "target").read_bytes(), (tmp_path / "link").is_symlink()) == (b"old", False)


def test_a_folder_in_the_way_stays_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "state"
    write_bytes(path / "kept", b"old")
    assert refused(path) == ("not-writable", f"`{path}` cannot be written: Is a directory", str(path))
    assert (names(tmp_path), (path / "kept").read_bytes()) == (["state"], b"old")


def test_a_file_in_the_place_of_a_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"old")
    said = [refused(tmp_path / "file" / "below"), refused(tmp_path / "file" / "far" / "below")]
    assert said == [
        ("not-writable", f"`{tmp_path}/file` cannot be written: File exists", f"{tmp_path}/file"),
        ("not-writable", f"`{tmp_path}/file/far` cannot be written: Not a directory", f"{tmp_path}/file/far"),
    ]


@pytest.mark.parametrize(
    ("number", "code", "message"),
    [
        (errno.ENOSPC, "no-space", "no space is left for `/there`"),
        (errno.EDQUOT, "no-space", "no space is left for `/there`"),
        (errno.EACCES, "not-writable", "`/there` cannot be written: Permission denied"),
        (errno.EROFS, "not-writable", "`/there` cannot be written: Read-only file system"),
    ],
)
def test_errors_of_the_disk_have_two_meanings(number: int, code: str, message: str) -> None:
    error = disk_error(OSError(number, os.strerror(number)), Path("/there"))
    assert (error.code, error.message, error.file) == (code, message, "/there")


# --- JSON -------------------------------------------------------------------------------------------------------------


def test_json_is_the_same_text_every_time(tmp_path: Path) -> None:
    write_json(tmp_path / "file", {"b": [1, None], "a": "ü"})
    assert ((tmp_path / "file").read_text(), read_json(tmp_path / "file")) == (
        '{"a":"ü","b":[1,null]}\n',
        {"a": "ü", "b": [1, None]},
    )


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[" * 100_000, json.dumps("x").encode()[:-1]])
def test_a_damaged_file_counts_as_missing(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "file").write_bytes(content)
    (tmp_path / "folder").mkdir()
    assert [read_json(tmp_path / name) for name in ("file", "folder", "gone", "file/below")] == [None] * 4
