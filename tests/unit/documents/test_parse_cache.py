"""Reading through the cache gives the same, faster, and survives every damage."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pm.documents.parse_cache import remembered
from pm.plugins.declaration import read_declaration
from pm.plugins.declaration_cache import Rules, declaration_from_json, declaration_to_json, read_declaration_cached

PLUGINS = Path(__file__).parents[3] / "fixtures" / "plugins"
CORE = frozenset({"hermes-agent"})


@pytest.fixture
def rules(tmp_path: Path) -> Rules:
    return Rules(CORE, cache_directory=tmp_path / "cache" / "declarations")


def entries(rules: Rules) -> list[Path]:
    assert rules.cache_directory is not None
    return sorted(rules.cache_directory.iterdir())


@pytest.mark.parametrize("folder", sorted(path.name for path in PLUGINS.iterdir()))
def test_what_is_read_through_the_cache_equals_what_is_read(folder: str, rules: Rules) -> None:
    expected = read_declaration(PLUGINS / folder, core_names=CORE)
    first = read_declaration_cached(PLUGINS / folder, rules)
    second = read_declaration_cached(PLUGINS / folder, rules)
    assert [first, second] == [expected, expected]


@pytest.mark.parametrize("folder", sorted(path.name for path in PLUGINS.iterdir()))
def test_a_declaration_survives_the_trip_through_json(folder: str) -> None:
    expected = read_declaration(PLUGINS / folder, core_names=CORE)
    assert declaration_from_json(json.loads(json.dumps(declaration_to_json(expected)))) == expected


@pytest.mark.parametrize("value", [None, [], {}, {"requirements": 3}, {"requirements": [], "gates": [[1]]}])
def test_what_is_no_declaration_is_refused(value: object) -> None:
    with pytest.raises((TypeError, ValueError, LookupError)):
        declaration_from_json(value)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not a cache entry",
        b"0" * 64 + b"\n{}",
        b"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a\n{}",  # another value with its right digest
        b"\xff" * 100,
    ],
)
def test_a_damaged_entry_is_written_anew(rules: Rules, content: bytes) -> None:
    expected = read_declaration_cached(PLUGINS / "admitted-simple", rules)
    (entry,) = entries(rules)
    good = entry.read_bytes()
    entry.write_bytes(content)
    assert read_declaration_cached(PLUGINS / "admitted-simple", rules) == expected
    assert entry.read_bytes() == good


def test_a_cut_off_entry_is_written_anew(rules: Rules) -> None:
    expected = read_declaration_cached(PLUGINS / "admitted-simple", rules)
    (entry,) = entries(rules)
    good = entry.read_bytes()
    entry.write_bytes(good[:-5])
    assert read_declaration_cached(PLUGINS / "admitted-simple", rules) == expected
    assert entry.read_bytes() == good


def test_a_place_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    rules = Rules(CORE, cache_directory=tmp_path / "file" / "cache")
    expected = read_declaration(PLUGINS / "admitted-simple", core_names=CORE)
    assert read_declaration_cached(PLUGINS / "admitted-simple", rules) == expected


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("plugin.yaml", "name: other\n"),
        ("plugin.json", '{"name": "unseen"}'),
        ("pyproject.toml", "[project]\ndependencies = ['demo-colors']\n"),
        ("__init__.py", "class A(MemoryProvider): ..."),
    ],
)
def test_a_change_of_any_file_that_counts_is_seen(tmp_path: Path, rules: Rules, file: str, text: str) -> None:
    folder = tmp_path / "p"
    folder.mkdir()
    (folder / "plugin.yaml").write_text("name: p\n")
    read_declaration_cached(folder, rules)
    (folder / file).write_text(text)
    assert read_declaration_cached(folder, rules) == read_declaration(folder, core_names=CORE)


def test_a_change_of_a_file_that_does_not_count_is_not_read_again(tmp_path: Path, rules: Rules) -> None:
    folder = tmp_path / "p"
    folder.mkdir()
    (folder / "plugin.yaml").write_text("name: p\n")
    read_declaration_cached(folder, rules)
    (folder / "state.db").write_text("written by the plugin")
    read_declaration_cached(folder, rules)
    assert len(entries(rules)) == 1


def test_other_circumstances_are_another_reading(rules: Rules) -> None:
    folder = PLUGINS / "host-as-requirement"
    with_gate = read_declaration_cached(folder, rules)
    without = read_declaration_cached(folder, rules._replace(core_names=frozenset({"other"})))
    named = read_declaration_cached(folder, rules, key="other-key")
    assert (len(with_gate.gates), len(without.gates), named.key) == (1, 0, "other-key")


def test_a_change_of_a_file_that_a_project_names_is_seen(tmp_path: Path, rules: Rules) -> None:
    folder = tmp_path / "p"
    folder.mkdir()
    (folder / "pyproject.toml").write_text(
        '[project]\ndynamic = ["dependencies"]\n[tool.setuptools.dynamic]\ndependencies = { file = "deps.txt" }\n'
    )
    (folder / "deps.txt").write_text("demo-colors\n")
    first, again = read_declaration_cached(folder, rules), read_declaration_cached(folder, rules)
    (folder / "deps.txt").write_text("demo-transport\n")
    changed = read_declaration_cached(folder, rules)
    (folder / "deps.txt").unlink()
    gone = read_declaration_cached(folder, rules)
    names = [[r.name for r in declaration.requirements] for declaration in (first, again, changed, gone)]
    assert names == [["demo-colors"], ["demo-colors"], ["demo-transport"], []]


def test_what_holds_a_credential_is_never_written_down(tmp_path: Path) -> None:
    value = remembered(
        tmp_path, "stamp", read=lambda: "https://user:hunter2@127.0.0.1/", encode=lambda text: text, decode=str
    )
    assert (value, list(tmp_path.iterdir())) == ("https://user:hunter2@127.0.0.1/", [])


def test_the_cache_does_not_grow_without_end(tmp_path: Path) -> None:
    for number in range(1023):
        entry = tmp_path / f"{number:04}.json"
        entry.write_text("old")
        os.utime(entry, ns=(number, number))
    (tmp_path / "1023.json").write_text("old")
    remembered(tmp_path, "new", read=lambda: 1, encode=str, decode=lambda value: int(str(value)))
    names = sorted(path.name for path in tmp_path.iterdir())
    assert (len(names), names[0], names[-1]) == (513, "0512.json", "new.json")


def test_a_second_reading_needs_no_parser(rules: Rules) -> None:
    assert rules.cache_directory is not None
    program = (
        "import sys; from pathlib import Path\n"
        "from pm.plugins.declaration_cache import Rules, read_declaration_cached\n"
        "for name in ('with-pyproject', 'bad-specifier', 'dynamic-file'):\n"
        "    rules = Rules(frozenset(), cache_directory=Path(sys.argv[2]))\n"
        "    read_declaration_cached(Path(sys.argv[1], name), rules)\n"
        "parsers = {'yaml', 'tomllib', 'packaging.requirements', 'ruamel', 'filelock', 'pm.plugins.declaration'}\n"
        "print(sorted(parsers & set(sys.modules)))\n"
    )
    outputs = [
        subprocess.run(
            [sys.executable, "-c", program, str(PLUGINS), str(rules.cache_directory)],
            env={"PYTHONPATH": str(PLUGINS.parents[1])},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for _ in range(2)
    ]
    assert outputs == ["['packaging.requirements', 'pm.plugins.declaration', 'tomllib', 'yaml']\n", "[]\n"]
