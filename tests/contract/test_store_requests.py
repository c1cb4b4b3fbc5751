"""Checks asked for by hand."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import pytest

from tests.contract.desk import NOW, A, B, C, Desk, new_page
from tocsin.errors import StoreError
from tocsin.model import Instruction


async def test_a_request_follows_its_reports_in_order_of_completion(desk: Desk) -> None:
    await desk.watch(A, B, C)
    request = await desk.store.request_check([(await desk.page(A)).id, (await desk.page(C)).id], NOW)
    await desk.check(C)
    await desk.check(A)

    reports = await desk.store.request_reports(request, after=0)

    assert [(position, report.url) for position, report in reports] == [(1, C), (2, A)]
    assert await desk.store.request_progress(request) == (2, 2)
    assert [report.url for _, report in await desk.store.request_reports(request, after=1)] == [A]
    assert [report.url for _, report in await desk.store.request_reports(request, after=0, limit=1)] == [C]


async def test_a_request_whose_client_is_told_otherwise_stores_no_reports_and_keeps_none(desk: Desk) -> None:
    await desk.watch(A, B, C)
    request, other = [await desk.store.request_check(ids, NOW) for ids in ([1, 3], [2])]
    await desk.check(C)
    await desk.store.forgo_reports(request)
    await desk.check(A)
    await desk.check(B)

    assert await desk.store.request_progress(request) == (2, 2)
    assert await desk.store.request_reports(request, after=0) == []
    assert [report.url for _, report in await desk.store.request_reports(other, after=0)] == [B]
    assert await desk.store.check() == []


async def test_a_request_for_all_leaves_out_paused_pages(desk: Desk) -> None:
    ids = await desk.watch(*(f"https://h{number}.example/" for number in range(2300)))
    await desk.store.edit_pages(
        ids[:10], NOW, settings={}, unset=[], paused=True, group=None, text=None, clear_text=False
    )

    request = await desk.store.request_check(None, NOW)

    assert await desk.store.request_progress(request) == (0, 2290)


async def test_T62_a_page_that_is_paused_is_given_up_by_the_request_that_wants_it(desk: Desk) -> None:
    (paused, _) = await desk.watch(A, B)
    request = await desk.store.request_check(None, NOW)

    await desk.edit(paused, paused=True)

    assert await desk.store.request_progress(request) == (0, 1)
    assert [task.url for task in await desk.due(at=NOW)] == [B]


async def test_T62_a_report_that_comes_after_the_pause_is_not_counted(desk: Desk) -> None:
    (page_id,) = await desk.watch(A)
    request = await desk.store.request_check(None, NOW)
    under_way = desk.result(await desk.task(A))
    await desk.edit(page_id, paused=True)

    await desk.store.commit(desk.claim, [under_way])

    assert await desk.store.request_progress(request) == (0, 0)
    assert await desk.store.request_reports(request, after=0) == []


async def test_T60_a_request_for_all_leaves_out_pages_that_are_never_to_be_checked(desk: Desk) -> None:
    await desk.watch(A, B)
    await desk.fail(A, "connect")
    await desk.store.answer(1, Instruction("never"), scope="page", url=A, now=NOW)

    request = await desk.store.request_check(None, NOW)

    assert await desk.store.request_progress(request) == (0, 1)
    assert (await desk.task(B)).order.request_id == request


async def test_a_page_is_wanted_until_its_report_is_there(desk: Desk) -> None:
    await desk.watch(A)
    request = await desk.store.request_check(None, NOW)
    assert (await desk.task(A)).order.request_id == request

    await desk.check(A)

    assert (await desk.task(A)).order.request_id is None


async def test_a_scheduled_result_is_no_report_of_a_request(desk: Desk) -> None:
    await desk.watch(A)
    scheduled = desk.result(await desk.task(A))
    request = await desk.store.request_check(None, NOW)

    await desk.store.commit(desk.claim, [scheduled])

    assert await desk.store.request_progress(request) == (0, 1)
    assert (await desk.task(A)).order.request_id == request


async def test_a_newer_request_takes_pages_over_and_the_older_one_ends(desk: Desk) -> None:
    await desk.watch(A)
    older = await desk.store.request_check(None, NOW)
    under_way = desk.result(await desk.task(A))

    newer = await desk.store.request_check(None, NOW)
    await desk.store.commit(desk.claim, [under_way])

    assert await desk.store.request_progress(older) == (0, 0)
    assert await desk.store.request_progress(newer) == (0, 1)


async def test_a_removed_page_is_waited_for_no_longer(desk: Desk) -> None:
    ids = await desk.watch(A, B)
    request = await desk.store.request_check(None, NOW)

    await desk.store.remove_pages(ids[:1])

    assert await desk.store.request_progress(request) == (0, 1)


async def test_a_request_for_nothing_is_done(desk: Desk) -> None:
    request = await desk.store.request_check([], NOW)

    assert await desk.store.request_progress(request) == (0, 0)


async def test_many_pages_are_asked_for_by_the_batch_as_they_come(desk: Desk) -> None:
    ids = await desk.watch(A, B, C)
    wanted: list[int] = []

    async def batches() -> AsyncIterator[Sequence[int]]:
        for page_id in ids:
            yield [page_id]
            wanted.append(sum(task.order.request_id is not None for task in await desk.due(at=NOW)))

    request = await desk.store.request_check(batches(), NOW)

    assert wanted == [1, 2, 3]
    assert await desk.store.request_progress(request) == (0, 3)


async def test_batches_that_end_early_leave_nothing_wanted(desk: Desk) -> None:
    ids = await desk.watch(A, B)

    async def batches() -> AsyncIterator[Sequence[int]]:
        yield ids[:1]
        raise StoreError("the rest cannot be read")

    with pytest.raises(StoreError, match="the rest"):
        await desk.store.request_check(batches(), NOW)

    assert await desk.due(at=NOW) == []


async def test_pages_that_are_added_with_a_request_are_never_there_without_it(desk: Desk) -> None:
    urls = [f"https://one.example/{number}" for number in range(3000)]
    await desk.watch(urls[7])
    request = await desk.store.open_request(desk.now)
    seen: list[int] = []

    def look(_: int) -> None:
        ((pages, without),) = desk.behind.look("select count(*), count(*) - count(request_id) from pages")
        seen.append(pages)
        # The one that was there before.
        assert without == 1

    ids = await desk.store.add_pages([new_page(url) for url in urls], desk.now, request=request, on_step=look)

    assert ids.count(None) == 1
    assert len(seen) > 1
    assert await desk.store.request_progress(request) == (0, 2999)


async def test_a_request_can_be_asked_for_more(desk: Desk) -> None:
    (first, second) = await desk.watch(A, B)
    request = await desk.store.request_check([first], desk.now)

    assert await desk.store.request_check([second], desk.now, request=request) == request

    assert await desk.store.request_progress(request) == (0, 2)
