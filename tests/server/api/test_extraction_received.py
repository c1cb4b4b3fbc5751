"""When a page is received for whoever takes its data away, and when what was kept of it is enough."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

import feedparser  # type: ignore[import-untyped]  # has no types
import pytest
from msgspec.structs import replace

from tests.fakes import settle
from tests.server.diary import AT, BODY, QUIET, URL, got, items, keep, page
from tests.server.rig import OnThread
from tocsin.errors import FetchFailed, FetchRefused, LeftAlone, NotAllowed, ProcessError, TooComplex
from tocsin.events import to_rfc3339
from tocsin.model import NO_ITEMS, CheckOutcome, CheckReport
from tocsin.server.extraction import FAILED_S, MOST_WAITING
from tocsin.server.receipts import DOUBTED_S

if TYPE_CHECKING:
    from tests.contract.desk import Desk
    from tests.server.api.talk import Api
    from tocsin.errors import TocsinError


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


async def test_a_page_that_cannot_be_received_gives_what_was_kept_and_says_so(api: Api, desk: Desk) -> None:
    await keep(api, desk, found_in="another digest")
    kept_at = to_rfc3339(api.rig.clock.now())
    await api.rig.clock.advance(3600)
    api.rig.service.failing[1] = FetchFailed(URL, "timeout", "nothing came\r\nX-Evil: 1")

    answer = await got(api, "ical")

    assert "Jazz" in answer.text
    assert (answer.headers["tocsin-stale"], answer.headers["tocsin-received"]) == ("timeout", kept_at)


async def test_a_page_that_robots_may_not_ask_for_gives_what_was_kept(api: Api, desk: Desk) -> None:
    await keep(api, desk, found_in="another digest")
    api.rig.service.failing[1] = NotAllowed(URL, "disallowed", "forbidden by robots.txt: /; its site can change that")

    assert (await got(api, "vcard")).headers["tocsin-stale"] == "disallowed"
    for path in (f"{AT}/turtle", f"{AT}?as=links"):
        problem = await api.refused("GET", path)
        assert (problem["status"], problem["type"]) == (409, "urn:tocsin:problem:disallowed")
        assert (problem["detail"], problem["mend"]) == (
            f"{URL}: forbidden by robots.txt: /",
            "its site can change that",
        )


@pytest.mark.parametrize("found_in", ["digest 0", "another digest"])
async def test_of_a_paused_page_nobody_looks_whether_what_was_kept_is_still_so(
    api: Api, desk: Desk, found_in: str
) -> None:
    await keep(api, desk, found_in=found_in)
    await desk.edit(1, paused=True)

    answer, refused = await got(api, "ical"), await api.refused("GET", f"{AT}/turtle")

    assert ("Jazz" in answer.text, answer.headers["tocsin-stale"]) == (True, "paused")
    assert (refused["status"], refused["type"]) == (409, "urn:tocsin:problem:paused")
    assert (refused["detail"], refused["mend"]) == (f"{URL}: the page is paused", "resume it first")
    assert api.rig.service.asked == []


async def test_whoever_resumes_a_page_has_it_at_once(api: Api, desk: Desk) -> None:
    await keep(api, desk, found_in="another digest")
    await desk.edit(1, paused=True)
    await api.refused("GET", f"{AT}/turtle")
    await desk.edit(1, paused=False)

    assert "tocsin-stale" not in (await got(api, "ical")).headers
    assert (await got(api, "turtle")).status_code == 200


async def test_a_page_that_was_received_before_its_pause_is_given_with_a_word_on_that(api: Api, desk: Desk) -> None:
    await got(api, "turtle")
    await desk.edit(1, paused=True)

    assert (await got(api, "atom")).headers["tocsin-stale"] == "paused"


async def test_a_page_that_is_gone_says_so_and_gives_what_was_kept(api: Api, desk: Desk) -> None:
    await keep(api, desk, found_in="another digest")
    api.rig.service.failing[1] = FetchRefused(URL, "status", "answered 410", status=410)

    answer, problem = await got(api, "ical"), await api.refused("GET", f"{AT}/atom")

    assert ("Jazz" in answer.text, answer.headers["tocsin-stale"]) == (True, "status-410")
    assert (problem["status"], problem["detail"]) == (502, f"{URL}: status: answered 410")


@pytest.mark.parametrize(
    ("report", "word"),
    [
        (CheckReport(URL, "unreachable", status=410, error=("status", "answered 410")), "status-410"),
        (CheckReport(URL, "unreachable", error=("timeout", "nothing came")), "timeout"),
        (CheckReport(URL, "deferred"), "deferred"),
        (CheckReport(URL, "disallowed"), "disallowed"),
        (CheckReport(URL, "suspect"), "suspect"),
        (CheckReport(URL, "unchanged"), None),
        (CheckReport(URL, "skipped"), None),
    ],
)
async def test_what_was_kept_is_not_given_for_new_where_the_last_check_did_not_see_the_page(
    api: Api, desk: Desk, report: CheckReport, word: str | None
) -> None:
    await keep(api, desk)
    desk.now += 1_000_000
    failed = desk.failed(await desk.task(URL))
    await desk.store.commit(desk.claim, [replace(failed, report=report, failure=None)])

    answer = await got(api, "ical")

    assert ("Jazz" in answer.text, answer.headers.get("tocsin-stale"), api.rig.service.asked) == (True, word, [])


async def test_what_was_received_after_a_check_that_failed_is_new(api: Api, desk: Desk) -> None:
    desk.now = api.rig.clock.now()
    await desk.store.commit(desk.claim, [desk.failed(await desk.task(URL))])
    await api.rig.clock.advance(1)
    api.rig.service.pages[1] = page(at=api.rig.clock.now())

    assert "tocsin-stale" not in (await got(api, "turtle")).headers


async def test_a_page_too_complex_to_be_received_is_refused_as_one_that_was(api: Api, desk: Desk) -> None:
    await keep(api, desk, found_in="another digest")
    api.rig.service.failing[1] = FetchRefused(URL, "too-complex", "nested 513 deep")

    answer, problem = await got(api, "ical"), await api.refused("GET", f"{AT}/turtle")

    assert answer.headers["tocsin-stale"] == "too-complex"
    assert (problem["status"], problem["type"]) == (422, "urn:tocsin:problem:too-complex")


async def test_a_page_whose_host_is_to_be_left_alone_gives_what_was_kept_or_says_when_to_ask_again(
    api: Api, desk: Desk
) -> None:
    await keep(api, desk, found_in="another digest")
    api.rig.service.failing[1] = LeftAlone(URL, timedelta(minutes=10))

    kept = await got(api, "ical")
    await api.rig.clock.advance(120)
    refused = await api.call("GET", f"{AT}/turtle")
    at_once = await api.call("GET", f"{AT}?as=links")

    assert ("Jazz" in kept.text, kept.headers["tocsin-stale"]) == (True, "left-alone")
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "480")
    assert refused.json()["type"] == "urn:tocsin:problem:left-alone"
    assert (at_once.status_code, at_once.headers["retry-after"]) == (503, "600")


LOGIN = b"""<!doctype html><title>Log in</title>%b<h1>Log in</h1><form method=post action=/session>
<label>E-mail <input type=email name=login></label><label>Password <input type=password name=password></label>
<button>Log in</button></form><p><a href=/reset>Forgot your password?</a>"""


@pytest.mark.parametrize("body", [LOGIN % b"", LOGIN % b"<meta name=robots content=noindex>", b"%PDF-1.7\n"])
@pytest.mark.parametrize("form", ["ical", "vcard", "microdata"])
async def test_what_stands_in_the_place_of_a_page_empties_nobodys_calendar(
    api: Api, desk: Desk, form: str, body: bytes
) -> None:
    await keep(api, desk, found_in="another digest")
    kept_at = to_rfc3339(api.rig.clock.now())
    await api.rig.clock.advance(3600)
    api.rig.service.pages[1] = page(body, at=api.rig.clock.now())

    answer = await got(api, form)

    assert ("Jazz" if form == "ical" else "Ann Lee") in answer.text
    assert (answer.headers["tocsin-stale"], answer.headers["tocsin-received"]) == ("suspect", kept_at)


async def test_a_page_comes_back_from_behind_its_login_within_ten_minutes(api: Api, desk: Desk) -> None:
    await keep(api, desk, found_in="another digest")
    api.rig.service.pages[1] = page(LOGIN % b"", at=api.rig.clock.now())
    for _ in range(2):
        assert (await got(api, "ical")).headers["tocsin-stale"] == "suspect"
        await api.rig.clock.advance(DOUBTED_S / 2)
    api.rig.service.pages[1] = page(BODY.replace(b"Jazz", b"Blues"), at=api.rig.clock.now())

    back = await got(api, "ical")

    assert ("Blues" in back.text, "tocsin-stale" in back.headers) == (True, False)
    assert api.rig.service.asked == [1, 1]


@pytest.mark.parametrize("form", ["turtle", "atom", "ical"])
async def test_of_what_its_check_took_for_a_login_no_document_is_made_where_nothing_is_kept(
    api: Api, desk: Desk, form: str
) -> None:
    found = desk.result(await desk.task(URL), "1")
    report = replace(found.report, outcome=CheckOutcome.SUSPECT)
    await desk.store.commit(desk.claim, [replace(found, report=report, suspected=True)])
    api.rig.service.pages[1] = page(LOGIN % b"", at=api.rig.clock.now())
    refused = await api.refused("GET", f"{AT}/{form}")
    await api.rig.clock.advance(DOUBTED_S)
    api.rig.service.pages[1] = page(at=api.rig.clock.now())

    assert (await got(api, form)).status_code == 200
    assert (refused["status"], refused["type"]) == (502, "urn:tocsin:problem:suspect")
    assert refused["detail"].startswith(f"{URL}: login: ")


async def test_a_login_that_no_check_has_seen_is_no_feed_for_longer_than_ten_minutes(api: Api, desk: Desk) -> None:
    await desk.check(URL, "1")
    api.rig.service.pages[1] = page(LOGIN % b"", at=api.rig.clock.now())
    before = await got(api, "turtle")
    await api.rig.clock.advance(DOUBTED_S)
    api.rig.service.pages[1] = page(at=api.rig.clock.now())

    after = await got(api, "turtle")

    assert ("Log in" in before.text, "A diary" in after.text) == (True, True)


async def test_a_week_without_events_is_an_empty_calendar_and_no_suspect(api: Api, desk: Desk) -> None:
    await keep(api, desk, found_in="another digest")
    api.rig.service.pages[1] = page(QUIET, at=api.rig.clock.now())

    answer = await got(api, "ical")

    assert ("VEVENT" in answer.text, "tocsin-stale" in answer.headers) == (False, False)


async def test_whoever_takes_whatever_comes_for_the_page_has_what_came(api: Api, desk: Desk) -> None:
    await keep(api, desk, found_in="another digest")
    settings = api.rig.service.settings_
    api.rig.service.settings_ = replace(settings, pages=replace(settings.pages, suspects="accept"))
    api.rig.service.pages[1] = page(LOGIN % b"", at=api.rig.clock.now())

    answer = await got(api, "ical")

    assert ("VEVENT" in answer.text, "tocsin-stale" in answer.headers) == (False, False)


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


async def test_those_who_wait_for_slow_pages_leave_room_for_others(api: Api, desk: Desk) -> None:
    slow = await desk.watch(*(f"https://slow{number}.example/" for number in range(MOST_WAITING)))
    for page_id in slow:
        api.rig.service.pages[page_id] = page(at=api.rig.clock.now())
    await keep(api, desk, found_in="another digest")
    api.rig.service.held.clear()
    async with asyncio.TaskGroup() as group:
        for page_id in slow:
            group.create_task(api.call("GET", f"/pages/{page_id}/extract/ical"))
        await api.rig.service.was_asked(MOST_WAITING)

        answer = await api.call("GET", f"{AT}/turtle")
        api.rig.service.held.set()

    assert (answer.status_code, answer.json()["type"]) == (503, "urn:tocsin:problem:too-many-extracts")
    assert answer.headers["retry-after"] == "10"


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
