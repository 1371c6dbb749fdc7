"""Manifests in YAML and JSON, with all that their authors get wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from admission import Declaration, ExternalDependency, Problem
from pm.plugins.declaration import read_declaration

PLUGINS = Path(__file__).parents[3] / "fixtures" / "plugins"


def read(folder: Path, text: str | bytes, file: str = "plugin.yaml") -> Declaration:
    """Read the declaration of a plugin that has one file."""
    (folder / file).write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_declaration(folder, key="p", core_names=frozenset({"hermes-agent"}))


def requirements(declaration: Declaration) -> list[str]:
    return [requirement.canonical for requirement in declaration.requirements]


def fault(message: str, line: int, column: int, key: str = "", hint: str = "", file: str = "plugin.yaml") -> Problem:
    return Problem("invalid-declaration", message, file, line, column, key, hint)


# --- which file -------------------------------------------------------------------------------------------------------


def test_plugin_yaml_comes_before_plugin_yml_and_plugin_json(tmp_path: Path) -> None:
    names = []
    for file, text in [("plugin.json", '{"name": "c"}'), ("plugin.yml", "name: b"), ("plugin.yaml", "name: a")]:
        names.append(read(tmp_path, text, file).name)
    assert names == ["c", "b", "a"]


def test_a_manifest_in_json_is_read() -> None:
    assert requirements(read_declaration(PLUGINS / "json-manifest", core_names=frozenset())) == ["demo-colors<2,>=1"]


def test_a_yaml_file_that_is_written_as_json_is_read(tmp_path: Path) -> None:
    declaration = read(tmp_path, '---\n{"name": "x", "pip_dependencies": ["demo-colors>=1,<2"]}')
    assert (declaration.name, requirements(declaration)) == ("x", ["demo-colors<2,>=1"])


# --- encodings --------------------------------------------------------------------------------------------------------


def test_a_byte_order_mark_and_windows_line_ends_are_nothing_special() -> None:
    """Case encoding-bom-crlf-03, with the Korean comment."""
    declaration = read_declaration(PLUGINS / "windows-text", core_names=frozenset())
    assert (declaration.name, requirements(declaration), declaration.problems) == ("windows-text", ["demo-colors"], ())


@pytest.mark.parametrize(
    "variables", [{"LC_ALL": "C", "PYTHONUTF8": "0"}, {"LC_ALL": "POSIX", "PYTHONCOERCECLOCALE": "0"}]
)
def test_files_are_utf_8_whatever_the_locale_says(variables: dict[str, str]) -> None:
    """Case encoding-bom-crlf-03."""
    program = (
        "from pathlib import Path; import sys; from pm.plugins.declaration import read_declaration;"
        "print(read_declaration(Path(sys.argv[1]), core_names=frozenset()).description.encode())"
    )
    folder = PLUGINS / "windows-text"
    done = subprocess.run(
        [sys.executable, "-c", program, str(folder)],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(PLUGINS.parents[1]), **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "b'Byte order mark, CRLF, and a comment in Korean.'\n"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_utf_16_is_refused_in_clear_words(tmp_path: Path, encoding: str) -> None:
    """Case encoding-bom-crlf-01."""
    problem = fault("the file is UTF-16", 1, 0, hint="save the file as UTF-8")
    assert read(tmp_path, "name: deptry\r\n".encode(encoding)).problems == (problem,)


def test_another_encoding_is_refused_with_the_line(tmp_path: Path) -> None:
    text = "\ufeffname: x\n".encode() + "description: café\n".encode("latin-1")
    problem = fault("byte 0xe9 is not UTF-8", 2, 0, hint="save the file as UTF-8")
    assert read(tmp_path, text).problems == (problem,)


def test_nul_bytes_are_refused(tmp_path: Path) -> None:
    assert read(tmp_path, b"name: x\nversion: \0\n").problems == (
        fault("the file holds NUL bytes: it is not text", 2, 0),
    )


def test_a_control_character_is_refused_with_its_line(tmp_path: Path) -> None:
    problem = fault("the character `\\x07` is not allowed in YAML", 2, 0)
    assert read(tmp_path, "name: ü\nversion: \x07\n").problems == (problem,)


# --- the file itself --------------------------------------------------------------------------------------------------


def test_a_manifest_that_is_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret.yaml").write_text("name: secret\n")
    folder = tmp_path / "plugin"
    folder.mkdir()
    (folder / "plugin.yaml").symlink_to("../secret.yaml")
    (folder / "pyproject.toml").symlink_to(tmp_path / "nowhere")
    declaration = read_declaration(folder, core_names=frozenset())
    assert (declaration.name, declaration.problems) == (
        "plugin",
        (
            fault("the file is a link that leads out of the plugin's folder", 0, 0),
            fault(f"the file is a link that leads nowhere, to `{tmp_path}/nowhere`", 0, 0, file="pyproject.toml"),
        ),
    )


def test_a_link_inside_of_the_folder_and_a_folder_behind_a_link_are_read(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "manifest.yaml").write_text("name: linked\n")
    (tmp_path / "real" / "plugin.yaml").symlink_to("manifest.yaml")
    (tmp_path / "plugin").symlink_to("real")
    assert read_declaration(tmp_path / "plugin", core_names=frozenset()).name == "linked"


def test_a_manifest_that_is_a_folder_or_a_pipe_is_refused(tmp_path: Path) -> None:
    (tmp_path / "plugin.yaml").mkdir()
    os.mkfifo(tmp_path / "pyproject.toml")
    problems = read_declaration(tmp_path, key="p", core_names=frozenset()).problems
    assert problems == (
        fault("this is not a regular file", 0, 0),
        fault("this is not a regular file", 0, 0, file="pyproject.toml"),
    )


def test_a_file_beyond_any_reason_is_not_read(tmp_path: Path) -> None:
    problem = fault("the file is larger than 1024 KiB", 0, 0)
    assert read(tmp_path, b"#" * (1024 * 1024 + 1)).problems == (problem,)


# --- what YAML makes of it --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("written", ["2.10", "1_0", "0x1F", "2026.9.7", "2026-01-02", "1e3", "yes", "'2.10'"])
def test_a_version_is_the_text_that_is_written(tmp_path: Path, written: str) -> None:
    """Case yaml-oddities-01."""
    declaration = read(tmp_path, f"version: {written}\n")
    assert (declaration.version, declaration.problems) == (written.strip("'"), ())


@pytest.mark.parametrize(
    ("item", "kind"),
    [
        ("no", "a boolean"),
        ("on", "a boolean"),
        ("y", "a boolean"),
        ("null", "a null"),
        ("~", "a null"),
        ("1.0", "a number"),
        ("12", "an integer"),
        ("2026-01-02", "a date"),
    ],
)
@pytest.mark.parametrize("key", ["pip_dependencies", "python_dependencies"])
def test_an_item_that_is_no_text_is_refused_with_place_and_type(tmp_path: Path, key: str, item: str, kind: str) -> None:
    """Case yaml-oddities-03."""
    problem = fault(
        f"`{key}[1]` is `{item}`, which is read as {kind}, not as a text",
        3,
        5,
        f"{key}[1]",
        "quote it if this is the name of a package",
    )
    declaration = read(tmp_path, f"{key}:\n  - demo-colors\n  - {item}\n")
    assert (requirements(declaration), declaration.problems) == (["demo-colors"], (problem,))


def test_an_item_with_nothing_in_it_is_refused(tmp_path: Path) -> None:
    declaration = read(tmp_path, "pip_dependencies:\n  -\n  - demo-colors\n")
    message = "`pip_dependencies[0]` is empty, which is read as a null, not as a text"
    assert [(p.message, p.hint) for p in declaration.problems] == [(message, "remove the empty item")]


def test_quoting_makes_a_text_of_it(tmp_path: Path) -> None:
    declaration = read(tmp_path, "pip_dependencies: ['no', \"on\", !!str null]\n")
    assert (requirements(declaration), declaration.problems) == (["no", "on", "null"], ())


def test_inline_lists_work(tmp_path: Path) -> None:
    """Case yaml-oddities-05."""
    declaration = read(tmp_path, "pip_dependencies: [invoke==0.13.0, requests]\n")
    assert (requirements(declaration), declaration.problems) == (["invoke==0.13.0", "requests"], ())


def test_an_item_that_a_comma_cut_in_two_gets_the_hint_to_quote(tmp_path: Path) -> None:
    """Case yaml-oddities-05."""
    declaration = read(tmp_path, "pip_dependencies: [foo>=1,<2]\n")
    problem = fault(
        "`<2` starts with an operator and names no package",
        1,
        27,
        "pip_dependencies[1]",
        'quote the requirement: `"foo>=1,<2"`',
    )
    assert declaration.problems == (problem,)


@pytest.mark.parametrize(
    ("text", "line", "column", "hint"),
    [
        ("pip_dependencies: [foo[extra]>=1]\n", 1, 30, 'quote the value, for example `"name>=1"`'),
        ("requires_hermes: >=0.19\n", 1, 19, 'quote the value, for example `"name>=1"`'),
        ("name: a: b\n", 1, 8, 'quote the value, for example `"name>=1"`'),
        ("name: 'a\n", 2, 1, ""),
        ("a: [b\n", 2, 1, ""),
    ],
)
def test_a_fault_of_syntax_has_its_place_and_where_it_helps_the_hint_to_quote(
    tmp_path: Path, text: str, line: int, column: int, hint: str
) -> None:
    (problem,) = read(tmp_path, text).problems
    assert (problem.line, problem.column, problem.hint) == (line, column, hint)
    assert problem.message.startswith("this is not YAML: ")


@pytest.mark.parametrize("text", ["name: p\n\tversion: '1'\n", "name:\n\t- p\n"])
def test_a_tab_is_called_a_tab(tmp_path: Path, text: str) -> None:
    """Case yaml-oddities-07."""
    problem = fault("this is not YAML: tab used for indentation", 2, 1, hint="indent with spaces")
    assert read(tmp_path, text).problems == (problem,)


def test_a_broken_manifest_concerns_its_own_plugin_only(tmp_path: Path) -> None:
    """Case yaml-oddities-07."""
    (tmp_path / "broken").mkdir()
    broken = read(tmp_path / "broken", "name: p\n\tversion: '1'\n")
    other = read_declaration(PLUGINS / "admitted-simple", core_names=frozenset())
    assert (broken.fit, other.fit) == (False, True)


def test_a_key_that_is_written_twice_is_refused_with_both_lines() -> None:
    """Case duplicate-keys-01."""
    problem = Problem(
        "duplicate-key",
        "`python_dependencies` is written twice, on lines 4 and 5",
        "plugin.yaml",
        5,
        0,
        "python_dependencies",
        "keep one of the two: readers do not agree which one counts",
    )
    assert read_declaration(PLUGINS / "duplicate-key", core_names=frozenset()).problems == (problem,)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("plugin.yaml", "a:\n  b: 1\n  'b': 2\n"),
        ("plugin.yaml", 'a: {b: 1,\n\n "b": 2}\n'),
        ("plugin.json", '{"a": {"b": 1,\n\n"b": 2}}'),
    ],
)
def test_a_key_is_found_twice_at_any_depth_in_any_format(tmp_path: Path, file: str, text: str) -> None:
    """Case duplicate-keys-05."""
    assert [(p.code, p.key, p.line) for p in read(tmp_path, text, file).problems] == [("duplicate-key", "a.b", 3)]


def test_a_tag_is_never_obeyed(tmp_path: Path) -> None:
    declaration = read(tmp_path, "name: !!python/object/apply:os.system ['touch ran']\nversion: !env HOME\n")
    assert [p.message for p in declaration.problems] == [
        "the tag `!!python/object/apply:os.system` is not obeyed: no tag is",
        "the tag `!env` is not obeyed: no tag is",
        "`name` must be a text, not a list",
    ]


def test_an_operator_that_yaml_takes_for_a_tag_gets_the_hint_to_quote(tmp_path: Path) -> None:
    problem = fault("the tag `!=1.0` is not obeyed: no tag is", 1, 18, "requires_hermes", "quote the value")
    assert problem in read(tmp_path, "requires_hermes: !=1.0\n").problems


def test_an_alias_means_its_anchor_and_a_bomb_of_them_costs_nothing(tmp_path: Path) -> None:
    levels = "".join(f"l{i}: &l{i} [{', '.join([f'*l{i - 1}'] * 20)}]\n" for i in range(1, 30))
    declaration = read(tmp_path, f"l0: &l0 [demo-colors]\n{levels}pip_dependencies: *l0\nhooks: *l29\n")
    assert (requirements(declaration), declaration.problems) == (["demo-colors"], ())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: &x [*x]\n", "`*x` refers to itself"),
        ("a: *x\n", "`*x` refers to nothing"),
        ("a: " + "[" * 100 + "]" * 100, "the file is nested deeper than 64 levels"),
        ("[a]: b\n", "a key must be a single text, not a list"),
        ("a: 1\n---\nb: 1\n", "there is more than one document in the file"),
        ("- a\n", "the file holds a list, not keys with values"),
        ("just text\n", "the file holds a text, not keys with values"),
    ],
)
def test_what_is_no_mapping_of_plain_values_is_refused(tmp_path: Path, text: str, message: str) -> None:
    assert [p.message for p in read(tmp_path, text).problems] == [message]


@pytest.mark.parametrize(
    ("opening", "message"),
    [
        ("[", "this is not YAML: while increasing flow level, exceeded maximum nesting depth"),
        ("{a: ", "the file is nested deeper than 64 levels"),
        ("- ", "the file is nested deeper than 64 levels"),
        ("? ", "the file is nested deeper than 64 levels"),
    ],
)
def test_a_file_full_of_nesting_is_refused_at_once(tmp_path: Path, opening: str, message: str) -> None:
    declaration = read(tmp_path, opening * (900_000 // len(opening)))
    assert [(p.message, p.hint) for p in declaration.problems] == [(message, "")]


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ('{"name": "x",}', 1, 14, "this is not JSON: expecting property name enclosed in double quotes"),
        ('{\n"name": NaN}', 0, 0, "this is not JSON: `NaN` is not a value"),
        ("[1]", 1, 1, "the file holds a list, not keys with values"),
        ("[" * 100_000, 0, 0, "the file is nested deeper than 64 levels"),
        ('{"a": ' + "[" * 100 + "]" * 100 + "}", 0, 0, "the file is nested deeper than 64 levels"),
        ('{"name": "\\ud800"}', 1, 10, "the text holds one half of a surrogate pair, which is no character"),
    ],
)
def test_faults_of_json_have_their_place(tmp_path: Path, text: str, line: int, column: int, message: str) -> None:
    problems = read(tmp_path, text, "plugin.json").problems
    assert [(p.line, p.column, p.message) for p in problems][:1] == [(line, column, message)]


def test_json_has_places_for_requirements_too(tmp_path: Path) -> None:
    text = '{\n  "pip_dependencies": [\n    "demo-colors>=1",\n    "x y", true, 1.0\n  ]\n}'
    declaration = read(tmp_path, text, "plugin.json")
    assert (
        [(r.canonical, r.origin.line) for r in declaration.requirements],
        [p.column for p in declaration.problems],
    ) == (
        [("demo-colors>=1", 3)],
        [12, 18, 8],
    )


# --- fields -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        ("requests", 'write `pip_dependencies: ["requests"]`'),
        ("|\n  requests>=2\n\n  numpy\n", 'write `pip_dependencies: ["requests>=2"]`'),
        ("{requests: '>=2'}", 'write `pip_dependencies: ["requests>=2"]`'),
        ("{requests: '>=2', numpy: '*'}", "write a list"),
        ("true", 'write `pip_dependencies: ["true"]`'),
    ],
)
def test_a_list_of_requirements_must_be_a_list(tmp_path: Path, value: str, hint: str) -> None:
    """Case toml-errors-01, for the older keys."""
    declaration = read(tmp_path, f"pip_dependencies: {value}")
    assert (requirements(declaration), [(p.line, p.key, p.hint) for p in declaration.problems]) == (
        [],
        [(1, "pip_dependencies", hint)],
    )


@pytest.mark.parametrize("value", ["", "null", "~", "[]"])
def test_a_list_of_requirements_may_be_empty(tmp_path: Path, value: str) -> None:
    declaration = read(tmp_path, f"pip_dependencies: {value}\n")
    assert (requirements(declaration), declaration.problems) == ([], ())


def test_a_requirement_that_is_written_as_a_key_is_refused_with_its_text(tmp_path: Path) -> None:
    problem = fault(
        "`pip_dependencies[0]` must be a text, not a mapping",
        2,
        5,
        "pip_dependencies[0]",
        'write it as one text: `"requests>=2"`',
    )
    assert read(tmp_path, "pip_dependencies:\n  - requests: '>=2'\n").problems == (problem,)


@pytest.mark.parametrize("version", ["1", "2", "0"])
def test_known_versions_of_the_manifest_are_read(tmp_path: Path, version: str) -> None:
    assert read(tmp_path, f"manifest_version: {version}\n").problems == ()


def test_a_newer_version_of_the_manifest_has_a_code_of_its_own() -> None:
    problem = Problem(
        "unsupported-manifest-version",
        "`manifest_version: 3` is newer than this manager understands, which is 2",
        "plugin.yaml",
        4,
        19,
        "manifest_version",
        "update the manager",
    )
    assert read_declaration(PLUGINS / "unsupported-manifest-version", core_names=frozenset()).problems == (problem,)


@pytest.mark.parametrize(
    ("written", "described"),
    [
        ("true", "`true`, a boolean"),
        ('"2"', "`2`, a text"),
        ("1.10", "`1.10`, a number"),
        ("2.0", "`2.0`, a number"),
        ("[2]", "a list"),
    ],
)
def test_a_version_of_the_manifest_must_be_an_integer(tmp_path: Path, written: str, described: str) -> None:
    """Case yaml-oddities-01."""
    (problem,) = read(tmp_path, f"manifest_version: {written}\n").problems
    assert (problem.code, problem.message) == (
        "invalid-declaration",
        f"`manifest_version` must be an integer, not {described}",
    )


@pytest.mark.parametrize(
    ("written", "hint"),
    [
        ("1.10", 'write `requires_hermes: ">=1.10"`'),
        ("v2026.9.14", 'write `requires_hermes: ">=2026.9.14"`'),
        ('">=1.0.*"', 'write `requires_hermes: ">=1.0"`'),
        ('"latest"', 'write `requires_hermes: ">=0.19.0"`'),
    ],
)
def test_bounds_on_the_host_must_be_bounds(tmp_path: Path, written: str, hint: str) -> None:
    """Case yaml-oddities-01."""
    declaration = read(tmp_path, f"requires_hermes: {written}\n")
    assert (declaration.requires_core, [(p.line, p.key, p.hint) for p in declaration.problems]) == (
        "",
        [(1, "requires_hermes", hint)],
    )


def test_bounds_on_the_host_are_normalised(tmp_path: Path) -> None:
    declaration = read(tmp_path, 'requires_hermes: " >=0.19, <1 "\n')
    assert (declaration.requires_core, declaration.problems) == ("<1,>=0.19", ())


def test_what_is_only_shown_is_read_as_it_comes(tmp_path: Path) -> None:
    declaration = read(
        tmp_path,
        "description: 5\n"
        "hooks: [on_session_end, {name: on_pre_compress}]\n"
        "requires_env: [A_KEY, {name: B_KEY, description: x}, null]\n"
        "external_dependencies:\n"
        "  - {name: brv, install: 'curl | sh', check: brv --version}\n"
        "  - {name: node}\n",
    )
    expected = Declaration(
        key="p",
        name=tmp_path.name,
        description="5",
        hooks=("on_session_end", "on_pre_compress"),
        requires_env=("A_KEY", "B_KEY"),
        external_dependencies=(
            ExternalDependency("brv", "curl | sh", "brv --version"),
            ExternalDependency("node"),
        ),
    )
    assert declaration == expected


def test_what_is_only_shown_never_makes_a_plugin_unfit(tmp_path: Path) -> None:
    declaration = read(
        tmp_path,
        "description: [x]\nhooks: on_start\nrequires_env: {A: 1}\nexternal_dependencies: [brv]\n"
        "kind: gadget\npython_runtime: shared\n",
    )
    assert (declaration.problems, [(note.code, note.line, note.key) for note in declaration.notes]) == (
        (),
        [
            ("invalid-declaration", 1, "description"),
            ("invalid-declaration", 5, "kind"),
            ("invalid-declaration", 6, "python_runtime"),
            ("invalid-declaration", 4, "external_dependencies[0]"),
            ("invalid-declaration", 3, "requires_env"),
            ("invalid-declaration", 2, "hooks"),
        ],
    )


def test_keys_that_look_like_a_declaration_and_are_none_are_told_with_the_field_that_is_meant(tmp_path: Path) -> None:
    text = "name: x\nrequires: [aiohttp]\noptional_deps: [y]\nmin_hermes_version: v2026.9.14\n"
    told = "no host reads this, so nothing of it is prepared"
    packages = "packages belong to `python_dependencies` or to a `pyproject.toml`"
    host = "the host's version belongs to `requires_hermes`"
    code, file = "dependencies-not-read", "plugin.yaml"
    assert read(tmp_path, text).notes == (
        Problem(code, f"`requires`, `optional_deps`: {told}", file, 2, 1, "requires", packages),
        Problem(code, f"`min_hermes_version`: {told}", file, 4, 1, "min_hermes_version", host),
    )


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("python_dependancies", "python_dependencies"),
        ("python-dependencies", "python_dependencies"),
        ("pythonDependencies", "python_dependencies"),
        ("Python_Dependencies", "python_dependencies"),
        ("pip_dependency", ""),
        ("pip_dependencys", "pip_dependencies"),
        ("pip_dependecies", "pip_dependencies"),
        ("depends", "python_dependencies"),
        ("requirements", "python_dependencies"),
        ("pip-requirements", "python_dependencies"),
        ("plugin_dependencies", "no host installs other plugins"),
        ("requires_plugins", "no host installs other plugins"),
        ("require_hermes", "requires_hermes"),
        ("external_dependancies", "external_dependencies"),
        ("require_env", "requires_env"),
        ("optional_env", ""),
        ("author", ""),
        ("tags", ""),
        ("provides_tools", ""),
    ],
)
def test_a_key_that_nothing_reads_is_told_by_what_is_meant(tmp_path: Path, key: str, meant: str) -> None:
    notes = read(tmp_path, f"name: x\n{key}: [something]\n").notes
    assert [note.code for note in notes] == (["dependencies-not-read"] if meant else [])
    assert all(meant in note.hint for note in notes)


@pytest.mark.parametrize("value", ["", "[]", "{}", "''", "~"])
def test_a_key_that_says_nothing_is_not_told(tmp_path: Path, value: str) -> None:
    assert read(tmp_path, f"name: x\nrequirements: {value}\n").notes == ()


def test_values_that_hosts_read_as_something_else_are_told(tmp_path: Path) -> None:
    """Case C17 of the trials: hosts read YAML 1.1 with PyYAML."""
    text = "name: off\nversion: 1.10\ndescription: 2026-99-99\nkind: backend\nhooks: [no, on_start, {name: 0o7}]\n"
    declaration = read(tmp_path, text)
    assert (declaration.name, declaration.version, declaration.hooks) == ("off", "1.10", ("no", "on_start", "0o7"))
    assert [(note.code, note.message) for note in declaration.notes] == [
        ("unquoted-value", "`name` is `off`, which hosts read as false"),
        ("unquoted-value", "`version` is `1.10`, which hosts read as 1.1"),
        ("unquoted-value", "`description` is `2026-99-99`, which hosts read as nothing, as they cannot read the file"),
        ("unquoted-value", "`hooks[0]` is `no`, which hosts read as false"),
    ]
    assert read(tmp_path, "name: x\nversion: 1.0\ndescription: 5\n").notes == ()
