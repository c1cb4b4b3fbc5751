from __future__ import annotations

import pytest

from tocsin.engine.activity import CountedChannel, EngineCounts, Histogram
from tocsin.errors import DeliveryError
from tocsin.model import SerializedEvent


class Receiver:
    """A channel that answers as it is told to."""

    name = "ops"
    at_once = 1

    def __init__(self) -> None:
        self.blames: str | None = None
        self.is_closed = False

    async def deliver(self, event: SerializedEvent) -> None:
        if self.blames is not None:
            raise DeliveryError(self.name, self.blames, f"{event.id}: no")

    async def close(self) -> None:
        self.is_closed = True


@pytest.mark.parametrize(
    ("blames", "result"), [(None, "accepted"), ("channel", "failed"), ("alert", "refused"), ("gone", "gone")]
)
async def test_what_channels_answer_is_counted_and_passed_on(blames: str | None, result: str) -> None:
    receiver, counts = Receiver(), EngineCounts()
    channel, receiver.blames = CountedChannel(receiver, counts), blames

    if blames is None:
        await channel.deliver(SerializedEvent.of({"id": "1"}))
    else:
        with pytest.raises(DeliveryError, match="1: no"):
            await channel.deliver(SerializedEvent.of({"id": "1"}))

    assert dict(counts.deliveries) == {("ops", result): 1}


async def test_a_counted_channel_is_closed_as_it_is() -> None:
    receiver = Receiver()

    await CountedChannel(receiver, EngineCounts()).close()

    assert receiver.is_closed


def test_a_value_on_a_bound_falls_below_it() -> None:
    spread = Histogram((10, 20))

    for took_ms in (10, 10.5, 20, 21):
        spread.add(took_ms)

    assert (spread.counts, spread.total_ms) == ([1, 2, 1], 61.5)
