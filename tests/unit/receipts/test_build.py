"""A receipt is built from what an operation knows and how it ended: outcome, exit status, steps, changes, no secret."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from admission import (
    Admitted,
    Available,
    Demand,
    Notice,
    Origin,
    Problem,
    Proof,
    Reason,
    Refused,
    Requirement,
    Step,
    Undecided,
)
from lockfiles import Artifact, Lock, Owner, Pin
from pm.errors import PmError
from pm.places import GenerationNumber
from pm.receipts import receipt as rows
from pm.receipts.build import build, noted
from pm.receipts.codes import CODES, OUTCOMES, code_of, exit_status
from pm.receipts.receipt import Done, Operation, Receipt, begin, from_json, to_json

THREE, FOUR = GenerationNumber(3), GenerationNumber(4)
STARTED = datetime(2026, 1, 31, 10, 15, 30, 123456, UTC)
FINISHED = STARTED + timedelta(seconds=1.5)
CHAT = Owner("plugin", "ws-chat")
PLUGIN = rows.Plugin("ws-chat", "Chat", "1.0", rows.SourceRow("folder", "./ws-chat"))
INSTALL = Operation(
    "install", "0a1b", STARTED, ("hermes", "plugins", "install", "./ws-chat"), argument="./ws-chat", plugin=PLUGIN
)


def built(result: Admitted | Refused | Undecided | PmError | Done, operation: Operation = INSTALL) -> Receipt:
    return build(operation, result, finished_at=FINISHED)


def lock(**versions: str) -> Lock:
    return Lock(
        tuple(
            Pin(
                name, version, Artifact(f"{name}-{version}-py3-none-any.whl", version[0] * 64, path="x"), owners=(CHAT,)
            )
            for name, version in versions.items()
        )
    )


def demands_of(plugin: str) -> tuple[Demand, ...]:
    """Return two demands of one plugin."""
    origin = Origin(Owner("plugin", plugin), "plugin.yaml")
    return tuple(
        Demand(Requirement(name="a", specifier=bounds, origin=origin), (f"a{bounds}",)) for bounds in ("<1", ">=1")
    )


def test_a_refusal_becomes_this_receipt() -> None:
    demand = Demand(
        Requirement("websockets", Origin(CHAT, "plugin.yaml", 7, "pip_dependencies"), ">=16", text="websockets >= 16"),
        ("websockets >= 16",),
    )
    also = Demand(Requirement("websockets", Origin(Owner("core", "hermes-agent"), "METADATA"), "==15.0.1"))
    reason = Reason(
        "core-conflict",
        "the core pins `websockets`",
        "websockets",
        (demand,),
        (Available("15.0.1", "excluded by the plugin"),),
        also=(also,),
        proof=Proof(minimal=True, verified=True, search="impossible", complete="impossible"),
        file="plugin.yaml",
        line=7,
        column=5,
        key="pip_dependencies[0]",
        hint="websockets>=15",
    )
    step = Step(
        "widen",
        "ws-chat",
        origin=demand.requirement.origin,
        before="websockets >= 16",
        after="websockets>=15",
        confirmed=True,
        effect=("+ a 1",),
    )
    warning = Notice("core-package-moved", "moves", "idna", "core:hermes-agent")

    assert built(Refused((reason,), (step,), (warning,))) == Receipt(
        id="0a1b",
        operation="install",
        outcome="refused",
        exit_status=1,
        summary=(
            "`Chat` was not installed: it needs a version of `websockets` that Hermes itself does not allow; "
            "nothing was changed"
        ),
        started_at="2026-01-31T10:15:30.123Z",
        finished_at="2026-01-31T10:15:31.623Z",
        duration_ms=1500,
        trigger="cli",
        plugin=PLUGIN,
        reasons=(
            rows.ReasonRow(
                "core-conflict",
                "the core pins `websockets`",
                "websockets",
                (
                    rows.DemandRow(
                        rows.OwnerRow("plugin", "ws-chat"),
                        "websockets >= 16",
                        rows.PlaceRow("plugin.yaml", 7, 0, "pip_dependencies"),
                        ("websockets >= 16",),
                    ),
                ),
                (rows.AvailableRow("15.0.1", "excluded by the plugin"),),
                (
                    rows.DemandRow(
                        rows.OwnerRow("core", "hermes-agent"), "websockets==15.0.1", rows.PlaceRow("METADATA")
                    ),
                ),
                rows.ProofRow(minimal=True, verified=True, checked_by=rows.CheckedBy("impossible", "impossible")),
                rows.PlaceRow("plugin.yaml", 7, 5, "pip_dependencies[0]"),
                "websockets>=15",
                CODES["core-conflict"].what_now,
            ),
        ),
        steps=(
            rows.StepRow(
                "widen",
                "ws-chat",
                "websockets>=15",
                "hermes plugins check ./ws-chat --patch ws-chat.patch",
                "write `websockets>=15` instead of `websockets >= 16` in plugin.yaml:7",
                confirmed=True,
                declared_at=rows.PlaceRow("plugin.yaml", 7, 0, "pip_dependencies"),
                before="websockets >= 16",
                after="websockets>=15",
                effect=("+ a 1",),
            ),
            rows.StepRow(
                "retry",
                "ws-chat",
                "",
                "hermes plugins install ./ws-chat",
                "try again",
                confirmed=False,
                when=CODES["core-conflict"].when,
            ),
        ),
        warnings=(rows.WarningRow("core-package-moved", "moves", "idna", "core:hermes-agent"),),
    )


def test_an_admission_tells_what_changes_against_the_lock_before() -> None:
    receipt = built(Admitted(lock(a="1", b="2", d="2")), INSTALL._replace(before=lock(a="1", b="1", c="1")))
    owners = (rows.OwnerRow("plugin", "ws-chat"),)
    assert receipt.outcome == "admitted"
    assert receipt.changes == rows.ChangesRow(
        added=(rows.ChangeRow("d", None, "2", owners),),
        removed=(rows.ChangeRow("c", "1", None, owners),),
        moved=(rows.ChangeRow("b", "1", "2", owners),),
    )
    assert receipt.summary == "`Chat` is installed; 1 package moved to another version"
    assert to_json(receipt)["changes"] == {
        "added": [{"name": "d", "from": None, "to": "2", "owners": [{"kind": "plugin", "name": "ws-chat"}]}],
        "removed": [{"name": "c", "from": "1", "to": None, "owners": [{"kind": "plugin", "name": "ws-chat"}]}],
        "moved": [{"name": "b", "from": "1", "to": "2", "owners": [{"kind": "plugin", "name": "ws-chat"}]}],
    }


@pytest.mark.parametrize(
    ("result", "outcome", "status", "codes"),
    [
        (Undecided("resolution-budget", "no answer", ("search: gave-up",)), "undecided", 3, ("resolution-budget",)),
        (PmError("index-unreachable", "no answer"), "failed", 3, ("index-unreachable",)),
        (PmError("busy", "locked"), "failed", 4, ("busy",)),
        (PmError("managed-environment", "Nix"), "refused", 1, ("managed-environment",)),
        (PmError("interrupted", "stopped"), "interrupted", 3, ("interrupted",)),
        (PmError("never-heard-of", "new"), "failed", 3, ("never-heard-of",)),
        (Done("not-ready", reasons=(Reason("not-admitted", "x"),)), "not-ready", 1, ("not-admitted",)),
        (Done("unchanged"), "unchanged", 0, ()),
        (Done("drift"), "drift", 1, ()),
    ],
)
def test_every_end_has_its_outcome_and_exit_status(
    result: Undecided | PmError | Done, outcome: str, status: int, codes: tuple[str, ...]
) -> None:
    receipt = built(result)
    assert (receipt.outcome, receipt.exit_status, tuple(r.code for r in receipt.reasons)) == (outcome, status, codes)


def test_a_failure_keeps_its_place_and_its_hint() -> None:
    (reason,) = built(
        PmError("config-unreadable", "a value is missing", hint="add it", file="c", line=3, key="k")
    ).reasons
    assert (reason.declared_at, reason.hint) == (rows.PlaceRow("c", 3, 0, "k"), "add it")


def test_only_a_restart_under_strict_is_a_status_of_its_own() -> None:
    waiting = INSTALL._replace(generation=rows.Transition(THREE, FOUR, restart_required=True))
    assert built(Done("ready"), waiting).exit_status == 0
    assert built(Done("ready"), waiting._replace(strict=True)).exit_status == 5
    assert built(Done("ready"), INSTALL._replace(strict=True)).exit_status == 0


def test_a_refusal_always_ends_with_a_step_that_says_what_has_to_change() -> None:
    bare = built(Refused((Reason("conflict", "x"), Reason("no-wheel", "y"), Reason("no-wheel", "z"))))
    assert [(step.action, step.confirmed, step.when) for step in bare.steps] == [
        ("retry", False, f"{CODES['conflict'].when}; {CODES['no-wheel'].when}")
    ]
    kept = built(Refused((Reason("conflict", "x"),), (Step("re-enable", "ws-chat", "enable it", when="it fits"),)))
    assert [step.action for step in kept.steps] == ["re-enable"]
    assert [step.action for step in built(Done("drift")).steps] == ["repair"]
    assert built(Done("unchanged")).steps == ()


def test_no_credential_reaches_the_json() -> None:
    url = "https://alice:s3cret@index.example.invalid/simple?token=t0ken"
    operation = INSTALL._replace(
        command=("hermes", "plugins", "install", f"git+{url}"),
        argument=f"git+{url}",
        plugin=PLUGIN._replace(source=rows.SourceRow("git", f"git+{url}")),
        core=url,
        warnings=(rows.WarningRow("x", url),),
        tools={"uv": url},
    )
    reason = Reason(
        "direct-url", f"`a @ {url}`", demands=(Demand(Requirement("a", Origin(CHAT), text=f"a @ {url}"), (url,)),)
    )
    text = json.dumps(to_json(built(Refused((reason,)), operation)))
    assert "index.example.invalid" in text
    assert [secret for secret in ("alice", "s3cret", "t0ken") if secret in text] == []


def test_half_of_a_surrogate_pair_is_no_obstacle() -> None:
    text = json.dumps(to_json(built(PmError("not-writable", "\udce4"))), ensure_ascii=False)
    assert text.encode().decode() == text


def test_a_note_of_a_declaration_becomes_a_warning_with_its_place() -> None:
    note = Problem("external-runtime", "not prepared", "plugin.yaml", 3, 1, "python_runtime", "x")
    assert noted(note, owner="plugin:a") == rows.WarningRow(
        "external-runtime", "not prepared", "", "plugin:a", rows.PlaceRow("plugin.yaml", 3, 1, "python_runtime"), "x"
    )


@pytest.mark.parametrize(
    ("operation", "result", "summary"),
    [
        ({"dry_run": True}, Admitted(Lock(())), "`Chat` can be installed; this was a dry run, nothing was changed"),
        ({"name": "check", "dry_run": True}, Admitted(Lock(())), "`Chat` fits"),
        (
            {"dry_run": True},
            Refused((Reason("conflict", "", "a"), Reason("no-wheel", ""))),
            (
                "`Chat` cannot be installed: no version of `a` satisfies it and everything else that is enabled "
                "(1 more reason below); this was a dry run, nothing was changed"
            ),
        ),
        (
            {"name": "check", "dry_run": True},
            Refused((Reason("conflict", "", "a", demands=demands_of("ws-chat")),)),
            "`Chat` does not fit: no version of `a` satisfies all its requirements",
        ),
        (
            {"name": "check", "dry_run": True, "plugin": None, "argument": ""},
            Refused((Reason("conflict", "", "a", demands=demands_of("loud")),)),
            "Hermes does not fit: no version of `a` satisfies all requirements of `loud`",
        ),
        (
            {"name": "init", "plugin": None, "argument": ""},
            Refused((Reason("core-conflict", ""),)),
            (
                "Hermes was not set up: a plugin needs a version of a package that Hermes itself does not allow; "
                "nothing was changed"
            ),
        ),
        (
            {"name": "check", "dry_run": True},
            PmError("offline", ""),
            (
                "`Chat` could not be checked: a file that is needed was not downloaded before, "
                "and the network must not be used"
            ),
        ),
        (
            {"plugin": None},
            PmError("unsafe-archive", ""),
            "`./ws-chat` was not installed: it contains a file that is not safe to install; nothing was changed",
        ),
        ({"name": "enable"}, Done("unchanged"), "`Chat` is already enabled"),
        (
            {
                "name": "rollback",
                "plugin": None,
                "argument": "",
                "generation": rows.Transition(FOUR, THREE, restart_required=True),
            },
            Done("rolled-back"),
            "Hermes is rolled back to generation 3; restart Hermes to use this",
        ),
        (
            {"name": "remove", "generation": rows.Transition(FOUR, GenerationNumber(5), restart_required=True)},
            Done("removed"),
            "`Chat` is removed; restart Hermes to apply this",
        ),
        (
            {"name": "check", "dry_run": True, "plugin": None, "argument": ""},
            Refused((Reason("conflict", "", "a", demands=(*demands_of("loud"), *demands_of("ws-chat"))),)),
            "Hermes does not fit: no version of `a` satisfies everything that is enabled",
        ),
        (
            {"name": "init", "plugin": None, "argument": ""},
            PmError("no-matching-version", "", key="pm.core"),
            "Hermes was not set up: no matching version of the core exists; nothing was changed",
        ),
        (
            {"left": "disabled"},
            Refused((Reason("self-dependency", ""),)),
            "`Chat` was not enabled: it requires itself; it is installed, and stays disabled",
        ),
        (
            {"left": "unfinished"},
            PmError("interrupted", ""),
            (
                "`Chat` was not installed: it was stopped before it was finished; "
                "the next command that changes something undoes what was begun"
            ),
        ),
        ({"name": "verify"}, Done("verified"), "everything that is installed is as it was recorded"),
        ({"name": "verify"}, Done("drift"), "what is installed differs from what was recorded"),
        ({"name": "repair"}, Done("unchanged"), "nothing to repair"),
        (
            {"name": "rollback", "generation": rows.Transition(THREE, THREE)},
            Done("unchanged"),
            "generation 3 is already selected",
        ),
        ({"name": "gc"}, Done("collected", freed="16.7 MB"), "freed 16.7 MB"),
        (
            {"name": "gc", "dry_run": True},
            Done("collected", freed="16.7 MB"),
            "would free 16.7 MB; this was a dry run, nothing was changed",
        ),
        ({"name": "gc"}, Done("collected"), "nothing to delete"),
        ({"name": "gc"}, PmError("busy", ""), "nothing was deleted: another operation is still running"),
        (
            {"name": "gc", "left": "rest"},
            PmError("no-space", ""),
            "not everything was deleted: the disk is full",
        ),
        (
            {"name": "never-heard-of"},
            PmError("new-code", ""),
            "`Chat` was not done: something went wrong; nothing was changed",
        ),
    ],
)
def test_one_sentence_tells_it_without_words_of_programmers(
    operation: dict[str, object], result: PmError, summary: str
) -> None:
    assert built(result, INSTALL._replace(**operation)).summary == summary  # type: ignore[arg-type]  # rows of a table


def test_an_operation_begins_with_an_id_of_its_own() -> None:
    one, other = (begin("check", ("hermes",), now=STARTED, trigger="dashboard", dry_run=True) for _ in range(2))
    assert (
        one._replace(id="")
        == other._replace(id="")
        == Operation("check", "", STARTED, ("hermes",), trigger="dashboard", dry_run=True)
    )
    assert one.id != other.id
    assert len(one.id) == 10


def test_a_code_that_is_not_in_the_table_has_words_all_the_same() -> None:
    assert code_of("never-heard-of").outcome == "failed"
    assert code_of("busy") == CODES["busy"]


def test_every_outcome_has_a_documented_exit_status() -> None:
    assert {name: exit_status(name) for name in OUTCOMES} == {
        "admitted": 0,
        "refused": 1,
        "failed": 3,
        "undecided": 3,
        "unchanged": 0,
        "ready": 0,
        "not-ready": 1,
        "removed": 0,
        "disabled": 0,
        "rolled-back": 0,
        "collected": 0,
        "verified": 0,
        "drift": 1,
        "repaired": 0,
        "exported": 0,
        "interrupted": 3,
    }


def test_fields_of_a_later_version_are_left_out_when_a_receipt_is_read() -> None:
    receipt = built(Done("unchanged"))
    assert from_json(to_json(receipt) | {"later": 1}) == receipt
