"""Servers that send their visitors about: in circles, too far, out of the web, and into private networks."""

from __future__ import annotations

from functools import partial

from tests.hostile.behaviour import UNCHANGED, Behaviour, fails, reads
from tests.hostile.wording import CHANGED_PAGE, answer, redirect, status, zipped

MOVED = {"/moved": answer(CHANGED_PAGE)}

nowhere = partial(Behaviour, ends=fails("redirect"))
private = partial(Behaviour, ends=fails("blocked-address"))
read = partial(Behaviour, ends=reads(created="2026-02-02"), paths=MOVED)


def hops(count: int) -> dict[str, bytes]:
    """A chain whose last redirection is the one of this number, counted from the page's own."""
    chain = {f"/{hop}": redirect(b"/%d" % (hop + 1)) for hop in range(1, count)}
    return chain | {f"/{count}": answer(CHANGED_PAGE)}


CIRCLES = (
    nowhere("redirects to itself", redirect(b"/page")),
    nowhere("redirects to itself by a fragment", redirect(b"/page#again")),
    nowhere("redirects to itself by nothing", redirect(b"")),
    nowhere("redirects in a circle of two", redirect(b"/other"), paths={"/other": redirect(b"/page")}),
    nowhere("redirects 11 times", redirect(b"/1"), paths=hops(11)),
    read("redirects 10 times", redirect(b"/1"), paths=hops(10)),
    nowhere("redirects for ever, never twice to the same", redirect(b"/more?x"),
            paths={"/more": redirect(b"?@COUNT@")}),
    nowhere("asks for a cookie by redirecting to itself",
            status(b"302 Found", b"Set-Cookie: seen=1", b"Location: /page", body=b"")),
)  # fmt: skip

NOWHERE = (
    nowhere("redirects without a Location", status(b"302 Found")),
    nowhere("redirects to what is no URL", redirect(b"http://[::1")),
    nowhere("redirects to a host of nothing", redirect(b"http://")),
    nowhere("redirects to a port that is none", redirect(b"http://127.0.0.1:99999/")),
    nowhere("redirects to a host that no name can have", redirect(b"http://a b/")),
    nowhere("redirects to a file", redirect(b"file:///etc/passwd")),
    nowhere("redirects to a file in capitals", redirect(b"FILE:/etc/passwd")),
    nowhere("redirects to a script", redirect(b"javascript:alert(1)")),
    nowhere("redirects to data", redirect(b"data:text/html,<meta name=created content=2026-02-02>")),
    nowhere("redirects to FTP", redirect(b"ftp://127.0.0.1/")),
    nowhere("redirects to gopher", redirect(b"gopher://127.0.0.1:70/_x")),
    nowhere("redirects to about", redirect(b"about:blank")),
    nowhere("redirects to the source of a page", redirect(b"view-source:@ORIGIN@/moved")),
    nowhere("redirects to an unknown scheme", redirect(b"x-unknown://127.0.0.1/")),
    Behaviour("redirects with a NUL in its Location", redirect(b"/moved\0"), fails("protocol")),
    Behaviour("redirects to where nobody listens", redirect(b"http://127.0.0.1:1/"), fails("connect")),
    Behaviour("redirects to a name that does not exist", redirect(b"http://no-such-name.invalid/"), fails("dns")),
    Behaviour("redirects to TLS on a plain port", redirect(b"https://127.0.0.1:@PORT@/moved"), fails("tls"), tls_s=0.5),
)

PRIVATE = (
    private("redirects to 10/8", redirect(b"http://10.0.0.1/")),
    private("redirects to a router", redirect(b"//192.168.0.1/")),
    private("redirects to the metadata of a cloud", redirect(b"http://169.254.169.254/latest/meta-data/")),
    private("redirects to a carrier's NAT", redirect(b"http://100.64.0.1/")),
    private("redirects to no address", redirect(b"http://0.0.0.0:@PORT@/moved")),
    private("redirects to a number", redirect(b"http://167772161/")),
    private("redirects to a hexadecimal number", redirect(b"http://0x0a000001/")),
    private("redirects to octal numbers", redirect(b"http://012.0.0.1/")),
    private("redirects to a short address", redirect(b"http://10.1/")),
    private("redirects to percent signs", redirect(b"http://%31%30.0.0.1/")),
    private("redirects to fullwidth digits", redirect(b"http://\xef\xbc\x91\xef\xbc\x90.0.0.1/")),
    private("redirects to IPv6 loopback", redirect(b"http://[::1]:@PORT@/moved")),
    private("redirects to an IPv4 address within IPv6", redirect(b"http://[::ffff:10.0.0.1]/")),
    private("redirects to NAT64", redirect(b"http://[64:ff9b::a00:1]/")),
    private("redirects to 6to4", redirect(b"http://[2002:a00:1::]/")),
    private("redirects to a link-local address", redirect(b"http://[fe80::1]/")),
    private("redirects to a unique local address", redirect(b"http://[fd00::1]/")),
    private("redirects to multicast", redirect(b"http://224.0.0.1/")),
    private("redirects to broadcast", redirect(b"http://255.255.255.255/")),
    private("redirects to private by a second hop", redirect(b"/moved"), paths={"/moved": redirect(b"//10.0.0.1/")}),
)

ODD = (
    read("redirects with backslashes", redirect(rb"\\127.0.0.1:@PORT@\moved")),
    read("redirects with a backslash after a slash", redirect(rb"/\127.0.0.1:@PORT@/moved")),
    read("redirects with a backslash before an at sign", redirect(rb"http://127.0.0.1:@PORT@\@10.0.0.1/"),
         paths={"/@10.0.0.1/": answer(CHANGED_PAGE)}),
    private("redirects with an at sign before a backslash", redirect(rb"http://127.0.0.1:@PORT@@10.0.0.1\x")),
    read("redirects with user info", redirect(b"http://user:secret@127.0.0.1:@PORT@/moved")),
    read("redirects up beyond the root", redirect(b"../../../../moved")),
    read("redirects with spaces around", redirect(b"   /moved \t ")),
    read("redirects with a scheme and no slashes", redirect(b"http:moved")),
    read("redirects with a fragment", redirect(b"/moved#<script>")),
    read("redirects with bytes of UTF-8", redirect("/bewegt-ü".encode()),
         paths={"/bewegt-%C3%BC": answer(CHANGED_PAGE)}),
    read("redirects with percent signs that are none", redirect(b"/%zz%"), paths={"/%zz%": answer(CHANGED_PAGE)}),
    read("redirects by 301", redirect(b"/moved", b"301 Moved Permanently")),
    read("redirects by 303", redirect(b"/moved", b"303 See Other")),
    read("redirects by 307", redirect(b"/moved", b"307 Temporary Redirect")),
    read("redirects by 308", redirect(b"/moved", b"308 Permanent Redirect")),
    read("redirects with a page of its own", status(b"302 Found", b"Location: /moved", body=b"<p>Elsewhere" * 99)),
    read("redirects with a bomb", status(b"302 Found", b"Location: /moved", b"Content-Encoding: gzip",
                                         body=zipped(bytes(9_000_000)))),
    read("redirects with a coding that was not asked for",
         status(b"302 Found", b"Location: /moved", b"Content-Encoding: zstd")),
    read("redirects with a body that is cut off", redirect(b"/moved").replace(b"Length: 0", b"Length: 99")),
    Behaviour("redirects by Refresh", answer(CHANGED_PAGE, b"Refresh: 0;url=http://10.0.0.1/"),
              reads(created="2026-02-02")),
    Behaviour("names a Location without redirecting", answer(CHANGED_PAGE, b"Location: http://10.0.0.1/"),
              reads(created="2026-02-02")),
    Behaviour("redirects by 300", redirect(b"/moved", b"300 Multiple Choices"), fails("status", 300), paths=MOVED),
    Behaviour("redirects by 305 to a proxy", redirect(b"/moved", b"305 Use Proxy"), fails("status", 305), paths=MOVED),
    Behaviour("redirects to what is gone", redirect(b"/gone"), fails("status", 404)),
    Behaviour("redirects to the same page elsewhere", redirect(b"/moved"), UNCHANGED, paths={"/moved": answer()}),
)  # fmt: skip

REDIRECTS = (*CIRCLES, *NOWHERE, *PRIVATE, *ODD)
