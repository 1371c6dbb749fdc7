"""What is locked stays admissible: versions that are yanked or quarantined later, and builds of this machine."""

from __future__ import annotations

import shutil
from pathlib import Path

from fixtures.homes import Answer, Home
from fixtures.hosts import host, new_hosted_home, offer
from fixtures.server import IndexServer
from fixtures.wheels import Distribution

REASON = "leaks its keys"


def _yank(home: Home, server: IndexServer, version: str = "2.0") -> None:
    """Yank a version, and forget what the index said before."""
    server.offer(Distribution("demo-colors", version, yanked=REASON))
    shutil.rmtree(home.state / "cache" / "facts")


def _told(answer: Answer) -> dict[str, str]:
    return {warning["code"]: warning["message"] for warning in answer.value["warnings"]}


def test_a_locked_version_that_is_yanked_later_stays_and_is_named(served: Home, server: IndexServer) -> None:
    served.install(served.plugin("ash", "demo-colors"))
    locked = served.locked["demo-colors"]
    _yank(served, server, locked)
    stranger = served.install(served.plugin("birch", "demo-socket"))
    newcomer = served.install(served.plugin("cedar", "demo-colors>=2"))
    text = f"demo-colors {locked} is yanked: {REASON}; it is in the selected lock, and stays"
    assert (stranger.gist, stranger.changes, _told(stranger)) == (
        "0 admitted",
        ["+demo-socket 3.0"],
        {"yanked-locked": text},
    )
    assert (newcomer.gist, _told(newcomer), served.locked["demo-colors"]) == (
        "0 admitted",
        {"yanked-locked": text},
        locked,
    )


def test_a_move_away_from_a_yanked_version_names_the_yank(served: Home, server: IndexServer) -> None:
    served.install(served.plugin("ash", "demo-colors"))
    locked = served.locked["demo-colors"]
    _yank(served, server, locked)
    answer = served.install(served.plugin("birch", "demo-colors<2"))
    assert (answer.gist, answer.changes, _told(answer)) == (
        "0 admitted",
        [f"demo-colors {locked} → 1.2"],
        {
            "moved-down": f"demo-colors {locked} → 1.2: older than before",
            "yanked-left": f"demo-colors {locked} → 1.2: {locked} is yanked: {REASON}",
        },
    )


def test_a_version_that_nobody_has_locked_is_not_admitted_once_it_is_yanked(served: Home, server: IndexServer) -> None:
    server.offer(Distribution("demo-colors", "2.0", yanked=REASON))
    answer = served.install(served.plugin("ash", "demo-colors>=2"))
    assert answer.gist == "1 refused yanked-only"


def test_a_locked_version_that_a_quarantine_would_exclude_stays_and_is_named(served: Home) -> None:
    served.install(served.plugin("ash", "demo-colors"))
    locked = served.locked["demo-colors"]
    served.config.write_text(served.config.read_text().replace("pm:\n", 'pm:\n  exclude_newer: "2020-01-01"\n'))
    answer = served.install(served.plugin("birch", "demo-colors"))
    assert (answer.gist, answer.changes, served.locked["demo-colors"]) == ("0 admitted", [], locked)
    assert f"demo-colors {locked}" in _told(answer)["quarantined-locked"]


# -- builds of this machine


def _torch(*versions: str) -> list[Distribution]:
    return [Distribution("torch", version) for version in versions]


def test_a_local_build_that_leaves_for_a_plain_version_is_told_with_steps_that_keep_it(tmp_path: Path) -> None:
    """Case local-version-or-hardware-build-01, where a plugin excludes the build."""
    home = new_hosted_home(tmp_path, "hermes-agent==0.19.0", host("0.19.0"), *_torch("2.1.1+cu118", "2.1.0"))
    home.install(home.plugin("ash", "torch"))
    offer(home, *_torch("2.1.2"))
    birch = home.plugin("birch", "torch>=2.1.2,<2.2")
    answer = home.install(birch)
    [warning] = answer.value["warnings"]
    other = (
        "put a wheel of `torch` with `+cu118` that `torch<2.2,>=2.1.2` accepts into a folder that `pm.find_links` names"
    )
    assert (answer.gist, warning["code"], warning["message"], warning["hint"]) == (
        "0 admitted",
        "build-variant-lost",
        "torch 2.1.1+cu118 → 2.1.2: the build `cu118` is lost, since `torch<2.2,>=2.1.2` excludes it",
        f"`hermes pm rollback` goes back to it; to have both, {other}",
    )
    back = home.ask("pm", "rollback")
    kept = home.locked["torch"]
    offer(home, *_torch("2.1.2+cu118"))
    both = home.install(birch, "--force")
    assert (back.gist, kept, both.gist, both.warnings, home.locked["torch"]) == (
        "0 rolled-back",
        "2.1.1+cu118",
        "0 admitted",
        [],
        "2.1.2+cu118",
    )


def test_a_local_build_that_no_source_has_any_more_is_told_when_it_leaves(tmp_path: Path) -> None:
    home = new_hosted_home(tmp_path, "hermes-agent==0.19.0", host("0.19.0"), *_torch("2.1.1+cu118", "2.1.0"))
    home.install(home.plugin("ash", "torch"))
    for wheel in (tmp_path / "wheels").glob("torch-2.1.1*"):
        wheel.unlink()
    answer = home.install(home.plugin("birch", "demo-colors"))
    assert (answer.gist, answer.warnings, home.locked["torch"]) == ("0 admitted", ["build-variant-lost"], "2.1.0")


def test_a_plain_requirement_leaves_a_local_build_where_it_is(tmp_path: Path) -> None:
    """Case local-version-or-hardware-build-01."""
    home = new_hosted_home(tmp_path, "hermes-agent==0.19.0", host("0.19.0"), *_torch("2.1.1+cu118"))
    home.install(home.plugin("ash", "torch"))
    offer(home, *_torch("2.1.2"))
    answer = home.install(home.plugin("birch", "torch>=2"))
    assert (answer.gist, answer.warnings, answer.changes, home.locked["torch"]) == (
        "0 admitted",
        [],
        [],
        "2.1.1+cu118",
    )
