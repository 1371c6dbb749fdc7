"""The fast way to read a requirement agrees with packaging on everything that it reads."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st
from packaging.requirements import InvalidRequirement
from packaging.requirements import Requirement as Parsed

from admission import InvalidRequirementText, Origin, Owner, canonical_name, parse_requirement
from admission.requirement import _PLAIN

NOWHERE = Origin(Owner("plugin", "p"))
NAMES = st.from_regex(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,6}[A-Za-z0-9])?", fullmatch=True)
VERSIONS = st.from_regex(r"[0-9]{1,3}(\.[0-9]{1,3}){0,3}", fullmatch=True)
BOUNDS = st.tuples(st.sampled_from(["==", ">=", "<=", "!=", "~=", "<", ">", "===", "="]), VERSIONS).map("".join)


def plain_texts() -> st.SearchStrategy[str]:
    """Texts near the plain form: most are inside of it, some just outside."""
    extras = st.lists(NAMES, max_size=3).map(lambda names: f"[{','.join(names)}]" if names else "")
    joined = st.tuples(st.lists(BOUNDS, max_size=3), st.sampled_from([",", ",", ",", "", ", "]))
    return st.tuples(
        NAMES, extras, joined.map(lambda pair: pair[1].join(pair[0])), st.sampled_from(["", "", ",", " "])
    ).map("".join)


def by_packaging(text: str) -> tuple[str, str, tuple[str, ...], str, str] | None:
    """Return what packaging reads."""
    try:
        parsed = Parsed(text)
    except InvalidRequirement:
        return None
    extras = tuple(sorted({canonical_name(extra) for extra in parsed.extras}))
    return canonical_name(parsed.name), str(parsed.specifier), extras, str(parsed.marker or ""), parsed.url or ""


def by_us(text: str) -> tuple[str, str, tuple[str, ...], str, str] | None:
    """Return what we read."""
    try:
        requirement = parse_requirement(text, NOWHERE)
    except InvalidRequirementText:
        return None
    return requirement.name, requirement.specifier, requirement.extras, requirement.marker, requirement.url


def fault_of(text: str) -> InvalidRequirementText | None:
    """Return what is said against a text."""
    try:
        parse_requirement(text, NOWHERE)
    except InvalidRequirementText as error:
        return error
    return None


@given(plain_texts())
@example("h5py>=2.7<=2.10")
@example("a~=1")
@example("a==1.0,==1.0")
@example("a>=1.0,")
@example("a[b]~=1.0")
@example("a_")
def test_both_ways_agree(text: str) -> None:
    assert by_us(text) == by_packaging(text)


@given(st.text(max_size=20))
def test_both_ways_agree_on_any_text(text: str) -> None:
    assert by_us(text) == by_packaging(text)


@given(st.from_regex(_PLAIN, fullmatch=True))
def test_both_ways_agree_on_all_that_the_fast_one_matches(text: str) -> None:
    assert by_us(text) == by_packaging(text)


@given(plain_texts())
def test_the_canonical_form_reads_back_to_itself(text: str) -> None:
    read = by_us(text)
    if read is not None:
        canonical = parse_requirement(text, NOWHERE).canonical
        assert parse_requirement(canonical, NOWHERE).canonical == canonical


@given(st.text(alphabet="ab1.0 ,;<>=!~*[]()@#^'\"-\t\n\ufeff≥", min_size=1, max_size=24))
def test_a_correction_is_always_a_requirement_and_another_text(text: str) -> None:
    error = fault_of(text)
    if error is not None and error.correction:
        assert error.correction != text
        assert by_packaging(error.correction) is not None


@given(st.text(max_size=24))
def test_a_column_lies_in_the_text_or_right_behind_it(text: str) -> None:
    error = fault_of(text)
    assert error is None or 0 <= error.column <= len(text) + 1


def test_most_of_the_texts_above_take_the_fast_way() -> None:
    assert _PLAIN.fullmatch("demo-colors[a,b]>=1.0,<2.0") is not None
