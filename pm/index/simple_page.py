"""Read one page of an index, in its JSON form (PEP 691, PEP 700) or its HTML form (PEP 503), as raw files."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from typing import TypedDict, cast
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

ACCEPT = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.01"
_MAJOR = "1"
_TRUSTED_HASH = "sha256"


class NotAPage(ValueError):
    """What an index answered is neither form of a page."""


# One file as PEP 691 writes it; the other sources of files are brought into the same form.
RawFile = TypedDict(
    "RawFile",
    {
        "filename": str,
        "url": str,
        "hashes": dict[str, str],
        "requires-python": str | None,
        "size": int | None,
        "upload-time": str | None,
        "yanked": bool | str,
        "core-metadata": bool | dict[str, str],
        "dist-info-metadata": bool | dict[str, str],
        "local": str,
        "stamp": str,
    },
    total=False,
)


def read_page(content: bytes, content_type: str, address: str) -> list[RawFile]:
    """Return the files of a page; their addresses are made absolute against `address`.

    Raise `NotAPage` if it cannot be read.
    """
    is_json = "json" in content_type or ("html" not in content_type and content.lstrip()[:1] == b"{")
    files = _read_json(content) if is_json else _read_html(content)
    for file in files:
        if "://" not in file["url"]:
            file["url"] = urljoin(address, file["url"])
    return files


def _read_json(content: bytes) -> list[RawFile]:
    try:
        page = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise NotAPage("it is not JSON") from error
    if not isinstance(page, dict) or not isinstance(page.get("files"), list):
        raise NotAPage("it has no list `files`")
    meta = page.get("meta")
    _check_version(str(meta.get("api-version", "1.0")) if isinstance(meta, dict) else "1.0")
    files = page["files"]
    # One pass for the type of a name, since a page can hold ten thousand: what else is wrong is found where it is used.
    if not all(type(file) is dict and type(file.get("filename")) is str for file in files):
        raise NotAPage("an entry of its list `files` has no `filename`")
    return cast("list[RawFile]", files)


def _check_version(version: str) -> None:
    if version.partition(".")[0] != _MAJOR:
        raise NotAPage(f"its form has version {version}, and this manager reads version {_MAJOR}")


def _read_html(content: bytes) -> list[RawFile]:
    links = _Links()
    links.feed(content.decode("utf-8", errors="replace"))
    links.close()
    _check_version(links.version)
    return links.files


class _Links(HTMLParser):
    """Collects the anchors of a page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.files: list[RawFile] = []
        self.version = "1.0"
        self._base = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag == "base" and not self._base:
            self._base = values.get("href") or ""
        elif tag == "meta" and values.get("name") == "pypi:repository-version":
            self.version = values.get("content") or "1.0"
        elif tag == "a" and values.get("href"):
            self._add(values)

    def _add(self, values: dict[str, str | None]) -> None:
        address, fragment = urldefrag(urljoin(self._base, values["href"] or ""))
        algorithm, _, digest = fragment.partition("=")
        core_metadata = values.get("data-core-metadata", values.get("data-dist-info-metadata"))
        file: RawFile = {
            "filename": unquote(urlsplit(address).path.rpartition("/")[2]),
            "url": address,
            "hashes": {algorithm: digest} if digest else {},
            "requires-python": values.get("data-requires-python"),
            "yanked": (values["data-yanked"] or True) if "data-yanked" in values else False,
            "core-metadata": _announced(core_metadata),
        }
        if file["filename"]:
            self.files.append(file)


def _announced(value: str | None) -> bool | dict[str, str]:
    """`sha256=…` and `true` announce a metadata file, and `true` gives no hash for it."""
    algorithm, _, digest = (value or "").partition("=")
    return {algorithm: digest} if digest else algorithm == "true"


def sha256_of(file: RawFile) -> str:
    """Return the file's digest in lower case; empty where the index gives none."""
    hashes = file.get("hashes")
    digest = hashes.get(_TRUSTED_HASH) if isinstance(hashes, dict) else None
    return digest.lower() if isinstance(digest, str) else ""


def announced_metadata(file: RawFile) -> str:
    """Return the digest of the announced metadata file, `*` if it is announced without one, else an empty text."""
    value = file.get("core-metadata", file.get("dist-info-metadata"))
    if isinstance(value, dict):
        digest = value.get(_TRUSTED_HASH)
        return digest.lower() if isinstance(digest, str) else "*"
    return "*" if value is True else ""
