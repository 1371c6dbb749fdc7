"""What an index, a page, metadata or a wheel has out of order makes that file or version unusable, and nothing else.

Whatever it is, it is named with its reason; it never ends in a traceback, takes long or fills the memory.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from admission import Candidate, Need
from fixtures.limited import limited
from fixtures.server import Fault, IndexServer, Shape
from fixtures.wheels import DEFAULT_RECIPE, LINUX_311, Distribution, read_recipe
from pm.errors import PmError
from pm.index import IndexOptions, Limits, open_index
from pm.index.fit import Fit
from pm.index.listings import Heard, Listing, listing_rows
from pm.index.package_sources import Sources, index_address
from pm.index.reduction import reduce_files
from pm.index.simple_page import read_page

_LIMITS = Limits(connect=2, read=2, total=8, transfer=8, attempts=2, pause=0.01, guesses=0, guessing=1)
_PAGE = "/simple/demo-colors/"
_MANY = "9" * 5000
_GIB = 1 << 30


@pytest.fixture
def server(tmp_path: Path) -> Iterator[IndexServer]:
    with IndexServer(tmp_path / "files", read_recipe(DEFAULT_RECIPE)) as running:
        yield running


def _candidates(tmp_path: Path, server: IndexServer, *wanted: tuple[str, str], folder: Path | None = None) -> list[str]:
    """Return why each candidate cannot be used, an empty text for one that can; and the warnings."""
    sources = Sources(indexes=(index_address(server.url),), folders=(folder,) if folder else ())
    with open_index(tmp_path / "cache", LINUX_311, sources, IndexOptions(limits=_LIMITS)) as index:
        facts = index.fetch(Need(candidates=wanted))
        assert all(name in facts.pages for name, _ in wanted)
        found = [facts.candidate(*one) for one in wanted]
        return [*(_reason(one) for one in found), *(notice.message for notice in index.warnings)]


def _reason(candidate: Candidate | None) -> str:
    return "unknown" if candidate is None else candidate.invalid


def _failure(tmp_path: Path, server: IndexServer) -> str:
    with pytest.raises(PmError) as caught:
        _candidates(tmp_path, server, ("demo-colors", "2.0"))
    return f"{caught.value.code}: {caught.value.message}"


def _entry(filename: str = "demo_colors-9.0-py3-none-any.whl", **details: object) -> dict[str, object]:
    file: dict[str, object] = {"filename": filename, "url": f"../../files/{filename}", "hashes": {"sha256": "ab" * 32}}
    return file | {name.replace("_", "-"): value for name, value in details.items()}


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        (_entry(requires_python=f">={_MANY}"), "has more than 200 digits"),
        (_entry(requires_python=f">={'9' * 500}"), "has more than 200 digits"),
        (_entry(requires_python="garbage!!"), "its `Requires-Python` `garbage!!` cannot be read"),
        (_entry(requires_python=3.8), "its `Requires-Python` `3.8` cannot be read"),
        (_entry(requires_python=["x"]), "cannot be read"),
        (_entry(url="http://[::1"), "its address `http://…` cannot be read"),
        (_entry(url="http://host:port/x.whl"), "its address `http://…` cannot be read"),
        (_entry(url="http:///x.whl"), "its address `http:///x.whl` cannot be asked for"),
        (_entry(url="ftp://host/x.whl"), "its address `ftp://host/x.whl` cannot be asked for"),
        (_entry(url="http://host/\nx.whl"), "cannot be asked for"),
        (_entry(url="http://host/" + "x" * 10_000), "its address has more than 8,192 characters"),
        (_entry(url=17), "it has no address"),
        (_entry(url=""), "it has no address"),
        (_entry(hashes={"sha256": "../../../evil"}), "its digest `../../../evil` is none"),
        (_entry(hashes={"sha256": 7}), "its digest `7` is none"),
    ],
    ids=range(15),
)
def test_one_file_that_a_page_describes_wrongly_is_unusable_and_named(
    tmp_path: Path, server: IndexServer, entry: dict[str, object], reason: str
) -> None:
    """Rows A5 and C5."""
    server.further["demo-colors"] = [entry]
    good, bad = _candidates(tmp_path, server, ("demo-colors", "2.0"), ("demo-colors", "9.0"))
    assert good == ""
    assert "`demo_colors-9.0-py3-none-any.whl` cannot be used: " in bad
    assert reason in bad


@pytest.mark.parametrize(
    "entry",
    [
        _entry(f"demo_colors-{_MANY}-py3-none-any.whl"),
        _entry(f"demo_colors-9.0-{_MANY}-py3-none-any.whl"),
        _entry(f"demo_colors-9.0-cp{_MANY}-none-any.whl"),
        _entry(f"demo_colors-{_MANY}.tar.gz"),
        _entry("demo_colors-9.0-py3-none-any./../../../evil.whl"),
        _entry("demo_colors-9.0-py3-none.\ud800-any.whl"),
        _entry("demo_colors-9.0-py3-none-any.whl\0"),
    ],
    ids=range(7),
)
def test_a_file_whose_name_can_be_none_is_left_out_and_named(
    tmp_path: Path, server: IndexServer, entry: dict[str, object]
) -> None:
    server.further["demo-colors"] = [entry]
    good, missing, warning = _candidates(tmp_path, server, ("demo-colors", "2.0"), ("demo-colors", "9.0"))
    assert (good, missing) == ("", "no source has this version")
    assert warning.startswith(
        "1 file offered for `demo-colors` cannot be used, because no name can be so: `demo_colors-"
    )


@pytest.mark.parametrize("entry", [17, None, [], {}, {"filename": 3}, {"filename": None, "url": "x"}])
def test_an_entry_that_is_no_file_is_left_out_and_named(tmp_path: Path, server: IndexServer, entry: object) -> None:
    server.further["demo-colors"] = [entry]
    good, warning = _candidates(tmp_path, server, ("demo-colors", "2.0"))
    assert (good, "an entry without a name" in warning) == ("", True)


def test_odd_sizes_and_times_of_a_file_are_passed_over(tmp_path: Path, server: IndexServer) -> None:
    further = {"size": -1, "upload-time": 7, "yanked": [], "core-metadata": {"sha256": "none"}}
    offer = next(offer for offer in server.offers if offer.path.name == "demo_colors-2.0-py3-none-any.whl")
    server.offers.remove(offer)
    whole = {"filename": offer.path.name, "url": "../../files/x.whl", "hashes": {"sha256": offer.sha256}}
    server.further["demo-colors"] = [whole | further | {"url": f"{server.url}/../files/{offer.path.name}"}]
    server.offers.append(offer._replace(distribution=offer.distribution._replace(name="elsewhere")))
    assert _candidates(tmp_path, server, ("demo-colors", "2.0")) == [""]


def test_a_size_of_thousands_of_digits_is_no_reason_to_read_nothing_of_a_page(
    tmp_path: Path, server: IndexServer
) -> None:
    page = server.page("demo-colors", as_json=True)
    assert page is not None
    page = page.replace(b'"size": ', b'"size": ' + b"9" * 5000, 1)
    server.faults = [_served(page, "application/json")]
    assert _candidates(tmp_path, server, ("demo-colors", "2.0"), ("demo-colors", "1.0")) == ["", ""]


def _served(content: bytes, content_type: str = "text/html", **headers: str) -> Fault:
    named = (("Content-Type", content_type), *((name.replace("_", "-"), value) for name, value in headers.items()))
    return Fault(_PAGE, "status", times=-1, status=200, headers=named, content=content)


_LOGIN = b"<!DOCTYPE html><html><head><title>Sign in</title></head><body><form method=post>%s</form></body></html>"


@pytest.mark.parametrize(
    ("content", "content_type"),
    [
        (_LOGIN % b"<input name=user>", "text/html"),
        (_LOGIN % b'<a href="/forgotten">Forgotten?</a><a href="../">back</a>', "text/html"),
        (b"", "text/html"),
        (b"", "application/json"),
        (b"<!DOCTYPE html><html><body><a href=demo_colors-2.0-py3-none-any.whl>", "application/json"),
        (b'{"files": [', "application/json"),
        (b'{"files": [{"filename": "x"},', "application/json"),
        (b"[" * 100_000, "application/json"),
        (b'{"a":' * 100_000, "application/json"),
        (b'{"files": [' + b"[" * 100_000, "application/json"),
        (b'{"files": 3}', "application/json"),
        (b'{"files": []} and more', "application/json"),
        (b'{"files" [], }', "application/json"),
        (b'{"files": [] "meta": {}}', "application/json"),
        (b"\xff\xfe\x00", "application/json"),
    ],
    ids=range(15),
)
def test_what_is_no_page_is_an_index_that_gave_no_answer(
    tmp_path: Path, server: IndexServer, content: bytes, content_type: str
) -> None:
    """Row C18: a login page, answered with 200, says nothing about a package."""
    server.faults = [_served(content, content_type)]
    told = _failure(tmp_path, server)
    assert told.startswith(f"index-unreachable: the index `{server.url}` gave no usable answer: it sent something else")


@pytest.mark.parametrize(
    "page",
    [
        b'<!DOCTYPE html><html><head><meta name="pypi:repository-version" content="1.0"></head><body></body></html>',
        b"<!DOCTYPE html><html><head><title>Links for demo-colors</title></head><body></body></html>",
        b'<html><head><title>Index of /simple/x/</title></head><body><a href="../">../</a></body></html>',
        b'{"meta": {"api-version": "1.0"}, "name": "demo-colors", "files": []}',
    ],
)
def test_a_page_without_files_is_one_if_it_says_so(tmp_path: Path, server: IndexServer, page: bytes) -> None:
    server.faults = [_served(page, "application/json" if page.startswith(b"{") else "text/html")]
    assert _candidates(tmp_path, server, ("demo-colors", "2.0")) == ["no source has this version"]


@pytest.mark.parametrize(
    "odd",
    [
        b"<![" * 10_000,
        b"<!" * 10_000,
        b"<a " * 10_000,
        b"<a '\"" * 10_000,
        b"<!-- " * 10_000 + b"-->",
        b"<script>" + b"<a href=demo_colors-9.0-py3-none-any.whl>" * 100 + b"</script>",
        b"<a href='http://[::1/demo_colors-1.5.tar.gz'>",
        b"&#" * 1000 + b"<a href='&#99999999999;'>",
        b"\xff\xed\xa0\x80\0",
    ],
    ids=range(9),
)
def test_odd_html_beside_the_links_changes_nothing(tmp_path: Path, server: IndexServer, odd: bytes) -> None:
    page = server.page("demo-colors", as_json=False)
    assert page is not None
    server.faults = [_served(page.replace(b"<body>", b"<body>" + odd))]
    wanted = (("demo-colors", "2.0"), ("demo-colors", "9.0"))
    ending = limited(lambda: _candidates(tmp_path, server, *wanted)[:2])
    assert ending == (0, repr(["", "no source has this version"]))


@pytest.mark.parametrize(
    "location",
    [
        "http://[bad",
        "http://host:port/",
        "//[",
        "ftp://host/",
    ],
    ids=range(4),
)
def test_a_redirect_to_what_is_no_address_is_an_index_that_gave_no_answer(
    tmp_path: Path, server: IndexServer, location: str
) -> None:
    server.faults = [Fault(_PAGE, "status", times=-1, status=302, headers=(("Location", location),))]
    assert _failure(tmp_path, server).startswith("index-unreachable: ")


@pytest.mark.parametrize("value", ["²", "9" * 5000, "-1", "Fri, 99 Jan 99999 00:00:00 GMT", "\x00", "soon"])
def test_a_time_to_come_back_that_is_none_is_passed_over(tmp_path: Path, server: IndexServer, value: str) -> None:
    server.faults = [Fault(_PAGE, "status", status=429, headers=(("Retry-After", value),))]
    assert _candidates(tmp_path, server, ("demo-colors", "2.0")) == [""]


# -- metadata


_HEAD = "Metadata-Version: 2.1\nName: odd\nVersion: 1.0\n"


@pytest.mark.parametrize(
    ("metadata", "reason"),
    [
        (_HEAD + f"Requires-Dist: x>={_MANY}\n", "has more than 4,096 characters"),
        (_HEAD + f"Requires-Dist: x>={_MANY[:500]}; os_name == 'posix'\n", "has more than 200 digits"),
        (_HEAD + f"Requires-Python: >={_MANY}\n", "`Requires-Python` has more than 1,000 characters"),
        (_HEAD + "Requires-Python: >=banana\n", "its `Requires-Python` `>=banana` cannot be read"),
        (_HEAD + "Requires-Dist: x; " + "(" * 1500 + "os_name=='x'" + ")" * 1500 + "\n", "cannot be read"),
        (_HEAD + "Requires-Dist: x\n" * 400_000, "has more than"),
        (_HEAD + "Provides-Extra: x\n" * 100_000, "its list of extras has more than 5,000 lines"),
        (_HEAD + "Requires-Dist: x" + ",".join([">=1"] * 2_000_000) + "\n", "has more than 4,194,304 bytes"),
        (_HEAD + "Requires-Dist: x" + ",".join([">=1"] * 500_000) + "\n", "has more than"),
        (_HEAD.replace("2.1", "²"), "its metadata cannot be read"),
        (_HEAD.replace("1.0", _MANY), "has more than 200 digits"),
        (_HEAD.replace("odd", "x" * 100_000), "its metadata says that it is `xxx"),
        ("", "its metadata has no `Name`"),
        ("\0" * 1_000_000, "its metadata has no `Name`"),
        ("Name: odd\n" + " x\n" * 1_000_000, "its metadata says that it is `odd"),
    ],
    ids=range(15),
)
@pytest.mark.parametrize("announced", [True, False])
def test_metadata_that_is_beyond_all_bounds_makes_its_version_unusable(
    tmp_path: Path, server: IndexServer, metadata: str, reason: str, *, announced: bool
) -> None:
    """Rows A5, A7 and C5."""
    server.shape = Shape(announces_metadata=announced)
    server.offer(Distribution("odd", "1.0", metadata=metadata))
    wanted = (("odd", "1.0"), ("demo-colors", "2.0"))
    ending = limited(lambda: _candidates(tmp_path, server, *wanted))
    assert ending.is_good, ending.told
    bad, good = eval(ending.told)  # noqa: S307 - what the call returned, written by `repr`
    assert (reason in bad, len(bad) < 400, good) == (True, True, "")


def test_the_longest_lists_of_requirements_that_are_read_are_read_in_time(tmp_path: Path, server: IndexServer) -> None:
    names = " or ".join(f"extra=='{number}'" for number in range(500))
    line = f"Requires-Dist: x>=1; ({names[:4000].rpartition(' or ')[0]})\n"
    server.offer(Distribution("odd", "1.0", metadata=_HEAD + line * (250_000 // len(line))))
    ending = limited(lambda: _candidates(tmp_path, server, ("odd", "1.0")))
    assert ending == (0, repr([""]))


# -- wheels


def _with_wheel(server: IndexServer, change: Callable[[bytes], bytes]) -> None:
    server.offer(Distribution("odd", "1.0"))
    path = next(offer.path for offer in server.offers if offer.distribution.name == "odd")
    path.write_bytes(change(path.read_bytes()))


def _broken_deflate(wheel: bytes) -> bytes:
    with zipfile.ZipFile(io.BytesIO(wheel)) as archive:
        member = archive.getinfo("odd-1.0.dist-info/METADATA")
    begin = member.header_offset + 30 + len(member.filename)
    return wheel[:begin] + b"\xff" * member.compress_size + wheel[begin + member.compress_size :]


def _names_that_are_no_utf8(wheel: bytes) -> bytes:
    begin = wheel.index(b"PK\x01\x02")
    flags = (int.from_bytes(wheel[begin + 8 : begin + 10], "little") | 0x800).to_bytes(2, "little")
    head = wheel[:begin] + wheel[begin : begin + 8] + flags + wheel[begin + 10 :]
    return head.replace(b"odd.py", b"\xff\xfe\xfd.py")


def _of_other_compression(wheel: bytes, kind: int) -> bytes:
    """Return the wheel in another way of packing, with a very long description."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(wheel)) as archive, zipfile.ZipFile(target, "w", kind) as other:
        for member in archive.infolist():
            further = bytes(100 << 20) if member.filename.endswith("METADATA") else b""
            other.writestr(member.filename, archive.read(member) + further)
    return target.getvalue()


def _bomb(_: bytes) -> bytes:
    """Return the wheel with a `METADATA` of 1.5 GiB in 1.5 MB, of which the directory says that it has 100 bytes."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    begin = packer.compress(b"Name: odd\nVersion: 1.0\n\n") + packer.flush(zlib.Z_FULL_FLUSH)
    piece = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    packed = begin + piece * 1536 + packer.flush()
    name = b"odd-1.0.dist-info/METADATA"
    sizes = (0).to_bytes(4, "little") + len(packed).to_bytes(4, "little") + (100).to_bytes(4, "little")
    local = b"PK\x03\x04\x14\0\0\0\x08\0\0\0\0\0" + sizes + len(name).to_bytes(2, "little") + b"\0\0" + name
    central = b"PK\x01\x02\x14\0\x14\0\0\0\x08\0\0\0\0\0" + sizes + len(name).to_bytes(2, "little") + bytes(16) + name
    place = len(local) + len(packed)
    counts = (1).to_bytes(2, "little") * 2
    end = b"PK\x05\x06\0\0\0\0" + counts + len(central).to_bytes(4, "little") + place.to_bytes(4, "little") + b"\0\0"
    return local + packed + central + end


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (_broken_deflate, "it is not a readable wheel"),
        (_names_that_are_no_utf8, "it is not a readable wheel"),
        (lambda wheel: _of_other_compression(wheel, zipfile.ZIP_LZMA), "`METADATA` has more than 4,194,304 bytes"),
        (lambda wheel: _of_other_compression(wheel, zipfile.ZIP_BZIP2), "`METADATA` has more than 4,194,304 bytes"),
        (_bomb, "not a readable wheel|has more than 4,194,304 bytes"),
        (lambda wheel: wheel[:100], "it is not a readable wheel"),
        (lambda wheel: wheel.replace(b"PK\x01\x02", b"PK\x01\x03"), "it is not a readable wheel"),
        (lambda wheel: wheel[:-10] + b"\xff" * 10, "it is not a readable wheel"),
        (lambda _: b"", "it is not a readable wheel"),
    ],
    ids=["deflate", "utf8", "lzma", "bzip2", "bomb", "cut", "directory", "end", "empty"],
)
@pytest.mark.parametrize("ranges", [True, False])
def test_a_wheel_that_cannot_be_read_makes_its_version_unusable(
    tmp_path: Path, server: IndexServer, change: Callable[[bytes], bytes], reason: str, *, ranges: bool
) -> None:
    """Rows A5 and A6."""
    server.shape = Shape(ranges=ranges, serves_metadata=False)
    _with_wheel(server, change)
    ending = limited(lambda: _candidates(tmp_path, server, ("odd", "1.0"), ("demo-colors", "2.0")))
    assert ending.is_good, ending.told
    bad, good = eval(ending.told)  # noqa: S307 - what the call returned, written by `repr`
    assert (any(one in bad for one in reason.split("|")), good) == (True, ""), bad


@pytest.mark.parametrize("change", [_broken_deflate, _names_that_are_no_utf8, _bomb, lambda _: b""])
def test_a_wheel_in_a_folder_that_cannot_be_read_makes_its_version_unusable(
    tmp_path: Path, server: IndexServer, change: Callable[[bytes], bytes]
) -> None:
    _with_wheel(server, change)
    offer = next(offer for offer in server.offers if offer.distribution.name == "odd")
    server.offers.remove(offer)
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / offer.path.name).write_bytes(offer.content)
    (folder / f"odd-{'9' * 200}-py3-none-any.whl").write_bytes(b"")
    (folder / "odd-2.0-py3-none-any.whl").symlink_to("nowhere")
    (folder / "odd-3.0-py3-none-any.whl").mkdir()
    ending = limited(lambda: _candidates(tmp_path, server, ("odd", "1.0"), ("demo-colors", "2.0"), folder=folder))
    assert ending.is_good, ending.told
    bad, good = eval(ending.told)  # noqa: S307 - what the call returned, written by `repr`
    assert ("readable wheel" in bad or "has more than" in bad, good) == (True, ""), bad


@pytest.mark.parametrize(
    "content_range",
    [
        f"bytes 0-{3 * _GIB}/{4 * _GIB}",
        "bytes 0-9/10",
        "bytes 9-0/400",
        f"bytes 0-{_MANY}/{_MANY}",
        "bytes ²-3/4",
        "bytes 100-110/*",
        "",
    ],
)
def test_a_part_with_another_range_than_asked_for_leads_to_the_whole_file(
    tmp_path: Path, server: IndexServer, content_range: str
) -> None:
    """Rows A5 and A6: a part is as long as it was asked for, whatever its head says."""
    part = Fault("*demo_colors-2.0*", "status", status=206, headers=(("Content-Range", content_range),), content=b"x")
    server.shape = Shape(json=False)
    server.faults = [part]
    ending = limited(lambda: _candidates(tmp_path, server, ("demo-colors", "2.0")))
    assert ending == (0, repr([""]))


@pytest.mark.parametrize("depth", [1, 2])
def test_a_body_that_inflates_without_end_is_an_index_that_gave_no_answer(
    tmp_path: Path, server: IndexServer, depth: int
) -> None:
    """Row A6."""
    packed = gzip.compress(gzip.compress(bytes(1 << 20)) * 1536)
    content = packed if depth == 2 else gzip.decompress(packed)
    server.faults = [_served(content, "application/json", Content_Encoding=", ".join(["gzip"] * depth))]
    ending = limited(lambda: _failure(tmp_path, server))
    assert ending.is_good, ending.told
    assert "index-unreachable: " in ending.told
    assert "it has more than 134,217,728 bytes" in ending.told


def test_an_address_of_a_metadata_file_keeps_its_query_behind_the_path(tmp_path: Path, server: IndexServer) -> None:
    """Row G5: as uv asks for it."""
    server.shape = Shape(announces_metadata=True)
    page = server.page("demo-colors", as_json=True)
    assert page is not None
    value = json.loads(page)
    for file in value["files"]:
        file["url"] += "?sig=abc"
    server.faults = [_served(json.dumps(value).encode(), "application/json")]
    assert _candidates(tmp_path, server, ("demo-colors", "2.0")) == [""]
    assert server.paths("/files/*") == ["/files/demo_colors-2.0-py3-none-any.whl.metadata?sig=abc"]


_TAGS = (
    "py3-none-any",
    "cp312-cp312-win_amd64",
    "cp310-cp310-macosx_11_0_arm64",
    "cp39-cp39-linux_x86_64",
    "cp38-cp38-win32",
)


def _long_page(count: int, tags: tuple[str, ...]) -> Iterator[dict[str, object]]:
    """Yield the files of a page, each with everything that a real page says of one."""
    for number in range(count):
        version, tag = number // len(tags), tags[number % len(tags)]
        name = f"big-{version // 1000}.{version % 1000}-{tag}.whl"
        digest = hashlib.sha256(name.encode()).hexdigest()
        yield {
            "filename": name,
            "url": f"../../packages/{digest[:2]}/{digest[2:]}/{name}",
            "hashes": {"sha256": digest},
            "requires-python": ">=3.8",
            "size": 1000 + number,
            "upload-time": f"2024-01-{number % 28 + 1:02}T{number % 24:02}:00:00.{number:06}Z",
            "core-metadata": {"sha256": digest[::-1]},
        }


def _anchor(file: dict[str, object]) -> str:
    digest = hashlib.sha256(str(file["filename"]).encode()).hexdigest()
    address = f"{file['url']}#sha256={digest}"
    return f'<a href="{address}" data-requires-python="&gt;=3.8">{file["filename"]}</a><br>'


@pytest.mark.parametrize("count", [20_000, pytest.param(200_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("form", ["json", "html"])
@pytest.mark.parametrize("tags", [_TAGS[:1], _TAGS], ids=["pure", "compiled"])
def test_a_page_of_very_many_files_is_read_in_pieces(
    tmp_path: Path, count: int, form: str, tags: tuple[str, ...]
) -> None:
    """Row G12: of five files of a version four may be for other targets, as on a page of compiled wheels."""
    page = tmp_path / "page"
    with page.open("w") as text:
        if form == "json":
            json.dump({"meta": {"api-version": "1.0"}, "files": list(_long_page(count, tags))}, text)
        else:
            text.writelines(map(_anchor, _long_page(count, tags)))

    def read() -> bool:
        with page.open("rb") as content:
            address = "http://host.invalid/simple/big/"
            reduced = reduce_files("big", read_page(content, form), Fit(LINUX_311), address)
        kept = listing_rows(Listing(Heard(), reduced, reduced)).listing.reduced
        return kept.files[len(kept.versions) - 1].url.startswith("http://host.invalid/packages/")

    memory = 60 if count < 100_000 else 300
    assert limited(read, seconds=120, memory=memory << 20) == (0, "True")
