"""When a page is received for whoever takes its data away, and when what was kept of it is enough."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

import feedparser  # type: ignore[import-untyped]  # has no types
import pytest
from msgspec.structs import replace

from tests.fakes import settle
from tests.server.diary import AT, BODY, URL, got, items, keep, page
from tests.server.rig import OnThread
from tocsin.errors import FetchFailed, ProcessError, TooComplex
from tocsin.model import NO_ITEMS, to_rfc3339
from tocsin.server import extraction, making
from tocsin.server.extraction import AT_ONCE, FAILED_S, LARGE_BYTES

if TYPE_CHECKING:
    from tests.contract.desk import Desk
    from tests.server.api.talk import Api
    from tocsin.errors import TocsinError
    from tocsin.server.extraction import Extraction


async def test_articles_without_a_date_keep_theirs_until_the_page_changes(api: Api, desk: Desk) -> None:
    api.rig.service.configure(public_url="https://tocsin.example")
    desk.now = changed_at = api.rig.clock.now()
    await desk.check(URL, "1")
    first = feedparser.parse((await got(api, "atom")).content)
    await api.rig.clock.advance(3600)
    desk.now = api.rig.clock.now()
    found = desk.result(await desk.task(URL), "1")
    assert found.state
    await desk.store.commit(desk.claim, [replace(found, state=replace(found.state, body_digest="digest of noise"))])
    api.rig.service.pages[1] = page(BODY + b"<p>noise", at=api.rig.clock.now())
    again = feedparser.parse((await got(api, "atom")).content)

    assert api.rig.service.asked == [1, 1]
    assert [each.entries[0].updated for each in (first, again)] == [to_rfc3339(changed_at, digits=0)] * 2
    assert next(link.href for link in first.feed.links if link.rel == "self").startswith("https://tocsin.example/api")


async def test_kept_items_are_enough_while_checks_find_the_same_bytes(api: Api, desk: Desk) -> None:
    await keep(api, desk)

    for form in ("microdata", "vcard", "ical"):
        await got(api, form)

    assert api.rig.service.asked == []


async def test_what_needs_the_whole_page_is_received_once_for_all_forms(api: Api, desk: Desk) -> None:
    await keep(api, desk)

    for form in ("turtle", "atom", "links", "turtle", "microdata?profile=living"):
        await got(api, form)

    assert api.rig.service.asked == [1]
    assert await api.audited() == ["page.extract"]


async def test_items_of_other_bytes_are_read_anew(api: Api, desk: Desk) -> None:
    await keep(api, desk, BODY.replace(b"Jazz", b"Blues"), found_in="another digest")

    answer = await got(api, "ical")

    assert "Jazz" in answer.text
    assert api.rig.service.asked == [1]


async def test_equal_items_of_other_bytes_give_an_equal_calendar(api: Api, desk: Desk) -> None:
    await keep(api, desk)
    await api.rig.clock.advance(1)
    kept = await got(api, "ical")
    await api.rig.clock.advance(3600)
    desk.now = api.rig.clock.now()
    await desk.check(URL, "1")
    api.rig.service.pages[1] = page(BODY + b"<p>another word", at=api.rig.clock.now())

    received = await got(api, "ical")

    assert (received.headers["etag"], received.content) == (kept.headers["etag"], kept.content)
    assert received.headers["last-modified"] == kept.headers["last-modified"]
    assert received.headers["tocsin-received"] == to_rfc3339(api.rig.clock.now())
    assert api.rig.service.asked == [1]


async def test_whoever_asks_by_date_sees_that_a_page_became_what_it_was_before(api: Api, desk: Desk) -> None:
    await keep(api, desk)
    await api.rig.clock.advance(3600)
    desk.now = api.rig.clock.now()
    await desk.check(URL, "1")
    api.rig.service.pages[1] = page(BODY.replace(b"Jazz", b"Blues"), at=desk.now)
    await api.rig.clock.advance(60)
    meanwhile = await got(api, "ical")
    desk.now = api.rig.clock.now()
    await desk.check(URL, "0")

    again = await got(api, "ical", **{"If-Modified-Since": meanwhile.headers["last-modified"]})

    assert "Blues" in meanwhile.text
    assert (again.status_code, "Jazz" in again.text) == (200, True)


@pytest.mark.usefixtures("desk")
async def test_a_page_that_cannot_be_received_and_of_which_nothing_is_kept_says_when_to_ask_again(api: Api) -> None:
    api.rig.service.failing[1] = FetchFailed(URL, "status", "answered 503", retry_after=timedelta(minutes=5))

    for form in ("ical", "turtle"):
        answer = await api.call("GET", f"{AT}/{form}")
        assert (answer.status_code, answer.json()["type"]) == (502, "urn:tocsin:problem:fetch")
        assert answer.headers["retry-after"] == "300"
    assert api.rig.service.asked == [1]


async def test_of_a_page_known_not_to_be_indexed_nothing_is_even_asked_for(api: Api, desk: Desk) -> None:
    await desk.check(URL, "0", noindex=True, items=NO_ITEMS)

    assert (await api.refused("GET", f"{AT}/ical"))["type"] == "urn:tocsin:problem:kept-back"
    assert api.rig.service.asked == []
    told = await api.get("/pages/1/items")
    assert (told["no_text"], told["at"]) == (True, None)
    assert "noindex" in told["why"]


@pytest.mark.parametrize("form", ["ical", "microdata"])
async def test_that_what_is_no_page_has_no_items_is_not_taken_from_what_is_kept(
    api: Api, desk: Desk, form: str
) -> None:
    desk.now = api.rig.clock.now()
    await desk.check(URL, "0", not_html=True, items=items(b"%PDF-1.7", at=desk.now))
    api.rig.service.pages[1] = page(b"%PDF-1.7", at=desk.now)

    assert (await api.refused("GET", f"{AT}/{form}"))["type"] == "urn:tocsin:problem:no-page"


async def test_items_of_before_the_page_became_a_document_serve_only_while_that_cannot_be_received(
    api: Api, desk: Desk
) -> None:
    await keep(api, desk)
    await desk.check(URL, "0", not_html=True)
    api.rig.service.failing[1] = FetchFailed(URL, "timeout", "nothing came")
    stale = await got(api, "ical")
    await api.rig.clock.advance(3600)
    api.rig.service.failing.clear()
    api.rig.service.pages[1] = page(b"%PDF-1.7", at=api.rig.clock.now())

    problem = await api.refused("GET", f"{AT}/ical")

    assert ("Jazz" in stale.text, stale.headers["tocsin-stale"]) == (True, "timeout")
    assert problem["type"] == "urn:tocsin:problem:no-page"


@pytest.mark.usefixtures("desk")
async def test_however_many_ask_for_a_page_one_request_is_made(api: Api) -> None:
    api.rig.service.held.clear()
    async with asyncio.TaskGroup() as group:
        asking = [group.create_task(got(api, form)) for form in ("ical", "vcard", "turtle", "links")]
        await api.rig.service.was_asked(1)
        await settle()
        api.rig.service.held.set()

    assert {each.result().status_code for each in asking} == {200}
    assert api.rig.service.asked == [1]


async def test_those_who_wait_for_slow_pages_leave_room_for_others(
    api: Api, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = await desk.watch(*(f"https://slow{number}.example/" for number in range(AT_ONCE)))
    for page_id in slow:
        api.rig.service.pages[page_id] = page(at=api.rig.clock.now())
    await keep(api, desk, found_in="another digest")
    api.rig.service.held.clear()
    async with asyncio.TaskGroup() as group:
        for page_id in slow:
            group.create_task(api.call("GET", f"/pages/{page_id}/extract/ical"))
        await api.rig.service.was_asked(AT_ONCE)

        with monkeypatch.context() as hurried:
            hurried.setattr(making, "WAIT_S", 0)
            kept, refused = await got(api, "ical"), await api.call("GET", f"{AT}/turtle")
        api.rig.service.held.set()

    assert ("Jazz" in kept.text, kept.headers["tocsin-stale"]) == (True, "busy")
    assert (refused.status_code, refused.json()["type"]) == (503, "urn:tocsin:problem:too-many-extracts")
    assert refused.headers["retry-after"] == "10"
    assert 1 not in api.rig.service.asked


async def test_more_pages_than_are_received_at_one_time_are_received_one_after_the_other(api: Api, desk: Desk) -> None:
    pages = await desk.watch(*(f"https://slow{number}.example/" for number in range(2 * AT_ONCE)))
    for page_id in pages:
        api.rig.service.pages[page_id] = page(at=api.rig.clock.now())
    await api.get("/pages/1/items")
    shared: Extraction = api.rig.app.state.extraction
    api.rig.service.held.clear()
    async with asyncio.TaskGroup() as group:
        asking = [group.create_task(api.call("GET", f"/pages/{page_id}/extract/ical")) for page_id in pages]
        while len(shared.receiving.wanted) < len(pages):
            await settle(1)
        at_once = len(api.rig.service.asked)
        api.rig.service.held.set()

    assert at_once == AT_ONCE
    assert {each.result().status_code for each in asking} == {200}


async def test_what_was_extracted_is_in_the_audit_log_only_where_a_request_was_made(api: Api, desk: Desk) -> None:
    await keep(api, desk)
    await got(api, "ical")
    await got(api, "links")
    await got(api, "links")

    (entry,) = (await api.store.audit(limit=10)).rows
    assert (entry.what, entry.detail) == ("page.extract", {"page": "1", "form": "links", "error": None})


@pytest.mark.usefixtures("desk")
@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ProcessError("it took longer than 30 s"), (503, "urn:tocsin:problem:not-converted")),
        (TooComplex("the process died of it"), (422, "urn:tocsin:problem:too-complex")),
    ],
)
async def test_what_cannot_be_converted_is_refused_and_not_tried_again_at_once(
    api: Api, monkeypatch: pytest.MonkeyPatch, error: TocsinError, told: tuple[int, str]
) -> None:
    tried = []

    async def die(_: OnThread, work: bytes) -> bytes:
        tried.append(work)
        raise error

    monkeypatch.setattr(OnThread, "do", die)
    first = await api.call("GET", f"{AT}/turtle")
    await api.rig.clock.advance(100)
    again = await api.call("GET", f"{AT}/turtle")
    await api.rig.clock.advance(FAILED_S - 100)
    await api.call("GET", f"{AT}/turtle")

    assert (first.status_code, first.json()["type"]) == told
    assert first.json()["detail"] == str(error)
    assert [each.headers["retry-after"] for each in (first, again)] == ["600", "500"]
    assert len(tried) == 2
    assert api.rig.telemetry.names().count("page.unconverted") == 2


async def test_kept_items_that_are_damaged_are_read_anew(api: Api, desk: Desk) -> None:
    desk.now = api.rig.clock.now()
    await desk.check(URL, "0", items=replace(items(at=desk.now), packed=b"damaged"))

    assert "Jazz" in (await got(api, "ical")).text
    assert (await api.refused("GET", "/pages/1/items"))["status"] == 503


async def test_what_is_small_waits_for_one_large_page_and_not_for_all(
    api: Api, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on, convert = [], asyncio.Semaphore(0), OnThread.do

    async def slow(aside: OnThread, work: bytes) -> bytes:
        begun.append(len(work) > LARGE_BYTES)
        await go_on.acquire()
        return await convert(aside, work)

    large = await desk.watch("https://large1.example/", "https://large2.example/")
    for page_id in large:
        api.rig.service.pages[page_id] = page(BODY + b" " * LARGE_BYTES, at=api.rig.clock.now())
    for page_id in (*large, 1):
        await api.get(f"/pages/{page_id}/extract/links")
    monkeypatch.setattr(OnThread, "do", slow)
    shared: Extraction = api.rig.app.state.extraction
    async with asyncio.TaskGroup() as group:
        for waiting, page_id in enumerate((*large, 1), 1):
            group.create_task(api.call("GET", f"/pages/{page_id}/extract/turtle"))
            # All of them are received already: who has a place waits for the conversion.
            while len(shared.converting.wanted) < waiting:
                await settle(1)
        for _ in range(3):
            go_on.release()

    assert begun == [True, False, True]


@pytest.mark.usefixtures("desk")
async def test_of_what_is_too_long_to_be_kept_it_is_known_whether_somebody_has_it(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, convert = [], OnThread.do

    async def counted(aside: OnThread, work: bytes) -> bytes:
        made.append(work)
        return await convert(aside, work)

    monkeypatch.setattr(OnThread, "do", counted)
    monkeypatch.setattr(extraction, "MOST_OF_ONE", 100)
    await api.rig.clock.advance(1)
    first = await got(api, "turtle")
    known = {"If-None-Match": first.headers["etag"]}, {"If-Modified-Since": first.headers["last-modified"]}
    same = [await got(api, "turtle", **each) for each in known]
    made_for_them = len(made)
    anew = [await got(api, "turtle", **each) for each in ({}, {"If-None-Match": '"another"'})]

    assert [(each.status_code, each.content, each.headers["etag"]) for each in same] == [
        (304, b"", first.headers["etag"])
    ] * 2
    assert [(each.status_code, each.content) for each in anew] == [(200, first.content)] * 2
    assert (made_for_them, len(made)) == (1, 3)
