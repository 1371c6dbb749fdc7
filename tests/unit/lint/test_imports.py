"""What a plugin imports and nobody brings."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import pytest

from admission import Problem
from fixtures.limited import limited
from pm.lint.imports import Imports, UndeclaredImport, undeclared_imports
from pm.lint.python_files import PythonFile

PLUGINS = Path(__file__).parents[3] / "fixtures" / "plugins"


def imports_of(folder: Path, provided: Collection[str]) -> Imports:
    """Return what all files of a folder import beyond what is provided."""
    source = PythonFile(folder)
    return undeclared_imports(source, source.files, provided)


def source(folder: Path, **files: str) -> Path:
    """Write Python files; `__` in a name stands for a folder."""
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def modules(folder: Path, *provided: str) -> list[tuple[str, int, bool]]:
    return [(found.module, found.line, found.guarded) for found in imports_of(folder, provided).undeclared]


def test_an_import_that_nobody_brings_is_found_and_a_guarded_one_told_apart() -> None:
    found = imports_of(PLUGINS / "undeclared-import", [])
    expected = Imports(
        (
            UndeclaredImport("demo_colors", "__init__.py", 5, guarded=False),
            UndeclaredImport("demo_transport", "__init__.py", 10, guarded=True),
        )
    )
    assert found == expected


def test_what_the_set_brings_is_not_reported() -> None:
    assert modules(PLUGINS / "undeclared-import", "demo_colors", "demo_transport") == []


def test_the_standard_library_and_the_plugins_own_modules_are_not_reported(tmp_path: Path) -> None:
    folder = source(
        tmp_path / "my_plugin",
        main="import os.path, tomllib, backend\nfrom helpers.text import a\nfrom . import x\nimport my_plugin.main",
        backend="",
        helpers__text="",
    )
    assert modules(folder) == []


def test_a_plugin_named_like_the_package_it_imports_hides_the_question(tmp_path: Path) -> None:
    """Case shadows-stdlib-or-host-module-01: inside of `ddgs/`, `import ddgs` cannot be told from its own module."""
    assert modules(source(tmp_path / "ddgs", main="import ddgs\nimport other")) == [("other", 2, False)]


@pytest.mark.parametrize(
    ("text", "guarded"),
    [
        ("try:\n  import x\nexcept ImportError:\n  x = None", True),
        ("try:\n  import x\nexcept (ValueError, ModuleNotFoundError):\n  pass", True),
        ("try:\n  import x\nexcept:\n  pass", True),
        ("try:\n  import y0\nexcept ImportError:\n  import x", True),
        ("try:\n  def f():\n    import x\nexcept Exception:\n  pass", True),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n  from x import y", True),
        ("import typing\nif typing.TYPE_CHECKING:\n  import x.y", True),
        ("try:\n  pass\nexcept ImportError:\n  pass\nelse:\n  import x", False),
        ("try:\n  import x\nexcept ValueError:\n  pass", False),
        ("try:\n  pass\nfinally:\n  import x", False),
        ("if TYPE_CHECKING:\n  pass\nelse:\n  import x", False),
        ("def f():\n  import x", False),
        ("class A:\n  async def f(self):\n    with a:\n      from x.y import z", False),
        ("try:\n  import x\nexcept ImportError:\n  pass\nimport x", False),
    ],
)
def test_what_is_prepared_to_fail_is_information(tmp_path: Path, text: str, *, guarded: bool) -> None:
    found = [guard for module, _, guard in modules(source(tmp_path, main=text)) if module == "x"]
    assert found == [guarded]


def test_the_first_import_that_is_not_guarded_is_the_one_that_is_named(tmp_path: Path) -> None:
    folder = source(tmp_path, a="try:\n  import x\nexcept ImportError: ...", b="\n\nimport x", c="import x")
    assert imports_of(folder, []).undeclared == (UndeclaredImport("x", "b.py", 3, guarded=False),)


def test_tests_environments_and_hidden_folders_are_not_the_plugin(tmp_path: Path) -> None:
    folders = ("tests", "venv", "node_modules", ".venv", "__pycache__")
    for folder in folders:
        source(tmp_path / folder, main="import x")
    source(tmp_path / "inner", main="import y")
    assert modules(tmp_path) == [("y", 1, False)]


def test_a_file_that_cannot_be_parsed_is_reported_and_the_others_are_read(tmp_path: Path) -> None:
    source(tmp_path, bad="import a\ndef f(:\n", deep="(" * 5000, good="import x")
    (tmp_path / "latin.py").write_bytes(b"# caf\xe9\n")
    found = imports_of(tmp_path, [])
    assert ([item.module for item in found.undeclared], [(p.code, p.file, p.line) for p in found.unread]) == (
        ["x"],
        [("source-not-parsed", "bad.py", 2), ("source-not-parsed", "deep.py", 1), ("source-not-parsed", "latin.py", 1)],
    )


def test_what_python_thinks_of_the_style_is_not_told(tmp_path: Path) -> None:
    assert imports_of(source(tmp_path, main='a = "\\d"\nassert (1, "x")'), []) == Imports(())


def test_a_source_behind_a_link_that_leads_out_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret.py").write_text("import x")
    folder = tmp_path / "plugin"
    folder.mkdir()
    (folder / "main.py").symlink_to("../secret.py")
    problem = Problem("source-not-parsed", "the file is a link that leads out of the plugin's folder", "main.py")
    assert imports_of(folder, []) == Imports((), (problem,))


def test_nothing_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MARKER_FOLDER", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    imports_of(PLUGINS / "marker-files", [])
    assert list(tmp_path.iterdir()) == []


def test_sources_that_take_much_memory_or_time_are_not_looked_into(tmp_path: Path) -> None:
    source(
        tmp_path, a="import one\n", b="x\n" * 260_000 + "import two\n", c="import three\n", d=f'f"{"{a}" * 60_000}"\n'
    )
    found = imports_of(tmp_path, [])
    assert ([item.module for item in found.undeclared], [(one.file, one.code) for one in found.unread]) == (
        ["one"],
        [("b.py", "source-not-parsed")],
    )
    (tmp_path / "b.py").unlink()
    ending = limited(lambda: [one.message for one in imports_of(tmp_path, []).unread])
    assert ending.told == "['the file is too large for the braces in it']"
