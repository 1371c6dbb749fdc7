"""The metadata of a wheel becomes a candidate whose requirements are judged for the target."""

from __future__ import annotations

import pytest

from admission import Candidate
from fixtures.wheels import LINUX_311
from lockfiles import Artifact, Edge
from pm.index.leniency import lenient_specifier
from pm.index.markers import without_extra
from pm.index.metadata import CoreMetadata, Judge, read_core_metadata
from pm.index.rows import candidate_row, read_candidate_row

_ARTIFACT = Artifact(filename="demo-1.0-py3-none-any.whl", sha256="ab" * 32)


def _candidate(*lines: str, name: str = "demo", version: str = "1.0", metadata_version: str = "2.1") -> Candidate:
    head = [f"Metadata-Version: {metadata_version}", f"Name: {name}", f"Version: {version}"]
    content = "\n".join([*head, *lines, "", "A description.", "Requires-Dist: not-a-field"])
    judge = Judge(LINUX_311)
    return judge.candidate(content.encode(), name="demo", version="1.0", artifact=_ARTIFACT, index="http://i/simple")


def test_the_fields_of_the_header_are_read_and_the_description_is_not() -> None:
    content = (
        "\ufeffMetadata-Version: 2.1\r\nName: Dé_mo\r\nVersion: 1.0\r\nSummary: first\r\n  second\r\n"
        "Requires-Dist: one>=1,\r\n    <2\r\nrequires-dist: two\r\nProvides-Extra: fast\r\nRequires-Python: >=3.8\r\n"
        "\r\nRequires-Dist: three\r\n"
    )
    assert read_core_metadata(content.encode()) == CoreMetadata(
        name="Dé_mo",
        version="1.0",
        requires=("one>=1, <2", "two"),
        extras=("fast",),
        requires_python=">=3.8",
        metadata_version="2.1",
    )


@pytest.mark.parametrize(
    "licence",
    [
        "License: first line\n        \n        second line\n        \n",
        "License: GNU\n        \x0c\n        continued on the next page\n",
        "License: written on Windows\r\r\n        twice over\r\r\n",
        "Summary: a line\u2028\u2028separator\n",
    ],
)
def test_a_blank_inside_a_folded_field_does_not_end_the_header(licence: str) -> None:
    content = f"Metadata-Version: 2.4\nName: demo\nVersion: 1.0\n{licence}Requires-Dist: one\n\nRequires-Dist: two\n"
    assert read_core_metadata(content.encode()).requires == ("one",)


def test_requirements_whose_marker_does_not_hold_for_the_target_are_left_out() -> None:
    candidate = _candidate(
        "Requires-Dist: colorama ; sys_platform == 'win32'",
        "Requires-Dist: Uv_Loop[Fast_er,b] >=0.1, <1 ; sys_platform == 'linux' and python_version >= '3.8'",
        "Requires-Dist: plain",
    )
    assert candidate.requires == (
        Edge(name="plain"),
        Edge(
            name="uv-loop",
            specifier="<1,>=0.1",
            extras=("b", "fast-er"),
            marker='sys_platform == "linux" and python_version >= "3.8"',
        ),
    )


def test_requirements_of_extras_name_their_extra_and_lose_it_from_their_marker() -> None:
    candidate = _candidate(
        "Provides-Extra: Fast_Mode",
        "Provides-Extra: all",
        "Requires-Dist: speedups>=2 ; (sys_platform == 'linux' or os_name == 'nt') and extra == 'fast_mode'",
        "Requires-Dist: both ; extra == 'fast-mode' or extra == 'all'",
        "Requires-Dist: elsewhere ; sys_platform == 'win32' and extra == 'all'",
    )
    assert (candidate.extras, candidate.requires) == (
        ("all", "fast-mode"),
        (
            Edge(name="both", extra="all"),
            Edge(name="both", extra="fast-mode"),
            Edge(
                name="speedups",
                specifier=">=2",
                marker='sys_platform == "linux" or os_name == "nt"',
                extra="fast-mode",
            ),
        ),
    )


def test_an_extra_with_an_invalid_name_is_never_enabled() -> None:
    """Case extras-03."""
    candidate = _candidate("Provides-Extra: my_extra_", "Requires-Dist: leaked ; extra == 'my_extra_'")
    assert (candidate.extras, candidate.requires, candidate.invalid) == ((), (), "")


def test_empty_extras_are_no_extras() -> None:
    """Case extras-01."""
    assert _candidate("Requires-Dist: pypyp[]").requires == (Edge(name="pypyp"),)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("numpy >=1.20.*", Edge(name="numpy", specifier=">=1.20")),
        ("numpy (>=1.20<2)", Edge(name="numpy", specifier="<2,>=1.20")),
        ("numpy >=1.20,,<2", Edge(name="numpy", specifier="<2,>=1.20")),
    ],
)
def test_a_requirement_whose_slip_is_plain_is_read_as_it_was_meant(line: str, expected: Edge) -> None:
    assert _candidate(f"Requires-Dist: {line}").requires == (expected,)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (
            ["Requires-Dist: pyarrow (<2.0de,>=1.0.0)"],
            "its requirement `pyarrow (<2.0de,>=1.0.0)` cannot be read",
        ),
        (
            ["Requires-Dist: lib @ https://user:secret@host.invalid/lib.zip"],
            "it asks for `lib @ https://****@host.invalid/lib.zip`, a direct address, which is never followed",
        ),
    ],
)
def test_a_candidate_whose_requirement_cannot_be_followed_says_why(lines: list[str], expected: str) -> None:
    assert _candidate(*lines).invalid == expected


def test_what_cannot_be_followed_behind_an_extra_does_not_make_the_release_unusable() -> None:
    address = "lib @ https://host.invalid/lib.zip ; extra == 'dev'"
    candidate = _candidate(
        "Provides-Extra: dev",
        "Requires-Dist: pyarrow (<2.0de) ; extra == 'dev'",
        f"Requires-Dist: {address}",
        "Requires-Dist: plain",
    )
    assert (candidate.requires, candidate.invalid, candidate.broken) == (
        (Edge(name="plain"),),
        "",
        (
            ("dev", f"it asks for `{address}`, a direct address, which is never followed"),
            ("dev", "its requirement `pyarrow (<2.0de) ; extra == 'dev'` cannot be read"),
        ),
    )
    assert read_candidate_row("demo", "1.0", candidate_row(candidate)) == candidate


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"name": "other"}, "its metadata says that it is `other 1.0`"),
        ({"version": "1.1"}, "its metadata says that it is `demo 1.1`"),
        ({"name": ""}, "its metadata has no `Name`"),
        ({"metadata_version": "3.0"}, "its `Metadata-Version` `3.0` is newer than this manager can read"),
    ],
)
def test_metadata_of_something_else_is_not_believed(fields: dict[str, str], expected: str) -> None:
    assert _candidate(**fields).invalid == expected


def test_the_same_version_in_another_spelling_is_the_same() -> None:
    assert _candidate(version="1.0.0").invalid == ""


def test_an_unreadable_requires_python_asks_for_nothing() -> None:
    assert [_candidate(f"Requires-Python: {text}").requires_python for text in (">=3.6.*", "three")] == [">=3.6", ""]


@pytest.mark.parametrize(
    ("text", "expected"),
    [(">=3.6.*", ">=3.6"), ("<=3.9.*", "<3.10"), (">3.6.*", ">=3.7"), ("~=3.6.*", "~=3.6"), (">=3.6<4", "<4,>=3.6")],
)
def test_slips_in_bounds_are_mended(text: str, expected: str) -> None:
    assert str(lenient_specifier(text)) == expected


@pytest.mark.parametrize(
    ("marker", "extra", "expected"),
    [
        ('extra == "a"', "a", ""),
        ('python_version < "3.9" and extra == "a"', "a", 'python_version < "3.9"'),
        ('(extra == "a" or extra == "b") and os_name == "nt"', "b", 'os_name == "nt"'),
        ('os_name == "nt" or extra == "a"', "", 'os_name == "nt"'),
        (
            '(os_name == "nt" or os_name == "posix") and (extra == "a" and python_version > "3")',
            "a",
            '(os_name == "nt" or os_name == "posix") and python_version > "3"',
        ),
        ('"a" == extra and "3" < python_version', "a", '"3" < python_version'),
        ('platform_machine not in "x86 arm" and extra == "a"', "a", 'platform_machine not in "x86 arm"'),
    ],
)
def test_a_marker_loses_its_extra_and_keeps_its_meaning(marker: str, extra: str, expected: str) -> None:
    assert without_extra(marker, extra) == expected


def test_what_plainly_stands_behind_other_extras_need_not_be_read() -> None:
    lines = (
        "Requires-Dist: plain",
        "Requires-Dist: asked; extra == 'Fa_st'",
        "Requires-Dist: other; extra == 'slow'",
        "Requires-Dist: unreadable ===; extra == 'slow'",
        "Requires-Dist: both; extra == 'slow' or python_version >= '3'",
        "Requires-Dist: unless; extra != 'slow'",
    )
    content = "\n".join(["Metadata-Version: 2.1", "Name: demo", "Version: 1.0", *lines])
    judge = Judge(LINUX_311)
    read = judge.candidate(
        content.encode(), name="demo", version="1.0", artifact=_ARTIFACT, index="", extras=("fa-st",)
    )
    assert [(edge.name, edge.extra) for edge in read.requires] == [
        ("asked", "fa-st"),
        ("both", ""),
        ("plain", ""),
        ("unless", ""),
    ]
