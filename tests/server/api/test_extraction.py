"""The items kept of a page: listed, and as documents, with the words in which they are refused."""

from __future__ import annotations

from base64 import b64encode
from email.utils import formatdate

import icalendar
import pytest
import vobject  # type: ignore[import-untyped]  # has no types
from msgspec.structs import replace

import tocsin.server.kept_items
from tests.contract.desk import Desk
from tests.server.api.talk import Api
from tests.server.diary import AT, BODY, QUIET, URL, got, items, keep
from tocsin.engine.judging.contents import find_items
from tocsin.model import NO_ITEMS, CheckReport, PageItems, Scope, to_rfc3339
from tocsin.server.api.extraction import POLICY
from tocsin.server.kept_items import KEPT_FORMATS
from tocsin.settings import ItemSettings
from tocsin.spec.extract import Form
from tocsin.spec.microdata.formats.catalogue import FORMATS

WHOLE_PAGE = [*Form, *(name for name in FORMATS if name not in KEPT_FORMATS)]


def test_formats_made_of_items_are_served() -> None:
    assert KEPT_FORMATS == ("microdata", "vcard", "ical")


@pytest.mark.parametrize("form", KEPT_FORMATS)
async def test_each_document_has_its_type_its_name_and_a_policy_of_its_own(api: Api, desk: Desk, form: str) -> None:
    await keep(api, desk)

    answer = await got(api, form)

    assert answer.headers["content-type"] == FORMATS[form].media_type
    assert answer.headers["content-disposition"] == f'inline; filename="diary.example-1{FORMATS[form].suffix}"'
    assert answer.headers["content-security-policy"] == POLICY
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.content


async def test_a_calendar_program_subscribes_with_a_token_to_read(api: Api, desk: Desk) -> None:
    """GET with Basic, then If-None-Match, until the items change."""
    token = await api.rig.token(Scope.READ)
    await keep(api, desk)
    async with api.rig.asking() as program:
        program.headers["Authorization"] = f"Basic {b64encode(f'calendar:{token}'.encode()).decode()}"
        url = f"/api/v1{AT}/ical"
        first = await program.get(url)
        known = {"If-None-Match": first.headers["etag"]}
        await api.rig.clock.advance(3600)
        same = await program.get(url, headers=known)
        await keep(api, desk)
        read_again = await program.get(url, headers=known)
        await keep(api, desk, BODY.replace(b"12-05", b"12-06"))
        changed = await program.get(url, headers=known)

    (event,) = icalendar.Calendar.from_ical(first.content).walk("VEVENT")
    assert (event["SUMMARY"], event.decoded("DTSTART").day) == ("Jazz & more", 5)
    statuses = [answer.status_code for answer in (first, same, read_again, changed)]
    assert (statuses, same.content) == ([200, 304, 304, 200], b"")
    (event,) = icalendar.Calendar.from_ical(changed.content).walk("VEVENT")
    assert event.decoded("DTSTART").day == 6


async def test_the_tag_differs_by_items_format_profile_item_and_version(
    api: Api, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    await keep(api, desk)
    asked = ["ical", "ical?profile=text", "vcard", "vcard?item=2", "vcard?item=all", "microdata"]

    tags = [(await got(api, each)).headers["etag"] for each in asked]
    again = [(await got(api, each)).headers["etag"] for each in asked]
    await keep(api, desk, BODY.replace(b"12-05", b"12-06"))
    other_items = (await got(api, "ical")).headers["etag"]
    monkeypatch.setattr(tocsin.server.kept_items, "__version__", "0.0.1")
    other_version = (await got(api, "ical")).headers["etag"]

    assert tags == again
    assert len({*tags, other_items, other_version}) == len(asked) + 2


async def test_last_modified_is_when_the_items_were_read_last(api: Api, desk: Desk) -> None:
    await keep(api, desk)
    first_s = api.rig.clock.now() // 1_000_000
    await api.rig.clock.advance(3600)
    await keep(api, desk)
    await api.rig.clock.advance(1)

    answer = await got(api, "ical")
    by_date = await got(api, "ical", **{"If-Modified-Since": answer.headers["last-modified"]})
    by_tag = await got(api, "ical", **{"If-None-Match": f'"other", W/{answer.headers["etag"]}'})
    by_an_older_date = await got(api, "ical", **{"If-Modified-Since": formatdate(first_s, usegmt=True)})

    assert answer.headers["last-modified"] == formatdate(first_s + 3600, usegmt=True)
    assert [each.status_code for each in (by_date, by_tag, by_an_older_date)] == [304, 304, 200]
    assert by_tag.headers["etag"] == answer.headers["etag"]
    assert "content-disposition" not in by_tag.headers


async def test_items_read_within_this_second_have_no_last_modified_that_would_hide_later_ones(
    api: Api, desk: Desk
) -> None:
    await keep(api, desk)
    now = formatdate(api.rig.clock.now() // 1_000_000, usegmt=True)

    answer = await got(api, "ical", **{"If-Modified-Since": now})

    assert (answer.status_code, "last-modified" in answer.headers) == (200, False)


async def test_contacts_are_given_one_by_one_or_all(api: Api, desk: Desk) -> None:
    await keep(api, desk)

    first, second = await got(api, "vcard"), await got(api, "vcard?item=2")
    both = await got(api, "vcard?item=all&profile=text")

    assert [vobject.readOne(each.text).fn.value for each in (first, second)] == ["Ann Lee", "Bob Ray"]
    assert both.text.count("BEGIN:VCARD") == 2


@pytest.mark.parametrize(
    ("body", "name"),
    [(QUIET, "A"), (BODY.replace(b"hcalendar", b"hcard"), "A diary")],
    ids=["without-items", "with-contacts"],
)
async def test_a_page_without_events_is_an_empty_calendar_with_its_title_so_that_a_subscription_lasts(
    api: Api, desk: Desk, body: bytes, name: str
) -> None:
    desk.now = api.rig.clock.now()
    await desk.check(URL, "0")
    await desk.check(URL, "1")
    await desk.render(URL, items=find_items(URL, body, "text/html", (), None, desk.now))  # its title is A

    answer = await got(api, "ical")

    calendar = icalendar.Calendar.from_ical(answer.content)
    assert (calendar["VERSION"], calendar.subcomponents) == ("2.0", [])
    assert calendar["NAME"] == calendar["X-WR-CALNAME"] == name
    assert answer.headers["tocsin-empty"].startswith("no events: ical is made of items of type http://microformats.org")


async def test_items_left_out_of_a_document_are_named(api: Api, desk: Desk) -> None:
    await keep(api, desk, BODY.replace(b"2026-12-05", b"soon"))
    without_date = await got(api, "ical")
    await keep(api, desk, BODY + b"<p itemscope>" * 1_000)
    cut = await got(api, "ical")

    assert icalendar.Calendar.from_ical(without_date.content).subcomponents == []
    left_out = without_date.headers["tocsin-left-out"]
    assert left_out.startswith("1 event without a date is left out: event 1 ")
    assert left_out.endswith('(dtstart "soonT19:00:00Z" is no date)')
    assert cut.headers["tocsin-left-out"] == "there are more items than are kept"


@pytest.mark.parametrize("asked", ["vcard", "ical?profile=text", "vcard?item=all"])
async def test_a_page_without_the_kind_says_so_and_the_mend(api: Api, desk: Desk, asked: str) -> None:
    await keep(api, desk, QUIET)

    problem = await api.refused("GET", f"{AT}/{asked}")

    assert (problem["status"], problem["type"]) == (404, "urn:tocsin:problem:nothing-of-the-kind")
    assert problem["detail"].startswith("no ")
    assert problem["detail"].endswith("this page has no items")
    assert problem["mend"] == "see its items: GET /api/v1/pages/{id}/items"


async def test_a_page_without_items_is_an_empty_document_of_items(api: Api, desk: Desk) -> None:
    await keep(api, desk, QUIET)

    assert (await got(api, "microdata")).text == '{"items": []}\n'


async def test_where_an_event_is_of_another_vocabulary_the_answer_names_it(api: Api, desk: Desk) -> None:
    await keep(api, desk, b"<!doctype html><p itemscope itemtype='https://schema.org/Event\xc3\xbc'>Jazz")

    answer, problem = await got(api, "ical"), await api.refused("GET", f"{AT}/vcard")

    assert answer.headers["tocsin-empty"].endswith("#vevent; this page has 1 https://schema.org/Event%C3%BC")
    assert problem["detail"].endswith("/hcard; this page has 1 https://schema.org/Event\xfc")


async def test_an_item_beyond_the_last_says_how_many_there_are(api: Api, desk: Desk) -> None:
    await keep(api, desk)

    problem = await api.refused("GET", f"{AT}/vcard?item=3")

    assert (problem["status"], problem["mend"]) == (404, "choose an item from 1 to 2")


@pytest.mark.parametrize("asked", [*WHOLE_PAGE, "microdata?profile=living"])
async def test_a_format_of_the_whole_page_is_refused_with_the_command_that_makes_it(
    api: Api, desk: Desk, asked: str
) -> None:
    await keep(api, desk)
    form = asked.replace("?profile=", " --profile ")

    problem = await api.refused("GET", f"{AT}/{asked}")

    assert (problem["status"], problem["type"]) == (404, "urn:tocsin:problem:not-kept")
    assert problem["mend"] == f"run: tocsin extract --as {form} {URL}; the service serves: microdata, vcard, ical"


@pytest.mark.parametrize(
    ("asked", "mend"),
    [
        ("vcard?profile=living", "choose one of: export, text"),
        ("ical?profile=living", "choose one of: export, text"),
        ("pdf", "there are: microdata, vcard, ical, turtle, ntriples, jsonld, atom"),
    ],
)
async def test_a_format_or_profile_that_there_is_not_is_refused(api: Api, desk: Desk, asked: str, mend: str) -> None:
    await keep(api, desk)

    problem = await api.refused("GET", f"{AT}/{asked}")

    assert (problem["status"], problem["type"], problem["mend"]) == (422, "urn:tocsin:problem:refused", mend)


@pytest.mark.parametrize("form", KEPT_FORMATS)
async def test_LM45_the_text_of_a_page_that_is_not_to_be_indexed_is_kept_back(api: Api, desk: Desk, form: str) -> None:
    await desk.check(URL, "0", items=items(at=desk.now), noindex=True)

    problem = await api.refused("GET", f"{AT}/{form}")

    assert (problem["status"], problem["type"]) == (409, "urn:tocsin:problem:kept-back")
    assert (await api.get("/pages/1/items"))["no_text"]


@pytest.mark.parametrize(
    ("found", "keeps", "why"),
    [
        ({"items": NO_ITEMS}, True, "the page asks that no copy is kept (noarchive), or none was read yet"),
        ({"items": NO_ITEMS}, False, "the service keeps none (items.keep = false)"),
        ({"not_html": True}, True, "the page was neither HTML nor XHTML when it was read last"),
    ],
)
async def test_a_page_of_which_no_items_are_kept_says_why_and_how_to_read_them_now(
    api: Api, desk: Desk, found: dict[str, object], why: str, *, keeps: bool
) -> None:
    await desk.check(URL, "0", **found)
    api.rig.service.settings_ = replace(api.rig.service.settings_, items=ItemSettings(keep=keeps))

    told, problem = await api.get("/pages/1/items"), await api.refused("GET", f"{AT}/ical")

    assert (told["at"], told["count"], told["items"], told["formats"]) == (None, 0, [], [])
    assert told["why"].startswith(why)
    assert (problem["status"], problem["type"]) == (404, "urn:tocsin:problem:not-kept")
    assert problem["detail"].startswith(f"{URL}: {why}")
    assert problem["mend"].endswith(f"tocsin extract --as ical {URL}")


async def test_a_page_that_was_not_received_yet_has_no_items(api: Api) -> None:
    await api.add(URL)

    problem = await api.refused("GET", f"{AT}/ical")

    assert (problem["type"], problem["detail"]) == (
        "urn:tocsin:problem:not-kept",
        f"{URL}: the page was not received yet",
    )


async def test_damaged_items_are_a_fault_of_the_store(api: Api, desk: Desk) -> None:
    await desk.check(URL, "0", items=PageItems(desk.now, b"1" * 16, b"damaged", 1))

    for path in (f"{AT}/ical", "/pages/1/items"):
        problem = await api.refused("GET", path)
        assert (problem["status"], problem["type"]) == (503, "urn:tocsin:problem:store")


@pytest.mark.parametrize(
    ("reports", "word"),
    [
        ([CheckReport(URL, "unreachable", status=410, error=("status", "answered 410"))], "status-410"),
        ([CheckReport(URL, "unreachable", error=("timeout", "nothing came\r\nX-Evil: 1"))], "timeout"),
        ([CheckReport(URL, "deferred")], "deferred"),
        ([CheckReport(URL, "disallowed")], "disallowed"),
        ([CheckReport(URL, "suspect")], "suspect"),
        ([CheckReport(URL, "unchanged")], None),
        ([CheckReport(URL, "skipped")], None),
        # A check without a request does not hide that the one before it failed.
        ([CheckReport(URL, "unreachable", error=("timeout", "")), CheckReport(URL, "skipped")], "timeout"),
    ],
)
async def test_items_of_a_page_that_its_last_check_did_not_receive_are_stale(
    api: Api, desk: Desk, reports: list[CheckReport], word: str | None
) -> None:
    await keep(api, desk)
    for report in reports:
        desk.now += 1_000_000
        failed = desk.failed(await desk.task(URL))
        await desk.store.commit(desk.claim, [replace(failed, report=report, failure=None)])

    answer = await got(api, "ical")

    assert ("Jazz" in answer.text, answer.headers.get("tocsin-stale")) == (True, word)


async def test_items_of_a_paused_page_or_one_that_is_off_are_stale(api: Api, desk: Desk) -> None:
    await keep(api, desk)
    await desk.edit(1, paused=True)
    paused = await got(api, "ical")
    await desk.edit(1, paused=False)
    resumed = await got(api, "ical")
    skipped = desk.failed(await desk.task(URL), failure=None, next_at=None, next_why="off")
    await desk.store.commit(desk.claim, [replace(skipped, report=CheckReport(URL, "skipped", problem="off"))])
    off = await got(api, "ical")

    stale = [answer.headers.get("tocsin-stale") for answer in (paused, resumed, off)]
    assert stale == ["paused", None, "off"]


async def test_head_gives_the_headers_of_get(api: Api, desk: Desk) -> None:
    await keep(api, desk)

    answer = await api.call("HEAD", f"{AT}/vcard")

    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/vcard; charset=utf-8")


async def test_kept_items_are_listed_with_the_formats_that_show_them(api: Api, desk: Desk) -> None:
    await keep(api, desk)

    told = await api.get("/pages/1/items")

    assert (told["count"], told["cut"], told["no_text"], told["at"]) == (3, False, False, to_rfc3339(desk.now))
    assert told["why"] is None
    assert [item["type"].rpartition("/")[2] for item in told["items"]] == ["hcalendar#vevent", "hcard", "hcard"]
    assert told["items"][1]["properties"] == {"fn": ["Ann Lee"]}
    urls = {way["form"]: way["url"] for way in told["formats"]}
    assert set(urls) == {"microdata", "vcard", "ical"}
    assert (await api.call("GET", urls["ical"].removeprefix("/api/v1"))).status_code == 200


async def test_a_page_with_more_items_than_are_kept_says_so(api: Api, desk: Desk) -> None:
    await keep(api, desk, BODY + b"<p itemscope>" * 1_000)

    told = await api.get("/pages/1/items")

    assert (told["count"], len(told["items"]), told["cut"]) == (1000, 1000, True)
    assert told["why"] == "the page has more than is kept: at most 1,000 items, of 256 KiB together"


async def test_a_page_without_items_says_when_it_was_read(api: Api, desk: Desk) -> None:
    await keep(api, desk, QUIET)

    told = await api.get("/pages/1/items")

    assert (told["at"], told["count"], told["why"]) == (to_rfc3339(desk.now), 0, "the page has none")


async def test_a_page_by_itself_names_the_number_of_its_items(api: Api, desk: Desk) -> None:
    before = await api.get("/pages/1")
    await keep(api, desk)

    assert (before["items"], (await api.get("/pages/1"))["items"]) == (None, {"count": 3, "at": to_rfc3339(desk.now)})
