"""What the robots.txt of each origin says, kept for a day (RFC 9309, 2.3 and 2.4)."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

import msgspec
from msgspec import Struct

from tocsin.errors import FetchFailed, FetchRefused, StoreError
from tocsin.model import FailureKind, Instant
from tocsin.spec.html.urls import host_and_origin, resolve
from tocsin.spec.robots.rules import ALLOWED, LONGEST_ROBOTS_BYTES, RobotsRules, Ruling, parse_robots

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tocsin.ports import Clock, HopResponse

AGENT = "tocsin"
KEPT_US = 24 * 3600 * 1_000_000
ASKED_AGAIN_US = 3600 * 1_000_000
MOST_REDIRECTS = 5
MOST_ORIGINS = 10_000
MOST_TEXT = 16 * 2**20
_TOO_MANY_REQUESTS = 429
UNAVAILABLE = Ruling(allowed=False, rule="robots.txt could not be read: the server has an error or is busy")


class RobotsStore(Protocol):
    """Where answers outlive the process; `ports.WorkStore` is one."""

    async def load_robots(self, origin: str) -> str | None:
        """What was kept for this origin."""

    async def save_robots(self, origin: str, kept: str) -> None:
        """Keep this for the origin."""


class _Kept(Struct, frozen=True):
    """An answer as it is kept: `said` is rules, nothing (everything is allowed) or error (nothing is)."""

    asked_at: Instant
    said: str
    text: str = ""

    def is_fresh(self, now: Instant) -> bool:
        """Say whether the answer still holds; one from the future does not (a clock was set back)."""
        kept_us = ASKED_AGAIN_US if self.said == "error" else KEPT_US
        return 0 <= now - self.asked_at < kept_us


class _Known(Struct):
    """An answer in memory: its rules as read, no longer its text, of which `size` remembers the length."""

    kept: _Kept
    rules: RobotsRules | None
    size: int


class RobotsCache:
    """Answers whether a URL may be asked for, fetching each origin's robots.txt at most once a day.

    get    makes one request without redirection, at the host's gate, its address judged
    store  keeps answers over restarts; None keeps them in memory only
    Memory holds the origins asked for last: at most `MOST_ORIGINS`, and rules of at most `MOST_TEXT` characters.
    """

    def __init__(
        self,
        get: Callable[[str], Awaitable[HopResponse]],
        store: RobotsStore | None,
        clock: Clock,
        *,
        agent: str = AGENT,
    ) -> None:
        self._get = get
        self._store = store
        self._clock = clock
        self._agent = agent
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._size = 0
        self._asking: dict[str, asyncio.Future[None]] = {}

    async def ruling(self, url: str) -> Ruling:
        """Say whether this URL, serialised as the URL standard says, may be asked for.

        Raises FetchFailed or FetchRefused of robots.txt's own request where that failed: it is the page's own failure.
        """
        known = await self._of(host_and_origin(url)[1])
        if known.kept.said == "error":
            return UNAVAILABLE
        return known.rules.allows(self._agent, url) if known.rules else ALLOWED

    async def crawl_delay(self, url: str) -> float | None:
        """Seconds between requests that the site of this URL asks for; raises as `ruling` does."""
        known = await self._of(host_and_origin(url)[1])
        return known.rules.crawl_delay(self._agent) if known.rules else None

    async def _of(self, origin: str) -> _Known:
        while True:
            known = self._known.get(origin)
            if known is not None and known.kept.is_fresh(self._clock.now()):
                self._known.move_to_end(origin)
                return known
            # One at a time asks an origin. Who waited looks again: the asker may have failed or been cancelled,
            # and then the next one asks on its own account.
            asking = self._asking.get(origin)
            if asking is None:
                return await self._ask(origin)
            await asyncio.shield(asking)

    async def _ask(self, origin: str) -> _Known:
        done = self._asking[origin] = asyncio.get_running_loop().create_future()
        try:
            kept = await self._load(origin)
            if kept is None:
                kept = await self._fetch(origin)
                await self._save(origin, kept)
            return self._remember(origin, kept)
        finally:
            del self._asking[origin]
            done.set_result(None)

    def _remember(self, origin: str, kept: _Kept) -> _Known:
        rules = parse_robots(kept.text.encode()) if kept.said == "rules" else None
        known = _Known(msgspec.structs.replace(kept, text=""), rules, len(kept.text))
        before = self._known.pop(origin, None)
        self._size += known.size - (before.size if before else 0)
        self._known[origin] = known
        while len(self._known) > MOST_ORIGINS or (self._size > MOST_TEXT and len(self._known) > 1):
            self._size -= self._known.popitem(last=False)[1].size
        return known

    async def _load(self, origin: str) -> _Kept | None:
        text = None
        if self._store is not None:
            # What a store that cannot be read or written would have remembered is asked for again: it is only a memory.
            with suppress(StoreError):
                text = await self._store.load_robots(origin)
        if text is None:
            return None
        with suppress(msgspec.ValidationError, msgspec.DecodeError):
            kept = msgspec.json.decode(text, type=_Kept)
            return kept if kept.is_fresh(self._clock.now()) else None
        return None

    async def _save(self, origin: str, kept: _Kept) -> None:
        if self._store is not None:
            with suppress(StoreError):
                await self._store.save_robots(origin, msgspec.json.encode(kept).decode())

    async def _fetch(self, origin: str) -> _Kept:
        url = f"{origin}/robots.txt"
        for _ in range(MOST_REDIRECTS + 1):
            try:
                answer = await self._get(url)
            except FetchRefused as exc:
                if exc.kind == FailureKind.TOO_LARGE:
                    # Deviation: RFC 9309 reads the first 500 KiB of any length; a body beyond the cap is not kept.
                    return self._keep("nothing")
                raise
            if answer.status in (301, 302, 303, 307, 308):
                target = resolve(url, answer.header("location") or "")
                if target is None or not target.startswith(("http://", "https://")):
                    return self._keep("nothing")
                url = target.partition("#")[0]
                continue
            return self._read(answer)
        # Source: RFC 9309, 2.3.1.2: after five redirects a robots.txt may be taken as unavailable.
        return self._keep("nothing")

    def _read(self, answer: HopResponse) -> _Kept:
        if 200 <= answer.status < 300:  # noqa: PLR2004 - success
            text = answer.body[:LONGEST_ROBOTS_BYTES].decode("utf-8", "replace")
            return self._keep("rules", text)
        if 400 <= answer.status < 500 and answer.status != _TOO_MANY_REQUESTS:  # noqa: PLR2004 - the client's errors
            return self._keep("nothing")
        if answer.status == _TOO_MANY_REQUESTS or answer.status >= 500:  # noqa: PLR2004 - the server's errors
            return self._keep("error")
        raise FetchFailed(answer.url, FailureKind.PROTOCOL, f"robots.txt answered {answer.status}, which is no answer")

    def _keep(self, said: str, text: str = "") -> _Kept:
        return _Kept(self._clock.now(), said, text)
