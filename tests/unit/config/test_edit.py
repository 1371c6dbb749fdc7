"""Changes of a config touch what they are about, and not one other byte."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
import yaml

from pm.config.edit import ConfigChange, Disable, Enable, Remove, Set, edit_config, locked_config
from pm.errors import PmError

CONFIG = """\
# my agent
plugins:   # what runs
  # the good ones
  enabled:
    - alpha   # first
    # about beta
    - "beta"
    - gamma

  # the others
  disabled: [delta, 'eps']
  entries:
    alpha:
      k:   1    # odd spaces
      n: ~
    beta: {x: 0x1F}
# memory
memory: {provider: "mem0"}   # chosen
other:
    - text: |
        kept

        as it is
    - [ a,b ]
"""


def edited(tmp_path: Path, text: str | None, *changes: ConfigChange) -> str:
    """Return the text of a config after changes; the file itself must stay as it was."""
    path = tmp_path / "config.yaml"
    if text is not None:
        path.write_bytes(text.encode())
    new = edit_config(path, changes)
    assert (path.read_bytes().decode() if path.exists() else None) == text
    return new.decode()


def changed(*replacements: tuple[str, str]) -> str:
    """Return the config above with parts of its text replaced."""
    text = CONFIG
    for old, new in replacements:
        assert text.count(old) == 1
        text = text.replace(old, new)
    return text


def test_enabling_adds_one_line(tmp_path: Path) -> None:
    expected = changed(("    - gamma\n", "    - gamma\n    - zeta\n"))
    assert edited(tmp_path, CONFIG, Enable("zeta")) == expected


@pytest.mark.parametrize("key", ["alpha", "Alpha", "BETA"])
def test_what_is_enabled_in_another_spelling_stays_as_it_is(tmp_path: Path, key: str) -> None:
    assert edited(tmp_path, CONFIG, Enable(key)) == CONFIG


def test_enabling_takes_every_spelling_out_of_the_disabled(tmp_path: Path) -> None:
    expected = changed(("- gamma\n", "- gamma\n    - web/Delta\n"), ("[delta, 'eps']", "['eps']"))
    assert edited(tmp_path, CONFIG, Enable("web/Delta", ("Delta", "web-delta"))) == expected


def test_disabling_moves_a_plugin_and_leaves_comments_about_others(tmp_path: Path) -> None:
    expected = changed(("    - alpha   # first\n", ""), ("[delta, 'eps']", "[delta, 'eps', Alpha]"))
    assert edited(tmp_path, CONFIG, Disable("Alpha")) == expected


def test_disabling_what_is_disabled_changes_nothing(tmp_path: Path) -> None:
    assert edited(tmp_path, CONFIG, Disable("DELTA")) == CONFIG


def test_removing_takes_every_trace_with_it(tmp_path: Path) -> None:
    expected = changed(
        ("    - alpha   # first\n", ""),
        ("    alpha:\n      k:   1    # odd spaces\n      n: ~\n", ""),
    )
    assert edited(tmp_path, CONFIG, Remove("Alpha")) == expected


def test_removing_the_last_of_a_list_or_section_leaves_it_empty(tmp_path: Path) -> None:
    expected = changed(
        ("  enabled:\n    - alpha   # first\n", "  enabled: []\n"),
        ('    - "beta"\n    - gamma\n', ""),
        ("  entries:\n    alpha:\n      k:   1    # odd spaces\n      n: ~\n    beta: {x: 0x1F}\n", "  entries: {}\n"),
        ("[delta, 'eps']", "[]"),
    )
    removals = [Remove(key) for key in ("alpha", "beta", "gamma", "delta", "eps")]
    assert edited(tmp_path, CONFIG, *removals) == expected


@pytest.mark.parametrize(
    "removal", [Remove("memory/mem0"), Remove("Mem0"), Remove("x", ("mem0",)), Set("memory.provider", "")]
)
def test_removing_the_selected_provider_selects_the_built_in_one(tmp_path: Path, removal: ConfigChange) -> None:
    expected = changed(('{provider: "mem0"}', '{provider: ""}'))
    assert edited(tmp_path, CONFIG, removal) == expected


def test_removing_the_selected_engine_selects_the_built_in_one(tmp_path: Path) -> None:
    assert (
        edited(tmp_path, "context:\n  engine: lcm # c\n", Remove("context_engine/lcm"))
        == 'context:\n  engine: "" # c\n'
    )


def test_a_setting_keeps_the_quotes_of_the_one_before(tmp_path: Path) -> None:
    text = "pm:\n  core: 'a' # one\n  python: 3.11\nmemory:\n  provider: mem0\n"
    changes = (Set("pm.core", "hermes-agent==0.19.0"), Set("pm.python", "3.12"), Set("memory.provider", "honcho"))
    expected = "pm:\n  core: 'hermes-agent==0.19.0' # one\n  python: \"3.12\"\nmemory:\n  provider: honcho\n"
    assert edited(tmp_path, text, *changes) == expected


def test_a_setting_that_nobody_edits_is_a_mistake_of_the_caller(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is not a setting that is edited"):
        edited(tmp_path, "", Set("security.allow_lazy_installs", "true"))


@pytest.mark.parametrize("text", [None, "", "\n", "# only a comment\n"])
def test_an_empty_config_gets_what_it_needs(tmp_path: Path, text: str | None) -> None:
    block = "plugins:\n  enabled:\n    - a\n  disabled:\n    - b\npm:\n  core: c\n"
    assert edited(tmp_path, text, Enable("a"), Disable("b"), Set("pm.core", "c")) == (text or "") + block


def test_a_config_in_braces_stays_in_braces(tmp_path: Path) -> None:
    new = edited(tmp_path, "{}\n", Enable("a"), Disable("b"), Set("pm.core", "c"))
    assert new == "{plugins: {enabled: [a], disabled: [b]}, pm: {core: c}}\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: 1", "a: 1\nplugins:\n  enabled:\n    - z\n"),
        ("a: 1\n# end\n", "a: 1\n# end\nplugins:\n  enabled:\n    - z\n"),
        ("plugins:\na: 1\n", "plugins:\n  enabled:\n    - z\na: 1\n"),
        ("plugins: # c\n  enabled: # d\na: 1\n", "plugins: # c\n  enabled: # d\n    - z\na: 1\n"),
        ("plugins:\n  entries: {}\n\n# c\na: 1\n", "plugins:\n  entries: {}\n  enabled:\n    - z\n\n# c\na: 1\n"),
        ("plugins: {}\n", "plugins: {enabled: [z]}\n"),
        ("plugins: {a: 1} # c\n", "plugins: {a: 1, enabled: [z]} # c\n"),
        ("plugins: {enabled: }\n", "plugins: {enabled: [z]}\n"),
        ("plugins:\n  enabled: []  # none\n", "plugins:\n  enabled: [z]  # none\n"),
        ("plugins:\n  enabled: null # none\n", "plugins:\n  enabled: [z] # none\n"),
        ("plugins:\n  enabled: ~\n", "plugins:\n  enabled: [z]\n"),
        ("plugins:\n  enabled: [a, ]\n", "plugins:\n  enabled: [a, z ]\n"),
        ("plugins:\n  enabled: [\n    a, # c\n    b,\n  ]\n", "plugins:\n  enabled: [\n    a, # c\n    b, z\n  ]\n"),
        ("plugins:\n  enabled:\n  - a\nb: 1\n", "plugins:\n  enabled:\n  - a\n  - z\nb: 1\n"),
        ("plugins:\n  enabled:\n    - a", "plugins:\n  enabled:\n    - a\n    - z"),
        ("plugins:\n      enabled:\n          - a\n", "plugins:\n      enabled:\n          - a\n          - z\n"),
        ("x:\n- a\nplugins:\n", "x:\n- a\nplugins:\n  enabled:\n  - z\n"),
        ('"plugins": {"enabled": ["a"]}\n', '"plugins": {"enabled": ["a", z]}\n'),
        ("---\nplugins:\n  enabled: [a]\n", "---\nplugins:\n  enabled: [a, z]\n"),
    ],
)
def test_a_list_is_extended_in_the_form_that_it_has(tmp_path: Path, text: str, expected: str) -> None:
    assert edited(tmp_path, text, Enable("z")) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plugins: {enabled: [a, b, c]}\n", "plugins: {enabled: [a, c]}\n"),
        ("plugins: {enabled: [b, c]}\n", "plugins: {enabled: [c]}\n"),
        ("plugins: {enabled: [a, b]}\n", "plugins: {enabled: [a]}\n"),
        ("plugins: {enabled: [b], entries: {b: {c: [1]}, d: 2}}\n", "plugins: {enabled: [], entries: {d: 2}}\n"),
        ("plugins:\n  enabled:\n  - a\n  - b # c\n  # d\n  - e\n", "plugins:\n  enabled:\n  - a\n  # d\n  - e\n"),
        ("plugins:\n  enabled: [b, # of b or c?\n    c]\n", "plugins:\n  enabled: [ # of b or c?\n    c]\n"),
        ("plugins:\n  enabled:\n  - B\n  - b\n  - 'b'\n", "plugins:\n  enabled: []\n"),
        ("plugins:\n  entries:\n    b:\n    c: 1\n", "plugins:\n  entries:\n    c: 1\n"),
    ],
)
def test_an_item_leaves_a_list_in_the_form_that_it_has(tmp_path: Path, text: str, expected: str) -> None:
    assert edited(tmp_path, text, Remove("b")) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "x: &d [a, b]\nplugins:\n  enabled: *d\n",
            "x: [a, b]\nplugins:\n  enabled:\n    - a\n    - b\n    - z\n",
        ),
        (
            "x: &d {enabled: [a]}\nplugins:\n  <<: *d\n",
            "x: &d {enabled: [a]}\nplugins:\n  <<: *d\n  enabled:\n    - a\n    - z\n",
        ),
        ("a: 1\n...\n", "a: 1\nplugins:\n  enabled:\n    - z\n"),
    ],
)
def test_what_cannot_be_changed_in_place_goes_the_longer_way_and_means_what_it_should(
    tmp_path: Path, text: str, expected: str
) -> None:
    assert edited(tmp_path, text, Enable("z")) == expected


@pytest.mark.parametrize(
    "text", ["plugins: [a]\n", "plugins: text\n", "plugins:\n  enabled: text\n", "plugins: {enabled: [[a]]}"]
)
def test_what_can_be_changed_in_no_way_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(PmError) as caught:
        edited(tmp_path, text, Enable("z"))
    error = caught.value
    assert (error.code, error.key, error.hint) == ("config-unreadable", "plugins.enabled", "change it by hand")


def test_a_config_that_is_broken_is_refused_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(PmError) as caught:
        edited(tmp_path, "a: 1\n\tb: 2\n", Enable("z"))
    assert (caught.value.code, caught.value.line) == ("config-unreadable", 2)


def test_a_byte_order_mark_and_windows_line_ends_stay(tmp_path: Path) -> None:
    text = "\ufeffplugins:\r\n  enabled:\r\n    - a # ü\r\n"
    assert edited(tmp_path, text, Enable("z")) == "\ufeffplugins:\r\n  enabled:\r\n    - a # ü\r\n    - z\r\n"


@pytest.mark.parametrize("key", ["on", "y", "1", "1_0", "null"])
def test_a_key_that_yaml_would_take_for_something_else_is_quoted(tmp_path: Path, key: str) -> None:
    assert edited(tmp_path, "plugins: {enabled: []}\n", Enable(key)) == f'plugins: {{enabled: ["{key}"]}}\n'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, 'pm:\n  indexes: []\n  find_links:\n    - "/w"\n'),
        ("pm:\n  core: x # ü\n", 'pm:\n  core: x # ü\n  indexes: []\n  find_links:\n    - "/w"\n'),
        ("pm: {}\n", 'pm: {indexes: [], find_links: ["/w"]}\n'),
        ("pm:\n  indexes:   # none\n", 'pm:\n  indexes: []   # none\n  find_links:\n    - "/w"\n'),
        ("pm:\n  indexes: ~\n", 'pm:\n  indexes: []\n  find_links:\n    - "/w"\n'),
        (
            "pm:\n  indexes: [] # none\n  find_links: ['/v'] # old\n",
            'pm:\n  indexes: [] # none\n  find_links: ["/w"] # old\n',
        ),
    ],
)
def test_a_setting_can_be_a_list_and_an_empty_one_is_written(tmp_path: Path, text: str | None, expected: str) -> None:
    assert edited(tmp_path, text, Set("pm.indexes", ()), Set("pm.find_links", ("/w",))) == expected


def test_a_list_of_something_else_than_texts_is_not_overwritten(tmp_path: Path) -> None:
    with pytest.raises(PmError) as caught:
        edited(tmp_path, "pm:\n  indexes: [{url: x}]\n", Set("pm.indexes", ()))
    assert (caught.value.code, caught.value.key) == ("config-unreadable", "pm.indexes")


# --- the lock ---------------------------------------------------------------------------------------------------------


def test_under_the_lock_the_config_is_what_it_is_now(tmp_path: Path) -> None:
    home = tmp_path / "new home"
    with locked_config(home) as locked:
        assert locked == (home / "config.yaml", None)
    (home / "config.yaml").write_text("a: 1\n")
    with locked_config(home) as locked:
        assert locked == (home / "config.yaml", b"a: 1\n")


def test_behind_a_link_the_file_itself_is_to_be_written(tmp_path: Path) -> None:
    (tmp_path / "dotfiles.yaml").write_text("a: 1\n")
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "config.yaml").symlink_to("../dotfiles.yaml")
    with locked_config(tmp_path / "home") as locked:
        assert locked.path == tmp_path / "dotfiles.yaml"


def test_somebody_who_waits_too_long_is_told(tmp_path: Path) -> None:
    refusals: list[PmError] = []

    def second() -> None:
        try:
            with locked_config(tmp_path, seconds=0.05):
                pass
        except PmError as error:
            refusals.append(error)

    with locked_config(tmp_path):
        thread = threading.Thread(target=second)
        thread.start()
        thread.join()
    assert [(error.code, error.message) for error in refusals] == [
        ("busy", "another program has locked `config.yaml` for 0.05 seconds")
    ]


def test_the_lock_is_free_again_after_a_failure(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), locked_config(tmp_path):
        raise RuntimeError
    with locked_config(tmp_path, seconds=0) as locked:
        assert locked.content is None


@pytest.mark.parametrize("names", [("on", "\x7f"), ("1e3", "\ufeff")])
def test_a_round_trip_quotes_what_hosts_would_not_read_as_text(tmp_path: Path, names: tuple[str, ...]) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("plugins:\n  own: 1\n")
    written = edit_config(path, [Set("pm.find_links", names)]).decode()
    assert yaml.safe_load(written)["pm"]["find_links"] == list(names)
