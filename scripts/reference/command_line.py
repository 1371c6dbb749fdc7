"""The page of the command line, written from the table of verbs."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pm.cli.verb import COMMON, CONSENTS, HELP, Argument, Verb
from pm.cli.verb_table import LATER_VERBS, VERBS
from scripts.reference.markdown import table

__all__ = ["VARIABLES", "command_line_page"]


class Variables(NamedTuple):
    """Environment variables that are read for one purpose."""

    names: tuple[str, ...]
    meaning: str


VARIABLES = (
    Variables(
        ("HERMES_HOME",),
        "the home of a profile, where neither `--home` nor the host's `-p NAME` names one; without all of them it is "
        "`~/.hermes`. If it is a root, and the file `active_profile` there names a profile, that profile is meant",
    ),
    Variables(
        ("HERMES_MANAGED",),
        "the environment is managed by something else (Nix, a container, an administrator): every verb that changes "
        "something is refused with `managed-environment`. Any text says so, as with the host, `0` and `false` too. A "
        "file `.managed` in the home or the root says the same",
    ),
    Variables(
        ("HERMES_MANAGED_DIR",),
        "the folder of what an administrator sets for every home, if it exists; else `/etc/hermes`",
    ),
    Variables(
        ("HERMES_S6_SUPERVISED_CHILD",),
        "set in a container for a service with a fixed profile: `active_profile` is not read",
    ),
    Variables(
        ("HERMES_ENABLE_PROJECT_PLUGINS",),
        "with `1`, `true`, `yes` or `on`, plugins in `.hermes/plugins` of the working folder are found",
    ),
    Variables(
        ("HERMES_DISABLE_LAZY_INSTALLS",),
        "with `1`, and no other value, nothing may be installed that was not asked for, as with "
        "`security.allow_lazy_installs: false`. The manager never does that; `hermes run` sets it for the core",
    ),
    Variables(
        ("HERMES_PM_GENERATION",),
        "set by `hermes run`: inside a generation the manager ignores `HERMES_DISABLE_LAZY_INSTALLS`",
    ),
    Variables(
        ("UV_CONFIG_FILE", "UV_DEFAULT_INDEX", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS", "UV_INDEX", "UV_INDEX_URL"),
        "indexes and folders as uv understands them. With one of them, or a `uv.toml`, uv's configuration is used and "
        "pip's is not ([index-client.md](index-client.md)). `UV_INDEX_<NAME>_USERNAME` and `UV_INDEX_<NAME>_PASSWORD` "
        "are the login for an index of that name, also of `pm.indexes`",
    ),
    Variables(("UV_NO_CONFIG",), "no `uv.toml` is looked for"),
    Variables(
        ("PIP_CONFIG_FILE", "PIP_FIND_LINKS", "PIP_INDEX_URL"),
        "indexes and folders as pip understands them, where uv is not configured",
    ),
    Variables(
        ("PIP_CERT", "PIP_PROXY"),
        "pip's certificates and proxy, where uv is not configured, and beside `pm.indexes`",
    ),
    Variables(("NO_PROXY",), "hosts, domains, addresses and ranges of addresses that are asked without a proxy"),
    Variables(("NETRC",), "the file with logins for hosts; else `~/.netrc`"),
    Variables(
        ("PIP_NO_INDEX",), "with `1`, `true`, `yes`, `on`, `y` or `t` no index is asked, wherever it is configured"
    ),
    Variables(
        ("PIP_CONSTRAINT", "PIP_EXTRA_INDEX_URL"), "not used; a warning names them and says what to write instead"
    ),
    Variables(
        ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"), "a file of trusted certificates, where pip's configuration names none"
    ),
    Variables(("HOME", "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS"), "where configuration files of uv and pip are looked for"),
    Variables(
        ("XDG_DATA_HOME", "UV_TOOL_DIR", "PIPX_HOME"),
        "where an installation of Hermes by uv or pipx is looked for, to show its version in a used home",
    ),
    Variables(
        ("TMPDIR",), "where builds and uv put temporary files; else `/tmp`. The manager itself puts nothing there"
    ),
    Variables(("PYENV_ROOT",), "where pyenv keeps its interpreters; else `~/.pyenv`"),
    Variables(
        ("COLUMNS",), "how wide text is, also in a pipe; else as wide as the terminal, and without one 100 columns"
    ),
    Variables(
        ("NO_COLOR", "TERM"), "no colours with any `NO_COLOR`; no colours and no line of progress with `TERM=dumb`"
    ),
    Variables(
        ("GITHUB_STEP_SUMMARY",), "the file to which `validate --format github` adds proof and steps, if it is set"
    ),
)
"""What the manager itself reads; a test compares the names with the code."""


def command_line_page() -> str:
    """Return the page."""
    verbs = tuple(VERBS.values())
    return _PAGE.format(
        verbs=table(("command", "does"), ((f"[`{_words(verb)}`](#{_anchor(verb)})", verb.help) for verb in verbs)),
        common=table(("option", "means"), map(_row, (HELP, *COMMON))),
        consents=table(("option", "means"), map(_row, CONSENTS)),
        sections="\n\n".join(map(_section, verbs)),
        later=", ".join(f"`hermes {' '.join(words)}`" for words in sorted(LATER_VERBS)),
        variables=table(
            ("variable", "means"),
            ((", ".join(f"`{name}`" for name in entry.names), entry.meaning) for entry in VARIABLES),
        ),
    )


def _words(verb: Verb) -> str:
    return " ".join(("hermes", *verb.words))


def _anchor(verb: Verb) -> str:
    return "-".join(("hermes", *verb.words))


def _section(verb: Verb) -> str:
    own = [argument for argument in verb.listed if verb.is_plain or argument not in COMMON]
    positional = (_positional(argument) for argument in own if not argument.is_option)
    parts = [
        f"### `{_words(verb)}`",
        f"{verb.help[:1].upper()}{verb.help[1:]}.",
        f"    {' '.join((_words(verb), '[OPTION…]', *positional))}",
        table(("argument", "means"), map(_row, own)) if own else "It has no arguments of its own.",
        *_exclusive(own),
        *(("It takes [consents and limits](#consents-and-limits).",) if verb.decides else ()),
    ]
    return "\n\n".join(parts)


def _exclusive(arguments: Iterable[Argument]) -> Iterator[str]:
    groups: dict[str, list[str]] = {}
    for argument in arguments:
        if argument.one_of:
            groups.setdefault(argument.one_of, []).append(_written(argument))
    for group in groups.values():
        yield f"Only one of {' and '.join(group)} can be given."


def _row(argument: Argument) -> tuple[str, str]:
    return _written(argument), argument.help


def _written(argument: Argument) -> str:
    if not argument.is_option:
        return f"`{_positional(argument)}`"
    value = f" {_value(argument)}" if argument.kind != "switch" else ""
    again = " (may be repeated)" if argument.is_repeatable else ""
    return ", ".join(f"`{flag}{value}`" for flag in argument.names) + again


def _positional(argument: Argument) -> str:
    forms = {"": "{}", "?": "[{}]", "*": "[{}…]", "+": "{}…", "...": "{} …"}
    return forms[argument.how_many].format(_value(argument))


def _value(argument: Argument) -> str:
    return argument.metavar or "|".join(argument.choices)


_PAGE = """\
# The command line

This page is written by `python -m scripts.reference docs/reference`; a test compares it with the code.
`hermes VERB --help` says the same of one verb.

{verbs}

Results go to standard output, messages and progress to standard error. Progress is one line that is written over, on a
terminal only; with `--verbose` it is written elsewhere too, line by line. Questions are asked on a terminal only:
elsewhere a question that no option answers counts as answered with *no*. The statuses with which a command ends are in
[exit-codes.md](exit-codes.md).

**Every other first word belongs to the core.** `hermes ANYTHING …` is handed to the core's own `hermes` in the selected
generation, if it has one. {later} belong to a later version of the manager: they are
answered with status 2 and never handed on, because a core would change its own environment.

## Options of every verb

All but `hermes run` take these:

{common}

With `--json` a verb that makes a receipt writes the receipt ([receipt.md](receipt.md)), and a listing its rows. An
error before either is written as `{{"error": {{"code", "message", "hint", "file", "line", "key"}}}}`.

`--dry-run` changes nothing but the cache and stores no receipt; its verdict is the one that the operation itself would
come to. Options cannot be abbreviated.

## Consents and limits

Verbs that come to a verdict take these too:

{consents}

## Verbs

{sections}

## Environment variables

What the manager itself reads:

{variables}

Proxies (`HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY`, in capitals or not), certificates (`SSL_CERT_FILE`,
`SSL_CERT_DIR`) and logins are used as uv and pip use them ([index-client.md](index-client.md#how-indexes-are-reached)).
Credentials are never shown.

Programs that the manager starts for its own work (uv, an interpreter that is asked for its version, a build with
consent) get only these variables: `PATH`, `HOME`, `USER`, `LOGNAME`, `LANG`, `LC_ALL`, `TMPDIR`, `TZ`,
`SYSTEMROOT`, the variables of proxies and certificates above and in the table, `NETRC`, `UV_NATIVE_TLS`,
`UV_SYSTEM_CERTS`, `UV_INSECURE_HOST`, `UV_HTTP_TIMEOUT`, `UV_KEYRING_PROVIDER`, and the indexes that the manager found.
No variable that could lead to another interpreter or environment is passed on.

A command under `hermes run`, and a command that is handed to the core, gets all variables, with these set: `PATH` (the
front door first, then the generation's programs), `HERMES_BIN` (the front door), `VIRTUAL_ENV`, `HERMES_HOME`,
`HERMES_PM_GENERATION` (its number),
`HERMES_PM_ADMITTED` (the plugins that are as they were admitted), `HERMES_DISABLE_LAZY_INSTALLS` and
`PYTHONPYCACHEPREFIX`; with `--safe` also `HERMES_SAFE_MODE` and `HERMES_IGNORE_RULES`. `PYTHONPATH`, `PYTHONHOME` and
everything else that leads to another environment is removed; if the core is a project, `PYTHONPATH` is its folder.
"""
