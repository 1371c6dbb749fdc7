"""Where plugins come from and where they are put: folders, archives, odd names, and what was in their place before."""

from __future__ import annotations

import shutil
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from fixtures.homes import PLUGINS, UNTOUCHED_BY_REFUSALS, Home, new_home, snapshot, write_plugin

CORE = {"hermes-embedded-core": "0.1.0", "pyyaml": "6.0.3"}


def _zip(folder: Path, archive: Path, prefix: str) -> Path:
    with zipfile.ZipFile(archive, "w") as target:
        for path in sorted(folder.rglob("*")):
            target.write(path, f"{prefix}{path.relative_to(folder)}")
    return archive


def _tar(folder: Path, archive: Path, prefix: str) -> Path:
    with tarfile.open(archive, "w:gz") as target:
        target.add(folder, prefix)
    return archive


@pytest.mark.parametrize(
    ("pack", "name", "prefix"),
    [
        (_zip, "ash.zip", ""),
        (_zip, "ash-1.0.zip", "ash-1.0/"),
        (_tar, "ash.tar.gz", "."),
        (_tar, "release 1.0.tgz", "ash-main"),
    ],
)
def test_an_archive_is_installed_as_the_folder_in_it_would_be(
    home: Home, pack: Callable[[Path, Path, str], Path], name: str, prefix: str
) -> None:
    folder = home.plugin("ash", "demo-colors", files={"deep/er/words.txt": "one\n"})
    archive = pack(folder, home.work / name, prefix)
    answer = home.install(archive)
    assert (answer.gist, answer.value["plugin"]["source"]) == (
        "0 admitted",
        {"kind": "archive", "location": str(archive), "commit": "", "ref": ""},
    )
    assert snapshot(home.path / "plugins" / "ash") == snapshot(folder)


def _evil(archive: Path, name: str) -> Path:
    with zipfile.ZipFile(archive, "w") as target:
        target.writestr("plugin.yaml", "name: evil\n")
        target.writestr(name, "somewhere else\n")
    return archive


@pytest.mark.parametrize("name", ["../evil.txt", "/tmp/evil.txt", "a/../../evil.txt", "..\\evil.txt"])
def test_an_unsafe_archive_is_refused_and_nothing_of_it_is_left_anywhere(cold: Home, name: str) -> None:
    archive = _evil(cold.work / "evil.zip", name)
    before, around = cold.snapshot(UNTOUCHED_BY_REFUSALS), snapshot(cold.work.parent, ["home"])
    answers = cold.install(archive), cold.ask("plugins", "check", archive)
    assert [answer.gist for answer in answers] == ["1 refused unsafe-archive"] * 2
    assert cold.snapshot(UNTOUCHED_BY_REFUSALS).keys() - before.keys() == {"pm"}
    assert snapshot(cold.work.parent, ["home"]) == around
    assert list(cold.path.rglob("*evil*")) == []


def test_a_file_that_is_no_archive_and_a_place_where_nothing_is_are_usage(home: Home) -> None:
    (home.work / "notes.txt").write_text("no plugin")
    (home.work / "broken.zip").write_text("no archive")
    answers = [home.install(home.work / name).gist for name in ("notes.txt", "nowhere", "broken.zip")]
    assert answers == ["2 failed invalid-source", "2 failed invalid-source", "1 refused unsafe-archive"]


def test_a_folder_that_holds_no_plugin_is_not_installed(home: Home) -> None:
    junk = home.work / "junk"
    junk.mkdir()
    (junk / "notes.txt").write_text("no plugin")
    answers = home.install(junk).gist, home.ask("plugins", "check", junk).gist, home.install(home.work).gist
    assert answers == ("2 failed invalid-source",) * 3
    assert sorted(home.snapshot(UNTOUCHED_BY_REFUSALS)) == ["config.yaml", "pm"]


def test_a_plugin_without_any_declaration_is_admitted_as_it_is(home: Home) -> None:
    bare = home.work / "bare"
    bare.mkdir()
    (bare / "__init__.py").write_text("")
    assert (home.install(bare).gist, home.admitted, home.pins) == ("0 admitted", ["bare in default"], CORE)


def test_folders_with_blanks_and_other_scripts_are_put_under_the_name_of_their_manifest(home: Home) -> None:
    """Case paths-spaces-unicode-01."""
    answer = home.install(PLUGINS / "blank in folder ü")
    assert (answer.gist, home.admitted) == ("0 admitted", ["blank-in-folder in default"])
    assert (home.path / "plugins" / "blank-in-folder" / "plugin.yaml").is_file()


def test_a_folder_with_blanks_that_somebody_put_there_is_used_by_its_manifest_name(home: Home) -> None:
    folder = shutil.copytree(PLUGINS / "blank in folder ü", home.path / "plugins" / "blank in folder ü")
    assert home.ask("plugins", "enable", "blank-in-folder").gist == "0 admitted"
    assert home.ask("plugins", "remove", "Blank_In_Folder").gist == "0 removed"
    assert not folder.exists()


@pytest.mark.parametrize(
    "name",
    ["日本", "-dash", "a b", "../up", "x" * 65, "node_modules", "Node_Modules", "memory/node_modules", ".hidden"],
)
def test_a_name_that_cannot_be_a_folder_below_plugins_is_refused(cold: Home, name: str) -> None:
    before = cold.snapshot(UNTOUCHED_BY_REFUSALS)
    answer = cold.install(cold.plugin("ü ü", name=name))
    assert answer.gist in {"1 refused unsafe-name", "1 refused unsafe-name unsafe-name"}
    assert cold.snapshot(UNTOUCHED_BY_REFUSALS).keys() - before.keys() == {"pm"}


@pytest.mark.parametrize("name", ["my home Staženo'é\"日本", "-dash;b $HOME"])
def test_a_home_of_any_name_works(tmp_path: Path, wheels: Path, name: str) -> None:
    """Cases paths-spaces-unicode-01 and -03."""
    folder = shutil.copytree(wheels, tmp_path / name / "wheels ü")
    home = new_home(tmp_path / name / "home", wheels=folder)
    home.install(home.plugin("ash", "demo-colors"))
    refused = home.install(home.plugin("it's birch", "PyYAML<6", name="birch"))
    answers = [
        refused.gist,
        home.ask("plugins", "check").gist,
        home.ask("plugins", "remove", "ash").gist,
    ]
    assert answers == ["1 refused core-conflict", "0 ready", "0 removed"]
    assert home.pins == CORE


def test_an_installed_plugin_is_replaced_only_by_force(home: Home) -> None:
    source = home.plugin("ash", "demo-colors")
    home.install(source)
    before = home.snapshot(UNTOUCHED_BY_REFUSALS)
    write_plugin(source, "demo-socket", version="2.0.0")
    refused = home.install(source)
    when = refused.value["steps"][-1]["when"]
    assert (refused.gist, when) == ("1 refused name-taken", "the name is free, or `--force` is given")
    assert home.snapshot(UNTOUCHED_BY_REFUSALS) == before
    replaced = home.install(source, "--force")
    assert (replaced.gist, replaced.changes) == ("0 admitted", ["+demo-socket 3.0", "-demo-colors 2.0"])


def test_a_replaced_plugin_keeps_what_it_wrote_into_its_folder(home: Home) -> None:
    source = home.plugin("ash", "demo-colors", files={"old.py": "", "shipped.txt": "one\n"})
    home.install(source)
    folder = home.path / "plugins" / "ash"
    (folder / "mine.json").write_text('{"years": 12}')
    (folder / "old.py").unlink()
    shutil.rmtree(source)
    write_plugin(source, "demo-colors", version="2.0.0", files={"shipped.txt": "two\n"})
    answer = home.install(source, "--force")
    assert (answer.gist, answer.warnings) == ("0 admitted", [])
    assert snapshot(folder, ["mine.json"]) == snapshot(source)
    assert (folder / "mine.json").read_text() == '{"years": 12}'


def test_a_file_of_the_plugins_own_that_a_new_version_brings_too_is_kept_as_a_copy(home: Home) -> None:
    source = home.plugin("ash", "demo-colors")
    home.install(source)
    (home.path / "plugins" / "ash" / "words.txt").write_text("mine\n")
    write_plugin(source, "demo-colors", version="2.0.0", files={"words.txt": "shipped\n"})
    answer = home.install(source, "--force")
    kept = Path(answer.value["warnings"][0]["hint"].split("`")[1])
    assert (answer.gist, answer.warnings, (kept / "words.txt").read_text()) == (
        "0 admitted",
        ["tree-kept"],
        "mine\n",
    )


def test_a_copy_that_somebody_else_put_there_is_kept_when_it_is_replaced(home: Home) -> None:
    folder = write_plugin(home.path / "plugins" / "ash", "demo-colors", files={"mine.py": "years = 12\n"})
    before = snapshot(folder)
    source = home.plugin("ash", "demo-socket")
    answer = home.install(source, "--force")
    kept = Path(answer.value["warnings"][0]["hint"].split("`")[1])
    assert (answer.gist, answer.warnings, snapshot(kept)) == ("0 admitted", ["tree-kept"], before)
    assert snapshot(folder) == snapshot(source)


def test_a_refused_replacement_leaves_the_installed_copy_running(home: Home) -> None:
    source = home.plugin("ash", "demo-colors")
    home.install(source)
    before = home.snapshot(UNTOUCHED_BY_REFUSALS)
    write_plugin(source, "PyYAML<6", version="2.0.0")
    answer = home.install(source, "--force", "--keep")
    assert (answer.gist, home.snapshot(UNTOUCHED_BY_REFUSALS)) == ("1 refused core-conflict", before)


def test_a_replacement_of_a_plugin_that_runs_is_judged_even_if_nobody_says_enable(home: Home) -> None:
    source = home.plugin("ash", "demo-colors")
    home.install(source)
    write_plugin(source, "PyYAML<6", version="2.0.0")
    assert home.ask("plugins", "install", source, "--force", "--no-enable").gist == "1 refused core-conflict"
    write_plugin(source, "demo-socket", version="3.0.0")
    assert home.ask("plugins", "install", source, "--force", "--no-enable").gist == "0 admitted"
    assert (home.admitted, home.pins) == (["ash in default"], {"demo-socket": "3.0"} | CORE)


def test_data_in_the_place_of_a_plugin_is_somebodys_and_stays(home: Home) -> None:
    folder = home.path / "plugins" / "ash"
    (folder / "letters").mkdir(parents=True)
    (folder / "letters" / "one.txt").write_text("dear")
    answer = home.install(home.plugin("ash", "demo-colors"))
    assert (answer.gist, (folder / "letters" / "one.txt").read_text()) == ("0 admitted", "dear")


def test_a_plugin_is_not_put_over_a_category_nor_into_another_plugin_nor_over_a_file(cold: Home) -> None:
    write_plugin(cold.path / "plugins" / "tools" / "hammer")
    write_plugin(cold.path / "plugins" / "ash")
    (cold.path / "plugins" / "birch").write_text("a file")
    before = cold.snapshot(UNTOUCHED_BY_REFUSALS)
    answers = [
        cold.install(cold.plugin("tools")).gist,
        cold.install(cold.plugin("inner", name="ash/inner")).gist,
        cold.install(cold.plugin("birch")).gist,
        cold.ask("plugins", "check", cold.work / "tools").gist,
    ]
    assert answers == ["1 refused name-taken"] * 4
    assert cold.snapshot(UNTOUCHED_BY_REFUSALS).keys() - before.keys() == {"pm"}


def test_a_linked_plugin_folder_is_replaced_and_what_it_leads_to_stays(home: Home) -> None:
    developed = home.plugin("developed", "demo-colors", name="ash")
    (home.path / "plugins").mkdir()
    (home.path / "plugins" / "ash").symlink_to(developed)
    before = snapshot(developed)
    assert home.ask("plugins", "enable", "ash").gist == "0 admitted"
    answer = home.install(home.plugin("ash", "demo-socket"), "--force")
    assert (answer.gist, answer.warnings, snapshot(developed)) == ("0 admitted", ["link-replaced"], before)
    assert not (home.path / "plugins" / "ash").is_symlink()
    assert home.ask("plugins", "remove", "ash").gist == "0 removed"


def test_nothing_of_a_failed_installation_is_kept(tmp_path: Path) -> None:
    home = new_home(tmp_path / "home")
    answer = home.install(home.plugin("ash", "demo-colors"))
    assert (answer.gist, sorted(home.snapshot(UNTOUCHED_BY_REFUSALS))) == (
        "1 refused not-found-on-index not-found-on-index",
        ["config.yaml", "pm"],
    )
