"""Projects: whose list counts, what is dynamic, and where each fault stands."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from admission import Declaration, Problem
from pm.documents.toml_positions import TomlPosition, toml_places
from pm.plugins.declaration import read_declaration

PLUGINS = Path(__file__).parents[3] / "fixtures" / "plugins"


def read(folder: Path, text: str | bytes, **files: str) -> Declaration:
    """Read the declaration of a plugin that has a project; `_` in the name of another file stands for its dot."""
    (folder / "pyproject.toml").write_bytes(text if isinstance(text, bytes) else text.encode())
    for name, content in files.items():
        (folder / name.replace("_", ".")).write_text(content)
    return read_declaration(folder, key="p", core_names=frozenset({"hermes-agent"}))


def requirements(declaration: Declaration) -> list[tuple[str, str, int]]:
    return [(r.canonical, r.origin.file, r.origin.line) for r in declaration.requirements]


def fault(message: str, line: int, column: int, key: str = "", hint: str = "") -> Problem:
    return Problem("invalid-declaration", message, "pyproject.toml", line, column, key, hint)


# --- form -------------------------------------------------------------------------------------------------------------


def test_a_byte_order_mark_and_windows_line_ends_are_nothing_special(tmp_path: Path) -> None:
    text = "\ufeff[project]\r\n# café\r\ndependencies = [\r\n  'demo-colors',\r\n]\r\n".encode()
    declaration = read(tmp_path, text)
    assert (requirements(declaration), declaration.problems) == ([("demo-colors", "pyproject.toml", 4)], ())


def test_a_fault_of_syntax_has_line_and_column(tmp_path: Path) -> None:
    problem = fault("this is not TOML: invalid value", 2, 16)
    assert read(tmp_path, "[project]\ndependencies = oops\n").problems == (problem,)


def test_a_fault_at_the_end_of_the_file_has_its_last_line(tmp_path: Path) -> None:
    problem = fault("this is not TOML: invalid value", 3, 0)
    assert read(tmp_path, '[project]\ndependencies = [\n"x",').problems == (problem,)


@pytest.mark.parametrize(
    ("text", "key", "first", "second"),
    [
        ('[project]\ndependencies = ["a"]\nname = "x"\ndependencies = ["b"]\n', "project.dependencies", 2, 4),
        ('[project]\nname = "x"\n\n[project]\ndependencies = ["b"]\n', "project", 1, 4),
        ('[project]\n"dependencies" = ["a"]\ndependencies = ["b"]\n', "project.dependencies", 2, 3),
        ("project = { name = 'x', name = 'y' }\n", "project.name", 1, 1),
    ],
)
def test_a_key_or_table_that_is_written_twice_is_refused_with_both_lines(
    tmp_path: Path, text: str, key: str, first: int, second: int
) -> None:
    """Case duplicate-keys-03."""
    (problem,) = read(tmp_path, text).problems
    assert (problem.code, problem.message, problem.line) == (
        "duplicate-key",
        f"`{key}` is written twice, on lines {first} and {second}",
        second,
    )


def test_a_file_full_of_nesting_is_refused(tmp_path: Path) -> None:
    assert read(tmp_path, "a = " + "[" * 100_000).problems == (fault("the file is nested too deep", 0, 0),)


# --- the list ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "described", "hint"),
    [
        ('"requests"', "a string", 'write `dependencies = ["requests"]`'),
        ('{ requests = ">=2" }', "a table", ""),
        ("true", "a boolean", ""),
    ],
)
def test_dependencies_that_are_no_array_are_refused_and_never_read_as_none(
    tmp_path: Path, value: str, described: str, hint: str
) -> None:
    """Case toml-errors-01."""
    problem = fault(
        f"`project.dependencies` must be an array of strings, not {described}", 3, 1, "project.dependencies", hint
    )
    declaration = read(tmp_path, f"[project]\nname='p'\ndependencies = {value}\n")
    assert (declaration.requirements, declaration.problems) == ((), (problem,))


def test_an_item_that_is_no_string_is_refused_with_its_place(tmp_path: Path) -> None:
    text = '[project]\ndependencies = [\n  "demo-colors", 3,\n  ["x"], { a = 1 },\n]\n'
    declaration = read(tmp_path, text)
    key = "project.dependencies"
    assert declaration.problems == (
        fault(f"`{key}[1]` must be a string, not an integer", 3, 18, f"{key}[1]"),
        fault(f"`{key}[2]` must be a string, not an array", 4, 3, f"{key}[2]"),
        fault(f"`{key}[3]` must be a string, not a table", 4, 10, f"{key}[3]"),
    )


@pytest.mark.parametrize("text", ["project = 3\n", "[[project]]\nname = 'x'\n"])
def test_a_project_that_is_no_table_is_refused(tmp_path: Path, text: str) -> None:
    (problem,) = read(tmp_path, text).problems
    assert (problem.line, problem.key) == (1, "project")


@pytest.mark.parametrize("text", ["[project]\nname = 'x'\n", "[project]\ndependencies = []\n", "[project]\n"])
def test_a_project_without_a_list_owns_the_requirements_all_the_same(tmp_path: Path, text: str) -> None:
    declaration = read(tmp_path, text, plugin_yaml="pip_dependencies: [demo-colors]\n")
    assert (declaration.requirements, [note.code for note in declaration.notes]) == ((), ["declarations-differ"])


def test_faults_of_a_manifest_list_that_does_not_count_are_told_and_harm_nobody(tmp_path: Path) -> None:
    text = '[project]\ndependencies = ["demo-colors"]\n'
    declaration = read(tmp_path, text, plugin_yaml="pip_dependencies: [no, 'x y']\n")
    assert (declaration.problems, [(note.code, note.key) for note in declaration.notes]) == (
        (),
        [
            ("invalid-declaration", "pip_dependencies[0]"),
            ("invalid-declaration", "pip_dependencies[1]"),
            ("declarations-differ", "pip_dependencies"),
        ],
    )


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('project.name = "x"\nproject.dependencies = [\n\n"demo-colors"]\n', 4),
        ('project = { name = "x", optional-dependencies = {}, dependencies = ["demo-colors"] }\n', 1),
        ('["project"]\ntext = """\n[project]\n"""\n\'dependencies\' = ["demo-colors"]\n', 5),
        (
            "[a]\na = '''\n'''''\n[ project ] # c\nb = 2024-01-01 10:00:00\ndependencies = [ # [\n 'demo-colors' , ]",
            7,
        ),
        ("[[a]]\nb = 1\n[[a]]\nb = 2\n[a.c]\nb = 1\n[project]\ndependencies=['demo-colors']", 8),
    ],
)
def test_a_requirement_has_its_line_however_the_file_is_laid_out(tmp_path: Path, text: str, line: int) -> None:
    declaration = read(tmp_path, text)
    assert (requirements(declaration), declaration.problems) == ([("demo-colors", "pyproject.toml", line)], ())


def test_a_fault_in_a_text_has_the_column_of_the_character(tmp_path: Path) -> None:
    declaration = read(tmp_path, '[project]\ndependencies = ["demo-colors>=1.0<2.0"]\n')
    assert [(p.line, p.column, p.hint) for p in declaration.problems] == [
        (2, 34, "write `demo-colors>=1.0,<2.0`"),
    ]


def test_columns_are_left_out_where_escapes_would_make_them_wrong(tmp_path: Path) -> None:
    declaration = read(tmp_path, '[project]\ndependencies = ["demo-colors\\n x y"]\n')
    assert [(p.line, p.column) for p in declaration.problems] == [(2, 0)]


# --- other keys -------------------------------------------------------------------------------------------------------


def test_an_unreadable_bound_on_python_is_refused_with_the_corrected_form(tmp_path: Path) -> None:
    """Case invalid-specifier-07: strict for plugins."""
    problem = fault(
        "`>=3.6.*` is not a set of version bounds",
        2,
        1,
        "project.requires-python",
        'write `requires-python = ">=3.6"`',
    )
    assert read(tmp_path, '[project]\nrequires-python = ">=3.6.*"\n').problems == (problem,)


def test_names_that_are_exempt_from_quarantine_are_normalised_and_only_false_exempts(tmp_path: Path) -> None:
    text = '[project]\n[tool.uv.exclude-newer-package]\nLoreconvo = false\nb_c = false\nd = "2026-01-01"\n'
    assert read(tmp_path, text).exempt == ("b-c", "loreconvo")


def test_sources_of_uv_are_not_read_and_this_is_said(tmp_path: Path) -> None:
    """Case editable-path-01, as a plugin in the field writes it."""
    text = (
        '[project]\ndependencies = ["augmem.cortext>=1.2"]\n'
        '[tool.uv.sources]\n"augmem.cortext" = { path = "../cortext", editable = true }\n'
    )
    note = Problem(
        "sources-not-read",
        "`tool.uv.sources` is not read; taken from an index instead: `augmem.cortext`",
        "pyproject.toml",
        3,
        1,
        "tool.uv.sources",
    )
    declaration = read(tmp_path, text)
    assert (requirements(declaration), declaration.notes) == ([("augmem-cortext>=1.2", "pyproject.toml", 2)], (note,))


def test_a_list_that_no_tool_but_one_reads_is_not_read_and_this_is_said(tmp_path: Path) -> None:
    declaration = read(tmp_path, '[tool.poetry]\nname = "x"\n[tool.poetry.dependencies]\nrequests = "^2"\n')
    assert [(note.code, note.line, note.key) for note in declaration.notes] == [
        ("dependencies-not-read", 3, "tool.poetry.dependencies")
    ]


def test_the_project_gives_what_the_manifest_leaves_out(tmp_path: Path) -> None:
    declaration = read(tmp_path, '[project]\nname = "x"\nversion = "1.2"\ndescription = "d"\n')
    assert (declaration.name, declaration.version, declaration.description) == ("x", "1.2", "d")


# --- dynamic ----------------------------------------------------------------------------------------------------------


def test_requirements_that_only_a_build_would_tell_are_refused() -> None:
    problem = Problem(
        "dynamic-dependencies",
        "the requirements are `dynamic`: known only after a build, which would run the plugin's code",
        "pyproject.toml",
        8,
        1,
        "project.dynamic",
        "write them under `[project]` as `dependencies = [...]`",
    )
    declaration = read_declaration(PLUGINS / "dynamic-dependencies", core_names=frozenset())
    assert (declaration.requirements, declaration.problems) == ((), (problem,))


def test_requirements_that_stand_in_a_file_are_read_from_it() -> None:
    declaration = read_declaration(PLUGINS / "dynamic-file", core_names=frozenset())
    assert (requirements(declaration), declaration.problems) == (
        [("demo-colors<2,>=1", "requirements.txt", 2), ("demo-transport>=1", "requirements.txt", 4)],
        (),
    )


DYNAMIC = '[project]\ndynamic = ["dependencies"]\n[tool.setuptools.dynamic]\ndependencies = { file = %s }\n'


def test_lines_of_such_a_file_that_are_no_requirement_are_refused_each_with_its_number_and_text(tmp_path: Path) -> None:
    """Cases empty-deps-03 and empty-deps-05."""
    lines = "requests>=2\n\n   \n# c\n> If encounter any error\n-r other.txt\n-e .\nx==1 --hash=sha256:00\nhttpx\n"
    declaration = read(tmp_path, DYNAMIC % '"deps.txt"', deps_txt=lines)
    assert (
        [r.canonical for r in declaration.requirements],
        [(p.code, p.file, p.line) for p in declaration.problems],
    ) == (
        ["requests>=2", "httpx"],
        [
            ("invalid-declaration", "deps.txt", 8),
            ("invalid-declaration", "deps.txt", 5),
            ("invalid-declaration", "deps.txt", 6),
            ("direct-url", "deps.txt", 7),
        ],
    )


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ('"missing.txt"', "`missing.txt` is named here and does not exist"),
        ('"../outside.txt"', "`../outside.txt` leads out of the plugin's folder"),
        ('["/etc/passwd"]', "`/etc/passwd` leads out of the plugin's folder"),
    ],
)
def test_such_a_file_must_be_in_the_folder(tmp_path: Path, named: str, message: str) -> None:
    (tmp_path / "outside.txt").write_text("secret\n")
    folder = tmp_path / "plugin"
    folder.mkdir()
    problem = fault(message, 4, 1, "tool.setuptools.dynamic.dependencies")
    assert read(folder, DYNAMIC % named).problems == (problem,)


def test_a_folder_of_such_files_may_not_be_a_link_that_leads_out(tmp_path: Path) -> None:
    folder = tmp_path / "plugin"
    folder.mkdir()
    (tmp_path / "deps.txt").write_text("demo-colors\n")
    (folder / "reqs").symlink_to("..")
    (problem,) = read(folder, DYNAMIC % '"reqs/deps.txt"').problems
    assert (problem.file, problem.message) == (
        "reqs/deps.txt",
        "the file is a link that leads out of the plugin's folder",
    )


def test_a_list_that_is_written_and_dynamic_at_once_is_refused(tmp_path: Path) -> None:
    text = '[project]\ndynamic = ["dependencies"]\ndependencies = ["demo-colors"]\n'
    problem = fault(
        "`project.dependencies` is written here and also named in `project.dynamic`",
        2,
        1,
        "project.dynamic",
        "take it out of `dynamic`",
    )
    assert read(tmp_path, text).problems == (problem,)


@pytest.mark.parametrize(
    ("written", "kind"), [('"dependencies"', "a string"), ("true", "a boolean"), ("{}", "a table")]
)
def test_what_is_dynamic_must_be_a_list(tmp_path: Path, written: str, kind: str) -> None:
    message = f"`project.dynamic` must be an array of strings, not {kind}"
    assert read(tmp_path, f"[project]\ndynamic = {written}\n").problems == (fault(message, 2, 1, "project.dynamic"),)


# --- places -----------------------------------------------------------------------------------------------------------


def test_the_places_of_a_text_are_found_by_path() -> None:
    places = toml_places('a = 1\n[b."c.d"]\ne = [1, { f = 2 }]\n[[g]]\nh = 1\n[[g]]\n  h = 2\n')
    assert places.found == {
        ("a",): TomlPosition(1, 1),
        ("b", "c.d"): TomlPosition(2, 1),
        ("b", "c.d", "e"): TomlPosition(3, 1),
        ("b", "c.d", "e", "0"): TomlPosition(3, 6),
        ("b", "c.d", "e", "1"): TomlPosition(3, 9),
        ("b", "c.d", "e", "1", "f"): TomlPosition(3, 11),
        ("g",): TomlPosition(4, 1),
        ("g", "0"): TomlPosition(4, 1),
        ("g", "0", "h"): TomlPosition(5, 1),
        ("g", "1"): TomlPosition(6, 1),
        ("g", "1", "h"): TomlPosition(7, 3),
    }


def test_what_is_no_toml_has_the_places_up_to_the_fault() -> None:
    assert toml_places("a = 1\n= 3\nb = 2\n").found == {("a",): TomlPosition(1, 1)}


def test_a_plugin_without_a_project_needs_no_toml_parser_and_one_without_a_manifest_no_yaml_parser(
    tmp_path: Path,
) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "plugin.json").write_text("{}")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "pyproject.toml").write_text("[project]\n")
    program = (
        "import sys; from pathlib import Path; from pm.plugins.declaration import read_declaration\n"
        "read_declaration(Path(sys.argv[1], 'a'), core_names=frozenset())\n"
        "print('tomllib' in sys.modules, 'yaml' in sys.modules)\n"
        "read_declaration(Path(sys.argv[1], 'b'), core_names=frozenset())\n"
        "print('tomllib' in sys.modules, 'yaml' in sys.modules, 'ruamel' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)],
        env={"PYTHONPATH": str(PLUGINS.parents[1])},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "False False\nTrue False False\n"
