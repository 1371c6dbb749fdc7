"""Findings as workflow commands: beside the right line, and with nothing in them that could be another command."""

from __future__ import annotations

from pathlib import Path

import pytest

from pm.receipts.examples import example
from pm.receipts.github import github_lines
from pm.receipts.receipt import DemandRow, OwnerRow, PlaceRow, Plugin, ReasonRow, Receipt, WarningRow

EMPTY = example("ready")._replace(plugin=Plugin("p"), reasons=(), warnings=())


@pytest.fixture(autouse=True)
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a checkout that has a plugin in its folder `ws-chat`."""
    (tmp_path / "ws-chat").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def lines(receipt: Receipt, path: str = "ws-chat") -> list[str]:
    return list(github_lines(receipt, path))


def test_a_conflict_is_shown_at_the_plugins_own_requirement() -> None:
    assert lines(example("core-conflict")) == [
        (
            "::error file=ws-chat/pyproject.toml,line=7,title=core-conflict::"
            "no version of `websockets` satisfies `ws-chat` and the core together%0A"
            "core hermes-agent: websockets==15.0.1"
        )
    ]


def test_each_own_line_that_takes_part_is_shown() -> None:
    own = OwnerRow("plugin", "p")
    demands = (
        DemandRow(own, "a>=2", PlaceRow("plugin.yaml", 4)),
        DemandRow(own, "b", PlaceRow("plugin.yaml", 5), ("b", "c>=1", "a<2")),
        DemandRow(OwnerRow("plugin", "q"), "b", PlaceRow("plugin.yaml", 9), ("b", "a<3")),
    )
    receipt = EMPTY._replace(reasons=(ReasonRow("conflict", "no `a`", demands=demands),))
    assert lines(receipt) == [
        "::error file=ws-chat/plugin.yaml,line=4,title=conflict::no `a`%0Aplugin q: b → a<3",
        "::error file=ws-chat/plugin.yaml,line=5,title=conflict::no `a`%0Aplugin q: b → a<3",
    ]


def test_a_fault_of_a_file_has_line_column_and_hint() -> None:
    place = PlaceRow("plugin.yaml", 3, 5, "pip_dependencies[0]")
    receipt = EMPTY._replace(reasons=(ReasonRow("direct-url", "an address", declared_at=place, hint="name a version"),))
    assert lines(receipt) == [
        "::error file=ws-chat/plugin.yaml,line=3,col=5,title=direct-url::an address%0Ahint: name a version"
    ]


def test_a_reason_without_a_place_has_none() -> None:
    receipt = EMPTY._replace(reasons=(ReasonRow("index-unreachable", "no answer"),))
    assert lines(receipt) == ["::error title=index-unreachable::no answer"]


def test_warnings_are_about_the_plugin_and_everything_else_is_a_notice() -> None:
    place = PlaceRow("a.py", 2)
    receipt = EMPTY._replace(
        warnings=(
            WarningRow("undeclared-import", "brings `x`", owner="p", declared_at=place, hint="list it"),
            WarningRow("unknown-extra", "no extra `y`", package="a", owner="plugin:p"),
            WarningRow("import-optional", "may bring `z`", owner="p", declared_at=place),
            WarningRow("home-not-used", "not UTF-8", declared_at=PlaceRow("/home/u/.hermes/config.yaml", 3)),
        )
    )
    assert lines(receipt) == [
        "::warning file=ws-chat/a.py,line=2,title=undeclared-import::brings `x`%0Ahint: list it",
        "::warning title=unknown-extra::no extra `y`",
        "::notice file=ws-chat/a.py,line=2,title=import-optional::may bring `z`",
        "::notice title=home-not-used::not UTF-8",
    ]


def test_nothing_that_an_author_writes_ends_a_command_or_begins_another() -> None:
    place = PlaceRow("a,b:100%\n.py", 1)
    message = "100% of\r\n::error::this\x1b[31m\u2028 and `%0A`, at last: ::stop-commands::x"
    receipt = EMPTY._replace(warnings=(WarningRow("undeclared-import", message, owner="p", declared_at=place),))
    assert lines(receipt) == [
        (
            "::warning file=ws-chat/a%2Cb%3A100%25%0A.py,line=1,title=undeclared-import::"
            "100%25 of%0A\\x3a:error::this\\x1b[31m%0A and `%250A`, at last: ::stop-commands::x"
        )
    ]


@pytest.mark.parametrize(
    ("path", "file"),
    [
        (".", "plugin.yaml"),
        ("./ws-chat/", "ws-chat/plugin.yaml"),
        ("../elsewhere", "../elsewhere/plugin.yaml"),
        ("{here}/ws-chat", "ws-chat/plugin.yaml"),
        ("{here}/../elsewhere", "{here}/../elsewhere/plugin.yaml"),
    ],
)
def test_files_are_named_from_the_current_directory(checkout: Path, path: str, file: str) -> None:
    (checkout.parent / "elsewhere").mkdir(exist_ok=True)
    receipt = EMPTY._replace(reasons=(ReasonRow("duplicate-key", "twice", declared_at=PlaceRow("plugin.yaml", 4)),))
    expected = f"::error file={file.format(here=checkout)},line=4,title=duplicate-key::twice"
    assert lines(receipt, path.format(here=checkout)) == [expected]


def test_of_an_archive_only_the_whole_is_shown(checkout: Path) -> None:
    (checkout / "dist.zip").write_bytes(b"")
    receipt = EMPTY._replace(
        reasons=(ReasonRow("duplicate-key", "twice", declared_at=PlaceRow("plugin.yaml", 4, 1)),),
        warnings=(WarningRow("readme-missing", "no README", owner="p"),),
    )
    assert lines(receipt, "dist.zip") == [
        "::error file=dist.zip,title=duplicate-key::plugin.yaml:4%0Atwice",
        "::warning title=readme-missing::no README",
    ]


def test_credentials_are_taken_out() -> None:
    receipt = EMPTY._replace(reasons=(ReasonRow("unauthorized", "https://user:word@host.invalid/simple says no"),))
    assert lines(receipt) == ["::error title=unauthorized::https://****@host.invalid/simple says no"]
