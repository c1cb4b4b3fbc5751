"""What the user says to a question, and the rules that stay (T60)."""

from __future__ import annotations

import pytest

from tests.contract.desk import DAY, HOUR, MINUTE, NOW, A, B, C, Desk, alert, attempt
from tocsin.errors import NotWatched, UsageError
from tocsin.model import Instruction

NEVER = Instruction("never")
UNTIL_MAJOR = Instruction("until-major")


async def answer(
    desk: Desk, instruction: Instruction, question: int = 1, *, scope: str = "host-cause", url: str | None = None
) -> int:
    """Answer a question."""
    return await desk.store.answer(question, instruction, scope=scope, url=url, now=desk.now)


async def ask(desk: Desk, *urls: str, cause: str = "connect") -> None:
    """Watch pages that fail."""
    await desk.watch(*urls)
    for url in urls:
        await desk.fail(url, cause)


async def test_again_at_once_makes_the_pages_due_and_goes_with_them(desk: Desk) -> None:
    await ask(desk, A, B)
    again = Instruction("again", times=3, new_connections=True)

    assert await answer(desk, again) == 2

    tasks = await desk.due(at=NOW)
    assert [(task.url, task.order.instruction, task.order.question_id) for task in tasks] == [
        (A, again, 1),
        (B, again, 1),
    ]
    (question,) = await desk.store.questions()
    assert question.instruction == again


async def test_a_page_received_after_again_ends_its_question_and_that_is_told(desk: Desk) -> None:
    await ask(desk, A)
    desk.now += MINUTE
    await desk.announce()
    await answer(desk, Instruction("again"))
    page = await desk.page(A)

    await desk.check(A, received=True, recovery=alert("01RECOVERED", page.id, "recovered"), rule_spent=True)

    assert await desk.store.questions() == []
    assert (await desk.alerts())[-1] == "1RECOVERED"


async def test_a_time_that_no_calendar_has_is_refused(desk: Desk) -> None:
    await ask(desk, A)

    with pytest.raises(UsageError, match="beyond the year 9999; set an earlier one"):
        await answer(desk, Instruction("again", at=253_402_300_800_000_000))

    assert await answer(desk, Instruction("again", at=253_402_300_799_999_999)) == 1


async def test_again_at_a_time_waits_for_it(desk: Desk) -> None:
    await ask(desk, A)

    await answer(desk, Instruction("again", at=NOW + HOUR))

    page = await desk.page(A)
    assert (page.due.at, page.due.why) == (NOW + HOUR, "held: tried again at the time of the answer")


async def test_again_is_used_up_and_a_failure_after_it_is_a_new_question(desk: Desk) -> None:
    await ask(desk, A)
    await answer(desk, Instruction("again"))

    await desk.fail(A, rule_spent=True)

    assert [question.id for question in await desk.store.questions()] == [2]
    assert (await desk.task(A)).order.instruction is None


async def test_T60_again_that_is_said_during_a_check_outlives_its_failure(desk: Desk) -> None:
    await ask(desk, A)
    under_way = desk.failed(await desk.task(A), next_at=NOW + DAY)
    again = Instruction("again", at=NOW + HOUR)
    await answer(desk, again)

    await desk.store.commit(desk.claim, [under_way])

    page = await desk.page(A)
    assert (page.due.at, page.question_id) == (NOW + HOUR, 1)
    assert (await desk.task(A)).order.instruction == again


async def test_T60_again_that_is_said_during_the_try_before_it_is_not_used_up_with_that_one(desk: Desk) -> None:
    await ask(desk, A)
    await answer(desk, Instruction("again"))
    under_way = desk.failed(await desk.task(A), rule_spent=True, held_attempts=(attempt(),))
    again = Instruction("again", times=5, at=NOW + HOUR)
    await answer(desk, again)

    await desk.store.commit(desk.claim, [under_way])

    task = await desk.task(A)
    assert (task.order.instruction, task.order.attempts) == (again, ())
    assert (await desk.page(A)).due.at == NOW + HOUR


async def test_T60_a_page_that_is_received_before_it_was_to_be_tried_again_needs_no_more_tries(desk: Desk) -> None:
    await ask(desk, A)
    under_way = desk.result(await desk.task(A))
    await answer(desk, Instruction("again", at=NOW + HOUR))

    await desk.store.commit(desk.claim, [under_way])

    assert (await desk.page(A)).due.at == NOW + DAY
    assert (await desk.task(A)).order.instruction is None
    assert await desk.store.questions() == []


async def test_T60_until_major_that_is_said_during_a_try_is_not_used_up_with_it(desk: Desk) -> None:
    await ask(desk, A)
    await answer(desk, Instruction("again"))
    under_way = desk.result(await desk.task(A), rule_spent=True)
    await answer(desk, UNTIL_MAJOR, scope="page")

    await desk.store.commit(desk.claim, [under_way])

    assert (await desk.task(A)).order.instruction == UNTIL_MAJOR
    assert len(await desk.store.standing_answers()) == 1


async def test_later_keeps_the_question_open_and_silent(desk: Desk) -> None:
    await ask(desk, A)

    await answer(desk, Instruction("again", later=True))

    (question,) = await desk.store.questions()
    assert question.instruction == Instruction("again", later=True)
    assert (await desk.page(A)).due.at == NOW + DAY


async def test_T60_later_for_one_page_never_silences_the_others(desk: Desk) -> None:
    await ask(desk, A, B)
    later = Instruction("again", later=True)

    with pytest.raises(UsageError, match="would silence all of them"):
        await answer(desk, later, url=A)

    desk.now += MINUTE
    assert await desk.announce() == [1]


async def test_T60_later_for_the_only_page_is_for_its_question(desk: Desk) -> None:
    await ask(desk, A)
    later = Instruction("again", later=True)

    await answer(desk, later, url=A)

    (question,) = await desk.store.questions()
    assert question.instruction == later


async def test_one_page_of_a_question_can_be_answered_alone(desk: Desk) -> None:
    await ask(desk, A, B)

    assert await answer(desk, Instruction("again"), url=A) == 1

    (question,) = await desk.store.questions()
    assert (question.pages, question.times.answered_at) == (2, None)
    assert (await desk.task(B)).order.instruction is None


async def test_never_ends_all_checks_until_the_rule_is_lifted(desk: Desk) -> None:
    await ask(desk, A)
    await answer(desk, NEVER)
    page = await desk.page(A)
    assert (page.due.at, page.due.why) == (None, "never (standing answer 1)")

    assert await desk.store.lift_standing_answer(1, NOW + DAY) == 1

    assert (await desk.page(A)).due.at == pytest.approx(NOW + DAY, abs=MINUTE)
    assert await desk.store.standing_answers() == []


async def test_never_holds_against_a_check_that_was_under_way(desk: Desk) -> None:
    await ask(desk, A)
    under_way = desk.result(await desk.task(A))
    await answer(desk, NEVER)

    await desk.store.commit(desk.claim, [under_way])

    page = await desk.page(A)
    assert (page.due.at, page.due.why) == (None, "never (standing answer 1)")


async def test_a_rule_of_host_and_cause_speaks_for_pages_that_fail_later(desk: Desk) -> None:
    await ask(desk, A)
    await answer(desk, NEVER)
    await desk.watch(B)

    await desk.fail(B)

    assert (await desk.page(B)).due.at is None
    assert await desk.store.questions() == []


async def test_a_rule_of_host_and_cause_says_nothing_of_other_causes(desk: Desk) -> None:
    await ask(desk, A)
    await answer(desk, NEVER)
    await desk.watch(B)

    await desk.fail(B, "tls")

    assert [question.cause for question in await desk.store.questions()] == ["tls"]


async def test_until_major_goes_with_each_check_until_it_has_met_its_change(desk: Desk) -> None:
    await ask(desk, A)
    await answer(desk, UNTIL_MAJOR, scope="page")
    assert (await desk.task(A)).order.instruction == UNTIL_MAJOR
    await desk.fail(A)
    assert await desk.store.questions() == []

    await desk.check(A, "2026", rule_spent=True)

    assert (await desk.task(A)).order.instruction is None
    assert await desk.store.standing_answers() == []


async def test_until_major_of_a_host_stays_for_its_other_pages(desk: Desk) -> None:
    await ask(desk, A, B)
    await answer(desk, UNTIL_MAJOR)

    await desk.check(A, rule_spent=True)

    assert len(await desk.store.standing_answers()) == 1
    assert (await desk.task(B)).order.instruction == UNTIL_MAJOR


async def test_the_nearest_rule_wins(desk: Desk) -> None:
    await ask(desk, A)
    await answer(desk, UNTIL_MAJOR, scope="host-cause")
    await ask(desk, C)
    await answer(desk, NEVER, 2, scope="cause")
    await desk.watch(B)

    await desk.fail(B)

    assert (await desk.task(B)).order.instruction == UNTIL_MAJOR
    assert (await desk.page(C)).due.at is None


async def test_a_rule_of_a_host_answers_all_its_open_questions(desk: Desk) -> None:
    await ask(desk, A)
    await ask(desk, B, cause="tls")
    await ask(desk, C)

    assert await answer(desk, NEVER, scope="host") == 2

    assert [question.host for question in await desk.store.questions()] == ["two.example"]


async def test_a_rule_of_a_cause_answers_its_questions_on_all_hosts(desk: Desk) -> None:
    await ask(desk, A)
    await ask(desk, B, cause="tls")
    await ask(desk, C)

    assert await answer(desk, NEVER, scope="cause") == 2

    assert [question.cause for question in await desk.store.questions()] == ["tls"]


async def test_a_rule_takes_the_place_of_one_about_the_same(desk: Desk) -> None:
    await ask(desk, A)
    await answer(desk, UNTIL_MAJOR)
    await desk.watch(B)
    await desk.fail(B, "tls")
    await desk.store.lift_standing_answer(1, NOW)
    await desk.fail(A)
    await answer(desk, UNTIL_MAJOR, 3)

    (rule,) = await desk.store.standing_answers()

    assert (rule.scope, rule.host, rule.cause, rule.instruction) == (
        "host-cause",
        "one.example",
        "connect",
        UNTIL_MAJOR,
    )


async def test_a_rule_forgives_what_is_owed(desk: Desk) -> None:
    await desk.watch(A)
    await desk.check(A, "1")
    await desk.check(A, "2")
    await desk.store.commit_renderings(desk.claim, [desk.unrendered(await desk.job(A))])

    await answer(desk, UNTIL_MAJOR)

    assert not (await desk.task(A)).owed


async def test_a_rendering_that_fails_under_a_rule_is_not_owed(desk: Desk) -> None:
    await ask(desk, A, cause="timeout")
    await answer(desk, UNTIL_MAJOR)
    await desk.watch(B)
    await desk.check(B, "1")
    await desk.check(B, "2")

    await desk.store.commit_renderings(desk.claim, [desk.unrendered(await desk.job(B))])

    task = await desk.task(B)
    assert (task.owed, task.order.instruction) == (False, UNTIL_MAJOR)
    assert await desk.store.questions() == []


async def test_what_was_forgiven_while_a_check_was_under_way_is_not_rendered(desk: Desk) -> None:
    await desk.watch(A)
    await desk.check(A, "1")
    await desk.check(A, "2")
    await desk.store.commit_renderings(desk.claim, [desk.unrendered(await desk.job(A))])
    under_way = desk.result(await desk.task(A), "2")
    await answer(desk, UNTIL_MAJOR)

    await desk.store.commit(desk.claim, [under_way])

    assert under_way.render_owed
    assert await desk.store.count_waiting() == 0


async def test_drop_takes_the_pages_off_the_list(desk: Desk) -> None:
    await ask(desk, A, B)

    assert await answer(desk, Instruction("drop")) == 2

    assert await desk.store.page(A) is None
    (question,) = await desk.store.questions(closed=True)
    assert question.instruction == Instruction("drop")
    assert question.times.closed_at is not None


async def test_a_copy_is_of_one_page(desk: Desk) -> None:
    await ask(desk, A, B)
    copy = Instruction("copy", copy_url="https://archive.example/a")

    with pytest.raises(UsageError, match="2 pages"):
        await answer(desk, copy)
    await answer(desk, copy, url=A)

    assert await desk.store.count_waiting() == 1
    assert (await desk.page(A)).question_id is None


async def test_a_question_that_is_not_there_or_over_cannot_be_answered(desk: Desk) -> None:
    await ask(desk, A)
    await answer(desk, NEVER)

    with pytest.raises(UsageError, match="question 1: it has ended"):
        await answer(desk, NEVER)
    with pytest.raises(UsageError, match="question 9: no such question"):
        await answer(desk, NEVER, 9)


async def test_a_page_that_is_not_in_the_question_cannot_be_answered_for(desk: Desk) -> None:
    await ask(desk, A)

    with pytest.raises(NotWatched, match="not among the pages of question 1"):
        await answer(desk, NEVER, url=B)


async def test_a_rule_that_is_not_there_cannot_be_lifted(desk: Desk) -> None:
    with pytest.raises(UsageError, match="standing answer 5: no such answer"):
        await desk.store.lift_standing_answer(5, NOW)


async def test_an_answer_is_an_edit_that_the_engine_notices(desk: Desk) -> None:
    await ask(desk, A)
    revision = await desk.store.foreign_revision()

    await answer(desk, Instruction("again"))

    assert list((await desk.agenda(since=revision)).values()) == [NOW]
