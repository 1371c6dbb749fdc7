"""A file that is being replaced when the disk is full, or when the process is killed, is the old one or the new one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent

WRITE = """
import sys
from pathlib import Path
from pm.system.files import write_bytes
from pm.errors import PmError
try:
    write_bytes(Path(sys.argv[1]), b"new" * 1000, durable=True)
except PmError as error:
    print(error.code, error.message)
"""


def write_with(inject: str, path: Path, strace: Path) -> subprocess.CompletedProcess[str]:
    """Write a file in a process of its own in which one call to the system goes wrong."""
    return subprocess.run(
        [strace, "-qq", "-o", "/dev/null", "-e", f"inject={inject}", sys.executable, "-c", WRITE, path],
        env={"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("call", ["write", "fsync", "/^rename"])
def test_a_full_disk_leaves_the_old_file(tmp_path: Path, require_tool: Callable[[str], Path], call: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    done = write_with(f"{call}:error=ENOSPC:when=1", path, require_tool("strace"))
    assert (done.stdout, done.stderr, [file.name for file in tmp_path.iterdir()], path.read_bytes()) == (
        f"no-space no space is left for `{path}`\n",
        "",
        ["file"],
        b"old",
    )


@pytest.mark.parametrize(
    ("call", "content"),
    [("write", b"old"), ("fsync", b"old"), ("/^rename", b"old"), ("fsync", b"new" * 1000)],
)
def test_a_kill_leaves_the_old_file_or_the_new_one(
    tmp_path: Path, require_tool: Callable[[str], Path], call: str, content: bytes
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    when = 2 if content != b"old" else 1
    done = write_with(f"{call}:signal=SIGKILL:when={when}", path, require_tool("strace"))
    assert (done.returncode, path.read_bytes()) == (-9, content)
