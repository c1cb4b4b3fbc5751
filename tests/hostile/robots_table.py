"""robots.txt that is none, never comes, or says too much; the page behind it is well, or at least the one before."""

from __future__ import annotations

from functools import partial

from tests.hostile.behaviour import DISALLOWED, KIBI, MEBI, PLENTY_S, UNCHANGED, Answer, Behaviour, fails, reads
from tests.hostile.wording import (
    CHANGED_PAGE,
    CHUNKED,
    END,
    OK,
    answer,
    coded,
    flood,
    many,
    redirect,
    spun,
    status,
    then_hold,
    then_reset,
    zipped,
)
from tests.origin import cut, hang

PLAIN = b"Content-Type: text/plain\r\n"
NEVER = b"User-agent: *\nDisallow: /page\n"
WELL = answer(CHANGED_PAGE)
HEAD = OK + PLAIN


def open_to(name: str, robots: Answer, cap: int = 256 * KIBI) -> Behaviour:
    """The page is received: nothing in this robots.txt forbids it."""
    ends = reads(created="2026-02-02")
    return Behaviour(f"robots.txt {name}", WELL, ends, robots=robots, max_wire=cap, max_body=cap)


def closed_by(name: str, robots: Answer) -> Behaviour:
    """The page is not asked for."""
    return Behaviour(f"robots.txt {name}", WELL, DISALLOWED, robots=robots)


def failed(name: str, robots: Answer, kind: str, *, total_s: float = PLENTY_S, phase_s: float = PLENTY_S) -> Behaviour:
    """What robots.txt could not be had for, the page could not either."""
    return Behaviour(f"robots.txt {name}", WELL, fails(kind), robots=robots, total_s=total_s, phase_s=phase_s)


def plain(body: bytes) -> bytes:
    """A robots.txt as it should be sent."""
    return answer(body, content_type=PLAIN)


soon = partial(failed, kind="timeout", total_s=0.8, phase_s=0.3)

ROBOTS = (
    open_to("is a page", answer(CHANGED_PAGE)),
    open_to("is a page that speaks of robots", answer(b"<p>User-agent: *<br>Disallow: /</p>")),
    open_to("is of ten megabytes", spun(many(100_000, b"# " + b"x" * 97 + b"\n"), content_type=PLAIN), cap=MEBI),
    closed_by("forbids, and is of ten megabytes", spun(NEVER, many(100_000, b"# " + b"x" * 97 + b"\n"),
              content_type=PLAIN)),
    open_to("forbids behind 500 KiB", spun(many(6_000, b"# " + b"x" * 97 + b"\n"), NEVER, content_type=PLAIN)),
    closed_by("forbids, and never ends", flood(HEAD + END + NEVER, b"#" * 65536)),
    closed_by("forbids, in chunks that never end",
              flood(HEAD + CHUNKED + END + b"%x\r\n%s\r\n" % (len(NEVER), NEVER), b"10000\r\n" + b"#" * 65536 + END)),
    open_to("is one line that never ends", flood(HEAD + END + b"Disallow: /", b"p" * 65536)),
    closed_by("forbids in UTF-16", plain(b"\xff\xfe" + NEVER.decode().encode("utf-16-le"))),
    closed_by("forbids behind a mark", plain(b"\xef\xbb\xbf" + NEVER)),
    closed_by("forbids between strange bytes", plain(b"\x80\xff\n\0\0\n" + NEVER + b"\0\xff: \xfe\n")),
    closed_by("ends its lines with CR", plain(NEVER.replace(b"\n", b"\r"))),
    open_to("is a bomb of white space", coded(b"gzip", zipped(b" " * 10_000_000)), cap=MEBI),
    closed_by("forbids, and is a bomb", coded(b"gzip", zipped(NEVER + b"#" * 10_000_000))),
    open_to("has no groups", plain(b"Disallow: /page\nDisallow: /\n")),
    open_to("has ten thousand groups", plain(b"".join(b"User-agent: a%d\nDisallow: /\n" % n
            for n in range(10_000))), cap=MEBI),
    open_to("has rules that take for ever to match", plain(b"User-agent: *\nDisallow: /" + b"*a" * 9_999 + b"b\n")),
    open_to("has stars without end", plain(b"User-agent: *\nDisallow: /" + b"*" * 99_999 + b"$x\n")),
    closed_by("forbids everything by a star", plain(b"User-agent: *\nDisallow: *\n")),
    open_to("forbids and allows", plain(NEVER + b"Allow: /page\n")),
    open_to("asks to wait for years", plain(b"User-agent: nobody\nCrawl-delay: 99999999\n")),
    open_to("asks to wait for a time that is none", plain(b"User-agent: *\nCrawl-delay: 1e999\nCrawl-delay: -5\n")),
    open_to("is empty", plain(b"")),
    open_to("answers 401", status(b"401 Unauthorized")),
    open_to("answers 403", status(b"403 Forbidden", body=NEVER)),
    open_to("answers 410", status(b"410 Gone")),
    open_to("answers 404 for ever", flood(b"HTTP/1.1 404 No\r\n\r\n", b"x" * 65536)),
    closed_by("answers 429", status(b"429 Too Many Requests")),
    closed_by("answers 500", status(b"500 Odd")),
    closed_by("answers 503", status(b"503 Busy", b"Retry-After: 0")),
    closed_by("answers 599", status(b"599 Odd")),
    open_to("answers 204", b"HTTP/1.1 204 No Content\r\n\r\n"),
    failed("answers 304 without being asked", b"HTTP/1.1 304 Not Modified\r\n\r\n", "protocol"),
    open_to("redirects for ever", redirect(b"/robots.txt?@COUNT@")),
    open_to("redirects out of the web", redirect(b"file:///etc/passwd")),
    open_to("redirects to nowhere", status(b"302 Found")),
    failed("redirects to a private address", redirect(b"http://10.0.0.1/robots.txt"), "blocked-address"),
    Behaviour("robots.txt redirects to one that forbids", WELL, DISALLOWED, robots=redirect(b"/rules"),
              paths={"/rules": plain(NEVER)}),
    soon("never answers", hang),
    soon("never ends its header", then_hold(HEAD)),
    soon("stops in its body", then_hold(HEAD + b"Content-Length: 9999\r\n\r\n" + NEVER)),
    failed("is closed at once", cut, "protocol"),
    failed("is reset in its body", then_reset(HEAD + b"Content-Length: 9999\r\n\r\n" + NEVER), "protocol"),
    failed("is shorter than announced", HEAD + b"Content-Length: 9999\r\n\r\n" + NEVER, "protocol"),
    failed("is coded as was not asked for", coded(b"br", NEVER), "decode"),
    failed("is no HTTP", b"User-agent: *\nDisallow: /page\n\r\n\r\n", "protocol"),
    failed("has a header of a megabyte", HEAD + b"X: " + b"y" * MEBI + END + END, "protocol"),
    Behaviour("robots.txt is well, and so is the page", answer(), UNCHANGED, robots=plain(b"User-agent: *\nAllow: /")),
    open_to("has lines of 100 KB", plain(b"User-agent: *\nDisallow: /" + b"p" * 100 * KIBI + b"\n")),
)  # fmt: skip
