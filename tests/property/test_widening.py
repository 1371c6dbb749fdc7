"""A widened specifier accepts the version, all that was accepted before, and asks for no pre-releases of its own."""

from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import InvalidSpecifier, Specifier, SpecifierSet
from packaging.version import Version

from admission.widening import widened

_RELEASE = st.lists(st.integers(0, 3), min_size=1, max_size=3).map(lambda parts: ".".join(map(str, parts)))
_PUBLIC = st.builds(
    "{}{}{}{}{}".format,
    st.sampled_from(["", "", "", "1!"]),
    _RELEASE,
    st.sampled_from(["", "", "a0", "b1", "rc1"]),
    st.sampled_from(["", "", ".post1", ".post0"]),
    st.sampled_from(["", "", ".dev0", ".dev1"]),
)
_VERSION = st.builds("{}{}".format, _PUBLIC, st.sampled_from(["", "", "", "+l", "+1.a"]))
_PART = st.one_of(
    st.builds("{}{}".format, st.sampled_from(["==", "!=", "==="]), _VERSION),
    st.builds("{}{}".format, st.sampled_from([">=", "<=", ">", "<", "~=", "< ", ">= "]), _PUBLIC),
    st.builds("{}{}.*".format, st.sampled_from(["==", "!="]), _RELEASE),
)


def _is_readable(text: str) -> bool:
    try:
        SpecifierSet(text)
    except InvalidSpecifier:
        return False
    return True


_SPECIFIER = (
    st.tuples(st.lists(_PART, min_size=1, max_size=3), st.sampled_from([",", ", "]))
    .map(lambda pair: pair[1].join(pair[0]))
    .filter(_is_readable)
)


def _accepts(specifier: str, version: str) -> bool:
    return SpecifierSet(specifier).contains(version, prereleases=True)


def _comes_before_a_series(specifier: str, version: str) -> bool:
    """Return whether a version is a pre-release of the first release of a series that the specifier names."""
    parts = [Specifier(text.strip()) for text in specifier.split(",")]
    firsts = [Version(part.version[:-2]) for part in parts if part.operator == "==" and part.version.endswith(".*")]
    return any(Version(version) < first for first in firsts)


@given(_SPECIFIER, _VERSION)
def test_it_accepts_the_version(specifier: str, version: str) -> None:
    assert _accepts(widened(specifier, version), version)


@given(_SPECIFIER, _VERSION, st.lists(_VERSION, min_size=1, max_size=12))
def test_it_accepts_all_that_was_accepted_before(specifier: str, version: str, others: list[str]) -> None:
    wider = widened(specifier, version)
    before = [v for v in others if _accepts(specifier, v) and not _comes_before_a_series(specifier, v)]
    assert [v for v in before if not _accepts(wider, v)] == []


@given(_SPECIFIER, _VERSION)
def test_it_asks_for_prereleases_only_if_it_did_before_or_the_version_is_one(specifier: str, version: str) -> None:
    asks = SpecifierSet(widened(specifier, version)).prereleases
    assert not asks or SpecifierSet(specifier).prereleases or Version(version).is_prerelease


@given(_SPECIFIER, _VERSION)
def test_what_accepts_the_version_already_stays_as_it_is_written(specifier: str, version: str) -> None:
    wider = widened(specifier, version)
    assert widened(wider, version) == wider
