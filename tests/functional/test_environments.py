"""Environments are built by uv from locks at their final place, checked and sealed; one that fails leaves no trace."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from fixtures.server import Fault as ServerFault
from fixtures.server import IndexServer, Offer
from fixtures.wheels import Distribution, build_wheels
from lockfiles import Artifact, Edge, Lock, Pin, pylock
from pm.dist_info import RecordLine
from pm.errors import PmError
from pm.generations.distributions import LOCK_NAME, own_record, read_lines, site_packages
from pm.generations.environment import build_environment, check_environment, foresee, seal
from pm.generations.file_faults import Fault
from pm.generations.verification import differences
from pm.host.interpreter import Interpreter, default_interpreter, describe_interpreter
from pm.index.folders import place_in_state, sha256_of
from pm.index.package_sources import Sources, index_address
from pm.inside import module_source
from pm.places import EnvironmentNumber, Places
from pm.system.folders import remove_tree
from pm.system.processes import run

ONE = EnvironmentNumber(1)
ROOT = Path(__file__).parent.parent.parent
CORE = Distribution("demo-core", "1.0", files={"agent/__init__.py": "", "utils.py": "ours = True\n"})
LIBRARY = Distribution("demo-library", "2.0", requires=["demo-leaf>=1"], extras={"fast": ["demo-speed>=1"]})
LEAF = Distribution("demo-leaf", "1.5")


class Workshop(NamedTuple):
    """A home whose wheels are kept in its state, as a lock by path names them."""

    places: Places
    interpreter: Interpreter

    def pin(self, distribution: Distribution, *edges: Edge, extras: tuple[str, ...] = ()) -> Pin:
        (wheel,) = build_wheels(self.places.root / "built", distribution)
        digest = sha256_of(wheel)
        place = place_in_state(digest, wheel.name)
        kept = self.places.wheels.joinpath(*Path(place).parts[-2:])
        kept.parent.mkdir(parents=True, exist_ok=True)
        wheel.replace(kept)
        artifact = Artifact(wheel.name, digest, path=place, size=kept.stat().st_size)
        return Pin(distribution.name, distribution.version, artifact, edges=edges, extras=extras)

    def lock(self, *distributions: Distribution) -> Lock:
        return Lock(tuple(sorted(map(self.pin, distributions))), core="demo-core==1.0")

    def build(self, lock: Lock, number: int = 1) -> Path:
        return build_environment(
            self.places, EnvironmentNumber(number), self.interpreter, pylock.dumps(lock), sources=None
        )

    def refused(self, lock: Lock, number: int = 1) -> PmError:
        with pytest.raises(PmError) as caught:
            self.build(lock, number)
        return caught.value

    def check(self, folder: Path, lock: Lock) -> list[Fault]:
        found = check_environment(folder, lock, self.interpreter)
        return [*found.drift, *found.clashes]

    @property
    def generations(self) -> list[str]:
        return sorted(path.name for path in self.places.generations.iterdir())


def offered(server: IndexServer) -> Lock:
    """Return a lock of everything that an index offers."""
    return Lock(tuple(_pin(server, offer) for offer in server.offers))


def _pin(server: IndexServer, offer: Offer) -> Pin:
    artifact = Artifact(offer.path.name, offer.sha256, f"http://{server.host}/files/{offer.path.name}")
    return Pin(offer.distribution.name, offer.distribution.version, artifact, index=server.url)


@pytest.fixture(scope="session")
def interpreter(tmp_path_factory: pytest.TempPathFactory) -> Interpreter:
    return describe_interpreter(default_interpreter(), tmp_path_factory.mktemp("interpreters"))


@pytest.fixture
def workshop(tmp_path: Path, interpreter: Interpreter) -> Workshop:
    root = tmp_path / "große Wohnung"
    return Workshop(Places(root, root), interpreter)


# --- building ---------------------------------------------------------------------------------------------------------


def test_a_lock_by_path_is_built_without_any_source(workshop: Workshop) -> None:
    lock = workshop.lock(CORE, LIBRARY, LEAF)
    folder = workshop.build(lock)
    said = run([folder / "bin" / "python", "-I", "-c", "import demo_library as d, agent; print(d.__version__)"])
    assert (said.stdout, workshop.check(folder, lock), (folder / LOCK_NAME).read_text()) == (
        "2.0\n",
        [],
        pylock.dumps(lock),
    )
    assert (folder, sorted(path.name for path in site_packages(folder).glob("*.dist-info"))) == (
        workshop.places.environment(ONE),
        ["demo_core-1.0.dist-info", "demo_leaf-1.5.dist-info", "demo_library-2.0.dist-info"],
    )


def test_only_the_lock_and_what_is_ours_are_in_it_and_nothing_of_it_is_run(workshop: Workshop, tmp_path: Path) -> None:
    sprung = tmp_path / "sprung"
    trap = f"import pathlib; pathlib.Path({str(sprung)!r}).touch()\n"
    files = {"trap.pth": trap, "sitecustomize.py": trap, "demo_trap.py": trap}
    lock = workshop.lock(Distribution("demo-trap", "1.0", files=files))
    folder = workshop.build(lock)
    site = site_packages(folder)
    names = sorted(path.name for path in site.iterdir() if not path.name.startswith("_virtualenv"))
    told = "`demo-trap` runs code at every start of Python: `sitecustomize.py`, `trap.pth`"
    assert (workshop.check(folder, lock), sprung.exists(), names) == (
        [Fault("runs-at-start", told, "demo-trap", harmless=True)],
        False,
        [".install_method", "_hermes_pm.py", "demo_trap-1.0.dist-info", "demo_trap.py", "sitecustomize.py", "trap.pth"],
    )
    run([folder / "bin" / "python", "-c", ""])
    assert sprung.exists()


def test_a_lock_without_any_pin_is_an_environment_too(workshop: Workshop) -> None:
    lock = Lock(())
    assert workshop.check(workshop.build(lock), lock) == []


def test_the_users_own_uv_is_neither_asked_nor_changed(
    workshop: Workshop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "somebody"
    (home / ".config" / "uv").mkdir(parents=True)
    (home / ".config" / "uv" / "uv.toml").write_text("this is no setting\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("UV_CACHE_DIR", str(home / "cache"))
    monkeypatch.setenv("UV_OVERRIDE", "missing.txt")
    monkeypatch.setenv("VIRTUAL_ENV", str(home / "venv"))
    lock = workshop.lock(LEAF)
    assert workshop.check(workshop.build(lock), lock) == []
    assert sorted(path.relative_to(home).as_posix() for path in home.rglob("*")) == [
        ".config",
        ".config/uv",
        ".config/uv/uv.toml",
    ]
    assert (workshop.places.cache / "uv" / "CACHEDIR.TAG").exists()


def test_from_an_index_once_and_then_from_the_cache_alone(workshop: Workshop, tmp_path: Path) -> None:
    with IndexServer(tmp_path / "files", [LEAF]) as server:
        lock = offered(server)
        sources = Sources(indexes=(index_address(server.url),))
        before = workshop.refused(lock)
        first = build_environment(workshop.places, ONE, workshop.interpreter, pylock.dumps(lock), sources=sources)
    second = workshop.build(lock, number=2)
    assert (before.code, workshop.check(first, lock), workshop.check(second, lock), workshop.generations) == (
        "install-failed",
        [],
        [],
        ["1", "2"],
    )


# --- failing ----------------------------------------------------------------------------------------------------------


def test_another_file_than_the_locked_one_is_refused_and_nothing_is_left(workshop: Workshop) -> None:
    lock = workshop.lock(CORE, LEAF)
    (wheel,) = workshop.places.wheels.glob("*/demo_leaf*")
    wheel.write_bytes(wheel.read_bytes().replace(b"1.5", b"6.6"))
    error = workshop.refused(lock)
    assert (error.code, error.message.splitlines()[0].partition(":")[0], workshop.generations) == (
        "install-failed",
        "the lock could not be installed",
        [],
    )
    assert "Hash mismatch for `demo-leaf" in error.message


@pytest.mark.parametrize(
    "lock",
    [Lock((), requires_python="<3.11"), Lock((), environment="sys_platform == 'beos'")],
    ids=["python", "marker"],
)
def test_a_lock_for_another_target_is_refused_and_nothing_is_left(workshop: Workshop, lock: Lock) -> None:
    assert (workshop.refused(lock).code, workshop.generations) == ("install-failed", [])


def test_a_missing_wheel_is_refused_and_nothing_is_left(workshop: Workshop) -> None:
    lock = workshop.lock(LEAF)
    next(workshop.places.wheels.glob("*/demo_leaf*")).unlink()
    assert (workshop.refused(lock).code, workshop.generations) == ("install-failed", [])


def test_an_interpreter_that_is_gone_is_refused_and_nothing_is_left(workshop: Workshop, tmp_path: Path) -> None:
    lock = workshop.lock(LEAF)
    broken = workshop._replace(interpreter=workshop.interpreter._replace(path=tmp_path / "gone"))
    error = broken.refused(lock)
    assert (error.code, error.message.partition(":")[0], workshop.generations) == (
        "no-interpreter",
        "an environment could not be made",
        [],
    )


def test_a_generation_that_is_there_is_never_touched(workshop: Workshop) -> None:
    lock = workshop.lock(LEAF)
    folder = workshop.build(lock)
    before = sorted((path, path.lstat().st_mtime_ns) for path in folder.rglob("*"))
    error = workshop.refused(workshop.lock(CORE))
    assert (error.code, error.message) == ("not-writable", f"`{folder}` cannot be written: File exists")
    assert sorted((path, path.lstat().st_mtime_ns) for path in folder.rglob("*")) == before


def test_a_state_that_cannot_be_written_is_said_to_be(workshop: Workshop) -> None:
    workshop.places.state.mkdir(parents=True)
    workshop.places.generations.write_text("a file")
    error = workshop.refused(Lock(()))
    assert (error.code, error.file) == ("not-writable", str(workshop.places.generations))


BUILD = """
import sys
from pathlib import Path
from pm.generations.environment import build_environment
from pm.errors import PmError
from pm.host.interpreter import default_interpreter, describe_interpreter
from pm.places import Places
from pm.index.package_sources import Sources, index_address
root, lock, *urls = sys.argv[1:]
places = Places(Path(root), Path(root))
interpreter = describe_interpreter(default_interpreter(), places.cache)
sources = Sources(indexes=tuple(map(index_address, urls)))
try:
    build_environment(places, 1, interpreter, Path(lock).read_text(), sources=sources)
except PmError as error:
    print(error.code, error.message)
except KeyboardInterrupt:
    print("interrupted")
print(list(places.generations.iterdir()))
"""
ENVIRON = {"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"]}


class Stalling(IndexServer):
    """An index that answers no more once it is asked for a file, and says that it was."""

    def __init__(self, folder: Path, distributions: list[Distribution]) -> None:
        super().__init__(folder, distributions)
        self.faults.append(ServerFault("/files/*", "stall", times=-1))
        self.reached = threading.Event()

    def fault_for(self, path: str) -> ServerFault | None:
        fault = super().fault_for(path)
        if fault is not None:
            self.reached.set()
        return fault


def test_a_build_that_is_interrupted_leaves_nothing(workshop: Workshop, tmp_path: Path) -> None:
    with Stalling(tmp_path / "files", [LEAF]) as server:
        (tmp_path / LOCK_NAME).write_text(pylock.dumps(offered(server)))
        command: list[str | Path] = [
            sys.executable,
            "-c",
            BUILD,
            workshop.places.root,
            tmp_path / LOCK_NAME,
            server.url,
        ]
        process = subprocess.Popen(command, env=ENVIRON, stdout=subprocess.PIPE, text=True, encoding="utf-8")
        assert server.reached.wait(60)
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=60)
    assert said == "interrupted\n[]\n"


def test_a_full_disk_is_told_from_a_build_that_fails(tmp_path: Path, require_tool: Callable[[str], Path]) -> None:
    unshare = require_tool("unshare")
    probe: list[str | Path] = [unshare, "--mount", "mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", tmp_path]
    if subprocess.run(probe, capture_output=True, check=False).returncode:
        pytest.skip("a file system of its own cannot be mounted here")
    large = Distribution("large", "1.0", files={"large.py": os.urandom(6_000_000).hex()})
    (wheel,) = build_wheels(tmp_path / "wheels", large)
    artifact = Artifact(wheel.name, sha256_of(wheel), path=str(wheel), size=wheel.stat().st_size)
    (tmp_path / LOCK_NAME).write_text(pylock.dumps(Lock((Pin("large", "1.0", artifact),))))
    small = tmp_path / "small"
    small.mkdir()
    mounted = 'mount -t tmpfs -o size=10m tmpfs "$1" && exec "$2" -c "$3" "$1" "$4"'
    command: list[str | Path] = [
        unshare,
        "--mount",
        "sh",
        "-c",
        mounted,
        "sh",
        small,
        sys.executable,
        BUILD,
        tmp_path / LOCK_NAME,
    ]
    done = subprocess.run(command, env=ENVIRON, capture_output=True, text=True, check=False)
    *said, left = done.stdout.splitlines()
    assert (said[0].partition(":")[0], left, done.stderr) == (
        "no-space the lock could not be installed, no space is left",
        "[]",
        "",
    )


# --- checking ---------------------------------------------------------------------------------------------------------


class Drifted(NamedTuple):
    """A built environment, and the place of its distributions."""

    workshop: Workshop
    lock: Lock
    folder: Path

    @property
    def site(self) -> Path:
        return site_packages(self.folder)

    def check(self, lock: Lock | None = None) -> list[Fault]:
        return self.workshop.check(self.folder, self.lock if lock is None else lock)


@pytest.fixture
def built(workshop: Workshop) -> Drifted:
    lock = workshop.lock(CORE, LIBRARY, LEAF)
    return Drifted(workshop, lock, workshop.build(lock))


def drift(name: str, message: str) -> Fault:
    return Fault("drift", message, name)


def test_a_missing_and_an_edited_file_are_found(built: Drifted) -> None:
    (built.site / "demo_leaf.py").unlink()
    (built.site / "demo_library.py").write_text("x")
    assert built.check() == [
        drift("demo-leaf", "`demo_leaf.py` of `demo-leaf` is missing"),
        drift("demo-library", "`demo_library.py` of `demo-library` has 1 bytes, its RECORD says 20"),
    ]


@pytest.mark.parametrize("record", [None, b"", b"\xff", b"demo_leaf.py,sha256=x,many\n"])
def test_a_record_that_cannot_be_read_is_found(built: Drifted, record: bytes | None) -> None:
    path = built.site / "demo_leaf-1.5.dist-info" / "RECORD"
    path.unlink()
    if record is not None:
        path.write_bytes(record)
    assert (built.check(), read_lines(path)) == (
        [drift("demo-leaf", "`demo-leaf` has no RECORD that can be read")],
        [],
    )


def test_a_record_gives_paths_digests_and_sizes(tmp_path: Path) -> None:
    (tmp_path / "RECORD").write_text('"a,b.py",sha256=x,3\nRECORD,,\nodd line\n')
    assert read_lines(tmp_path / "RECORD") == [RecordLine("a,b.py", "sha256=x", 3), RecordLine("RECORD", "", None)]


def test_what_is_there_is_compared_with_the_lock_by_name_and_version(built: Drifted) -> None:
    core, leaf, library = built.lock.pins
    lock = built.lock._replace(
        pins=(
            core._replace(version="1.0.0"),
            leaf._replace(version="1.6"),
            built.workshop.pin(Distribution("other", "1")),
        )
    )
    assert built.check(lock) == [
        drift("demo-leaf", "`demo-leaf` is 1.5, the lock says 1.6"),
        drift("demo-library", f"`demo-library` {library.version} is installed and not in the lock"),
        drift("other", "`other` 1 is in the lock and not installed"),
    ]


def test_a_second_version_beside_the_first_is_found(built: Drifted) -> None:
    (built.site / "demo_leaf-1.6.dist-info").mkdir()
    (built.site / "demo_leaf-1.6.dist-info" / "RECORD").write_text("demo_leaf-1.6.dist-info/METADATA,,\n")
    assert built.check()[:1] == [drift("demo-leaf", "`demo-leaf` is installed in several versions at once: 1.5, 1.6")]


def test_what_distributions_need_by_their_own_word_is_compared_with_the_lock(workshop: Workshop) -> None:
    needy = Distribution(
        "needy",
        "1.0",
        requires=[
            "demo-leaf>=2",
            "gone",
            "demo-core>=7",
            "hermes-agent>=7",
            "never ; sys_platform == 'beos'",
        ],
        extras={"fast": ["absent"], "slow": ["nobody-asked"]},
    )
    pins = (workshop.pin(CORE), workshop.pin(LEAF), workshop.pin(needy, extras=("fast",)))
    lock = Lock(tuple(sorted(pins)), core="demo-core==1.0")
    assert workshop.check(workshop.build(lock), lock) == [
        drift("needy", "`needy` needs `absent` and the lock has no absent"),
        drift("needy", "`needy` needs `demo-leaf>=2` and the lock has demo-leaf 1.5"),
        drift("needy", "`needy` needs `gone` and the lock has no gone"),
    ]


def test_metadata_that_cannot_be_used_is_found(built: Drifted) -> None:
    metadata = built.site / "demo_leaf-1.5.dist-info" / "METADATA"
    text = metadata.read_text()
    metadata.unlink()
    metadata.write_text(text.replace("demo-leaf", "demo-lead"))
    assert built.check() == [
        drift("demo-leaf", "the METADATA of `demo-leaf` cannot be used: its metadata says that it is `demo-lead 1.5`")
    ]


def test_modules_that_hide_others_and_files_that_collide_are_found(workshop: Workshop) -> None:
    hiding = Distribution("hiding", "1.0", files={"utils/__init__.py": "", "argparse.py": ""})
    one = Distribution("one", "1.0", files={"shared.py": "1"})
    two = Distribution("two", "1.0", files={"shared.py": "two"})
    lock = workshop.lock(CORE, hiding, one, two)
    text = "`hiding` brings a module `argparse` that is never imported: the standard library has one"
    assert workshop.check(workshop.build(lock), lock) == [
        Fault("file-collision", "`one` and `two` write `shared.py` with different content", "one", ("two",)),
        Fault("module-shadowing", text, "hiding", harmless=True),
        Fault(
            "module-shadowing",
            "`hiding` brings a package `utils` that hides the core's module of that name",
            "hiding",
            ("demo-core",),
        ),
    ]


def put(folder: Path, path: str, donor: Path, *, linked: bool) -> None:
    """Let the file of another environment lie at a path, as if it had been written last."""
    target, source = site_packages(folder) / path, site_packages(donor) / path
    target.unlink()
    if linked:
        target.hardlink_to(source)
    else:
        shutil.copy2(source, target)


def shared(name: str, text: str) -> Distribution:
    return Distribution(name, "1.0", files={"shared.py": text, f"{name}.py": ""})


@pytest.mark.parametrize("linked", [False, True], ids=["copied", "linked"])
@pytest.mark.parametrize("last", ["one", "two", "three"])
def test_a_collision_is_the_same_fault_whichever_file_was_written_last(
    workshop: Workshop, last: str, *, linked: bool
) -> None:
    """Of the contents, two have one size, so that no size tells them apart."""
    texts = {"one": "1", "two": "two", "three": "3"}
    lock = workshop.lock(*(shared(name, text) for name, text in texts.items()))
    alone = workshop.build(workshop.lock(shared(last, texts[last])), number=2)
    folder = workshop.build(lock)
    put(folder, "shared.py", alone, linked=linked)
    message = "`one` and `three` and `two` write `shared.py` with different content"
    assert workshop.check(folder, lock) == [Fault("file-collision", message, "one", ("three", "two"))]
    found = differences(folder, lock, workshop.interpreter)
    assert [fault.package for fault in found] == ([] if last == "two" else ["two"])


@pytest.mark.parametrize("file", ["_hermes_pm.py", "_hermes_pm/__init__.py"])
def test_a_module_with_the_name_of_ours_is_found(workshop: Workshop, file: str) -> None:
    lock = workshop.lock(Distribution("greedy", "1.0", files={file: "mine = True\n"}))
    faults = workshop.check(workshop.build(lock), lock)
    text = f"the wheel of `greedy` cannot be installed: it writes `{file}`, which belongs to the environment itself"
    assert [fault for fault in faults if fault.code != "drift"] == [Fault("invalid-wheel", text, "greedy")]


OURS = "lib/python3.11/site-packages/_hermes_pm.py"


def test_our_module_is_written_by_its_content_and_shares_no_file(built: Drifted) -> None:
    module = built.folder / OURS
    status = module.stat()
    assert (module.read_bytes(), status.st_nlink, stat.S_IMODE(status.st_mode)) == (module_source(), 1, 0o644)


def test_our_module_is_part_of_what_must_be_there(built: Drifted) -> None:
    size = len(module_source())
    (built.folder / OURS).write_bytes(b"x")
    edited = built.check()
    (built.folder / OURS).unlink()
    assert [edited, built.check()] == [
        [Fault("drift", f"`{OURS}` of the manager has 1 bytes, its RECORD says {size}")],
        [Fault("drift", f"`{OURS}` of the manager is missing")],
    ]


def test_an_environment_that_an_older_manager_built_has_no_module_and_is_complete(built: Drifted) -> None:
    own_record(built.folder).unlink()
    (built.folder / OURS).unlink()
    assert built.check() == []


def test_what_was_foreseen_hides_nothing_that_has_changed_since(built: Drifted) -> None:
    leaf, library = (built.site / f"{name}.dist-info" for name in ("demo_leaf-1.5", "demo_library-2.0"))
    foresee(built.folder, built.lock, built.workshop.interpreter)
    assert built.check() == []
    (leaf / "RECORD").write_text("demo_leaf-1.5.dist-info/METADATA,,\ndemo_leaf.py,,7\n")
    (library / "METADATA").write_text("Metadata-Version: 2.1\nName: demo-library\nVersion: 2.1\n")
    foresee(built.folder, built.lock, built.workshop.interpreter)
    messages = [fault.message for fault in built.check()]
    assert [message.partition(" has ")[2] for message in messages if "demo_leaf.py" in message] == [
        f"{(built.site / 'demo_leaf.py').stat().st_size} bytes, its RECORD says 7"
    ]
    assert any("its metadata says that it is `demo-library 2.1`" in message for message in messages)


def test_what_is_no_environment_is_said_to_be_none(workshop: Workshop, tmp_path: Path) -> None:
    with pytest.raises(PmError) as caught:
        workshop.check(tmp_path, Lock(()))
    assert (caught.value.code, caught.value.message) == ("drift", f"`{tmp_path}` is not a complete environment")


# --- sealing and discarding -------------------------------------------------------------------------------------------


def test_a_seal_makes_every_folder_read_only_and_no_file(built: Drifted) -> None:
    files = {path: path.stat().st_mode for path in built.folder.rglob("*.py")}
    seal(built.folder)
    folders = [built.folder, *(path for path in built.folder.rglob("*") if path.is_dir() and not path.is_symlink())]
    assert {stat.S_IMODE(path.stat().st_mode) for path in folders} == {0o555}
    assert ({path: path.stat().st_mode for path in built.folder.rglob("*.py")}, built.check()) == (files, [])


def test_a_sealed_environment_can_be_discarded(built: Drifted) -> None:
    seal(built.folder)
    remove_tree(built.folder)
    remove_tree(built.folder)
    assert built.workshop.generations == []


def test_a_link_in_an_environment_is_neither_sealed_nor_followed(built: Drifted, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o750)
    (elsewhere / "file").write_text("x")
    (built.site / "link").symlink_to(elsewhere)
    seal(built.folder)
    mode = stat.S_IMODE(elsewhere.stat().st_mode)
    remove_tree(built.folder)
    assert (mode, (elsewhere / "file").exists()) == (0o750, True)
