"""Whatever a receiver answers: nothing is lost, nothing changes its id, and a page's alerts keep their order."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from tempfile import TemporaryDirectory

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fakes import ManualClock, RecordingTelemetry
from tests.receivers import RecordingChannel
from tocsin.adapters.stores import open_store
from tocsin.engine.alerting.delivery import ChannelLoop
from tocsin.errors import DeliveryError
from tocsin.model import AlertDraft, JsonObject
from tocsin.ports import Notification

DAY_S = 86_400
ALERTS = [f"{page}{number}" for number in range(3) for page in "abc"]
ANSWERS = st.sampled_from(["accept", "accept", "channel", "alert"])


class MoodyChannel(RecordingChannel):
    """Answers as the list says, one after the other, and accepts when it is used up."""

    def __init__(self, answers: list[str]) -> None:
        super().__init__()
        self._answers = list(answers)

    async def deliver(self, notification: Notification) -> None:
        answer = self._answers.pop(0) if self._answers else "accept"
        await asyncio.sleep(0)
        if answer != "accept":
            raise DeliveryError(self.name, answer, "no", retry_after=timedelta(seconds=90))
        self.given.append(msgspec.json.decode(notification.event.json))


async def deliver_all(answers: list[str], restarts: list[bool]) -> tuple[list[str], dict[str, str]]:
    """Deliver until nothing waits; returns what the channel accepted, in order, and how each alert stands."""
    channel, clock = MoodyChannel(answers), ManualClock()
    with TemporaryDirectory() as folder:
        async with await open_store(f"sqlite:{folder}/tocsin.db", engine=True) as store:
            await store.set_channels([channel.name])
            for name in ALERTS:
                event: JsonObject = {"id": name, "data": {}}
                await store.write_alert(AlertDraft(name, "t", ord(name[0]), clock.now(), event))
            loop = ChannelLoop(channel, store, timedelta(days=5), clock, RecordingTelemetry())
            plan = iter(restarts)
            while await store.next_delivery_at(channel.name) is not None:
                if next(plan, False):
                    loop = ChannelLoop(channel, store, timedelta(days=5), clock, RecordingTelemetry())
                await loop.drain()
                await clock.advance(DAY_S // 4)
            rows = await store.alerts(limit=100)
    return [event["id"] for event in channel.given], {row.id: row.deliveries[0][1] for row in rows}


@settings(max_examples=25)
@given(answers=st.lists(ANSWERS, max_size=60), restarts=st.lists(st.booleans(), max_size=20))
def test_every_alert_is_accepted_once_in_the_order_of_its_page_or_is_a_dead_letter(
    answers: list[str], restarts: list[bool]
) -> None:
    given_, standing = asyncio.run(deliver_all(answers, restarts))

    accepted = [name for name in ALERTS if standing[name] == "accepted"]
    assert set(standing.values()) <= {"accepted", "dead"}
    assert sorted(given_) == sorted(accepted)
    for page in "abc":
        assert [name for name in given_ if name[0] == page] == [name for name in accepted if name[0] == page]
