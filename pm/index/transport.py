"""Ask over HTTP: pooled connections, limits on every wait, retries for what passes, and a code for what does not."""

import email.utils
import random
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import NamedTuple, TypeVar
from urllib.parse import unquote, urljoin, urlsplit

from urllib3.exceptions import (
    ConnectTimeoutError,
    HTTPError,
    IncompleteRead,
    LocationValueError,
    MaxRetryError,
    NameResolutionError,
    NewConnectionError,
    ProxyError,
    ReadTimeoutError,
    ResponseError,
    SSLError,
)
from urllib3.response import BaseHTTPResponse
from urllib3.util import Retry, Timeout, make_headers

from pm.errors import PmError
from pm.index.connections import Connections
from pm.index.limits import Limits
from pm.index.package_sources import Sources
from pm.redaction import redact

_Read = TypeVar("_Read")
_CHUNK = 1 << 18
_SMALL = 1 << 14
_AGAIN = frozenset({429, 500, 502, 503, 504})
_NO_ACCESS = frozenset({401, 403, 407})
_PHRASES: dict[type[HTTPError], str] = {
    ProxyError: "the proxy cannot be used",
    NameResolutionError: "the name service does not know it",
    NewConnectionError: "it cannot be reached",
    ResponseError: "it redirects without end",
}


class Cancelled(Exception):
    """The call that wanted the answer is over."""


class Again(Exception):
    """This attempt failed in a way that may pass."""

    def __init__(self, what: str, *, pause: float | None = None, code: str = "index-unreachable") -> None:
        super().__init__(what)
        self.what = what
        self.pause = pause
        self.code = code


class HttpRequest(NamedTuple):
    """What is asked, and how long it may take."""

    url: str
    headers: Mapping[str, str]
    passed: frozenset[int]
    """Refusals that the reader of the answer wants to see."""
    deadline: float
    cancelled: threading.Event


class HttpAnswer:
    """What a server says, while its body is read."""

    def __init__(self, response: BaseHTTPResponse, request: HttpRequest) -> None:
        self._response = response
        self._request = request
        self.status = response.status
        self.headers: Mapping[str, str] = response.headers
        self.url = urljoin(request.url, response.geturl() or "")
        """The address after redirects."""

    def chunks(self) -> Iterator[bytes]:
        """Yield the body; raise `Again` when the time is up or the transfer breaks."""
        while chunk := self._response.read1(_CHUNK):
            if self._request.cancelled.is_set():
                raise Cancelled
            if time.monotonic() > self._request.deadline:
                raise Again("the transfer took longer than the time limit")
            yield chunk

    def body(self, most: int) -> bytes:
        """Return the whole body; raise `Again` if it is longer than `most` bytes."""
        parts, length = [], 0
        for chunk in self.chunks():
            parts.append(chunk)
            length += len(chunk)
            if length > most:
                raise Again(f"the answer is longer than {most} bytes")
        return b"".join(parts)


class Transport:
    """Asks the servers behind the sources; may be used by many threads at once."""

    def __init__(self, sources: Sources, limits: Limits) -> None:
        self._sources = sources
        self._limits = limits
        self._connections = Connections(sources, limits.workers)
        self._authorization = {
            _origin(index.url): make_headers(basic_auth=unquote(index.userinfo.reveal()))
            for index in sources.indexes
            if index.userinfo
        }
        self.cancelled = threading.Event()
        """Set by the owner when no caller waits any more; replaced before the next questions."""

    def close(self) -> None:
        """Close all connections."""
        self._connections.close()

    def ask(
        self,
        url: str,
        read: Callable[[HttpAnswer], _Read],
        *,
        headers: Mapping[str, str] | None = None,
        total: float | None = None,
        passed: frozenset[int] = frozenset(),
    ) -> _Read:
        """Ask for an address and return what `read` makes of the answer.

        `read` may raise `Again` to have it asked once more; it gets every answer but those that say to come back later
        or that access is refused, and of these the ones in `passed`. Raise `PmError` when all attempts failed.
        """
        begun = time.monotonic()
        deadline = begun + (total or self._limits.total)
        request = HttpRequest(url, headers or {}, passed, deadline, self.cancelled)
        failures: list[Again] = []
        while not request.cancelled.is_set():
            try:
                return self._once(request, read)
            except Again as failure:
                failures.append(failure)
            pause = self._pause(failures)
            if pause is None or len(failures) >= self._limits.attempts or time.monotonic() + pause > deadline:
                raise self._given_up(url, failures, time.monotonic() - begun)
            request.cancelled.wait(pause)
        raise Cancelled

    def _pause(self, failures: list[Again]) -> float | None:
        asked = failures[-1].pause
        by_chance = random.uniform(1.0, 1.5)  # noqa: S311 - spreads load, guards nothing
        own = by_chance * self._limits.pause * 2.0 ** (len(failures) - 1)
        if asked is None:
            return min(own, self._limits.longest_pause)
        return max(asked, own) if asked <= self._limits.longest_pause else None

    def _once(self, request: HttpRequest, read: Callable[[HttpAnswer], _Read]) -> _Read:
        response = None
        try:
            response = self._opened(request)
            answer = HttpAnswer(response, request)
            self._check(answer, request)
            return read(answer)
        except LocationValueError as error:
            raise PmError("index-unreachable", f"`{redact(request.url)}` is not an address") from error
        except HTTPError as error:
            raise self._explained(request.url, error) from error
        finally:
            if response is not None:
                _let_go(response)

    def _opened(self, request: HttpRequest) -> BaseHTTPResponse:
        own = {"User-Agent": "hermes-pm", **self._authorization.get(_origin(request.url), {})}
        return self._connections.to(request.url).request(
            "GET",
            request.url,
            headers={**own, **request.headers},
            preload_content=False,
            timeout=Timeout(connect=self._limits.connect, read=self._limits.read),
            retries=Retry(total=None, connect=0, read=0, status=0, other=0, redirect=5, raise_on_status=False),
        )

    def _check(self, answer: HttpAnswer, request: HttpRequest) -> None:
        """Raise what an answer means by its status alone."""
        server = self._server(request.url)
        if request.url.startswith("https:") and answer.url.startswith("http:"):
            raise PmError("tls", f"{server} redirects to an address without encryption")
        if answer.status in request.passed:
            return
        if answer.status in _AGAIN:
            raise Again(f"it answered {answer.status}", pause=_retry_after(answer.headers.get("Retry-After")))
        if answer.status in _NO_ACCESS:
            hint = "put user and password into the index's address, or ask its owner for access"
            raise PmError("unauthorized", f"{server} refuses access ({answer.status})", hint=hint)

    def _explained(self, url: str, error: HTTPError) -> Exception:
        """Say what a library's error means: what may pass is tried again."""
        cause: object = error.reason if isinstance(error, MaxRetryError) and error.reason else error
        if isinstance(cause, SSLError):
            return self._explained_tls(url, cause)
        if isinstance(cause, ReadTimeoutError):
            return Again(f"it was silent for {self._limits.read:g} seconds")
        if isinstance(cause, ConnectTimeoutError) and not isinstance(cause, NewConnectionError):
            return Again(f"no connection within {self._limits.connect:g} seconds")
        if any(isinstance(part, IncompleteRead) for part in (cause, *error.args)):
            return Again("the transfer ended early")
        return Again(next((what for kind, what in _PHRASES.items() if isinstance(cause, kind)), "the connection broke"))

    def _explained_tls(self, url: str, error: SSLError) -> Exception:
        inner = next((part for part in error.args if isinstance(part, ssl.SSLCertVerificationError)), None)
        if inner is None:
            return Again("no encrypted connection", code="tls")
        hint = "name the file with your certificates in `SSL_CERT_FILE`, or as `cert` in pip's configuration"
        return PmError(
            "tls", f"the certificate of {self._server(url)} is not trusted: {inner.verify_message}", hint=hint
        )

    def _given_up(self, url: str, failures: list[Again], seconds: float) -> PmError:
        last = failures[-1]
        times = "once" if len(failures) == 1 else f"{len(failures)} times"
        asked = f" and asks to come back in {last.pause:g} seconds" if last.pause else ""
        what = f"{self._server(url)} gave no usable answer: {last.what}{asked}"
        return PmError(
            last.code,
            f"{what} (asked {times} in {seconds:.0f} seconds for `{redact(urlsplit(url).path)}`)",
            hint="try again later, or put the wheels into a folder and name it in `pm.find_links`",
        )

    def _server(self, url: str) -> str:
        """Name a server: the index as it is configured, else the host that it sends files from."""
        for index in self._sources.indexes:
            if url.startswith(index.url.rstrip("/") + "/"):
                return f"the index `{redact(index.url)}`"
        return f"the file server `{'://'.join(_origin(url))}`"


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc.rpartition("@")[2].lower()


def _retry_after(value: str | None) -> float | None:
    if not value:
        return None
    if value.strip().isdigit():
        return float(value)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return None


def _let_go(response: BaseHTTPResponse) -> None:
    """Keep the connection for the next question where one more look at a short, unread answer allows it."""
    length = response.length_remaining
    if length is not None and length <= _SMALL and response.tell() == 0:
        with suppress(HTTPError):
            response.read1(_SMALL)
    response.close()
