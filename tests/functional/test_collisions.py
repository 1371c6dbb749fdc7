"""Packages that write one path: refused, unless an author or the operator means it so; then one of them always wins."""

from __future__ import annotations

from pathlib import Path

import pytest

from fixtures.homes import Home, new_home
from fixtures.wheels import DEFAULT_RECIPE, Distribution, build_recipe, build_wheels, read_recipe, repack


def writing(name: str, text: str) -> Distribution:
    """Return a distribution that writes one path as others do, and one of its own."""
    return Distribution(name, "1.0", files={"shared/engine.py": f"whose = '{text}'\n", f"{name}.py": ""})


ONE, TWO, THREE = writing("aone", "the first"), writing("btwo", "another"), writing("cthree", "the last!")
"""The first and the last are of one size, so that no size tells them apart."""
BOTH = Distribution("zboth", "1.0", requires=["aone", "cthree"])
PART = Distribution("zpart", "1.0", requires=["aone"])


@pytest.fixture
def home(tmp_path: Path) -> Home:
    build_recipe(tmp_path / "wheels", [*read_recipe(DEFAULT_RECIPE), ONE, TWO, THREE, BOTH, PART, RAW])
    return new_home(tmp_path / "home", wheels=tmp_path / "wheels")


RAW = Distribution("raw", "1.0", tags=(), sdist=True)


def engine(home: Home) -> str:
    """Return what lies at the path that several write."""
    return next(home.generation.glob("lib/python3.*/site-packages/shared/engine.py")).read_text()


MESSAGE = "`aone` and `cthree` write `shared/engine.py` with different content"
TOLD = f"{MESSAGE}; that of `cthree`, the last by name, will be there"


def test_what_one_distribution_itself_requires_together_is_told_and_the_last_by_name_wins(home: Home) -> None:
    plugin = home.plugin("ash", "zboth")
    checked, installed = home.ask("plugins", "check", plugin), home.install(plugin)
    assert (checked.gist, installed.gist) == ("0 admitted", "0 admitted")
    told = [[warning["message"] for warning in answer.value["warnings"]] for answer in (checked, installed)]
    assert told == [[TOLD], [TOLD]]
    assert engine(home) == "whose = 'the last!'\n"
    assert home.ask("pm", "verify").gist == "0 verified"
    assert home.ask("plugins", "check").gist == "0 ready"


def test_the_file_of_the_other_one_is_drift_that_repair_mends(home: Home) -> None:
    home.install(home.plugin("ash", "zboth"))
    file = next(home.generation.glob("lib/python3.*/site-packages/shared/engine.py"))
    file.parent.chmod(0o755)
    file.unlink()
    file.write_text("whose = 'the first'\n")
    drifted = home.ask("pm", "verify")
    assert drifted.gist == "1 drift drift"
    assert "`shared/engine.py` of `cthree`" in drifted.value["reasons"][0]["message"]
    assert home.ask("pm", "repair").gist == "0 repaired"
    assert (engine(home), home.ask("pm", "verify").gist) == ("whose = 'the last!'\n", "0 verified")


def test_what_only_a_plugin_requires_together_is_refused_and_the_step_that_allows_it_works(home: Home) -> None:
    plugin = home.plugin("ash", "aone", "cthree")
    refused = home.install(plugin)
    assert (refused.gist, refused.value["reasons"][0]["message"]) == ("1 refused file-collision", MESSAGE)
    step = refused.value["steps"][0]
    assert (step["action"], step["subject"], step["confirmed"]) == ("allow-collision", "aone", True)
    assert step["command"] == f"hermes plugins install {plugin} --enable --allow-collision aone"
    admitted = home.install(plugin, "--allow-collision", "aone")
    assert (admitted.gist, admitted.warnings) == ("0 admitted", ["file-collision"])
    assert [f"{row['action']} {row['subject']}" for row in admitted.value["consents"]] == ["allow-collision aone"]
    assert engine(home) == "whose = 'the last!'\n"
    assert home.ask("pm", "verify").gist == "0 verified"


def test_the_consent_stays_for_what_is_installed_later_and_names_only_its_package(home: Home) -> None:
    home.install(home.plugin("ash", "aone", "cthree"), "--allow-collision", "cthree")
    later = home.install(home.plugin("birch", "zpart"))
    assert (later.gist, later.warnings) == ("0 admitted", ["file-collision"])
    other = home.install(home.plugin("cedar", "btwo"))
    assert (other.gist, other.warnings) == ("0 admitted", ["file-collision"])
    home.ask("plugins", "remove", "cedar")
    home.ask("plugins", "remove", "ash")
    assert home.install(home.plugin("dogwood", "btwo")).gist == "1 refused file-collision"


def test_the_setting_allows_it_and_so_does_a_chain_that_comes_apart(home: Home) -> None:
    home.configure("  allow_collision: [AOne]\n")
    plugin = home.plugin("ash", "zpart", "cthree")
    assert (home.ask("plugins", "check", plugin).gist, home.install(plugin).gist) == ("0 admitted", "0 admitted")
    assert engine(home) == "whose = 'the last!'\n"


def test_three_that_write_one_path_have_the_file_of_the_last_by_name(home: Home) -> None:
    admitted = home.install(home.plugin("ash", "cthree", "btwo", "aone"), "--allow-collision", "btwo")
    assert (admitted.gist, engine(home)) == ("0 admitted", "whose = 'the last!'\n")
    assert home.ask("pm", "verify").gist == "0 verified"


def without_digest(record: str) -> str:
    return "".join(f"{line.partition(',')[0]},,\n" if "engine" in line else f"{line}\n" for line in record.splitlines())


@pytest.mark.parametrize("unknown", ["aone", "cthree"])
def test_the_last_by_name_wins_also_where_a_record_gives_no_digest(home: Home, tmp_path: Path, unknown: str) -> None:
    repack(next((tmp_path / "wheels").glob(f"{unknown}-*")), record=without_digest)
    installed = home.install(home.plugin("ash", "zboth"))
    assert (installed.gist, engine(home)) == ("0 admitted", "whose = 'the last!'\n")
    assert home.ask("pm", "verify").gist == "0 verified"


def test_the_last_by_name_has_its_bytecode_there(home: Home, tmp_path: Path) -> None:
    for name in ("dcom", "ecom"):
        files = {"shared/__pycache__/x.pyc": name, f"{name}.py": ""}
        build_wheels(tmp_path / "wheels", Distribution(name, "1.0", files=files))
    installed = home.install(home.plugin("ash", "dcom", "ecom"))
    assert (installed.gist, installed.warnings) == ("0 admitted", [])
    written = next(home.generation.glob("lib/python3.*/site-packages/shared/__pycache__/x.pyc"))
    assert (written.read_text(), home.ask("pm", "verify").gist) == ("ecom", "0 verified")


@pytest.mark.parametrize("where", ["shared", "fone-1.0.data/data/etc/shared"])
def test_a_file_of_one_that_is_a_folder_of_another_is_refused_whatever_is_allowed(tmp_path: Path, where: str) -> None:
    below = where.replace("fone", "ftwo")
    one = Distribution("fone", "1.0", files={where: "", "fone.py": ""})
    two = Distribution("ftwo", "1.0", files={f"{below}/x.txt": "", "ftwo.py": ""})
    both = Distribution("fboth", "1.0", requires=["fone", "ftwo"])
    build_recipe(tmp_path / "wheels", [*read_recipe(DEFAULT_RECIPE), one, two, both])
    home = new_home(tmp_path / "home", wheels=tmp_path / "wheels")
    plugin = home.plugin("ash", "fboth")
    checked = home.ask("plugins", "check", plugin)
    installed = home.install(plugin, "--allow-collision", "fone")
    assert (checked.gist, installed.gist) == ("1 refused file-collision", "1 refused file-collision")
    assert [step["action"] for step in installed.value["steps"]] == ["retry"]


def test_a_collision_is_told_before_a_consent_is_asked_for(home: Home) -> None:
    plugin = home.plugin("ash", "raw", "aone", "cthree")
    checked, installed = home.ask("plugins", "check", plugin), home.install(plugin)
    assert checked.gist == installed.gist == "1 refused file-collision build-needs-consent"
    assert checked.value["reasons"][0]["message"] == MESSAGE
    replayed = home.ask("plugins", "check", "--replay", installed.value["id"])
    assert (replayed.gist, replayed.warnings) == ("1 refused build-needs-consent", [])
    allowed = home.ask("plugins", "check", plugin, "--allow-collision", "aone")
    assert allowed.gist == "1 refused build-needs-consent"
    assert home.install(plugin, "--allow-collision", "aone", "--allow-build", "raw").gist == "0 admitted"
