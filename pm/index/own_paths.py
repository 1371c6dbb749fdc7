"""Paths in an environment that are its own, so that no wheel may write them; and what runs or starts by itself there.

All paths are relative to the site-packages, as RECORDs write them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from pm.index.contents import Oddity
from pm.inside import HOST_MARK, MODULE
from pm.limits import PATH_FILE_BYTES
from pm.names import shown

OUTSIDE = "../../.."
"""From the site-packages to the environment's own folder."""
SCRIPTS = f"{OUTSIDE}/bin"
_SCRIPT = f"{SCRIPTS}/"
_SITE_PACKAGES = re.compile(rf"{re.escape(OUTSIDE)}/lib(?:64)?/python3\.\d+/site-packages/")
_OF_THE_MANAGER = rf"{MODULE}.*"
_OWN = re.compile(
    rf"{re.escape(OUTSIDE)}/(?:pyvenv\.cfg|pylock\.toml|{MODULE}.*|lib|lib64|bin|\.lock|\.gitignore|cachedir\.tag)"
    # the names that an environment gives to its interpreter and to its scripts for shells
    rf"|{re.escape(SCRIPTS)}/(?:pythonw?\d*(?:\.\d+)*t?(?:\.exe)?|(?:de)?activate(?:[._].*)?)(?:/.*)?"
    rf"|(?:{_OF_THE_MANAGER}|_virtualenv(?:\..*)?|{re.escape(HOST_MARK)})(?:/.*)?",
    re.IGNORECASE,
)
"""What uv and the manager put there. A file system may not tell cases apart."""
_CUSTOMISING = ("sitecustomize", "usercustomize")
_AT_START = re.compile(r"(?:site|user)customize(?:\.[^/]*\.(?:so|pyd)|\.(?:py|so|pyd|pyc)|/__init__\.[^/]*)")
_CARRIAGE_RETURN = re.compile(rb"#![^\n]*\r\n")
_HEAD_BYTES = 4096
"""Bytes of a script: its first line, and that of a binary program."""
_MENDED = b"#!python"
"""How a first line begins in whose place uv writes the environment's interpreter."""


Head = Callable[[str], bytes]
"""Returns the beginning of the file with such a path; empty where that is not known."""


def settled(path: str) -> str:
    """Return the path of a file as Python finds it: what lies in the site-packages has one path only."""
    return _SITE_PACKAGES.sub("", path, count=1)


def is_own(path: str) -> bool:
    """Say whether a path belongs to the environment itself or to the manager."""
    # nearly every path begins otherwise, and an environment has many
    return path[:1] in {".", "_"} and _OWN.fullmatch(path) is not None


def reserved(path: str) -> str:
    """Return what is wrong with a wheel that writes such a path."""
    return f"it writes {shown(path)}, which belongs to the environment itself"


def to_be_read(path: str) -> bool:
    """Say whether a file is looked into to tell what is odd about it."""
    return _is_path_file(path) or path.startswith(_SCRIPT)


def _is_path_file(path: str) -> bool:
    return path.endswith(".pth") and "/" not in path


def bytes_to_read(path: str) -> int:
    """Return how many bytes of such a file are looked at."""
    return _HEAD_BYTES if path.startswith(_SCRIPT) else PATH_FILE_BYTES.value


def oddities(paths: Iterable[str], head: Head) -> tuple[Oddity, ...]:
    """Return what is odd about files, sorted."""
    found = sorted(paths)
    told = (
        Oddity("invalid-script", tuple(_unstartable(found, head))),
        Oddity("runs-at-start", tuple(_running(found, head))),
    )
    return tuple(oddity for oddity in told if oddity.paths)


def _running(paths: Iterable[str], head: Head) -> Iterator[str]:
    """Yield the files whose code every start of Python runs."""
    for path in paths:
        if (path.startswith(_CUSTOMISING) and _AT_START.fullmatch(path)) or (
            _is_path_file(path) and _has_code(head(path))
        ):
            yield path


def _has_code(content: bytes) -> bool:
    """Say whether a `.pth` has a line that is run, as `site` reads it."""
    lines = content.decode("utf-8-sig", "replace").splitlines()
    return any(line.startswith(("import ", "import\t")) for line in lines)


def _unstartable(paths: Iterable[str], head: Head) -> Iterator[str]:
    """Yield the scripts that no system starts: it takes the carriage return for a part of the interpreter's name."""
    for path in paths:
        if path.startswith(_SCRIPT):
            first = head(path)
            if _CARRIAGE_RETURN.match(first) and not first.startswith(_MENDED):
                yield path
