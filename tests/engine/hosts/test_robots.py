"""robots.txt: read, obeyed, kept, and requested again."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from tests.engine.hosts.robots_site import FORBIDDING, HOUR, ORIGIN, PAGE, ROBOTS, Kept, Site
from tests.fakes import EagerClock, ManualClock, answer, settle
from tests.origin import Origin, Page, RawOrigin
from tests.wire import fetcher
from tocsin.engine.hosts import robots
from tocsin.engine.hosts.gates import Gates
from tocsin.engine.hosts.outage import OutageWatch
from tocsin.engine.hosts.process_limits import RequestSlots
from tocsin.engine.hosts.robots import UNAVAILABLE, RobotsCache
from tocsin.engine.visiting.receive import PageRequest, Receiver
from tocsin.errors import FetchFailed, FetchRefused, StoreError
from tocsin.model import FailureKind, HopRequest, HopResponse, ReceivedPage
from tocsin.ports import Fetcher
from tocsin.settings import FetchSettings, HostSettings, PageSettings


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


TAG, CHANGED = 'W/"a,b"', "Sat, 21 Nov 2026 08:00:00 GMT"
DAY = 24 * HOUR


def tagged(body: str, url: str = ROBOTS, **headers: str) -> HopResponse:
    known = {"etag": TAG, "last-modified": CHANGED} | headers
    return answer(url, body, headers=list(known.items()))


def unchanged(url: str = ROBOTS, **headers: str) -> HopResponse:
    return answer(url, status=304, headers=list(headers.items()))


def sent(request: HopRequest) -> tuple[str | None, str | None]:
    """The conditions of a request."""
    headers = dict(request.headers)
    return headers.get("If-None-Match"), headers.get("If-Modified-Since")


@pytest.fixture(params=[False, True], ids=["memory", "store"])
def kept_site(request: Any) -> Site:
    """A site whose host is not watched, and one whose answers are stored."""
    return Site(Kept() if request.param else None)


async def days(site: Site, count: int) -> list[bool]:
    """Whether the page is allowed, day after day."""
    found = []
    for _ in range(count):
        found.append(await site.is_allowed())
        await site.clock.advance(DAY)
    return found


async def test_the_validators_are_sent_back_byte_for_byte_and_a_304_renews_the_answer(kept_site: Site) -> None:
    kept_site.network.on(ROBOTS, tagged(FORBIDDING), unchanged())

    assert await days(kept_site, 3) == [False] * 3
    assert [sent(request) for request in kept_site.network.requests] == [(None, None), (TAG, CHANGED), (TAG, CHANGED)]


async def test_a_304_may_bring_other_validators(kept_site: Site) -> None:
    kept_site.network.on(ROBOTS, tagged(FORBIDDING), unchanged(etag='"new"'))

    await days(kept_site, 3)

    assert sent(kept_site.network.requests[-1]) == ('"new"', CHANGED)


async def test_another_answer_takes_the_place_of_the_first(kept_site: Site) -> None:
    kept_site.network.on(ROBOTS, tagged(FORBIDDING), tagged("", etag='"b"'), unchanged())

    assert await days(kept_site, 3) == [False, True, True]
    assert sent(kept_site.network.requests[-1]) == ('"b"', CHANGED)


async def test_a_304_to_a_request_without_conditions_is_a_failure(site: Site) -> None:
    site.network.on(ROBOTS, unchanged(), answer(ROBOTS, FORBIDDING))

    with pytest.raises(FetchFailed) as caught:
        await site.is_allowed()

    assert (caught.value.kind, caught.value.status) == ("protocol", 304)
    assert not await site.is_allowed()


async def test_a_part_that_nobody_asked_for_is_a_failure(site: Site) -> None:
    site.network.on(ROBOTS, answer(ROBOTS, FORBIDDING, status=206))

    with pytest.raises(FetchFailed):
        await site.is_allowed()


async def test_now_and_then_the_request_is_unconditional(kept_site: Site) -> None:
    kept_site.network.on(ROBOTS, tagged(FORBIDDING), *[unchanged()] * 30, tagged(""))

    assert await days(kept_site, 32) == [False] * 31 + [True]
    assert [sent(request)[0] for request in kept_site.network.requests] == [None, *[TAG] * 30, None]


async def test_validators_are_sent_only_where_they_came_from(kept_site: Site) -> None:
    there = "https://b.example/r"
    kept_site.network.on(ROBOTS, answer(ROBOTS, status=301, headers=[("location", there)]))
    kept_site.network.on(there, tagged(FORBIDDING, there), unchanged(there))

    assert await days(kept_site, 2) == [False, False]
    assert [(request.url, sent(request)[0]) for request in kept_site.network.requests[2:]] == [
        (ROBOTS, None),
        (there, TAG),
    ]


@pytest.mark.parametrize("tag", ["", '"a\x7f"', '"' + "x" * 5000 + '"'])
async def test_a_validator_that_cannot_be_sent_back_is_not_kept(tag: str) -> None:
    site = Site(Kept())
    site.network.on(ROBOTS, tagged(FORBIDDING, etag=tag), tagged(""))

    assert await days(site, 2) == [False, True]
    assert sent(site.network.requests[1]) == (None, CHANGED)


# Errors that last -------------------------------------------------------------------------------------------------
async def test_while_the_server_has_errors_nothing_is_allowed_whatever_was_known(kept_site: Site) -> None:
    kept_site.network.on(ROBOTS, tagged(""), answer(ROBOTS, status=503), unchanged())

    allowed = [await kept_site.is_allowed()]
    await kept_site.clock.advance(DAY)
    allowed.append(await kept_site.is_allowed())
    await kept_site.clock.advance(HOUR)
    allowed.append(await kept_site.is_allowed())

    assert allowed == [True, False, True]
    assert sent(kept_site.network.requests[2]) == (TAG, CHANGED)


@pytest.mark.parametrize("known", [FORBIDDING, ""])
async def test_after_30_days_of_errors_what_was_known_before_holds_again(kept_site: Site, known: str) -> None:
    kept_site.network.on(ROBOTS, tagged(known), answer(ROBOTS, status=500))
    await kept_site.is_allowed()
    await kept_site.clock.advance(DAY)

    lost = await days(kept_site, 30)
    after = [(await kept_site.cache.ruling(url)) for url in (PAGE, f"{ORIGIN}/other")]

    assert lost == [False] * 30
    assert [ruling.allowed for ruling in after] == [known == "", True]


async def test_after_30_days_of_nothing_but_errors_there_are_no_rules(kept_site: Site) -> None:
    kept_site.network.on(ROBOTS, answer(ROBOTS, status=500))

    assert await days(kept_site, 31) == [False] * 30 + [True]


async def test_a_server_that_recovers_begins_its_30_days_anew(kept_site: Site) -> None:
    error = answer(ROBOTS, status=500)
    kept_site.network.on(ROBOTS, *[error] * 20, answer(ROBOTS, ""), error)

    assert await days(kept_site, 45) == [False] * 20 + [True] + [False] * 24


async def test_the_redirects_of_one_robots_txt_share_its_deadline(site: Site) -> None:
    slow = msgspec.structs.replace(answer(ROBOTS, status=302, headers=[("location", "/r")]), elapsed_ms=30_000)
    site.network.on(ROBOTS, slow)
    site.network.on(f"{ORIGIN}/r", msgspec.structs.replace(slow, url=f"{ORIGIN}/r", headers=(("location", "/s"),)))

    with pytest.raises(FetchFailed) as caught:
        await site.is_allowed()

    assert caught.value.kind == "timeout"
    assert [request.total_s for request in site.network.requests] == [60.0, 30.0]


DAY_US = 24 * 3600 * 1_000_000
TEXT = "text/plain"


class World:
    """A cache of robots.txt over the network, and a site; time passes only while a task waits for it."""

    def __init__(self, origin: Origin, client: Fetcher) -> None:
        self.origin, self._client, self.clock = origin, client, EagerClock()
        self.gates = Gates(HostSettings(delay=timedelta(seconds=5)), self.clock)
        self.cache = RobotsCache(self._get, None, self.clock)
        outage, in_flight = OutageWatch(self.clock), RequestSlots(10)
        self._receiver = Receiver(self.gates, self.cache, outage, in_flight, FetchSettings(), self.clock)

    async def _get(self, request: HopRequest) -> HopResponse:
        return await self._receiver.hop(request, self._client.shared())

    async def receive(self, request: PageRequest) -> ReceivedPage:
        return await self._receiver.receive(request, self._client.shared())

    async def is_allowed(self, path: str) -> bool:
        return (await self.cache.ruling(self.origin.url(path))).allowed

    def serve(self, robots: str | bytes, **answer: object) -> None:
        self.origin.pages["/robots.txt"] = Page(robots, content_type=TEXT, **answer)  # type: ignore[arg-type]  # passed on


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with Origin() as origin, fetcher() as client:
        await origin.start("127.0.0.2")
        yield World(origin, client)


async def test_the_conditions_are_the_bytes_that_came_and_a_304_renews_the_answer(world: World) -> None:
    world.serve("User-agent: *\nDisallow: /a", etag='W/"1,2"')

    allowed = [await world.is_allowed("/a")]
    world.clock.set_wall(world.clock.now() + DAY_US)
    allowed.append(await world.is_allowed("/a"))

    assert allowed == [False, False]
    assert [asked.headers.get("if-none-match") for asked in world.origin.log] == [None, 'W/"1,2"']


@pytest.mark.parametrize("packed", [False, True])
async def test_LM42_of_10_mb_the_first_500_kib_are_read(world: World, packed: bool) -> None:  # noqa: FBT001 - a table
    body = b"User-agent: *\nDisallow: /a\n" + b"# more\n" * 1_500_000 + b"Disallow: /b\n"
    world.serve(gzip.compress(body) if packed else body, headers={"content-encoding": "gzip"} if packed else {})

    assert not await world.is_allowed("/a")
    assert await world.is_allowed("/b")


async def test_a_redirect_to_another_host_is_followed_at_that_host_s_gate(world: World) -> None:
    there = world.origin.url("/rules").replace("127.0.0.1", "127.0.0.2")
    world.serve("", status=301, headers={"location": there})
    world.origin.pages["/rules"] = Page("User-agent: *\nDisallow: /a", content_type=TEXT)
    world.gates.leave(await world.gates.enter("127.0.0.2"))

    assert not await world.is_allowed("/a")
    # That host had been asked a moment before.
    assert world.clock.slept == [5.0]


async def test_robots_txt_is_asked_for_through_the_proxy_of_its_page() -> None:
    async with RawOrigin(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n.") as proxy, fetcher() as client:
        policy = PageSettings(proxy=proxy.url(""))
        await World(Origin(), client).receive(PageRequest("http://a.example/page", "a.example", policy))

    assert [head.partition(b" HTTP")[0] for head in proxy.heads] == [
        b"GET http://a.example/robots.txt",
        b"GET http://a.example/page",
    ]
