"""Files that somebody holds open, stands in or cannot delete are in nobody's way, or are told by name."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from fixtures.homes import Home

HOLDS = """
import fcntl, mmap, os, sys
os.chdir(sys.argv[1])
walked = [walk for path in sys.argv[1:] for walk in os.walk(path)]
held = [open(os.path.join(folder, name), "rb") for folder, _, names in walked for name in names]
maps = [mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) for file in held if os.fstat(file.fileno()).st_size]
for file in held:
    fcntl.flock(file, fcntl.LOCK_SH)
print(len(held) > 20, flush=True)
sys.stdin.read()
print(sum(len(file.read()) for file in held) == sum(map(len, maps)), flush=True)
"""


@contextmanager
def held(home: Home, *folders: Path) -> Iterator[subprocess.Popen[str]]:
    """Let a process open, lock and map every file of some folders, and stand in the first."""
    words: list[str | Path] = ["/usr/bin/env", "python3", "-c", HOLDS, *folders]
    with subprocess.Popen(words, env=home.environ, stdin=-1, stdout=-1, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "True\n"
        yield process
        assert process.communicate("", timeout=60)[0] == "True\n"


def test_what_a_process_holds_open_is_replaced_and_collected_and_stays_readable_for_it(home: Home) -> None:
    """Cases windows-file-lock-01 and -03: what is open is no obstacle, since nothing is changed in its place."""
    home.configure("  keep_generations: 1\n")
    ash = home.plugin("ash", "demo-colors")
    home.install(ash)
    with held(home, home.path / "plugins" / "ash", home.generation):
        assert home.install(home.plugin("birch", "demo-transport")).gist == "0 admitted"
        assert home.install(ash, "--force").gist == "0 admitted"
        assert home.ask("plugins", "remove", "ash").gist == "0 removed"
        assert home.ask("pm", "gc").gist == "0 collected"
    assert not (home.path / "plugins" / "ash").exists()
    assert home.ask("plugins", "check").gist == "0 ready"


@pytest.fixture
def immovable(require_tool: Callable[[str], Path]) -> Callable[[Path], AbstractContextManager[None]]:
    """Return a context in which nobody can delete a file."""

    @contextmanager
    def fixed(path: Path) -> Iterator[None]:
        chattr = require_tool("chattr")
        if subprocess.run([chattr, "+i", path], capture_output=True, check=False).returncode:
            pytest.skip("files cannot be made immovable here")
        try:
            yield
        finally:  # it may lie elsewhere by now
            subprocess.run([chattr, "-R", "-i", path.parents[1]], capture_output=True, check=False)

    return fixed


def test_a_file_that_cannot_be_deleted_is_told_and_the_rest_is_collected(
    home: Home, immovable: Callable[[Path], AbstractContextManager[None]]
) -> None:
    home.configure("  keep_generations: 1\n")
    home.install(home.plugin("ash", "demo-colors"))
    home.install(home.plugin("birch", "demo-transport"))
    home.install(home.plugin("cedar", "demo-speedups"))
    with immovable(home.state / "generations" / "1" / "pyvenv.cfg"):
        answer = home.ask("pm", "gc")
        gone, *left = sorted(path.name for path in (home.state / "generations").iterdir())
        file = home.state / "generations" / gone / "pyvenv.cfg"
        message = f"`{file}` cannot be deleted: Operation not permitted"
        assert (answer.gist, answer.value["reasons"][0]["message"]) == ("3 failed not-writable", message)
        assert answer.value["summary"] == "not everything was deleted: a file or folder cannot be written"
        assert (left, home.ask("plugins", "check").gist) == (["3", "3.json"], "0 ready")
        assert home.ask("plugins", "disable", "cedar").gist == "0 disabled"
    assert home.ask("pm", "gc").gist == "0 collected"
    assert sorted(path.name for path in (home.state / "generations").iterdir()) == ["3", "4.json"]
