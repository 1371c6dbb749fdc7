"""Which indexes are asked for a name."""

import pytest

from pm.index.assignment import asked_for, assigned, matches
from pm.index.package_sources import IndexAddress

OURS = IndexAddress("ours", "https://ours.invalid/simple", None, ("acme-*", "tool"))
THEIRS = IndexAddress("theirs", "https://theirs.invalid/simple", None, ("acme-gpu",))
PUBLIC = IndexAddress("", "https://public.invalid/simple")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("acme-core", (OURS,)),
        ("Acme_Core", (OURS,)),
        ("acme-gpu", (OURS, THEIRS)),
        ("tool", (OURS,)),
        ("tools", (PUBLIC,)),
        ("acme", (PUBLIC,)),
        ("not-acme-core", (PUBLIC,)),
    ],
)
def test_a_name_with_a_pattern_comes_from_its_indexes_and_from_no_other(
    name: str, expected: tuple[IndexAddress, ...]
) -> None:
    assert asked_for(name, (PUBLIC, OURS, THEIRS)) == expected


def test_a_name_without_a_pattern_is_asked_of_none_where_all_have_patterns() -> None:
    assert asked_for("httpx", (OURS, THEIRS)) == ()


@pytest.mark.parametrize(
    ("pattern", "matching", "other"),
    [
        ("ACME_*", "acme-x", "acme"),
        ("acme.x", "acme-x", "acmedx"),
        ("acme?", "acme1", "acme"),
        ("*", "anything", ""),
        ("*" * 5000 + "b", "a" * 200 + "b", "a" * 200),
    ],
)
def test_a_pattern_is_spelled_as_names_are(pattern: str, matching: str, other: str) -> None:
    assert matches(matching, (pattern,))
    assert not other or not matches(other, (pattern,))


def test_an_index_is_the_same_however_its_patterns_are_ordered_and_spelled() -> None:
    other = OURS._replace(packages=("Tool", "acme_*"))
    assert assigned(OURS) == assigned(other) != assigned(OURS._replace(packages=()))
    assert assigned(PUBLIC) == PUBLIC.url
