"""Of the many files of a package one is left for each version, and every other version says why it is out."""

from __future__ import annotations

from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename

from admission import Exclusion
from fixtures.limited import limited
from fixtures.wheels import LINUX_311
from pm.index.fit import Fit
from pm.index.listed_files import ListedFile
from pm.index.reduction import Reduced, merge, reduce_files
from pm.index.simple_page import RawFile


def _wheel(filename: str, **details: object) -> RawFile:
    raw = {"filename": filename, "url": f"http://host.invalid/{filename}", "hashes": {"sha256": "AB" * 32}, **details}
    return cast("RawFile", raw)


def _reduced(*files: RawFile, name: str = "demo") -> Reduced:
    return reduce_files(name, files, Fit(LINUX_311))


def _chosen(reduced: Reduced) -> dict[str, str]:
    return {reduced.versions[position]: file.filename for position, file in sorted(reduced.files.items())}


def test_the_file_that_fits_the_target_best_is_chosen() -> None:
    reduced = _reduced(
        _wheel("demo-1.0-py3-none-any.whl"),
        _wheel("demo-1.0-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl"),
        _wheel("demo-1.0-cp311-cp311-win_amd64.whl"),
    )
    assert _chosen(reduced) == {"1.0": "demo-1.0-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl"}


@pytest.mark.parametrize("kind", ["tags", "bounds"])
def test_a_version_of_very_many_wheels_takes_no_long_time(kind: str) -> None:
    numbers = range(1000, 51_000)
    files = {
        "tags": (_wheel(f"demo-1-cp{number}-none-any.whl") for number in numbers),
        "bounds": (_wheel(f"demo-1-{n}-py3-none-any.whl", **{"requires-python": f">={n}"}) for n in numbers),
    }[kind]
    ending = limited(lambda: [exclusion.code for exclusion in _reduced(*files).excluded.values()])
    assert ending.told == repr(["no-wheel" if kind == "tags" else "python-version"])


def test_of_two_builds_the_higher_number_is_chosen() -> None:
    reduced = _reduced(
        _wheel("demo-1.0-9-py3-none-any.whl"),
        _wheel("demo-1.0-10-py3-none-any.whl"),
        _wheel("demo-1.0-py3-none-any.whl"),
    )
    assert _chosen(reduced) == {"1.0": "demo-1.0-10-py3-none-any.whl"}


def test_a_file_name_never_leads_out_of_a_folder() -> None:
    reduced = _reduced(
        _wheel("demo-1.0-1/../../../evil-py3-none-any.whl"),
        _wheel("../demo-1.0-py3-none-any.whl"),
        _wheel("demo-1.0/../x.tar.gz"),
    )
    assert (reduced.versions, len(reduced.unreadable)) == ((), 3)


def test_everything_that_is_known_of_the_chosen_file_is_kept() -> None:
    reduced = _reduced(
        _wheel(
            "demo-1.0-py3-none-any.whl",
            url="http://user:secret@host.invalid/demo-1.0-py3-none-any.whl",
            size=12,
            **{
                "upload-time": "2024-05-06T07:08:09.123456Z",
                "requires-python": ">=3.8",
                "core-metadata": {"sha256": "CD" * 32},
            },
        )
    )
    assert reduced == Reduced(
        versions=("1.0",),
        uploaded=("2024-05-06T07:08:09Z",),
        files={
            0: ListedFile(
                filename="demo-1.0-py3-none-any.whl",
                url="http://host.invalid/demo-1.0-py3-none-any.whl",
                sha256="ab" * 32,
                size=12,
                upload_time="2024-05-06T07:08:09.123456Z",
                requires_python=">=3.8",
                metadata="cd" * 32,
            )
        },
    )


def test_versions_are_in_the_order_of_pep_440_and_unreadable_ones_are_left_out() -> None:
    reduced = _reduced(
        _wheel("demo-1.10-py3-none-any.whl"),
        _wheel("demo-1.9-py3-none-any.whl"),
        _wheel("demo-2.0rc1-py3-none-any.whl"),
        _wheel("demo-1.0.post1-py3-none-any.whl"),
        _wheel("demo-not_a_version-py3-none-any.whl"),
        _wheel("other-3.0-py3-none-any.whl"),
        _wheel("demo-4.0.whl"),
        _wheel("demo-4.0-py3.whl"),
        _wheel("demo-4.0-build-py3-none-any.whl"),
        _wheel("demo-4.0.exe"),
    )
    assert reduced.versions == ("1.0.post1", "1.9", "1.10", "2.0rc1")


def test_spellings_of_one_version_are_one_version() -> None:
    reduced = _reduced(
        _wheel("demo-1.0.0-cp311-cp311-win_amd64.whl"),
        _wheel("demo-1.0-py3-none-any.whl"),
    )
    assert (reduced.versions, reduced.excluded, _chosen(reduced)) == (
        ("1.0",),
        {},
        {"1.0": "demo-1.0-py3-none-any.whl"},
    )


def test_a_version_without_a_wheel_for_the_target_says_which_wheels_exist() -> None:
    """Case no-wheel-for-platform-01."""
    reduced = _reduced(
        _wheel("demo-1.0-cp39-cp39-win_amd64.whl"),
        _wheel("demo-1.0-cp310-cp310-macosx_11_0_arm64.whl"),
        _wheel("demo-1.0.tar.gz"),
    )
    assert (reduced.excluded, reduced.consented) == (
        {0: Exclusion("no-wheel", "wheels are for cp39, cp310 on macosx_11_0_arm64, win_amd64")},
        {0: None},
    )


def test_a_version_that_exists_as_source_only_needs_a_consent() -> None:
    """Case no-wheel-for-platform-03."""
    reduced = _reduced(_wheel("demo-1.0.tar.gz"))
    assert (reduced.excluded, reduced.consented, _chosen(reduced)) == (
        {0: Exclusion("build-needs-consent", "only a source distribution exists")},
        {0: None},
        {"1.0": "demo-1.0.tar.gz"},
    )


def test_a_version_for_other_interpreters_says_so_whatever_its_tags() -> None:
    """Case requires-python-upper-bound-01."""
    reduced = _reduced(
        _wheel("demo-4.0-py3-none-any.whl", **{"requires-python": ">=3.8,<3.10"}),
        _wheel("demo-4.0-cp39-cp39-win_amd64.whl", **{"requires-python": ">=3.8,<3.10"}),
        _wheel("demo-4.0.tar.gz", **{"requires-python": ">=3.8,<3.10"}),
        _wheel("demo-3.3-py3-none-any.whl", **{"requires-python": ">=3.5"}),
    )
    assert (reduced.versions, reduced.excluded) == (("3.3", "4.0"), {1: Exclusion("python-version", ">=3.8,<3.10")})


@pytest.mark.parametrize("text", [">=3.6.*", "<=3.11.*", ">3.6.*", "not a specifier", ">=3.6<4", "=>3.6", "'>=3.6'"])
def test_a_requires_python_that_breaks_the_rules_still_lets_its_interpreters_in(text: str) -> None:
    """Case invalid-specifier-07."""
    reduced = _reduced(_wheel("demo-1.0-py3-none-any.whl", **{"requires-python": text}))
    assert reduced.excluded == {}


@pytest.mark.parametrize("text", [">=3.12.*", "<=3.10.*", ">3.11.*", "<3.9.*", ">=3.12<4"])
def test_a_requires_python_that_breaks_the_rules_still_shuts_others_out(text: str) -> None:
    reduced = _reduced(_wheel("demo-1.0-py3-none-any.whl", **{"requires-python": text}))
    assert reduced.excluded == {0: Exclusion("python-version", text)}


def test_a_yanked_file_is_not_used_where_another_one_is_usable() -> None:
    """Case yanked-03."""
    reduced = _reduced(
        _wheel("demo-1.0-cp311-cp311-manylinux_2_28_x86_64.whl", yanked="broken"),
        _wheel("demo-1.0-py3-none-any.whl"),
    )
    assert (reduced.excluded, _chosen(reduced)) == ({}, {"1.0": "demo-1.0-py3-none-any.whl"})


def test_a_file_that_cannot_be_used_keeps_its_yank() -> None:
    reduced = _reduced(
        _wheel("demo-1.0-py3-none-any.whl", yanked="loses data", **{"requires-python": "garbage!!"}),
        _wheel("demo-1.1-py3-none-any.whl", yanked="loses data", **{"requires-python": "garbage!!"}),
        _wheel("demo-1.1-cp311-none-any.whl", **{"requires-python": "garbage!!"}),
        _wheel("demo-1.2-1-py3-none-any.whl", yanked=True, url=7),
        _wheel("demo-1.2.0-py3-none-any.whl", url=7),
    )
    assert reduced.excluded == {0: Exclusion("yanked-only", "loses data")}
    assert [file.flaw != "" for file in reduced.files.values()] == [True] * 3


def test_what_one_source_has_and_cannot_be_used_gives_way_to_what_another_has() -> None:
    flawed = _reduced(_wheel("demo-1.0-cp311-cp311-manylinux_2_17_x86_64.whl", url=7))
    for other in (_wheel("demo-1.0-py3-none-any.whl"), _wheel("demo-1.0-py3-none-any.whl", yanked="loses data")):
        usable = _reduced(other)
        assert merge(flawed, usable, Fit(LINUX_311)) == merge(usable, flawed, Fit(LINUX_311)) == usable


def test_a_wheel_for_another_target_has_no_flaw_of_interest() -> None:
    reduced = _reduced(_wheel("demo-1.0-cp311-cp311-win_amd64.whl", **{"requires-python": "garbage!!"}))
    assert reduced.excluded == {0: Exclusion("no-wheel", "wheels are for cp311 on win_amd64")}


def test_a_version_whose_usable_files_are_all_yanked_is_out_with_the_reason() -> None:
    """Case yanked-01: its file stays known, for an exact pin."""
    reduced = _reduced(
        _wheel("demo-1.0-py3-none-any.whl", yanked="loses data"),
        _wheel("demo-1.1-py3-none-any.whl", yanked=True),
        _wheel("demo-1.1-cp311-cp311-win_amd64.whl"),
    )
    assert (reduced.excluded, _chosen(reduced)) == (
        {0: Exclusion("yanked-only", "loses data"), 1: Exclusion("yanked-only", "")},
        {"1.0": "demo-1.0-py3-none-any.whl", "1.1": "demo-1.1-py3-none-any.whl"},
    )


def test_the_digest_of_each_file_is_its_own_in_either_order() -> None:
    """Case hash-mismatch-03."""
    wheel = _wheel("demo-1.0-py3-none-any.whl", hashes={"sha256": "11" * 32})
    sdist = _wheel("demo-1.0.tar.gz", hashes={"sha256": "22" * 32})
    digests = [_reduced(*files).files[0].sha256 for files in ((wheel, sdist), (sdist, wheel))]
    assert digests == ["11" * 32, "11" * 32]


def test_of_a_folder_and_an_index_the_better_file_is_taken_and_the_folder_where_they_are_equal() -> None:
    fit = Fit(LINUX_311)
    of_index = reduce_files(
        "demo",
        [
            _wheel("demo-1.0-py3-none-any.whl"),
            _wheel("demo-2.0-py3-none-any.whl"),
            _wheel("demo-3.0-cp311-cp311-manylinux_2_17_x86_64.whl"),
            _wheel("demo-4.0-cp311-cp311-win_amd64.whl"),
        ],
        fit,
    )
    of_folder = reduce_files(
        "demo",
        [
            _wheel(name, local=f"/wheels/{name}", stamp="1-1")
            for name in (
                "demo-2.0-py3-none-any.whl",
                "demo-3.0-py3-none-any.whl",
                "demo-4.0-py3-none-any.whl",
                "demo-5.0-py3-none-any.whl",
            )
        ],
        fit,
    )
    merged = merge(of_index, of_folder, fit)
    assert (merged.versions, merged.excluded, [bool(merged.files[position].local) for position in range(5)]) == (
        ("1.0", "2.0", "3.0", "4.0", "5.0"),
        {},
        [False, True, False, True, True],
    )


_names = st.sampled_from(["demo", "Demo", "de_mo", "de.mo", "demo_x", ""])
_versions = st.sampled_from(["1.0", "1.0.0", "2!1.0", "1.0+local.1", "1_0", "2x", "1.0.dev1", ""])
_builds = st.sampled_from([[], ["1"], ["2x"], ["x"], [""], ["1", "2"]])
_tags = st.sampled_from(["py3-none-any", "py2.py3-none-any", "cp311-cp311-win_amd64", "py3-none", "py3"])


@given(_names, _versions, _builds, _tags)
def test_wheel_names_are_split_as_packaging_splits_them(name: str, version: str, build: list[str], tags: str) -> None:
    filename = f"{'-'.join([name, version, *build, tags])}.whl"
    assert _reduced(_wheel(filename)).versions == _versions_by_packaging(filename)


def _versions_by_packaging(filename: str) -> tuple[str, ...]:
    try:
        name, version, _, _ = parse_wheel_filename(filename)
    except InvalidWheelFilename:
        return ()
    return (str(version),) if name == canonicalize_name("demo") else ()
