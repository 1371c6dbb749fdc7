"""Answer *is everything ready?* as it was answered last, as long as nothing that the answer rests on has changed.

What was shown is kept in the cache with a stamp of every file and folder that it rests on, and of the variables and the
code. A stamp is what `stat` says (inode, size, times of content and of status), so nothing is parsed or even read. Only
little of the standard library is needed: this is what a prompt or a dashboard asks every few seconds.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterable

from pm.redaction import redact

SCHEMA = 1
_FILE = "ready.json"
# everything by which the surroundings can change an answer: where plugins and packages come from, how it is shown
_VARIABLES = ("UV_", "PIP_", "HERMES_", "XDG_CONFIG_", "HOME", "LANG", "LC_", "TERM", "NO_COLOR", "COLUMNS", "PYTHONIO")
_PLUGIN_FILES = ("plugin.yaml", "plugin.yml", "plugin.json", "pyproject.toml", "__init__.py")
# not `--summary`: it tells too which variables a plugin needs and finds, and those are nobody's to stamp
_OPTIONS = frozenset({"--json", "--offline", "--strict", "-q", "--quiet"})
_ID, _STARTED, _FINISHED, _TOOK = "@ID@", "@STARTED@", "@FINISHED@", "@TOOK@"

Stamp = list[int] | None


def answer(words: list[str]) -> int | None:
    """Show the last answer and return its exit status; `None` for another question, or if it must be found out anew."""
    started = time.time()
    home = asked_home(words)
    if home is None:
        return None
    try:
        with open(_place(home), "rb") as file:  # noqa: PTH123 - `pathlib` costs as much as all of this
            kept = json.loads(file.read())
        same = kept["key"] == _key(words) and kept["stamps"] == stamps(kept["paths"])
        text, status = kept["shown"], kept["status"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if not same:
        return None
    sys.stdout.write(_renewed(text, started))
    return int(status)


def asked_home(words: list[str]) -> str | None:
    """Return the home of a question that can be answered here; `None` for every other command."""
    if words[:2] != ["plugins", "check"]:
        return None
    home = os.environ.get("HERMES_HOME", "").strip() or "~/.hermes"
    rest = iter(words[2:])
    for word in rest:
        if word == "--home":
            home = next(rest, "")
        elif word not in _OPTIONS:
            return None
    return os.path.abspath(os.path.expanduser(home)) if home else None  # noqa: PTH100, PTH111 - as above


def remember(words: list[str], before: tuple[list[str], list[Stamp]], shown: str, facts: dict[str, str]) -> None:
    """Keep what was shown; `before` are the paths that it rests on with their stamps from before it was found out.

    `facts` are those parts of it that belong to this one answer: `id`, `started_at`, `finished_at`, `duration_ms`.
    """
    from pathlib import Path

    from pm.atomic import write_json

    home = asked_home(words)
    if home is None or any(_is_dynamic(path) for path in before[0]):
        return
    parts = ((_ID, "id"), (_STARTED, "started_at"), (_FINISHED, "finished_at"))
    for mark, name in parts:
        shown = shown.replace(facts[name], mark)
    shown = shown.replace(f'"duration_ms": {facts["duration_ms"]},', f'"duration_ms": {_TOOK},')
    paths, stamped = before
    value = {"key": _key(words), "paths": paths, "stamps": stamped, "shown": shown, "status": 0}
    write_json(Path(_place(home)), value, mode=0o600)


def stamps(paths: Iterable[str]) -> list[Stamp]:
    """Return what tells whether each path is still what it was; `None` for one that is not there."""
    return [_stamp(path) for path in paths]


def inputs(home: str, more: Iterable[str]) -> list[str]:
    """Return the files and folders that say what is enabled, what it declares, and what is selected."""
    root = _root(home)
    profiles = f"{root}/profiles"
    paths = [profiles, f"{root}/pm/pointer.json", f"{root}/pm/journal.json", f"{root}/.managed", *more]
    for place in dict.fromkeys([root, *_subfolders(profiles), home]):
        paths += [f"{place}/config.yaml", *plugin_files(f"{place}/plugins")]
    return [*paths, *plugin_files(f"{_here()}/.hermes/plugins")]


def _here() -> str:
    """Return the working folder; empty where it is gone."""
    try:
        return os.getcwd()  # noqa: PTH109 - as above
    except FileNotFoundError:
        return ""


def _is_dynamic(path: str) -> bool:
    """Return whether a project may name further files, of which nothing is known here, for its requirements."""
    if not path.endswith("/pyproject.toml"):
        return False
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - as above
            return b"dynamic" in file.read()
    except OSError:
        return False


def plugin_files(folder: str) -> list[str]:
    """Return a folder of plugins with all files that say what those declare."""
    paths = [folder]
    for plugin in _subfolders(folder):
        for place in (plugin, *_subfolders(plugin)):
            paths += [place, *(f"{place}/{name}" for name in _PLUGIN_FILES)]
    return paths


def _subfolders(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.path for entry in entries if entry.is_dir())
    except OSError:
        return []


def _stamp(path: str) -> Stamp:
    try:
        status = os.stat(path)  # noqa: PTH116 - as above
    except OSError:
        return None
    return [status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns]


def _root(home: str) -> str:
    parent, name = os.path.split(os.path.dirname(home))  # noqa: PTH120 - as above
    return parent if name == "profiles" else home


def _place(home: str) -> str:
    return f"{_root(home)}/pm/cache/{_FILE}"


def _key(words: list[str]) -> list[object]:
    variables = sorted(f"{name}={value}" for name, value in os.environ.items() if name.startswith(_VARIABLES))
    return [SCHEMA, words, _here(), redact("\n".join(variables)), sys.prefix, _screen(), _code()]


def _screen() -> list[object]:
    """Return what the layout of a text depends on."""
    if not sys.stdout.isatty():
        return [0, sys.stdout.encoding]
    return [os.get_terminal_size(sys.stdout.fileno()).columns, sys.stdout.encoding]


def _code() -> list[list[object]]:
    """Return the stamps of the manager's own modules: an updated manager finds out anew."""
    here = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - as above
    top = os.path.dirname(here)  # noqa: PTH120 - as above
    folders = [here, *_subfolders(here), f"{top}/admission", f"{top}/lockfiles"]
    return [[folder, _newest(folder)] for folder in folders if not folder.endswith("__pycache__")]


def _newest(folder: str) -> int:
    with os.scandir(folder) as entries:
        return max((entry.stat().st_mtime_ns for entry in entries if entry.name.endswith(".py")), default=0)


def _renewed(text: str, started: float) -> str:
    """Return a kept answer as one of now: every answer has an id and times of its own."""
    finished = time.time()
    for mark, value in (
        (_ID, os.urandom(5).hex()),
        (_STARTED, _time_text(started)),
        (_FINISHED, _time_text(finished)),
        (_TOOK, str(round((finished - started) * 1000))),
    ):
        text = text.replace(mark, value)
    return text


def _time_text(moment: float) -> str:
    seconds, milliseconds = divmod(int(moment * 1000), 1000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{milliseconds:03}Z"
