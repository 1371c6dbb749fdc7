"""The side-car: the exact JSON, and the refusal of whatever it is not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lockfiles import Artifact, Edge, InvalidLock, Lock, Owner, Pin
from lockfiles.sidecar import from_json, to_json

LOCK = Lock(
    (
        Pin(
            "httpx",
            "0.28.1",
            Artifact(
                "httpx-0.28.1-py3-none-any.whl",
                "a" * 64,
                "https://files.invalid/httpx",
                "",
                7,
                "2024-12-06T15:37:21.509172Z",
            ),
            "https://index.invalid/simple",
            ">=3.8",
            ("socks",),
            (Owner("core", "hermes-agent"),),
            (Edge("socksio", "==1.*", ("x",), "os_name == 'posix'", "socks"),),
        ),
    ),
    ">=3.11",
    "cpython-3.11.7-linux-x86_64",
    "hermes-agent==0.19.0",
    "sha256:1",
    "2026-01-01T00:00:00Z",
    "python_version == '3.11'",
)
VALUE: list[Any] = [
    1,
    ">=3.11",
    "cpython-3.11.7-linux-x86_64",
    "hermes-agent==0.19.0",
    "sha256:1",
    "2026-01-01T00:00:00Z",
    "python_version == '3.11'",
    [
        [
            "httpx",
            "0.28.1",
            [
                "httpx-0.28.1-py3-none-any.whl",
                "a" * 64,
                "https://files.invalid/httpx",
                "",
                7,
                "2024-12-06T15:37:21.509172Z",
            ],
            "https://index.invalid/simple",
            ">=3.8",
            ["socks"],
            [["core", "hermes-agent"]],
            [["socksio", "==1.*", ["x"], "os_name == 'posix'", "socks"]],
        ]
    ],
]


def test_a_lock_is_this_value() -> None:
    assert to_json(LOCK) == VALUE


def test_the_value_is_this_lock() -> None:
    assert from_json(json.loads(json.dumps(VALUE))) == LOCK


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "is not a side-car of a lock: a list is missing or of another length"),
        (VALUE[:-1], "is not a side-car of a lock: a list is missing or of another length"),
        ([2, *VALUE[1:]], "is a side-car of schema 2, this version reads 1"),
        ([1, 2, *VALUE[2:]], "is not a side-car of a lock: a text is missing"),
        ([*VALUE[:-1], [VALUE[-1][0][:-1]]], "is not a side-car of a lock: a list is missing or of another length"),
        (json.loads(json.dumps(VALUE).replace("7,", "true,")), "is not a side-car of a lock: `True` is not a size"),
    ],
)
def test_whatever_else_is_refused(value: object, message: str) -> None:
    with pytest.raises(InvalidLock) as caught:
        from_json(value)
    assert str(caught.value) == message
