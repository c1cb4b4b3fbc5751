"""What goes wrong on the wire, in the words of the port: no other error goes further up than here."""

from __future__ import annotations

from traceback import clear_frames
from typing import TYPE_CHECKING, Any, TypeAlias

from tocsin.adapters.http.budget import NoRoom
from tocsin.adapters.http.deadlines import DeadlineMissed, Phase
from tocsin.adapters.http.decoding import NotDecodable, TooLong
from tocsin.adapters.http.llhttp.answer import Broken
from tocsin.adapters.http.llhttp.dialling import Unreached
from tocsin.adapters.http.resolver import AddressRefused
from tocsin.adapters.http.wording import one_line
from tocsin.errors import FetchError, FetchFailed, FetchRefused, Shortage, shortage_of
from tocsin.model import FailureKind

if TYPE_CHECKING:
    from collections.abc import Callable

    Readings: TypeAlias = tuple[tuple[type[Exception], Callable[[str, Any], FetchError]], ...]
    """How each error is read; the first that fits counts."""

_OF_PHASE = {
    Phase.DNS: (FailureKind.DNS, "no answer from DNS"),
    Phase.CONNECT: (FailureKind.CONNECT, "no connection"),
    Phase.TLS: (FailureKind.TLS, "no TLS handshake"),
    Phase.FIRST_BYTE: (FailureKind.TIMEOUT, "no complete header of an answer"),
    Phase.BODY: (FailureKind.TIMEOUT, "no complete body"),
}

EXPECTED: tuple[type[Exception], ...] = (
    DeadlineMissed,
    TooLong,
    NoRoom,
    NotDecodable,
    Broken,
    Unreached,
    OSError,
    MemoryError,
    ValueError,
)
"""What can go wrong with a request."""


def translate(url: str, exc: Exception, more: Readings = ()) -> FetchError | Shortage:
    """Give what went wrong as FetchFailed or FetchRefused of this URL; the frames that it came through are let go.

    It is a Shortage where this machine gave us no file, memory or buffer: the URL is not to blame.

    more  how errors are read that are none of ours
    """
    _forget_frames(exc)
    if (shortage := shortage_of(exc)) is not None:
        return shortage
    for kind, read in (*_READINGS, *more):
        if isinstance(exc, kind):
            return read(url, exc)
    # ValueError among the others: a URL or a header that is not sent.
    return broken(url, one_line(exc))


def broken(url: str, how: str) -> FetchError:
    """Say how an answer is none."""
    return FetchFailed(url, FailureKind.PROTOCOL, how)


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


_READINGS: Readings = (
    (DeadlineMissed, _late),
    (TooLong, lambda url, exc: FetchRefused(url, FailureKind.TOO_LARGE, str(exc))),
    (NoRoom, lambda url, exc: FetchFailed(url, FailureKind.TOO_LARGE, str(exc))),
    (Broken, lambda url, exc: broken(url, str(exc))),
    (Unreached, lambda url, exc: FetchFailed(url, exc.kind, str(exc))),
    (AddressRefused, lambda url, exc: FetchRefused(url, FailureKind.BLOCKED_ADDRESS, str(exc))),
    (NotDecodable, lambda url, exc: FetchFailed(url, FailureKind.DECODE, str(exc))),
)
