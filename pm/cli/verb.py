"""What can be asked of the manager, as values: a verb, its arguments, and those that several verbs have.

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
    how_many: Literal["", "?", "*", "+", "..."] = ""
    """Of a positional argument: one, at most one, any number, at least one, everything that follows."""
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


def words_again(verb: Verb, words: Iterable[str]) -> tuple[str, ...]:
    """Return the command that does the same again, without what only says how it is done or shown."""
    untold = {flag for argument in verb.arguments if not argument.is_told_again for flag in argument.names}
    return ("hermes", *(word for word in words if word not in untold))


# -- arguments of several verbs

HELP = Argument(("-h", "--help"), "show this help message and exit", "switch")
"""Every parser of `argparse` has it by itself."""
HOME = Argument(("--home",), "the profile's home (default: HERMES_HOME, else ~/.hermes)", metavar="DIR", is_quick=True)
COMMON = (
    Argument(
        ("--json",),
        "write one JSON object to standard output",
        "switch",
        default=False,
        is_told_again=False,
        is_quick=True,
    ),
    HOME,
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
PLUGIN = Argument(
    ("name",), "a plugin: its key, its name, or the last part of its key where that is unique", metavar="NAME"
)
SEVERAL = Argument(
    ("names",),
    "plugins: the key of each, its name, or the last part of its key where that is unique",
    metavar="NAME",
    how_many="+",
)
CORE = Argument(("--core",), "the core: a requirement such as `hermes-agent==0.19.0`, or a folder", metavar="CORE")
