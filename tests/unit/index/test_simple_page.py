"""A page of an index is read in its JSON form and in its HTML form, to the same raw files."""

from __future__ import annotations

import io
import json

import pytest

from fixtures.limited import limited
from pm.index.simple_page import NotAPage, RawFile, announced_metadata, read_page, sha256_of


def _read(content: bytes, content_type: str) -> list[RawFile]:
    return list(read_page(io.BytesIO(content), content_type))


def test_the_json_form_is_read() -> None:
    file = {
        "filename": "demo-1.0-py3-none-any.whl",
        "url": "../../files/demo-1.0-py3-none-any.whl",
        "hashes": {"sha256": "AB"},
        "yanked": "broken",
    }
    page = {"meta": {"api-version": "1.3"}, "name": "demo", "files": [file]}
    files = _read(json.dumps(page).encode(), "application/vnd.pypi.simple.v1+json")
    assert files == [file]


def test_the_html_form_is_read_to_the_same_files() -> None:
    page = """<!DOCTYPE html><html><head><meta name="pypi:repository-version" content="1.1">
    <base href="https://files.invalid/all/"></head><body>
    <a href="demo-1.0%2Blocal-py3-none-any.whl#sha256=ab" data-requires-python="&gt;=3.8" data-yanked="broken"
       data-core-metadata="sha256=cd">demo</a>
    <a href="/demo-2.0.tar.gz" data-yanked>demo</a> <a href="demo-3.0.zip" data-dist-info-metadata="true">demo</a>
    <a>no address</a> <a href="../">up</a></body></html>"""
    files = _read(page.encode(), "text/html")
    assert files == [
        {
            "filename": "demo-1.0+local-py3-none-any.whl",
            "url": "https://files.invalid/all/demo-1.0%2Blocal-py3-none-any.whl",
            "hashes": {"sha256": "ab"},
            "requires-python": ">=3.8",
            "yanked": "broken",
            "core-metadata": {"sha256": "cd"},
        },
        {
            "filename": "demo-2.0.tar.gz",
            "url": "https://files.invalid/demo-2.0.tar.gz",
            "hashes": {},
            "requires-python": None,
            "yanked": True,
            "core-metadata": False,
        },
        {
            "filename": "demo-3.0.zip",
            "url": "https://files.invalid/all/demo-3.0.zip",
            "hashes": {},
            "requires-python": None,
            "yanked": False,
            "core-metadata": True,
        },
    ]


@pytest.mark.parametrize(
    ("content", "content_type"),
    [
        (b"<html>maintenance</html>", "application/json"),
        (b"[]", "application/json"),
        (b'{"files": 3}', "application/json"),
        (b'{"files": [{"url": "x"}]}', "application/json"),
        (b'{"files": [], "meta": {"api-version": "2.0"}}', "application/vnd.pypi.simple.v1+json"),
        (b'<meta name="pypi:repository-version" content="2.0">', "text/html"),
    ],
)
def test_what_is_no_page_is_said_to_be_none(content: bytes, content_type: str) -> None:
    with pytest.raises(NotAPage):
        _read(content, content_type)


def test_much_that_is_hidden_takes_no_long_time() -> None:
    hidden = b"<!-- --><script></SCRIPT><STYLE></style>" * 25_000
    page = b"<!-- \xc4\xb0 -->" + hidden + b'<a href="x-1.whl">x</a>'
    assert limited(lambda: [file["filename"] for file in _read(page, "text/html")]).told == "['x-1.whl']"


def test_a_base_that_is_no_address_makes_no_page() -> None:
    page = b"<base href='http://a.invalid/" + b"b/" * 500_000 + b"'>" + b"<a href='x-1.whl'>" * 20_000
    with pytest.raises(NotAPage, match="its base has more than 8,192 characters"):
        _read(page, "text/html")


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ({"core-metadata": {"sha256": "AB" * 32}}, "ab" * 32),
        ({"dist-info-metadata": {"sha256": "cd" * 32}}, "cd" * 32),
        ({"core-metadata": {"sha256": "none"}}, ""),
        ({"core-metadata": True}, "*"),
        ({"core-metadata": {"md5": "ab"}}, "*"),
        ({"core-metadata": False}, ""),
        ({}, ""),
    ],
)
def test_a_metadata_file_is_announced_with_or_without_a_digest(file: RawFile, expected: str) -> None:
    assert announced_metadata(file) == expected


@pytest.mark.parametrize(("hashes", "expected"), [({"sha256": "AB" * 32}, "ab" * 32), ({"md5": "ab"}, ""), (None, "")])
def test_only_a_sha256_counts_as_digest(hashes: dict[str, str], expected: str) -> None:
    assert sha256_of({"filename": "demo", "hashes": hashes}) == expected
