"""Which faults an environment will have is known before it is built, and it has the same once it is built."""

from __future__ import annotations

import hashlib
import os
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from fixtures.server import Fault as ServerFault
from fixtures.server import IndexServer, Shape
from fixtures.wheels import Distribution, build_wheels
from lockfiles import Artifact, Lock, Pin, pylock
from pm.errors import PmError
from pm.generations.environment import build_environment, check_environment
from pm.generations.file_faults import Fault, Foreseen, faults_of
from pm.host.embedded import embedded_core_wheel
from pm.host.interpreter import Interpreter, default_interpreter, describe_interpreter
from pm.index import IndexClient, IndexOptions, Limits, open_index
from pm.index.folders import place_in_state, sha256_of
from pm.index.package_sources import Sources, find_sources, index_address
from pm.places import EnvironmentNumber, Places, find_places

_LIMITS = Limits(connect=2, read=2, total=5, transfer=5, attempts=2, pause=0.01, longest_pause=0.1)
_ENTRY_POINTS = "dist-info/entry_points.txt"
CORE = Distribution(
    "demo-core",
    "1.0",
    files={
        "agent/__init__.py": "",
        "utils.py": "ours = True\n",
        f"demo_core-1.0.{_ENTRY_POINTS}": "[console_scripts]\nhermes = agent:main\n",
    },
)


class Setting(NamedTuple):
    """A home, an index and an interpreter."""

    places: Places
    server: IndexServer
    interpreter: Interpreter

    @property
    def sources(self) -> Sources:
        return Sources(indexes=(index_address(self.server.url),))

    def open(self, **terms: bool) -> IndexClient:
        return open_index(
            self.places.cache,
            self.interpreter.target,
            self.sources,
            IndexOptions(**terms, limits=_LIMITS),  # type: ignore[arg-type]  # only switches are given
        )

    def lock(self, *distributions: Distribution) -> Lock:
        """Offer distributions and the core, and return a lock of them."""
        for distribution in (CORE, *distributions):
            self.server.offer(distribution)
        pins = sorted(self.pin(offer.path, offer.distribution) for offer in self.server.offers)
        return Lock(tuple(pins), core="demo-core==1.0")

    def pin(self, wheel: Path, distribution: Distribution) -> Pin:
        url = f"http://{self.server.host}/files/{wheel.name}"
        artifact = Artifact(wheel.name, sha256_of(wheel), url, size=wheel.stat().st_size)
        return Pin(distribution.name, distribution.version, artifact, index=self.server.url)

    def foresee(self, lock: Lock, **terms: bool) -> Foreseen:
        with self.open(**terms) as index:
            return faults_of(lock, index, interpreter=self.interpreter, places=self.places)

    def build(self, lock: Lock) -> Path:
        return build_environment(
            self.places, EnvironmentNumber(1), self.interpreter, pylock.dumps(lock), sources=self.sources
        )


@pytest.fixture(scope="session")
def interpreter(tmp_path_factory: pytest.TempPathFactory) -> Interpreter:
    return describe_interpreter(default_interpreter(), tmp_path_factory.mktemp("interpreters"))


@pytest.fixture
def setting(tmp_path: Path, interpreter: Interpreter) -> Iterator[Setting]:
    with IndexServer(tmp_path / "files") as server:
        yield Setting(find_places(str(tmp_path / "home"), {}), server, interpreter)


def demo(name: str, **files: str) -> Distribution:
    """Return a distribution whose files are given as `FOLDER__NAME`, with `.py` added."""
    return Distribution(name, "1.0", files={f"{path.replace('__', '/')}.py": text for path, text in files.items()})


def with_files(name: str, files: dict[str, str]) -> Distribution:
    return Distribution(name, "1.0", files={f"{name}.py": "", **files})


def script(name: str, line: str) -> Distribution:
    return with_files(name, {f"{name}-1.0.{_ENTRY_POINTS}": f"[console_scripts]\n{line}\n"})


# -- the same verdict before and after


@pytest.mark.parametrize(
    ("distributions", "expected"),
    [
        pytest.param([demo("a", a="1"), demo("b", b="1")], [], id="nothing in common"),
        pytest.param(
            [demo("a", shared="1", a="1"), demo("b", shared="2", b="1")],
            [Fault("file-collision", "`a` and `b` write `shared.py` with different content", "a", ("b",))],
            id="one path with different content",
        ),
        pytest.param(
            [demo("a", ns__one="1", ns__two="1"), demo("b", ns__one="2", ns__two="2"), demo("c", ns__two="1")],
            [
                Fault("file-collision", "`a` and `b` write `ns/one.py` with different content", "a", ("b",)),
                Fault(
                    "file-collision", "`a` and `b` and `c` write `ns/two.py` with different content", "a", ("b", "c")
                ),
            ],
            id="several of several",
        ),
        pytest.param(
            [with_files("a", {"ns/__init__.py": "x", "ns/a.py": ""}), with_files("b", {"ns/__init__.py": "x"})],
            [],
            id="one path with the same content",
        ),
        pytest.param([demo("a", ns__a="1"), demo("b", ns__b="2")], [], id="a namespace"),
        pytest.param(
            [with_files("a", {"utils/__init__.py": ""})],
            [
                Fault(
                    "module-shadowing",
                    "`a` brings a package `utils` that hides the core's module of that name",
                    "a",
                    ("demo-core",),
                )
            ],
            id="a package over a module of the core",
        ),
        pytest.param(
            [demo("a", utils="theirs = True\n")],
            [
                Fault(
                    "file-collision", "`a` and `demo-core` write `utils.py` with different content", "a", ("demo-core",)
                )
            ],
            id="a module over a module of the core",
        ),
        pytest.param(
            [demo("a", argparse="")],
            [
                Fault(
                    "module-shadowing",
                    "`a` brings a module `argparse` that is never imported: the standard library has one",
                    "a",
                    harmless=True,
                )
            ],
            id="a module of the standard library",
        ),
        pytest.param(
            [script("a", "tool = a:main"), script("b", "tool = b:main")],
            [
                Fault(
                    "file-collision",
                    "`a` and `b` write `../../../bin/tool` with different content"
                    "; that of `b`, the last by name, will be there",
                    "a",
                    ("b",),
                    harmless=True,
                )
            ],
            id="one program with different content",
        ),
        pytest.param([script("a", "tool = a:main"), script("b", "tool= a : main [x]")], [], id="one program twice"),
        pytest.param(
            [script("a", "hermes = a:main")],
            [
                Fault(
                    "file-collision",
                    "`a` and `demo-core` write `../../../bin/hermes` with different content",
                    "a",
                    ("demo-core",),
                )
            ],
            id="a program of the core",
        ),
        pytest.param(
            [with_files("a", {"a-1.0.data/scripts/tool": "#!python\nprint()\n"}), script("b", "tool = b:main")],
            [
                Fault(
                    "file-collision",
                    "`a` and `b` write `../../../bin/tool` with different content"
                    "; that of `b`, the last by name, will be there",
                    "a",
                    ("b",),
                    harmless=True,
                )
            ],
            id="a program as a file and as an entry point",
        ),
        pytest.param(
            [with_files("a", {"a-1.0.data/purelib/ns/x.py": "1"}), demo("b", ns__x="2")],
            [Fault("file-collision", "`a` and `b` write `ns/x.py` with different content", "a", ("b",))],
            id="a path that is only moved there",
        ),
        pytest.param(
            [with_files("a", {"a-1.0.data/data/etc/x": "1"}), with_files("b", {"b-1.0.data/data/etc/x": "2"})],
            [
                Fault(
                    "file-collision",
                    "`a` and `b` write `../../../etc/x` with different content"
                    "; that of `b`, the last by name, will be there",
                    "a",
                    ("b",),
                    harmless=True,
                )
            ],
            id="a file outside of the site-packages",
        ),
        pytest.param(
            [with_files("a", {"a-1.0.data/headers/x.h": "1"}), with_files("b", {"b-1.0.data/headers/x.h": "2"})],
            [],
            id="headers of one name",
        ),
        pytest.param(
            [with_files("a", {"ns/__pycache__/x.pyc": "1"}), with_files("b", {"ns/__pycache__/x.pyc": "2"})],
            [],
            id="bytecode",
        ),
    ],
)
def test_the_faults_before_a_build_are_those_after_it(
    setting: Setting, distributions: Sequence[Distribution], expected: list[Fault]
) -> None:
    lock = setting.lock(*distributions)
    assert setting.foresee(lock) == Foreseen(tuple(expected))
    assert check_environment(setting.build(lock), lock, setting.interpreter).clashes == tuple(expected)


def _rewritten(setting: Setting, name: str, *entries: tuple[str, str]) -> Lock:
    """Offer a wheel whose archive has more entries than a builder would give it."""
    lock = setting.lock(with_files(name, {}))
    wheel = next(offer.path for offer in setting.server.offers if offer.distribution.name == name)
    with zipfile.ZipFile(wheel, "a") as archive:
        for path, text in entries:
            archive.writestr(path, text)
    return _locked_anew(setting, lock)


def _locked_anew(setting: Setting, lock: Lock) -> Lock:
    """Return the lock of the wheels as they are now."""
    return lock._replace(pins=tuple(setting.pin(o.path, o.distribution) for o in setting.server.offers))


@pytest.mark.filterwarnings("ignore:Duplicate name:UserWarning")
@pytest.mark.parametrize(
    ("entry", "flaw"),
    [
        (("a.py", "another"), "it holds two different files `a.py`"),
        (("b-1.0.dist-info/METADATA", ""), "it has several folders of metadata"),
        (("a-1.0.data/weird/a.py", ""), "it is not known where `a-1.0.data/weird/a.py` belongs"),
    ],
)
def test_a_wheel_that_uv_will_refuse_is_a_fault_before(setting: Setting, entry: tuple[str, str], flaw: str) -> None:
    lock = _rewritten(setting, "a", entry)
    assert setting.foresee(lock).clashes == (
        Fault("invalid-wheel", f"the wheel of `a` cannot be installed: {flaw}", "a"),
    )
    with pytest.raises(PmError) as raised:
        setting.build(lock)
    assert raised.value.code == "install-failed"


def test_a_file_in_the_place_of_a_folder_is_a_fault_before(setting: Setting) -> None:
    lock = setting.lock(with_files("a", {"data": "1"}), with_files("b", {"data/x/y.py": "1"}))
    assert setting.foresee(lock).clashes == (
        Fault("file-collision", "`a` and `b` write `data` with different content", "a", ("b",)),
    )
    with pytest.raises(PmError) as raised:
        setting.build(lock)
    assert raised.value.code == "install-failed"


# -- how contents become known


def test_a_wheel_is_asked_for_once_and_only_in_part(setting: Setting) -> None:
    lock = setting.lock(demo("a", a="1"))
    setting.foresee(lock)
    asked = [(asked.path, asked.headers.get("range", "")) for asked in setting.server.asked]
    sizes = [pin.artifact.size for pin in lock.pins]
    assert sorted(asked) == [
        ("/files/a-1.0-py3-none-any.whl", f"bytes=0-{sizes[0] - 1}" if sizes[0] else ""),
        ("/files/demo_core-1.0-py3-none-any.whl", f"bytes=0-{sizes[1] - 1}" if sizes[1] else ""),
    ]
    setting.foresee(lock)
    assert len(setting.server.asked) == 2


def test_a_long_directory_and_entry_points_far_from_it_are_asked_for_as_parts(setting: Setting) -> None:
    many = {f"many/part_{number:04}_with_a_name_that_is_long.py": "" for number in range(900)}
    noise = {"many/noise.bin": "".join(hashlib.sha256(str(n).encode()).hexdigest() for n in range(9000))}
    large = with_files("a", {f"a-1.0.{_ENTRY_POINTS}": "[console_scripts]\nhermes = a:main\n", **noise, **many})
    lock = setting.lock(large)
    wheel = next(pin.artifact for pin in lock.pins if pin.name == "a")
    message = "`a` and `demo-core` write `../../../bin/hermes` with different content"
    assert setting.foresee(lock) == Foreseen((Fault("file-collision", message, "a", ("demo-core",)),))
    parts = [asked.headers["range"] for asked in setting.server.asked if asked.path.endswith(wheel.filename)]
    lengths = [int(last) - int(first) + 1 for first, last in (part[6:].split("-") for part in parts)]
    # its end, the rest of its directory, the entry points, and what lies just before the directory
    assert len(parts) == 4
    assert wheel.size is not None
    assert sum(lengths) < wheel.size // 2


def test_a_server_without_ranges_sends_the_whole_wheel(setting: Setting) -> None:
    setting.server.shape = Shape(ranges=False)
    lock = setting.lock(demo("a", utils="theirs"))
    message = "`a` and `demo-core` write `utils.py` with different content"
    assert setting.foresee(lock) == Foreseen((Fault("file-collision", message, "a", ("demo-core",)),))
    wholes = sorted(asked.path for asked in setting.server.asked if "range" not in asked.headers)
    assert wholes == ["/files/a-1.0-py3-none-any.whl", "/files/demo_core-1.0-py3-none-any.whl"]
    # both may be asked for a part before the first answer tells that there are none
    requests = len(setting.server.asked)
    assert requests - len(wholes) in {1, 2}
    setting.foresee(lock)
    assert len(setting.server.asked) == requests


def test_a_part_that_is_garbage_is_not_held_against_the_wheel(setting: Setting) -> None:
    lock = setting.lock(demo("a", a="1"))
    setting.server.faults = [ServerFault("*/a-1.0-*.whl", "garbage")]
    assert setting.foresee(lock) == Foreseen()


def test_a_file_that_is_no_wheel_is_a_fault_once_its_digest_is_proved(setting: Setting) -> None:
    lock = setting.lock(demo("a", a="1"))
    wheel = next(offer.path for offer in setting.server.offers if offer.distribution.name == "a")
    wheel.write_bytes(b"no archive" * 100)
    lock = _locked_anew(setting, lock)
    message = "the wheel of `a` cannot be installed: it is not a readable wheel"
    assert setting.foresee(lock) == Foreseen((Fault("invalid-wheel", message, "a"),))


def test_a_file_with_another_digest_is_no_fault_of_the_set(setting: Setting) -> None:
    lock = setting.lock(demo("a", a="1"))
    wheel = next(offer.path for offer in setting.server.offers if offer.distribution.name == "a")
    wheel.write_bytes(bytes(wheel.stat().st_size))
    with pytest.raises(PmError) as raised:
        setting.foresee(lock)
    assert raised.value.code == "hash-mismatch"


def test_an_index_that_is_gone_is_an_error_and_what_came_before_is_kept(setting: Setting) -> None:
    lock = setting.lock(demo("a", a="1"))
    setting.server.faults = [ServerFault("*/a-1.0-*.whl", "status", times=-1)]
    with pytest.raises(PmError) as raised:
        setting.foresee(lock._replace(pins=lock.pins[:1]))
    assert raised.value.code == "index-unreachable"
    setting.foresee(lock._replace(pins=lock.pins[1:]))
    assert setting.foresee(lock, offline=True) == Foreseen(unknown=("a",))


def test_offline_nothing_is_asked_and_the_unknown_ones_are_named(setting: Setting) -> None:
    lock = setting.lock(demo("a", utils="theirs"))
    assert setting.foresee(lock, offline=True) == Foreseen(unknown=("a", "demo-core"))
    assert setting.server.asked == []


def test_a_source_distribution_in_a_lock_is_unknown(setting: Setting) -> None:
    lock = setting.lock()
    source = Pin("raw", "1.0", Artifact("raw-1.0.tar.gz", "ab" * 32, f"http://{setting.server.host}/files/raw"))
    assert setting.foresee(lock._replace(pins=(*lock.pins, source))) == Foreseen(unknown=("raw",))


def test_a_cache_that_cannot_be_written_costs_a_warning(setting: Setting) -> None:
    lock = setting.lock()
    setting.places.cache.mkdir(parents=True)
    (setting.places.cache / "contents").write_text("in the way")
    with setting.open() as index:
        assert faults_of(lock, index, interpreter=setting.interpreter, places=setting.places) == Foreseen()
        assert [warning.code for warning in index.warnings] == ["cache-not-written"]


# -- wheels of this machine


def _in_state(wheel: Path) -> Artifact:
    sha256 = sha256_of(wheel)
    return Artifact(wheel.name, sha256, path=place_in_state(sha256, wheel.name), size=wheel.stat().st_size)


def test_a_wheel_of_a_folder_is_read_where_it_lies(setting: Setting, tmp_path: Path) -> None:
    (wheel,) = build_wheels(tmp_path / "wheels", demo("a", argparse=""))
    lock = Lock((Pin("a", "1.0", _in_state(wheel)),))
    sources = Sources(folders=(tmp_path / "wheels",))
    terms = IndexOptions(offline=True)
    with open_index(setting.places.cache, setting.interpreter.target, sources, terms) as index:
        message = "`a` brings a module `argparse` that is never imported: the standard library has one"
        assert faults_of(lock, index, interpreter=setting.interpreter, places=setting.places) == Foreseen(
            (Fault("module-shadowing", message, "a", harmless=True),)
        )


def test_a_wheel_that_was_replaced_in_its_folder_is_unknown(setting: Setting, tmp_path: Path) -> None:
    (wheel,) = build_wheels(tmp_path / "wheels", demo("a", a="1"))
    lock = Lock((Pin("a", "1.0", _in_state(wheel)),))
    build_wheels(tmp_path / "wheels", demo("a", a="2"))
    sources = Sources(folders=(tmp_path / "wheels",))
    with open_index(setting.places.cache, setting.interpreter.target, sources) as index:
        found = faults_of(lock, index, interpreter=setting.interpreter, places=setting.places)
    assert found == Foreseen(unknown=("a",))


def test_a_wheel_of_the_state_is_read_there(setting: Setting, tmp_path: Path) -> None:
    (wheel,) = build_wheels(tmp_path / "wheels", demo("a", a="1"))
    artifact = _in_state(wheel)
    kept = setting.places.wheels / artifact.sha256[:16] / wheel.name
    kept.parent.mkdir(parents=True)
    wheel.rename(kept)
    assert setting.foresee(Lock((Pin("a", "1.0", artifact),)), offline=True) == Foreseen()


def test_the_embedded_core_is_known_before_it_is_kept_in_the_state(setting: Setting) -> None:
    wheel = embedded_core_wheel()
    core = Pin("hermes-embedded-core", wheel.name.split("-")[1], _in_state(wheel))
    rival = setting.lock(with_files("rival", {"hermes_constants/__init__.py": ""})).pin("rival")
    assert rival is not None
    lock = Lock((core, rival), core=f"hermes-embedded-core=={core.version}")
    message = "`rival` brings a package `hermes_constants` that hides the core's module of that name"
    assert setting.foresee(lock) == Foreseen((Fault("module-shadowing", message, "rival", ("hermes-embedded-core",)),))
    assert not setting.places.wheels.exists()


# -- the real index


@pytest.mark.real_index
@pytest.mark.slow
def test_two_real_packages_with_one_program_are_worth_a_warning(tmp_path: Path, interpreter: Interpreter) -> None:
    from admission import Need

    places = find_places(str(tmp_path), {})
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "UV_"))}
    sources = find_sources(places.cache, environ, find_links=[])
    wanted = (("fastapi", "0.115.6"), ("fastapi-cli", "0.0.7"))
    with open_index(places.cache, interpreter.target, sources) as index:
        facts = index.fetch(Need(candidates=wanted))
        candidates = [facts.candidates[name][version] for name, version in wanted]
        pins = tuple(Pin(c.name, c.version, c.artifact, index=c.index) for c in candidates)
        found = faults_of(Lock(pins), index, interpreter=interpreter, places=places)
    message = (
        "`fastapi` and `fastapi-cli` write `../../../bin/fastapi` with different content"
        "; that of `fastapi-cli`, the last by name, will be there"
    )
    assert found == Foreseen((Fault("file-collision", message, "fastapi", ("fastapi-cli",), harmless=True),))
