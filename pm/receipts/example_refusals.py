"""The refusals and failures of examples.py, one for each code."""

from __future__ import annotations

from admission import Available, Demand, Origin, Proof, Reason, Refused, Requirement, Step, Undecided
from lockfiles import Owner
from pm.errors import PmError

__all__ = ["CHAT", "CORE", "READING", "RESOLVING", "UNDECIDED", "WORLD"]

CORE = Owner("core", "hermes-agent")
CHAT = Owner("plugin", "ws-chat")
_MEM0 = Owner("plugin", "memory/mem0")
_PROOF = Proof(minimal=True, verified=True, search="impossible", complete="impossible")


def _asked(owner: Owner, text: str, *chain: str, line: int = 7) -> Demand:
    """Return a demand, written where such an owner writes it."""
    file, line, key = (
        ("METADATA", 0, "Requires-Dist") if owner == CORE else ("pyproject.toml", line, "project.dependencies")
    )
    return Demand(Requirement("", Origin(owner, file, line, key), text=text), (text, *chain))


def _written(reason: Reason, line: int = 7, column: int = 5, key: str = "project.dependencies[1]") -> Reason:
    """Return the reason with its place in the plugin's file."""
    return reason._replace(file="pyproject.toml", line=line, column=column, key=key)


def _alone(text: str) -> tuple[Demand, ...]:
    return (_asked(CHAT, text),)


def _wider(before: str, after: str, *effect: str) -> Step:
    """Return the confirmed step to another text of the plugin's own line."""
    origin = _asked(CHAT, before).requirement.origin
    return Step("widen", "ws-chat", origin=origin, before=before, after=after, confirmed=True, effect=effect)


# --- refusals that resolving finds ---

_CONFLICT = Refused(
    (
        Reason(
            "conflict",
            "no version of `protobuf` satisfies `memory/mem0` and `ws-chat` together",
            "protobuf",
            (_asked(CHAT, "protobuf>=7"), _asked(_MEM0, "mem0ai<3,>=2.0.10", "protobuf<7,>=5.29.6", line=9)),
            (
                Available("5.29.6 … 6.33.4 (31 versions)", "excluded by `protobuf>=7` of plugin ws-chat"),
                Available("7.34.0", "excluded by `protobuf<7,>=5.29.6` of mem0ai 2.0.10"),
            ),
            proof=_PROOF,
        ),
    ),
    (
        _wider("protobuf>=7", "protobuf>=6", "+ protobuf 6.33.4"),
        Step("leave-out", "memory/mem0", confirmed=True, effect=("- mem0ai 2.0.10",)),
        Step("retry", "ws-chat", when="a version of one of the two accepts the other's `protobuf`"),
    ),
)

_CORE_CONFLICT = Refused(
    (
        Reason(
            "core-conflict",
            "no version of `websockets` satisfies `ws-chat` and the core together",
            "websockets",
            (_asked(CORE, "websockets==15.0.1"), _asked(CHAT, "websockets>=16")),
            (
                Available("15.0.1", "excluded by `websockets>=16` of plugin ws-chat"),
                Available("16.0, 17.0", "excluded by `websockets==15.0.1` of core hermes-agent"),
            ),
            proof=_PROOF,
        ),
    ),
    (
        Step(
            "update-core",
            "hermes-agent",
            value="hermes-agent==0.20.0",
            confirmed=True,
            effect=("hermes-agent 0.19.0 → 0.20.0", "websockets 15.0.1 → 16.0"),
        ),
        _wider("websockets>=16", "websockets>=15"),
        Step("retry", "ws-chat", when="the plugin accepts `websockets` 15.0.1"),
    ),
)

_PRERELEASE = Refused(
    (
        Reason(
            "prerelease-only",
            "only pre-releases of `httpx` satisfy `httpx>=0.29`",
            "httpx",
            _alone("httpx>=0.29"),
            (Available("1.0.dev1 … 1.0.dev3 (3 versions)", "a pre-release that is not allowed"),),
            also=(_asked(CORE, "httpx[socks]==0.28.1"),),
            proof=_PROOF,
        ),
    ),
    (
        _wider("httpx>=0.29", "httpx>=0.28"),
        Step("allow-prerelease", "httpx", when="the core accepts them too"),
    ),
)


def _refused(reason: Reason, *steps: Step) -> Refused:
    return Refused((reason,), steps)


RESOLVING = {
    "conflict": _CONFLICT,
    "core-conflict": _CORE_CONFLICT,
    "prerelease-only": _PRERELEASE,
    "core-version": _refused(
        Reason(
            "core-version",
            "`ws-chat` requires the core `>=0.20`, the core is hermes-agent 0.19.0",
            file="plugin.yaml",
            line=4,
            column=18,
            key="requires_hermes",
        ),
        Step("update-core", "hermes-agent", value="hermes-agent==0.20.0", confirmed=True),
    ),
    "core-extra": _refused(
        _written(
            Reason(
                "core-extra",
                "`ws-chat` requires `hermes-agent[matrix]>=0.19`, the core hermes-agent 0.19.0 was chosen without its"
                " extra `matrix`",
                "hermes-agent",
                _alone("hermes-agent[matrix]>=0.19"),
            )
        ),
        Step(
            "update-core",
            "hermes-agent",
            "choose the core `hermes-agent[matrix]==0.19.0`, with the extras that are missing",
            value="hermes-agent[matrix]==0.19.0",
            confirmed=True,
            effect=("+ mautrix 0.20.8",),
        ),
    ),
    "python-version": _refused(
        _written(
            Reason("python-version", "`ws-chat` requires Python `>=3.12`, this is 3.11.7"),
            3,
            19,
            "requires-python",
        )
    ),
    "no-wheel": _refused(
        Reason(
            "no-wheel",
            "no release of `chroma-hnswlib` that satisfies `chroma-hnswlib` has a wheel for this target",
            "chroma-hnswlib",
            _alone("chroma-hnswlib"),
            (Available("0.7.6", "no wheel for this target"),),
            proof=_PROOF,
        )
    ),
    "build-needs-consent": _refused(
        Reason(
            "build-needs-consent",
            "only source distributions satisfy `spidev`, and building one runs its code",
            "spidev",
            _alone("spidev"),
            (Available("3.8", "source distribution only"),),
        ),
        Step("allow-build", "spidev", when="you trust its authors"),
    ),
    "not-found-on-index": _refused(
        Reason(
            "not-found-on-index",
            "no index has a package `websokets`",
            "websokets",
            _alone("websokets>=15"),
            hint="did you mean `websockets`?",
        )
    ),
    "no-matching-version": _refused(
        Reason(
            "no-matching-version",
            "no release of `firecrawl-py` satisfies `firecrawl-py==4.17.0`",
            "firecrawl-py",
            _alone("firecrawl-py==4.17.0"),
            (Available("4.18.0 … 4.22.1 (9 versions)", "excluded by `firecrawl-py==4.17.0` of plugin ws-chat"),),
            proof=_PROOF,
        ),
        _wider("firecrawl-py==4.17.0", "firecrawl-py>=4.17.0,<=4.22.1"),
    ),
    "yanked-only": _refused(
        Reason(
            "yanked-only",
            "only yanked releases of `colors` satisfy `colors>=1.4`",
            "colors",
            _alone("colors>=1.4"),
            (Available("1.4.1", "yanked: prints without end"),),
            proof=_PROOF,
        )
    ),
    "quarantined": _refused(
        Reason(
            "quarantined",
            "every release of `ultralytics` that satisfies `ultralytics>=8.4` is newer than `pm.exclude_newer` allows",
            "ultralytics",
            _alone("ultralytics>=8.4"),
            (Available("8.4.0", "newer than `pm.exclude_newer` allows"),),
            proof=_PROOF,
        ),
        Step("allow-newer", "ultralytics", value="off", confirmed=True),
    ),
    "unknown-extra": _refused(
        Reason(
            "unknown-extra",
            "`ws-chat` requires `hermes-agent[matrx]`, hermes-agent 0.19.0 has no extra `matrx`",
            "hermes-agent",
            _alone("hermes-agent[matrx]"),
            hint="did you mean `matrix`? it has cli, matrix, voice",
        )
    ),
}

# --- refusals that reading finds ---

READING = {
    reason.code: _refused(reason)
    for reason in (
        _written(
            Reason("invalid-declaration", "a comma is missing after `>=1.0`", hint="write `requests>=1.0,<3`"), 8, 18
        ),
        Reason(
            "unsupported-manifest-version",
            "`manifest_version: 3` is newer than this manager understands, which is 2",
            file="plugin.yaml",
            line=1,
            column=19,
            key="manifest_version",
        ),
        _written(
            Reason(
                "dynamic-dependencies",
                "the requirements are `dynamic`: known only after a build, which would run the plugin's code",
            ),
            4,
            11,
            "project.dynamic",
        ),
        Reason("duplicate-key", "`name` is here a second time", file="plugin.yaml", line=5, column=1, key="name"),
        _written(
            Reason(
                "direct-url",
                "`acme @ git+https://git.example.invalid/acme` names a repository instead of a version",
                "acme",
            )
        ),
        _written(Reason("self-dependency", "`ws-chat` requires itself", "ws-chat")),
        Reason("unsafe-archive", "the entry `../../evil.py` leads out of the plugin's folder"),
        Reason("unsafe-name", "`../ws` cannot be the key of a plugin", file="plugin.yaml", line=2, key="name"),
        Reason(
            "file-collision", "`cv2/__init__.py` is written by `opencv-python` 4.12 and `opencv-contrib-python` 4.12"
        ),
        Reason(
            "invalid-wheel",
            "the wheel of `vllm` cannot be installed: its RECORD cannot be read: `vllm/E=128,N=704.json,sha256=x,12`"
            " has 4 fields instead of 3",
            "vllm",
        ),
        Reason(
            "module-shadowing", "`types.py` of `acme-types` 1.0 would hide the module `types` of Python", "acme-types"
        ),
        Reason(
            "vulnerable",
            "`urllib3` 1.26.4 has PYSEC-2021-108, severity high",
            "urllib3",
            hint="write `urllib3>=1.26.5`",
        ),
    )
}

# --- the world does not cooperate ---

WORLD = {
    error.code: error
    for error in (
        PmError("build-failed", "building `spidev` 3.8 ended with status 1: `gcc` is not there", hint="install `gcc`"),
        PmError("install-failed", "the lock could not be installed: error: Failed to fetch: `wsproto-1.3.0.whl`"),
        PmError("index-unreachable", "`index.example.invalid` did not answer within 10 seconds, asked 3 times"),
        PmError("tls", "the certificate of `index.example.invalid` is not trusted: self-signed certificate"),
        PmError("unauthorized", "`index.example.invalid` refuses access (401)", hint="put a login into `.netrc`"),
        PmError("hash-mismatch", "`wsproto-1.3.0-py3-none-any.whl` has sha256 12ab…, the index promises 89cd…"),
        PmError("name-taken", "`ws-chat` 1.1.0 is already installed"),
        PmError(
            "not-updatable",
            "`ws-chat` is pinned to the commit 1b2c3d4e5f60",
            hint="`hermes plugins update ws-chat --ref COMMIT` moves it",
        ),
        PmError("denylisted", "the catalog has withdrawn `ws-chat` on 2026-03-01: it sends messages to its author"),
        PmError("managed-environment", "this environment is managed by Nix", hint="declare the plugin in the flake"),
        PmError("offline", "`wsproto` 1.3.0 is not in the cache, and `--offline` is given"),
        PmError("no-space", "no space left while `generations/4` was built: 12 MB free, 80 MB needed"),
        PmError("no-generation", "no generation was made yet", hint="`hermes pm init` makes one"),
        PmError("no-interpreter", "no installed Python satisfies `3.12`", hint="install one, or name its path"),
        PmError("no-home", "`~/.hermes` is not known: this user has no entry in the system and `HOME` is not set"),
        PmError("not-writable", "`generations` cannot be written: it belongs to another user", file="generations"),
        PmError("busy", "process 4711 holds the install lock since 10:15:02: install"),
        PmError(
            "config-unreadable",
            "a value is missing after `enabled:`",
            file="config.yaml",
            line=12,
            key="plugins.enabled",
        ),
        PmError(
            "setting-not-enforced",
            "`pm.audit: refuse` has no effect in this version, so nothing is admitted while it is set",
            file="config.yaml",
            key="pm.audit",
        ),
        PmError(
            "config-changed", "`config.yaml` was changed by another process while this was decided", file="config.yaml"
        ),
        PmError("unknown-plugin", "there is no plugin `ws-chta`", hint="did you mean `ws-chat`?"),
        PmError("no-patch", "no wider bound of this plugin was confirmed, so there is nothing to write"),
        PmError("invalid-evidence", "`0a1b2c3d4e.facts.json` is not the file that the receipt names"),
        PmError("unknown-generation", "there is no generation 9", hint="there are 2, 3"),
        PmError("not-agreed", "other profiles would change as well: `work`", hint="give `--yes` to agree"),
        PmError("unknown-package", "`httpz` is not in generation 3", hint="did you mean `httpx`?"),
        PmError(
            "unknown-profile",
            "there is no profile `coder` in `profiles`",
            hint="`hermes profile create coder` makes it",
        ),
        PmError("unknown-receipt", "there is no receipt `0a1b`", hint="`hermes pm receipts` lists them"),
        PmError(
            "core-not-chosen",
            "`/home/u/.hermes` is used (`.env`, `model` in `config.yaml`), and no core is chosen for it",
            hint="`hermes pm init --core hermes-agent==0.19.0` takes the version that is installed, "
            "`hermes pm init --embedded-core` takes the one that comes with the manager",
        ),
        PmError(
            "source-unreachable",
            "`https://git.example.org/ws-chat.git` cannot be fetched: fatal: unable to access it",
            hint="check the address, the network and the login",
        ),
        PmError("invalid-source", "`./ws-chta` does not exist", hint="a source is a folder or an archive"),
        PmError(
            "manager-fault",
            "this is a fault of the manager itself: KeyError: 'ws-chat'",
            hint="report it with the traceback on standard error",
        ),
        PmError("interrupted", "`install` was stopped by SIGTERM"),
    )
}

UNDECIDED = Undecided(
    "resolution-budget",
    "neither a solution nor a contradiction was found in 20000 rounds",
    ("search: gave-up after 2000 rounds", "complete: gave up after 20000 steps"),
)
