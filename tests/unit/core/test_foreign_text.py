"""The core reads what operators and plugins wrote as hosts do, and is neither stopped nor held up by any of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import hermes_constants as constants
from fixtures.limited import limited
from fixtures.mutations import mutations
from hermes_cli.config import ConfigUnreadable, load_config, parse_mapping
from hermes_cli.foreign_text import TROUBLE, read_yaml
from hermes_cli.plugin_sources import find_plugins

HERE = Path("config.yaml")
CONFIG = "plugins:\n  enabled: [ash, 'off']\n  entries: &e {n: 1, 010: a, 1:30: b, on: c}\nmemory: {<<: *e, p: 1e3}\n"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    assert constants.get_hermes_home() == tmp_path
    return tmp_path


# --- as hosts read it -------------------------------------------------------------------------------------------------


def test_values_and_keys_are_those_that_hosts_read() -> None:
    """Case E6 of the trials: `n` is a text and `1e3` is one; `010` is 8, `1:30` is 90, `on` is true."""
    assert parse_mapping(CONFIG, HERE) == yaml.safe_load(CONFIG)
    assert parse_mapping(CONFIG, HERE)["memory"] == {"n": 1, 8: "a", 90: "b", True: "c", "p": "1e3"}


@given(st.text(st.sampled_from(list("ab01.:-_#'\"[]{},&*<>!|?%=\\\n\t  ~é")), max_size=60))
def test_what_is_read_is_what_a_host_reads(text: str) -> None:
    try:
        found = read_yaml(text)
    except TROUBLE:
        return
    # as with libyaml, which takes a tab where the other parser does not; a `nan` is equal to nothing
    assert repr(found) == repr(yaml.load(text, Loader=yaml.CSafeLoader))


# --- within limits ----------------------------------------------------------------------------------------------------


def merged(count: int) -> str:
    lines = [f"m{n}: &m{n} {{<<: [*m{n - 1}, *m{n - 1}, *m{n - 1}]}}" for n in range(1, count)]
    return "\n".join(["m0: &m0 {k0: 1}", *lines, f"<<: *m{count - 1}"])


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "- " * 100_000,
        f"a: {'9' * 5000}",
        "a: 1\nb: {c: 1, c: 2}",
        "a: 2026-99-99",
        "a: *b",
        "a: &a [*a]\nb: {[1]: 2}",
        "? [a]\n: 1\n? {b: c}\n: 2",
        "{" * 60 + "a: 1" + "}" * 60,
    ],
)
def test_what_cannot_be_read_is_said_at_once(text: str) -> None:
    ending = limited(lambda: _told(text))
    assert ending.is_good, ending
    assert "is not valid YAML" in ending.told


def test_merges_of_merges_take_no_time_whether_they_are_read_or_not() -> None:
    assert limited(lambda: _told(merged(40))).is_good


def _told(text: str) -> str:
    try:
        return repr(parse_mapping(text, HERE))
    except ConfigUnreadable as error:
        return str(error)


@pytest.mark.parametrize("count", [100, pytest.param(2000, marks=pytest.mark.slow)])
def test_damaged_configs_are_read_or_refused_within_the_limits(count: int) -> None:
    damaged = [content for _, content in mutations(CONFIG.encode(), count, "config of the core")]
    ending = limited(lambda: len([_told(content.decode(errors="replace")) for content in damaged]), seconds=60)
    assert ending.is_good, ending.told


# --- files ------------------------------------------------------------------------------------------------------------


def test_a_config_that_is_no_file_is_unreadable_and_not_waited_for(home: Path) -> None:
    config = home / "config.yaml"
    os.mkfifo(config)
    with pytest.raises(ConfigUnreadable, match="is not a regular file"):
        load_config()
    config.unlink()
    config.symlink_to("nowhere")
    with pytest.raises(ConfigUnreadable, match="is a link that leads nowhere"):
        load_config()
    config.unlink()
    with config.open("wb") as stream:
        stream.truncate(1 << 40)
    with pytest.raises(ConfigUnreadable, match="is larger than 4096 KiB"):
        load_config()


def test_a_config_is_read_once_as_long_as_it_is_the_same(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "config.yaml").write_text("a: {b: 1}\n")
    first = load_config()
    first["a"]["b"] = 2  # what a caller changes is the caller's own
    monkeypatch.setattr("hermes_cli.config.parse_mapping", lambda *_: {"read": "anew"})
    assert load_config() == {"a": {"b": 1}}
    (home / "config.yaml").write_text("a: {b: 12}\n")
    assert load_config() == {"read": "anew"}


def test_plugins_that_cannot_be_read_leave_the_others_alone(home: Path) -> None:
    plugins = home / "plugins"
    for name in ("ash", "digits", "pipe", "merges", "parts"):
        (plugins / name).mkdir(parents=True)
    (plugins / "ash" / "plugin.yaml").write_text("name: ash\n")
    (plugins / "digits" / "plugin.json").write_text(f'{{"n": {"9" * 5000}}}')
    os.mkfifo(plugins / "pipe" / "plugin.yaml")
    os.mkfifo(plugins / "pipe" / "__init__.py")
    (plugins / "merges" / "plugin.yaml").write_text(merged(40))
    (plugins / "parts" / "pyproject.toml").write_text("x" + ".a" * 200_000 + "=1\n")
    (plugins / "circle").symlink_to("circle")
    ending = limited(lambda: {plugin.key: bool(plugin.problem) for plugin in find_plugins(home)})
    # manifests are read as texts, of which none is too long, and merges nothing
    assert ending.told == "{'ash': False, 'digits': True, 'merges': False, 'parts': False, 'pipe': True}"
