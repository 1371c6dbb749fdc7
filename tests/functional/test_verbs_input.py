"""Wrong words, broken files and missing rights end with a code, a place and a status, never with a trace."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from fixtures.homes import HERMES, PLUGINS, UNTOUCHED_BY_REFUSALS, Answer, Home, write_plugin

NEW = str(PLUGINS / "admitted-simple")


@pytest.mark.parametrize(
    "words",
    [
        "plugins install",
        "plugins frobnicate",
        f"plugins install {NEW} --enable --no-enable",
        f"plugins install {NEW} --inde",
        "plugins enable",
        "plugins check --quiet --verbose",
        "pm receipts show",
        "pm receipts show 00",
        "pm receipts example nonsense",
        "pm frobnicate",
        "run",
        "memory setup",
        "uninstall --now",
    ],
)
def test_wrong_usage_is_told_on_standard_error_and_writes_nothing(home: Home, words: str) -> None:
    before = home.snapshot()
    answer = home.say(*words.split())
    assert (answer.status, answer.stdout, answer.stderr != "", home.snapshot()) == (2, "", True, before)
    assert "Traceback" not in answer.stderr


@pytest.mark.parametrize(
    ("words", "fault", "hint"),
    [
        (
            "plugins instal x",
            "hermes plugins: error: there is no verb `instal`",
            "did you mean `hermes plugins install`?",
        ),
        ("plugins delete x", "hermes plugins: error: there is no verb `delete`", "`hermes plugins remove`?"),
        ("pm xyz", "hermes pm: error: there is no verb `xyz`", "it has `init`, `extras`, "),
        ("plugins list --jsn", "hermes plugins list: error: there is no option `--jsn`", "did you mean `--json`?"),
        ("pm init --cor=x", "hermes pm init: error: there is no option `--cor`", "did you mean `--core`?"),
        ("plugins --offline list", "`--offline` is not at its place", "write it behind `hermes plugins list`"),
        ("plugins show a b", "hermes plugins show: error: `b` is one word too many", "`hermes plugins show --help`"),
        ("run --saf -- true", "hermes run: error: there is no option `--saf`", "did you mean `--safe`?"),
        ("pm extra", "hermes pm: error: there is no verb `extra`", "did you mean `hermes pm extras`?"),
        ("pm audit", "`pm audit` is not part of this version", ""),
        ("pm rollback x", "argument N: `x` is not a whole number", ""),
        ("plugin list", "there is no command `plugin`", "did you mean `hermes plugins list`?"),
        ("install x", "there is no command `install`", "did you mean `hermes plugins install x`?"),
    ],
)
def test_wrong_words_are_told_with_what_was_probably_meant(home: Home, words: str, fault: str, hint: str) -> None:
    said = home.say(*words.split()).stderr
    assert (fault in said, hint in said, "Traceback" in said) == (True, True, False)


def test_of_several_plugins_each_fault_says_whose_it_is(home: Home) -> None:
    first, second = (home.plugin(name, "demo-colors") for name in ("ash", "birch"))
    for folder in (first, second):
        (folder / "plugin.yaml").write_text(f"name: {folder.name}\npip_dependencies: [demo-colors>=1.0<2.0]\n")
    receipt = home.ask("plugins", "check", first, second).value
    assert [row["declared_at"]["file"] for row in receipt["reasons"]] == [
        f"{folder}/plugin.yaml" for folder in (first, second)
    ]
    said = home.say("plugins", "check", first, second, "--summary").stdout.splitlines()
    why = "invalid-declaration: `demo-colors>=1.0<2.0` is not a requirement: expected comma (within version specifier)"
    assert said[0].endswith("(1 more reason below)")
    assert [
        line.startswith(f"  {why}") and line.endswith(f"({folder}/plugin.yaml:2)")
        for line, folder in zip(said[1:], (first, second), strict=True)
    ] == [True, True]


@pytest.mark.parametrize("words", [("plugins", "install", "", "--enable"), ("plugins", "validate", " ")])
def test_an_empty_source_is_not_the_working_folder(home: Home, words: tuple[str, ...]) -> None:
    answer = home.ask(*words)
    assert (answer.gist, answer.value["reasons"][0]["message"]) == ("2 failed invalid-source", "the source is empty")


def test_of_several_plugins_what_is_not_there_is_not_the_fault_of_another(home: Home) -> None:
    receipt = home.ask("plugins", "check", home.plugin("ash", "demo-colors"), "work/nowhere").value
    said = "there is no plugin `work/nowhere`, and no folder or archive of this name"
    assert (receipt["plugin"], receipt["reasons"][0]["message"]) == (None, said)


def test_no_question_is_asked_of_what_is_not_there(home: Home) -> None:
    ours, theirs = os.openpty()
    os.write(ours, b"n\n")
    command: list[str | Path] = [HERMES, "plugins", "install", "nowhere"]
    with subprocess.Popen(command, env=home.environ, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        said = b""
        with os.fdopen(ours, "rb", buffering=0) as reader, suppress(OSError):  # which is how Linux says that it ended
            while part := reader.read(10_000):
                said += part
    assert (process.returncode, b"invalid-source" in said, b"[y/N]" in said) == (2, True, False)


def test_wrong_words_are_one_object_with_what_was_probably_meant(home: Home) -> None:
    answer = home.say("plugins", "lst", "--json")
    assert json.loads(answer.stdout)["error"] == {
        "code": "usage",
        "message": "there is no verb `lst`",
        "hint": "did you mean `hermes plugins list`?",
        "file": "",
        "line": 0,
        "key": "",
    }


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("plugins enable nobody", "2 failed unknown-plugin"),
        ("plugins disable nobody", "2 failed unknown-plugin"),
        ("plugins remove nobody", "2 failed unknown-plugin"),
        ("plugins check nobody", "2 failed unknown-plugin"),
        ("plugins install nowhere --enable", "2 failed invalid-source"),
        ("plugins install pypi:demo-colors", "2 failed invalid-source"),
        ("plugins install https://example.invalid/x.zip", "2 failed invalid-source"),
        ("plugins validate nowhere", "2 failed invalid-source"),
    ],
)
def test_a_name_or_source_that_is_not_there_is_usage_with_a_receipt(home: Home, words: str, expected: str) -> None:
    before = home.snapshot(UNTOUCHED_BY_REFUSALS)
    answer = home.ask(*words.split())
    assert (answer.gist, home.snapshot(UNTOUCHED_BY_REFUSALS).keys() - before.keys() <= {"pm"}) == (expected, True)


def test_a_name_that_is_nearly_right_is_answered_with_the_right_one(home: Home) -> None:
    home.install(NEW)
    answer = home.ask("plugins", "disable", "admited-simple")
    assert answer.value["reasons"][0]["hint"] == "did you mean `admitted-simple`?"


def test_a_word_that_may_mean_two_plugins_is_answered_with_both(home: Home) -> None:
    write_plugin(home.path / "plugins" / "tools" / "hammer")
    write_plugin(home.path / "plugins" / "toys" / "hammer")
    answer = home.ask("plugins", "enable", "hammer")
    assert (answer.gist, answer.value["reasons"][0]["message"]) == (
        "2 failed unknown-plugin",
        "`hammer` is the name of several plugins: `tools/hammer`, `toys/hammer`",
    )
    assert home.ask("plugins", "enable", "tools/hammer").gist == "0 admitted"


BROKEN = {
    "not YAML": ("plugins: [\n", 6, ""),
    "a key twice": ("plugins:\n  enabled: []\nplugins:\n  enabled: []\n", 7, "plugins"),
    "a text for a list": ("plugins:\n  enabled: ash\n", 6, "plugins.enabled"),
    "a tab": ("plugins:\n\tenabled: []\n", 6, ""),
}


@pytest.mark.parametrize(
    "words", [f"plugins install {NEW} --enable", "plugins enable ash", "plugins remove ash", "pm init"]
)
def test_nothing_is_changed_where_the_config_cannot_be_read(home: Home, words: str) -> None:
    home.configure("plugins: [\n")
    before = home.snapshot(UNTOUCHED_BY_REFUSALS)
    assert home.ask(*words.split()).gist == "3 failed config-unreadable"
    assert home.snapshot(UNTOUCHED_BY_REFUSALS).keys() - before.keys() <= {"pm"}


@pytest.mark.parametrize(("text", "line", "key"), BROKEN.values(), ids=BROKEN)
def test_a_config_that_cannot_be_read_is_told_with_file_and_line(home: Home, text: str, line: int, key: str) -> None:
    home.configure(text)
    answer = home.ask("plugins", "check")
    place = answer.value["reasons"][0]["declared_at"]
    assert (answer.gist, place["file"], place["line"], place["key"]) == (
        "3 failed config-unreadable",
        str(home.config),
        line,
        key,
    )


def test_a_listing_that_cannot_be_given_is_one_object_with_the_error(home: Home) -> None:
    file = home.work / "file"
    file.touch()
    answers = home.ask("plugins", "list", "--home", file), home.ask("pm", "status", "--home", file)
    assert [(answer.status, answer.value["error"]["code"], answer.value["error"]["file"]) for answer in answers] == [
        (3, "not-writable", str(file)),
        (3, "not-writable", str(file)),
    ]
    why = home.say("pm", "why", "demo-colors", "--json")
    assert (why.status, why.value["error"]["code"]) == (1, "no-generation")


def test_settings_that_are_wrong_are_told_all_at_once_and_do_not_keep_a_plugin_from_being_switched_off(
    home: Home,
) -> None:
    home.install(NEW)
    home.config.write_text(home.config.read_text().replace("pm:\n", "pm:\n  keep_generations: few\n  audit: perhaps\n"))
    answer = home.ask("plugins", "check")
    assert (answer.gist, answer.value["reasons"][0]["message"].split("; ")) == (
        "3 failed config-unreadable",
        [
            "`pm.keep_generations` must be a number from 1 upwards, not `few`",
            "line 4: `pm.audit` must be one of `off`, `warn`, `refuse`, not `perhaps`",
        ],
    )
    assert home.ask("plugins", "disable", "admitted-simple").gist == "0 disabled"


@pytest.mark.parametrize("verb", ["disable", "remove"])
@pytest.mark.parametrize("file", ["pointer.json", "generations/1.json"])
def test_a_plugin_can_leave_although_nobody_knows_any_more_what_is_selected(home: Home, verb: str, file: str) -> None:
    home.install(NEW)
    (home.state / file).write_text("{")
    answer = home.say("plugins", verb, "admitted-simple", "--json")
    assert (answer.status, answer.warnings) == (0, ["record-unreadable"])
    mended = home.ask("pm", "init")
    assert (mended.gist, mended.warnings, home.admitted) == ("0 admitted", ["record-lost"], [])


@pytest.mark.parametrize(("damage", "file"), [("{", "pointer.json"), ('{"schema": 9}', "generations/1.json")])
def test_a_damaged_pointer_or_record_is_drift_and_a_new_generation_mends_it(home: Home, damage: str, file: str) -> None:
    home.install(NEW)
    (home.state / file).write_text(damage)
    answers = home.ask("plugins", "check").gist, home.install(home.plugin("ash")).gist
    assert answers == ("1 drift drift", "1 drift drift")
    listed = home.say("pm", "status", "--json")
    assert (listed.status, [row["code"] for row in listed.value["damage"]]) == (0, ["drift"])
    mended = home.ask("pm", "init")
    assert (mended.gist, mended.warnings, home.admitted) == (
        "0 admitted",
        ["record-lost"],
        ["admitted-simple in default"],
    )


def test_a_generation_that_is_gone_is_drift_and_a_new_one_mends_it(home: Home) -> None:
    home.install(NEW)
    environment = home.generation
    environment.rename(home.work / "gone")
    assert home.ask("plugins", "check").gist == "1 drift drift"
    assert home.ask("pm", "init").gist == "0 admitted"
    assert (home.ask("plugins", "check").gist, home.pins["demo-colors"]) == ("0 ready", "1.2")


def test_damaged_caches_are_made_again(home: Home) -> None:
    home.install(NEW)
    damaged = [path for path in (home.state / "cache").rglob("*.json") if path.is_file()]
    for path in damaged:
        path.write_bytes(b"\x00 damaged")
    assert (home.ask("plugins", "check").gist, len(damaged) > 0) == ("0 ready", True)
    assert home.install(home.plugin("ash", "demo-transport")).gist == "0 admitted"


# -- rights


@contextmanager
def _read_only(folder: Path) -> Iterator[None]:
    """Take the right to write from everything below a folder."""
    modes = {path: path.stat().st_mode for path in [folder, *folder.rglob("*")] if not path.is_symlink()}
    for path, mode in modes.items():
        path.chmod(mode & ~0o222)
    try:
        yield
    finally:
        for path, mode in modes.items():
            path.chmod(mode)


@pytest.fixture
def as_user(require_tool: Callable[[str], Path]) -> Callable[..., Answer]:
    """Return a function that runs a verb as somebody whom the modes of files concern, which they do not for root."""
    capabilities = "-dac_override,-dac_read_search"
    root = os.geteuid() == 0
    rights = [f"--bounding-set={capabilities}", f"--inh-caps={capabilities}"]
    under = [str(require_tool("setpriv")), *rights] if root else []

    def ask(home: Home, *words: str | Path) -> Answer:
        process = home.start(*words, "--json", under=under)
        stdout, stderr = process.communicate(timeout=60)
        return Answer(process.returncode, stdout, stderr)

    return ask


def test_in_a_home_that_cannot_be_written_looking_works_and_changing_says_so(
    home: Home, as_user: Callable[..., Answer]
) -> None:
    """Case dry-run-mutates-01, its last part."""
    home.install(NEW)
    ash = home.plugin("ash", "demo-transport")
    with _read_only(home.path):
        looks = [
            as_user(home, "plugins", "check"),
            as_user(home, "plugins", "check", ash),
            as_user(home, "plugins", "list"),
            as_user(home, "pm", "status"),
        ]
        changes = [
            as_user(home, "plugins", "install", ash, "--enable"),
            as_user(home, "plugins", "disable", "admitted-simple"),
            as_user(home, "plugins", "remove", "admitted-simple"),
            as_user(home, "pm", "init"),
        ]
    assert [answer.status for answer in looks] == [0, 0, 0, 0]
    assert [answer.gist for answer in changes] == ["3 failed not-writable"] * 4
    assert changes[0].warnings == ["receipt-not-stored"]
    assert "Traceback" not in "".join(answer.stderr for answer in (*looks, *changes))


def test_plugin_folders_that_cannot_be_written_fail_a_change_and_nothing_has_changed(
    home: Home, as_user: Callable[..., Answer]
) -> None:
    home.install(NEW)
    before = home.snapshot(UNTOUCHED_BY_REFUSALS)
    ash = home.plugin("ash", "demo-transport")
    with _read_only(home.path / "plugins"):
        answers = (
            as_user(home, "plugins", "install", ash, "--enable"),
            as_user(home, "plugins", "remove", "admitted-simple"),
        )
    assert [answer.gist for answer in answers] == ["3 failed not-writable"] * 2
    after = home.snapshot(UNTOUCHED_BY_REFUSALS)
    assert {path: state for path, state in after.items() if not path.startswith("pm/wheels")} == {
        path: state for path, state in before.items() if not path.startswith("pm/wheels")
    }


def test_a_home_that_is_a_file_is_told(tmp_path: Path, home: Home) -> None:
    (tmp_path / "file").write_text("")
    answer = home.say("plugins", "check", "--json", "--home", tmp_path / "file")
    assert (answer.status, answer.value["error"]["code"]) == (3, "not-writable")


def test_a_reader_who_has_enough_is_no_fault(home: Home) -> None:
    home.install(NEW)
    with home.start("pm", "receipts", "show", "latest", "--json") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert (process.wait(timeout=60), process.stderr.read()) == (0, "")


def test_json_is_ascii_so_that_no_locale_can_spoil_it(home: Home) -> None:
    """Case encoding-bom-crlf-03: the plugin's files are read as UTF-8 there, too."""
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    installed = home.install(home.plugin("ash", "demo-colors", description="für alle 日本"), **ascii_only)
    listed = home.say("plugins", "list", "--json", **ascii_only)
    assert (installed.gist, listed.status, listed.stdout.isascii()) == ("0 admitted", 0, True)
    assert listed.value["plugins"][0]["description"] == "für alle 日本"


def test_control_characters_of_a_plugin_do_not_reach_the_terminal(home: Home) -> None:
    home.ask("plugins", "install", home.plugin("ash", description="\x1b[2Jgone \u202e"), "--no-enable")
    answers = [
        home.say("plugins", "show", "ash"),
        home.say("plugins", "list"),
        home.say("plugins", "show", "ash", "--json"),
    ]
    assert [answer.status for answer in answers] == [0, 0, 0]
    assert [bad for bad in ("\x1b", "\u202e") for answer in answers if bad in answer.stdout] == []
