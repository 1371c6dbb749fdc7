"""uv installs the locks that we write, from folders and from an index, and refuses files other than the locked ones."""

from __future__ import annotations

import hashlib
import os
import sys
import threading
import zipfile
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

import pytest
from uv import find_uv_bin

from lockfiles import Artifact, Edge, Lock, Owner, Pin, environment_marker
from lockfiles.pylock import canonical, dumps, loads
from pm.system.processes import Finished, run, scrubbed_environment

OWNERS = (Owner("core", "hermes-agent"),)


def build_wheel(folder: Path, name: str, version: str, *requires: str) -> Path:
    """Write a wheel with one module that holds its version."""
    folder.mkdir(parents=True, exist_ok=True)
    info = f"{name}-{version}.dist-info"
    needs = "".join(f"Requires-Dist: {requirement}\n" for requirement in requires)
    files = {
        f"{name}.py": f"version = {version!r}\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{path},,\n" for path in (*files, f"{info}/RECORD"))
    wheel = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, text in {**files, f"{info}/RECORD": record}.items():
            archive.writestr(zipfile.ZipInfo(path), text)
    return wheel


def digest_of(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


class Place(NamedTuple):
    """A fresh environment with a cache of its own."""

    python: Path
    cache: Path

    def sync(self, lock_file: Path, *flags: str) -> Finished:
        return self._uv("sync", lock_file, "--preview-features", "pylock", *flags)

    def installed(self) -> str:
        return self._uv("freeze").stdout

    def _uv(self, *arguments: str | Path) -> Finished:
        command: list[str | Path] = [find_uv_bin(), "pip", *arguments]
        command += ["--python", self.python, "--cache-dir", self.cache]
        return run(command, environment=scrubbed_environment(UV_NO_CONFIG="1"))


def make_place(folder: Path) -> Place:
    environment = scrubbed_environment(UV_NO_CONFIG="1")
    made = run(
        [find_uv_bin(), "venv", folder / "venv", "--python", sys.executable, "--offline"], environment=environment
    )
    assert made.status == 0, made.stderr
    return Place(folder / "venv" / "bin" / "python", folder / "cache")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return make_place(tmp_path)


def write(folder: Path, lock: Lock) -> Path:
    """Write a lock as the manager does: read back before it is used."""
    text = dumps(lock)
    assert loads(text) == canonical(lock)
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "pylock.toml"
    file.write_text(text, encoding="utf-8")
    return file


def path_pin(wheel: Path, relative_to: Path, *edges: Edge) -> Pin:
    name, version, *_ = wheel.name.split("-")
    path = Path(os.path.relpath(wheel, relative_to)).as_posix()
    artifact = Artifact(wheel.name, digest_of(wheel), path=path, size=wheel.stat().st_size)
    return Pin(name, version, artifact, owners=OWNERS, edges=edges, extras=("fast",))


@pytest.mark.parametrize(("wheels", "home"), [("wheels", "home"), ("räder und mehr", "große Wohnung ☂")])
def test_uv_installs_wheels_of_a_folder_offline(tmp_path: Path, wheels: str, home: str) -> None:
    first = build_wheel(tmp_path / wheels, "first", "1.0", "second>=2")
    second = build_wheel(tmp_path / wheels, "second", "2.0")
    folder = tmp_path / home
    place = make_place(folder)
    lock = Lock(
        pins=(
            path_pin(first, folder, Edge("second", ">=2", ("fast",)), Edge("gone", extra="http2")),
            path_pin(second, folder),
        ),
        requires_python=">=3.11",
        target="this",
        core="hermes-agent==0.19.0",
        fingerprint="sha256:1",
        exclude_newer="2026-01-01T00:00:00Z",
        environment=f"python_version == '{sys.version_info.major}.{sys.version_info.minor}'",
    )

    done = place.sync(write(folder, lock), "--offline")

    assert (done.status, place.installed()) == (0, "first==1.0\nsecond==2.0\n"), done.stderr
    assert run([place.python, "-c", "import first; print(first.version)"]).stdout == "1.0\n"


@pytest.mark.parametrize(("sha256", "size", "status"), [("0" * 64, None, 1), ("", 1, 2)])
def test_uv_refuses_a_file_that_is_not_the_locked_one(
    tmp_path: Path, place: Place, sha256: str, size: int | None, status: int
) -> None:
    pin = path_pin(build_wheel(tmp_path / "wheels", "first", "1.0"), tmp_path / "home")
    lock = Lock((pin._replace(artifact=pin.artifact._replace(sha256=sha256 or pin.artifact.sha256, size=size)),))

    done = place.sync(write(tmp_path / "home", lock), "--offline")

    assert (done.status, place.installed()) == (status, "")


@pytest.mark.parametrize("lock", [Lock((), requires_python="<3.11"), Lock((), environment="sys_platform == 'beos'")])
def test_uv_refuses_an_interpreter_that_the_lock_is_not_for(tmp_path: Path, place: Place, lock: Lock) -> None:
    done = place.sync(write(tmp_path / "home", lock), "--offline", "--allow-empty-requirements")
    assert done.status == 2


def test_uv_accepts_the_marker_of_its_own_interpreter(tmp_path: Path, place: Place) -> None:
    from packaging.markers import default_environment

    wheel = build_wheel(tmp_path / "wheels", "first", "1.0")
    environment = {key: str(value) for key, value in default_environment().items()}
    lock = Lock((path_pin(wheel, tmp_path / "home"),), environment=environment_marker(environment))
    done = place.sync(write(tmp_path / "home", lock), "--offline")
    assert (done.status, place.installed()) == (0, "first==1.0\n"), done.stderr


# --- from an index ---


class Index(NamedTuple):
    """A folder that is served on the loopback, and what was asked of it."""

    url: str
    folder: Path
    asked: list[str]

    def pin(self, wheel: Path) -> Pin:
        name, version, *_ = wheel.name.split("-")
        artifact = Artifact(
            wheel.name,
            digest_of(wheel),
            url=f"{self.url}/files/{wheel.name}",
            size=wheel.stat().st_size,
            upload_time="2024-12-06T15:37:21.509172Z",
        )
        return Pin(name, version, artifact, index=f"{self.url}/simple", requires_python=">=3.8", owners=OWNERS)


class Recording(SimpleHTTPRequestHandler):
    asked: list[str]

    def __init__(self, *arguments: object, asked: list[str], **keywords: object) -> None:
        self.asked = asked
        super().__init__(*arguments, **keywords)  # type: ignore[arg-type]  # what the server passes

    def log_message(self, *_: object) -> None:
        self.asked.append(self.path)


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    folder = tmp_path / "index"
    folder.mkdir()
    asked: list[str] = []
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Recording, directory=str(folder), asked=asked)) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield Index(f"http://127.0.0.1:{server.server_port}", folder, asked)
        server.shutdown()
        thread.join()


def test_uv_installs_from_an_index_and_then_offline_from_its_cache(tmp_path: Path, place: Place, index: Index) -> None:
    wheel = build_wheel(index.folder / "files", "first", "1.0")
    lock_file = write(tmp_path / "home", Lock((index.pin(wheel),)))

    online = place.sync(lock_file)
    assert (online.status, place.installed()) == (0, "first==1.0\n"), online.stderr
    assert set(index.asked) == {f"/files/{wheel.name}"}

    index.asked.clear()
    second = make_place(tmp_path / "second")._replace(cache=place.cache)
    offline = second.sync(lock_file, "--offline")
    assert (offline.status, second.installed()) == (0, "first==1.0\n"), offline.stderr

    third = make_place(tmp_path / "third")._replace(cache=place.cache)
    again = third.sync(lock_file)
    assert (again.status, third.installed(), index.asked) == (0, "first==1.0\n", []), again.stderr


def test_uv_refuses_other_bytes_from_an_index(tmp_path: Path, place: Place, index: Index) -> None:
    wheel = build_wheel(index.folder / "files", "first", "1.0")
    lock_file = write(tmp_path / "home", Lock((index.pin(wheel),)))
    wheel.write_bytes(wheel.read_bytes().replace(b"version = '1.0'", b"version = '6.6'"))
    done = place.sync(lock_file)
    assert (done.status, place.installed()) == (1, "")
