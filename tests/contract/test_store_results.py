"""Results of checks, also in batches and of skipped checks: states, verdicts, validators."""

from __future__ import annotations

from datetime import timedelta

from msgspec import structs
from msgspec.structs import replace

from tests.claiming import claim_all
from tests.contract.desk import DAY, HOUR, MINUTE, NOW, A, B, C, Desk, alert, attempt, fields
from tocsin.events import DISALLOWED
from tocsin.model import CheckOutcome, CheckReport, CheckResult, Failure, NewState, PageFilter, Validators


async def test_an_unchanged_page_that_an_edit_moved_meanwhile_is_written_with_its_schedule(desk: Desk) -> None:
    await desk.watch(A, B)
    for url in (A, B):
        await desk.check(url, "1", next_at=NOW + 9 * HOUR)
    desk.now += DAY
    results = [desk.result(await desk.task(url), "1", next_at=desk.now + DAY) for url in (A, B)]
    await desk.edit(1, settings={"every": "1h"})

    await desk.store.commit(desk.claim, results)
    await desk.edit(2, paused=True)

    assert [(await desk.page(url)).due.at for url in (A, B)] == [desk.now + DAY, desk.now + DAY]
    assert [task.url for task in await desk.due()] == [A]


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
    assert (await desk.task(A)).last.validators == Validators('"1"', None, A)

    await desk.check(A, "1", state=NewState(NOW, fields("1"), equal=True, validators=None, body_digest=None))

    assert (await desk.task(A)).last.validators is None


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
    assert (task.last.conditional_run, task.flags.not_html, task.disallowed, task.last.body_digest) == (
        7,
        True,
        False,
        "digest 1",
    )
    assert (task.last.set_at, task.last.checked_at) == (NOW, NOW)


async def test_that_scripts_make_a_page_is_known_to_its_next_check_and_to_the_list(desk: Desk) -> None:
    await desk.watch(A, B)
    found = []
    for is_shell in (True, False):
        await desk.check(A, "1", is_shell=is_shell)
        row = await desk.store.page(A)
        listed = [page.url for page in await desk.store.pages(PageFilter(shells=True))]
        found.append(((await desk.task(A)).flags.is_shell, row is not None and row.flags.is_shell, listed))

    assert found == [(True, True, [A]), (False, False, [])]


async def test_how_often_in_a_row_it_was_a_shell_is_known_to_the_next_check(desk: Desk) -> None:
    await desk.watch(A)
    found = []
    for shells in (1, 2, 3, 0):
        await desk.check(A, "1", is_shell=shells > 0, shells=shells)
        found.append((await desk.task(A)).flags.shells)

    assert found == [1, 2, 3, 0]


async def test_tries_spent_are_held_until_the_check_goes_on(desk: Desk) -> None:
    await desk.watch(A)
    await desk.check(A, held_attempts=(attempt(),), state=None, set_at=None, report=CheckReport(A, "deferred"))
    assert (await desk.task(A)).order.attempts == (attempt(),)

    await desk.check(A)

    assert (await desk.task(A)).order.attempts == ()


async def test_a_check_without_a_set_keeps_the_time_of_the_last_one(desk: Desk) -> None:
    await desk.watch(A)
    await desk.check(A)
    desk.now += DAY

    await desk.fail(A)

    task = await desk.task(A)
    assert (task.last.set_at, task.last.checked_at) == (NOW, NOW + DAY)


async def test_a_page_removed_meanwhile_is_left_out_silently(desk: Desk) -> None:
    removed, _ = await desk.watch(A, B)
    tasks = await desk.due()
    await desk.store.remove_pages([removed])

    await desk.store.commit(desk.claim, [desk.result(task, "1", alerts=(alert(task.url, 1),)) for task in tasks])

    assert await desk.store.page(A) is None
    assert (await desk.page(B)).state.fields == fields("1")
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

    assert (await desk.store.commit(desk.claim, [late])).due == {late.host_id: 0}


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
    assert (await desk.page(A)).last.changed_at == NOW


async def test_a_hosts_gate_outlives_the_process_and_never_moves_back(desk: Desk) -> None:
    await desk.watch(A)
    await desk.fail(A, host_gate_at=NOW + HOUR)

    await desk.fail(A, host_gate_at=NOW + MINUTE)

    assert await desk.store.host_gates(NOW) == {"one.example": NOW + HOUR}
    assert await desk.store.host_gates(NOW + HOUR) == {}


async def test_a_pause_that_a_host_asked_for_is_kept_at_once_and_never_shortened(desk: Desk) -> None:
    await desk.watch(A)
    await desk.store.hold_hosts({"one.example": NOW + HOUR, "www.one.example": NOW + MINUTE})

    await desk.store.hold_hosts({"one.example": NOW + MINUTE, "www.one.example": NOW + HOUR})

    assert await desk.store.host_gates(NOW) == {"one.example": NOW + HOUR, "www.one.example": NOW + HOUR}


async def test_T64_a_host_that_is_only_redirected_to_is_forgotten_after_its_pause(desk: Desk) -> None:
    await desk.store.hold_hosts({"www.one.example": NOW + HOUR})

    early = await desk.store.forget(NOW + HOUR - 1, history=timedelta(days=365), limit=100)
    late = await desk.store.forget(NOW + HOUR, history=timedelta(days=365), limit=100)

    assert (early["hosts"], late["hosts"]) == (0, 1)


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


async def skip(desk: Desk, problem: str = "received less than 10s ago (min_gap)") -> CheckResult:
    """Commit a check that made no request."""
    report = CheckReport(A, CheckOutcome.SKIPPED, problem=problem)
    found = desk.failed(await desk.task(A), report=report, failure=None, next_at=desk.now + HOUR)
    await desk.store.commit(desk.claim, [found])
    return found


async def test_T21_a_skipped_check_leaves_what_the_last_real_one_found(desk: Desk) -> None:
    await desk.watch(A)
    error = ("status", "answered 410")
    failed = CheckReport(A, "unreachable", status=410, error=error)
    failure = Failure("status 410", (attempt(NOW),), "check")
    await desk.store.commit(desk.claim, [desk.failed(await desk.task(A), report=failed, failure=failure)])
    before = await desk.page(A)
    desk.now += MINUTE

    await skip(desk)

    after = await desk.page(A)
    assert before.last.report is not None
    assert (before.last.report["outcome"], before.last.report["error"]) == ("unreachable", list(error))
    assert after == replace(before, due=replace(before.due, at=desk.now + HOUR))


async def test_of_a_page_that_never_had_a_real_check_the_skipped_one_is_told_until_it_has(desk: Desk) -> None:
    await desk.watch(A)
    await skip(desk, "off")
    told = await desk.page(A)
    desk.now += MINUTE

    await desk.check(A, "2026")

    checked = await desk.page(A)
    assert told.last.report is not None
    assert checked.last.report is not None
    assert (told.last.checked_at, told.last.report["outcome"], told.last.report["problem"]) == (NOW, "skipped", "off")
    assert (checked.last.checked_at, checked.last.report["outcome"]) == (desk.now, "first")


async def checked(desk: Desk, *urls: str) -> None:
    """Watch pages and store a first state of each, at `NOW`; a day goes by."""
    await desk.watch(*urls)
    for url in urls:
        await desk.check(url, "2026")
    desk.now += DAY


async def test_unchanged_pages_are_written_in_one_batch_with_changed_and_failed_ones(desk: Desk) -> None:
    await checked(desk, A, B, C)
    a, b, c = [await desk.task(url) for url in (A, B, C)]

    due, _ = await desk.store.commit(desk.claim, [desk.result(a, "2026"), desk.result(b, "2027"), desk.failed(c)])

    same, changed, failed = [await desk.page(url) for url in (A, B, C)]
    assert (same.state.stored_at, same.last.changed_at, same.due.at) == (desk.now, None, desk.now + DAY)
    assert (changed.state.fields, changed.last.changed_at) == (fields("2027"), desk.now)
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
    assert (after.last.validators, after.last.body_digest, after.last.body_bytes) == (
        validators,
        "2abc:" + "0a" * 16,
        77,
    )


async def test_a_304_leaves_what_is_known_of_the_answer_before(desk: Desk) -> None:
    await checked(desk, A)
    before = await desk.task(A)
    result = desk.result(before, "2026")
    report = structs.replace(result.report, not_modified=True, status=304, saved_bytes=500)
    state = NewState(
        desk.now, fields("2026"), equal=True, validators=before.last.validators, body_digest=before.last.body_digest
    )

    await desk.store.commit(desk.claim, [structs.replace(result, report=report, state=state)])

    after, row = await desk.task(A), await desk.page(A)
    assert (after.last.validators, after.last.body_digest, after.last.body_bytes) == (
        before.last.validators, before.last.body_digest, before.last.body_bytes
    )  # fmt: skip
    assert (after.state and after.state.storings, row.saved_bytes) == (2, 500)


async def test_a_page_removed_meanwhile_is_left_out_and_the_others_are_written(desk: Desk) -> None:
    await checked(desk, A, B)
    results = [desk.result(await desk.task(url), "2026") for url in (A, B)]
    await desk.store.remove_pages([results[0].page_id])

    due, _ = await desk.store.commit(desk.claim, results)

    assert await desk.store.page(A) is None
    assert (await desk.page(B)).state.stored_at == desk.now
    assert due == {results[1].host_id: desk.now + DAY}


async def test_a_page_stored_anew_meanwhile_is_left_out_and_the_others_are_written(desk: Desk) -> None:
    await checked(desk, A, B)
    results = [desk.result(await desk.task(url), "2026") for url in (A, B)]
    await desk.check(A, "2027")
    stored_at = (await desk.page(A)).state.stored_at

    await desk.store.commit(desk.claim, results)

    (entry, _) = await desk.store.history(A, limit=9)
    assert (entry.fields, entry.storings, (await desk.page(A)).state.stored_at) == (fields("2027"), 1, stored_at)
    (other,) = await desk.store.history(B, limit=9)
    assert other.storings == 2


async def test_where_one_of_several_unchanged_pages_was_moved_each_is_stored_once_more(desk: Desk) -> None:
    first, _ = await desk.watch(A, B)
    for url in (A, B):
        await desk.check(url, "1")
    # Time does not go back for a page, so that its storing is as its check knew it also afterwards.
    desk.now -= HOUR
    results = [desk.result(task, "1") for task in await desk.due(at=desk.now + 9 * DAY)]
    await desk.edit(first, settings={"every": "1h"})

    await desk.store.commit(desk.claim, results)

    assert desk.behind.look("select storings from pages") == [(2,), (2,)]


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
    await claim_all(desk.store)

    committed = await desk.store.commit(desk.claim, results)

    assert committed == ({}, 2)
    assert [(await desk.page(url)).state.stored_at for url in (A, B)] == [NOW, NOW]


async def test_reports_of_unchanged_pages_reach_the_request_that_wants_them(desk: Desk) -> None:
    await checked(desk, A, B)
    request = await desk.store.request_check(None, desk.now)
    tasks = [await desk.task(url) for url in (A, B)]

    await desk.store.commit(desk.claim, [desk.result(task, "2026") for task in tasks])

    reports = await desk.store.request_reports(request, after=0)
    assert [report.url for _, report in reports] == [A, B]
    assert await desk.store.request_progress(request) == (2, 2)
