"""Alerts through the outbox to a webhook on loopback."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path

import aiohttp
import msgspec

from benchmarks.bench.measure import Aim, Figure, Sizes, Stopwatch, figure, stopwatch
from benchmarks.bench.processes import Origin
from benchmarks.bench.results import result_of
from benchmarks.bench.storing import BATCH, add, all_tasks, claimed
from tocsin.adapters.channels.context import ChannelContext
from tocsin.adapters.channels.registry import open_channel
from tocsin.adapters.channels.webhook import WebhookSettings
from tocsin.adapters.http.guarded import GuardedSessions
from tocsin.adapters.stores import open_store
from tocsin.adapters.system import SystemChance, SystemClock
from tocsin.engine.alerting.delivery import IN_FLIGHT, Delivery
from tocsin.engine.judging.assess import decide, thresholds_of
from tocsin.engine.judging.events import EventWriter, changed_data
from tocsin.events import Happening
from tocsin.model import AlertDraft, PageTask, PendingVerdict, RenderingRow, StoredState
from tocsin.ports import Channel
from tocsin.settings import DeliverySettings, NetworkSettings, PageSettings
from tocsin.spec.topper.state import PageState

CHANNEL = "hook"
_PATIENCE_S = 120.0
_DAY_US = 86_400_000_000
_NONE = (None,) * 12
RENDERING = RenderingRow(
    kind="http",
    started_at=0,
    received=_DAY_US,
    status=200,
    final_url="https://example.org/",
    content_type="text/html",
    title="A title",
    bytes=52_000,
    digest="sha256:00",
    same_state=True,
    error=None,
)


class _Silence:
    """Telemetry that nobody reads."""

    def emit(self, happening: Happening) -> None:
        """Take no note."""


async def measure(sizes: Sizes) -> list[Figure]:
    """Deliver a full outbox, beside bare POSTs of the same events, as many at once."""
    ours, bare = Stopwatch([], []), Stopwatch([], [])
    async with Origin() as origin:
        url = f"http://127.0.0.1:{origin.port}/hook"
        for _ in range(sizes.rounds):
            drafts = await deliver_outbox(
                url, lambda tasks: [[draft] for draft in changed_alerts(tasks)], ours, sizes.alerts
            )
            events = [msgspec.json.encode(draft.event) for draft in drafts]
            with stopwatch(bare):
                await _post_all(url, events)
            taken = (await origin.ask("stats"))["requests"]
            if taken != 2 * len(events):
                raise RuntimeError(f"{taken} alerts reached the receiver, {2 * len(events)} were sent")
            await origin.ask("set")
    what = f"alerts delivered to a webhook, {sizes.alerts:,} in the outbox"
    rates, bare_rates = ([sizes.alerts / seconds for seconds in watch.wall_s] for watch in (ours, bare))
    costs, bare_costs = ([seconds / sizes.alerts * 1e6 for seconds in watch.cpu_s] for watch in (ours, bare))
    beside = "bare aiohttp POSTs"
    return [
        figure(what, rates, "1/s", aim=Aim(">=", 1000)),
        figure("… on the wall", rates, "1/s", beside=beside, reference=bare_rates),
        figure("… processor time", costs, "us/alert", beside=beside, reference=bare_costs),
    ]


async def deliver_outbox(
    url: str,
    draft: Callable[[list[PageTask]], list[list[AlertDraft]]],
    watch: Stopwatch,
    pages: int,
    *,
    wrap: Callable[[Channel], Channel] = lambda channel: channel,
    left: int = 0,
) -> list[AlertDraft]:
    """Fill an outbox and deliver it to a webhook, as far as this is possible at once; returns all its alerts.

    draft  makes the alerts of each page, in their order
    watch  gets the time of the delivery
    wrap   gives the channel that is delivered to
    left   alerts that must remain; another number raises RuntimeError
    """
    clock = SystemClock()
    network = NetworkSettings(allow=("127.0.0.0/8",))
    with tempfile.TemporaryDirectory() as name:
        async with (
            await open_store(f"sqlite:{Path(name)}/store.db", engine=True) as store,
            GuardedSessions(network, user_agent="bench") as sessions,
        ):
            section = WebhookSettings(type="webhook", url=url, secret="raw:a secret of the benchmark")  # noqa: S106 - made up
            channel = open_channel(CHANNEL, section, ChannelContext(sessions.open, clock, sessions.dial, sessions.tls))
            await store.set_channels([CHANNEL])
            await add(store, pages, hot=0)
            claim = await claimed(store)
            tasks = await all_tasks(store, claim, pages)
            drafts = draft(tasks)
            for start in range(0, pages, BATCH):
                pairs = list(zip(tasks, drafts, strict=True))[start : start + BATCH]
                results = [result_of(task, 1, changed=False, alerts=tuple(alerts)) for task, alerts in pairs]
                await store.commit(claim, results)
            delivery = Delivery([wrap(channel)], store, DeliverySettings(), clock, _Silence())
            with stopwatch(watch):
                await delivery.drain(_PATIENCE_S)
            waiting = (await store.channel_state(CHANNEL)).waiting
            await channel.close()
            if waiting != left:
                raise RuntimeError(f"{waiting} alerts were left in the outbox, not {left}")
    return list(chain.from_iterable(drafts))


def changed_alerts(tasks: Sequence[PageTask]) -> Iterator[AlertDraft]:
    """A `changed` event for each page, as long as such events are."""
    alerts, policy = EventWriter("bench", SystemChance()), PageSettings()
    fields = ("2020-05-01", *_NONE[:9], "2021-03-04", None)
    before = StoredState(1, fields, 0, 0, 1)
    latest = PageState((*fields[:11], "2022-05-06 2023-07-08"))
    comparison = decide(before, latest, _DAY_US, policy)
    for task in tasks:
        data = changed_data(
            page=task,
            comparison=comparison,
            before=before,
            latest=latest.values,
            stored_at=_DAY_US,
            elapsed_s=86_400,
            thresholds=thresholds_of(policy),
        )
        yield alerts.changed_event(task, PendingVerdict(1, _DAY_US, "minor", data), RENDERING)


async def _post_all(url: str, events: Sequence[bytes]) -> None:
    waiting = iter(events)

    async def work(session: aiohttp.ClientSession) -> None:
        for body in waiting:
            async with session.post(url, data=body) as response:
                await response.read()

    async with aiohttp.ClientSession() as session, asyncio.TaskGroup() as group:
        for number in range(IN_FLIGHT):
            group.create_task(work(session), name=f"post-{number}")
