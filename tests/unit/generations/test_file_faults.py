"""What a wheel puts where, read from its directory; and which faults distributions have together."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.limited import limited
from fixtures.wheels import Distribution, build_wheels
from lockfiles import Artifact
from pm.generations.file_faults import Fault, collisions, shadowing
from pm.index.contents import (
    Oddity,
    WheelContents,
    contents_of,
    load_contents,
    save_contents,
    side_by_side,
)
from pm.index.entry_points import scripts_of
from pm.index.folders import sha256_of
from pm.index.wheel_reading import read_contents, read_local

SHA256 = "ab" * 32


def identity(text: str) -> str:
    return f"{zlib.crc32(text.encode()):08x}-{len(text)}"


def read_distribution(folder: Path, distribution: Distribution) -> WheelContents | None:
    (wheel,) = build_wheels(folder, distribution)
    with wheel.open("rb") as file:
        return read_contents(file)


def archive_of(*entries: tuple[str, str]) -> io.BytesIO:
    """Zip entries as they come, also such as no builder would write; the RECORD names none of them."""
    needed = {"METADATA": "Name: demo\n", "WHEEL": "Wheel-Version: 1.0\n", "RECORD": ""}
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, text in (*entries, *((f"demo-1.0.dist-info/{name}", text) for name, text in needed.items())):
            archive.writestr(zipfile.ZipInfo(name), text)
    return file


# -- reading


def test_files_are_known_by_checksum_and_size_and_metadata_is_left_out(tmp_path: Path) -> None:
    distribution = Distribution("demo", "1.0", files={"demo/__init__.py": "", "demo/a.py": "a = 1\n", "six.py": "six"})
    contents = read_distribution(tmp_path, distribution)
    assert contents is not None
    assert (contents.tops, contents.files, contents.flaw) == (
        ("demo/__init__.py", "six.py"),
        {"demo/__init__.py": identity(""), "demo/a.py": identity("a = 1\n"), "six.py": identity("six")},
        "",
    )


def test_each_top_level_name_stands_for_itself_by_one_path() -> None:
    contents = contents_of(
        {
            "plain/b.py": "1-1",
            "plain/a.py": "1-1",
            "pack/a.py": "1-1",
            "pack/__init__.py": "1-1",
            "../../../bin/x": "1-1",
        }
    )
    assert contents.tops == ("../../../bin/x", "pack/__init__.py", "plain/a.py")


def test_the_folders_of_data_are_moved_to_where_an_installer_puts_them(tmp_path: Path) -> None:
    data = {
        "demo-1.0.data/purelib/pure.py": "p",
        "demo-1.0.data/platlib/plat/lib.so": "l",
        "demo-1.0.data/scripts/tool": "#!python\n",
        "demo-1.0.data/data/share/demo.txt": "d",
        "demo-1.0.data/headers/demo.h": "h",
        "other-1.0.data/purelib/stays.py": "o",
    }
    contents = read_distribution(tmp_path, Distribution("demo", "1.0", files=data))
    assert contents is not None
    assert contents.files == {
        "../../../bin/tool": identity("#!python\n"),
        "../../../share/demo.txt": identity("d"),
        "other-1.0.data/purelib/stays.py": identity("o"),
        "plat/lib.so": identity("l"),
        "pure.py": identity("p"),
    }


def test_scripts_of_entry_points_are_known_by_what_they_call(tmp_path: Path) -> None:
    points = "# ours\n[console_scripts]\nDemo = demo : cli.main [fast]\n[gui_scripts]\nwin=demo:w\n[others]\na=demo:a\n"
    files = {"demo.py": "", "demo-1.0.data/scripts/win": "old", "demo-1.0.dist-info/entry_points.txt": points}
    contents = read_distribution(tmp_path, Distribution("demo", "1.0", files=files))
    assert contents is not None
    assert contents.files == {
        "../../../bin/Demo": "calls demo:cli.main",
        "../../../bin/win": "calls demo:w",
        "demo.py": identity(""),
    }


def test_many_blanks_in_entry_points_take_no_long_time() -> None:
    points = f"[console_scripts]\ntool{' ' * 500_000}={' ' * 500_000}demo:main\n"
    assert limited(lambda: scripts_of(points)).told == "{'tool': 'demo:main'}"
    # a line without an equals sign
    assert "ValueError" in limited(lambda: scripts_of(f"[a]\nx{' ' * 500_000}y\n")).told


def test_paths_are_those_at_which_an_installer_unpacks() -> None:
    contents = read_contents(archive_of(*((name, "") for name in ("./a.py", "x//b.py", "x/"))))
    assert contents is not None
    assert (sorted(contents.files), contents.flaw) == (["a.py", "x/b.py"], "")


@pytest.mark.parametrize("name", ["x/../c.py", "../out.py", "/tmp/out.py", "x/../../out.py"])
def test_a_path_that_leads_back_or_out_is_a_flaw(name: str) -> None:
    assert read_contents(archive_of((name, ""))) == contents_of({}, f"`{name}` in it would not lie where it says")


def test_bytecode_cannot_collide(tmp_path: Path) -> None:
    files = {"demo/a.py": "", "demo/__pycache__/a.cpython-311.pyc": "x"}
    contents = read_distribution(tmp_path, Distribution("demo", "1.0", files=files))
    assert contents is not None
    assert list(contents.files) == ["demo/a.py"]


@pytest.mark.filterwarnings("ignore:Duplicate name:UserWarning")
def test_one_file_that_is_there_twice_is_one_file() -> None:
    contents = read_contents(archive_of(("a.py", "same"), ("a.py", "same")))
    assert contents == contents_of({"a.py": identity("same")}, proved=True)


# -- flaws


@pytest.mark.filterwarnings("ignore:Duplicate name:UserWarning")
@pytest.mark.parametrize(
    ("entries", "flaw"),
    [
        ([("a.py", "one"), ("a.py", "two")], "it holds two different files `a.py`"),
        ([("a.py", "one"), ("./a.py", "two")], "it holds two different files `a.py`"),
        ([("rival-1.0.dist-info/METADATA", "")], "it has several folders of metadata"),
        ([("demo-1.0.data/weird/a.py", "")], "it is not known where `demo-1.0.data/weird/a.py` belongs"),
        ([("demo-1.0.data/a.py", "")], "it is not known where `demo-1.0.data/a.py` belongs"),
    ],
)
def test_a_wheel_that_the_installer_refuses_has_a_flaw(entries: list[tuple[str, str]], flaw: str) -> None:
    assert read_contents(archive_of(*entries)) == contents_of({}, flaw)


def test_an_archive_without_metadata_is_no_wheel() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.py", "")
    assert read_contents(file) == contents_of({}, "it has no folder of metadata")


@pytest.mark.parametrize("content", [b"", b"not a zip file at all", b"PK\x05\x06" + b"\xff" * 18])
def test_what_is_no_archive_has_a_flaw(content: bytes) -> None:
    assert read_contents(io.BytesIO(content)) == contents_of({}, "it is not a readable wheel")


def test_a_directory_larger_than_any_real_one_is_not_read(tmp_path: Path) -> None:
    size, start = 17 << 20, 1 << 20
    end = b"PK\x05\x06" + bytes(4) + (1).to_bytes(2, "little") * 2 + size.to_bytes(4, "little")
    with (tmp_path / "large.whl").open("w+b") as file:
        file.seek(start + size)
        file.write(end + start.to_bytes(4, "little") + bytes(2))
        assert read_contents(file).flaw == "its directory has more than 8,388,608 bytes"


_WHEEL = archive_of(
    ("demo/a.py", "a = 1\n"), ("demo-1.0.dist-info/entry_points.txt", "[gui_scripts]\na=b:c\n")
).getvalue()


@given(st.integers(0, len(_WHEEL) - 1), st.binary(min_size=1, max_size=4))
def test_damage_is_a_flaw_or_other_contents_and_never_an_error(position: int, damage: bytes) -> None:
    content = _WHEEL[:position] + damage + _WHEEL[position + len(damage) :]
    assert isinstance(read_contents(io.BytesIO(content)), WheelContents)


# -- keeping


def test_what_is_kept_is_read_again(tmp_path: Path) -> None:
    odd = [Oddity("runs-at-start", ("a.pth", "sitecustomize.py"))]
    contents = contents_of({"ä.py": "1-1", "a/__init__.py": "2-2"}, "a flaw", odd, proved=True)
    save_contents(tmp_path, SHA256, contents)
    assert load_contents(tmp_path, SHA256) == contents
    assert load_contents(tmp_path, "cd" * 32) is None


@given(st.data())
def test_a_damaged_file_is_nothing(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    folder = tmp_path_factory.getbasetemp() / "damaged"
    save_contents(folder, SHA256, contents_of({"a.py": "1-1"}))
    path = folder / "contents" / "ab" / SHA256
    content = bytearray(path.read_bytes())
    position = data.draw(st.integers(0, len(content) - 1))
    content[position] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content[: data.draw(st.sampled_from([len(content), position + 1]))])
    assert load_contents(folder, SHA256) is None


def test_a_local_file_counts_only_with_the_right_name_and_digest(tmp_path: Path) -> None:
    (wheel,) = build_wheels(tmp_path / "right", Distribution("demo", "1.0"))
    (other,) = build_wheels(tmp_path / "wrong", Distribution("demo", "1.0", files={"demo.py": "another\n"}))
    artifact = Artifact(wheel.name, sha256_of(wheel))
    found = read_local([tmp_path / "gone" / wheel.name, other, wheel], artifact)
    assert found == contents_of({"demo.py": identity('__version__ = "1.0"\n')}, proved=True)
    assert read_local([other], artifact) is None


# -- side by side


def test_all_tasks_are_done() -> None:
    tasks = [lambda number=number: number * number for number in range(20)]
    assert sorted(side_by_side(tasks, 3)) == [(number, number * number) for number in range(20)]


def test_the_first_failure_ends_it() -> None:
    def fail() -> int:
        raise LookupError("no such wheel")

    with pytest.raises(LookupError, match="no such wheel"):
        list(side_by_side([fail, fail], 2))


# -- faults


def found_in(contents: dict[str, dict[str, str]], core: str = "core") -> list[Fault]:
    return list(collisions(contents, core))


def test_the_same_file_of_two_distributions_is_no_collision() -> None:
    assert found_in({"a": {"x/__init__.py": "1"}, "b": {"x/__init__.py": "1"}}) == []


def test_what_has_no_identity_is_not_compared() -> None:
    assert found_in({"a": {"x.py": ""}, "b": {"x.py": "1"}}) == []


def test_a_collision_names_everybody_and_the_first_path() -> None:
    contents = {"c": {"x.py": "1", "y.py": "1"}, "a": {"x.py": "2", "y.py": "2"}, "b": {"x.py": "2", "y.py": "2"}}
    assert found_in(contents) == [
        Fault(
            "file-collision",
            "`a` and `b` and `c` write `x.py` and 1 more files with different content",
            "a",
            ("b", "c"),
        )
    ]


def test_programs_of_one_name_are_worth_a_warning() -> None:
    contents = {"fastapi": {"../../../bin/fastapi": "1"}, "fastapi-cli": {"../../../bin/fastapi": "2"}}
    message = (
        "`fastapi` and `fastapi-cli` write `../../../bin/fastapi` with different content"
        "; that of `fastapi-cli`, the last by name, will be there"
    )
    assert found_in(contents) == [Fault("file-collision", message, "fastapi", ("fastapi-cli",), harmless=True)]


def test_a_program_of_the_core_is_nobody_elses() -> None:
    contents = {"core": {"../../../bin/hermes": "1"}, "rival": {"../../../bin/hermes": "2"}}
    message = "`core` and `rival` write `../../../bin/hermes` with different content"
    assert found_in(contents) == [Fault("file-collision", message, "core", ("rival",))]


def shadows(*paths: str) -> Iterator[tuple[str, bool]]:
    """Yield message and harmlessness of what a distribution `d` hides."""
    found = shadowing({"core": ["utils.py", "agent/__init__.py"], "d": paths}, frozenset({"types"}), "core")
    return ((fault.message, fault.harmless) for fault in found)


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["utils/__init__.py"], [("`d` brings a package `utils` that hides the core's module of that name", False)]),
        (
            ["utils.cpython-311-x86_64-linux-gnu.so"],
            [("`d` brings a compiled module `utils` that hides the core's module of that name", False)],
        ),
        (["utils/part.py"], []),
        (["agent/__init__.py"], []),
        (
            ["types.py"],
            [("`d` brings a module `types` that is never imported: the standard library has one", True)],
        ),
    ],
)
def test_only_what_python_prefers_hides_a_module(paths: list[str], expected: list[tuple[str, bool]]) -> None:
    assert list(shadows(*paths)) == expected
