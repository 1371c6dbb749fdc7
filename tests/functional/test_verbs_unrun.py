"""Nothing of a plugin is run before it is admitted and started: files that would leave a mark leave none."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from fixtures.homes import PLUGINS, Home, new_home
from fixtures.wheels import DEFAULT_RECIPE, Distribution, build_recipe, read_recipe

SOURCE = PLUGINS / "marker-files"


@pytest.fixture
def marks(tmp_path: Path) -> Path:
    """Return the folder in which each file of the plugin leaves its mark when it is run."""
    folder = tmp_path / "marks"
    folder.mkdir()
    return folder


def _marked(home: Home, marks: Path) -> list[str]:
    """Return the marks, wherever they were left."""
    return sorted({path.name for folder in (marks, home.work.parent) for path in folder.rglob("ran-*")})


def test_a_plugin_that_is_installed_checked_listed_shown_validated_and_removed_leaves_no_mark(
    home: Home, marks: Path
) -> None:
    environ = {"MARKER_FOLDER": str(marks)}
    source = shutil.copytree(SOURCE, home.work / "marker-files")
    answers = [
        home.ask("plugins", "check", source, **environ).gist,
        home.ask("plugins", "validate", source, **environ).gist,
        home.install(source, **environ).gist,
        home.ask("plugins", "check", "marker-files", **environ).gist,
        home.ask("plugins", "disable", "marker-files", **environ).gist,
        home.ask("plugins", "enable", "marker-files", **environ).gist,
        home.install(source, "--force", **environ).gist,
    ]
    listed = home.say("plugins", "list", **environ), home.say("plugins", "show", "marker-files", **environ)
    answers.append(home.ask("plugins", "remove", "marker-files", **environ).gist)
    assert answers == [
        "0 admitted",
        "0 ready",
        "0 admitted",
        "0 ready",
        "0 disabled",
        "0 admitted",
        "0 admitted",
        "0 removed",
    ]
    assert [answer.status for answer in listed] == [0, 0]
    assert _marked(home, marks) == []


def test_a_plugin_that_is_refused_and_kept_leaves_no_mark(home: Home, marks: Path) -> None:
    environ = {"MARKER_FOLDER": str(marks)}
    source = shutil.copytree(SOURCE, home.work / "marker-files")
    project = (source / "pyproject.toml").read_text().replace('"demo-colors"', '"demo-colors", "PyYAML<6"')
    (source / "pyproject.toml").write_text(project)
    answers = [
        home.install(source, **environ).gist,
        home.install(source, "--keep", **environ).gist,
        home.ask("plugins", "enable", "marker-files", **environ).gist,
    ]
    assert answers == ["1 refused core-conflict"] * 3
    assert _marked(home, marks) == []


def test_a_plugin_in_an_archive_leaves_no_mark(home: Home, marks: Path) -> None:
    archive = home.work / "marker-files.zip"
    with zipfile.ZipFile(archive, "w") as target:
        for path in SOURCE.rglob("*.*"):
            target.write(path, path.relative_to(SOURCE.parent))
    assert home.install(archive, MARKER_FOLDER=str(marks)).gist == "0 admitted"
    assert _marked(home, marks) == []


def test_the_files_that_would_leave_a_mark_do_so_when_they_are_run(home: Home, marks: Path) -> None:
    """Else the other tests would show nothing."""
    source = shutil.copytree(SOURCE, home.work / "marker-files")
    code = "import runpy, sys; [runpy.run_path(path) for path in sys.argv[1:]]"
    files = [str(path) for path in sorted(source.rglob("*.py"))]
    subprocess.run([sys.executable, "-c", code, *files], env={"MARKER_FOLDER": str(marks)}, check=True, cwd=marks)
    assert len(list(marks.glob("ran-*"))) == len(files)


def test_a_path_file_among_the_distributions_is_not_run_by_preparing_generations(tmp_path: Path, marks: Path) -> None:
    wheels = tmp_path / "wheels"
    line = f"import pathlib; pathlib.Path({str(marks / 'ran-pth')!r}).touch()\n"
    sneaky = Distribution("sneaky", "1.0", files={"sneaky.pth": line, "sneaky.py": ""})
    build_recipe(wheels, [*read_recipe(DEFAULT_RECIPE), sneaky])
    home = new_home(tmp_path / "home", wheels=wheels)
    answers = [
        home.install(home.plugin("ash", "sneaky")).gist,
        home.install(home.plugin("birch", "sneaky", "demo-colors")).gist,
        home.ask("plugins", "check").gist,
        home.ask("plugins", "remove", "birch").gist,
        home.ask("plugins", "disable", "ash").gist,
    ]
    assert answers == ["0 admitted", "0 admitted", "0 ready", "0 removed", "0 disabled"]
    assert _marked(home, marks) == []
    subprocess.run([home.generation / "bin" / "python", "-c", ""], check=True)
    assert _marked(home, marks) == ["ran-pth"]
