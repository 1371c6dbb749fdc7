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
        "no version of {package} suits {it} and everything else that is switched on",
        "take one of the steps; a confirmed one was tried in a dry run",
        "one of the requirements in the table changes",
    ),
    Code(
        "core-conflict", "refused",
        "requirements exclude each other, and one of them is the core's",
        "{it} needs a version of {package} that Hermes itself does not allow",
        "take one of the steps, or ask the plugin's author to accept the core's version",
        "the plugin accepts the core's version, or a newer core accepts the plugin's",
    ),
    Code(
        "core-version", "refused",
        "the plugin's `requires_hermes`, or a requirement on the core, excludes the selected core",
        "{it} is made for another version of Hermes",
        "update the core, or take a version of the plugin that supports this one",
        "the core or the plugin has another version",
    ),
    Code(
        "python-version", "refused",
        "`Requires-Python` of the plugin, or of every fitting version of a package, excludes the target's Python",
        "{it} is made for another version of Python",
        "choose a Python that all of them accept with `pm.python`",
        "the plugin accepts this Python, or `pm.python` names another one",
    ),
    Code(
        "no-wheel", "refused",
        "no fitting version has a wheel for the target's interpreter and platform",
        "{package} is not published for this kind of machine",
        "ask the authors of the package for a wheel, choose another Python with `pm.python`, or allow the build",
        "a wheel for this target is published, or a build from the source code is allowed",
    ),
    Code(
        "build-needs-consent", "refused",
        "every fitting version is a source distribution, and building one runs its code",
        "{package} exists only as source code, and building that would run it",
        "allow the build of this one package, if you trust its authors",
        "the build is allowed, or a wheel is published",
    ),
    Code(
        "build-failed", "failed",
        "a consented build ended with an error, or what was to be installed cannot be installed",
        "building {package} from its source code did not work",
        "read the end of the build's output, and install the tool that it misses",
        "the build works on this machine",
    ),
    Code(
        "not-found-on-index", "refused",
        "no index that was asked knows the package",
        "no package index knows {package}",
        "check the spelling, or add the index that has it to `pm.indexes`",
        "the name is corrected, or an index that has the package is configured",
    ),
    Code(
        "no-matching-version", "refused",
        "the package exists, and none of its versions satisfies the requirement",
        "no published version of {package} is one that {it} accepts",
        "take a requirement that one of the published versions satisfies",
        "a fitting version is published, or the requirement is widened",
    ),
    Code(
        "yanked-only", "refused",
        "every fitting version was withdrawn, and none is pinned exactly",
        "the fitting versions of {package} were withdrawn by their authors",
        "accept a version that was not withdrawn",
        "a version that was not withdrawn fits",
    ),
    Code(
        "prerelease-only", "refused",
        "every fitting version is a pre-release, and none was consented to",
        "the fitting versions of {package} are only previews so far",
        "allow pre-releases of this one package, or wait for the release",
        "the release is published, or its pre-releases are allowed",
    ),
    Code(
        "quarantined", "refused",
        "every fitting version is younger than `pm.exclude_newer` allows",
        "the fitting versions of {package} are too new for the waiting time that was set",
        "wait, or shorten `pm.exclude_newer`",
        "the waiting time is over",
    ),
    Code(
        "index-unreachable", "failed",
        "an index did not answer, or stopped answering; nothing follows about any plugin",
        "the package index could not be reached",
        "check the network and the address of the index, then try again",
        "the index answers again",
    ),
    Code(
        "tls", "failed",
        "the certificate of an index is not trusted, or the connection is not encrypted",
        "the connection to the package index cannot be trusted",
        "add the certificate authority of your network to the system's, or name it in `SSL_CERT_FILE`",
        "the certificate is trusted",
    ),
    Code(
        "unauthorized", "failed",
        "an index refuses access with the credentials that it was given, or without any",
        "the package index asks for a login that it did not get",
        "put the credentials into the address of the index in uv's or pip's configuration",
        "the credentials are right",
    ),
    Code(
        "hash-mismatch", "failed",
        "the bytes of a file are not those that the index, or the lock, promises",
        "a downloaded file is not the one that was promised",
        "try again; if it stays, resolve anew, and tell whoever runs the index",
        "the index serves the promised bytes",
    ),
    Code(
        "resolution-budget", "undecided",
        "the search ended without an answer within its rounds; this is no conflict",
        "whether everything fits together could not be found out in the allowed time",
        "try again with a larger `--budget`, or narrow the requirement with the most versions",
        "the budget is larger, or a requirement is narrower",
    ),
    Code(
        "invalid-declaration", "refused",
        "a file of the plugin cannot be read, or says something that is not allowed",
        "the files that describe {it} contain mistakes",
        "correct the lines that are named, or report them to the author",
        "the files are corrected",
    ),
    Code(
        "unsupported-manifest-version", "refused",
        "`manifest_version` is not a number, or larger than this version reads",
        "{it} is described in a way that this version does not understand",
        "update the manager, or take an older version of the plugin",
        "the manager reads this manifest version",
    ),
    Code(
        "dynamic-dependencies", "refused",
        "the requirements are computed by a build, which is not run before admission",
        "what {it} needs can only be learnt by running it",
        "list the requirements in `project.dependencies`, or ask the author to",
        "the requirements are listed in a file",
    ),
    Code(
        "duplicate-key", "refused",
        "a file says the same key twice",
        "the files that describe {it} say one thing twice",
        "keep one of the two lines",
        "the key stands there once",
    ),
    Code(
        "direct-url", "refused",
        "a requirement names an address, a repository or a folder instead of a version",
        "{it} wants a package from an address instead of a package index",
        "take the package from an index, or allow direct URLs and pin the reference",
        "the requirement names a version, or direct URLs are allowed and the reference cannot move",
    ),
    Code(
        "self-dependency", "refused",
        "the plugin requires itself",
        "{it} requires itself",
        "remove the line",
        "the line is removed",
    ),
    Code(
        "unknown-extra", "refused",
        "a requirement asks for an extra that the package does not have",
        "{it} asks for a part of {package} that does not exist",
        "correct the spelling of the extra, or leave it out",
        "the extra exists",
    ),
    Code(
        "unsafe-archive", "refused",
        "an entry would be written outside of the plugin's folder, or is a link or a device",
        "the archive tries to write where it must not",
        "do not use this archive; tell whoever published it",
        "the archive is made anew without that entry",
    ),
    Code(
        "unsafe-name", "refused",
        "a name cannot be a plugin's key",
        "its name cannot be used as the name of a plugin",
        "use letters, digits, `-` and `_`, in one part or two with a `/`",
        "the name follows that rule",
    ),
    Code(
        "file-collision", "refused",
        "two distributions of the set would write one path with different content",
        "two packages would overwrite each other's files",
        "leave out one of the two",
        "one of the two no longer contains the file",
    ),
    Code(
        "module-shadowing", "refused",
        "a top-level module of the set would hide one of the standard library or of the core",
        "a package would replace a part of Python or of Hermes",
        "take another version of the package, or leave the plugin out",
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
        "an advisory at or over the chosen severity names a version that would be added or moved",
        "{package} has a known security problem",
        "take the version that fixes it",
        "a fixed version fits",
    ),
    Code(
        "managed-environment", "refused",
        "the environment belongs to Nix, a container or an administrator",
        "this installation is looked after by somebody else's system",
        "declare the plugin where the environment is declared",
        "the plugin is declared there",
    ),
    Code(
        "offline", "failed",
        "something is not in the cache, and the network was not to be used",
        "something that is needed was not downloaded before, and the network was not to be used",
        "try again without `--offline`, or put the wheels into a folder of `pm.find_links`",
        "the network may be used, or the files are there",
    ),
    Code(
        "not-admitted", "not-ready",
        "the config asks for a plugin or a core that no operation admitted in this form",
        "the config asks for something that was never checked as it is now",
        "admit it with the step",
        "it is admitted",
    ),
    Code(
        "no-generation", "not-ready",
        "no generation was made in this root yet, so nothing can run and there is nothing to look at",
        "nothing was set up yet",
        "make a first generation with `hermes pm init`",
        "`hermes pm init`, or the first `hermes plugins install --enable`, has made one",
    ),
    Code(
        "no-space", "failed",
        "a file system is full, or a quota is used up",
        "the disk is full",
        "make room, `hermes pm gc` removes old generations, then try again",
        "there is room",
    ),
    Code(
        "no-interpreter", "failed",
        "the Python that `pm.python`, the core or the selected generation needs is not installed or does not start",
        "the Python that is needed is not installed here, or does not start",
        "install it, or name another one with `pm.python`",
        "that Python is installed and starts",
    ),
    Code(
        "not-writable", "failed",
        "a file or folder cannot be written, or a program cannot be started",
        "a file or folder cannot be written",
        "give the user who runs this the right to write there",
        "the folder can be written",
    ),
    Code(
        "busy", "failed",
        "another operation holds the install lock",
        "another operation is still running",
        "wait until it has ended, then try again",
        "the other operation has ended",
    ),
    Code(
        "drift", "drift",
        "the selected generation is not what its lock says",
        "the installed files are not what was recorded",
        "build them again from the record with `hermes pm repair`",
        "the environment is repaired",
    ),
    Code(
        "config-unreadable", "failed",
        "a `config.yaml` cannot be read, so nothing is known about what it allows",
        "the config cannot be read",
        "correct the line that is named",
        "the config can be read",
    ),
    Code(
        "unknown-plugin", "failed",
        "no plugin that is there has this name, or several have it",
        "no plugin of this name was found",
        "look at `hermes plugins list`, and use the full key",
        "the name is one that `hermes plugins list` shows",
    ),
    Code(
        "no-patch", "failed",
        "no confirmed bound of the plugin can be written as a change of its file",
        "there is no change that could be written",
        "read the steps of the refusal, and change the file yourself",
        "a wider bound is confirmed, and stands on a line of its own",
    ),
    Code(
        "invalid-evidence", "failed",
        "the facts beside a receipt are missing, changed or not enough to decide again",
        "what the verdict rested on is not there any more",
        "take the receipt together with the `.facts.json` that was written with it",
        "both files are as they were written",
    ),
    Code(
        "unknown-generation", "failed",
        "no generation has this number, or there is none before the selected one",
        "there is no such earlier state",
        "look at `hermes pm receipts`, which name the generations that they made",
        "the number is one of a generation that is there",
    ),
    Code(
        "not-agreed", "failed",
        "the operation would change another profile as well, and nobody agreed to that",
        "it would change another profile too",
        "look at what would change, and say `--yes` if it may",
        "`--yes` is said",
    ),
    Code(
        "unknown-package", "failed",
        "the selected generation holds no package of this name",
        "no package of this name is installed",
        "look at `hermes pm tree`",
        "the name is one that `hermes pm tree` shows",
    ),
    Code(
        "unknown-receipt", "failed",
        "no stored receipt has this id, or several begin so; or no code or outcome has this name",
        "no receipt of this name was found",
        "look at `hermes pm receipts`",
        "the id is one that `hermes pm receipts` shows",
    ),
    Code(
        "invalid-source", "failed",
        "the source of a plugin is not there, or of a kind that is not read",
        "there is no plugin at the place that was named",
        "name a folder with a plugin in it, or an archive of one",
        "the source is there",
    ),
    Code(
        "config-changed", "failed",
        "somebody else changed the plugins in a `config.yaml` between decision and commit",
        "the config was changed by somebody else at the same time",
        "look at the config, then try again",
        "the config stays as it is while the operation runs",
    ),
    Code(
        "interrupted", "interrupted",
        "the operation was stopped before it had committed",
        "it was stopped before it was finished",
        "try again; what was there before is complete",
        "nothing stops it",
    ),
)  # fmt: skip

CODES = {code.name: code for code in _CODES}

_OUTCOMES = (
    Outcome("admitted", 0, "the set holds together; a generation with it is selected (dry run: could be)"),
    Outcome("refused", 1, "it cannot be, and the receipt proves why; what was there before goes on"),
    Outcome("failed", 3, "the world did not cooperate; nothing follows about the plugin, nothing was changed"),
    Outcome("undecided", 3, "neither shown to fit nor shown not to fit; nothing was changed"),
    Outcome("unchanged", 0, "everything was so already"),
    Outcome("ready", 0, "everything that was asked about is ready (with `--strict` 5 if only after a restart)"),
    Outcome("not-ready", 1, "something that was asked about is not ready; the reasons name it"),
    Outcome("removed", 0, "the plugin, its settings and what only it needed are gone"),
    Outcome("disabled", 0, "the plugin is switched off and stays installed"),
    Outcome("rolled-back", 0, "an earlier generation is selected again"),
    Outcome("collected", 0, "generations that nobody needs are deleted"),
    Outcome("verified", 0, "the selected generation is what its lock says, or the audited lock has no finding"),
    Outcome("drift", 1, "the selected generation is not what its lock says"),
    Outcome("repaired", 0, "the recorded lock is built again"),
    Outcome("exported", 0, "a lock, a bundle or another format is written"),
    Outcome("interrupted", 3, "it was stopped; the state before is complete"),
)

OUTCOMES = {outcome.name: outcome for outcome in _OUTCOMES}

_USAGE = 2
_BUSY = 4
_RESTART = 5
_MISNAMED = frozenset({"invalid-source", "unknown-generation", "unknown-package", "unknown-plugin", "unknown-receipt"})


def code_of(name: str) -> Code:
    """Return what is known of a code; for one that is not in the table, words that are true of every failure."""
    unknown = Code(name, "failed", "", "something went wrong", "read the message", "its cause is gone")
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
