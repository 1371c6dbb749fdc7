"""The core that plugins must fit: the embedded one as it is installed, and releases of an index on loopback."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from admission import Core, Origin, Owner, Problem, Requirement, Target
from fixtures.homes import Home
from fixtures.server import IndexServer
from fixtures.wheels import LINUX_311, Distribution
from lockfiles import Artifact, Pin
from pm.errors import PmError
from pm.host.core import (
    CoreNeedsPython,
    HostedCore,
    core_from_json,
    core_to_json,
    find_core,
    keep_core,
    paths_of_core,
)
from pm.host.core_setting import core_names
from pm.host.embedded import embedded_core_wheel, spoken_version
from pm.host.interpreter import default_interpreter
from pm.index import IndexClient, IndexOptions, Limits, open_index
from pm.index.folders import sha256_of
from pm.index.package_sources import Sources, index_address
from pm.places import EnvironmentNumber, Places
from pm.system.processes import run

_LIMITS = Limits(connect=2, read=2, total=5, attempts=2, pause=0.01, guessing=0)
HOST = Owner("core", "hermes-agent")
NOTHING: Mapping[str, Any] = {}
WINDOWS = LINUX_311._replace(
    name="cpython-3.11.7-win32-AMD64",
    environment=tuple(sorted({**dict(LINUX_311.environment), "sys_platform": "win32"}.items())),
    tags=("cp311-cp311-win_amd64", "py3-none-any"),
)
EXTRAS = {
    "voice": ["numpy==2.4.3"],
    "cli": ["simple-term-menu==1.6.6 ; sys_platform != 'win32'", "rich>=14"],
    "mem0": ["mem0ai==2.0.10", "httpx==0.27.0"],
    "all": ["hermes-agent[cli]", "hermes-agent[voice]"],
}
BUNDLED = {"hermes.py": "", "plugins/memory/mem0/plugin.yaml": "name: mem0\npip_dependencies: [mem0ai>=2]\n"}


def release(version: str, **fields: Any) -> Distribution:  # noqa: ANN401 - the fields of a distribution
    return Distribution("hermes-agent", version, **fields)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[IndexServer]:
    with IndexServer(tmp_path / "files") as running:
        running.offer(release("0.18.0", requires=["httpx==0.28.0"], extras=EXTRAS))
        running.offer(
            release(
                "0.19.0",
                requires=["httpx[socks]==0.28.1", "tzdata==2025.3 ; sys_platform == 'win32'"],
                extras=EXTRAS,
                requires_python=">=3.11,<3.14",
                files=BUNDLED,
            )
        )
        running.offer(release("0.20.0rc1"))
        yield running


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path / "home", tmp_path / "home")


def opened(places: Places, server: IndexServer | None, target: Target = LINUX_311) -> IndexClient:
    sources = Sources(indexes=(index_address(server.url),) if server is not None else ())
    return open_index(places.cache, target, sources, IndexOptions(offline=server is None, limits=_LIMITS))


def found(
    setting: str,
    places: Places,
    server: IndexServer | None = None,
    *,
    recorded: Mapping[str, Any] = NOTHING,
    target: Target = LINUX_311,
) -> HostedCore:
    with opened(places, server, target) as index:
        return find_core(setting, places, target, index, recorded=recorded)


def refused(setting: str, places: Places, server: IndexServer | None = None, target: Target = LINUX_311) -> PmError:
    with pytest.raises(PmError) as caught:
        found(setting, places, server, target=target)
    return caught.value


def stored(hosted: HostedCore, target: Target = LINUX_311) -> dict[str, Any]:
    """Send a core through a file, as a record does."""
    value: dict[str, Any] = json.loads(json.dumps(core_to_json(hosted, target)))
    return value


def required(core: Core) -> list[tuple[str, str]]:
    return [(str(requirement.origin.owner), requirement.canonical) for requirement in core.requirements]


def state_of(places: Places) -> list[str]:
    return sorted(path.name for path in places.state.iterdir())


# --- a release --------------------------------------------------------------------------------------------------------


def test_a_release_is_the_newest_final_one_with_its_requirements_and_its_wheel(
    places: Places, server: IndexServer
) -> None:
    offer = next(offer for offer in server.offers if offer.distribution.version == "0.19.0")
    hosted = found("hermes-agent", places, server)
    assert hosted == HostedCore(
        core=Core(
            name="hermes-agent",
            version="0.19.0",
            requirements=(
                Requirement(
                    name="httpx",
                    origin=Origin(HOST, "METADATA", 0, "Requires-Dist"),
                    specifier="==0.28.1",
                    extras=("socks",),
                    text="httpx[socks]==0.28.1",
                ),
            ),
            requires_python="<3.14,>=3.11",
            preferences={
                "httpx": "==0.27.0",
                "mem0ai": "==2.0.10",
                "numpy": "==2.4.3",
                "simple-term-menu": "==1.6.6",
            },
            pin=Pin(
                name="hermes-agent",
                version="0.19.0",
                artifact=Artifact(
                    filename=offer.path.name,
                    sha256=offer.sha256,
                    url=f"http://{server.host}/files/{offer.path.name}",
                    size=len(offer.content),
                    upload_time="2024-01-01T00:00:00.000000Z",
                ),
                index=server.url,
                requires_python="<3.14,>=3.11",
                owners=(HOST,),
            ),
            offers=("all", "cli", "mem0", "voice"),
        ),
        kind="release",
        setting="hermes-agent",
        bundled=hosted.bundled,
    )
    assert [(key, one.requirements[0].canonical) for key, one in hosted.bundled.items()] == [
        ("memory/mem0", "mem0ai>=2")
    ]


def test_finding_a_release_writes_nothing_outside_of_the_cache(places: Places, server: IndexServer) -> None:
    hosted = found("hermes-agent", places, server)
    keep_core(hosted, places)
    assert (state_of(places), list(places.root.iterdir())) == (["cache"], [places.state])


def test_extras_of_a_release_are_part_of_the_core(places: Places, server: IndexServer) -> None:
    core = found("hermes-agent[voice]==0.19.0", places, server).core
    assert core.pin is not None
    assert (required(core), core.extras, core.pin.extras, core.requirements[1].origin) == (
        [("core:hermes-agent", "httpx[socks]==0.28.1"), ("core-extra:voice", "numpy==2.4.3")],
        ("voice",),
        ("voice",),
        Origin(Owner("core-extra", "voice"), "METADATA", 0, "Requires-Dist; extra == 'voice'"),
    )


def test_an_extra_that_is_written_as_other_extras_brings_them(places: Places, server: IndexServer) -> None:
    core = found("hermes-agent[all]==0.19.0", places, server).core
    assert core.pin is not None
    assert (sorted(required(core)), core.extras, core.pin.extras) == (
        [
            ("core-extra:cli", "rich>=14"),
            ("core-extra:cli", "simple-term-menu==1.6.6"),
            ("core-extra:voice", "numpy==2.4.3"),
            ("core:hermes-agent", "httpx[socks]==0.28.1"),
        ],
        ("all",),
        ("all", "cli", "voice"),
    )


def test_an_unknown_extra_is_refused_with_those_that_there_are(places: Places, server: IndexServer) -> None:
    server.offer(Distribution("plain-core", "1.0"))
    errors = [refused("hermes-agent[tts]==0.19.0", places, server), refused("plain-core[tts]", places, server)]
    assert [(error.code, error.message, error.hint, error.key) for error in errors] == [
        ("unknown-extra", "hermes-agent 0.19.0 has no extra `tts`", "it has all, cli, mem0, voice", "pm.core"),
        ("unknown-extra", "plain-core 1.0 has no extra `tts`", "it has none", "pm.core"),
    ]


def test_requirements_are_judged_for_the_target(places: Places, server: IndexServer) -> None:
    core = found("hermes-agent[cli]==0.19.0", places, server, target=WINDOWS).core
    assert (sorted(required(core)), list(core.preferences)) == (
        [
            ("core-extra:cli", "rich>=14"),
            ("core:hermes-agent", "httpx[socks]==0.28.1"),
            ("core:hermes-agent", "tzdata==2025.3"),
        ],
        ["httpx", "mem0ai", "numpy"],
    )


def test_a_core_of_another_name_is_a_core_too(places: Places, server: IndexServer) -> None:
    server.offer(Distribution("Acme.Host", "1.0", requires=["httpx"]))
    hosted = found("acme_host", places, server)
    assert (hosted.names, core_names("acme_host"), required(hosted.core)) == (
        frozenset({"hermes-agent", "acme-host"}),
        frozenset({"hermes-agent", "acme-host"}),
        [("core:acme-host", "httpx")],
    )


# --- a release that was recorded --------------------------------------------------------------------------------------


def test_a_range_stays_at_the_recorded_version_and_asks_no_index(places: Places, server: IndexServer) -> None:
    hosted = found("hermes-agent[voice]>=0.18", places, server)
    server.offer(release("0.19.1", extras=EXTRAS))
    server.asked.clear()
    again = found("hermes-agent[voice]>=0.18", places, server, recorded=stored(hosted))
    assert (again, server.asked) == (hosted, [])


def test_another_setting_or_another_target_is_looked_for_anew(places: Places, server: IndexServer) -> None:
    recorded = stored(found("hermes-agent<0.19", places, server))
    versions = [
        found("hermes-agent<0.20", places, server, recorded=recorded).core.version,
        found("hermes-agent<0.19", places, server, recorded=recorded | {"version": "old"}).core.version,
        found("hermes-agent<0.19", places, server, recorded=recorded | {"version": "old"}, target=WINDOWS).core.version,
        found("hermes-agent<0.19", places, server, recorded=recorded | {"version": "old", "shape": 0}).core.version,
    ]
    assert versions == ["0.19.0", "old", "0.18.0", "0.18.0"]


def test_a_core_survives_its_record(places: Places, server: IndexServer) -> None:
    hosted = found("hermes-agent[all]", places, server)._replace(notes=(Problem("x", "y", "z", 1, 2, "k", "h"),))
    assert core_from_json(stored(hosted)) == hosted


# --- what is no core --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("setting", "code", "message", "hint"),
    [
        ("nobody", "not-found-on-index", "no index knows the core `nobody`", ""),
        (
            "hermes-agent>=1",
            "no-matching-version",
            "no release of `hermes-agent` satisfies `hermes-agent>=1`; the newest is 0.20.0rc1",
            "",
        ),
        (
            "hermes-agent>=0.19.1",
            "prerelease-only",
            "what satisfies `hermes-agent>=0.19.1` is a pre-release, and it names none",
            "write `hermes-agent==0.20.0rc1`",
        ),
        (
            "hermes-agent @ https://user:secret@example.invalid/h",
            "invalid-declaration",
            "the core must be a release of an index, and `hermes-agent @ https://****@example.invalid/h` is none",
            "write its name and version, such as `hermes-agent==0.19.0`; for a checkout, write its folder",
        ),
        (
            "git+https://user:secret@example.invalid/h.git?secret",
            "invalid-declaration",
            "the core must be a release of an index, and `git+https://****@example.invalid/h.git?****` is none",
            "write its name and version, such as `hermes-agent==0.19.0`; for a checkout, write its folder",
        ),
        (
            "hermes-agent; python_version > '3'",
            "invalid-declaration",
            'the core must be a release of an index, and `hermes-agent; python_version > "3"` is none',
            "write its name and version, such as `hermes-agent==0.19.0`; for a checkout, write its folder",
        ),
        (
            "hermes agent",
            "invalid-declaration",
            "the core is not a requirement: expected semicolon (after name with no version specifier) or end",
            "a folder is written with a `/`, as in `./hermes`",
        ),
        (
            "hermes-agent=0.19.0",
            "invalid-declaration",
            "the core is not a requirement: expected semicolon (after name with no version specifier) or end",
            "write `hermes-agent==0.19.0`",
        ),
        (
            "broken",
            "invalid-declaration",
            "the metadata of broken 1.0 cannot be read: its requirement `???` cannot be read",
            "",
        ),
    ],
)
def test_a_setting_that_leads_to_no_core_is_refused_in_words(
    places: Places, server: IndexServer, setting: str, code: str, message: str, hint: str
) -> None:
    server.offer(
        Distribution(
            "broken", "1.0", metadata="Metadata-Version: 2.1\nName: broken\nVersion: 1.0\nRequires-Dist: ???\n"
        )
    )
    error = refused(setting, places, server)
    assert (error.code, error.message, error.hint) == (code, message, hint)


def test_a_folder_of_the_name_is_pointed_out(
    places: Places, server: IndexServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    (places.root / "checkout").mkdir(parents=True)
    monkeypatch.chdir(places.root)
    assert refused("checkout", places, server).hint == "for the folder of that name, write `./checkout`"


def test_a_yanked_release_is_taken_only_under_its_exact_version(places: Places, server: IndexServer) -> None:
    server.offer(Distribution("solo", "1.0", yanked="breaks logins"))
    error = refused("solo", places, server)
    assert (error.code, error.message, error.hint, found("solo==1.0", places, server).core.version) == (
        "yanked-only",
        "solo 1.0 cannot be used with cpython-3.11.7-linux-x86_64: breaks logins",
        "write `solo==1.0` to take it all the same",
        "1.0",
    )


def test_a_pre_release_is_taken_when_it_is_named_or_when_there_is_nothing_else(
    places: Places, server: IndexServer
) -> None:
    server.offer(Distribution("embryo", "0.1a1"))
    versions = [
        found("hermes-agent==0.20.0rc1", places, server).core.version,
        found("hermes-agent>=0.20.0a0", places, server).core.version,
        found("embryo", places, server).core.version,
    ]
    assert versions == ["0.20.0rc1", "0.20.0rc1", "0.1a1"]


def test_a_release_for_other_pythons_says_which(places: Places, server: IndexServer) -> None:
    target = LINUX_311._replace(python="3.14.0")
    error = refused("hermes-agent==0.19.0", places, server, target)
    assert isinstance(error, CoreNeedsPython)
    assert (error.code, error.requires_python, error.message, error.hint) == (
        "python-version",
        ">=3.11,<3.14",
        "hermes-agent 0.19.0 needs Python `>=3.11,<3.14`, the target has 3.14.0",
        "name another one with `pm.python`",
    )


def test_an_index_that_is_down_is_no_verdict(places: Places, server: IndexServer) -> None:
    server.__exit__(None, None, None)
    assert refused("hermes-agent", places, server).code == "index-unreachable"


# --- the embedded core ------------------------------------------------------------------------------------------------


def test_the_embedded_core_is_the_wheel_that_came_with_the_manager(places: Places) -> None:
    wheel = embedded_core_wheel()
    digest = sha256_of(wheel)
    hosted = found("", places)
    owner = Owner("core", "hermes-embedded-core")
    assert hosted.core.pin == Pin(
        name="hermes-embedded-core",
        version=hosted.core.version,
        artifact=Artifact(
            wheel.name, digest, path=f"../../wheels/{digest[:16]}/{wheel.name}", size=wheel.stat().st_size
        ),
        requires_python=hosted.core.requires_python,
        owners=(owner,),
    )
    assert (hosted.kind, hosted.setting, hosted.core.gate_version, hosted.names, core_from_json(stored(hosted))) == (
        "embedded",
        "",
        spoken_version(wheel),
        frozenset({"hermes-agent", "hermes-embedded-core"}),
        hosted,
    )


def test_finding_the_embedded_core_writes_nothing_outside_of_the_cache(places: Places) -> None:
    hosted = found("", places)
    found("", places, recorded=stored(hosted))
    assert (state_of(places), list(places.root.iterdir())) == (["cache"], [places.state])


def test_the_embedded_core_is_kept_where_its_lock_names_it(places: Places) -> None:
    hosted = found("", places)
    assert hosted.core.pin is not None
    keep_core(hosted, places)
    artifact = hosted.core.pin.artifact
    kept = (places.environment(EnvironmentNumber(7)) / artifact.path).resolve()
    assert sha256_of(kept) == artifact.sha256
    kept.write_bytes(b"damaged")
    keep_core(hosted, places)
    before = kept.stat()
    keep_core(hosted, places)
    assert (sha256_of(kept), kept.stat().st_ino) == (artifact.sha256, before.st_ino)


def test_a_recorded_embedded_core_of_another_manager_is_replaced_and_its_kept_wheel_still_serves(
    places: Places,
) -> None:
    hosted = found("", places)
    pin = hosted.core.pin
    assert pin is not None
    older = hosted._replace(core=hosted.core._replace(version="0.0.1", pin=another(pin, places)))
    assert found("", places, recorded=stored(hosted)) == hosted
    assert found("", places, recorded=stored(older)) == hosted
    keep_core(older, places)


def another(pin: Pin, places: Places) -> Pin:
    """Keep the wheel of another manager's core, and return its pin."""
    kept = places.wheels / "0123456789abcdef" / "hermes_embedded_core-0.0.1-py3-none-any.whl"
    kept.parent.mkdir(parents=True)
    kept.write_bytes(b"the core of another manager")
    artifact = Artifact(kept.name, sha256_of(kept), path=f"../../wheels/{kept.parent.name}/{kept.name}")
    return pin._replace(version="0.0.1", artifact=artifact)


def test_a_core_of_another_manager_that_nobody_kept_is_said_to_be_gone(places: Places) -> None:
    hosted = found("", places)
    pin = hosted.core.pin
    assert pin is not None
    older = hosted._replace(core=hosted.core._replace(pin=another(pin, places)))
    folder = places.wheels / "0123456789abcdef"
    (folder / "hermes_embedded_core-0.0.1-py3-none-any.whl").unlink()
    with pytest.raises(PmError) as caught:
        keep_core(older, places)
    name = "hermes_embedded_core-0.0.1-py3-none-any.whl"
    more = "and this version of the manager carries another one"
    assert (caught.value.code, caught.value.message, caught.value.hint, list(folder.iterdir())) == (
        "hash-mismatch",
        f"this generation's wheel of the embedded core, `{name}`, is not kept in `{folder}`, {more}",
        "`hermes pm init` moves to the embedded core of this manager",
        [],
    )


def test_the_embedded_core_changes_with_its_wheel_and_a_release_never(places: Places, server: IndexServer) -> None:
    cores = [found("", places), found("hermes-agent", places, server)]
    assert [paths_of_core(stored(hosted)) for hosted in cores] == [(embedded_core_wheel(),), ()]


def test_an_installation_without_the_embedded_core_says_so(places: Places) -> None:
    program = (
        "from pm.host.embedded import embedded_core_wheel\n"
        "try:\n    embedded_core_wheel()\n"
        "except Exception as error:\n    print(error.code, error, error.hint, sep='; ')"
    )
    places.root.mkdir()
    root = Path(__file__).parent.parent.parent
    done = run(
        [default_interpreter(), "-S", "-c", program], environment={"PYTHONPATH": str(root)}, directory=places.root
    )
    said = "the embedded core's wheel is missing from this installation of `hermes-plugin-manager`"
    hint = "install `hermes-plugin-manager` again, or name another core with `--core`"
    assert (done.stdout, done.stderr) == (f"not-found-on-index; {said}; {hint}\n", "")


@pytest.mark.parametrize(
    ("written", "meant"),
    [("0.19.0", "==0.19.0"), ("v0.19.0", "==0.19.0"), ("==0.19.0", "==0.19.0"), (">=0.18,<0.20", ">=0.18,<0.20")],
)
def test_a_version_without_a_name_is_told_with_the_name(home: Home, written: str, meant: str) -> None:
    answer = home.ask("pm", "init", "--core", written)
    [reason], [step] = answer.value["reasons"], answer.value["steps"]
    assert (reason["code"], reason["hint"]) == ("invalid-declaration", f"did you mean `hermes-agent{meant}`?")
    assert shlex.split(step["command"]) == ["hermes", "pm", "init", "--core", f"hermes-agent{meant}"]
    home.configure(f"  core: {written!r}\n")
    answer = home.ask("pm", "init")
    assert (answer.value["reasons"][0]["hint"], answer.steps) == (f"did you mean `hermes-agent{meant}`?", ["retry "])
