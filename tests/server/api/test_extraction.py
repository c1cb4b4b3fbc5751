"""A page's data, taken away: of its kept items, or of the page received, and in which words it is refused."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from datetime import timedelta
from email.utils import formatdate
from typing import TYPE_CHECKING, get_args

import feedparser  # type: ignore[import-untyped]  # has no types
import icalendar
import pytest
import vobject  # type: ignore[import-untyped]  # has no types
from msgspec.structs import replace

from tests.fakes import settle
from tests.server.diary import BODY, QUIET, URL, desk_on, items, page
from tests.server.rig import OnThread
from tests.server.serving import furnish
from tocsin.errors import FetchFailed, ProcessError, UsageError
from tocsin.events import to_rfc3339
from tocsin.model import NO_ITEMS, Scope
from tocsin.server.api.extraction import POLICY, Way
from tocsin.server.extraction import FAILED_S, MOST_WAITING
from tocsin.spec.extract import Form
from tocsin.spec.microdata.formats import FORMATS

if TYPE_CHECKING:
    from pathlib import Path

    import httpx

    from tests.contract.desk import Desk
    from tests.server.api.talk import Api

AT = "/pages/1/extract"
MINUTE = 60


@pytest.fixture
async def desk(api: Api, tmp_path: Path) -> Desk:
    """A diary that is watched, and was checked once; its items were not kept."""
    desk = await desk_on(api.rig, tmp_path)
    await desk.watch(URL)
    await desk.check(URL, "0")
    api.rig.service.pages[1] = page(at=api.rig.clock.now())
    return desk


async def keep(api: Api, desk: Desk, body: bytes = BODY, **changes: str) -> None:
    """Let a check keep the page's items."""
    desk.now = api.rig.clock.now()
    await desk.check(URL, "0", items=items(body, at=desk.now, **changes))


async def got(api: Api, form: str, **headers: str) -> httpx.Response:
    answer = await api.call("GET", f"{AT}/{form}", headers=headers)
    assert answer.status_code in {200, 304}, answer.text
    return answer


def test_every_form_and_every_format_can_be_asked_for() -> None:
    assert set(get_args(Way)) == {form.value for form in Form} | set(FORMATS)


@pytest.mark.usefixtures("desk")
@pytest.mark.parametrize("form", get_args(Way))
async def test_each_comes_as_what_it_is(api: Api, form: str) -> None:
    answer = await got(api, form)

    way = FORMATS.get(form)
    name = f"diary.example-1{way.suffix if way else f'-{form}.json'}"
    assert answer.headers["content-type"] == (way.media_type if way else "application/json")
    assert answer.headers["content-disposition"] == f'inline; filename="{name}"'
    assert answer.headers["content-security-policy"] == POLICY
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.content


@pytest.mark.usefixtures("desk")
@pytest.mark.parametrize("form", list(Form))
async def test_records_are_those_of_the_operation_that_is_to_go(api: Api, form: str) -> None:
    assert (await got(api, form)).json() == await api.get(f"{AT}?as={form}")


async def test_a_calendar_program_subscribes_with_a_token_to_read(api: Api, desk: Desk) -> None:
    """GET with Basic, then If-None-Match, until something changes."""
    token = await api.rig.token(Scope.READ)
    await keep(api, desk)
    async with api.rig.asking() as program:
        program.headers["Authorization"] = f"Basic {b64encode(f'calendar:{token}'.encode()).decode()}"
        url = f"/api/v1{AT}/ical"
        first = await program.get(url)
        known = {"If-None-Match": first.headers["etag"]}
        await api.rig.clock.advance(3600)
        same = await program.get(url, headers=known)
        await keep(api, desk, BODY.replace(b"12-05", b"12-06"))
        changed = await program.get(url, headers=known)

    (event,) = icalendar.Calendar.from_ical(first.content).walk("VEVENT")
    assert (event["SUMMARY"], event.decoded("DTSTART").day) == ("Jazz & more", 5)
    assert (first.status_code, same.status_code, same.content, changed.status_code) == (200, 304, b"", 200)
    (event,) = icalendar.Calendar.from_ical(changed.content).walk("VEVENT")
    assert event.decoded("DTSTART").day == 6
    assert api.rig.service.asked == []


@pytest.mark.usefixtures("desk")
async def test_contacts_are_had_one_by_one_or_all(api: Api) -> None:
    first, second = await got(api, "vcard"), await got(api, "vcard?item=2")
    both = await got(api, "vcard?item=all&profile=text")

    assert [vobject.readOne(each.text).fn.value for each in (first, second)] == ["Ann Lee", "Bob Ray"]
    assert both.text.count("BEGIN:VCARD") == 2


@pytest.mark.usefixtures("desk")
async def test_a_feed_reader_reads_the_articles(api: Api) -> None:
    read = feedparser.parse((await got(api, "atom")).content)

    assert (read.bozo, [entry.title for entry in read.entries]) == (False, ["One"])


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


async def test_a_page_that_cannot_be_received_gives_what_was_kept_and_says_so(api: Api, desk: Desk) -> None:
    await keep(api, desk, found_in="another digest")
    kept_at = to_rfc3339(api.rig.clock.now())
    await api.rig.clock.advance(3600)
    api.rig.service.failing[1] = FetchFailed(URL, "timeout", "nothing came\r\nX-Evil: 1")

    answer = await got(api, "ical")

    assert "Jazz" in answer.text
    assert (answer.headers["tocsin-stale"], answer.headers["tocsin-received"]) == ("timeout", kept_at)


async def test_a_page_that_may_not_be_asked_for_gives_what_was_kept(api: Api, desk: Desk) -> None:
    await keep(api, desk, found_in="another digest")
    api.rig.service.failing[1] = UsageError(f"{URL}: the page is paused; resume it first")

    assert (await got(api, "vcard")).headers["tocsin-stale"] == "refused"
    assert (await api.refused("GET", f"{AT}/turtle"))["status"] == 422


@pytest.mark.usefixtures("desk")
async def test_a_page_that_cannot_be_received_and_of_which_nothing_is_kept_says_when_to_ask_again(api: Api) -> None:
    api.rig.service.failing[1] = FetchFailed(URL, "status", "answered 503", retry_after=timedelta(minutes=5))

    for form in ("ical", "turtle"):
        answer = await api.call("GET", f"{AT}/{form}")
        assert (answer.status_code, answer.json()["type"]) == (502, "urn:tocsin:problem:fetch")
        assert answer.headers["retry-after"] == "300"
    assert api.rig.service.asked == [1]


@pytest.mark.usefixtures("desk")
async def test_a_page_without_events_is_an_empty_calendar_so_that_the_subscription_lasts(api: Api) -> None:
    api.rig.service.pages[1] = page(QUIET, at=api.rig.clock.now())

    calendar = icalendar.Calendar.from_ical((await got(api, "ical")).content)

    assert (calendar["VERSION"], calendar.subcomponents) == ("2.0", [])


@pytest.mark.usefixtures("desk")
@pytest.mark.parametrize("asked", ["vcard", "atom", "ical?profile=text", "vcard?item=all"])
async def test_a_page_without_the_kind_says_so_and_the_mend(api: Api, asked: str) -> None:
    api.rig.service.pages[1] = page(QUIET, at=api.rig.clock.now())

    problem = await api.refused("GET", f"{AT}/{asked}")

    assert (problem["status"], problem["type"]) == (404, "urn:tocsin:problem:nothing-of-the-kind")
    assert problem["mend"]


@pytest.mark.usefixtures("desk")
async def test_an_item_that_is_not_there_says_how_many_there_are(api: Api) -> None:
    problem = await api.refused("GET", f"{AT}/vcard?item=3")

    assert (problem["status"], problem["mend"]) == (404, "choose an item from 1 to 2")


@pytest.mark.usefixtures("desk")
@pytest.mark.parametrize(
    ("form", "empty"),
    [("microdata", '{"items": []}\n'), ("turtle", ""), ("ntriples", ""), ("jsonld", "[]\n")],
)
async def test_where_nothing_can_be_written_nothing_is(api: Api, form: str, empty: str) -> None:
    api.rig.service.pages[1] = page(b"%PDF-1.7", at=api.rig.clock.now())

    assert (await got(api, form)).text == empty


@pytest.mark.usefixtures("desk")
@pytest.mark.parametrize(
    "asked", ["vcard?profile=note", "atom?profile=living", "turtle?item=1", "links?profile=text", "meta?item=all"]
)
async def test_what_a_form_does_not_have_is_refused_before_anything_is_asked_for(api: Api, asked: str) -> None:
    problem = await api.refused("GET", f"{AT}/{asked}")

    assert (problem["status"], problem["type"]) == (422, "urn:tocsin:problem:refused")
    assert api.rig.service.asked == []


@pytest.mark.usefixtures("desk")
@pytest.mark.parametrize("form", list(FORMATS))
async def test_the_text_of_a_page_that_is_not_to_be_indexed_is_kept_back(api: Api, form: str) -> None:
    """LM-45: as everywhere, and in its own words."""
    api.rig.service.pages[1] = page(BODY, at=api.rig.clock.now(), headers=(("x-robots-tag", "noindex"),))

    problem = await api.refused("GET", f"{AT}/{form}")

    assert (problem["status"], problem["type"]) == (409, "urn:tocsin:problem:kept-back")


async def test_of_a_page_known_not_to_be_indexed_nothing_is_even_asked_for(api: Api, desk: Desk) -> None:
    await desk.check(URL, "0", noindex=True, items=NO_ITEMS)

    assert (await api.refused("GET", f"{AT}/ical"))["type"] == "urn:tocsin:problem:kept-back"
    assert api.rig.service.asked == []
    assert (await api.get("/pages/1/items"))["no_text"] is True


@pytest.mark.usefixtures("desk")
async def test_what_a_reader_has_already_is_not_sent_again(api: Api) -> None:
    first = await got(api, "turtle")
    since = formatdate(api.rig.clock.now() // 1_000_000, usegmt=True)

    by_tag = await got(api, "turtle", **{"If-None-Match": f'"other", W/{first.headers["etag"]}'})
    by_date = await got(api, "turtle", **{"If-Modified-Since": since})
    of_another = await got(api, "ntriples", **{"If-None-Match": first.headers["etag"]})

    assert first.headers["last-modified"] == since
    assert [each.status_code for each in (by_tag, by_date, of_another)] == [304, 304, 200]
    assert "content-disposition" not in by_tag.headers


@pytest.mark.usefixtures("desk")
async def test_head_says_what_get_would(api: Api) -> None:
    answer = await api.call("HEAD", f"{AT}/vcard")

    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/vcard; charset=utf-8")


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


async def test_kept_items_are_told_with_the_formats_that_they_can_be_had_in(api: Api, desk: Desk) -> None:
    await keep(api, desk)

    told = await api.get("/pages/1/items")

    assert (told["count"], told["cut"], told["no_text"], told["at"]) == (3, False, False, to_rfc3339(desk.now))
    assert [item["type"].rpartition("/")[2] for item in told["items"]] == ["hcalendar#vevent", "hcard", "hcard"]
    assert told["items"][1]["properties"] == {"fn": ["Ann Lee"]}
    urls = {way["form"]: way["url"] for way in told["formats"]}
    assert set(urls) == {"microdata", "vcard", "ical"}
    assert (await api.call("GET", urls["ical"].removeprefix("/api/v1"))).status_code == 200


@pytest.mark.usefixtures("desk")
async def test_a_page_of_which_no_items_are_kept_has_none(api: Api) -> None:
    told = await api.get("/pages/1/items")

    assert (told["at"], told["count"], told["items"], told["formats"]) == (None, 0, [], [])


async def test_a_page_by_itself_says_that_items_of_it_are_kept(api: Api, desk: Desk) -> None:
    before = await api.get("/pages/1")
    await keep(api, desk)

    assert (before["items"], (await api.get("/pages/1"))["items"]) == (None, {"count": 3, "at": to_rfc3339(desk.now)})


async def test_what_was_extracted_is_in_the_audit_log_only_where_a_request_was_made(api: Api, desk: Desk) -> None:
    await keep(api, desk)
    await got(api, "ical")
    await got(api, "links")
    await got(api, "links")

    (entry,) = (await api.store.audit(limit=10)).rows
    assert (entry.what, entry.detail) == ("page.extract", {"page": "1", "form": "links", "error": None})


@pytest.mark.usefixtures("desk")
async def test_what_cannot_be_converted_is_refused_and_not_tried_again_at_once(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = []

    async def die(_: OnThread, work: bytes) -> bytes:
        tried.append(work)
        raise ProcessError("the process that did it ended")

    monkeypatch.setattr(OnThread, "do", die)
    first = await api.call("GET", f"{AT}/turtle")
    await api.rig.clock.advance(100)
    again = await api.call("GET", f"{AT}/turtle")
    await api.rig.clock.advance(FAILED_S - 100)
    await api.call("GET", f"{AT}/turtle")

    assert (first.status_code, first.json()["type"]) == (503, "urn:tocsin:problem:not-converted")
    assert [each.headers["retry-after"] for each in (first, again)] == ["600", "500"]
    assert len(tried) == 2
    assert api.rig.telemetry.names().count("page.unconverted") == 2


async def test_kept_items_that_are_damaged_are_read_anew(api: Api, desk: Desk) -> None:
    desk.now = api.rig.clock.now()
    await desk.check(URL, "0", items=replace(items(at=desk.now), packed=b"damaged"))

    assert "Jazz" in (await got(api, "ical")).text
    assert (await api.refused("GET", "/pages/1/items"))["status"] == 503


async def test_the_lived_store_gives_every_form_of_what_it_watches(busy: Api) -> None:
    await furnish(busy.rig)

    answer = await busy.call("GET", "/pages/13/extract/links")

    assert answer.status_code == 200
