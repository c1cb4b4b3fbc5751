"""A page that tries every way out of a browser, the site that it is on, and the canaries that none may reach."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from html import escape
from typing import Final

from tests.origin import Asked, Origin, Page

# The site is at 127.0.0.1, which the address policy of these tests allows. The canaries are at the same port of this
# address, which it refuses: so it is the address that decides, and not the port.
REFUSED: Final = "127.0.0.2"


@dataclass(frozen=True, slots=True)
class WayOut:
    """One way.

    code     HTML; {url} is the way's own URL at the canary, {site} the page's origin, and so on, see `_filled`
    control  a browser without cell and proxy reaches a canary by it. Others leave the machine, or end in the browser
    """

    name: str
    code: str
    control: bool = True


def _script(code: str) -> str:
    return f"<script>{{ {code} }}</script>"


def _frame(inner: str, more: str = "") -> str:
    return f'<iframe {more} srcdoc="{escape(inner)}"></iframe>'


def _rtc(servers: str) -> str:
    return _script(
        f"const c = new RTCPeerConnection({{iceServers: [{servers}]}}); c.createDataChannel('x');"
        " c.createOffer().then(o => c.setLocalDescription(o));"
    )


_WORKER = "new Worker(URL.createObjectURL(new Blob([`{inner}`])));"

WAYS: Final = (
    WayOut("fetch", _script("fetch('{url}', {mode: 'no-cors'})")),
    WayOut("fetch-post", _script("fetch('{url}', {method: 'POST', mode: 'no-cors', body: 'x'.repeat(1000)})")),
    WayOut("fetch-keepalive", _script("fetch('{url}', {mode: 'no-cors', keepalive: true})")),
    WayOut("fetch-tls", _script("fetch('{tls}/fetch-tls', {mode: 'no-cors'})")),
    WayOut("xhr", _script("const x = new XMLHttpRequest(); x.open('GET', '{url}'); x.send()")),
    WayOut("websocket", _script("new WebSocket('{url}'.replace('http', 'ws'))")),
    WayOut("websocket-tls", _script("new WebSocket('{tls}/websocket-tls'.replace('http', 'ws'))")),
    WayOut("event-source", _script("const e = new EventSource('{url}'); e.onerror = () => e.close()")),
    WayOut("beacon", _script("navigator.sendBeacon('{url}', 'x')")),
    WayOut("ping", "<a id=ping href='#here' ping='{url}'>a</a>" + _script("document.getElementById('ping').click()")),
    WayOut("form", "<iframe name=f1></iframe><form id=f2 target=f1 action='{url}'></form>" + _script("f2.submit()")),
    WayOut(
        "form-post",
        "<iframe name=f3></iframe><form id=f4 method=post target=f3 action='{url}'></form>" + _script("f4.submit()"),
    ),
    WayOut("iframe", "<iframe src='{url}'></iframe>"),
    WayOut("iframe-srcdoc", _frame("<img src='{url}'>")),
    WayOut("iframe-sandbox", _frame("<script>fetch('{url}', {mode: 'no-cors'})</script>", "sandbox=allow-scripts")),
    WayOut("iframe-refresh", _frame("<meta http-equiv=refresh content='0; url={url}'>")),
    WayOut("object", "<object data='{url}' type='text/html'></object>"),
    WayOut("embed", "<embed src='{url}' type='text/html'>"),
    WayOut("image", "<img src='{url}'>"),
    WayOut("image-set", "<img srcset='{url} 1x'>"),
    WayOut("image-svg", "<svg><image href='{url}' width=9 height=9 /></svg>"),
    WayOut("video", "<video src='{url}' preload=auto></video>"),
    WayOut("audio", "<audio src='{url}' preload=auto></audio>"),
    WayOut("script", "<script async src='{url}'></script>"),
    WayOut("module", _script("import('{url}').catch(() => 0)")),
    WayOut("stylesheet", "<link rel=stylesheet href='{url}'>"),
    WayOut("css-import", "<style>@import url('{url}');</style>"),
    WayOut("css-background", "<p style=\"background: url('{url}')\">a</p>"),
    WayOut(
        "font", "<style>@font-face {font-family: f; src: url('{url}')}</style><p style='font-family: f'>letters</p>"
    ),
    WayOut("icon", "<link rel=icon href='{url}'>", control=False),
    WayOut("manifest", "<link rel=manifest href='{url}'>", control=False),
    WayOut("preload", "<link rel=preload as=fetch href='{url}' crossorigin>"),
    WayOut("module-preload", "<link rel=modulepreload href='{url}'>"),
    WayOut("prefetch", "<link rel=prefetch href='{url}'>"),
    WayOut("prerender", "<link rel=prerender href='{url}'>", control=False),
    WayOut("preconnect", "<link rel=preconnect href='http://{refused}:{other}'>"),
    WayOut("dns-prefetch", "<link rel=dns-prefetch href='//elsewhere.example'>", control=False),
    WayOut(
        "speculation-prefetch",
        '<script type=speculationrules>{"prefetch": [{"urls": ["{url}"], "eagerness": "immediate"}]}</script>',
    ),
    WayOut(
        "speculation-prerender",
        '<script type=speculationrules>{"prerender": [{"urls": ["{url}"], "eagerness": "immediate"}]}</script>',
    ),
    WayOut("worker", _script(_WORKER.replace("{inner}", "fetch('{url}', {mode: 'no-cors'})"))),
    WayOut("worker-import", _script(_WORKER.replace("{inner}", "importScripts('{url}')"))),
    WayOut("shared-worker", _script("new SharedWorker('/shared.js')")),
    WayOut("service-worker", _script("navigator.serviceWorker.register('/service.js')")),
    WayOut("webrtc-stun", _rtc("{urls: 'stun:{refused}:{stun}'}")),
    WayOut(
        "webrtc-turn",
        _rtc("{urls: 'turn:{refused}:{turn}?transport=udp', username: 'a', credential: 'b'}"),
    ),
    WayOut(
        "webrtc-turn-tcp",
        _rtc("{urls: 'turn:{refused}:{other}?transport=tcp', username: 'a', credential: 'b'}"),
        control=False,
    ),
    WayOut("webtransport", _script("new WebTransport('https://{refused}:{quic}/x').ready.catch(() => 0)")),
    WayOut("popup", _script("window.open('{url}')")),
    WayOut("popup-noopener", _script("window.open('{url}', '_blank', 'noopener')")),
    # In a frame, since the page would else leave with it.
    WayOut(
        "download",
        _frame("<a id=d1 download href='/moved/download'>a</a><script>d1.click()</script>"),
        control=False,
    ),
    WayOut("redirect", _script("fetch('/moved/redirect', {mode: 'no-cors'})")),
    WayOut("redirect-iframe", "<iframe src='/moved/redirect-iframe'></iframe>"),
    WayOut("redirect-file", "<iframe src='/to-file'></iframe>", control=False),
    WayOut(
        "rebinding", _script("fetch('http://rebinding.example:{port}/rebinding', {mode: 'no-cors'})"), control=False
    ),
    WayOut("zero", _script("fetch('http://0.0.0.0:{port}/zero', {mode: 'no-cors'})")),
    WayOut("decimal", _script("fetch('http://2130706434:{port}/decimal', {mode: 'no-cors'})")),
    WayOut("short", _script("fetch('http://127.2:{port}/short', {mode: 'no-cors'})")),
    WayOut("mapped", _script("fetch('http://[::ffff:127.0.0.2]:{port}/mapped', {mode: 'no-cors'})")),
    WayOut("metadata", _script("fetch('http://169.254.169.254/latest/meta-data/', {mode: 'no-cors'})"), control=False),
    WayOut("proxy-port", _script("fetch('http://127.0.0.1:9080/', {mode: 'no-cors'})"), control=False),
    WayOut("view-source", "<iframe src='view-source:{url}'></iframe>", control=False),
    WayOut("chrome", "<iframe src='chrome://version'></iframe>", control=False),
    WayOut("file", "<iframe src='file:///etc/passwd'></iframe>", control=False),
    WayOut("file-fetch", _script("fetch('file:///etc/passwd').then(r => r.text()).then(note, note)"), control=False),
)
# Without a cell these would leave this machine.
_NOT_ON_LOOPBACK: Final = frozenset(("metadata", "rebinding", "dns-prefetch"))


@dataclass
class WaysOut:
    """The site, the canaries, and what reached them.

    other, tls  ports of canaries of TCP
    udp_ports   of canaries, by name
    reached     names of the ways that reached a canary, or of the canary where it is told no way
    done        set when every way had its time
    """

    origin: Origin
    other: int = 0
    tls: int = 0
    udp_ports: dict[str, int] = field(default_factory=dict)
    reached: set[str] = field(default_factory=set)
    done: asyncio.Event = field(default_factory=asyncio.Event)
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def url(self) -> str:
        return self.origin.url("/")

    def reach(self, name: str) -> None:
        """Note that a canary was reached by a way."""
        self.reached.add(name)
        self._news.set()

    async def until(self, names: set[str]) -> None:
        """Wait until the canaries were reached by all of these."""
        while not names <= self.reached:
            self._news.clear()
            await self._news.wait()

    def write(self, *, on_loopback: bool) -> None:
        """Write the page.

        on_loopback  without what would leave the machine where nothing is in its way
        """
        ways = [way for way in WAYS if not (on_loopback and way.name in _NOT_ON_LOOPBACK)]
        code = "".join(self._filled(way) for way in ways)
        note = "<script>function note(x) { document.getElementById('got').append(x) }</script>"
        # The load ends once every way had its time.
        over = "document.body.insertAdjacentHTML('beforeend', '<p id=over>Over.</p>')"
        end = f"<script>setTimeout(() => fetch('/done').then(() => {over}), 2500)</script>"
        end += "<script async src='/held.js'></script>"
        self.origin.pages["/"] = Page(f"<!doctype html><title>Ways out</title><pre id=got></pre>{note}{code}{end}")

    def _filled(self, way: WayOut) -> str:
        values = {
            "{url}": f"http://{REFUSED}:{self.origin.port}/{way.name}",
            "{tls}": f"https://{REFUSED}:{self.tls}",
            "{site}": self.origin.url(""),
            "{refused}": REFUSED,
            "{port}": str(self.origin.port),
            "{other}": str(self.other),
            **{f"{{{name}}}": str(port) for name, port in self.udp_ports.items()},
        }
        code = way.code
        for name, value in values.items():
            code = code.replace(name, value)
        return code


class _Datagrams(asyncio.DatagramProtocol):
    def __init__(self, ways: WaysOut, name: str) -> None:
        self._ways, self._name = ways, name

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:  # noqa: ARG002 - asyncio's interface
        self._ways.reach(self._name)


@asynccontextmanager
async def ways_out() -> AsyncIterator[WaysOut]:
    """Serve the site, and keep the canaries."""
    loop = asyncio.get_running_loop()
    async with AsyncExitStack() as stack:
        origin = await stack.enter_async_context(Origin())
        ways = WaysOut(origin)

        async def meet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            port = writer.get_extra_info("sockname")[1]
            first = await reader.readline() if port == origin.port else b""
            ways.reach(_named(first, port, ways))
            writer.close()

        ports = []
        for port in (origin.port, 0, 0):
            server = await stack.enter_async_context(await asyncio.start_server(meet, REFUSED, port))
            ports.append(server.sockets[0].getsockname()[1])
        _, ways.other, ways.tls = ports
        for name in ("stun", "turn", "quic"):
            transport, _ = await loop.create_datagram_endpoint(
                lambda name=name: _Datagrams(ways, name),  # type: ignore[misc]  # the default binds the name
                local_addr=(REFUSED, 0),
            )
            stack.callback(transport.close)
            ways.udp_ports[name] = transport.get_extra_info("sockname")[1]
        _put_site(ways)
        # Else the site would wait for the request that is held.
        stack.callback(ways.done.set)
        yield ways


def _named(first: bytes, port: int, ways: WaysOut) -> str:
    if port == ways.tls:
        return "tls"
    words = first.split(b" ")
    return words[1].decode("ascii", "replace").strip("/?") if len(words) > 1 else "other"


def _put_site(ways: WaysOut) -> None:
    origin = ways.origin
    there = f"http://{REFUSED}:{origin.port}"
    for name in ("redirect", "redirect-iframe", "download"):
        origin.pages[f"/moved/{name}"] = Page(status=302, headers={"Location": f"{there}/{name}"})
    origin.pages["/to-file"] = Page(status=302, headers={"Location": "file:///etc/passwd"})
    for name in ("shared", "service"):
        code = f"fetch('{there}/{name}-worker', {{mode: 'no-cors'}})"
        origin.pages[f"/{name}.js"] = Page(code, content_type="text/javascript")

    def end(_: Asked) -> str:
        ways.done.set()
        return ""

    def zero(_: Asked) -> str:
        ways.reach("zero")
        return ""

    origin.pages["/done"] = Page(end)
    origin.pages["/held.js"] = Page("", content_type="text/javascript", wait=ways.done.wait)
    origin.pages["/zero"] = Page(zero)
