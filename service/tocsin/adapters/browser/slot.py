"""A slot: a browser of its own for one page at a time, watched, recycled, and replaced once it fails."""

from __future__ import annotations

import asyncio
import secrets
import shutil
from collections.abc import Callable
from typing import Final

import msgspec
from playwright.async_api import Browser, BrowserContext, BrowserType
from playwright.async_api import Error as PlaywrightError

from tocsin.adapters.browser.process_trees import ProcessTrees, ProcessUse, find_process
from tocsin.adapters.browser.request_filter import Permit, RequestFilter
from tocsin.adapters.browser.visit import CLOSE_S, PageVisit, VisitClock
from tocsin.errors import FetchFailed, FetchRefused, ProcessError
from tocsin.model import FailureKind
from tocsin.ports.browser import BrowserVisit, VisitedPage
from tocsin.ports.browser_link import StartBrowser

_LAUNCH_S: Final = 20.0
# A browser that rests at this many times of what it had after its first page is replaced.
_GROWTH: Final = 1.5
# All that a browser tells of a page, such as each line on its console, goes through the driver, which all slots share.
_MOST_TOLD_BYTES: Final = 16 * 2**20
_PICTURE_BYTES: Final = 48 * 2**20
# The cell is the wall; these keep a browser from knocking at it, so that its proxy refuses little.
_QUIET: Final = (
    "--disable-domain-reliability",
    "--disable-gpu",
    "--disable-quic",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--no-pings",
)
# A popup would be a page that the visit does not know.
_ONE_PAGE: Final = ("--block-new-web-contents",)
# Playwright's own, which help tests and not us: a page may flood the browser's processes with messages.
_LEFT_OUT: Final = ("--disable-ipc-flooding-protection", "--disable-popup-blocking")


class _RunningBrowser(msgspec.Struct):
    """A browser.

    mark    the argument by which its first process is found
    root    the id of that
    use     what its processes take before its next page
    pages   visited so far
    resting_bytes  after its first page
    """

    browser: Browser
    filter: RequestFilter
    mark: str
    root: int
    use: ProcessUse
    user_agent: str
    started_at: float
    pages: int = 0
    resting_bytes: int = 0


class Slot:
    """A browser of its own, for one page at a time.

    number  from 0
    group   of the tasks that answer its requests
    """

    def __init__(
        self, number: int, start: StartBrowser, chromium: BrowserType, trees: ProcessTrees, group: asyncio.TaskGroup
    ) -> None:
        self._number, self._start, self._chromium, self._trees, self._group = number, start, chromium, trees, group
        self._turn = asyncio.Lock()
        self._running: _RunningBrowser | None = None
        self._visited: tuple[BrowserVisit, VisitClock] | None = None
        self._cpu_before: dict[int, float] = {}
        self._cpu_s = 0.0

    @property
    def is_busy(self) -> bool:
        """Whether it visits a page."""
        return self._visited is not None

    async def visit(self, visit: BrowserVisit, permit: Permit, keep_clock: Callable[[VisitClock], None]) -> VisitedPage:
        """Visit a page, after the one before.

        keep_clock  gets what can end the visit early
        Raises FetchFailed, FetchRefused, and ProcessError where no browser starts, with the mend.
        """
        async with self._turn:
            running = await self._ready()
            context: list[BrowserContext] = []
            try:
                async with asyncio.timeout(visit.total_s) as timeout:
                    clock = VisitClock(timeout, visit.total_s)
                    keep_clock(clock)
                    found = await self._visit(running, visit, clock, permit, context)
            except TimeoutError:
                why = f"not read within {visit.total_s:g} s; raise browser.deadlines.total"
                raise clock.why or FetchFailed(visit.url, FailureKind.TIMEOUT, why) from None
            except PlaywrightError as exc:
                self.kill()
                raise clock.why or FetchFailed(visit.url, FailureKind.CRASHED, _first_line(exc)) from exc
            finally:
                # Outside of the deadline: what it leaves behind would be the next page's.
                await self._leave(running, context)
            return msgspec.structs.replace(found, cpu_ms=round(self._cpu_s * 1000))

    async def _visit(
        self,
        running: _RunningBrowser,
        visit: BrowserVisit,
        clock: VisitClock,
        permit: Permit,
        context: list[BrowserContext],
    ) -> VisitedPage:
        async def ask(host: str, document: str) -> None:
            with clock.stopped():
                await permit(host, document)

        def gone(_: Browser) -> None:
            clock.end(FetchFailed(visit.url, FailureKind.CRASHED, "the browser ended"))

        page = PageVisit(
            visit,
            clock,
            user_agent=running.user_agent,
            most_requests=self._start.requests,
            permit=ask,
            group=self._group,
        )
        self._cpu_before, self._cpu_s = dict(running.use.cpu_s), 0.0
        self._visited = visit, clock
        running.browser.on("disconnected", gone)
        try:
            return await page.run(running.browser, running.filter, context)
        finally:
            clock.close()
            running.browser.remove_listener("disconnected", gone)
            running.filter.page = None
            self._visited = None

    async def _leave(self, running: _RunningBrowser, context: list[BrowserContext]) -> None:
        """Dispose of the page; a browser that does not manage it in time is killed."""
        running.pages += 1
        if self._running is not running:
            return
        # The processes of the page end with its context.
        self._count_cpu(self._weigh(running.root))
        try:
            async with asyncio.timeout(CLOSE_S):
                for each in context:
                    await each.close()
        except (TimeoutError, PlaywrightError):
            context.clear()
        if not context:
            # Also one that is only being made would stay.
            self.kill()
            return

    def _weigh(self, root: int) -> ProcessUse:
        self._trees.look()
        return self._trees.use(root)

    def _is_worn(self, running: _RunningBrowser) -> bool:
        """Whether a browser is to be replaced. Asked before a page: right after one, its processes are still ending."""
        if not running.pages:
            return False
        running.use = self._weigh(running.root)
        memory_bytes = running.use.memory_bytes
        running.resting_bytes = running.resting_bytes or memory_bytes
        age_s = asyncio.get_running_loop().time() - running.started_at
        is_old = running.pages >= self._start.recycle_pages or age_s >= self._start.recycle_s
        return is_old or memory_bytes > running.resting_bytes * _GROWTH

    async def _ready(self) -> _RunningBrowser:
        if (running := self._running) is not None and running.browser.is_connected() and not self._is_worn(running):
            return running
        self.kill()
        mark = f"--tocsin-slot={secrets.token_hex(8)}"
        try:
            browser = await self._chromium.launch(
                executable_path=shutil.which(self._start.path) or self._start.path,
                chromium_sandbox=True,
                args=_flags(self._start.first_port + self._number, mark),
                ignore_default_args=list(_LEFT_OUT),
                timeout=_LAUNCH_S * 1000,
            )
            session = await browser.new_browser_cdp_session()
            requests = RequestFilter(session, self._group)
            await requests.begin()
            said = await session.send("Browser.getVersion")
        except PlaywrightError as exc:
            raise ProcessError(f"{self._start.path}: no browser starts: {_first_line(exc)}") from exc
        root = find_process(mark)
        if root is None:
            raise ProcessError(f"{self._start.path}: the browser ended at once")
        # A site that serves other pages to what says that it has no window would be watched at its other pages.
        user_agent = said["userAgent"].replace("HeadlessChrome", "Chrome")
        now = asyncio.get_running_loop().time()
        self._running = _RunningBrowser(browser, requests, mark, root, self._weigh(root), user_agent, now)
        return self._running

    def look(self) -> None:
        """Hold the page to its share of memory and of the processor, as of the last look at all processes."""
        if self._visited is None or self._running is None:
            return
        visit, clock = self._visited
        use = self._trees.use(self._running.root)
        self._count_cpu(use)
        why = None
        if use.memory_bytes > self._start.memory_bytes:
            why = f"it takes {use.memory_bytes >> 20} MiB of memory; raise browser.memory"
        elif use.written_bytes - self._running.use.written_bytes > _most_told_bytes(visit, clock):
            why = f"its scripts write more than {_MOST_TOLD_BYTES >> 20} MiB, as to the console"
        elif self._cpu_s > self._start.cpu_s:
            why = f"it took {self._cpu_s:.0f} s of processor time; raise browser.cpu"
        if why is not None:
            clock.end(FetchRefused(visit.url, FailureKind.TOO_COMPLEX, why))
            self.kill()

    def _count_cpu(self, use: ProcessUse) -> None:
        for pid, cpu_s in use.cpu_s.items():
            self._cpu_s += max(cpu_s - self._cpu_before.get(pid, 0.0), 0.0)
            self._cpu_before[pid] = cpu_s

    def kill(self) -> None:
        """End the browser and all of its processes at once; the next page gets another."""
        if self._running is not None:
            # Looked for once more: the number of one that has ended may be another process's by now.
            if (root := find_process(self._running.mark)) is not None:
                self._trees.kill(root)
            self._running = None


def _most_told_bytes(visit: BrowserVisit, clock: VisitClock) -> int:
    """Give what a browser may tell of a page; as JSON a letter takes up to six bytes."""
    asked = 6 * visit.max_body_bytes + (_PICTURE_BYTES if visit.wants_picture else 0)
    return _MOST_TOLD_BYTES + (asked if clock.is_reading else 0)


def _flags(proxy_port: int, mark: str) -> list[str]:
    """Give the switches of a browser.

    proxy_port  of loopback, where its proxy listens
    mark        an argument by which its process is found
    """
    return [
        *_QUIET,
        *_ONE_PAGE,
        f"--proxy-server=127.0.0.1:{proxy_port}",
        "--proxy-bypass-list=<-loopback>",
        mark,
    ]


def _first_line(exc: PlaywrightError) -> str:
    return next((line.strip() for line in exc.message.splitlines() if line.strip()), "it ended")[:300]
