"""Archives that nobody vouches for are unpacked whole, or refused whole."""

from __future__ import annotations

import io
import os
import stat
import struct
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from fixtures.limited import limited
from pm.errors import PmError
from pm.limits import PLUGIN_ENTRIES
from pm.plugins import archive as archives
from pm.plugins.archive import unpack

LINK = stat.S_IFLNK | 0o777


def zipped(path: Path, entries: list[tuple[str, bytes, int]]) -> Path:
    """Make a zip file of names, contents and modes; nothing corrects the names."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, content, mode in entries:
            entry = zipfile.ZipInfo("x")
            entry.filename = entry.orig_filename = name
            entry.external_attr = mode << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return path


def member(name: str, content: bytes = b"", **fields: object) -> tuple[tarfile.TarInfo, bytes]:
    entry = tarfile.TarInfo(name)
    entry.size = len(content)
    for field, value in fields.items():
        setattr(entry, field, value)
    return entry, content


def tarred(path: Path, entries: list[tuple[tarfile.TarInfo, bytes]], mode: str = "w:gz") -> Path:
    """Make a tar file."""
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]  # each mode has a signature of its own
        for entry, content in entries:
            archive.addfile(entry, io.BytesIO(content))
    return path


def tree(folder: Path) -> dict[str, str]:
    """Return everything below a folder: contents, targets of links, and what is executable."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            found[name] = f"-> {path.readlink()}"
        elif path.is_dir():
            found[name] = "folder"
        else:
            found[name] = path.read_text() + (" (program)" if path.stat().st_mode & 0o100 else "")
    return found


def refusal(archive: Path) -> tuple[str, str]:
    """Return the code and message with which an archive is refused; nothing of it may be on the disk."""
    destination = archive.parent / "into" / "plugin"
    before = sorted(archive.parent.rglob("*"))
    with pytest.raises(PmError) as caught:
        unpack(archive, destination)
    assert [path for path in sorted(archive.parent.rglob("*")) if path not in before] in ([], [destination.parent])
    assert not destination.exists()
    assert caught.value.file == str(archive)
    return caught.value.code, caught.value.message


# --- what is unpacked -------------------------------------------------------------------------------------------------


def test_a_zip_with_one_folder_at_its_top_is_unpacked_without_it(tmp_path: Path) -> None:
    archive = zipped(
        tmp_path / "a.zip",
        [
            ("plugin-main/", b"", stat.S_IFDIR | 0o755),
            ("plugin-main/plugin.yaml", b"name: x", stat.S_IFREG | 0o644),
            ("plugin-main/bin/run", b"#!", stat.S_IFREG | 0o4755),
            ("plugin-main/CLAUDE.md", b"docs/AGENTS.md", LINK),
            ("plugin-main/docs/AGENTS.md", b"read me", 0),
            ("__MACOSX/plugin-main/._plugin.yaml", b"\0", 0),
        ],
    )
    assert unpack(archive, tmp_path / "plugin") == tmp_path / "plugin"
    assert tree(tmp_path / "plugin") == {
        "CLAUDE.md": "-> docs/AGENTS.md",
        "bin": "folder",
        "bin/run": "#! (program)",
        "docs": "folder",
        "docs/AGENTS.md": "read me",
        "plugin.yaml": "name: x",
    }
    assert stat.S_IMODE((tmp_path / "plugin" / "bin" / "run").stat().st_mode) == 0o755


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_a_tar_of_any_compression_is_unpacked_whatever_its_name(tmp_path: Path, mode: str) -> None:
    entries = [
        member("./", type=tarfile.DIRTYPE, mode=0o700),
        member("./plugin.yaml", b"name: x", mode=0o640, uid=12345),
        member("./run", b"#!", mode=0o6711),
        member("./copy", type=tarfile.LNKTYPE, linkname="./run"),
        member("./sub/up", type=tarfile.SYMTYPE, linkname="../plugin.yaml"),
    ]
    unpack(tarred(tmp_path / "download", entries, mode), tmp_path / "plugin")
    assert tree(tmp_path / "plugin") == {
        "copy": "#! (program)",
        "plugin.yaml": "name: x",
        "run": "#! (program)",
        "sub": "folder",
        "sub/up": "-> ../plugin.yaml",
    }
    assert stat.S_IMODE((tmp_path / "plugin" / "plugin.yaml").stat().st_mode) == 0o644


def test_two_things_at_the_top_are_both_kept(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "a.zip", [("a/x", b"1", 0), ("plugin.yaml", b"2", 0)])
    unpack(archive, tmp_path / "plugin")
    assert tree(tmp_path / "plugin") == {"a": "folder", "a/x": "1", "plugin.yaml": "2"}


def test_blanks_and_other_scripts_in_names_are_kept(tmp_path: Path) -> None:
    """Case paths-spaces-unicode-03."""
    archive = zipped(tmp_path / "Stažené 'x'.zip", [("Stažené/-état 'x'.py", b"1", 0), ("plugin.yaml", b"2", 0)])
    unpack(archive, tmp_path / "mein plugin")
    assert tree(tmp_path / "mein plugin") == {"Stažené": "folder", "Stažené/-état 'x'.py": "1", "plugin.yaml": "2"}


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("../../evil.py", "leads out of the archive"),
        ("a/../../evil.py", "leads out of the archive"),
        ("a/..", "leads out of the archive"),
        ("/etc/x", "is an absolute path"),
        ("//host/x", "is an absolute path"),
        ("C:\\x", "is a path of another system"),
        ("C:x", "is a path of another system"),
        ("..\\evil.py", "is a path of another system"),
        ("a\\..\\..\\evil.py", "is a path of another system"),
        ("a\nb", "holds characters that cannot be in a name"),
        ("a/" * 600 + "x", "has a name that is too long"),
        ("ä" * 128, "has a name that is too long"),
    ],
)
@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_a_name_that_could_land_anywhere_else_refuses_the_whole_archive(
    tmp_path: Path, name: str, fault: str, kind: str
) -> None:
    """Case archive-path-traversal-01."""
    if kind == "zip":
        archive = zipped(tmp_path / "a.zip", [("plugin.yaml", b"", 0), (name, b"evil", 0)])
    else:
        archive = tarred(tmp_path / "a.tar", [member("plugin.yaml"), member(name, b"evil")])
    code, message = refusal(archive)
    assert (code, message.startswith("the entry `"), message.endswith(f"` {fault}")) == ("unsafe-archive", True, True)


def test_a_name_with_a_nul_in_a_zip_is_judged_as_it_is(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "a.zip", [("plugin.yaml", b"", 0), ("good.pyX/../../evil", b"", 0)])
    archive.write_bytes(archive.read_bytes().replace(b"good.pyX", b"good.py\0"))
    assert refusal(archive)[1] == "the entry `good.py\\x00/../../evil` holds characters that cannot be in a name"


@pytest.mark.parametrize(
    "target", ["/", "/etc/passwd", "..", "../../x", "a/../../x", "C:\\x", "..\\x", "", "a\nb", "loop/../x"]
)
@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_a_link_that_leads_out_refuses_the_whole_archive(tmp_path: Path, target: str, kind: str) -> None:
    """Case archive-path-traversal-01."""
    if kind == "zip":
        archive = zipped(
            tmp_path / "a.zip",
            [("plugin.yaml", b"", 0), ("loop", b".", LINK), ("sub/x", b"", 0), ("link", target.encode(), LINK)],
        )
    else:
        archive = tarred(
            tmp_path / "a.tar",
            [
                member("plugin.yaml"),
                member("loop", type=tarfile.SYMTYPE, linkname="."),
                member("link", type=tarfile.SYMTYPE, linkname=target),
            ],
        )
    code, message = refusal(archive)
    assert (code, message.startswith("the entry `link` is a link that leads out of the archive, to `")) == (
        "unsafe-archive",
        True,
    )


def test_nothing_is_unpacked_through_a_link(tmp_path: Path) -> None:
    """Case archive-path-traversal-01."""
    archive = zipped(tmp_path / "a.zip", [("plugin.yaml", b"", 0), ("a", b"sub", LINK), ("a/b", b"evil", 0)])
    assert refusal(archive) == ("unsafe-archive", "the entry `a/b` would lie inside of `a`, which is a link")


def test_a_link_may_not_leave_what_is_left_when_the_top_folder_goes(tmp_path: Path) -> None:
    entries = [("top/plugin.yaml", b"", 0), ("top/link", b"../top/plugin.yaml", LINK)]
    assert refusal(zipped(tmp_path / "a.zip", entries))[1] == (
        "the entry `top/link` is a link that leads out of the archive, to `../top/plugin.yaml`"
    )


@pytest.mark.parametrize("target", ["/etc/passwd", "../outside", "missing", "later"])
def test_a_hard_link_must_mean_an_earlier_file_of_the_archive(tmp_path: Path, target: str) -> None:
    entries = [member("plugin.yaml"), member("copy", type=tarfile.LNKTYPE, linkname=target), member("later")]
    assert refusal(tarred(tmp_path / "a.tar", entries)) == (
        "unsafe-archive",
        f"the entry `copy` is a link to `{target}`, which is not an earlier file of the archive",
    )


@pytest.mark.parametrize("kind", [tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE])
def test_devices_and_pipes_refuse_the_whole_archive(tmp_path: Path, kind: bytes) -> None:
    archive = tarred(tmp_path / "a.tar", [member("plugin.yaml"), member("dev", type=kind)])
    assert refusal(archive)[1] == "the entry `dev` is a device or special file, which a plugin must not contain"


def test_a_pipe_in_a_zip_refuses_the_whole_archive(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "a.zip", [("plugin.yaml", b"", 0), ("pipe", b"", stat.S_IFIFO | 0o644)])
    assert refusal(archive)[1] == "the entry `pipe` is a special file, which a plugin must not contain"


@pytest.mark.parametrize(
    ("names", "fault"),
    [
        (["a", "a"], "the entry `a` is in the archive twice"),
        (["a/b", "./a/b"], "the entry `./a/b` is in the archive twice"),
        (["README.md", "readme.MD"], "the entry `readme.MD` is the same as `README.md` on disks that ignore case"),
        (["Lib/x", "lib/y"], "the entry `lib/y` is the same as `Lib` on disks that ignore case"),
        (["caf\u00e9", "cafe\u0301"], "the entry `caf\u00e9` is the same as `cafe\u0301` on disks that ignore case"),
        (["a", "a/b"], "the entry `a/b` would lie inside of `a`, which is a file"),
    ],
)
def test_entries_that_hide_each_other_refuse_the_whole_archive(tmp_path: Path, names: list[str], fault: str) -> None:
    archive = tarred(tmp_path / "a.tar", [member("plugin.yaml"), *(member(name) for name in names)])
    assert refusal(archive) == ("unsafe-archive", fault)


@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_an_archive_that_unpacks_to_too_much_is_refused_before_it_is_unpacked(tmp_path: Path, kind: str) -> None:
    content = bytes(archives.FREE_BYTES + 1)
    if kind == "zip":
        archive = zipped(tmp_path / "bomb.zip", [("plugin.yaml", b"", 0), ("bomb", content, 0)])
    else:
        archive = tarred(tmp_path / "bomb.tar", [member("plugin.yaml"), member("bomb", content)], "w:xz")
    assert refusal(archive) == ("unsafe-archive", "the entry `bomb` makes the archive unpack to more than 16 MiB")


def test_many_copies_by_hard_links_count_as_what_they_become(tmp_path: Path) -> None:
    copies = [member(f"copy{n}", type=tarfile.LNKTYPE, linkname="one") for n in range(20)]
    archive = tarred(tmp_path / "a.tar", [member("plugin.yaml"), member("one", bytes(1024 * 1024)), *copies])
    assert refusal(archive)[1] == "the entry `copy15` makes the archive unpack to more than 16 MiB"


def test_an_archive_with_too_many_entries_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "PLUGIN_ENTRIES", PLUGIN_ENTRIES._replace(value=3))
    archive = zipped(tmp_path / "a.zip", [(f"f{n}", b"", 0) for n in range(5)])
    assert refusal(archive)[1].startswith("the entry `f3` is one too many: an archive may have 3 entries")


def test_folders_that_are_only_implied_count_as_entries(tmp_path: Path) -> None:
    deep = [(f"{'/'.join(f'{n:x}' for _ in range(120))}/f", b"", 0) for n in range(200)]
    message = refusal(zipped(tmp_path / "a.zip", deep))[1]
    assert message.endswith("is one too many: an archive may have 20,000 entries, with the folders that they imply")


def test_an_archive_of_as_many_files_as_may_be_in_a_deep_folder_is_judged_in_linear_time(tmp_path: Path) -> None:
    deep = "d/" * 120
    archive = zipped(tmp_path / "a.zip", [(f"{deep}{n}", b"", 0) for n in range(2000)])
    assert limited(lambda: len(list(unpack(archive, tmp_path / "out").rglob("*")))) == (0, "2119")


@pytest.mark.parametrize("large", [False, True], ids=["old record", "large record"])
def test_a_zip_whose_directory_is_said_to_be_huge_is_refused_before_it_is_read(tmp_path: Path, *, large: bool) -> None:
    archive = zipped(tmp_path / "a.zip", [("plugin.yaml", b"", 0)])
    content = archive.read_bytes()
    at = content.index(b"PK\x05\x06")
    if large:
        record = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 1, 1, 1 << 33, 0)
        content = content[:at] + record + struct.pack("<4sLQL", b"PK\x06\x07", 0, at, 1) + content[at:]
    else:
        content = content[: at + 12] + (1 << 30).to_bytes(4, "little") + content[at + 16 :]
    archive.write_bytes(content)
    assert "its central directory has more than 16 MiB" in refusal(archive)[1]


def test_a_tar_whose_headers_unpack_to_a_hundred_megabytes_is_refused(tmp_path: Path) -> None:
    comments = [member(f"f{n}", pax_headers={"comment": "x" * 1_000_000}) for n in range(100)]
    archive = tmp_path / "a.tar.gz"
    with tarfile.open(archive, "w:gz", format=tarfile.PAX_FORMAT) as made:
        for entry, _ in comments:
            made.addfile(entry)
    assert "its headers have more than 48 MiB" in refusal(archive)[1]


def test_an_archive_that_claims_a_terabyte_by_a_hole_is_refused_at_once(tmp_path: Path) -> None:
    archive = tmp_path / "a.zip"
    with archive.open("wb") as stream:
        stream.truncate(1 << 40)
    assert refusal(archive)[1] == "`a.zip` cannot be read as a zip or tar archive: it has more than 512 MiB"


def test_a_zip_whose_entry_is_larger_than_it_says_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "a.zip", [("plugin.yaml", b"", 0), ("x", b"a" * 1000, 0)])
    size = (1000).to_bytes(4, "little")
    archive.write_bytes(archive.read_bytes().replace(size, (10).to_bytes(4, "little")))
    assert refusal(archive)[0] == "unsafe-archive"


def test_an_encrypted_zip_is_refused(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "a.zip", [("plugin.yaml", b"", 0)])
    data = bytearray(archive.read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1
    archive.write_bytes(data)
    assert refusal(archive) == ("unsafe-archive", "the entry `plugin.yaml` is encrypted")


def test_a_tar_header_cannot_ask_for_the_memory_of_the_machine(tmp_path: Path) -> None:
    entry = tarfile.TarInfo("x")
    entry.type, entry.size = tarfile.XHDTYPE, 8 * 1024 * 1024 * 1024
    archive = tmp_path / "a.tar"
    archive.write_bytes(entry.tobuf(tarfile.GNU_FORMAT) + bytes(2048))
    assert refusal(archive) == (
        "unsafe-archive",
        "`a.tar` cannot be read as a zip or tar archive: a header asks for 8589934592 bytes",
    )


def test_a_sparse_file_is_refused(tmp_path: Path) -> None:
    entry = tarfile.TarInfo("sparse")
    entry.type = tarfile.GNUTYPE_SPARSE
    archive = tmp_path / "a.tar"
    archive.write_bytes(entry.tobuf(tarfile.GNU_FORMAT) + bytes(1024))
    assert refusal(archive)[1] == "the entry `sparse` is a device or special file, which a plugin must not contain"


def _cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


def _damaged_header(content: bytes) -> bytes:
    second = content.index(b"second")
    return content[: second + 120] + b"XXXX" + content[second + 124 :]


def _damaged_end(content: bytes) -> bytes:
    return content[:-20] + bytes(20)


def _emptied(content: bytes) -> bytes:
    return content[:0]


def _something_else(content: bytes) -> bytes:
    return b"neither zip nor tar" * len(content)


@pytest.mark.parametrize(
    ("mode", "damage"),
    [
        ("w", _damaged_header),
        ("w", _cut),
        ("w:gz", _cut),
        ("w:gz", _damaged_end),
        ("w:bz2", _cut),
        ("w:bz2", _damaged_end),
        ("w:xz", _cut),
        ("w:xz", _damaged_end),
        ("w", _emptied),
        ("w", _something_else),
    ],
)
def test_a_damaged_archive_is_refused_and_leaves_nothing(
    tmp_path: Path, mode: str, damage: Callable[[bytes], bytes]
) -> None:
    archive = tarred(tmp_path / "a.tar", [member("first", os.urandom(3000)), member("second", os.urandom(3000))], mode)
    archive.write_bytes(damage(archive.read_bytes()))
    code, message = refusal(archive)
    assert (code, message.startswith("`a.tar` cannot be read as a zip or tar archive: ")) == ("unsafe-archive", True)


def test_a_damaged_zip_entry_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "a.zip", [("a/first", b"1" * 100, 0), ("b/second", os.urandom(300), 0)])
    content = archive.read_bytes()
    middle = content.index(b"second") + 100
    archive.write_bytes(content[:middle] + b"XXXX" + content[middle + 4 :])
    assert refusal(archive)[0] == "unsafe-archive"


@pytest.mark.parametrize("names", [[], ["top/"], ["__MACOSX/x"]])
def test_an_archive_without_files_is_refused(tmp_path: Path, names: list[str]) -> None:
    archive = zipped(tmp_path / "a.zip", [(name, b"", 0) for name in names])
    assert refusal(archive) == ("unsafe-archive", "the archive holds no files")


def test_an_archive_that_is_not_there_is_reported(tmp_path: Path) -> None:
    with pytest.raises(PmError) as caught:
        unpack(tmp_path / "a.zip", tmp_path / "plugin")
    assert caught.value.message == f"`{tmp_path / 'a.zip'}` does not exist"


def test_what_is_there_already_is_never_touched(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "a.zip", [("plugin.yaml", b"new", 0)])
    (tmp_path / "plugin").mkdir()
    (tmp_path / "plugin" / "plugin.yaml").write_text("old")
    with pytest.raises(PmError) as caught:
        unpack(archive, tmp_path / "plugin")
    assert (caught.value.code, tree(tmp_path / "plugin")) == ("not-writable", {"plugin.yaml": "old"})


def test_a_place_that_cannot_be_written_is_reported_as_that(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "a.zip", [("plugin.yaml", b"", 0)])
    (tmp_path / "file").write_text("")
    with pytest.raises(PmError) as caught:
        unpack(archive, tmp_path / "file" / "plugin")
    assert caught.value.code == "not-writable"
