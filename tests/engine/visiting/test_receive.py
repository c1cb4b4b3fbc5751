"""Receiving a page: redirects, robots.txt, failures, and which of them are tried again (T57 to T61)."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes import START, EagerClock, FixedChance, ManualClock, ScriptedFetcher, SeededChance, answer
from tocsin.engine.hosts.gates import Gates
from tocsin.engine.hosts.outage import OutageWatch
from tocsin.engine.hosts.process_limits import RequestSlots
from tocsin.engine.hosts.robots import RobotsCache
from tocsin.engine.visiting.receive import PageRequest, Receiver
from tocsin.engine.visiting.retry import TryPolicy, is_retried, parse_retry_after, pause_s, tries
from tocsin.errors import Disallowed, FetchError, FetchFailed, FetchRefused, Postponed
from tocsin.model import FailureKind, HopRequest, HopResponse, Validators
from tocsin.settings import FetchSettings, HostSettings, PageSettings

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


URL = "https://a.example/"


def failed(kind: FailureKind, *, status: int | None = None, retry_after: timedelta | None = None) -> FetchFailed:
    return FetchFailed(URL, kind, "…", status=status, retry_after=retry_after)


@pytest.mark.parametrize("kind", ["dns", "connect", "tls", "timeout", "protocol", "decode", "empty", "step"])
def test_T58_what_kept_the_answer_from_us_is_tried_again(kind: FailureKind) -> None:
    assert is_retried(failed(FailureKind(kind)))


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504, 599])
def test_T58_statuses_that_pass_are_tried_again(status: int) -> None:
    assert is_retried(failed(FailureKind.STATUS, status=status))


@pytest.mark.parametrize("status", [201, 204, 206, 304, 400, 401, 403, 404, 410, 451, 600])
def test_T58_a_complete_answer_that_is_not_the_page_is_final(status: int) -> None:
    assert not is_retried(FetchRefused(URL, FailureKind.STATUS, "…", status=status))


@pytest.mark.parametrize("kind", [FailureKind.REDIRECT, FailureKind.BLOCKED_ADDRESS, FailureKind.TOO_LARGE])
def test_T58_what_is_refused_is_tried_again_only_where_the_user_says_so(kind: FailureKind) -> None:
    refused = FetchRefused(URL, kind, "…")

    assert not is_retried(refused)
    assert is_retried(refused, retry_refused=True)


def test_what_was_too_large_beside_others_is_tried_again() -> None:
    assert is_retried(failed(FailureKind.TOO_LARGE))


def test_an_error_that_is_none_of_the_network_s_is_not_tried_again() -> None:
    assert not is_retried(ValueError("a bug"), retry_refused=True)


class Page:
    """Makes sets of requests that all fail so; `made` counts them."""

    def __init__(self, error: FetchError) -> None:
        self.error = error
        self.made = 0

    async def receive(self, clock: EagerClock, policy: TryPolicy, *, spent: int = 0) -> None:
        async for attempt in tries(policy, clock, FixedChance(), spent=spent):
            with attempt:
                self.made += 1
                raise self.error


async def run(error: FetchError, clock: EagerClock, policy: TryPolicy, *, spent: int = 0) -> int:
    """Make tries that all fail so; returns how many sets were made before the failure came out."""
    page = Page(error)
    with pytest.raises(type(error)):
        await page.receive(clock, policy, spent=spent)
    return page.made


async def test_T58_a_set_is_made_again_up_to_two_times() -> None:
    clock = EagerClock()

    made = await run(failed(FailureKind.CONNECT), clock, TryPolicy())

    assert made == 3
    assert clock.slept == [1.0, 4.0]


async def test_T58_the_user_s_number_counts() -> None:
    assert await run(failed(FailureKind.CONNECT), EagerClock(), TryPolicy(further=0)) == 1


async def test_T58_tries_spent_before_a_pause_count() -> None:
    assert await run(failed(FailureKind.CONNECT), EagerClock(), TryPolicy(further=2), spent=2) == 1


async def test_T58_a_final_answer_ends_the_tries() -> None:
    refused = FetchRefused(URL, FailureKind.STATUS, "answered 404", status=404)

    assert await run(refused, EagerClock(), TryPolicy()) == 1


async def test_T58_tries_end_when_the_page_is_received() -> None:
    made = 0
    async for attempt in tries(TryPolicy(), EagerClock(), FixedChance()):
        with attempt:
            made += 1
            if made < 2:
                raise failed(FailureKind.TIMEOUT)

    assert made == 2


async def test_T58_a_pause_is_never_shorter_than_the_retry_after() -> None:
    clock = EagerClock()

    await run(failed(FailureKind.STATUS, status=503, retry_after=timedelta(seconds=20)), clock, TryPolicy())

    assert clock.slept == [20.0, 20.0]


async def test_a_pause_that_is_too_long_to_wait_for_is_handed_over_with_its_time() -> None:
    clock = EagerClock()
    busy = failed(FailureKind.STATUS, status=429, retry_after=timedelta(hours=1))

    with pytest.raises(Postponed) as caught:
        await Page(busy).receive(clock, TryPolicy(hold_s=30))

    assert caught.value.not_before == START + 3600 * 1_000_000
    assert caught.value.attempts == 1
    assert caught.value.__cause__ is busy
    assert clock.slept == []


async def test_after_the_last_try_no_pause_is_handed_over() -> None:
    busy = failed(FailureKind.STATUS, status=429, retry_after=timedelta(hours=1))

    assert await run(busy, EagerClock(), TryPolicy(further=2), spent=2) == 1


@given(st.integers(1, 10_000), st.integers())
def test_pauses_are_bounded_whatever_the_number_and_the_chance(number: int, seed: int) -> None:
    assert 0.5 <= pause_s(number, SeededChance(seed)) <= 450


@given(st.integers(1, 50), st.integers(0, 10**9), st.floats(0, 10**6))
def test_a_retry_after_counts_in_full_up_to_its_clamp(number: int, asked_s: int, clamp_s: float) -> None:
    """CVE-2025-68148: what a server asks for is clamped."""
    pause = pause_s(number, FixedChance(), timedelta(seconds=asked_s), clamp_s)

    assert pause >= min(asked_s, clamp_s)
    assert pause <= max(min(asked_s, clamp_s), 300)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120),
        ("  5 ", 5),
        ("0", 0),
        ("00007", 7),
        ("1000000000000", 3650 * 86400),
        ("9" * 100_000, 3650 * 86400),
        ("-5", None),
        ("1.5", None),
        ("soon", None),
        ("", None),
        (None, None),
        ("٣", None),
        ("99:99:99", None),
        ("Wed, 99 Foo 20:99", None),
        ("Fri, 31 Dec 9999 23:59:59 -2359", 3650 * 86400),
    ],
)
def test_a_retry_after_is_read_or_left(value: str | None, seconds: int | None) -> None:
    expected = None if seconds is None else timedelta(seconds=seconds)

    assert parse_retry_after(value, START) == expected


@pytest.mark.parametrize(("ahead_s", "expected_s"), [(90, 90), (-90, 0), (0, 0)])
def test_a_retry_after_may_be_a_date(ahead_s: int, expected_s: int) -> None:
    at = datetime.fromtimestamp(START / 1_000_000, UTC) + timedelta(seconds=ahead_s)

    assert parse_retry_after(format_datetime(at, usegmt=True), START) == timedelta(seconds=expected_s)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("Wed, 18 Nov 2026 11:07:40 GMT", 60),
        ("Wednesday, 18-Nov-26 11:07:40 GMT", 60),
        ("Wed Nov 18 11:07:40 2026", 60),
        ("Sunday, 06-Nov-94 08:49:37 GMT", 0),
        ("Friday, 18-Nov-77 11:06:40 GMT", 0),
        ("Wednesday, 18-Nov-76 11:06:40 GMT", 3650 * 86400),
        ("Sun, 06 Nov 1994 08:49:37 GMT", 0),
        ("Wed, 18 Nov 2026 12:07:40 +0100", 60),
        ("18 Nov 2026 11:07:40", 60),
        ("Wed, 18 Nov 2026 11:07:40 GMT" + " " * 100 + "x", None),
        ("Thursday, 29-Feb-27 00:00:00 GMT", None),
        ("2026-11-18T11:07:40Z", None),
    ],
)
def test_a_retry_after_is_read_in_every_form_of_a_date(value: str, seconds: int | None) -> None:
    expected = None if seconds is None else timedelta(seconds=seconds)

    assert parse_retry_after(value, START) == expected


@given(st.text() | st.from_regex(r"[A-Z][a-z]{2}, \d{1,2} [A-Z][a-z]{2} \d{1,6} \d\d:\d\d:\d\d( GMT| [+-]\d{4})?"))
def test_no_retry_after_is_too_strange(value: str) -> None:
    span = parse_retry_after(value, START)

    assert span is None or timedelta(0) <= span <= timedelta(days=3650)
