"""Archives that were put together by hand: a wheel is refused just where uv does not read its archive."""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Callable
from io import BytesIO
from typing import NamedTuple

import pytest

from fixtures.wheel_bench import INFO, Bench, judged
from fixtures.wheels import repack

NAME = f"{INFO}/METADATA".encode()
"""The member that is changed."""
OTHER = NAME.replace(b"META", b"XETA")
LARGE = 0xFFFFFFFF
Field = Callable[[zipfile.ZipInfo], bytes]


class Twist(NamedTuple):
    """What is said of one member, or of the whole archive, otherwise than usual."""

    about: str
    refused: bool = False
    before: Field = lambda _: b""
    """Extra fields before the member."""
    listed: Field = lambda _: b""
    """Extra fields in the directory."""
    flags: int = 0
    told: Callable[[zipfile.ZipInfo], tuple[int, int, int]] = lambda one: (one.CRC, one.compress_size, one.file_size)
    """Checksum and sizes before the member."""
    listed_sizes: Callable[[zipfile.ZipInfo], tuple[int, int]] = lambda one: (one.compress_size, one.file_size)
    description: Field = lambda _: b""
    """What follows the member."""
    comment: bytes = b""


def field(number: int, value: bytes, length: int | None = None) -> bytes:
    return struct.pack("<HH", number, len(value) if length is None else length) + value


def constant(value: bytes) -> Field:
    return lambda _: value


def sizes(*, more: int = 0, packed: bool = True) -> Field:
    """Return the field of sizes that are too large for their places."""
    return lambda one: field(
        1, struct.pack("<Q", one.file_size + more) + (struct.pack("<Q", one.compress_size) if packed else b"")
    )


def called(name: bytes, *, version: int = 1, checksum: int = zlib.crc32(NAME)) -> Field:
    """Return the field of a name in UTF-8."""
    return constant(field(0x7075, struct.pack("<BL", version, checksum) + name))


def described(form: str, *, mark: bytes = b"", more: int = 0) -> Field:
    return lambda one: mark + struct.pack(form, one.CRC, one.compress_size, one.file_size + more)


def nothing(_: zipfile.ZipInfo) -> tuple[int, int, int]:
    return 0, 0, 0


def large(_: zipfile.ZipInfo) -> tuple[int, int, int]:
    return 0, LARGE, LARGE


def large_sizes(one: zipfile.ZipInfo) -> tuple[int, int, int]:
    return one.CRC, LARGE, LARGE


MARK, SHORT, LONG, DESCRIBED = b"PK\x07\x08", "<LLL", "<LQQ", 8
TWISTS = [
    Twist("as it should be"),
    # extra fields
    Twist("an unknown field", before=constant(field(0xCAFE, b"abc")), listed=constant(field(0xCAFE, b"abc"))),
    Twist("a field of times", before=constant(field(0x5455, b"\x0312341234")), listed=constant(field(0x5455, b""))),
    Twist("less than a field", before=constant(b"xyz"), listed=constant(b"x")),
    Twist("a field that was cut", refused=True, before=constant(field(0xCAFE, b"abc", 9))),
    Twist("a field that was cut in the directory", refused=True, listed=constant(field(0xCAFE, b"abc", 9))),
    Twist("a field twice", refused=True, before=constant(field(0xCAFE, b"abc") * 2)),
    Twist("a field twice in the directory", refused=True, listed=constant(field(0xCAFE, b"abc") * 2)),
    # names
    Twist("the same name in UTF-8", before=called(NAME), listed=called(NAME)),
    Twist("another name in UTF-8", refused=True, before=called(OTHER)),
    Twist("another name in UTF-8 in the directory", refused=True, listed=called(OTHER)),
    Twist("another name in both", refused=True, before=called(OTHER), listed=called(OTHER)),
    Twist("a name in UTF-8 of another member", before=called(OTHER, checksum=5)),
    Twist("a name in UTF-8 of a later version", before=called(OTHER, version=2), listed=called(OTHER, version=2)),
    Twist("a name in UTF-8 that is none", refused=True, before=called(b"\xff\xfe")),
    Twist("no name in UTF-8", before=called(b"")),
    Twist("a name in UTF-8 that was cut", refused=True, before=constant(field(0x7075, b"\x01ab"))),
    Twist("a comment in UTF-8 that was cut", refused=True, listed=constant(field(0x6375, b"\x01ab"))),
    # sizes
    Twist("the same sizes once more", before=sizes()),
    Twist("other sizes once more", refused=True, before=sizes(more=1)),
    Twist("one size once more", refused=True, before=sizes(packed=False)),
    Twist("no sizes in their field", before=constant(field(1, b""))),
    Twist("the same sizes once more in the directory", refused=True, listed=sizes()),
    Twist("sizes elsewhere", told=large_sizes, before=sizes()),
    Twist("other sizes elsewhere", refused=True, told=large_sizes, before=sizes(more=1)),
    Twist("sizes nowhere", refused=True, told=large_sizes),
    Twist("a size elsewhere", told=lambda one: (one.CRC, one.compress_size, LARGE), before=sizes(packed=False)),
    Twist("more than a size", refused=True, told=lambda one: (one.CRC, one.compress_size, LARGE), before=sizes()),
    Twist("sizes elsewhere in the directory", listed_sizes=lambda _: (LARGE, LARGE), listed=sizes()),
    Twist("no checksum", refused=True, told=lambda one: (0, one.compress_size, one.file_size)),
    # descriptions
    Twist("a description", flags=DESCRIBED, told=nothing, description=described(SHORT, mark=MARK)),
    Twist("a description without mark", flags=DESCRIBED, told=nothing, description=described(SHORT)),
    Twist("a description of what was told", flags=DESCRIBED, description=described(SHORT, mark=MARK)),
    Twist(
        "a description of other sizes",
        refused=True,
        flags=DESCRIBED,
        told=nothing,
        description=described(SHORT, more=1),
    ),
    Twist("no description", refused=True, flags=DESCRIBED, told=nothing),
    Twist("a long description", refused=True, flags=DESCRIBED, told=nothing, description=described(LONG, mark=MARK)),
    Twist(
        "a long description of sizes elsewhere",
        flags=DESCRIBED,
        told=large,
        before=sizes(),
        description=described(LONG, mark=MARK),
    ),
    Twist(
        "a long description of no sizes",
        flags=DESCRIBED,
        told=nothing,
        before=constant(field(1, bytes(16))),
        description=described(LONG),
    ),
    Twist(
        "a short description of sizes elsewhere",
        refused=True,
        flags=DESCRIBED,
        told=large,
        before=sizes(),
        description=described(SHORT, mark=MARK),
    ),
    Twist(
        "a checksum that the description does not have",
        refused=True,
        flags=DESCRIBED,
        told=lambda _: (1, 0, 0),
        description=described(SHORT),
    ),
    # the end
    Twist("a comment", comment="größer, und\nin zwei Zeilen".encode()),
    Twist("a comment that looks like an archive", refused=True, comment=b"see PK\x03\x04"),
    Twist("a comment that looks like an end", refused=True, comment=b"PK\x06\x07" + bytes(16)),
]


def twisted(original: bytes, twist: Twist) -> bytes:
    """Return the archive with one member of which something is said otherwise."""
    members, lines, usual = b"", b"", Twist("usual")
    infos = zipfile.ZipFile(BytesIO(original)).infolist()
    for one in infos:
        name, offset = one.filename.encode(), len(members)
        this = twist if name == NAME else usual
        before, listed = this.before(one), this.listed(one)
        start = one.header_offset + 30 + len(name)
        fixed = struct.pack("<HHHHH", 20, this.flags, one.compress_type, 0, 33)
        lengths = struct.pack("<HH", len(name), len(before))
        members += b"PK\x03\x04" + fixed + struct.pack("<LLL", *this.told(one)) + lengths + name + before
        members += original[start : start + one.compress_size] + this.description(one)
        lines += b"PK\x01\x02\x14\x00" + fixed + struct.pack("<LLL", one.CRC, *this.listed_sizes(one))
        lines += struct.pack("<HHHHHLL", len(name), len(listed), 0, 0, 0, 0o644 << 16, offset) + name + listed
    return (
        members
        + lines
        + end_of(len(infos), len(lines), len(members))
        + struct.pack("<H", len(twist.comment))
        + twist.comment
    )


def end_of(count: int, size: int, start: int) -> bytes:
    return struct.pack("<4sHHHHLL", b"PK\x05\x06", 0, 0, count, count, size, start)


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    bench = Bench(tmp_path_factory.mktemp("archives"))
    bench.prepare()
    return bench


@pytest.fixture(scope="module")
def original(bench: Bench) -> bytes:
    return bench.wheel.read_bytes()


@pytest.mark.parametrize("twist", TWISTS, ids=[twist.about for twist in TWISTS])
def test_what_is_said_of_a_member_is_judged_as_uv_does(bench: Bench, original: bytes, twist: Twist) -> None:
    bench.wheel.write_bytes(twisted(original, twist))
    admitted, right, flaw = judged(bench)
    assert (admitted, right) == (not twist.refused, not twist.refused), flaw


@pytest.mark.parametrize(("behind", "refused"), [(b"\0\0", False), (b"\0" * 1000, False), (b"\0x", True)])
def test_zeros_behind_an_archive_are_judged_as_uv_does(
    bench: Bench, original: bytes, behind: bytes, *, refused: bool
) -> None:
    bench.wheel.write_bytes(original + behind)
    admitted, right, flaw = judged(bench)
    assert (admitted, right) == (not refused, not refused), flaw


@pytest.mark.parametrize(("length", "refused"), [(200, False), (300, True)])
def test_a_script_with_a_longer_name_than_systems_take_is_refused(
    bench: Bench, original: bytes, length: int, *, refused: bool
) -> None:
    bench.wheel.write_bytes(original)
    points = f"[console_scripts]\n{'9' * length} = odd:x\n"
    path = f"{INFO}/entry_points.txt"
    repack(
        bench.wheel,
        files={path: points},
        record=lambda text: "".join(f"{line}\n" for line in text.splitlines() if path not in line),
    )
    admitted, right, flaw = judged(bench)
    assert (admitted, right) == (not refused, not refused), flaw


class End(NamedTuple):
    """What stands at the end of an archive of many members, and is usual where it is not given."""

    about: str
    refused: bool = False
    more: int = 0
    """How many members more it tells where they may be many."""
    short: tuple[int, int] = (0xFFFF, 0xFFFF)
    """The numbers of members in the short end."""
    place: int = 0
    """Added to where it says that the long end begins."""


ENDS = [
    End("of many members"),
    End("with the number in both ends", short=(6, 6)),
    End("with another number", refused=True, more=1),
    End("with another number in the short end", refused=True, short=(7, 7)),
    End("elsewhere", refused=True, place=5),
    End("behind the file", refused=True, place=1 << 63),
]


@pytest.mark.parametrize("end", ENDS, ids=[end.about for end in ENDS])
def test_an_end_for_many_members_is_judged_as_uv_does(bench: Bench, original: bytes, end: End) -> None:
    usual = twisted(original, TWISTS[0])
    place = usual.rindex(b"PK\x05\x06")
    here, count, size, start = struct.unpack("<HHLL", usual[place + 8 : place + 20])
    numbers = struct.pack("<HHLLQQQQ", 45, 45, 0, 0, here, count + end.more, size, start)
    locator = b"PK\x06\x07" + struct.pack("<LQL", 0, place + end.place, 1)
    short = b"PK\x05\x06" + struct.pack("<HHHHLLH", 0, 0, *end.short, LARGE, LARGE, 0)
    long = b"PK\x06\x06" + struct.pack("<Q", 44) + numbers
    bench.wheel.write_bytes(usual[:place] + long + locator + short)
    admitted, right, flaw = judged(bench)
    assert (admitted, right) == (not end.refused, not end.refused), flaw
