"""Serves the demo site on one port of loopback, which is kept for it while the service runs."""

from __future__ import annotations

import asyncio
import hashlib
import socket
from datetime import UTC, datetime, timedelta
from importlib import import_module
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from tocsin.adapters.demo.almanac import AUTHORS, Silence, page_at
from tocsin.ports import Clock

if TYPE_CHECKING:
    from aiohttp import web  # loaded in a thread, and only for a demo

LOOPBACK: Final = "127.0.0.1"
# How long the site stays as it is, once each of its pages has been looked at.
SEEN_FOR: Final = timedelta(seconds=3)
_NOT_YET: Final = datetime(9000, 1, 1, tzinfo=UTC)
_GONE: Final = "The demo site is off.\n"


class ReservedPort:
    """A reserved loopback port; nothing listens on it until the site is opened there."""

    def __init__(self) -> None:
        self._socket: socket.socket | None = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            self._socket.bind((LOOPBACK, 0))
            self.port: int = self._socket.getsockname()[1]
        except OSError:
            # A machine without loopback can do without a demo site.
            self._socket.close()
            self._socket, self.port = None, 0

    def take(self) -> socket.socket | None:
        """Hand the socket over to the caller, who closes it; None if there is none or it was taken before."""
        taken, self._socket = self._socket, None
        return taken

    def close(self) -> None:
        """Let go of the port, if it is still ours."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None


class DemoSite:
    """Serves the pages while it is open; a site that is off answers that there is nothing.

    Use it as an asynchronous context.
    """

    def __init__(self, place: socket.socket, clock: Clock) -> None:
        self._place, self._clock = place, clock
        self._runner: web.ServerRunner | None = None
        self._unseen: set[str] = set()
        self._first: datetime | None = None
        self.is_open = False

    async def __aenter__(self) -> Self:
        # Loaded in a thread and only for a demo: it takes 11 MB and a noticeable time.
        web = await asyncio.to_thread(import_module, "aiohttp.web")
        self._runner = web.ServerRunner(web.Server(self._answer, access_log=None))
        await self._runner.setup()
        await web.SockSite(self._runner, self._place).start()
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
        self._place.close()

    def open(self, *, anew: bool) -> None:
        """Answer from now on.

        anew  no page was read yet: the first changes come as soon as each page has been read once
        """
        self.is_open = True
        self._unseen = set(AUTHORS) if anew else set()
        self._first = _NOT_YET if anew else None

    def close(self) -> None:
        """Answer no more."""
        self.is_open = False

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        from aiohttp import web  # noqa: PLC0415 - loaded by now

        if not self.is_open:
            return web.Response(status=404, text=_GONE)
        if request.path == "/robots.txt":
            return web.Response(text="User-agent: *\nAllow: /\n")
        now = datetime.fromtimestamp(self._clock.now() / 1_000_000, UTC)
        try:
            page = page_at(request.path, now, self._first)
        except Silence:
            return web.Response(status=503, text="The shop is closed for the moment.\n")
        if page is None:
            return web.Response(status=404, text="There is no such page.\n")
        self._seen(request.path, now)
        etag = f'"{hashlib.blake2b(page.encode(), digest_size=8).hexdigest()}"'
        headers = {"ETag": etag}
        if request.headers.get("If-None-Match") == etag:
            return web.Response(status=304, headers=headers)
        return web.Response(text=page, content_type="text/html", charset="utf-8", headers=headers)

    def _seen(self, path: str, now: datetime) -> None:
        if self._unseen:
            self._unseen.discard(path)
            if not self._unseen:
                self._first = now + SEEN_FOR
