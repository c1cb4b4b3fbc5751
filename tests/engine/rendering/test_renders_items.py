"""How a page's items changed, from the rendering to the store: with its alert, in one transaction."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.awareness import DAY, NEW, NEWER, OLD, Bench
from tests.engine.judging.items_of_pages import LATER, ItemRenderer, items_of
from tests.fakes import START
from tocsin.adapters.stores import open_store
from tocsin.errors import FetchFailed
from tocsin.model import (
    NO_ITEMS,
    CheckReport,
    CheckResult,
    DueTime,
    FailureKind,
    NewState,
    PageItems,
    VerdictRow,
    to_rfc3339,
)
from tocsin.settings import SignalSettings

A = "https://example.org/a"
SOON = items_of("2026-05-05")


@pytest.fixture
async def bench(bench: Bench) -> Bench:
    """The same with one page that has been checked."""
    await bench.add("a")
    return bench


async def change(bench: Bench, state: Any, *found: PageItems | None, unread: str | None = None) -> list[Any]:
    """Let the page change, and its rendering find these items; returns what all alerts so far say of items."""
    bench.renderer = ItemRenderer(bench.clock, *found, unread=unread)
    await bench.clock.advance(60)
    await bench.check("a", state)
    await bench.drain()
    return [event["data"]["items"] for event in await bench.events()]


async def test_MD_19_the_alert_says_from_what_to_what_a_date_changed(bench: Bench) -> None:
    assert await change(bench, NEW, SOON) == [None]

    (_, told) = await change(bench, NEWER, LATER)

    assert [(each["property"], each["previous"], each["latest"]) for each in told["changes"]] == [
        ("dtstart", ["2026-05-05"], ["2026-05-06"])
    ]
    page_id = bench.page_id("a")
    latest = await bench.store.latest_items(page_id)
    assert latest is not None
    assert latest.digest == LATER.digest
    (kept,) = (await bench.store.item_changes(page_id)).rows
    assert kept.changes == told


async def test_MD_19_the_first_event_of_a_page_is_told_as_added_though_nothing_had_changed_before(
    tmp_path: Path,
) -> None:
    async with await open_store(f"sqlite:{tmp_path / 'tocsin.db'}", engine=True) as store:
        bench = Bench(store)
        await bench.add("a", items=items_of())

        (told,) = await change(bench, NEW, SOON)

        assert told["since"] == to_rfc3339(START)
    assert (told["added"], told["removed"], told["changed"]) == (1, 0, 0)


async def test_a_page_of_which_nothing_was_known_has_its_first_event_told_after_a_rendering_found_none(
    bench: Bench,
) -> None:
    assert await change(bench, NEW, items_of()) == [None]

    (_, told) = await change(bench, NEWER, SOON)

    assert told["added"] == 1


async def share_a_change(bench: Bench, *names: str) -> None:
    """Let checks find the very same change of the content on these pages, their states as they were."""
    await bench.lease.take()
    now = bench.clock.now()
    results = []
    for name in names:
        task = await bench.task(name)
        assert task.state is not None
        state = NewState(now, task.state.fields, equal=True, validators=None, body_digest=None)
        said = VerdictRow(now, "minor", None, "content", "inferred", {}, awareness=True, storm_key=b"footer")
        result = CheckResult(
            page_id=task.page_id,
            host_id=task.host_id,
            report=CheckReport(task.url, "minor"),
            checked_at=now,
            set_at=now,
            due=DueTime(now + DAY, "every 24h"),
            state=state,
            verdict=said,
            received=True,
        )
        results.append(result)
    await bench.store.commit(bench.lease.claim, results)


async def test_what_changed_while_a_storm_kept_the_alerts_back_is_told_when_it_is_released(tmp_path: Path) -> None:
    storms = SignalSettings(storm_pages=3)
    async with await open_store(f"sqlite:{tmp_path / 'tocsin.db'}", engine=True, storms=storms) as store:
        bench = Bench(store)
        await bench.add("a", "b", "c", items=SOON)
        bench.renderer = ItemRenderer(bench.clock, LATER)
        bench.renderer.found = OLD
        await bench.clock.advance(60)
        await share_a_change(bench, "a", "b", "c")
        await bench.drain()
        assert (await bench.events(), bench.renderer.pages) == ([], [])

        await store.release_storm(1, bench.clock.now())
        await bench.drain()

        events = await bench.events()
        for event, name in zip(events, "abc", strict=True):
            (told,) = event["data"]["items"]["changes"]
            assert (told["previous"], told["latest"]) == (["2026-05-05"], ["2026-05-06"])
            (kept,) = (await store.item_changes(bench.page_id(name))).rows
            assert kept.changes["changes"] == [told]


async def test_what_changed_in_a_storm_that_nobody_released_is_told_with_the_next_change_of_the_page(
    tmp_path: Path,
) -> None:
    storms = SignalSettings(storm_pages=3)
    async with await open_store(f"sqlite:{tmp_path / 'tocsin.db'}", engine=True, storms=storms) as store:
        bench = Bench(store)
        await bench.add("a", "b", "c", items=SOON)
        await share_a_change(bench, "a", "b", "c")

        (told,) = await change(bench, NEW, LATER)

        assert told["changed"] == 1


async def test_items_of_a_whole_page_that_are_gone_are_removed_and_told_once(bench: Bench) -> None:
    await change(bench, NEW, SOON)
    (_, gone) = await change(bench, NEWER, items_of())

    (*_, after) = await change(bench, OLD, items_of())

    assert (gone["removed"], after) == (1, None)


async def test_LM45_a_page_that_wants_no_copy_kept_any_more_has_none(bench: Bench) -> None:
    await change(bench, NEW, SOON)
    await change(bench, NEWER, LATER)

    told = await change(bench, OLD, NO_ITEMS)

    assert told[-1] is None
    assert await bench.store.latest_items(bench.page_id("a")) is None
    assert not (await bench.store.item_changes(bench.page_id("a"))).rows


async def test_a_page_whose_items_cannot_be_read_keeps_those_that_it_had(bench: Bench) -> None:
    await change(bench, NEW, SOON)

    told = await change(bench, NEWER, None, unread="too complex to be read for its items: 300,000 elements deep")

    assert told == [None, None]
    assert "items.unread" in bench.telemetry.names()
    latest = await bench.store.latest_items(bench.page_id("a"))
    assert latest is not None
    assert latest.digest == SOON.digest


async def test_T57_a_rendering_that_was_owed_tells_how_items_changed_since_the_last_one(bench: Bench) -> None:
    await change(bench, NEW, SOON)
    refused = FetchFailed(A, FailureKind.CONNECT, "connection refused")
    bench.renderer = ItemRenderer(bench.clock, LATER)
    bench.renderer.on(A, refused)
    await bench.clock.advance(60)
    await bench.check("a", NEWER)
    await bench.drain()

    bench.renderer.on(A, NEWER)
    await bench.receive("a")
    await bench.drain()

    (_, failed, recovered) = await bench.events()
    assert (failed["data"]["rendering"]["error"]["kind"], failed["data"]["items"]) == ("connect", None)
    assert recovered["type"] == "tocsin.page.recovered.v1"
    assert recovered["data"]["items"]["changed"] == 1
