"""`hermes pm verify` and `repair`: what is installed is what was recorded, or is made so again."""

from pathlib import Path

import pytest

from fixtures.homes import PLUGINS, Home

NEW = PLUGINS / "admitted-simple"


def module(home: Home, number: int) -> Path:
    return home.state / "generations" / str(number) / "lib" / "python3.11" / "site-packages" / "demo_colors.py"


def test_what_was_just_built_is_what_was_recorded(home: Home) -> None:
    home.install(NEW)
    assert home.ask("pm", "verify").gist == "0 verified"
    assert home.ask("pm", "repair").gist == "0 unchanged"


def test_before_the_first_generation_there_is_nothing_to_verify(home: Home) -> None:
    assert (home.ask("pm", "verify").gist, home.ask("pm", "repair").gist) == ("1 not-ready no-generation",) * 2


def test_an_environment_that_is_not_complete_is_drift_and_built_again(home: Home) -> None:
    home.install(NEW)
    (module(home, 1).parents[2]).rename(home.work / "lib")
    found = home.ask("pm", "verify")
    said = "the environment of generation 1 is not complete"
    assert (found.gist, found.value["reasons"][0]["message"]) == ("1 drift drift", said)
    assert [home.ask("pm", *words).gist for words in (["repair"], ["verify"])] == ["0 repaired", "0 verified"]


def test_an_edit_in_place_is_named_and_not_reproduced(home: Home) -> None:
    home.install(NEW)
    file = module(home, 1)
    before = file.read_bytes()
    file.write_bytes(b"#" + before[1:] if before else b"#")
    found = home.ask("pm", "verify")
    assert found.gist.startswith("1 drift drift")
    assert "demo_colors.py" in found.value["reasons"][0]["message"]
    assert home.ask("pm", "repair").gist == "0 repaired"
    assert (module(home, 2).read_bytes(), home.ask("pm", "verify").gist) == (before, "0 verified")


def test_an_edit_in_place_is_told_of_every_generation_that_shares_the_file(home: Home) -> None:
    home.install(NEW)
    home.install(home.plugin("birch", "demo-transport"))
    shared = [module(home, number) for number in (1, 2)]
    assert shared[0].samefile(shared[1])
    before = shared[0].read_bytes()
    shared[1].write_bytes(b"#" + before[1:])
    found = home.ask("pm", "verify", "--all")
    said = "`demo_colors.py` of `demo-colors` was changed"
    assert (found.gist, found.value["reasons"][0]["message"]) == ("1 drift drift", said)
    assert [(warning["code"], warning["message"]) for warning in found.value["warnings"]] == [
        ("generation-damaged", f"generation 1: {said}")
    ]
    back = home.ask("pm", "rollback", "1", "--dry-run")
    assert (back.gist, [warning["message"] for warning in back.value["warnings"]][-1]) == (
        "0 rolled-back",
        f"generation 1 is not what it was, so it is built again: {said}",
    )
    assert home.ask("pm", "repair").gist == "0 repaired"
    after = home.ask("pm", "verify", "--all")
    assert (after.gist, after.warnings, module(home, 3).read_bytes()) == (
        "0 verified",
        ["generation-damaged", "generation-damaged"],
        before,
    )


def test_a_file_that_somebody_put_there_is_named(home: Home) -> None:
    home.install(NEW)
    site = module(home, 1).parent
    site.chmod(0o755)
    (site / "stranger.py").write_text("")
    found = home.ask("pm", "verify")
    assert [reason["message"] for reason in found.value["reasons"]] == [
        "`stranger.py` was not put there by the manager"
    ]
    assert home.ask("plugins", "check").gist == "1 drift drift"
    assert (home.ask("pm", "repair").gist, home.ask("plugins", "check").gist) == ("0 repaired", "0 ready")


def test_a_changed_file_of_a_plugin_is_named_and_a_file_of_its_own_is_not(home: Home) -> None:
    home.install(NEW)
    folder = home.path / "plugins" / "admitted-simple"
    (folder / "state.json").write_text("{}")
    assert home.ask("pm", "verify").gist == "0 verified"
    (folder / "__init__.py").write_text("changed = True\n")
    found = home.ask("pm", "verify")
    assert [reason["message"] for reason in found.value["reasons"]] == [
        f"`{folder}/__init__.py` of the plugin `admitted-simple` is not as it was admitted"
    ]


@pytest.mark.parametrize("words", [("--offline",), ()])
def test_a_generation_that_is_gone_is_built_again_from_its_record(home: Home, words: tuple[str, ...]) -> None:
    home.install(NEW)
    folder = home.state / "generations" / "1"
    folder.rename(home.path / "taken-away")
    assert home.ask("pm", "verify").gist == "1 drift drift"
    assert home.ask("pm", "repair", *words).gist == "0 repaired"
    assert (home.ask("pm", "verify").gist, home.ask("plugins", "check").gist) == ("0 verified", "0 ready")


def test_the_folder_of_a_plugin_that_is_gone_is_one_difference_and_a_link_to_the_interpreter_is_built_again(
    home: Home,
) -> None:
    home.install(NEW)
    folder = home.path / "plugins" / "admitted-simple"
    folder.rename(home.work / "aside")
    found = home.ask("pm", "verify")
    said = f"the folder of the plugin `admitted-simple` is gone: `{folder}`"
    assert [reason["message"] for reason in found.value["reasons"]] == [said]
    assert [home.ask("pm", *words).gist for words in (["rollback", "1"], ["verify"])] == ["0 rolled-back", "0 verified"]
    programs = home.generation / "bin"
    programs.chmod(0o755)
    (programs / "python").unlink()
    assert [home.ask("pm", *words).gist for words in (["repair"], ["verify"])] == ["0 repaired", "0 verified"]


def test_a_journal_that_cannot_be_read_is_told_with_the_place_where_it_is_kept(home: Home) -> None:
    home.install(NEW)
    (home.state / "journal.json").write_text("{")
    [warning] = home.ask("pm", "repair").value["warnings"]
    [parked] = home.state.glob("journal.parked-*.json")
    why = "an interrupted operation can be neither finished nor undone: its journal cannot be read"
    assert (warning["code"], warning["message"]) == ("interrupted", f"{why}; the journal is kept as `{parked}`")
