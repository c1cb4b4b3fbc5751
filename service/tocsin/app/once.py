"""One-shot work: a check, a page, a test of a channel."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections import Counter
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from tocsin.adapters.system import SystemClock
from tocsin.adapters.telemetry import LogTelemetry
from tocsin.app import channels
from tocsin.app.assembly import assemble, open_store_for
from tocsin.app.executing import fetchers_of
from tocsin.app.fetching import open_fetcher
from tocsin.configuration.pages import refuse_unread
from tocsin.engine.hosts.gates import Gates
from tocsin.engine.hosts.lease import UNWRITTEN
from tocsin.engine.hosts.outage import OutageWatch
from tocsin.engine.hosts.process_limits import RequestSlots
from tocsin.engine.visiting.receive import PageRequest, Receiver
from tocsin.errors import StoreError, StoreLocked
from tocsin.model import REFUSED_SETTINGS, SHORTAGE
from tocsin.spec.html.urls import watch_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tocsin.model import CheckReport, CheckResult
    from tocsin.ports import Store
    from tocsin.settings import Settings

FOLLOW_S = 0.1
LOOK_S = 1.0


class FetchedPage(Struct, frozen=True):
    """A page fetched for a one-shot command: no store is touched.

    url      after redirects
    headers  as in HopResponse
    """

    url: str
    body: bytes
    content_type: str | None
    headers: tuple[tuple[str, str], ...] = ()


class CheckSummary(Struct, frozen=True):
    """How a check went.

    outcomes      how many pages ended how
    silent        pages that declare no change dates
    outage        our own connection failed, so no question was asked
    not_modified  pages that their servers did not send again, and
    saved_bytes   how many bytes that spared
    held          pages that were not fetched, because of invalid settings
    shortage      what this machine was short of, and the mend, and
    put_off       how many pages were put off by that
    """

    outcomes: dict[str, int]
    silent: int
    outage: bool = False
    not_modified: int = 0
    saved_bytes: int = 0
    held: int = 0
    shortage: str | None = None
    put_off: int = 0


async def check(
    settings: Settings,
    *,
    page_ids: list[int] | None,
    request_id: int | None = None,
    on_report: Callable[[CheckReport], None],
    on_progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> CheckSummary:
    """Check these pages once, now (all that are watched: None), and give the awareness that is due.

    Works itself where no engine or node works on the store; else leaves a request to those and follows its results.
    request_id   a request in the store that wants these pages already
    on_report    is called for each page as its result is written
    on_progress  (done, all)
    """
    tally = _Tally(on_report, on_progress)
    while True:
        try:
            async with open_store_for(settings, engine=True) as store:
                if store.is_shared:
                    await _demand_unused(settings, store)
                if request_id is None:
                    request_id = await store.request_check(page_ids, SystemClock().now())
                outage = await _check_ourselves(settings, store, request_id, tally)
                if not store.is_shared:
                    return tally.summary(outage=outage)
                # Nodes that came meanwhile took their share of the parts, and check the pages of these.
                if not await store.is_held() or await _follow(store, request_id, tally):
                    await store.forgo_reports(request_id)
                    return tally.summary(outage=outage)
        # An engine runs on this store: it has the gates of all hosts, so that it must make the requests.
        except StoreLocked:
            async with open_store_for(settings, engine=False) as store:
                if request_id is None:
                    request_id = await store.request_check(page_ids, SystemClock().now())
                if await _follow(store, request_id, tally):
                    return tally.summary(outage=False)
            # The engine that was to do it is gone: take its place.


async def _demand_unused(settings: Settings, store: Store) -> None:
    """Raise StoreLocked where nodes work on the store."""
    if await store.is_held():
        raise StoreLocked(settings.store.url, None)


async def fetch_page(settings: Settings, url: str, *, secrets: tuple[str, str] | None = None) -> FetchedPage:
    """Fetch a page that a person typed into a one-shot command; its address may be private (T62).

    secrets  its user name and password, where the URL names none
    Raises BadUrl, FetchFailed or FetchRefused; SettingsError where the page would be fetched without its proxy or
    credentials, since the file that holds them cannot be read.
    """
    watched = watch_url(url)
    # Without its proxy the request would show an address that the user wants hidden.
    refuse_unread(settings.pages)
    clock = SystemClock()
    own = (settings.instance, settings.fetch, settings.network, settings.hosts)
    async with open_fetcher(*own) as (fetcher, documents):
        receiver = Receiver(
            # Robots.txt is not read: a person asks for this one page, as in a browser.
            Gates(settings.hosts, clock),
            None,
            OutageWatch(clock),
            RequestSlots(1),
            settings.fetch,
            clock,
            documents=documents,
        )
        secrets = watched.credentials or secrets
        request = PageRequest(watched.url, watched.host, settings.pages, secrets=secrets, private=True)
        received = await receiver.receive(request, fetcher.shared())
    response = received.response
    return FetchedPage(received.final_url, response.body, response.header("content-type"), response.headers)


async def test_channel(settings: Settings, name: str) -> bool:
    """Send a channel a test alert, through the running service where there is one; see `channels.test_channel`."""
    async with open_store_for(settings, engine=False) as store:
        return await channels.test_channel(settings, name, store)


class _Tally:
    """Counts the reports of a check and passes them on."""

    def __init__(self, on_report: Callable[[CheckReport], None], on_progress: Callable[[int, int], None]) -> None:
        self._on_report, self._on_progress = on_report, on_progress
        self._outcomes: Counter[str] = Counter()
        self._silent = self._not_modified = self._saved_bytes = self._held = self._put_off = 0
        self._shortage: str | None = None
        self.position = 0
        self.pages = 0

    def take(self, report: CheckReport) -> None:
        """Count one page."""
        self._outcomes[report.outcome] += 1
        received = report.outcome in {"first", "unchanged", "too-soon", "minor", "major"}
        self._silent += received and not report.declares
        self._not_modified += report.not_modified
        self._saved_bytes += report.saved_bytes
        self._held += report.error is not None and report.error[0] == REFUSED_SETTINGS
        if report.error is not None and report.error[0] == SHORTAGE:
            self._put_off += 1
            self._shortage = report.error[1]
        self._on_report(report)
        self._on_progress(self._outcomes.total(), self.pages)

    def summary(self, *, outage: bool) -> CheckSummary:
        """How it went."""
        return CheckSummary(
            dict(self._outcomes),
            self._silent,
            outage,
            self._not_modified,
            self._saved_bytes,
            self._held,
            self._shortage,
            self._put_off,
        )


async def _check_ourselves(settings: Settings, store: Store, request_id: int, tally: _Tally) -> bool:
    """Check the pages whose parts are ours; returns whether our own connection failed."""
    _, tally.pages = await store.request_progress(request_id)
    if not store.is_shared:
        # They are passed on here. Stored, those of hourly checks by cron would outgrow all that is known of the pages.
        await store.forgo_reports(request_id)

    def committed(results: Sequence[CheckResult]) -> None:
        for result in results:
            if not store.is_shared and result.order.request_id == request_id:
                tally.take(result.report)

    # The reports say how each page went; a log beside them would say it twice.
    telemetry = LogTelemetry(msgspec.structs.replace(settings.log, level="warning"))
    stopping = asyncio.Event()
    with _interrupted_by(stopping.set):
        async with (
            assemble(
                settings,
                store,
                telemetry,
                request_id=request_id,
                on_committed=committed,
                fetchers=fetchers_of(settings, pages=tally.pages),
            ) as engine,
            asyncio.TaskGroup() as group,
        ):
            reporting = group.create_task(_report(store, request_id, tally), name="reports")
            await engine.runner.check(stopping)
            reporting.cancel()
    # The pages that are left must not be checked by the next engine: the user gave this up.
    if stopping.is_set():
        await store.drop_request(request_id)
        raise KeyboardInterrupt
    if store.is_shared:
        await _follow_once(store, request_id, tally)
    return engine.outage.is_outage()


async def _report(store: Store, request_id: int, tally: _Tally) -> None:
    """Pass on the results of all nodes while this one works, until cancelled."""
    while store.is_shared:
        await _follow_once(store, request_id, tally)
        await asyncio.sleep(FOLLOW_S)


@contextmanager
def _interrupted_by(stop: Callable[[], None]) -> Iterator[None]:
    """Call `stop` at the first Ctrl-C or SIGTERM; the next one ends the program as it always does.

    Outside the main thread no signal handler can be set.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()

    def once() -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
        stop()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, once)
    try:
        yield
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)


async def _follow(store: Store, request_id: int, tally: _Tally) -> bool:
    """Follow the results of a running engine; False if it is gone before the work is done.

    Raises StoreError while that engine cannot write what it finds.
    """
    stopping = asyncio.Event()
    clock = SystemClock()
    look_s = clock.monotonic() + LOOK_S
    with _interrupted_by(stopping.set):
        while not stopping.is_set():
            if (ended := await _follow_once(store, request_id, tally)) is not None:
                return ended
            if clock.monotonic() >= look_s:
                await _demand_written(store)
                look_s = clock.monotonic() + LOOK_S
            with suppress(TimeoutError):
                async with asyncio.timeout(FOLLOW_S):
                    await stopping.wait()
    await store.drop_request(request_id)
    raise KeyboardInterrupt


async def _demand_written(store: Store) -> None:
    alive = [node for node in await store.nodes() if node.left_s > 0]
    reasons = [why for node in alive if isinstance(why := node.said.get(UNWRITTEN), str)]
    if reasons and len(reasons) == len(alive):
        raise StoreError(
            f"the running service cannot write what it finds: {reasons[0]}; what was asked for is done once it can"
        )


async def _follow_once(store: Store, request_id: int, tally: _Tally) -> bool | None:
    """Pass on new results until all are there; returns False if the engine that worked on them is gone."""
    done, tally.pages = await store.request_progress(request_id)
    for position, report in await store.request_reports(request_id, after=tally.position):
        tally.position = position
        tally.take(report)
    if done >= tally.pages:
        return True
    if not await store.is_held():
        return False
    return None
