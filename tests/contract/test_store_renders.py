"""The render queue: turns, slots, verdicts that come in between, and pruning."""

from __future__ import annotations

from msgspec import structs

from tests.contract.desk import DAY, HOUR, MINUTE, NOW, A, B, C, Desk, alert, attempt, fields
from tocsin.events import RECOVERED
from tocsin.model import Instruction, NewState, PageFlags, WaitingPage


async def change(desk: Desk, url: str, *majors: str, outcome: str = "major") -> None:
    """Let a page be checked with each of these; each but the first is a change."""
    for major in majors:
        result = desk.result(await desk.task(url), major)
        if result.verdict is not None:
            result = structs.replace(result, verdict=structs.replace(result.verdict, outcome=outcome))
        await desk.store.commit(desk.claim, [result])
        desk.now += MINUTE


async def test_T55_major_comes_first_then_the_oldest_verdict(desk: Desk) -> None:
    await desk.watch(A, B, C)
    await change(desk, A, "1", "2", outcome="minor")
    await change(desk, B, "1", "2")
    await change(desk, C, "1", "2")
    ids = {url: (await desk.page(url)).id for url in (A, B, C)}

    waiting = await desk.store.waiting_renders(limit=9)

    assert [page.page_id for page in waiting] == [ids[B], ids[C], ids[A]]


async def test_T55_the_oldest_is_always_among_those_that_are_shown(desk: Desk) -> None:
    await desk.watch(A, B, C)
    await change(desk, A, "1", "2", outcome="minor")
    await change(desk, B, "1", "2")
    await change(desk, C, "1", "2")

    waiting = await desk.store.waiting_renders(limit=1)

    assert waiting == [WaitingPage((await desk.page(A)).id, major=False, since=NOW + MINUTE)]


async def test_a_job_carries_every_verdict_that_it_is_owed_for(desk: Desk) -> None:
    await desk.watch(A)
    await change(desk, A, "1", "2", outcome="minor")
    await change(desk, A, "3")

    job = await desk.job(A)

    assert (job.major, job.since) == (True, NOW + MINUTE)
    assert [verdict.data for verdict in job.verdicts] == [{"latest": "2"}, {"latest": "3"}]
    assert job.task.url == A


async def test_a_page_is_claimed_once(desk: Desk) -> None:
    (page_id,) = await desk.watch(A)
    await change(desk, A, "1", "2")
    await desk.job(A)

    assert await desk.store.claim_renders(desk.claim, [page_id]) == []
    assert await desk.store.waiting_renders(limit=9) == []
    assert await desk.store.count_waiting() == 0


async def test_T62_a_page_that_is_paused_waits_for_the_end_of_its_pause(desk: Desk) -> None:
    (page_id,) = await desk.watch(A)
    await change(desk, A, "1", "2")
    await desk.edit(page_id, paused=True)

    assert await desk.store.waiting_renders(limit=9) == []
    assert await desk.store.count_waiting() == 0
    assert await desk.store.claim_renders(desk.claim, [page_id]) == []

    await desk.edit(page_id, paused=False)
    assert len((await desk.job(A)).verdicts) == 1


async def test_T55_the_oldest_that_is_shown_is_not_a_paused_one(desk: Desk) -> None:
    first, second = await desk.watch(A, B)
    await change(desk, A, "1", "2", outcome="minor")
    await change(desk, B, "1", "2")
    await desk.edit(first, paused=True)

    assert [page.page_id for page in await desk.store.waiting_renders(limit=1)] == [second]


async def test_T58_a_slot_is_given_up_during_a_pause_and_the_tries_are_kept(desk: Desk) -> None:
    (page_id,) = await desk.watch(A)
    await change(desk, A, "1", "2")
    await desk.job(A)

    await desk.store.release_render(desk.claim, page_id, not_before=NOW + HOUR, attempts=[attempt()])

    assert await desk.store.waiting_renders(limit=9, now=NOW + HOUR - 1) == []
    assert len(await desk.store.waiting_renders(limit=9, now=NOW + HOUR)) == 1
    assert (await desk.job(A)).task.order.attempts == (attempt(),)


async def test_T72_a_rendering_gives_one_alert_for_each_verdict(desk: Desk) -> None:
    await desk.watch(A)
    await change(desk, A, "1", "2", "3")

    job = await desk.render(A)

    assert await desk.alerts() == [f"verdict {verdict.id}" for verdict in job.verdicts]
    assert await desk.store.count_waiting() == 0


async def test_T72_of_renderings_that_are_written_together_each_is_written_whole(desk: Desk) -> None:
    await desk.store.set_channels(["ops"])
    pages = await desk.watch(A, B, C)
    for url in (A, B, C):
        await change(desk, url, "1", "2", "3")
    jobs = [await desk.job(url) for url in (A, B, C)]
    await desk.store.remove_pages(pages[1:2])

    due = await desk.store.commit_renderings(desk.claim, [desk.rendered(job) for job in jobs])

    told = [f"verdict {verdict.id}" for job in (jobs[0], jobs[2]) for verdict in job.verdicts]
    assert await desk.alerts() == told
    assert (await desk.store.channel_state("ops")).waiting == 4
    assert await desk.store.count_waiting() == 0
    assert [row.url async for row in await desk.store.table_rows()] == [A, C]
    assert due == {(await desk.task(url)).host_id: (await desk.task(url)).order.due_at for url in (A, C)}


async def test_T60_pages_that_leave_a_question_together_are_told_when_it_ended(desk: Desk) -> None:
    await desk.watch(A, B)
    jobs = []
    for url in (A, B):
        await change(desk, url, "1", "2")
        await desk.store.commit_renderings(desk.claim, [desk.unrendered(await desk.job(url))])
    for url in (A, B):
        await desk.check(url, "2")
        jobs.append(await desk.job(url))
    back = [alert(f"back {job.task.url[-1]}", job.page_id, RECOVERED) for job in jobs]
    for draft in back:
        draft.event["data"]["question"] = {"id": "1", "ended": True}

    results = [desk.rendered(job, alerts=(draft,)) for job, draft in zip(jobs, back, strict=True)]
    await desk.store.commit_renderings(desk.claim, results)

    told = [("back a", {"id": "1", "ended": False}), ("back b", {"id": "1", "ended": True})]
    assert await desk.recoveries() == told


async def test_a_verdict_that_comes_while_its_page_is_rendered_gets_a_rendering_of_its_own(desk: Desk) -> None:
    await desk.watch(A)
    await change(desk, A, "1", "2", outcome="minor")
    job = await desk.job(A)
    await change(desk, A, "3")
    assert await desk.store.count_waiting() == 0

    await desk.store.commit_renderings(desk.claim, [desk.rendered(job)])

    (waiting,) = await desk.store.waiting_renders(limit=9)
    assert (waiting.major, waiting.since) == (True, NOW + 2 * MINUTE)
    assert [verdict.data for verdict in (await desk.job(A)).verdicts] == [{"latest": "3"}]


async def test_T70_all_records_but_the_most_recent_leave_the_table(desk: Desk) -> None:
    await desk.watch(A, B)
    await change(desk, B, "1", "2")
    await change(desk, A, "1", "2", "2")

    await desk.render(A)

    records = [(row.url, row.fields[10], row.stored_at) async for row in await desk.store.table_rows()]
    assert records == [(B, "1", NOW), (B, "2", NOW + MINUTE), (A, "2", NOW + 4 * MINUTE)]
    assert [entry.in_table for entry in await desk.store.history(A, limit=9)] == [True, False]


async def test_T70_a_rendering_that_failed_prunes_nothing(desk: Desk) -> None:
    await desk.watch(A)
    await change(desk, A, "1", "2")

    await desk.store.commit_renderings(desk.claim, [desk.unrendered(await desk.job(A))])

    assert len([row async for row in await desk.store.table_rows()]) == 2


async def test_the_state_that_a_rendering_found_is_the_latest_and_the_only_record(desk: Desk) -> None:
    await desk.watch(A)
    await change(desk, A, "1", "2")
    desk.now += DAY

    await desk.render(A, state=NewState(desk.now, fields("3"), equal=False, validators=None, body_digest=None))

    state = (await desk.task(A)).state
    assert state is not None
    assert (state.fields, state.last_at) == (fields("3"), desk.now)
    assert [row.fields async for row in await desk.store.table_rows()] == [fields("3")]


async def test_a_rendering_says_whether_the_state_that_it_stored_was_read_from_HTML(desk: Desk) -> None:
    await desk.watch(A)
    await change(desk, A, "1", "2")
    found = []
    for said in (PageFlags(not_html=True), None, PageFlags()):
        await desk.render(A, flags=said)
        found.append((await desk.task(A)).flags.not_html)
        await change(desk, A, str(len(found) + 2))
        await desk.store.commit(desk.claim, [desk.result(await desk.task(A), "9", not_html=True)])

    assert found == [True, True, False]


async def test_an_equal_state_that_a_rendering_found_is_one_more_storing(desk: Desk) -> None:
    await desk.watch(A)
    await change(desk, A, "1", "2")
    desk.now += DAY

    await desk.render(A, state=NewState(desk.now, fields("2"), equal=True, validators=None, body_digest=None))

    state = (await desk.task(A)).state
    assert state is not None
    assert (state.last_at, state.storings) == (desk.now, 2)
    assert (await desk.task(A)).last.set_at == desk.now


async def test_a_failed_rendering_tells_the_change_and_stays_owed(desk: Desk) -> None:
    await desk.watch(A)
    await change(desk, A, "1", "2")
    job = await desk.job(A)

    await desk.store.commit_renderings(desk.claim, [desk.unrendered(job)])

    (question,) = await desk.store.questions()
    assert await desk.alerts() == [f"verdict {job.verdicts[0].id}"]
    assert (question.cause, question.during, question.pending_change) == ("timeout", "rendering", {"latest": "2"})
    assert (await desk.task(A)).owed
    assert await desk.store.count_waiting() == 0


async def test_the_next_check_that_receives_the_page_gives_what_is_owed(desk: Desk) -> None:
    await desk.watch(A)
    await change(desk, A, "1", "2")
    await desk.store.commit_renderings(desk.claim, [desk.unrendered(await desk.job(A))])
    await desk.check(A, "2")
    assert (await desk.page(A)).question_id is not None

    job = await desk.job(A)
    await desk.store.commit_renderings(
        desk.claim, [desk.rendered(job, alerts=(alert("back", job.page_id, RECOVERED),))]
    )

    assert job.owed
    assert (await desk.page(A)).question_id is None
    assert not (await desk.task(A)).owed
    assert await desk.store.questions() == []
    assert (await desk.alerts())[-1] == "back"


async def test_T60_a_rendering_tells_what_became_of_its_question_by_the_time_it_is_written(desk: Desk) -> None:
    await desk.watch(A, B)
    await change(desk, A, "1", "2")
    await change(desk, B, "1", "2")
    for url in (A, B):
        await desk.store.commit_renderings(desk.claim, [desk.unrendered(await desk.job(url))])
    await desk.check(A, "2")
    job = await desk.job(A)
    early = alert("back", job.page_id, RECOVERED)
    early.event["data"]["question"] = {"id": "1", "ended": False}
    await desk.store.remove_pages([(await desk.page(B)).id])

    await desk.store.commit_renderings(desk.claim, [desk.rendered(job, alerts=(early,))])

    assert await desk.recoveries() == [("back", {"id": "1", "ended": True})]


async def test_what_is_owed_stays_owed_when_the_page_is_not_received(desk: Desk) -> None:
    await desk.watch(A)
    await change(desk, A, "1", "2")
    await desk.store.commit_renderings(desk.claim, [desk.unrendered(await desk.job(A))])

    await desk.fail(A)

    assert (await desk.task(A)).owed


async def test_an_owed_rendering_that_fails_again_waits_for_the_next_check(desk: Desk) -> None:
    await desk.watch(A)
    await change(desk, A, "1", "2")
    await desk.store.commit_renderings(desk.claim, [desk.unrendered(await desk.job(A))])
    await desk.check(A, "2")

    await desk.store.commit_renderings(desk.claim, [desk.unrendered(await desk.job(A))])

    assert await desk.store.count_waiting() == 0
    assert (await desk.task(A)).owed


async def test_a_minor_change_after_a_major_one_leaves_the_page_major(desk: Desk) -> None:
    await desk.watch(A)
    await change(desk, A, "1", "2")
    await change(desk, A, "3", outcome="minor")

    assert (await desk.job(A)).major


async def test_a_question_carries_the_first_verdict_whose_rendering_failed(desk: Desk) -> None:
    await desk.watch(A, B)
    await change(desk, A, "1", "2")
    await change(desk, B, "1", "3")
    for url in (A, B):
        await desk.store.commit_renderings(desk.claim, [desk.unrendered(await desk.job(url))])

    (question,) = await desk.store.questions()

    assert (question.pages, question.pending_change) == (2, {"latest": "2"})


async def test_what_becomes_owed_while_the_page_is_rendered_waits_again(desk: Desk) -> None:
    await desk.watch(A)
    await change(desk, A, "1", "2")
    await desk.store.commit_renderings(desk.claim, [desk.unrendered(await desk.job(A))])
    await change(desk, A, "3")
    job = await desk.job(A)
    assert job.owed
    await change(desk, A, "4")

    await desk.store.commit_renderings(desk.claim, [desk.rendered(job)])

    again = await desk.job(A)
    assert not again.owed
    assert [verdict.data for verdict in again.verdicts] == [{"latest": "4"}]


async def test_a_rendering_of_a_removed_page_leaves_no_trace(desk: Desk) -> None:
    (page_id,) = await desk.watch(A)
    await change(desk, A, "1", "2")
    job = await desk.job(A)
    await desk.store.remove_pages([page_id])

    await desk.store.commit_renderings(desk.claim, [desk.rendered(job)])

    assert await desk.alerts() == []


async def test_a_copy_that_the_user_chose_is_queued_and_taken_once(desk: Desk) -> None:
    await desk.watch(A)
    await desk.fail(A)
    (question,) = await desk.store.questions()
    copy = Instruction("copy", copy_url="https://archive.example/a")
    await desk.store.answer(question.id, copy, scope="page", url=None, now=NOW)
    job = await desk.job(A)

    rendering = structs.replace(desk.rendered(job).rendering, kind="copy")
    await desk.store.commit_renderings(desk.claim, [desk.rendered(job, rendering=rendering, prune=False)])

    assert job.copy_url == "https://archive.example/a"
    assert await desk.store.count_waiting() == 0


async def test_a_copy_that_is_chosen_during_a_rendering_is_not_lost(desk: Desk) -> None:
    await desk.watch(A)
    await change(desk, A, "1", "2")
    job = await desk.job(A)
    await desk.fail(A)
    (question,) = await desk.store.questions()
    copy = Instruction("copy", copy_url="https://archive.example/a")
    await desk.store.answer(question.id, copy, scope="page", url=None, now=NOW)

    await desk.store.commit_renderings(desk.claim, [desk.rendered(job)])

    assert (await desk.job(A)).copy_url == "https://archive.example/a"
