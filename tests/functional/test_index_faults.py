"""What a server does wrong passes, or ends with a code that is never a conflict, and never shows a credential."""

from __future__ import annotations

import os
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from admission import Facts, Need
from fixtures.server import Fault, IndexServer, Shape
from fixtures.wheels import DEFAULT_RECIPE, LINUX_311, read_recipe
from pm.errors import PmError
from pm.index import IndexClient, IndexOptions, Limits, open_index
from pm.index.package_sources import Secret, Sources, index_address

_LIMITS = Limits(
    connect=1, read=0.3, total=3, transfer=3, attempts=3, pause=0.01, longest_pause=0.2, guesses=0, guessing=1
)
_NEED = Need(candidates=(("demo-transport", "1.3.0"),))
_PAGE = "/simple/demo-transport/"
_WHEEL = "/files/demo_transport-1.3.0-py3-none-any.whl"


def _open(tmp_path: Path, url: str, limits: Limits = _LIMITS, proxy: Secret | None = None) -> IndexClient:
    sources = Sources(indexes=(index_address(url),), proxy=proxy)
    return open_index(tmp_path / "cache", LINUX_311, sources, IndexOptions(limits=limits))


def _fetch(tmp_path: Path, url: str, limits: Limits = _LIMITS, proxy: Secret | None = None) -> Facts:
    with _open(tmp_path, url, limits, proxy) as index:
        return index.fetch(_NEED)


def _failure(tmp_path: Path, url: str, limits: Limits = _LIMITS, proxy: Secret | None = None) -> PmError:
    with pytest.raises(PmError) as caught:
        _fetch(tmp_path, url, limits, proxy)
    return caught.value


@pytest.fixture
def server(tmp_path: Path) -> Iterator[IndexServer]:
    with IndexServer(tmp_path / "files", read_recipe(DEFAULT_RECIPE)) as running:
        yield running


@pytest.mark.parametrize(
    "fault",
    [
        Fault(_PAGE, "status", times=2, status=503),
        Fault(_PAGE, "status", times=2, status=500),
        Fault(_PAGE, "status", status=429, headers=(("Retry-After", "0"),)),
        Fault(_PAGE, "status", status=429, headers=(("Retry-After", "Fri, 01 Jan 2021 00:00:00 GMT"),)),
        Fault(_PAGE, "status", status=429, headers=(("Retry-After", "soon"),)),
        Fault(_PAGE, "cut"),
        Fault(_PAGE, "stall"),
        Fault(_WHEEL, "status", times=2, status=502),
        Fault(_WHEEL, "cut", times=2, percent=50),
        Fault(_WHEEL, "stall"),
    ],
    ids=lambda fault: f"{fault.kind}-{fault.status}-{fault.path.rpartition('.')[2]}-{fault.headers}",
)
def test_a_fault_that_passes_is_not_noticed(tmp_path: Path, server: IndexServer, fault: Fault) -> None:
    """Case hash-mismatch-01, its first half."""
    server.faults = [fault]
    assert _fetch(tmp_path, server.url).candidate("demo-transport", "1.3.0") is not None
    assert server.faults == []


@pytest.mark.parametrize(
    ("fault", "what"),
    [
        (Fault(_PAGE, "status", times=-1, status=503), "it answered 503 (asked 3 times"),
        (Fault(_PAGE, "status", times=-1, status=418), "it answered 418 (asked 3 times"),
        (Fault(_PAGE, "stall", times=-1), "it was silent for 0.3 seconds (asked 3 times"),
        (Fault(_PAGE, "cut", times=-1), "the transfer ended early (asked 3 times"),
    ],
    ids=["503", "418", "stall", "cut"],
)
def test_a_fault_that_stays_is_an_unreachable_index(
    tmp_path: Path, server: IndexServer, fault: Fault, what: str
) -> None:
    server.faults = [fault]
    failure = _failure(tmp_path, server.url)
    expected = f"the index `{server.url}` gave no usable answer: {what}"
    assert (failure.code, failure.message[: len(expected)], failure.hint) == (
        "index-unreachable",
        expected,
        "try again later, or put the wheels into a folder and name it in `pm.find_links`",
    )


def test_a_server_that_asks_to_wait_too_long_is_given_up_at_once(tmp_path: Path, server: IndexServer) -> None:
    server.faults = [Fault(_PAGE, "status", times=-1, status=429, headers=(("Retry-After", "3600"),))]
    failure = _failure(tmp_path, server.url)
    assert (failure.code, failure.message, len(server.asked)) == (
        "index-unreachable",
        (
            f"the index `{server.url}` gave no usable answer: it answered 429 and asks to come back in 3600 seconds "
            f"(asked once in 0 seconds for `{_PAGE}`)"
        ),
        1,
    )


def test_a_server_that_trickles_is_given_up_after_the_total_time(tmp_path: Path, server: IndexServer) -> None:
    server.faults = [Fault(_PAGE, "trickle", times=-1)]
    failure = _failure(tmp_path, server.url, _LIMITS._replace(total=0.5))
    assert (failure.code, "the answer took longer than the time limit" in failure.message) == (
        "index-unreachable",
        True,
    )


def test_a_server_that_drips_even_its_head_is_given_up_after_the_total_time(
    tmp_path: Path, server: IndexServer
) -> None:
    """Row G7."""
    server.faults = [Fault(_PAGE, "drip", times=-1)]
    begun = time.monotonic()
    failure = _failure(tmp_path, server.url, _LIMITS._replace(total=1.0))
    assert (failure.code, "the answer took longer than the time limit" in failure.message) == (
        "index-unreachable",
        True,
    )
    assert 1 <= time.monotonic() - begun < 2


def test_a_file_that_trickles_is_waited_for_as_long_as_it_keeps_coming(tmp_path: Path, server: IndexServer) -> None:
    """Row G4: what is limited is silence."""
    server.shape = Shape(ranges=False, serves_metadata=False)
    server.faults = [Fault(_WHEEL, "trickle", times=-1)]
    begun = time.monotonic()
    limits = _LIMITS._replace(total=0.5, transfer=0.5)
    assert _fetch(tmp_path, server.url, limits).candidate("demo-transport", "1.3.0") is not None
    assert time.monotonic() - begun > 1


def test_a_page_that_is_none_is_an_unreachable_index(tmp_path: Path, server: IndexServer) -> None:
    """As behind the login page of a hotel, which answers 200 to everything."""
    server.faults = [Fault(_PAGE, "status", times=-1, status=200, headers=(("Content-Type", "application/json"),))]
    failure = _failure(tmp_path, server.url)
    assert (failure.code, "it sent something else than a page" in failure.message) == ("index-unreachable", True)


def test_a_port_where_nobody_listens_is_an_unreachable_index(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/simple"
        failure = _failure(tmp_path, url)
    expected = f"the index `{url}` gave no usable answer: it cannot be reached (asked 3 times"
    assert (failure.code, failure.message[: len(expected)]) == ("index-unreachable", expected)


def test_a_host_that_does_not_exist_is_an_unreachable_index(tmp_path: Path) -> None:
    failure = _failure(tmp_path, "http://nowhere.invalid/simple", _LIMITS._replace(attempts=1))
    assert failure.code == "index-unreachable"


def test_a_server_that_listens_and_never_answers_is_an_unreachable_index(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/simple"
        failure = _failure(tmp_path, url)
    assert (failure.code, "it was silent for 0.3 seconds" in failure.message) == ("index-unreachable", True)


def test_one_needed_answer_that_fails_ends_the_call_while_others_still_stall(
    tmp_path: Path, server: IndexServer
) -> None:
    server.faults = [Fault(_PAGE, "stall", times=-1), Fault("/simple/flintspark/", "status", times=-1, status=401)]
    limits = _LIMITS._replace(read=30, total=60)
    with _open(tmp_path, server.url, limits) as index, pytest.raises(PmError) as caught:
        index.fetch(Need(pages=("demo-transport", "flintspark")))
    assert caught.value.code == "unauthorized"


def test_what_was_learnt_before_a_failure_is_kept(tmp_path: Path, server: IndexServer) -> None:
    server.faults = [Fault(_WHEEL, "status", times=-1, status=500)]
    assert _failure(tmp_path, server.url).code == "index-unreachable"
    with _open(tmp_path, server.url) as index:
        assert index.facts.pages["demo-transport"].versions == ("1.0", "1.3.0")


def test_an_outage_never_looks_like_a_missing_package(tmp_path: Path, server: IndexServer) -> None:
    server.faults = [Fault(_PAGE, "status", times=-1, status=503)]
    with _open(tmp_path, server.url) as index:
        with pytest.raises(PmError):
            index.fetch(_NEED)
        assert "demo-transport" not in index.facts.pages


@pytest.mark.parametrize("status", [401, 403])
def test_refused_access_is_said_to_be_that(tmp_path: Path, server: IndexServer, status: int) -> None:
    server.faults = [Fault(_PAGE, "status", times=-1, status=status)]
    failure = _failure(tmp_path, server.url)
    assert (failure.code, failure.message, len(server.asked)) == (
        "unauthorized",
        f"the index `{server.url}` refuses access ({status})",
        1,
    )


def test_credentials_are_sent_and_kept_nowhere(tmp_path: Path, server: IndexServer) -> None:
    """Cases credential-leak-01 and credential-leak-03."""
    server.shape = Shape(userinfo="us@r:s3cret")
    url = server.url.replace("http://", "http://us%40r:s3cret@")
    facts = _fetch(tmp_path, url)
    shown = repr((facts.pages["demo-transport"], facts.candidate("demo-transport", "1.3.0"), index_address(url)))
    stored = b"".join(path.read_bytes() for path in (tmp_path / "cache").rglob("*") if path.is_file())
    assert ("s3cret" in shown, b"s3cret" in stored, "tok" in repr(Secret("tok"))) == (False, False, False)


def test_a_bare_token_in_an_address_never_shows_in_an_error(tmp_path: Path, server: IndexServer) -> None:
    """Case credential-leak-01."""
    server.shape = Shape(userinfo="another")
    failure = _failure(tmp_path, server.url.replace("http://", "http://tok3n@"))
    assert (failure.code, failure.message) == ("unauthorized", f"the index `{server.url}` refuses access (401)")


def test_credentials_are_not_sent_to_another_host(tmp_path: Path, server: IndexServer) -> None:
    location = f"{server.url.replace('127.0.0.1', 'localhost')}/demo-transport/"
    server.faults = [Fault(_PAGE, "status", status=302, headers=(("Location", location),))]
    _fetch(tmp_path, server.url.replace("http://", "http://user:s3cret@"))
    sent = [asked.headers.get("authorization", "") != "" for asked in server.asked if asked.path == _PAGE]
    assert sent == [True, False]


@pytest.mark.parametrize("shape", [Shape(ranges=False, serves_metadata=False), Shape(json=False, ranges=False)])
def test_a_wheel_with_other_bytes_is_read_again_and_then_said_to_be_wrong(
    tmp_path: Path, server: IndexServer, shape: Shape
) -> None:
    """Case hash-mismatch-01, its second half."""
    server.shape = shape._replace(serves_metadata=False)
    server.faults = [Fault(_WHEEL, "garbage", times=-1)]
    failure = _failure(tmp_path, server.url)
    assert failure.code == "hash-mismatch"
    assert "`demo_transport-1.3.0-py3-none-any.whl` has another digest than the index announced" in failure.message


def test_a_wheel_with_other_bytes_once_is_read_again(tmp_path: Path, server: IndexServer) -> None:
    server.shape = Shape(ranges=False, serves_metadata=False)
    server.faults = [Fault(_WHEEL, "garbage", times=2)]
    assert _fetch(tmp_path, server.url).candidate("demo-transport", "1.3.0") is not None


def test_a_cut_that_no_length_gives_away_is_found_by_the_digest(tmp_path: Path, server: IndexServer) -> None:
    server.shape = Shape(ranges=False, serves_metadata=False, lengths=False)
    server.faults = [Fault(_WHEEL, "cut", times=-1)]
    assert _failure(tmp_path, server.url).code == "hash-mismatch"


def test_an_announced_metadata_file_with_other_bytes_is_said_to_be_wrong(tmp_path: Path, server: IndexServer) -> None:
    server.shape = Shape(announces_metadata=True)
    server.faults = [Fault(f"{_WHEEL}.metadata", "garbage", times=-1)]
    failure = _failure(tmp_path, server.url)
    assert failure.code == "hash-mismatch"


def test_an_announced_metadata_file_that_is_missing_is_read_from_the_wheel(tmp_path: Path, server: IndexServer) -> None:
    server.shape = Shape(announces_metadata=True, serves_metadata=False)
    assert _fetch(tmp_path, server.url).candidate("demo-transport", "1.3.0") is not None


def test_a_wheel_that_is_listed_and_gone_is_no_conflict(tmp_path: Path, server: IndexServer) -> None:
    server.faults = [Fault(f"{_WHEEL}*", "status", times=-1, status=404)]
    failure = _failure(tmp_path, server.url)
    assert (failure.code, "it answered 404 for a file that the index lists" in failure.message) == (
        "index-unreachable",
        True,
    )


def test_a_certificate_that_is_not_trusted_is_said_to_be_that(tmp_path: Path) -> None:
    key, certificate = _self_signed(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=_shake_hands, args=(listening, context), daemon=True).start()
        url = f"https://127.0.0.1:{listening.getsockname()[1]}/simple"
        failure = _failure(tmp_path, url)
    expected = f"the certificate of the index `{url}` is not trusted: "
    assert (failure.code, failure.message[: len(expected)]) == ("tls", expected)


def _shake_hands(listening: socket.socket, context: ssl.SSLContext) -> None:
    with suppress(OSError):
        while True:
            connection, _ = listening.accept()
            with suppress(ssl.SSLError), context.wrap_socket(connection, server_side=True) as secure:
                secure.recv(1)


def _self_signed(folder: Path) -> tuple[Path, Path]:
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"]
    subprocess.run([*command, "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True)
    return key, certificate


def test_a_server_that_speaks_no_tls_is_a_tls_failure(tmp_path: Path, server: IndexServer) -> None:
    failure = _failure(tmp_path, server.url.replace("http://", "https://"))
    assert failure.code == "tls"


def test_certificates_that_cannot_be_read_are_a_tls_failure(tmp_path: Path) -> None:
    sources = Sources(indexes=(index_address("https://host.invalid/simple"),), certificates=str(tmp_path / "missing"))
    with (
        open_index(tmp_path, LINUX_311, sources, IndexOptions(limits=_LIMITS)) as index,
        pytest.raises(PmError) as caught,
    ):
        index.fetch(_NEED)
    assert (caught.value.code, caught.value.message) == (
        "tls",
        f"the certificates in `{tmp_path / 'missing'}` cannot be read",
    )


def test_a_configured_proxy_is_used_with_its_credentials(tmp_path: Path, server: IndexServer) -> None:
    """Case private-index-proxy-05."""
    facts = _fetch(tmp_path, "http://index.invalid/simple", proxy=Secret(f"http://me:s3cret@{server.host}"))
    assert facts.candidate("demo-transport", "1.3.0") is not None
    assert {asked.headers["proxy-authorization"] for asked in server.asked} == {"Basic bWU6czNjcmV0"}


def test_the_proxy_of_the_environment_is_used_unless_the_host_is_exempt(
    tmp_path: Path, server: IndexServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", server.host)
    monkeypatch.setenv("no_proxy", "exempt.invalid")
    assert _fetch(tmp_path, "http://index.invalid/simple").candidate("demo-transport", "1.3.0") is not None
    failure = _failure(tmp_path / "exempt", "http://exempt.invalid/simple", _LIMITS._replace(attempts=1))
    assert failure.code == "index-unreachable"


def test_a_proxy_that_is_not_there_is_named_as_the_cause(tmp_path: Path) -> None:
    failure = _failure(tmp_path, "http://index.invalid/simple", proxy=Secret("http://me:s3cret@127.0.0.1:1"))
    expected = (
        "the index `http://index.invalid/simple` cannot be asked: the proxy `http://127.0.0.1:1`, which pip's `proxy` "
        "names, cannot be reached (asked 3 times"
    )
    assert (failure.code, failure.message[: len(expected)], failure.hint) == (
        "index-unreachable",
        expected,
        "change pip's `proxy`, or exempt the host with `NO_PROXY=index.invalid`",
    )


def test_ranges_of_addresses_are_exempt_from_a_proxy(
    tmp_path: Path, server: IndexServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case proxy-environment-01."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "localhost,::1,.local,10.0.0.0/8,127.0.0.0/8,fd00::/8")
    assert _fetch(tmp_path, server.url).candidate("demo-transport", "1.3.0") is not None


def test_a_proxy_that_asks_for_a_login_is_told_with_its_variable(
    tmp_path: Path, server: IndexServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", server.host)
    server.faults = [Fault("*", "status", times=-1, status=407)]
    failure = _failure(tmp_path, "http://index.invalid/simple")
    assert (failure.code, failure.message) == (
        "unauthorized",
        f"the proxy `http://{server.host}`, which `HTTP_PROXY` names, asks for a login (407)",
    )


@pytest.mark.parametrize("user", ["", "other:wrong@"])
def test_a_login_of_netrc_is_sent_where_the_address_has_none(
    tmp_path: Path, server: IndexServer, monkeypatch: pytest.MonkeyPatch, user: str
) -> None:
    """Row C19, case netrc-01."""
    (tmp_path / "netrc").write_text("machine 127.0.0.1\nlogin me\npassword s3cret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    server.shape = Shape(userinfo="me:s3cret")
    if user:
        assert _failure(tmp_path, server.url.replace("http://", f"http://{user}")).code == "unauthorized"
    else:
        assert _fetch(tmp_path, server.url).candidate("demo-transport", "1.3.0") is not None


@pytest.mark.parametrize("content", [b"machine", b"\xff\xfe", b"machine 127.0.0.1 login \0"])
def test_a_netrc_that_cannot_be_read_has_no_logins(
    tmp_path: Path, server: IndexServer, monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    (tmp_path / "netrc").write_bytes(content)
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    assert _fetch(tmp_path, server.url).candidate("demo-transport", "1.3.0") is not None


def test_a_netrc_that_is_a_pipe_is_not_waited_for(
    tmp_path: Path, server: IndexServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "netrc")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    assert _fetch(tmp_path, server.url).candidate("demo-transport", "1.3.0") is not None


def test_a_name_is_looked_up_once_however_many_connections_there_are(
    tmp_path: Path, server: IndexServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []
    look_up = socket.getaddrinfo

    def counted(host: str, port: int, *further: int, **options: int) -> object:
        asked.append((host, port))
        return look_up(host, port, *further, **options)

    monkeypatch.setattr(socket, "getaddrinfo", counted)
    names = ("demo-colors", "demo-socket", "demo-transport", "embryo", "flintspark", "lanternkit", "wickcore")
    with _open(tmp_path, server.url.replace("127.0.0.1", "localhost")) as index:
        index.fetch(Need(pages=names))
    port = int(server.host.rpartition(":")[2])
    assert [place for place in asked if place == ("localhost", port)] == [("localhost", port)]
