"""The repository keeps the shape that its documents describe."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MANAGER = ("pm", "admission", "lockfiles")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
CORE_PROJECT = tomllib.loads((ROOT / "core" / "pyproject.toml").read_text("utf-8"))


def imported_modules(folder: Path) -> set[str]:
    """Return everything that the modules below a folder import, at whatever depth of the code."""
    names: set[str] = set()
    for module in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(module.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            if isinstance(node, ast.ImportFrom):
                names.add(node.module or "")
    return names


def imported_names(folder: Path) -> set[str]:
    """Return the first segment of everything that the modules below a folder import."""
    return {name.partition(".")[0] for name in imported_modules(folder)}


def called_attributes(folder: Path) -> set[str]:
    """Return the last segment of everything that the modules below a folder call by `something.name(...)`."""
    nodes = [node for module in folder.rglob("*.py") for node in ast.walk(ast.parse(module.read_text("utf-8")))]
    return {node.func.attr for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)}


def texts_of_code(module: Path) -> set[str]:
    """Return the texts that a module's code works with, without those that stand there for its readers."""
    nodes = list(ast.walk(ast.parse(module.read_text("utf-8"))))
    told = {node.value for node in nodes if isinstance(node, ast.Expr)}
    texts = {node for node in nodes if isinstance(node, ast.Constant)} - told
    return {node.value for node in texts if isinstance(node.value, str)}


def test_the_core_imports_nothing_of_the_manager() -> None:
    assert imported_names(ROOT / "core") & set(MANAGER) == set()


@pytest.mark.parametrize("package", MANAGER)
def test_the_manager_imports_nothing_of_the_core(package: str) -> None:
    modules = {
        path.stem for path in (ROOT / "core").iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert "hermes_constants" in modules
    assert imported_names(ROOT / package) & {"core", *modules} == set()


@pytest.mark.parametrize("package", MANAGER)
def test_modules_that_define_nouns_do_not_postpone_their_annotations(package: str) -> None:
    """`NamedTuple` compiles every annotation that is a text, each time the module is imported."""
    texts = {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in (ROOT / package).rglob("*.py")}
    nouns = {path for path, text in texts.items() if "(NamedTuple)" in text}
    assert nouns
    assert {path for path in nouns if "from __future__ import annotations" in texts[path]} == set()


def test_one_noun_is_one_class() -> None:
    places: dict[str, list[str]] = {}
    for package in (*MANAGER, "core"):
        for module in sorted((ROOT / package).rglob("*.py")):
            for node in ast.walk(ast.parse(module.read_text("utf-8"))):
                if isinstance(node, ast.ClassDef):
                    places.setdefault(node.name, []).append(str(module.relative_to(ROOT)))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_the_top_of_the_manager_is_its_ground() -> None:
    """Everything else has a room (CONTRIBUTING.md): at most eight modules stand at the top."""
    assert len(list((ROOT / "pm").glob("*.py"))) <= 8


VAGUE = re.compile(r"\b(somebody|nobody|whoever|someone|anybody|everybody)\b", re.IGNORECASE)


@pytest.mark.parametrize("place", [*MANAGER, "core", "docs", "scripts", "README.md", "CONTRIBUTING.md"])
def test_texts_name_the_noun(place: str) -> None:
    """Which plugin, operator, index or process is meant, is said."""
    top = ROOT / place
    files = [top] if top.is_file() else [path for path in top.rglob("*") if path.suffix in (".py", ".md", ".txt")]
    assert files
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in files
        for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1)
        if VAGUE.search(line)
    ]
    assert found == []


@pytest.mark.parametrize("package", ["admission", "lockfiles"])
def test_deciding_and_recording_never_ask_a_clock(package: str) -> None:
    assert called_attributes(ROOT / package) & {"now", "utcnow", "today"} == set()


@pytest.mark.parametrize("package", ["admission", "lockfiles"])
def test_deciding_and_recording_know_addresses_only_as_text(package: str) -> None:
    assert {name for name in imported_modules(ROOT / package) if name.startswith("urllib")} <= {"urllib.parse"}


def test_the_module_of_a_generation_imports_little_and_only_from_the_standard_library() -> None:
    # `fcntl` and `json` by the functions that need them: importing it must work everywhere, and cost nothing
    text = (ROOT / "pm" / "inside" / "_hermes_pm.py").read_text("utf-8")
    at_once = {node for node in ast.parse(text).body if isinstance(node, ast.Import | ast.ImportFrom)}
    assert {ast.unparse(node) for node in at_once} == {
        "import os",
        "import sys",
        "from collections.abc import Iterable, Iterator",
        "from typing import NamedTuple",
    }
    assert imported_modules(ROOT / "pm" / "inside") == {
        "collections.abc",
        "fcntl",
        "json",
        "os",
        "pathlib",
        "sys",
        "typing",
    }


def test_one_module_knows_how_the_folder_of_a_distribution_and_its_record_are_called() -> None:
    name = re.compile(r"\.dist-info|(^|[/.])RECORD$")
    modules = {str(path.relative_to(ROOT)): path for path in (ROOT / "pm").rglob("*.py")}
    knowing = {module for module, path in modules.items() if any(map(name.search, texts_of_code(path)))}
    # the module of a generation stands alone: it runs where nothing else of the manager is
    assert knowing == {"pm/dist_info.py", "pm/inside/_hermes_pm.py"}


# Which modules make files or change names themselves, and why these are no files that must be whole.
BY_HAND = {
    "pm/generations/clone.py": "what lies in an environment that no pointer names yet",
    "pm/generations/install_lock.py": "a file that a lock lies on",
    "pm/generations/leases.py": "files that locks lie on",
    "pm/generations/transaction.py": "the commit protocol: names change as the journal says",
    "pm/index/reading.py": "a file without a name, for a while",
    "pm/index/retrieval.py": "a file without a name, for a while",
    "pm/inside/_hermes_pm.py": "a file that a lock lies on, where nothing else of the manager is",
    "pm/operations/bundle.py": "a folder that takes its place as a whole",
    "pm/operations/link.py": "a program that gets another name, and its own again",
    "pm/operations/uninstall.py": "a state that gets another name before it is deleted",
    "pm/operations/surplus.py": "an environment that gets another name before it is deleted",
    "pm/operations/kept_trees.py": "what lies in a folder that is staged",
    "pm/receipts/github.py": "the summary of a job, which is another program's and only added to",
    "pm/plugins/archive.py": "what lies in a folder that is staged",
    "pm/plugins/tree.py": "a folder that is staged, and takes its place as a whole",
    "pm/system/files.py": "the writer",
    "pm/system/folders.py": "folders that are moved up in one that is removed",
    "pm/system/streams.py": "a descriptor that no file may take",
}
CHANGING = {
    "write_text",
    "write_bytes",
    "rename",
    "link",
    "hardlink_to",
    "copy",
    "copy2",
    "copyfile",
    "copytree",
    "move",
}


def test_one_module_writes_the_files_that_must_be_whole() -> None:
    modules = {str(path.relative_to(ROOT)): ast.parse(path.read_text("utf-8")) for path in (ROOT / "pm").rglob("*.py")}
    calls = {name: [node for node in ast.walk(tree) if isinstance(node, ast.Call)] for name, tree in modules.items()}
    assert {name for name, made in calls.items() if any(map(makes_a_file, made))} == BY_HAND.keys()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("path.write_text(text)", True),
        ("path.replace(target)", True),
        ("text.replace('a', 'b')", False),
        ("moment.replace(tzinfo=UTC)", False),
        ("write_bytes(path, content)", False),
        ("path.open('rb')", False),
        ("open(name, 'wb')", True),
        ("path.open(mode='x')", True),
        ("os.open(path, os.O_RDONLY | os.O_CLOEXEC)", False),
        ("os.open(path, os.O_RDWR | os.O_CREAT)", True),
        ("tempfile.mkstemp()", True),
        ("shutil.copy2(source, target)", True),
    ],
)
def test_a_call_that_makes_a_file_is_told_from_others(text: str, expected: bool) -> None:  # noqa: FBT001 - what is to be told
    (call,) = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
    assert makes_a_file(call) is expected


def makes_a_file(call: ast.Call) -> bool:
    """Say whether a call makes a file or gives one another name, as far as its form tells."""
    words = [node.attr for node in ast.walk(call) if isinstance(node, ast.Attribute)]
    if name_of(call) == "open":
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        modes = [node.value for node in given if isinstance(node, ast.Constant) and isinstance(node.value, str)]
        return {"O_CREAT", "O_RDWR", "O_WRONLY"} & {*words} != set() or any(
            re.fullmatch("[wxa].*", mode) for mode in modes
        )
    if name_of(call) == "replace":
        return len(call.args) == 1
    return isinstance(call.func, ast.Attribute) and (
        call.func.attr in CHANGING or ast.unparse(call).startswith("tempfile.")
    )


def name_of(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def test_the_core_depends_on_one_yaml_library() -> None:
    assert CORE_PROJECT["project"]["dependencies"] == ["PyYAML>=6.0.2,<7"]


def test_the_core_wheel_carries_the_same_licence() -> None:
    assert (ROOT / "core" / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_the_core_wheel_names_every_module_of_its_folder() -> None:
    present = {
        path.name for path in (ROOT / "core").iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert set(CORE_PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["only-include"]) == present


@pytest.mark.parametrize("requirement", PROJECT["project"]["dependencies"])
def test_a_dependency_of_the_product_has_both_bounds(requirement: str) -> None:
    assert re.fullmatch(r"[A-Za-z0-9.-]+>=[0-9.]+,<[0-9.]+", requirement)


@pytest.mark.parametrize("requirement", PROJECT["dependency-groups"]["dev"] + PROJECT["build-system"]["requires"])
def test_a_development_tool_has_an_exact_version(requirement: str) -> None:
    assert re.fullmatch(r"[A-Za-z-]+==[0-9.]+", requirement)


def test_both_wheels_are_built_by_the_same_hatchling() -> None:
    [builder] = PROJECT["build-system"]["requires"]
    assert CORE_PROJECT["build-system"]["requires"] == [builder]
    assert builder in PROJECT["dependency-groups"]["dev"]


def test_every_lint_rule_that_is_ignored_says_why() -> None:
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    table = text[text.index("[tool.ruff.lint]") : text.index("[tool.ruff.lint.flake8-tidy-imports]")]
    rules = re.findall(r'^    "[A-Z]+[0-9]+",.*$', table, re.MULTILINE)
    assert len(rules) > 20
    assert [rule for rule in rules if not re.search(r"# \S+ \S+", rule)] == []


def test_a_tool_that_is_there_is_found(require_tool: Callable[[str], Path]) -> None:
    assert require_tool("git").name == "git"


def test_a_missing_tool_skips_a_test(require_tool: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="`no-such-tool` is not installed"):
        require_tool("no-such-tool")


def test_a_missing_tool_fails_a_test_of_ci(
    require_tool: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="`no-such-tool` is not installed"):
        require_tool("no-such-tool")
