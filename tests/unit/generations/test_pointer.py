"""The pointer is read by the standard library alone, and says the same as the record that it was made of."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pm.errors import PmError
from pm.generations.pointer import AdmittedMember, Pointer, read_pointer, selected
from pm.places import GenerationNumber, Places

VALUE: dict[str, Any] = {
    "schema": 1,
    "generation": 5,
    "path": "generations/3",
    "lock_digest": "sha256:0",
    "fingerprint": "sha256:1",
    "core": "hermes-embedded-core==0.1.0",
    "target": "cpython-3.11.7-linux-x86_64",
    "admitted": [
        {
            "key": "memory/ash",
            "kind": "exclusive",
            "profiles": ["default", "work"],
            "root": "/home/plugins/ash",
            "declaration_digest": "sha256:2",
            "tree_digest": "sha256:3",
        }
    ],
    "site_packages_stamp": "7:8",
}


@pytest.fixture
def places(tmp_path: Path) -> Places:
    made = Places(tmp_path, tmp_path)
    made.state.mkdir()
    return made


def write(places: Places, **changes: object) -> None:
    places.pointer.write_text(json.dumps(VALUE | changes))


def test_a_pointer_says_what_a_start_needs(places: Places) -> None:
    write(places)
    assert read_pointer(places) == Pointer(
        generation=GenerationNumber(5),
        folder=places.state / "generations" / "3",
        core="hermes-embedded-core==0.1.0",
        admitted=(AdmittedMember("memory/ash", ("default", "work"), "/home/plugins/ash", "sha256:2"),),
        site_packages_stamp="7:8",
    )


def test_the_environment_is_numbered_by_its_folder(places: Places) -> None:
    write(places, path=str(places.state / "generations" / "3"))
    pointer = selected(places)
    assert (pointer.environment, pointer.programs) == (3, places.state / "generations" / "3" / "bin")


def test_before_the_first_generation_there_is_none(tmp_path: Path) -> None:
    assert read_pointer(Places(tmp_path / "missing", tmp_path / "missing")) is None


@pytest.mark.parametrize(
    "change",
    [
        {"generation": None},
        {"path": "generations/three"},
        {"path": 3},
        {"admitted": [{"key": "ash"}]},
        {"admitted": None},
    ],
)
def test_a_damaged_pointer_is_drift(places: Places, change: dict[str, object]) -> None:
    write(places, **change)
    with pytest.raises(PmError) as raised:
        read_pointer(places)
    assert (raised.value.code, raised.value.file) == ("drift", str(places.pointer))


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff"])
def test_a_pointer_that_is_no_json_object_is_drift(places: Places, content: bytes) -> None:
    places.pointer.write_bytes(content)
    with pytest.raises(PmError) as raised:
        selected(places)
    assert raised.value.code == "drift"
