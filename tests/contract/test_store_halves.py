"""What is done to one half of a store is not seen at the other: no key, join or owner is left out of a statement."""

from __future__ import annotations

from collections.abc import Awaitable
from datetime import timedelta
from typing import Any, Final

import pytest
from msgspec import structs

from tests.contract.desk import DAY, HOUR, Desk, alert
from tests.contract.neighbours import NAMES, NOISE, ROUTES, Half, digest, furnish, picture, rows_of, stored_answer
from tests.contract.test_store_items import differs, items
from tests.contract.test_store_snapshots import kept
from tests.routers import gathering
from tocsin.events import HOST_CHANGED, UNREACHABLE
from tocsin.model import (
    NO_COPY,
    NO_ITEMS,
    AlertQuery,
    Attempt,
    ChannelState,
    DeliveryResult,
    Instruction,
    JobRow,
    PageFilter,
    PageFlags,
    PageKnowledge,
    PageQuery,
    SerializedEvent,
)
from tocsin.spec.signals.texts import unpack_text

Act = "Callable[[Desk, Half], Awaitable[object]]"


async def skip(desk: Desk, half: Half) -> None:
    """Commit a check that made no request."""
    task = await desk.task(half.page)
    result = desk.failed(task, failure=None, report=structs.replace(desk.failed(task).report, outcome="skipped"))
    await desk.store.commit(desk.claim, [result])


async def store_nothing(desk: Desk, half: Half) -> None:
    """Commit a check that received no page; another try is held."""
    held = (Attempt(desk.now, "dns", None, "no such host", 1),)
    result = desk.failed(await desk.task(half.page), failure=None, host_gate_at=desk.now + DAY, held_attempts=held)
    await desk.store.commit(desk.claim, [result])


async def render(desk: Desk, half: Half, **changes: Any) -> None:
    """Commit the rendering that its page waits for."""
    await desk.render(half.page, **changes)


async def fail_rendering(desk: Desk, half: Half) -> None:
    """Commit a rendering that failed."""
    await desk.store.commit_renderings(desk.claim, [desk.unrendered(await desk.job(half.page))])


async def put_back(desk: Desk, half: Half) -> None:
    """Claim both pages for rendering, and give one of them back."""
    job = await desk.job(half.page)
    await desk.store.release_render(desk.claim, job.page_id, not_before=desk.now + HOUR)


def answer(kind: Any, scope: str = "page", **changes: Any) -> Any:
    """Answer its question so."""

    async def act(desk: Desk, half: Half) -> None:
        said = Instruction(kind, **changes)
        await desk.store.answer(half.question, said, scope=scope, url=None, now=desk.now)

    return act


def edit(**changes: Any) -> Any:
    """Edit its page so."""
    return lambda desk, half: desk.edit(half.page_id, **changes)


def told(half: Half, kind: str, page_id: int | None) -> Any:
    """An alert of this half."""
    return alert(f"{half.name} told", page_id, kind)


def ended(state: Any, **changes: Any) -> Any:
    """Compose its digest, and record what became of it."""

    async def act(desk: Desk, half: Half) -> None:
        bundle = half.bundles["sealed"]
        await desk.store.keep_digest(bundle, SerializedEvent(f"{half.name} sealed", b"{}"), None)
        await desk.store.record_deliveries(
            [DeliveryResult("", half.name, state, desk.now, position=-bundle, **changes)]
        )

    return act


async def gather_more(desk: Desk, half: Half) -> None:
    """Publish one more alert for its digest."""
    await desk.store.set_routes(gathering(desk.now + DAY, half.name, f"{half.name} daily"), ROUTES, desk.now)
    await desk.store.write_alert(told(half, UNREACHABLE, half.page_id))


async def lose_channel(desk: Desk, half: Half) -> None:
    """Take its channel out of the configuration."""
    await desk.store.set_channels([name for name in NAMES if name != half.name])
    await desk.store.set_routes(None, ROUTES, desk.now)


async def lose_route(desk: Desk, half: Half) -> None:
    """Take its route out of the configuration."""
    await desk.store.set_routes(None, [name for name in ROUTES if not name.startswith(half.name)], desk.now)


def replay(what: str) -> Any:
    """Give this alert of a half to its channel alone."""
    return lambda desk, half: desk.store.replay(alert(f"{half.name} {what}", None).id, channel=half.name, now=desk.now)


WRITES: Final[dict[str, Any]] = {
    "a check that found all as it was": lambda desk, half: desk.check(half.page, f"{half.name} 3"),
    "a check that found a change": lambda desk, half: desk.check(half.page, f"{half.name} 4"),
    "a check that stored nothing": store_nothing,
    "a check that was skipped": skip,
    "a check that failed": lambda desk, half: desk.fail(half.page, f"{half.name} cause"),
    "a check that received the page again": lambda desk, half: desk.check(half.failing, "1"),
    "a check that learned": lambda desk, half: desk.check(half.page, "4", known=PageKnowledge("x", {}, b"", ())),
    "a check without copies": lambda desk, half: desk.check(half.page, "4", copies=[]),
    "a check that may keep no text": lambda desk, half: desk.check(half.page, "4", snapshot=NO_COPY),
    "a check that may keep no items": lambda desk, half: desk.check(half.page, "4", items=NO_ITEMS),
    "a check of a bare page": lambda desk, half: desk.check(half.page, "4", items=items(half.name, count=0)),
    "a check with a text": lambda desk, half: desk.check(half.page, "4", snapshot=kept("4", desk.now)),
    "a check with a picture": lambda desk, half: desk.check(half.page, "4", picture=picture("4", "3")),
    "a rendering": render,
    "a rendering with a picture": lambda desk, half: render(desk, half, picture=picture("4", "3")),
    "a rendering with items": lambda desk, half: render(desk, half, items=items("4"), changes=differs("3", "4")),
    "a rendering with robots": lambda desk, half: render(
        desk, half, flags=PageFlags(noindex=True, nofollow=True, not_html=True)
    ),
    "a rendering that failed": fail_rendering,
    "a rendering that was put back": put_back,
    "a pause of the host": lambda desk, half: desk.store.hold_hosts({f"{half.name}.example": desk.now + DAY}),
    "robots.txt": lambda desk, half: desk.store.save_robots(f"https://{half.name}.example", "new"),
    "settings": edit(settings={"every": "1h"}),
    "a pause": edit(paused=True),
    "a group": edit(group="main"),
    "a text": edit(text="other words"),
    "settings of the group": lambda desk, half: desk.store.edit_group(
        half.name, desk.now, settings={"mode": "off", "every": "1h"}, unset=()
    ),
    "a removal": lambda desk, half: desk.store.remove_pages(list(half.ids.values())),
    "a request": lambda desk, half: desk.store.request_check([half.page_id], desk.now),
    "a request without reports": lambda desk, half: desk.store.forgo_reports(half.left),
    "a dropped request": lambda desk, half: desk.store.drop_request(half.left),
    "an announcement": lambda desk, half: desk.store.announce(half.question, told(half, UNREACHABLE, None), desk.now),
    "a withdrawal": lambda desk, half: desk.store.withdraw_questions(
        desk.claim, [f"{half.name} cause"], desk.now, desk.now + HOUR
    ),
    **{f"the answer {kind}": answer(kind) for kind in ("again", "never", "until-major", "drop")},
    **{f"a rule for the {scope}": answer("never", scope) for scope in ("host", "host-cause", "cause")},
    "the answer copy": answer("copy", copy_url="https://copies.example/"),
    "the answer later": answer("again", later=True),
    "a lifted rule": lambda desk, half: desk.store.lift_standing_answer(half.rule, desk.now),
    "a storm that is told": lambda desk, half: desk.store.announce_storm(
        half.storm, told(half, HOST_CHANGED, None), desk.now, excerpt={"added": ["x"]}
    ),
    "a storm that is released": lambda desk, half: desk.store.release_storm(half.storm, desk.now),
    "noise of a page": lambda desk, half: desk.store.hear(half.page_id, NOISE, muted=False),
    "noise of a host": lambda desk, half: desk.store.hear_host(f"{half.name}.example", NOISE, muted=False),
    "a delivery": lambda desk, half: desk.store.record_deliveries(
        [DeliveryResult(half.alert, half.name, "waiting", desk.now, desk.now + DAY, "503")]
    ),
    "a replay": lambda desk, half: desk.store.replay(half.alert, channel=None, now=desk.now),
    "a replay to a channel": lambda desk, half: desk.store.replay(half.alert, channel=half.name, now=desk.now),
    "a replay of the dead": lambda desk, half: desk.store.replay_dead(channel=half.name, now=desk.now),
    "waits of a channel": lambda desk, half: desk.store.resume_deliveries(half.name, desk.now - DAY),
    "an alert in a digest": gather_more,
    "a digest that is sealed": lambda desk, half: desk.store.seal_bundle(half.bundles["open"], desk.now),
    "a digest that is composed": lambda desk, half: desk.store.keep_digest(
        half.bundles["sealed"], SerializedEvent(half.name, b"{}"), None
    ),
    "a digest that was accepted": ended("accepted"),
    "a digest that was refused": ended("waiting", next_at=9 * DAY, error="503"),
    "a digest that is given again": lambda desk, half: desk.store.replay_bundle(half.bundles["given"], desk.now),
    "an alert taken out of a digest": replay("open"),
    "an alert taken out of silence": replay("held"),
    "a silence that ended": lambda desk, half: desk.store.end_silence(half.silence, desk.now),
    "a channel that is gone": lose_channel,
    "a route that is gone": lose_route,
    "the state of a channel": lambda desk, half: desk.store.save_channel_state(ChannelState(half.name, 9)),
    "a test that ended": lambda desk, half: desk.store.end_channel_test(half.test, desk.now, None),
    "a test that was cancelled": lambda desk, half: desk.store.withdraw_channel_test(half.test),
    "alerts that were seen": lambda desk, half: desk.store.mark_seen([half.alert], desk.now, seen=True),
    "a revoked token": lambda desk, half: desk.store.revoke_token(half.name, desk.now),
    "a used token": lambda desk, half: desk.store.token_of(digest(half.name), desk.now),
    "a logout": lambda desk, half: desk.store.close_session(digest(f"{half.name} cookie")),
    "a job": lambda desk, half: desk.store.save_job(JobRow(half.name, "x", "x", desk.now, "done", 9)),
    "an answer": lambda desk, half: desk.store.finish_once(half.key, stored_answer(half, desk)),
    "no answer": lambda desk, half: desk.store.finish_once(half.key, None),
}


@pytest.mark.parametrize("what", WRITES)
async def test_what_is_written_for_one_half_leaves_the_other_alone(desk: Desk, what: str) -> None:
    half, other = (await furnish(desk)).values()
    desk.now += HOUR
    mine, before = rows_of(desk, half), rows_of(desk, other)

    await WRITES[what](desk, half)

    assert rows_of(desk, other) == before
    assert rows_of(desk, half) != mine


async def test_a_rendering_that_is_put_back_leaves_the_slot_of_the_other(desk: Desk) -> None:
    half, other = (await furnish(desk)).values()
    jobs = {each.name: await desk.job(each.page) for each in (half, other)}
    before = rows_of(desk, other)

    await desk.store.release_render(desk.claim, jobs["one"].page_id, not_before=desk.now + HOUR)

    assert rows_of(desk, other) == before


async def read_text(packed: Awaitable[bytes | None]) -> str:
    """Unpack a text that the store gives."""
    return unpack_text(await packed or b"")


READS: Final[dict[str, Any]] = {
    "page": lambda desk, half: desk.store.page(half.page),
    "page by id": lambda desk, half: desk.store.page_by_id(half.page_id),
    "pages by id": lambda desk, half: desk.store.pages_by_id([half.page_id]),
    "pages of a group": lambda desk, half: desk.store.pages(PageFilter(group=half.name)),
    "pages of a host": lambda desk, half: desk.store.pages(PageFilter(host=f"{half.name}.example")),
    "pages named": lambda desk, half: desk.store.pages(PageFilter(urls=(half.page,))),
    "pages that match": lambda desk, half: desk.store.pages(PageFilter(matching=f"{half.name}.ex")),
    "list of a group": lambda desk, half: desk.store.browse_pages(PageQuery(group=half.name)),
    "list of a host": lambda desk, half: desk.store.browse_pages(PageQuery(host=f"{half.name}.example")),
    "list of words": lambda desk, half: desk.store.browse_pages(PageQuery(words=half.name)),
    "history": lambda desk, half: desk.store.history(half.page, limit=9),
    "states": lambda desk, half: desk.store.states_of(half.page_id),
    "verdicts": lambda desk, half: desk.store.verdicts_of(half.page_id),
    "renderings": lambda desk, half: desk.store.renderings_of(half.page_id),
    "signals": lambda desk, half: desk.store.learnt(half.page),
    "noise": lambda desk, half: desk.store.noise_of_host(f"{half.name}.example"),
    "items": lambda desk, half: desk.store.item_changes(half.page_id),
    "pictures": lambda desk, half: desk.store.pictures_of(half.page_id, limit=9),
    "robots": lambda desk, half: desk.store.load_robots(f"https://{half.name}.example"),
    "task": lambda desk, half: desk.task(half.page),
    "job": lambda desk, half: desk.job(half.page),
    "reports": lambda desk, half: desk.store.request_reports(half.request, after=0),
    "question": lambda desk, half: desk.store.question(half.question),
    "pages of a question": lambda desk, half: desk.store.question_pages(half.question),
    "copies": lambda desk, half: desk.store.copies_of(half.failing),
    "copies of a question": lambda desk, half: desk.store.question_copies(half.question),
    "rule": lambda desk, half: desk.store.standing_answer(half.rule),
    "storm": lambda desk, half: desk.store.storm(half.storm),
    "verdicts of a storm": lambda desk, half: desk.store.storm_verdicts(half.storm, after=(0, 0), limit=9),
    "channel": lambda desk, half: desk.store.channel_state(half.name),
    "alert": lambda desk, half: desk.store.alert(half.alert),
    "alerts of a page": lambda desk, half: desk.store.browse_alerts(AlertQuery(page_id=half.page_id)),
    "alerts by URL": lambda desk, half: desk.store.alerts(limit=9, url=half.page),
    "deliveries": lambda desk, half: desk.store.due_deliveries(half.name, desk.now + DAY, limit=9),
    "digest": lambda desk, half: desk.store.bundle(half.bundles["open"]),
    "content of a digest": lambda desk, half: desk.store.digest(half.bundles["sealed"]),
    "digests that are due": lambda desk, half: desk.store.due_bundles(half.name, desk.now + DAY, limit=9),
    "token": lambda desk, half: desk.store.token_of(digest(half.name), desk.now),
    "session": lambda desk, half: desk.store.session_of(digest(f"{half.name} cookie"), desk.now),
    "stored job": lambda desk, half: desk.store.job(half.name),
    "latest text": lambda desk, half: read_text(desk.store.latest_text(half.page_id)),
    "text": lambda desk, half: read_text(desk.store.snapshot_text(half.snapshot)),
}


@pytest.mark.parametrize("name", NAMES)
async def test_what_is_read_of_one_half_has_nothing_of_the_other(desk: Desk, name: str) -> None:
    halves = await furnish(desk)
    half = halves.pop(name)
    (other,) = halves.values()

    shown = {what: repr(await read(desk, half)) for what, read in READS.items()}

    assert [what for what, found in shown.items() if name not in found] == []
    assert [what for what, found in shown.items() if f"{other.name}.example" in found] == []
    assert [what for what, found in shown.items() if f"{other.name} " in found] == []


async def test_figures_of_requests_texts_and_items_are_those_of_each_half(desk: Desk) -> None:
    halves = await furnish(desk)
    await desk.store.request_check([halves["two"].ids[url] for url in halves["two"].stormy], desk.now)

    for half in halves.values():
        assert await desk.store.request_progress(half.request) == (1, 1)
        assert await desk.store.request_progress(half.left) == (0, 1)
        assert await desk.store.count_dead(half.name) == 2
        assert await desk.store.count_withheld(half.storm) == 3
        assert await desk.store.count_pages(PageFilter(group=half.name)) == 7
        assert len(await desk.store.snapshots(half.page, limit=9)) == 3
        assert [pages for _, _, pages in await desk.store.schedules_of(half.host)] == [6]
    assert await desk.store.prune_snapshots(desk.now, keep=timedelta(days=9), per_page=2, limit=9) == 2
    assert [len(await desk.store.snapshots(half.page, limit=9)) for half in halves.values()] == [2, 2]
