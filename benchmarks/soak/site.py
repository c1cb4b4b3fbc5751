"""The watched site: pages whose versions grow while they are asked for, that fail at times, and a log of all of it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from random import Random
from typing import Self

from benchmarks.soak import alike
from benchmarks.soak.served import Served
from benchmarks.soak.versions import etag_of, html_of, version_of_etag
from benchmarks.soak.wire import Hangup, Journal, Request, Wire, answer

HOSTS = 8
PAGES_PER_HOST = 5
_GROWS = 0.15
_GROW_ALIKE = 0.04
_FAILS = 0.01
_FAILURES = ("503", "500", "404", "429", "reset", "truncated", "hang")


class _Page:
    def __init__(self, url: str) -> None:
        self.url = url
        self.version = 1
        self.fails_until = 0.0
        self.failure = ""


class Site:
    """Eight hosts of five pages each, and one whose pages change alike.

    on_served  called after an answer of status 200 was sent whole
    """

    def __init__(self, chance: Random, journal: Journal) -> None:
        self._chance, self._journal = chance, journal
        self._pages: dict[str, _Page] = {}
        self._alike: dict[str, _Page] = {}
        self._begun = 0
        self._wire = Wire(self._handle)
        self.is_frozen = False
        self.life = 0
        self.served: list[Served] = []
        self.failures = 0
        self.on_served: Callable[[], None] = lambda: None

    async def __aenter__(self) -> Self:
        await self._wire.__aenter__()
        for host in range(1, HOSTS + 1):
            for number in range(PAGES_PER_HOST):
                url = f"http://127.0.0.{host}:{self._wire.port}/{number}"
                self._pages[url] = _Page(url)
        for number in range(alike.PAGES):
            url = f"http://{alike.HOST}:{self._wire.port}/{number}"
            self._alike[url] = _Page(url)
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._wire.__aexit__(None, None, None)

    @property
    def urls(self) -> list[str]:
        """All pages."""
        return [*self._pages, *self._alike]

    def versions(self) -> dict[str, int]:
        """The version that each page is in now that says so itself."""
        return {url: page.version for url, page in self._pages.items()}

    def alike_versions(self) -> dict[str, int]:
        """The same for the pages that change alike."""
        return {url: page.version for url, page in self._alike.items()}

    def change_everything(self) -> None:
        """Let every page change at once: more than may be rendered at once."""
        for page in (*self._pages.values(), *self._alike.values()):
            page.version += 1

    def freeze(self) -> None:
        """From now on nothing changes and nothing fails."""
        self.is_frozen = True
        for page in (*self._pages.values(), *self._alike.values()):
            page.fails_until = 0.0

    async def _handle(self, request: Request, writer: asyncio.StreamWriter) -> None:
        url = f"http://{request.host}:{self._wire.port}{request.path}"
        page = self._pages.get(url) or self._alike.get(url)
        if page is None:
            writer.write(answer(404))
            return
        life = self.life
        if self._is_failing(page):
            self.failures += 1
            await self._fail(page, writer)
            return
        validator = request.headers.get("if-none-match")
        had = version_of_etag(validator) if validator else None
        if had is None and not self.is_frozen:
            # First checks and renderings take a while, so that more of them are due than may run at once.
            await self._wire.idle(self._chance.uniform(0.01, 0.1))
        version, began = page.version, self._begun
        self._begun += 1
        status = 304 if had == version else 200
        entry = Served(life, page.url, had, version, status, began)
        self._journal.write(**entry._asdict())
        html = alike.html_of if alike.is_alike(url) else html_of
        body = b"" if status == 304 else html(page.url, version)
        writer.write(answer(status, body, ETag=etag_of(version), Content_Type="text/html; charset=utf-8"))
        await writer.drain()
        self.served.append(entry)
        self._grow(page, version)
        if status == 200:
            self.on_served()

    def _grow(self, page: _Page, version: int) -> None:
        """Let a page change now and then after it was served; those that change alike do so together, and seldom."""
        if self.is_frozen:
            return
        if page.url not in self._alike:
            if self._chance.random() < _GROWS:
                page.version = max(page.version, version + 1)
        elif self._chance.random() < _GROW_ALIKE:
            for each in self._alike.values():
                each.version = max(each.version, version + 1)

    def _is_failing(self, page: _Page) -> bool:
        if self.is_frozen:
            return False
        now = time.monotonic()
        if now >= page.fails_until and self._chance.random() < _FAILS:
            page.fails_until = now + self._chance.uniform(1, 8)
            page.failure = self._chance.choice(_FAILURES)
        return now < page.fails_until

    async def _fail(self, page: _Page, writer: asyncio.StreamWriter) -> None:
        match page.failure:
            case "reset":
                raise Hangup
            case "hang":
                await self._wire.idle(4)
                raise Hangup
            case "truncated":
                body = html_of(page.url, page.version)
                writer.write(answer(200, body[: len(body) // 2], length=len(body), ETag=etag_of(page.version)))
                await writer.drain()
                raise Hangup
            case "429":
                writer.write(answer(429, Retry_After="1"))
            case status:
                writer.write(answer(int(status)))
