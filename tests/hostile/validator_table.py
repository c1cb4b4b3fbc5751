"""Servers that lie about what has changed: 304 where none was asked for, tags that are none, parts for the whole."""

from __future__ import annotations

from functools import partial

from tests.hostile.behaviour import KIBI, UNCHANGED, Behaviour, fails, reads
from tests.hostile.wording import CHANGED_PAGE, GOOD_ETAG, GOOD_PAGE, answer, coded, redirect, status

NOT_MODIFIED = b"HTTP/1.1 304 Not Modified\r\n"
WITHOUT = answer(GOOD_PAGE)
"""A good page that comes without validators."""

broken = partial(Behaviour, ends=fails("protocol"))
same = partial(Behaviour, ends=UNCHANGED)
read = partial(Behaviour, ends=reads(created="2026-02-02"))

VALIDATORS = (
    broken("304 without being asked", NOT_MODIFIED + b"\r\n", good=WITHOUT),
    broken("304 without being asked, with a tag", NOT_MODIFIED + b'ETag: "x"\r\n\r\n', good=WITHOUT),
    broken("304 behind a redirection elsewhere", redirect(b"/moved"), paths={"/moved": NOT_MODIFIED + b"\r\n"}),
    same("304 as it should be", NOT_MODIFIED + b"ETag: " + GOOD_ETAG.encode() + b"\r\n\r\n"),
    same("304 with a length", NOT_MODIFIED + b"Content-Length: 100000\r\n\r\n"),
    same("304 in chunks", NOT_MODIFIED + b"Transfer-Encoding: chunked\r\n\r\n"),
    same("304 with another tag", NOT_MODIFIED + b'ETag: "other"\r\n\r\n'),
    Behaviour("206 without being asked", status(b"206 Partial Content", b"Content-Range: bytes 0-9/100",
              body=CHANGED_PAGE[:10]), fails("status", 206)),
    Behaviour("206 of all", status(b"206 Partial Content", b"Content-Range: bytes 0-%d/%d" %
              (len(CHANGED_PAGE) - 1, len(CHANGED_PAGE)), body=CHANGED_PAGE), fails("status", 206)),
    Behaviour("206 in parts", status(b"206 Partial Content", b"Content-Type: multipart/byteranges; boundary=x",
              body=b"--x\r\n\r\nhello\r\n--x--"), fails("status", 206)),
    Behaviour("412 to our conditions", status(b"412 Precondition Failed"), fails("status", 412)),
    Behaviour("416 to no range", status(b"416 Range Not Satisfiable", b"Content-Range: bytes */100"),
              fails("status", 416)),
    Behaviour("200 with nothing where a page was", answer(b""), fails("empty")),
    Behaviour("200 with nothing and the tag of the page", answer(b"", b"ETag: " + GOOD_ETAG.encode()), fails("empty")),
    Behaviour("200 cut off, with the tag of the page",
              answer(GOOD_PAGE, b"ETag: " + GOOD_ETAG.encode())[:-20], fails("protocol")),
    Behaviour("200 in a wrong coding, with the tag of the page",
              coded(b"gzip", GOOD_PAGE).replace(b"\r\n\r\n", b"\r\nETag: %s\r\n\r\n" % GOOD_ETAG.encode(), 1),
              fails("decode")),
    same("200 with the same page", answer(GOOD_PAGE, b"ETag: " + GOOD_ETAG.encode())),
    same("weak tag that is never the same", answer(GOOD_PAGE, b'ETag: W/"@COUNT@"')),
    read("tag of 30 KB", answer(CHANGED_PAGE, b'ETag: "' + b"t" * 30 * KIBI + b'"')),
    broken("tag of 100 KB", answer(CHANGED_PAGE, b'ETag: "' + b"t" * 100 * KIBI + b'"')),
    read("tag of any bytes", answer(CHANGED_PAGE, b'ETag: "\x80\xff\xe9 \'`%"')),
    read("tag without quotes", answer(CHANGED_PAGE, b"ETag: abc")),
    read("tag of nothing", answer(CHANGED_PAGE, b"ETag:")),
    read("tag of a star", answer(CHANGED_PAGE, b"ETag: *")),
    read("tags in a list", answer(CHANGED_PAGE, b'ETag: "a", "b"')),
    read("tag twice", answer(CHANGED_PAGE, b'ETag: "a"', b'ETag: "b"')),
    read("tag of a page that changed all the same", answer(CHANGED_PAGE, b"ETag: " + GOOD_ETAG.encode())),
    read("Last-Modified in words", answer(CHANGED_PAGE, b"Last-Modified: yesterday")),
    read("Last-Modified in the future", answer(CHANGED_PAGE, b"Last-Modified: Fri, 31 Dec 9999 23:59:59 GMT")),
    read("Last-Modified of 10 KB", answer(CHANGED_PAGE, b"Last-Modified: " + b"9" * 10 * KIBI)),
)  # fmt: skip
