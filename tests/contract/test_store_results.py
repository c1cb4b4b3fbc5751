"""Results of checks: states, verdicts, validators, and what becomes of pages that were removed meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.contract.desk import DAY, HOUR, MINUTE, NOW, A, B, C, alert, attempt, fields
from tocsin.events import DISALLOWED
from tocsin.model import CheckReport, NewState, Validators

if TYPE_CHECKING:
    from tests.contract.desk import Desk


async def test_T20_a_first_check_stores_a_state(desk: Desk) -> None:
    await desk.watch(A)

    await desk.check(A, "2026")

    state = (await desk.task(A)).state
    assert state is not None
    assert (state.fields, state.first_at, state.last_at, state.storings) == (fields("2026"), NOW, NOW, 1)


async def test_T22_an_equal_state_is_the_same_run_stored_once_more(desk: Desk) -> None:
    await desk.watch(A)
    await desk.check(A, "2026")
    desk.now += DAY

    await desk.check(A, "2026")

    (entry,) = await desk.store.history(A, limit=9)
    assert (entry.first_at, entry.last_at, entry.storings) == (NOW, NOW + DAY, 2)


async def test_T41_a_change_closes_the_run_and_keeps_both_states(desk: Desk) -> None:
    await desk.watch(A)
    for major in ("2026-01", "2026-01", "2026-02"):
        await desk.check(A, major)
        desk.now += DAY

    latest, before = await desk.store.history(A, limit=9)

    assert (before.fields, before.first_at, before.last_at, before.storings) == (fields("2026-01"), NOW, NOW + DAY, 2)
    assert (latest.fields, latest.first_at, latest.storings) == (fields("2026-02"), NOW + 2 * DAY, 1)
    assert [verdict.outcome for verdict in latest.verdicts] == ["major"]


async def test_time_never_goes_back_for_one_page(desk: Desk) -> None:
    await desk.watch(A)
    for major in ("1", "1", "2"):
        await desk.check(A, major)
        desk.now -= HOUR

    latest, before = await desk.store.history(A, limit=9)

    assert before.last_at == NOW
    assert latest.first_at == NOW


async def test_validators_are_replaced_only_with_the_state(desk: Desk) -> None:
    await desk.watch(A)
    await desk.check(A, "1")
    await desk.fail(A)
    assert (await desk.task(A)).validators == Validators('"1"', None, A)

    await desk.check(A, "1", state=NewState(NOW, fields("1"), equal=True, validators=None, body_digest=None))

    assert (await desk.task(A)).validators is None


async def test_what_a_visit_needs_comes_back_as_it_was_written(desk: Desk) -> None:
    await desk.watch(A, text="For Anna", settings={"every": "1h"}, secrets=("user", "password"), group="news")
    await desk.check(A, "1", conditional_run=7, not_html=True)

    task = await desk.task(A)

    assert (task.text, task.settings, task.secrets, task.group) == (
        "For Anna",
        {"every": "1h"},
        ("user", "password"),
        "news",
    )
    assert (task.conditional_run, task.not_html, task.disallowed, task.body_digest) == (7, True, False, "digest 1")
    assert (task.last_set_at, task.last_checked_at) == (NOW, NOW)


async def test_tries_spent_are_held_until_the_check_goes_on(desk: Desk) -> None:
    await desk.watch(A)
    await desk.check(A, held_attempts=(attempt(),), state=None, set_at=None, report=CheckReport(A, "deferred"))
    assert (await desk.task(A)).attempts == (attempt(),)

    await desk.check(A)

    assert (await desk.task(A)).attempts == ()


async def test_a_check_without_a_set_keeps_the_time_of_the_last_one(desk: Desk) -> None:
    await desk.watch(A)
    await desk.check(A)
    desk.now += DAY

    await desk.fail(A)

    task = await desk.task(A)
    assert (task.last_set_at, task.last_checked_at) == (NOW, NOW + DAY)


async def test_a_page_removed_meanwhile_is_left_out_silently(desk: Desk) -> None:
    removed, _ = await desk.watch(A, B)
    tasks = await desk.due()
    await desk.store.remove_pages([removed])

    await desk.store.commit(desk.claim, [desk.result(task, "1", alerts=(alert(task.url, 1),)) for task in tasks])

    assert await desk.store.page(A) is None
    assert (await desk.page(B)).fields == fields("1")
    assert len(await desk.alerts()) == 1


async def test_a_result_that_was_compared_with_another_storing_is_not_written(desk: Desk) -> None:
    await desk.watch(A)
    await desk.check(A, "1")
    late = desk.result(await desk.task(A), "2", based_on=NOW)
    desk.now += MINUTE
    await desk.check(A, "2")

    await desk.store.commit(desk.claim, [late])

    assert len((await desk.store.history(A, limit=9))[0].verdicts) == 1


async def test_a_failure_is_written_whatever_was_stored_meanwhile(desk: Desk) -> None:
    await desk.watch(A)
    await desk.check(A, "1")

    await desk.fail(A, based_on=NOW - HOUR)

    assert (await desk.page(A)).question_id is not None


async def test_the_page_of_a_result_that_was_not_written_stays_due(desk: Desk) -> None:
    (page_id,) = await desk.watch(A)
    await desk.check(A, "1")
    await desk.store.request_check([page_id], NOW)
    late = desk.result(await desk.task(A), "2", based_on=NOW - HOUR)

    assert await desk.store.commit(desk.claim, [late]) == {late.host_id: 0}


async def test_alerts_of_a_check_are_published_in_the_order_of_results(desk: Desk) -> None:
    await desk.watch(A, B, C)
    tasks = await desk.due()

    await desk.store.commit(
        desk.claim,
        [desk.result(task, alerts=(alert(f"alert {task.url}", task.page_id, DISALLOWED),)) for task in tasks],
    )

    assert await desk.alerts() == [f"alert {task.url}" for task in tasks]


async def test_a_verdict_without_awareness_waits_for_no_rendering(desk: Desk) -> None:
    await desk.watch(A)
    await desk.check(A, "1")

    await desk.check(A, "2", awareness=False)

    assert await desk.store.count_waiting() == 0
    assert (await desk.page(A)).last_changed_at == NOW


async def test_a_hosts_gate_outlives_the_process_and_never_moves_back(desk: Desk) -> None:
    await desk.watch(A)
    await desk.fail(A, host_gate_at=NOW + HOUR)

    await desk.fail(A, host_gate_at=NOW + MINUTE)

    assert await desk.store.host_gates(NOW) == {"one.example": NOW + HOUR}
    assert await desk.store.host_gates(NOW + HOUR) == {}


async def test_robots_are_kept_by_origin_for_watched_hosts_only(desk: Desk) -> None:
    await desk.watch(A)
    await desk.store.save_robots("https://one.example", "first")
    await desk.store.save_robots("https://one.example:8443", "second")
    await desk.store.save_robots("https://unknown.example", "third")

    assert await desk.store.load_robots("https://one.example") == "first"
    assert await desk.store.load_robots("https://one.example:8443") == "second"
    assert await desk.store.load_robots("http://one.example") is None
    assert await desk.store.load_robots("https://unknown.example") is None


async def test_robots_of_an_address_in_brackets_are_found(desk: Desk) -> None:
    await desk.watch("http://[2001:db8::1]:8080/")

    await desk.store.save_robots("http://[2001:db8::1]:8080", "kept")

    assert await desk.store.load_robots("http://[2001:db8::1]:8080") == "kept"


async def test_robots_of_one_host_are_bounded(desk: Desk) -> None:
    await desk.watch(A)
    for port in range(1, 40):
        await desk.store.save_robots(f"https://one.example:{port}", "kept")

    assert await desk.store.load_robots("https://one.example:1") is None
    assert await desk.store.load_robots("https://one.example:39") == "kept"
