"""What the word means by which an operator names the source of a plugin; nothing is fetched or run."""

import re
from pathlib import Path
from typing import NamedTuple, TypeAlias

from pm.errors import PmError
from pm.names import shown
from pm.places import expanded
from pm.redaction import redact_value

ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz", ".tar.zst")
_SCHEMES = ("https", "http", "ssh", "file")
"""Ways to reach a repository. `ext::` and `fd::` run or read what the address says, so they are none."""
_ADDRESS = re.compile(r"(?i:git\+)?(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<rest>.*)", re.DOTALL)
_SCP = re.compile(r"[A-Za-z0-9_.-]+@[A-Za-z0-9.-]+:[^:].*")
"""`git@host:path`, as git calls a repository that ssh reaches."""
_SHORT = re.compile(
    r"(?P<owner>[A-Za-z0-9][A-Za-z0-9-]*)/(?P<name>[A-Za-z0-9_][A-Za-z0-9_.-]*)(?P<inside>(?:/[^/]+)*)/?"
)
_FORGE = "https://github.com"
"""Where `owner/repository` lies, as the host has it."""
_TREE = re.compile(r"(?P<url>https://[^/]+/[^/]+/[^/]+)/tree/(?P<ref>[^/]+)(?:/(?P<inside>.*?))?/?")
_COMMIT = re.compile(r"[0-9a-f]{40}")
CATALOG_NAME = re.compile(r"[a-z0-9_-]{1,64}")
"""What an entry of a catalog may be called."""


class Folder(NamedTuple):
    """A folder of this machine."""

    path: Path


class ArchiveFile(NamedTuple):
    """A `.zip` or `.tar.*` of this machine."""

    path: Path


class Git(NamedTuple):
    """A folder of a repository, at a commit."""

    url: str
    """As git takes it; it may hold a login."""
    subdir: str = ""
    """Of the repository; empty for its root."""
    ref: str = ""
    """A full commit, or the name of a branch or a tag; empty for the default branch."""

    @property
    def shown(self) -> str:
        """What it is called where it is shown and recorded: without a login."""
        url = redact_value(self.url)
        return f"{url}#{self.subdir}" if self.subdir else url


Source: TypeAlias = Folder | ArchiveFile | Git


def is_source(text: str) -> bool:
    """Say whether a word means a folder, an archive or an address, and not the key of an installed plugin."""
    return text.startswith((".", "/", "~")) or text.lower().endswith(ARCHIVES) or is_address(text)


def is_address(text: str) -> bool:
    """Say whether a word names something that is not on this machine."""
    return _ADDRESS.fullmatch(text) is not None or _SCP.fullmatch(text) is not None or _is_package(text)


def _is_package(text: str) -> bool:
    return text.lower().startswith("pypi:")


def read_source(text: str, commit: str = "") -> Source:
    """Return what a word means. `commit` is what the operator says beside it (`--ref`): a full commit of a repository.

    Raise `PmError` (`invalid-source`) for what does not exist on this machine, and for everything that is no source.
    """
    if not text.strip():  # a path of no parts is the working folder, and a variable of the shell may be empty
        raise PmError("invalid-source", "the source is empty", hint=_KINDS)
    if any(ord(sign) < _BLANK for sign in text):
        raise PmError("invalid-source", f"{shown(text)} holds a control character", hint=_KINDS)
    source = _remote(text) or _local(text)
    if not commit:
        return source
    if not isinstance(source, Git):
        message = f"`--ref` names a commit of a repository, and {shown(text)} is none"
        raise PmError("invalid-source", message, hint="leave out `--ref`")
    return source._replace(ref=_as_commit(commit))


_KINDS = "a source is a folder, an archive or the address of a git repository"
_BLANK = 32


def is_commit(ref: str) -> bool:
    """Say whether a name is that of a full commit, and not of a branch or a tag."""
    return _COMMIT.fullmatch(ref) is not None


def _as_commit(text: str) -> str:
    if not is_commit(text.lower()):
        message = f"{shown(text)} is not a full commit of 40 hexadecimal digits"
        raise PmError("invalid-source", message, hint="a branch or a tag moves, so `--ref` takes a commit only")
    return text.lower()


def _remote(text: str) -> Git | None:
    """Return the repository that a word names; `None` for what is a path."""
    if _is_package(text):
        message = f"{shown(text)} is a package of an index, and such plugins are not supported yet"
        raise PmError("invalid-source", message, hint="fetch it first, then install the folder")
    if is_address(text):
        return _addressed(text)
    short = _SHORT.fullmatch(text)
    if short is None or text.lower().endswith(ARCHIVES) or expanded(text).exists():
        return None
    return Git(f"{_FORGE}/{short['owner']}/{short['name']}.git", _inside(short["inside"].strip("/"), text))


def _addressed(text: str) -> Git:
    address, _, fragment = text.partition("#")
    found = _ADDRESS.fullmatch(address)
    if found is not None and found["scheme"].lower() not in _SCHEMES:
        message = f"{shown(redact_value(text))} is not fetched: `{found['scheme']}` is no way to reach a repository"
        raise PmError("invalid-source", message, hint=f"use one of {', '.join(f'`{one}`' for one in _SCHEMES)}")
    if found is not None and address.lower().endswith(ARCHIVES):
        message = f"{shown(redact_value(text))} is an archive, and archives are read from this machine only"
        raise PmError("invalid-source", message, hint="download it first, then install the file")
    url = re.sub(r"^git\+", "", address, flags=re.IGNORECASE)
    tree = _TREE.fullmatch(url)
    if tree is not None:
        inside = "/".join(filter(None, (tree["inside"] or "", fragment)))
        return Git(f"{tree['url']}.git", _inside(inside, text), _as_ref(tree["ref"], text))
    before, found_git, inside = url.partition(".git/")
    if found_git:
        url, fragment = f"{before}.git", "/".join(filter(None, (inside.strip("/"), fragment)))
    return Git(url, _inside(fragment, text))


def _inside(path: str, text: str) -> str:
    """Return a folder of a repository; raise `PmError` for a path that leads out of it."""
    parts = path.removeprefix("subdirectory=").strip("/").split("/") if path else []
    if any(part in ("", ".", "..") or part.startswith("-") or "\\" in part or ":" in part for part in parts):
        message = f"{shown(redact_value(text))} names {shown(path)}, which is no folder of a repository"
        raise PmError("invalid-source", message, hint="write the folder as `path/to/plugin`")
    return "/".join(parts)


def _as_ref(ref: str, text: str) -> str:
    if re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*", ref) is None or ".." in ref or ref.endswith(".lock"):
        raise PmError("invalid-source", f"{shown(redact_value(text))} names {shown(ref)}, which is no branch or tag")
    return ref


def local_source(text: str) -> Folder | ArchiveFile:
    """Return the folder or archive that a word names; raise `PmError` (`invalid-source`) for everything else."""
    source = read_source(text)
    if isinstance(source, Git):
        message = f"{shown(redact_value(text))} is not a folder or an archive of this machine"
        raise PmError("invalid-source", message, hint="clone it first, then name the folder")
    return source


def _local(text: str) -> Folder | ArchiveFile:
    path = expanded(text)
    if path.is_dir():
        return Folder(path)
    is_archive = text.lower().endswith(ARCHIVES)
    if path.is_file() and is_archive:
        return ArchiveFile(path)
    if path.is_file():
        kinds = ", ".join(f"`{suffix}`" for suffix in ARCHIVES)
        raise PmError("invalid-source", f"{shown(text)} is a file, and not an archive of a supported kind: {kinds}")
    raise PmError("invalid-source", f"{shown(text)} does not exist", hint=_KINDS)
