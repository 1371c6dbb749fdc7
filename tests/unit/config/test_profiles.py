"""Which plugins a config enables, and the manager's settings in it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from admission import EVERY_PLUGIN, Declaration, Problem
from pm.config.profiles import (
    Enabled,
    Profile,
    allows_lazy_installs,
    enabled_plugins,
    read_profiles,
    read_selection,
)
from pm.config.settings import IndexSetting, Selection, Settings
from pm.errors import PmError
from pm.plugins.discovery import Found


def selected(home: Path, text: str | bytes, cache: Path | None = None) -> Selection:
    """Read the selection of a home with this config."""
    home.mkdir(parents=True, exist_ok=True)
    (home / "config.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_selection(home, cache)


def refused(home: Path, text: str | bytes) -> tuple[str, str, int, str]:
    """Return what is said against a config."""
    with pytest.raises(PmError) as caught:
        selected(home, text)
    error = caught.value
    assert error.file == str(home / "config.yaml")
    return error.code, error.message, error.line, error.key


def found(key: str, *, source: str = "user", memory: bool = False, name: str = "", hidden_by: str = "") -> Found:
    return Found(key, source, Declaration(key=key, name=name or key), None, memory, hidden_by)


def test_a_home_without_config_selects_nothing(tmp_path: Path) -> None:
    assert [read_selection(tmp_path), selected(tmp_path, ""), selected(tmp_path, "# c\n")] == [Selection()] * 3


def test_a_full_config_is_read_into_typed_values(tmp_path: Path) -> None:
    text = """\
model: {provider: x, key: !!str 5}
plugins:
  enabled: [one, Mem_0, "two", 2.10, on]
  disabled:
    - three
  entries:
    one: {llm: {}}
    four:
memory: {provider: mem0, mem0: {mode: x}}
context: {engine: lcm}
security: {allow_lazy_installs: no}
pm:
  core: hermes-agent[voice]==0.19.0
  python: 3.10
  exclude_newer: 14 days
  allow_build: [Some_Thing, other]
  allow_prerelease: demo-colors
  allow_direct_urls: true
  keep_generations: 5
  audit: refuse
  on_unadmitted: stop
  indexes:
    - {name: own, url: "https://127.0.0.1/simple", packages: [own-*], default: yes}
    - url: https://127.0.0.1/other
  find_links: [wheels, /opt/wheels]
"""
    expected = Selection(
        enabled=("one", "Mem_0", "two", "2.10", "on"),
        disabled=("three",),
        entries=("one", "four"),
        memory_provider="mem0",
        context_engine="lcm",
        allow_lazy_installs=False,
        section=Settings(
            core="hermes-agent[voice]==0.19.0",
            python="3.10",
            exclude_newer="14 days",
            allow_build=("some-thing", "other"),
            allow_prerelease=("demo-colors",),
            allow_direct_urls=(EVERY_PLUGIN,),
            keep_generations=5,
            audit="refuse",
            on_unadmitted="stop",
            indexes=(
                IndexSetting("https://127.0.0.1/simple", "own", ("own-*",), default=True),
                IndexSetting("https://127.0.0.1/other"),
            ),
            find_links=("wheels", "/opt/wheels"),
        ),
        section_line=12,
    )
    selection = selected(tmp_path, text)
    assert (selection._replace(notes=()), selection.settings) == (expected, expected.section)
    assert [(note.code, note.message) for note in selection.notes] == [
        ("unquoted-value", "`plugins.enabled[3]` is `2.10`, which hosts read as 2.1"),
        ("unquoted-value", "`plugins.enabled[4]` is `on`, which hosts read as true"),
    ]


@pytest.mark.parametrize("text", ["\ufeffplugins:\r\n  enabled:\r\n  - a\r\n", "plugins: {enabled: [a]}"])
def test_windows_text_is_nothing_special(tmp_path: Path, text: str) -> None:
    assert selected(tmp_path, text).enabled == ("a",)


@pytest.mark.parametrize("text", ["plugins:\n", "plugins:\n  enabled:\n", "plugins: {enabled: null}", "plugins: {}"])
def test_keys_without_a_value_select_nothing(tmp_path: Path, text: str) -> None:
    assert selected(tmp_path, text) == Selection()


@pytest.mark.parametrize("word", ["", "builtin", "Built-in", "default", "none", "'none'", "~", "off", "false"])
def test_the_built_in_memory_and_engine_are_no_plugins(tmp_path: Path, word: str) -> None:
    assert selected(tmp_path, f"memory: {{provider: {word} }}\ncontext: {{engine: {word} }}\n") == Selection()


def test_the_engine_that_the_host_brings_is_no_plugin(tmp_path: Path) -> None:
    assert selected(tmp_path, "context: {engine: compressor}\n").context_engine == ""


@pytest.mark.parametrize("text", ["memory: true\ncontext: x\nsecurity: 3\n", "memory:\ncontext: []\n"])
def test_a_section_of_the_host_that_holds_something_else_selects_nothing(tmp_path: Path, text: str) -> None:
    assert selected(tmp_path, text) == Selection()


def test_aliases_and_merged_keys_mean_what_they_mean_to_the_host(tmp_path: Path) -> None:
    text = "base: &base {enabled: [a], disabled: [b]}\nlist: &list [c]\nplugins:\n  <<: *base\n  disabled: *list\n"
    selection = selected(tmp_path, text)
    assert (selection.enabled, selection.disabled) == (("a",), ("c",))


def test_an_empty_item_is_told_and_counts_as_nothing(tmp_path: Path) -> None:
    note = Problem(
        "config-unreadable",
        "`plugins.enabled[1]` is empty and names no plugin",
        str(tmp_path / "config.yaml"),
        4,
        5,
        "plugins.enabled",
    )
    selection = selected(tmp_path, "plugins:\n  enabled:\n  - a\n  - ''\n")
    assert (selection.enabled, [note._replace(column=0) for note in selection.notes]) == (
        ("a",),
        [note._replace(column=0)],
    )


@pytest.mark.parametrize(
    ("text", "message", "line", "key"),
    [
        ("plugins: a\n", "`plugins` must have keys with values, not `a`", 1, "plugins"),
        ("plugins: [a]\n", "`plugins` must have keys with values, not a list", 1, "plugins"),
        ("plugins:\n  enabled: a\n", "`plugins.enabled` must be a list of names, not `a`", 2, "plugins.enabled"),
        (
            "plugins:\n  disabled: {a: 1}\n",
            "`plugins.disabled` must be a list of names, not a mapping",
            2,
            "plugins.disabled",
        ),
        (
            "plugins:\n  enabled:\n  - a\n  - {b: c}\n",
            "`plugins.enabled[1]` must be the name of a plugin, not a mapping",
            4,
            "plugins.enabled[1]",
        ),
        ("memory:\n  provider: [a]\n", "`memory.provider` must be a name, not a list", 2, "memory.provider"),
        ("pm: 3\n", "`pm` must have keys with values, not `3`", 1, "pm"),
        ("plugins: {}\n\nplugins: {}\n", "`plugins` is written twice, on lines 1 and 3", 3, "plugins"),
        (
            "memory:\n  provider: a\n  provider: b\n",
            "`memory.provider` is written twice, on lines 2 and 3",
            3,
            "memory.provider",
        ),
        ("a: 1\n\tb: 2\n", "this is not YAML: tab used for indentation", 2, ""),
        ("a: !env x\n", "the tag `!env` is not obeyed: no tag is", 1, "a"),
        ("- a\n", "the file holds a list, not keys with values", 1, ""),
        (b"a: caf\xe9\n", "byte 0xe9 is not UTF-8", 1, ""),
        ("plugins: {enabled: [a]}\n".encode("utf-16"), "the file is UTF-16", 1, ""),
    ],
)
def test_a_config_that_leaves_open_what_it_selects_is_unreadable_with_its_place(
    tmp_path: Path, text: str | bytes, message: str, line: int, key: str
) -> None:
    assert refused(tmp_path, text) == ("config-unreadable", message, line, key)


def test_a_key_that_is_written_twice_elsewhere_is_the_hosts_affair(tmp_path: Path) -> None:
    text = "model: {a: 1, a: 2}\nother: 1\nother: 2\nplugins: {enabled: [a], entries: {a: {x: 1, x: 2}}}\n"
    assert selected(tmp_path, text).enabled == ("a",)


def test_a_config_that_is_a_folder_is_unreadable(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").mkdir()
    with pytest.raises(PmError) as caught:
        read_selection(tmp_path)
    assert (caught.value.code, caught.value.message) == ("config-unreadable", "this is not a regular file")


def test_a_config_behind_a_link_is_read_wherever_it_lies(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    (tmp_path / "dotfiles" / "hermes.yaml").write_text("plugins: {enabled: [a]}\n")
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "config.yaml").symlink_to("../dotfiles/hermes.yaml")
    assert read_selection(tmp_path / "home").enabled == ("a",)


# --- settings ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["off", "false", "no", "'off'", '"off"'])
def test_audit_can_be_off_in_every_way_that_yaml_knows(tmp_path: Path, word: str) -> None:
    assert selected(tmp_path, f"pm: {{audit: {word}}}\n").settings.audit == "off"


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("off", ""),
        ("'off'", ""),
        ("14 days", "14 days"),
        ("2 weeks", "2 weeks"),
        ("1day", "1day"),
        ("2026-01-02", "2026-01-02"),
        ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"),
        ("'2026-01-02 03:04:05+02:00'", "2026-01-02 03:04:05+02:00"),
    ],
)
def test_quarantine_is_off_a_span_or_an_instant(tmp_path: Path, written: str, read: str) -> None:
    assert selected(tmp_path, f"pm: {{exclude_newer: {written}}}\n").settings.exclude_newer == read


def test_no_indexes_and_an_empty_list_of_them_are_two_things(tmp_path: Path) -> None:
    unset, empty = selected(tmp_path, "pm: {core: x}\n"), selected(tmp_path, "pm: {indexes: []}\n")
    assert (unset.settings.indexes, empty.settings.indexes) == (None, ())


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("core: [a]", "`pm.core` must be a text, not a list"),
        ("core: true", "`pm.core` must be a text, not `true`"),
        ("exclude_newer: 14", "`pm.exclude_newer` must be `off`, a span such as `14 days`, or an instant, not `14`"),
        ("exclude_newer: on", "`pm.exclude_newer` must be `off`, a span such as `14 days`, or an instant, not `on`"),
        ("allow_build: {a: 1}", "`pm.allow_build` must be a list of texts, not a mapping"),
        ("allow_build: true", "`pm.allow_build` must be a list of texts, not `true`"),
        ("allow_direct_urls: 'yes'", "`pm.allow_direct_urls` must be true, false, or a list of plugins, not `yes`"),
        ("allow_direct_urls: [no]", "`pm.allow_direct_urls` must be true, false, or a list of plugins, not `no`"),
        ("keep_generations: 0", "`pm.keep_generations` must be a number from 1 upwards, not `0`"),
        ("keep_generations: 2.5", "`pm.keep_generations` must be a number from 1 upwards, not `2.5`"),
        ("audit: maybe", "`pm.audit` must be one of `off`, `warn`, `refuse`, not `maybe`"),
        ("on_unadmitted: off", "`pm.on_unadmitted` must be one of `warn`, `stop`, not `off`"),
        ("indexes: x", "`pm.indexes` must be a list, not `x`"),
        ("indexes: [x]", "`pm.indexes[0]` must have `url`, and may have `name`, `packages` and `default`, not `x`"),
        ("indexes: [{name: x}]", "`pm.indexes[0].url` must be an address, not a mapping"),
        ("find_links: [[a]]", "`pm.find_links` must be a list of texts, not a list"),
    ],
)  # fmt: skip
def test_a_setting_of_the_wrong_type_is_refused_when_it_is_asked_for(
    tmp_path: Path, setting: str, message: str
) -> None:
    selection = selected(tmp_path, f"plugins: {{enabled: [a]}}\npm:\n  {setting}\n")
    assert selection.enabled == ("a",)
    with pytest.raises(PmError) as caught:
        selection.settings  # noqa: B018 - asking is what raises
    error = caught.value
    assert (error.code, error.message, error.line) == ("config-unreadable", message, 3)


def test_all_wrong_settings_are_told_at_once_and_no_credential_with_them(tmp_path: Path) -> None:
    text = "pm:\n  indexes: https://user:hunter2@127.0.0.1/\n  audit: x\n  core: []\n"
    with pytest.raises(PmError) as caught:
        selected(tmp_path, text).settings  # noqa: B018 - asking is what raises
    assert caught.value.message == (
        "`pm.indexes` must be a list, not `https://****@127.0.0.1/`; "
        "line 3: `pm.audit` must be one of `off`, `warn`, `refuse`, not `x`; "
        "line 4: `pm.core` must be a text, not a list"
    )


def test_a_setting_that_is_none_is_told(tmp_path: Path) -> None:
    selection = selected(tmp_path, "pm:\n  keep_generation: 5\n")
    assert [(note.code, note.message, note.line) for note in selection.notes] == [
        ("settings-ignored", "`pm.keep_generation` is not a setting of the manager, and is ignored", 2)
    ]


# --- lazy installs ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "allowed"), [("true", True), ("yes", True), ("false", False), ("'false'", False), ("1", False)]
)
def test_lazy_installs_need_a_plain_yes(tmp_path: Path, written: str, *, allowed: bool) -> None:
    selection = selected(tmp_path, f"security: {{allow_lazy_installs: {written}}}\n")
    assert allows_lazy_installs(selection, {}) is allowed


@pytest.mark.parametrize(
    ("value", "allowed"), [("1", False), (" 1 ", False), ("true", True), ("YES", True), ("0", True), ("", True)]
)
def test_the_environment_can_forbid_lazy_installs_with_the_one_word_that_the_host_honours(
    value: str, *, allowed: bool
) -> None:
    assert allows_lazy_installs(Selection(), {"HERMES_DISABLE_LAZY_INSTALLS": value}) is allowed


def test_a_config_that_cannot_be_read_does_not_allow_lazy_installs() -> None:
    assert allows_lazy_installs(None, {}) is False


# --- the cache --------------------------------------------------------------------------------------------------------


def test_a_second_reading_is_equal_and_needs_no_yaml_parser(tmp_path: Path) -> None:
    text = "plugins: {enabled: [a], entries: {b: {}}, disabled: ['']}\npm: {indexes: [{url: x}], core: []}\n"
    first = selected(tmp_path / "home", text, tmp_path / "cache")
    program = (
        "import sys; from pathlib import Path; from pm.config.profiles import read_selection\n"
        "selection = read_selection(Path(sys.argv[1]), Path(sys.argv[2]))\n"
        "print(repr(selection)); print(sorted({'yaml', 'ruamel', 'filelock', 'tomllib'} & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "home"), str(tmp_path / "cache")],
        env={"PYTHONPATH": str(Path(__file__).parents[3])},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"{first!r}\n[]\n"


def test_a_changed_config_is_read_anew(tmp_path: Path) -> None:
    before = selected(tmp_path, "plugins: {enabled: [a]}\n", tmp_path / "cache")
    after = selected(tmp_path, "plugins: {enabled: [b]}\n", tmp_path / "cache")
    assert (before.enabled, after.enabled) == (("a",), ("b",))


def test_a_config_with_a_credential_is_not_kept(tmp_path: Path) -> None:
    text = "pm: {indexes: [{url: 'https://user:hunter2@127.0.0.1/simple'}]}\n"
    selection = selected(tmp_path, text, tmp_path / "cache")
    assert (selection.settings.indexes, (tmp_path / "cache").exists()) == (
        (IndexSetting("https://user:hunter2@127.0.0.1/simple"),),
        False,
    )


# --- profiles ---------------------------------------------------------------------------------------------------------


def test_profiles_are_the_root_and_its_folders_each_with_its_selection_or_its_error(tmp_path: Path) -> None:
    selected(tmp_path, "plugins: {enabled: [a]}\npm: {core: x}\n")
    selected(tmp_path / "profiles" / "work", "plugins: {enabled: [b]}\npm: {core: y}\n")
    (tmp_path / "profiles" / "broken").mkdir()
    (tmp_path / "profiles" / "broken" / "config.yaml").write_text("plugins: [")
    (tmp_path / "profiles" / ".hidden").mkdir()
    (tmp_path / "profiles" / "note.txt").write_text("")
    broken, default, work = sorted(read_profiles(tmp_path), key=lambda profile: profile.name)
    assert default == Profile(
        "default", tmp_path, Selection(enabled=("a",), section=Settings(core="x"), section_line=2)
    )
    assert (broken.selection, broken.error and broken.error.code) == (None, "config-unreadable")
    note = Problem(
        "settings-ignored",
        "the section `pm:` of a profile is not read: one generation serves all profiles",
        str(tmp_path / "profiles" / "work" / "config.yaml"),
        2,
        key="pm",
        hint="move it to the `config.yaml` of the root",
    )
    assert (work.selection and work.selection.enabled, work.notes) == (("b",), (note,))


def test_a_root_without_profiles_is_its_only_profile(tmp_path: Path) -> None:
    assert read_profiles(tmp_path) == (Profile("default", tmp_path, Selection()),)


# --- which plugins are meant ------------------------------------------------------------------------------------------

PLUGINS = (
    found("disk-cleanup", source="bundled"),
    found("memory/mem0", source="bundled", memory=True, name="mem0"),
    found("mem0", memory=True, hidden_by="bundled"),
    found("web/firecrawl", name="web-firecrawl"),
    found("browser/firecrawl", name="browser-firecrawl"),
    found("context_engine/lcm"),
)


@pytest.mark.parametrize(
    ("written", "keys"),
    [
        ("Disk_Cleanup", ["disk-cleanup"]),
        ("memory/mem0", ["memory/mem0"]),
        ("mem0", ["memory/mem0"]),
        ("web.firecrawl", ["web/firecrawl"]),
        ("firecrawl", []),
        ("unknown", []),
    ],
)
def test_every_spelling_means_the_plugin_and_a_bare_name_if_it_is_unique(written: str, keys: list[str]) -> None:
    """Cases name-normalisation-03 and name-normalisation-05."""
    enabled = enabled_plugins(Selection(enabled=(written,)), PLUGINS)
    assert ([plugin.key for plugin in enabled.members], enabled.missing) == (keys, () if keys else (written,))


@pytest.mark.parametrize(("on", "off"), [("web/firecrawl", "web_firecrawl"), ("memory/mem0", "mem0"), ("a", "A")])
def test_disabled_wins_under_any_spelling(on: str, off: str) -> None:
    assert enabled_plugins(Selection(enabled=(on,), disabled=(off,)), PLUGINS) == Enabled((), ())


def test_a_bare_name_of_two_plugins_disables_neither() -> None:
    selection = Selection(enabled=("web/firecrawl", "browser/firecrawl"), disabled=("firecrawl",))
    assert [plugin.key for plugin in enabled_plugins(selection, PLUGINS).members] == [
        "browser/firecrawl",
        "web/firecrawl",
    ]


def test_a_selected_provider_and_engine_count_as_enabled_even_if_disabled() -> None:
    selection = Selection(disabled=("mem0", "x"), memory_provider="mem0", context_engine="lcm")
    enabled = enabled_plugins(selection, PLUGINS)
    assert ([plugin.key for plugin in enabled.members], enabled.missing) == (["context_engine/lcm", "memory/mem0"], ())
    assert enabled.warnings == (
        Problem(
            "selected-but-disabled",
            "`memory/mem0` is selected by `memory.provider` and listed in `plugins.disabled`: it counts as enabled",
            "config.yaml",
            key="memory.provider",
        ),
    )


def test_a_selected_provider_that_is_not_there_is_missing() -> None:
    assert enabled_plugins(Selection(memory_provider="honcho"), PLUGINS) == Enabled((), ("honcho",))


def test_a_provider_is_meant_before_another_plugin_of_its_name() -> None:
    plugins = (found("x"), found("memory/x", memory=True))
    assert [plugin.key for plugin in enabled_plugins(Selection(memory_provider="x"), plugins).members] == ["memory/x"]


def test_a_hidden_copy_is_never_meant() -> None:
    members = enabled_plugins(Selection(enabled=("mem0",)), PLUGINS).members
    assert [(plugin.key, plugin.source) for plugin in members] == [("memory/mem0", "bundled")]


def test_what_hosts_read_as_something_else_is_told_with_its_quotes(tmp_path: Path) -> None:
    """Case C17 of the trials."""
    text = "plugins:\n  enabled: [010, 1:30, 1e3, '010']\n  entries: {010: a, 1:30: b, .nan: c, 1e3: d}\n"
    selection = selected(tmp_path, f"{text}memory: {{provider: 1_0}}\n")
    assert [(note.message, note.line, note.hint) for note in selection.notes] == [
        ("`plugins.enabled[0]` is `010`, which hosts read as 8", 2, 'write `"010"`, if the text is meant'),
        ("`plugins.enabled[1]` is `1:30`, which hosts read as 90", 2, 'write `"1:30"`, if the text is meant'),
        ("`plugins.entries.010` is `010`, which hosts read as 8", 3, 'write `"010"`, if the text is meant'),
        ("`plugins.entries.1:30` is `1:30`, which hosts read as 90", 3, 'write `"1:30"`, if the text is meant'),
        ("`plugins.entries..nan` is `.nan`, which hosts read as nan", 3, 'write `".nan"`, if the text is meant'),
        ("`memory.provider` is `1_0`, which hosts read as 10", 4, 'write `"1_0"`, if the text is meant'),
    ]
