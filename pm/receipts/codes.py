"""The stable codes and outcomes of receipts, with what they mean, what helps, and the exit status."""

from collections.abc import Iterable
from typing import NamedTuple

__all__ = ["CODES", "OUTCOMES", "Code", "Outcome", "code_of", "exit_status"]


class Code(NamedTuple):
    """One stable code: added when needed, never renamed."""

    name: str
    outcome: str
    """What an operation comes to that ends with this code alone."""
    meaning: str
    because: str
    """The short reason for a reader who does not program: `{it}` is the plugin, `{package}` the package."""
    what_now: str
    when: str
    """What has to change before a second try can end otherwise."""


class Outcome(NamedTuple):
    """How an operation can end."""

    name: str
    exit_status: int
    meaning: str


_CODES = (
    Code(
        "conflict", "refused",
        "requirements exclude each other, and none of them is the core's",
        "no version of {package} satisfies {it} and everything else that is enabled",
        "ask the author of one of the plugins to accept more versions",
        "one of the requirements in the table changes",
    ),
    Code(
        "core-conflict", "refused",
        "requirements exclude each other, and one of them is the core's",
        "{it} needs a version of {package} that Hermes itself does not allow",
        "ask the plugin's author to accept the core's version",
        "the plugin accepts the core's version, or a newer core accepts the plugin's",
    ),
    Code(
        "core-version", "refused",
        "the plugin's `requires_hermes`, or a requirement on the core, excludes the selected core",
        "{it} needs another version of Hermes",
        "update the core, or install a version of the plugin that supports this one",
        "the plugin supports this core, or another core is selected",
    ),
    Code(
        "core-extra", "refused",
        "a requirement on the core names an extra that the selected core was chosen without",
        "{it} needs a part of Hermes that is not installed",
        "choose the core with that extra: `hermes pm init --core 'hermes-agent[EXTRA]==VERSION'`",
        "the core has the extra",
    ),
    Code(
        "python-version", "refused",
        "`Requires-Python` of the plugin, or of every matching version of a package, excludes the target's Python",
        "{it} needs another version of Python",
        "set `pm.python` to a Python that all plugins accept",
        "this Python is accepted, or `pm.python` is another one",
    ),
    Code(
        "no-wheel", "refused",
        "no matching version has a wheel for the target's interpreter and platform",
        "{package} has no build for this Python and this kind of machine",
        "ask the package's authors for a wheel, set `pm.python` to another Python, or allow the build",
        "a wheel for this target is published, or a build from source is allowed",
    ),
    Code(
        "build-needs-consent", "refused",
        "every matching version is a source distribution, and building one runs its code",
        "{package} is published as source code only, and building it runs that code",
        "allow the build with `--allow-build`, if you trust the package's authors",
        "the build is allowed, or a wheel is published",
    ),
    Code(
        "build-failed", "failed",
        "the build of a package from its source code ended with an error",
        "{package} could not be built from its source code",
        "read the end of the build's output, and install the tool that is missing",
        "the build works on this machine",
    ),
    Code(
        "install-failed", "failed",
        "the packages of a lock could not be installed, and what is damaged in the cache was fetched again already",
        "the packages could not be installed",
        "read the end of uv's output, which the message has",
        "the cause in uv's output is gone",
    ),
    Code(
        "not-found-on-index", "refused",
        "no configured index has the package",
        "no package index has {package}",
        "check the spelling, or add the index that has it to `pm.indexes`",
        "the name is corrected, or an index that has the package is configured",
    ),
    Code(
        "no-matching-version", "refused",
        "the package exists, and none of its versions satisfies the requirement",
        "no matching version of {package} exists",
        "require a version that is published",
        "a matching version is published, or the requirement is widened",
    ),
    Code(
        "yanked-only", "refused",
        "every matching version was yanked, and none is pinned exactly",
        "every matching version of {package} was withdrawn by its authors",
        "require a version that was not yanked",
        "a version that was not yanked matches",
    ),
    Code(
        "prerelease-only", "refused",
        "every matching version is a pre-release, and none was allowed",
        "only pre-releases of {package} match",
        "allow them with `--allow-prerelease`, or wait for the final release",
        "the final release is published, or its pre-releases are allowed",
    ),
    Code(
        "quarantined", "refused",
        "every matching version is newer than `pm.exclude_newer` allows",
        "every matching version of {package} is newer than `pm.exclude_newer` allows",
        "wait, or shorten `pm.exclude_newer`",
        "a matching version is old enough",
    ),
    Code(
        "index-unreachable", "failed",
        "an index did not answer, or stopped answering; this says nothing about any plugin",
        "the package index could not be reached",
        "check the network and the address of the index",
        "the index answers again",
    ),
    Code(
        "tls", "failed",
        "the certificate of an index is not trusted, or the connection is not encrypted",
        "the connection to the package index is not trusted",
        "add your network's certificate authority to the system's, or name its file in `SSL_CERT_FILE`",
        "the certificate is trusted",
    ),
    Code(
        "unauthorized", "failed",
        "an index denies access with the credentials that it was given, or without any",
        "the package index denied access",
        "put the credentials into the address of the index in uv's or pip's configuration",
        "the credentials are right",
    ),
    Code(
        "hash-mismatch", "failed",
        "a file does not have the hash that the index or the lock states",
        "a downloaded file is not the one that was expected",
        "check that no proxy changes the file, and report it to the administrator of the index",
        "the index serves the expected file",
    ),
    Code(
        "resolution-budget", "undecided",
        "the search reached its limit without an answer; this is not a conflict",
        "no answer was found within the search limit",
        "raise `--budget` or `--time-limit`, or narrow the requirement on the package that is named",
        "the limit is higher, or a requirement is narrower",
    ),
    Code(
        "invalid-declaration", "refused",
        "a file of the plugin cannot be read, or what it says is not valid",
        "{it} is not declared correctly",
        "correct the named lines, or report them to the author",
        "the files are corrected",
    ),
    Code(
        "unsupported-manifest-version", "refused",
        "`manifest_version` is not a number, or is newer than this manager reads",
        "{it} has a manifest that this manager cannot read",
        "update the manager, or install an older version of the plugin",
        "the manager reads this manifest version",
    ),
    Code(
        "dynamic-dependencies", "refused",
        "the requirements are computed by a build, which does not run before admission",
        "{it} has requirements that are known only after running its code",
        "list the requirements in `project.dependencies`, or ask the author to",
        "the requirements are listed in a file",
    ),
    Code(
        "duplicate-key", "refused",
        "a file has the same key twice",
        "{it} has a file with the same key twice",
        "remove one of the two lines",
        "the key is there once",
    ),
    Code(
        "direct-url", "refused",
        "a requirement names an address, a repository or a folder instead of a version",
        "{it} requires a package from an address instead of a package index",
        "require a version from an index, or name a wheel by its address with `#sha256=` and allow it",
        "the requirement names a version, or the address of a wheel with its digest, which is allowed",
    ),
    Code(
        "self-dependency", "refused",
        "the plugin requires itself",
        "{it} requires itself",
        "remove the requirement",
        "the requirement is removed",
    ),
    Code(
        "unknown-extra", "refused",
        "a requirement on the core, or `pm.core`, names an extra that the core does not have; for any other package"
        " this is a warning, and the extra adds nothing",
        "{it} requires an extra of {package} that does not exist",
        "correct the name of the extra, or remove it",
        "the requirement names an extra that exists",
    ),
    Code(
        "unsafe-archive", "refused",
        "an archive or folder holds an entry that is not safe to unpack: a path or a link that leads out, a device",
        "{it} contains a file that is not safe to install",
        "remove the named entry, or report it to the publisher",
        "the entry is removed",
    ),
    Code(
        "unsafe-name", "refused",
        "a name cannot be a plugin's key",
        "{it} has a name that no plugin can have",
        "use letters, digits, `-` and `_`, in one part or two with a `/`",
        "the name is changed",
    ),
    Code(
        "file-collision", "refused",
        "two distributions of the set would write one path with different content",
        "two packages would overwrite each other's files",
        "leave out one of the two, or let one overwrite the other with `--allow-collision`",
        "one of the two no longer contains the file",
    ),
    Code(
        "invalid-wheel", "refused",
        "the wheel of a package cannot be installed, or would be installed wrong: its RECORD, its paths or its scripts",
        "the file of {package} is broken",
        "require another version of the package, and report the message to its authors",
        "another file of the package is published, or another version is required",
    ),
    Code(
        "module-shadowing", "refused",
        "a top-level module of a package would hide one of the standard library or of the core",
        "a package would hide a part of Python or of Hermes",
        "require another version of the package, or leave out the plugin",
        "the package no longer contains that module",
    ),
    Code(
        "name-taken", "refused",
        "another plugin with this key is installed",
        "another plugin of this name is already installed",
        "remove the other one first, or replace it with `--force`",
        "the name is free, or `--force` is given",
    ),
    Code(
        "vulnerable", "refused",
        "an advisory at or above the chosen severity names a version that would be added or moved",
        "{package} has a known vulnerability",
        "require the fixed version",
        "a fixed version matches",
    ),
    Code(
        "managed-environment", "refused",
        "the environment belongs to Nix, a container or an administrator",
        "this installation is managed by another system",
        "declare the plugin where the environment is declared",
        "the environment declares the plugin",
    ),
    Code(
        "offline", "failed",
        "a file that is needed is not in the cache, and the network must not be used",
        "a file that is needed was not downloaded before, and the network must not be used",
        "run it without `--offline`, or put the wheels into a folder of `pm.find_links`",
        "the network may be used, or the files are there",
    ),
    Code(
        "not-admitted", "not-ready",
        "the config names a plugin or a core that no operation admitted in its present form",
        "the config asks for something that was not checked in its present form",
        "check it and enable it with `hermes plugins enable`",
        "it is admitted",
    ),
    Code(
        "no-generation", "not-ready",
        "this root has no generation yet, so there is nothing to run and nothing to look at",
        "nothing was set up yet",
        "make one with `hermes pm init`, or with the first `hermes plugins install --enable`",
        "there is a generation",
    ),
    Code(
        "no-space", "failed",
        "a file system is full, or a quota is used up",
        "the disk is full",
        "free some space, for example with `hermes pm gc`",
        "there is enough space",
    ),
    Code(
        "no-interpreter", "failed",
        "the Python that `pm.python`, the core or the selected generation needs is not installed or does not start",
        "the Python that is needed is not installed, or does not start",
        "install it, or set `pm.python` to another one",
        "that Python is installed and starts",
    ),
    Code(
        "no-home", "failed",
        "the folder that `~` or `~NAME` stands for is not known: the user has no entry in the system, and no `HOME`",
        "the home folder is not known",
        "name the folder with `--home`, or set `HERMES_HOME`",
        "the folder is named, or the user has one",
    ),
    Code(
        "not-writable", "failed",
        "a file or folder cannot be written, or a program cannot be started",
        "a file or folder cannot be written",
        "give your user the right to write there",
        "it can be written",
    ),
    Code(
        "busy", "failed",
        "another operation holds the install lock",
        "another operation is still running",
        "wait until it has ended",
        "the other operation has ended",
    ),
    Code(
        "drift", "drift",
        "the files of the selected generation differ from its lock",
        "the installed files differ from what was recorded",
        "rebuild the environment with `hermes pm repair`",
        "the environment is repaired",
    ),
    Code(
        "config-unreadable", "failed",
        "a `config.yaml` cannot be read, so what it allows is not known",
        "the config cannot be read",
        "correct the named line",
        "the config can be read",
    ),
    Code(
        "setting-not-enforced", "failed",
        "a setting asks for something that this version does not do, so nothing is admitted as if it did",
        "a setting asks for something that this version does not do",
        "change the setting that the message names",
        "the setting is changed, or the manager is updated",
    ),
    Code(
        "unknown-plugin", "failed",
        "no plugin has this name, or several have it",
        "no plugin of this name was found",
        "use a key that `hermes plugins list` shows",
        "the name is one that `hermes plugins list` shows",
    ),
    Code(
        "no-patch", "failed",
        "no confirmed bound of the plugin can be written as a change of its file",
        "there is no change to write",
        "change the file yourself, as the steps of the refusal say",
        "a wider bound is confirmed, and is written on a line of its own",
    ),
    Code(
        "invalid-evidence", "failed",
        "the facts beside a receipt are missing, changed or not enough to decide again",
        "the facts that the verdict was based on are missing or changed",
        "use the receipt together with the `.facts.json` that was written with it",
        "both files are as they were written",
    ),
    Code(
        "unknown-generation", "failed",
        "no generation has this number, or there is none before the selected one",
        "there is no such generation",
        "name one that exists; the message lists them",
        "the number is that of a generation that exists",
    ),
    Code(
        "not-agreed", "failed",
        "the operation would change another profile as well, and was not given `--yes`",
        "it would change another profile too",
        "look at what would change, and give `--yes` to agree",
        "`--yes` is given",
    ),
    Code(
        "unknown-package", "failed",
        "the selected generation has no package of this name",
        "no package of this name is installed",
        "use a name that `hermes pm tree` shows",
        "the name is one that `hermes pm tree` shows",
    ),
    Code(
        "unknown-receipt", "failed",
        "no stored receipt has this id, or several begin with it; or no code or outcome has this name",
        "no receipt of this name was found",
        "use an id that `hermes pm receipts` shows",
        "the id is one that `hermes pm receipts` shows",
    ),
    Code(
        "invalid-source", "failed",
        "the source of a plugin does not exist, or is of a kind that is not supported",
        "there is no plugin at this place",
        "name a folder with a plugin in it, or an archive of one",
        "the source exists",
    ),
    Code(
        "config-changed", "failed",
        "another process changed the plugins in a `config.yaml` between decision and commit",
        "another process changed the config at the same time",
        "look at the config",
        "the config does not change while the operation runs",
    ),
    Code(
        "manager-fault", "failed",
        "the manager itself has a fault; its traceback is on standard error, and the receipt says whether the change "
        "was made",
        "the manager itself has a fault",
        "report the fault with its traceback",
        "a version of the manager without this fault is installed",
    ),
    Code(
        "interrupted", "interrupted",
        "the operation was stopped before it had committed",
        "it was stopped before it was finished",
        "nothing has to be cleaned up first",
        "it is not stopped",
    ),
)  # fmt: skip

CODES = {code.name: code for code in _CODES}

_OUTCOMES = (
    Outcome("admitted", 0, "the requirements hold together; a generation with them is selected (dry run: could be)"),
    Outcome("refused", 1, "it cannot be done, and the receipt says why; the selected generation stays selected"),
    Outcome("failed", 3, "the network, a tool or the machine failed; this says nothing about the plugin"),
    Outcome("undecided", 3, "neither shown to fit nor shown not to fit; nothing was changed"),
    Outcome("unchanged", 0, "it was already so, and there was nothing to do"),
    Outcome("ready", 0, "everything that was asked about is ready (with `--strict` 5 if only after a restart)"),
    Outcome("not-ready", 1, "something that was asked about is not ready; the reasons name it"),
    Outcome("removed", 0, "the plugin, its settings and what only it needed are removed"),
    Outcome("disabled", 0, "the plugin is disabled and stays installed"),
    Outcome("rolled-back", 0, "an earlier generation is selected again"),
    Outcome("collected", 0, "generations that are no longer needed are deleted"),
    Outcome("verified", 0, "the selected generation is what its lock says, or the audited lock has no finding"),
    Outcome("drift", 1, "the files of the selected generation differ from its lock"),
    Outcome("repaired", 0, "the recorded lock is built again"),
    Outcome("exported", 0, "a lock, a bundle or another format is written"),
    Outcome("interrupted", 3, "it was stopped; the selected generation stays selected"),
)

OUTCOMES = {outcome.name: outcome for outcome in _OUTCOMES}

_USAGE = 2
_BUSY = 4
_RESTART = 5
_MISNAMED = frozenset({"invalid-source", "unknown-generation", "unknown-package", "unknown-plugin", "unknown-receipt"})


def code_of(name: str) -> Code:
    """Return what is known of a code; for one that is not in the table, words that are true of every failure."""
    unknown = Code(name, "failed", "", "something went wrong", "", "the cause is gone")
    return CODES.get(name, unknown)


def exit_status(outcome: str, codes: Iterable[str] = (), *, restart: bool = False) -> int:
    """Return the exit status of an outcome with the codes of its reasons; `restart` under `--strict` only."""
    codes = set(codes)
    if outcome == "failed" and "busy" in codes:
        return _BUSY
    if outcome == "failed" and codes & _MISNAMED:
        return _USAGE
    if outcome == "ready" and restart:
        return _RESTART
    return OUTCOMES[outcome].exit_status
