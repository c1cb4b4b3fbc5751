"""Many results at once: what one page has become meanwhile changes nothing for the others of its batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec import structs

from tests.contract.desk import DAY, NOW, A, B, C, fields
from tocsin.errors import StaleClaim
from tocsin.model import NewState, Validators

if TYPE_CHECKING:
    from tests.contract.desk import Desk


async def checked(desk: Desk, *urls: str) -> None:
    """Watch pages and store a first state of each, at `NOW`; a day goes by."""
    await desk.watch(*urls)
    for url in urls:
        await desk.check(url, "2026")
    desk.now += DAY


async def test_unchanged_pages_are_written_in_one_batch_with_changed_and_failed_ones(desk: Desk) -> None:
    await checked(desk, A, B, C)
    a, b, c = [await desk.task(url) for url in (A, B, C)]

    due = await desk.store.commit(desk.claim, [desk.result(a, "2026"), desk.result(b, "2027"), desk.failed(c)])

    same, changed, failed = [await desk.page(url) for url in (A, B, C)]
    assert (same.stored_at, same.last_changed_at, same.next_at) == (desk.now, None, desk.now + DAY)
    assert (changed.fields, changed.last_changed_at) == (fields("2027"), desk.now)
    assert failed.question_id is not None
    assert due == {a.host_id: desk.now + DAY, c.host_id: desk.now + DAY}


async def test_T22_an_unchanged_page_is_stored_once_more_and_keeps_its_first_storing(desk: Desk) -> None:
    await checked(desk, A)

    await desk.check(A, "2026")

    state = (await desk.task(A)).state
    assert state is not None
    assert (state.first_at, state.last_at, state.storings) == (NOW, desk.now, 2)


async def test_an_unchanged_page_gets_the_validators_of_its_latest_answer(desk: Desk) -> None:
    await checked(desk, A)
    task = await desk.task(A)
    validators = Validators('"new"', "yesterday", "https://one.example/hop")
    state = NewState(
        desk.now, fields("2026"), equal=True, validators=validators, body_digest="2abc:" + "0a" * 16, body_bytes=77
    )

    await desk.store.commit(desk.claim, [structs.replace(desk.result(task, "2026"), state=state)])

    after = await desk.task(A)
    assert (after.validators, after.body_digest, after.body_bytes) == (validators, "2abc:" + "0a" * 16, 77)


async def test_a_304_leaves_what_is_known_of_the_answer_before(desk: Desk) -> None:
    await checked(desk, A)
    before = await desk.task(A)
    result = desk.result(before, "2026")
    report = structs.replace(result.report, not_modified=True, status=304, saved_bytes=500)
    state = NewState(desk.now, fields("2026"), equal=True, validators=before.validators, body_digest=before.body_digest)

    await desk.store.commit(desk.claim, [structs.replace(result, report=report, state=state)])

    after, row = await desk.task(A), await desk.page(A)
    assert (after.validators, after.body_digest, after.body_bytes) == (
        before.validators, before.body_digest, before.body_bytes
    )  # fmt: skip
    assert (after.state and after.state.storings, row.saved_bytes) == (2, 500)


async def test_a_page_removed_meanwhile_is_left_out_and_the_others_are_written(desk: Desk) -> None:
    await checked(desk, A, B)
    results = [desk.result(await desk.task(url), "2026") for url in (A, B)]
    await desk.store.remove_pages([results[0].page_id])

    due = await desk.store.commit(desk.claim, results)

    assert await desk.store.page(A) is None
    assert (await desk.page(B)).stored_at == desk.now
    assert due == {results[1].host_id: desk.now + DAY}


async def test_a_page_stored_anew_meanwhile_is_left_out_and_the_others_are_written(desk: Desk) -> None:
    await checked(desk, A, B)
    results = [desk.result(await desk.task(url), "2026") for url in (A, B)]
    await desk.check(A, "2027")
    stored_at = (await desk.page(A)).stored_at

    await desk.store.commit(desk.claim, results)

    (entry, _) = await desk.store.history(A, limit=9)
    assert (entry.fields, entry.storings, (await desk.page(A)).stored_at) == (fields("2027"), 1, stored_at)
    (other,) = await desk.store.history(B, limit=9)
    assert other.storings == 2


async def test_two_unchanged_results_of_one_page_count_once(desk: Desk) -> None:
    await checked(desk, A)
    result = desk.result(await desk.task(A), "2026")
    later = structs.replace(desk.result(await desk.task(A), "2026"), checked_at=desk.now + 1)
    later = structs.replace(
        later, state=NewState(desk.now + 1, fields("2026"), equal=True, validators=None, body_digest=None)
    )

    await desk.store.commit(desk.claim, [result, later])

    (entry,) = await desk.store.history(A, limit=9)
    assert (entry.storings, entry.last_at) == (2, desk.now)


async def test_of_results_of_one_page_each_sees_the_one_before(desk: Desk) -> None:
    await checked(desk, A)
    task = await desk.task(A)
    first = desk.result(task, "2027", awareness=False)
    second = structs.replace(desk.result(task, "2028", awareness=False), based_on=first.checked_at)

    await desk.store.commit(desk.claim, [first, second])

    majors = [entry.fields[10] for entry in await desk.store.history(A, limit=9)]
    assert majors == ["2028", "2027", "2026"]


async def test_nothing_of_a_batch_under_an_old_claim_is_written(desk: Desk) -> None:
    await checked(desk, A, B)
    results = [desk.result(await desk.task(A), "2026"), desk.result(await desk.task(B), "2027")]
    old = desk.claim
    desk.claim = structs.replace(old, epoch=old.epoch - 1)

    with pytest.raises(StaleClaim):
        await desk.store.commit(desk.claim, results)

    assert [(await desk.page(url)).stored_at for url in (A, B)] == [NOW, NOW]


async def test_reports_of_unchanged_pages_reach_the_request_that_wants_them(desk: Desk) -> None:
    await checked(desk, A, B)
    request = await desk.store.request_check(None, desk.now)
    tasks = [await desk.task(url) for url in (A, B)]

    await desk.store.commit(desk.claim, [desk.result(task, "2026") for task in tasks])

    reports = await desk.store.request_reports(request, after=0)
    assert [report.url for _, report in reports] == [A, B]
    assert await desk.store.request_progress(request) == (2, 2)
