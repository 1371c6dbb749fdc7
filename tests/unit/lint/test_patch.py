"""A patch changes one requirement of the author's own file, and real tools apply it to the byte."""

import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from admission import Core, Declaration, Facts, Refused, UnionMember, decide, parse_requirement
from admission.requirement import Origin, Owner
from fixtures.ways_out import steps_of
from fixtures.worlds import World, candidate, page
from pm.errors import PmError
from pm.lint.patch import patch_text
from pm.plugins.declaration import read_declaration
from pm.receipts.build import build
from pm.receipts.receipt import Operation, Plugin, Receipt, SourceRow

NOW = datetime(2026, 1, 31, tzinfo=UTC)
NAMES = ("httpx", "rich", "my-httpx")
FACTS = Facts(
    {name: page(name, ["0.27", "0.28.1", "0.29"]) for name in NAMES},
    {name: {v: candidate(name, v, []) for v in ("0.27", "0.28.1", "0.29")} for name in NAMES},
)
OF_CORE = Origin(Owner("core", "demo-core"), "METADATA")
CORE = Core("demo-core", "1.0", (parse_requirement("httpx==0.28.1", OF_CORE),))
STRICTER = CORE._replace(requirements=(*CORE.requirements, parse_requirement("rich==0.27", OF_CORE)))
"""A core that is in the way of two lines."""
MANIFEST, PROJECT = "plugin.yaml", "pyproject.toml"


def declared(folder: Path) -> Declaration:
    return read_declaration(folder, key="new", core_names=frozenset({"hermes-agent", "demo-core"}))


def refused(folder: Path, core: Core = CORE) -> Receipt:
    """Return the receipt of the refusal that the core's pins lead to, with its steps."""
    question = World(FACTS, ()).question()
    constraints = question.constraints._replace(core=core, members=(UnionMember(declared(folder)),))
    question = question._replace(constraints=constraints, candidate="new")
    decision = decide(question, FACTS)
    assert isinstance(decision, Refused)
    plugin = Plugin("new", "new", "1.0", SourceRow("folder", str(folder)))
    operation = Operation("check", "0a1b", NOW, ("hermes", "plugins", "check", str(folder)), plugin=plugin)
    return build(operation, decision._replace(steps=tuple(steps_of(question, FACTS))), finished_at=NOW)


def by_patch(folder: Path, text: bytes) -> None:
    subprocess.run(["patch", "-p1", "--no-backup-if-mismatch", "--fuzz=0"], cwd=folder, input=text, check=True)


def by_git(folder: Path, text: bytes) -> None:
    subprocess.run(["git", "apply", "--whitespace=nowarn", "-"], cwd=folder, input=text, check=True)


CASES = {
    "a list of YAML": (
        MANIFEST,
        "name: new\n# needs\npip_dependencies:\n  - rich>=0.27   # colours\n  - httpx>=0.29  # why\n  - my-httpx\n",
        "httpx>=0.29  # why",
        "httpx>=0.28.1  # why",
    ),
    "a quoted item of YAML": (
        MANIFEST,
        "name: new\npip_dependencies:\n- 'httpx >= 0.29, < 1'\n- \"rich\"\n",
        "'httpx >= 0.29, < 1'",
        "'httpx >= 0.28.1, < 1'",
    ),
    "a flow list": (
        MANIFEST,
        "name: new\npip_dependencies: [ rich, httpx<0.28, my-httpx ] # all\n",
        "httpx<0.28",
        "httpx<0.29",
    ),
    "a plain item of a flow list that grows a comma": (
        MANIFEST,
        "name: new\npip_dependencies: [rich, httpx==0.27, my-httpx]\n",
        "httpx==0.27",
        '"httpx>=0.27,<=0.28.1"',
    ),
    "a quoted item of a flow list that grows a comma": (
        MANIFEST,
        "name: new\npip_dependencies: [rich, 'httpx==0.27', my-httpx]\n",
        "'httpx==0.27'",
        "'httpx>=0.27,<=0.28.1'",
    ),
    "a name that ends like another one": (
        MANIFEST,
        "name: new\npip_dependencies: [my-httpx>=0.29, httpx>=0.29]\n",
        " httpx>=0.29",
        " httpx>=0.28.1",
    ),
    "an array of TOML on one line": (
        PROJECT,
        '[project]\nname = "new"\nversion = "1"\ndependencies = ["rich", "httpx[http2] ~=0.29", "my-httpx"] # all\n',
        "httpx[http2] ~=0.29",
        "httpx[http2] >=0.28.1,<1",
    ),
    "an array of TOML over lines": (
        PROJECT,
        '[project]\nname = "new"\nversion = "1"\ndependencies = [\n  # client\n  "httpx!=0.28.1",  # no\n]\n',
        '"httpx!=0.28.1"',
        '"httpx"',
    ),
    "a marker with quotes": (
        PROJECT,
        "[project]\nname = 'new'\nversion = '1'\ndependencies = [\"httpx>=0.29; python_version<'4'\", 'rich']\n",
        "httpx>=0.29; python_version<'4'",
        "httpx>=0.28.1; python_version<'4'",
    ),
    "line ends of Windows": (
        MANIFEST,
        "name: new\r\npip_dependencies:\r\n- httpx>=0.29\r\n- rich\r\n",
        "httpx>=0.29",
        "httpx>=0.28.1",
    ),
    "a byte order mark": (MANIFEST, "\ufeffpip_dependencies: [httpx>=0.29]\nname: new\n", "0.29", "0.28.1"),
    "no line end at the end": (MANIFEST, "name: new\npip_dependencies:\n- httpx>=0.29", "0.29", "0.28.1"),
    "a line separator in a comment of TOML": (
        PROJECT,
        '[project]\nname = "new"\nversion = "1"\n# one \u2028 two \x85 three\ndependencies = ["httpx>=0.29"]\n',
        "0.29",
        "0.28.1",
    ),
    "a line separator in a comment of YAML": (
        MANIFEST,
        "name: new\n# one \u2028# two\npip_dependencies:\n- rich\n- httpx>=0.29\n",
        "0.29",
        "0.28.1",
    ),
    "an item below its dash": (MANIFEST, "name: new\npip_dependencies:\n- >-\n  httpx>=0.29\n", "0.29", "0.28.1"),
    "other scripts around it": (
        MANIFEST,
        "name: new\ndescription: 기억 für Ärzte 🐙\npip_dependencies:\n- httpx>=0.29 # だから\n",
        "0.29",
        "0.28.1",
    ),
    "JSON": (
        "plugin.json",
        '{"name": "new", "pip_dependencies": ["rich", "httpx==0.29"]}\n',
        "==0.29",
        ">=0.28.1,<=0.29",
    ),
}


@pytest.mark.parametrize("apply", [by_patch, by_git])
@pytest.mark.parametrize(("file", "before", "old", "new"), CASES.values(), ids=CASES)
def test_real_tools_change_the_one_requirement_and_no_other_byte(
    tmp_path: Path,
    require_tool: Callable[[str], Path],
    apply: Callable[[Path, bytes], None],
    file: str,
    before: str,
    old: str,
    new: str,
) -> None:
    require_tool("patch")
    require_tool("git")
    (tmp_path / file).write_bytes(before.encode())
    declaration = declared(tmp_path)
    receipt = refused(tmp_path)
    apply(tmp_path, patch_text(receipt).encode())
    assert (tmp_path / file).read_bytes().decode() == before.replace(old, new)
    step = next(step for step in receipt.steps if step.action == "widen")
    line = next(requirement for requirement in declaration.requirements if requirement.name == "httpx")
    assert declared(tmp_path).requirements == tuple(
        parse_requirement(step.value, line.origin) if requirement == line else requirement
        for requirement in declaration.requirements
    )


def test_the_patch_is_this_text(tmp_path: Path) -> None:
    (tmp_path / MANIFEST).write_text("name: new\npip_dependencies:\n- httpx>=0.29\n", encoding="utf-8")
    assert patch_text(refused(tmp_path)) == (
        "--- a/plugin.yaml\n+++ b/plugin.yaml\n@@ -1,3 +1,3 @@\n"
        " name: new\n pip_dependencies:\n-- httpx>=0.29\n+- httpx>=0.28.1\n"
    )


def test_a_patch_is_made_of_what_a_step_changes_and_not_of_what_it_says(tmp_path: Path) -> None:
    (tmp_path / MANIFEST).write_text("name: new\npip_dependencies:\n- httpx>=0.29\n- rich>=0.28\n", encoding="utf-8")
    receipt = refused(tmp_path, STRICTER)
    said_otherwise = receipt._replace(
        steps=tuple(
            step._replace(
                explanation="write `a` instead of `b` in c:1",
                command="",
                value="",
                parts=tuple(part._replace(explanation="", value="") for part in step.parts),
            )
            for step in receipt.steps
        )
    )
    assert patch_text(said_otherwise) == patch_text(receipt)


def test_of_two_lines_on_one_package_the_one_that_the_step_is_about_changes(tmp_path: Path) -> None:
    (tmp_path / MANIFEST).write_text(
        "name: new\npip_dependencies:\n- httpx>=0.27\n- httpx!=0.28.1\n- rich\n", encoding="utf-8"
    )
    assert patch_text(refused(tmp_path)).splitlines()[6:9] == ["-- httpx!=0.28.1", "+- httpx", " - rich"]


def test_a_file_of_requirements_in_a_folder_with_a_blank_is_patched_where_it_lies(tmp_path: Path) -> None:
    (tmp_path / PROJECT).write_text(
        '[project]\nname = "new"\nversion = "1"\ndynamic = ["dependencies"]\n'
        '[tool.setuptools.dynamic]\ndependencies = {file = "my needs/all.txt"}\n',
        encoding="utf-8",
    )
    (tmp_path / "my needs").mkdir()
    needs = tmp_path / "my needs" / "all.txt"
    needs.write_text("# all\nhttpx>=0.29  # newest\nrich\n", encoding="utf-8")
    by_patch(tmp_path, patch_text(refused(tmp_path)).encode())
    assert needs.read_text(encoding="utf-8") == "# all\nhttpx>=0.28.1  # newest\nrich\n"


def test_bounds_that_only_lead_out_together_are_all_written(tmp_path: Path) -> None:
    before = "name: new\npip_dependencies:\n- rich>=0.28 # one\n- my-httpx\n- httpx!=0.28.1\n- rich\n"
    (tmp_path / MANIFEST).write_text(before, encoding="utf-8")
    receipt = refused(tmp_path, STRICTER)
    by_patch(tmp_path, patch_text(receipt).encode())
    assert [step.action for step in receipt.steps] == ["together", "retry"]
    assert (tmp_path / MANIFEST).read_text(encoding="utf-8") == (
        "name: new\npip_dependencies:\n- rich>=0.27 # one\n- my-httpx\n- httpx\n- rich\n"
    )


def test_bounds_in_several_files_are_written_into_each_of_them(tmp_path: Path) -> None:
    (tmp_path / PROJECT).write_text(
        '[project]\nname = "new"\nversion = "1"\ndynamic = ["dependencies"]\n'
        '[tool.setuptools.dynamic]\ndependencies = {file = ["two.txt", "one.txt"]}\n',
        encoding="utf-8",
    )
    (tmp_path / "one.txt").write_text("rich>=0.28", encoding="utf-8")
    (tmp_path / "two.txt").write_text("# all\nmy-httpx\nhttpx>=0.29\n", encoding="utf-8")
    assert patch_text(refused(tmp_path, STRICTER)) == (
        "--- a/one.txt\n+++ b/one.txt\n@@ -1 +1 @@\n"
        "-rich>=0.28\n\\ No newline at end of file\n+rich>=0.27\n\\ No newline at end of file\n"
        "--- a/two.txt\n+++ b/two.txt\n@@ -1,3 +1,3 @@\n # all\n my-httpx\n-httpx>=0.29\n+httpx>=0.28.1\n"
    )


def test_where_one_of_two_lines_cannot_be_changed_nothing_is_written(tmp_path: Path) -> None:
    before = "name: new\npip_dependencies:\n- httpx>=0.29\n- >-\n  rich\n  >=0.28\n"
    (tmp_path / MANIFEST).write_text(before, encoding="utf-8")
    with pytest.raises(PmError) as caught:
        patch_text(refused(tmp_path, STRICTER))
    assert (caught.value.code, caught.value.hint) == ("no-patch", "write `rich >=0.27` there yourself")


@pytest.mark.parametrize(
    ("before", "text"),
    [
        ("name: new\npip_dependencies:\n- >-\n  httpx\n  >=0.29\n", "httpx >=0.28.1"),
        ('name: new\npip_dependencies: ["httpx\\u003e=0.29"]\n', "httpx>=0.28.1"),
        ("name: new\npip_dependencies: [httpx>=0.29]\npython_dependencies: [httpx>=0.29]\n", "httpx>=0.28.1"),
    ],
    ids=["over several lines", "with an escape", "the same twice"],
)
def test_what_cannot_be_changed_as_text_is_told_to_be_changed_by_hand(tmp_path: Path, before: str, text: str) -> None:
    (tmp_path / MANIFEST).write_text(before, encoding="utf-8")
    with pytest.raises(PmError) as caught:
        patch_text(refused(tmp_path))
    assert (caught.value.code, caught.value.hint) == ("no-patch", f"write `{text}` there yourself")


def test_a_file_that_changed_since_it_was_judged_is_not_patched(tmp_path: Path) -> None:
    (tmp_path / MANIFEST).write_text("name: new\npip_dependencies:\n- httpx>=0.29\n", encoding="utf-8")
    receipt = refused(tmp_path)
    (tmp_path / MANIFEST).write_text("name: new\npip_dependencies:\n- rich\n- httpx>=0.29\n", encoding="utf-8")
    with pytest.raises(PmError) as caught:
        patch_text(receipt)
    assert caught.value.code == "no-patch"


def test_without_a_confirmed_bound_of_the_plugin_s_own_there_is_nothing_to_write(tmp_path: Path) -> None:
    (tmp_path / MANIFEST).write_text("name: new\npip_dependencies:\n- httpx>=0.29\n", encoding="utf-8")
    receipt = refused(tmp_path)
    unconfirmed = receipt._replace(steps=tuple(step._replace(confirmed=False) for step in receipt.steps))
    with pytest.raises(PmError) as caught:
        patch_text(unconfirmed)
    assert caught.value.message == "no wider bound of this plugin was confirmed, so there is nothing to write"
