"""The command line: every verb with its options, and which words are not the manager's but the core's."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from pm.system.terminal import columns

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    _Verbs: TypeAlias = _SubParsersAction[argparse.ArgumentParser]

OURS = frozenset({"plugins", "pm", "run"})
"""First words that the manager answers itself; everything else is handed to the core's own `hermes`."""
LATER = frozenset({"uninstall", "update"})
"""First words that will be the manager's and must not reach a core, which would change its own environment."""
_NAME = "a key, a name, or the last part of a key where that is unique"
_QUIET_OPTIONS = frozenset({"--json", "--dry-run", "-q", "--quiet", "-v", "--verbose", "--yes"})


def parser(family: str = "", verb: str = "") -> argparse.ArgumentParser:
    """Return the parser of everything that the manager answers itself.

    With a family only that is filled in, with one of its verbs only that verb: all of them together cost a dry run
    three milliseconds.
    """
    top = argparse.ArgumentParser(
        prog="hermes",
        description="The plugin package manager of Hermes: one environment for the core and all plugins.",
        epilog="Every other command is handed to the core's own `hermes` in the selected generation.",
        formatter_class=_formatter,
        allow_abbrev=False,
    )
    top.add_argument("--version", action="store_true", help="the manager's version")
    families = top.add_subparsers(dest="family", metavar="COMMAND", prog="hermes")
    if family in ("", "plugins"):
        _fill(_parser(families, "plugins", "install, enable, check and remove plugins"), _PLUGINS, verb)
    if family in ("", "pm"):
        _fill(_parser(families, "pm", "the generation, its receipts, and why something is in it"), _PM, verb)
    if family in ("", "run"):
        _run(families)
    return top


def words_again(argv: Sequence[str]) -> tuple[str, ...]:
    """Return the command that does the same again, without what only says how it is shown."""
    return ("hermes", *(word for word in argv if word not in _QUIET_OPTIONS))


def _parser(places: _Verbs, name: str, text: str, *, description: str | None = None) -> argparse.ArgumentParser:
    return places.add_parser(name, help=text, description=description, formatter_class=_formatter, allow_abbrev=False)


def _formatter(prog: str) -> argparse.HelpFormatter:
    # argparse makes a formatter for each option, and to find out the width its own imports shutil with all compressors
    return argparse.HelpFormatter(prog, width=columns(sys.stdout) - 2)


def _run(families: _Verbs) -> None:
    run = _parser(families, "run", "run a command in the selected generation")
    run.add_argument("--safe", action="store_true", help="start without plugins; no config is changed")
    run.add_argument("--home", metavar="DIR", help="the profile's home (default: HERMES_HOME, else ~/.hermes)")
    run.add_argument("command", nargs=argparse.REMAINDER, metavar="-- CMD", help="the command and its arguments")


def _fill(family: argparse.ArgumentParser, verbs: Mapping[str, Callable[[_Verbs], None]], asked: str) -> None:
    # with `prog` no usage must be formatted to find it out
    places = family.add_subparsers(dest="verb", metavar="VERB", required=True, prog=family.prog)
    for add in [verbs[asked]] if asked in verbs else verbs.values():
        add(places)


def _plugins_install(verbs: _Verbs) -> None:
    install = _verb(verbs, "install", "install a plugin from a folder or an archive")
    install.add_argument("source", metavar="SOURCE", help="a folder, a `.zip` or a `.tar.*`")
    which = install.add_mutually_exclusive_group()
    which.add_argument("--enable", action="store_true", default=None, help="judge it and switch it on")
    which.add_argument("--no-enable", action="store_false", dest="enable", help="leave it switched off")
    install.add_argument("--force", action="store_true", help="replace an installed copy of the same key")
    install.add_argument("--keep", action="store_true", help="if it is refused, leave it installed and switched off")
    install.add_argument("--yes", action="store_true", help="answer every question with yes")
    _changes(install)
    _consents(install)


def _plugins_remove(verbs: _Verbs) -> None:
    remove = _verb(verbs, "remove", "remove a plugin, every mention of it in the config, and what only it needed")
    remove.add_argument("name", metavar="NAME", help=_NAME)
    _changes(remove)


def _plugins_enable(verbs: _Verbs) -> None:
    enable = _verb(verbs, "enable", "judge an installed plugin, and switch it on if it fits")
    enable.add_argument("name", metavar="NAME", help=_NAME)
    _changes(enable)
    _consents(enable)


def _plugins_disable(verbs: _Verbs) -> None:
    disable = _verb(verbs, "disable", "switch a plugin off; it stays installed")
    disable.add_argument("name", metavar="NAME", help=_NAME)
    _changes(disable)


def _plugins_check(verbs: _Verbs) -> None:
    check = _verb(verbs, "check", "the dry run: the same verdict as the real thing, nothing is changed")
    check.add_argument("names", nargs="*", metavar="NAME|SOURCE", help="without one: is everything enabled ready?")
    check.add_argument("--summary", action="store_true", help="one line for each plugin")
    check.add_argument("--patch", metavar="FILE", help="write a confirmed wider bound as a diff of the plugin's file")
    check.add_argument("--patch-for", metavar="NAME", default="", help="write the bound of this other plugin instead")
    check.add_argument(
        "--patch-at",
        action="append",
        default=[],
        metavar="FILE:LINE",
        help="of several steps, write the one that changes this line; of several lines, once for each",
    )
    check.add_argument("--replay", metavar="RECEIPT", help="decide again what a receipt tells of, from its own facts")
    check.add_argument("--core", metavar="CORE", help="judge with this core, a requirement or a folder, instead")
    check.add_argument("--strict", action="store_true", help="exit 5 if it is ready only after a restart")
    _consents(check)


def _plugins_validate(verbs: _Verbs) -> None:
    validate = _verb(verbs, "validate", "the author's check of a plugin's folder: declaration, files, fit with a core")
    validate.add_argument("path", metavar="PATH", help="a folder or an archive")
    validate.add_argument("--core", metavar="CORE", help="a requirement such as `hermes-agent==0.19.0`, or a folder")
    validate.add_argument("--format", choices=("text", "github"), default="text", help="how findings are written")
    _consents(validate)


def _plugins_list(verbs: _Verbs) -> None:
    _verb(verbs, "list", "every plugin that is there, and whether it is ready")


def _plugins_show(verbs: _Verbs) -> None:
    show = _verb(verbs, "show", "everything that is known of one plugin")
    show.add_argument("name", metavar="NAME", help=_NAME)


_PLUGINS = {
    "install": _plugins_install,
    "remove": _plugins_remove,
    "enable": _plugins_enable,
    "disable": _plugins_disable,
    "check": _plugins_check,
    "validate": _plugins_validate,
    "list": _plugins_list,
    "show": _plugins_show,
}


def _pm_init(verbs: _Verbs) -> None:
    init = _verb(verbs, "init", "choose the core and make a generation of what is enabled")
    init.add_argument("--core", metavar="CORE", help="a requirement such as `hermes-agent==0.19.0`, or a folder")
    init.add_argument("--embedded-core", action="store_const", const="", dest="core", help="the core of the manager")
    init.add_argument("--python", metavar="PYTHON", help="a version such as `3.12`, or the path of an interpreter")
    init.add_argument("--bundle", metavar="DIR", help="take core and packages from what `hermes pm bundle` wrote")
    _changes(init)
    _consents(init)


def _pm_status(verbs: _Verbs) -> None:
    _verb(verbs, "verify", "is the selected generation what was recorded, byte by byte?")
    repair = _verb(verbs, "repair", "build the recorded lock again, if something is not what was recorded")
    _changes(repair)
    rollback = _verb(verbs, "rollback", "go back to an earlier generation, without building anything")
    rollback.add_argument("number", nargs="?", type=int, metavar="N", help="of a generation; by default the one before")
    rollback.add_argument("--yes", action="store_true", help="other profiles may change as well")
    _changes(rollback)
    gc = _verb(verbs, "gc", "delete the generations that nobody needs any more")
    _changes(gc)
    _verb(verbs, "status", "the selected generation, and everything that is enabled")


def _pm_bundle(verbs: _Verbs) -> None:
    bundle = _verb(verbs, "bundle", "write all wheels of the selected generation, for a machine without a network")
    bundle.add_argument("--output", required=True, metavar="DIR", help="a folder that is not there yet, or empty")
    bundle.add_argument("--force", action="store_true", help="replace an earlier bundle in that folder")
    _changes(bundle)


def _pm_receipts(verbs: _Verbs) -> None:
    receipts = _verb(verbs, "receipts", "what happened and why")
    receipts.add_argument("action", nargs="?", choices=("list", "show", "example"), default="list")
    receipts.add_argument("id", nargs="?", metavar="ID", help="an id or its beginning, `latest`, or a code")


def _pm_why(verbs: _Verbs) -> None:
    why = _verb(verbs, "why", "who asks for a package, and through which others it arrives")
    asked = why.add_mutually_exclusive_group(required=True)
    asked.add_argument("package", nargs="?", metavar="PACKAGE")
    asked.add_argument(
        "--not",
        dest="wanted",
        metavar="REQUIREMENT",
        help="why it cannot be had, such as `httpx>=0.29`, or what it takes",
    )
    _consents(why)


def _pm_tree(verbs: _Verbs) -> None:
    tree = _verb(verbs, "tree", "what needs what in the selected generation")
    tree.add_argument("--depth", type=_count, metavar="N", help="how far down")
    tree.add_argument("--invert", metavar="PACKAGE", help="what needs this package instead")


_PM = {
    "init": _pm_init,
    "status": _pm_status,
    "bundle": _pm_bundle,
    "receipts": _pm_receipts,
    "why": _pm_why,
    "tree": _pm_tree,
}


def _verb(verbs: _Verbs, name: str, text: str) -> argparse.ArgumentParser:
    verb = _parser(verbs, name, text, description=text)
    verb.add_argument("--json", action="store_true", help="one JSON object on standard output")
    verb.add_argument("--home", metavar="DIR", help="the profile's home (default: HERMES_HOME, else ~/.hermes)")
    verb.add_argument("--offline", action="store_true", help="ask no index")
    talk = verb.add_mutually_exclusive_group()
    talk.add_argument("-q", "--quiet", action="store_true", help="say only what went wrong")
    talk.add_argument("-v", "--verbose", action="store_true", help="say more")
    return verb


def _changes(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--dry-run", action="store_true", help="say what would happen, and change nothing")


def _consents(verb: argparse.ArgumentParser) -> None:
    group = verb.add_argument_group("consents and limits")
    for consent, text in (("build", "may be built from source"), ("prerelease", "its pre-releases may be taken")):
        group.add_argument(f"--allow-{consent}", action="append", type=_package, default=[], metavar="NAME", help=text)
    group.add_argument("--allow-direct-urls", action="store_true", help="requirements may name an address")
    group.add_argument("--budget", type=_count, default=0, metavar="ROUNDS", help="how long a verdict is searched")
    group.add_argument(
        "--steps-budget",
        type=_seconds,
        default=10.0,
        metavar="SECONDS",
        help="how long ways out of a refusal are tried",
    )
    group.add_argument("--exclude-newer", metavar="WHEN", help="take no file that is newer: `14 days`, a date, `off`")


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text)):
        raise argparse.ArgumentTypeError(f"`{text}` is not a number from 1 on")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1
    if not seconds >= 0:  # which no comparison holds for that is not a number
        raise argparse.ArgumentTypeError(f"`{text}` is not a number of seconds")
    return seconds


def _package(text: str) -> str:
    if re.fullmatch(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?", text) is None:
        raise argparse.ArgumentTypeError(f"`{text}` is not the name of a package")
    return text
