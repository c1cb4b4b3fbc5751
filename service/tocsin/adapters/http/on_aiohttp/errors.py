"""The errors of aiohttp, in the words of the port: none goes further up than here."""

from __future__ import annotations

import os
import ssl
from contextlib import contextmanager
from typing import TYPE_CHECKING

import aiohttp

from tocsin.adapters.http.on_aiohttp.pool import Disconnected
from tocsin.adapters.http.resolver import AddressRefused
from tocsin.adapters.http.tls import Untrusted
from tocsin.adapters.http.translation import EXPECTED, broken, translate
from tocsin.adapters.http.wording import one_line
from tocsin.errors import FetchError, FetchFailed, FetchRefused, shortage_of
from tocsin.model import FailureKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.adapters.http.translation import Readings

_EXPECTED: tuple[type[Exception], ...] = (*EXPECTED, Disconnected, aiohttp.ClientError)
_CUT_OFF = (ConnectionResetError, ConnectionAbortedError, BrokenPipeError)


@contextmanager
def translated(url: str) -> Iterator[None]:
    """Raise what goes wrong inside as FetchFailed or FetchRefused of this URL."""
    try:
        yield
    except _EXPECTED as exc:
        if (
            isinstance(exc, aiohttp.ClientConnectorError)
            and (short := shortage_of(exc.os_error, ports=True)) is not None
        ):
            raise short from exc
        raise translate(url, exc, _READINGS) from exc


def _unconnected(url: str, exc: aiohttp.ClientConnectorError) -> FetchError:
    cause: Exception = (
        exc.certificate_error if isinstance(exc, aiohttp.ClientConnectorCertificateError) else exc.os_error
    )
    if isinstance(cause, AddressRefused):
        return FetchRefused(url, FailureKind.BLOCKED_ADDRESS, str(cause))
    if isinstance(exc, aiohttp.ClientConnectorDNSError):
        return FetchFailed(url, FailureKind.DNS, str(cause))
    to = "the proxy: " if isinstance(exc, aiohttp.ClientProxyConnectionError) else ""
    if isinstance(cause, Untrusted):
        return FetchFailed(url, FailureKind.TLS, to + cause.why)
    if isinstance(cause, ssl.SSLError | ssl.CertificateError):
        return FetchFailed(url, FailureKind.TLS, to + one_line(cause))
    if exc.ssl is not False and url.startswith("https:") and isinstance(cause, _CUT_OFF):
        return FetchFailed(url, FailureKind.TLS, f"{to}cut off during the handshake")
    what = os.strerror(cause.errno).lower() if isinstance(cause, OSError) and cause.errno else one_line(cause)
    return FetchFailed(url, FailureKind.CONNECT, to + what)


def _refused_by_proxy(url: str, exc: aiohttp.ClientHttpProxyError) -> FetchError:
    return FetchFailed(url, FailureKind.CONNECT, f"the proxy answered {exc.status} {one_line(exc.message)}")


def _why_cut(exc: aiohttp.ClientPayloadError) -> str:
    cause = exc.__cause__
    return one_line(getattr(cause, "message", None) or cause or exc)


_READINGS: Readings = (
    (aiohttp.ClientConnectorError, _unconnected),
    (aiohttp.ClientHttpProxyError, _refused_by_proxy),
    (aiohttp.ClientResponseError, lambda url, exc: broken(url, f"not an answer of HTTP: {one_line(exc.message)}")),
    (Disconnected, lambda url, _exc: broken(url, "the server closed the connection before it answered")),
    (aiohttp.ClientPayloadError, lambda url, exc: broken(url, f"the body is not complete: {_why_cut(exc)}")),
)
