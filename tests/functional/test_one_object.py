"""Every verb with `--json` writes exactly one object, whatever is broken, and never misreports what is committed."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

import pytest

from fixtures.homes import Answer, Home, check_receipt
from fixtures.volumes import Volume
from pm.cli.main import main
from pm.cli.verb import Verb
from pm.cli.verb_table import VERBS
from pm.errors import PmError
from pm.generations.transaction import Replacement, commit
from pm.operations.run import Context, OperationRun, Request, Result, changing, looking
from pm.places import find_places
from pm.receipts.receipt import Done

WORDS = {
    "plugins install": "{birch} --enable",
    "plugins update": "",
    "plugins outdated": "",
    "plugins use": "memory builtin",
    "plugins search": "",
    "plugins remove": "ash",
    "plugins enable": "cedar",
    "plugins disable": "ash",
    "plugins check": "",
    "plugins validate": "{birch}",
    "plugins list": "",
    "plugins show": "ash",
    "pm init": "",
    "pm extras": "",
    "pm verify": "",
    "pm repair": "",
    "pm rollback": "",
    "pm gc": "",
    "pm generations": "",
    "pm diff": "",
    "pm services": "",
    "pm doctor": "",
    "pm status": "",
    "pm bundle": "--output {work}/bundle",
    "pm receipts": "show",
    "pm why": "demo-colors",
    "pm tree": "",
    "update": "",
    "link": "--bin {work}/programs",
    "unlink": "--bin {work}/programs",
    "uninstall": "--dry-run",
}
"""What each verb is asked for."""
WITH_JSON = [verb for verb in VERBS.values() if any("--json" in argument.names for argument in verb.arguments)]
WORKS = frozenset({"admitted", "removed", "disabled", "rolled-back", "repaired", "unchanged"})
"""Outcomes after which the selected generation is the one that the receipt names."""


def words_of(verb: Verb, home: Home) -> list[str]:
    """Return the words of a call of a verb."""
    said = WORDS[" ".join(verb.words)].format(birch=home.work / "birch", work=home.work)
    return [*verb.words, *said.split()]


def test_every_verb_with_json_is_called() -> None:
    assert sorted(WORDS) == sorted(" ".join(verb.words) for verb in WITH_JSON)


@pytest.fixture
def home(home: Home) -> Home:
    """Return a home with two generations, and plugins to come, to go and to be enabled."""
    home.plugin("birch", "demo-transport")
    home.install(home.plugin("cedar", "demo-socket"))
    home.install(home.plugin("ash", "demo-colors"))
    home.ask("plugins", "disable", "cedar")
    return home


def garbage(path: Path) -> int:
    """Damage a file so that it is no JSON, nor anything else."""
    return path.write_bytes(b'{"schema": 1, \xff\x00')


def all_receipts(home: Home) -> None:
    for path in (home.state / "receipts").glob("*.json"):
        garbage(path)


def state_is_a_file(home: Home) -> None:
    shutil.rmtree(home.state)
    home.state.write_text("")


def plugins_are_a_file(home: Home) -> None:
    shutil.rmtree(home.path / "plugins")
    (home.path / "plugins").write_text("")


def a_manifest_is_a_folder(home: Home) -> None:
    (home.path / "plugins" / "ash" / "plugin.yaml").unlink()
    (home.path / "plugins" / "ash" / "plugin.yaml").mkdir()


BREAKAGES: dict[str, Callable[[Home], object]] = {
    "nothing": Home.snapshot,
    "the config": lambda home: home.configure("plugins: [\n"),
    "a setting": lambda home: home.configure("  python: 3\n  indexes: 7\n  keep_generations: no\n"),
    "the pointer": lambda home: garbage(home.state / "pointer.json"),
    "a record": lambda home: garbage(home.state / "generations" / f"{(home.pointer or {})['generation']}.json"),
    "a journal": lambda home: (home.state / "journal.json").write_text("[]"),
    "all receipts": all_receipts,
    "the state": state_is_a_file,
    "the number of the last change": lambda home: garbage(home.state / "locks" / "sequence.json"),
    "the lists of kept trees": lambda home: garbage(home.state / "trees" / "installed.json"),
    "a generation": lambda home: shutil.rmtree(home.generation),
    "a manifest that is a folder": a_manifest_is_a_folder,
    "a folder of plugins that is a file": plugins_are_a_file,
}


def surprises(home: Home, ask: Callable[..., Answer], *words: str) -> Iterator[str]:
    """Yield what is wrong with the answer of a call."""
    answer = ask(*words, "--json")
    try:
        value = json.loads(answer.stdout)
    except ValueError:
        yield f"no object: {answer.stdout[:200]!r} {answer.stderr[-500:]!r}"
        return
    if not isinstance(value, dict) or "Traceback" in answer.stderr or "manager-fault" in answer.stdout:
        yield f"{answer.stdout[:200]!r} {answer.stderr[-800:]!r}"
    if "outcome" in value and words[:2] != ("pm", "receipts"):
        check_receipt(value)
        if value["exit_status"] != answer.status:
            yield f"status {answer.status}, and in the receipt {value['exit_status']}"
        selected, after = _selected(home), value["generation"]["after"]
        if value["outcome"] in WORKS and not value["dry_run"] and after is not None and selected != after:
            yield f"generation {selected} is selected, and the receipt says {after}"


def _selected(home: Home) -> object:
    try:
        return (home.pointer or {}).get("generation")
    except (OSError, ValueError):
        return None


@pytest.mark.parametrize("breakage", BREAKAGES.values(), ids=BREAKAGES)
def test_whatever_is_broken_every_verb_writes_one_object(home: Home, breakage: Callable[[Home], object]) -> None:
    kept = home.path.with_name("kept")
    shutil.copytree(home.path, kept, symlinks=True)
    found = {}
    for verb in WITH_JSON:
        shutil.rmtree(home.path)
        shutil.copytree(kept, home.path, symlinks=True)
        shutil.rmtree(home.work / "bundle", ignore_errors=True)
        breakage(home)
        words = words_of(verb, home)
        found[" ".join(verb.words)] = list(surprises(home, home.say, *words))
    assert {words: faults for words, faults in found.items() if faults} == {}


def test_in_a_home_that_cannot_be_read_every_verb_writes_one_object(home: Home) -> None:
    words = [words_of(verb, home) for verb in WITH_JSON]
    home.path.chmod(0)
    try:
        found = {" ".join(each[:2]): list(surprises(home, home.say_powerless, *each)) for each in words}
    finally:
        home.path.chmod(0o755)
    assert {words: faults for words, faults in found.items() if faults} == {}


def test_on_a_full_disk_every_verb_writes_one_object(home: Home, require_tool: Callable[[str], Path]) -> None:
    words = [words_of(verb, home) for verb in WITH_JSON]
    with Volume(home.state, "16k", require_tool) as volume:
        with (volume.inside(home.state) / "full").open("wb", buffering=0) as file, suppress(OSError):
            file.write(bytes(1 << 16))
        found = {}
        for each in words:
            answer = volume.ask(home, *each)
            found[" ".join(each[:2])] = [len(answer.value) < 1, "Traceback" in answer.stderr]
    assert {words: faults for words, faults in found.items() if any(faults)} == {}


# -- faults of the manager itself


class Fault(Exception):
    """What nothing expects."""


@pytest.fixture
def run(home: Home) -> OperationRun:
    places = find_places(str(home.path), {})
    return OperationRun(Context(places, {}), Request("enable", ("hermes", "plugins", "enable", "ash"), argument="ash"))


def test_a_fault_of_the_manager_is_a_failure_with_a_receipt(
    run: OperationRun, capsys: pytest.CaptureFixture[str]
) -> None:
    def work() -> Result:
        raise Fault("\x1b[31m\n::error::x https://anna:s3cr3t@host.invalid/")

    receipt = changing(run, work)
    assert [reason.code for reason in receipt.reasons] == ["manager-fault"]
    assert (receipt.outcome, receipt.exit_status, receipt.summary) == (
        "failed",
        3,
        "`ash` was not enabled: the manager itself has a fault; nothing was changed",
    )
    said = capsys.readouterr().err
    assert ("Traceback" in said, "\x1b" in said, "\n::" in said, "s3cr3t" in said) == (True, False, False, False)
    assert json.loads((run.places.receipts / "latest.json").read_text())["id"] == receipt.id


def test_a_fault_after_the_commit_says_what_is_committed(run: OperationRun, home: Home) -> None:
    pointer = (home.state / "pointer.json").read_bytes()

    def work() -> Result:
        commit(run.places, [Replacement(home.path / "new.txt", b"new")], pointer, operation="enable")
        raise Fault

    receipt = changing(run, work)
    assert (home.path / "new.txt").read_text() == "new"
    assert (receipt.outcome, receipt.summary) == (
        "failed",
        "`ash` is enabled, and then it went wrong: the manager itself has a fault",
    )
    assert receipt.generation.after == (home.pointer or {})["generation"]


def breaks(*_: object, **__: object) -> NoReturn:
    raise Fault("https://anna:s3cr3t@host.invalid/")


@pytest.mark.parametrize("error", [PmError("not-writable", "no"), OSError(5, "no"), KeyboardInterrupt("SIGTERM")])
def test_whatever_ends_an_operation_after_the_commit_it_says_what_is_committed(
    run: OperationRun, home: Home, error: BaseException
) -> None:
    pointer = (home.state / "pointer.json").read_bytes()

    def work() -> Result:
        commit(run.places, [Replacement(home.path / "new.txt", b"new")], pointer, operation="enable")
        raise error

    receipt = changing(run, work)
    assert receipt.outcome in ("failed", "interrupted")
    assert receipt.summary.startswith("`ash` is enabled, and then it went wrong: ")
    assert (receipt.generation.after, receipt.generation.lock_digest) == (
        (home.pointer or {})["generation"],
        (home.pointer or {})["lock_digest"],
    )


def test_a_fault_before_the_commit_never_says_that_something_is_committed(
    run: OperationRun, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pm.generations.transaction.write_json", breaks)

    def work() -> Result:
        pointer = (home.state / "pointer.json").read_bytes()
        commit(run.places, [Replacement(home.path / "new.txt", b"new")], pointer, operation="enable")
        raise AssertionError

    receipt = changing(run, work)
    assert (receipt.outcome, receipt.summary, (home.path / "new.txt").exists()) == (
        "failed",
        "`ash` was not enabled: the manager itself has a fault; nothing was changed",
        False,
    )


AFTER = {
    "what is damaged now": ("pm.operations.damage:damage_of", "0 admitted", ["manager-fault"]),
    "what else must restart": ("pm.operations.new_generation:say_selected", "3 failed manager-fault", []),
    "leases": ("pm.operations.restarts:leased", "3 failed manager-fault", []),
    "collecting": ("pm.operations.surplus:recorded", "0 admitted", ["not-collected"]),
    "the receipt": ("pm.operations.run:build", "3 failed manager-fault", []),
    "its sentence": ("pm.receipts.build:summary", "3 failed manager-fault", []),
    "its steps": ("pm.receipts.build:_steps", "3 failed manager-fault", []),
    "storing": ("pm.receipts.store:store", "0 admitted", ["receipt-not-stored"]),
    "its text on the disk": ("pm.receipts.store:receipt_text", "0 admitted", ["receipt-not-stored"]),
    "dropping old receipts": ("pm.receipts.store:_drop_old", "0 admitted", ["receipt-not-stored"]),
    "owners": ("pm.system.owners:hand_over", "0 admitted", []),
}
"""What happens once a change is made → a function that breaks there, how the command ends, and what it warns of."""
BREAKS_AT = """
import importlib, sys
from pm.cli.main import main
from pm.generations import transaction
module, _, name = sys.argv[1].partition(":")
module = importlib.import_module(module)
works = getattr(module, name)
def breaks(*given, **named):
    if transaction.commits_made():
        raise LookupError("broken")
    return works(*given, **named)
setattr(module, name, breaks)
sys.exit(main(sys.argv[2:]))
"""


@pytest.mark.parametrize(("function", "gist", "warnings"), AFTER.values(), ids=AFTER)
def test_wherever_it_breaks_after_the_commit_the_answer_says_what_is_selected(
    home: Home, function: str, gist: str, warnings: list[str]
) -> None:
    words = [sys.executable, "-c", BREAKS_AT, function, "plugins", "enable", "cedar", "--json"]
    done = subprocess.run(words, env=home.environ, cwd=home.work, capture_output=True, text=True, check=False)
    answer = Answer(done.returncode, done.stdout, done.stderr)
    check_receipt(answer.value)
    assert "LookupError: broken" in done.stderr
    assert (answer.gist, answer.warnings, home.admitted) == (gist, warnings, ["ash in default", "cedar in default"])
    assert answer.value["generation"]["after"] == (home.pointer or {})["generation"] == 4
    if answer.status:
        said = answer.value["summary"]
        assert "and then" in said
        assert "nothing was changed" not in said
        assert answer.value["steps"][-1]["command"] == "hermes plugins enable cedar"
        assert home.ask("plugins", "enable", "cedar").gist == "0 unchanged"


@pytest.mark.parametrize(
    "words", [("pm", "gc"), ("plugins", "remove", "cedar"), ("pm", "rollback", "2"), ("pm", "verify")]
)
def test_where_no_receipt_can_be_made_a_plain_one_says_what_was_done(home: Home, words: tuple[str, ...]) -> None:
    told = [sys.executable, "-c", BREAKS_AT.replace("transaction.commits_made()", "True"), "pm.operations.run:build"]
    done = subprocess.run(
        [*told, *words, "--json"], env=home.environ, cwd=home.work, capture_output=True, text=True, check=False
    )
    answer = Answer(done.returncode, done.stdout, done.stderr)
    check_receipt(answer.value)
    outcome = {"gc": "collected", "remove": "removed", "rollback": "rolled-back", "verify": "verified"}[words[1]]
    assert (answer.gist, f"is done ({outcome}), and then" in answer.value["summary"]) == (
        "3 failed manager-fault",
        True,
    )
    selected = (home.pointer or {})["generation"]
    assert answer.value["generation"]["after"] == (None if words[1] == "gc" else selected)


def test_where_no_receipt_can_be_made_of_a_refusal_nothing_is_said_to_be_done(home: Home) -> None:
    told = [sys.executable, "-c", BREAKS_AT.replace("transaction.commits_made()", "True"), "pm.operations.run:build"]
    plugin = home.plugin("elm", "demo-colors>=99")
    done = subprocess.run(
        [*told, "plugins", "install", str(plugin), "--enable", "--json"],
        env=home.environ,
        cwd=home.work,
        capture_output=True,
        text=True,
        check=False,
    )
    value = json.loads(done.stdout)
    assert (done.returncode, value["summary"]) == (
        3,
        f"`install` of `{plugin}` was not done: the manager itself has a fault; nothing was changed",
    )


def test_a_fault_of_a_look_is_told_too(run: OperationRun) -> None:
    def work() -> Result:
        raise RecursionError

    assert [reason.code for reason in looking(run, work).reasons] == ["manager-fault"]


def broken_verb(*_: object) -> int:
    """Do what no verb should."""
    raise Fault("broken")


def broken_after_an_operation(*_: object) -> int:
    """Carry out an operation, and break before it is shown."""
    from pm.cli import answer

    places = find_places(None, {"HERMES_HOME": str(Path.cwd())})
    request = Request("disable", ("hermes", "plugins", "disable", "ash"), argument="ash")
    answer.remember(looking(OperationRun(Context(places, {}), request), lambda: Done("disabled")))
    raise Fault("broken")


@pytest.mark.parametrize(
    ("function", "status", "known"),
    [
        ("broken_verb", 3, ["error"]),
        ("broken_after_an_operation", 0, ["error", "generation", "outcome", "receipt", "summary"]),
    ],
)
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_verb_that_breaks_says_what_is_known(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    function: str,
    status: int,
    known: list[str],
    options: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "broken_verbs", sys.modules[__name__])
    monkeypatch.setitem(VERBS, ("plugins", "list"), VERBS["plugins", "list"]._replace(runs=f"broken_verbs:{function}"))
    assert main(["plugins", "list", *options]) == status
    said = capsys.readouterr()
    assert said.err.count("manager-fault") == 1
    if options:
        assert sorted(json.loads(said.out)) == known
        assert json.loads(said.out)["error"]["code"] == "manager-fault"
    else:
        assert said.out == ""


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["plugins", "frobnicate", "--json"], "usage"),
        (["memory", "setup", "--json"], "usage"),
        (["pm", "bundle", "--output", "/", "--json"], "usage"),
    ],
)
def test_wrong_words_are_one_object(words: list[str], code: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as raised:
        main(words)
    assert (raised.value.code, json.loads(capsys.readouterr().out)["error"]["code"]) == (2, code)


def test_the_option_of_another_command_asks_for_no_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--", "python", "tool.py", "--json"]) == 1
    assert capsys.readouterr().out == ""
