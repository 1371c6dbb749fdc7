"""Whatever stands in a config, a change of it leaves everything else: every value, in its order, and every comment."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import yaml
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from pm.config.edit import ConfigChange, Disable, Enable, Remove, Set, edit_config
from pm.config.profiles import read_selection
from pm.config.settings import Selection
from pm.errors import PmError
from pm.names import canonical_key

NAMES = st.sampled_from(["alpha", "beta", "Gamma", "memory/mem0", "on", "web/x-y", "1"])
INDENTS = st.sampled_from(["  ", "    "])
COMMENTS = st.sampled_from(["", "", " # why", "   # 한국어"])
OTHERS = st.sampled_from(
    [
        "model: {provider: x, key: 'a''b'}",
        "agent:\n    prompt: |\n        several\n\n        lines   # no comment\n    max: 0x1F",
        "list:\n- a\n- {b: [c,d]}\n-   - e",
        'odd:   "a: b"     # spaces',
        "folded: >-\n  one\n  two",
        "nothing:",
        "tilde: ~",
        "# a comment of its own",
        "",
        "anchored: &x [1, 2]\naliased: *x",
    ]
)


@st.composite
def lists(draw: st.DrawFn, key: str, indent: str) -> str:
    """Return a key with a list of names, in one of the ways to write one."""
    names = draw(st.lists(NAMES, max_size=4, unique_by=canonical_key))
    quoted = [draw(st.sampled_from([f"'{name}'", f'"{name}"'])) for name in names]
    comment = draw(COMMENTS)
    if not names:
        return f"{indent}{key}:{draw(st.sampled_from(['', ' []', ' [ ]', ' ~']))}{comment}"
    if draw(st.booleans()):
        return f"{indent}{key}: [{draw(st.sampled_from([', ', ',', ' ,  ']))[:9].join(quoted)}]{comment}"
    dash = indent + draw(st.sampled_from(["", "  ", "    "]))
    lines = [f"{indent}{key}:{comment}"]
    for name in quoted:
        lines += [f"{dash}# about {name}"] if draw(st.booleans()) else []
        lines.append(f"{dash}- {name}{draw(COMMENTS)}")
    return "\n".join(lines)


@st.composite
def configs(draw: st.DrawFn) -> str:
    """Return the text of a config: other sections around one of plugins, which may be missing."""
    indent = draw(INDENTS)
    entries = f"{indent}entries:\n{indent}  alpha: {{llm: 1}}\n{indent}  beta:\n{indent}    k:   v # odd"
    parts = [draw(lists("enabled", indent)), draw(lists("disabled", indent)), entries, f"{indent}own: 1"]
    kept = [part for part in parts if draw(st.booleans())]
    plugins = [f"plugins:{draw(COMMENTS)}\n" + "\n".join(draw(st.permutations(kept)))] if kept else []
    memory = draw(
        st.sampled_from(["", "memory: {provider: mem0, mem0: {a: 1}}", "memory:\n  provider: 'mem0' # chosen"])
    )
    others = draw(st.lists(OTHERS, max_size=3, unique=True))
    sections = draw(st.permutations([*others, *plugins, memory]))
    return "\n".join(sections) + draw(st.sampled_from(["", "\n"]))


CHANGES = st.one_of(
    st.builds(Enable, NAMES),
    st.builds(Disable, NAMES),
    st.builds(Remove, NAMES),
    st.builds(
        Set, st.sampled_from(["pm.core", "pm.python", "memory.provider"]), st.sampled_from(["", "3.12", "a b", "x'y"])
    ),
    st.just(Set("pm.indexes", ())),
    st.builds(Set, st.just("pm.find_links"), st.sampled_from([("/w",), ("/a b", "/w")])),
)


def edited(text: str, change: ConfigChange) -> tuple[str, Selection, Selection]:
    """Return the new text, and what was and is selected."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "config.yaml")
        path.write_text(text)
        before = read_selection(Path(folder))
        new = edit_config(path, [change]).decode()
        path.write_text(new)
        return new, before, read_selection(Path(folder))


def rest(text: str) -> list[tuple[str, object]]:
    """Return all that a config says besides what the changes above are about, in its order."""
    document = yaml.safe_load(text) or {}
    plugins = document.pop("plugins", None) or {}
    others = [
        (f"plugins.{key}", value) for key, value in plugins.items() if key not in {"enabled", "disabled", "entries"}
    ]
    memory = document.pop("memory", None) or {}
    others += [(f"memory.{key}", value) for key, value in memory.items() if key != "provider"]
    document.pop("pm", None)
    return others + list(document.items())


def comments(text: str) -> list[str]:
    return sorted(re.findall(r"# about .*|# a comment.*|# spaces|# chosen", text))


@given(configs(), CHANGES)
def test_everything_else_survives(text: str, change: ConfigChange) -> None:
    new, before, after = edited(text, change)
    assert rest(new) == rest(text)
    assert comments(new) == comments(text)
    kept = [
        section._replace(core="", python="", indexes=None, find_links=()) for section in (before.section, after.section)
    ]
    assert kept[0] == kept[1]


@given(configs(), CHANGES)
def test_lines_that_are_not_about_the_change_stay_byte_for_byte(text: str, change: ConfigChange) -> None:
    new, _, _ = edited(text, change)
    kept = [
        line
        for line in text.splitlines()
        if not re.search(r"enabled|disabled|entries|provider|- ['\"]|alpha|beta|k:", line)
    ]
    lines = iter(new.splitlines())
    assert all(line in lines for line in kept)  # in their order


@given(configs(), NAMES)
def test_enabling_enables_once_and_twice_is_the_same(text: str, key: str) -> None:
    new, before, after = edited(text, Enable(key))
    canonical = canonical_key(key)
    assert [canonical_key(name) for name in after.enabled].count(canonical) == 1
    assert [name for name in after.enabled if canonical_key(name) != canonical] == [
        name for name in before.enabled if canonical_key(name) != canonical
    ]
    assert after.disabled == tuple(name for name in before.disabled if canonical_key(name) != canonical)
    assert edited(new, Enable(key))[0] == new


@given(configs(), NAMES)
def test_removing_leaves_no_trace_and_twice_is_the_same(text: str, key: str) -> None:
    new, before, after = edited(text, Remove(key))
    canonical = canonical_key(key)
    for old, left in [
        (before.enabled, after.enabled),
        (before.disabled, after.disabled),
        (before.entries, after.entries),
    ]:
        assert left == tuple(name for name in old if canonical_key(name) != canonical)
    assert edited(new, Remove(key))[0] == new


_ODD_NAMES = [
    "on", "off", "yes", "No", "y", "N", "true", "null", "~", "1", "010", "0o10", "0x1F", "1e3", "1E+3", "1.10", "1:30",
    "1_000", ".nan", "nan", "NaN", ".inf", "inf", "2026-01-01", "2026-99-99", "<<", "=", "-", "7zip", "a: b", "#a",
    "a #b", "'a'", '"a"', "\\n", "ä", "日本", "{a}", "[a]", "&a", "*a", "!a", "%a", "@a", "`a", "a,b", " a",
]  # fmt: skip


@given(st.lists(st.one_of(st.sampled_from(_ODD_NAMES), st.text(min_size=1, max_size=8)), max_size=4), configs())
def test_what_is_written_is_what_every_host_reads(names: list[str], text: str) -> None:
    """Readers of YAML 1.1 (PyYAML, as hosts have it) and of YAML 1.2 agree on what was written: texts."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "config.yaml")
        path.write_text(text, encoding="utf-8")
        try:
            path.write_bytes(edit_config(path, [Set("pm.find_links", tuple(names)), Set("pm.core", "".join(names))]))
        except PmError as error:
            assert error.code == "config-unreadable"  # noqa: PT017 - a text that no YAML can hold
            return
        written = path.read_text(encoding="utf-8")
    for read in (yaml.safe_load(written), YAML(typ="safe", pure=True).load(written)):
        assert (read["pm"]["find_links"], read["pm"]["core"]) == (names, "".join(names))
