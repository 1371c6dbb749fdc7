"""The form of a `*.dist-info` folder and of its RECORD, as text: how a distribution is named and lists its files.

Environments have such folders (`pm.generations.distributions` reads and writes them), and so have wheels.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

ENDING = ".dist-info"
METADATA = "METADATA"
RECORD = "RECORD"
_SHA256 = "sha256="
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
    """Return the lines of a RECORD. Raise `ValueError` for a text that is none."""
    # without quotes, as nearly every RECORD is, a comma always parts two fields; `csv` costs a dry run 3 ms to import
    rows = [line.split(",") for line in text.splitlines()] if '"' not in text else _quoted(text)
    return [RecordLine(row[0], row[1], int(row[2]) if row[2] else None) for row in rows if len(row) == _FIELDS]


def _quoted(text: str) -> list[list[str]]:
    import csv

    try:
        return list(csv.reader(text.splitlines()))
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
