"""Read one page of an index, in its JSON form (PEP 691, PEP 700) or its HTML form (PEP 503), as raw files.

A page can have a hundred megabytes: it is read from its file in pieces, and what is no file of interest is forgotten at
once. HTML is searched for its anchors instead of being parsed: that takes a tenth of the time, and cannot fail.
"""

from __future__ import annotations

import codecs
import html
import json
import re
from collections.abc import Iterator
from typing import IO, TypedDict, cast
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

from pm.index.foreign import Unreadable, boundary, brief
from pm.limits import ADDRESS_LENGTH

ACCEPT = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.01"
_MAJOR = "1"
_TRUSTED_HASH = "sha256"
_DIGEST = re.compile(r"[0-9a-f]{64}")
_PIECE = 1 << 20


class NotAPage(Unreadable):
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


def read_page(content: IO[bytes], content_type: str) -> Iterator[RawFile]:
    """Yield the files of a page, their addresses as they are written; an entry that is none has no `filename`.

    Raise `NotAPage` if it cannot be read, perhaps after some files.
    """
    begin = content.read(_PIECE)
    content.seek(0)
    is_json = "json" in content_type or ("html" not in content_type and begin.lstrip()[:1] == b"{")
    encoding = json.detect_encoding(begin[:4]) if is_json else "utf-8"
    with boundary("it cannot be parsed"):
        text = _Text(content, encoding)
        yield from _files_of_json(text) if is_json else _files_of_html(text)


class _Text:
    """The text of a page, of which only a part is here."""

    def __init__(self, content: IO[bytes], encoding: str) -> None:
        self._content = content
        self._decode = codecs.getincrementaldecoder(encoding)(errors="replace").decode
        self.part = ""
        self.is_whole = False
        """Whether nothing comes after the part that is here."""

    def go_on(self, position: int) -> None:
        """Forget what stands before a position and add as much as is left, at least a piece: so it can be grown."""
        rest = self.part[position:]
        content = self._content.read(max(_PIECE, len(rest)))
        self.is_whole = not content
        self.part = rest + self._decode(content, self.is_whole)


# -- the JSON form


def _number(digits: str) -> int | None:
    return int(digits) if len(digits) < _LONGEST_NUMBER else None


_LONGEST_NUMBER = 20
_scan = json.JSONDecoder(parse_int=_number).scan_once  # type: ignore[attr-defined] # what `raw_decode` itself calls
_LONGEST_VALUE = 32 * 1024 * 1024
"""Characters that one value may take before it counts as broken; the longest real one is the list of versions."""
_COMMA = re.compile(r"[ \t\n\r]*,[ \t\n\r]*")
_BLANKS = re.compile(r"[ \t\n\r\ufeff]*")


def _files_of_json(text: _Text) -> Iterator[RawFile]:
    """Yield the entries of the list `files`; check all the rest when it has come."""
    version, has_files = "1.0", False
    cursor = _Cursor(text)
    cursor.expect("{")
    while cursor.has_next("}"):
        key = cursor.value()
        cursor.expect(":")
        if key == "files" and cursor.peek() == "[":
            has_files = True
            yield from _entries(cursor)
            continue
        value = cursor.value()
        if key == "meta" and isinstance(value, dict):
            version = str(value.get("api-version", "1.0"))
    if cursor.peek():
        raise NotAPage("it is not JSON")
    if not has_files:
        raise NotAPage("it has no list `files`")
    _check_version(version)


def _entries(cursor: _Cursor) -> Iterator[RawFile]:
    readable = unreadable = 0
    cursor.expect("[")
    while cursor.has_next("]"):
        entry = cursor.value()
        if type(entry) is dict and type(entry.get("filename")) is str:
            readable += 1
            yield cast("RawFile", entry)
        else:
            unreadable += 1
    if unreadable and not readable:
        raise NotAPage("an entry of its list `files` has no `filename`")
    if unreadable:
        yield {"filename": ""}


class _Cursor:
    """A place in the JSON text of a page."""

    def __init__(self, text: _Text) -> None:
        self._text = text
        self._position = 0
        self._is_first = True

    def peek(self) -> str:
        """Return the next character that is not blank; an empty text at the end."""
        while True:
            match = _BLANKS.match(self._text.part, self._position)
            self._position = match.end() if match else self._position
            if self._position < len(self._text.part):
                return self._text.part[self._position]
            if self._text.is_whole:
                return ""
            self._go_on()

    def expect(self, character: str) -> None:
        """Go behind a character that must come next."""
        if self.peek() != character:
            raise NotAPage("it is not JSON")
        self._position += 1
        self._is_first = character != ":"

    def has_next(self, end: str) -> bool:
        """Say whether another member comes in a list or an object, and go to it; else go behind its end."""
        match = None if self._is_first else _COMMA.match(self._text.part, self._position)
        if match is not None and match.end() < len(self._text.part):  # nearly always
            self._position = match.end()
            return True
        found = self.peek()
        if found == end:
            self._position += 1
        elif not self._is_first:
            if found != ",":
                raise NotAPage("it is not JSON")
            self._position += 1
        self._is_first = False
        return found != end

    def value(self) -> object:
        """Return the next value and go behind it."""
        while True:
            try:
                value, end = _scan(self._text.part, self._position)
            except (StopIteration, ValueError) as error:  # it may only be cut, or stand behind blanks
                before = self._position
                self.peek()
                if self._position != before:
                    continue
                if self._text.is_whole or len(self._text.part) - self._position > _LONGEST_VALUE:
                    raise NotAPage("it is not JSON") from error
            else:
                if end < len(self._text.part) or self._text.is_whole:
                    self._position = end
                    return cast("object", value)
            self._go_on()

    def _go_on(self) -> None:
        self._text.go_on(self._position)
        self._position = 0


def _check_version(version: str) -> None:
    if version.partition(".")[0] != _MAJOR:
        raise NotAPage(f"its form has version {brief(version)}, and this manager reads version {_MAJOR}")


# -- the HTML form

_TAG = re.compile(
    r"""<(?:(?P<hidden>!--|script\b|style\b)|(?P<name>a|base|meta)\b(?P<rest>(?:[^<>"']++|"[^"]*+"|'[^']*+')*+)>)""",
    re.IGNORECASE,
)
_ATTRIBUTE = re.compile(r"""([^\s=>"'/]++)(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s>"']++)))?+""")
_ENDS = {
    "!--": re.compile("-->"),
    "script": re.compile("</script", re.IGNORECASE),
    "style": re.compile("</style", re.IGNORECASE),
}
_LONGEST_END = len("</script")
_LONGEST_TAG = 1 << 16
_TITLE = re.compile(r"<(?:title|h1)[^<>]*>\s*(?:links for|simple index|index of|directory listing)", re.IGNORECASE)
"""How pages of indexes call themselves that have no files: those of indexes, and listings of folders by web servers."""
_ENDINGS = (".whl", ".tar.gz", ".zip", ".tar.bz2", ".tgz", ".tar.xz", ".egg", ".exe", ".msi", ".rpm", ".deb", ".tar.z")


def _files_of_html(text: _Text) -> Iterator[RawFile]:
    """Yield the anchors that lead to files; raise `NotAPage` for a page that has none and does not say what it is."""
    base, says_so = "", False
    for name, values in _tags(text):
        if name == "base":
            base = base or values.get("href", "")
            if len(base) > ADDRESS_LENGTH.value:  # it is joined with the address of each file
                raise NotAPage(f"its base has more than {ADDRESS_LENGTH.value:,} characters")
        elif name == "meta":
            if values.get("name") == "pypi:repository-version":
                says_so = True
                _check_version(values.get("content") or "1.0")
        elif name == "title":
            says_so = True
        elif values.get("href") and (file := _file_of_anchor(base, values)):
            says_so = says_so or file["filename"].lower().endswith(_ENDINGS)
            yield file
    if not says_so:
        raise NotAPage("it is HTML without a link to a file, as a page to log in is")


def _tags(text: _Text) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield anchors, bases and metas with their attributes; and once `title`, for a page that calls itself one."""
    hidden_until: re.Pattern[str] | None = None
    text.go_on(0)
    if _TITLE.search(text.part):
        yield "title", {}
    while text.part:
        position = 0
        while True:
            if hidden_until is not None:
                end = hidden_until.search(text.part, position)
                if end is None:
                    position = max(position, len(text.part) - _LONGEST_END)
                    break
                position, hidden_until = end.start(), None
            match = _TAG.search(text.part, position)
            if match is None:
                break
            position = match.end()
            if match["hidden"]:
                hidden_until = _ENDS[match["hidden"].lower()]
            else:
                yield match["name"].lower(), _attributes(match["rest"])
        if text.is_whole:
            return
        text.go_on(position if hidden_until else max(position, len(text.part) - _LONGEST_TAG))


def _attributes(written: str) -> dict[str, str]:
    values = {}
    for name, double, single, bare in _ATTRIBUTE.findall(written):
        value = double or single or bare
        values[name.lower()] = html.unescape(value) if "&" in value else value
    return values


def _file_of_anchor(base: str, values: dict[str, str]) -> RawFile | None:
    """Return the file to which an anchor leads; one with an address that cannot be read keeps it as it is."""
    written = values["href"].strip()
    try:
        address, fragment = urldefrag(urljoin(base, written)) if base else _parted(written)
        filename = unquote(urlsplit(address).path.rpartition("/")[2])
    except ValueError:
        address, fragment, filename = written, "", unquote(written.partition("#")[0].rpartition("/")[2])
    if not filename:
        return None
    algorithm, _, digest = fragment.partition("=")
    core_metadata = values.get("data-core-metadata", values.get("data-dist-info-metadata"))
    return {
        "filename": filename,
        "url": address,
        "hashes": {algorithm: digest} if digest else {},
        "requires-python": values.get("data-requires-python"),
        "yanked": (values["data-yanked"] or True) if "data-yanked" in values else False,
        "core-metadata": _announced(core_metadata),
    }


def _parted(address: str) -> tuple[str, str]:
    head, _, fragment = address.partition("#")
    return head, fragment


def _announced(value: str | None) -> bool | dict[str, str]:
    """`sha256=…` and `true` announce a metadata file, and `true` gives no hash for it."""
    algorithm, _, digest = (value or "").partition("=")
    return {algorithm: digest} if digest else algorithm == "true"


# -- both forms


def sha256_of(file: RawFile) -> str:
    """Return the file's digest in lower case; empty where the index gives none. Raise `Unreadable` for another text."""
    hashes = file.get("hashes")
    digest: object = hashes.get(_TRUSTED_HASH) if isinstance(hashes, dict) else None
    if digest is None:
        return ""
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest.lower()):
        raise Unreadable(f"its digest {brief(digest)} is none")
    return digest.lower()


def announced_metadata(file: RawFile) -> str:
    """Return the digest of the announced metadata file, `*` if it is announced without one, else an empty text.

    What is announced with a digest that is none is not asked for: the wheel has the same.
    """
    value = file.get("core-metadata", file.get("dist-info-metadata"))
    if isinstance(value, dict):
        digest = value.get(_TRUSTED_HASH)
        if isinstance(digest, str):
            return digest.lower() if _DIGEST.fullmatch(digest.lower()) else ""
        return "*"
    return "*" if value is True else ""
