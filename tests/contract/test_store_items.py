"""Microdata of pages: kept with what found it, and how it changed with the rendering that found that."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from msgspec import structs

from tests.contract.desk import DAY, HOUR, NOW, A, B, Desk, fields
from tocsin.errors import StaleClaim, UsageError
from tocsin.model import NO_ITEMS, ItemChangeEntry, JsonObject, NewState, PageItems, VerdictRow
from tocsin.spec.microdata.reading.packing import pack, unpack
from tocsin.spec.microdata.values import Microdata


def items(text: str, at: int = NOW, **changes: Any) -> PageItems:
    """A page's items as something found them."""
    found = pack(Microdata(text, None, (), ()))
    return structs.replace(PageItems(at, found.digest, found.packed, 1, first_at=at), **changes)


def differs(previous: str, latest: str) -> JsonObject:
    """How items changed, as the event shows it."""
    return {"since": "2026-01-02T03:04:05.000Z", "changes": [{"previous": [previous], "latest": [latest]}]}


async def change(desk: Desk, url: str, major: str, **changes: Any) -> int:
    """Let a check find the page changed, and commit its rendering with this; returns when that was."""
    desk.now += HOUR
    await desk.check(url, major)
    await desk.render(url, **changes)
    return desk.now


async def begin(desk: Desk, url: str, **changes: Any) -> int:
    """Watch a page and check it for the first time, with this; returns its id."""
    (page_id,) = await desk.watch(url)
    await desk.check(url, "0", **changes)
    return page_id


async def test_items_of_the_first_check_are_kept_to_be_compared_with(desk: Desk) -> None:
    page_id = await begin(desk, A, items=items("one", is_cut=True))

    assert await desk.store.latest_items(page_id) == items("one", is_cut=True)
    assert (await desk.store.item_changes(page_id)).rows == ()


async def test_a_check_that_found_all_as_before_may_keep_items_too(desk: Desk) -> None:
    page_id = await begin(desk, A)

    await desk.check(A, "0", items=items("one"))

    assert await desk.store.latest_items(page_id) == items("one")


async def test_items_of_a_rendering_take_the_place_of_those_before(desk: Desk) -> None:
    page_id = await begin(desk, A, items=items("one"))

    at = await change(desk, A, "1", items=items("two", NOW + HOUR, count=7), changes=differs("one", "two"))

    assert await desk.store.latest_items(page_id) == items("two", at, count=7)


async def test_of_equal_items_only_the_time_when_they_were_read_is_new(desk: Desk) -> None:
    page_id = await begin(desk, A, items=items("one"))
    again = items("one", NOW + HOUR, first_at=NOW)

    await change(desk, A, "1", items=again)

    assert await desk.store.latest_items(page_id) == again


async def test_items_that_were_cut_elsewhere_are_others_though_what_is_kept_is_the_same(desk: Desk) -> None:
    page_id = await begin(desk, A, items=items("one"))

    await change(desk, A, "1", items=items("one", is_cut=True))

    assert await desk.store.latest_items(page_id) == items("one", is_cut=True)


async def test_a_page_without_items_has_none_kept(desk: Desk) -> None:
    page_id = await begin(desk, A)

    await change(desk, A, "1")

    assert await desk.store.latest_items(page_id) is None
    assert (await desk.store.item_changes(page_id)).rows == ()


NONE = items("", count=0)
"""What a check found on a page without microdata."""


async def test_a_page_that_had_none_when_it_was_received_first_is_known_to_have_had_none_since_it_is_watched(
    desk: Desk,
) -> None:
    added_at = desk.now
    (page_id,) = await desk.watch(A)
    desk.now += HOUR

    await desk.check(A, "0", items=NONE)
    await desk.check(A, "0")

    assert await desk.store.latest_items(page_id) is None
    before = await desk.store.items_before(page_id)
    assert before is not None
    assert (before.at, before.count, unpack(before.packed).all) == (added_at, 0, ())
    assert await desk.store.check() == []


async def test_nothing_is_known_of_a_page_whose_items_were_never_read(desk: Desk) -> None:
    page_id = await begin(desk, A)

    assert await desk.store.items_before(page_id) is None
    assert await desk.store.items_before(page_id + 7) is None


async def test_items_that_were_kept_are_those_to_be_compared_with(desk: Desk) -> None:
    page_id = await begin(desk, A, items=NONE)

    at = await change(desk, A, "1", items=items("two", NOW + HOUR))

    assert await desk.store.items_before(page_id) == items("two", at)


async def test_that_a_rendering_found_none_is_kept_with_its_time(desk: Desk) -> None:
    page_id = await begin(desk, A)

    at = await change(desk, A, "1", items=items("", NOW + HOUR, count=0))

    before = await desk.store.items_before(page_id)
    assert before is not None
    assert (before.at, before.count) == (at, 0)


async def test_LM45_that_a_page_had_none_is_forgotten_once_it_wants_none_kept(desk: Desk) -> None:
    checked, rendered = await begin(desk, A, items=NONE), await begin(desk, B, items=NONE)

    await desk.check(A, "0", items=NO_ITEMS)
    await change(desk, B, "1", items=NO_ITEMS)

    assert [await desk.store.items_before(page_id) for page_id in (checked, rendered)] == [None, None]


async def test_a_page_that_had_items_and_comes_without_any_at_a_check_has_none_kept(desk: Desk) -> None:
    page_id = await begin(desk, A, items=items("one"))

    await desk.check(A, "0", items=NONE)

    before = await desk.store.items_before(page_id)
    assert before is not None
    assert before.count == 0


async def test_how_items_changed_is_listed_with_its_rendering_the_newest_first(desk: Desk) -> None:
    page_id = await begin(desk, A, items=items("one"))
    first = await change(desk, A, "1", items=items("two", NOW + HOUR), changes=differs("one", "two"))
    await change(desk, A, "2")
    second = await change(desk, A, "3", items=items("six", NOW + 3 * HOUR), changes=differs("two", "six"))

    rows = (await desk.store.item_changes(page_id)).rows

    renderings = {row.started_at: row.id for row in (await desk.store.renderings_of(page_id)).rows}
    assert rows == (
        ItemChangeEntry(second, differs("two", "six"), renderings[second]),
        ItemChangeEntry(first, differs("one", "two"), renderings[first]),
    )


async def test_a_rendering_shows_how_items_changed_with_it(desk: Desk) -> None:
    page_id = await begin(desk, A, items=items("one"))
    await change(desk, A, "1", items=items("two"), changes=differs("one", "two"))
    await change(desk, A, "2", items=items("two"))

    assert [row.items for row in (await desk.store.renderings_of(page_id)).rows] == [None, differs("one", "two")]


async def test_the_changes_of_a_page_are_listed_part_by_part(desk: Desk) -> None:
    page_id, other = await begin(desk, A, items=items("0")), await begin(desk, B, items=items("0"))
    for number in "12345":
        await change(desk, A, number, items=items(number), changes=differs("", number))
        await change(desk, B, number, items=items(number), changes=differs("", "other"))

    found, cursor = [], None
    while True:
        part = await desk.store.item_changes(page_id, cursor=cursor, limit=2)
        found += [row.changes["changes"][0]["latest"][0] for row in part.rows]
        cursor = part.next
        if cursor is None:
            break

    assert found == ["5", "4", "3", "2", "1"]
    cursor = (await desk.store.item_changes(page_id, limit=2)).next
    with pytest.raises(UsageError, match="cursor"):
        await desk.store.item_changes(other, cursor=cursor)


async def test_a_page_that_wants_no_copy_loses_its_items_and_their_changes_and_no_other_does(desk: Desk) -> None:
    kept = [await begin(desk, url, items=items("one")) for url in (A, B)]
    for url in (A, B):
        await change(desk, url, "1", items=items("two"), changes=differs("one", "two"))

    await change(desk, A, "2", items=NO_ITEMS, changes=differs("two", "three"))

    assert [await desk.store.latest_items(page_id) for page_id in kept] == [None, items("two")]
    assert [len((await desk.store.item_changes(page_id)).rows) for page_id in kept] == [0, 1]


async def test_a_check_may_say_that_none_are_to_be_kept(desk: Desk) -> None:
    page_id = await begin(desk, A, items=items("one"))

    await desk.check(A, "0", items=NO_ITEMS)

    assert await desk.store.latest_items(page_id) is None


async def test_items_and_their_changes_go_with_their_page(desk: Desk) -> None:
    page_id = await begin(desk, A, items=items("one"))
    await change(desk, A, "1", items=items("two"), changes=differs("one", "two"))

    await desk.store.remove_pages([page_id])

    assert await desk.store.latest_items(page_id) is None
    assert (await desk.store.item_changes(page_id)).rows == ()


async def test_items_of_a_page_that_was_removed_meanwhile_leave_no_trace(desk: Desk) -> None:
    page_id = await begin(desk, A, items=items("one"))
    checked = desk.result(await desk.task(A), "1", items=items("two"))
    await desk.check(A, "1")
    rendered = desk.rendered(await desk.job(A), items=items("two"), changes=differs("one", "two"))
    await desk.store.remove_pages([page_id])

    await desk.store.commit(desk.claim, [checked])
    await desk.store.commit_renderings(desk.claim, [rendered])

    assert await desk.store.latest_items(page_id) is None
    assert (await desk.store.item_changes(page_id)).rows == ()


async def test_items_are_written_with_all_of_their_rendering_or_not_at_all(desk: Desk) -> None:
    page_id = await begin(desk, A, items=items("one"))
    await desk.check(A, "1")
    rendered = desk.rendered(await desk.job(A), items=items("two"), changes=differs("one", "two"))
    outdated = structs.replace(desk.claim, epochs=tuple(epoch - 1 for epoch in desk.claim.epochs))

    with pytest.raises(StaleClaim):
        await desk.store.commit_renderings(outdated, [rendered])

    assert await desk.store.latest_items(page_id) == items("one")
    assert (await desk.store.item_changes(page_id)).rows == ()


async def test_changes_go_with_the_history_and_the_latest_items_stay(desk: Desk) -> None:
    page_id = await begin(desk, A, items=items("one"))
    for number in "1234":
        await change(desk, A, number, items=items(number), changes=differs("", number))
    desk.now += 90 * DAY
    last = await change(desk, A, "5", items=items("5"), changes=differs("4", "5"))

    while await desk.store.prune(desk.now, history=timedelta(days=30), limit=2):
        pass

    assert [row.at for row in (await desk.store.item_changes(page_id)).rows] == [last]
    assert await desk.store.latest_items(page_id) == items("5")
    assert [row.started_at for row in (await desk.store.renderings_of(page_id)).rows] == [last]


async def history(desk: Desk, url: str, *, limit: int = 100) -> list[tuple[str | None, list[str]]]:
    """The states of a page, the newest first: `topper-major`, and what items became while it was the latest."""
    return [
        (entry.fields[10], [change.changes["changes"][0]["latest"][0] for change in entry.items])
        for entry in await desk.store.history(url, limit=limit)
    ]


async def test_history_shows_changes_of_items_with_the_state_that_was_the_latest(desk: Desk) -> None:
    await begin(desk, A, items=items("one"))
    for number in ("1", "2"):
        await change(desk, A, number, items=items(number, desk.now + HOUR), changes=differs("", f"of {number}"))
    desk.now += HOUR
    await desk.check(A, "2", verdict=VerdictRow(desk.now, "major", None, "T44", "inferred", {}, awareness=True))
    await desk.render(A, items=items("more", desk.now), changes=differs("", "more of 2"))

    assert await history(desk, A) == [("2", ["of 2", "more of 2"]), ("1", ["of 1"]), ("0", [])]


async def test_a_change_belongs_to_the_state_that_its_rendering_stored(desk: Desk) -> None:
    await begin(desk, A, items=items("one"))
    desk.now += HOUR
    await desk.check(A, "1")
    stored = NewState(desk.now + 2, fields("2"), equal=False, validators=None, body_digest=None)

    await desk.render(A, items=items("two", desk.now + 1), changes=differs("one", "two"), state=stored, prune=False)

    assert await history(desk, A) == [("2", ["two"]), ("1", []), ("0", [])]


async def test_changes_while_an_older_state_was_the_latest_are_shown_with_that_state_only(desk: Desk) -> None:
    await begin(desk, A, items=items("one"))
    for number in "123":
        await change(desk, A, number, items=items(number, desk.now + HOUR), changes=differs("", number))

    assert await history(desk, A, limit=2) == [("3", ["3"]), ("2", ["2"])]
    assert await history(desk, A, limit=4) == [("3", ["3"]), ("2", ["2"]), ("1", ["1"]), ("0", [])]


async def test_changes_from_before_the_oldest_state_that_is_kept_stand_with_that(desk: Desk) -> None:
    await begin(desk, A, items=items("one"))
    for number in "12":
        await change(desk, A, number, items=items(number, desk.now + HOUR), changes=differs("", number))
    desk.behind.alter("delete from states where last_at is not null")

    assert await history(desk, A) == [("2", ["1", "2"])]
