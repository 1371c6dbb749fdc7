"""Find the metadata inside of a wheel."""

from __future__ import annotations

import os
import zipfile
from typing import IO

from pm.dist_info import METADATA, distribution_of, is_info


class NoMetadata(ValueError):
    """A file that should be a wheel and holds no readable metadata."""


def metadata_of_wheel(file: str | os.PathLike[str] | IO[bytes], name: str) -> bytes:
    """Return the `METADATA` of a wheel. Raise `NoMetadata` if there is none or the archive is damaged."""
    try:
        with zipfile.ZipFile(file) as archive:
            return archive.read(metadata_member(archive, name))
    except (zipfile.BadZipFile, KeyError, EOFError, NotImplementedError, RuntimeError) as error:
        raise NoMetadata("it is not a readable wheel") from error


def metadata_member(archive: zipfile.ZipFile, name: str) -> zipfile.ZipInfo:
    """Return the member that holds the metadata of the distribution `name`."""
    for member in archive.infolist():
        folder, _, rest = member.filename.partition("/")
        if rest == METADATA and is_info(folder) and distribution_of(folder)[0] == name:
            return member
    raise NoMetadata(f"it has no `{METADATA}` of `{name}`")
