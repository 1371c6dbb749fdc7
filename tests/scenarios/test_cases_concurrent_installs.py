"""Whoever reads while others install reads what was there, and whoever installs at the same time installs once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from fixtures.faults import leftovers
from fixtures.homes import UNTOUCHED_BY_REFUSALS, Answer, Home, new_home, write_plugin
from fixtures.running import Running
from fixtures.wheels import DEFAULT_RECIPE, Distribution, build_recipe, read_recipe

IMPORT_ANEW = "import kit.late; print(kit.late.VERSION)"
IMPORTED = f"""__import__('subprocess').getoutput(__import__('sys').executable + ' -c "{IMPORT_ANEW}"')"""


def test_a_process_that_imports_while_its_package_moves_never_meets_half_of_one(stocked: Home) -> None:
    """Case concurrent-installs-01: no file of a leased generation changes, in content or in time."""
    stocked.install(stocked.plugin("ash", "kit==1.0"))
    old = stocked.generation
    before = times(old)
    with Running(stocked) as runs:
        said = []
        for version in ("2.0", "3.0", "1.0", "2.0"):
            newer = write_plugin(stocked.work / "newer" / "ash", f"kit=={version}", version=version)
            update = stocked.start("plugins", "install", newer, "--enable", "--force", "--json")
            while update.poll() is None:
                said.append(runs.says(IMPORTED))
            assert update.communicate()[1] == ""
    assert (set(said), times(old)) == ({"1.0"}, before)
    assert stocked.pins["kit"] == "2.0"


def times(folder: Path) -> dict[str, tuple[int, int, int]]:
    """Return for every path below a folder its inode, size and time of change."""
    found = ((path, path.lstat()) for path in sorted(folder.rglob("*")))
    return {str(path): (status.st_ino, status.st_size, status.st_mtime_ns) for path, status in found}


def test_ten_that_ask_for_the_same_at_the_same_time_get_it_and_it_is_built_once(tmp_path: Path) -> None:
    """Case concurrent-installs-03."""
    names = [f"part{number}" for number in range(15)]
    build_recipe(tmp_path / "wheels", [*read_recipe(DEFAULT_RECIPE), *(Distribution(name, "1.0") for name in names)])
    home = new_home(tmp_path / "home", wheels=tmp_path / "wheels")
    write_plugin(home.path / "plugins" / "ash", *names)
    home.configure("plugins:\n  enabled: [ash]\n")
    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(lambda _: home.say("pm", "init", "--json"), range(10)))
    assert Counter(answer.value["outcome"] for answer in answers) == {"admitted": 1, "unchanged": 9}
    assert ({answer.stderr for answer in answers}, {answer.status for answer in answers}) == ({""}, {0})
    assert sorted(path.name for path in (home.state / "generations").iterdir()) == ["1", "1.json"]
    assert (home.ask("pm", "verify").gist, leftovers(home)) == ("0 verified", ())


@pytest.mark.parametrize("error", ["ENOLCK", "ENOSYS"])
def test_where_no_locks_can_be_had_that_is_said_and_nobody_goes_on_without(
    stocked: Home, require_tool: Callable[[str], Path], error: str
) -> None:
    """Case concurrent-installs-05: neither a change nor a start, which needs a lease."""
    stocked.install(stocked.plugin("ash", "kit==1.0"))
    before = stocked.snapshot(UNTOUCHED_BY_REFUSALS)
    words = (
        ("plugins", "install", stocked.plugin("birch", "gear"), "--enable", "--json"),
        ("plugins", "disable", "ash", "--json"),
        ("pm", "gc", "--json"),
        ("run", "--", "python", "-c", "print('started')"),
    )
    under: list[str | Path] = [require_tool("strace"), "-qq", "-o", "/dev/null", "-e", f"inject=flock:error={error}"]
    running = [stocked.start(*each, under=under) for each in words]
    answers = [Answer(process.wait(120), *process.communicate()) for process in running]
    *changes, start = answers
    assert [answer.gist for answer in changes] == ["3 failed not-writable"] * 3
    hints = [answer.value["reasons"][0]["hint"] for answer in changes]
    assert (
        hints
        == ["its file system has no locks, or cannot reach the server that gives them: put the home on one that has"]
        * 3
    )
    assert (start.status, start.stdout) == (3, "")
    assert re.search(r"cannot be locked: (No locks available|Function not implemented)", start.stderr)
    assert stocked.snapshot(UNTOUCHED_BY_REFUSALS) == before
