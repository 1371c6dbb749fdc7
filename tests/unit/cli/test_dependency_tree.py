"""Why a package is in a generation, and what needs what: exact as JSON and as text at several widths."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from admission import Core, Declaration, Origin, Owner, Requirement, Target, declaration_digest, parse_requirement
from lockfiles import Artifact, Edge, Lock, Pin
from pm.cli.dependency_tree import UnknownPackage, tree_text, tree_to_json, why_text, why_to_json
from pm.generations.records import Member, Record
from pm.host.core import HostedCore, core_to_json
from pm.limits import TREE_LEVELS
from pm.places import EnvironmentNumber, GenerationNumber

CORE = Owner("core", "hermes-agent")
EXTRA = Owner("core-extra", "honcho")
MEM0 = Owner("plugin", "memory/mem0")
WEB = Owner("plugin", "web")
INDEX = "https://index.example.invalid/simple"
TARGET = Target("cpython-3.11.7-linux-x86_64", "3.11.7", (), ())


def pin(name: str, version: str, *edges: Edge, owners: tuple[Owner, ...] = (), extras: tuple[str, ...] = ()) -> Pin:
    file = f"{name}-{version}-py3-none-any.whl"
    artifact = Artifact(file, "0" * 64, url=f"https://files.example.invalid/{file}")
    return Pin(name, version, artifact, index=INDEX, extras=extras, owners=owners, edges=edges)


def asked(owner: Owner, *texts: str) -> tuple[Requirement, ...]:
    return tuple(parse_requirement(text, Origin(owner, "pyproject.toml", 1, "project.dependencies")) for text in texts)


def member(key: str, version: str, *texts: str) -> Member:
    requirements = asked(Owner("plugin", key), *texts)
    declaration = Declaration(key=key, name=key, version=version, requirements=requirements)
    return Member(declaration, "user", f"/home/plugins/{key}", ("default",), declaration_digest(declaration))


def record(lock: Lock, members: tuple[Member, ...], core: Core) -> Record:
    return Record(
        generation=GenerationNumber(3),
        environment=EnvironmentNumber(3),
        lock=lock,
        lock_digest="sha256:1",
        fingerprint="sha256:2",
        core=core_to_json(HostedCore(core, "release", "hermes-agent==0.19.0", {}), TARGET),
        interpreter="/usr/bin/python3.11",
        target=TARGET.name,
        members=members,
        selections={},
        consents={},
        exclude_newer="",
        operation="install",
        receipt="0a1b2c3d4e",
        created_at="2026-01-31T10:15:30.123Z",
    )


HOST = pin(
    "hermes-agent", "0.19.0", Edge("honcho-ai", "==2.2.0", extra="honcho"), Edge("httpx", "==0.28.1", ("socks",))
)
RECORD = record(
    Lock(
        (
            pin("anyio", "4.12.1", Edge("idna", ">=2.8")),
            HOST._replace(owners=(CORE,), extras=("honcho",)),
            pin("honcho-ai", "2.2.0", Edge("httpx", "<1"), owners=(EXTRA,)),
            pin(
                "httpx",
                "0.28.1",
                Edge("anyio"),
                Edge("idna"),
                Edge("socksio", "==1.*", extra="socks"),
                owners=(CORE, WEB),
                extras=("socks",),
            )._replace(requires_python=">=3.8"),
            pin("idna", "3.11"),
            pin("mem0ai", "2.0.10", Edge("protobuf", ">=5.29.6,<7"), Edge("qdrant-client", ">=1.9"), owners=(MEM0,)),
            pin("old-friend", "1.0", Edge("older", ">1"), Edge("idna")),
            pin("older", "2.0"),
            pin("protobuf", "6.33.4"),
            pin("qdrant-client", "1.16.0", Edge("httpx", ">=0.20", ("http2",)), Edge("protobuf", ">=3.20")),
            pin("socksio", "1.0.0"),
        )
    ),
    (
        member("memory/mem0", "2.0.0", "mem0ai>=2.0.10,<3"),
        member("quiet", "0.1"),
        member("web", "1.2", "httpx>=0.27", "HTTPX <1"),
    ),
    Core(
        "hermes-agent",
        "0.19.0",
        (*asked(CORE, "httpx[socks]==0.28.1"), *asked(EXTRA, "honcho-ai==2.2.0")),
        pin=HOST,
        extras=("honcho",),
    ),
)


# -- why


def test_why_tells_every_owner_with_the_shortest_chain_to_the_package() -> None:
    assert why_to_json(RECORD, "idna") == {
        "package": "idna",
        "version": "3.11",
        "index": INDEX,
        "path": "",
        "owners": [
            {"kind": "core", "name": "hermes-agent"},
            {"kind": "plugin", "name": "web"},
            {"kind": "core-extra", "name": "honcho"},
            {"kind": "plugin", "name": "memory/mem0"},
        ],
        "chains": [
            ["httpx[socks]==0.28.1", "idna"],
            ["httpx>=0.27, HTTPX <1", "idna"],
            ["honcho-ai==2.2.0", "httpx<1", "idna"],
            ["mem0ai>=2.0.10,<3", "qdrant-client>=1.9", "httpx[http2]>=0.20", "idna"],
        ],
        "extras": [],
        "requires_python": "",
        "generation": 3,
    }


@pytest.mark.parametrize("spelling", ["Qdrant_Client", " qdrant-client", "QDRANT.CLIENT"])
def test_the_name_of_a_package_may_be_spelled_as_everywhere(spelling: str) -> None:
    assert why_to_json(RECORD, spelling)["package"] == "qdrant-client"


def test_the_core_is_there_because_it_is_the_core() -> None:
    why = why_to_json(RECORD, "hermes-agent")
    assert (why["version"], why["owners"], why["chains"]) == (
        "0.19.0",
        [{"kind": "core", "name": "hermes-agent"}],
        [["hermes-agent==0.19.0"]],
    )


def test_the_name_of_the_host_means_the_embedded_core_too() -> None:
    owner = Owner("core", "hermes-embedded-core")
    host = pin("hermes-embedded-core", "0.1.0", owners=(owner,))
    embedded = record(Lock((host,)), (), Core("hermes-embedded-core", "0.1.0", speaks="0.19.0", pin=host))
    assert why_to_json(embedded, "Hermes_Agent") == why_to_json(embedded, "hermes-embedded-core")


def test_a_core_that_is_a_project_and_not_installed_is_told_with_its_folder() -> None:
    hosted = HostedCore(Core("hermes-agent", "0.20.0.dev0"), "project", "./hermes", {}, "/src/hermes")
    project = RECORD._replace(lock=Lock(()), members=(), core=core_to_json(hosted, TARGET))
    assert why_text(why_to_json(project, "hermes-agent"), width=80) == (
        "hermes-agent 0.20.0.dev0\n"
        "  from /src/hermes\n"
        "  required by\n"
        "    core hermes-agent\n"
        "      hermes-agent==0.20.0.dev0\n"
        "  in generation 3"
    )
    assert tree_text(tree_to_json(project), width=80) == "core hermes-agent 0.20.0.dev0: requires no package"


def test_a_package_that_nobody_asks_for_any_more_has_no_owners() -> None:
    why = why_to_json(RECORD, "older")
    assert (why["owners"], why["chains"]) == ([], [])


@pytest.mark.parametrize(
    ("package", "message"),
    [
        ("htpx", "no package `htpx` is in the selected generation; did you mean `httpx`?"),
        ("old", "no package `old` is in the selected generation; did you mean `older`?"),
        ("zzz", "no package `zzz` is in the selected generation"),
        ("a\x1b[2J", "no package `a\\x1b[2J` is in the selected generation"),
        (
            "x @ https://me:pw@example.invalid/x",
            "no package `x @ https://****@example.invalid/x` is in the selected generation",
        ),
    ],
)
def test_a_name_that_is_not_there_is_refused_with_those_that_are_near(package: str, message: str) -> None:
    with pytest.raises(UnknownPackage) as caught:
        why_to_json(RECORD, package)
    assert str(caught.value) == message
    with pytest.raises(UnknownPackage) as caught:
        tree_to_json(RECORD, invert=package)
    assert str(caught.value) == message


def test_what_a_member_wrote_reaches_nobody_with_its_credentials() -> None:
    asking = (member("web", "1", "idna @ https://me:secret@example.invalid/idna.whl"),)
    value = why_to_json(record(Lock((pin("idna", "3.11", owners=(WEB,)),)), asking, Core("hermes-agent", "1")), "idna")
    assert value["chains"] == [["idna @ https://****@example.invalid/idna.whl"]]


HTTPX_80 = """\
httpx 0.28.1
  from https://index.example.invalid/simple
  for Python >=3.8
  with the extras socks
  required by
    core hermes-agent
      httpx[socks]==0.28.1
    plugin web
      httpx>=0.27, HTTPX <1
    core-extra honcho
      honcho-ai==2.2.0
      → httpx<1
    plugin memory/mem0
      mem0ai>=2.0.10,<3
      → qdrant-client>=1.9
      → httpx[http2]>=0.20
  in generation 3"""


def test_why_reads_from_the_owner_down_to_the_package() -> None:
    assert why_text(why_to_json(RECORD, "httpx"), width=80) == HTTPX_80


def test_a_terminal_that_knows_ascii_only_gets_nothing_else() -> None:
    assert why_text(why_to_json(RECORD, "httpx"), width=80, ascii=True) == HTTPX_80.replace("→", "->")


def test_a_package_of_a_folder_that_nobody_needs_says_both() -> None:
    lonely = pin("older", "2.0")._replace(
        artifact=Artifact("older.whl", "0" * 64, path="../../wheels/a/older.whl"), index=""
    )
    value = why_to_json(RECORD._replace(lock=Lock((lonely,))), "older")
    assert why_text(value, width=80) == (
        "older 2.0\n"
        "  from ../../wheels/a/older.whl\n"
        "  no longer required: the next build leaves it out\n"
        "  in generation 3"
    )


def test_long_lines_are_broken_and_nothing_is_cut() -> None:
    value = why_to_json(RECORD, "httpx") | {"index": "https://index.example.invalid/" + "simple/" * 9}
    text = why_text(value, width=40)
    assert text.split("\n")[1:5] == [
        "  from https://index.example.invalid/sim",
        "    ple/simple/simple/simple/simple/simp",
        "    le/simple/simple/simple/",
        "  for Python >=3.8",
    ]


# -- trees


TREE_80 = """\
core hermes-agent 0.19.0
└── httpx 0.28.1 for httpx[socks]==0.28.1
    ├── anyio 4.12.1
    │   └── idna 3.11 for idna>=2.8
    ├── idna 3.11
    └── socksio 1.0.0 for socksio==1.*
core-extra honcho
└── honcho-ai 2.2.0 for honcho-ai==2.2.0
    └── httpx 0.28.1 for httpx<1 (*)
plugin memory/mem0 2.0.0
└── mem0ai 2.0.10 for mem0ai>=2.0.10,<3
    ├── protobuf 6.33.4 for protobuf>=5.29.6,<7
    └── qdrant-client 1.16.0 for qdrant-client>=1.9
        ├── httpx 0.28.1 for httpx[http2]>=0.20 (*)
        └── protobuf 6.33.4 for protobuf>=3.20
plugin quiet 0.1: requires no package
plugin web 1.2
└── httpx 0.28.1 for httpx>=0.27, HTTPX <1 (*)
no longer required: the next build leaves it out
└── old-friend 1.0
    ├── idna 3.11
    └── older 2.0 for older>1
(*) shown in full above"""


def test_a_tree_shows_what_each_owner_asks_for_and_every_package_in_full_once() -> None:
    assert tree_text(tree_to_json(RECORD), width=80) == TREE_80


TREE_ASCII_40 = """\
core hermes-agent 0.19.0
`-- httpx 0.28.1 for
    | httpx[socks]==0.28.1
    |-- anyio 4.12.1
    |   `-- idna 3.11 for idna>=2.8
    |-- idna 3.11
    `-- socksio 1.0.0 for socksio==1.*
core-extra honcho
`-- honcho-ai 2.2.0 for honcho-ai==2.2.0
    `-- httpx 0.28.1 for httpx<1 (*)
plugin memory/mem0 2.0.0
`-- mem0ai 2.0.10 for mem0ai>=2.0.10,<3
    |-- protobuf 6.33.4 for
    |     protobuf>=5.29.6,<7
    `-- qdrant-client 1.16.0 for
        | qdrant-client>=1.9
        |-- httpx 0.28.1 for
        |     httpx[http2]>=0.20 (*)
        `-- protobuf 6.33.4 for
              protobuf>=3.20
plugin quiet 0.1: requires no package
plugin web 1.2
`-- httpx 0.28.1 for httpx>=0.27, HTTPX
      <1 (*)
no longer required: the next build
  leaves it out
`-- old-friend 1.0
    |-- idna 3.11
    `-- older 2.0 for older>1
(*) shown in full above"""


def test_a_narrow_ascii_terminal_gets_broken_lines_with_their_rails() -> None:
    assert tree_text(tree_to_json(RECORD), width=40, ascii=True) == TREE_ASCII_40


INVERTED_80 = """\
httpx 0.28.1
├── core hermes-agent requires httpx[socks]==0.28.1
├── plugin web requires httpx>=0.27, HTTPX <1
├── honcho-ai 2.2.0 requires httpx<1
│   └── core-extra honcho requires honcho-ai==2.2.0
└── qdrant-client 1.16.0 requires httpx[http2]>=0.20
    └── mem0ai 2.0.10 requires qdrant-client>=1.9
        └── plugin memory/mem0 requires mem0ai>=2.0.10,<3"""


def test_an_inverted_tree_shows_who_asks_and_what_needs() -> None:
    assert tree_text(tree_to_json(RECORD, invert="HTTPX"), width=80) == INVERTED_80


def test_nothing_but_itself_asks_for_the_core() -> None:
    assert tree_text(tree_to_json(RECORD, invert="hermes-agent"), width=80) == (
        "hermes-agent 0.19.0\n└── core hermes-agent requires hermes-agent==0.19.0"
    )


def test_a_depth_leaves_out_what_hangs_lower_and_says_so() -> None:
    assert (
        tree_text(tree_to_json(RECORD, depth=1), width=80)
        == """\
core hermes-agent 0.19.0
└── httpx 0.28.1 for httpx[socks]==0.28.1 (+)
core-extra honcho
└── honcho-ai 2.2.0 for honcho-ai==2.2.0 (+)
plugin memory/mem0 2.0.0
└── mem0ai 2.0.10 for mem0ai>=2.0.10,<3 (+)
plugin quiet 0.1: requires no package
plugin web 1.2
└── httpx 0.28.1 for httpx>=0.27, HTTPX <1 (+)
no longer required: the next build leaves it out
└── old-friend 1.0 (+)
(+) has more below this depth"""
    )


def test_what_a_depth_cuts_is_shown_in_full_where_it_hangs_higher() -> None:
    pins = (
        pin("anyio", "4.12.1", Edge("httpx"), owners=(WEB,)),
        pin("httpx", "0.28.1", Edge("idna"), owners=(WEB,)),
        pin("idna", "3.11"),
    )
    own = member("web", "1", "anyio", "httpx>=0.27")
    value = tree_to_json(record(Lock(pins), (own,), Core("hermes-agent", "1")), depth=2)
    assert (
        tree_text(value, width=80)
        == """\
core hermes-agent 1: requires no package
plugin web 1
├── anyio 4.12.1
│   └── httpx 0.28.1 (+)
└── httpx 0.28.1 for httpx>=0.27
    └── idna 3.11
(+) has more below this depth"""
    )


def test_a_depth_counts_from_the_package_of_an_inverted_tree() -> None:
    assert (
        tree_text(tree_to_json(RECORD, invert="idna", depth=2), width=80)
        == """\
idna 3.11
├── anyio 4.12.1 requires idna>=2.8 (+)
├── httpx 0.28.1 requires idna (+)
└── old-friend 1.0 requires idna
(+) has more below this depth"""
    )


def test_the_json_of_a_tree_says_what_the_text_says() -> None:
    value = tree_to_json(RECORD)
    assert value["owners"][1] == {
        "kind": "core-extra",
        "name": "honcho",
        "version": "",
        "demands": [
            {
                "name": "honcho-ai",
                "version": "2.2.0",
                "requirement": "honcho-ai==2.2.0",
                "owners": [],
                "branches": [
                    {
                        "name": "httpx",
                        "version": "0.28.1",
                        "requirement": "httpx<1",
                        "owners": [],
                        "branches": [],
                        "repeated": True,
                        "deeper": False,
                    }
                ],
                "repeated": False,
                "deeper": False,
            }
        ],
    }
    assert (value["generation"], value["inverted"]) == (3, None)


def test_the_json_of_an_inverted_tree_names_the_owners() -> None:
    value = tree_to_json(RECORD, invert="honcho-ai")
    assert value == {
        "generation": 3,
        "owners": [],
        "rest": [],
        "inverted": {
            "name": "honcho-ai",
            "version": "2.2.0",
            "requirement": "",
            "owners": [{"kind": "core-extra", "name": "honcho", "requirement": "honcho-ai==2.2.0"}],
            "branches": [],
            "repeated": False,
            "deeper": False,
        },
    }


CHAIN = tuple(
    pin(f"package-number-{i:02}", "1.0", Edge(f"package-number-{i + 1:02}", f">={i}"), owners=(WEB,) if not i else ())
    for i in range(60)
)
DEEP = record(Lock((*CHAIN, pin("package-number-60", "1.0"))), (), Core("hermes-agent", "1"))


@pytest.mark.parametrize("ascii_only", [False, True])
@pytest.mark.parametrize("width", [40, 41, 79, 80, 100, 140])
def test_no_line_is_longer_than_the_terminal_however_deep_the_tree(width: int, *, ascii_only: bool) -> None:
    deep = record(DEEP.lock, (member("web", "1", "package-number-00"),), Core("hermes-agent", "1"))
    texts = [
        tree_text(tree_to_json(deep), width=width, ascii=ascii_only),
        tree_text(tree_to_json(RECORD), width=width, ascii=ascii_only),
        tree_text(tree_to_json(deep, invert="package-number-60"), width=width, ascii=ascii_only),
        why_text(why_to_json(deep, "package-number-60"), width=width, ascii=ascii_only),
    ]
    assert [line for text in texts for line in text.split("\n") if len(line) > width] == []
    assert [text.isascii() for text in texts] == [ascii_only] * 4
    assert ["package-number-60" in text for text in texts] == [True, False, True, True]


def test_what_commands_a_terminal_is_written_as_an_escape() -> None:
    hostile = record(
        Lock((pin("web", "1\x1b[31m\u202e", owners=(WEB,)),)), (member("web", "1\n\x07"),), Core("hermes-agent", "1")
    )
    assert tree_text(tree_to_json(hostile), width=80) == (
        "core hermes-agent 1: requires no package\nplugin web 1\\n\\x07\n└── web 1\\x1b[31m\\u202e"
    )


def test_explaining_loads_nothing_heavy() -> None:
    heavy = "{'dataclasses', 'inspect', 'logging', 'rich', 'tomlkit', 'tomllib', 'urllib3', 'yaml'}"
    program = f"import json, sys, pm.cli.dependency_tree; print(json.dumps(sorted({heavy} & set(sys.modules))))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[3]
    )
    assert json.loads(done.stdout) == []


# -- deep


def chain(length: int, *owners: Owner) -> Record:
    """Return a record in which each of many packages needs the next one."""
    first = pin("link-0000", "1.0", Edge("link-0001"), owners=owners)
    links = [pin(f"link-{number:04}", "1.0", Edge(f"link-{number + 1:04}")) for number in range(1, length - 1)]
    pins = (first, *links, pin(f"link-{length - 1:04}", "1.0"))
    return record(Lock(pins), (member("web", "1.2", "link-0000"),), Core("hermes-agent", "0.19.0"))


@pytest.mark.parametrize("owners", [(WEB,), ()])
def test_a_chain_of_thousands_is_shown_to_the_deepest_level_that_programs_can_read(owners: tuple[Owner, ...]) -> None:
    """Fault G3."""
    deep = chain(2_000, *owners)
    value = tree_to_json(deep)
    lines = tree_text(value, width=120).splitlines()
    assert json.loads(json.dumps(value, indent=2)) == value
    assert sum("link-" in line for line in lines) == TREE_LEVELS.value
    assert lines[-1] == "(+) has more below this depth"


def test_a_chain_of_thousands_is_told_from_either_end() -> None:
    deep = chain(2_000, WEB)
    assert len(why_to_json(deep, "link-1999")["chains"][0]) == 2_000
    top = tree_to_json(deep, invert="link-1999", depth=5_000)["inverted"]
    assert top is not None
    assert "link-1900" in tree_text(tree_to_json(deep, invert="link-1999"), width=120)
