"""Contents are compared beside the loop, and damaged ones cost the difference, not the alert."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from tests.awareness import NEW, OLD, job_of, task_of, verdict_of
from tests.engine.rendering.kept import Kept, packed
from tests.fakes import START, RecordingTelemetry
from tests.spec.microdata.making import item, page
from tocsin.engine.rendering import comparing
from tocsin.engine.rendering.comparing import Comparisons
from tocsin.model import PageItems
from tocsin.spec.microdata.reading.packing import pack

if TYPE_CHECKING:
    from tocsin.model import RenderJob


def job() -> RenderJob:
    return job_of(task_of(), verdict_of(task_of(), OLD, NEW, START))


def items_named(name: str) -> PageItems:
    found = pack(page(item(name=name)))
    return PageItems(START, found.digest, found.packed, found.count)


async def test_a_damaged_text_costs_the_difference_and_not_the_alert() -> None:
    telemetry = RecordingTelemetry()

    told = await Comparisons(Kept(latest=packed("Two bells.")[:-2]), telemetry).add_differences(job())

    assert told.verdicts[0].data["difference"] is None
    assert told.verdicts[0].data["outcome"] == job().verdicts[0].data["outcome"]
    assert telemetry.names() == ["text.damaged"]


async def test_damaged_items_cost_what_differs_and_not_the_alert() -> None:
    telemetry, latest = RecordingTelemetry(), items_named("latest")
    damaged = replace(latest, digest=b"other", packed=latest.packed[:-2])

    changes = await Comparisons(Kept(items=damaged), telemetry).compare_items(job(), latest)

    assert changes is None
    assert telemetry.names() == ["items.damaged"]


@pytest.mark.parametrize("what", ["difference_data", "difference_of_items"])
async def test_the_loop_goes_on_while_contents_are_compared(monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    """Otherwise its other tasks would have no turn until the comparison is done."""
    begun, may_end = asyncio.Event(), threading.Event()
    loop, compare = asyncio.get_running_loop(), getattr(comparing, what)

    def held(*contents: object) -> Any:
        loop.call_soon_threadsafe(begun.set)
        assert may_end.wait(30), "the loop stood still meanwhile"
        return compare(*contents)

    async def compared() -> object:
        comparisons = Comparisons(Kept(items=items_named("before")), RecordingTelemetry())
        if what == "difference_data":
            return (await comparisons.add_differences(job())).verdicts[0].data["difference"]
        return await comparisons.compare_items(job(), items_named("latest"))

    monkeypatch.setattr(comparing, what, held)
    async with asyncio.TaskGroup() as group:
        comparison = group.create_task(compared())
        await begun.wait()
        may_end.set()

    assert comparison.result() is not None
