"""Bytes that conditional requests spare, counted and shown; what pages say to robots."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.cli.calling import Installation
from tests.cli.test_terminal import typed
from tests.origin import Origin, Page
from tocsin.cli.formatting import show_bytes

BODY = "<title>A</title>" + "x" * 5000


@pytest.fixture
async def origin(installation: Installation) -> AsyncIterator[Origin]:
    """A site with a page that was checked once, and will not be sent again."""
    async with Origin() as site:
        site.pages["/a"] = Page(BODY, etag='"1"')
        await asyncio.to_thread(installation.call, "check", site.url("/a"))
        yield site


async def test_a_person_is_told_at_the_end_of_a_check_what_was_not_sent_again(
    installation: Installation, origin: Origin
) -> None:
    _, seen = await asyncio.to_thread(typed, installation, "check", origin.url("/a"))

    assert "1 not modified, 4.9 KiB saved" in seen


async def test_a_program_is_told_how_many_bytes_a_check_saved(installation: Installation, origin: Origin) -> None:
    answer = await asyncio.to_thread(installation.call, "check", origin.url("/a"))

    assert (answer.records[0]["not_modified"], answer.records[0]["saved_bytes"]) == (True, len(BODY))
    assert "saved" not in answer.err


async def test_what_was_not_sent_again_is_summed_up_for_each_page(installation: Installation, origin: Origin) -> None:
    for _ in range(3):
        await asyncio.to_thread(installation.call, "check", origin.url("/a"))

    (page,) = (await asyncio.to_thread(installation.call, "watch", "list")).records
    _, seen = await asyncio.to_thread(typed, installation, "history", origin.url("/a"))

    assert page["saved_bytes"] == 3 * len(BODY)
    assert "Bytes saved by 304 answers: 15 KiB" in seen


async def test_a_page_that_is_sent_anew_saves_nothing(installation: Installation, origin: Origin) -> None:
    origin.pages["/a"] = Page(BODY + "<p>", etag='"2"')
    await asyncio.to_thread(installation.call, "check", origin.url("/a"))

    (page,) = (await asyncio.to_thread(installation.call, "watch", "list")).records
    assert page["saved_bytes"] == 0


async def test_LM45_what_a_page_says_to_robots_is_listed(installation: Installation, origin: Origin) -> None:
    origin.pages["/b"] = Page(
        '<meta name="Robots" content="NoIndex"><title>B</title>', headers={"X-Robots-Tag": "nofollow"}
    )
    await asyncio.to_thread(installation.call, "check", origin.url("/b"))

    pages = (await asyncio.to_thread(installation.call, "watch", "list")).records
    _, seen = await asyncio.to_thread(typed, installation, "history", origin.url("/b"))

    assert [(page["noindex"], page["nofollow"]) for page in pages] == [(False, False), (True, True)]
    assert "The page asks robots: noindex, nofollow" in seen


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (0, "0 B"),
        (1023, "1,023 B"),
        (1024, "1.0 KiB"),
        (20_480, "20 KiB"),
        (2_202_010, "2.1 MiB"),
        (5 * 2**50, "5,120 TiB"),
    ],
)
def test_sizes_are_shown_in_the_unit_that_fits(count: int, shown: str) -> None:
    assert show_bytes(count) == shown
