"""What a plugin's folder declares: whole values, from real folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from admission import Declaration, ExternalDependency, Origin, Owner, Problem, Requirement
from pm.plugins.declaration import read_declaration
from pm.plugins.providers import is_memory_provider

PLUGINS = Path(__file__).parents[3] / "fixtures" / "plugins"
CORE = frozenset({"hermes-agent", "hermes-embedded-core"})


def written(folder: Path, files: dict[str, str]) -> Path:
    """Make a plugin's folder."""
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_a_simple_plugin_is_read_with_the_place_of_every_requirement() -> None:
    expected = Declaration(
        key="admitted-simple",
        name="admitted-simple",
        version="1.0.0",
        description="Needs one package that nobody else disputes.",
        requirements=(
            Requirement(
                name="demo-colors",
                origin=Origin(Owner("plugin", "admitted-simple"), "plugin.yaml", 7, "python_dependencies"),
                specifier="<2,>=1",
                text="demo-colors>=1,<2",
            ),
        ),
        requires_core=">=0.19.0",
        requires_core_file="plugin.yaml",
        requires_core_line=5,
    )
    assert read_declaration(PLUGINS / "admitted-simple", core_names=CORE) == expected


def test_a_project_owns_the_requirements_and_what_is_not_installed_is_said_once() -> None:
    """Cases markers-01, extras-05 and toml-errors-05: an array of mixed types elsewhere in the file is none of ours."""
    owner = Owner("plugin", "with-pyproject")
    expected = Declaration(
        key="with-pyproject",
        name="with-pyproject",
        version="1.0.0",
        description="Its pyproject.toml owns the requirements, with a marker, an extra and a comment in the list.",
        requirements=(
            Requirement(
                "demo-colors",
                Origin(owner, "pyproject.toml", 6, "project.dependencies"),
                "<2,>=1",
                text="demo-colors>=1,<2",
            ),
            Requirement(
                "demo-transport",
                Origin(owner, "pyproject.toml", 7, "project.dependencies"),
                ">=1",
                ("fast",),
                'sys_platform == "linux"',
                text='demo-transport[fast]>=1; sys_platform == "linux"',
            ),
        ),
        requires_python=">=3.11",
        notes=(
            Problem(
                "optional-dependencies-not-installed",
                "optional dependencies and dependency groups are not installed: "
                "extra `voice`, group `dev`, group `docs`",
                "pyproject.toml",
                10,
                1,
                "project.optional-dependencies",
            ),
        ),
    )
    assert read_declaration(PLUGINS / "with-pyproject", core_names=CORE) == expected


def test_a_pyproject_with_tool_tables_only_leaves_the_lists_of_the_manifest_which_are_joined_without_repeats() -> None:
    """Case toml-errors-03."""
    declaration = read_declaration(PLUGINS / "legacy-list", core_names=CORE)
    found = [(r.canonical, r.origin.line, r.origin.key) for r in declaration.requirements]
    assert found == [("demo-colors>=1", 5, "pip_dependencies"), ("demo-transport", 8, "python_dependencies")]
    assert (declaration.problems, declaration.notes) == ((), ())


def test_an_empty_project_list_beside_a_full_manifest_list_is_never_silently_empty() -> None:
    """Case toml-errors-07."""
    declaration = read_declaration(PLUGINS / "declarations-differ", core_names=CORE)
    note = Problem(
        "declarations-differ",
        "`plugin.yaml` and `pyproject.toml` require different packages, and `pyproject.toml` is used: "
        "`demo-colors>=1,<2` in `python_dependencies`, nothing in `project.dependencies`",
        "plugin.yaml",
        5,
        5,
        "python_dependencies",
        "keep one of the two lists",
    )
    assert (declaration.requirements, declaration.problems, declaration.notes) == ((), (), (note,))


def test_two_lists_that_say_the_same_in_other_words_do_not_differ(tmp_path: Path) -> None:
    folder = written(
        tmp_path / "p",
        {
            "plugin.yaml": "python_dependencies: ['Demo_Colors >= 1, < 2', demo-transport]\n",
            "pyproject.toml": '[project]\ndependencies = ["demo-transport", "demo-colors<2,>=1"]\n',
        },
    )
    assert read_declaration(folder, core_names=CORE).notes == ()


def test_an_external_plugin_asks_for_nothing_and_says_what_was_not_prepared() -> None:
    declaration = read_declaration(PLUGINS / "external-runtime", core_names=CORE)
    expected = Declaration(
        key="external-runtime",
        name="external-runtime",
        version="1.0.0",
        description="Brings its own environment, and lists what is in it.",
        external=True,
        external_dependencies=(ExternalDependency("demo-tool", "see its own documentation", "demo-tool --version"),),
        notes=(
            Problem(
                "external-runtime",
                "these were not prepared, since the plugin brings its own environment (`external`): "
                "`demo-transport==99`",
                "plugin.yaml",
                6,
                0,
                "python_dependencies",
            ),
        ),
    )
    assert declaration == expected


def test_faults_in_the_list_of_an_external_plugin_do_not_make_it_unfit(tmp_path: Path) -> None:
    folder = written(tmp_path / "p", {"plugin.yaml": "python_runtime: external\npip_dependencies: ['>=1', no]\n"})
    declaration = read_declaration(folder, core_names=CORE)
    assert (declaration.fit, [note.key for note in declaration.notes]) == (
        True,
        ["pip_dependencies[1]", "pip_dependencies[0]"],
    )


def test_a_folder_without_any_declaration_is_a_plugin_that_asks_for_nothing(tmp_path: Path) -> None:
    folder = written(tmp_path / "bare", {"__init__.py": ""})
    assert read_declaration(folder, core_names=CORE) == Declaration(key="bare", name="bare", declared=False)


def test_an_empty_manifest_is_a_declaration_that_asks_for_nothing(tmp_path: Path) -> None:
    folder = written(tmp_path / "empty", {"plugin.yaml": "# nothing yet\n"})
    assert read_declaration(folder, core_names=CORE) == Declaration(key="empty", name="empty")


@pytest.mark.parametrize("core_name", ["hermes-agent", "Hermes_Agent", "hermes.agent"])
def test_a_requirement_on_the_host_is_a_gate_and_never_given_to_the_resolver(core_name: str) -> None:
    """Case self-or-host-named-05."""
    declaration = read_declaration(PLUGINS / "host-as-requirement", core_names=frozenset({core_name}))
    found = ([r.canonical for r in declaration.gates], [r.canonical for r in declaration.requirements])
    assert found == (["hermes-agent>=0.15.1"], ["demo-colors"])


def test_a_project_that_asks_for_itself_is_refused_with_a_code_of_its_own() -> None:
    """Case self-or-host-named-01."""
    declaration = read_declaration(PLUGINS / "self-dependency", core_names=CORE)
    problem = Problem(
        "self-dependency",
        "`demo_colors` requires the plugin's own distribution",
        "pyproject.toml",
        4,
        18,
        "project.dependencies[0]",
        "leave it out, or give the project another name",
    )
    assert (declaration.requirements, declaration.problems) == ((), (problem,))


@pytest.mark.parametrize("name", ["test", "requests", "yaml"])
def test_a_plugin_may_be_called_like_the_package_it_asks_for(tmp_path: Path, name: str) -> None:
    """Cases self-or-host-named-03 and shadows-stdlib-or-host-module-05: keys and distributions are two namespaces."""
    folder = written(tmp_path / name, {"plugin.yaml": f"name: {name}\npython_dependencies: [{name}]\n"})
    declaration = read_declaration(folder, core_names=CORE)
    assert (declaration.key, [r.canonical for r in declaration.requirements], declaration.problems) == (
        name,
        [name],
        (),
    )


def test_addresses_are_refused_with_a_way_out_for_each() -> None:
    """Cases direct-url-git-01, direct-url-git-03, editable-path-01 and editable-path-03."""
    publish = "publish it to an index and name it with a version, or put its code inside of the plugin's folder"
    problems = read_declaration(PLUGINS / "direct-url", core_names=CORE).problems
    assert problems == (
        Problem(
            "direct-url",
            "`demo-colors @ git+https://git.example.invalid/demo-colors@main` points to a repository,"
            " which would have to be built",
            "plugin.yaml",
            5,
            5,
            "python_dependencies[0]",
            "publish `demo-colors` to an index and name a version, or name its wheel: "
            "`demo-colors @ https://HOST/FILE.whl#sha256=DIGEST`",
        ),
        Problem(
            "direct-url",
            "`demo-transport @ file://./deps/demo_transport-1.0-py3-none-any.whl` points to a file or folder",
            "plugin.yaml",
            6,
            5,
            "python_dependencies[1]",
            publish,
        ),
        Problem(
            "direct-url",
            "`-e ./vendored` is an address and names no package",
            "plugin.yaml",
            7,
            6,
            "python_dependencies[2]",
            publish,
        ),
    )


def test_faults_of_all_files_are_reported_at_once(tmp_path: Path) -> None:
    folder = written(
        tmp_path / "p",
        {
            "plugin.yaml": 'manifest_version: true\nname: a\nname: b\nrequires_hermes: "0.19"\n',
            "pyproject.toml": '[project]\nrequires-python = ">=3.6.*"\ndependencies = ["x y", 3]\n',
        },
    )
    declaration = read_declaration(folder, core_names=CORE)
    assert [(p.code, p.file, p.line, p.key) for p in declaration.problems] == [
        ("duplicate-key", "plugin.yaml", 3, "name"),
        ("invalid-declaration", "plugin.yaml", 1, "manifest_version"),
        ("invalid-declaration", "plugin.yaml", 4, "requires_hermes"),
        ("invalid-declaration", "pyproject.toml", 2, "project.requires-python"),
        ("invalid-declaration", "pyproject.toml", 3, "project.dependencies[1]"),
        ("invalid-declaration", "pyproject.toml", 3, "project.dependencies[0]"),
    ]


def test_a_hostile_number_of_faults_is_cut_short(tmp_path: Path) -> None:
    folder = written(tmp_path / "p", {"plugin.yaml": "pip_dependencies: [" + "no, " * 500 + "x]\n"})
    problems = read_declaration(folder, core_names=CORE).problems
    assert (len(problems), problems[-1].message) == (51, "and 450 more of this kind")


@pytest.mark.parametrize(
    ("folder", "manifest", "key"),
    [
        ("some folder", "name: nice-name\n", "nice-name"),
        ("folder", "", "folder"),
        ("folder", "name: augmem.hermes\n", "augmem-hermes"),
        ("folder", "name: Мой плагин\n", "folder"),
        ("folder", "name: memory/thing\n", "memory/thing"),
    ],
)
def test_a_plugin_is_called_by_its_manifest_else_by_its_folder(
    tmp_path: Path, folder: str, manifest: str, key: str
) -> None:
    """Case name-normalisation-03: one stable id, whatever the folder is called."""
    declaration = read_declaration(written(tmp_path / folder, {"plugin.yaml": manifest}), core_names=CORE)
    assert (declaration.key, declaration.problems) == (key, ())


def test_a_name_that_leads_elsewhere_is_refused(tmp_path: Path) -> None:
    """Case archive-path-traversal-03."""
    folder = written(tmp_path / "p", {"plugin.yaml": 'name: "../../evil"\n'})
    declaration = read_declaration(folder, core_names=CORE)
    problem = Problem("unsafe-name", "`../../evil` cannot be the name of a plugin", "plugin.yaml", 1, 8, "name")
    assert (declaration.key, declaration.problems) == ("p", (problem,))


def test_a_folder_without_any_usable_name_is_refused(tmp_path: Path) -> None:
    folder = written(tmp_path / "мой плагин", {"plugin.yaml": ""})
    problem = Problem(
        "unsafe-name",
        "`мой плагин` cannot be the key of a plugin",
        "plugin.yaml",
        key="name",
        hint="give the plugin a `name` of letters, digits, `-` and `_` in its manifest",
    )
    assert read_declaration(folder, core_names=CORE).problems == (problem,)


def test_a_folder_with_blanks_quotes_and_other_scripts_is_read(tmp_path: Path) -> None:
    """Case paths-spaces-unicode-01."""
    folder = written(
        tmp_path / "Dummy Profile" / "-état 'x'", {"plugin.yaml": "name: x\npip_dependencies: [demo-colors]\n"}
    )
    declaration = read_declaration(folder, core_names=CORE)
    assert ([r.canonical for r in declaration.requirements], declaration.problems) == (["demo-colors"], ())


@pytest.mark.parametrize(
    ("key", "files", "expected"),
    [
        ("memory/x", {"plugin.yaml": ""}, True),
        ("x", {"plugin.yaml": "kind: exclusive\n"}, True),
        ("x", {"__init__.py": "def register(ctx): ctx.register_memory_provider(1)"}, True),
        ("x", {"plugin.yaml": "kind: standalone\n", "__init__.py": "class A(MemoryProvider): ..."}, True),
        ("x", {"plugin.yaml": "kind: backend\n", "__init__.py": "def register(ctx): ..."}, False),
        ("memory-x", {"plugin.yaml": ""}, False),
    ],
)
def test_a_memory_provider_is_told_by_its_place_its_kind_or_its_source(
    tmp_path: Path, key: str, files: dict[str, str], *, expected: bool
) -> None:
    folder = written(tmp_path / "x", files)
    declaration = read_declaration(folder, key=key, core_names=CORE)
    assert is_memory_provider(folder, declaration.key, declaration.kind) is expected


def test_the_kind_of_a_memory_provider_is_exclusive_where_the_manifest_says_none() -> None:
    assert read_declaration(PLUGINS / "memory-provider", core_names=CORE).kind == "exclusive"


def test_reading_runs_nothing_of_a_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MARKER_FOLDER", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    declaration = read_declaration(PLUGINS / "marker-files", core_names=CORE)
    assert ([r.canonical for r in declaration.requirements], list(tmp_path.iterdir())) == (["demo-colors"], [])
