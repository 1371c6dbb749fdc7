"""Every verb of the manager, and the words that are none: what is parsed, helped with, documented and run."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pm.cli.plugins_table import PLUGINS
from pm.cli.pm_table import PM
from pm.cli.verb import CORE, HOME, Argument, Verb

if TYPE_CHECKING:
    from argparse import Namespace

ALIASES = {
    ("plugins", "ls"): "list",
    ("plugins", "rm"): "remove",
    ("plugins", "uninstall"): "remove",
}
"""Other names of verbs, as the host has them."""
FAMILIES = {
    "plugins": "install, enable, check and remove plugins",
    "pm": "the generation, its receipts, and why something is in it",
    "run": "run a command in the selected generation",
    "update": "update the core, with its extras and everything that is enabled",
    "link": "make the front door: a `hermes` that starts this manager",
    "uninstall": "delete the manager's state, front doors and drop-ins; plugins, configs and memories stay",
    "unlink": "take the front door away, and put back what stood there",
}
"""First words that the manager answers itself; everything else is handed to the core's own `hermes`."""
LATER_VERBS: dict[tuple[str, ...], str] = {
    # the host would install into the environment that it runs in
    (
        "memory",
        "setup",
    ): "`memory.provider` in `config.yaml` selects a provider; `hermes plugins enable NAME` checks it",
    ("memory", "off"): "take `memory.provider` out of `config.yaml`",
    ("pm", "audit"): "",
    ("pm", "dashboard"): "`hermes pm status --json` answers programs",
    ("pm", "export"): "`hermes pm bundle` writes a `pylock.toml` and a `requirements.txt`",
    ("pm", "lock"): "the lock is in `pm/generations/N/pylock.toml` of the home",
}
"""Commands that will be the manager's → what does the same today; empty if nothing does."""
LATER = frozenset(words[0] for words in LATER_VERBS if len(words) == 1)
"""First words of them."""


_RUN = Verb(
    "run",
    "",
    FAMILIES["run"],
    "pm.cli.run_verb:run_command",
    own=(
        Argument(("--safe",), "start without plugins; the config is not changed", "switch", default=False),
        HOME,
        Argument(("command",), "the command and its arguments", metavar="-- CMD", how_many="..."),
    ),
    is_plain=True,
)
_BIN = Argument(("--bin",), "the folder of programs (default: that of `hermes-pm`, else `~/.local/bin`)", metavar="DIR")
_LINK = Verb(
    "link",
    "",
    FAMILIES["link"],
    "pm.cli.front_door_verbs:make_door",
    own=(_BIN, Argument(("--force",), "keep another `hermes` aside and take its place", "switch", default=False)),
    changes=True,
)
_UNLINK = Verb("unlink", "", FAMILIES["unlink"], "pm.cli.front_door_verbs:unmake_door", own=(_BIN,), changes=True)
_UNINSTALL = Verb(
    "uninstall",
    "",
    FAMILIES["uninstall"],
    "pm.cli.front_door_verbs:leave",
    own=(
        Argument(
            ("--purge", "--full"),
            "delete the whole root with profiles, plugins, memories and `.env`",
            "switch",
            default=False,
            stored_as="purge",
        ),
        Argument(("-y", "--yes"), "answer every question with yes", "switch", default=False, is_told_again=False),
    ),
    changes=True,
)
_OF_THE_HOST = "accepted as the host has it, and without effect: "
_UPDATE = Verb(
    "update",
    "",
    FAMILIES["update"],
    "pm.cli.update_verb:update_core",
    own=(
        CORE._replace(
            help="this core instead of the newest: a requirement such as `hermes-agent==0.19.0`, or a folder"
        ),
        Argument(
            ("--without",),
            "leave this plugin out: it is disabled in every profile, and stays installed",
            metavar="NAME",
            is_repeatable=True,
        ),
        Argument(
            ("--check",),
            "say what would happen, and change nothing; as `--dry-run`",
            "switch",
            default=False,
            is_told_again=False,
        ),
        Argument(
            ("-y", "--yes"), "agree that other profiles change as well", "switch", default=False, is_told_again=False
        ),
        Argument(("--branch",), "refused: the branch of a checkout is chosen with git", metavar="BRANCH"),
        Argument(
            ("--backup", "--no-backup"),
            f"{_OF_THE_HOST}the old generation is kept",
            "switch",
            default=False,
            stored_as="backup",
            is_told_again=False,
        ),
        Argument(
            ("--gateway", "--force", "--force-venv"),
            f"{_OF_THE_HOST}no running process is in the way",
            "switch",
            default=False,
            stored_as="force",
            is_told_again=False,
        ),
    ),
    changes=True,
    decides=True,
)
VERBS = {(verb.family, verb.name): verb for verb in (*PLUGINS, *PM, _RUN, _UPDATE, _LINK, _UNLINK, _UNINSTALL)}
"""Family and name → verb, in the order of help."""


def verb_of(arguments: "Namespace") -> Verb:
    """Return the verb that parsed arguments belong to."""
    return VERBS[arguments.family, vars(arguments).get("verb", "")]


def verbs_of(family: str) -> tuple[Verb, ...]:
    """Return the verbs of a family, in the order of help."""
    return tuple(verb for verb in VERBS.values() if verb.family == family)


def is_own(words: Sequence[str]) -> bool:
    """Say whether a command is answered by the manager, also by saying that it is not part of this version.

    It must not reach a core, which would change its own environment.
    """
    first = tuple(words[:1])
    return first in LATER_VERBS or tuple(words[:2]) in LATER_VERBS or FAMILIES.keys() >= set(first) > set()
