"""Questions: failures of one host and cause, asked about together (T60)."""

from __future__ import annotations

import pytest

from tests.contract.desk import DAY, HOUR, MINUTE, NOW, SECOND, A, B, C, Desk, alert, failure
from tocsin.model import CheckOutcome, CheckReport, Instruction
from tocsin.spec.html.urls import watch_url


async def test_T60_failures_of_one_host_and_cause_are_one_question(desk: Desk) -> None:
    await desk.watch(A, B, C)
    for url in (A, B, C):
        await desk.fail(url)

    one, two = await desk.store.questions()

    assert (one.host, one.cause, one.pages, one.sample) == ("one.example", "connect", 2, (A, B))
    assert (two.host, two.pages) == ("two.example", 1)
    assert await desk.store.question_pages(one.id) == [A, B]


async def test_a_question_is_asked_once_its_gathering_has_ended(desk: Desk) -> None:
    await desk.watch(A)
    await desk.fail(A)
    assert await desk.store.questions_to_announce(NOW + 59 * SECOND) == []

    (question,) = await desk.store.questions_to_announce(NOW + 60 * SECOND)

    assert (question.page.url, question.attempts, question.next_occasion) == (A, failure().attempts, NOW + DAY)


async def test_a_question_is_asked_by_the_node_that_checks_its_host(desk: Desk) -> None:
    await desk.watch(A, C)
    await desk.fail(A)
    await desk.fail(C)
    claim = desk.claim
    of_a = claim.only({claim.part_of(watch_url(A).shard)})

    questions = await desk.store.questions_to_announce(NOW + HOUR, of_a)

    # A store of one engine is one part.
    hosts = ["one.example"] if len(claim.epochs) > 1 else ["one.example", "two.example"]
    assert [question.host for question in questions] == hosts


async def test_a_question_is_asked_once(desk: Desk) -> None:
    await desk.watch(A)
    await desk.fail(A)
    desk.now += MINUTE
    (question,) = await desk.announce()

    assert await desk.announce() == []
    assert await desk.alerts() == [f"asked {question}"]


async def test_later_failures_join_silently(desk: Desk) -> None:
    await desk.watch(A, B)
    await desk.fail(A)
    desk.now += MINUTE
    await desk.announce()

    await desk.fail(B)

    (question,) = await desk.store.questions()
    assert question.pages == 2
    assert await desk.announce() == []


async def test_a_page_that_fails_for_another_cause_moves_and_leaves_nothing_behind(desk: Desk) -> None:
    await desk.watch(A)
    await desk.fail(A, "connect")

    await desk.fail(A, "status 404")

    assert [question.cause for question in await desk.store.questions()] == ["status 404"]
    assert [question.times.closed_at for question in await desk.store.questions(closed=True)] == [NOW, None]


async def ask(desk: Desk, *urls: str) -> list[int]:
    """Watch pages that fail, and ask the user; returns their ids."""
    page_ids = await desk.watch(*urls)
    for url in urls:
        await desk.fail(url)
    desk.now += MINUTE
    await desk.announce()
    return page_ids


async def test_T60_each_page_that_is_back_is_told_and_the_last_one_ends_the_question(desk: Desk) -> None:
    first, second = await ask(desk, A, B)

    await desk.check(A)
    await desk.check(B)

    assert await desk.recoveries() == [
        (f"back {first}", {"id": "1", "ended": False}),
        (f"back {second}", {"id": "1", "ended": True}),
    ]
    assert await desk.store.questions() == []


async def test_T60_a_page_that_is_back_is_told_though_the_question_ends_otherwise(desk: Desk) -> None:
    first, _ = await ask(desk, A, B)
    await desk.check(A)

    await desk.fail(B, "status 404")

    assert await desk.recoveries() == [(f"back {first}", {"id": "1", "ended": False})]
    assert [question.cause for question in await desk.store.questions()] == ["status 404"]


async def test_T60_a_page_that_robots_txt_forbids_is_asked_about_no_more(desk: Desk) -> None:
    await ask(desk, A)

    await desk.fail(A, report=CheckReport(A, CheckOutcome.DISALLOWED), failure=None, disallowed=True)

    assert (await desk.page(A)).question_id is None
    assert await desk.store.questions() == []
    assert await desk.recoveries() == []


async def test_T60_a_page_that_was_forbidden_once_and_is_put_off_stays_in_its_question(desk: Desk) -> None:
    await ask(desk, A)

    await desk.fail(A, report=CheckReport(A, CheckOutcome.DEFERRED), failure=None, disallowed=True)

    assert (await desk.page(A)).question_id == 1


async def test_the_end_of_a_question_that_was_never_asked_is_not_reported(desk: Desk) -> None:
    await desk.watch(A)
    await desk.fail(A)

    await desk.check(A)

    assert await desk.alerts() == []
    assert await desk.store.questions() == []


async def test_a_question_that_ended_meanwhile_is_not_announced(desk: Desk) -> None:
    await desk.watch(A)
    await desk.fail(A)
    desk.now += MINUTE
    (question,) = await desk.store.questions_to_announce(desk.now)
    await desk.check(A)

    await desk.store.announce(question.id, alert("late", 1), desk.now)

    assert await desk.alerts() == []


async def test_a_silent_failure_asks_nothing(desk: Desk) -> None:
    await desk.watch(A)

    await desk.fail(A, failure=failure(silent=True))

    assert await desk.store.questions() == []


async def test_removing_its_last_page_ends_a_question(desk: Desk) -> None:
    (page_id,) = await desk.watch(A)
    await desk.fail(A)

    await desk.store.remove_pages([page_id])

    assert await desk.store.questions() == []


async def test_our_own_outage_takes_unannounced_questions_back(desk: Desk) -> None:
    await desk.watch(A, B, C)
    await desk.fail(A, "dns")
    await desk.fail(B, "status 404")
    await desk.fail(C, "connect")

    taken_back = await desk.store.withdraw_questions(desk.claim, ["dns", "connect"], NOW, NOW + HOUR)

    assert taken_back == 2
    assert [question.cause for question in await desk.store.questions()] == ["status 404"]
    assert (await desk.page(A)).due.at == NOW + HOUR
    assert (await desk.page(A)).question_id is None


async def test_our_own_outage_leaves_what_was_asked(desk: Desk) -> None:
    await desk.watch(A)
    await desk.fail(A, "dns")
    desk.now += MINUTE
    await desk.announce()

    assert await desk.store.withdraw_questions(desk.claim, ["dns"], desk.now, desk.now) == 0


async def test_T60_our_own_outage_leaves_what_the_user_has_answered(desk: Desk) -> None:
    await desk.watch(A)
    await desk.fail(A, "dns")
    await desk.store.answer(1, Instruction("again", at=NOW + HOUR), scope="page", url=None, now=NOW)

    assert await desk.store.withdraw_questions(desk.claim, ["dns"], NOW, NOW + MINUTE) == 0

    assert (await desk.page(A)).due.at == NOW + HOUR


async def test_T60_a_page_that_is_back_does_not_stand_for_those_that_are_not(desk: Desk) -> None:
    first, second = await desk.watch(A, B)
    await desk.fail(A)
    await desk.fail(B)
    desk.now += MINUTE
    await desk.check(A)

    (question,) = await desk.store.questions_to_announce(desk.now)

    assert first != second
    assert (question.page.id, question.page.url, question.sample) == (second, B, (B,))


async def test_T60_a_page_that_moved_to_another_question_does_not_stand_for_the_one_it_left(desk: Desk) -> None:
    _, second = await desk.watch(A, B)
    await desk.fail(A)
    await desk.fail(B)
    await desk.fail(A, "status 404")

    left, joined = await desk.store.questions()

    assert (left.page.id, left.page.url) == (second, B)
    assert joined.page.url == A


async def test_a_question_put_off_by_later_is_not_announced_again(desk: Desk) -> None:
    await desk.watch(A, B)
    await desk.fail(A)
    await desk.store.answer(1, Instruction("again", later=True), scope="page", url=None, now=NOW)
    await desk.fail(B)
    desk.now += HOUR

    assert await desk.announce() == []
    (question,) = await desk.store.questions()
    assert (question.pages, question.times.answered_at) == (2, NOW)


@pytest.mark.parametrize("cause", ["dns", "status 404"])
async def test_one_page_of_hundreds_is_in_one_question(desk: Desk, cause: str) -> None:
    await desk.watch(*(f"https://one.example/{number}" for number in range(300)))

    await desk.store.commit(desk.claim, [desk.failed(task, cause) for task in await desk.due(per_host=1000)])

    (question,) = await desk.store.questions()
    assert (question.pages, len(question.sample)) == (300, 3)
