"""The surroundings of a command: what they say is meant for others, or missing, and the manager works all the same."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from fixtures.homes import HERMES, Answer, Home, new_home

LOOKING = (("plugins", "list"), ("pm", "status"), ("plugins", "check"), ("pm", "receipts"))


def foreign_modules(folder: Path) -> Path:
    """Return a folder with packages of the manager's and of its libraries' names, none of which can be imported."""
    for name in ("pm", "packaging", "yaml", "resolvelib", "urllib3", "filelock", "uv", "admission", "sitecustomize"):
        (folder / name).mkdir(parents=True)
        (folder / name / "__init__.py").write_text(f"raise ImportError('the wrong {name} is imported')\n")
    (folder / "re.py").write_text("raise ImportError('the wrong re is imported')\n")
    return folder


def started(
    home: Home, *words: str | Path, without: Collection[str] = (), under: Sequence[str] = (), **environ: str
) -> Answer:
    """Run a command that starts as a user's does, without some of its variables."""
    variables = {name: value for name, value in (home.environ | environ).items() if name not in without}
    command = [*under, HERMES, *words]
    done = subprocess.run(command, env=variables, cwd=home.work, capture_output=True, timeout=120, check=False)
    return Answer(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))


def worked(answer: Answer) -> bool:
    """Say whether a command did what it was asked, and nothing was imported that it does not bring."""
    assert "Traceback" not in answer.stderr, answer.stderr
    assert "wrong" not in answer.stderr, answer.stderr
    return answer.status == 0


# --- variables of Python ----------------------------------------------------------------------------------------------


def test_no_variable_of_python_reaches_the_imports_of_the_manager(home: Home, tmp_path: Path) -> None:
    """Case env-leak-into-manager-01; other variables stop Python before its first line."""
    modules = str(foreign_modules(tmp_path / "modules"))
    variables = {
        "PYTHONPATH": modules,
        "PYTHONHOME": "/nonexistent",
        "PYTHONPLATLIBDIR": "nowhere",
        "PYTHONEXECUTABLE": "/bin/false",
        "__PYVENV_LAUNCHER__": "/bin/false",
    }
    plugin = home.plugin("ash", "demo-colors")
    assert worked(started(home, "plugins", "check", plugin, **variables))
    assert worked(started(home, "plugins", "install", plugin, "--enable", **variables))
    for words in LOOKING:
        assert worked(started(home, *words, **variables))
    ran = started(home, "run", "--", "python", "-c", "import demo_colors, sys; print(sys.prefix)", **variables)
    assert (ran.status, ran.stdout, ran.stderr) == (0, f"{home.generation}\n", "")


def test_packages_that_a_user_has_installed_for_every_python_do_not_reach_it(home: Home) -> None:
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    foreign_modules(home.user / ".local" / "lib" / version / "site-packages")
    assert worked(started(home, "pm", "init"))
    assert worked(started(home, "plugins", "check"))


def test_the_command_is_found_through_links_and_by_its_name_alone(home: Home, tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "hermes").symlink_to(HERMES)
    (tmp_path / "near").symlink_to("far/hermes")
    environ = home.environ | {"PATH": f"{tmp_path / 'far'}:{os.environ['PATH']}"}
    for command in ([tmp_path / "near"], ["hermes"], ["sh", HERMES]):
        words = [*command, "--version"]
        done = subprocess.run(words, env=environ, cwd=home.work, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, "hermes-pm 0.1.0\n", "")


# --- home -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def nobody(require_tool: Callable[[str], Path]) -> tuple[str, ...]:
    """Return what runs a program as a user without an entry in the system."""
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    # the checkout and the folders of the tests may belong to root alone
    powers = "+dac_override,+dac_read_search,+chown,+fowner"
    user = ("--reuid", "12345", "--regid", "12345", "--clear-groups")
    return (str(require_tool("setpriv")), *user, "--inh-caps", powers, "--ambient-caps", powers)


def test_without_a_home_the_command_says_how_to_name_one(home: Home, nobody: tuple[str, ...]) -> None:
    """Case uid-without-passwd-01."""
    answer = started(home, "pm", "status", "--json", without=("HOME", "HERMES_HOME"), under=nobody)
    error = answer.value["error"]
    assert (answer.status, error["code"], error["message"], error["hint"]) == (
        3,
        "no-home",
        "`~/.hermes` is not known: this user has no entry in the system and `HOME` is not set",
        "name the folder itself, for the home with `--home` or `HERMES_HOME`",
    )
    other = started(home, "plugins", "check", "--home", "~nouser/x", "--json")
    assert other.value["error"]["message"] == "`~nouser/x` is not known: there is no user `nouser`"


def test_a_named_home_is_enough(nobody: tuple[str, ...], wheels: Path) -> None:
    # pytest's folders can be entered by root alone, and the system is asked whether files can be written
    with TemporaryDirectory(prefix="hermes-of-no-user-") as folder:
        home = new_home(Path(folder, "home"), wheels=shutil.copytree(wheels, Path(folder, "wheels")), cold=True)
        plugin = home.plugin("ash", "demo-colors")
        subprocess.run(["chown", "-R", "12345:12345", folder], check=True)
        without = ("HOME", "HERMES_HOME")
        answer = started(
            home, "plugins", "install", plugin, "--enable", "--home", home.path, without=without, under=nobody
        )
        assert worked(answer), answer.stdout
        for words in LOOKING:
            assert worked(started(home, *words, "--home", home.path, without=without, under=nobody))


def test_a_home_that_cannot_be_written_is_no_matter_to_uv(cold: Home) -> None:
    """What comes from nowhere but uv's own configuration is asked for with the manager's cache."""
    cold.config.unlink()
    index = {"UV_INDEX_URL": "http://127.0.0.1:9/simple"}
    words = ("plugins", "check", cold.plugin("ash", "demo-colors"), "--offline", "--json")
    answer = started(cold, *words, HOME="/proc", **index)
    assert ("config-unreadable" in answer.stdout, "Traceback" in answer.stderr) == (False, False)
    assert (cold.state / "cache" / "uv").is_dir()


# --- locale -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "variables",
    [
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"LC_ALL": "POSIX", "LANG": "C"},
        {"LC_ALL": "ru_RU.KOI8-R", "PYTHONUTF8": "0"},
    ],
    ids=["ascii", "posix", "not installed"],
)
def test_names_of_other_scripts_work_in_every_locale(home: Home, wheels: Path, variables: dict[str, str]) -> None:
    folder = shutil.copytree(wheels, home.work / "колёса")
    home.config.write_text(f"pm:\n  indexes: []\n  find_links: [{folder}]\n", encoding="utf-8")
    plugin = home.plugin("плагин", "demo-colors", name="ash", description="плагин")
    assert worked(started(home, "plugins", "install", plugin, "--enable", **variables))
    for words in LOOKING:
        assert worked(started(home, *words, **variables))


def test_what_is_said_is_said_in_the_encoding_of_the_locale(
    home: Home, tmp_path: Path, require_tool: Callable[[str], Path]
) -> None:
    made = tmp_path / "locales" / "de_DE.ISO-8859-1"
    made.parent.mkdir()
    command: list[str | Path] = [require_tool("localedef"), "--no-archive", "-i", "de_DE", "-f", "ISO-8859-1", made]
    if subprocess.run(command, capture_output=True, check=False).returncode > 1 or not made.is_dir():
        pytest.skip("the sources of locales are not installed")
    variables = {"LOCPATH": str(made.parent), "LC_ALL": made.name}
    asked = [str(HERMES), "plugins", "check", str(home.work / "größe")]
    done = subprocess.run(asked, env=home.environ | variables, capture_output=True, check=False)
    assert "größe".encode("latin-1") in done.stdout + done.stderr


# --- mask -------------------------------------------------------------------------------------------------------------


def test_nothing_of_the_state_can_be_written_by_others_whatever_the_mask(home: Home) -> None:
    """What is handed to a started program is the mask of the caller."""
    plugin = home.plugin("ash", "demo-colors")
    install = f"umask 000 && exec {HERMES} plugins install {plugin} --enable"
    subprocess.run(["sh", "-c", install], env=home.environ, cwd=home.work, capture_output=True, check=True)
    paths = [path for path in (*home.state.rglob("*"), home.path / "plugins" / "ash") if not path.is_symlink()]
    writable = [str(path) for path in paths if stat.S_IMODE(path.lstat().st_mode) & 0o022]
    # uv gives everyone the right to lock what it locks, whatever the mask: those files are empty
    writable = [path for path in writable if not (path.endswith(".lock") and "/pm/cache/uv/" in path)]
    assert (writable, len(paths) > 50) == ([], True)
    ran = f"umask 027 && exec {HERMES} run -- python -c 'import os; print(oct(os.umask(0)))'"
    done = subprocess.run(
        ["sh", "-c", ran], env=home.environ, cwd=home.work, capture_output=True, check=True, text=True
    )
    assert done.stdout == "0o27\n"
