"""Texts of pages: kept with results, read to show differences, forgotten by age, number and size."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from tests.contract.desk import DAY, HOUR, NOW, SECOND, A, B, Desk
from tocsin.model import NO_COPY, Snapshot
from tocsin.spec.signals.texts import pack_text, unpack_text


def kept(text: str, at: int) -> Snapshot:
    """A page's text as a check keeps it."""
    return Snapshot(*pack_text(text), at=at)


async def keep(desk: Desk, url: str, *texts: str) -> None:
    """Commit a check of this page for each text, an hour apart."""
    for text in texts:
        await desk.check(url, text, snapshot=kept(text, desk.now))
        desk.now += HOUR


async def texts_of(desk: Desk, url: str) -> list[str]:
    """The texts that are kept of a page, newest first."""
    packed = [await desk.store.snapshot_text(row.id) for row in await desk.store.snapshots(url, limit=100)]
    return [unpack_text(text) for text in packed if text is not None]


async def prune(desk: Desk, **changes: Any) -> int:
    """Forget nothing but what the changed bounds say."""
    bounds: dict[str, Any] = {"keep": timedelta(days=90), "per_page": 100, "limit": 100}
    return await desk.store.prune_snapshots(desk.now, **(bounds | changes))


async def test_from_nine_tenths_of_their_limit_on_room_for_texts_is_short(desk: Desk) -> None:
    await desk.watch(A)
    unlimited = await desk.store.texts_are_short()
    await keep(desk, A, "one", "two")
    taken = sum([row.packed_bytes for row in await desk.store.snapshots(A, limit=9)])

    found = []
    for total in (taken * 2, taken):
        await desk.store.limit_texts(total)
        found.append((await desk.store.texts_are_short(), (await desk.task(A)).is_short))

    assert (unlimited, found) == (False, [(False, False), (True, True)])


async def test_a_text_is_kept_with_the_check_that_read_it(desk: Desk) -> None:
    await desk.watch(A)
    await keep(desk, A, "one", "two")

    newest, older = await desk.store.snapshots(A, limit=10)

    assert (newest.at, older.at) == (NOW + HOUR, NOW)
    assert newest.digest == pack_text("two")[0]
    assert newest.packed_bytes == len(pack_text("two")[1])
    assert await texts_of(desk, A) == ["two", "one"]
    assert await desk.store.snapshots(A, limit=1) == [newest]


async def test_a_check_that_found_all_as_before_may_keep_a_text_too(desk: Desk) -> None:
    await desk.watch(A)
    await desk.check(A, "same")
    desk.now += HOUR

    await desk.check(A, "same", snapshot=kept("text", desk.now))

    assert await texts_of(desk, A) == ["text"]


async def test_a_text_that_a_rendering_found_is_kept_with_it(desk: Desk) -> None:
    await desk.watch(A)
    await keep(desk, A, "one", "two")

    await desk.render(A, snapshot=kept("three", desk.now))

    assert await texts_of(desk, A) == ["three", "two", "one"]


async def test_a_text_that_the_page_has_already_is_not_repeated(desk: Desk) -> None:
    await desk.watch(A)
    await desk.check(A, "1", snapshot=kept("text", desk.now))
    desk.now += HOUR
    await desk.check(A, "2", snapshot=kept("text", desk.now))

    assert [row.at for row in await desk.store.snapshots(A, limit=10)] == [NOW]


async def test_a_text_that_comes_back_is_another_snapshot(desk: Desk) -> None:
    await desk.watch(A)
    await keep(desk, A, "one", "two", "one")

    assert await texts_of(desk, A) == ["one", "two", "one"]


async def test_equal_texts_of_several_pages_take_the_room_of_one(desk: Desk) -> None:
    await desk.watch(A, B)
    await keep(desk, A, "text")
    await keep(desk, B, "text")

    assert await texts_of(desk, A) == await texts_of(desk, B) == ["text"]
    assert await desk.store.fit_snapshots(total=len(pack_text("text")[1]), limit=100) == 0


async def test_a_text_stays_as_long_as_any_page_has_it(desk: Desk) -> None:
    (page_id, _) = await desk.watch(A, B)
    await keep(desk, A, "text")
    await keep(desk, B, "text")

    await desk.store.remove_pages([page_id])

    assert await texts_of(desk, A) == []
    assert await texts_of(desk, B) == ["text"]


async def test_a_page_that_wants_no_copy_loses_all_of_them_and_no_other_does(desk: Desk) -> None:
    await desk.watch(A, B)
    await keep(desk, A, "one", "two")
    await keep(desk, B, "one")

    await desk.check(A, "3", snapshot=NO_COPY)

    assert await texts_of(desk, A) == []
    assert await texts_of(desk, B) == ["one"]


async def test_a_page_that_is_not_watched_has_no_texts(desk: Desk) -> None:
    assert await desk.store.snapshots(A, limit=10) == []
    assert await desk.store.snapshot_text(7) is None


async def test_the_texts_around_a_change_are_that_of_its_instant_and_the_one_before(desk: Desk) -> None:
    (page_id,) = await desk.watch(A)
    await keep(desk, A, "one", "two", "three")

    around = await desk.store.texts_around(page_id, NOW + HOUR)

    assert around is not None
    assert [unpack_text(text) for text in around] == ["one", "two"]


async def test_there_are_none_around_the_first_text_nor_where_none_was_kept(desk: Desk) -> None:
    (page_id,) = await desk.watch(A)
    await keep(desk, A, "one", "two")

    assert await desk.store.texts_around(page_id, NOW) is None
    assert await desk.store.texts_around(page_id, NOW + HOUR + SECOND) is None
    assert await desk.store.texts_around(page_id, NOW - SECOND) is None


async def test_what_is_too_old_goes_but_the_latest_of_a_page(desk: Desk) -> None:
    await desk.watch(A, B)
    await keep(desk, A, "one", "two", "three")
    await keep(desk, B, "old")
    desk.now = NOW + 2 * HOUR + 90 * DAY

    assert await prune(desk) == 2

    assert await texts_of(desk, A) == ["three"]
    assert await texts_of(desk, B) == ["old"]


async def test_the_latest_stays_even_where_all_of_a_page_are_too_old(desk: Desk) -> None:
    await desk.watch(A)
    await keep(desk, A, "one", "two")
    desk.now += 400 * DAY

    assert await prune(desk) == 1

    assert await texts_of(desk, A) == ["two"]


async def test_of_a_page_the_newest_stay(desk: Desk) -> None:
    await desk.watch(A, B)
    await keep(desk, A, "one", "two", "three", "four")
    await keep(desk, B, "one", "two")

    assert await prune(desk, per_page=2) == 2

    assert await texts_of(desk, A) == ["four", "three"]
    assert await texts_of(desk, B) == ["two", "one"]


async def test_none_is_kept_where_none_may_be(desk: Desk) -> None:
    await desk.watch(A)
    await keep(desk, A, "one", "two")

    assert await prune(desk, per_page=0) == 2

    assert await texts_of(desk, A) == []


async def test_where_all_take_too_much_room_the_oldest_go(desk: Desk) -> None:
    await desk.watch(A, B)
    await keep(desk, A, "one of them")
    await keep(desk, B, "two of them", "three")
    room = len(pack_text("two of them")[1]) + len(pack_text("three")[1])

    assert await desk.store.fit_snapshots(total=room, limit=100) == 1
    assert await desk.store.fit_snapshots(total=room, limit=100) == 0

    assert await texts_of(desk, A) == []
    assert await texts_of(desk, B) == ["three", "two of them"]


async def test_no_more_are_forgotten_at_once_than_asked_for(desk: Desk) -> None:
    await desk.watch(A)
    await keep(desk, A, "1", "2", "3", "4", "5")

    assert await prune(desk, per_page=1, limit=3) == 3
    assert await prune(desk, per_page=1, limit=3) == 1
    assert await prune(desk, per_page=1, limit=3) == 0

    assert await texts_of(desk, A) == ["5"]


async def test_no_more_are_forgotten_at_once_for_room_either(desk: Desk) -> None:
    await desk.watch(A)
    await keep(desk, A, "1", "2", "3", "4", "5")

    assert [await desk.store.fit_snapshots(total=1, limit=3) for _ in range(3)] == [3, 2, 0]


async def test_the_text_that_was_kept_last_is_given(desk: Desk) -> None:
    first, other = await desk.watch(A, B)
    await keep(desk, A, "one", "two")

    latest = await desk.store.latest_text(first)

    assert latest is not None
    assert unpack_text(latest) == "two"
    assert await desk.store.latest_text(other) is None
