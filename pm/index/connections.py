"""Pooled connections to servers: proxies, certificates, and one look-up for each name.

`_new_conn` is the place where urllib3 2 opens a socket, and the only one where a look-up can be shared.
"""

from __future__ import annotations

import http.client
import io
import math
import os
import queue
import socket
import ssl
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import ConnectTimeoutError, NameResolutionError, NewConnectionError, SystemTimeWarning
from urllib3.util import make_headers

from pm.errors import PmError
from pm.index.package_sources import Sources
from pm.index.proxies import Proxy, proxy_for

# a clock that is wrong is told with what fails because of it, not as a warning of a library
warnings.simplefilter("ignore", SystemTimeWarning)

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_LONGEST_LOOKUP = 30.0


class Connections:
    """The connections of one client, kept open between questions; may be used by many threads at once."""

    def __init__(self, sources: Sources, most: int) -> None:
        self._sources = sources
        self._most = most
        self._managers: dict[tuple[str, Proxy | None], urllib3.PoolManager] = {}
        self._lock = threading.Lock()

    def to(self, url: str) -> urllib3.PoolManager:
        """Return the connections for an address; one set for each scheme and proxy."""
        scheme, proxy = urlsplit(url).scheme, self.proxy(url)
        with self._lock:
            manager = self._managers.get((scheme, proxy))
            if manager is None:
                manager = self._managers[scheme, proxy] = self._new_manager(scheme, proxy)
        return manager

    def proxy(self, url: str) -> Proxy | None:
        """Return the proxy that leads to an address, if one does. Raise `PmError` for one that cannot be used."""
        return proxy_for(url, self._sources, os.environ)

    def close(self) -> None:
        """Close what is not in use."""
        with self._lock:
            for manager in self._managers.values():
                manager.clear()

    def _new_manager(self, scheme: str, proxy: Proxy | None) -> urllib3.PoolManager:
        schemes = {scheme, urlsplit(proxy.url).scheme if proxy else ""}
        context = _certificates(self._sources.certificates) if "https" in schemes else None
        if proxy:
            manager: urllib3.PoolManager = urllib3.ProxyManager(
                proxy.url,
                proxy_headers=make_headers(proxy_basic_auth=proxy.login) if proxy.login else None,
                maxsize=self._most,
                ssl_context=context,
                proxy_ssl_context=context,
            )
        else:
            manager = urllib3.PoolManager(maxsize=self._most, ssl_context=context)
        manager.pool_classes_by_scheme = {"http": _Pool, "https": _SecurePool}
        return manager


def _certificates(file: str) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=file or _of_the_system())
    except (OSError, ssl.SSLError) as error:
        raise PmError("tls", f"the certificates in `{file}` cannot be read", file=file) from error


def _of_the_system() -> str | None:
    """Return the system's file of certificates for a Python that was built to look for it elsewhere."""
    places = ssl.get_default_verify_paths()
    if places.cafile or (places.capath and any(Path(places.capath).iterdir())):
        return None
    return next((place for place in _CERTIFICATES if Path(place).is_file()), None)


_CERTIFICATES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)
"""Where systems keep them; uv looks in the same places."""


_addresses: dict[tuple[str, int], tuple[str, ...]] = {}
_one_lookup = threading.Lock()


def _numeric_addresses(host: str, port: int, seconds: float) -> tuple[str, ...]:
    """Return a host's addresses, asked for once in a process: lookups side by side can stall for seconds."""
    with _one_lookup:
        if (host, port) not in _addresses:
            _addresses[host, port] = _looked_up(host, port, seconds)
        return _addresses[host, port]


def _looked_up(host: str, port: int, seconds: float) -> tuple[str, ...]:
    """Ask the name service in a thread of its own, since the call itself knows no time limit."""
    answers: queue.SimpleQueue[list[str] | socket.gaierror] = queue.SimpleQueue()

    def look_up() -> None:
        try:
            answers.put([str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)])
        except (OSError, UnicodeError) as error:
            answers.put(socket.gaierror(socket.EAI_NONAME, str(error)))

    threading.Thread(target=look_up, daemon=True).start()
    try:
        answer = answers.get(timeout=seconds)
    except queue.Empty:
        answer = socket.gaierror(socket.EAI_AGAIN, "no answer within the time limit")
    if isinstance(answer, socket.gaierror):
        raise answer
    return tuple(dict.fromkeys(answer))


class _TimeLimits(threading.local):
    """Until when what this thread asks for must be here, on the monotonic clock."""

    head = math.inf
    body = math.inf


_limits = _TimeLimits()


@contextmanager
def time_limits(head: float, body: float) -> Iterator[None]:
    """Limit the answers that this thread begins to read meanwhile: their heads, and each as a whole."""
    _limits.head, _limits.body = head, body
    try:
        yield
    finally:
        _limits.head = _limits.body = math.inf


class _TimedAnswer(http.client.HTTPResponse):
    """An answer that must be here at a time; what a socket limits is its silence, and a server can drip for hours."""

    def __init__(
        self, sock: socket.socket, debuglevel: int = 0, method: str | None = None, url: str | None = None
    ) -> None:
        super().__init__(sock, debuglevel, method, url)
        self.fp.close()
        self._timed = _TimedSocket(sock, _limits.head)
        self._body_deadline = _limits.body
        self.fp = io.BufferedReader(self._timed)

    def begin(self) -> None:
        super().begin()
        self._timed.deadline = self._body_deadline


class _TimedSocket(io.RawIOBase):
    """What a socket receives, up to a time."""

    def __init__(self, sock: socket.socket, deadline: float) -> None:
        super().__init__()
        self.deadline = deadline
        self._socket = sock
        self._silence = sock.gettimeout()
        self._raw = sock.makefile("rb", buffering=0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int | None:
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._socket.settimeout(left if self._silence is None else min(left, self._silence))
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


class _Connection(HTTPConnection):
    """A connection that looks its host's name up once for all of them."""

    response_class = _TimedAnswer

    def _new_conn(self) -> socket.socket:
        return _connected(self, super()._new_conn)


class _SecureConnection(HTTPSConnection):
    """The same with TLS; the certificate is still checked against the name."""

    response_class = _TimedAnswer

    def _new_conn(self) -> socket.socket:
        return _connected(self, super()._new_conn)


def _connected(connection: HTTPConnection, connect: Callable[[], socket.socket]) -> socket.socket:
    host, port = connection.host, connection.port
    try:
        seconds = connection.timeout if isinstance(connection.timeout, int | float) else _LONGEST_LOOKUP
        addresses = _numeric_addresses(host, port, seconds)
    except socket.gaierror as error:
        raise NameResolutionError(host, connection, error) from error
    try:
        for address in addresses[:-1]:
            connection.host = address
            try:
                return connect()
            except (NewConnectionError, ConnectTimeoutError):
                continue
        connection.host = addresses[-1]
        return connect()
    finally:
        connection.host = host


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Connection


class _SecurePool(HTTPSConnectionPool):
    ConnectionCls = _SecureConnection
