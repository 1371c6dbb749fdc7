"""The form of a `*.dist-info` folder and of its RECORD, as text: how a distribution is named and lists its files.

Environments have such folders (`pm.generations.distributions` reads and writes them), and so have wheels.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from pm.names import shown

ENDING = ".dist-info"
METADATA = "METADATA"
RECORD = "RECORD"
_SHA256 = "sha256="
_LENGTH = len(_SHA256) + 43
_ENDS_OF_LINES = re.compile("\r\n|[\r\n]")
"""No other character ends a line of a RECORD: it may be part of a file's name."""
_SEPARATORS = re.compile(r"[-_.]+")
_FIELDS = 3
"""Path, digest, size."""


class RecordLine(NamedTuple):
    """One line of a RECORD (binary distribution format)."""

    path: str
    """Relative to the folder that the RECORD is about."""
    digest: str
    """`sha256=…`; empty where the installer gave none."""
    size: int | None

    @property
    def has_sha256(self) -> bool:
        return self.digest.startswith(_SHA256)


def is_info(folder: str) -> bool:
    """Say whether a folder's name is one of a distribution's own folder."""
    return folder.endswith(ENDING)


def distribution_of(folder: str) -> tuple[str, str]:
    """Return the normalised name and the version that the name of a `*.dist-info` folder says."""
    name, _, version = folder.removesuffix(ENDING).rpartition("-")
    return _normalised(name), version


def _normalised(name: str) -> str:
    """Return the normalised form of a distribution's name (PEP 503).

    As `admission.canonical_name` does, which needs `packaging`: a start of a command must do without it.
    """
    return _SEPARATORS.sub("-", name).lower()


def record_lines(text: str) -> list[RecordLine]:
    """Return the lines of a RECORD that have the form of one. Raise `ValueError` for a text that is none."""
    return [_line(*row) for row in _rows(text) if len(row) == _FIELDS]


def strict_record_lines(text: str) -> list[RecordLine]:
    """Return the lines of a RECORD; raise `ValueError` with the first one that no installer reads."""
    lines = []
    for row in _rows(text):
        if len(row) != _FIELDS:
            joined = ",".join(row)
            raise ValueError(f"{shown(joined)} has {len(row)} fields instead of {_FIELDS}")
        try:
            lines.append(_line(*row))
        except ValueError:
            raise ValueError(f"{shown(row[2])} is no size") from None
    return lines


def _line(path: str, digest: str, size: str) -> RecordLine:
    if size and not (size.isascii() and size.isdigit()):
        raise ValueError(f"`{size}` is no size")
    # of another length are those with padding or hexadecimal digits, as some builders write them
    return RecordLine(path, digest if len(digest) == _LENGTH else _settled(digest), int(size) if size else None)


def _settled(digest: str) -> str:
    """Return a digest as most RECORDs have it."""
    if not digest.startswith(_SHA256):
        return digest
    value = digest.removeprefix(_SHA256).rstrip("=")
    if re.fullmatch("[0-9a-fA-F]{64}", value) is not None:
        return sha256_text(bytes.fromhex(value))
    return _SHA256 + value


def _rows(text: str) -> list[list[str]]:
    # without quotes, as nearly every RECORD is, a comma always parts two fields; `csv` costs a dry run 3 ms to import
    if '"' in text:
        return _quoted(text)
    return [line.split(",") for line in _ENDS_OF_LINES.split(text) if line]


def _quoted(text: str) -> list[list[str]]:
    import csv
    import io

    try:
        return [row for row in csv.reader(io.StringIO(text, newline="")) if row]
    except csv.Error as error:
        raise ValueError(str(error)) from error


def record_text(lines: Iterable[RecordLine]) -> str:
    """Return the RECORD with these lines."""
    import csv
    import io

    written = io.StringIO()
    rows = csv.writer(written, lineterminator="\n")
    rows.writerows((line.path, line.digest, "" if line.size is None else line.size) for line in lines)
    return written.getvalue()


def sha256_text(digest: bytes) -> str:
    """Return a SHA-256 as a RECORD writes it."""
    import base64

    return _SHA256 + base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
