"""Copies of lost pages, from the page that names them to the one that is picked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.cli.calling import Answer, Installation
from tests.cli.test_terminal import typed
from tests.origin import Origin, Page


@pytest.fixture
async def origin(installation: Installation) -> AsyncIterator[Origin]:
    """A site with a page that names copies of two others; both were asked about, and both are gone."""
    async with Origin() as site:
        await site.start("127.0.0.2")
        elsewhere = site.url("/copies").replace("127.0.0.1", "127.0.0.2")
        links = (
            f'<a href="/gone#part" mset="2026-03-01, {elsewhere}/old 2024-01-31 memento, {elsewhere}/new 2026-02-03">'
            f'<a href="/lost" mset="{elsewhere}/lost">'
        )
        site.pages["/list"] = Page(f"<title>List</title>{links}")
        site.pages["/copies/new"] = Page("<title>The page as it was</title>")
        site.pages["/private"] = Page("<title>x</title>")
        await call(installation, "check", site.url("/list"))
        await call(installation, "check", site.url("/gone"))
        await call(installation, "check", site.url("/lost"))
        yield site


async def call(installation: Installation, *arguments: str) -> Answer:
    return await asyncio.to_thread(installation.call, *arguments)


def of(site: Origin, path: str) -> str:
    return site.url(f"/copies/{path}").replace("127.0.0.1", "127.0.0.2")


async def test_MS12_a_question_offers_the_copies_of_its_first_page(installation: Installation, origin: Origin) -> None:
    (question,) = (await call(installation, "attention", "list")).records

    assert question["copies"] == [
        {
            "number": 1,
            "url": of(origin, "new"),
            "datetime": "2026-02-03",
            "rel": None,
            "kind": "mset",
            "of": origin.url("/gone"),
            "from": origin.url("/list"),
        },
        {
            "number": 2,
            "url": of(origin, "old"),
            "datetime": "2024-01-31",
            "rel": "memento",
            "kind": "mset",
            "of": origin.url("/gone"),
            "from": origin.url("/list"),
        },
    ]


async def test_MS13_a_question_is_shown_with_the_copies_of_all_its_pages(
    installation: Installation, origin: Origin
) -> None:
    (question,) = (await call(installation, "attention", "show", "1")).records

    assert question["urls"] == [origin.url("/gone"), origin.url("/lost")]
    assert [(copy["number"], copy["of"]) for copy in question["copies"]] == [
        (1, origin.url("/gone")),
        (2, origin.url("/gone")),
        (3, origin.url("/lost")),
    ]


async def test_MS12_the_event_offers_them_too(installation: Installation, origin: Origin) -> None:
    alerts = (await call(installation, "alerts", "list")).records
    (asked,) = [alert for alert in alerts if alert["type"] == "tocsin.page.unreachable.v1"]
    (whole,) = (await call(installation, "alerts", "show", asked["id"])).records

    event = whole.get("event", whole)
    assert [copy["url"] for copy in event["data"]["copies"]] == [of(origin, "new"), of(origin, "old")]


async def test_MS09_no_copy_is_fetched_unless_it_is_picked(installation: Installation, origin: Origin) -> None:
    await call(installation, "attention", "show", "1")
    await call(installation, "check")

    assert not [asked.path for asked in origin.log if asked.path.startswith("/copies")]


async def test_MS11_the_copy_that_is_picked_by_its_number_is_received_once(
    installation: Installation, origin: Origin
) -> None:
    answer = await call(installation, "attention", "answer", "1", "copy", "1")
    await call(installation, "check")
    await call(installation, "check")

    assert answer.records == [
        {"question": "1", "instruction": "copy", "pages": 1, "dry_run": False, "copy": of(origin, "new")}
    ]
    assert len(origin.asked("/copies/new")) == 1
    alerts = (await call(installation, "alerts", "list")).records
    assert "tocsin.page.recovered.v1" in {alert["type"] for alert in alerts}


async def test_a_copy_never_becomes_a_state_of_the_page(installation: Installation, origin: Origin) -> None:
    origin.pages["/copies/new"] = Page('<meta name="topper-major" content="2026-01-01">')
    await call(installation, "attention", "answer", "1", "copy", "1")
    await call(installation, "check")

    assert (await call(installation, "history", origin.url("/gone"))).records == []


async def test_MS11_robots_txt_of_the_host_of_a_copy_is_obeyed(installation: Installation, origin: Origin) -> None:
    origin.pages["/robots.txt"] = Page("User-agent: *\nDisallow: /copies/", content_type="text/plain")
    await call(installation, "attention", "answer", "1", "copy", "1")
    await call(installation, "check", origin.url("/private"))

    assert origin.asked("/copies/new") == []
    questions = (await call(installation, "attention", "list")).records
    assert [question["cause"] for question in questions] == ["status 404", "copy disallowed"]


async def test_a_copy_gets_nothing_that_is_meant_for_the_page(installation: Installation, origin: Origin) -> None:
    await call(installation, "watch", "set", origin.url("/gone"), "--header", "X-Own: 1", "--cookie", "a=b")
    await call(installation, "attention", "answer", "1", "copy", "1")
    await call(installation, "check")

    (asked,) = origin.asked("/copies/new")
    assert {"x-own", "cookie", "authorization"}.isdisjoint(asked.headers)


async def test_a_copy_may_be_picked_by_its_URL(installation: Installation, origin: Origin) -> None:
    answer = await call(installation, "attention", "answer", "1", "copy", of(origin, "lost"))

    assert (answer.status, answer.records[0]["copy"]) == (0, of(origin, "lost"))
    (question,) = (await call(installation, "attention", "list")).records
    assert question["sample"] == [origin.url("/gone")]


async def test_a_copy_that_nobody_named_needs_its_page(installation: Installation, origin: Origin) -> None:
    unknown = of(origin, "unknown")
    refused = await call(installation, "attention", "answer", "1", "copy", unknown)
    taken = await call(installation, "attention", "answer", "1", "copy", unknown, "--url", origin.url("/lost"))

    assert (refused.status, taken.status) == (2, 0)
    assert "name the one" in refused.err


@pytest.mark.parametrize(
    ("number", "word"),
    [("0", "no copy has the number 0"), ("4", "no copy has the number 4"), ("9" * 30, "no copy has the number 999")],
)
@pytest.mark.usefixtures("origin")
async def test_a_number_that_is_not_offered_is_refused(installation: Installation, number: str, word: str) -> None:
    answer = await call(installation, "attention", "answer", "1", "copy", number)

    assert answer.status == 2
    assert word in answer.err
    assert "see: tocsin attention show 1" in answer.err


async def test_the_copy_of_one_page_is_no_copy_of_another(installation: Installation, origin: Origin) -> None:
    answer = await call(installation, "attention", "answer", "1", "copy", "1", "--url", origin.url("/lost"))

    assert answer.status == 2
    assert f"not of {origin.url('/lost')}" in answer.err


def test_a_question_that_is_not_there_cannot_be_shown(installation: Installation) -> None:
    installation.call("watch", "add", "--no-check", "https://example.org/a")

    answer = installation.call("attention", "show", "7")

    assert answer.status == 2
    assert "question 7: no such question" in answer.err


async def test_MS10_the_copies_of_any_page_can_be_seen(installation: Installation, origin: Origin) -> None:
    records = (await call(installation, "history", origin.url("/lost"), "--copies")).records
    none = (await call(installation, "history", origin.url("/list"), "--copies")).records

    assert [(record["url"], record["from"]) for record in records] == [(of(origin, "lost"), origin.url("/list"))]
    assert none == []


async def test_a_person_sees_copies_and_the_command_that_takes_one(installation: Installation, origin: Origin) -> None:
    listed = (await asyncio.to_thread(typed, installation, "attention", "list"))[1]
    shown = (await asyncio.to_thread(typed, installation, "attention", "show", "1"))[1]
    known = (await asyncio.to_thread(typed, installation, "history", origin.url("/gone"), "--copies"))[1]

    assert f"2 copies are known of {origin.url('/gone')}; the first, copied on 2026-02-03" in listed
    assert "tocsin attention answer 1 copy 1" in listed
    assert all(of(origin, path) in shown for path in ("new", "old", "lost"))
    assert "tocsin attention answer 1 copy NUMBER" in shown
    assert of(origin, "old") in known


async def test_a_copy_that_cannot_be_had_is_named_where_it_is_asked_about_anew(
    installation: Installation, origin: Origin
) -> None:
    await call(installation, "attention", "answer", "1", "copy", "2")
    await call(installation, "check", origin.url("/list"))

    questions = (await call(installation, "attention", "list")).records
    told = {question["cause"]: question["attempts"][-1]["message"] for question in questions}
    assert told["copy status 404"] == f"copy {of(origin, 'old')}: answered 404"
