"""Servers that answer something else than the page, and say in many ways when to come back."""

from __future__ import annotations

from functools import partial

from tests.hostile.behaviour import Behaviour, fails, reads
from tests.hostile.wording import CHANGED_PAGE, answer, chunks, status

DAY_S = 86_400.0
NOT_HELD, HELD_LONGEST = (0.0, 0.0), (DAY_S - 10, DAY_S)


def told(code: bytes) -> Behaviour:
    """A status that is not the page, whatever stands in the body."""
    shown = code.decode()
    return Behaviour(f"answers {shown}", status(code, body=CHANGED_PAGE), fails("status", int(shown[:3])))


def busy(code: bytes, after: bytes, held: tuple[float, float]) -> Behaviour:
    """A host that says when it may be asked again; its gate is closed for so long."""
    shown = after[:30].decode("latin-1")
    page = status(code, b"Retry-After: " + after, body=b"")
    return Behaviour(f"answers {code.decode()}: Retry-After: {shown}", page, fails("status", held=held))


REFUSALS = tuple(
    told(code)
    for code in (
        b"201 Created", b"202 Accepted", b"206 Partial Content", b"207 Multi-Status", b"226 IM Used",
        b"306 Unused", b"400 Bad Request", b"401 Unauthorized", b"402 Payment Required", b"403 Forbidden",
        b"404 Not Found", b"405 Method Not Allowed", b"406 Not Acceptable", b"407 Proxy Authentication Required",
        b"408 Request Timeout", b"409 Conflict", b"410 Gone", b"412 Precondition Failed", b"416 Range Not Satisfiable",
        b"418 I'm a teapot", b"421 Misdirected Request", b"425 Too Early", b"426 Upgrade Required",
        b"428 Precondition Required", b"431 Request Header Fields Too Large", b"451 Unavailable For Legal Reasons",
        b"499 Client Closed", b"500 Internal Server Error", b"501 Not Implemented", b"502 Bad Gateway",
        b"504 Gateway Timeout", b"505 HTTP Version Not Supported", b"511 Network Authentication Required",
        b"520 Unknown", b"599 Timeout", b"600 Odd", b"999 Denied",
    )
)  # fmt: skip

broken = partial(Behaviour, ends=fails("protocol"))

ODD = (
    Behaviour("answers 099", status(b"099 Odd"), fails("status", 99)),
    Behaviour("answers 000", status(b"000 Nothing"), fails("status", 0)),
    broken("answers 20", status(b"20 OK")),
    broken("answers 1000", status(b"1000 OK")),
    broken("answers -200", status(b"-200 OK")),
    broken("answers two hundred", status(b"two hundred")),
    Behaviour("answers 203", answer(CHANGED_PAGE, start=b"HTTP/1.1 203 Elsewhere\r\n"), reads(created="2026-02-02")),
    Behaviour("answers 204", b"HTTP/1.1 204 No Content\r\n\r\n", fails("status", 204)),
    Behaviour("answers 205", b"HTTP/1.1 205 Reset Content\r\nContent-Length: 0\r\n\r\n", fails("status", 205)),
    Behaviour("answers 401 and asks who we are",
              status(b"401 Unauthorized", b'WWW-Authenticate: Basic realm="\x1b[31m", Digest nonce=""'),
              fails("status", 401)),
    Behaviour("answers 404 with a bomb", status(b"404 Not Found", b"Content-Encoding: gzip", body=b"\x1f\x8b" * 9999),
              fails("status", 404)),
    Behaviour("answers 500 in endless chunks", chunks(*[b"x" * 60_000] * 50).replace(b"200 OK", b"500 Odd"),
              fails("status", 500)),
)  # fmt: skip

LIMITS = (
    busy(b"429 Too Many Requests", b"120", (110, 120)),
    busy(b"429 Too Many Requests", b"0", NOT_HELD),
    busy(b"429 Too Many Requests", b"-5", NOT_HELD),
    busy(b"429 Too Many Requests", b"1000000000000", HELD_LONGEST),
    busy(b"429 Too Many Requests", b"9" * 5000, HELD_LONGEST),
    busy(b"429 Too Many Requests", b"1e9", NOT_HELD),
    busy(b"429 Too Many Requests", b"1.5", NOT_HELD),
    busy(b"429 Too Many Requests", b"+120", NOT_HELD),
    busy(b"429 Too Many Requests", b"120, 240", NOT_HELD),
    busy(b"429 Too Many Requests", b"", NOT_HELD),
    busy(b"429 Too Many Requests", b"soon", NOT_HELD),
    busy(b"429 Too Many Requests", b"\xb2\xb3", NOT_HELD),
    busy(b"429 Too Many Requests", "١٢٠".encode(), NOT_HELD),
    busy(b"429 Too Many Requests", b"NaN", NOT_HELD),
    busy(b"429 Too Many Requests", b"Sun, 06 Nov 1994 08:49:37 GMT", NOT_HELD),
    busy(b"429 Too Many Requests", b"Sunday, 06-Nov-94 08:49:37 GMT", NOT_HELD),
    busy(b"429 Too Many Requests", b"Sun Nov  6 08:49:37 1994", NOT_HELD),
    busy(b"429 Too Many Requests", b"Fri, 31 Dec 9999 23:59:59 GMT", HELD_LONGEST),
    busy(b"429 Too Many Requests", b"Fri, 31 Dec 99999 23:59:59 GMT", NOT_HELD),
    busy(b"429 Too Many Requests", b"Fri, 32 Dec 2100 25:61:61 GMT", NOT_HELD),
    busy(b"429 Too Many Requests", b"2100-01-01T00:00:00Z", NOT_HELD),
    busy(b"503 Service Unavailable", b"120", (110, 120)),
    busy(b"503 Service Unavailable", b"1000000000000", HELD_LONGEST),
    Behaviour("answers 429 without a Retry-After", status(b"429 Too Many Requests"),
              fails("status", 429, held=NOT_HELD)),
    Behaviour("answers 503 without a Retry-After", status(b"503 Service Unavailable"),
              fails("status", 503, held=NOT_HELD)),
    Behaviour("answers 429 with two of Retry-After",
              status(b"429 Too Many Requests", b"Retry-After: 60", b"Retry-After: 9999"),
              fails("status", 429, held=(50, 60))),
    Behaviour("answers 404 with a Retry-After", status(b"404 Not Found", b"Retry-After: 3600"),
              fails("status", 404, held=NOT_HELD)),
    Behaviour("answers 200 with a Retry-After", answer(CHANGED_PAGE, b"Retry-After: 3600"),
              reads(created="2026-02-02")),
)  # fmt: skip

STATUSES = (*REFUSALS, *ODD, *LIMITS)
