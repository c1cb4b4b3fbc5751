from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from tests.fakes import EagerClock, ManualClock, ScriptedFetcher, answer
from tocsin.engine.hosts.gates import Gates
from tocsin.engine.hosts.outage import OutageWatch
from tocsin.engine.hosts.request_slots import RequestSlots
from tocsin.engine.hosts.robots import RobotsCache
from tocsin.engine.visiting.receive import PageRequest, Receiver
from tocsin.errors import Disallowed, FetchFailed, FetchRefused, Postponed
from tocsin.model import Validators
from tocsin.settings import FetchSettings, HostSettings, PageSettings

if TYPE_CHECKING:
    from tocsin.model import HopRequest, HopResponse

SITE = "http://site.example"
PAGE = f"{SITE}/page"
ELSEWHERE = "http://other.example/page"
BODY = "<meta name=created content=2026>"
KNOWN = Validators('"tag"', "Sat, 21 Nov 2026 08:00:00 GMT", PAGE)


class Setting:
    """A receiver over a scripted web, with robots.txt obeyed if there is a script for one."""

    def __init__(self, *, robots: bool = False, **fetch: Any) -> None:
        self.web, self.clock = ScriptedFetcher(), EagerClock()
        self.gates = Gates(HostSettings(delay=timedelta(0)), self.clock)
        self.outage = OutageWatch(self.clock)
        cache = RobotsCache(self._get, None, self.clock) if robots else None
        settings = msgspec.structs.replace(FetchSettings(), **fetch)
        self.receiver = Receiver(self.gates, cache, self.outage, RequestSlots(10), settings, self.clock)

    async def _get(self, request: HopRequest) -> HopResponse:
        return await self.receiver.hop(request, self.web)

    async def receive(self, **request: Any) -> Any:
        known: dict[str, Any] = {"url": PAGE, "host": "site.example", "policy": PageSettings()}
        return await self.receiver.receive(PageRequest(**(known | request)), self.web)

    def redirect(self, url: str, target: str, *, status: int = 302) -> None:
        self.web.on(url, answer(url, status=status, headers=[("location", target)]))


async def test_a_200_is_the_page() -> None:
    site = Setting()
    site.web.page(PAGE, BODY)

    received = await site.receive()

    assert (received.final_url, received.not_modified, received.moved_to) == (PAGE, False, None)
    assert received.response.body == BODY.encode()


async def test_a_203_is_the_page() -> None:
    site = Setting()
    site.web.page(PAGE, BODY, status=203)

    assert (await site.receive()).response.status == 203


@pytest.mark.parametrize("status", [201, 204, 206, 400, 401, 403, 404, 410, 451])
async def test_T58_a_complete_answer_that_is_not_the_page_is_refused(status: int) -> None:
    site = Setting()
    site.web.page(PAGE, BODY, status=status)

    with pytest.raises(FetchRefused) as caught:
        await site.receive()

    assert (caught.value.kind, caught.value.status) == ("status", status)


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504])
async def test_T58_an_answer_that_says_not_now_is_a_failure(status: int) -> None:
    site = Setting()
    site.web.page(PAGE, BODY, status=status, headers=[("retry-after", "7")])

    with pytest.raises(FetchFailed) as caught:
        await site.receive()

    assert caught.value.retry_after == timedelta(seconds=7)


async def test_an_empty_200_is_no_page() -> None:
    site = Setting()
    site.web.page(PAGE, "")

    with pytest.raises(FetchFailed) as caught:
        await site.receive()

    assert caught.value.kind == "empty"


async def test_a_304_to_validators_that_were_sent_receives_the_page() -> None:
    site = Setting()
    site.web.page(PAGE, "", status=304)

    assert (await site.receive(validators=KNOWN)).not_modified


async def test_a_304_to_a_request_without_conditions_is_a_failure() -> None:
    site = Setting()
    site.web.page(PAGE, "", status=304)

    with pytest.raises(FetchFailed) as caught:
        await site.receive()

    assert caught.value.kind == "protocol"


async def test_validators_are_sent_byte_for_byte() -> None:
    site = Setting()
    site.web.page(PAGE, BODY)

    await site.receive(validators=KNOWN)

    sent = dict(site.web.requests[0].headers)
    assert sent["If-None-Match"] == KNOWN.etag
    assert sent["If-Modified-Since"] == KNOWN.last_modified


async def test_validators_are_sent_only_to_the_hop_that_gave_them() -> None:
    site = Setting()
    site.redirect(PAGE, ELSEWHERE)
    site.web.page(ELSEWHERE, "", status=304)

    received = await site.receive(validators=msgspec.structs.replace(KNOWN, hop_url=ELSEWHERE))

    first, second = (dict(request.headers) for request in site.web.requests)
    assert "If-None-Match" not in first
    assert second["If-None-Match"] == KNOWN.etag
    assert received.not_modified


async def test_T23_redirects_are_followed_one_by_one_and_the_last_hop_is_told() -> None:
    site = Setting()
    site.redirect(PAGE, "/a")
    site.redirect(f"{SITE}/a", "b?q#fragment")
    site.web.page(f"{SITE}/b?q", BODY)

    received = await site.receive()

    assert received.final_url == f"{SITE}/b?q"
    assert received.moved_to is None


@pytest.mark.parametrize("status", [301, 308])
async def test_a_permanent_redirect_says_where_the_page_lives_now(status: int) -> None:
    site = Setting()
    site.redirect(PAGE, "/new", status=status)
    site.web.page(f"{SITE}/new", BODY)

    assert (await site.receive()).moved_to == f"{SITE}/new"


async def test_what_follows_a_temporary_redirect_is_no_permanent_move() -> None:
    site = Setting()
    site.redirect(PAGE, "/a", status=302)
    site.redirect(f"{SITE}/a", "/b", status=301)
    site.web.page(f"{SITE}/b", BODY)

    assert (await site.receive()).moved_to is None


@pytest.mark.parametrize(
    "target",
    [
        "file:///etc/passwd",
        "gopher://ann:pass@site.example/",
        "data:text/html,x",
        "javascript:alert(1)",
        "http://[",
        "",
        f"/{'a' * 9000}",
    ],
)
async def test_a_redirect_to_anything_but_http_is_refused(target: str) -> None:
    """GHSA-496x-437q-h35q, and CVE-2024-51483 behind a redirect."""
    site = Setting()
    site.redirect(PAGE, target)

    with pytest.raises(FetchRefused) as caught:
        await site.receive()

    assert caught.value.kind == "redirect"
    assert "pass" not in str(caught.value).replace("passwd", "")
    assert len(site.web.requests) == 1


@pytest.mark.parametrize("location", ["http://ann:pass@other.example/page", "//ann:pass@other.example/page"])
async def test_credentials_that_a_redirect_brings_are_neither_sent_nor_shown(location: str) -> None:
    site = Setting()
    site.redirect(PAGE, location, status=301)
    site.web.page(ELSEWHERE, BODY)

    received = await site.receive()

    assert (received.final_url, received.moved_to) == (ELSEWHERE, ELSEWHERE)
    assert "Authorization" not in dict(site.web.requests[1].headers)


async def test_a_circle_of_redirects_is_seen_through_its_credentials() -> None:
    site = Setting()
    site.redirect(PAGE, PAGE.replace("//", "//ann:pass@"))

    with pytest.raises(FetchRefused, match="circle") as caught:
        await site.receive()

    assert "pass" not in str(caught.value)


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("/bewegt-\xc3\xbc", "/bewegt-%C3%BC"),
        ("/\xff", "/%FF"),
        ("?%\xe2\x98\x83", "/page?%%E2%98%83"),
        ("\\a\\b", "/a/b"),
    ],
)
async def test_where_a_redirect_leads_is_read_in_utf_8(location: str, target: str) -> None:
    site = Setting()
    site.redirect(PAGE, location)
    site.web.page(f"{SITE}{target}", BODY)

    assert (await site.receive()).final_url == f"{SITE}{target}"


async def test_what_a_user_wrote_goes_out_in_utf_8_before_what_we_say() -> None:
    site = Setting()
    site.web.page(PAGE, BODY)
    policy = msgspec.structs.replace(
        PageSettings(), headers={"accept": "text/plain", "X-Name": "é"}, cookies={"n": "☃"}, auth="Bearer t"
    )

    await site.receive(policy=policy)

    assert site.web.requests[0].headers == (
        ("accept", "text/plain"),
        ("X-Name", "\xc3\xa9"),
        ("Cookie", "n=\xe2\x98\x83"),
        ("Authorization", "Bearer t"),
    )


async def test_a_circle_of_redirects_is_refused() -> None:
    site = Setting()
    site.redirect(PAGE, "/a")
    site.redirect(f"{SITE}/a", "/page")

    with pytest.raises(FetchRefused, match="circle"):
        await site.receive()


async def test_more_redirects_than_allowed_are_refused() -> None:
    site = Setting(redirects=2)
    for number, path in enumerate(("page", "1", "2")):
        site.redirect(f"{SITE}/{path}", f"/{number + 1}")

    with pytest.raises(FetchRefused, match="more than 2 times"):
        await site.receive()

    assert len(site.web.requests) == 3


async def test_what_is_meant_for_the_pages_own_origin_is_not_sent_on_to_another() -> None:
    site = Setting()
    site.redirect(PAGE, ELSEWHERE)
    site.web.page(ELSEWHERE, BODY)
    policy = msgspec.structs.replace(PageSettings(), headers={"X-Key": "k"}, cookies={"sid": "1"})

    await site.receive(policy=policy, secrets=("ann", "pass"))

    first, second = (dict(request.headers) for request in site.web.requests)
    assert (first["X-Key"], first["Cookie"], first["Authorization"]) == ("k", "sid=1", "Basic YW5uOnBhc3M=")
    assert {"X-Key", "Cookie", "Authorization"}.isdisjoint(second)


async def test_the_total_deadline_is_shared_by_all_hops() -> None:
    site = Setting()
    site.redirect(PAGE, "/a")
    site.web.page(f"{SITE}/a", BODY)

    await site.receive()

    first, second = site.web.requests
    assert first.total_s == 60
    assert second.total_s < first.total_s


async def test_robots_txt_is_asked_before_the_page_and_obeyed() -> None:
    site = Setting(robots=True)
    site.web.page(f"{SITE}/robots.txt", "User-agent: *\nDisallow: /page")
    site.web.page(PAGE, BODY)

    with pytest.raises(Disallowed) as caught:
        await site.receive()

    assert (caught.value.url, site.web.asked(PAGE)) == (PAGE, 0)


async def test_robots_txt_of_the_host_that_a_redirect_leads_to_is_obeyed_too() -> None:
    site = Setting(robots=True)
    site.web.page(f"{SITE}/robots.txt", "", status=404)
    site.web.page("http://other.example/robots.txt", "User-agent: *\nDisallow: /")
    site.redirect(PAGE, ELSEWHERE)

    with pytest.raises(Disallowed):
        await site.receive()

    assert site.web.asked(ELSEWHERE) == 0


async def test_a_robots_txt_that_could_not_be_had_is_asked_again_in_an_hour() -> None:
    site = Setting(robots=True)
    site.web.page(f"{SITE}/robots.txt", "", status=503)

    with pytest.raises(Disallowed) as caught:
        await site.receive()

    assert caught.value.retry_at == site.clock.now() + 3600 * 1_000_000


async def test_a_hosts_retry_after_keeps_everybody_from_it() -> None:
    site = Setting()
    site.web.page(PAGE, BODY, status=429, headers=[("retry-after", "20")])

    with pytest.raises(FetchFailed):
        await site.receive()

    assert site.gates.held_s("site.example") == pytest.approx(20)


async def test_a_host_that_keeps_us_out_for_longer_than_the_hold_puts_the_page_off() -> None:
    site = Setting(hold=timedelta(milliseconds=20))
    waiting = ManualClock()
    site.gates = Gates(HostSettings(delay=timedelta(hours=1)), waiting)
    site.receiver = Receiver(
        site.gates, None, site.outage, RequestSlots(1), FetchSettings(hold=timedelta(milliseconds=20)), waiting
    )
    site.web.page(PAGE, BODY)
    await site.receive()

    with pytest.raises(Postponed) as caught:
        await site.receive()

    assert caught.value.not_before == waiting.now() + 3600 * 1_000_000


async def test_no_more_requests_are_in_flight_than_allowed() -> None:
    site = Setting()
    site.gates = Gates(HostSettings(delay=timedelta(0), concurrency=50), site.clock)
    site.receiver = Receiver(site.gates, None, site.outage, RequestSlots(3), FetchSettings(), site.clock)
    site.web.page(PAGE, BODY)
    inside, most = 0, 0

    async def look(_request: HopRequest) -> None:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        await asyncio.sleep(0)
        inside -= 1

    site.web.before = look
    await asyncio.gather(*(site.receive() for _ in range(20)))

    assert most == 3


async def test_a_typed_private_page_may_not_redirect_into_another_private_origin() -> None:
    site = Setting()
    site.redirect(PAGE, "/a")
    site.redirect(f"{SITE}/a", "http://10.0.0.1/")
    site.web.page("http://10.0.0.1/", BODY)

    await site.receive(private=True)

    assert [request.private for request in site.web.requests] == [True, True, False]


async def test_T62_a_host_that_wants_to_be_left_alone_for_longer_than_the_hold_is_not_waited_for() -> None:
    site = Setting(hold=timedelta(seconds=30))
    site.gates.hold("site.example", site.clock.monotonic() + 31)

    with pytest.raises(Postponed) as caught:
        await site.receive()

    assert caught.value.not_before == site.clock.now() + 31_000_000
    assert site.clock.slept == []
