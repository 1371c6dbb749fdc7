"""Words as the host understands them: its own options in front of a verb of ours, and which profile is meant."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence

from pm.cli.verb_table import is_own
from pm.errors import PmError
from pm.places import find_places, home_of_profile

TYPE_CHECKING = False  # as in `typing`
if TYPE_CHECKING:
    from pm.places import Places

_PROFILE = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
"""What the host takes for the name of a profile: `-p` before anything else is meant for another program."""
_WITH_VALUE = frozenset(
    {"-z", "--oneshot", "-m", "--model", "--provider", "-t", "--toolsets", "-r", "--resume", "-s", "--skills",
     "--usage-file"}
)  # fmt: skip
_WITH_OPTIONAL_VALUE = frozenset({"-c", "--continue"})


def understood(words: Sequence[str], environ: Mapping[str, str]) -> list[str]:
    """Return the words of a command of ours without the host's options; the words of every other one as they are.

    The profile that they name becomes `--home`, which wins where it is said itself. Raise `PmError`
    (`unknown-profile`).
    """
    profile, rest = _without_profile(words)
    command = rest[_first(rest) :]
    if not is_own(command):
        return list(words)
    own, others = _parted(command)
    if not profile or any(word.partition("=")[0] == "--home" for word in own):
        return command
    home = os.fspath(home_of_profile(profile, find_places(None, environ).root))
    return [*own, "--home", home, *others]


def meant_places(words: Sequence[str], environ: Mapping[str, str]) -> Places:
    """Return the places of a command of the core's; it has words of its own for a profile that does not exist."""
    profile, _ = _without_profile(words)
    places = find_places(None, environ)
    try:
        return find_places(os.fspath(home_of_profile(profile, places.root)), environ) if profile else places
    except PmError:
        return places


def _without_profile(words: Sequence[str]) -> tuple[str, list[str]]:
    """Return the profile that words name, wherever they do, and the other words."""
    at, end = 0, len(_parted(words)[0])
    while at < end and not _is_for_another(words, at):
        word, following = words[at], words[at + 1 : at + 2]
        if word in ("-p", "--profile") and following:
            named = _PROFILE.fullmatch(following[0]) is not None
            return (following[0], [*words[:at], *words[at + 2 :]]) if named else ("", list(words))
        if word.startswith("--profile="):
            return word.partition("=")[2], [*words[:at], *words[at + 1 :]]
        at += _length(words, at)
    return "", list(words)


def _is_for_another(words: Sequence[str], at: int) -> bool:
    """Say whether the words from here on are those of a program that `mcp add` is told of."""
    return words[at] == "--args" and "mcp" in words[:at] and "add" in words[words.index("mcp") : at]


def _parted(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the words of the command itself, and those of the program that it runs."""
    start = _first(words)
    if words[start : start + 1] == ["run"]:
        at = start + 1
        while at < len(words) and words[at].startswith("-") and words[at] != "--":
            at += 2 if words[at] in ("-p", "--profile", "--home") else 1
        return list(words[:at]), list(words[at:])
    end = words.index("--") if "--" in words else len(words)
    return list(words[:end]), list(words[end:])


def _first(words: Sequence[str]) -> int:
    """Return where the first word stands that is no option of the host's."""
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] != "--":
        at += 2 if words[at] in ("-p", "--profile") else _length(words, at)
    return at


def _length(words: Sequence[str], at: int) -> int:
    """Return of how many words an option of the host's consists; 1 for every other word."""
    if words[at] in _WITH_VALUE:
        return 2
    has_value = words[at] in _WITH_OPTIONAL_VALUE and at + 1 < len(words) and not words[at + 1].startswith("-")
    return 2 if has_value else 1
