"""robots.txt of each origin: requested, judged by its status, and cached for a day (RFC 9309, 2.3 and 2.4)."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Literal, Protocol, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from tocsin.errors import BadUrl, FetchFailed, StoreError
from tocsin.model import AGENT, FailureKind, HopRequest, HopResponse, Instant, sendable
from tocsin.ports import Clock
from tocsin.spec.html.urls import host_and_origin, resolve, watch_url
from tocsin.spec.robots import (
    ALLOWED,
    LONGEST_ROBOTS_BYTES,
    AgentRules,
    Policy,
    Ruling,
    decode_robots,
    policy_of,
    read_robots,
)

MOST_REDIRECTS = 5
# Some servers answer 304 for ever, so now and then the file is requested without conditions.
UNCONDITIONAL_EVERY = 30
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_NOT_MODIFIED, _PARTIAL = 304, 206

Said: TypeAlias = Literal["rules", "nothing", "error"]
# RFC 9309, 2.4: a cached file should not be used for more than 24 hours.
KEPT_US = 24 * 3600 * 1_000_000
# While a server has errors, its pages wait for its robots.txt, so it is requested more often.
ASKED_AGAIN_US = 3600 * 1_000_000
# RFC 9309, 2.3.1.4: after 30 days of errors the file may be taken as unavailable.
MOURNED_US = 30 * KEPT_US
MOST_ORIGINS = 20_000
MOST_TEXT = 16 * 2**20
# Estimated memory of a parsed rule, with its objects.
_OCTETS_A_RULE = 448
UNAVAILABLE = Ruling(allowed=False, rule="robots.txt could not be read: the server has an error or is busy")


class RobotsAnswer(Struct, frozen=True):
    """The answer of a robots.txt, as it is stored.

    said           rules: `text` counts; nothing: everything is allowed; error: nothing is, until the next request
    text           decoded; during errors, that of `before`
    hop_url        URL that gave the validators, after redirects
    renewed        conditional requests in a row that found it unchanged
    before         during errors: `said` before they began
    failing_since  when the errors began
    """

    asked_at: Instant
    said: Said
    text: str = ""
    etag: str | None = None
    last_modified: str | None = None
    hop_url: str = ""
    renewed: int = 0
    before: Said | None = None
    failing_since: Instant | None = None


class RobotsRequests:
    """Requests robots.txt files.

    get      makes one request without redirection
    total_s  deadline of one file with all its redirects
    """

    def __init__(self, get: Callable[[HopRequest], Awaitable[HopResponse]], clock: Clock, *, total_s: float) -> None:
        self._get, self._clock, self._total_s = get, clock, total_s

    async def ask(self, origin: str, earlier: RobotsAnswer | None, proxy: str | None = None) -> RobotsAnswer:
        """Request an origin's robots.txt, on condition that it differs from the earlier one.

        proxy  of the request, None for none
        Raises FetchFailed or FetchRefused without an answer.
        """
        url, spent_s = f"{origin}/robots.txt", 0.0
        asked: set[str] = set()
        while url not in asked and len(asked) <= MOST_REDIRECTS:
            asked.add(url)
            conditions = _conditions(earlier, url)
            answer = await self._get(self._request(url, conditions, spent_s, proxy))
            spent_s += answer.elapsed_ms / 1000
            if answer.status not in _REDIRECTS:
                return self._judge(url, answer, earlier, is_conditional=bool(conditions))
            try:
                url = watch_url(resolve(url, answer.location or "") or "").url
            except BadUrl:
                return self._nothing()
        # RFC 9309, 2.3.1.2: after five redirects a robots.txt may be taken as unavailable. So is a circle, and a
        # redirect without `Location`, which leads to itself.
        return self._nothing()

    def _request(
        self, url: str, conditions: tuple[tuple[str, str], ...], spent_s: float, proxy: str | None
    ) -> HopRequest:
        left_s = self._total_s - spent_s
        if left_s <= 0:
            mend = "its redirects took all of the time; raise fetch.deadlines.total"
            raise FetchFailed(url, FailureKind.TIMEOUT, f"robots.txt: {mend}")
        headers = (("Accept", "text/plain,*/*;q=0.5"), *conditions)
        return HopRequest(url, headers=headers, total_s=left_s, cut_at=LONGEST_ROBOTS_BYTES, proxy=proxy)

    def _judge(
        self, url: str, answer: HopResponse, earlier: RobotsAnswer | None, *, is_conditional: bool
    ) -> RobotsAnswer:
        now = self._clock.now()
        if answer.status == _NOT_MODIFIED and is_conditional and earlier is not None:
            return _renewed(earlier, answer, now)
        policy = None if answer.status == _PARTIAL else policy_of(answer.status)
        if policy is Policy.PARSE:
            text = decode_robots(answer.body, cut=answer.cut)
            etag, modified = sendable(answer.header("etag")), sendable(answer.header("last-modified"))
            return RobotsAnswer(now, "rules", text, etag, modified, url)
        if policy is Policy.ALLOW_ALL:
            return self._nothing()
        if policy is Policy.DISALLOW_ALL:
            return _failed(earlier, now)
        detail = f"robots.txt answered {answer.status} without being asked for it"
        raise FetchFailed(answer.url, FailureKind.PROTOCOL, detail, status=answer.status)

    def _nothing(self) -> RobotsAnswer:
        return RobotsAnswer(self._clock.now(), "nothing")


def _conditions(earlier: RobotsAnswer | None, url: str) -> tuple[tuple[str, str], ...]:
    """Return the validators that this very URL gave; none for an unconditional request now and then."""
    if earlier is None or earlier.hop_url != url or earlier.renewed >= UNCONDITIONAL_EVERY:
        return ()
    known = (("If-None-Match", earlier.etag), ("If-Modified-Since", earlier.last_modified))
    return tuple((name, value) for name, value in known if value is not None)


def _renewed(earlier: RobotsAnswer, answer: HopResponse, now: Instant) -> RobotsAnswer:
    return replace(
        earlier,
        asked_at=now,
        said=earlier.before or earlier.said,
        etag=sendable(answer.header("etag")) or earlier.etag,
        last_modified=sendable(answer.header("last-modified")) or earlier.last_modified,
        renewed=earlier.renewed + 1,
        before=None,
        failing_since=None,
    )


def _failed(earlier: RobotsAnswer | None, now: Instant) -> RobotsAnswer:
    """Keep the answer from before the errors: its validators serve again, and after a long time its rules do."""
    if earlier is None:
        return RobotsAnswer(now, "error", failing_since=now)
    if earlier.said == "error":
        return replace(earlier, asked_at=now, failing_since=earlier.failing_since or now)
    return replace(earlier, asked_at=now, said="error", before=earlier.said, failing_since=now)


class RobotsStore(Protocol):
    """Keeps answers over restarts; `ports.WorkStore` implements it."""

    async def load_robots(self, origin: str) -> str | None:
        """Return what was kept for this origin."""

    async def save_robots(self, origin: str, kept: str) -> None:
        """Keep this for the origin."""


class _CachedRobots(Struct):
    """An answer in memory: its parsed rules instead of its text.

    rules     for our agent; None if there are none
    size      estimated bytes of the rules
    sitemaps  URLs that it names, as written
    """

    answer: RobotsAnswer
    rules: AgentRules | None
    size: int
    sitemaps: tuple[str, ...] = ()

    def is_fresh(self, now: Instant) -> bool:
        """Tell whether the answer still counts; one from the future does not (the clock was set back)."""
        kept_us = ASKED_AGAIN_US if self.answer.said == "error" else KEPT_US
        return 0 <= now - self.answer.asked_at < kept_us

    def is_lost(self, now: Instant) -> bool:
        """Tell whether every URL is forbidden because of recent errors.

        Source  RFC 9309, 2.3.1.4: after 30 days the rules from before the errors count again, or none do.
        """
        since = self.answer.failing_since
        return self.answer.said == "error" and (since is None or now - since < MOURNED_US)


class RobotsCache:
    """Tells whether a URL may be requested; fetches each origin's robots.txt at most once a day.

    get      makes one request without redirection, at the host's gate, with the address policy applied
    store    keeps answers over restarts; None keeps them in memory only
    total_s  deadline of one robots.txt with all its redirects
    An LRU cache of at most `MOST_ORIGINS` origins and about `MOST_TEXT` bytes of rules.
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
        self._known: OrderedDict[str, _CachedRobots] = OrderedDict()
        self._size = 0
        self._asking: dict[str, asyncio.Future[None]] = {}

    async def ruling(self, url: str) -> Ruling:
        """Tell whether this URL (serialised by the URL standard) may be requested; raises as `look` does."""
        return (await self.look(url))[0]

    def known(self, url: str, origin: str) -> tuple[Ruling, float | None] | None:
        """Return the result of `look` if the cache has it; None if a request is needed."""
        known, now = self._known.get(origin), self._clock.now()
        if known is None or not known.is_fresh(now):
            return None
        self._known.move_to_end(origin)
        return self._rule(known, url, now)

    async def look(self, url: str, proxy: str | None = None) -> tuple[Ruling, float | None]:
        """Return whether this URL may be requested, and the crawl delay of its site in seconds.

        proxy  of the page, used for its robots.txt, too
        Raises FetchFailed or FetchRefused of the request for robots.txt, which count as the page's own failure.
        """
        known = await self._of(host_and_origin(url)[1], proxy)
        return self._rule(known, url, self._clock.now())

    @staticmethod
    def _rule(known: _CachedRobots, url: str, now: Instant) -> tuple[Ruling, float | None]:
        delay_s = known.rules.crawl_delay if known.rules else None
        if known.is_lost(now):
            return UNAVAILABLE, delay_s
        return known.rules.allows(url) if known.rules else ALLOWED, delay_s

    async def sitemaps(self, url: str, proxy: str | None = None) -> tuple[str, ...] | None:
        """Return the sitemaps that this URL's robots.txt names; None while it has errors; raises as `look` does."""
        known = await self._of(host_and_origin(url)[1], proxy)
        return None if known.is_lost(self._clock.now()) else known.sitemaps

    async def _of(self, origin: str, proxy: str | None) -> _CachedRobots:
        while True:
            known = self._known.get(origin)
            if known is not None and known.is_fresh(self._clock.now()):
                self._known.move_to_end(origin)
                return known
            # One task at a time requests an origin's file. The others look again afterwards: if it failed or was
            # cancelled, the next one makes the request itself.
            asking = self._asking.get(origin)
            if asking is None:
                return await self._ask(origin, proxy)
            await asyncio.shield(asking)

    async def _ask(self, origin: str, proxy: str | None) -> _CachedRobots:
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

    async def _ask_again(
        self, origin: str, proxy: str | None, kept: RobotsAnswer | None, earlier: _CachedRobots | None
    ) -> _CachedRobots:
        """Request the file; an unchanged one confirms the earlier answer."""
        before = kept or (earlier.answer if earlier is not None else None)
        answer = await self._requests.ask(origin, before, proxy)
        is_same = before is not None and (answer.said == "error" or answer.renewed > before.renewed)
        if is_same and kept is None and earlier is not None:
            # Only memory has the rules, no longer as text, so nothing can be stored.
            return replace(earlier, answer=answer)
        await self._save(origin, answer)
        return self._read(answer)

    def _read(self, answer: RobotsAnswer) -> _CachedRobots:
        if "rules" not in (answer.said, answer.before):
            return _CachedRobots(answer, None, 0)
        read = read_robots(answer.text)
        rules = read.of(self._agent)
        return _CachedRobots(answer, rules, len(answer.text) + rules.size * _OCTETS_A_RULE, read.sitemaps)

    def _remember(self, origin: str, found: _CachedRobots) -> _CachedRobots:
        known = replace(found, answer=replace(found.answer, text=""))
        before = self._known.pop(origin, None)
        self._size += known.size - (before.size if before else 0)
        self._known[origin] = known
        while len(self._known) > MOST_ORIGINS or (self._size > MOST_TEXT and len(self._known) > 1):
            self._size -= self._known.popitem(last=False)[1].size
        return known

    async def _load(self, origin: str) -> RobotsAnswer | None:
        text = None
        if self._store is not None:
            # The store is only a cache here: if it fails, the file is requested again.
            with suppress(StoreError):
                text = await self._store.load_robots(origin)
        if text is None:
            return None
        with suppress(msgspec.ValidationError, msgspec.DecodeError):
            return msgspec.json.decode(text, type=RobotsAnswer)
        return None

    async def _save(self, origin: str, answer: RobotsAnswer) -> None:
        if self._store is not None:
            with suppress(StoreError):
                await self._store.save_robots(origin, msgspec.json.encode(answer).decode())
