"""Fetch a folder of a git repository at one commit: its files as they are stored there, and nothing else of it.

What a repository holds is not trusted. Nothing of it is checked out by git: hooks, filters, line endings, submodules
and `export-ignore` have no say, and the files pass the same checks as those of an archive. What the operator has
configured for git, such as a helper for logins, is used.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from pm.errors import PmError
from pm.limits import FETCH_SECONDS
from pm.names import shown
from pm.plugins.archive import unpack
from pm.redaction import redact
from pm.sources.spelling import Git
from pm.system.files import write_bytes
from pm.system.processes import Finished, run, scrubbed_environment

_COMMIT = re.compile(r"[0-9a-f]{40}")
_REMOTE = "source"
_ATTRIBUTES = "* -text -filter -ident -export-subst -export-ignore -working-tree-encoding\n"
"""What a repository says of its files has less weight than this: each is taken byte by byte."""
_SETTINGS = {
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "credential.interactive": "false",
    "fetch.recurseSubmodules": "false",
    "gc.auto": "0",
    "init.defaultBranch": "main",
    "maintenance.auto": "false",
    "submodule.recurse": "false",
    "tar.umask": "0022",
}
_PASSED = ("GIT_SSH_COMMAND", "SSH_AUTH_SOCK", "XDG_CONFIG_HOME", "GIT_SSL_CAINFO")
"""Variables by which an operator tells git how repositories are reached."""


def fetched(source: Git, place: Path, name: str) -> tuple[Path, str]:
    """Return a folder with the files of a source, below a folder of its own, and the commit that they are of.

    Raise `PmError` (`source-unreachable`, `invalid-source` for a folder or a commit that is not there,
    `unsafe-archive`, `no-space`, `not-writable`).
    """
    repository = _Repository(place / "repository", source)
    commit = repository.commit()
    archive = repository.archive(commit, place / "files.tar")
    return unpack(archive, place / "taken" / name), commit


def remote_commit(source: Git) -> str:
    """Return the commit that the branch or tag of a source means now, the default branch where it names none.

    Raise `PmError` (`source-unreachable`, `invalid-source` where there is no such branch or tag).
    """
    ref = source.ref
    names = (f"refs/heads/{ref}", f"refs/tags/{ref}^{{}}", f"refs/tags/{ref}") if ref else ("HEAD",)
    done = _run(source, "ls-remote", _REMOTE, *names)
    if done.status:
        raise _unreachable(source, done)
    said = dict(line.split("\t", 1)[::-1] for line in done.stdout.splitlines() if line.count("\t") == 1)
    commit = next((said[name] for name in names if name in said), "")
    if _COMMIT.fullmatch(commit) is None:
        message = f"{shown(source.shown)} has no {f'branch or tag {shown(ref)}' if ref else 'default branch'}"
        raise PmError("invalid-source", message)
    return commit


def _unreachable(source: Git, done: Finished) -> PmError:
    message = f"{shown(source.shown)} cannot be fetched: {_fault(done)}"
    return PmError("source-unreachable", message, hint="check the address, the network and the login")


class _Repository:
    """A bare repository for a while, which has what was fetched and no files."""

    def __init__(self, folder: Path, source: Git) -> None:
        self._folder = folder
        self._source = source
        said = self._git("init", "--quiet", "--bare", "--template=", str(folder), inside=False)
        if said is not None:
            raise PmError("not-writable", f"`git` cannot make a repository there: {said}", file=str(folder))
        write_bytes(folder / "info" / "attributes", _ATTRIBUTES.encode())

    def commit(self) -> str:
        """Fetch what was asked for, and return its commit; one that was named is that and no other."""
        ref = self._source.ref
        if _COMMIT.fullmatch(ref) is None:
            # a server of plain files knows no part of a history
            if not self._can_fetch(ref or "HEAD"):
                self._fetch(ref or "HEAD")
            return self._said("rev-parse", "--verify", "--end-of-options", "FETCH_HEAD^{commit}")
        # a server may give no commit by its name alone; then all branches and tags are asked for
        if not self._can_fetch(ref) or not self._has(ref):
            self._fetch("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
        if not self._has(ref):
            message = f"{shown(self._source.shown)} has no commit `{ref}`"
            raise PmError("invalid-source", message, hint="name a commit that a branch or a tag of it leads to")
        return ref

    def archive(self, commit: str, file: Path) -> Path:
        """Write the files of the folder that is wanted into a tar archive."""
        inside = self._source.subdir
        tree = f"{commit}:{inside}" if inside else commit
        if inside and self._kind(tree) != "tree":
            message = f"{shown(self._source.shown)} has no folder {shown(inside)} at `{commit[:12]}`"
            raise PmError("invalid-source", message, hint="name the folder that holds its `plugin.yaml`")
        done = self._git("archive", "--format=tar", "--prefix=plugin/", f"--output={file}", tree)
        if done is not None:
            raise PmError("unsafe-archive", f"the files of {shown(self._source.shown)} cannot be read: {done}")
        return file

    def _has(self, commit: str) -> bool:
        return self._kind(commit) == "commit"

    def _kind(self, name: str) -> str:
        done = self._run("cat-file", "-t", name)
        return done.stdout.strip() if done.status == 0 else ""

    def _can_fetch(self, ref: str) -> bool:
        return self._run("fetch", *_FETCH, "--depth=1", _REMOTE, ref).status == 0

    def _fetch(self, *refs: str) -> None:
        done = self._run("fetch", *_FETCH, _REMOTE, *refs)
        if done.status:
            raise _unreachable(self._source, done)

    def _said(self, *words: str) -> str:
        done = self._run(*words)
        if done.status or _COMMIT.fullmatch(done.stdout.strip()) is None:
            raise PmError("invalid-source", f"{shown(self._source.shown)} has no commit that can be read")
        return done.stdout.strip()

    def _git(self, *words: str, inside: bool = True) -> str | None:
        """Run git, and return why it failed, in its own words; `None` where it did not."""
        done = self._run(*words, inside=inside)
        return _fault(done) if done.status else None

    def _run(self, *words: str, inside: bool = True) -> Finished:
        where = ("--git-dir", str(self._folder)) if inside else ()
        return _run(self._source, *where, *words)


def _fault(done: Finished) -> str:
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    told = next((line for line in lines if line.startswith(("fatal:", "error:", "ERROR:"))), "")
    return redact(told or (lines[-1] if lines else f"git ended with status {done.status}"))


def _run(source: Git, *words: str) -> Finished:
    try:
        return run(["git", *words], environment=_environment(source), seconds=FETCH_SECONDS.value)
    except PmError as error:
        if error.code == "interrupted":
            message = f"{shown(source.shown)} was not fetched within {FETCH_SECONDS.value} seconds"
            raise PmError("source-unreachable", message) from error
        error.hint = "install `git`, which fetches repositories"
        raise


def _environment(source: Git) -> Mapping[str, str]:
    """Return the variables of git. The address is one of them, since any user sees the words of a process."""
    settings = {**_SETTINGS, f"remote.{_REMOTE}.url": source.url}
    given = {f"GIT_CONFIG_KEY_{at}": name for at, name in enumerate(settings)}
    given |= {f"GIT_CONFIG_VALUE_{at}": value for at, value in enumerate(settings.values())}
    passed = {name: os.environ[name] for name in _PASSED if name in os.environ}
    return scrubbed_environment() | {
        **passed,
        **given,
        # above every setting, the operator's own too: other ways run or read what an address says
        "GIT_ALLOW_PROTOCOL": "file:http:https:ssh",
        "GIT_ASKPASS": "true",
        "GIT_CONFIG_COUNT": str(len(settings)),
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
        "SSH_ASKPASS": "true",
    }


_FETCH = ("--quiet", "--no-tags", "--no-recurse-submodules")
