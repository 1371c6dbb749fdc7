"""Get the text of a plugin's file, from a folder or a wheel: UTF-8 and within bounds, or the problem with it."""

from __future__ import annotations

import codecs
import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from admission import Problem
from pm.limits import DECLARATION_BYTES, Limit
from pm.names import shown
from pm.system.files import leads_nowhere, read_regular

if TYPE_CHECKING:
    from zipfile import ZipFile

MANIFEST_FILES = ("plugin.yaml", "plugin.yml", "plugin.json")
"""The first one that exists is the manifest."""
PROJECT_FILE = "pyproject.toml"
DECLARATION_FILES = (*MANIFEST_FILES, PROJECT_FILE)
SOURCE_FILE = "__init__.py"
"""The file whose text tells a memory provider from other plugins (`pm.plugins.providers`)."""

Content = bytes | Problem | None
"""The bytes of a file, why they cannot be had, or `None` for a file that does not exist."""
Fetch = Callable[[str], Content]
"""How the files of one plugin are got, by their name relative to its root."""


def text_of(content: Content, name: str) -> str | Problem | None:
    """Return the text of a file: UTF-8, with or without byte order mark, every line end as a line feed."""
    if content is None or isinstance(content, Problem):
        return content
    if content.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in content[:4]:
        return _not_utf8(name, "the file is UTF-16", 1)
    if b"\0" in content:
        line = _line(content, content.index(b"\0"))
        return Problem("invalid-declaration", "the file holds NUL bytes: it is not text", name, line)
    try:
        return content.removeprefix(codecs.BOM_UTF8).decode().replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        # The offset does not count the mark; the number of line ends before it is the same.
        return _not_utf8(name, f"byte 0x{error.object[error.start]:02x} is not UTF-8", _line(content, error.start))


def folder_files(folder: Path) -> Fetch:
    """Return a way to get the files of a folder; a link that leads out of it is a problem, not a file."""

    def fetch(name: str) -> Content:
        try:
            return _read(folder, name)
        except (OSError, ValueError) as error:
            return _not_had(error, name, folder, folder / name)

    return fetch


def regular_file(path: Path, name: str, most: Limit) -> Content:
    """Return the bytes of a file that may lie behind a link, up to a limit; `name` is what a problem calls it."""
    try:
        return read_regular(path, most)
    except (OSError, ValueError) as error:
        return _not_had(error, name, path)


def wheel_files(archive: ZipFile, prefix: str) -> Fetch:
    """Return a way to get the files below one folder of a wheel, without unpacking it."""

    def fetch(name: str) -> Content:
        try:
            entry = archive.getinfo(prefix + name)
        except KeyError:
            return None
        return _too_large(name) if entry.file_size > DECLARATION_BYTES.value else archive.read(entry)

    return fetch


def _read(folder: Path, name: str) -> Content:
    path = folder / name
    may_lead_out = "/" in name or os.path.islink(path)  # noqa: PTH114 - as in `leads_nowhere`
    if may_lead_out and path.exists() and not path.resolve().is_relative_to(folder.resolve()):
        return Problem("invalid-declaration", "the file is a link that leads out of the plugin's folder", name)
    return read_regular(path, DECLARATION_BYTES)


def _not_had(error: OSError | ValueError, name: str, *path: Path) -> Problem | None:
    """Return why a file cannot be had, the last of a path; nothing is wrong if it is not there and no link names it.

    A `ValueError` is said of a name that no file can have.
    """
    number, reason = (error.errno, error.strerror) if isinstance(error, OSError) else (0, str(error))
    if number in _NOT_THERE:
        links = [(part, target) for part in path if (target := leads_nowhere(part))]
        return _nowhere(name, is_file=links[0][0] == path[-1], target=links[0][1]) if links else None
    said = str(reason) if number in _TOLD else f"the file cannot be read: {str(reason or error).lower()}"
    return Problem("invalid-declaration", said, name)


_NOT_THERE = (errno.ENOENT, errno.ELOOP)
_TOLD = (errno.EINVAL, errno.EFBIG)
"""Of what `read_regular` says in words of its own."""


def _nowhere(name: str, *, is_file: bool, target: str) -> Problem:
    noun = "file" if is_file else "plugin's folder"
    return Problem("invalid-declaration", f"the {noun} is a link that leads nowhere, to {shown(target)}", name)


def _too_large(name: str) -> Problem:
    return Problem("invalid-declaration", f"the file is larger than {DECLARATION_BYTES.value // 1024} KiB", name)


def _not_utf8(name: str, message: str, line: int) -> Problem:
    return Problem("invalid-declaration", message, name, line, hint="save the file as UTF-8")


def _line(content: bytes, offset: int) -> int:
    return content.count(b"\n", 0, offset) + 1
