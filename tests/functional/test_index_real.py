"""The real index says what the loopback servers of the other tests say."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from admission import Need
from fixtures.wheels import LINUX_311
from pm.index import IndexOptions, open_index
from pm.index.package_sources import find_sources

pytestmark = [pytest.mark.real_index, pytest.mark.slow]


def test_a_real_package_becomes_facts_that_need_no_index_the_second_time(tmp_path: Path) -> None:
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "UV_"))}
    sources = find_sources(tmp_path, environ, find_links=[])
    need = Need(pages=("httpx", "websockets"), candidates=(("httpx", "0.28.1"),))
    with open_index(tmp_path, LINUX_311, sources) as index:
        index.fetch(need)
    with open_index(tmp_path, LINUX_311, sources, IndexOptions(offline=True)) as index:
        facts = index.facts
    candidate = facts.candidate("httpx", "0.28.1")
    assert candidate is not None
    plain = [edge.name for edge in candidate.requires if not edge.extra]
    assert (plain, len(candidate.artifact.sha256), candidate.index) == (
        ["anyio", "certifi", "httpcore", "idna"],
        64,
        sources.indexes[0].url,
    )
    assert {"15.0.1", "16.0"} <= set(facts.pages["websockets"].versions)
