"""A page that robots.txt forbids is not asked for, and the user is told which line of it said so (LM-43)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from tests.cli.test_terminal import typed
from tests.origin import Origin, Page

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.cli.calling import Installation

ROBOTS = "User-agent: *\nDisallow: /\n\n# the bell\nUser-agent: Tocsin\nDisallow: /private/*\n"
RULE = 'line 6: "Disallow: /private/*" for "User-agent: Tocsin" (line 5)'


@pytest.fixture
async def site() -> AsyncIterator[Origin]:
    async with Origin() as origin:
        origin.pages["/robots.txt"] = Page(ROBOTS, content_type="text/plain")
        origin.pages["/private/a"] = Page("<title>x</title>")
        yield origin


async def test_LM43_a_check_tells_a_program_which_line_forbade_the_page(
    installation: Installation, site: Origin
) -> None:
    answer = await asyncio.to_thread(installation.call, "check", site.url("/private/a"))

    (record,) = answer.records
    assert (record["outcome"], record["rule"]) == ("disallowed", RULE)
    assert [request.path for request in site.log] == ["/robots.txt"]


async def test_LM43_a_check_tells_a_person_which_line_forbade_the_page(
    installation: Installation, site: Origin
) -> None:
    _, seen = await asyncio.to_thread(typed, installation, "check", site.url("/private/a"))

    assert RULE in " ".join(seen.split())


async def test_LM43_the_event_says_which_line_forbade_the_page(installation: Installation, site: Origin) -> None:
    await asyncio.to_thread(installation.call, "check", site.url("/private/a"))

    listed = await asyncio.to_thread(installation.call, "alerts", "list")
    shown = await asyncio.to_thread(installation.call, "alerts", "show", str(listed.records[0]["id"]))

    assert shown.records[0]["type"] == "tocsin.page.disallowed.v1"
    assert shown.records[0]["event"]["data"]["robots"] == {"url": site.url("/robots.txt"), "rule": RULE}


async def test_LM43_the_history_of_a_page_that_was_never_asked_for_says_which_line_forbade_it(
    installation: Installation, site: Origin
) -> None:
    await asyncio.to_thread(installation.call, "check", site.url("/private/a"))

    _, seen = await asyncio.to_thread(typed, installation, "history", site.url("/private/a"))

    told = " ".join(seen.split())
    assert f"Disallowed: {site.url('/private/a')}: forbidden by robots.txt: {RULE}" in told
    assert "it is fetched as soon as its robots.txt allows it" in told
    assert "check it with" not in told


async def test_LM43_the_history_of_a_page_that_was_asked_for_before_says_so_beside_its_states(
    installation: Installation, site: Origin
) -> None:
    site.pages["/news"] = Page("<title>x</title><meta name=created content=2026>")
    await asyncio.to_thread(installation.call, "check", site.url("/news"))
    site.pages["/news"] = Page(status=302, headers={"Location": "/private/a"})
    await asyncio.to_thread(installation.call, "check", site.url("/news"))

    _, seen = await asyncio.to_thread(typed, installation, "history", site.url("/news"))

    told = " ".join(seen.split())
    assert f"Disallowed: {site.url('/private/a')}: forbidden by robots.txt: {RULE}" in told
    assert "created: 2026" in told


async def test_LM43_the_list_says_which_line_forbids_a_page_and_of_many_how_to_learn_it(
    installation: Installation, site: Origin
) -> None:
    urls = [site.url(f"/private/{number}") for number in range(7)]
    await asyncio.to_thread(installation.call, "watch", "add", *urls)

    _, seen = await asyncio.to_thread(typed, installation, "watch", "list")

    told = " ".join(seen.split())
    assert told.count(f": forbidden by robots.txt: {RULE}") == 5
    assert "2 pages more disallowed; reasons: tocsin history URL" in told
