"""What a rendering tells, and what becomes of one that is put off."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from msgspec import structs

from tests.awareness import DAY, NEW, NEWER, OLD, POLICY, SECOND, Bench, failure, job_of, page_html, url_of
from tests.fakes import EagerClock, ScriptedFetcher
from tocsin.engine.hosts.gates import Gates
from tocsin.engine.hosts.outage import OutageWatch
from tocsin.engine.hosts.process_limits import RequestSlots
from tocsin.engine.policies import Policies
from tocsin.engine.rendering.renderer import PageRenderer
from tocsin.engine.visiting.receive import Receiver
from tocsin.errors import Disallowed, FetchFailed, Postponed, StoreError, Withdrawn
from tocsin.model import FailureKind, Instruction, RenderJob
from tocsin.settings import FetchSettings, HostSettings


async def test_T60_a_rendering_that_failed_is_told_with_its_error_and_the_user_is_asked(bench: Bench) -> None:
    await bench.add_changed("a")
    bench.renderer.on(url_of("a"), failure("a"))

    await bench.drain()

    (event,) = await bench.events()
    assert event["data"]["rendering"]["error"] == {"kind": "connect", "status": None, "message": "connection refused"}
    (question,) = await bench.store.questions()
    assert (question.cause, question.during, len(question.attempts)) == ("connect", "rendering", 3)
    assert question.pending_change is not None
    assert question.pending_change["outcome"] == "major"
    assert (await bench.task("a")).owed


async def test_a_page_that_crashes_its_rendering_is_told_of_and_stops_no_other(bench: Bench) -> None:
    await bench.add_changed("a", "b")
    bench.renderer.on(url_of("a"), ZeroDivisionError("division by zero"))

    await bench.drain()

    errors = {event["subject"]: event["data"]["rendering"]["error"] for event in await bench.events()}
    assert errors[url_of("b")] is None
    assert errors[url_of("a")]["kind"] == "crashed"
    assert "page.crashed" in bench.telemetry.names()


async def test_T70_after_a_rendering_only_the_latest_record_is_left(bench: Bench) -> None:
    await bench.add("a")
    bench.clock.set_wall(bench.clock.now() + DAY)
    await bench.check("a", NEW)

    await bench.drain()

    rows = [row.fields async for row in await bench.store.table_rows()]
    assert rows == [NEW]


async def test_T70_a_rendering_that_failed_prunes_nothing(bench: Bench) -> None:
    await bench.add("a")
    bench.clock.set_wall(bench.clock.now() + DAY)
    await bench.check("a", NEW)
    bench.renderer.on(url_of("a"), failure("a"))

    await bench.drain()

    rows = [row.fields async for row in await bench.store.table_rows()]
    assert rows == [OLD, NEW]


async def test_T20_the_state_that_a_rendering_found_is_stored_and_told_in_the_same_alert(bench: Bench) -> None:
    await bench.add_changed("a")
    bench.clock.set_wall(bench.clock.now() + 60 * SECOND)
    bench.renderer.on(url_of("a"), NEWER)

    await bench.drain()

    (event,) = await bench.events()
    assert event["data"]["rendered"]["outcome"] == "major"
    state = (await bench.task("a")).state
    assert state is not None
    assert state.fields == NEWER
    assert len(bench.renderer.asked) == 1


async def test_T60_an_owed_rendering_is_told_in_the_recovered_event(bench: Bench) -> None:
    await bench.add_changed("a")
    bench.renderer.on(url_of("a"), failure("a"))
    await bench.drain()
    bench.renderer.on(url_of("a"), NEW)
    await bench.receive("a")

    await bench.drain()

    _, event = await bench.events()
    assert event["type"] == "tocsin.page.recovered.v1"
    assert event["data"]["rendering"]["status"] == 200
    assert event["data"]["question"] == {"id": "1", "ended": True}
    assert await bench.store.questions() == []
    assert not (await bench.task("a")).owed


async def test_a_page_forbidden_by_robots_is_told_with_that_and_nobody_is_asked(bench: Bench) -> None:
    await bench.add_changed("a")
    bench.renderer.on(url_of("a"), Disallowed(url_of("a"), "Disallow: /", None))

    await bench.drain()

    (event,) = await bench.events()
    assert event["data"]["rendering"]["error"]["kind"] == "disallowed"
    assert await bench.store.questions() == []
    assert (await bench.task("a")).owed


async def test_T62_a_page_that_was_turned_off_is_not_requested_and_its_alert_is_given(bench: Bench) -> None:
    await bench.add_changed("a")
    await bench.store.edit_group(None, bench.clock.now(), settings={"mode": "off"}, unset=[])
    await bench.policies.load(bench.store)

    await bench.drain()

    (event,) = await bench.events()
    assert event["data"]["rendering"]["error"]["kind"] == "skipped"
    assert bench.renderer.asked == []


async def test_T60_an_owed_rendering_does_not_end_a_question_of_other_pages(bench: Bench) -> None:
    await bench.add("a", "b")
    for name in "ab":
        await bench.check(name, NEW)
        bench.renderer.on(url_of(name), failure(name))
    await bench.drain()
    bench.renderer.on(url_of("a"), NEW)
    await bench.receive("a")

    await bench.drain()

    event = (await bench.events())[-1]
    assert (event["type"], event["data"]["question"]) == ("tocsin.page.recovered.v1", {"id": "1", "ended": False})


async def test_a_copy_that_the_user_chose_is_received_instead_and_nothing_is_stored(bench: Bench) -> None:
    copy = "https://archive.example/a"
    await bench.add_changed("a")
    bench.renderer.on(url_of("a"), failure("a"))
    await bench.drain()
    (question,) = await bench.store.questions()
    await _answer_copy(bench, question.id, copy)
    bench.renderer.on(copy, NEWER)

    await bench.drain()

    assert bench.renderer.asked[-1].copy_url == copy
    event = (await bench.events())[-1]
    assert (event["type"], event["data"]["rendering"]["kind"]) == ("tocsin.page.recovered.v1", "copy")
    state = (await bench.task("a")).state
    assert state is not None
    assert state.fields == NEW


async def _answer_copy(bench: Bench, question_id: int, copy: str) -> None:
    instruction = Instruction("copy", copy_url=copy)
    await bench.store.answer(question_id, instruction, scope="page", url=None, now=bench.clock.now())


async def test_T62_what_is_owed_to_a_page_that_was_turned_off_is_not_tried_for_ever(bench: Bench) -> None:
    await bench.add_changed("a")
    bench.renderer.on(url_of("a"), failure("a"))
    await bench.drain()
    await bench.receive("a")
    await bench.store.edit_group("main", bench.clock.now(), settings={"mode": "off"}, unset=[])
    await bench.policies.load(bench.store)
    tried = len(bench.renderer.asked)

    async with asyncio.timeout(60):
        await bench.drain()

    assert len(bench.renderer.asked) == tried
    assert (await bench.task("a")).owed


async def test_T60_a_copy_that_robots_txt_forbids_is_asked_about_anew(bench: Bench) -> None:
    copy = "https://archive.example/a"
    await bench.add_changed("a")
    bench.renderer.on(url_of("a"), failure("a"))
    await bench.drain()
    (question,) = await bench.store.questions()
    chosen = Instruction("copy", copy_url=copy)
    await bench.store.answer(question.id, chosen, scope="page", url=None, now=bench.clock.now())
    bench.renderer.on(copy, Disallowed(copy, "Disallow: /", None))

    await bench.drain()

    (asked,) = await bench.store.questions()
    assert (asked.cause, asked.times.answered_at) == ("copy disallowed", None)


async def test_the_log_names_the_copy_that_could_not_be_had(bench: Bench) -> None:
    copy = "https://archive.example/a"
    await bench.add_changed("a")
    bench.renderer.on(url_of("a"), failure("a"))
    await bench.drain()
    (question,) = await bench.store.questions()
    await _answer_copy(bench, question.id, copy)
    bench.renderer.on(copy, FetchFailed(copy, FailureKind.CONNECT, "connection refused"))

    await bench.drain()

    logged = [each.values for each in bench.telemetry.happenings if each.name == "page.unrendered"]
    assert [values.get("copy") for values in logged] == [None, copy]


A = "https://example.org/a"


async def test_T58_a_host_that_puts_a_rendering_off_costs_it_no_try_and_holds_up_nobody(bench: Bench) -> None:
    await bench.add("a", "b")
    for name in "ab":
        await bench.check(name, NEW)
    bench.renderer.on(A, Postponed(bench.clock.now() + 5 * SECOND, 0), NEW)

    await bench.drain()

    assert sorted(bench.renderer.pages) == ["a", "a", "b"]
    assert [len(job.task.order.attempts) for job in bench.renderer.asked] == [0, 0, 0]
    assert len(await bench.events()) == 2


async def test_T62_a_page_that_is_removed_before_its_rendering_asks_for_it_is_told_of_no_more(bench: Bench) -> None:
    await bench.add_changed("a")

    async def remove(_job: RenderJob) -> None:
        await bench.store.remove_pages([bench.page_id("a")])

    bench.renderer.before = remove
    bench.renderer.on(A, Withdrawn(f"{A}: no longer watched"))
    async with asyncio.timeout(60):
        await bench.drain()

    assert len(bench.renderer.asked) == 1
    assert await bench.events() == []


class Agreement:
    """Knows which pages are watched; None: cannot say."""

    def __init__(self, watched: set[int] | None) -> None:
        self.watched = watched

    async def still_watched(self, page_ids: Sequence[int]) -> set[int]:
        if self.watched is None:
            message = "tocsin.db: disk I/O error"
            raise StoreError(message)
        return self.watched.intersection(page_ids)


def renderer_of(web: ScriptedFetcher, watched: set[int] | None) -> PageRenderer:
    clock = EagerClock()
    gates = Gates(HostSettings(), clock)
    receiver = Receiver(gates, None, OutageWatch(clock), RequestSlots(1), FetchSettings(), clock)
    return PageRenderer(receiver, web, Policies(POLICY), Agreement(watched), clock)


async def test_T62_a_page_is_received_for_awareness_while_it_is_watched() -> None:
    job, web = job_of(), ScriptedFetcher()
    web.page(job.task.url, page_html(NEW))

    rendered = await renderer_of(web, {job.page_id}).render(job)

    assert rendered.title == "A page"


async def test_a_page_that_is_looked_at_before_it_is_watched_needs_no_agreement() -> None:
    job, web = structs.replace(job_of(), page_id=0), ScriptedFetcher()
    web.page(job.task.url, page_html(NEW))

    assert (await renderer_of(web, set()).render(job)).status == 200


@pytest.mark.parametrize(("watched", "error"), [(set(), Withdrawn), (None, Postponed)])
async def test_T62_nothing_is_asked_for_awareness_without_the_users_agreement(
    watched: set[int] | None, error: type[Exception]
) -> None:
    job, web = job_of(), ScriptedFetcher()

    with pytest.raises(error):
        await renderer_of(web, watched).render(job)

    assert web.requests == []
