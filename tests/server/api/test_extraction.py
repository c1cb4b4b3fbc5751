"""A page's data, taken away in every form, and in which words it is refused."""

from __future__ import annotations

from base64 import b64encode
from email.utils import formatdate
from typing import TYPE_CHECKING, get_args

import feedparser  # type: ignore[import-untyped]  # has no types
import icalendar
import pytest
import vobject  # type: ignore[import-untyped]  # has no types
from msgspec.structs import replace

from tests.server.diary import AT, BODY, QUIET, URL, got, items, keep, page
from tocsin.engine.judging.contents import find_items
from tocsin.model import NO_ITEMS, Scope, to_rfc3339
from tocsin.server.api.extraction import POLICY, Way
from tocsin.settings import ItemSettings
from tocsin.spec.extract import Form
from tocsin.spec.microdata.formats.catalogue import FORMATS

if TYPE_CHECKING:
    from tests.contract.desk import Desk
    from tests.server.api.talk import Api


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


@pytest.mark.usefixtures("desk")
async def test_a_page_without_events_is_an_empty_calendar_so_that_the_subscription_lasts(api: Api) -> None:
    api.rig.service.pages[1] = page(QUIET, at=api.rig.clock.now())

    answer = await got(api, "ical")

    calendar = icalendar.Calendar.from_ical(answer.content)
    assert (calendar["VERSION"], calendar.subcomponents) == ("2.0", [])
    assert calendar["NAME"] == calendar["X-WR-CALNAME"] == "Nothing"
    assert answer.headers["tocsin-empty"].startswith("no events: ical is made of items of type http://microformats.org")


@pytest.mark.parametrize(
    ("body", "name"),
    [(QUIET, "A"), (BODY.replace(b"hcalendar", b"hcard"), "A diary")],
    ids=["without-a-mark", "with-contacts"],
)
async def test_an_empty_calendar_of_what_is_kept_has_the_title_of_the_page(
    api: Api, desk: Desk, body: bytes, name: str
) -> None:
    desk.now = api.rig.clock.now()
    kept = replace(find_items(URL, body, "text/html", (), None, desk.now), body=b"digest 1")
    await desk.check(URL, "0")
    await desk.check(URL, "1")
    await desk.render(URL, items=kept)  # its title is A

    answer = await got(api, "ical")

    assert (icalendar.Calendar.from_ical(answer.content)["NAME"], api.rig.service.asked) == (name, [])


async def test_an_event_without_a_date_is_said_to_be_left_out(api: Api, desk: Desk) -> None:
    await keep(api, desk, BODY.replace(b"2026-12-05", b"soon"))

    answer = await got(api, "ical")

    assert icalendar.Calendar.from_ical(answer.content).subcomponents == []
    left_out = answer.headers["tocsin-left-out"]
    assert left_out.startswith("1 event without a date is left out: event 1 ")
    assert left_out.endswith('(dtstart "soonT19:00:00Z" is no date)')


@pytest.mark.usefixtures("desk")
async def test_what_is_wrong_with_a_feed_from_which_nothing_is_left_out_is_a_note(api: Api) -> None:
    answer = await got(api, "atom")

    assert "tocsin-left-out" not in answer.headers
    note = answer.headers["tocsin-note"]
    assert note.startswith('no author, which a feed must have: add <meta name="author" content="...">')
    assert "1 article has no date: " in note


@pytest.mark.usefixtures("desk")
@pytest.mark.parametrize("asked", ["vcard", "atom", "ical?profile=text", "vcard?item=all"])
async def test_a_page_without_the_kind_says_so_and_the_mend(api: Api, asked: str) -> None:
    api.rig.service.pages[1] = page(QUIET, at=api.rig.clock.now())

    problem = await api.refused("GET", f"{AT}/{asked}")

    assert (problem["status"], problem["type"]) == (404, "urn:tocsin:problem:nothing-of-the-kind")
    assert problem["detail"].startswith("no ")
    assert problem["detail"].endswith(("this page has no items", "this page has none"))
    assert problem["mend"]


async def test_where_an_event_is_of_another_vocabulary_it_is_said_what_the_page_has(api: Api, desk: Desk) -> None:
    await keep(api, desk, b"<!doctype html><p itemscope itemtype='https://schema.org/Event\xc3\xbc'>Jazz")

    answer, problem = await got(api, "ical"), await api.refused("GET", f"{AT}/vcard")

    assert answer.headers["tocsin-empty"].endswith("#vevent; this page has 1 https://schema.org/Event%C3%BC")
    assert problem["detail"].endswith("/hcard; this page has 1 https://schema.org/Event\xfc")


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
    api.rig.service.pages[1] = page(b"<!doctype html><p>Nothing", at=api.rig.clock.now())

    assert (await got(api, form)).text == empty


@pytest.mark.usefixtures("desk")
@pytest.mark.parametrize("form", [each for each in get_args(Way) if each != "robots"])
async def test_what_is_no_page_is_not_said_to_have_nothing(api: Api, form: str) -> None:
    api.rig.service.pages[1] = page(b"%PDF-1.7", at=api.rig.clock.now())

    problem = await api.refused("GET", f"{AT}/{form}")

    assert (problem["status"], problem["type"]) == (422, "urn:tocsin:problem:no-page")
    assert problem["detail"].endswith("diary.example/: not HTML: a PDF document")
    assert (await got(api, "robots")).status_code == 200


@pytest.mark.usefixtures("desk")
@pytest.mark.parametrize(
    "asked", ["vcard?profile=living", "atom?profile=living", "turtle?item=1", "links?profile=text", "meta?item=all"]
)
async def test_what_a_form_does_not_have_is_refused_before_anything_is_asked_for(api: Api, asked: str) -> None:
    problem = await api.refused("GET", f"{AT}/{asked}")

    assert (problem["status"], problem["type"]) == (422, "urn:tocsin:problem:refused")
    assert problem["mend"].startswith(("choose one of: export, text", "leave ")), problem
    assert api.rig.service.asked == []


@pytest.mark.usefixtures("desk")
@pytest.mark.parametrize("form", list(FORMATS))
async def test_the_text_of_a_page_that_is_not_to_be_indexed_is_kept_back(api: Api, form: str) -> None:
    """LM-45: as everywhere, and in its own words."""
    api.rig.service.pages[1] = page(BODY, at=api.rig.clock.now(), headers=(("x-robots-tag", "noindex"),))

    problem = await api.refused("GET", f"{AT}/{form}")

    assert (problem["status"], problem["type"]) == (409, "urn:tocsin:problem:kept-back")


@pytest.mark.usefixtures("desk")
async def test_what_a_reader_has_already_is_not_sent_again(api: Api) -> None:
    since = formatdate(api.rig.clock.now() // 1_000_000, usegmt=True)
    await api.rig.clock.advance(1)
    first = await got(api, "turtle")

    by_tag = await got(api, "turtle", **{"If-None-Match": f'"other", W/{first.headers["etag"]}'})
    by_date = await got(api, "turtle", **{"If-Modified-Since": since})
    of_another = await got(api, "ntriples", **{"If-None-Match": first.headers["etag"]})

    assert first.headers["last-modified"] == since
    assert [each.status_code for each in (by_tag, by_date, of_another)] == [304, 304, 200]
    assert "content-disposition" not in by_tag.headers


@pytest.mark.usefixtures("desk")
async def test_what_came_within_this_second_has_no_last_modified_that_would_hide_what_comes_next(api: Api) -> None:
    since = formatdate(api.rig.clock.now() // 1_000_000, usegmt=True)

    answer = await got(api, "turtle", **{"If-Modified-Since": since})

    assert (answer.status_code, "last-modified" in answer.headers) == (200, False)


@pytest.mark.usefixtures("desk")
async def test_head_says_what_get_would(api: Api) -> None:
    answer = await api.call("HEAD", f"{AT}/vcard")

    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/vcard; charset=utf-8")


async def test_kept_items_are_told_with_the_formats_that_they_can_be_had_in(api: Api, desk: Desk) -> None:
    await keep(api, desk)

    told = await api.get("/pages/1/items")

    assert (told["count"], told["cut"], told["no_text"], told["at"]) == (3, False, False, to_rfc3339(desk.now))
    assert told["why"] is None
    assert [item["type"].rpartition("/")[2] for item in told["items"]] == ["hcalendar#vevent", "hcard", "hcard"]
    assert told["items"][1]["properties"] == {"fn": ["Ann Lee"]}
    urls = {way["form"]: way["url"] for way in told["formats"]}
    assert set(urls) == {"microdata", "vcard", "ical"}
    assert (await api.call("GET", urls["ical"].removeprefix("/api/v1"))).status_code == 200


async def test_where_a_page_has_more_items_than_are_kept_that_is_said(api: Api, desk: Desk) -> None:
    desk.now = api.rig.clock.now()
    await desk.check(URL, "0", items=items(BODY + b"<p itemscope>" * 1_000, at=desk.now))

    told = await api.get("/pages/1/items")

    assert (told["count"], len(told["items"]), told["cut"]) == (1000, 1000, True)
    assert told["why"] == "the page has more than is kept: at most 1,000 items, of 256 KiB together"


async def test_a_page_of_which_no_items_are_kept_has_none(api: Api) -> None:
    await api.add(URL)

    told = await api.get("/pages/1/items")

    assert (told["at"], told["count"], told["items"], told["formats"]) == (None, 0, [], [])
    assert told["why"] == "the page was not received yet"


async def test_of_a_page_that_is_not_to_be_archived_it_is_said_why_no_items_are_kept(api: Api, desk: Desk) -> None:
    await desk.check(URL, "0", items=NO_ITEMS)

    told = await api.get("/pages/1/items")

    assert "noarchive" in told["why"]
    assert told["why"].endswith("can be had of the page as it is")
    assert "Jazz" in (await got(api, "ical")).text


async def test_a_page_that_has_none_says_when_that_was_read(api: Api, desk: Desk) -> None:
    await keep(api, desk, QUIET)

    told = await api.get("/pages/1/items")

    assert (told["at"], told["count"], told["why"]) == (to_rfc3339(desk.now), 0, "the page has none")


async def test_what_is_no_page_has_no_items_to_be_kept(api: Api, desk: Desk) -> None:
    await desk.check(URL, "0", not_html=True)

    assert "neither HTML nor XHTML" in (await api.get("/pages/1/items"))["why"]


async def test_a_service_that_keeps_no_items_says_so(api: Api, desk: Desk) -> None:
    await desk.check(URL, "0", items=NO_ITEMS)
    api.rig.service.settings_ = replace(api.rig.service.settings_, items=ItemSettings(keep=False))

    assert "items.keep" in (await api.get("/pages/1/items"))["why"]


async def test_a_page_by_itself_says_that_items_of_it_are_kept(api: Api, desk: Desk) -> None:
    before = await api.get("/pages/1")
    await keep(api, desk)

    assert (before["items"], (await api.get("/pages/1"))["items"]) == (None, {"count": 3, "at": to_rfc3339(desk.now)})
