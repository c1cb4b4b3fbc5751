"""What the robots.txt of each origin says, kept for a day (RFC 9309, 2.3 and 2.4)."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from tocsin.engine.hosts.robots_answers import Answer, RobotsRequests
from tocsin.errors import StoreError
from tocsin.model import AGENT
from tocsin.spec.html.urls import host_and_origin
from tocsin.spec.robots.rules import ALLOWED, AgentRules, Ruling, read_robots

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tocsin.model import HopRequest, HopResponse, Instant
    from tocsin.ports import Clock

KEPT_US = 24 * 3600 * 1_000_000
ASKED_AGAIN_US = 3600 * 1_000_000
MOURNED_US = 30 * KEPT_US
MOST_ORIGINS = 20_000
MOST_TEXT = 16 * 2**20
_OCTETS_A_RULE = 448
UNAVAILABLE = Ruling(allowed=False, rule="robots.txt could not be read: the server has an error or is busy")


class RobotsStore(Protocol):
    """Where answers outlive the process; `ports.WorkStore` is one."""

    async def load_robots(self, origin: str) -> str | None:
        """What was kept for this origin."""

    async def save_robots(self, origin: str, kept: str) -> None:
        """Keep this for the origin."""


class _Known(Struct):
    """An answer in memory: its rules as read, no longer its text; `size` is about what they take.

    rules     those for us; None where there are none
    sitemaps  the addresses that it names, as written
    """

    answer: Answer
    rules: AgentRules | None
    size: int
    sitemaps: tuple[str, ...] = ()

    def is_fresh(self, now: Instant) -> bool:
        """Say whether the answer still holds; one from the future does not (a clock was set back)."""
        kept_us = ASKED_AGAIN_US if self.answer.said == "error" else KEPT_US
        return 0 <= now - self.answer.asked_at < kept_us

    def is_lost(self, now: Instant) -> bool:
        """Say whether nothing may be asked for, because the server has had errors for not so long a time.

        Source  RFC 9309, 2.3.1.4: after 30 days what was known before holds again, or that there is nothing.
        """
        since = self.answer.failing_since
        return self.answer.said == "error" and (since is None or now - since < MOURNED_US)


class RobotsCache:
    """Answers whether a URL may be asked for, fetching each origin's robots.txt at most once a day.

    get      makes one request without redirection, at the host's gate, its address judged
    store    keeps answers over restarts; None keeps them in memory only
    total_s  the deadline of one robots.txt with all its redirects
    Memory holds the origins asked for last: at most `MOST_ORIGINS`, and rules that take about `MOST_TEXT` octets.
    """

    def __init__(
        self,
        get: Callable[[HopRequest], Awaitable[HopResponse]],
        store: RobotsStore | None,
        clock: Clock,
        *,
        agent: str = AGENT,
        total_s: float = 60.0,
    ) -> None:
        self._requests = RobotsRequests(get, clock, total_s=total_s)
        self._store = store
        self._clock = clock
        self._agent = agent
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._size = 0
        self._asking: dict[str, asyncio.Future[None]] = {}

    async def ruling(self, url: str) -> Ruling:
        """Say whether this URL, serialised as the URL standard says, may be asked for; raises as `look` does."""
        return (await self.look(url))[0]

    def known(self, url: str, origin: str) -> tuple[Ruling, float | None] | None:
        """Say what `look` would say, where that needs no request; None where it may."""
        known, now = self._known.get(origin), self._clock.now()
        if known is None or not known.is_fresh(now):
            return None
        self._known.move_to_end(origin)
        return self._rule(known, url, now)

    async def look(self, url: str, proxy: str | None = None) -> tuple[Ruling, float | None]:
        """Say whether this URL may be asked for, and how many seconds its site wants between requests.

        proxy  through which the page is asked for, and so is its robots.txt, should nobody have asked before
        Raises FetchFailed or FetchRefused of robots.txt's own request where that failed: it is the page's own failure.
        """
        known = await self._of(host_and_origin(url)[1], proxy)
        return self._rule(known, url, self._clock.now())

    @staticmethod
    def _rule(known: _Known, url: str, now: Instant) -> tuple[Ruling, float | None]:
        delay_s = known.rules.crawl_delay if known.rules else None
        if known.is_lost(now):
            return UNAVAILABLE, delay_s
        return known.rules.allows(url) if known.rules else ALLOWED, delay_s

    async def sitemaps(self, url: str, proxy: str | None = None) -> tuple[str, ...] | None:
        """The sitemaps that this URL's robots.txt names; None while it cannot be read; raises as `look` does."""
        known = await self._of(host_and_origin(url)[1], proxy)
        return None if known.is_lost(self._clock.now()) else known.sitemaps

    async def _of(self, origin: str, proxy: str | None) -> _Known:
        while True:
            known = self._known.get(origin)
            if known is not None and known.is_fresh(self._clock.now()):
                self._known.move_to_end(origin)
                return known
            # One at a time asks an origin. Who waited looks again: the asker may have failed or been cancelled,
            # and then the next one asks on its own account.
            asking = self._asking.get(origin)
            if asking is None:
                return await self._ask(origin, proxy)
            await asyncio.shield(asking)

    async def _ask(self, origin: str, proxy: str | None) -> _Known:
        done = self._asking[origin] = asyncio.get_running_loop().create_future()
        try:
            kept = await self._load(origin)
            earlier = self._read(kept) if kept is not None else self._known.get(origin)
            if earlier is None or not earlier.is_fresh(self._clock.now()):
                earlier = await self._ask_again(origin, proxy, kept, earlier)
            return self._remember(origin, earlier)
        finally:
            del self._asking[origin]
            done.set_result(None)

    async def _ask_again(self, origin: str, proxy: str | None, kept: Answer | None, earlier: _Known | None) -> _Known:
        """Fetch the file; what was known before serves where it says that nothing changed."""
        before = kept or (earlier.answer if earlier is not None else None)
        answer = await self._requests.ask(origin, before, proxy)
        is_same = before is not None and (answer.said == "error" or answer.renewed > before.renewed)
        if is_same and kept is None and earlier is not None:
            # Only memory has the rules, and no longer as a text: there is nothing to be saved.
            return replace(earlier, answer=answer)
        await self._save(origin, answer)
        return self._read(answer)

    def _read(self, answer: Answer) -> _Known:
        if "rules" not in (answer.said, answer.before):
            return _Known(answer, None, 0)
        read = read_robots(answer.text)
        rules = read.of(self._agent)
        return _Known(answer, rules, len(answer.text) + rules.size * _OCTETS_A_RULE, read.sitemaps)

    def _remember(self, origin: str, found: _Known) -> _Known:
        known = replace(found, answer=replace(found.answer, text=""))
        before = self._known.pop(origin, None)
        self._size += known.size - (before.size if before else 0)
        self._known[origin] = known
        while len(self._known) > MOST_ORIGINS or (self._size > MOST_TEXT and len(self._known) > 1):
            self._size -= self._known.popitem(last=False)[1].size
        return known

    async def _load(self, origin: str) -> Answer | None:
        text = None
        if self._store is not None:
            # What a store that cannot be read or written would have remembered is asked for again: it is only a memory.
            with suppress(StoreError):
                text = await self._store.load_robots(origin)
        if text is None:
            return None
        with suppress(msgspec.ValidationError, msgspec.DecodeError):
            return msgspec.json.decode(text, type=Answer)
        return None

    async def _save(self, origin: str, answer: Answer) -> None:
        if self._store is not None:
            with suppress(StoreError):
                await self._store.save_robots(origin, msgspec.json.encode(answer).decode())
