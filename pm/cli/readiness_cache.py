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

from pm.cli.answer import give
from pm.redaction import is_secret_name, redact, redact_value
from pm.system.stamps import Stamp, code_stamps, root_of, stamps, working_folder
from pm.system.terminal import columns, obeys

SCHEMA = 1
_FILE = "ready.json"
_LONGEST = 64 * 1024 * 1024
"""Bytes that an answer may have: a damaged one can be of any size."""
# everything by which the surroundings can change an answer: where plugins and packages come from, how it is shown
_VARIABLES = ("UV_", "PIP_", "HERMES_", "XDG_CONFIG_", "HOME", "LANG", "LC_", "TERM", "NO_COLOR", "COLUMNS", "PYTHONIO")
_ID, _STARTED, _FINISHED, _TOOK = "@ID@", "@STARTED@", "@FINISHED@", "@TOOK@"


def answer(words: list[str]) -> int | None:
    """Show the last answer and return its exit status; `None` for another question, or if it must be found out anew."""
    started = time.time()
    home = asked_home(words)
    if home is None:
        return None
    try:
        with open(_place(home), "rb", opener=_unblocked) as file:
            kept = json.loads(file.read(_LONGEST))
        same = kept["key"] == _key(words) and kept["stamps"] == stamps(kept["paths"])
        text, status = str(kept["shown"]), int(kept["status"])
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError, OverflowError):
        return None
    if not same:
        return None
    give(_renewed(text, started))
    return status


def _unblocked(path: str, flags: int) -> int:
    """Open a file; what is a pipe instead is not waited for."""
    return os.open(path, flags | os.O_NONBLOCK)


def asked_home(words: list[str]) -> str | None:
    """Return the home of a question about everything that is enabled; `None` for every other command."""
    if words[:2] != ["plugins", "check"]:
        return None
    home = os.environ.get("HERMES_HOME", "").strip() or "~/.hermes"
    rest = iter(words[2:])
    for word in rest:
        if word == "--home":
            home = next(rest, "")
        elif not word.startswith("-"):
            return None
    path = os.path.expanduser(home)  # noqa: PTH111 - as above
    if not path or path.startswith("~") or os.path.exists(f"{path}/active_profile"):  # noqa: PTH110 - as above
        return None
    return os.path.abspath(path)  # noqa: PTH100 - as above


def remember(words: list[str], before: tuple[list[str], list[Stamp]], shown: str, facts: dict[str, str]) -> None:
    """Keep what was shown; `before` are the paths that it rests on with their stamps from before it was found out.

    `facts` are those parts of it that belong to this one answer: `id`, `started_at`, `finished_at`, `duration_ms`.
    """
    from pathlib import Path

    from pm.system.files import write_json

    home = asked_home(words)
    if home is None or not _is_quick(words) or any(_is_dynamic(path) for path in before[0]):
        return
    parts = ((_ID, "id"), (_STARTED, "started_at"), (_FINISHED, "finished_at"))
    for mark, name in parts:
        shown = shown.replace(facts[name], mark)
    shown = shown.replace(f'"duration_ms": {facts["duration_ms"]},', f'"duration_ms": {_TOOK},')
    paths, stamped = before
    value = {"key": _key(words), "paths": paths, "stamps": stamped, "shown": shown, "status": 0}
    write_json(Path(_place(home)), value, mode=0o600)


def _is_quick(words: list[str]) -> bool:
    """Return whether every option is one with which an answer may be kept; what was never kept is never shown."""
    from pm.cli.verb_table import VERBS

    quick = {flag for argument in VERBS["plugins", "check"].arguments if argument.is_quick for flag in argument.names}
    return all(word in quick for word in words[2:] if word.startswith("-"))


def _is_dynamic(path: str) -> bool:
    """Return whether a project may name further files, of which nothing is known here, for its requirements."""
    if not path.endswith("/pyproject.toml"):
        return False
    try:
        with open(path, "rb", opener=_unblocked) as file:
            return b"dynamic" in file.read(_LONGEST)
    except OSError:
        return False


def _place(home: str) -> str:
    return f"{root_of(home)}/pm/cache/{_FILE}"


def _key(words: list[str]) -> list[object]:
    variables = sorted(f"{name}={_kept(name, value)}" for name, value in os.environ.items() if _counts(name))
    return [SCHEMA, words, working_folder(), variables, sys.prefix, _screen(), code_stamps()]


def _counts(name: str) -> bool:
    return name.startswith(_VARIABLES) and not is_secret_name(name)


def _kept(name: str, value: str) -> str:
    """Return what is kept of a variable; a few hold several addresses, with blanks between them."""
    return redact(value) if "INDEX" in name or "LINKS" in name else redact_value(value)


def _screen() -> list[object]:
    """Return what the layout of a text depends on."""
    return [obeys(sys.stdout), columns(sys.stdout), sys.stdout.encoding]


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
