"""What feeds and sitemaps on the watch list say of other pages."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.contract.desk import DAY, MINUTE, NOW, A, B, C, Desk
from tocsin.adapters.stores import open_store
from tocsin.model import Instruction, Listing

FEED, MAP = "https://one.example/feed", "https://one.example/sitemap.xml"
WHY = "its feed says that it changed"
OLD, NEW = "2026-01-02", "2026-02-03"


async def listed(desk: Desk, url: str) -> dict[str, str]:
    """What others say of this page."""
    beside = (await desk.task(url)).beside
    return beside.listed if beside is not None else {}


async def read_feed(desk: Desk, *entries: tuple[str, str], url: str = FEED, name: str = "feed") -> int:
    """Commit a check that read a listing, and let it be taken over."""
    await desk.check(url, "1", listing=Listing(name, entries))
    return await desk.store.take_listings(desk.now)


@pytest.fixture
async def watching(desk: Desk) -> Desk:
    """A desk with a feed, a sitemap, and pages that were checked and are due tomorrow."""
    await desk.watch(FEED, MAP, A, B, C)
    for url in (FEED, MAP, A, B, C):
        await desk.check(url, "1")
    return desk


async def due_of(desk: Desk, url: str) -> tuple[int | None, str | None]:
    """When a page is due, and why."""
    row = await desk.page(url)
    return row.due.at, row.due.why


async def test_what_a_feed_says_of_a_page_stands_beside_its_state(watching: Desk) -> None:
    news = await read_feed(watching, (A, OLD), ("https://elsewhere.example/", OLD))

    assert news == 1
    assert await listed(watching, A) == {"feed": OLD}
    assert await listed(watching, B) == {}


async def test_the_first_listing_of_a_page_makes_it_due_no_sooner(watching: Desk) -> None:
    await read_feed(watching, (A, OLD))

    assert await due_of(watching, A) == (NOW + DAY, "every 24h")


async def test_a_page_of_which_its_feed_says_something_else_is_due_soon(watching: Desk) -> None:
    await read_feed(watching, (A, OLD), (B, OLD))

    news = await read_feed(watching, (A, NEW), (B, OLD))

    assert news == 1
    at, why = await due_of(watching, A)
    assert at is not None
    assert (NOW <= at <= NOW + 5 * MINUTE, why) == (True, WHY)
    assert await due_of(watching, B) == (NOW + DAY, "every 24h")
    assert await listed(watching, A) == {"feed": NEW}


async def test_a_running_engine_looks_at_the_hosts_of_these_pages_again(watching: Desk) -> None:
    await read_feed(watching, (A, OLD), (C, OLD))
    seen = await watching.store.foreign_revision()

    await read_feed(watching, (A, NEW), (C, NEW))

    assert await watching.store.foreign_revision() is not None
    assert set(await watching.agenda(seen)) == {1, 2}


async def test_what_a_feed_no_longer_lists_it_has_still_said(watching: Desk) -> None:
    await read_feed(watching, (A, OLD))

    await read_feed(watching, (B, OLD))

    assert await listed(watching, A) == {"feed": OLD}


async def test_of_an_entry_listed_twice_the_first_counts(watching: Desk) -> None:
    await read_feed(watching, (A, NEW), (A, OLD))

    assert await listed(watching, A) == {"feed": NEW}
    assert await read_feed(watching, (A, NEW), (A, OLD)) == 0


async def test_feed_and_sitemap_say_it_each_for_themselves(watching: Desk) -> None:
    await read_feed(watching, (A, OLD))
    await read_feed(watching, (A, NEW), url=MAP, name="sitemap")

    assert await listed(watching, A) == {"feed": OLD, "sitemap": NEW}
    assert await due_of(watching, A) == (NOW + DAY, "every 24h")


async def test_of_two_feeds_the_one_watched_longer_speaks(watching: Desk) -> None:
    await read_feed(watching, (A, NEW), url=MAP)
    await read_feed(watching, (A, OLD))

    assert await listed(watching, A) == {"feed": OLD}


async def test_a_feed_says_nothing_of_itself(watching: Desk) -> None:
    assert await read_feed(watching, (FEED, OLD)) == 0


@pytest.mark.parametrize(
    "changes",
    [
        {"next_at": None, "next_why": "never (standing answer 1)"},
        {"next_at": NOW + DAY, "next_why": "held: the host asked to wait"},
        {"next_at": NOW + 1, "next_why": "every 24h"},
    ],
)
async def test_a_page_that_is_held_or_due_sooner_stays_where_it_is(watching: Desk, changes: dict[str, Any]) -> None:
    await read_feed(watching, (A, OLD), (B, OLD))
    await watching.check(A, "1", **changes)

    await read_feed(watching, (A, NEW), (B, NEW))

    assert await due_of(watching, A) == (changes["next_at"], changes["next_why"])


async def test_what_was_read_is_taken_over_after_a_kill(watching: Desk) -> None:
    await watching.check(FEED, "1", listing=Listing("feed", ((A, OLD),)))

    async with await open_store(watching.behind.url, engine=False) as another:
        assert await another.take_listings(NOW) == 1

    assert await listed(watching, A) == {"feed": OLD}
    assert await watching.store.take_listings(NOW) == 0


async def test_of_two_readings_the_later_one_is_taken_over(watching: Desk) -> None:
    await watching.check(FEED, "1", listing=Listing("feed", ((A, OLD),)))
    watching.now += DAY
    await watching.check(FEED, "1", listing=Listing("feed", ((A, NEW),)))

    await watching.store.take_listings(NOW)

    assert await listed(watching, A) == {"feed": NEW}


async def test_what_a_feed_said_that_is_watched_no_more_is_forgotten(watching: Desk) -> None:
    await read_feed(watching, (A, OLD), (B, OLD))
    await read_feed(watching, (A, NEW), url=MAP, name="sitemap")

    await watching.store.remove_pages([1])
    await watching.store.take_listings(NOW)

    assert await listed(watching, A) == {"sitemap": NEW}
    assert (await watching.task(B)).beside is None


async def test_a_feed_that_is_removed_before_it_was_taken_over_says_nothing(watching: Desk) -> None:
    await watching.check(FEED, "1", listing=Listing("feed", ((A, OLD),)))

    await watching.store.remove_pages([1])
    await watching.store.take_listings(NOW)

    assert await listed(watching, A) == {}


async def test_a_page_that_was_answered_never_is_not_hurried(watching: Desk) -> None:
    await read_feed(watching, (A, OLD))
    await watching.fail(A)
    await watching.store.answer(1, Instruction("never"), scope="page", url=None, now=NOW)

    await read_feed(watching, (A, NEW))

    assert (await due_of(watching, A))[0] is None


async def test_a_long_listing_is_taken_over_in_short_steps(database: str, tmp_path: Path) -> None:
    """The writer is free between two of them, and 50,000 entries are all that one listing may have."""
    ticks = count()
    desk = await Desk.at(tmp_path, database, timer=lambda: float(next(ticks)))
    async with desk.store:
        urls = [f"https://two.example/{number}" for number in range(1000)]
        await desk.watch(FEED, *urls, A)
        many = [(f"https://other.example/{number}", OLD) for number in range(50_000 - len(urls))]
        entries = [*((url, OLD) for url in urls), *many, (A, OLD)]
        await desk.check(FEED, "1", listing=Listing("feed", tuple(entries)))
        before = next(ticks)

        news = await desk.store.take_listings(NOW)

        # By this clock each step takes a second, so that they become as short as they may be: it is read twice in each.
        steps = (next(ticks) - before) // 2
        assert (news, await listed(desk, A)) == (len(urls), {})
        assert steps >= len(urls) / 100
