"""Write what docs/reference says of the command line and its exit statuses.

Run as `python -m scripts.command_pages docs/reference`.
"""

import argparse
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pm.cli.arguments import parser
from pm.cli.verb_table import LATER
from pm.receipts.codes import CODES, OUTCOMES, exit_status

__all__ = ["VARIABLES", "documents", "write"]


class Variables(NamedTuple):
    """Environment variables that are read for one purpose."""

    names: tuple[str, ...]
    meaning: str


VARIABLES = (
    Variables(
        ("HERMES_HOME",), "the home of a profile, where `--home` does not name one; without both it is `~/.hermes`"
    ),
    Variables(
        ("HERMES_MANAGED",),
        "somebody else owns the environment (Nix, a container, an administrator): every changing verb is refused with "
        "`managed-environment`. Empty, `0`, `false` and `no` mean that nobody does. A file `.managed` in the home or "
        "the root says the same",
    ),
    Variables(
        ("HERMES_ENABLE_PROJECT_PLUGINS",),
        "with `1`, `true`, `yes` or `on`, plugins in `.hermes/plugins` of the working folder are found",
    ),
    Variables(
        ("HERMES_DISABLE_LAZY_INSTALLS",),
        "with `1`, `true` or `yes` nothing may be installed unasked, as with `security.allow_lazy_installs: false`. "
        "This version never does; `hermes run` sets it for the core, which might",
    ),
    Variables(
        ("HERMES_PM_GENERATION",),
        "set by `hermes run`: inside of a generation `HERMES_DISABLE_LAZY_INSTALLS` says nothing to the manager",
    ),
    Variables(
        ("UV_CONFIG_FILE", "UV_DEFAULT_INDEX", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS", "UV_INDEX", "UV_INDEX_URL"),
        "indexes and folders as uv understands them. One of them, or a `uv.toml`, makes uv's configuration count and "
        "pip's not ([index-client.md](index-client.md))",
    ),
    Variables(("UV_NO_CONFIG",), "no `uv.toml` is looked for"),
    Variables(
        ("PIP_CONFIG_FILE", "PIP_FIND_LINKS", "PIP_INDEX_URL"),
        "indexes and folders as pip understands them, where uv is not configured",
    ),
    Variables(("PIP_CERT", "PIP_PROXY"), "pip's certificates and proxy, where uv is not configured"),
    Variables(("PIP_NO_INDEX",), "with `1`, `true`, `yes`, `on`, `y` or `t` no index is asked, whoever configured it"),
    Variables(
        ("PIP_CONSTRAINT", "PIP_EXTRA_INDEX_URL"), "not followed; a warning names them and says what to write instead"
    ),
    Variables(
        ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"), "a file of trusted certificates, where pip's configuration names none"
    ),
    Variables(("HOME", "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS"), "where configuration files of uv and pip are looked for"),
    Variables(("TMPDIR",), "where builds and uv put what they need for a while; else `/tmp`. Nothing else lies there"),
    Variables(("PYENV_ROOT",), "where pyenv keeps its interpreters; else `~/.pyenv`"),
    Variables(
        ("COLUMNS",), "how wide text is, also in a pipe; else as wide as the terminal, and without one 100 columns"
    ),
    Variables(
        ("NO_COLOR", "TERM"), "no colours with any `NO_COLOR`; no colours and no line of progress with `TERM=dumb`"
    ),
)
"""What the manager itself reads; a test compares the names with the code."""


def documents() -> Mapping[str, str]:
    """Return the generated pages: path below docs/reference → text."""
    return {"command-line.md": _command_line_page(), "exit-codes.md": _exit_codes_page()}


def write(folder: Path) -> None:
    """Write all pages below a folder."""
    for name, text in documents().items():
        (folder / name).write_text(text, encoding="utf-8")


# -- the command line


class _Verb(NamedTuple):
    """One verb as argparse knows it."""

    words: str
    does: str
    parser: argparse.ArgumentParser


def _command_line_page() -> str:
    verbs = tuple(_verbs("hermes", "", parser()))
    listed = [verb for verb in verbs if verb.words != "hermes run"]
    common = set.intersection(*({_written(action) for action in _arguments(verb)} for verb in listed))
    shared = [action for action in _arguments(listed[0]) if _written(action) in common]
    return _COMMAND_LINE_PAGE.format(
        verbs=_table(("command", "does"), ((f"[`{verb.words}`](#{_anchor(verb)})", verb.does) for verb in verbs)),
        common=_table(("option", "means"), map(_row, shared)),
        sections="\n\n".join(_section(verb, common) for verb in verbs),
        later=" and ".join(f"`hermes {word}`" for word in sorted(LATER)),
        variables=_table(
            ("variable", "means"),
            ((", ".join(f"`{name}`" for name in entry.names), entry.meaning) for entry in VARIABLES),
        ),
    )


def _verbs(words: str, does: str, family: argparse.ArgumentParser) -> Iterator[_Verb]:
    """Yield the verbs below a parser, in the order of `--help`."""
    for action in family._actions:  # noqa: SLF001 - argparse has no public way to look at what was added
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001 - the same
            helps = {choice.dest: choice.help or "" for choice in action._choices_actions}  # noqa: SLF001 - the same
            for name, inner in action.choices.items():
                yield from _verbs(f"{words} {name}", helps[name], inner)
            return
    yield _Verb(words, does, family)


def _arguments(verb: _Verb) -> list[argparse.Action]:
    return [action for action in verb.parser._actions if action.help != argparse.SUPPRESS]  # noqa: SLF001 - the same


def _section(verb: _Verb, common: set[str]) -> str:
    own = [action for action in _arguments(verb) if _written(action) not in common]
    positional = [action for action in own if not action.option_strings]
    options = " [OPTION…]" if len(own) > len(positional) or common else ""
    synopsis = f"{verb.words}{options}{''.join(f' {_positional(action)}' for action in positional)}"
    table = _table(("argument", "means"), map(_row, own)) if own else "It has no arguments of its own."
    does = f"{verb.does[:1].upper()}{verb.does[1:]}."
    return f"### `{verb.words}`\n\n{does}\n\n    {synopsis}\n\n{table}{_exclusive(verb, common)}"


def _exclusive(verb: _Verb, common: set[str]) -> str:
    groups = [
        [_written(action) for action in group._group_actions]  # noqa: SLF001 - the same
        for group in verb.parser._mutually_exclusive_groups  # noqa: SLF001 - the same
    ]
    own = [" and ".join(group) for group in groups if not set(group) <= common]
    return "".join(f"\n\nOnly one of {group} can be given." for group in own)


def _row(action: argparse.Action) -> tuple[str, str]:
    return _written(action), (action.help or _MEANINGS[str(action.metavar or action.dest)]).replace("%%", "%")


_MEANINGS = {
    "NAME": "a plugin: its key, its name, or the last segment of its key where that is unique",
    "PACKAGE": "the name of a package",
    "action": "`list` what is stored, which is the default, `show` one, or show the `example` of a code or an outcome",
}
"""What an argument means that says no more than its name on the command line."""


def _written(action: argparse.Action) -> str:
    if not action.option_strings:
        return f"`{_positional(action)}`"
    value = "" if action.nargs == 0 else f" {action.metavar or '|'.join(action.choices or ())}"
    again = " (may be repeated)" if isinstance(action, argparse._AppendAction) else ""  # noqa: SLF001 - the same
    return ", ".join(f"`{option}{value}`" for option in action.option_strings) + again


def _positional(action: argparse.Action) -> str:
    name = str(action.metavar or "|".join(action.choices or (action.dest,)))
    if action.nargs == "*":
        return f"[{name}…]"
    return f"[{name}]" if action.nargs == "?" else f"{name} …" if action.nargs == argparse.REMAINDER else name


def _anchor(verb: _Verb) -> str:
    return verb.words.replace(" ", "-")


# -- exit statuses


def _exit_codes_page() -> str:
    by_status: dict[int, list[str]] = {}
    for code in CODES.values():
        by_status.setdefault(exit_status(code.outcome, [code.name]), []).append(f"`{code.name}`")
    codes = ((f"`{status}`", ", ".join(by_status[status])) for status in sorted(by_status))
    outcomes: dict[int, list[str]] = {}
    for outcome in OUTCOMES.values():
        outcomes.setdefault(outcome.exit_status, []).append(f"`{outcome.name}`")
    meanings = (
        (f"`{status}`", meaning, ", ".join(outcomes.get(status, ())) or where) for status, meaning, where in _STATUSES
    )
    return _EXIT_CODES_PAGE.format(
        statuses=_table(("status", "means", "outcome of the receipt"), meanings),
        codes=_table(("status", "if it ends with one of these codes alone"), codes),
        later=", ".join(f"`hermes {word}`" for word in sorted(LATER)),
    )


_STATUSES = (
    (0, "done, ready, or nothing to do", ""),
    (1, "no: it was refused, or something is not ready or not as recorded", ""),
    (2, "the command was not understood, or names a plugin or source that is not there", "`failed`, or no receipt"),
    (3, "it failed: the world did not cooperate, and nothing follows about any plugin; also *undecided*", ""),
    (4, "busy: another operation holds the install lock", "`failed`"),
    (5, "ready, but only after a restart (`hermes plugins check --strict`)", "`ready`"),
)


def _table(titles: Sequence[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [titles, ("---" for _ in titles), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, cells))} |" for cells in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


_COMMAND_LINE_PAGE = """\
# The command line

This page is written by `python -m scripts.command_pages docs/reference`; a test compares it with the code.
`hermes VERB --help` says the same of one verb.

{verbs}

Data goes to standard output, talk and progress to standard error; a line of progress is only shown on a terminal. A
question is only asked where somebody can answer it: without a terminal, what was not said counts as *no*. The statuses
with which the command ends are in [exit-codes.md](exit-codes.md).

**Every other first word is the core's.** `hermes ANYTHING …` is handed to the core's own `hermes` in the selected
generation, if it has one. {later} belong to a later version of the manager:
they are answered with status 2 and never handed on, because a core would change its own environment.

## Options of every verb

All but `hermes run` take these:

{common}

With `--json` a verb that ends with a receipt prints that ([receipt.md](receipt.md)), a listing prints the listing, and
what went wrong before either is `{{"error": {{"code", "message", "hint", "file", "line", "key"}}}}`.

`--dry-run` changes nothing outside of the cache and stores no receipt; the verdict is that of the real thing. Options
cannot be shortened.

## Verbs

{sections}

## Environment variables

What the manager itself reads:

{variables}

Proxies (`HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY`, in capitals or not) and certificates (`SSL_CERT_FILE`,
`SSL_CERT_DIR`) are followed as Python follows them. Credentials belong into the address of an index, and are shown
nowhere.

Programs that the manager starts for its own work (uv, an interpreter that is asked what it is, a build that was
consented to) get a scrubbed environment: `PATH`, `HOME`, `USER`, `LOGNAME`, `LANG`, `LC_ALL`, `TMPDIR`, `TZ`,
`SYSTEMROOT`, the variables of proxies and certificates above and in the table, `NETRC`, `UV_NATIVE_TLS`,
`UV_SYSTEM_CERTS`, `UV_INSECURE_HOST`, `UV_HTTP_TIMEOUT`, `UV_KEYRING_PROVIDER`, and the indexes that the manager found.
Nothing that could lead to another interpreter or environment passes.

A command under `hermes run`, and what is handed to the core, gets your variables with these set: `PATH` (the
generation's programs first), `VIRTUAL_ENV`, `HERMES_HOME`, `HERMES_PM_GENERATION` (its number),
`HERMES_PM_ADMITTED` (the plugins that are as they were admitted), `HERMES_DISABLE_LAZY_INSTALLS` and
`PYTHONPYCACHEPREFIX`; with `--safe` also `HERMES_SAFE_MODE` and `HERMES_IGNORE_RULES`. `PYTHONPATH`, `PYTHONHOME` and
everything else that leads to another environment is taken out; `PYTHONPATH` names the
folder of a core that is a project, and nothing besides.
"""

_EXIT_CODES_PAGE = """\
# Exit statuses

This page is written by `python -m scripts.command_pages docs/reference`; a test compares it with the code.

{statuses}

A script needs no more than this: `0` is yes, `1` is no with the reason in the receipt, everything else is no answer.
Trouble with the network or with a tool never looks like a refusal.

{codes}

A receipt says the same in `exit_status`, and what each outcome and code means is in [codes.md](codes.md).

Where there is no receipt:

* 2 for words or options that nobody knows, for {later},
  for a package that is not in the generation (`hermes pm why`, `hermes pm tree --invert`), for a receipt that is
  not stored (`hermes pm receipts show`), and for a folder that holds something already (`hermes pm bundle`), or no
  bundle (`hermes pm init --bundle`).
* 3 for Ctrl-C, SIGTERM and SIGHUP outside of an operation, for output that cannot be written, and for a fault of the
  manager itself, which prints where it happened.
* `hermes run -- CMD` and everything that is handed to the core end with the status of what was started. The statuses
  above are those of not starting it.
* 0 if whoever reads standard output stops reading.
"""


if __name__ == "__main__":
    write(Path(sys.argv[1]))
