"""Looking changes nothing: dry runs, checks and listings write outside of the cache not one byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from fixtures.homes import PLUGINS, UNTOUCHED_BY_LOOKING, Answer, Home, new_home, write_plugin

NEW = str(PLUGINS / "admitted-simple")
UNFIT = str(PLUGINS / "conflicts-with-core")


def _furnished(home: Home) -> Home:
    """Bring a plugin that runs, and one that is installed and switched off."""
    home.install(home.plugin("ash", "demo-socket<3"))
    write_plugin(home.path / "plugins" / "birch", "demo-transport")
    return home


@pytest.fixture
def furnished(home: Home) -> Home:
    """Return a home of one test."""
    return _furnished(home)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, wheels: Path) -> Home:
    """Return a home for all tests that only look: each of them shows that it leaves the home as it was."""
    return _furnished(new_home(tmp_path_factory.mktemp("shared") / "home", wheels=wheels))


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("plugins check", "0 ready"),
        ("plugins check ash", "0 ready"),
        ("plugins check birch", "0 admitted"),
        (f"plugins check {NEW}", "0 admitted"),
        (f"plugins check {UNFIT}", "1 refused core-conflict"),
        (f"plugins check birch {NEW}", "0 admitted"),
        (f"plugins check {NEW} {UNFIT}", "1 refused core-conflict"),
        ("plugins check nobody", "2 failed unknown-plugin"),
        (f"plugins validate {NEW}", "0 ready"),
        (f"plugins validate {UNFIT}", "1 refused core-conflict"),
        (f"plugins install {NEW} --enable --dry-run", "0 admitted"),
        (f"plugins install {NEW} --no-enable --dry-run", "0 admitted"),
        (f"plugins install {UNFIT} --enable --keep --dry-run", "1 refused core-conflict"),
        ("plugins enable birch --dry-run", "0 admitted"),
        ("plugins disable ash --dry-run", "0 disabled"),
        ("plugins remove ash --dry-run", "0 removed"),
        ("plugins remove birch --dry-run", "0 removed"),
        ("pm init --dry-run", "0 unchanged"),
        ("pm init --core nobody --dry-run", "1 refused not-found-on-index"),
    ],
)
def test_a_dry_run_answers_and_writes_nothing(shared: Home, words: str, expected: str) -> None:
    """Case dry-run-mutates-01."""
    before = shared.snapshot(UNTOUCHED_BY_LOOKING)
    answer = shared.ask(*words.split())
    assert (answer.gist, shared.snapshot(UNTOUCHED_BY_LOOKING)) == (expected, before)


@pytest.mark.parametrize(
    "words",
    [
        "plugins list",
        "plugins show ash",
        "plugins show birch",
        "pm status",
        "pm why demo-socket",
        "pm tree",
        "pm tree --invert demo-socket",
        "pm receipts",
        "pm receipts show latest",
        "pm receipts example core-conflict",
    ],
)
def test_a_listing_writes_nothing(shared: Home, words: str) -> None:
    before = shared.snapshot(UNTOUCHED_BY_LOOKING)
    as_json, as_text = shared.say(*words.split(), "--json"), shared.say(*words.split())
    assert (as_json.status, as_text.status, as_json.stderr, as_text.stderr) == (0, 0, "", "")
    assert (as_json.value != {}, as_text.stdout != "") == (True, True)
    assert shared.snapshot(UNTOUCHED_BY_LOOKING) == before


def test_looking_at_a_home_that_has_nothing_makes_no_state_but_the_cache(cold: Home) -> None:
    first = cold.ask("plugins", "check")
    assert [(step["command"], step["confirmed"]) for step in first.value["steps"]] == [
        ("hermes pm init", True),
        ("hermes plugins check", False),
    ]
    answers = [
        first.gist,
        cold.ask("plugins", "check", NEW).gist,
        cold.ask("plugins", "install", NEW, "--enable", "--dry-run").gist,
        cold.ask("pm", "init", "--dry-run").gist,
    ]
    assert answers == ["1 not-ready no-generation", "0 admitted", "0 admitted", "0 admitted"]
    assert (cold.say("pm", "status").status, cold.say("plugins", "list").status) == (0, 0)
    assert sorted(cold.snapshot(UNTOUCHED_BY_LOOKING)) == ["config.yaml", "pm"]


def _verdict(answer: Answer) -> dict[str, object]:
    """Return what a receipt says of the verdict, and not of the operation."""
    names = ("outcome", "exit_status", "reasons", "changes", "core", "target", "inputs_fingerprint", "consents")
    return {name: answer.value[name] for name in names}


@pytest.mark.parametrize("plugin", [NEW, UNFIT, str(PLUGINS / "needs-newer-core"), str(PLUGINS / "direct-url")])
def test_dry_run_check_and_install_come_to_one_verdict(furnished: Home, plugin: str) -> None:
    dry = furnished.ask("plugins", "install", plugin, "--enable", "--dry-run")
    checked = furnished.ask("plugins", "check", plugin)
    real = furnished.install(plugin)
    assert _verdict(dry) == _verdict(checked) == _verdict(real)


def test_a_check_of_an_installed_plugin_comes_to_the_verdict_of_switching_it_on(furnished: Home) -> None:
    checked = furnished.ask("plugins", "check", "birch")
    real = furnished.ask("plugins", "enable", "birch")
    assert _verdict(checked) == _verdict(real)


def test_a_dry_run_of_a_removal_says_what_would_go(furnished: Home) -> None:
    dry = furnished.ask("plugins", "remove", "ash", "--dry-run")
    real = furnished.ask("plugins", "remove", "ash")
    assert (dry.gist, dry.changes) == (real.gist, real.changes) == ("0 removed", ["-demo-socket 2.4"])


def test_the_status_is_what_other_programs_rely_on(shared: Home) -> None:
    pointer = shared.pointer
    assert pointer is not None
    assert shared.ask("pm", "status").value == {
        "generation": {"number": 1, "path": pointer["path"], "lock_digest": pointer["lock_digest"]},
        "core": "hermes-embedded-core==0.1.0",
        "target": pointer["target"],
        "plugins": [
            {
                "key": "ash",
                "name": "ash",
                "version": "1.0.0",
                "state": "enabled",
                "source": "user",
                "link": "",
                "ready": "ready",
                "description": "",
                "hidden_by": "",
                "memory_provider": False,
            }
        ],
        "restart_required": False,
        "restart_reasons": [],
        "home": str(shared.path),
        "profile": "default",
        "interrupted": False,
    }


def test_a_list_names_everything_that_is_there_and_how_it_stands(furnished: Home) -> None:
    write_plugin(furnished.path / "plugins" / "cedar", "not a requirement")
    config = furnished.config.read_text()
    furnished.config.write_text(config.replace("    - ash\n", "    - ash\n    - birch\n    - cedar\n    - dill\n"))
    listed = furnished.ask("plugins", "list").value["plugins"]
    assert [(row["key"], row["state"], row["ready"]) for row in listed] == [
        ("ash", "enabled", "ready"),
        ("birch", "enabled", "not-admitted"),
        ("cedar", "enabled", "not-ready"),
        ("dill", "missing", "missing"),
    ]


def test_a_provider_without_its_settings_needs_config_and_no_value_is_shown(home: Home) -> None:
    home.install(home.plugin("ash", requires_env=["ASH_TOKEN", "ASH_REGION"]), ASH_REGION="north")
    (home.path / ".env").write_text("export ASH_REGION=s3cr3t-north\n")
    shown = home.ask("plugins", "show", "ash")
    assert (shown.value["ready"], shown.value["requires_env"]) == (
        "needs-config",
        [{"name": "ASH_TOKEN", "set": False}, {"name": "ASH_REGION", "set": True}],
    )
    assert "s3cr3t" not in shown.stdout
    assert home.ask("plugins", "show", "ash", ASH_TOKEN="x").value["ready"] == "ready"


def test_something_added_to_a_generation_is_drift(home: Home) -> None:
    home.install(NEW)
    site = next(home.generation.glob("lib/python3.*/site-packages"))
    site.chmod(0o755)
    (site / "smuggled.py").write_text("")
    answer = home.ask("plugins", "check")
    assert (answer.gist, answer.steps) == ("1 drift drift", ["repair hermes-embedded-core==0.1.0"])
