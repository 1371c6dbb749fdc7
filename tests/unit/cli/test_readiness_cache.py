"""An answer is shown again as long as nothing has changed, and only if it was asked for in the same way."""

from __future__ import annotations

from pathlib import Path

import pytest

from pm.cli.readiness_cache import answer, remember
from pm.system.stamps import stamps

CHECK = ["plugins", "check"]
FACTS = {"id": "0a1b2c3d4e", "started_at": "2026-01-01T00:00:00Z", "finished_at": "2026-01-01T00:00:01Z"}
SHOWN = '{"id": "0a1b2c3d4e", "started_at": "2026-01-01T00:00:00Z", "duration_ms": 1000, "outcome": "ready"}\n'


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    (tmp_path / "config.yaml").touch()
    return tmp_path


def keep(home: Path, *options: str) -> None:
    paths = [str(home / "config.yaml")]
    remember([*CHECK, *options], (paths, stamps(paths)), SHOWN, {**FACTS, "duration_ms": "1000"})


@pytest.mark.parametrize(
    "options", [[], ["--json"], ["-q"], ["--quiet", "--json"], ["--offline"], ["--strict"], ["--json", "--offline"]]
)
def test_an_answer_is_shown_again_with_an_id_of_its_own(
    home: Path, capsys: pytest.CaptureFixture[str], options: list[str]
) -> None:
    keep(home, *options)
    status = answer([*CHECK, *options])
    shown = capsys.readouterr().out
    assert (status, '"outcome": "ready"' in shown, FACTS["id"] in shown, "@" in shown) == (0, True, False, False)


def test_the_home_may_be_named(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HERMES_HOME", str(home / "other"))
    keep(home, "--home", str(home))
    assert answer([*CHECK, "--home", str(home)]) == 0
    assert answer(CHECK) is None


@pytest.mark.parametrize("option", ["--summary", "-v", "--verbose", "--allow-direct-urls", "--home=there", "--no-such"])
def test_what_was_asked_with_another_option_is_never_kept(home: Path, option: str) -> None:
    keep(home, option)
    assert answer([*CHECK, option]) is None
    assert not (home / "pm").exists()


@pytest.mark.parametrize("words", [["a-plugin"], ["--json", "./folder"], ["--core", "c"], ["--summary"], ["--json"]])
def test_another_question_is_not_answered(home: Path, words: list[str]) -> None:
    keep(home)
    assert answer([*CHECK, *words]) is None
    assert answer(["plugins", "list"]) is None


def test_a_file_that_has_changed_makes_it_no_answer_any_more(home: Path) -> None:
    keep(home)
    (home / "config.yaml").write_text("plugins: {}\n")
    assert answer(CHECK) is None


def test_for_another_width_it_is_found_out_anew(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    keep(home)
    monkeypatch.setenv("COLUMNS", "60")
    assert answer(CHECK) is None
