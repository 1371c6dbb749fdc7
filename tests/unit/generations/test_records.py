"""What a generation consists of survives its file, and damage to record or pointer is drift and nothing worse."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from admission import Declaration, ExternalDependency, Origin, Problem, Requirement
from lockfiles import Artifact, Edge, Lock, Owner, Pin
from pm.errors import PmError
from pm.generations.pointer import read_pointer
from pm.generations.records import (
    Member,
    Record,
    pointer_to_json,
    read_record,
    read_selected,
    record_to_json,
)
from pm.places import EnvironmentNumber, GenerationNumber, Places
from pm.system.files import write_bytes, write_json

OWNER = Owner("plugin", "memory/mem0")
ORIGIN = Origin(OWNER, "plugin.yaml", 4, "pip_dependencies")
MEMBER = Member(
    declaration=Declaration(
        key="memory/mem0",
        name="mem0",
        version="1.0",
        kind="exclusive",
        requirements=(Requirement("mem0ai", ORIGIN, ">=2", ("graph",), 'python_version >= "3.11"', text="mem0ai>=2"),),
        requires_python=">=3.11",
        gates=(Requirement("hermes-agent", ORIGIN, ">=0.18"),),
        exempt=("mem0ai",),
        external_dependencies=(ExternalDependency("ffmpeg", "apt install ffmpeg", "ffmpeg -version"),),
        requires_env=("MEM0_API_KEY",),
        hooks=("on_start",),
        notes=(Problem("odd", "said", "plugin.yaml", 1, 2, "key", "hint"),),
    ),
    source="user",
    root="/home/plugins/mem0",
    profiles=("default", "work"),
    digest="sha256:1",
    tree_digest="sha256:2",
    enabled_since="2026-01-01T00:00:00Z",
)
SEVEN, SIX = GenerationNumber(7), EnvironmentNumber(6)
RECORD = Record(
    generation=SEVEN,
    environment=SIX,
    lock=Lock(
        pins=(
            Pin(
                name="mem0ai",
                version="2.0.10",
                artifact=Artifact("mem0ai-2.0.10-py3-none-any.whl", "ab" * 32, "https://index.invalid/m.whl", size=3),
                index="https://index.invalid/simple",
                extras=("graph",),
                owners=(OWNER,),
                edges=(Edge("protobuf", ">=5", extra="graph"),),
            ),
        ),
        requires_python=">=3.11",
        target="cpython-3.11.7-linux-x86_64",
        core="hermes-agent==0.19.0",
    ),
    lock_digest="sha256:3",
    fingerprint="sha256:4",
    core={"name": "hermes-agent", "extras": ["voice"]},
    interpreter="/usr/bin/python3",
    target="cpython-3.11.7-linux-x86_64",
    members=(MEMBER, MEMBER._replace(source="bundled", root="", tree_digest="")),
    selections={"default": {"config": "sha256:5"}},
    consents={"allow_build": ["legacy"]},
    exclude_newer="14 days",
    operation="install",
    receipt="0123",
    created_at="2026-01-02T00:00:00Z",
    python=">=3.11",
)


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path, tmp_path)


def select(places: Places, record: Record) -> dict[str, Any]:
    """Write a record and the pointer to it; return the pointer."""
    write_json(places.record(record.generation), record_to_json(record))
    pointer = pointer_to_json(record, path=str(places.environment(record.environment)), stamp="1:2")
    write_json(places.pointer, pointer)
    return pointer


def drift(call: Callable[[], object]) -> tuple[str, str, str, str]:
    with pytest.raises(PmError) as caught:
        call()
    return caught.value.code, caught.value.message, caught.value.file, caught.value.hint


# --- round trips ------------------------------------------------------------------------------------------------------


def test_a_record_survives_its_file(places: Places) -> None:
    select(places, RECORD)
    assert (read_record(places, SEVEN), read_selected(places)) == (RECORD, RECORD)


def test_a_home_that_was_moved_has_its_plugins_where_it_is_now(places: Places) -> None:
    homes = {"default": {"home": "/home"}, "work": {"home": "/home/profiles/work"}}
    elsewhere = MEMBER._replace(root="/home/profiles/work/plugins/mem0", profiles=("work",))
    project = MEMBER._replace(source="project", root="/home/project/.hermes/plugins/mem0")
    select(places, RECORD._replace(members=(MEMBER, elsewhere, project), selections=homes))
    assert [member.root for member in read_record(places, SEVEN).members] == [
        f"{places.root}/plugins/mem0",
        f"{places.root}/profiles/work/plugins/mem0",
        "/home/project/.hermes/plugins/mem0",
    ]


def test_before_the_first_generation_there_is_none(places: Places) -> None:
    assert (read_pointer(places), read_selected(places)) == (None, None)


def test_the_pointer_is_the_published_part_of_the_record(places: Places) -> None:
    pointer = select(places, RECORD)
    admitted = {
        "key": "memory/mem0",
        "kind": "exclusive",
        "profiles": ["default", "work"],
        "root": "/home/plugins/mem0",
        "declaration_digest": "sha256:1",
        "tree_digest": "sha256:2",
    }
    assert (json.loads(places.pointer.read_bytes()), pointer) == (
        pointer,
        {
            "schema": 1,
            "generation": 7,
            "path": str(places.environment(SIX)),
            "lock_digest": "sha256:3",
            "fingerprint": "sha256:4",
            "core": "hermes-agent==0.19.0",
            "core_path": [],
            "target": "cpython-3.11.7-linux-x86_64",
            "admitted": [admitted, admitted | {"root": "", "tree_digest": ""}],
            "site_packages_stamp": "1:2",
        },
    )


def test_a_record_of_a_plugin_that_declares_nothing_survives_too(places: Places) -> None:
    bare = RECORD._replace(
        members=(Member(Declaration("a", "a", declared=False), "user", "/a", (), ""),), lock=Lock(())
    )
    select(places, bare)
    assert read_record(places, SEVEN) == bare


def test_a_field_that_a_newer_manager_adds_is_passed_over(places: Places) -> None:
    select(places, RECORD)
    value = json.loads(places.record(SEVEN).read_text())
    value["members"][0]["novelty"] = 1
    write_json(places.record(SEVEN), value | {"novelty": 1})
    assert read_record(places, SEVEN) == RECORD


# --- damage -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"7", b"{}", b'{"generation": "7"}', b"\xff", b"[" * 100_000])
def test_a_damaged_pointer_is_drift(places: Places, content: bytes) -> None:
    write_bytes(places.pointer, content)
    hint = "`hermes pm init` makes a new generation"
    said = ("drift", f"the pointer `{places.pointer}` cannot be read", str(places.pointer), hint)
    calls: list[Callable[[Places], object]] = [read_pointer, read_selected]
    assert [drift(partial(call, places)) for call in calls] == [said, said]


def test_a_pointer_to_a_record_that_is_gone_is_drift(places: Places) -> None:
    select(places, RECORD)
    places.record(SEVEN).unlink()
    assert drift(lambda: read_selected(places))[:3] == (
        "drift",
        "the record of generation 7 cannot be read",
        str(places.record(SEVEN)),
    )


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("schema", 2),
        ("schema", None),
        ("lock", None),
        ("lock", [1]),
        ("lock", ["x"] * 7),
        ("members", 3),
        ("members", None),
        ("members", ["x"]),
        ("members", [{}]),
        ("members", [{"declaration": {}}]),
        ("members", {"a": 1}),
    ],
)
def test_a_record_with_a_damaged_field_is_drift(places: Places, field: str, value: object) -> None:
    select(places, RECORD)
    damaged = json.loads(places.record(SEVEN).read_text()) | {field: value}
    write_json(places.record(SEVEN), damaged)
    assert drift(lambda: read_record(places, SEVEN))[:2] == ("drift", "the record of generation 7 cannot be read")


@pytest.mark.parametrize("field", sorted({*Record._fields, "schema"}))
def test_a_record_without_one_of_its_fields_is_drift(places: Places, field: str) -> None:
    value = record_to_json(RECORD)
    del value[field]
    write_json(places.record(SEVEN), value)
    assert drift(lambda: read_record(places, SEVEN))[0] == "drift"


@pytest.mark.parametrize("content", [b"", b"{", b"null", b"[1]", b'"text"'])
def test_a_file_that_is_no_record_is_drift(places: Places, content: bytes) -> None:
    write_bytes(places.record(SEVEN), content)
    assert drift(lambda: read_record(places, SEVEN))[0] == "drift"


def test_the_types_tell_the_number_of_a_generation_from_that_of_an_environment(places: Places) -> None:
    # `mypy` says so where one of these comments is not needed
    mistaken = (
        places.environment(SEVEN),  # type: ignore[arg-type]  # a generation has no folder
        places.bytecode(SEVEN),  # type: ignore[arg-type]  # and no bytecode
        places.record(SIX),  # type: ignore[arg-type]  # an environment has no record
    )
    right = (
        places.environment(EnvironmentNumber(SEVEN)),
        places.bytecode(EnvironmentNumber(SEVEN)),
        places.record(GenerationNumber(SIX)),
    )
    assert mistaken == right
