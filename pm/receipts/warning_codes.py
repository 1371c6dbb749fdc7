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
        "a package that the core requires moved to another version within the core's bounds",
        "nothing, if Hermes works; the receipt names both versions",
    ),
    WarningCode(
        "core-expects-version",
        "another version was chosen than the one that an extra of the core pins for this package",
        "nothing, if the feature works; the core may reinstall its own version, or refuse this one",
    ),
    WarningCode(
        "core-held-back",
        "a newer core is published, and `pm.core` is a range that does not hold it",
        "name it with `hermes update --core`, if you want it",
    ),
    WarningCode(
        "core-pins-already",
        "a requirement of the plugin changes nothing, because the core pins the package",
        "its author may remove the requirement",
    ),
    WarningCode(
        "broken-extra",
        "an extra of a package asks for something that cannot be read, or for an address; nothing asks for the extra",
        "nothing; where the extra is asked for, this version of the package is not chosen",
    ),
    WarningCode(
        "yanked-locked",
        "a version of the selected lock was yanked by its authors since it was chosen; it stays",
        "see the reason; `hermes pm why` names what requires it, and a bound that excludes it moves it away",
    ),
    WarningCode(
        "yanked-left",
        "a version of the selected lock that its authors have yanked was replaced",
        "nothing; the message says why it was yanked",
    ),
    WarningCode(
        "quarantined-locked",
        "versions of the selected lock are newer than `pm.exclude_newer` allows; they stay",
        "nothing; they move when something requires another version",
    ),
    WarningCode(
        "build-variant-lost",
        "a local build of a package, such as `2.1.1+cu118`, was replaced by a plain version or by another build",
        "go back with `hermes pm rollback`, or offer that build of a version that fits; the message says which",
    ),
    WarningCode(
        "moved-down",
        "an older version than before was chosen",
        "see what requires it with `hermes pm why`",
    ),
    WarningCode(
        "older-for-python",
        "a newer version exists and does not support the target's Python",
        "set `pm.python` to a newer Python, if the newer version matters",
    ),
    WarningCode(
        "older-for-dependency",
        "a newer version exists, and what is named stands in its way",
        "nothing, unless the newer one matters: then change what is named",
    ),
    WarningCode(
        "catalog-unreachable",
        "what the catalog says now is not known: whether a plugin was withdrawn is told from a kept copy, or not told",
        "check `pm.catalog` and the network",
    ),
    WarningCode(
        "looks-like",
        "the name of a plugin is nearly that of another one of the catalog or of the core",
        "check that it is the one that was meant",
    ),
    WarningCode(
        "withdrawn-installed",
        "an installed plugin was withdrawn by the catalog; it stays as it is",
        "read the reason, and remove or disable it with the command that the hint names",
    ),
    WarningCode(
        "requirements-grow",
        "the new version of a plugin requires what the installed one did not, or brings new packages",
        "agree with `--yes`, if you want them",
    ),
    WarningCode(
        "admitted-now",
        "a plugin that was refused before, and is not enabled, would be admitted with the core and the plugins of now",
        "enable it with the command that the hint names, if you still want it",
    ),
    WarningCode(
        "prerelease-chosen",
        "a pre-release was chosen, because a requirement opts into it",
        "nothing; the message names the requirement's owner",
    ),
    WarningCode(
        "yanked-pin",
        "a version that its authors yanked was chosen, because it is pinned exactly",
        "ask the owner of the pin to take another version; the message says why it was yanked",
    ),
    WarningCode(
        "index-file-unusable",
        "an index or a folder offers a file whose name or entry cannot be read; the others are used",
        "tell the owner of the index; the message names the file",
    ),
    # what a declaration says
    WarningCode(
        "declarations-differ",
        "two files of the plugin require different packages; the message says which one counts",
        "keep one of the two lists",
    ),
    WarningCode(
        "declaration-invalid",
        "an enabled plugin can no longer be read; its last admitted declaration counts",
        "correct the named line",
    ),
    WarningCode(
        "dependencies-not-read",
        "something looks like a list of requirements, and no host reads it",
        "move it to the place that the hint names",
    ),
    WarningCode(
        "unquoted-value",
        "a value without quotes is no text for YAML readers: `off` is false, `010` is 8, `1.10` is 1.1",
        "put the value into quotes",
    ),
    WarningCode(
        "sources-not-read",
        "`tool.uv.sources` is not followed; the packages are taken from an index",
        "publish them to an index, or put their wheels into a folder of `pm.find_links`",
    ),
    WarningCode(
        "optional-dependencies-not-installed",
        "optional dependencies and dependency groups of the plugin are not installed",
        "nothing; if the plugin needs them, its author lists them as requirements",
    ),
    WarningCode(
        "external-runtime",
        "the plugin brings an environment of its own; its requirements were not prepared",
        "follow the plugin's own instructions",
    ),
    WarningCode(
        "source-not-parsed",
        "a source file of the plugin cannot be parsed, so its imports are not known",
        "report the named line to its author",
    ),
    # what an author may want to know
    WarningCode(
        "readme-missing",
        "the plugin has no README",
        "its author adds one",
    ),
    WarningCode(
        "init-missing",
        "no host loads the plugin from its folder, because the file that hosts load is missing",
        "its author adds the file that the hint names",
    ),
    WarningCode(
        "register-missing",
        "no host can start the plugin, because it has no function `register`",
        "its author adds that function",
    ),
    WarningCode(
        "hook-unknown",
        "the manifest lists a hook that no known host calls",
        "its author corrects or removes the name",
    ),
    WarningCode(
        "hook-undefined",
        "the manifest lists a hook that the source neither registers nor defines",
        "its author writes it, or removes it from the list",
    ),
    WarningCode(
        "entry-point-single-module",
        "an entry point names a single module, so no host reads the files beside it",
        "its author makes the module a package with these files in it",
    ),
    WarningCode(
        "profile-read-at-import",
        "a value of a profile is read when the module is imported, so one profile's value is used for all",
        "its author reads it where it is used",
    ),
    WarningCode(
        "provider-shared",
        "a module or class holds one memory provider for all profiles",
        "its author makes a new one in each call of `register`",
    ),
    WarningCode(
        "state-shared",
        "functions change a container that all profiles of a process share",
        "its author keeps it in an instance, or under a key that names the profile's home",
    ),
    WarningCode(
        "external-unchecked",
        "the plugin needs something that is not a Python package, and whether it is there was not checked",
        "check it yourself; the plugin's documentation says how to get it",
    ),
    # what a config says
    WarningCode(
        "settings-ignored",
        "a setting is not one of the manager's, or is written where it is not read",
        "correct its name, or move it to the section `pm:` of the root's `config.yaml`",
    ),
    WarningCode(
        "selected-but-disabled",
        "a plugin is selected as memory provider or context engine and also listed as disabled: it counts as enabled",
        "remove it from `plugins.disabled`, or select another one",
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
        "correct the named line",
    ),
    WarningCode(
        "profile-gone",
        "the folder of a profile is gone, and its plugins are no longer part of the set",
        "nothing, if the profile was deleted; else put the folder back",
    ),
    WarningCode(
        "home-not-used",
        "the settings of the home cannot be used for this check, so the defaults count",
        "correct what the message names, or name another home with `--home`",
    ),
    WarningCode(
        "record-lost",
        "the record of what was admitted before cannot be read, so everything is checked again",
        "nothing; the new generation has a record of its own",
    ),
    # what was done
    WarningCode(
        "not-enabled",
        "the plugin is installed and disabled, and whether it fits was not checked",
        "check it and enable it with `hermes plugins enable`",
    ),
    WarningCode(
        "stays-there",
        "files stay: the plugin belongs to the core or to a project, or what lies under its name is not its folder",
        "delete them, if they are your own and not needed",
    ),
    WarningCode(
        "files-kept",
        "files that the plugin wrote into its own folder stay there",
        "delete them, if they are not needed",
    ),
    WarningCode(
        "linked-plugin-changed",
        "the folder of a plugin is a link, and what it leads to is not what was admitted",
        "nothing, if you develop the plugin there; what it declares is compared at each operation",
    ),
    WarningCode(
        "service-left",
        "a service starts by the path of a generation that is deleted",
        "install the service again with the host that is used now, or delete its unit",
    ),
    WarningCode(
        "manager-installed",
        "the manager's state is deleted, and the manager itself is still there",
        "run the command that the message names, if the manager is to go too",
    ),
    WarningCode(
        "link-replaced",
        "the folder of a plugin was a link, and `--force` puts a copy of the source in its place",
        "make the link again, if you want to go on developing the plugin there",
    ),
    WarningCode(
        "link-stays",
        "the folder of a plugin is or was a link, so going back puts no other files there",
        "choose the files of then by the history of the folder that the link leads to",
    ),
    WarningCode(
        "tree-kept",
        "the folder was not put there by the manager, or was changed since; a copy of it is kept",
        "nothing, or take what you need from the copy",
    ),
    WarningCode(
        "tree-not-kept",
        "the folder was not put there by the manager, or was changed since, and no copy of it could be kept",
        "the message says why",
    ),
    WarningCode(
        "superset-kept",
        "packages that are no longer needed stay in the environment for now",
        "nothing; the next build leaves them out",
    ),
    WarningCode(
        "receipt-not-stored",
        "the operation is done, and its receipt could not be written",
        "keep this output, and free some space or give the right to write",
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
        "an address is given for find-links, and only folders are supported",
        "put the files into a folder, and name that",
    ),
    WarningCode(
        "runs-at-start",
        "a package has files whose code every start of Python runs, in each process of the environment",
        "look at the named files, if you do not expect that of the package",
    ),
    WarningCode(
        "invalid-script",
        "a package has a script that no system starts, because its first line ends with a carriage return",
        "start it with `hermes run -- python PATH`, and report it to the package's authors",
    ),
    WarningCode(
        "contents-unknown",
        "which files some packages contain is not known offline, so collisions between them were not checked",
        "nothing; the build finds out, or run it once without `--offline`",
    ),
    WarningCode(
        "cache-not-written",
        "an answer of an index could not be cached, so it is asked again next time",
        "free some space, or give the right to write to the folder",
    ),
    WarningCode(
        "undeclared-import",
        "a source file imports a module that no requirement of core or plugin provides",
        "its author adds the package to the requirements",
    ),
    WarningCode(
        "import-optional",
        "a module is imported if it is there, and no requirement provides it",
        "nothing, unless you want that feature",
    ),
    WarningCode(
        "core-module-missing",
        "a source file imports a module of the host that this core does not have",
        "check it with a core that has the module (`--core`)",
    ),
    WarningCode(
        "import-not-judged",
        "the contents of some packages are not known, so neither is whether they provide a module",
        "run it once without `--offline`",
    ),
    WarningCode(
        "replay-differs",
        "this version of the manager decides otherwise than the one that wrote the receipt",
        "look at what changed between the two, and report it",
    ),
    WarningCode(
        "record-unreadable",
        "the record of the selected generation cannot be read, so that generation stays as it is",
        "make a new generation with `hermes pm init`",
    ),
    WarningCode(
        "old-pages",
        "offline, the verdict rests on what an index said more than ten minutes ago",
        "run it without `--offline` to have the index asked again",
    ),
    WarningCode(
        "file-replaced",
        "an index serves other bytes under the name of a file that was locked before",
        "ask the administrator of the index; a release is not published twice",
    ),
    WarningCode(
        "generation-damaged",
        "an earlier generation is not what it was; `hermes pm rollback` builds it again where it goes back to it",
        "nothing; `hermes pm gc` deletes it once there are enough newer ones",
    ),
    WarningCode(
        "collected",
        "what was deleted, or would be, and how many bytes that frees",
        "nothing",
    ),
    WarningCode(
        "not-collected",
        "the change is made, and what is no longer needed could not all be deleted",
        "nothing; the next change deletes it, and so does `hermes pm gc`",
    ),
    WarningCode(
        "bundled",
        "how many wheels a bundle holds, or would, and how many bytes they are",
        "take the folder to the other machine",
    ),
    WarningCode(
        "not-bundled",
        "a part of the generation is not in the bundle",
        "take it to the other machine separately, as the bundle's README says",
    ),
    WarningCode(
        "profile-changes",
        "the rollback changes what a profile enables or selects, or the core and the Python of the settings",
        "nothing, if that is what you want",
    ),
)

WARNINGS = {code.name: code for code in _WARNINGS}
