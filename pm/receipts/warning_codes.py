"""The codes that only warnings carry, with what they mean and what helps; all others are in `pm.receipts.codes`."""

from typing import NamedTuple

__all__ = ["WARNINGS", "WarningCode"]


class WarningCode(NamedTuple):
    """One code of a warning: it stops nothing. Added when needed, never renamed."""

    name: str
    meaning: str
    what_now: str


_WARNINGS = (
    # what was chosen
    WarningCode(
        "core-package-moved",
        "a package that the core asks for moved to another version inside of the core's range",
        "nothing, if Hermes works; the receipt says from where to where",
    ),
    WarningCode(
        "core-expects-version",
        "another version was chosen than the one that an extra of the core pins for this package",
        "nothing, if the feature works; the core may install its own version again, or refuse this one",
    ),
    WarningCode(
        "core-pins-already",
        "a requirement of the plugin changes nothing, because the core pins the package",
        "its author may leave the line out",
    ),
    WarningCode(
        "moved-down",
        "an older version than before was chosen",
        "look at who asks for it with `hermes pm why`",
    ),
    WarningCode(
        "older-for-python",
        "a newer version exists and does not accept the target's Python",
        "choose a newer Python with `pm.python`, if the newer version matters",
    ),
    WarningCode(
        "older-for-dependency",
        "a newer version exists, and something that it needs does not fit here",
        "nothing; it is taken when everything fits",
    ),
    WarningCode(
        "prerelease-chosen",
        "a pre-release was chosen, because somebody opted into it",
        "nothing; who opted into it is in the message",
    ),
    WarningCode(
        "yanked-pin",
        "a version that its authors withdrew was chosen, because it is pinned exactly",
        "ask who pins it to take another version; the reason of the withdrawal is in the message",
    ),
    # what a declaration says
    WarningCode(
        "declarations-differ",
        "two files of the plugin ask for different packages; the message says which one counts",
        "keep one of the two lists",
    ),
    WarningCode(
        "declaration-invalid",
        "an enabled plugin can no longer be read; its last admitted declaration counts",
        "correct the line that is named",
    ),
    WarningCode(
        "dependencies-not-read",
        "something looks like a list of requirements and is none that any host reads",
        "move it to the place that the hint names",
    ),
    WarningCode(
        "sources-not-read",
        "`tool.uv.sources` is not followed; the packages are taken from an index",
        "publish them to an index, or put their wheels into a folder of `pm.find_links`",
    ),
    WarningCode(
        "optional-dependencies-not-installed",
        "optional dependencies and dependency groups of the plugin are not installed",
        "nothing, unless the plugin needs them: then its author lists them as requirements",
    ),
    WarningCode(
        "external-runtime",
        "the plugin brings an environment of its own; what it declares was not prepared",
        "follow the plugin's own instructions",
    ),
    WarningCode(
        "source-not-parsed",
        "a source file of the plugin cannot be parsed, so nothing is known of what it imports",
        "tell its author, with the line that is named",
    ),
    # what an author may want to know
    WarningCode(
        "readme-missing",
        "the plugin has no README",
        "its author adds one",
    ),
    WarningCode(
        "init-missing",
        "no host loads the plugin from its folder, because the file that it would load is not there",
        "its author adds the file that the hint names",
    ),
    WarningCode(
        "register-missing",
        "no host can start the plugin, because nothing in it is called `register`",
        "its author adds that function",
    ),
    WarningCode(
        "hook-unknown",
        "the manifest lists a hook that no known host calls",
        "its author corrects the name, or takes it out",
    ),
    WarningCode(
        "hook-undefined",
        "the manifest lists a hook that nothing in the source registers or defines",
        "its author writes it, or takes it out of the list",
    ),
    WarningCode(
        "entry-point-single-module",
        "an entry point names a single module, so no host reads the files beside it",
        "its author makes the module a package with these files in it",
    ),
    WarningCode(
        "profile-read-at-import",
        "something of a profile is read when the module is imported, so one profile's answer counts for all",
        "its author reads it where it is used",
    ),
    WarningCode(
        "provider-shared",
        "a name of a module or class holds one memory provider for all profiles",
        "its author makes a new one in each call of `register`",
    ),
    WarningCode(
        "state-shared",
        "functions change a container that all profiles of a process share",
        "its author keeps it in an instance, or under a key that names the profile's home",
    ),
    WarningCode(
        "external-unchecked",
        "the plugin needs something that is not a Python package, and nobody looked whether it is there",
        "look yourself; the plugin's own words say how to get it",
    ),
    # what a config says
    WarningCode(
        "settings-ignored",
        "a setting is not one of the manager's, or stands where it is not read",
        "correct its name, or move it to the section `pm:` of the root's `config.yaml`",
    ),
    WarningCode(
        "selected-but-disabled",
        "a plugin is selected as memory provider or context engine and listed as disabled: it counts as enabled",
        "take it out of `plugins.disabled`, or select another one",
    ),
    WarningCode(
        "selection-reset",
        "the plugin was selected as memory provider or context engine, and the built-in one is now",
        "select another one, if you want one",
    ),
    WarningCode(
        "plugin-missing",
        "a config enables a plugin that is not there",
        "put it back, or remove it with `hermes plugins remove`",
    ),
    WarningCode(
        "profile-unreadable",
        "the config of a profile cannot be read; its last admitted plugins count",
        "correct the line that is named",
    ),
    WarningCode(
        "profile-gone",
        "the folder of a profile is gone, and its plugins have left with it",
        "nothing, if the profile was deleted; else put the folder back",
    ),
    WarningCode(
        "home-not-used",
        "the settings of the home cannot be used for this check, and the defaults count",
        "correct what the message names, or name another home with `--home`",
    ),
    WarningCode(
        "record-lost",
        "the record of what was admitted before cannot be read, and everything is judged anew",
        "nothing: the new generation has a record of its own",
    ),
    # what was done
    WarningCode(
        "not-enabled",
        "the plugin is installed and switched off, and nobody asked whether it fits",
        "switch it on with `hermes plugins enable`, which asks",
    ),
    WarningCode(
        "stays-there",
        "the plugin comes with the core or a project: it is switched off, and its files stay",
        "nothing",
    ),
    WarningCode(
        "files-kept",
        "files that the plugin wrote into its own folder stay there",
        "look at them, and delete them if nobody needs them",
    ),
    WarningCode(
        "tree-kept",
        "the folder was put there or changed by somebody else; a copy of it is kept",
        "nothing, or take what you need from the copy",
    ),
    WarningCode(
        "tree-not-kept",
        "the folder was put there or changed by somebody else, and no copy of it could be kept",
        "the message says why",
    ),
    WarningCode(
        "superset-kept",
        "packages that nobody needs any more stay in the environment for now",
        "nothing: the next build leaves them out",
    ),
    WarningCode(
        "receipt-not-stored",
        "the operation is done, and its receipt could not be written",
        "keep this output, and make room or give the right to write",
    ),
    # where packages come from
    WarningCode(
        "extra-index-unused",
        "pip's `extra-index-url` is not used, since pip mixes its indexes",
        "list the index in `pm.indexes`; the message has the line",
    ),
    WarningCode(
        "constraint-unused",
        "pip's `constraint` is not used",
        "write its bounds into a declaration, or its index into `pm.indexes`",
    ),
    WarningCode(
        "find-links-unused",
        "an address is given for find-links, and only folders are read",
        "put the files into a folder, and name that",
    ),
    WarningCode(
        "contents-unknown",
        "which files some packages bring is not known offline, so nobody looked whether they overwrite each other",
        "nothing: the build finds out; or ask once without `--offline`",
    ),
    WarningCode(
        "cache-not-written",
        "what was learnt of an index could not be kept, so it is asked again next time",
        "make room, or give the right to write to the folder",
    ),
    WarningCode(
        "undeclared-import",
        "a source file imports a module that no requirement of core or plugin brings",
        "its author lists the package among the requirements",
    ),
    WarningCode(
        "import-optional",
        "a module is used if it is there, and no requirement brings it",
        "nothing, unless you want that feature",
    ),
    WarningCode(
        "core-module-missing",
        "a source file imports a module of the host that the judged core does not have",
        "judge with a core that has it (`--core`)",
    ),
    WarningCode(
        "import-not-judged",
        "the contents of some packages are not known, so nobody could tell whether they bring a module",
        "ask once without `--offline`",
    ),
    WarningCode(
        "replay-differs",
        "this version of the manager decides otherwise than the one that wrote the receipt",
        "look at what changed between the two, and report it",
    ),
    WarningCode(
        "record-unreadable",
        "the record of the selected generation cannot be read, so that generation stays as it is",
        "`hermes pm init` makes a new generation",
    ),
    WarningCode(
        "index-packages-unused",
        "an index of `pm.indexes` names `packages`, which has no effect yet",
        "order the indexes so that the right one knows the name first",
    ),
    WarningCode(
        "file-replaced",
        "an index serves other bytes under the name of a file that was locked before",
        "ask whoever runs the index; a release is not published twice",
    ),
    WarningCode(
        "generation-damaged",
        "an earlier generation is not what it was, so that it cannot be gone back to",
        "`hermes pm gc` deletes it when enough newer ones are there",
    ),
    WarningCode(
        "collected",
        "what was deleted, or would be, and how many bytes that frees",
        "nothing",
    ),
    WarningCode(
        "bundled",
        "how many wheels a bundle holds, or would, and how many bytes they are",
        "take the folder to the other machine",
    ),
    WarningCode(
        "not-bundled",
        "something that the generation is made of is not in the bundle",
        "take it there by another way, as the bundle's README says",
    ),
    WarningCode(
        "profile-changes",
        "going back changes what a profile switches on or selects, or the core and the Python of the settings",
        "nothing, if that is what was meant",
    ),
)

WARNINGS = {code.name: code for code in _WARNINGS}
