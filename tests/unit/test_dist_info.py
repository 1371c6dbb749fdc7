"""What the folder of a distribution is called, and what its RECORD lists."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admission import canonical_name
from pm.dist_info import RecordLine, distribution_of, record_lines, record_text

LINES = [RecordLine("plain.py", "sha256=x", 3), RecordLine('a,"b".py', "", None), RecordLine("ü.py", "md5=y", 0)]

_FIELD = st.text(st.characters(blacklist_categories=("Cc", "Cs", "Zl", "Zp"), blacklist_characters='",'))


@pytest.mark.parametrize("name", ["demo", "Demo_Leaf", "zope.interface", "a--b__c..d", "X-1-y", ""])
def test_the_name_of_a_folder_is_normalised_as_names_in_locks_are(name: str) -> None:
    assert distribution_of(f"{name}-1.0.post1.dist-info") == (canonical_name(name), "1.0.post1")


def test_a_record_that_is_written_reads_as_the_same_lines() -> None:
    assert record_lines(record_text(LINES)) == LINES


def test_only_a_sha256_counts_as_one() -> None:
    assert [line.has_sha256 for line in LINES] == [True, False, False]


@pytest.mark.parametrize("text", ["a.py,sha256=x,large\n", 'a.py,"' + "x" * 200_000 + '",1\n'])
def test_a_text_that_is_no_record_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"large|field"):
        record_lines(text)


@given(st.lists(st.tuples(_FIELD, _FIELD, st.sampled_from(["", "0", "17"]))))
def test_a_record_without_quotes_reads_as_the_same_record_with_quotes(rows: list[tuple[str, str, str]]) -> None:
    plain = "".join(f"{path},{digest},{size}\n" for path, digest, size in rows)
    quoted = "".join(f'"{path}","{digest}",{size}\n' for path, digest, size in rows)
    assert record_lines(plain) == record_lines(quoted)
