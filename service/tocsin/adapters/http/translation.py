"""What goes wrong on the wire, in the words of the port: no error of aiohttp goes further up than here."""

from __future__ import annotations

import os
import ssl
from contextlib import contextmanager
from typing import TYPE_CHECKING

import aiohttp

from tocsin.adapters.http.budget import NoRoom
from tocsin.adapters.http.deadlines import DeadlineMissed, Phase
from tocsin.adapters.http.decoding import NotDecodable, TooLong
from tocsin.adapters.http.pool import Disconnected
from tocsin.adapters.http.resolver import AddressRefused
from tocsin.adapters.http.tls import Untrusted
from tocsin.adapters.http.wording import one_line
from tocsin.errors import FetchError, FetchFailed, FetchRefused
from tocsin.model import FailureKind

if TYPE_CHECKING:
    from collections.abc import Iterator

_OF_PHASE = {
    Phase.DNS: (FailureKind.DNS, "no answer from DNS"),
    Phase.CONNECT: (FailureKind.CONNECT, "no connection"),
    Phase.TLS: (FailureKind.TLS, "no TLS handshake"),
    Phase.FIRST_BYTE: (FailureKind.TIMEOUT, "no complete header of an answer"),
    Phase.BODY: (FailureKind.TIMEOUT, "no complete body"),
}
_CUT_OFF = (ConnectionResetError, ConnectionAbortedError, BrokenPipeError)


@contextmanager
def translated(url: str) -> Iterator[None]:
    """Raise what goes wrong inside as FetchFailed or FetchRefused of this URL."""
    try:
        yield
    except DeadlineMissed as exc:
        raise _late(url, exc) from exc
    except TooLong as exc:
        raise FetchRefused(url, FailureKind.TOO_LARGE, str(exc)) from exc
    except (NoRoom, NotDecodable) as exc:
        kind = FailureKind.TOO_LARGE if isinstance(exc, NoRoom) else FailureKind.DECODE
        raise FetchFailed(url, kind, str(exc)) from exc
    except aiohttp.ClientConnectorError as exc:
        raise _unconnected(url, exc) from exc
    except aiohttp.ClientHttpProxyError as exc:
        raise FetchFailed(url, FailureKind.CONNECT, f"the proxy answered {exc.status} {one_line(exc.message)}") from exc
    except aiohttp.ClientResponseError as exc:
        raise FetchFailed(url, FailureKind.PROTOCOL, f"not an answer of HTTP: {one_line(exc.message)}") from exc
    except Disconnected as exc:
        raise FetchFailed(url, FailureKind.PROTOCOL, "the server closed the connection before it answered") from exc
    except aiohttp.ClientPayloadError as exc:
        raise FetchFailed(url, FailureKind.PROTOCOL, f"the body is not complete: {_why_cut(exc)}") from exc
    except (aiohttp.ClientError, OSError, ValueError) as exc:
        # ValueError: a URL or a header that aiohttp does not send.
        raise FetchFailed(url, FailureKind.PROTOCOL, one_line(exc)) from exc


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


def _why_cut(exc: aiohttp.ClientPayloadError) -> str:
    cause = exc.__cause__
    return one_line(getattr(cause, "message", None) or cause or exc)
