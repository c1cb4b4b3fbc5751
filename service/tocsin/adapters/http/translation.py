"""Errors on the wire, translated to the errors of the port."""

from __future__ import annotations

from traceback import clear_frames

from tocsin.adapters.http.budget import BodiesTooLarge
from tocsin.adapters.http.deadlines import DeadlineMissed, Phase
from tocsin.adapters.http.decoding import NotDecodable, TooLong
from tocsin.adapters.http.llhttp.answer import BrokenAnswer
from tocsin.adapters.http.llhttp.connection import NotConnected
from tocsin.adapters.http.resolver import AddressRefused
from tocsin.adapters.http.wording import one_line
from tocsin.errors import FetchError, FetchFailed, FetchRefused, Shortage, shortage_of
from tocsin.model import FailureKind

_OF_PHASE = {
    Phase.DNS: (FailureKind.DNS, "no answer from DNS"),
    Phase.CONNECT: (FailureKind.CONNECT, "no connection"),
    Phase.TLS: (FailureKind.TLS, "no TLS handshake"),
    Phase.FIRST_BYTE: (FailureKind.TIMEOUT, "no complete header of an answer"),
    Phase.BODY: (FailureKind.TIMEOUT, "no complete body"),
}

_TRANSLATED: tuple[tuple[type[Exception], type[FetchFailed | FetchRefused], FailureKind], ...] = (
    (TooLong, FetchRefused, FailureKind.TOO_LARGE),
    (AddressRefused, FetchRefused, FailureKind.BLOCKED_ADDRESS),
    (BodiesTooLarge, FetchFailed, FailureKind.TOO_LARGE),
    (NotDecodable, FetchFailed, FailureKind.DECODE),
    (BrokenAnswer, FetchFailed, FailureKind.PROTOCOL),
)

EXPECTED: tuple[type[Exception], ...] = (
    DeadlineMissed,
    TooLong,
    BodiesTooLarge,
    NotDecodable,
    BrokenAnswer,
    NotConnected,
    OSError,
    MemoryError,
    ValueError,
)
"""What can go wrong with a request."""


def translate(url: str, exc: Exception) -> FetchError | Shortage:
    """Give an expected error as FetchFailed or FetchRefused of this URL, or as Shortage where this machine is short."""
    _clear_frames(exc)
    if (shortage := shortage_of(exc)) is not None:
        return shortage
    if isinstance(exc, DeadlineMissed):
        kind, what = _OF_PHASE[exc.phase]
        setting = "total" if exc.total else exc.phase.value
        text = f"{what} within {exc.limit_s:g} s (fetch.deadlines.{setting})"
        return FetchFailed(url, FailureKind.TIMEOUT if exc.total else kind, text)
    if isinstance(exc, NotConnected):
        return FetchFailed(url, exc.kind, str(exc))
    for kind_of_error, translated, kind in _TRANSLATED:
        if isinstance(exc, kind_of_error):
            return translated(url, kind, str(exc))
    # ValueError among others: a URL or a header that is not sent.
    return FetchFailed(url, FailureKind.PROTOCOL, one_line(exc))


def _clear_frames(exc: BaseException | None) -> None:
    """Free the frames of an error, above all the pieces of a body: the error outlives them."""
    while exc is not None:
        clear_frames(exc.__traceback__)
        exc = exc.__cause__
