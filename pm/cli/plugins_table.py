"""The verbs of `hermes plugins` with their arguments."""

from pm.cli.verb import CORE, PLUGIN, SEVERAL, Argument, Verb

_FAIL_ON_WARNING = Argument(
    ("--fail-on-warning",),
    "exit with status 1 if there is a warning that the author of a plugin can mend (`level` of `--json`)",
    "switch",
    default=False,
)
PLUGINS = (
    Verb(
        "plugins",
        "install",
        "install plugins from folders, archives or git repositories",
        "pm.cli.plugins_verbs:install_plugin",
        own=(
            Argument(
                ("sources",),
                "each a folder, a `.zip`, a `.tar.*`, the address of a git repository, or `OWNER/REPOSITORY`; either"
                " all of them are installed, or none",
                metavar="SOURCE",
                how_many="+",
            ),
            Argument(("--enable",), "check it and enable it", "switch", one_of="which"),
            Argument(("--no-enable",), "leave it disabled", "switch", stores=False, stored_as="enable", one_of="which"),
            Argument(("--ref",), "the commit of the repository, in full", metavar="COMMIT"),
            Argument(("-f", "--force"), "replace an installed plugin of the same key", "switch", default=False),
            Argument(("--keep",), "if it is refused, keep it installed but disabled", "switch", default=False),
            Argument(("--yes",), "answer every question with yes", "switch", default=False, is_told_again=False),
        ),
        changes=True,
        decides=True,
    ),
    Verb(
        "plugins",
        "update",
        "replace plugins by what their sources have now, if that fits; without a name, say what is newer",
        "pm.cli.plugins_verbs:update_plugin",
        own=(
            SEVERAL._replace(how_many="*"),
            Argument(
                ("--all",),
                "every plugin whose source has something newer",
                "switch",
                default=False,
                stored_as="everything",
            ),
            Argument(("--ref",), "move the plugin of a repository to this commit, in full", metavar="COMMIT"),
            Argument(
                ("-y", "--yes"),
                "agree that a plugin requires more than before",
                "switch",
                default=False,
                is_told_again=False,
            ),
        ),
        changes=True,
        decides=True,
    ),
    Verb(
        "plugins",
        "outdated",
        "list the installed plugins, and whether their sources have something newer",
        "pm.cli.plugins_verbs:list_outdated",
        own=(SEVERAL._replace(how_many="*"),),
    ),
    Verb(
        "plugins",
        "remove",
        "remove plugins, every mention of them in the config, and what only they needed",
        "pm.cli.plugins_verbs:remove_plugin",
        own=(SEVERAL,),
        changes=True,
    ),
    Verb(
        "plugins",
        "enable",
        "check installed plugins together, and enable them if they fit",
        "pm.cli.plugins_verbs:enable_plugin",
        own=(SEVERAL,),
        changes=True,
        decides=True,
    ),
    Verb(
        "plugins",
        "disable",
        "disable plugins; they stay installed",
        "pm.cli.plugins_verbs:disable_plugin",
        own=(SEVERAL,),
        changes=True,
    ),
    Verb(
        "plugins",
        "use",
        "select the memory provider or the context engine, and enable it",
        "pm.cli.plugins_verbs:use_plugin",
        own=(
            Argument(("kind",), "what is selected", choices=("memory", "context-engine")),
            Argument(("name",), "a plugin, or `builtin` for what the core brings", metavar="NAME"),
        ),
        changes=True,
        decides=True,
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
            _FAIL_ON_WARNING,
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
        "pm.cli.validate_verb:validate_plugin",
        own=(
            Argument(("path",), "the plugin's folder or archive", metavar="PATH"),
            CORE._replace(is_repeatable=True),
            _FAIL_ON_WARNING,
            Argument(
                ("--python",),
                "a version such as `3.12`, or the path of an interpreter",
                metavar="PYTHON",
                is_repeatable=True,
            ),
            Argument(
                ("--format",), "how findings are written (default: text)", choices=("text", "github"), default="text"
            ),
        ),
        decides=True,
    ),
    Verb(
        "plugins",
        "list",
        "list the plugins that are installed or enabled, and whether they are ready",
        "pm.cli.plugins_verbs:list_plugins",
        own=(
            Argument(
                ("--all",),
                "also those that come with the core and are not enabled",
                "switch",
                default=False,
                stored_as="everything",
            ),
            Argument(("--enabled",), "only those that are enabled", "switch", default=False),
            Argument(
                ("--user", "--no-bundled"),
                "only those that do not come with the core",
                "switch",
                default=False,
                stored_as="user",
            ),
            Argument(("--plain",), "one line for each, without a head", "switch", default=False),
        ),
    ),
    Verb(
        "plugins",
        "search",
        "list what the catalog (`pm.catalog`) holds",
        "pm.cli.search_verb:search_catalog",
        own=(Argument(("words",), "words that name or description hold, all of them", metavar="TERM", how_many="*"),),
    ),
    Verb(
        "plugins",
        "show",
        "show everything that is known about a plugin",
        "pm.cli.plugins_verbs:show_plugin",
        own=(PLUGIN,),
    ),
)
