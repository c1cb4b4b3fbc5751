"""One page's alerts are refused for ever: when the other pages' alerts are accepted, and what they cost."""

from __future__ import annotations

from itertools import chain

from benchmarks.bench.alerting import changed_alerts, deliver_outbox
from benchmarks.bench.measure import Figure, Sizes, Stopwatch, figure
from benchmarks.bench.processes import Origin
from tocsin.errors import DeliveryError
from tocsin.model import AlertDraft, PageTask
from tocsin.ports import Channel, Notification

EACH = 4
"""Alerts of each of the other pages."""


class RefusingChannel:
    """Refuses the alerts of one page, and notes the others as they are accepted; implements `ports.Channel`.

    refused  ids of alerts
    """

    takes_messages = False

    def __init__(self, channel: Channel, refused: set[str]) -> None:
        self.name, self.at_once = channel.name, channel.at_once
        self._channel, self._refused = channel, refused
        self.accepted: list[str] = []

    async def deliver(self, notification: Notification) -> None:
        """Give the alert to the channel, or refuse it."""
        if notification.event.id in self._refused:
            raise DeliveryError(self.name, "channel", "answered 500")
        await self._channel.deliver(notification)
        self.accepted.append(notification.event.id)

    async def close(self) -> None:
        """Close the channel."""
        await self._channel.close()


async def measure(sizes: Sizes) -> list[Figure]:
    """Deliver an outbox with a tenth more alerts of a page that is refused, in turns with one without that page."""
    poisoned, clean = Stopwatch([], []), Stopwatch([], [])
    pages, refused = max(sizes.alerts // EACH, 1), max(sizes.alerts // 10, 1)
    async with Origin() as origin:
        url = f"http://127.0.0.1:{origin.port}/hook"
        for number in range(sizes.rounds):
            # The second of a pair finds caches warm, so each is the first as often as the other.
            for count in (0, refused) if number % 2 else (refused, 0):
                await _deliver(url, pages, count, poisoned if count else clean)
    accepted = pages * EACH
    what = f"poison: {accepted:,} alerts accepted, {refused:,} of one more page refused"
    costs, clean_costs = ([seconds / accepted * 1e6 for seconds in watch.cpu_s] for watch in (poisoned, clean))
    beside, note = "none refused", "each page's alerts arrived in order"
    return [
        figure(what, poisoned.wall_s, "s", beside=beside, reference=clean.wall_s, note=note),
        figure("… processor time", costs, "us/alert", beside=beside, reference=clean_costs),
    ]


async def _deliver(url: str, pages: int, refused: int, watch: Stopwatch) -> None:
    """Deliver an outbox; raises RuntimeError unless all other alerts were accepted once, in order for each page."""
    ids: set[str] = set()
    channels: list[RefusingChannel] = []

    def draft(tasks: list[PageTask]) -> list[list[AlertDraft]]:
        # The refused page's alerts are the first of the outbox.
        bad = [list(changed_alerts([task] * refused)) for task in tasks[:1] if refused]
        ids.update(alert.id for alert in chain.from_iterable(bad))
        return bad + [list(changed_alerts([task] * EACH)) for task in tasks[len(bad) :]]

    def wrap(channel: Channel) -> Channel:
        channels.append(RefusingChannel(channel, ids))
        return channels[0]

    alerts = await deliver_outbox(url, draft, watch, pages + bool(refused), wrap=wrap, left=refused)
    demand_all_in_order(channels[0].accepted, [alert for alert in alerts if alert.id not in ids])


def demand_all_in_order(accepted: list[str], alerts: list[AlertDraft]) -> None:
    """Raise RuntimeError unless each of these alerts was accepted once, and those of a page in their order."""
    page_of = {alert.id: alert.page_id or 0 for alert in alerts}
    # Sorting keeps the order within a page.
    if sorted(accepted, key=page_of.__getitem__) != sorted(page_of, key=page_of.__getitem__):
        raise RuntimeError("alerts were lost, repeated, or accepted out of the order of their page")
