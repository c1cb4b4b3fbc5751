"""A small site on loopback whose pages change when the story says so, and a receiver of signed alerts beside it."""

from __future__ import annotations

import asyncio
import hmac
import json
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Self

from aiohttp import web

from tocsin.adapters.channels.signing import read_secrets, sign
from tocsin.demo.pages import first_pages

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

    from tocsin.demo.pages import SitePage

HOSTS = ("127.0.0.2", "127.0.0.3", "127.0.0.4")
ONLY_HOST = "127.0.0.1"
HOOK = "/hook"


class DemoSite:
    """Serves the demo's pages on three loopback hosts, where the machine has them, else on one.

    pages     by path
    received  the events that the receiver took, in order; none before `take_alerts`, nor one whose signature is wrong
    """

    def __init__(self, *, secret: str, hosts: tuple[str, str, str] = HOSTS) -> None:
        self.pages = {page.path: page for page in first_pages(datetime.now(UTC))}
        self.received: list[dict[str, Any]] = []
        self._keys = read_secrets(secret)
        self._takes_alerts = False
        self._let_through = asyncio.Event()
        self._let_through.set()
        self._runner = web.ServerRunner(web.Server(self._answer, access_log=None))
        self._hosts: tuple[str, ...] = hosts
        self._port = 0

    async def __aenter__(self) -> Self:
        """Begin to listen, all hosts on one port."""
        await self._runner.setup()
        await self._listen(ONLY_HOST)
        try:
            for host in self._hosts:
                await self._listen(host)
        except OSError:
            # Some systems give loopback one address only.
            self._hosts = (ONLY_HOST,) * len(self._hosts)
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()
        await self._runner.cleanup()

    @property
    def hook_url(self) -> str:
        """Where the receiver listens."""
        return f"http://{ONLY_HOST}:{self._port}{HOOK}"

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts that pages live on, each once."""
        return tuple(dict.fromkeys(self._hosts))

    def url(self, path: str) -> str:
        """The URL of a page."""
        return f"http://{self._hosts[self.pages[path].host]}:{self._port}{path}"

    def hold(self) -> None:
        """Let those wait who ask without a condition, as renderings do, until `release`."""
        self._let_through.clear()

    def release(self) -> None:
        """Answer those who wait."""
        self._let_through.set()

    def take_alerts(self) -> None:
        """Let the receiver take what it has refused so far."""
        self._takes_alerts = True

    async def _listen(self, host: str) -> None:
        place = web.TCPSite(self._runner, host, self._port)
        await place.start()
        self._port = place.port

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        if request.path == HOOK and request.method == "POST":
            return await self._receive(request)
        if request.path == "/robots.txt":
            return web.Response(text="User-agent: *\nAllow: /\n")
        page = self.pages.get(request.path)
        if page is None:
            return web.Response(status=404, text="There is no such page.\n")
        return await self._serve(page, request.headers.get("If-None-Match"))

    async def _serve(self, page: SitePage, known: str | None) -> web.Response:
        if known is None:
            await self._let_through.wait()
        if page.failing:
            return web.Response(status=503, text="The shop is closed.\n")
        headers = {"ETag": page.etag}
        if known == page.etag:
            return web.Response(status=304, headers=headers)
        return web.Response(text=page.html(), content_type="text/html", charset="utf-8", headers=headers)

    async def _receive(self, request: web.BaseRequest) -> web.Response:
        body = await request.read()
        if not self._takes_alerts:
            return web.Response(status=503, text="Not yet.\n")
        if not self._is_signed(request.headers, body):
            return web.Response(status=401, text="The signature is wrong.\n")
        self.received.append(json.loads(body))
        return web.Response(status=204)

    def _is_signed(self, headers: Mapping[str, str], body: bytes) -> bool:
        with suppress(KeyError, ValueError):
            sent_at = int(headers["webhook-timestamp"]) * 1_000_000
            expected = sign(self._keys, headers["webhook-id"], sent_at, body)["webhook-signature"]
            return hmac.compare_digest(expected, headers["webhook-signature"])
        return False
