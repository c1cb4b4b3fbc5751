"""What whoever subscribed to a page sees where that is not received, or is something else."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from tests.server.diary import AT, BODY, LOGIN, QUIET, URL, got, keep, page
from tocsin.errors import FetchFailed, FetchRefused, LeftAlone, NotAllowed
from tocsin.model import CheckOutcome, CheckReport, to_rfc3339
from tocsin.server.receipts import DOUBTED_S

if TYPE_CHECKING:
    from tests.contract.desk import Desk
    from tests.server.api.talk import Api


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


async def test_what_is_given_of_a_page_that_is_off_says_so(api: Api, desk: Desk) -> None:
    await keep(api, desk)
    skipped = replace(desk.failed(await desk.task(URL)), failure=None, next_at=None, next_why="off")
    await desk.store.commit(desk.claim, [replace(skipped, report=CheckReport(URL, "skipped", problem="off"))])
    api.rig.service.failing[1] = NotAllowed(URL, "off", "the page is off; turn it on first")

    answer, problem = await got(api, "ical"), await api.refused("GET", f"{AT}/turtle")

    assert ("Jazz" in answer.text, answer.headers["tocsin-stale"]) == (True, "off")
    assert (problem["status"], problem["type"]) == (409, "urn:tocsin:problem:off")
    assert problem["mend"] == "turn it on first"


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


async def test_a_check_that_made_no_request_does_not_hide_that_the_one_before_failed(api: Api, desk: Desk) -> None:
    await keep(api, desk)
    for outcome, error in (("unreachable", ("timeout", "nothing came")), ("skipped", None)):
        desk.now += 1_000_000
        report = CheckReport(URL, outcome, error=error)
        await desk.store.commit(desk.claim, [replace(desk.failed(await desk.task(URL)), report=report, failure=None)])

    assert (await got(api, "ical")).headers["tocsin-stale"] == "timeout"


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


@pytest.mark.parametrize(
    "body", [LOGIN, LOGIN.replace(b"<h1>", b"<meta name=robots content=noindex><h1>"), b"%PDF-1.7\n"]
)
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
    api.rig.service.pages[1] = page(LOGIN, at=api.rig.clock.now())
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
    api.rig.service.pages[1] = page(LOGIN, at=api.rig.clock.now())
    refused = await api.refused("GET", f"{AT}/{form}")
    await api.rig.clock.advance(DOUBTED_S)
    api.rig.service.pages[1] = page(at=api.rig.clock.now())

    assert (await got(api, form)).status_code == 200
    assert (refused["status"], refused["type"]) == (502, "urn:tocsin:problem:suspect")
    assert refused["detail"].startswith(f"{URL}: login: ")


async def test_a_login_that_no_check_has_seen_is_no_feed_for_longer_than_ten_minutes(api: Api, desk: Desk) -> None:
    await desk.check(URL, "1")
    api.rig.service.pages[1] = page(LOGIN, at=api.rig.clock.now())
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
    api.rig.service.pages[1] = page(LOGIN, at=api.rig.clock.now())

    answer = await got(api, "ical")

    assert ("VEVENT" in answer.text, "tocsin-stale" in answer.headers) == (False, False)
