"""Servers that take their time: each phase that can be late, and each pace at which bytes can come."""

from __future__ import annotations

from functools import partial

from tests.hostile.behaviour import UNCHANGED, Behaviour, fails, reads
from tests.hostile.wording import (
    CHANGED_PAGE,
    CHUNKED,
    END,
    GOOD_PAGE,
    OK,
    TYPE,
    after,
    answer,
    drip,
    letter_by_letter,
    redirect,
    status,
    then_hold,
    unframed,
    zipped,
)
from tests.origin import hang

HEAD = OK + TYPE
LENGTH = b"Content-Length: 100000\r\n\r\n"
LATE = fails("timeout")

late = partial(Behaviour, ends=LATE, total_s=0.8, phase_s=0.3)

TIME = (
    late("never answers", hang),
    late("drips the status line", letter_by_letter(answer())),
    late("drips header lines", drip(HEAD, b"X: y\r\n")),
    late("drips one header value", drip(HEAD + b"X: ", b"y")),
    late("never ends its header", then_hold(HEAD)),
    late("never ends a header line", then_hold(HEAD + b"X: y")),
    late("sends empty lines and no status", drip(b"", b"\r\n")),
    Behaviour("sends spaces and no status", drip(b"", b" "), fails("protocol")),
    late("says HTTP and no more", then_hold(b"HTTP/1.1")),
    late("never begins its body", then_hold(HEAD + LENGTH)),
    late("never begins its chunks", then_hold(HEAD + CHUNKED + END)),
    late("drips a body with a length", drip(HEAD + LENGTH)),
    late("drips a body without a length", drip(unframed(b""))),
    late("drips chunks", drip(HEAD + CHUNKED + END, b"1\r\nx\r\n")),
    late("drips the size of a chunk", drip(HEAD + CHUNKED + END, b"0")),
    late("drips the extension of a chunk", drip(HEAD + CHUNKED + END + b"1;", b"x")),
    late("drips trailers", drip(HEAD + CHUNKED + END + b"1\r\nx\r\n0\r\n", b"X: y\r\n")),
    late("never sends the last byte", then_hold(answer()[:-1])),
    late("never sends the last chunk", then_hold(HEAD + CHUNKED + END + b"5\r\nhello\r\n")),
    late("never ends its trailers", then_hold(HEAD + CHUNKED + END + b"5\r\nhello\r\n0\r\n")),
    late("holds a body without a length open", then_hold(unframed(GOOD_PAGE))),
    late("holds a coded body without a length open", then_hold(unframed(zipped(GOOD_PAGE), b"Content-Encoding: gzip"))),
    late("stops in the middle of coded data", then_hold(answer(zipped(GOOD_PAGE), b"Content-Encoding: gzip")[:-4])),
    late("pauses longer than everything may take", after(9.0, answer(CHANGED_PAGE))),
    late("hangs behind a redirection", redirect(b"/moved"), paths={"/moved": hang}),
    late("is slow at each of many hops", redirect(b"/1"),
         paths={f"/{hop}": after(0.15, redirect(b"/%d" % (hop + 1))) for hop in range(1, 11)}),
    Behaviour("holds a whole answer open", then_hold(answer()), UNCHANGED),
    Behaviour("holds whole chunks open", then_hold(HEAD + CHUNKED + END + b"0\r\n\r\n"), fails("empty")),
    Behaviour("is slow within its deadlines", after(0.1, answer(CHANGED_PAGE)), reads(created="2026-02-02")),
    Behaviour("drips the body of an error", drip(status(b"404 Not Found", b"X: y", body=b"x" * 9000)[:-8000]),
         fails("status", 404)),
    Behaviour("drips the body of a redirection", drip(redirect(b"/moved").replace(b"th: 0", b"th: 9999")), UNCHANGED,
         paths={"/moved": answer()}),
)  # fmt: skip
