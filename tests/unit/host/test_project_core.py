"""A project's folder as the core: what is hard, what is preferred, and what is wrong with its files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from admission import Core, Origin, Owner, Problem, Requirement
from fixtures.wheels import LINUX_311
from pm.errors import PmError
from pm.host.core import HostedCore, core_from_json, core_to_json, find_core, paths_of_core
from pm.host.core_setting import core_names, is_project
from pm.host.project_core import named_project
from pm.index import IndexOptions, open_index
from pm.index.package_sources import Sources
from pm.places import Places

OWNER = Owner("core", "hermes-agent")
AT = "the core's `pyproject.toml`"
NO_FILES: Mapping[str, str] = {}
HEAD = '[project]\nname = "hermes-agent"\nversion = "0.19.0"\n'


def find(root: Path, setting: str, recorded: HostedCore | None = None) -> HostedCore:
    """Find the core of a root whose sources are empty: a project needs none."""
    value = json.loads(json.dumps(core_to_json(recorded, LINUX_311))) if recorded is not None else {}
    places = Places(root, root)
    with open_index(places.cache, LINUX_311, Sources(), IndexOptions(offline=True)) as index:
        return find_core(setting, places, LINUX_311, index, recorded=value)


def project(folder: Path, text: str, files: Mapping[str, str] = NO_FILES) -> Path:
    """Write a project and further files of it."""
    for name, content in {"pyproject.toml": text, **files}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    return folder


def core_of(tmp_path: Path, text: str, extras: str = "", files: Mapping[str, str] = NO_FILES) -> Core:
    return find(tmp_path / "root", f"{project(tmp_path / 'host', text, files)}{extras}").core


def fault(tmp_path: Path, text: str, extras: str = "", files: Mapping[str, str] = NO_FILES) -> PmError:
    with pytest.raises(PmError) as caught:
        core_of(tmp_path, text, extras, files)
    return caught.value


def told(error: PmError) -> tuple[str, str, str, int, str, str]:
    return (error.code, error.message, Path(error.file).name, error.line, error.key, error.hint)


def required(core: Core) -> list[tuple[str, str]]:
    return [(str(requirement.origin.owner), requirement.canonical) for requirement in core.requirements]


# --- what is hard -----------------------------------------------------------------------------------------------------


def test_the_folder_says_what_the_core_is_and_needs(tmp_path: Path) -> None:
    text = f"""{HEAD}requires-python = ">=3.11,<3.14"
dependencies = [
    "httpx[socks]==0.28.1",
    "tzdata==2025.3; sys_platform == 'win32'",
]
"""
    folder = project(tmp_path / "host", text)
    key = "project.dependencies"
    assert find(tmp_path / "root", str(folder)) == HostedCore(
        core=Core(
            name="hermes-agent",
            version="0.19.0",
            requirements=(
                Requirement(
                    name="httpx",
                    origin=Origin(OWNER, "pyproject.toml", 6, key),
                    specifier="==0.28.1",
                    extras=("socks",),
                    text="httpx[socks]==0.28.1",
                ),
                Requirement(
                    name="tzdata",
                    origin=Origin(OWNER, "pyproject.toml", 7, key),
                    specifier="==2025.3",
                    marker='sys_platform == "win32"',
                    text="tzdata==2025.3; sys_platform == 'win32'",
                ),
            ),
            requires_python="<3.14,>=3.11",
        ),
        kind="project",
        setting=str(folder),
        bundled={},
        folder=str(folder),
    )


def test_a_core_that_is_a_project_survives_its_record(tmp_path: Path) -> None:
    text = HEAD + 'dependencies = ["httpx>=0.28", ""]\n[project.optional-dependencies]\nvoice = ["numpy==2.4.3"]\n'
    folder = project(tmp_path / "host", text, {"plugins/memory/mem0/plugin.yaml": "name: mem0\n"})
    hosted = find(tmp_path / "root", f"{folder}[voice]")
    assert hosted.notes == (
        Problem(
            "invalid-declaration",
            "the item is blank, and is ignored",
            f"{folder}/pyproject.toml",
            4,
            33,
            "project.dependencies[1]",
        ),
    )
    value = json.loads(json.dumps(core_to_json(hosted, LINUX_311)))
    assert core_from_json(value) == hosted


def test_plugins_in_the_folder_are_bundled(tmp_path: Path) -> None:
    folder = project(
        tmp_path / "host",
        HEAD,
        {
            "plugins/disk/plugin.yaml": "name: disk\npip_dependencies: [hermes-agent>=0.18, psutil]\n",
            "plugins/memory/mem0/plugin.yaml": "name: mem0\n",
        },
    )
    bundled = find(tmp_path / "root", str(folder)).bundled
    asked = [(requirement.name, requirement.specifier) for requirement in bundled["disk"].gates]
    assert (sorted(bundled), asked) == (["disk", "memory/mem0"], [("hermes-agent", ">=0.18")])


# --- extras -----------------------------------------------------------------------------------------------------------

EXTRAS = """dependencies = ["httpx"]
[project.optional-dependencies]
Voice_Chat = ["numpy==2.4.3"]
cli = ["simple-term-menu==1.6.6"]
all = ["hermes-agent[cli]", "hermes-agent[voice.chat]"]
dev = ["pytest @ git+https://example.invalid/pytest.git"]
"""


def test_chosen_extras_are_part_of_the_core_and_say_so(tmp_path: Path) -> None:
    core = core_of(tmp_path, HEAD + EXTRAS, "[voice-chat]")
    assert (required(core), core.extras, core.requirements[1].origin) == (
        [("core:hermes-agent", "httpx"), ("core-extra:voice-chat", "numpy==2.4.3")],
        ("voice-chat",),
        Origin(Owner("core-extra", "voice-chat"), "pyproject.toml", 6, "project.optional-dependencies.Voice_Chat"),
    )


def test_an_extra_that_is_written_as_other_extras_brings_them(tmp_path: Path) -> None:
    core = core_of(tmp_path, HEAD + EXTRAS, "[ALL]")
    assert (required(core), core.extras) == (
        [
            ("core:hermes-agent", "httpx"),
            ("core-extra:cli", "simple-term-menu==1.6.6"),
            ("core-extra:voice-chat", "numpy==2.4.3"),
        ],
        ("all",),
    )


def test_an_unknown_extra_is_refused_with_those_that_there_are(tmp_path: Path) -> None:
    error = fault(tmp_path, HEAD + EXTRAS, "[voice]")
    text = f"the core in `{tmp_path / 'host'}` has no extra `voice`"
    assert told(error) == ("unknown-extra", text, "", 0, "pm.core", "it has all, cli, dev, voice-chat")


def test_an_extra_of_a_project_without_any_is_refused(tmp_path: Path) -> None:
    assert fault(tmp_path, HEAD, "[voice]").hint == "it has none"


def test_an_address_counts_only_in_an_extra_that_was_chosen(tmp_path: Path) -> None:
    said = "`pytest @ git+https://example.invalid/pytest.git` points to a repository, which would have to be built"
    assert told(fault(tmp_path, HEAD + EXTRAS, "[dev]")) == (
        "direct-url",
        f"{AT} line 9: {said}",
        "pyproject.toml",
        9,
        "project.optional-dependencies.dev[0]",
        "name a version of an index: the core's requirements are resolved like all others",
    )


def test_an_extra_that_asks_for_one_that_is_missing_is_noted(tmp_path: Path) -> None:
    text = HEAD + '[project.optional-dependencies]\nall = ["hermes-agent[web]"]\n'
    folder = project(tmp_path / "host", text)
    assert find(tmp_path / "root", f"{folder}[all]").notes == (
        Problem(
            "unknown-extra",
            "`hermes-agent[web]`: there is no extra `web` here",
            f"{folder}/pyproject.toml",
            5,
            0,
            "project.optional-dependencies.all",
        ),
    )


# --- preferences ------------------------------------------------------------------------------------------------------

UV_LOCK = """version = 1
requires-python = ">=3.11"

[[package]]
name = "hermes-agent"
version = "0.19.0"
source = { editable = "." }

[[package]]
name = "Typing_Extensions"
version = "4.15.0"
source = { registry = "https://index.invalid/simple" }

[[package]]
name = "numpy"
version = "2.2.6"
source = { registry = "https://index.invalid/simple" }
resolution-markers = ["python_full_version < '3.12'"]

[[package]]
name = "numpy"
version = "2.4.3"
source = { registry = "https://index.invalid/simple" }

[[package]]
name = "pywinpty"
version = "3.0.2"
source = { registry = "https://index.invalid/simple" }

[[package]]
name = "patched"
version = "1.0"
source = { git = "https://git.invalid/patched?rev=main#0123" }

[[package]]
name = "odd"
version = "not a version"
source = { registry = "https://index.invalid/simple" }
"""
PYLOCK = """lock-version = "1.0"
created-by = "somebody"

[[packages]]
name = "httpx"
version = "0.28.1"

[[packages]]
name = "patched"
version = "1.0"
vcs = { type = "git", url = "https://git.invalid/patched", commit-id = "0123" }
"""


def test_the_versions_of_the_lock_are_preferred_unless_it_has_several(tmp_path: Path) -> None:
    core = core_of(tmp_path, HEAD, files={"uv.lock": UV_LOCK, "pylock.toml": PYLOCK})
    assert core.preferences == {"pywinpty": "==3.0.2", "typing-extensions": "==4.15.0"}


def test_without_a_lock_of_uv_the_standard_one_is_read(tmp_path: Path) -> None:
    assert core_of(tmp_path, HEAD, files={"pylock.toml": PYLOCK}).preferences == {"httpx": "==0.28.1"}


def test_exact_pins_of_all_extras_are_preferred_where_the_lock_says_nothing(tmp_path: Path) -> None:
    text = f"""{HEAD}[project.optional-dependencies]
mem0 = ["mem0ai==2.0.10", "httpx==0.27"]
honcho = ["honcho-ai==2.2.0; sys_platform == 'win32'", "numpy==2.*", "rich>=14,<15", "fire==0.7.1,!=0.8"]
"""
    core = core_of(tmp_path, text, files={"pylock.toml": PYLOCK})
    assert (core.preferences, core.requirements) == ({"httpx": "==0.28.1", "mem0ai": "==2.0.10"}, ())


def test_a_lock_may_be_larger_than_any_declaration(tmp_path: Path) -> None:
    package = '[[package]]\nname = "p{0}"\nversion = "1.{0}"\nsource = {{ registry = "x" }}\n'
    lock = "".join(package.format(number) for number in range(20_000))
    assert (len(lock) > 1024 * 1024, len(core_of(tmp_path, HEAD, files={"uv.lock": lock}).preferences)) == (
        True,
        20_000,
    )


@pytest.mark.parametrize(
    ("lock", "message", "line"),
    [
        ("version = 1\n<<<<<<< HEAD\n", "this is not TOML: invalid statement", 2),
        ("a = " + "[" * 100_000, "the file is nested too deep", 0),
        ("a = '\0'", "the file holds NUL bytes: it is not text", 1),
    ],
)
def test_a_lock_that_cannot_be_read_is_a_fault_with_a_way_out(
    tmp_path: Path, lock: str, message: str, line: int
) -> None:
    error = fault(tmp_path, HEAD, files={"uv.lock": lock})
    assert (error.code, Path(error.file).name, error.line, error.hint) == (
        "invalid-declaration",
        "uv.lock",
        line,
        "write it again, or delete it: its versions are only preferred",
    )
    assert error.message.endswith(message)


@pytest.mark.parametrize("lock", ["", "package = 3\n", "package = [1, { name = 'x' }]\n", "version = 99\n"])
def test_a_lock_that_says_nothing_prefers_nothing(tmp_path: Path, lock: str) -> None:
    assert core_of(tmp_path, HEAD, files={"uv.lock": lock}).preferences == {}


# --- versions ---------------------------------------------------------------------------------------------------------

DYNAMIC = '[project]\nname = "hermes-agent"\ndynamic = ["version"]\n'


def test_what_the_project_speaks_answers_for_its_version(tmp_path: Path) -> None:
    core = core_of(tmp_path, HEAD + '[tool.hermes-pm]\nspeaks = "0.20.0"\n')
    assert (core.version, core.gate_version) == ("0.19.0", "0.20.0")


@pytest.mark.parametrize(
    ("table", "files"),
    [
        ("[tool.hermes-pm]\nspeaks = '0.21.0'\n", {}),
        ("[tool.setuptools.dynamic]\nversion = { file = 'VERSION.txt' }\n", {"VERSION.txt": "0.21.0\n"}),
        ("[tool.setuptools.dynamic]\nversion = { file = ['VERSION.txt'] }\n", {"VERSION.txt": "0.21.0\n"}),
        (
            "[tool.setuptools.dynamic]\nversion = { attr = 'hermes.release.number' }\n",
            {"src/hermes/release.py": "import os\nnumber: str = '0.21.0'\n"},
        ),
        (
            "[tool.setuptools.dynamic]\nversion = { attr = 'hermes.__version__' }\n",
            {"hermes/__init__.py": "__version__ = '0.21.0'\n"},
        ),
        ("[tool.hatch.version]\npath = 'hermes/about.py'\n", {"hermes/about.py": '__version__ = "v0.21.0"\n'}),
    ],
)
def test_a_dynamic_version_is_read_where_it_is_written(tmp_path: Path, table: str, files: dict[str, str]) -> None:
    assert core_of(tmp_path, DYNAMIC + table, files=files).version == "0.21.0"


@pytest.mark.parametrize(
    "table",
    [
        "",
        "[tool.setuptools.dynamic]\nversion = { file = '../secret' }\n",
        '[tool.setuptools.dynamic]\nversion = { file = "nul\\u0000" }\n',
        "[tool.setuptools.dynamic]\nversion = { file = ['a', 'b'] }\n",
        "[tool.setuptools.dynamic]\nversion = { attr = 'missing.version' }\n",
        "[tool.setuptools]\ndynamic = 3\n",
        "[tool.hatch.version]\nsource = 'vcs'\n",
        "[tool.hatch.version]\npath = 'about.py'\npattern = 'v = (.*)'\n",
    ],
)
def test_a_dynamic_version_that_only_a_build_knows_is_refused_with_two_ways_out(tmp_path: Path, table: str) -> None:
    (tmp_path / "secret").write_text("6.6.6")
    error = fault(tmp_path, DYNAMIC + table, files={"about.py": '__version__ = "0.21.0"\n'})
    assert told(error) == (
        "invalid-declaration",
        f"{AT} line 3: `project.version` is `dynamic`: known only after a build, and nothing is run to read it",
        "pyproject.toml",
        3,
        "project.dynamic",
        'write `version = "…"` in `[project]`, or `speaks = "…"` in `[tool.hermes-pm]`: plugins ask for it',
    )


# --- faults -----------------------------------------------------------------------------------------------------------


def test_all_faults_are_told_at_once_each_with_its_place(tmp_path: Path) -> None:
    text = """[project]
version = "nineteen"
dependencies = ["httpx=>0.28", "./local", "hermes-agent @ https://example.invalid/h.whl"]
[project.optional-dependencies]
web = ["no spaces please"]
bad = "numpy"
[tool.hermes-pm]
speaks = 19.1
"""
    error = fault(tmp_path, text, files={"uv.lock": "="})
    expected = "expected semicolon (after name with no version specifier) or end"
    more = "name a version of an index: the core's requirements are resolved like all others"
    assert told(error) == (
        "invalid-declaration",
        f"""the core's project has 9 faults
| `pyproject.toml` line 1: `project.name` is missing
|   write `name = "hermes-agent"`
| `pyproject.toml` line 2: `nineteen` is not a version
|   write one such as `0.19.0`
| `pyproject.toml` line 3: `httpx=>0.28` is not a requirement: {expected}
| httpx=>0.28
|      ^
|   write `httpx>=0.28`
| `pyproject.toml` line 3: `./local` is an address and names no package
|   {more}
| `pyproject.toml` line 3: `hermes-agent @ https://example.invalid/h.whl` requires another copy of the core
|   {more}
| `pyproject.toml` line 5: `no spaces please` is not a requirement: {expected}
| no spaces please
|    ^
| `pyproject.toml` line 6: `project.optional-dependencies.bad` must be an array of strings
| `pyproject.toml` line 8: `tool.hermes-pm.speaks` must be a string
| `uv.lock` line 1: this is not TOML: invalid statement
|   write it again, or delete it: its versions are only preferred""",
        "pyproject.toml",
        1,
        "project.name",
        "",
    )


@pytest.mark.parametrize(
    ("text", "line", "message", "hint"),
    [
        (
            "[tool.poetry]\nname = 'x'\n",
            0,
            "`{file}` has no `[project]`, so it does not say what the core needs",
            "write its name, version and dependencies there",
        ),
        (
            HEAD + 'dynamic = ["dependencies"]\n',
            4,
            f"{AT} line 4: the requirements are `dynamic`: known only after a build, and nothing is run to read them",
            "write them under `[project]` as `dependencies = [...]`",
        ),
        (
            '[project]\nname = "acme"\nversion = "1"\ndependencies = ["Hermes-Agent[cli]==0.19.0"]\n',
            4,
            f"{AT} line 4: `Hermes-Agent[cli]==0.19.0` asks for a core, and this project is to be the core itself",
            "name that release instead: `pm.core: hermes-agent[cli]==0.19.0`",
        ),
        (
            "[project\n",
            1,
            f"{AT} line 1: this is not TOML: expected ']' at the end of a table declaration",
            "",
        ),
        ("project = 3\n", 1, f"{AT} line 1: `project` must be a table, not an integer", ""),
    ],
)
def test_a_file_that_is_no_core_is_refused_with_its_place(
    tmp_path: Path, text: str, line: int, message: str, hint: str
) -> None:
    error = fault(tmp_path, text)
    file = f"{tmp_path}/host/pyproject.toml"
    assert (error.message, error.hint, error.file, error.line) == (message.format(file=file), hint, file, line)


def test_a_folder_without_a_project_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    hint = "the core is a folder with a `pyproject.toml`, or a release such as `hermes-agent==0.19.0`"
    said = []
    for name in ("empty", "gone"):
        with pytest.raises(PmError) as caught:
            find(tmp_path / "root", f"{tmp_path}/{name}")
        said.append((caught.value.code, caught.value.message, caught.value.hint, caught.value.key))
    assert said == [
        ("invalid-declaration", f"the folder `{tmp_path}/empty` has no `pyproject.toml`", hint, "pm.core"),
        ("invalid-declaration", f"the folder `{tmp_path}/gone` is not there", hint, "pm.core"),
    ]


# --- the setting ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("/srv/hermes", True),
        ("./hermes", True),
        ("..", True),
        ("~/hermes", True),
        ("checkouts/hermes[voice]", True),
        ("hermes-agent", False),
        ("hermes-agent==0.19.0", False),
        ("hermes-agent[voice]>=0.18,<0.20", False),
        ("hermes-agent @ https://example.invalid/h.whl", False),
    ],
)
def test_a_project_is_told_from_a_release_by_its_spelling(setting: str, *, expected: bool) -> None:
    assert is_project(setting) == expected


def test_a_folder_called_like_the_core_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project(tmp_path / "hermes-agent", HEAD)
    monkeypatch.chdir(tmp_path)
    assert (is_project("hermes-agent"), core_names("hermes-agent")) == (False, frozenset({"hermes-agent"}))


def test_a_relative_folder_is_relative_to_the_root_and_a_tilde_to_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/somebody")
    (tmp_path / "odd[1]").mkdir()
    named = [named_project(text, tmp_path) for text in ("../host/.", "~/host[b,A_c, ]", "/srv/host[]", "./odd[1]")]
    assert [(str(one.folder), one.extras) for one in named] == [
        (f"{tmp_path.parent}/host", ()),
        ("/home/somebody/host", ("a-c", "b")),
        ("/srv/host", ()),
        (f"{tmp_path}/odd[1]", ()),
    ]


def test_the_setting_is_kept_as_written_and_the_folder_is_absolute(tmp_path: Path) -> None:
    project(tmp_path / "host", HEAD)
    hosted = find(tmp_path / "root", "../host")
    assert (hosted.setting, hosted.folder, hosted.names) == ("../host", f"{tmp_path}/host", frozenset({"hermes-agent"}))


# --- reading again ----------------------------------------------------------------------------------------------------


def test_a_changed_file_is_read_again_and_nothing_is_written_outside_of_the_cache(tmp_path: Path) -> None:
    table = "[tool.setuptools.dynamic]\nversion = { file = 'VERSION.txt' }\n"
    folder = project(tmp_path / "host", DYNAMIC + table, {"VERSION.txt": "1.0"})
    root = tmp_path / "root"
    seen = [find(root, str(folder)).core]
    (folder / "VERSION.txt").write_text("2.0")
    seen.append(find(root, str(folder)).core)
    (folder / "pylock.toml").write_text(PYLOCK)
    seen.append(find(root, str(folder)).core)
    (folder / "uv.lock").write_text(UV_LOCK)
    seen.append(find(root, str(folder)).core)
    assert [(core.version, list(core.preferences)) for core in seen] == [
        ("1.0", []),
        ("2.0", []),
        ("2.0", ["httpx"]),
        ("2.0", ["pywinpty", "typing-extensions"]),
    ]
    assert sorted(path.relative_to(root).as_posix() for path in root.iterdir()) == ["pm"]
    assert [path.name for path in (root / "pm").iterdir()] == ["cache"]


def test_the_files_that_can_change_a_recorded_project_are_known(tmp_path: Path) -> None:
    folder = project(tmp_path / "host", HEAD)
    hosted = find(tmp_path / "root", str(folder))
    assert paths_of_core(core_to_json(hosted, LINUX_311)) == (
        folder / "pyproject.toml",
        folder / "uv.lock",
        folder / "pylock.toml",
        folder / "plugins",
    )


def test_a_recorded_project_is_read_again(tmp_path: Path) -> None:
    folder = project(tmp_path / "host", HEAD)
    recorded = find(tmp_path / "root", str(folder))
    unchanged = find(tmp_path / "root", str(folder), recorded)
    project(folder, HEAD.replace("0.19.0", "0.20.0"))
    assert (unchanged, find(tmp_path / "root", str(folder), recorded).core.version) == (recorded, "0.20.0")


def test_what_was_read_is_not_parsed_again(tmp_path: Path) -> None:
    folder = project(tmp_path / "host", HEAD)
    first = find(tmp_path / "root", str(folder))
    (kept,) = (tmp_path / "root" / "pm" / "cache" / "read").glob("*.json")
    before = kept.stat().st_mtime_ns
    assert (find(tmp_path / "root", str(folder)), kept.stat().st_mtime_ns) == (first, before)
