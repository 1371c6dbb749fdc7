"""`hermes plugins check --replay` repeats what a receipt tells of on another machine, without an index."""

import json
import shutil
from pathlib import Path

import pytest

from fixtures.homes import PLUGINS, Answer, Home, new_home
from fixtures.wheels import DEFAULT_RECIPE, Distribution, build_recipe, read_recipe
from pm.receipts.store import facts_digest

RIVALS = [
    Distribution(
        "vision",
        "1.0",
        files={"vis/__init__.py": "full = True\n", "vis/a.py": "a = 1\n", "vis/same.py": "", "see.py": ""},
    ),
    Distribution("vision-headless", "1.0", files={"vis/__init__.py": "", "vis/a.py": "a = 2\n", "vis/same.py": ""}),
    Distribution("spectacles", "1.0", files={"vis/a.py/glass.txt": "", "argparse.py": ""}),
    Distribution("hiding", "1.0", files={"hermes_constants/__init__.py": "", "argparse/__init__.py": ""}),
]


@pytest.fixture
def rival(tmp_path: Path) -> Home:
    """Return a home for which there are distributions that cannot lie in one environment."""
    build_recipe(tmp_path / "wheels", [*read_recipe(DEFAULT_RECIPE), *RIVALS])
    return new_home(tmp_path / "home", wheels=tmp_path / "wheels")


def stored(home: Home, answer: Answer) -> Path:
    """Return the stored receipt of an answer."""
    [path] = (path for path in home.state.glob("receipts/*.json") if path.name.endswith(f"-{answer.value['id']}.json"))
    return path


def carried(home: Home, answer: Answer, folder: Path) -> Path:
    """Return the receipt of an answer, with its facts, in a folder of another machine."""
    path, facts = stored(home, answer), home.state / "receipts" / answer.value["facts"]["name"]
    folder.mkdir(exist_ok=True)
    for file in (path, facts):
        shutil.copy(file, folder)
    return folder / path.name


def replayed(receipt: Path) -> Answer:
    """Repeat a receipt where nothing is installed and nothing can be fetched."""
    nowhere = new_home(receipt.parent / "home")
    return nowhere.ask("plugins", "check", "--replay", receipt)


def test_a_conflict_is_refused_again_to_the_last_word(home: Home, tmp_path: Path) -> None:
    refused = home.install(PLUGINS / "conflicts-with-core")
    again = replayed(carried(home, refused, tmp_path / "there"))
    assert (again.gist, again.value["reasons"], again.warnings) == (refused.gist, refused.value["reasons"], [])
    [step] = again.value["steps"]
    assert (step["action"], step["when"]) == ("retry", "another version of the manager is installed")


def test_an_admission_is_admitted_again(home: Home, tmp_path: Path) -> None:
    admitted = home.install(PLUGINS / "admitted-simple")
    again = replayed(carried(home, admitted, tmp_path / "there"))
    assert (again.gist, again.warnings) == ("0 admitted", [])


@pytest.mark.parametrize(
    ("first", "second", "gist"),
    [
        ("vision", "vision-headless", "1 refused file-collision"),
        ("vision", "spectacles", "1 refused file-collision"),
        ("demo-colors", "hiding", "1 refused module-shadowing"),
        ("vision", "hiding", "1 refused module-shadowing"),
    ],
)
def test_a_refusal_because_of_files_is_repeated_from_what_tells_of_them(
    rival: Home, tmp_path: Path, first: str, second: str, gist: str
) -> None:
    rival.install(rival.plugin("ash", first))
    refused = rival.install(rival.plugin("birch", second))
    again = replayed(carried(rival, refused, tmp_path / "there"))
    assert (refused.gist, again.gist) == (gist, gist)
    assert (again.value["reasons"], again.warnings) == (refused.value["reasons"], [])


def test_only_files_that_tell_of_the_refusal_are_kept(rival: Home) -> None:
    rival.install(rival.plugin("ash", "vision", "demo-colors"))
    refused = rival.install(rival.plugin("birch", "vision-headless"))
    facts = json.loads((rival.state / "receipts" / refused.value["facts"]["name"]).read_text())
    assert {name: list(files) for name, files in facts["files"]["distributions"].items()} == {
        "vision": ["see.py", "vis/__init__.py", "vis/a.py"],
        "vision-headless": ["vis/__init__.py", "vis/a.py"],
    }


def test_what_only_a_build_showed_cannot_be_repeated_and_this_is_said(rival: Home, tmp_path: Path) -> None:
    rival.install(rival.plugin("ash", "vision"))
    refused = rival.install(rival.plugin("birch", "vision-headless"))
    path = carried(rival, refused, tmp_path / "there")
    file = path.with_name(refused.value["facts"]["name"])
    file.write_text(json.dumps({key: value for key, value in json.loads(file.read_text()).items() if key != "files"}))
    receipt = json.loads(path.read_text())
    receipt["facts"]["digest"] = facts_digest(file.read_text())
    path.write_text(json.dumps(receipt))
    again = replayed(path)
    assert (again.gist, again.value["reasons"][0]["message"]) == (
        "3 failed invalid-evidence",
        f"the refusal of `{refused.value['id']}` rests on files that only the build showed, not on facts",
    )
