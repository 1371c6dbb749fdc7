"""`VersionSets` selects what packaging's `contains` says, for every operator and spelling."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import Version

from admission.versions import VersionSets

_RELEASE = st.lists(st.integers(0, 2), min_size=1, max_size=3).map(lambda parts: ".".join(map(str, parts)))
_PUBLIC = st.builds(
    "{}{}{}{}{}".format,
    st.sampled_from(["", "", "", "1!"]),
    _RELEASE,
    st.sampled_from(["", "", "a0", "b1", "rc1"]),
    st.sampled_from(["", "", ".post1", ".post0"]),
    st.sampled_from(["", "", ".dev0", ".dev1"]),
)
_VERSION = st.builds("{}{}".format, _PUBLIC, st.sampled_from(["", "", "", "+l", "+1.a"]))
_PAGE = st.lists(_VERSION, min_size=1, max_size=12).map(
    lambda texts: tuple(str(version) for version in sorted({Version(text) for text in texts}))
)
_PART = st.one_of(
    st.builds("{}{}".format, st.sampled_from(["==", "!=", "==="]), _VERSION),
    st.builds("{}{}".format, st.sampled_from([">=", "<=", ">", "<", "~="]), _PUBLIC),
    st.builds("{}{}.*".format, st.sampled_from(["==", "!="]), _RELEASE),
)


def _readable(text: str) -> bool:
    try:
        SpecifierSet(text)
    except InvalidSpecifier:
        return False
    return True


_SPECIFIER = st.lists(_PART, min_size=1, max_size=3).map(",".join).filter(_readable)


@given(_PAGE, _SPECIFIER)
def test_a_specifier_selects_exactly_the_versions_it_contains(page: tuple[str, ...], text: str) -> None:
    specifier = SpecifierSet(text)
    expected = [version for version in page if specifier.contains(version, prereleases=True)]
    mask = VersionSets(page).select(text)
    assert [version for i, version in enumerate(page) if mask >> i & 1] == expected


@given(_PAGE)
def test_prereleases_are_those_that_packaging_calls_so(page: tuple[str, ...]) -> None:
    expected = [version for version in page if Version(version).is_prerelease]
    mask = VersionSets(page).prereleases()
    assert [version for i, version in enumerate(page) if mask >> i & 1] == expected
