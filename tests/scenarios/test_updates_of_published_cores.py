"""Published cores, as their metadata requires packages: an update is refused where a plugin breaks, and named."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from fixtures.homes import UNTOUCHED_BY_REFUSALS, Home, follow
from fixtures.hosts import HOST, chains, host, is_proved, new_hosted_home
from fixtures.wheels import Distribution

CORPUS = Path(__file__).parents[3] / "shared" / "corpus" / "core_versions.json"
pytestmark = pytest.mark.skipif(not CORPUS.exists(), reason="the corpus of cores is not part of the repository")


def published(extra: str = "") -> dict[str, list[Requirement]]:
    """Return what each published core requires on Linux, with an extra if one is named, by its version."""
    cores: list[dict[str, Any]] = json.loads(CORPUS.read_text())["versions"]
    of_extras = {core["version"]: core["extras"].get(extra, []) for core in cores}
    return {core["version"]: list(_applying([*core["requires_dist"], *of_extras[core["version"]]])) for core in cores}


def _applying(texts: list[str]) -> Iterator[Requirement]:
    for requirement in map(Requirement, texts):
        if requirement.marker is None or requirement.marker.evaluate({"sys_platform": "linux"}):
            yield requirement


def pin(requirement: Requirement) -> str:
    """Return a version that a requirement accepts: the one that it pins, else its lower bound."""
    bounds = {spec.operator: spec.version for spec in requirement.specifier}
    return bounds.get("==") or bounds.get(">=") or "1.0"


def core_and_packages(versions: tuple[str, ...], extra: str = "") -> list[Distribution]:
    """Return some cores, with a package of no content for everything that they require."""
    base, whole = published(), published(extra)
    packages = {
        (requirement.name, pin(requirement)): Distribution(
            requirement.name, pin(requirement), extras={extra: [] for extra in requirement.extras}
        )
        for version in versions
        for requirement in whole[version]
    }
    cores = [
        host(
            version,
            *map(str, base[version]),
            extras={extra: list(map(str, whole[version][len(base[version]) :]))} if extra else {},
        )
        for version in versions
    ]
    return [*cores, *packages.values()]


def broken_by(before: str, after: str, extra: str) -> tuple[str, str]:
    """Return a package that both cores pin exactly, the later one newer, and the version of the earlier one."""
    cores = published(extra)
    later = {requirement.name: requirement for requirement in cores[after]}
    for requirement in cores[before]:
        other = later.get(requirement.name)
        exact = other is not None and "==" in str(requirement.specifier) and "==" in str(other.specifier)
        if other is not None and exact and Version(pin(other)) > Version(pin(requirement)):
            return requirement.name, pin(requirement)
    message = f"{after} pins nothing newer than {before}"
    raise LookupError(message)


@pytest.mark.parametrize(("before", "after", "extra"), [("0.16.0", "0.17.0", ""), ("0.18.2", "0.19.0", "honcho")])
def test_a_plugin_that_breaks_is_named_and_goes_only_by_the_operator_s_word(
    tmp_path: Path, before: str, after: str, extra: str
) -> None:
    chosen = f"{HOST}[{extra}]" if extra else HOST
    home = new_hosted_home(tmp_path, f"{chosen}=={before}", *core_and_packages((before, after), extra))
    package, old = broken_by(before, after, extra)
    assert home.install(home.plugin("bound", f"{package}<={old}")).gist == "0 admitted"
    assert home.install(home.plugin("free", "demo-colors")).gist == "0 admitted"
    state = home.snapshot(UNTOUCHED_BY_REFUSALS)
    refused = home.ask("update")
    assert (refused.gist, is_proved(refused.value), home.snapshot(UNTOUCHED_BY_REFUSALS)) == (
        "1 refused core-conflict",
        True,
        state,
    )
    assert {chain.partition(":")[0] for chain in chains(refused.value)} == {extra or HOST, "bound"}
    [leaving] = [step for step in refused.value["steps"] if step["action"] == "leave-out"]
    assert (leaving["subject"], leaving["confirmed"]) == ("bound", True)
    assert follow(home, leaving["command"]).status == 0
    assert (home.pins[HOST], home.admitted) == (after, ["free in default"])
    assert _is_everything_of(home, after, extra)


def test_every_published_core_is_updated_to_from_the_one_before(tmp_path: Path) -> None:
    versions = tuple(published())[:-1] if "0.21.3" in published() else tuple(published())
    first, *others = versions
    home = new_hosted_home(tmp_path, f"{HOST}=={first}", *core_and_packages(versions))
    home.install(home.plugin("free", "demo-colors"))
    for version in others:
        answer = home.ask("update", "--core", f"{HOST}=={version}")
        assert (answer.gist, home.pins[HOST], home.admitted) == ("0 admitted", version, ["free in default"])
        assert _is_everything_of(home, version)


def _is_everything_of(home: Home, version: str, extra: str = "") -> bool:
    """Say whether the lock holds what a core requires, at versions that it accepts."""
    pins = home.pins
    needed = (
        (requirement.name.lower().replace("_", "-").replace(".", "-"), requirement)
        for requirement in published(extra)[version]
    )
    return all(requirement.specifier.contains(pins[name], prereleases=True) for name, requirement in needed)
