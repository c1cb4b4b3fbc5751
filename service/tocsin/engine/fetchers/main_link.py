"""A fetcher's link to the main process: what it reports and asks, gathered into few messages."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from itertools import count
from typing import TYPE_CHECKING

from tocsin.engine.fetchers.remote_calls import RemoteCalls, error_of
from tocsin.engine.hosts.gates import Gates
from tocsin.engine.hosts.outage import MOST_DEAD
from tocsin.errors import FetchRefused, Withdrawn
from tocsin.ports.messages import (
    Admitted,
    Checked,
    CheckHandoff,
    Failed,
    Happened,
    Hop,
    Hopped,
    HostWishes,
    IsWatched,
    KeptRobots,
    LoadRobots,
    RequestProgress,
    SaveRobots,
    TakeTurn,
    TryNotes,
    VisitedInBrowser,
    VisitInBrowser,
    Watched,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.events import Happening
    from tocsin.model import CheckResult, HopRequest, HopResponse
    from tocsin.ports import Clock
    from tocsin.ports.browser import Admission, BrowserVisit, VisitedPage
    from tocsin.ports.messages import AdmitDocument, Ask, CheckEnds, FromFetcher, Reply
    from tocsin.settings import HostSettings, LogSettings

# Time that results wait for others to be sent together; questions and answers do not wait.
GATHER_S = 0.02
# As many results are sent at once without waiting for more.
_MOST_GATHERED = 200
_LOUDNESS = {"debug": 0, "info": 1, "warning": 2, "error": 3}


class MainLink:
    """Sends gathered messages to the main process, and asks it; replaces a fetcher's store and log.

    Implements `ports.Telemetry`, `robots.RobotsStore`, `renderer.WatchedPages`, `visit.Handoff`, `receive.TryObserver`
    and `browsing.BrowserVisits`.
    """

    def __init__(self, log: LogSettings) -> None:
        self._least = _LOUDNESS[log.level]
        self._ends: list[CheckEnds] = []
        self._tries: list[tuple[str, str | None]] = []
        self._failing: OrderedDict[str, None] = OrderedDict()
        self._holds: dict[str, float] = {}
        self._delays: dict[str, tuple[str, float | None]] = {}
        self._others: list[FromFetcher] = []
        self._filled, self._urgent = asyncio.Event(), asyncio.Event()
        self._questions = RemoteCalls(self.put_urgent)
        self._visits: dict[int, Admission] = {}
        self._visit_numbers = count(1)

    # Outgoing ---------------------------------------------------------------------------------------------------

    def put(self, message: FromFetcher) -> None:
        """Send this with the next messages."""
        self._others.append(message)
        self._filled.set()

    def put_urgent(self, message: Ask | Reply) -> None:
        """Send this at once: the other end waits for it."""
        self._urgent.set()
        self.put(message)

    def ended(self, ends: CheckEnds) -> None:
        """Send how a check ended."""
        self._ends.append(ends)
        self._filled.set()
        if len(self._ends) >= _MOST_GATHERED:
            self._urgent.set()

    async def gathered(self) -> list[FromFetcher]:
        """Wait for messages, and briefly for more; notes of tries come before the results that depend on them."""
        await self._filled.wait()
        if not self._urgent.is_set():
            try:
                async with asyncio.timeout(GATHER_S):
                    await self._urgent.wait()
            except TimeoutError:
                pass
        messages: list[FromFetcher] = []
        if self._tries:
            messages.append(TryNotes(self._tries))
            self._tries = []
        if self._holds or self._delays:
            messages.append(HostWishes(self._holds, self._delays))
            self._holds, self._delays = {}, {}
        if self._ends:
            messages.append(Checked(self._ends))
            self._ends = []
        messages += self._others
        self._others = []
        self._filled.clear()
        self._urgent.clear()
        return messages

    # ports.Telemetry, receive.TryNotes --------------------------------------------------------------------------

    def emit(self, happening: Happening) -> None:
        """Forward a happening that is loud enough for the log."""
        if _LOUDNESS[happening.level] >= self._least:
            self.put(Happened(happening))

    def note(self, host: str, ok: bool, kind: str | None = None) -> None:  # noqa: FBT001 - what became of it
        """Forward the result of a try; of successes only the first after a failure, and those of hosts that failed."""
        tries = self._tries
        if not ok:
            tries.append((host, kind or ""))
            self._failing[host] = None
            if len(self._failing) > MOST_DEAD:
                self._failing.popitem(last=False)
        elif host in self._failing:
            del self._failing[host]
            tries.append((host, None))
        elif not tries or tries[-1][1] is not None:
            tries.append((host, None))
        self._filled.set()

    def learned(
        self, host: str, *, until_s: float | None = None, delay: tuple[str, float | None] | None = None
    ) -> None:
        """Forward the pause or delay that a host asked for."""
        if until_s is not None:
            self._holds[host] = until_s
        if delay is not None:
            self._delays[host] = delay
        self._filled.set()

    # Questions --------------------------------------------------------------------------------------------------

    def answered(self, reply: Reply) -> None:
        """Deliver an answer."""
        self._questions.take(reply)

    async def load_robots(self, origin: str) -> str | None:
        """Return what was kept for this origin."""
        answer = await self._questions.ask(LoadRobots(origin))
        assert isinstance(answer, KeptRobots)  # noqa: S101 - as the messages say
        return answer.kept

    async def save_robots(self, origin: str, kept: str) -> None:
        """Keep this for the origin."""
        self.put(SaveRobots(origin, kept))

    async def still_watched(self, page_ids: Sequence[int]) -> set[int]:
        """Return the pages among these that are on the list and not paused."""
        watched = set()
        for page_id in page_ids:
            answer = await self._questions.ask(IsWatched(page_id))
            assert isinstance(answer, Watched)  # noqa: S101 - as the messages say
            if answer.is_watched:
                watched.add(page_id)
        return watched

    async def hand_off(self, handoff: CheckHandoff) -> RequestProgress | CheckResult | FetchRefused:
        """Let a check go on at the host of another fetcher; see `visit.Peers`."""
        answer = await self._questions.ask(handoff)
        if isinstance(answer, Failed):
            error = error_of(answer)
            assert isinstance(error, FetchRefused)  # noqa: S101 - only these are final
            return error
        if isinstance(answer, Checked):
            return answer.ends[0].result
        assert isinstance(answer, RequestProgress)  # noqa: S101 - as the messages say
        return answer

    async def hop(self, request: HopRequest) -> HopResponse:
        """Make a request at the host of another fetcher."""
        answer = await self._questions.ask(Hop(request))
        assert isinstance(answer, Hopped)  # noqa: S101 - as the messages say
        return answer.response

    async def visit(self, visit: BrowserVisit, admit: Admission, *, is_urgent: bool) -> VisitedPage:
        """Visit a page in the main process's browser; see `browsing.BrowserVisits`."""
        number = next(self._visit_numbers)
        self._visits[number] = admit
        try:
            answer = await self._questions.ask(VisitInBrowser(number, visit, is_urgent))
        finally:
            del self._visits[number]
        assert isinstance(answer, VisitedInBrowser)  # noqa: S101 - as the messages say
        return answer.page

    async def admit(self, question: AdmitDocument) -> Admitted:
        """Admit a document of a visit; raises Withdrawn where the visit was given up meanwhile."""
        admit = self._visits.get(question.number)
        if admit is None:
            raise Withdrawn(f"{question.url}: its visit was given up")
        await admit(question.url)
        return Admitted()

    async def take_turn(self, url: str) -> None:
        """Take a turn at a host of another fetcher."""
        await self._questions.ask(TakeTurn(url))


class ReportingGates(Gates):
    """Gates that report what hosts ask for."""

    def __init__(self, settings: HostSettings, clock: Clock, desk: MainLink, *, asked_s: float | None) -> None:
        super().__init__(settings, clock, asked_s=asked_s)
        self._desk = desk

    def hold(self, host: str, until_s: float) -> bool:
        """Make no request to a host until this monotonic time; see `Gates.hold`."""
        is_longer = super().hold(host, until_s)
        if is_longer:
            self._desk.learned(host, until_s=until_s)
        return is_longer

    def slow_down(self, host: str, origin: str, crawl_delay_s: float | None) -> None:
        """Obey the crawl delay of an origin; see `Gates.slow_down`."""
        super().slow_down(host, origin, crawl_delay_s)
        if crawl_delay_s or self._settings.delay or self._settings.rules:
            # Without any delays, the main process does not need to know of none.
            self._desk.learned(host, delay=(origin, crawl_delay_s))
