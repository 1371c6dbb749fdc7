"""Requirement texts: what each comes to, and what is said about one that cannot be read."""

from __future__ import annotations

import pytest

from admission import InvalidRequirementText, Origin, Owner, Problem, parse_requirement, parse_specifier
from fixtures.limited import limited
from pm.plugins.raw import Written
from pm.plugins.requirements import Reading, ReadRequirements, judge

OWNER = Owner("plugin", "p")
READING = Reading(OWNER, frozenset({"hermes-agent"}), "own-name")
SHA = "0123456789abcdef0123456789abcdef01234567"


def judged(*texts: str, takes_addresses: bool = False) -> ReadRequirements:
    """Judge texts as if they stood in a manifest, one a line."""
    written = [Written(text, "plugin.yaml", 2 + i, 5, "pip_dependencies", i) for i, text in enumerate(texts)]
    return judge(written, READING._replace(takes_addresses=takes_addresses))


def the_problem(text: str, *, takes_addresses: bool = False) -> Problem:
    """Return the only problem of a text that is nothing else."""
    read = judged(text, takes_addresses=takes_addresses)
    assert (read.requirements, read.gates, read.notes) == ((), (), ())
    (problem,) = read.problems
    return problem


def test_what_may_not_be_asked_for_is_told_from_what_is_no_requirement() -> None:
    read = judged("own-name>=1", "a >", "./deps/x.whl", "-r more.txt", "x @ 1.0", "python>=3")
    _, no_requirement, address, option, version, python = read.problems
    assert read.unwanted == (read.problems[0], address, version)
    assert {problem.code for problem in (no_requirement, option, python)} == {"invalid-declaration"}


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("numpy >=1.19,", "numpy>=1.19"),  # case invalid-specifier-01
        ("pypyp[]", "pypyp"),  # case extras-01
        ("x[My_Extra_]", "x[my-extra-]"),  # case extras-03: as PEP 685 normalises it
        ("django-storages[S3,azure,s3]", "django-storages[azure,s3]"),  # case extras-05
        ("SQLAlchemy", "sqlalchemy"),  # case name-normalisation-01
        ("Foo.Bar__baz == 1.0", "foo-bar-baz==1.0"),
        ('onnxruntime-gpu>=1.12.1,<=1.17.0; sys_platform == "linux"',
         'onnxruntime-gpu<=1.17.0,>=1.12.1; sys_platform == "linux"'),  # case markers-01
        ("tomli; python_version<'3.11'", 'tomli; python_version < "3.11"'),  # case markers-03
        ("requests\r\n", "requests"),  # case encoding-bom-crlf-05
        ("foo (>=1,<2)", "foo<2,>=1"),
        ("atalk-sdk>=0.1.0a6,<0.2", "atalk-sdk<0.2,>=0.1.0a6"),
    ],
)  # fmt: skip
def test_what_packaging_reads_is_read_and_normalised(text: str, canonical: str) -> None:
    result = judged(text)
    assert ([r.canonical for r in result.requirements], result.problems) == ([canonical], ())


@pytest.mark.parametrize(
    ("text", "column", "correction"),
    [
        ("hwtypes>=1.0.*", 14, "hwtypes>=1.0"),  # case invalid-specifier-03
        ("pip<=20.1.*", 11, ""),  # case invalid-specifier-05: nobody can say what it means
        ("pip>20.1.*", 10, ""),
        ("h5py>=2.7<=2.10", 10, "h5py>=2.7,<=2.10"),  # case invalid-specifier-09
        ("a>=1 <2 !=1.5", 6, "a>=1,<2,!=1.5"),
        (
            "opencv-python-headless>=4.5.5.64,<=4.9.0.80;",
            45,
            "opencv-python-headless>=4.5.5.64,<=4.9.0.80",
        ),  # markers-01
        ("requests>=2  # for the api", 14, "requests>=2"),
        ("foo=1.0", 4, "foo==1.0"),
        ("foo=>1.0", 4, "foo>=1.0"),
        ("foo 1.0", 5, "foo==1.0"),
        ("foo>=1.0,,<2", 10, "foo>=1.0,<2"),
        ("foo ^1.2", 5, "foo>=1.2,<2"),
        ("foo^0.2.3", 4, "foo>=0.2.3,<0.3"),
        ("foo≥1.0", 4, "foo>=1.0"),
        ("foo; sys_platform == \u201clinux\u201d", 22, 'foo; sys_platform == "linux"'),
        ("foo; python_version<3.10", 21, 'foo; python_version<"3.10"'),
        ("\ufefffoo", 1, "foo"),
        ("> If encounter any error, please see ...", 1, ""),  # case empty-deps-05
        ("foo>=1.0+local", 9, ""),
        ("foo; python_version", 20, ""),
        ("foo[a b]", 7, ""),
        ("", 1, ""),
    ],
)
def test_what_cannot_be_read_is_pointed_at_and_where_obvious_corrected(text: str, column: int, correction: str) -> None:
    with pytest.raises(InvalidRequirementText) as caught:
        parse_requirement(text, Origin(OWNER))
    assert (caught.value.column, caught.value.correction) == (column, correction)


def test_a_correction_leaves_an_address_alone() -> None:
    with pytest.raises(InvalidRequirementText) as caught:
        parse_requirement("foo @ https://127.0.0.1/x?v=1 ;", Origin(OWNER))
    assert caught.value.correction == "foo @ https://127.0.0.1/x?v=1"


def test_a_text_without_end_is_not_parsed_at_all() -> None:
    with pytest.raises(InvalidRequirementText) as caught:
        parse_requirement("a" + " " * 5000, Origin(OWNER))
    assert caught.value.message == "it is longer than 4096 characters"


@pytest.mark.parametrize(
    ("text", "canonical"), [(">=3.11, <3.14", "<3.14,>=3.11"), ("", ""), ("==3.11.*", "==3.11.*"), (" >=3", ">=3")]
)
def test_bounds_without_a_name_are_normalised(text: str, canonical: str) -> None:
    assert parse_specifier(text) == canonical


@pytest.mark.parametrize(
    ("text", "column", "correction"),
    [(">=3.6.*", 7, ">=3.6"), ("^3.9", 1, ">=3.9,<4"), (">=3.8<4", 6, ">=3.8,<4"), ("3.11", 1, ""), ("[a]", 1, "")],
)
def test_bounds_without_a_name_get_the_same_corrections(text: str, column: int, correction: str) -> None:
    """Case invalid-specifier-07, for what a plugin's author writes."""
    with pytest.raises(InvalidRequirementText) as caught:
        parse_specifier(text)
    error = caught.value
    assert (error.message, error.column, error.correction) == (
        "expected version bounds such as `>=3.11,<3.14`",
        column,
        correction,
    )


def test_a_problem_says_where_shows_a_caret_and_the_corrected_form() -> None:
    assert judged("fine", "h5py>=2.7<=2.10").problems == (
        Problem(
            "invalid-declaration",
            "`h5py>=2.7<=2.10` is not a requirement: "
            "expected comma (within version specifier), semicolon (after version specifier) or end\n"
            "| h5py>=2.7<=2.10\n"
            "|          ^",
            "plugin.yaml",
            3,
            14,
            "pip_dependencies[1]",
            "write `h5py>=2.7,<=2.10`",
        ),
    )


def test_a_fault_of_one_line_leaves_the_others() -> None:
    """Case markers-01."""
    result = judged("opencv>=4;", "demo-colors")
    assert ([r.canonical for r in result.requirements], len(result.problems)) == (["demo-colors"], 1)


def test_a_message_never_hides_a_control_character() -> None:
    """Case encoding-bom-crlf-05."""
    problem = the_problem("poppler\r-utils\x1b[2J")
    first, *shown = problem.message.splitlines()
    reason = "expected semicolon (after name with no version specifier) or end"
    assert first == f"`poppler\\r-utils\\x1b[2J` is not a requirement: {reason}"
    assert shown == ["| poppler\\r-utils\\x1b[2J", "|        ^"]


def test_blank_items_count_as_nothing_and_are_told() -> None:
    """Case empty-deps-03."""
    note = Problem(
        "invalid-declaration", "the item is blank, and is ignored", "plugin.yaml", 3, 10, "pip_dependencies[1]"
    )
    result = judged("requests>=2\n\n   \n", "  \n  ")
    assert ([r.canonical for r in result.requirements], result.problems, result.notes) == (["requests>=2"], (), (note,))


def test_the_same_said_twice_counts_once_at_its_first_place() -> None:
    result = judged("Demo.Colors >= 1", "demo-colors>=1", "demo-colors>=2")
    assert [(r.canonical, r.origin.line) for r in result.requirements] == [("demo-colors>=1", 2), ("demo-colors>=2", 4)]


def test_an_item_that_an_unquoted_comma_cut_off_is_named_with_its_other_half() -> None:
    """Case yaml-oddities-05."""
    written = [
        Written("foo>=1", "plugin.yaml", 1, 20, "pip_dependencies", 0),
        Written("<2", "plugin.yaml", 1, 27, "pip_dependencies", 1, "foo>=1"),
    ]
    problem = Problem(
        "invalid-declaration",
        "`<2` starts with an operator and names no package",
        "plugin.yaml",
        1,
        27,
        "pip_dependencies[1]",
        'quote the requirement: `"foo>=1,<2"`',
    )
    assert judge(written, READING).problems == (problem,)


def test_python_is_not_a_package() -> None:
    """Case empty-deps-01."""
    problem = Problem(
        "invalid-declaration",
        "`python` is not a package of an index",
        "plugin.yaml",
        2,
        5,
        "pip_dependencies[0]",
        'use `requires-python = ">=3.8"` in `[project]` of `pyproject.toml`',
    )
    assert the_problem("python>=3.8") == problem


@pytest.mark.parametrize(
    "text", ["-r other.txt", "--find-links deps", "--extra-index-url https://127.0.0.1/simple", "-c constraints.txt"]
)
def test_options_of_a_requirements_file_are_no_requirements(text: str) -> None:
    problem = the_problem(text)
    assert (problem.code, problem.message) == (
        "invalid-declaration",
        f"`{text}` is an option of a requirements file, not a requirement",
    )


@pytest.mark.parametrize(
    "text",
    [
        "./deps/x-1.0-py3-none-any.whl",
        "../shared",
        "/opt/x",
        "C:\\deps\\x.whl",
        "~/x",
        "file:.#egg=foo",  # case editable-path-05
        "git+https://git.example.invalid/x",
        "https://127.0.0.1/x.tar.gz",
        "-e .",
        "--editable=../x",
    ],
)
def test_a_bare_address_names_no_package(text: str) -> None:
    assert the_problem(text, takes_addresses=True).code == "direct-url"


@pytest.mark.parametrize(
    "url",
    [
        f"https://127.0.0.1/x-1.0-py3-none-any.whl#sha256={SHA}{SHA[:24]}",
        f"https://127.0.0.1/X-1.0-py3-none-any.whl?sig=a#egg=x&sha256={SHA}{SHA[:24]}",
    ],
)
def test_an_address_that_can_never_change_is_a_requirement_where_the_operator_allows_it(url: str) -> None:
    allowed = judged(f"x @ {url}", takes_addresses=True)
    assert ([r.url for r in allowed.requirements], allowed.problems) == ([url], ())
    assert the_problem(f"x @ {url}").code == "direct-url"


REPOSITORY = "points to a repository, which would have to be built"
NO_WHEEL = "points to something else than a wheel, which would have to be built"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("x @ git+https://git.example.invalid/x@main", REPOSITORY),  # case direct-url-git-05
        ("x @ git+https://git.example.invalid/x@v1.0", REPOSITORY),  # case direct-url-git-03
        (f"x @ git+https://git.example.invalid/x@{SHA}", REPOSITORY),
        (f"x @ git+ssh://git.example.invalid/x.git@{SHA}#subdirectory=py", REPOSITORY),
        ("x @ https://127.0.0.1/x.tar.gz", NO_WHEEL),
        (f"x @ https://127.0.0.1/x.tar.gz#sha256={SHA}{SHA[:24]}", NO_WHEEL),
        ("x @ https://127.0.0.1/x-1.0-py3-none-any.whl", "can change under the same address"),
        (f"x @ https://127.0.0.1/y-1.0-py3-none-any.whl#sha256={SHA}{SHA[:24]}", "points to a wheel of `y`"),
        ("bar @ file:./bar", "points to a file or folder"),  # case editable-path-01
        ("x @ file:///opt/x.whl", "points to a file or folder"),
        ("x @ ./deps/x.whl", "points to a file or folder"),
        ("x @ 1.0", "has an `@` before a version"),
    ],
)
def test_other_addresses_are_refused_even_then(text: str, fault: str) -> None:
    problem = the_problem(text, takes_addresses=True)
    assert (problem.code, problem.message) == ("direct-url", f"`{text}` {fault}")


def test_a_credential_in_an_address_is_refused_and_never_shown() -> None:
    problem = the_problem(f"x @ git+https://user:hunter2@git.example.invalid/x@{SHA}", takes_addresses=True)
    assert (problem.message, "hunter2" in repr(problem)) == (
        f"`x @ git+https://****@git.example.invalid/x@{SHA}` carries a credential",
        False,
    )


def test_a_credential_in_a_text_that_is_no_requirement_is_not_shown_either() -> None:
    problems = judged(
        "x y https://user:hunter2@127.0.0.1/", "x https://user:hunter2@127.0.0.1/ # c", ">=1 https://u:hunter2@h/"
    )
    assert "hunter2" not in repr(problems.problems)


def test_a_long_address_takes_no_long_time() -> None:
    address = f"http://{'a:' * 400_000}/x-1-py3-none-any.whl"
    ending = limited(lambda: [problem.code for problem in judged(address).problems])
    assert ending.told == "['direct-url']"


def test_another_copy_of_the_host_is_refused_even_by_commit() -> None:
    problem = the_problem(f"hermes-agent[voice] @ git+https://git.example.invalid/h@{SHA}", takes_addresses=True)
    assert (problem.code, problem.hint) == (
        "direct-url",
        "require a version of it: `hermes-agent>=…`, or `requires_hermes`",
    )
