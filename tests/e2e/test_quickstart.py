"""The tour shows an admission, a refusal and the status, changes no file of the checkout, and says when it is wrong."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from fixtures.homes import ROOT

COMMANDS = [
    "hermes-pm link --bin PROGRAMS",
    "export HERMES_HOME=HOME",
    'cat "$HERMES_HOME/config.yaml"',
    "hermes pm init",
    "hermes plugins install fixtures/plugins/admitted-simple --enable",
    "hermes run -- python -c 'import demo_colors; print(demo_colors.__version__)'",
    "hermes plugins install fixtures/plugins/conflicts-with-core --enable",
    "hermes pm status",
]
HEADLINES = [
    "✓ Hermes is set up",
    "✓ `admitted-simple` is installed",
    "✗ `conflicts-with-core` was not installed: it needs a version of `pyyaml` that Hermes itself does",
]


def take(tour: list[Path | str], folder: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    """Take the tour with a folder of its own for what is temporary."""
    folder.mkdir(exist_ok=True)
    known = {name: value for name, value in os.environ.items() if not name.startswith("HERMES_")}
    surroundings = known | {"TMPDIR": str(folder), "PYTHONIOENCODING": "utf-8"} | environ
    return subprocess.run(tour, env=surroundings, capture_output=True, text=True, encoding="utf-8", check=False)


def commands(output: str) -> list[str]:
    """Return the commands that the tour has shown."""
    typed = re.findall(r"^\$ (.*)$", output, re.MULTILINE)
    told = (re.sub(r"^.*/hermes-pm link --bin .*/programs'?$", "hermes-pm link --bin PROGRAMS", line) for line in typed)
    return [re.sub(r"=.*/home'?$", "=HOME", line) for line in told]


def headlines(output: str) -> list[str]:
    return [line for line in output.splitlines() if line.startswith(("✓", "✗"))]


@pytest.fixture
def checkout(tmp_path: Path, require_tool: Callable[[str], Path]) -> Path:
    """Return a fresh clone of this checkout as it is now."""
    git = require_tool("git")
    clone = tmp_path / "clone"
    listed = subprocess.run(
        [git, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if listed.returncode:
        pytest.skip("this is no checkout of git")
    for name in filter(None, listed.stdout.decode().split("\0")):
        source, target = ROOT / name, clone / name
        if source.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target, follow_symlinks=False)
    for words in (["init", "--quiet"], ["add", "--all"]):
        subprocess.run([git, *words], cwd=clone, check=True)
    return clone


def changed(checkout: Path) -> str:
    """Return the files that git would call changed or new."""
    return (
        subprocess.run(["git", "diff", "--stat"], cwd=checkout, capture_output=True, text=True, check=True).stdout
        + subprocess.run(
            ["git", "ls-files", "--others", "--exclude-standard"],
            cwd=checkout,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    )


def test_the_tour_shows_what_it_tells_and_changes_no_file_of_the_checkout(checkout: Path, tmp_path: Path) -> None:
    tour = take([sys.executable, checkout / "scripts" / "quickstart.py"], tmp_path / "temporary")
    assert (tour.returncode, tour.stderr) == (0, "")
    assert (commands(tour.stdout), headlines(tour.stdout)) == (COMMANDS, HEADLINES)
    assert changed(checkout) == ""
    [home] = (tmp_path / "temporary").glob("hermes-pm-tour-*/home")
    status = json.loads((home / "pm" / "pointer.json").read_text())
    assert (status["generation"], [member["key"] for member in status["admitted"]]) == (2, ["admitted-simple"])


def test_a_second_tour_begins_anew_whatever_the_operator_has_set(tmp_path: Path) -> None:
    tour: list[Path | str] = [sys.executable, ROOT / "scripts" / "quickstart.py", tmp_path / "it's a tour"]
    first = take(tour, tmp_path)
    second = take(tour, tmp_path, HERMES_HOME=str(tmp_path / "own"), HERMES_MANAGED="nix", PIP_NO_INDEX="1")
    assert (first.returncode, commands(first.stdout), headlines(first.stdout)) == (0, COMMANDS, HEADLINES)
    assert (second.returncode, commands(second.stdout), headlines(second.stdout)) == (0, COMMANDS, HEADLINES)
    assert not (tmp_path / "own").exists()


def test_a_folder_that_no_tour_has_made_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "letter").write_text("dear")
    tour = take([sys.executable, ROOT / "scripts" / "quickstart.py", tmp_path / "precious"], tmp_path / "temporary")
    folder = tmp_path / "precious"
    assert (tour.returncode, tour.stdout, tour.stderr) == (
        3,
        "",
        (
            f"\nthe tour ends here: `{folder}` is in the way and was not made by an earlier tour; "
            "name another folder as argument\n"
        ),
    )
    assert [path.name for path in folder.iterdir()] == ["letter"]


def test_a_tour_that_finds_something_else_than_it_tells_ends_there(checkout: Path, tmp_path: Path) -> None:
    manifest = checkout / "fixtures" / "plugins" / "admitted-simple" / "plugin.yaml"
    manifest.write_text(manifest.read_text().replace("demo-colors>=1,<2", "demo-colors>=7"))
    tour = take([sys.executable, checkout / "scripts" / "quickstart.py"], tmp_path / "temporary")
    assert (tour.returncode, commands(tour.stdout)) == (3, COMMANDS[:5])
    assert tour.stderr == (
        "\nthe tour ends here: `hermes plugins install fixtures/plugins/admitted-simple --enable` ended with status 1, "
        "and 0 was expected\n"
    )


@pytest.mark.slow
@pytest.mark.real_index
def test_from_nothing_the_two_times_that_the_readme_promises_are_kept(checkout: Path, tmp_path: Path) -> None:
    times = []
    for _ in range(2):
        started = time.monotonic()
        tour = take([checkout / "scripts" / "quickstart"], tmp_path / "temporary")
        times.append(time.monotonic() - started)
        assert (tour.returncode, headlines(tour.stdout)) == (0, HEADLINES), tour.stderr
    assert (times[0] < 60, times[1] < 10) == (True, True), times
    assert changed(checkout) == ""
