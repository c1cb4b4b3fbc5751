"""Servers that break the framing of HTTP: lengths, chunks, lines, protocols, and connections that end anywhere."""

from __future__ import annotations

from functools import partial

from tests.hostile.behaviour import UNCHANGED, Behaviour, fails, reads
from tests.hostile.wording import (
    CHANGED_PAGE,
    CHUNKED,
    END,
    OK,
    TYPE,
    answer,
    chunks,
    in_pieces,
    then_reset,
    unframed,
)
from tests.origin import Talk, cut, reset

HEAD = OK + TYPE
CHANGED = reads(created="2026-02-02")
BODY = CHANGED_PAGE
SIZE = b"%d" % len(BODY)

broken = partial(Behaviour, ends=fails("protocol"))
read = partial(Behaviour, ends=CHANGED)


def sized(length: bytes, body: bytes = BODY) -> bytes:
    """An answer with this for its Content-Length."""
    return HEAD + b"Content-Length: " + length + b"\r\n\r\n" + body


def lined(line: bytes) -> bytes:
    """A proper answer with one more header line, its end included."""
    return HEAD + line + b"Content-Length: " + SIZE + b"\r\n\r\n" + BODY


def chunked(raw: bytes) -> bytes:
    """An answer in chunks, its body as it is given."""
    return HEAD + CHUNKED + END + raw


def late_rest(rest: bytes) -> Talk:
    """A proper answer on a connection that is kept, and bytes that belong to nothing a moment later."""
    return in_pieces([answer(BODY), rest], pause_s=0.05)


CHUNK = b"%x\r\n%b\r\n" % (len(BODY), BODY)
LAST = b"0\r\n\r\n"

LENGTHS = (
    broken("length too long", sized(b"100000")),
    read("length too short, with more behind it", sized(SIZE, BODY + b"<meta name=created content=2026-03-03>")),
    Behaviour("length of none, with more behind it", sized(b"0"), fails("empty")),
    broken("length twice, differing", sized(SIZE + b"\r\nContent-Length: 5")),
    broken("length negative", sized(b"-5")),
    broken("length with a sign", sized(b"+" + SIZE)),
    broken("length in hexadecimal", sized(b"0x10")),
    broken("length in words", sized(b"ten")),
    broken("length with a fraction", sized(SIZE + b".0")),
    broken("length with a space inside", sized(b"1 0")),
    broken("length empty", sized(b"")),
    broken("length beyond 64 bits", sized(b"1" + b"0" * 30)),
    broken("length as a list, differing", sized(SIZE + b", 5")),
    broken("length and chunks", HEAD + CHUNKED + b"Content-Length: 5\r\n\r\n" + CHUNK + LAST),
    broken("chunks and length", HEAD + b"Content-Length: 5\r\n" + CHUNKED + END + CHUNK + LAST),
    broken("length of other digits", sized("١٢".encode())),
)

CHUNKS = (
    broken("chunk size beyond 64 bits", chunked(b"fffffffffffffffff\r\n" + BODY)),
    broken("chunk size negative", chunked(b"-5\r\nhello\r\n" + LAST)),
    broken("chunk size in words", chunked(b"five\r\nhello\r\n" + LAST)),
    broken("chunk size with 0x", chunked(b"0x5\r\nhello\r\n" + LAST)),
    broken("chunk size empty", chunked(b"\r\nhello\r\n" + LAST)),
    broken("chunk longer than it says", chunked(b"3\r\nhello\r\n" + LAST)),
    broken("chunk without a line end", chunked(b"5\r\nhello5\r\nhello\r\n" + LAST)),
    broken("chunk lines that end with LF", chunked(CHUNK.replace(b"\r\n", b"\n") + b"0\n\n")),
    broken("last chunk missing", chunked(CHUNK)),
    broken("last chunk without its end", chunked(CHUNK + b"0\r\n")),
    broken("trailer without a colon", chunked(CHUNK + b"0\r\nno colon here\r\n\r\n")),
    read("trailer with a NUL", chunked(CHUNK + b"0\r\nX: a\0b\r\n\r\n")),
    broken("trailer that says more than may be said", chunked(CHUNK + b"0\r\nContent-Length: 5\r\nETag: x\r\n\r\n")),
    read("chunk extension", chunked(b'%x;a=b;c="d"\r\n%b\r\n' % (len(BODY), BODY) + LAST)),
    read("chunks of one byte each", chunks(*(bytes([letter]) for letter in BODY))),
    read("more after the last chunk", chunked(CHUNK + LAST + answer())),
    Behaviour("chunks of nothing", chunked(LAST), fails("empty")),
)

TRANSFERS = (
    broken("transfer coding chunked twice", HEAD + CHUNKED + CHUNKED + END + CHUNK + LAST),
    broken("transfer coding unknown", HEAD + b"Transfer-Encoding: rot13\r\n\r\n" + BODY),
    broken("transfer coding gzip, chunked", HEAD + b"Transfer-Encoding: gzip, chunked\r\n\r\n" + CHUNK + LAST),
    broken("transfer coding chunked, gzip", HEAD + b"Transfer-Encoding: chunked, gzip\r\n\r\n" + CHUNK + LAST),
    broken("transfer coding xchunked", HEAD + b"Transfer-Encoding: xchunked\r\n\r\n" + CHUNK + LAST),
    read("transfer coding in a folded line", HEAD + b"Transfer-Encoding:\r\n chunked\r\n\r\n" + CHUNK + LAST),
    read("transfer coding behind a space", HEAD + b"Transfer-Encoding : chunked\r\n\r\n" + CHUNK + LAST),
)

LINES = (
    broken("header without a colon", lined(b"no colon\r\n")),
    broken("header without a name", lined(b": value\r\n")),
    broken("header with a space before its colon", lined(b"X : y\r\n")),
    broken("header with a space in its name", lined(b"X Y: z\r\n")),
    broken("header with a NUL in its value", lined(b"X: a\0b\r\n")),
    broken("header with a NUL in its name", lined(b"X\0: y\r\n")),
    broken("header with a bare CR in its value", lined(b"X: a\rY: b\r\n")),
    broken("header with letters beyond ASCII in its name", lined("Ü: y\r\n".encode())),
    read("header line folded", lined(b"X: a\r\n b\r\n")),
    read("header line folded at the start", answer(BODY, start=OK + b" X: y\r\n")),
    read("header with any byte in its value", lined(b"X: \x80\xff\xe9\t\x7e\r\n")),
    read("header with nothing in its value", lined(b"X:\r\n")),
    read("headers in any letter case", lined(b"").replace(b"Content-", b"cOnTeNt-")),
)

PROTOCOLS = (
    broken("HTTP/0.9", b"<!doctype html><title>old</title>"),
    broken("HTTP/2 preface", b"\x00\x00\x12\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x80"),
    broken("HTTP/3.0", answer(start=b"HTTP/3.0 200 OK\r\n")),
    broken("HTTP without a version", answer(start=b"HTTP 200 OK\r\n")),
    broken("http in small letters", answer(start=b"http/1.1 200 OK\r\n")),
    broken("ICY", answer(start=b"ICY 200 OK\r\n")),
    broken("SSH", b"SSH-2.0-OpenSSH_9.9\r\n"),
    broken("SMTP", b"220 mail.example ESMTP\r\n"),
    broken("TLS alert", b"\x15\x03\x01\x00\x02\x02\x28"),
    broken("bytes without meaning", bytes(range(256)) * 16),
    broken("NULs", bytes(4096)),
    read("lines that end with LF", answer(CHANGED_PAGE).replace(b"\r\n", b"\n")),
    broken("lines that end with CR", answer(CHANGED_PAGE).replace(b"\r\n", b"\r")),
    read("HTTP/1.0", answer(CHANGED_PAGE, start=b"HTTP/1.0 200 OK\r\n")),
    read("no reason phrase", answer(CHANGED_PAGE, start=b"HTTP/1.1 200\r\n")),
    read("reason phrase of any bytes", answer(CHANGED_PAGE, start=b"HTTP/1.1 200 \xff\x1b[31m\t\r\n")),
)

ENDS = (
    broken("closes at once", cut),
    broken("resets at once", reset),
    broken("closes in the status line", b"HTTP/1.1 2"),
    broken("resets in the status line", then_reset(b"HTTP/1.1 2")),
    broken("closes in the header", HEAD),
    broken("resets in the header", then_reset(HEAD)),
    broken("closes before the body", sized(b"10", b"")),
    broken("resets before the body", then_reset(sized(b"10", b""))),
    broken("closes in the body", sized(b"100000")),
    broken("resets in the body", then_reset(sized(b"100000"))),
    broken("resets in a body without a length", then_reset(unframed(BODY))),
    broken("closes in a chunk", chunked(b"ff\r\nhello")),
    broken("resets in a chunk", then_reset(chunked(b"ff\r\nhello"))),
    broken("resets between chunks", then_reset(chunked(CHUNK))),
    Behaviour("closes after its header, which says nothing of a body", unframed(b""), fails("empty")),
    Behaviour("resets after a whole answer", then_reset(answer()), UNCHANGED),
    read("ends its body with its connection", unframed(BODY)),
    read("sends more after its length, later", late_rest(b"<p>more"), keep=True),
)

FRAMING = (*LENGTHS, *CHUNKS, *TRANSFERS, *LINES, *PROTOCOLS, *ENDS)
