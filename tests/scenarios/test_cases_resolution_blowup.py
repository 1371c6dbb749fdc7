"""Sets in which a resolver can lose itself are decided in few rounds, or the answer is that nobody knows."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from admission import Admitted, Candidate, Exclusion, Facts, Need, Question, Refused, Undecided, decide
from admission.verdict import Deliberation
from fixtures.homes import UNTOUCHED_BY_REFUSALS, new_home
from fixtures.wheels import DEFAULT_RECIPE, Distribution, build_recipe, read_recipe
from fixtures.worlds import World, candidate, page

FEW = 2_000
"""Rounds: a tenth of what a verdict may take."""


def world(candidates: Iterable[Candidate], *roots: tuple[str, str], excluded: dict[str, str] | None = None) -> World:
    """Return a world of these candidates; `excluded` names those (`name version`) that exist as sources only."""
    known: dict[str, dict[str, Candidate]] = {}
    for each in candidates:
        known.setdefault(each.name, {})[each.version] = each
    sources = {
        name: {
            version: Exclusion(code, "only a source distribution exists")
            for version in versions
            if (code := (excluded or {}).get(f"{name} {version}"))
        }
        for name, versions in known.items()
    }
    pages = {name: page(name, list(versions), sources[name]) for name, versions in known.items()}
    return World(Facts(pages, known), roots)


def released(name: str, versions: Iterable[str], requires: str) -> list[Candidate]:
    """Return releases that each ask for the same of others; `{version}` in it is their own."""
    return [candidate(name, version, [requires.format(version=version)] if requires else []) for version in versions]


def patches(series: str, count: int) -> list[str]:
    return [f"{series}.{number}" for number in range(count)]


def proofs(refused: Refused) -> list[tuple[str, list[str], bool]]:
    """Return code and demands of each reason, and whether its proof is minimal and was checked."""
    return [
        (
            reason.code,
            [f"{demand.requirement.origin.owner.name}: {' → '.join(demand.chain)}" for demand in reason.demands],
            reason.proof is not None and reason.proof.minimal and reason.proof.verified,
        )
        for reason in refused.reasons
    ]


def test_a_set_of_long_histories_that_pin_each_other_is_solved_in_few_rounds() -> None:
    """Case resolution-blowup-01: the cloud file systems fit only an old release of the client that all share."""
    botocore = patches("1.35", 300)
    pinned = [
        candidate("aiobotocore", f"2.{number}", [f"botocore>=1.35.{number},<1.35.{number + 2}", "aiohttp<4"])
        for number in range(250)
    ]
    systems = [
        candidate("s3fs", f"2025.{number}", [f"fsspec==2025.{number}", f"aiobotocore>=2.{number},<2.{number + 40}"])
        for number in range(200)
    ]
    index = [
        *released("botocore", botocore, "urllib3<3"),
        *released("boto3", botocore, "botocore=={version}"),
        *released("fsspec", [f"2025.{number}" for number in range(200)], ""),
        *released("aiohttp", patches("3.9", 20), ""),
        *released("urllib3", ["1.26.20", "2.5.0"], ""),
        *pinned,
        *systems,
    ]
    roots = [
        ("core", "urllib3>=2"),
        ("images", "boto3"),
        ("images", "s3fs>=2025.5"),
        ("archive", "fsspec<2025.60"),
        ("archive", "botocore<1.35.80"),
    ]
    question = world(index, *roots).question()._replace(budget=FEW)
    decision = decide(question, world(index, *roots).facts)
    assert isinstance(decision, Admitted)
    assert decision.lock.versions() == {
        "aiobotocore": "2.79",
        "aiohttp": "3.9.19",
        "boto3": "1.35.79",
        "botocore": "1.35.79",
        "fsspec": "2025.59",
        "s3fs": "2025.59",
        "urllib3": "2.5.0",
    }


def test_a_package_of_which_every_patch_release_clashes_is_refused_in_few_rounds_and_one_line() -> None:
    """Case resolution-blowup-03."""
    series = [version for minor in range(30) for version in patches(f"1.{minor}", 50)]
    index = [
        *released("boto3", series, "botocore=={version}"),
        *released("botocore", series, "urllib3<1.27"),
        *released("urllib3", ["1.25", "1.26.20", "2.5.0", "2.7.1"], ""),
    ]
    clash = world(index, ("core", "urllib3>=2.7"), ("cloud", "boto3"))
    decision = decide(clash.question()._replace(budget=FEW), clash.facts)
    assert isinstance(decision, Refused)
    assert proofs(decision) == [
        ("core-conflict", ["cloud: boto3 → botocore==1.29.49 → urllib3<1.27", "demo-core: urllib3>=2.7"], True)
    ]
    assert [(each.versions, each.reason) for each in decision.reasons[0].available] == [
        ("2.7.1", "excluded by `urllib3<1.27`"),
        ("2.5.0", "excluded by `urllib3<1.27` and `urllib3>=2.7`"),
        ("1.26.20, 1.25", "excluded by `urllib3>=2.7`"),
    ]


def test_an_old_release_from_before_a_cap_is_chosen_with_a_warning() -> None:
    """Case resolution-blowup-05: the newest that fits is eleven releases old, and that is said."""
    capped = released("cvat", [f"2.{number}" for number in range(10)], "attrs<2")
    index = [*released("attrs", ["1.0", "2.0"], ""), candidate("cvat", "1.0", ["attrs"]), *capped]
    old = world(index, ("other", "attrs>=2"), ("labels", "cvat"))
    decision = decide(old.question(), old.facts)
    assert isinstance(decision, Admitted)
    assert (decision.lock.versions(), [(warning.code, warning.package) for warning in decision.warnings]) == (
        {"attrs": "2.0", "cvat": "1.0"},
        [("older-for-dependency", "cvat")],
    )


def test_an_ancient_source_distribution_is_never_the_way_out_of_a_conflict() -> None:
    """Case resolution-blowup-05: what would have to be built is refused together with what clashes."""
    capped = released("cvat", [f"2.{number}" for number in range(10)], "attrs<2")
    index = [*released("attrs", ["1.0", "2.0"], ""), candidate("cvat", "1.0", ["attrs"]), *capped]
    ancient = {"cvat 1.0": "build-needs-consent"}
    old = world(index, ("other", "attrs>=2"), ("labels", "cvat"), excluded=ancient)
    decision = decide(old.question(), old.facts)
    assert isinstance(decision, Refused)
    assert proofs(decision) == [("conflict", ["other: attrs>=2", "labels: cvat → attrs<2"], True)]


def test_what_cannot_be_decided_in_the_rounds_that_are_left_is_undecided_and_never_a_refusal() -> None:
    clash = pigeons(6)
    decision = decide(clash.question()._replace(budget=20), clash.facts)
    assert isinstance(decision, Undecided)
    assert decision.code == "resolution-budget"
    assert decision.package in clash.facts.pages
    message = "neither a solution nor a contradiction was found in 20 rounds; the last conflicts were about"
    assert decision.message == f"{message} `{decision.package}`"


def pigeons(count: int) -> World:
    """Return a world in which each of many packages needs a place of its own, and there is one too few."""
    versions = [str(place) for place in range(1, count)]
    index = [candidate(f"bird{bird}", place, [f"place{place}=={bird}"]) for bird in range(count) for place in versions]
    index += [candidate(f"place{place}", str(bird), []) for place in versions for bird in range(count)]
    return world(index, *((f"plugin{bird}", f"bird{bird}") for bird in range(count)))


def test_a_small_budget_ends_an_installation_without_a_trace(tmp_path: Path) -> None:
    """Case resolution-blowup-03: the host keeps running, and there is no partial environment."""
    wheels = tmp_path / "wheels"
    places = [str(place) for place in range(1, 5)]
    birds = [Distribution(f"bird{bird}", place, [f"place{place}=={bird}"]) for bird in range(5) for place in places]
    nests = [Distribution(f"place{place}", str(bird)) for place in places for bird in range(5)]
    build_recipe(wheels, [*read_recipe(DEFAULT_RECIPE), *birds, *nests])
    home = new_home(tmp_path / "home", wheels=wheels)
    home.install(home.plugin("ash", "demo-colors"))
    flock = home.plugin("flock", *(f"bird{bird}" for bird in range(5)))
    before = home.snapshot(UNTOUCHED_BY_REFUSALS)
    answer = home.install(flock, "--budget", "10")
    assert (answer.gist, answer.steps) == ("3 undecided resolution-budget", ["retry flock"])
    assert home.snapshot(UNTOUCHED_BY_REFUSALS) == before
    assert home.install(flock).gist == "1 refused conflict"


class Reader:
    """Knows the pages from the start, and a release's metadata from when it was asked for."""

    def __init__(self, full: World) -> None:
        self._full = full.facts
        self._read: dict[str, dict[str, Candidate]] = {}
        self.rounds: list[tuple[str, int]] = []
        """What was asked for: why, and how many releases."""

    def answer(self, question: Question) -> Admitted | Refused | Undecided:
        deliberation = Deliberation(question)
        decision = deliberation.decide(Facts(self._full.pages, self._read))
        while isinstance(decision, Need):
            self.rounds.append((decision.purpose, len(decision.candidates)))
            for name, version in decision.candidates:
                self._read.setdefault(name, {})[version] = self._full.candidates[name][version]
            decision = deliberation.decide(Facts(self._full.pages, self._read))
        return decision


@pytest.mark.parametrize("count", [10, 30])
def test_to_show_that_a_proof_is_minimal_many_releases_are_read_in_few_rounds(count: int) -> None:
    """A refusal is explained within four rounds of questions, so each has to ask for more than one release."""
    histories = [candidate("loreconvo", "1.0", ["packaging==25.0", "transformers"])]
    histories += [
        candidate("transformers", f"4.{number}", ["packaging<25" if number else "packaging"]) for number in range(count)
    ]
    index = [*histories, *released("packaging", ["24.0", "25.0", "26.0"], "")]
    clash = world(index, ("core", "packaging==26.0"), ("lore", "loreconvo==1.0"))
    reader = Reader(clash)
    decision = reader.answer(clash.question())
    assert isinstance(decision, Refused)
    assert proofs(decision) == [
        ("core-conflict", ["lore: loreconvo==1.0 → packaging==25.0", "demo-core: packaging==26.0"], True)
    ]
    assert len([purpose for purpose, _ in reader.rounds if purpose == "proof"]) <= 4


def test_of_long_histories_only_the_newest_releases_are_read_to_learn_whether_one_pins_a_prerelease() -> None:
    """Each of twenty packages has sixty releases, any of which might pin it; the newest eight decide, in few rounds."""
    names = [f"lib{number}" for number in range(20)]
    numbers = [f"{number}.0" for number in range(60)]
    index = [
        candidate(name, number, [f"{other}>=1" for other in names[place + 1 : place + 3]])
        for place, name in enumerate(names)
        for number in numbers
    ]
    index += released("wire", ["6.0", "7.0", "7.1rc1", "7.1rc2"], "")
    hoping = world(index, ("core", "lib0"), ("core", "lib1<40"), ("stream", "wire>7"))
    reader = Reader(hoping)
    decision = reader.answer(hoping.question()._replace(budget=FEW))
    assert isinstance(decision, Refused)
    assert proofs(decision) == [("prerelease-only", ["stream: wire>7"], True)]
    # `lib1` was read for what the core accepts of it, and to know that this bound is no part of the proof
    assert sum(count for _, count in reader.rounds) <= 8 * (len(names) + 1) + 3
    assert len(reader.rounds) <= 2 * len(names)


def _telemetry(newer: int) -> World:
    """Return a world in which only an old release pins the pre-release that fits; so many releases are newer."""
    index = [
        *released("semantic", ["0.20", "0.50b0", "0.66b2"], ""),
        candidate("telemetry", "1.29", ["semantic==0.50b0"]),
        *released("telemetry", [f"1.{number}" for number in range(30, 30 + newer)], "semantic==0.66b2"),
    ]
    return world(index, ("traces", "telemetry"), ("metrics", "semantic<0.60,>0.40"))


@pytest.mark.parametrize(("newer", "locked"), [(7, {}), (30, {"telemetry": "1.29"})])
def test_one_of_the_newest_eight_releases_or_the_locked_one_may_pin_a_prerelease_for_others(
    newer: int, locked: dict[str, str]
) -> None:
    pinned = _telemetry(newer)
    decision = Reader(pinned).answer(pinned.question(pins=locked))
    assert isinstance(decision, Admitted)
    assert decision.lock.versions() == {"semantic": "0.50b0", "telemetry": "1.29"}


@pytest.mark.parametrize("newer", [8, 30])
def test_an_older_release_pins_no_prerelease_for_others(newer: int) -> None:
    pinned = _telemetry(newer)
    decision = Reader(pinned).answer(pinned.question())
    assert isinstance(decision, Refused)
    assert proofs(decision) == [("prerelease-only", ["metrics: semantic<0.60,>0.40"], True)]
