"""A page that is back: nothing that stood in its place, and no failure that is over, is given for it any more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from tests.server.diary import AT, BODY, LOGIN, QUIET, URL, got, keep, page
from tocsin.errors import FetchFailed
from tocsin.model import NO_ITEMS, CheckReport
from tocsin.server.receipts import PAUSE_S

if TYPE_CHECKING:
    from tests.contract.desk import Desk
    from tests.server.api.talk import Api

PDF = b"%PDF-1.7\n"
WORDS = {
    "turtle": "A diary",
    "ntriples": "A diary",
    "jsonld": "A diary",
    "atom": "It began",
    "meta": "A diary",
    "links": "/next",
    "ical": "Jazz",
    "vcard": "Ann Lee",
    "microdata": "Ann Lee",
}
"""What each form says of the page."""


async def later(api: Api, desk: Desk) -> None:
    """Let a second pass."""
    await api.rig.clock.advance(1)
    desk.now = api.rig.clock.now()


async def stand_in(api: Api, desk: Desk, body: bytes, *, not_html: bool = False) -> None:
    """Let a check find something else in the page's place."""
    await later(api, desk)
    api.rig.service.pages[1] = page(body, at=desk.now)
    found = replace(desk.failed(await desk.task(URL)), failure=None, received=True, set_at=desk.now, suspected=True)
    await desk.store.commit(desk.claim, [replace(found, report=CheckReport(URL, "suspect"), not_html=not_html)])
    await later(api, desk)


async def fail(api: Api, desk: Desk, status: int) -> None:
    """Let a check fail, and whatever else asks for the page."""
    await later(api, desk)
    api.rig.service.failing[1] = FetchFailed(URL, "status", f"answered {status}", status=status)
    report = CheckReport(URL, "unreachable", status=status, error=("status", f"answered {status}"))
    await desk.store.commit(desk.claim, [replace(desk.failed(await desk.task(URL)), report=report, failure=None)])
    await later(api, desk)


async def come_back(api: Api, desk: Desk, body: bytes = BODY, major: str = "0") -> None:
    """Let a check find the page: as it was before, if nothing else is said."""
    await later(api, desk)
    api.rig.service.failing.clear()
    api.rig.service.pages[1] = page(body, at=desk.now)
    await desk.check(URL, major)
    await later(api, desk)


@pytest.mark.parametrize("form", WORDS)
@pytest.mark.parametrize("body", [LOGIN, PDF])
async def test_what_was_received_while_something_else_stood_there_is_not_the_page(
    api: Api, desk: Desk, form: str, body: bytes
) -> None:
    await desk.check(URL, "0", items=NO_ITEMS)
    await stand_in(api, desk, body)
    refused = await api.refused("GET", f"{AT}/{form}")
    await come_back(api, desk)

    after = await got(api, form)

    assert (refused["status"], refused["type"]) == (502, "urn:tocsin:problem:suspect")
    assert (WORDS[form] in after.text, "tocsin-stale" in after.headers) == (True, False)


async def test_what_came_in_the_pages_place_empties_no_calendar_when_something_else_comes_there(
    api: Api, desk: Desk
) -> None:
    await keep(api, desk)
    await stand_in(api, desk, LOGIN)
    await api.refused("GET", f"{AT}/turtle")
    await come_back(api, desk)
    await stand_in(api, desk, PDF, not_html=True)

    meanwhile = await got(api, "ical")
    await come_back(api, desk)
    after = await got(api, "ical")

    assert ("Jazz" in meanwhile.text, meanwhile.headers["tocsin-stale"]) == (True, "suspect")
    assert ("Jazz" in after.text, "tocsin-stale" in after.headers) == (True, False)


@pytest.mark.parametrize("form", ["ical", "vcard", "microdata"])
async def test_a_document_in_the_place_of_a_page_leaves_what_was_kept(api: Api, desk: Desk, form: str) -> None:
    await keep(api, desk)
    await stand_in(api, desk, PDF, not_html=True)

    answer = await got(api, form)

    assert ("Jazz" if form == "ical" else "Ann Lee") in answer.text
    assert answer.headers["tocsin-stale"] == "suspect"


@pytest.mark.parametrize("form", ["turtle", "links", "ical"])
async def test_a_document_in_the_place_of_a_page_without_items_is_a_suspect_and_no_document(
    api: Api, desk: Desk, form: str
) -> None:
    await keep(api, desk, QUIET)
    await stand_in(api, desk, PDF, not_html=True)

    assert (await api.refused("GET", f"{AT}/{form}"))["type"] == "urn:tocsin:problem:suspect"


async def test_what_was_received_before_something_else_stood_there_is_right_again(api: Api, desk: Desk) -> None:
    await keep(api, desk)
    before = await got(api, "turtle")
    await stand_in(api, desk, LOGIN)
    meanwhile = await got(api, "turtle")
    await come_back(api, desk)
    after = await got(api, "turtle")

    assert before.content == meanwhile.content == after.content
    stale = [answer.headers.get("tocsin-stale") for answer in (before, meanwhile, after)]
    assert (stale, api.rig.service.asked) == ([None, "suspect", None], [1])


@pytest.mark.parametrize("form", ["turtle", "meta"])
async def test_a_login_that_came_and_went_between_two_checks_is_not_the_page(api: Api, desk: Desk, form: str) -> None:
    await keep(api, desk)
    await later(api, desk)
    api.rig.service.pages[1] = page(LOGIN, at=desk.now)
    before = await got(api, form)
    await come_back(api, desk)

    assert ("Log in" in before.text, "Log in" in (await got(api, form)).text) == (True, False)


async def test_what_was_received_while_checks_failed_is_not_the_page_for_longer_than_they_do(
    api: Api, desk: Desk
) -> None:
    await keep(api, desk)
    await fail(api, desk, 500)
    api.rig.service.failing.clear()
    api.rig.service.pages[1] = page(QUIET, at=api.rig.clock.now())
    meanwhile = [(await got(api, "turtle")).text for _ in range(2)]
    await come_back(api, desk)

    after = await got(api, "turtle")

    assert ["Nothing" in text for text in (*meanwhile, after.text)] == [True, True, False]
    assert api.rig.service.asked == [1, 1]


async def test_a_failure_that_a_later_check_found_over_is_told_no_more(api: Api, desk: Desk) -> None:
    await keep(api, desk)
    await fail(api, desk, 500)
    refused = await api.refused("GET", f"{AT}/turtle")
    await come_back(api, desk, BODY.replace(b"Jazz", b"Blues"), "1")

    calendar, graph = await got(api, "ical"), await got(api, "turtle")

    assert refused["detail"] == f"{URL}: status: answered 500"
    assert ("Blues" in calendar.text, "tocsin-stale" in calendar.headers) == (True, False)
    assert "tocsin-stale" not in graph.headers


async def test_of_two_failures_the_newer_one_is_told_in_every_form(api: Api, desk: Desk) -> None:
    await keep(api, desk)
    await fail(api, desk, 500)
    await api.refused("GET", f"{AT}/atom")
    await fail(api, desk, 410)

    refused, kept = await api.call("GET", f"{AT}/atom"), await got(api, "ical")

    assert refused.json()["detail"] == f"{URL}: status: answered 410"
    assert 0 < int(refused.headers["retry-after"]) < PAUSE_S
    assert (kept.headers["tocsin-stale"], api.rig.service.asked) == ("status-410", [1])
