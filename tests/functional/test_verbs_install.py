"""Installing and enabling, as a user runs it: outcome, exit status, receipt, pointer, config, folder, generation."""

from __future__ import annotations

from pathlib import Path

from fixtures.homes import PLUGINS, Home, snapshot

CORE = {"hermes-embedded-core": "0.1.0", "pyyaml": "6.0.3"}


def test_a_plugin_is_installed_into_a_home_that_has_nothing_yet(cold: Home) -> None:
    answer = cold.install(PLUGINS / "admitted-simple")
    assert (answer.gist, answer.changes, answer.warnings) == (
        "0 admitted",
        ["+demo-colors 1.2", "+hermes-embedded-core 0.1.0", "+pyyaml 6.0.3"],
        [],
    )
    assert cold.admitted == ["admitted-simple in default"]
    assert cold.pins == cold.locked == {"demo-colors": "1.2"} | CORE


def test_the_receipt_says_what_was_installed_from_where_and_in_which_generation(home: Home) -> None:
    source = PLUGINS / "admitted-simple"
    receipt = home.install(source).value
    pointer = home.pointer
    assert pointer is not None
    digest = pointer["admitted"][0]["declaration_digest"]
    assert receipt["plugin"] == {
        "key": "admitted-simple",
        "name": "admitted-simple",
        "version": "1.0.0",
        "source": {"kind": "folder", "location": str(source), "commit": "", "ref": ""},
        "profile": "default",
        "declared_in": "plugin.yaml",
        "digest": digest,
    }
    assert receipt["generation"] == {
        "before": None,
        "after": 1,
        "lock_digest": pointer["lock_digest"],
        "restart_required": False,
        "restart_reasons": [],
    }
    expected = {
        "operation": "install",
        "sequence": 1,
        "trigger": "cli",
        "core": "hermes-embedded-core==0.1.0",
        "target": pointer["target"],
        "inputs_fingerprint": pointer["fingerprint"],
        "summary": "`admitted-simple` is installed",
    }
    assert {name: receipt[name] for name in expected} == expected


def test_the_pointer_names_the_generation_and_what_it_holds(home: Home) -> None:
    home.install(PLUGINS / "admitted-simple")
    pointer = home.pointer
    assert pointer is not None
    assert (pointer["generation"], pointer["path"], pointer["core"]) == (
        1,
        str(home.state / "generations" / "1"),
        "hermes-embedded-core==0.1.0",
    )
    member = pointer["admitted"][0]
    assert (member["key"], member["profiles"], member["root"]) == (
        "admitted-simple",
        ["default"],
        str(home.path / "plugins" / "admitted-simple"),
    )


def test_the_folder_in_its_place_is_the_source_and_a_copy_is_kept_by_its_digest(home: Home) -> None:
    source = home.plugin("ash", "demo-colors", files={"data/words.txt": "one\n", "__pycache__/x.pyc": "no part of it"})
    home.install(source)
    pointer = home.pointer
    assert pointer is not None
    kept = home.state / "trees" / pointer["admitted"][0]["tree_digest"].removeprefix("sha256:")
    expected = snapshot(source, ["__pycache__"])
    assert (snapshot(home.path / "plugins" / "ash"), snapshot(kept)) == (expected, expected)


def test_comments_order_and_quotes_of_the_config_stay(home: Home) -> None:
    home.ask("pm", "init")  # with settings of the host the home would be a used one, and would need a core named
    before = home.config.read_text()
    home.configure(
        "# what I like\ndisplay: {color: 'blue'}   # really\nplugins:\n  # mine\n  enabled:\n    - \"old\" # old one\n"
    )
    home.install(PLUGINS / "admitted-simple")
    assert home.config.read_text() == (
        before
        + "# what I like\ndisplay: {color: 'blue'}   # really\nplugins:\n  # mine\n  enabled:\n"
        + '    - "old" # old one\n    - admitted-simple\n'
    )


def test_a_second_plugin_moves_nothing_and_leaves_the_first_generation_as_it_was(home: Home) -> None:
    home.install(home.plugin("ash", "demo-socket<3"))
    first = snapshot(home.generation)
    answer = home.install(home.plugin("birch", "demo-socket", "demo-colors"))
    assert (answer.gist, answer.changes) == ("0 admitted", ["+demo-colors 2.0"])
    assert home.pins == {"demo-colors": "2.0", "demo-socket": "2.4"} | CORE
    assert snapshot(home.state / "generations" / "1") == first
    assert home.admitted == ["ash in default", "birch in default"]


def test_the_order_of_installing_changes_neither_pins_nor_fingerprint(home: Home, tmp_path: Path) -> None:
    other = Home(tmp_path / "other" / "home", surroundings=tmp_path / "other")
    other.config.write_text(home.config.read_text())
    ash, birch = home.plugin("ash", "demo-colors"), home.plugin("birch", "demo-transport")
    answers = [home.install(ash), home.install(birch), other.install(birch), other.install(ash)]
    here, there = home.pointer, other.pointer
    assert here is not None
    assert there is not None
    assert ([answer.status for answer in answers], here["fingerprint"]) == ([0, 0, 0, 0], there["fingerprint"])
    assert home.pins == other.pins


def test_without_a_word_about_enabling_nobody_is_asked_and_it_stays_off(home: Home) -> None:
    answer = home.ask("plugins", "install", PLUGINS / "conflicts-with-core")
    assert (answer.gist, answer.warnings, home.pointer) == ("0 admitted", ["not-enabled"], None)
    assert (home.path / "plugins" / "conflicts-with-core" / "plugin.yaml").is_file()
    assert "enabled" not in home.config.read_text()


def test_what_was_installed_switched_off_is_switched_on_later(home: Home) -> None:
    home.ask("plugins", "install", PLUGINS / "admitted-simple", "--no-enable")
    answer = home.ask("plugins", "enable", "Admitted_Simple")
    assert (answer.gist, answer.value["operation"], answer.changes) == (
        "0 admitted",
        "enable",
        ["+demo-colors 1.2", "+hermes-embedded-core 0.1.0", "+pyyaml 6.0.3"],
    )
    assert home.config.read_text().endswith("plugins:\n  enabled:\n    - admitted-simple\n")


def test_switching_on_what_runs_changes_nothing(home: Home) -> None:
    home.install(PLUGINS / "admitted-simple")
    before = home.snapshot(["pm/cache", "pm/receipts", "pm/locks"])
    answer = home.ask("plugins", "enable", "admitted-simple")
    assert (answer.gist, home.snapshot(["pm/cache", "pm/receipts", "pm/locks"])) == ("0 unchanged", before)


def test_a_memory_provider_is_switched_on_by_its_full_key_and_not_selected(home: Home) -> None:
    source = home.plugin("granite", "demo-transport", kind="exclusive")
    assert home.install(source).gist == "0 admitted"
    assert home.config.read_text().endswith("plugins:\n  enabled:\n    - granite\n")


def test_a_first_generation_is_made_of_what_the_config_enables_already(home: Home) -> None:
    home.ask("plugins", "install", home.plugin("ash", "demo-colors<2"), "--no-enable")
    home.ask("plugins", "install", home.plugin("birch", "demo-transport"), "--no-enable")
    home.configure("plugins:\n  enabled: [ash, birch]\n")
    answer = home.ask("pm", "init")
    assert (answer.gist, home.admitted) == ("0 admitted", ["ash in default", "birch in default"])
    assert home.pins == {"demo-colors": "1.2", "demo-socket": "2.4", "demo-transport": "1.3.0"} | CORE
    assert home.ask("pm", "init").gist == "0 unchanged"


def test_text_for_a_person_goes_to_standard_output_and_talk_to_standard_error(home: Home) -> None:
    answer = home.say("plugins", "install", PLUGINS / "admitted-simple", "--enable", "--verbose")
    assert answer.stdout.startswith("✓ `admitted-simple` is installed\n\nPlugin\n  admitted-simple 1.0.0\n")
    assert answer.stderr.splitlines()[-1].startswith("building an environment of 3 packages")
    assert home.say("plugins", "check", "--quiet") == (0, "", "")


def test_the_stored_receipts_are_listed_and_shown_again(home: Home) -> None:
    first = home.install(PLUGINS / "admitted-simple")
    second = home.install(PLUGINS / "conflicts-with-core")
    listed = home.ask("pm", "receipts").value["receipts"]
    assert [(row["id"], row["operation"], row["outcome"]) for row in listed] == [
        (second.value["id"], "install", "refused"),
        (first.value["id"], "install", "admitted"),
    ]
    assert home.say("pm", "receipts", "show", first.value["id"], "--json") == (0, first.stdout, "")
    assert home.say("pm", "receipts", "show", "latest", "--json") == (0, second.stdout, "")
    assert [row["sequence"] for row in (first.value, second.value)] == [1, 2]
