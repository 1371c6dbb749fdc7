"""One example for each code and each outcome, built as real receipts are; docs/reference/receipts holds their JSON."""

from datetime import datetime, timedelta
from typing import NamedTuple

from admission import Admitted, Notice, Reason, Refused, Step, Undecided
from lockfiles import Artifact, Edge, Lock, Owner, Pin
from pm.errors import PmError
from pm.places import GenerationNumber
from pm.receipts.build import build
from pm.receipts.example_refusals import CHAT, CORE, READING, RESOLVING, UNDECIDED, WORLD
from pm.receipts.receipt import (
    Audit,
    Consent,
    Copy,
    Done,
    FactsFile,
    Finding,
    Operation,
    OwnerRow,
    PagesRow,
    Plugin,
    Receipt,
    Shadowed,
    SourceRow,
    Transition,
)

__all__ = ["NAMES", "example"]

_STARTED = datetime.fromisoformat("2026-01-31T10:15:30.123+00:00")
_DIGEST = f"sha256:{'0123456789abcdef' * 4}"

_PLUGIN = Plugin(
    key="ws-chat",
    name="ws-chat",
    version="1.2.0",
    source=SourceRow("folder", "./ws-chat"),
    profile="default",
    declared_in="pyproject.toml",
    digest=_DIGEST,
)


def _moved(before: int, after: int) -> Transition:
    return Transition(GenerationNumber(before), GenerationNumber(after), _DIGEST)


_INSTALL = Operation(
    name="install",
    id="0a1b2c3d4e",
    started_at=_STARTED,
    command=("hermes", "plugins", "install", "./ws-chat", "--enable"),
    argument="./ws-chat",
    sequence=7,
    plugin=_PLUGIN,
    plugins=(_PLUGIN,),
    generation=_moved(3, 3),
    core="hermes-agent==0.19.0",
    target="cpython-3.11.7-linux-x86_64",
    inputs_fingerprint=_DIGEST,
    tools={"hermes-pm": "0.1.0", "uv": "0.13.9"},
    timings={"read": 4, "decide": 31},
)


def _on_the_whole(name: str, *words: str) -> Operation:
    """Return an operation that is not about one plugin."""
    return _INSTALL._replace(name=name, command=("hermes", *words), argument="", plugin=None)


def _on(name: str, *words: str) -> Operation:
    """Return an operation on the installed plugin."""
    return _INSTALL._replace(name=name, command=("hermes", *words), argument="ws-chat")


def _pin(name: str, version: str, *edges: Edge, owner: Owner = CORE) -> Pin:
    file = f"{name.replace('-', '_')}-{version}-py3-none-any.whl"
    artifact = Artifact(file, "0123456789abcdef" * 4, path=f"../../wheels/{file}")
    return Pin(name, version, artifact, owners=(owner,), edges=edges)


_BEFORE = Lock((_pin("anyio", "4.12.1"), _pin("httpx", "0.28.1", Edge("anyio")), _pin("idna", "3.10")))
_AFTER = Lock(
    (
        _pin("anyio", "4.12.1"),
        _pin("httpx", "0.28.1", Edge("anyio")),
        _pin("idna", "3.11"),
        _pin("wsproto", "1.3.0", Edge("h11"), owner=CHAT),
        _pin("h11", "0.16.0", owner=CHAT),
    )
)


class _Example(NamedTuple):
    """How an operation ended, and what it knew of itself."""

    operation: Operation
    result: Admitted | Refused | Undecided | PmError | Done


_ADMITTED = _Example(
    _INSTALL._replace(
        before=_BEFORE,
        generation=_moved(3, 4)._replace(restart_required=True, restart_reasons=("idna 3.10 → 3.11",)),
        facts=FactsFile("0a1b2c3d4e.facts.json", _DIGEST),
        pages=PagesRow(5, "idna", "2026-01-02T03:04:05.000Z"),
        consents=(Consent("allow-build", "h11"),),
        shadowed=(
            Shadowed(
                "ws-chat",
                Copy("bundled", "plugins/ws-chat", "1.0.0"),
                Copy("user", "~/.hermes/plugins/ws-chat", "1.2.0"),
            ),
        ),
    ),
    Admitted(
        _AFTER,
        (
            Notice(
                "core-package-moved",
                "idna 3.10 → 3.11: a package of the core, within its bounds",
                "idna",
                "core:hermes-agent",
            ),
        ),
    ),
)

_NOT_ADMITTED = Done(
    "not-ready",
    reasons=(Reason("not-admitted", "`ws-chat` is enabled in `default`, and was not admitted in its present form"),),
    steps=(Step("re-enable", "ws-chat", "check it and enable it"),),
)
_DRIFT = Done("drift", reasons=(Reason("drift", "`idna/core.py` is missing in generation 3", "idna"),))
_FINDING = Finding(
    "urllib3",
    "1.26.4",
    "PYSEC-2021-108",
    ("CVE-2021-33503",),
    ("1.26.5",),
    "high",
    (OwnerRow("core", "hermes-agent"),),
    ("hermes-agent==0.19.0", "requests==2.33.0", "urllib3<3,>=1.26"),
)
_DRY = _on("check", "plugins", "check", "ws-chat")._replace(dry_run=True, sequence=None)

_BY_OUTCOME = {
    "admitted": _ADMITTED,
    "refused": _Example(_INSTALL, RESOLVING["core-conflict"]),
    "failed": _Example(_INSTALL, WORLD["index-unreachable"]),
    "undecided": _Example(_INSTALL, UNDECIDED),
    "unchanged": _Example(_on("enable", "plugins", "enable", "ws-chat"), Done("unchanged")),
    "ready": _Example(_DRY, Done("ready")),
    "not-ready": _Example(_DRY, _NOT_ADMITTED),
    "removed": _Example(
        _on("remove", "plugins", "remove", "ws-chat")._replace(before=_AFTER, generation=_moved(4, 5)),
        Done("removed", _BEFORE),
    ),
    "disabled": _Example(_on("disable", "plugins", "disable", "ws-chat"), Done("disabled")),
    "rolled-back": _Example(
        _on_the_whole("rollback", "pm", "rollback")._replace(before=_AFTER, generation=_moved(4, 3)),
        Done("rolled-back", _BEFORE),
    ),
    "collected": _Example(_on_the_whole("gc", "pm", "gc"), Done("collected", freed="16.7 MB")),
    "verified": _Example(_on_the_whole("verify", "pm", "verify"), Done("verified")),
    "drift": _Example(_on_the_whole("verify", "pm", "verify"), _DRIFT),
    "repaired": _Example(_on_the_whole("repair", "pm", "repair")._replace(generation=_moved(3, 4)), Done("repaired")),
    "exported": _Example(
        _on_the_whole("bundle", "pm", "bundle", "--output", "offline")._replace(argument="offline"), Done("exported")
    ),
    "interrupted": _Example(_INSTALL, WORLD["interrupted"]),
}
_BY_CODE = {
    **{code: _Example(_INSTALL, result) for code, result in (RESOLVING | READING | WORLD).items()},
    "resolution-budget": _Example(_INSTALL, UNDECIDED),
    "not-admitted": _BY_OUTCOME["not-ready"],
    "vulnerable": _Example(_INSTALL._replace(audit=Audit((_FINDING,), ("acme",))), READING["vulnerable"]),
}

_EXAMPLES = dict(sorted({**_BY_CODE, **_BY_OUTCOME}.items()))
NAMES = tuple(_EXAMPLES)


def example(name: str) -> Receipt:
    """Return the example of a code or an outcome.

    Raise `KeyError` for a name that is neither.
    """
    operation, result = _EXAMPLES[name]
    return build(operation, result, finished_at=_STARTED + timedelta(milliseconds=482))
