"""Files are there whole or not at all, and what cannot be read counts as missing."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import stat
from pathlib import Path

import pytest

from fixtures.limited import limited
from pm.errors import PmError
from pm.limits import STATE_BYTES
from pm.system.files import (
    disk_error,
    leads_nowhere,
    put_in_place,
    read_json,
    read_regular,
    unfinished,
    unfinished_by,
    working_folder,
    write_bytes,
    write_json,
    written_whole,
)


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


def test_a_file_whose_writer_gives_up_stays_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_bytes(path, b"old")
    with contextlib.suppress(LookupError), written_whole(path) as file:
        file.write(b"half")
        raise LookupError
    assert (path.read_bytes(), names(tmp_path)) == (b"old", ["file"])


def test_an_error_with_another_file_is_left_to_the_writer(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught, written_whole(tmp_path / "file"):
        (tmp_path / "source").read_bytes()
    assert (caught.value.filename, names(tmp_path)) == (str(tmp_path / "source"), [])


def test_an_error_without_a_name_is_one_of_the_file(tmp_path: Path) -> None:
    with pytest.raises(PmError) as caught, written_whole(tmp_path / "file"):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert (caught.value.code, caught.value.file, names(tmp_path)) == ("no-space", str(tmp_path / "file"), [])


def test_a_file_that_another_program_made_gets_its_place_at_once(tmp_path: Path) -> None:
    (tmp_path / "made").write_bytes(b"new")
    placed = put_in_place(tmp_path / "made", tmp_path / "deep" / "file")
    assert (placed.read_bytes(), names(tmp_path), names(tmp_path / "deep")) == (b"new", ["deep"], ["file"])


def test_a_file_that_is_not_there_gets_no_place(tmp_path: Path) -> None:
    with pytest.raises(PmError) as caught:
        put_in_place(tmp_path / "made", tmp_path / "file")
    assert (caught.value.code, caught.value.file) == ("not-writable", str(tmp_path / "file"))


def test_a_folder_to_work_in_is_gone_afterwards(tmp_path: Path) -> None:
    with working_folder(tmp_path / "deep") as folder:
        (folder / "file").write_bytes(b"")
        known = unfinished_by(folder.name)
    assert (known, names(tmp_path / "deep")) == (os.getpid(), [])


@pytest.mark.parametrize("name", ["file", "n" * 255, "長" * 85, ".ash.pm-0123456789ab.tree"])
def test_what_is_not_finished_is_known_by_its_name(name: str) -> None:
    temporary = unfinished(Path("/folder") / name)
    assert (temporary.parent, unfinished_by(temporary.name)) == (Path("/folder"), os.getpid())


@pytest.mark.parametrize("name", ["file", ".file.tmp", ".a.b.c.tmp", "a.1.01234567.tmp", ".a.1.01234567.tmp.py"])
def test_other_names_mean_nobodys_work(name: str) -> None:
    assert unfinished_by(name) is None


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
    assert ("mounted read-only" in error.hint) is (number == errno.EROFS)


def test_of_a_folder_below_a_file_the_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    error = disk_error(OSError(errno.ENOTDIR, os.strerror(errno.ENOTDIR)), tmp_path / "file" / "far" / "away")
    assert error.hint == f"`{tmp_path / 'file'}` is not a folder: name another place, or move it away"


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


def test_only_a_regular_file_within_the_limit_is_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").write_bytes(b"content")
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "circle").symlink_to("circle")
    few = STATE_BYTES._replace(value=3)
    said = {}
    for name, most in (("pipe", few), (".", few), ("file", few), ("circle", few), ("not", few)):
        with pytest.raises(OSError) as caught:  # noqa: PT011 - its number and words are looked at
            read_regular(tmp_path / name, most)
        said[name] = caught.value.strerror
    assert said == {
        "pipe": "this is not a regular file",
        ".": "this is not a regular file",
        "file": "the file is larger than 0 KiB",
        "circle": "Too many levels of symbolic links",
        "not": "No such file or directory",
    }
    assert (read_regular(tmp_path / "link"), leads_nowhere(tmp_path / "circle")) == (b"content", "circle")


def test_a_small_file_is_read_with_a_little_memory_however_large_it_might_be(tmp_path: Path) -> None:
    path = tmp_path / "pointer.json"
    path.write_bytes(b"{}")
    assert limited(lambda: read_regular(path), memory=32 * 1024 * 1024).told == repr(b"{}")
    assert read_regular(Path("/proc/self/status")).startswith(b"Name:")
