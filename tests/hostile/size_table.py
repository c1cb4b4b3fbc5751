"""Servers that send too much: headers, bodies, and what a few coded bytes become."""

from __future__ import annotations

import zlib
from functools import partial
from random import Random

from tests.hostile.behaviour import KIBI, MEBI, Behaviour, fails, reads
from tests.hostile.wording import (
    CHANGED_PAGE,
    CHUNKED,
    END,
    OK,
    TYPE,
    answer,
    chunks,
    coded,
    flood,
    redirect,
    status,
    unframed,
    zipped,
)

HEAD = OK + TYPE
LINE = b"X-Filler: " + b"y" * 90 + END
GZIP = b"Content-Encoding: gzip"

broken = partial(Behaviour, ends=fails("protocol"))
large = partial(Behaviour, ends=fails("too-large"))
garbled = partial(Behaviour, ends=fails("decode"))
read = partial(Behaviour, ends=reads(created="2026-02-02"))


def deflated(body: bytes, wbits: int = 15) -> bytes:
    """Coded with zlib's format, or raw with negative bits."""
    coder = zlib.compressobj(9, wbits=wbits)
    return coder.compress(body) + coder.flush()


NOTHING = bytes(40 * MEBI)
BOMB = zipped(NOTHING)
"""40 KB that become 40 MB."""
NOISE = Random(1).randbytes(300 * KIBI)  # noqa: S311 - the same bytes each time
CODED = zipped(CHANGED_PAGE)

HEADERS = (
    broken("header line of a megabyte", HEAD + b"X: " + b"y" * MEBI + END + END),
    broken("header line that never ends", flood(HEAD + b"X: ", b"y" * 4096)),
    broken("header name that never ends", flood(HEAD, b"y" * 4096)),
    broken("header lines, ten thousand", HEAD + LINE * 10_000 + END),
    broken("header lines for ever", flood(HEAD, LINE * 50)),
    broken("header lines of nothing but a letter, for ever", flood(HEAD, b"a:\r\n" * 500)),
    broken("reason phrase that never ends", flood(b"HTTP/1.1 200 ", b"y" * 4096)),
    broken("status line that never ends", flood(b"HTTP/1.1 ", b"2" * 4096)),
    broken("trailers for ever", flood(HEAD + CHUNKED + END + b"1\r\nx\r\n0\r\n", LINE * 50)),
    large("chunk size that never ends", flood(HEAD + CHUNKED + END, b"0" * 4096)),
    large("chunk extension that never ends", flood(HEAD + CHUNKED + END + b"1;", b"x" * 4096)),
    broken("Location of 40 KB", redirect(b"/" + b"y" * 40 * KIBI)),
    broken("Content-Type of 100 KB", answer(CHANGED_PAGE, content_type=b"Content-Type: " + b"y" * 100 * KIBI + END)),
    read("cookies, two hundred", answer(CHANGED_PAGE, *[b"Set-Cookie: a%d=%s" % (n, b"b" * 100) for n in range(200)])),
)

BODIES = (
    large("body announced with ten gigabytes", HEAD + b"Content-Length: 10737418240\r\n\r\n<p>"),
    large("body without a length, for ever", flood(unframed(b""), b"x" * 65536)),
    large("body of white space, for ever", flood(unframed(b""), b" \n" * 4096)),
    large("body of comments, for ever", flood(unframed(b""), b"<!-- -->" * 1000)),
    large("chunks for ever", flood(HEAD + CHUNKED + END, b"10000\r\n" + b"x" * 65536 + END)),
    large("chunks of one byte, for ever", flood(HEAD + CHUNKED + END, b"1\r\nx\r\n" * 1000)),
    large("chunk of an exabyte", flood(HEAD + CHUNKED + END + b"fffffffffffffff\r\n", b"x" * 65536)),
    large("body one byte longer than its cap", answer(b"x" * (256 * KIBI + 1))),
    read("body as long as its cap", answer(CHANGED_PAGE.ljust(256 * KIBI))),
    large("noise that cannot be made shorter", coded(b"gzip", zipped(NOISE))),
)

BOMBS = (
    large("bomb in gzip", coded(b"gzip", BOMB)),
    large("bomb in gzip, in chunks", chunks(*(BOMB[at : at + 100] for at in range(0, len(BOMB), 100)))
          .replace(TYPE, TYPE + GZIP + END)),
    large("bomb in gzip without a length", unframed(BOMB, GZIP)),
    large("bomb in x-gzip", coded(b"x-gzip", BOMB)),
    large("bomb in deflate", coded(b"deflate", deflated(NOTHING))),
    large("bomb in raw deflate", coded(b"deflate", deflated(NOTHING, -15))),
    large("bomb in a bomb", coded(b"gzip, gzip", zipped(BOMB))),
    large("bomb in deflate in gzip", coded(b"deflate, gzip", zipped(deflated(NOTHING)))),
    large("bomb in two headers", answer(zipped(BOMB), GZIP, GZIP)),
    large("bomb of many members", coded(b"gzip", zipped(bytes(100 * KIBI)) * 100)),
    large("bomb in one byte per packet's worth", coded(b"gzip", zipped(b"<p>" + NOTHING))),
    large("members of nothing, for ever", flood(unframed(b"", GZIP), zipped(b"") * 100)),
    large("file name in gzip that never ends", flood(unframed(b"\x1f\x8b\x08\x08" + bytes(6), GZIP), b"x" * 4096)),
    Behaviour("bomb in an error", status(b"404 Not Found", GZIP, body=BOMB), fails("status", 404)),
    Behaviour("bomb in a busy answer", status(b"503 Busy", GZIP, body=BOMB), fails("status", 503)),
    Behaviour("error for ever", flood(unframed(b"").replace(b"200 OK", b"404 No"), b"x" * 65536), fails("status", 404)),
    Behaviour("redirection for ever", flood(b"HTTP/1.1 302 Found\r\nLocation: /gone\r\n\r\n", b"x" * 65536),
              fails("status", 404)),
)  # fmt: skip

CODINGS = (
    read("gzip of two members", coded(b"gzip", zipped(CHANGED_PAGE[:40]) + zipped(CHANGED_PAGE[40:]))),
    read("gzip twice", coded(b"gzip, gzip", zipped(CODED))),
    read("deflate, raw", coded(b"deflate", deflated(CHANGED_PAGE, -15))),
    read("identity", coded(b"identity", CHANGED_PAGE)),
    read("codings with empty places", coded(b", gzip ,,", CODED)),
    read("codings in capitals", coded(b"GZIP", CODED)),
    garbled("gzip three times", coded(b"gzip, gzip, gzip", zipped(zipped(CODED)))),
    garbled("codings, a hundred", coded(b", ".join([b"gzip"] * 100), CODED)),
    garbled("gzip with garbage behind", coded(b"gzip", CODED + b"garbage")),
    garbled("gzip with NULs behind", coded(b"gzip", CODED + bytes(9))),
    garbled("gzip that is cut off", coded(b"gzip", CODED[:-9])),
    garbled("gzip that is cut off in its header", coded(b"gzip", CODED[:5])),
    garbled("gzip with a wrong checksum", coded(b"gzip", CODED[:-8] + b"\0\0\0\0" + CODED[-4:])),
    garbled("gzip with a wrong length", coded(b"gzip", CODED[:-4] + b"\xff\xff\xff\xff")),
    garbled("gzip of another method", coded(b"gzip", b"\x1f\x8b\x07" + CODED[3:])),
    garbled("gzip that says deflate", coded(b"deflate", CODED)),
    garbled("deflate that says gzip", coded(b"gzip", deflated(CHANGED_PAGE))),
    garbled("deflate with garbage behind", coded(b"deflate", deflated(CHANGED_PAGE) + b"garbage")),
    garbled("deflate with a dictionary", coded(b"deflate", b"\x78\xbb\x00\x00\x00\x01" + deflated(CHANGED_PAGE)[2:])),
    garbled("plain text that says gzip", coded(b"gzip", CHANGED_PAGE)),
    garbled("brotli without being asked", coded(b"br", b"\x0b\x02\x80hello\x03")),
    garbled("zstd without being asked", coded(b"zstd", b"\x28\xb5\x2f\xfd\x20\x05\x29\x00\x00hello")),
    garbled("compress without being asked", coded(b"compress", b"\x1f\x9d\x90h\xca")),
    garbled("coding that nobody knows", coded(b"aes128gcm", CHANGED_PAGE)),
    garbled("coding of strange bytes", coded(b"\xe9\xff\x1b[31m", CHANGED_PAGE)),
    Behaviour("gzip of no bytes", coded(b"gzip", b""), fails("empty")),
    Behaviour("gzip of nothing", coded(b"gzip", zipped(b"")), fails("empty")),
    Behaviour("gzip with the length of what it becomes",
              coded(b"gzip", CODED).replace(b"Length: %d" % len(CODED), b"Length: %d" % (2 * len(CODED))),
              fails("protocol")),
)  # fmt: skip

SIZES = (*HEADERS, *BODIES, *BOMBS, *CODINGS)
