"""The same question to the same index has the same verdict, whatever the cache holds: through real pages and wheels."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from admission import Admitted, Candidate, Decision, Need, Question
from fixtures.brute_force import solutions
from fixtures.sampling import seed_of_this_run
from fixtures.server import IndexServer
from fixtures.wheels import LINUX_311, Distribution
from fixtures.worlds import World, any_world, some_pins
from lockfiles import Edge
from pm.index import IndexOptions, open_index
from pm.index.package_sources import Sources, index_address
from pm.verdict.resolve import settled


def _distributions(world: World) -> Iterator[Distribution]:
    """Yield what the candidates of a world are built from."""
    for name, releases in world.facts.candidates.items():
        page = world.facts.pages[name]
        codes = {page.versions[position]: exclusion.code for position, exclusion in page.excluded.items()}
        for version, candidate in releases.items():
            code = codes.get(version, "")
            yield Distribution(
                name,
                version,
                _requires(candidate, ""),
                {extra: _requires(candidate, extra) for extra in candidate.extras},
                requires_python=">=3.99" if code == "python-version" else "",
                tags=("cp39-cp39-win_amd64",) if code == "no-wheel" else ("py3-none-any",),
                yanked="bad" if code == "yanked-only" else None,
            )


def _requires(candidate: Candidate, extra: str) -> list[str]:
    return [_line(edge) for edge in candidate.requires if edge.extra == extra]


def _line(edge: Edge) -> str:
    extras = f"[{','.join(edge.extras)}]" if edge.extras else ""
    return f"{edge.name}{extras}{edge.specifier}"


def _answer(cache: Path, server: IndexServer, question: Question, before: Sequence[tuple[str, str]]) -> Decision:
    """Return the verdict of the loop that the verbs use, with a cache in which some metadata was read before."""
    with open_index(cache, LINUX_311, Sources(indexes=(index_address(server.url),)), IndexOptions()) as index:
        for candidate in before:
            index.fetch(Need(candidates=(candidate,)))
        return settled(index, question)[0]


def _said(decision: Decision) -> object:
    return decision.lock.versions() if isinstance(decision, Admitted) else type(decision)


@pytest.mark.parametrize("number", [*range(5), *(pytest.param(n, marks=pytest.mark.slow) for n in range(5, 100))])
def test_the_verdict_does_not_depend_on_what_was_read_before(tmp_path: Path, number: int) -> None:
    rng = random.Random(f"{seed_of_this_run()} {number}")
    world = any_world(rng.randrange(10**9) * 5 + number % 5)
    pins = some_pins(world, rng.randrange(10**9)) if rng.random() < 0.5 else {}
    question = world.question(pins=pins)
    right = list(solutions(world, pins=pins))
    usable = [
        (name, version)
        for name, page in world.facts.pages.items()
        for i, version in enumerate(page.versions)
        if i not in page.excluded
    ]
    with IndexServer(tmp_path / "files", _distributions(world)) as server:
        cold = _answer(tmp_path / "cold", server, question, [])
        some = rng.sample(usable, rng.randint(0, len(usable)))
        warm = _answer(tmp_path / "warm", server, question, some)
    assert (_said(cold), isinstance(cold, Admitted)) == (_said(warm), bool(right))
    assert not right or _said(cold) in right
