"""robots.txt is asked for once a day, by one at a time, and its failures are told apart (T62)."""

from __future__ import annotations

import asyncio

import msgspec
import pytest

from tests.engine.hosts.robots_site import FORBIDDING, HOUR, ORIGIN, PAGE, ROBOTS, Kept, Site
from tests.fakes import ManualClock, answer, settle
from tocsin.engine.hosts import robots
from tocsin.engine.hosts.robots import UNAVAILABLE
from tocsin.errors import FetchFailed, FetchRefused, StoreError
from tocsin.model import FailureKind


@pytest.fixture
def site() -> Site:
    return Site()


async def test_T62_a_page_that_robots_txt_forbids_is_disallowed_with_the_rule(site: Site) -> None:
    site.network.page(ROBOTS, FORBIDDING)

    ruling = await site.cache.ruling(PAGE)

    assert ruling.rule == 'line 2: "Disallow: /news" for "User-agent: *" (line 1)'
    assert not ruling.allowed
    assert await site.is_allowed(f"{ORIGIN}/other")


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 418])
async def test_a_robots_txt_that_is_not_there_forbids_nothing(site: Site, status: int) -> None:
    site.network.on(ROBOTS, answer(ROBOTS, FORBIDDING, status=status))

    assert await site.is_allowed()


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_a_robots_txt_with_an_error_forbids_everything_for_an_hour(site: Site, status: int) -> None:
    site.network.on(ROBOTS, answer(ROBOTS, status=status), answer(ROBOTS, "User-agent: *\nAllow: /"))

    first = await site.cache.ruling(PAGE)
    await site.clock.advance(HOUR - 1)
    still = await site.cache.ruling(PAGE)
    await site.clock.advance(2)

    assert first is still is UNAVAILABLE
    assert await site.is_allowed()
    assert site.asked == 2


async def test_an_answer_is_kept_for_a_day(site: Site) -> None:
    site.network.on(ROBOTS, answer(ROBOTS, FORBIDDING), answer(ROBOTS, ""))

    first = await site.is_allowed()
    await site.clock.advance(24 * HOUR - 1)
    still = await site.is_allowed()
    await site.clock.advance(2)

    assert (first, still, await site.is_allowed()) == (False, False, True)
    assert site.asked == 2


async def test_each_origin_has_its_own(site: Site) -> None:
    site.network.page(ROBOTS, FORBIDDING)
    site.network.page("https://a.example:8443/robots.txt", "")

    assert not await site.is_allowed()
    assert await site.is_allowed("https://a.example:8443/news")


@pytest.mark.parametrize("kind", [FailureKind.DNS, FailureKind.CONNECT, FailureKind.TLS, FailureKind.TIMEOUT])
async def test_a_network_that_fails_is_the_page_s_own_failure_and_is_not_kept(site: Site, kind: FailureKind) -> None:
    site.network.on(ROBOTS, FetchFailed(ROBOTS, kind, "…"), answer(ROBOTS, ""))

    with pytest.raises(FetchFailed) as caught:
        await site.is_allowed()

    assert caught.value.kind == kind
    assert await site.is_allowed()


async def test_a_robots_txt_at_a_refused_address_is_the_page_s_own_failure(site: Site) -> None:
    site.network.on(ROBOTS, FetchRefused(ROBOTS, FailureKind.BLOCKED_ADDRESS, "…"))

    with pytest.raises(FetchRefused):
        await site.is_allowed()


async def test_LM42_of_a_robots_txt_of_any_length_500_kib_are_read(site: Site) -> None:
    cut = msgspec.structs.replace(answer(ROBOTS, "User-agent: *\nDisallow: /news\nDisallow: /"), cut=True)
    site.network.on(ROBOTS, cut)

    assert not await site.is_allowed()
    assert await site.is_allowed(f"{ORIGIN}/other")
    assert site.network.requests[0].cut_at == 500 * 1024


def redirected(count: int) -> Site:
    """A site whose robots.txt is behind so many redirects."""
    site = Site()
    for number in range(count):
        here = ROBOTS if number == 0 else f"{ORIGIN}/r{number}"
        site.network.on(here, answer(here, status=301, headers=[("location", f"/r{number + 1}")]))
    site.network.page(f"{ORIGIN}/r{count}", FORBIDDING)
    return site


@pytest.mark.parametrize(("count", "allowed"), [(1, False), (5, False), (6, True)])
async def test_five_redirects_are_followed_and_no_more(count: int, allowed: bool) -> None:  # noqa: FBT001 - a table
    assert await redirected(count).is_allowed() is allowed


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_every_kind_of_redirect_is_followed(site: Site, status: int) -> None:
    site.network.on(ROBOTS, answer(ROBOTS, status=status, headers=[("location", "https://me:secret@b.example/r#x")]))
    site.network.page("https://b.example/r", FORBIDDING)

    assert not await site.is_allowed()


@pytest.mark.parametrize("location", ["ftp://a.example/", "http://", ""])
async def test_a_redirect_to_nowhere_is_as_if_there_were_none(site: Site, location: str) -> None:
    site.network.on(ROBOTS, answer(ROBOTS, status=302, headers=[("location", location)]))

    assert await site.is_allowed()


@pytest.mark.parametrize(("location", "asked"), [("", 1), ("/robots.txt", 1), ("/there", 2)])
async def test_redirects_in_a_circle_are_not_followed_twice(site: Site, location: str, asked: int) -> None:
    site.network.on(ROBOTS, answer(ROBOTS, status=301, headers=[("location", location)]))
    site.network.on(f"{ORIGIN}/there", answer(ROBOTS, status=301, headers=[("location", "/robots.txt")]))

    assert await site.is_allowed()
    assert site.asked == asked


async def test_pages_that_wait_for_one_robots_txt_ask_for_it_once(site: Site) -> None:
    site.network.page(ROBOTS, "")
    gate = asyncio.Event()
    site.network.before = lambda _: gate.wait()

    async with asyncio.TaskGroup() as group:
        asking = [group.create_task(site.is_allowed()) for _ in range(50)]
        await settle()
        gate.set()

    assert all(task.result() for task in asking)
    assert site.asked == 1


async def test_who_waits_goes_on_when_the_one_who_asked_is_cancelled(site: Site) -> None:
    site.network.page(ROBOTS, "")
    gate = asyncio.Event()
    site.network.before = lambda _: gate.wait()

    async with asyncio.TaskGroup() as group:
        first = group.create_task(site.is_allowed())
        second = group.create_task(site.is_allowed())
        await settle()
        first.cancel()
        await settle()
        gate.set()

    assert second.result()
    assert site.asked == 2


async def test_answers_outlive_the_process() -> None:
    store, clock = Kept(), ManualClock()
    before = Site(store, clock)
    before.network.page(ROBOTS, FORBIDDING)
    await before.is_allowed()

    after = Site(store, clock)

    assert not await after.is_allowed()
    assert after.asked == 0


@pytest.mark.parametrize("kept", ["", "{", '{"asked_at": "x"}', "null"])
async def test_what_was_kept_badly_is_asked_for_anew(kept: str) -> None:
    store = Kept()
    store.rows[ORIGIN] = kept
    site = Site(store)
    site.network.page(ROBOTS, FORBIDDING)

    assert not await site.is_allowed()


async def test_an_answer_from_the_future_is_asked_for_anew() -> None:
    store, clock = Kept(), ManualClock()
    site = Site(store, clock)
    site.network.page(ROBOTS, FORBIDDING)
    await site.is_allowed()

    clock.set_wall(clock.now() - 10**12)
    await site.is_allowed()

    assert site.asked == 2


async def test_memory_is_bounded_by_a_number_of_origins(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(robots, "MOST_ORIGINS", 3)
    for number in range(5):
        site.network.page(f"https://h{number}.example/robots.txt", "")
        await site.is_allowed(f"https://h{number}.example/")

    await site.is_allowed("https://h4.example/")
    await site.is_allowed("https://h0.example/")

    assert site.asked == 6


async def test_memory_is_bounded_by_the_length_of_what_was_read(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(robots, "MOST_TEXT", 10_000)
    for number in range(5):
        site.network.page(f"https://h{number}.example/robots.txt", "#" * 4000)
        await site.is_allowed(f"https://h{number}.example/")

    await site.is_allowed("https://h4.example/")
    await site.is_allowed("https://h3.example/")
    await site.is_allowed("https://h0.example/")

    assert site.asked == 6


async def test_what_is_asked_again_is_not_counted_twice(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(robots, "MOST_TEXT", 10_000)
    long, error = "#" * 4000, answer(ROBOTS, status=500)
    site.network.on(ROBOTS, answer(ROBOTS, long), error)
    site.network.page("https://b.example/robots.txt", long)
    await site.is_allowed()
    await site.clock.advance(24 * HOUR)
    await site.is_allowed("https://b.example/")

    for _ in range(9):
        await site.is_allowed()
        await site.clock.advance(HOUR)
    await site.is_allowed("https://b.example/")

    assert site.network.asked("https://b.example/robots.txt") == 1


class Broken(Kept):
    """A store that can neither be read nor written."""

    async def load_robots(self, origin: str) -> str | None:
        message = f"{origin}: disk I/O error"
        raise StoreError(message)

    async def save_robots(self, origin: str, kept: str) -> None:  # noqa: ARG002 - nothing is kept
        message = f"{origin}: the disk is full"
        raise StoreError(message)


async def test_a_store_that_fails_only_costs_the_memory_over_restarts() -> None:
    site = Site(Broken())
    site.network.page(ROBOTS, FORBIDDING)

    answers = [await site.is_allowed() for _ in range(3)]

    assert answers == [False] * 3
    assert site.asked == 1
