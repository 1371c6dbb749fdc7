"""Every declaration that was seen in the field is read, and asks for what it asks for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from admission import Declaration, Origin, Owner, parse_requirement
from pm.plugins.declaration import read_declaration

CORPUS = Path(__file__).parents[4] / "shared" / "corpus" / "plugins.jsonl"
pytestmark = pytest.mark.skipif(not CORPUS.exists(), reason="the corpus of declarations is not part of the repository")

Row = dict[str, object]


def rows() -> list[Row]:
    """Return each declaration file of each plugin, and each plugin that has no more than a row."""
    if not CORPUS.exists():
        return []
    plugins: list[Row] = [json.loads(line) for line in CORPUS.read_text(encoding="utf-8").splitlines()]
    files: list[Row] = []
    for plugin in plugins:
        declarations = plugin.get("declarations") or [plugin]
        assert isinstance(declarations, list)
        files += [{**plugin, "kept": plugin.get("requires_hermes"), **declaration} for declaration in declarations]
    return [row for row in files if row["source_kind"] != "pypi"]


def written(folder: Path, row: Row) -> None:
    """Write a row as the file that it was taken from."""
    if row["declared_in"] == "pyproject":
        lines = ["[project]", f"name = {json.dumps(row.get('dist') or 'unnamed-project')}"]
        lines += [f"requires-python = {json.dumps(row['requires_python'])}"] if row["requires_python"] else []
        lines += [f"dependencies = {json.dumps(row['requirements'])}"]
        (folder / "pyproject.toml").write_text("\n".join(lines))
        return
    keys = {
        "name": row["name"],
        "version": row["version"],
        "kind": row.get("manifest_kind"),
        "manifest_version": row.get("manifest_version"),
        "requires_hermes": row.get("kept"),
        "external_dependencies": row.get("external_dependencies"),
        "requires_env": row.get("requires_env"),
    }
    if row["declared_in"] in {"pip_dependencies", "python_dependencies"}:
        keys[str(row["declared_in"])] = row["requirements"]
    text = "".join(f"{key}: {json.dumps(value)}\n" for key, value in keys.items() if value)
    (folder / "plugin.yaml").write_text(text)


def canonical(text: str) -> str:
    return parse_requirement(text, Origin(Owner("plugin", ""))).canonical


def asked(declaration: Declaration) -> list[str]:
    """Return everything that was read as a requirement or gate, or refused as an address."""
    return sorted(requirement.canonical for requirement in (*declaration.requirements, *declaration.gates))


@pytest.mark.parametrize("row", rows(), ids=lambda row: f"{row['id']} {row.get('file', '')}")
def test_a_declaration_from_the_field_is_read(tmp_path: Path, row: Row) -> None:
    written(tmp_path, row)
    declaration = read_declaration(tmp_path, key="p", core_names=frozenset({"hermes-agent"}))
    requirements = row["requirements"]
    assert isinstance(requirements, list)
    addresses = [text for text in requirements if " @ " in text]  # none of a wheel: nothing else is ever installed
    assert not any(".whl" in text for text in addresses)
    assert asked(declaration) == sorted({canonical(text) for text in requirements if text not in addresses})
    assert [problem.code for problem in declaration.problems] == ["direct-url"] * len(addresses)
