"""Ask over HTTP: pooled connections, limits on every wait, retries for what passes, and a code for what does not."""

import email.utils
import hashlib
import io
import math
import random
import re
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import IO, NamedTuple, TypeVar
from urllib.parse import urljoin, urlsplit

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
    SSLError,
)
from urllib3.response import BaseHTTPResponse
from urllib3.util import Retry, Timeout

from pm.errors import PmError
from pm.index.connections import Connections, time_limits
from pm.index.foreign import TROUBLE, Unreadable, brief
from pm.index.limits import Limits
from pm.index.logins import Logins, origin
from pm.index.package_sources import Sources
from pm.redaction import redact

_Read = TypeVar("_Read")
_CHUNK = 1 << 18
_SMALL = 1 << 14
_AGAIN = frozenset({429, 500, 502, 503, 504})
_NO_ACCESS = frozenset({401, 403, 407})
_PROXY_LOGIN = 407
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_MOST_REDIRECTS = 6
_OF_TIME = frozenset({9, 10})
"""What OpenSSL says of certificates that are not valid yet, or not any more."""
_PHRASES: dict[type[HTTPError], str] = {
    NameResolutionError: "the name service does not know it",
    NewConnectionError: "it cannot be reached",
}


_TOO_LONG = "the answer took longer than the time limit"


class Cancelled(Exception):
    """The call that wanted the answer is over."""


class Again(Exception):
    """This attempt failed in a way that may pass."""

    def __init__(
        self, what: str, *, pause: float | None = None, code: str = "index-unreachable", hint: str = ""
    ) -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint
        """What helps, where the server itself was not even asked."""
        self.pause = pause
        self.code = code


class HttpRequest(NamedTuple):
    """What is asked, and how long it may take."""

    url: str
    headers: Mapping[str, str]
    passed: frozenset[int]
    """Refusals that the reader of the answer wants to see."""
    deadline: float
    """Until when the head of an answer must be here, and no attempt begins later."""
    body_deadline: float
    """Until when the whole answer must be here; never for a file, which may take as long as it keeps coming."""
    cancelled: threading.Event


class HttpAnswer:
    """What a server says, while its body is read."""

    def __init__(self, response: BaseHTTPResponse, url: str, request: HttpRequest) -> None:
        self._response = response
        self._request = request
        self.status = response.status
        self.headers: Mapping[str, str] = response.headers
        self.url = url
        """The address after redirects."""

    def chunks(self) -> Iterator[bytes]:
        """Yield the body; raise `Again` when the time is up or the transfer breaks."""
        while chunk := self._response.read1(_CHUNK):
            if self._request.cancelled.is_set():
                raise Cancelled
            if time.monotonic() > self._request.body_deadline:
                raise Again(_TOO_LONG)
            yield chunk

    def body(self, most: int, what: str = "it") -> bytes:
        """Return the whole body, decompressed; raise `Unreadable` if `what` is longer than `most` bytes."""
        body = io.BytesIO()
        self.write_to(body, most, what)
        return body.getvalue()

    def write_to(self, target: IO[bytes], most: int, what: str = "it") -> str:
        """Write the whole body, decompressed, and return its digest; raise `Unreadable` as `body` does."""
        digest = hashlib.blake2b(digest_size=16)
        length = 0
        for chunk in self.chunks():
            length += len(chunk)
            if length > most:
                raise Unreadable(f"{what} has more than {most:,} bytes")
            digest.update(chunk)
            target.write(chunk)
        return digest.hexdigest()


class Transport:
    """Asks the servers behind the sources; may be used by many threads at once."""

    def __init__(self, sources: Sources, limits: Limits) -> None:
        self._sources = sources
        self._limits = limits
        self._connections = Connections(sources, limits.workers)
        self._logins = Logins(sources.indexes)
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
        is_transfer: bool = False,
        passed: frozenset[int] = frozenset(),
    ) -> _Read:
        """Ask for an address and return what `read` makes of the answer.

        `read` may raise `Again` to have it asked once more; it gets every answer but those that say to come back later
        or that access is refused, and of these the ones in `passed`. A transfer, of a whole file, is limited in its
        silence and not in its time. Raise `PmError` when all attempts failed.
        """
        begun = time.monotonic()
        deadline = begun + (self._limits.transfer if is_transfer else self._limits.total)
        request = HttpRequest(
            url=url,
            headers=headers or {},
            passed=passed,
            deadline=deadline,
            body_deadline=math.inf if is_transfer else deadline,
            cancelled=self.cancelled,
        )
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
            response, url = self._followed(request)
            answer = HttpAnswer(response, url, request)
            self._check(answer, request)
            return read(answer)
        except HTTPError as error:
            raise self._explained(request, error) from error
        finally:
            if response is not None:
                _let_go(response)

    def _followed(self, request: HttpRequest) -> tuple[BaseHTTPResponse, str]:
        """Ask, follow redirects, and return the last answer with its address."""
        url = request.url
        for _ in range(_MOST_REDIRECTS):
            try:
                response = self._opened(url, request)
            except LocationValueError as error:
                raise PmError("index-unreachable", f"`{redact(url)}` is not an address") from error
            except TROUBLE as error:  # of the library, with what stands in the head of an answer
                raise Again("it sent an answer whose head cannot be read") from error
            target = self._target(response, url)
            if not target:
                return response, url
            url = target
        raise Again("it redirects without end")

    def _target(self, response: BaseHTTPResponse, url: str) -> str:
        """Return where an answer redirects to, and let go of it then; an empty text if it does not."""
        location = response.headers.get("Location") if response.status in _REDIRECTS else None
        if not location:
            return ""
        _let_go(response)
        target = _joined(url, location)
        if url.startswith("https:") and target.startswith("http:"):
            raise PmError("tls", f"{self._server(url)} redirects to an address without encryption")
        return target

    def _opened(self, url: str, request: HttpRequest) -> BaseHTTPResponse:
        own = {"User-Agent": "hermes-pm", **self._logins.headers(url)}
        with time_limits(request.deadline, request.body_deadline):
            return self._connections.to(url).request(
                "GET",
                url,
                headers={**own, **request.headers},
                preload_content=False,
                redirect=False,
                timeout=Timeout(connect=self._limits.connect, read=self._limits.read),
                retries=Retry(total=None, connect=0, read=0, status=0, other=0, raise_on_status=False),
            )

    def _check(self, answer: HttpAnswer, request: HttpRequest) -> None:
        """Raise what an answer means by its status alone."""
        server = self._server(request.url)
        if answer.status in request.passed:
            return
        if answer.status in _AGAIN:
            raise Again(f"it answered {answer.status}", pause=_retry_after(answer.headers.get("Retry-After")))
        proxy = self._connections.proxy(answer.url) if answer.status == _PROXY_LOGIN else None
        if proxy is not None:
            hint = f"put user and password into the address that {proxy.named_by} has: `http://USER:PASSWORD@HOST:PORT`"
            raise PmError("unauthorized", f"{proxy} asks for a login ({answer.status})", hint=hint)
        if answer.status in _NO_ACCESS:
            hint = "put user and password into the index's address, or ask its owner for access"
            raise PmError("unauthorized", f"{server} refuses access ({answer.status})", hint=hint)

    def _explained(self, request: HttpRequest, error: HTTPError) -> Exception:
        """Say what a library's error means: what may pass is tried again."""
        cause: object = error.reason if isinstance(error, MaxRetryError) and error.reason else error
        if isinstance(cause, SSLError):
            return self._explained_tls(request.url, cause)
        if isinstance(cause, ProxyError):
            return self._explained_proxy(request.url, cause)
        if isinstance(cause, ReadTimeoutError):
            is_late = time.monotonic() >= request.deadline
            return Again(_TOO_LONG if is_late else f"it was silent for {self._limits.read:g} seconds")
        if isinstance(cause, ConnectTimeoutError) and not isinstance(cause, NewConnectionError):
            return Again(f"no connection within {self._limits.connect:g} seconds")
        if any(isinstance(part, IncompleteRead) for part in (cause, *error.args)):
            return Again("the transfer ended early")
        return Again(next((what for kind, what in _PHRASES.items() if isinstance(cause, kind)), "the connection broke"))

    def _explained_proxy(self, url: str, error: ProxyError) -> Exception:
        proxy = self._connections.proxy(url)
        named = str(proxy) if proxy else "the proxy"
        setting = proxy.named_by if proxy else "the setting of the proxy"
        cannot = isinstance(error.original_error, NewConnectionError | ConnectTimeoutError | NameResolutionError)
        what = "cannot be reached" if cannot else "does not let it through"
        return Again(f"{named} {what}", hint=f"change {setting}, or exempt the host with `NO_PROXY={origin(url)[1]}`")

    def _explained_tls(self, url: str, error: SSLError) -> Exception:
        inner = next((part for part in error.args if isinstance(part, ssl.SSLCertVerificationError)), None)
        if inner is None:
            return Again("no encrypted connection", code="tls")
        said = f"the certificate of {self._server(url)} is not trusted: {inner.verify_message}"
        if inner.verify_code in _OF_TIME:
            now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
            hint = "set the clock of this machine if it is wrong; else the certificate must be renewed"
            return PmError("tls", f"{said}; the clock of this machine says {now}", hint=hint)
        hint = "name the file with your certificates in `SSL_CERT_FILE`, or as `cert` in pip's configuration"
        return PmError("tls", said, hint=hint)

    def _given_up(self, url: str, failures: list[Again], seconds: float) -> PmError:
        last = failures[-1]
        times = "once" if len(failures) == 1 else f"{len(failures)} times"
        asked = f" and asks to come back in {last.pause:.0f} seconds" if last.pause else ""
        found = "cannot be asked" if last.hint else "gave no usable answer"
        what = f"{self._server(url)} {found}: {last.what}{asked}"
        return PmError(
            last.code,
            f"{what} (asked {times} in {seconds:.0f} seconds for `{redact(urlsplit(url).path)}`)",
            hint=last.hint or "try again later, or put the wheels into a folder and name it in `pm.find_links`",
        )

    def _server(self, url: str) -> str:
        """Name a server: the index as it is configured, else the host that it sends files from."""
        for index in self._sources.indexes:
            if url.startswith(index.url.rstrip("/") + "/"):
                return f"the index `{redact(index.url)}`"
        return f"the file server `{'://'.join(origin(url))}`"


def _joined(url: str, location: str) -> str:
    """Return where a redirect leads; raise `Again` for what is no address that can be asked."""
    try:
        target = urljoin(url, location)
        parts = urlsplit(target)
        parts.port  # noqa: B018 - raises for one that is no number
    except TROUBLE as error:
        raise Again(f"it redirects to {brief(location)}, which is no address") from error
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise Again(f"it redirects to {brief(location)}, which cannot be asked")
    return target


def _retry_after(value: str | None) -> float | None:
    if not value:
        return None
    try:
        if _SECONDS.fullmatch(value.strip()):
            return float(value)
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except TROUBLE:  # then it says nothing
        return None


_SECONDS = re.compile(r"[0-9]{1,9}")


def _let_go(response: BaseHTTPResponse) -> None:
    """Keep the connection for the next question where one more look at a short, unread answer allows it."""
    length = response.length_remaining
    if length is not None and length <= _SMALL and response.tell() == 0:
        with suppress(HTTPError):
            response.read1(_SMALL)
    response.close()
