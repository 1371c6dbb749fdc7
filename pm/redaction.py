"""Take credentials out of every text before it reaches a person, a log, a receipt or a lock.

An address says by itself where its credentials end, but for people who write a password with `/`, `#`, `?`, `@` or a
blank in it. So what cannot be told apart from a credential is taken for one: it is better to hide a part of an address
than to show a part of a password. What others wrote can be long, so each pattern looks at each character a few times.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

__all__ = [
    "HIDDEN",
    "HOW_TO_WRITE_PASSWORDS",
    "UNREADABLE",
    "is_readable",
    "is_secret_name",
    "redact",
    "redact_value",
    "userinfo_of",
    "without_credentials",
    "without_secrets_of",
]

HIDDEN = "****"
"""Stands for what is taken out."""
UNREADABLE = "…"
"""Stands for an address that cannot be read, and may hold anything."""
HOW_TO_WRITE_PASSWORDS = (
    "in a user and a password write `/`, `#`, `?`, `@`, `:` and a blank as `%2F`, `%23`, `%3F`, `%40`, `%3A` and `%20`"
)


def redact(text: str) -> str:
    """Return a text without user parts of addresses, values of queries, headers and logins.

    An address in it ends with a blank, a backtick or a quotation mark, unless it cannot be read.
    """
    return "\n".join(map(_redacted_line, text.split("\n"))) if _may_hold_one(text) else text


def redact_value(text: str) -> str:
    """Do the same with a text that as a whole may be an address: no blank ends it."""
    return _redacted(text, whole=True) if _may_hold_one(text) else text


def without_credentials(url: str) -> str:
    """Return an address without what programs take for its user part: the spelling that locks and fingerprints use."""
    userinfo = userinfo_of(url)
    return url.replace(f"{userinfo}@", "", 1) if userinfo else url


def userinfo_of(url: str) -> str:
    """Return what programs take for the user part of an address."""
    found = re.match(_START, url) if "@" in url else None
    return re.split(r"[/\\?#]", url[found.end() :], maxsplit=1)[0].rpartition("@")[0] if found else ""


def without_secrets_of(text: str, environment: Mapping[str, str]) -> str:
    """Return what a program said without user parts and passwords of the variables that it was given.

    It may say them in parts, or decoded; and what it says is only shown, so that too much may be taken out of it.
    """
    for secret in sorted(set(_secrets_of(environment)), key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    return text


_LEAST_SECRET = 4
"""A shorter text would be taken out of other words."""
_SECRET_NAMES = ("PASSWORD", "TOKEN", "SECRET", "_KEY", "CREDENTIAL", "AUTH")


def is_secret_name(name: str) -> bool:
    """Say whether a variable holds a secret by its name."""
    return any(word in name.upper() for word in _SECRET_NAMES)


def _secrets_of(environment: Mapping[str, str]) -> Iterator[str]:
    from urllib.parse import unquote

    for name, value in environment.items():
        users = [value] if is_secret_name(name) else _user_parts(value) if "@" in value else []
        for part in (part for user in users for part in re.split(r"[\s:@]", user)):
            yield from (text for text in (part, unquote(part)) if len(text) >= _LEAST_SECRET)


def _user_parts(text: str) -> Iterator[str]:
    for word in (text, *text.split()):
        found = re.compile(_START).search(word)
        host = _end_of_user(word, found, word.rfind("@"), whole=True) if found else None
        if found and host is not None:
            yield word[found.end() : max(found.end(), host - 1)]
        elif not found and ":" in word.rpartition("@")[0] and not word.startswith("/"):
            yield word.rpartition("@")[0]


def is_readable(url: str) -> bool:
    """Say whether it is clear where in an address credentials end and the host begins."""
    found = re.match(_START, url)
    if found is None:
        return redact_value(url) == url
    userinfo = userinfo_of(url)
    begin = found.end() + (len(userinfo) + 1 if userinfo else 0)
    is_clear = found["slashes"] == "//" and _end_of_user(url, found, url.rfind("@"), whole=True) == begin
    return _is_file(found) or (is_clear and _can_be_split(url))


def _can_be_split(url: str) -> bool:
    from urllib.parse import urlsplit

    try:
        return bool(urlsplit(url).netloc)
    except ValueError:
        return False


# nearly every text lacks the characters of a credential, and needs no pattern to be compiled
def _may_hold_one(text: str) -> bool:
    has_query = "=" in text and ("?" in text or "&" in text)
    return has_query or any(sign in text for sign in ("@", ":", "%", "login"))


def _redacted_line(line: str) -> str:
    return _redacted(line, whole=False)


def _redacted(text: str, *, whole: bool) -> str:
    text = _without_users(text, f"{HIDDEN}@", whole=whole)
    if "%" in text and "40" in text:
        text = re.sub(_WORD, _without_encoded_user, text)
    if "?" in text:
        text = _without_query(text) if whole else re.sub(_WORD, lambda word: _without_query(word[0]), text)
    return _without_named_secrets(text)


# -- user parts

# a scheme with its slashes, of the usual ones also with a single one, as paths have it; without a scheme only where a
# word begins
_START = (
    r"(?:(?P<scheme>[A-Za-z][A-Za-z0-9+.-]{1,31}(?=:[/\\]{2})|(?i:[a-z+]{0,9}(?:https?|ftp|ssh|git))(?=:[/\\]))"
    r":(?P<slashes>[/\\]+)|(?<![^\s`'\"=(,\[{<])//+)"
)
_WORD = r"[^\s`\"<>]+"
_BEGINNING = r"[^\s/\\?#`\"<>]*"
_IPV6 = r"\[[0-9A-Fa-f:.]+(?:%[\w.]+)?\]"
_HOST = rf"(?:{_IPV6}|[\w*-]+(?:\.[\w*-]+)*\.?)?(?::[0-9]{{0,5}})?"
_NO_USER = rf"(?:{_IPV6}|[0-9]+(?:\.[0-9]+){{3}}|localhost)(?::[0-9]{{0,5}})?|[\w*-]+(?:\.[\w*-]+)+\.?"
"""An address of numbers, a name that stands for this machine, or one with a dot and without a port."""
_AFTER_PROSE = ".,;:!)]}'"
_REFERENCE = r"[^@/\s]*(?:[#\s].*)?"
_EXACT_REFERENCE = r"(?:[0-9a-f]{7,64}|v?[0-9][\w.]*)(?:[#\s].*)?"


def _without_users(text: str, instead: str, *, whole: bool) -> str:
    if "@" not in text and ":/" not in text and ":\\" not in text:
        return text
    parts = []
    done = 0
    last = text.rfind("@")
    while found := re.compile(_START).search(text, done):
        host = _end_of_user(text, found, last, whole=whole)
        end = len(text) if whole else _end_of_word(text, max(found.end(), host or 0))
        hidden = UNREADABLE if host is None else instead if host > found.end() else ""
        parts += [_without_bare_users(text[done : found.start()], instead), found[0], hidden]
        parts += [] if host is None else [text[host:end]]
        done = end
    return "".join(
        [*parts, _without_bare_users(_without_bare_user(text, instead) if whole and not done else text[done:], instead)]
    )


def _end_of_word(text: str, begin: int) -> int:
    word = re.compile(_WORD).match(text, begin)
    return word.end() if word else begin


def _end_of_user(text: str, address: re.Match[str], last: int, *, whole: bool) -> int | None:
    """Return where the host of an address begins; `None` if it cannot be read. `last` is where the last `@` is."""
    begin = host = address.end()
    end = len(text) if whole else _end_of_word(text, host)
    if _is_file(address):
        return host
    while True:
        beginning = re.compile(_BEGINNING).match(text, host)
        name = beginning[0] if beginning else ""
        if "@" in name:
            host += name.rindex("@") + 1
        elif not _is_host(name):
            if last < host:
                return None if name != UNREADABLE else host
            host = last + 1
        elif "@" in text[host:end] and not _is_of_path(text[host:end], address, is_alone=host == begin):
            host = text.rindex("@", host, end) + 1
        elif last >= host + len(name) and _may_go_on(text[host + len(name)], name):
            host = last + 1
        else:
            return host
        end = end if whole else _end_of_word(text, host)


def _is_host(name: str) -> bool:
    return any(re.fullmatch(_HOST, text) for text in (name, name.rstrip(_AFTER_PROSE)))


def _is_file(address: re.Match[str]) -> bool:
    return (address["scheme"] or "").lower() == "file" and address["slashes"] != "//"


def _is_of_path(rest: str, address: re.Match[str], *, is_alone: bool) -> bool:
    """Say whether the `@` after a host belongs to a path, and ends no password.

    It does before the reference of a repository, and deep in a path, as in `/org/_packaging/feed@view/`.
    """
    before, _, after = rest.partition("@")
    is_certain = re.fullmatch(_NO_USER, before.partition("/")[0]) is not None
    if "@" in after or "/" not in before:
        return False
    if "+" in (address["scheme"] or "") or address["scheme"] in ("git", "ssh"):
        reference = _REFERENCE if is_alone and is_certain else _EXACT_REFERENCE
        return re.fullmatch(reference, after, re.DOTALL) is not None
    return is_certain and re.fullmatch(r"[^/?#\s]+(?:/[^/?#\s]+){3,}", before) is not None


def _may_go_on(following: str, name: str) -> bool:
    """Say whether a name that a blank ends may be a user whose password has a blank in it."""
    return bool(name) and following.isspace() and not re.fullmatch(_NO_USER, name)


def _without_bare_users(text: str, instead: str) -> str:
    return re.sub(_WORD, lambda word: _without_bare_user(word[0], instead), text) if "@" in text else text


def _without_bare_user(text: str, instead: str) -> str:
    """Hide a user and a password as ssh and proxies are written, also where they were taken for a path."""
    last = text.rfind("@")
    colon = text.find(":", 0, last) if last >= 0 else -1
    if colon < 0:
        return text
    begin = max(text.rfind(sign, 0, colon) for sign in _BEFORE_USER) + 1
    # a list of paths, or a drive of Windows
    is_path = text[colon + 1] in "/\\" and (begin > 0 or colon == 1)
    return text if is_path or _has_blank(text[begin:colon]) else f"{text[:begin]}{instead}{text[last + 1 :]}"


_BEFORE_USER = "/\\([{'="


def _has_blank(text: str) -> bool:
    return any(map(str.isspace, text))


# -- addresses in addresses, queries

_ENCODED_START = r"%(?:25)*3a(?:%(?:25)*2f)+"
_ENCODED_END = r"%(?:25)*40"


def _without_encoded_user(word: re.Match[str]) -> str:
    begin = re.search(_ENCODED_START, word[0], re.IGNORECASE)
    ends = list(re.finditer(_ENCODED_END, word[0]))
    if begin is None or not ends or ends[-1].start() < begin.end():
        return word[0]
    return f"{word[0][: begin.end()]}{HIDDEN}{word[0][ends[-1].start() :]}"


_HARMLESS_FRAGMENT = r"#(?:(?:sha[0-9]+|md5|egg|subdirectory)=[\w.+/-]*&?)*"


def _without_query(address: str) -> str:
    """Return an address with the names in its query and without their values: any of them may be a signature."""
    before, mark, rest = address.partition("?")
    if not rest or re.search(_START, before) is None:
        return address
    query, sharp, fragment = rest.partition("#")
    kept = re.match(_HARMLESS_FRAGMENT, f"{sharp}{fragment}")
    is_harmless = kept is None or kept.end() == len(sharp) + len(fragment)
    values = re.sub(r"(^|[&;])([\w.\[\]-]{1,60}=)?[^&;]+", rf"\1\2{HIDDEN}", query)
    return f"{before}{mark}{values}{sharp}{fragment if is_harmless else UNREADABLE}"


# -- what a name says to be secret

_VALUE = (
    r"(?P<key>[?&;#](?:[\w-]{0,60}(?:token|secret|passw|signature|credential|api_?key|auth|session)[\w-]{0,60}"
    r"|key|sig|pwd|x-amz-[\w-]{1,60}|x-goog-[\w-]{1,60})=)[^&\s#`\"]+"
)
_HEADER = (
    r"(?P<key>(?:authorization|cookie|[\w-]{0,60}-token|[\w-]{0,60}api-key)['\"]?:\s*['\"]?"
    r"(?:(?:basic|bearer|digest|negotiate|token)\s+)?)[^\s'\"]+"
)
_LOGIN = r"(?P<key>\blogin\s+\S+\s+password\s+)\S+"
_NAMES_OF_HEADERS = ("authorization", "cookie", "-token", "api-key")


def _without_named_secrets(text: str) -> str:
    if "=" in text and any(sign in text for sign in "?&#"):
        text = re.sub(_VALUE, rf"\g<key>{HIDDEN}", text, flags=re.IGNORECASE)
    lower = text.lower()
    if ":" in text and any(name in lower for name in _NAMES_OF_HEADERS):
        text = re.sub(_HEADER, rf"\g<key>{HIDDEN}", text, flags=re.IGNORECASE)
    if "login" in lower and "password" in lower:
        text = re.sub(_LOGIN, rf"\g<key>{HIDDEN}", text, flags=re.IGNORECASE)
    return text
