"""The embedded core knows its homes and reads their configuration."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from pathlib import Path

import pytest

import hermes_constants as constants
from hermes_cli.config import ConfigUnreadable, cfg_get, load_config


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Be started with a home of one's own."""
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def overridden(home: Path) -> Iterator[Path]:
    """Serve a profile in the current context."""
    profile = home / "profiles" / "coder"
    token = constants.set_hermes_home_override(profile)
    yield profile
    constants.reset_hermes_home_override(token)


def test_the_home_is_what_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HERMES_HOME", "  /srv/hermes \n")
    assert constants.get_hermes_home() == Path("/srv/hermes")


@pytest.mark.parametrize("configured", ["", "   "])
def test_a_blank_home_is_none(configured: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HERMES_HOME", configured)
    assert constants.get_hermes_home() == Path.home() / ".hermes"


def test_the_override_of_a_context_comes_first(home: Path, overridden: Path) -> None:
    assert constants.get_hermes_home() == overridden
    assert constants.get_hermes_home_override() == str(overridden)
    assert constants.get_process_hermes_home() == home


def test_an_override_ends_with_its_token(home: Path) -> None:
    token = constants.set_hermes_home_override("/srv/other")
    constants.reset_hermes_home_override(token)
    assert constants.get_hermes_home() == home


def test_no_override_can_be_put_over_another(home: Path, overridden: Path) -> None:
    token = constants.set_hermes_home_override(None)
    assert constants.get_hermes_home() == home
    constants.reset_hermes_home_override(token)
    assert constants.get_hermes_home() == overridden


@pytest.mark.usefixtures("home")
def test_an_override_stays_in_its_context() -> None:
    context = copy_context()
    context.run(constants.set_hermes_home_override, "/srv/other")
    with ThreadPoolExecutor(1) as pool:
        inside = pool.submit(context.run, constants.get_hermes_home_override).result()
        outside = pool.submit(constants.get_hermes_home_override).result()
    assert (inside, outside) == ("/srv/other", None)


@pytest.mark.parametrize("started_with", ["/srv/hermes", "/srv/hermes/profiles/coder"])
def test_the_root_holds_all_profiles(started_with: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HERMES_HOME", started_with)
    assert constants.get_default_hermes_root() == Path("/srv/hermes")


@pytest.mark.parametrize(
    ("home", "shown"),
    [("/home/ada/.hermes/profiles/coder", "~/.hermes/profiles/coder"), ("/srv/hermes", "/srv/hermes")],
)
def test_a_home_is_shown_as_a_person_would_write_it(home: str, shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    monkeypatch.setenv("HERMES_HOME", home)
    assert constants.display_hermes_home() == shown


def test_every_spelling_of_a_home_has_one_key(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (home / "real").mkdir()
    (home / "link").symlink_to("real")
    spellings: list[str | Path] = [home / "real", f"{home}/link/", "~/real", home / "x" / ".." / "real"]
    assert {constants.hermes_home_key(spelling) for spelling in spellings} == {str(home / "real")}


def test_the_key_of_the_current_home_needs_no_name(home: Path) -> None:
    assert constants.hermes_home_key() == str(home)


def test_a_home_without_configuration_has_an_empty_one(home: Path) -> None:
    assert list(home.iterdir()) == []
    assert load_config() == {}


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "---\n"])
def test_an_empty_file_is_an_empty_configuration(text: str, home: Path) -> None:
    (home / "config.yaml").write_text(text, "utf-8")
    assert load_config() == {}


def test_a_configuration_is_read_as_existing_homes_mean_it(home: Path) -> None:
    (home / "config.yaml").write_bytes(b"\xef\xbb\xbfmemory:\r\n  provider: mem0\r\n  enabled: yes\r\n")
    assert load_config() == {"memory": {"provider": "mem0", "enabled": True}}


def test_the_configuration_is_that_of_the_served_profile(home: Path, overridden: Path) -> None:
    (home / "config.yaml").write_text("whose: root\n", "utf-8")
    overridden.mkdir(parents=True)
    (overridden / "config.yaml").write_text("whose: coder\n", "utf-8")
    assert load_config() == {"whose": "coder"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"- a\n", r"`.*config.yaml` must be a mapping, not a list"),
        (b"a: [\n", r"`.*config.yaml` is not valid YAML: "),
        (b"a: 1\na: 2\n", r"`.*config.yaml` is not valid YAML: "),
        (b"a: !!python/object:os.system 1\n", r"`.*config.yaml` is not valid YAML: "),
        (b"a: \xff\n", r"`.*config.yaml` cannot be read: "),
    ],
)
def test_a_broken_configuration_is_never_taken_for_an_empty_one(content: bytes, message: str, home: Path) -> None:
    (home / "config.yaml").write_bytes(content)
    with pytest.raises(ConfigUnreadable, match=message):
        load_config()


def test_a_value_is_found_under_its_keys() -> None:
    assert cfg_get({"memory": {"provider": "mem0"}}, "memory", "provider") == "mem0"


@pytest.mark.parametrize("config", [None, {}, {"memory": "mem0"}, {"memory": {}}])
def test_a_value_that_is_not_there_is_the_default(config: dict[str, object] | None) -> None:
    assert cfg_get(config, "memory", "provider", default="builtin") == "builtin"


def test_an_explicit_null_is_a_value() -> None:
    assert cfg_get({"memory": {"provider": None}}, "memory", "provider", default="builtin") is None
