"""The same change on many pages of a host: told once, and page by page on demand."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from msgspec import ValidationError, convert, structs

from tests.contract.desk import DAY, HOUR, MINUTE, NOW, SECOND, A, B, C, Desk, alert
from tocsin.adapters.stores.sql.attention.storms import LEAST_US
from tocsin.errors import UsageError
from tocsin.events import HOST_CHANGED
from tocsin.model import StormRow, VerdictRow
from tocsin.settings import SignalSettings

KEY = b"the block that changed"
D, E = "https://one.example/d", "https://one.example/e"
DIFFERENCE = {"added": ["Call 02"], "removed": ["Call 01"], "cut": False}
OF_ONE_HOST = (A, B, D, E)


@pytest.fixture
async def calm(desk: Desk) -> Desk:
    """A desk with four pages of a host, and one of another, each checked once; three pages make a storm."""
    await desk.watch(*OF_ONE_HOST, C)
    for url in (*OF_ONE_HOST, C):
        await desk.check(url, "1")
    desk.now += HOUR
    return desk


async def change(desk: Desk, *urls: str, key: bytes | None = KEY, **changes: Any) -> None:
    """Commit, as one batch, checks that found the twelve fields as they were and the content changed."""
    tasks = {task.url: task for task in await desk.due()}
    results = []
    for url in urls:
        said = VerdictRow(desk.now, "minor", None, "content", "inferred", {}, awareness=True, storm_key=key)
        verdict = structs.replace(said, **changes)
        results.append(desk.result(tasks[url], "1", verdict=verdict))
    await desk.store.commit(desk.claim, results)


async def waiting(desk: Desk) -> set[int]:
    """The pages that wait to be rendered."""
    return {page.page_id for page in await desk.store.waiting_renders(limit=100, now=desk.now)}


async def storm(desk: Desk) -> StormRow:
    """The only storm there is."""
    (found,) = await desk.store.storms(limit=9)
    return found


async def announce(desk: Desk, at: int) -> list[int]:
    """Tell what is to be told by then; returns the storms' ids."""
    storms = await desk.store.storms_to_announce(at)
    for each in storms:
        draft = alert(f"storm {each.id} of {each.pages}", None, HOST_CHANGED)
        await desk.store.announce_storm(each.id, draft, at, excerpt=DIFFERENCE)
    return [each.id for each in storms]


async def test_a_change_of_fewer_pages_is_told_of_each(calm: Desk) -> None:
    await change(calm, A, B, C)

    assert await waiting(calm) == {1, 2, 5}
    assert await calm.store.storms(limit=9) == []


async def test_the_page_that_makes_it_enough_and_those_that_still_wait_are_told_once(calm: Desk) -> None:
    await change(calm, A, B)

    await change(calm, D)

    assert await waiting(calm) == set()
    found = await storm(calm)
    assert (found.host, found.pages, set(found.sample)) == ("one.example", 3, {A, B, D})
    assert (found.outcome, found.basis, found.excerpt) == ("minor", "inferred", None)
    assert (found.first_at, found.latest_at, found.announced_at) == (calm.now, calm.now, None)


async def test_one_batch_can_be_a_storm(calm: Desk) -> None:
    await change(calm, *OF_ONE_HOST)

    assert await waiting(calm) == set()
    assert (await storm(calm)).pages == 4


async def test_later_pages_join_without_a_word(calm: Desk) -> None:
    await change(calm, A, B, D)
    calm.now += 20 * HOUR
    told = await announce(calm, calm.now)

    await change(calm, E)

    assert (told, await announce(calm, calm.now + DAY)) == ([1], [])
    assert await waiting(calm) == set()
    assert (await storm(calm)).pages == 4
    assert await calm.alerts() == ["storm 1 of 3"]


async def test_a_page_that_was_told_already_belongs_to_it_and_stays_told(calm: Desk) -> None:
    await change(calm, A)
    await calm.render(A)

    await change(calm, B, D)

    verdicts = await calm.store.storm_verdicts(1, after=(0, 0), limit=9)
    assert [(each.url, each.alert_id is not None, each.withheld) for each in verdicts] == [
        (A, True, False),
        (B, False, True),
        (D, False, True),
    ]


async def test_a_page_that_is_being_rendered_is_told(calm: Desk) -> None:
    await change(calm, A, B)
    job = await calm.job(A)

    await change(calm, D)
    await calm.store.commit_renderings(calm.claim, [calm.rendered(job)])

    assert await waiting(calm) == set()
    assert len(await calm.alerts()) == 1


async def test_a_page_that_waits_for_more_is_told_of_both(calm: Desk) -> None:
    await change(calm, A, B)
    await calm.check(A, "2")

    await change(calm, D)

    assert await waiting(calm) == {1}
    job = await calm.job(A)
    assert len(job.verdicts) == 2
    assert await calm.store.commit_renderings(calm.claim, [calm.rendered(job)])


async def test_pages_of_other_hosts_and_other_changes_do_not_count(calm: Desk) -> None:
    await change(calm, A, C)
    await change(calm, B, key=b"another")
    await change(calm, D, key=None)

    assert await waiting(calm) == {1, 2, 3, 5}
    assert await calm.store.storms(limit=9) == []


async def test_a_page_counts_once(calm: Desk) -> None:
    for _ in range(3):
        await change(calm, A)
        calm.now += HOUR

    assert await calm.store.storms(limit=9) == []


async def test_a_verdict_without_awareness_does_not_count(calm: Desk) -> None:
    await change(calm, A, B, D, awareness=False)

    assert await calm.store.storms(limit=9) == []


async def test_a_state_that_changed_too_is_told_of_its_page(calm: Desk) -> None:
    """The states of a page that its alerts tell of are an unbroken chain: none of them is withheld."""
    tasks = {task.url: task for task in await calm.due()}
    said = VerdictRow(calm.now, "minor", None, "T47", "declared", {}, awareness=True, storm_key=KEY)

    await calm.store.commit(calm.claim, [calm.result(tasks[url], "2", verdict=said) for url in (A, B, D)])

    assert await waiting(calm) == {1, 2, 3}


async def test_what_was_too_long_ago_does_not_count(calm: Desk) -> None:
    await change(calm, A, B)
    calm.now += 2 * DAY + SECOND

    await change(calm, D)

    assert await waiting(calm) == {1, 2, 3}


async def test_a_change_counts_over_two_rounds_of_its_page(calm: Desk) -> None:
    await change(calm, A, B)
    calm.now += 2 * DAY - SECOND

    await change(calm, D)

    assert (await storm(calm)).pages == 3
    assert LEAST_US == DAY


async def test_the_same_change_long_after_is_a_storm_of_its_own(calm: Desk) -> None:
    await change(calm, A, B, D)
    calm.now += 3 * DAY

    await change(calm, A, B)
    alone = await waiting(calm)
    await change(calm, D)

    assert alone == {1, 2}
    assert [each.pages for each in await calm.store.storms(limit=9)] == [3, 3]
    assert [each.id for each in await calm.store.storms(limit=9, before=2)] == [1]


async def test_a_storm_is_told_when_it_was_gathered_with_the_count_of_then(calm: Desk) -> None:
    await change(calm, A, B, D)
    await change(calm, E)

    early = await announce(calm, calm.now + MINUTE - 1)
    due = await announce(calm, calm.now + MINUTE)

    assert (early, due) == ([], [1])
    assert await calm.alerts() == ["storm 1 of 4"]
    found = await storm(calm)
    assert (found.announced_at, found.excerpt) == (calm.now + MINUTE, DIFFERENCE)


async def test_a_storm_is_told_once_even_where_two_look_at_a_time(calm: Desk) -> None:
    await change(calm, A, B, D)
    (one,), (other,) = [await calm.store.storms_to_announce(calm.now + HOUR) for _ in range(2)]

    await calm.store.announce_storm(one.id, alert("one", None, HOST_CHANGED), calm.now, excerpt=None)
    await calm.store.announce_storm(other.id, alert("other", None, HOST_CHANGED), calm.now, excerpt=None)

    assert await calm.alerts() == ["one"]


async def test_a_storm_of_pages_that_were_all_removed_is_forgotten(calm: Desk) -> None:
    await change(calm, A, B, D)

    await calm.store.remove_pages([1, 2, 3])

    assert await announce(calm, calm.now + HOUR) == []
    assert await calm.store.storms(limit=9) == []


async def test_a_page_that_was_removed_does_not_count(calm: Desk) -> None:
    await change(calm, A, B)
    await calm.store.remove_pages([2])

    await change(calm, D)

    assert await waiting(calm) == {1, 3}


async def test_released_each_page_has_its_alert_after_all(calm: Desk) -> None:
    await change(calm, A, B, D)
    await announce(calm, calm.now + HOUR)
    withheld = await calm.store.count_withheld(1)
    seen: list[int] = []

    pages = await calm.store.release_storm(1, calm.now, on_step=seen.append)

    assert (withheld, pages, sum(seen), await waiting(calm)) == (3, 3, 3, {1, 2, 3})
    assert await calm.store.count_withheld(1) == 0
    job = await calm.job(A)
    assert [verdict.data["storm"] for verdict in job.verdicts] == [{"id": "1"}]
    await calm.store.commit_renderings(calm.claim, [calm.rendered(job)])
    assert await calm.store.release_storm(1, calm.now) == 0


async def test_a_storm_released_before_it_was_told_is_not_told(calm: Desk) -> None:
    await change(calm, A, B, D)
    (found,) = await calm.store.storms_to_announce(calm.now + HOUR)

    await calm.store.release_storm(1, calm.now)
    await calm.store.announce_storm(found.id, alert("late", None, HOST_CHANGED), calm.now, excerpt=None)

    assert await announce(calm, calm.now + HOUR) == []
    assert await calm.alerts() == []


async def test_what_comes_to_a_released_storm_is_told_page_by_page(calm: Desk) -> None:
    await change(calm, A, B, D)
    await calm.store.release_storm(1, calm.now)

    await change(calm, E)

    assert await waiting(calm) == {1, 2, 3, 4}
    assert (await storm(calm)).pages == 4


async def test_there_is_nothing_to_release_where_there_is_no_storm(calm: Desk) -> None:
    with pytest.raises(UsageError, match=r"storm 7: no such storm; `tocsin alerts storms` lists them"):
        await calm.store.release_storm(7, calm.now)
    assert await calm.store.storm(7) is None


async def test_the_verdicts_of_a_storm_are_read_in_pieces(calm: Desk) -> None:
    await change(calm, *OF_ONE_HOST)

    first = await calm.store.storm_verdicts(1, after=(0, 0), limit=3)
    last = await calm.store.storm_verdicts(1, after=(first[-1].page_id, first[-1].id), limit=3)

    assert [each.url for each in (*first, *last)] == [A, B, D, E]


async def test_storms_and_what_might_have_become_one_are_forgotten_in_time(calm: Desk) -> None:
    await change(calm, A, B, D)
    await change(calm, E, key=b"seen once")
    await announce(calm, calm.now + HOUR)
    await calm.render(E)

    kept = await calm.store.prune(calm.now + DAY, history=timedelta(days=30), limit=100)
    gone = await calm.store.prune(calm.now + 3 * DAY, history=timedelta(days=30), limit=100)
    await calm.store.prune(calm.now + 90 * DAY, history=timedelta(days=30), limit=100)
    await calm.store.prune(calm.now + 90 * DAY, history=timedelta(days=30), limit=100)

    assert (kept, gone) == (0, 1)
    assert await calm.store.storms(limit=9) == []


async def test_T64_what_changed_is_forgotten_with_the_last_page_that_had_it(calm: Desk) -> None:
    await change(calm, A, B, D)
    await announce(calm, calm.now + HOUR)
    await calm.store.remove_pages([1, 2])
    await calm.store.prune(calm.now, history=timedelta(days=30), limit=100)
    left = await storm(calm)

    await calm.store.remove_pages([3, 4])
    await calm.store.prune(calm.now, history=timedelta(days=30), limit=100)

    assert (left.host, left.pages, left.sample) == ("one.example", 1, (D,))
    assert await calm.store.storms(limit=9) == []
    assert set(await calm.agenda()) == {2}


@pytest.mark.parametrize(("pages", "waits"), [(0, {1, 2, 3, 4}), (1, set()), (5, {1, 2, 3, 4})])
async def test_how_many_pages_make_a_storm_is_a_setting(
    database: str, tmp_path: Any, pages: int, waits: set[int]
) -> None:
    desk = await Desk.at(tmp_path, database, storms=SignalSettings(storm_pages=pages))
    async with desk.store:
        await desk.watch(*OF_ONE_HOST)
        for url in OF_ONE_HOST:
            await desk.check(url, "1")
        desk.now = NOW + HOUR

        await change(desk, *OF_ONE_HOST)

        assert await waiting(desk) == waits
        assert await desk.store.check() == []


async def test_a_page_counts_once_however_often_it_had_the_same(database: str, tmp_path: Any) -> None:
    desk = await Desk.at(tmp_path, database, storms=SignalSettings(storm_pages=4))
    async with desk.store:
        await desk.watch(*OF_ONE_HOST)
        for url in OF_ONE_HOST:
            await desk.check(url, "1")
        storms = []
        for batch in ((A, B), (B,), (A, D), (B, D), (E,)):
            desk.now += HOUR
            await change(desk, *batch)
            storms.append([each.pages for each in await desk.store.storms(limit=9)])

        assert storms == [[], [], [], [], [4]]


def test_so_few_pages_make_a_storm_that_no_transaction_gets_long() -> None:
    with pytest.raises(ValidationError):
        convert({"storm_pages": 1001}, SignalSettings)


async def test_a_storm_outlives_a_kill(calm: Desk) -> None:
    await change(calm, A, B)
    await calm.store.close()

    again = await calm.again()
    again.now = calm.now
    await change(again, D)

    assert await waiting(again) == set()
    assert await announce(again, again.now + HOUR) == [1]
    calm.store = again.store
