"""Every verb of the manager with its arguments, as values: what is parsed, helped with, documented and run.

Annotations are no text here: `NamedTuple` would compile each of them whenever the command starts.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from argparse import Namespace

Kind: TypeAlias = Literal["switch", "text", "count", "number", "seconds", "package", "instant"]
"""What a value is: none, any text, a number from 1 on, any whole number, a time, the name of a package, an instant."""


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
LATER_VERBS = {
    ("update",): "`hermes pm init --core REQUIREMENT` chooses another version of the core",
    ("uninstall",): "",
    ("plugins", "search"): "",
    (
        "plugins",
        "update",
    ): "`hermes plugins install SOURCE --force` puts a newer version in the place of an installed one",
    ("pm", "audit"): "",
    ("pm", "dashboard"): "`hermes pm status --json` answers programs",
    ("pm", "doctor"): "`hermes pm status` names what is damaged, and `hermes pm verify` compares every file",
    ("pm", "export"): "`hermes pm bundle` writes a `pylock.toml` and a `requirements.txt`",
    ("pm", "extras"): "`hermes pm init --core` takes a core with its extras, such as `hermes-agent[matrix]==0.19.0`",
    ("pm", "lock"): "the lock is in `pm/generations/N/pylock.toml` of the home",
}
"""Commands that will be the manager's → what does the same today; empty if nothing does."""
LATER = frozenset(words[0] for words in LATER_VERBS if len(words) == 1)
"""First words of them, which must not reach a core: it would change its own environment."""


# -- arguments of several verbs

HELP = Argument(("-h", "--help"), "show this help message and exit", "switch")
"""Every parser of `argparse` has it by itself."""
_HOME = Argument(("--home",), "the profile's home (default: HERMES_HOME, else ~/.hermes)", metavar="DIR", is_quick=True)
COMMON = (
    Argument(
        ("--json",),
        "write one JSON object to standard output",
        "switch",
        default=False,
        is_told_again=False,
        is_quick=True,
    ),
    _HOME,
    Argument(("--offline",), "ask no package index", "switch", default=False, is_quick=True),
    Argument(
        ("-q", "--quiet"),
        "say only what goes wrong",
        "switch",
        default=False,
        one_of="talk",
        is_told_again=False,
        is_quick=True,
    ),
    Argument(
        ("-v", "--verbose"), "also say what is being done", "switch", default=False, one_of="talk", is_told_again=False
    ),
)
DRY_RUN = Argument(
    ("--dry-run",), "say what would happen, and change nothing", "switch", default=False, is_told_again=False
)
CONSENTS = (
    Argument(("--allow-build",), "allow this package to be built from source", "package", "NAME", is_repeatable=True),
    Argument(("--allow-prerelease",), "allow pre-releases of this package", "package", "NAME", is_repeatable=True),
    Argument(
        ("--allow-collision",),
        "allow this package and another one to write the same files",
        "package",
        "NAME",
        is_repeatable=True,
    ),
    Argument(
        ("--allow-direct-url",),
        "allow this plugin to name wheels by their addresses",
        metavar="PLUGIN",
        is_repeatable=True,
    ),
    Argument(("--allow-direct-urls",), "allow every plugin to name wheels by their addresses", "switch", default=False),
    Argument(("--budget",), "search limit, in rounds", "count", "ROUNDS", default=0),
    Argument(
        ("--time-limit",),
        "time limit for the verdict, fetching included (default: 120)",
        "seconds",
        "SECONDS",
        default=120.0,
    ),
    Argument(
        ("--steps-budget",),
        "time limit for trying ways out of a refusal (default: 10)",
        "seconds",
        "SECONDS",
        default=10.0,
        stored_as="steps_seconds",
    ),
    Argument(
        ("--refresh",),
        "ask again for every page of an index that is used, however young it is",
        "switch",
        default=False,
        is_told_again=False,
    ),
    Argument(
        ("--exclude-newer",),
        "ignore files uploaded after this: a date, a span such as `14 days` before now, or `off`",
        "instant",
        "WHEN",
    ),
)
_PLUGIN = Argument(
    ("name",), "a plugin: its key, its name, or the last part of its key where that is unique", metavar="NAME"
)
_CORE = Argument(("--core",), "the core: a requirement such as `hermes-agent==0.19.0`, or a folder", metavar="CORE")


# -- verbs

_PLUGINS = (
    Verb(
        "plugins",
        "install",
        "install a plugin from a folder or an archive",
        "pm.cli.plugins_verbs:install_plugin",
        own=(
            Argument(("source",), "a folder, a `.zip` or a `.tar.*`", metavar="SOURCE"),
            Argument(("--enable",), "check it and enable it", "switch", one_of="which"),
            Argument(("--no-enable",), "leave it disabled", "switch", stores=False, stored_as="enable", one_of="which"),
            Argument(("--force",), "replace an installed plugin of the same key", "switch", default=False),
            Argument(("--keep",), "if it is refused, keep it installed but disabled", "switch", default=False),
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
        "check an installed plugin, and enable it if it fits",
        "pm.cli.plugins_verbs:enable_plugin",
        own=(_PLUGIN,),
        changes=True,
        decides=True,
    ),
    Verb(
        "plugins",
        "disable",
        "disable a plugin; it stays installed",
        "pm.cli.plugins_verbs:disable_plugin",
        own=(_PLUGIN,),
        changes=True,
    ),
    Verb(
        "plugins",
        "check",
        "check whether plugins fit, or whether everything enabled is ready; nothing is changed",
        "pm.cli.check_verb:check_plugins",
        own=(
            Argument(
                ("names",),
                "plugins or sources to check (default: whether everything enabled is ready)",
                metavar="NAME|SOURCE",
                how_many="*",
            ),
            # its answer says too which variables a plugin needs and finds, and those have no stamp: so it is never kept
            Argument(("--summary",), "one line for each plugin", "switch", default=False),
            Argument(
                ("--patch",),
                "write the confirmed wider bound of a refusal as a diff of the plugin's file",
                metavar="FILE",
            ),
            Argument(("--patch-for",), "write the bound of this other plugin instead", metavar="NAME", default=""),
            Argument(
                ("--patch-at",),
                "of several steps, write the one that changes this line; of several lines, once for each",
                metavar="FILE:LINE",
                is_repeatable=True,
            ),
            Argument(
                ("--replay",), "repeat the decision of a receipt, from the facts that it holds", metavar="RECEIPT"
            ),
            Argument(("--core",), "check with this core instead: a requirement or a folder", metavar="CORE"),
            Argument(
                ("--strict",),
                "exit with status 5 if it is ready only after a restart",
                "switch",
                default=False,
                is_quick=True,
            ),
        ),
        decides=True,
    ),
    Verb(
        "plugins",
        "validate",
        "check a plugin for its author: declaration, files, fit with a core",
        "pm.cli.plugins_verbs:validate_plugin",
        own=(
            Argument(("path",), "the plugin's folder or archive", metavar="PATH"),
            _CORE,
            Argument(
                ("--format",), "how findings are written (default: text)", choices=("text", "github"), default="text"
            ),
        ),
        decides=True,
    ),
    Verb(
        "plugins",
        "list",
        "list every plugin, and whether it is ready",
        "pm.cli.plugins_verbs:list_plugins",
    ),
    Verb(
        "plugins",
        "show",
        "show everything that is known about a plugin",
        "pm.cli.plugins_verbs:show_plugin",
        own=(_PLUGIN,),
    ),
)
_PM = (
    Verb(
        "pm",
        "init",
        "choose the core, and build a generation with everything that is enabled",
        "pm.cli.pm_verbs:set_up",
        own=(
            _CORE,
            Argument(
                ("--embedded-core",), "the core that comes with the manager", "switch", stores="", stored_as="core"
            ),
            Argument(("--python",), "a version such as `3.12`, or the path of an interpreter", metavar="PYTHON"),
            Argument(
                ("--bundle",), "take core and packages from a folder that `hermes pm bundle` wrote", metavar="DIR"
            ),
        ),
        changes=True,
        decides=True,
    ),
    Verb(
        "pm",
        "verify",
        "compare the selected generation with its record, byte by byte",
        "pm.cli.pm_verbs:verify_generation",
        own=(
            Argument(("--all",), "compare the other generations too", "switch", default=False, stored_as="everything"),
        ),
    ),
    Verb(
        "pm",
        "repair",
        "build the recorded lock again, if the generation is not as recorded",
        "pm.cli.pm_verbs:repair_generation",
        changes=True,
    ),
    Verb(
        "pm",
        "rollback",
        "go back to an earlier generation; what of it is damaged is built again",
        "pm.cli.pm_verbs:go_back",
        own=(
            Argument(
                ("number",), "number of the generation (default: the previous one)", "number", metavar="N", how_many="?"
            ),
            Argument(
                ("--yes",), "agree that other profiles change as well", "switch", default=False, is_told_again=False
            ),
        ),
        changes=True,
    ),
    Verb(
        "pm",
        "gc",
        "delete the generations that are no longer needed",
        "pm.cli.pm_verbs:delete_generations",
        own=(
            Argument(
                ("--cache",), "also delete what the cache holds and no kept generation needs", "switch", default=False
            ),
        ),
        changes=True,
    ),
    Verb("pm", "status", "show the selected generation, and everything that is enabled", "pm.cli.pm_verbs:show_status"),
    Verb(
        "pm",
        "bundle",
        "write all wheels of the selected generation, for a machine without a network",
        "pm.cli.pm_verbs:write_bundle",
        own=(
            Argument(("--output",), "a folder that does not exist yet, or is empty", metavar="DIR", is_required=True),
            Argument(("--force",), "replace an earlier bundle in that folder", "switch", default=False),
        ),
        changes=True,
    ),
    Verb(
        "pm",
        "receipts",
        "list receipts, or show one: what happened and why",
        "pm.cli.receipts_verb:look_at_receipts",
        own=(
            Argument(
                ("action",),
                "`list` the stored ones (default), `show` one, or show the `example` of a code or an outcome",
                choices=("list", "show", "example"),
                default="list",
                how_many="?",
            ),
            Argument(
                ("id",),
                "an id or its beginning, `latest` (the default of `show`), or a code",
                metavar="ID",
                how_many="?",
            ),
        ),
    ),
    Verb(
        "pm",
        "why",
        "show what requires a package, and through which others",
        "pm.cli.pm_verbs:explain_package",
        own=(
            Argument(
                ("package",), "the name of a package", metavar="PACKAGE", how_many="?", one_of="what", is_required=True
            ),
            Argument(
                ("--not",),
                "show why a requirement such as `httpx>=0.29` cannot be installed, or what it would take",
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
        "show what requires what in the selected generation",
        "pm.cli.pm_verbs:draw_tree",
        own=(
            Argument(("--depth",), "show at most this many levels", "count", "N"),
            Argument(("--invert",), "show what requires this package instead", metavar="PACKAGE"),
        ),
    ),
)
_RUN = Verb(
    "run",
    "",
    FAMILIES["run"],
    "pm.cli.run_verb:run_command",
    own=(
        Argument(("--safe",), "start without plugins; the config is not changed", "switch", default=False),
        _HOME,
        Argument(("command",), "the command and its arguments", metavar="-- CMD", how_many="..."),
    ),
    is_plain=True,
)
VERBS = {(verb.family, verb.name): verb for verb in (*_PLUGINS, *_PM, _RUN)}
"""Family and name → verb, in the order of help."""
