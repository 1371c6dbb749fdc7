"""The verbs of `hermes pm` with their arguments."""

from pm.cli.verb import CORE, Argument, Verb

PM = (
    Verb(
        "pm",
        "init",
        "choose the core, and build a generation with everything that is enabled",
        "pm.cli.pm_verbs:set_up",
        own=(
            CORE,
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
        "extras",
        "list the extras of the core, or choose more or fewer of them",
        "pm.cli.extras_verb:change_extras",
        own=(
            Argument(
                ("action",),
                "`list` them (default), `add` some to those that are chosen, or `remove` some",
                choices=("list", "add", "remove"),
                default="list",
                how_many="?",
            ),
            Argument(("names",), "extras of the core, such as `edge-tts`", metavar="NAME", how_many="*"),
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
            Argument(("--keep",), "keep so many of the newest (default: `pm.keep_generations`)", "count", "N"),
            Argument(
                ("--cache",), "also delete what the cache holds and no kept generation needs", "switch", default=False
            ),
        ),
        changes=True,
    ),
    Verb(
        "pm",
        "generations",
        "list the generations: when, by which operation, how large, which is selected",
        "pm.cli.pm_verbs:list_generations",
    ),
    Verb(
        "pm",
        "diff",
        "show what differs between two generations: core, plugins, packages",
        "pm.cli.pm_verbs:compare_generations",
        own=(
            Argument(
                ("before",),
                "a generation (default: the one before the selected one)",
                "number",
                metavar="A",
                how_many="?",
            ),
            Argument(("after",), "another one (default: the selected one)", "number", metavar="B", how_many="?"),
        ),
    ),
    Verb("pm", "status", "show the selected generation, and everything that is enabled", "pm.cli.pm_verbs:show_status"),
    Verb(
        "pm",
        "doctor",
        "look for what commonly goes wrong, and say what puts it right; nothing is changed",
        "pm.cli.doctor_verb:examine",
    ),
    Verb(
        "pm",
        "services",
        "list the services that start in a generation by its path, or let them start what is selected",
        "pm.cli.services_verb:look_at_services",
        own=(
            Argument(
                ("--write",), "write a drop-in for each, so that it starts what is selected", "switch", default=False
            ),
        ),
        changes=True,
    ),
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
    Verb(
        "pm",
        "completion",
        "print what a shell needs to complete the words of this command",
        "pm.cli.completion_verb:print_completion",
        own=(
            Argument(("shell",), "the shell", choices=("bash", "zsh", "fish")),
            Argument(("--program",), "the program that is completed (default: this one)", metavar="PROGRAM"),
        ),
        is_plain=True,
    ),
)
