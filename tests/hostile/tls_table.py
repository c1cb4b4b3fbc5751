"""Servers whose encryption vouches for nothing: certificates, protocols, and what is no TLS at all."""

from __future__ import annotations

import ssl
import warnings
from functools import partial

from tests.hostile.behaviour import PLENTY_S, UNCHANGED, Behaviour, fails, reads
from tests.hostile.certificates import server_tls
from tests.hostile.wording import (
    CHANGED_PAGE,
    OK,
    TYPE,
    answer,
    drip,
    flood,
    redirect,
    then_hold,
    then_reset,
    unframed,
    without_farewell,
)
from tests.origin import Talk, cut, hang, reset

refused = partial(Behaviour, page=answer(CHANGED_PAGE), ends=fails("tls"))


def shown(name: str) -> Behaviour:
    """A server that shows this certificate."""
    return refused(f"TLS: {name}", tls=partial(server_tls, name))


def plainly(name: str, greeting: Talk | None, *, tls_s: float = PLENTY_S) -> Behaviour:
    """A server that begins without TLS."""
    return refused(f"TLS: {name}", tls=nothing, greeting=greeting, tls_s=tls_s)


def nothing() -> None:
    """No encryption."""


def good() -> ssl.SSLContext:
    """All is as it should be."""
    return server_tls()


def old(version: int) -> ssl.SSLContext:
    """A server that speaks no newer protocol than TLS 1.0, or 1.1."""
    context = server_tls()
    context.set_ciphers("ALL:@SECLEVEL=0")
    with warnings.catch_warnings():
        # Python would rather that nobody spoke these.
        warnings.simplefilter("ignore", DeprecationWarning)
        context.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
        context.maximum_version = (ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1)[version]
    return context


def demanding() -> ssl.SSLContext:
    """A server that wants a certificate of ours."""
    context = server_tls()
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.verify_mode = ssl.CERT_REQUIRED
    return context


TLS = (
    shown("expired"),
    shown("early"),
    shown("elsewhere"),
    shown("stranger"),
    shown("selfsigned"),
    refused("TLS: 1.0", tls=partial(old, 0)),
    refused("TLS: 1.1", tls=partial(old, 1)),
    refused("TLS: wants a certificate of ours", tls=demanding),
    plainly("plain HTTP on its port", then_hold(answer(CHANGED_PAGE))),
    plainly("plain HTTP once it was spoken to", None, tls_s=0.3),
    plainly("silence", hang, tls_s=0.3),
    plainly("closes at once", cut),
    plainly("resets at once", reset),
    plainly("bytes without meaning", then_hold(bytes(range(256)) * 8)),
    plainly("bytes without meaning, for ever", flood(b"", bytes(range(256)) * 8)),
    plainly("an alert", then_hold(b"\x15\x03\x03\x00\x02\x02\x28")),
    plainly("an alert for ever, as a warning", flood(b"", b"\x15\x03\x03\x00\x02\x01\x5a")),
    plainly("half a record", then_hold(b"\x16\x03\x03\x40\x00\x02"), tls_s=0.3),
    plainly("a record that drips", drip(b"\x16\x03\x03\x40\x00", b"\x02"), tls_s=0.3),
    plainly("reset in the handshake", then_reset(b"\x16\x03\x03\x40\x00\x02")),
    Behaviour("TLS: as it should be", answer(CHANGED_PAGE), reads(created="2026-02-02"), tls=good),
    Behaviour("TLS: cut off in the body", OK + TYPE + b"Content-Length: 999\r\n\r\nhello", fails("protocol"), tls=good),
    Behaviour("TLS: reset in the body", then_reset(OK + TYPE + b"Content-Length: 999\r\n\r\nhello"), fails("protocol"),
              tls=good),
    Behaviour("TLS: reset in a body without a length", then_reset(unframed(CHANGED_PAGE)), fails("protocol"), tls=good),
    Behaviour("TLS: ends without a farewell, the length unknown", without_farewell(unframed(CHANGED_PAGE)),
              fails("protocol"), tls=good),
    Behaviour("TLS: ends without a farewell, the length known", without_farewell(answer(CHANGED_PAGE)),
              reads(created="2026-02-02"), tls=good),
    Behaviour("TLS: ends with a farewell, the length unknown", unframed(CHANGED_PAGE),
              reads(created="2026-02-02"), tls=good),
    Behaviour("TLS: hangs in the body", then_hold(OK + TYPE + b"Content-Length: 999\r\n\r\nhello"), fails("timeout"),
              tls=good, total_s=0.8),
    Behaviour("TLS: never answers", hang, fails("timeout"), tls=good, total_s=0.8, phase_s=0.3),
    Behaviour("TLS: redirects to plain HTTP on its port", redirect(b"http://127.0.0.1:@PORT@/moved"),
              fails("protocol"), tls=good),
    Behaviour("TLS: another certificate that is as good", answer(), UNCHANGED, tls=good),
)  # fmt: skip
