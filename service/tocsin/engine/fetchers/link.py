"""The main process's link to one fetcher: it is kept alive, fed, listened to, and replaced when it dies."""

from __future__ import annotations

import asyncio
from itertools import count
from signal import SIGKILL
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from tocsin.engine.hosts.process_limits import PageAllowance
from tocsin.errors import ProcessError
from tocsin.events import Happening
from tocsin.model import FetcherLife, PageTask, RenderJob
from tocsin.ports.messages import (
    AdmitDocument,
    Ask,
    Begin,
    Checked,
    CheckHandoff,
    Drop,
    Dropped,
    Heartbeat,
    Hop,
    Ready,
    RenderHandoff,
    Reply,
    TakeTurn,
    Withdraw,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable

    from tocsin.engine.hosts.crash_suspects import CrashSuspects
    from tocsin.model import Instant, JsonObject
    from tocsin.ports import Clock, Telemetry
    from tocsin.ports.messages import Answer, CheckEnds, FromFetcher, Start, ToFetcher
    from tocsin.ports.processes import FetcherProcess, FetcherStarter

    ToFetcherQuestion: TypeAlias = CheckHandoff | RenderHandoff | Hop | AdmitDocument | TakeTurn

# Fetchers send a heartbeat about as often.
TICK_S = 1.0
# Seconds of silence after which a fetcher counts as hanging; the worst page takes a tenth of that.
SILENT_TICKS = 60
# Factor of that time for its start, where everything starts at once.
_TO_START = 3
# Fetchers in a row that die before they work: then the fault is ours.
MOST_STILLBORN = 3
# Time for a process to end by itself before it is killed.
GRACE_S = 2.0
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.1, 5.0
# Lifetime from which on a fetcher is replaced at once; after shorter ones the pause grows.
_LONG_LIFE_S = 30.0


class FetcherTask(Struct, frozen=True):
    """A page to check or a question in the hands of a fetcher.

    page_id   of the bytes that it reads; 0 for a robots.txt
    what      the page or question to send
    answered  receives the answer of a question
    """

    page_id: int
    what: PageTask | Ask
    answered: asyncio.Future[Answer] | None = None


class FetcherLink:
    """Keeps one fetcher going.

    start       makes the first message to each process, given the monotonic time at which its predecessor ended, None
                without one
    ended       receives ended checks
    heard       receives its other messages
    dropped     receives the number of pages that it gave up
    set_aside   receives what was in hand of a page that killed too often
    most        limit of its pages in hand; lower while it is late
    lag_s       returns the lag of this process's own loop
    most_bytes  memory that it may take
    pid         of the current process, None while there is none
    checks      ended since the first start
    restarts    processes that replaced another
    ready       set once a process is ready for the first time
    """

    def __init__(
        self,
        index: int,
        starter: FetcherStarter,
        suspects: CrashSuspects,
        *,
        start: Callable[[float | None], Start],
        ended: Callable[[list[CheckEnds]], None],
        heard: Callable[[FetcherLink, FromFetcher], None],
        dropped: Callable[[int], None],
        set_aside: Callable[[FetcherTask], None],
        most: int,
        most_bytes: int,
        clock: Clock,
        telemetry: Telemetry,
        lag_s: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self._lag_s, self._said = lag_s, Heartbeat()
        self.index, self._starter, self._suspects = index, starter, suspects
        self._start, self._ended, self._heard = start, ended, heard
        self._dropped, self._set_aside = dropped, set_aside
        self._allowance, self._most_bytes, self._clock, self._telemetry = (
            PageAllowance(most),
            most_bytes,
            clock,
            telemetry,
        )
        self._numbers = count(1)
        self.pid: int | None = None
        self.checks = self.restarts = 0
        # Pages by their id, questions by their number below zero.
        self._waiting: dict[int, FetcherTask] = {}
        self._given: dict[int, FetcherTask] = {}
        self._outgoing: list[ToFetcher] = []
        self._filled = asyncio.Event()
        self._withdrawn: set[int] = set()
        self._is_live = self._is_ready = self._was_ready = False
        self.ready = asyncio.Event()
        self._killed_for: str | None = None
        self._waiting_since: Instant | None = None
        self._silent_ticks = 0
        self._group: asyncio.TaskGroup

    @property
    def life(self) -> FetcherLife:
        """Its current figures."""
        said = self._said
        return FetcherLife(
            self.index + 1, self.pid, self._is_ready, said.requests, self.checks, self.restarts, said.lag_s
        )

    # What it has in hand ----------------------------------------------------------------------------------------

    def room(self) -> int:
        """Return how many more pages it can take."""
        return self._allowance.pages - len(self._waiting) - len(self._given)

    def waiting_since(self) -> Instant | None:
        """Return the earliest due time of its pages without a request, by its last report."""
        # Pages are given in order of their due times, so the first unsent one is the earliest.
        tasks = (work.what for work in self._waiting.values() if isinstance(work.what, PageTask))
        unsent = next((task.order.due_at for task in tasks), None)
        return min((due for due in (unsent, self._waiting_since) if due is not None), default=None)

    def begin(self, tasks: Iterable[PageTask]) -> None:
        """Add these pages to those waiting for it."""
        for task in tasks:
            self._waiting[task.page_id] = FetcherTask(task.page_id, task)
        self._filled.set()

    async def ask(self, question: ToFetcherQuestion) -> Answer:
        """Ask it, and wait for the answer; if it dies, its successor is asked again."""
        number = next(self._numbers)
        answered: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting[-number] = FetcherTask(_page_of(question), Ask(number, question), answered)
        self._filled.set()
        try:
            return await answered
        finally:
            if (unsent := self._waiting.pop(-number, None)) is not None:
                self._withdrawn.discard(unsent.page_id)
            self._take_back(-number)

    def tell(self, message: ToFetcher) -> None:
        """Send a message to a live fetcher; a later one learns the same at its start."""
        if self._is_live:
            self._outgoing.append(message)
            self._filled.set()

    def forget_pages(self) -> None:
        """Give up all of its pages; later messages about them are ignored."""
        for held in (self._waiting, self._given):
            for key in [key for key in held if key > 0]:
                del held[key]
        self._withdrawn.clear()
        self._waiting_since = None

    def drop(self) -> int:
        """Give up its pages without a request; returns how many were unsent, the fetcher reports the others."""
        unsent = [key for key, work in self._waiting.items() if isinstance(work.what, PageTask)]
        for key in unsent:
            del self._waiting[key]
        self.tell(Drop())
        return len(unsent)

    def withdraw(self, page_ids: set[int]) -> None:
        """Make no further request for these pages, also where they were redirected to it."""
        in_hand = {work.page_id for held in (self._waiting, self._given) for work in held.values() if _is_check(work)}
        self._withdrawn |= page_ids & in_hand
        self.tell(Withdraw(list(page_ids)))

    def _feed(self) -> None:
        """Send what waits; of suspects only as many as may be tried together."""
        if not self._is_ready or not self._waiting:
            return
        chosen = self._waiting
        if self._suspects:
            chosen, left = {}, {}
            room = self._suspects.room(self._suspects_in_hand())
            for key, work in self._waiting.items():
                if work.page_id not in self._suspects:
                    chosen[key] = work
                elif room > 0:
                    chosen[key] = work
                    room -= 1
                else:
                    left[key] = work
            self._waiting = left
        else:
            self._waiting = {}
        self._given |= chosen
        # A task waits for each question, so questions are sent before pages.
        self._outgoing += [work.what for work in chosen.values() if isinstance(work.what, Ask)]
        tasks = [work.what for work in chosen.values() if isinstance(work.what, PageTask)]
        if tasks:
            self._outgoing.append(Begin(tasks))
        if self._withdrawn:
            self._outgoing.append(Withdraw(list(self._withdrawn)))

    def _suspects_in_hand(self) -> int:
        return sum(work.page_id in self._suspects for work in self._given.values())

    def _take_back(self, key: int) -> bool:
        """Take a page or question out of its hands; False if it does not have it."""
        work = self._given.pop(key, None)
        if work is None:
            return False
        self._withdrawn.discard(work.page_id)
        if work.page_id and self._suspects.want_to_know:
            self._suspects.cleared(work.page_id)
            self._filled.set()
        return True

    # Its processes ----------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Keep a process running, until cancelled; raises ProcessError if none stays alive."""
        stillborn, pause_s, ended_s = 0, _FIRST_PAUSE_S, None
        while True:
            began_s, self._was_ready = self._clock.monotonic(), False
            self._killed_for = None
            process = await self._start_process(has_worked=ended_s is not None)
            self.pid = process.pid
            try:
                await self._live(process, ended_s)
            finally:
                self._is_live = self._is_ready = False
                # Its pages in hand wait for its successor.
                self._waiting_since = None
                self._said = Heartbeat()
                self.pid = None
                status = await process.end(GRACE_S)
            ended_s = self._clock.monotonic()
            self.restarts += 1
            why = self._reason(status)
            # A process killed from outside, for instance for lack of memory, could have started.
            was_murdered = status == -SIGKILL and self._killed_for is None
            stillborn = 0 if self._was_ready else stillborn + (not was_murdered)
            if stillborn >= MOST_STILLBORN:
                mend = "what it said stands above; fetch.fetchers = 0 works without such processes"
                raise ProcessError(f"fetcher {self.index}: {stillborn} in a row ended at their start, {why}; {mend}")
            self._bury(process, why, was_murdered=was_murdered)
            is_short = ended_s - began_s < _LONG_LIFE_S
            pause_s = min(pause_s * 2, _LONGEST_PAUSE_S) if is_short else _FIRST_PAUSE_S
            await self._clock.sleep(pause_s)

    async def _start_process(self, *, has_worked: bool) -> FetcherProcess:
        """Start a process; if one has worked before, a machine short of resources is tried again."""
        while True:
            try:
                return await self._starter.start()
            except ProcessError as exc:
                if not has_worked:
                    raise
                values: JsonObject = {"fetcher": self.index, "error": str(exc)}
                self._telemetry.emit(Happening("fetcher.missing", "error", values))
                await self._clock.sleep(_LONGEST_PAUSE_S)

    async def _live(self, process: FetcherProcess, ended_s: float | None) -> None:
        """Serve one process until it ends."""
        self._outgoing, self._silent_ticks, self._is_live = [self._start(ended_s)], 0, True
        self._filled.set()
        async with asyncio.TaskGroup() as group:
            helpers = {
                group.create_task(self._send(process), name="fetcher-send"),
                group.create_task(self._watch(process), name="fetcher-watch"),
            }
            self._group, self._answering = group, helpers
            while messages := await process.receive():
                self._silent_ticks = 0
                for message in messages:
                    self._take(message)
            for task in helpers.copy():
                task.cancel()

    def answer(self, number: int, work: Coroutine[None, None, Answer]) -> None:
        """Answer a question of the process in the background, while it lives."""

        async def reply() -> None:
            self.tell(Reply(number, await work))

        self.do(reply())

    def do(self, work: Coroutine[None, None, None]) -> None:
        """Run something in the background, while the process lives."""
        task = self._group.create_task(work, name="fetcher-work")
        self._answering.add(task)
        task.add_done_callback(self._answering.discard)

    def _take(self, message: FromFetcher) -> None:
        match message:
            case Checked():
                self.checks += len(message.ends)
                # Results of pages that were taken back are ignored.
                self._ended([ends for ends in message.ends if self._take_back(ends.result.page_id)])
            case Dropped():
                self._dropped(sum(self._take_back(page_id) for page_id in message.page_ids))
            case Heartbeat():
                self._waiting_since = message.waiting_since
                self._said = message
                # Either side can be the bottleneck: the fetcher, or this process with its results.
                self._allowance.adapt(max(message.lag_s, self._lag_s()), len(self._waiting) + len(self._given))
            case Reply():
                work = self._given.get(-message.number)
                if work is not None and work.answered is not None and not work.answered.done():
                    work.answered.set_result(message.answer)
            case Ready():
                self._is_ready = self._was_ready = True
                self.ready.set()
                self._filled.set()
            case _:
                self._heard(self, message)

    async def _send(self, process: FetcherProcess) -> None:
        while True:
            await self._filled.wait()
            self._filled.clear()
            self._feed()
            messages, self._outgoing = self._outgoing, []
            await process.send(messages)

    async def _watch(self, process: FetcherProcess) -> None:
        """Kill a process that hangs or takes too much memory."""
        while True:
            await self._clock.sleep(TICK_S)
            # Ticks, not time: while this process was suspended, messages could not be read.
            self._silent_ticks += 1
            taken = process.resident_bytes() or 0
            if self._silent_ticks > SILENT_TICKS * (1 if self._is_ready else _TO_START):
                self._killed_for = f"it said nothing for {self._silent_ticks} s"
            elif taken > self._most_bytes:
                self._killed_for = f"it took {taken >> 20} MiB, more than {self._most_bytes >> 20} MiB"
            else:
                continue
            process.kill()
            return

    def _reason(self, status: int) -> str:
        if self._killed_for is not None:
            return self._killed_for
        return f"it was ended by signal {-status}" if status < 0 else f"it ended with status {status}"

    def _bury(self, process: FetcherProcess, why: str, *, was_murdered: bool) -> None:
        """Find the page that killed it, and keep the others in hand for its successor."""
        named = process.named()
        in_hand = {work.page_id: work for work in self._given.values() if work.page_id}
        aside = None
        if named is not None or not was_murdered:
            # A process killed from outside while it read no page was not killed by a page.
            aside = self._suspects.has_killed(named, in_hand)
        values: JsonObject = {"fetcher": self.index, "pid": process.pid, "why": why, "pages": len(in_hand)}
        if named is not None:
            values["page_id"] = named
            if (work := in_hand.get(named)) is not None:
                values["url"] = _url_of(work)
        self._telemetry.emit(Happening("fetcher.replaced", "error", values))
        self._waiting = self._given | self._waiting
        self._given = {}
        for key, work in list(self._waiting.items()):
            if work.page_id and work.page_id == aside:
                del self._waiting[key]
                self._withdrawn.discard(work.page_id)
                self._set_aside(work)


def _is_check(work: FetcherTask) -> bool:
    """Tell whether this is a check or part of one; renderings ask before each request whether they are wanted."""
    return isinstance(work.what, PageTask) or isinstance(work.what.question, CheckHandoff)


def _page_of(question: ToFetcherQuestion) -> int:
    match question:
        case CheckHandoff():
            return question.task.page_id
        case RenderHandoff():
            return question.job.page_id
        case Hop() | AdmitDocument() | TakeTurn():
            return 0


def _url_of(work: FetcherTask) -> str:
    match work.what:
        case PageTask():
            return work.what.url
        case Ask(question=CheckHandoff(task=task)) | Ask(question=RenderHandoff(job=RenderJob(task=task))):
            return task.url
        case _:
            return ""
