"""Stand-ins for the outside world; each keeps the promises of its port."""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from random import Random
from typing import Any

from ulid import LaxMonotonicPolicy, ULIDGenerator

from tocsin.engine.hosts.outage import OutageWatch
from tocsin.errors import FetchFailed
from tocsin.events import Happening
from tocsin.model import FailureKind, HopRequest, HopResponse, Instant
from tocsin.ports import Session
from tocsin.ports.browser import Admission, BrowserVisit, VisitedPage

START: Instant = 1_795_000_000_000_000
"""2026-11-18T11:06:40Z: where a ManualClock begins unless it is told otherwise."""


class ManualClock:
    """A clock that stands still until it is told to go on; who sleeps wakes when its time has come.

    now_us  the wall clock at the start; monotonic time starts at 1,000 s
    """

    def __init__(self, now_us: Instant = START) -> None:
        self._now = now_us
        self._monotonic = 1000.0
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._order = itertools.count()

    def now(self) -> Instant:
        return self._now

    def monotonic(self) -> float:
        return self._monotonic

    async def sleep(self, seconds: float) -> None:
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        wakes = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._monotonic + seconds, next(self._order), wakes))
        await wakes

    def set_wall(self, now_us: Instant) -> None:
        """Set the wall clock, also back; monotonic time does not notice."""
        self._now = now_us

    @property
    def sleepers(self) -> int:
        """How many wait for time to pass."""
        return sum(not wakes.done() for _, _, wakes in self._sleepers)

    async def advance(self, seconds: float) -> None:
        """Let this much time pass, waking sleepers in order, each at its own time, and let everybody get on."""
        await settle()
        until = self._monotonic + seconds
        while self._sleepers and self._sleepers[0][0] <= until:
            at, _, wakes = heapq.heappop(self._sleepers)
            self._go_to(at)
            if not wakes.done():
                wakes.set_result(None)
                await settle()
        self._go_to(until)
        await settle()

    async def leap(self, seconds: float) -> None:
        """Let this much time pass at once: each task that sleeps wakes at most one time, and late."""
        until = self._monotonic + seconds
        late = [each for each in self._sleepers if each[0] <= until]
        self._sleepers = [each for each in self._sleepers if each[0] > until]
        heapq.heapify(self._sleepers)
        self._go_to(until)
        for _, _, wakes in late:
            if not wakes.done():
                wakes.set_result(None)
        await settle()

    async def advance_to_next(self) -> float:
        """Go to the first sleeper's time; returns how many seconds that were, 0 if no task sleeps."""
        await settle()
        waiting = [at for at, _, wakes in self._sleepers if not wakes.done()]
        if not waiting:
            return 0.0
        seconds = max(min(waiting) - self._monotonic, 0.0)
        await self.advance(seconds)
        return seconds

    def _go_to(self, at: float) -> None:
        if at > self._monotonic:
            self._now += round((at - self._monotonic) * 1_000_000)
            self._monotonic = at


class EagerClock(ManualClock):
    """A clock on which every sleep ends at once, having let its time pass; `slept` tells what was asked for."""

    def __init__(self, now_us: Instant = START) -> None:
        super().__init__(now_us)
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self._go_to(self._monotonic + max(seconds, 0.0))
        await asyncio.sleep(0)


async def settle(rounds: int = 20) -> None:
    """Let every task that can go on do so, without letting time pass."""
    for _ in range(rounds):
        await asyncio.sleep(0)


def cut_off(outage: OutageWatch) -> None:
    """Let the watch find out that our own connection fails: three hosts fail, and those that answered last do too."""
    for host in ("a.example", "b.example", "c.example"):
        outage.note(host, ok=False, kind=FailureKind.CONNECT)
    outage.settle(is_outage=True)


class SeededChance:
    """Randomness that is the same in each run."""

    def __init__(self, seed: int = 1) -> None:
        self._random = Random(seed)  # noqa: S311 - tests want the same each time
        self._ulids = ULIDGenerator(
            randomness=lambda _: self._random.randbytes(10),
            policy=LaxMonotonicPolicy(),
        )

    def fraction(self) -> float:
        return self._random.random()

    def ulid(self, at: Instant) -> str:
        return str(self._ulids.generate(at // 1000))


class FixedChance(SeededChance):
    """Randomness that always falls the same way."""

    def __init__(self, fraction: float = 0.5) -> None:
        super().__init__()
        self._fraction = fraction

    def fraction(self) -> float:
        return self._fraction


class RecordingTelemetry:
    """Keeps what happened."""

    def __init__(self) -> None:
        self.happenings: list[Happening] = []

    def emit(self, happening: Happening) -> None:
        self.happenings.append(happening)

    def names(self) -> list[str]:
        """What happened, by name, in order."""
        return [happening.name for happening in self.happenings]


def answer(
    url: str,
    body: bytes | str = b"",
    *,
    status: int = 200,
    headers: Iterable[tuple[str, str]] = (("content-type", "text/html; charset=utf-8"),),
) -> HopResponse:
    """A complete answer."""
    content = body.encode() if isinstance(body, str) else body
    return HopResponse(
        url=url, status=status, headers=tuple(headers), body=content, wire_bytes=len(content), elapsed_ms=5
    )


Scripted = HopResponse | BaseException


class ScriptedFetcher:
    """Answers each URL with what the script says, in order; the last entry of a script stays.

    requests  every request made, in order
    sessions  how many fresh sessions were opened
    before    awaited ahead of each answer, where a test wants to look in or to hold the answer back
    """

    def __init__(self) -> None:
        self._scripts: dict[str, list[Scripted]] = {}
        self.requests: list[HopRequest] = []
        self.sessions = 0
        self.before: Callable[[HopRequest], Awaitable[object]] | None = None

    def on(self, url: str, *answers: Scripted) -> None:
        """Set what this URL answers, one after the other."""
        self._scripts[url] = list(answers)

    def page(self, url: str, body: bytes | str, *, status: int = 200, headers: Iterable[tuple[str, str]] = ()) -> None:
        """Set a page that always answers so."""
        self.on(url, answer(url, body, status=status, headers=(("content-type", "text/html"), *headers)))

    async def get(self, request: HopRequest) -> HopResponse:
        self.requests.append(request)
        if self.before is not None:
            await self.before(request)
        script = self._scripts.get(request.url)
        if not script:
            raise FetchFailed(request.url, FailureKind.CONNECT, "connection refused")
        said = script.pop(0) if len(script) > 1 else script[0]
        if isinstance(said, BaseException):
            raise said
        return said

    def shared(self) -> Session:
        return self

    @asynccontextmanager
    async def fresh(self) -> AsyncIterator[Session]:
        self.sessions += 1
        yield self

    def asked(self, url: str) -> int:
        """How often this URL was asked for."""
        return sum(request.url == url for request in self.requests)


def dom(url: str, body: bytes | str, *documents: str, status: int = 200, **of_page: Any) -> VisitedPage:
    """What a browser saw of a page: its document, as scripts made it, after these further documents."""
    content = body.encode() if isinstance(body, str) else body
    seen = (url, *documents)
    return VisitedPage(seen[-1], seen, status, of_page.pop("headers", ()), content, wire_bytes=len(content), **of_page)


class FakeBrowser:
    """Shows each URL as the script says, in order; the last entry of a script stays.

    visits  every visit made, in order
    open    visits under way now, and
    most    at the same time so far
    before  awaited within each visit, where a test wants to look in or to hold it
    """

    def __init__(self, slots: int = 2) -> None:
        self.slots, self.is_closed = slots, False
        self._scripts: dict[str, list[VisitedPage | BaseException]] = {}
        self.visits: list[BrowserVisit] = []
        self.open = self.most = 0
        self.before: Callable[[BrowserVisit], Awaitable[object]] | None = None

    def on(self, url: str, *pages: VisitedPage | BaseException) -> None:
        """Set what this URL shows, one after the other."""
        self._scripts[url] = list(pages)

    async def visit(self, visit: BrowserVisit, admit: Admission) -> VisitedPage:
        self.visits.append(visit)
        self.open += 1
        self.most = max(self.most, self.open)
        try:
            await asyncio.sleep(0)
            if self.before is not None:
                await self.before(visit)
            script = self._scripts.get(visit.url)
            if not script:
                raise FetchFailed(visit.url, FailureKind.CONNECT, "connection refused")
            said = script.pop(0) if len(script) > 1 else script[0]
            if isinstance(said, BaseException):
                raise said
            for document in said.documents[1:]:
                await admit(document)
            return said
        finally:
            self.open -= 1

    async def close(self) -> None:
        self.is_closed = True
