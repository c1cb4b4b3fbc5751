"""Servers that answer before they answer: RFC 9110, 15.2, of which a set takes five."""

from __future__ import annotations

from functools import partial

from tests.hostile.behaviour import Behaviour, fails, reads
from tests.hostile.wording import CHANGED_PAGE, answer, drip, flood, in_pieces, then_hold

FINAL = answer(CHANGED_PAGE)
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
HINTS = b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n"

broken = partial(Behaviour, ends=fails("protocol"))
refused = partial(Behaviour, ends=fails("status", 101))
read = partial(Behaviour, ends=reads(created="2026-02-02"))

INTERIM = (
    read("100 once", CONTINUE + FINAL),
    read("100 five times", CONTINUE * 5 + FINAL),
    Behaviour("100 for ever, slowly", drip(b"", CONTINUE, pause_s=0.15), fails("timeout"), total_s=0.8, phase_s=0.3),
    Behaviour("100 and no more", then_hold(CONTINUE), fails("timeout"), total_s=0.8, phase_s=0.3),
    broken("100 six times", CONTINUE * 6 + FINAL),
    broken("100 six times, each by itself", in_pieces([*[CONTINUE] * 6, FINAL])),
    broken("100 for ever", flood(b"", CONTINUE * 100)),
    broken("103 for ever", flood(b"", HINTS * 100)),
    broken("100 and the end", CONTINUE),
    read("103 with hints", HINTS + FINAL),
    broken("103 with a header that never ends", flood(HINTS[:-2], b"X: " + b"y" * 1000 + b"\r\n")),
    read("102, 103 and 199", b"HTTP/1.1 102 Processing\r\n\r\n" + HINTS + b"HTTP/1.1 199 Odd\r\n\r\n" + FINAL),
    refused("101 without being asked", b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n"
           b"Connection: Upgrade\r\n\r\n" + FINAL),
    refused("101 and silence", then_hold(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
           b"Connection: Upgrade\r\n\r\n")),
    broken("100 with a body", CONTINUE[:-2] + b"Content-Length: 5\r\n\r\nhello" + FINAL),
    broken("100 in another protocol", b"ICY 100 Continue\r\n\r\n" + FINAL),
)  # fmt: skip
