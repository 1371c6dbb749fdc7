"""What is damaged heals: by itself, or by the one step that every verb names."""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fixtures.homes import Home, new_home
from fixtures.server import IndexServer
from fixtures.wheels import DEFAULT_RECIPE, Distribution, read_recipe

# --- uv's cache -------------------------------------------------------------------------------------------------------


def cut(info: Path) -> None:
    (info / "METADATA").write_bytes(b"")


def cut_module(info: Path) -> None:
    (info.parent / "demo_transport.py").write_bytes(b"")


def edit(info: Path) -> None:
    module = info.parent / "demo_transport.py"
    module.write_bytes(b"#" + module.read_bytes()[1:])


def fill_with_zeros(info: Path) -> None:
    for file in (path for path in info.parent.rglob("*") if path.is_file()):
        file.write_bytes(bytes(file.stat().st_size))


def cut_record(info: Path) -> None:
    (info / "RECORD").write_bytes(b"")


def delete_record(info: Path) -> None:
    (info / "RECORD").unlink()


def delete_module(info: Path) -> None:
    (info.parent / "demo_transport.py").unlink()


def delete_metadata(info: Path) -> None:
    shutil.rmtree(info)


def delete_everything(info: Path) -> None:
    shutil.rmtree(info.parent)


def put_a_folder_in_the_place_of_a_file(info: Path) -> None:
    delete_module(info)
    (info.parent / "demo_transport.py").mkdir()


DAMAGES_OF_AN_ENTRY = [
    cut,
    cut_module,
    edit,
    fill_with_zeros,
    cut_record,
    delete_record,
    delete_module,
    delete_metadata,
    delete_everything,
    put_a_folder_in_the_place_of_a_file,
]


def entries(home: Home, name: str) -> Iterator[Path]:
    return home.state.glob(f"cache/uv/archive-v*/*/{name}-*.dist-info")


@pytest.mark.parametrize("damage", DAMAGES_OF_AN_ENTRY)
def test_a_damaged_entry_of_the_cache_is_dropped_and_fetched_once_more(
    served: Home, damage: Callable[[Path], None]
) -> None:
    """Case cache-damaged-01, row B1."""
    served.install(served.plugin("ash", "demo-colors"))
    served.install(served.plugin("birch", "demo-transport"))
    served.ask("plugins", "remove", "birch")
    (entry,) = entries(served, "demo_transport")
    damage(entry)
    answer = served.install(served.plugin("cedar", "demo-transport"))
    assert (answer.gist, served.ask("pm", "verify").gist) == ("0 admitted", "0 verified")
    assert served.say("run", "--", "python", "-c", "import demo_transport, demo_colors").status == 0


@pytest.mark.parametrize("damage", [cut, edit, delete_metadata])
def test_offline_a_damaged_entry_is_told_as_one_that_is_not_there(served: Home, damage: Callable[[Path], None]) -> None:
    served.install(served.plugin("ash", "demo-colors"))
    served.install(served.plugin("birch", "demo-transport"))
    served.ask("plugins", "remove", "birch")
    shutil.rmtree(served.state / "generations" / "2")
    (entry,) = entries(served, "demo_transport")
    damage(entry)
    cedar = served.plugin("cedar", "demo-transport")
    assert served.install(cedar, "--offline").gist == "3 failed offline"
    assert (served.install(cedar).gist, served.ask("pm", "verify").gist) == ("0 admitted", "0 verified")


def test_a_module_that_was_edited_in_an_environment_is_not_installed_again(home: Home) -> None:
    """Row B1: the file of the environment is the file in the cache; a wheel of a folder is unpacked once more."""
    home.install(home.plugin("ash", "demo-colors"))
    home.install(home.plugin("birch", "demo-transport"))
    module = next(home.generation.glob("lib/*/site-packages/demo_transport.py"))
    before = module.read_bytes()
    module.write_bytes(before + b"edited = True\n")
    assert home.ask("plugins", "remove", "birch").gist == "0 removed"
    assert home.install(home.work / "birch").gist == "0 admitted"
    assert next(home.generation.glob("lib/*/site-packages/demo_transport.py")).read_bytes() == before
    assert home.ask("pm", "verify").gist == "0 verified"


# --- the selected environment -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("damage", [cut_module, edit, cut_record, delete_record, delete_module, delete_metadata])
def test_an_environment_that_is_not_whole_is_not_taken_over_by_a_further_generation(
    home: Home, damage: Callable[[Path], None]
) -> None:
    """Row B3."""
    home.install(home.plugin("ash", "demo-transport"))
    before = home.generation
    (before / "lib" / "python3.11" / "site-packages").chmod(0o755)
    damage(next(before.glob("lib/*/site-packages/demo_transport-*.dist-info")))
    assert home.install(home.plugin("birch", "demo-transport")).gist == "0 admitted"
    assert (home.generation != before, home.ask("pm", "verify").gist) == (True, "0 verified")


def test_an_environment_that_is_whole_is_taken_over(home: Home) -> None:
    home.install(home.plugin("ash", "demo-transport"))
    before = home.generation
    assert home.install(home.plugin("birch", "demo-transport")).gist == "0 admitted"
    assert (home.generation, home.ask("pm", "verify").gist) == (before, "0 verified")


# --- what was built here ----------------------------------------------------------------------------------------------

RAW = Distribution("rawhide", "1.0", tags=(), sdist=True)


@pytest.mark.parametrize("is_published", [True, False], ids=["a wheel comes", "its source stays"])
def test_what_was_built_here_is_kept_and_nothing_is_accused(tmp_path: Path, *, is_published: bool) -> None:
    """Row B7: with a cold cache a published wheel, or another build, would be another file of the same version."""
    with IndexServer(tmp_path / "files", [*read_recipe(DEFAULT_RECIPE), RAW]) as server:
        home = new_home(tmp_path / "home", indexes=[server.url])
        assert home.install(home.plugin("ash", "rawhide"), "--allow-build", "rawhide").gist == "0 admitted"
        built = locked(home, "rawhide")
        if is_published:
            server.withdraw("rawhide")
            server.offer(RAW._replace(tags=("py3-none-any",), files={"rawhide.py": "published = True\n"}))
        shutil.rmtree(home.state / "cache")
        answer = home.install(home.plugin("birch", "demo-colors"))
        assert (answer.gist, answer.warnings, locked(home, "rawhide")) == ("0 admitted", [], built)
        assert answer.changes == ["+demo-colors 2.0"]
        assert home.ask("pm", "verify").gist == "0 verified"
        shutil.rmtree(home.state / "wheels")
        shutil.rmtree(home.state / "cache")
        again = home.install(home.plugin("cedar", "demo-transport"))
        assert (again.gist, "file-replaced" in again.warnings) == ("0 admitted", False)


def locked(home: Home, name: str) -> str:
    """Return the digest of the wheel that the selected generation's lock names for a package."""
    lock = tomllib.loads((home.generation / "pylock.toml").read_text())
    (package,) = (row for row in lock["packages"] if row["name"] == name)
    return str(
        package["wheels"][0]["hashes"]["sha256"] if "wheels" in package else package["archive"]["hashes"]["sha256"]
    )
