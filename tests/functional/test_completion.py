"""Shells complete the words of the command by the scripts that it prints."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fixtures.homes import Home

ASK_BASH = """
source {script}
COMP_WORDS=({words}) COMP_CWORD={at}
function=$(complete -p hermes-pm | sed 's/.*-F \\([^ ]*\\).*/\\1/')
$function hermes-pm "${{COMP_WORDS[{at}]}}" "${{COMP_WORDS[{at}-1]}}"
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def bash(home: Home, *words: str) -> set[str]:
    """Return what bash would complete the last of some words to."""
    script = home.work / "completion"
    script.write_text(home.say("pm", "completion", "bash", "--program", "hermes-pm").stdout)
    quoted = " ".join(f"'{word}'" for word in words)
    program = ASK_BASH.format(script=script, words=quoted, at=len(words) - 1)
    done = subprocess.run(
        ["bash", "--norc", "-c", program], capture_output=True, text=True, check=True, cwd=home.work, env=home.environ
    )
    return set(done.stdout.split())


def test_bash_completes_verbs_options_and_files(home: Home) -> None:
    (home.work / "wheels-here").mkdir()
    assert bash(home, "hermes-pm", "pl") == {"plugins"}
    assert bash(home, "hermes-pm", "plugins", "in") == {"install"}
    assert bash(home, "hermes-pm", "pm", "re") == {"repair", "receipts"}
    assert bash(home, "hermes-pm", "plugins", "install", "--en") == {"--enable"}
    assert bash(home, "hermes-pm", "pm", "completion", "") >= {"bash", "zsh", "fish"}
    assert bash(home, "hermes-pm", "plugins", "install", "wheels-") == {"wheels-here"}


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_read_their_script(home: Home, tmp_path: Path, shell: str) -> None:
    said = home.say("pm", "completion", shell, "--program", "hermes-pm")
    assert (said.status, said.stderr, "hermes-pm" in said.stdout, "outdated" in said.stdout) == (0, "", True, True)
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed, so the script is only compared")
    script = tmp_path / "completion"
    script.write_text(said.stdout)
    assert subprocess.run([shell, "-n", script], capture_output=True, check=False).returncode == 0


def test_another_program_is_named(home: Home) -> None:
    assert "hermes-plugin-manager" in home.say("pm", "completion", "bash", "--program", "hermes-plugin-manager").stdout


def test_the_manager_s_own_name_has_it_at_the_top_and_a_host_s_is_the_host_s(home: Home) -> None:
    without_door = {name: value for name, value in home.environ.items() if name != "HERMES_PM_FRONT_DOOR"}
    own = subprocess.run(
        [Path(sys.executable).with_name("hermes-pm"), "completion", "bash"],
        capture_output=True,
        text=True,
        check=True,
        env=without_door,
    )
    assert "complete -o bashdefault -F _shtab_hermes_pm hermes-pm" in own.stdout
    assert home.say("completion", "bash").status == 1
