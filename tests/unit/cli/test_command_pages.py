"""The pages of docs/reference say what the code says, and what lies on a disk fits the published schemas."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

import pytest
from jsonschema import Draft202012Validator

from fixtures.homes import PLUGINS, ROOT, Home, new_home
from fixtures.wheels import DEFAULT_RECIPE, build_recipe, read_recipe
from pm.config.settings import IndexSetting, Settings
from pm.generations.pointer import Pointer
from pm.generations.records import Member, Record, read_record
from pm.generations.transaction import recover
from pm.index import FRESH, Limits
from pm.index import package_sources as sources
from pm.index.tool_configuration import PIP_VARIABLES
from pm.launch.exec import launched_environment
from pm.places import GenerationNumber, Places, find_places
from pm.plugins.discovery import PROJECT_SWITCH
from pm.system import processes
from scripts.reference import VARIABLES, documents, write

REFERENCE = ROOT / "docs" / "reference"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "tutorial").glob("*.md")), *sorted(REFERENCE.glob("*.md"))]


def page(name: str) -> str:
    return (REFERENCE / name).read_text(encoding="utf-8")


# -- pages that are written by the code


def test_the_generated_pages_are_what_the_code_writes(tmp_path: Path) -> None:
    write(tmp_path)
    pages = dict(documents())
    assert {name: (tmp_path / name).read_text(encoding="utf-8") for name in pages} == pages
    assert {name: page(name) for name in pages} == pages


READ = re.compile(r"environ\.get\(\s*\"([A-Z0-9_]+)\"|environ\[\"([A-Z0-9_]+)\"\]")


def variables_read(files: Iterable[Path]) -> set[str]:
    """Return the names that the code asks its environment for by a literal."""
    found = (READ.findall(file.read_text(encoding="utf-8")) for file in files)
    return {name for names in found for pair in names for name in pair if name}


def test_the_page_names_every_variable_that_the_code_reads_and_no_other() -> None:
    # what runs inside of a generation reads what `hermes run` has set
    inside = ROOT / "pm" / "inside"
    literal = variables_read(file for file in (ROOT / "pm").rglob("*.py") if file.parent != inside)
    listed = {*sources._UV_VARIABLES, *PIP_VARIABLES, *sources._SURROUNDINGS}  # noqa: SLF001 - no list is public
    # PATH is how programs are found, and no setting of the manager's
    read = (literal | listed | {PROJECT_SWITCH}) - {"PATH"}
    assert {name for entry in VARIABLES for name in entry.names} == read


def test_the_page_names_every_variable_that_started_programs_get() -> None:
    named = set(re.findall(r"[A-Z][A-Z_]+", page("command-line.md")))
    assert {name.upper() for name in processes._PASSED} - named == set()  # noqa: SLF001 - as above


def test_the_page_names_every_variable_that_a_launched_command_gets(tmp_path: Path) -> None:
    pointer = Pointer(GenerationNumber(7), tmp_path / "pm" / "generations" / "7", "core==1", (), "")
    given = launched_environment(Places(tmp_path, tmp_path), pointer, {}, safe=True)
    assert {name for name in given if f"`{name}`" not in page("command-line.md")} == set()


def test_the_page_of_the_index_client_has_the_limits_of_the_code() -> None:
    rows = re.findall(r"^\| [^|]+ \| ([0-9.]+)(?: s)? \|$", page("index-client.md"), re.MULTILINE)
    assert [float(value) for value in rows] == list(Limits())
    assert f"for {FRESH} seconds" in page("index-client.md")


DECLARING = (
    *(f"documents/{name}" for name in ("files", "json_nodes", "nodes", "yaml_nodes")),
    *(f"plugins/{name}" for name in ("declaration", "manifest", "pyproject", "requirements")),
)


def test_the_page_of_reading_names_every_code_that_a_declaration_can_have() -> None:
    written = [(ROOT / "pm" / f"{name}.py").read_text(encoding="utf-8") for name in DECLARING]
    codes = {code for text in written for code in re.findall(r"(?:Problem\(\s*|code=)\"([a-z-]+)\"", text)}
    assert codes - set(re.findall(r"`([a-z-]+)`", page("reading.md"))) == set()


def test_the_page_of_reading_names_every_field_of_a_manifest() -> None:
    text = (ROOT / "pm" / "plugins" / "manifest.py").read_text(encoding="utf-8")
    fields = set(re.findall(r"(?:fields\.\w+\(|key = )\"([a-z_]+)\"", text)) | {"name", "kind", "python_runtime"}
    assert fields - set(re.findall(r"`([a-z_]+)`", page("reading.md"))) == set()


# -- settings


def test_the_page_of_files_names_every_setting() -> None:
    named = set(re.findall(r"`pm\.([a-z_]+)`", page("files.md")))
    assert set(Settings._fields) - named == set()
    assert {f"`{field}`" for field in IndexSetting._fields} - set(re.findall(r"`[a-z]+`", page("files.md"))) == set()


def test_the_page_of_files_names_every_place() -> None:
    places = Places(Path("home"), Path("root"))
    properties = [name for name, value in vars(Places).items() if isinstance(value, property) and name != "profile"]
    names = {getattr(places, name).relative_to("root").as_posix() for name in properties}
    assert {name for name in names if f"`{name}" not in page("files.md")} == set()


# -- links


LINK = re.compile(r"\]\((?!http)([^)#]+)(?:#[^)]*)?\)")


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_every_link_of_a_page_leads_somewhere(path: Path) -> None:
    links = LINK.findall(path.read_text(encoding="utf-8"))
    assert [link for link in links if not (path.parent / link).exists()] == []


# -- schemas, and files that real operations have written


def closed(schema: object) -> object:
    """Return the schema with every object closed, so that a field it does not know is a fault."""
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {key: closed(value) for key, value in schema.items()}
    return {"additionalProperties": False, **inner} if "required" in schema else inner


def schema(name: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(page(f"{name}.schema.json"))
    return value


def faults(name: str, value: object) -> list[str]:
    """Return what a value says that its published schema does not."""
    validator = Draft202012Validator(cast("dict[str, Any]", closed(schema(name))))
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(value)]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """Return a home with a life behind it: set up, one plugin installed, one added and disabled, one refused."""
    folder = tmp_path_factory.mktemp("reference")
    build_recipe(folder / "wheels", read_recipe(DEFAULT_RECIPE))
    home = new_home(folder / "home", wheels=folder / "wheels")
    home.configure("  keep_generations: 9\n")
    home.ask("pm", "init")
    home.install(PLUGINS / "admitted-simple")
    home.install(PLUGINS / "memory-provider")
    home.ask("plugins", "disable", "memory-provider")
    home.install(PLUGINS / "conflicts-with-core")
    return home


@pytest.mark.parametrize("name", ["pointer", "record", "journal"])
def test_the_schema_is_a_schema(name: str) -> None:
    Draft202012Validator.check_schema(schema(name))


def test_a_real_pointer_fits_its_schema(home: Home) -> None:
    assert faults("pointer", home.pointer) == []
    assert home.admitted == ["admitted-simple in default"]


def test_real_records_fit_their_schema(home: Home) -> None:
    records = {path.stem: json.loads(path.read_text()) for path in home.state.glob("generations/*.json")}
    assert {number: faults("record", value) for number, value in records.items()} == {
        "1": [],
        "2": [],
        "3": [],
        "4": [],
    }


def test_the_schema_of_a_record_has_the_fields_of_the_value() -> None:
    assert set(schema("record")["required"]) == {*Record._fields, "schema"}
    member = schema("record")["properties"]["members"]["items"]
    assert set(member["required"]) == set(Member._fields)


def test_what_a_pointer_says_is_what_its_record_says(home: Home) -> None:
    places = find_places(str(home.path), {})
    pointer = json.loads(places.pointer.read_bytes())
    record = read_record(places, GenerationNumber(4))
    assert (pointer["generation"], pointer["path"]) == (record.generation, str(places.environment(record.environment)))
    assert (pointer["lock_digest"], pointer["fingerprint"]) == (record.lock_digest, record.fingerprint)
    assert (record.environment, record.operation) == (3, "disable")


# Runs `hermes` and kills it at the moment at which it would replace the pointer.
PROGRAM = """
import os, signal, sys
from pm.cli.main import main
def watch(event, arguments):
    if event == "os.rename" and str(arguments[1]).endswith("/pm/pointer.json"):
        os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(watch)
main(sys.argv[1:])
"""


def test_the_journal_of_an_installation_that_was_killed_fits_its_schema(home: Home) -> None:
    words = ["plugins", "install", str(PLUGINS / "with-pyproject"), "--enable"]
    killed = subprocess.run([sys.executable, "-c", PROGRAM, *words], env=home.environ, cwd=home.work, check=False)
    journal = json.loads((home.state / "journal.json").read_text())
    assert killed.returncode == -signal.SIGKILL
    assert faults("journal", journal) == []
    assert [Path(row["path"]).relative_to(home.path).as_posix() for row in journal["replacements"]] == [
        "plugins/with-pyproject",
        "pm/trees/installed.json",
        "pm/generations/5.json",
        "config.yaml",
    ]
    assert recover(find_places(str(home.path), {})).outcome == "undone"


@pytest.mark.parametrize(
    ("name", "change"),
    [("pointer", {"generation": 0}), ("record", {"members": [{}]}), ("journal", {"replacements": None})],
)
def test_a_file_of_another_shape_does_not_fit(home: Home, name: str, change: dict[str, object]) -> None:
    real = {"pointer": home.pointer, "record": json.loads((home.state / "generations" / "1.json").read_text())}
    journal = {"schema": 1, "operation": "install", "committed": False, "pointer": {"before": "", "after": None}}
    value = real.get(name) or journal | {"replacements": []}
    assert (faults(name, value), faults(name, value | change) == []) == ([], False)
