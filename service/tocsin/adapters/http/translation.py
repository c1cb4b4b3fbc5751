"""What goes wrong on the wire, in the words of the port: no error of aiohttp goes further up than here."""

from __future__ import annotations

import os
import ssl
from contextlib import contextmanager
from traceback import clear_frames
from typing import TYPE_CHECKING, Any

import aiohttp

from tocsin.adapters.http.budget import NoRoom
from tocsin.adapters.http.deadlines import DeadlineMissed, Phase
from tocsin.adapters.http.decoding import NotDecodable, TooLong
from tocsin.adapters.http.lean.answer import Broken
from tocsin.adapters.http.lean.dialling import Unreached
from tocsin.adapters.http.pool import Disconnected
from tocsin.adapters.http.resolver import AddressRefused
from tocsin.adapters.http.tls import Untrusted
from tocsin.adapters.http.wording import one_line
from tocsin.errors import FetchError, FetchFailed, FetchRefused
from tocsin.model import FailureKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_OF_PHASE = {
    Phase.DNS: (FailureKind.DNS, "no answer from DNS"),
    Phase.CONNECT: (FailureKind.CONNECT, "no connection"),
    Phase.TLS: (FailureKind.TLS, "no TLS handshake"),
    Phase.FIRST_BYTE: (FailureKind.TIMEOUT, "no complete header of an answer"),
    Phase.BODY: (FailureKind.TIMEOUT, "no complete body"),
}
_CUT_OFF = (ConnectionResetError, ConnectionAbortedError, BrokenPipeError)


EXPECTED: tuple[type[Exception], ...] = (
    DeadlineMissed,
    TooLong,
    NoRoom,
    NotDecodable,
    Broken,
    Unreached,
    Disconnected,
    aiohttp.ClientError,
    OSError,
    ValueError,
)
"""What can go wrong with a request."""


@contextmanager
def translated(url: str) -> Iterator[None]:
    """Raise what goes wrong inside as FetchFailed or FetchRefused of this URL."""
    try:
        yield
    except EXPECTED as exc:
        raise translate(url, exc) from exc


def translate(url: str, exc: Exception) -> FetchError:
    """Give what went wrong as FetchFailed or FetchRefused of this URL; the frames that it came through are let go."""
    _forget_frames(exc)
    return next(read for kind, read in _READINGS if isinstance(exc, kind))(url, exc)


def _forget_frames(exc: BaseException | None) -> None:
    """Let go of what the frames of an error hold, above all the pieces of a body; the error outlives them."""
    while exc is not None:
        clear_frames(exc.__traceback__)
        exc = exc.__cause__


def _late(url: str, missed: DeadlineMissed) -> FetchError:
    kind, what = _OF_PHASE[missed.phase]
    setting = "total" if missed.total else missed.phase.value
    text = f"{what} within {missed.limit_s:g} s (fetch.deadlines.{setting})"
    return FetchFailed(url, FailureKind.TIMEOUT if missed.total else kind, text)


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


def _broken(url: str, how: str) -> FetchError:
    return FetchFailed(url, FailureKind.PROTOCOL, how)


def _why_cut(exc: aiohttp.ClientPayloadError) -> str:
    cause = exc.__cause__
    return one_line(getattr(cause, "message", None) or cause or exc)


_READINGS: tuple[tuple[type[Exception], Callable[[str, Any], FetchError]], ...] = (
    (DeadlineMissed, _late),
    (TooLong, lambda url, exc: FetchRefused(url, FailureKind.TOO_LARGE, str(exc))),
    (NoRoom, lambda url, exc: FetchFailed(url, FailureKind.TOO_LARGE, str(exc))),
    (Broken, lambda url, exc: _broken(url, str(exc))),
    (Unreached, lambda url, exc: FetchFailed(url, exc.kind, str(exc))),
    (AddressRefused, lambda url, exc: FetchRefused(url, FailureKind.BLOCKED_ADDRESS, str(exc))),
    (NotDecodable, lambda url, exc: FetchFailed(url, FailureKind.DECODE, str(exc))),
    (aiohttp.ClientConnectorError, _unconnected),
    (aiohttp.ClientHttpProxyError, _refused_by_proxy),
    (aiohttp.ClientResponseError, lambda url, exc: _broken(url, f"not an answer of HTTP: {one_line(exc.message)}")),
    (Disconnected, lambda url, _exc: _broken(url, "the server closed the connection before it answered")),
    (aiohttp.ClientPayloadError, lambda url, exc: _broken(url, f"the body is not complete: {_why_cut(exc)}")),
    # ValueError among the others: a URL or a header that is not sent.
    (Exception, lambda url, exc: _broken(url, one_line(exc))),
)
"""How each error is read; the first that fits counts."""
