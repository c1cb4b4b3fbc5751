"""A store as a busy day leaves it: changes seen and not, questions, rules, a storm, dead letters, a day of figures."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

from msgspec import structs

from tests.alert_examples import examples
from tests.claiming import claim_all
from tests.contract.desk import HOUR, MINUTE, SECOND, Desk
from tests.fakes import SeededChance
from tocsin import events
from tocsin.adapters.channels.file import FileSettings
from tocsin.adapters.channels.webhook import WebhookSettings
from tocsin.adapters.stores.sql.store import SqlStore
from tocsin.model import (
    ActivityRow,
    AlertDraft,
    ChannelState,
    CopyLink,
    DeliveryResult,
    Instant,
    Instruction,
    JsonObject,
    PageQuery,
    VerdictRow,
)

NEWS, LIST = "https://news.example/today", "https://lists.example/all"
GONE = tuple(f"https://gone.example/reports/{year}" for year in range(2012, 2027))
ALIKE = tuple(f"https://shop.example/offers/{number}" for number in range(1, 7))
CHANNELS = {
    "ops": WebhookSettings(type="webhook", url="https://hooks.example/tocsin/9f27c1", secret="whsec_c2VjcmV0"),
    "lines": FileSettings(type="file", path="alerts.jsonl"),
}
DIFFERENCE: JsonObject = {
    "added": ["The office is closed on Fridays.", "Ask for an appointment by telephone."],
    "removed": ["The office is open every day."],
    "cut": True,
}


async def fill(store: SqlStore, folder: Path, now: Instant) -> Desk:
    """Fill a store that an engine may claim; returns its desk, whose time is `now`."""
    claim = await claim_all(store, "engine")
    assert claim is not None
    desk = Desk(store, claim, folder)
    desk.now = now - HOUR
    await store.set_channels(list(CHANNELS))
    await desk.watch(NEWS, text="The news, which we need every morning")
    await desk.watch(LIST, *GONE, *ALIKE, group="the city")
    await desk.watch("https://slow.example/", "https://moved.example/a", "https://moved.example/b")
    await desk.check(NEWS, "2026-01-02")
    await _ask(desk)
    await _storm(desk)
    await _tell(desk, now)
    await _note(desk, now)
    desk.now = now
    return desk


async def _ask(desk: Desk) -> None:
    copies = tuple(
        CopyLink(url, f"https://archive.example/{year}/{url}", f"{year}-03-01", desk.now, "memento", "mset")
        for url in GONE[:2]
        for year in (2024, 2025)
    )
    await desk.check(LIST, "1", copies=copies)
    for url in GONE:
        await desk.fail(url, "status 404")
    await desk.fail("https://slow.example/", "timeout")
    for url in ("https://moved.example/a", "https://moved.example/b"):
        await desk.fail(url, "dns")
    desk.now += 2 * MINUTE
    await desk.announce()
    moved = next(row for row in await desk.store.questions() if row.host == "moved.example")
    await desk.store.answer(moved.id, Instruction("never"), scope="host", url=None, now=desk.now)


async def _storm(desk: Desk) -> None:
    for url in ALIKE:
        await desk.check(url, "1")
    desk.now += MINUTE
    tasks = {task.url: task for task in await desk.due()}
    said = VerdictRow(desk.now, "minor", None, "S2", "inferred", {}, awareness=True, storm_key=b"the same for all")
    results = [desk.result(tasks[url], "1", verdict=said) for url in ALIKE]
    await desk.store.commit(desk.claim, results)
    desk.now += 2 * MINUTE
    for storm in await desk.store.storms_to_announce(desk.now):
        event = deepcopy(next(each for each in examples() if each["type"] == events.HOST_CHANGED))
        told = {"id": str(storm.id), "host": storm.host, "pages": storm.pages, "sample": list(storm.sample)}
        event["data"]["storm"] |= told
        draft = AlertDraft(SeededChance(7).ulid(desk.now), events.HOST_CHANGED, None, desk.now, event)
        await desk.store.announce_storm(storm.id, draft, desk.now, excerpt=DIFFERENCE)


async def _tell(desk: Desk, now: Instant) -> None:
    chance, store = SeededChance(3), desk.store
    page = await desk.page(NEWS)
    made: list[AlertDraft] = []
    kinds = [each for each in examples() if each["type"] not in (events.TEST, events.HOST_CHANGED)]
    for place in range(28):
        event = deepcopy(kinds[0] if place % 3 else kinds[place // 3 % len(kinds)])
        at = now - (30 - place) * 47 * SECOND
        event["id"] = chance.ulid(at)
        data: dict[str, Any] = event["data"]
        if "outcome" in data and event["type"] == events.CHANGED:
            data["outcome"] = "major" if place % 4 == 1 else "minor"
            data["basis"] = ("declared", "inferred", "contradicted")[place % 3]
            if place % 2:
                data["changes"], data["rule"] = [], "S2"
        made.append(AlertDraft(event["id"], event["type"], page.id, at, event))
    for draft in made:
        await store.write_alert(draft)
    await store.record_deliveries(
        [DeliveryResult(draft.id, "lines", "accepted", now) for draft in made]
        + [DeliveryResult(draft.id, "ops", "accepted", now) for draft in made[:10]]
        + [DeliveryResult(draft.id, "ops", "dead", now, error="answered 500") for draft in made[10:13]]
    )
    await store.save_channel_state(ChannelState("ops", failures=3, next_at=now + 30 * SECOND, error="answered 500"))
    await store.mark_seen([draft.id for draft in made[:6]], now, seen=True)


async def _note(desk: Desk, now: Instant) -> None:
    step = 5 * MINUTE
    first = (now - 24 * HOUR) // step * step
    for place in range(288):
        busy = 40 + (place * 37) % 61 + (80 if 90 < place < 200 else 0)
        outcomes = {"unchanged": busy * 20, "minor": place % 3, "major": int(place % 17 == 0)}
        outcomes |= {"first": 30 * (place < 9), "unreachable": place % 5, "deferred": place % 2}
        row = ActivityRow(first + place * step, outcomes, place % 3 + 1, place % 4, busy * 90_000, busy * 700_000)
        await desk.store.note_activity(row)


async def ids_of(store: SqlStore, **query: Any) -> list[int]:
    """The ids of pages of a list."""
    found = await store.browse_ids(structs.replace(PageQuery(), **query), last_id=2**62)
    return list(found.rows)
