"""Credentials in every shape in which people write them, and what stays readable beside them."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from pm.redaction import (
    is_readable,
    is_secret_name,
    redact,
    redact_value,
    userinfo_of,
    without_credentials,
    without_secrets_of,
)

COMMIT = "0123456789abcdef0123456789abcdef01234567"

HIDDEN = {
    "https://anna:PW@host.invalid/simple": "https://****@host.invalid/simple",
    "https://PW@host.invalid": "https://****@host.invalid",
    "/at/work/https:/host.invalid/x.whl?PW": "/at/work/https:/host.invalid/x.whl?****",
    "https://anna:P/W@host/simple": "https://****@host/simple",
    "https://anna:P#W?x@host/simple": "https://****@host/simple",
    "https://anna:PW w0rd@host/simple": "https://****@host/simple",
    "https://anna:12 PW@host/simple": "https://****@host/simple",
    "https://anna:12/PW@host": "https://****@host",
    "https://anna:P@W/w0rd@host/x": "https://****@host/x",
    "https://anna:P://W@host/": "https://****@host/",
    "https://anna@corp.invalid:PW/x@host": "https://****@host",
    "http:/anna:PW@host": "http:/****@host",
    "http:\\\\anna:PW@host": "http:\\\\****@host",
    "//anna:PW@host/x": "//****@host/x",
    "anna:PW@host:repo.git": "****@host:repo.git",
    "anna:PW@proxy.invalid:3128": "****@proxy.invalid:3128",
    "(anna:PW@host)": "(****@host)",
    "/srv/anna:PW@host:x.git": "/srv/****@host:x.git",
    "/srv/https:/anna:PW": "/srv/https:/…",
    "https:/anna%3APW%40host": "https:/…",
    "https%253A%252F%252Fanna%253APW%2540host": "https%253A%252F%252F****%2540host",
    "http://anna:PW@[::1/": "http://…",
    "https://anna:PW/": "https://…",
    "https://anna%3APW%40host/": "https://…",
    "https://host.invalid/?to=https%3A%2F%2Fanna%3APW%40host": "https://host.invalid/?to=****",
    "see https%3a%2f%2fanna%3aPW%40host/x": "see https%3a%2f%2f****%40host/x",
    "x @ git+https://anna:PW@host.invalid/x@" + COMMIT: "x @ git+https://****@host.invalid/x@" + COMMIT,
    "git+https://anna:P@W.x/w0rd@host.invalid/x@main": "git+https://****@main",
    "https://host.invalid/x.whl?sig=PW&raw&PW#sha256=abc": "https://host.invalid/x.whl?sig=****&****&****#sha256=abc",
    "https://host.invalid/x.whl?sig=P#W": "https://host.invalid/x.whl?sig=****#…",
    "/simple/x?X-Amz-Signature=PW": "/simple/x?X-Amz-Signature=****",
    "Proxy-Authorization: Basic PW": "Proxy-Authorization: Basic ****",
    "PRIVATE-TOKEN: PW": "PRIVATE-TOKEN: ****",
    "cookie: PW": "cookie: ****",
    "machine host login anna password PW": "machine host login anna password ****",
}


@pytest.mark.parametrize(("text", "shown"), HIDDEN.items())
def test_what_may_be_a_credential_is_hidden(text: str, shown: str) -> None:
    assert (redact(text), redact_value(text)) == (shown, shown)


SAID = [
    "https://host.invalid/simple",
    "http://pypi:3141/root/+simple",
    "http://127.0.0.1:4000/simple gave no answer to `x @ y`",
    "http://[::1]:80/x",
    "https://host.invalid gave no answer; write to me@host.invalid.",
    "demo @ git+https://host.invalid/o/r@main#egg=x",
    "git+https://host.invalid/o/r@v1.2",
    "git@host.invalid:o/r.git",
    "https://pkgs.host.invalid/org/_packaging/feed@Local/pypi/simple/",
    "https://host.invalid/x.whl#sha256=abc",
    "did you mean https://host.invalid/y?",
    "https://…",
    "file:///home/a@b/c",
    "/opt/python@3.12/bin:/usr/bin",
    "/usr/bin:/opt/python@3.12/bin",
    "C:\\Users\\a@b",
    "demo@1.0: no such release",
    "put user and password into the index's address",
    "token: none",
    "plugin.yaml:4: `a=b?`",
]


@pytest.mark.parametrize("text", SAID)
def test_what_holds_none_is_shown_as_it_is(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize("text", [*HIDDEN, *SAID])
def test_what_is_redacted_stays_as_it_is(text: str) -> None:
    assert redact(redact(text)) == redact(text)
    assert redact_value(redact_value(text)) == redact_value(text)


def test_an_address_in_a_sentence_ends_where_its_quotation_ends() -> None:
    said = "the index `https://anna:PW@a.invalid/x` and the proxy `bert:PW@b.invalid` refuse `x @ y`"
    assert redact(said) == "the index `https://****@a.invalid/x` and the proxy `****@b.invalid` refuse `x @ y`"


@pytest.mark.parametrize(
    ("url", "is_clear", "userinfo", "rest"),
    [
        ("https://host.invalid/simple", True, "", "https://host.invalid/simple"),
        ("https://anna:PW@host/simple", True, "anna:PW", "https://host/simple"),
        ("https://a@b:PW@host/simple", True, "a@b:PW", "https://host/simple"),
        ("https://x:PW@host.invalid/a/b/feed@Local/c", True, "x:PW", "https://host.invalid/a/b/feed@Local/c"),
        ("https://host.invalid/x@1.whl", False, "", "https://host.invalid/x@1.whl"),
        ("/srv/a@b", True, "", "/srv/a@b"),
        ("file:///srv/a@b", True, "", "file:///srv/a@b"),
        ("https://anna:P/W@host", False, "", "https://anna:P/W@host"),
        ("http://anna:PW@[::1/", False, "anna:PW", "http://[::1/"),
        ("http:/anna:PW@host", False, "anna:PW", "http:/host"),
        ("anna:PW@host:repo", False, "", "anna:PW@host:repo"),
    ],
)
def test_of_an_address_it_is_known_what_programs_take_for_its_user(
    url: str, *, is_clear: bool, userinfo: str, rest: str
) -> None:
    assert (is_readable(url), userinfo_of(url), without_credentials(url)) == (is_clear, userinfo, rest)


def test_what_a_program_was_given_is_not_shown_in_parts_either() -> None:
    environment = {
        "UV_INDEX": "https://anna:s3%2Fcret@host.invalid/simple https://bert:w0 rd5@host",
        "UV_INDEX_CORP_PASSWORD": "p4ssword",
        "HTTPS_PROXY": "carl:pr0xy@host:80",
        "HOME": "/home/dora@host",
    }
    said = "s3/cret s3%2Fcret p4ssword pr0xy /home/dora@host host.invalid"
    assert without_secrets_of(said, environment) == "**** **** **** **** /home/dora@host host.invalid"


def test_a_variable_is_known_for_a_secret_by_its_name() -> None:
    names = ("UV_INDEX_A_PASSWORD", "hermes_api_key", "HERMES_HOME", "LANG")
    assert [is_secret_name(name) for name in names] == [True, True, False, False]


LONG = {
    "letters": "a" * 200_000 + "@",
    "addresses": "://" * 70_000 + "@ ?",
    "users": "a:" * 100_000 + "@",
    "encoded": "%3A%2F%2F" * 20_000 + "%40",
    "queries": "?token" * 30_000 + "=@",
    "words": "https://x " * 20_000 + "@",
    "keys": "&a" * 90_000 + "=?",
    "headers": "x-" * 90_000 + "-token:",
    "brackets": "[::" * 60_000 + "@://",
    "dots": "https://" + "a." * 90_000 + "@",
    "addresses without users": "https://a " * 100_000,
    "addresses that cannot be read": "https://[ " * 100_000,
}


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
@pytest.mark.parametrize("hide", [redact, redact_value])
def test_a_long_text_takes_no_long_time(hide: Callable[[str], str], text: str) -> None:
    begun = time.process_time()
    hide(text)
    assert time.process_time() - begun < 3
