"""Every verb of the manager with its arguments, as values: what is parsed, helped with, documented and run.

Annotations are no text here: `NamedTuple` would compile each of them whenever the command starts.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from argparse import Namespace

Kind: TypeAlias = Literal["switch", "text", "count", "number", "seconds", "package"]
"""What a value is: none at all, any text, a number from 1 on, any whole number, a time, the name of a package."""


class Argument(NamedTuple):
    """An option, or a positional argument."""

    names: tuple[str, ...]
    """The flags of an option as they are typed; the one name of a positional argument."""
    help: str
    kind: Kind = "text"
    metavar: str = ""
    """What the value is called in help; empty for a switch, and where `choices` say it."""
    choices: tuple[str, ...] = ()
    default: object = None
    stores: object = True
    """What a switch stores."""
    stored_as: str = ""
    """The attribute that holds the value, where it is not named like the argument."""
    how_many: Literal["", "?", "*", "..."] = ""
    """Of a positional argument: one, at most one, any number, everything that follows."""
    one_of: str = ""
    """A name for the arguments of a verb of which only one can be given."""
    is_repeatable: bool = False
    is_required: bool = False
    """Of those of which only one can be given: one of them."""
    is_told_again: bool = True
    """Whether a command that does the same again, as a receipt names it, has this option too."""
    is_quick: bool = False
    """Whether an answer of `plugins check` that was asked for with this option may be kept and shown again."""

    @property
    def is_option(self) -> bool:
        """Whether it is named by a flag; else it is known by its place."""
        return self.names[0].startswith("-")


class Verb(NamedTuple):
    """What can be asked of the manager."""

    family: str
    name: str
    """Empty where the family is the verb itself."""
    help: str
    runs: str
    """`module:function`: it takes the parsed arguments and the words as they were typed, and returns an exit status."""
    own: tuple[Argument, ...] = ()
    changes: bool = False
    """Whether it changes something, so that it can also say what it would change."""
    decides: bool = False
    """Whether it takes consents, and limits of the search."""
    is_plain: bool = False
    """Whether it is without the options that all others have."""

    @property
    def words(self) -> tuple[str, ...]:
        """What is typed, without `hermes`."""
        return (self.family, self.name) if self.name else (self.family,)

    def function(self) -> "Callable[[Namespace, Sequence[str]], int]":
        """Import what carries it out."""
        module, _, name = self.runs.partition(":")
        found: Callable[[Namespace, Sequence[str]], int] = getattr(__import__(module, fromlist=(name,)), name)
        return found

    @property
    def listed(self) -> tuple[Argument, ...]:
        """Its arguments in the order of help, but for consents and limits."""
        return (*(() if self.is_plain else COMMON), *self.own, *((DRY_RUN,) if self.changes else ()))

    @property
    def arguments(self) -> tuple[Argument, ...]:
        """All of its arguments."""
        return (*self.listed, *CONSENTS) if self.decides else self.listed


def verbs_of(family: str) -> tuple[Verb, ...]:
    """Return the verbs of a family, in the order of help."""
    return tuple(verb for verb in VERBS.values() if verb.family == family)


def words_again(verb: Verb, words: Iterable[str]) -> tuple[str, ...]:
    """Return the command that does the same again, without what only says how it is done or shown."""
    untold = {flag for argument in verb.arguments if not argument.is_told_again for flag in argument.names}
    return ("hermes", *(word for word in words if word not in untold))


# -- words that are no verbs

FAMILIES = {
    "plugins": "install, enable, check and remove plugins",
    "pm": "the generation, its receipts, and why something is in it",
    "run": "run a command in the selected generation",
}
"""First words that the manager answers itself; everything else is handed to the core's own `hermes`."""
LATER = frozenset({"uninstall", "update"})
"""First words that will be the manager's and must not reach a core, which would change its own environment."""


# -- arguments of several verbs

HELP = Argument(("-h", "--help"), "show this help message and exit", "switch")
"""Every parser of `argparse` has it by itself."""
_HOME = Argument(("--home",), "the profile's home (default: HERMES_HOME, else ~/.hermes)", metavar="DIR", is_quick=True)
COMMON = (
    Argument(
        ("--json",), "one JSON object on standard output", "switch", default=False, is_told_again=False, is_quick=True
    ),
    _HOME,
    Argument(("--offline",), "ask no index", "switch", default=False, is_quick=True),
    Argument(
        ("-q", "--quiet"),
        "say only what went wrong",
        "switch",
        default=False,
        one_of="talk",
        is_told_again=False,
        is_quick=True,
    ),
    Argument(("-v", "--verbose"), "say more", "switch", default=False, one_of="talk", is_told_again=False),
)
DRY_RUN = Argument(
    ("--dry-run",), "say what would happen, and change nothing", "switch", default=False, is_told_again=False
)
CONSENTS = (
    Argument(("--allow-build",), "may be built from source", "package", "NAME", is_repeatable=True),
    Argument(("--allow-prerelease",), "its pre-releases may be taken", "package", "NAME", is_repeatable=True),
    Argument(("--allow-direct-urls",), "requirements may name an address", "switch", default=False),
    Argument(("--budget",), "how long a verdict is searched", "count", "ROUNDS", default=0),
    Argument(
        ("--steps-budget",),
        "how long ways out of a refusal are tried",
        "seconds",
        "SECONDS",
        default=10.0,
        stored_as="steps_seconds",
    ),
    Argument(("--exclude-newer",), "take no file that is newer: `14 days`, a date, `off`", metavar="WHEN"),
)
_PLUGIN = Argument(("name",), "a key, a name, or the last part of a key where that is unique", metavar="NAME")
_CORE = Argument(("--core",), "a requirement such as `hermes-agent==0.19.0`, or a folder", metavar="CORE")


# -- verbs

_PLUGINS = (
    Verb(
        "plugins",
        "install",
        "install a plugin from a folder or an archive",
        "pm.cli.plugins_verbs:install_plugin",
        own=(
            Argument(("source",), "a folder, a `.zip` or a `.tar.*`", metavar="SOURCE"),
            Argument(("--enable",), "judge it and switch it on", "switch", one_of="which"),
            Argument(
                ("--no-enable",), "leave it switched off", "switch", stores=False, stored_as="enable", one_of="which"
            ),
            Argument(("--force",), "replace an installed copy of the same key", "switch", default=False),
            Argument(("--keep",), "if it is refused, leave it installed and switched off", "switch", default=False),
            Argument(("--yes",), "answer every question with yes", "switch", default=False, is_told_again=False),
        ),
        changes=True,
        decides=True,
    ),
    Verb(
        "plugins",
        "remove",
        "remove a plugin, every mention of it in the config, and what only it needed",
        "pm.cli.plugins_verbs:remove_plugin",
        own=(_PLUGIN,),
        changes=True,
    ),
    Verb(
        "plugins",
        "enable",
        "judge an installed plugin, and switch it on if it fits",
        "pm.cli.plugins_verbs:enable_plugin",
        own=(_PLUGIN,),
        changes=True,
        decides=True,
    ),
    Verb(
        "plugins",
        "disable",
        "switch a plugin off; it stays installed",
        "pm.cli.plugins_verbs:disable_plugin",
        own=(_PLUGIN,),
        changes=True,
    ),
    Verb(
        "plugins",
        "check",
        "the dry run: the same verdict as the real thing, nothing is changed",
        "pm.cli.check_verb:check_plugins",
        own=(
            Argument(("names",), "without one: is everything enabled ready?", metavar="NAME|SOURCE", how_many="*"),
            # its answer says too which variables a plugin needs and finds, and those have no stamp: so it is never kept
            Argument(("--summary",), "one line for each plugin", "switch", default=False),
            Argument(("--patch",), "write a confirmed wider bound as a diff of the plugin's file", metavar="FILE"),
            Argument(("--patch-for",), "write the bound of this other plugin instead", metavar="NAME", default=""),
            Argument(
                ("--patch-at",),
                "of several steps, write the one that changes this line; of several lines, once for each",
                metavar="FILE:LINE",
                is_repeatable=True,
            ),
            Argument(("--replay",), "decide again what a receipt tells of, from its own facts", metavar="RECEIPT"),
            Argument(("--core",), "judge with this core, a requirement or a folder, instead", metavar="CORE"),
            Argument(
                ("--strict",), "exit 5 if it is ready only after a restart", "switch", default=False, is_quick=True
            ),
        ),
        decides=True,
    ),
    Verb(
        "plugins",
        "validate",
        "the author's check of a plugin's folder: declaration, files, fit with a core",
        "pm.cli.plugins_verbs:validate_plugin",
        own=(
            Argument(("path",), "a folder or an archive", metavar="PATH"),
            _CORE,
            Argument(("--format",), "how findings are written", choices=("text", "github"), default="text"),
        ),
        decides=True,
    ),
    Verb(
        "plugins",
        "list",
        "every plugin that is there, and whether it is ready",
        "pm.cli.plugins_verbs:list_plugins",
    ),
    Verb(
        "plugins",
        "show",
        "everything that is known of one plugin",
        "pm.cli.plugins_verbs:show_plugin",
        own=(_PLUGIN,),
    ),
)
_PM = (
    Verb(
        "pm",
        "init",
        "choose the core and make a generation of what is enabled",
        "pm.cli.pm_verbs:set_up",
        own=(
            _CORE,
            Argument(("--embedded-core",), "the core of the manager", "switch", stores="", stored_as="core"),
            Argument(("--python",), "a version such as `3.12`, or the path of an interpreter", metavar="PYTHON"),
            Argument(("--bundle",), "take core and packages from what `hermes pm bundle` wrote", metavar="DIR"),
        ),
        changes=True,
        decides=True,
    ),
    Verb(
        "pm",
        "verify",
        "is the selected generation what was recorded, byte by byte?",
        "pm.cli.pm_verbs:verify_generation",
    ),
    Verb(
        "pm",
        "repair",
        "build the recorded lock again, if something is not what was recorded",
        "pm.cli.pm_verbs:repair_generation",
        changes=True,
    ),
    Verb(
        "pm",
        "rollback",
        "go back to an earlier generation, without building anything",
        "pm.cli.pm_verbs:go_back",
        own=(
            Argument(("number",), "of a generation; by default the one before", "number", metavar="N", how_many="?"),
            Argument(("--yes",), "other profiles may change as well", "switch", default=False, is_told_again=False),
        ),
        changes=True,
    ),
    Verb(
        "pm",
        "gc",
        "delete the generations that nobody needs any more",
        "pm.cli.pm_verbs:delete_generations",
        changes=True,
    ),
    Verb("pm", "status", "the selected generation, and everything that is enabled", "pm.cli.pm_verbs:show_status"),
    Verb(
        "pm",
        "bundle",
        "write all wheels of the selected generation, for a machine without a network",
        "pm.cli.pm_verbs:write_bundle",
        own=(
            Argument(("--output",), "a folder that is not there yet, or empty", metavar="DIR", is_required=True),
            Argument(("--force",), "replace an earlier bundle in that folder", "switch", default=False),
        ),
        changes=True,
    ),
    Verb(
        "pm",
        "receipts",
        "what happened and why",
        "pm.cli.receipts_verb:look_at_receipts",
        own=(
            Argument(
                ("action",),
                "`list` the stored ones (the default), `show` one, or show the `example` of a code or an outcome",
                choices=("list", "show", "example"),
                default="list",
                how_many="?",
            ),
            Argument(("id",), "an id or its beginning, `latest`, or a code", metavar="ID", how_many="?"),
        ),
    ),
    Verb(
        "pm",
        "why",
        "who asks for a package, and through which others it arrives",
        "pm.cli.pm_verbs:explain_package",
        own=(
            Argument(
                ("package",), "the name of a package", metavar="PACKAGE", how_many="?", one_of="what", is_required=True
            ),
            Argument(
                ("--not",),
                "why it cannot be had, such as `httpx>=0.29`, or what it takes",
                metavar="REQUIREMENT",
                stored_as="wanted",
                one_of="what",
                is_required=True,
            ),
        ),
        decides=True,
    ),
    Verb(
        "pm",
        "tree",
        "what needs what in the selected generation",
        "pm.cli.pm_verbs:draw_tree",
        own=(
            Argument(("--depth",), "how far down", "count", "N"),
            Argument(("--invert",), "what needs this package instead", metavar="PACKAGE"),
        ),
    ),
)
_RUN = Verb(
    "run",
    "",
    FAMILIES["run"],
    "pm.cli.run_verb:run_command",
    own=(
        Argument(("--safe",), "start without plugins; no config is changed", "switch", default=False),
        _HOME,
        Argument(("command",), "the command and its arguments", metavar="-- CMD", how_many="..."),
    ),
    is_plain=True,
)
VERBS = {(verb.family, verb.name): verb for verb in (*_PLUGINS, *_PM, _RUN)}
"""Family and name → verb, in the order of help."""
