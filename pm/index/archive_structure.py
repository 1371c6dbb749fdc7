"""Whether an archive is one that uv reads: from its first to its last byte, with one answer to what is in it.

uv reads a wheel from its beginning, by what stands before each member, and compares that with the directory at the end;
`zipfile` goes by the directory alone. Where the two differ, an archive can be two at once, so it is refused.
"""

import posixpath
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pm.names import shown

READ_HERE = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
"""Methods of packing that are unpacked here."""
_ZSTANDARD = 93
"""A method that uv knows and not every Python."""
_NOT_UNPACKED = 0x1 | 0x20 | 0x40
"""Encrypted in one of two ways, or a patch of another file."""
_DESCRIBED = 0x8
_UTF_8 = 0x800
_NEWEST = 63
"""Version 6.3 of the format: uv reads none that needs a newer one."""
_LARGE = 0xFFFFFFFF
"""A size that is too large for its field and stands elsewhere."""
_MANY = 0xFFFF
_BEFORE = struct.Struct("<4xBxHH4xLLLHH")
_LINE = struct.Struct("<20xLLHHH2xH4xL")
_END = struct.Struct("<8xHHLLH")
_END_MARK = b"PK\x05\x06"
_LONGEST_END = _END.size + 0xFFFF
_LOCATOR = struct.Struct("<8xQ4x")
_LOCATOR_MARK = b"PK\x06\x07"
_LARGE_END = struct.Struct("<24xQQQQ")
_LARGE_END_MARK = b"PK\x06\x06"
_DESCRIPTION_MARK = b"PK\x07\x08"
_SIZES, _PATH, _COMMENT = 0x1, 0x7075, 0x6375
"""Extra fields: sizes that are too large, and a name and a comment in UTF-8."""
_NOT_IN_A_COMMENT = frozenset(range(1, 9))
"""What uv takes for a sign of another archive in the comment at the end: marks of archives have it."""
NOT_ONE = "it is not one archive from its first to its last byte"


class Flawed(Exception):
    """A wheel that cannot be installed, or would be installed wrong."""


class Header(NamedTuple):
    """What stands before the bytes of a member."""

    version: int
    """Of the format, that is needed to unpack it."""
    flags: int
    method: int
    checksum: int
    compressed: int
    size: int
    name: bytes
    extra: bytes
    end: int
    """Where it ends, and the bytes of the member begin."""

    @property
    def is_unpacked(self) -> bool:
        """Say whether uv unpacks what stands behind this."""
        return self.version <= _NEWEST and is_unpacked(self.method, self.flags)


class Structure(NamedTuple):
    """An archive that is open."""

    members: Sequence[zipfile.ZipInfo]
    directory: int
    """Where it begins."""
    size: int
    bytes_at: Callable[[int, int], bytes]
    """Returns so many bytes from a place."""

    def header_of(self, member: zipfile.ZipInfo) -> Header:
        """Return what stands before the bytes of a member."""
        start = member.header_offset + _BEFORE.size
        content = _filled(self.bytes_at(member.header_offset, _BEFORE.size), _BEFORE)
        version, flags, method, checksum, compressed, size, name, extra = _BEFORE.unpack(content)
        rest = self.bytes_at(start, name + extra)
        return Header(
            version=version,
            flags=flags,
            method=method,
            checksum=checksum,
            compressed=compressed,
            size=size,
            name=rest[:name],
            extra=rest[name:],
            end=start + name + extra,
        )


def is_unpacked(method: int, flags: int) -> bool:
    """Say whether uv unpacks what is packed like this."""
    return method in {*READ_HERE, _ZSTANDARD} and not flags & _NOT_UNPACKED


def not_unpacked(member: zipfile.ZipInfo) -> str:
    """Return what is wrong with a member that uv does not unpack."""
    return f"{_shown(member)} in it is packed in a way that uv does not unpack"


def said_in_two_ways(member: zipfile.ZipInfo) -> str:
    """Return what is wrong with a member of which the directory says otherwise than what stands before it."""
    return f"it says in two ways how {_shown(member)} in it is packed"


def _shown(member: zipfile.ZipInfo) -> str:
    return shown(posixpath.normpath(member.filename))


def check_structure(archive: Structure) -> None:
    """Raise `Flawed` for an archive that uv does not read, or whose members do not follow each other."""
    ends = frozenset({0})
    for member in sorted(archive.members, key=lambda member: member.header_offset):
        if member.header_offset not in ends:
            raise Flawed(NOT_ONE)
        ends = frozenset(_ends_of(member, archive))
    if archive.directory not in ends:
        raise Flawed(NOT_ONE)
    if _end_of_directory(archive) != _checked_end(archive):
        raise Flawed(NOT_ONE)


# -- a member


def _ends_of(member: zipfile.ZipInfo, archive: Structure) -> Iterator[int]:
    """Yield where a member may end: it may be followed by a description of its sizes."""
    header = archive.header_of(member)
    if not header.is_unpacked:
        raise Flawed(not_unpacked(member))
    if header.method != member.compress_type:
        raise Flawed(said_in_two_ways(member))
    extra = _extra_fields(header.extra, member)
    _check_name(header.name, header.flags, extra, member)
    sizes, checksum = _sizes(header, extra, member), header.checksum
    true = (member.file_size, member.compress_size)
    described = bool(header.flags & _DESCRIBED)
    if (sizes == true or (described and sizes == (0, 0))) and checksum in (member.CRC, 0 if described else member.CRC):
        end = header.end + member.compress_size
        yield from _described(end, member, archive, large=bool(extra.get(_SIZES))) if described else (end,)


def _described(end: int, member: zipfile.ZipInfo, archive: Structure, *, large: bool) -> Iterator[int]:
    """Yield where the description of a member ends, if it is a true one: with a mark before it or without."""
    form = "<LQQ" if large else "<LLL"
    true = struct.pack(form, member.CRC, member.compress_size, member.file_size)
    for description in (true, _DESCRIPTION_MARK + true):
        if archive.bytes_at(end, len(description)) == description:
            yield end + len(description)


def _extra_fields(content: bytes, member: zipfile.ZipInfo) -> Mapping[int, bytes]:
    """Return the extra fields of a member by their numbers."""
    fields: dict[int, bytes] = {}
    while len(content) >= _FIELD.size:
        number, length = _FIELD.unpack_from(content)
        value, content = content[_FIELD.size : _FIELD.size + length], content[_FIELD.size + length :]
        cut = len(value) < length or (number in (_PATH, _COMMENT) and value[:1] == b"\1" and length < _NAMED.size)
        if number in fields or cut:
            raise Flawed(f"{_shown(member)} in it has extra fields that uv does not read")
        fields[number] = value
    return fields


_FIELD = struct.Struct("<HH")
_NAMED = struct.Struct("<BL")
"""Before a name in UTF-8: its version, and the checksum of the name that it stands for."""


def _sizes(header: Header, extra: Mapping[int, bytes], member: zipfile.ZipInfo) -> tuple[int, int]:
    """Return the sizes of a member, unpacked and packed, as they are told before it."""
    told = (header.size, header.compressed)
    field = extra.get(_SIZES, b"")
    if field == struct.pack("<QQ", *told):
        return told
    size, compressed = _large(told, field, member)
    return size, compressed


def _large(told: Sequence[int], field: bytes, member: zipfile.ZipInfo) -> Sequence[int]:
    """Return numbers with those in the places of the ones that are too large for where they are told."""
    missing = [number for number, value in enumerate(told) if value == _LARGE]
    if len(field) != 8 * len(missing):
        raise Flawed(f"{_shown(member)} in it has extra fields that uv does not read")
    found = dict(zip(missing, struct.unpack(f"<{len(missing)}Q", field), strict=True))
    return [found.get(number, value) for number, value in enumerate(told)]


def _check_name(name: bytes, flags: int, extra: Mapping[int, bytes], member: zipfile.ZipInfo) -> None:
    """Raise where a member is called otherwise than in the directory, or in two ways."""
    version, checksum = _NAMED.unpack(_filled(extra.get(_PATH, b"")[: _NAMED.size], _NAMED))
    other = extra.get(_PATH, b"")[_NAMED.size :]
    in_use = version == 1 and checksum == zlib.crc32(name) and other
    if _decoded(name, flags) != member.orig_filename or (in_use and other not in (name, member.orig_filename.encode())):
        raise Flawed(f"it says in two ways how {_shown(member)} in it is called")


def _decoded(name: bytes, flags: int) -> str:
    return name.decode("utf-8" if flags & _UTF_8 else "cp437", "replace")


# -- the directory and what follows


def _end_of_directory(archive: Structure) -> int:
    """Return where the directory ends by its lines; raise for extra fields in it that uv does not read."""
    place = archive.directory
    for member in archive.members:
        line = _Listed(*_LINE.unpack(_filled(archive.bytes_at(place, _LINE.size), _LINE)))
        rest = archive.bytes_at(place + _LINE.size, line.name + line.extra)
        extra = _extra_fields(rest[line.name :], member)
        _check_name(rest[: line.name], member.flag_bits, extra, member)
        _large((line.size, line.compressed, line.offset), extra.get(_SIZES, b""), member)
        place += _LINE.size + line.name + line.extra + line.comment
    return place


class _Listed(NamedTuple):
    """What the directory says of a member."""

    compressed: int
    size: int
    name: int
    extra: int
    comment: int
    attributes: int
    offset: int


def _checked_end(archive: Structure) -> int:
    """Return where begins what stands behind the directory.

    Raise for an archive that ends otherwise than it says, or as if another one began there.
    """
    start = max(0, archive.size - _LONGEST_END)
    tail = archive.bytes_at(start, _LONGEST_END)
    place = start + tail.rfind(_END_MARK)
    *told, length = _END.unpack(_filled(archive.bytes_at(place, _END.size), _END))
    comment = archive.bytes_at(place + _END.size, length)
    end = place + _END.size + length
    # uv takes zeros behind the end for padding
    if end > archive.size or archive.bytes_at(end, archive.size - end).strip(b"\0"):
        raise Flawed(NOT_ONE)
    if _NOT_IN_A_COMMENT & set(comment):
        raise Flawed(NOT_ONE)
    start, (_, count, *_) = _large_end(told, place, archive)
    if count != len(archive.members):
        raise Flawed(f"it says that it holds {count} files, and it holds {len(archive.members)}")
    return start


def _large_end(told: list[int], place: int, archive: Structure) -> tuple[int, Sequence[int]]:
    """Return where the end begins and what it tells; numbers that are too large for it stand in one before it."""
    locator = archive.bytes_at(max(0, place - _LOCATOR.size), _LOCATOR.size)
    if not locator.startswith(_LOCATOR_MARK):
        return place, told
    (found,) = _LOCATOR.unpack(_filled(locator, _LOCATOR))
    end = archive.bytes_at(found, _LARGE_END.size)
    numbers = _LARGE_END.unpack(_filled(end, _LARGE_END))
    contradicted = any(short not in (true, limit) for short, true, limit in zip(told, numbers, _TOO_LARGE, strict=True))
    if not end.startswith(_LARGE_END_MARK) or contradicted:
        raise Flawed(NOT_ONE)
    return found, numbers


_TOO_LARGE = (_MANY, _MANY, _LARGE, _LARGE)


def _filled(content: bytes, form: struct.Struct) -> bytes:
    """Return bytes in the length of a form, where an archive ends before that."""
    return content[: form.size].ljust(form.size, b"\0")
