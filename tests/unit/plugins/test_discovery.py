"""Which plugins a home has, which copy of each is used, and what is bundled in a core's wheel."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from admission import Declaration
from pm.errors import PmError
from pm.plugins.bundled import read_bundled
from pm.plugins.declaration_cache import Rules
from pm.plugins.discovery import Found, find_plugins

RULES = Rules(frozenset({"hermes-agent"}))
PROJECTS_ON = {"HERMES_ENABLE_PROJECT_PLUGINS": "1"}


def plugin(folder: Path, manifest: str = "", source: str = "") -> Path:
    """Make a plugin's folder."""
    folder.mkdir(parents=True)
    (folder / "plugin.yaml").write_text(manifest)
    (folder / "__init__.py").write_text(source)
    return folder


def wheel(path: Path, files: dict[str, str]) -> Path:
    """Make a file that is a wheel as far as its plugins are concerned."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


def listed(found: tuple[Found, ...]) -> list[tuple[str, str, str]]:
    return [(plugin.key, plugin.source, plugin.hidden_by) for plugin in found]


def test_a_home_without_plugins_has_none(tmp_path: Path) -> None:
    assert find_plugins(tmp_path / "no home", {}, {}, RULES) == ()


def test_plugins_and_categories_of_plugins_are_found(tmp_path: Path) -> None:
    root = tmp_path / "plugins"
    plugin(root / "zebra", "name: zebra\n")
    plugin(root / "image_gen" / "openai", "name: image_gen-openai\n")
    plugin(root / "image_gen" / "deep" / "er", "")
    plugin(root / "from-source" / "x" / "y", "")
    (root / "bare").mkdir()
    (root / "bare" / "pyproject.toml").write_text("[project]\nname = 'bare'\n")
    (root / "notes").mkdir()
    (root / ".git").mkdir()
    plugin(root / "__pycache__", "")
    (root / "README.md").write_text("")
    found = find_plugins(tmp_path, {}, {}, RULES)
    assert listed(found) == [("bare", "user", ""), ("image_gen/openai", "user", ""), ("zebra", "user", "")]


def test_a_plugin_is_known_by_each_of_its_names(tmp_path: Path) -> None:
    plugin(tmp_path / "plugins" / "image_gen" / "openai", "name: image_gen-openai\n")
    (found,) = find_plugins(tmp_path, {}, {}, RULES)
    assert found.names == ("image_gen/openai", "openai", "image_gen-openai")


@pytest.mark.parametrize("folder", ["mein plugin", "плагин", "-état 'x'"])
def test_a_folder_whose_name_can_be_no_key_is_found_under_its_manifest_name(tmp_path: Path, folder: str) -> None:
    """Cases paths-spaces-unicode-01 and name-normalisation-05."""
    plugin(tmp_path / "plugins" / folder, "name: nice\n")
    (found,) = find_plugins(tmp_path, {}, {}, RULES)
    assert (found.key, found.declaration.problems, folder in found.names) == ("nice", (), True)


def test_a_folder_without_any_usable_name_is_found_and_reported(tmp_path: Path) -> None:
    plugin(tmp_path / "plugins" / "мой плагин")
    (found,) = find_plugins(tmp_path, {}, {}, RULES)
    assert [problem.code for problem in found.declaration.problems] == ["unsafe-name"]


def test_a_folder_of_a_category_is_called_by_its_own_name_if_that_can_be_one(tmp_path: Path) -> None:
    plugin(tmp_path / "plugins" / "web" / "my search", "name: search\n")
    plugin(tmp_path / "plugins" / "web" / "ddgs", "name: web-ddgs\n")
    plugin(tmp_path / "plugins" / "web" / "поиск", "")
    found = find_plugins(tmp_path, {}, {}, RULES)
    assert [(plugin.key, [problem.code for problem in plugin.declaration.problems]) for plugin in found] == [
        ("web/ddgs", []),
        ("web/search", []),
        ("web/поиск", ["unsafe-name"]),
    ]


@pytest.mark.parametrize("environ", [{}, {"HERMES_ENABLE_PROJECT_PLUGINS": "0"}, {"HERMES_ENABLE_PROJECT_PLUGINS": ""}])
def test_plugins_of_a_project_count_only_where_they_are_switched_on(tmp_path: Path, environ: dict[str, str]) -> None:
    plugin(tmp_path / "work" / ".hermes" / "plugins" / "local")
    off = find_plugins(tmp_path, {}, environ, RULES, project=tmp_path / "work")
    on = find_plugins(tmp_path, {}, PROJECTS_ON, RULES, project=tmp_path / "work")
    assert (listed(off), listed(on)) == ([], [("local", "project", "")])


def test_a_later_source_overrides_whatever_the_spelling(tmp_path: Path) -> None:
    plugin(tmp_path / "plugins" / "Disk_Cleanup")
    plugin(tmp_path / "work" / ".hermes" / "plugins" / "disk.cleanup")
    bundled = {"disk-cleanup": Declaration(key="disk-cleanup", name="disk-cleanup")}
    found = find_plugins(tmp_path, bundled, PROJECTS_ON, RULES, project=tmp_path / "work")
    assert listed(found) == [
        ("disk-cleanup", "bundled", "project"),
        ("Disk_Cleanup", "user", "project"),
        ("disk-cleanup", "project", ""),
    ]


def test_the_first_source_of_a_memory_provider_hides_the_later_ones(tmp_path: Path) -> None:
    plugin(tmp_path / "plugins" / "mem0", "kind: exclusive\n")
    plugin(tmp_path / "plugins" / "own", source="class Own(MemoryProvider): ...")
    plugin(tmp_path / "work" / ".hermes" / "plugins" / "own", "kind: exclusive\n")
    bundled = {"memory/mem0": Declaration(key="memory/mem0", name="mem0", kind="exclusive")}
    found = find_plugins(tmp_path, bundled, PROJECTS_ON, RULES, project=tmp_path / "work")
    assert listed(found) == [
        ("mem0", "user", "bundled"),
        ("memory/mem0", "bundled", ""),
        ("own", "user", ""),
        ("own", "project", "user"),
    ]


def test_two_folders_of_one_source_with_one_key_leave_the_first(tmp_path: Path) -> None:
    plugin(tmp_path / "plugins" / "a", "name: same\n")
    plugin(tmp_path / "plugins" / "b", "name: Same\n")
    found = find_plugins(tmp_path, {}, {}, RULES)
    assert [(plugin.key, plugin.folder, plugin.hidden_by) for plugin in found] == [
        ("same", tmp_path / "plugins" / "a", ""),
        ("Same", tmp_path / "plugins" / "b", "user"),
    ]


def test_a_folder_behind_a_link_is_a_plugin(tmp_path: Path) -> None:
    plugin(tmp_path / "checkout", "name: dev\n")
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "dev").symlink_to(tmp_path / "checkout")
    assert listed(find_plugins(tmp_path, {}, {}, RULES)) == [("dev", "user", "")]


def test_bundled_plugins_are_read_from_the_wheel_with_their_paths_as_keys(tmp_path: Path) -> None:
    core = wheel(
        tmp_path / "core-1.0-py3-none-any.whl",
        {
            "plugins/__init__.py": "",
            "plugins/disk-cleanup/plugin.yaml": "name: disk-cleanup\n",
            "plugins/memory/mem0/plugin.yaml": "name: mem0\npip_dependencies:\n  - mem0ai>=2,<3\n",
            "plugins/memory/mem0/__init__.py": "class Mem0(MemoryProvider): ...",
            "plugins/web/x/plugin.json": '{"name": "web-x", "pip_dependencies": ["hermes-agent>=1"]}',
            "plugins/too/deep/for/plugin.yaml": "",
            "other/plugins/x/plugin.yaml": "",
            "plugins/b d/plugin.yaml": "",
            "plugins/broken/plugin.yaml": "name: [",
        },
    )
    found = read_bundled(core, RULES)
    facts = [(key, d.kind, [r.canonical for r in (*d.requirements, *d.gates)], d.fit) for key, d in found.items()]
    assert facts == [
        ("broken", "", [], False),
        ("disk-cleanup", "", [], True),
        ("memory/mem0", "exclusive", ["mem0ai<3,>=2"], True),
        ("web/x", "", ["hermes-agent>=1"], True),
    ]


def test_bundled_plugins_of_a_core_that_is_a_project_are_read_from_its_folder(tmp_path: Path) -> None:
    plugin(tmp_path / "plugins" / "disk-cleanup", "pip_dependencies: [demo-colors]\n")
    plugin(tmp_path / "plugins" / "memory" / "mem0", "name: other\n")
    plugin(tmp_path / "plugins" / "memory" / "b d", "")
    (tmp_path / "plugins" / "tools").mkdir()
    (tmp_path / "plugins" / "tools" / "__init__.py").write_text("")
    found = read_bundled(tmp_path, RULES)
    assert [(key, declaration.key, declaration.kind) for key, declaration in found.items()] == [
        ("disk-cleanup", "disk-cleanup", ""),
        ("memory/mem0", "memory/mem0", "exclusive"),
    ]
    assert list(read_bundled(tmp_path, RULES, ["Disk.Cleanup"])) == ["disk-cleanup"]


def test_only_the_bundled_plugins_that_are_asked_for_are_read(tmp_path: Path) -> None:
    files = {f"plugins/{name}/plugin.yaml": "" for name in ("one", "two", "memory/mem0")}
    core = wheel(tmp_path / "core.whl", files)
    assert list(read_bundled(core, RULES, ["Memory/MEM0", "two", "three"])) == ["memory/mem0", "two"]


def test_bundled_plugins_are_the_same_through_the_cache(tmp_path: Path) -> None:
    core = wheel(
        tmp_path / "core.whl", {"plugins/a/plugin.yaml": "pip_dependencies: ['x[y]>=1; os_name==\"a\"', no]\n"}
    )
    cached = RULES._replace(cache_directory=tmp_path / "cache")
    assert [read_bundled(core, cached), read_bundled(core, cached)] == [read_bundled(core, RULES)] * 2


@pytest.mark.parametrize("content", [b"", b"no zip", b"PK\x03\x04 cut off"])
def test_what_is_no_wheel_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "core.whl"
    path.write_bytes(content)
    with pytest.raises(PmError) as caught:
        read_bundled(path, RULES)
    assert (caught.value.code, caught.value.file) == ("unsafe-archive", str(path))


def test_a_damaged_entry_of_a_wheel_is_refused(tmp_path: Path) -> None:
    path = wheel(tmp_path / "core.whl", {"plugins/a/plugin.yaml": "name: aaaa\n"})
    path.write_bytes(path.read_bytes().replace(b"name: aaaa", b"name: bbbb"))
    with pytest.raises(PmError) as caught:
        read_bundled(path, RULES)
    assert caught.value.code == "unsafe-archive"


def test_a_wheel_that_is_missing_is_reported(tmp_path: Path) -> None:
    with pytest.raises(PmError) as caught:
        read_bundled(tmp_path / "core.whl", RULES)
    assert caught.value.message == "the core's wheel cannot be read: no such file or directory"
