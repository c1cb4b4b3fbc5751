"""The browser as the engine has it: a worker in a cell, and the egress process that is its only way out."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import msgspec

from tocsin.adapters.processes import warden
from tocsin.adapters.processes.aside import few_variables, receive_listeners
from tocsin.adapters.processes.cell import PROXY_PORT
from tocsin.adapters.processes.folders import temporary_folder
from tocsin.adapters.processes.stream import MessageStream, open_pipe
from tocsin.app.browser_egress import EgressProcess, PageBudget, PageEgress, PageTraffic, start_egress, to_happenings
from tocsin.app.browser_socket import connect
from tocsin.errors import BrowserLost, FetchError, FetchFailed, FetchRefused, ProcessError
from tocsin.model import FailureKind
from tocsin.ports.browser import Admission, BrowserVisit, VisitedPage
from tocsin.ports.browser_link import (
    AskPermission,
    BrowserReady,
    FromBrowser,
    GiveUpVisit,
    Permission,
    StartBrowser,
    ToBrowser,
    VisitEnded,
    VisitFailed,
    VisitPage,
)

if TYPE_CHECKING:
    from tocsin.events import Happening
    from tocsin.settings import Settings

_WORKER_MODULE: Final = "tocsin.app.browser_worker"
# After which the processes of a browser without a page are ended.
IDLE_S: Final = 300.0
_START_S: Final = 30.0
# Of a worker that is alive: it says so every two seconds.
_SILENCE_S: Final = 20.0
# Until a worker that says no more has ended.
_STATUS_S: Final = 5.0
# Beyond a page's deadline: starting a browser for it, and ending one that hangs.
_GRACE_S: Final = 30.0
_GIVE_UP_S: Final = 10.0
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 1.0, 60.0
# A page and its picture, and what is said of them.
_MOST_FRAME_BYTES: Final = 64 * 2**20
_MOST_WAITING: Final = 1000
_PNG: Final = b"\x89PNG\r\n\x1a\n"
_MOST_PICTURE_BYTES: Final = 32 * 2**20
_MOST_PX: Final = 1280, 10_000
_PORTS: Final = {"http": 80, "https": 443}


class _VisitUnderWay:
    """What the worker said of a visit, in order; the last may be that there is no worker any more.

    admitted  documents of its main frame
    """

    def __init__(self, page_id: int, url: str) -> None:
        self.page_id, self.admitted = page_id, {url}
        self.said: asyncio.Queue[AskPermission | VisitEnded | VisitFailed | BrowserLost] = asyncio.Queue(_MOST_WAITING)
        self.has_ended = False


class _BrowserProcesses:
    """A worker and its egress process.

    stop    ends the worker, and is called once
    status  waits until it has ended, and returns its exit status; None of one that runs elsewhere
    is_fit  False once it could not start a browser: another worker, with a folder and a driver of its own, may
    """

    def __init__(
        self,
        stream: MessageStream[ToBrowser, FromBrowser],
        egress: EgressProcess,
        stop: Callable[[], None],
        status: Callable[[], Awaitable[int | None]],
        emit: Callable[[Happening], None],
    ) -> None:
        self._stream, self._egress, self._stop, self._status, self._emit = stream, egress, stop, status, emit
        self._visits: dict[int, _VisitUnderWay] = {}
        self._last_number = 0
        self._in_hand = 0
        self._is_free = asyncio.Event()
        self._is_free.set()
        self.is_alive, self.is_fit = True, True
        self.why, self.suspects = "", list[int]()

    async def read(self) -> None:
        """Pass on what the worker says, until it or the egress process ends."""
        while self.is_alive:
            try:
                async with asyncio.timeout(_SILENCE_S):
                    messages = await self._stream.receive()
            except TimeoutError:
                return self.end("the browser's worker hangs")
            except msgspec.DecodeError as exc:
                return self.end(f"the browser's worker said what it may not say: {exc}")
            if not messages:
                return self.end("the browser's worker ended", is_foreign=await self._was_killed())
            for message in messages:
                self._pass_on(message)
        return None

    async def watch_egress(self) -> None:
        """Wait until the egress process ends, and end the worker then."""
        status = await self._egress.wait()
        is_foreign = status == -signal.SIGKILL and not self._egress.is_hanging
        self.end("the browser's egress process ended", is_foreign=is_foreign)

    async def _was_killed(self) -> bool:
        """Whether the worker, which says no more, was killed from outside: pages cannot do that, nor did we."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_STATUS_S):
                # Its warden ends as a shell would where the worker was killed, or was killed itself.
                return await self._status() in {warden.SIGNALLED + signal.SIGKILL, -signal.SIGKILL}
        return False

    def _pass_on(self, message: FromBrowser) -> None:
        if isinstance(message, AskPermission | VisitEnded | VisitFailed):
            visit = self._visits.get(message.number)
            if visit is not None:
                visit.has_ended = visit.has_ended or not isinstance(message, AskPermission)
                try:
                    visit.said.put_nowait(message)
                except asyncio.QueueFull:
                    self.end("the browser's worker asks too much", culprit=message.number)

    def end(self, why: str, *, culprit: int = 0, is_foreign: bool = False) -> None:
        """End both processes, and the visits in hand.

        culprit     number of the visit that is to blame; 0: any of them may be
        is_foreign  none of them is
        """
        if not self.is_alive:
            return
        self.is_alive, self.why = False, why
        self._stop()
        self._egress.kill()
        left = {number: visit for number, visit in self._visits.items() if not visit.has_ended}
        if not culprit and not is_foreign:
            self.suspects = [visit.page_id for visit in left.values()]
        for number, visit in left.items():
            visit.has_ended = True
            while visit.said.full():
                visit.said.get_nowait()
            is_named = number == culprit
            visit.said.put_nowait(
                VisitFailed(number, FailureKind.CRASHED, why) if is_named else BrowserLost("", why, self.suspects)
            )

    async def rest(self) -> None:
        """Wait until no visit is in hand."""
        await self._is_free.wait()

    async def visit(self, slot: int, asked: BrowserVisit, admit: Admission) -> VisitedPage:
        """Visit a page in a slot. Raises FetchError, ProcessError, and what `admit` raises."""
        self._in_hand += 1
        self._is_free.clear()
        try:
            return await self._visit(slot, asked, admit)
        finally:
            self._in_hand -= 1
            if not self._in_hand:
                self._is_free.set()

    async def _visit(self, slot: int, asked: BrowserVisit, admit: Admission) -> VisitedPage:
        self._last_number += 1
        number, under_way = self._last_number, _VisitUnderWay(asked.page_id, asked.url)
        parts = urlsplit(asked.url)
        budget = PageBudget(
            (parts.hostname or "").lower(),
            parts.port or _PORTS.get(parts.scheme, 443),
            wire_bytes=asked.max_wire_bytes,
            total_s=asked.total_s + _GRACE_S,
            is_typed=asked.private,
        )
        failed: FetchError | None = None
        page: VisitedPage | None = None
        async with self._way_out(slot, budget, asked.url) as way:
            self._visits[number] = under_way
            await self._stream.send([VisitPage(number, slot, asked)])
            try:
                page = await self._follow(number, under_way, asked, admit, way)
            except FetchError as exc:
                failed = exc
            finally:
                await self._leave(number, under_way)
        for happening in to_happenings(asked.url, way.traffic):
            self._emit(happening)
        return _judged(asked, page, failed, way.traffic)

    @asynccontextmanager
    async def _way_out(self, slot: int, budget: PageBudget, url: str) -> AsyncIterator[PageEgress]:
        """Let a slot out for one page; raises BrowserLost."""
        async with AsyncExitStack() as stack:
            try:
                way = await stack.enter_async_context(self._egress.page(slot, budget))
            except ProcessError as exc:
                raise await self._without_egress(url) from exc
            yield way

    async def _announce(self, way: PageEgress, host: str, url: str) -> None:
        """Let a page connect to a host; raises BrowserLost."""
        try:
            await way.announce(host)
        except ProcessError as exc:
            raise await self._without_egress(url) from exc

    async def _without_egress(self, url: str) -> BrowserLost:
        """Say why a visit cannot go on: the egress process is gone, or was ended since it hangs."""
        await self.watch_egress()
        return self._lost(url)

    def _lost(self, url: str) -> BrowserLost:
        return BrowserLost(url, self.why, self.suspects)

    async def _follow(
        self, number: int, under_way: _VisitUnderWay, asked: BrowserVisit, admit: Admission, way: PageEgress
    ) -> VisitedPage:
        left_s, now = asked.total_s + _GRACE_S, asyncio.get_running_loop().time
        while True:
            # The processes may have ended before they were told of this visit.
            if not self.is_alive and under_way.said.empty():
                raise self._lost(asked.url)
            began = now()
            try:
                async with asyncio.timeout(left_s):
                    said = await under_way.said.get()
            except TimeoutError:
                self.end("the browser's worker does not end a visit", culprit=number)
                continue
            left_s -= now() - began
            match said:
                case AskPermission():
                    if said.document:
                        await admit(said.document)
                        under_way.admitted.add(said.document)
                    await self._announce(way, said.host, asked.url)
                    await self._stream.send([Permission(number, said.host, said.document)])
                case VisitEnded():
                    return self._believed(number, asked, under_way, said.page)
                case BrowserLost():
                    raise self._lost(asked.url)
                case VisitFailed():
                    if said.no_browser:
                        self.is_fit = False
                        raise ProcessError(said.detail)
                    failure = FetchRefused if said.is_final else FetchFailed
                    raise failure(asked.url, FailureKind(said.kind), said.detail)

    def _believed(self, number: int, asked: BrowserVisit, under_way: _VisitUnderWay, page: VisitedPage) -> VisitedPage:
        """Check what cannot be as the worker says; a page that breaks out of its browser shares the worker's cell."""
        picture = page.picture
        if (
            page.url not in under_way.admitted
            or not under_way.admitted.issuperset(page.documents)
            or len(page.body) > asked.max_body_bytes
            or (
                picture is not None
                and not (
                    len(picture.png) <= _MOST_PICTURE_BYTES
                    and picture.png.startswith(_PNG)
                    and (0, 0) < (picture.width, picture.height) <= _MOST_PX
                    and picture.height <= _MOST_PX[1]
                )
            )
        ):
            self.end("the browser's worker said what cannot be", culprit=number)
            raise FetchFailed(asked.url, FailureKind.CRASHED, self.why)
        return page

    async def _leave(self, number: int, under_way: _VisitUnderWay) -> None:
        """Have the worker give up a visit that the caller does not wait for, so that its slot is free."""
        try:
            if self.is_alive and not under_way.has_ended:
                await self._stream.send([GiveUpVisit(number)])
                async with asyncio.timeout(_GIVE_UP_S):
                    while not isinstance(await under_way.said.get(), VisitEnded | VisitFailed):
                        pass
        except TimeoutError:
            self.end("the browser's worker does not give up a visit", culprit=number)
        finally:
            del self._visits[number]


def _judged(
    asked: BrowserVisit, page: VisitedPage | None, failed: FetchError | None, traffic: PageTraffic
) -> VisitedPage:
    """Give the page, or raise what kept it from being received; the proxy knows better than the browser."""
    if traffic.wire_bytes > asked.max_wire_bytes:
        why = f"more than {asked.max_wire_bytes} bytes altogether; raise browser.max_wire"
        raise FetchRefused(asked.url, FailureKind.TOO_LARGE, why)
    document = page.url if page is not None else asked.url
    is_proxys = page is not None and not page.body and document.startswith("http:")
    for refusal, _ in traffic.refusals:
        if refusal.host != urlsplit(document).hostname:
            continue
        if failed is not None and failed.kind in {FailureKind.CONNECT, FailureKind.PROTOCOL}:
            pass
        elif not (is_proxys and page is not None and page.status == refusal.status):
            continue
        if refusal.status == 403:  # noqa: PLR2004 - Forbidden
            raise FetchRefused(document, FailureKind.BLOCKED_ADDRESS, refusal.reason)
        raise FetchFailed(document, FailureKind.CONNECT, refusal.reason)
    if page is None:
        raise failed or FetchFailed(asked.url, FailureKind.CRASHED, "the browser said nothing")
    reasons = dict.fromkeys((*(f"{refusal.host}: {refusal.reason}" for refusal, _ in traffic.refusals), *page.refused))
    return msgspec.structs.replace(page, refused=tuple(reasons)[:20], wire_bytes=traffic.wire_bytes)


class CellBrowser:
    """Implements `ports.browser.Browser`. Its processes start with the first page, and end after a rest.

    start    settings of the worker
    allow    networks that may be dialled beside public addresses
    emit     takes what a page was refused
    address  socket of a worker elsewhere; empty: one is started here
    group    of the tasks that listen to the processes
    """

    def __init__(
        self,
        start: StartBrowser,
        allow: tuple[str, ...],
        emit: Callable[[Happening], None],
        group: asyncio.TaskGroup,
        *,
        address: str = "",
        idle_s: float = IDLE_S,
    ) -> None:
        self.slots = start.slots
        self._start, self._allow, self._emit, self._group = start, allow, emit, group
        self._address, self._idle_s = address, idle_s
        # As a queue, waiting pages get the slots in the order in which they came.
        self._free: asyncio.Queue[int] = asyncio.Queue(start.slots)
        for slot in range(start.slots):
            self._free.put_nowait(slot)
        self._starting = asyncio.Lock()
        self._running: _BrowserProcesses | None = None
        self._resources = AsyncExitStack()
        self._listening: list[asyncio.Task[None]] = []
        self._pause_s, self._not_before = 0.0, 0.0
        self._resting: asyncio.TimerHandle | None = None

    async def visit(self, visit: BrowserVisit, admit: Admission) -> VisitedPage:
        """Visit one page; see the port."""
        slot = await self._free.get()
        try:
            page = await (await self._ready()).visit(slot, visit, admit)
        finally:
            self._free.put_nowait(slot)
            self._rest()
        self._pause_s = 0.0
        return page

    async def close(self) -> None:
        """End the browser's processes."""
        if self._resting is not None:
            self._resting.cancel()
        if self._running is not None:
            self._running.end("the browser is closed", is_foreign=True)
        await self._clear()

    def _rest(self) -> None:
        """End the processes once no page needed them for a while."""
        if self._resting is not None:
            self._resting.cancel()
            self._resting = None
        if self._free.full() and self._running is not None:
            running = self._running
            self._resting = asyncio.get_running_loop().call_later(self._idle_s, running.end, "no page needs it")

    async def _ready(self) -> _BrowserProcesses:
        """Give the processes, started if need be; after a failure not at once. Raises ProcessError."""
        if self._resting is not None:
            self._resting.cancel()
            self._resting = None
        async with self._starting:
            if self._running is not None and self._running.is_alive and self._running.is_fit:
                return self._running
            loop = asyncio.get_running_loop()
            if self._running is not None:
                # Pages in other slots are received to their end.
                await self._running.rest()
                self._running.end("the browser's worker could not start a browser")
                await self._clear()
            await asyncio.sleep(self._not_before - loop.time())
            self._pause_s = min(max(2 * self._pause_s, _FIRST_PAUSE_S), _LONGEST_PAUSE_S)
            self._not_before = loop.time() + self._pause_s
            try:
                self._running = await self._begin()
            except BaseException:
                await self._clear()
                raise
            return self._running

    async def _begin(self) -> _BrowserProcesses:
        keep = self._resources
        slots = self._start.slots
        if self._address:
            ours = await connect(self._address, slots)
            keep.callback(ours.close)
            stop: Callable[[], None] = partial(ours.shutdown, socket.SHUT_RDWR)
            status: Callable[[], Awaitable[int | None]] = _unknown
        else:
            process, ours = await start_worker(self._start.path, slots, keep)
            stop, status = partial(_terminate, process), process.wait
        listeners: list[socket.socket] = []
        for listener in await receive_listeners(ours, slots):
            listeners.append(listener)
            keep.callback(listener.close)
        stream: MessageStream[ToBrowser, FromBrowser] = await open_pipe(
            ours, msgspec.msgpack.Decoder(list[FromBrowser]), most_bytes=_MOST_FRAME_BYTES
        )
        keep.push_async_callback(stream.close)
        egress = await start_egress(listeners, self._allow)
        keep.push_async_callback(egress.end)
        await stream.send([self._start])
        await _started(stream)
        running = _BrowserProcesses(stream, egress, stop, status, self._emit)
        self._listening = [
            self._group.create_task(running.read(), name="browser-worker"),
            self._group.create_task(running.watch_egress(), name="browser-egress"),
        ]
        return running

    async def _clear(self) -> None:
        """Wait until the processes have ended, and give back what they held."""
        if self._running is not None:
            # Their streams are still used; they end at once.
            await self._running.rest()
        for task in self._listening:
            task.cancel()
        self._listening, self._running = [], None
        await self._resources.aclose()


async def _unknown() -> None:
    """Say how a worker elsewhere ended."""


async def _started(stream: MessageStream[ToBrowser, FromBrowser]) -> None:
    """Wait for the worker's first word; raises ProcessError."""
    try:
        async with asyncio.timeout(_START_S):
            messages = await stream.receive()
    except (TimeoutError, msgspec.DecodeError) as exc:
        raise ProcessError(
            f"the browser's worker did not start within {_START_S:g} s; make the machine less busy"
        ) from exc
    if not messages or not isinstance(messages[0], BrowserReady):
        raise ProcessError("the browser's worker ended at its start; standard error says why")


async def start_worker(path: str, slots: int, keep: AsyncExitStack) -> tuple[asyncio.subprocess.Process, socket.socket]:
    """Start a worker, which moves into a cell of its own; returns it, and our end of its stream.

    path  of the browser's program
    keep  ends the worker, and removes its files
    Raises ProcessError, with the mend.
    """
    if (why := why_no_browser(path)) is not None:
        raise ProcessError(why)
    folder = keep.enter_context(worker_folder())
    ours, theirs = socket.socketpair()
    keep.callback(ours.close)
    with theirs:
        descriptor = theirs.fileno()
        try:
            process = await asyncio.create_subprocess_exec(
                *worker_command(descriptor, slots),
                pass_fds=(descriptor,),
                stdin=asyncio.subprocess.DEVNULL,
                # Standard output is for results; errors go to standard error.
                stdout=asyncio.subprocess.DEVNULL,
                env=worker_variables(folder),
                # A Ctrl-C at the terminal is for the parent alone.
                start_new_session=True,
            )
        except OSError as exc:
            raise ProcessError(f"the browser's worker cannot be started: {exc}; allow more processes") from exc
    keep.push_async_callback(_ended, process)
    return process, ours


def worker_folder() -> AbstractContextManager[str]:
    """Make a folder for what a worker writes, which is removed at the end."""
    return temporary_folder("tocsin-browser-")


def worker_command(stream: int, slots: int) -> list[str]:
    """Give the command of a worker below a warden, whose parent this process becomes; SIGTERM ends them."""
    # -I and -S: a warden needs no packages, and so starts in 15 ms.
    guarding = [sys.executable, "-I", "-S", warden.__file__, str(os.getpid())]
    # -P: files of the working folder must not be imported in place of modules.
    return [*guarding, sys.executable, "-P", "-m", _WORKER_MODULE, str(stream), str(slots)]


def worker_variables(folder: str) -> dict[str, str]:
    """Give the environment of a worker."""
    return {**few_variables(), "HOME": folder, "TMPDIR": folder}


def _terminate(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        process.terminate()


async def _ended(process: asyncio.subprocess.Process) -> None:
    """Have a warden end what is below it, and wait until nothing is left."""
    _terminate(process)
    await process.wait()


def why_no_browser(path: str) -> str | None:
    """Say what is missing here for a browser, with the mend; None if nothing is."""
    if find_spec("playwright") is None:
        return "Playwright is not installed; run: pip install 'tocsin[browser]'"
    if shutil.which(path) is None:
        if Path(path).exists():
            return f"{path} cannot be executed; name the program of the browser in browser.path, or: chmod +x {path}"
        return f"{path} is not installed; install it (Debian: apt install chromium-headless-shell), or set browser.path"
    return None


def browser_of(settings: Settings, emit: Callable[[Happening], None], group: asyncio.TaskGroup) -> CellBrowser:
    """Make the browser that the settings describe; nothing is started before its first page."""
    found = settings.browser
    start = StartBrowser(
        slots=found.slots,
        path=found.path,
        first_port=PROXY_PORT,
        memory_bytes=found.memory,
        cpu_s=found.cpu.total_seconds(),
        requests=found.requests,
        recycle_pages=found.recycle.pages,
        recycle_s=found.recycle.after.total_seconds(),
    )
    return CellBrowser(start, settings.network.allow, emit, group, address=found.socket)


@asynccontextmanager
async def open_browser(
    start: StartBrowser,
    allow: tuple[str, ...],
    emit: Callable[[Happening], None],
    *,
    address: str = "",
    idle_s: float = IDLE_S,
) -> AsyncIterator[CellBrowser]:
    """Open a browser; nothing is started before its first page. At the end its processes are ended."""
    async with asyncio.TaskGroup() as group:
        browser = CellBrowser(start, allow, emit, group, address=address, idle_s=idle_s)
        try:
            yield browser
        finally:
            await browser.close()
