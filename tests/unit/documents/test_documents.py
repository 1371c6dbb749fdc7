"""Texts that others wrote are read within limits: what is beyond them, or cannot be read, is a problem."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admission import Problem
from fixtures.limited import limited
from fixtures.mutations import mutations
from pm.documents.boundary import parsed
from pm.documents.files import folder_files, text_of
from pm.documents.json_nodes import read_json
from pm.documents.nodes import Document, MappingNode
from pm.documents.toml_positions import toml_places
from pm.documents.toml_text import read_toml
from pm.documents.yaml_nodes import read_yaml

DIGITS = "9" * 5000


def faults(document: Document) -> list[tuple[str, int, int]]:
    return [(problem.message, problem.line, problem.column) for problem in document.problems]


# --- numbers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("read", "text", "column"),
    [
        (read_yaml, f"name: x\nmanifest_version: {DIGITS}", 19),
        (read_yaml, f"name: x\nversion: 1.{DIGITS}.0", 12),
        (read_yaml, f"name: x\nn: 1_{'9_' * 3000}9", 4),
        (read_yaml, f"name: x\n? 0x{'f' * 5000}", 3),
        (read_json, f'{{"name": "x",\n"n": {DIGITS}}}', 6),
        (read_json, f'{{"name": "x",\n"n": -{DIGITS}.5e{DIGITS}}}', 7),
    ],
)
def test_a_number_that_no_machine_holds_is_named_with_its_place(
    read: Callable[[str, str], Document], text: str, column: int
) -> None:
    assert faults(read(text, "f")) == [("a number has more than 1,000 digits", 2, column)]


@pytest.mark.parametrize("value", [DIGITS, f"+{DIGITS}", f"1{'_9' * 5000}", f"1.{DIGITS}", f'"{DIGITS}"'])
def test_a_number_of_toml_that_no_machine_holds_is_named_with_its_place(value: str) -> None:
    (problem,) = read_toml(f"[tool.x]\nn = {value}\n", "f").problems
    assert (problem.message, problem.line) == ("a number has more than 1,000 digits", 2)


@pytest.mark.parametrize(
    "value", ["0x" + "F" * 999, "1" + ":1" * 500_000, f"!!int '{'0x' + 'A' * 5000}'", "1" + ":5" * 999 + ".5"]
)
def test_a_number_of_another_base_that_takes_long_to_read_is_named_with_its_line(value: str) -> None:
    told = limited(lambda: [problem[:2] for problem in faults(read_yaml(f"name: x\nversion: {value}\n", "f"))]).told
    assert told == repr([("a number has more than 1,000 digits", 2)])


def test_a_long_text_that_begins_like_a_number_is_a_text() -> None:
    root = read_yaml(f"version: 0x{'F' * 5000}g", "f").root
    assert isinstance(root, MappingNode)
    assert [value.kind for _, value in root.entries] == ["text"]


def test_a_long_number_is_one_all_the_same() -> None:
    assert read_toml(f"n = {'9' * 1000}", "f").values == {"n": int("9" * 1000)}


# --- depth and count --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["x" + ".a" * 200_000 + "=1", "[x" + ' . "a b"' * 5000 + "]", "y = {x" + ".'a'" * 70 + "=1}"]
)
def test_a_dotted_key_of_many_parts_is_too_deep(text: str) -> None:
    problem = Problem("invalid-declaration", "the file is nested deeper than 64 levels", "f", 2)
    assert limited(lambda: read_toml(f"a = 1\n{text}\n", "f").problems).told == repr((problem,))


@pytest.mark.parametrize("text", ['\\"""\n' * 200_000, '"' + '\\"' * 400_000, "'\n" * 400_000, "\\'''\n" * 200_000])
def test_texts_that_do_not_end_are_looked_for_once(text: str) -> None:
    points = f"#{'.' * 100}\n"
    read = limited(lambda: [problem.code for problem in read_toml(points + text, "f").problems], seconds=10)
    assert read.told == repr(["invalid-declaration"])


def test_a_long_key_is_not_repeated_for_each_of_its_values() -> None:
    items = ", ".join(["{a: 1, a: 2}"] * 1000)
    read = read_yaml(f"? {'k' * 100_000}\n: [{items}]\n", "f")
    assert {len(problem.key) for problem in read.problems} == {
        200 + len("[0].a"),
        200 + len("[10].a"),
        200 + len("[100].a"),
    }


def test_points_in_texts_comments_and_numbers_are_no_depth() -> None:
    text = f'a = "{"b." * 100}"\n# {"c." * 100}\nd = """\n{"e." * 100}\n"""\nf = [{"1.5, " * 100}]\n'
    assert read_toml(text, "f").problems == ()


def test_places_of_a_project_with_too_many_values_end() -> None:
    places = toml_places("a = [" + "1,\n" * 150_000 + "]")
    assert (len(places.found), places.ends_at) == (100_001, (100_001, 1))


@pytest.mark.parametrize(
    ("read", "text", "line"),
    [(read_yaml, "a: [" + "1,\n" * 150_000 + "]", 99_998), (read_json, '{"a": [' + "1,\n" * 150_000 + "1]}", 99_999)],
)
def test_a_document_with_too_many_values_is_refused_where_they_begin(
    read: Callable[[str, str], Document], text: str, line: int
) -> None:
    assert faults(read(text, "f"))[0][:2] == ("the file holds more than 100,000 values", line)


def test_what_stands_behind_an_alias_counts_as_depth() -> None:
    steps = [f"m{number}: &m{number} {{k: *m{number - 1}}}" for number in range(1, 200)]
    assert faults(read_yaml("\n".join(["m0: &m0 {k: 1}", *steps]), "f")) == [
        ("the file is nested deeper than 64 levels", 64, 15)
    ]


# --- merges -----------------------------------------------------------------------------------------------------------


def merges(count: int, sources: int) -> str:
    """Return mappings of which each merges the one before it so many times."""
    lines = [f"m{n}: &m{n} {{<<: [{', '.join([f'*m{n - 1}'] * sources)}]}}" for n in range(1, count)]
    return "\n".join(["m0: &m0 {k0: 1}", *lines, f"<<: *m{count - 1}", "name: x"])


def test_merges_that_come_to_more_than_any_machine_holds_are_refused() -> None:
    """Case A2 of the trials: forty lines, 3^39 keys."""
    (fault,) = faults(read_yaml(merges(40, 3), "f"))
    assert fault == ("the merges (`<<`) come to more than 10,000 keys", 9, 5)


def test_merges_of_nothing_and_long_chains_of_merges_are_refused_too() -> None:
    empty = merges(40, 3).replace("{k0: 1}", "{}")
    messages = [faults(read_yaml(text, "f"))[0][0] for text in (empty, merges(5000, 1))]
    assert messages == ["the merges (`<<`) come to more than 10,000 keys", "the file is nested deeper than 64 levels"]


@pytest.mark.parametrize(
    ("text", "described", "line", "column"),
    [
        ("a: 1\n<<: text\n", "`text`", 2, 5),
        ("a: 1\n<<:\n", "``", 2, 4),
        ("a: &a [b]\n<<: [{c: d}, *a]\n", "a list", 1, 4),
    ],
)
def test_what_is_merged_and_has_no_keys_is_refused_as_hosts_cannot_read_it(
    text: str, described: str, line: int, column: int
) -> None:
    assert faults(read_yaml(text, "f")) == [(f"`<<` merges keys with values, not {described}", line, column)]


def test_a_quoted_key_merges_nothing_and_nor_does_one_of_json() -> None:
    for document in (read_yaml('"<<": {name: p}', "f"), read_json('{"<<": {"name": "p"}}', "f")):
        assert isinstance(document.root, MappingNode)
        assert (document.problems, document.root.get("name")) == ((), None)


def test_merges_as_people_write_them_are_read() -> None:
    document = read_yaml("base: &base {name: x, kind: backend}\nplugin:\n  <<: *base\n  kind: platform\n", "f")
    assert isinstance(document.root, MappingNode)
    plugin = document.root.get("plugin")
    assert isinstance(plugin, MappingNode)
    assert [getattr(plugin.get(name), "text", None) for name in ("name", "kind", "other")] == ["x", "platform", None]


# --- the boundary -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ValueError("Exceeds"), "exceeds"),
        (AssertionError(), "the parser gives up with `AssertionError`"),
        (OverflowError("int too large\nmore"), "int too large"),
        (RecursionError("maximum recursion depth exceeded"), "it is nested too deep"),
        (MemoryError(), "it takes too much memory"),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"), "'utf-8' codec can't decode byte 0xff"),
    ],
)
def test_whatever_a_parser_raises_is_said_in_words(error: Exception, said: str) -> None:
    def fails() -> str:
        raise error

    assert parsed(fails, str).startswith(said)


def test_a_fault_of_the_manager_itself_is_not_taken_for_one_of_a_text() -> None:
    def fails() -> str:
        raise TypeError

    with pytest.raises(TypeError):
        parsed(fails, str)


_TEXT = st.text(st.sampled_from(list("ab01.:-_#'\"[]{},&*<>!|?%@=\\\n\t  ~éЖ\u2028\x07")), max_size=80)


@given(_TEXT)
def test_every_text_is_read_or_has_a_problem(text: str) -> None:
    for document in (read_yaml(text, "f"), read_json(text, "f")):
        assert isinstance(document, Document)
    toml = read_toml(text, "f")
    assert (toml.values is None) == bool(toml.problems)


@given(_TEXT)
def test_what_tomllib_reads_is_read_and_the_places_reach_its_end(text: str) -> None:
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    assert read_toml(text, "f").values == values
    assert {path[0] for path in toml_places(text).found} == set(values)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=20,
    )
)
def test_what_json_writes_is_read_without_a_problem(value: object) -> None:
    assert read_json(json.dumps(value), "f").problems == ()


# --- damage -----------------------------------------------------------------------------------------------------------

PLUGINS = Path(__file__).parents[3] / "fixtures" / "plugins"
ORIGINALS = sorted(path for name in ("plugin.y*ml", "plugin.json", "pyproject.toml") for path in PLUGINS.rglob(name))
READERS: dict[str, Callable[[str, str], object]] = {"yaml": read_yaml, "json": read_json, "toml": read_toml}


def read_damaged(kind: str, count: int) -> None:
    """Read so many damaged copies of the real files of a kind."""
    originals = [path for path in ORIGINALS if path.suffix.replace("yml", "yaml") == f".{kind}"]
    for path in originals:
        for label, content in mutations(path.read_bytes(), count // len(originals) + 1, str(path.relative_to(PLUGINS))):
            text = text_of(content, label)
            if isinstance(text, str):
                READERS[kind](text, label)


@pytest.mark.parametrize("kind", READERS)
@pytest.mark.parametrize("count", [100, pytest.param(2000, marks=pytest.mark.slow)])
def test_damaged_files_are_read_or_refused_within_the_limits(kind: str, count: int) -> None:
    ending = limited(lambda: read_damaged(kind, count), seconds=60)
    assert ending.is_good, ending.told


# --- special files ----------------------------------------------------------------------------------------------------


def test_a_file_that_is_none_is_a_problem_and_is_not_waited_for(tmp_path: Path) -> None:
    """Pipes, devices, circles of links, and holes of a terabyte."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "circle").symlink_to("circle")
    (tmp_path / "null").symlink_to("/dev/zero")
    with (tmp_path / "hole").open("wb") as stream:
        stream.truncate(1 << 40)
    fetch = folder_files(tmp_path)
    told = {
        name: getattr(fetch(name), "message", None) for name in ("pipe", "circle", "null", "hole", "not", "a" * 300)
    }
    assert told == {
        "pipe": "this is not a regular file",
        "circle": "the file is a link that leads nowhere, to `circle`",
        "null": "the file is a link that leads out of the plugin's folder",
        "hole": "the file is larger than 1024 KiB",
        "not": None,
        "a" * 300: "the file cannot be read: file name too long",
    }
