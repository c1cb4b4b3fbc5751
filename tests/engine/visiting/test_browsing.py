"""Checks in a browser: what is compared, each document's turn, and failures (T57 to T62)."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from tests.builders import HOUR, digest_of, html, stored, task
from tests.fakes import START, EagerClock, FakeBrowser, RecordingTelemetry, ScriptedFetcher, SeededChance, dom, settle
from tocsin.engine.hosts.gates import Gates
from tocsin.engine.hosts.outage import OutageWatch
from tocsin.engine.hosts.process_limits import RequestSlots
from tocsin.engine.hosts.robots import RobotsCache
from tocsin.engine.judging.conclude import Conclusions
from tocsin.engine.judging.events import EventWriter
from tocsin.engine.policies import Policies
from tocsin.engine.rendering.browser_queue import BrowserQueue
from tocsin.engine.visiting.browsing import PageBrowser
from tocsin.engine.visiting.receive import Receiver, RequestSets
from tocsin.engine.visiting.visit import Visitor
from tocsin.errors import FetchFailed, FetchRefused, ProcessError
from tocsin.model import (
    NO_FLAGS,
    CheckResult,
    FailureKind,
    HopRequest,
    HopResponse,
    KeptPicture,
    PageFlags,
    PictureDifference,
    SeenPicture,
    SignalContext,
    Validators,
)
from tocsin.ports.browser import BrowserVisit
from tocsin.settings import BrowserSettings, FetchSettings, HostSettings, InstanceSettings, PageSettings

PAGE = "https://app.example/"
LOGIN = "https://login.example/in"
SHELL = "<!doctype html><title>App</title><div id=root></div><script src=/main.js></script>"


class Setting:
    """A visitor with a scripted browser, on a clock that only moves while a task sleeps."""

    def __init__(self, *, robots: bool = False, hosts: HostSettings | None = None, **pages: Any) -> None:
        self.browser, self.web, self.clock = FakeBrowser(), ScriptedFetcher(), EagerClock()
        self.telemetry, self.outage = RecordingTelemetry(), OutageWatch(self.clock)
        self.gates = Gates(hosts or HostSettings(delay=timedelta(0)), self.clock)
        self.queue = BrowserQueue(lambda _group: self.browser, 2, self.clock, self.telemetry)
        fetch, instance, chance = (
            FetchSettings(redirects=3),
            InstanceSettings(time_zone="Europe/Berlin"),
            SeededChance(),
        )
        reader = PageBrowser(self.queue, BrowserSettings(), fetch, instance, "Tocsin/0 (+mailto:a@b.example)")
        cache = RobotsCache(self._get, None, self.clock) if robots else None
        slots = RequestSlots(1)
        self.receiver = Receiver(self.gates, cache, self.outage, slots, fetch, self.clock, browser=reader)
        tries = RequestSets(self.receiver, self.web, self.gates, fetch, self.clock, chance)
        self.policies = Policies(msgspec.structs.replace(PageSettings(fetch="browser"), **pages))
        conclusions = Conclusions(EventWriter("tocsin", chance), time_zone="UTC")
        self.visitor = Visitor(
            tries, self.policies, conclusions, self.gates, self.outage, fetch, self.clock, self.telemetry
        )

    async def _get(self, request: HopRequest) -> HopResponse:
        return await self.receiver.hop(request, self.web)

    async def visit(self, **page: Any) -> CheckResult:
        async with self.queue.running():
            return await self.visitor.visit(task(**({"url": PAGE, "host": "app.example"} | page)))


async def test_the_document_that_scripts_made_is_compared() -> None:
    site = Setting()
    site.web.page(PAGE, SHELL)
    site.browser.on(PAGE, dom(PAGE, html(created="1", topper_major="2026-11-01")))

    result = await site.visit(state=stored(created="1"))

    assert (result.report.outcome, result.report.changed) == ("major", ("topper-major",))
    assert site.web.requests == []
    assert result.verdict is not None
    assert result.verdict.data["trace"][0]["why"].endswith("; read in a browser")


async def test_a_browser_is_told_what_the_page_s_settings_say() -> None:
    site = Setting(
        ready="css: main", steps=("click .more",), consent="reject", auth="me:secret", cookies={"a": "b"}, headers={},
        secrets={"USER": "ada"},
    )  # fmt: skip
    site.browser.on(PAGE, dom(PAGE, html(created="1")))

    await site.visit()

    (visit,) = site.browser.visits
    assert (visit.ready, visit.steps, visit.consent, visit.time_zone) == (
        "css: main", ("click .more",), "reject", "Europe/Berlin",
    )  # fmt: skip
    assert dict(visit.headers)["Authorization"].startswith("Basic ")
    assert dict(visit.headers)["Cookie"] == "a=b"
    assert (visit.secrets, visit.page_id, visit.is_trial) == ({"USER": "ada"}, 1, False)
    assert not visit.wants_picture


async def test_no_conditions_are_made_and_no_validators_are_kept() -> None:
    site, body = Setting(), html(created="1")
    kept = {"state": stored(created="1"), "validators": Validators('"tag"', None, PAGE), "body_digest": digest_of(body)}
    headers = (("etag", '"other"'), ("last-modified", "Sat, 21 Nov 2026 08:00:00 GMT"), ("content-type", "text/plain"))
    site.browser.on(PAGE, dom(PAGE, body, headers=headers))

    result = await site.visit(**kept)

    assert (result.report.outcome, result.conditional_run) == ("unchanged", 0)
    assert result.state is not None
    assert result.state.validators is None
    assert result.state.body_digest not in {None, digest_of(body)}


async def test_an_unchanged_document_is_not_read_again() -> None:
    site = Setting()
    site.browser.on(PAGE, dom(PAGE, html(created="1")))
    first = await site.visit()
    assert first.state is not None

    again = await site.visit(state=stored(created="1"), body_digest=first.state.body_digest)

    assert again.state is not None
    assert again.state.body_digest == first.state.body_digest
    assert again.report.outcome == "unchanged"


async def test_T62_each_further_document_has_its_turn_and_its_robots_txt() -> None:
    site = Setting(robots=True)
    site.web.page("https://app.example/robots.txt", "User-agent: *\nDisallow: /private")
    site.web.page("https://login.example/robots.txt", "User-agent: *\nDisallow: /")
    site.browser.on(PAGE, dom(PAGE, html(created="1"), LOGIN))

    result = await site.visit()

    assert result.report.outcome == "disallowed"
    assert result.report.rule is not None
    assert '"Disallow: /"' in result.report.rule
    assert [request.url for request in site.web.requests] == [
        "https://app.example/robots.txt",
        "https://login.example/robots.txt",
    ]


async def test_T62_robots_txt_keeps_the_browser_from_a_page() -> None:
    site = Setting(robots=True)
    site.web.page("https://app.example/robots.txt", "User-agent: *\nDisallow: /")

    result = await site.visit()

    assert result.report.outcome == "disallowed"
    assert site.browser.visits == []


async def test_a_page_whose_host_allows_one_request_at_a_time_does_not_wait_for_itself() -> None:
    site = Setting(hosts=HostSettings(concurrency=1, delay=timedelta(seconds=2)))
    site.browser.on(PAGE, dom(PAGE, html(created="1"), "https://app.example/home"))
    held: list[bool] = []

    async def look(_visit: BrowserVisit) -> None:
        held.append(site.gates.enter_at_once("app.example") is None)

    site.browser.before = look

    result = await site.visit()

    assert (result.report.outcome, result.report.final_url) == ("first", "https://app.example/home")
    assert held == [True]
    assert site.clock.slept == [2.0]


@pytest.mark.parametrize(
    ("documents", "said"),
    [
        (["https://app.example/1", PAGE, "https://app.example/2", PAGE], "raise fetch.redirects"),
        (["file:///etc/passwd"], "led to a URL that is not requested"),
    ],
)
async def test_where_a_page_may_not_lead_the_visit_ends(documents: list[str], said: str) -> None:
    site = Setting()
    site.browser.on(PAGE, dom(PAGE, html(created="1"), *documents))

    result = await site.visit()

    assert result.report.error is not None
    assert result.report.error[0] == "redirect"
    assert said in result.report.error[1]


async def test_a_browser_that_a_page_took_over_cannot_say_where_it_was() -> None:
    site = Setting()
    site.browser.on(PAGE, msgspec.structs.replace(dom(PAGE, html(created="1")), url="https://bank.example/"))

    result = await site.visit()

    assert result.report.final_url == PAGE


@pytest.mark.parametrize(
    ("failure", "visits"),
    [
        (FetchFailed(PAGE, FailureKind.CRASHED, "the browser ended"), 3),
        (FetchFailed(PAGE, FailureKind.TIMEOUT, "30 s"), 3),
        (FetchRefused(PAGE, FailureKind.TOO_COMPLEX, "500 MiB"), 3),
        (FetchRefused(PAGE, FailureKind.BLOCKED_ADDRESS, "10.0.0.1"), 1),
        (FetchRefused(PAGE, FailureKind.TOO_LARGE, "30 MiB"), 1),
    ],
)
async def test_T58_a_crash_a_cap_and_a_timeout_are_failures_of_the_set(failure: Exception, visits: int) -> None:
    site = Setting()
    site.browser.on(PAGE, failure)

    result = await site.visit()

    assert result.report.outcome == "unreachable"
    assert len(site.browser.visits) == visits


@pytest.mark.parametrize(
    ("page", "cause"),
    [(dom(PAGE, "gone", status=404), "status 404"), (dom(PAGE, "", status=200), "empty")],
)
async def test_T58_an_answer_that_is_not_the_page_is_none_in_a_browser_either(page: Any, cause: str) -> None:
    site = Setting(tries=0)
    site.browser.on(PAGE, page)

    result = await site.visit()

    assert result.failure is not None
    assert result.failure.cause == cause


@pytest.mark.parametrize(("kind", "doubt"), [("crashed", False), ("timeout", False), ("dns", True)])
async def test_a_browser_that_fails_is_no_outage_of_our_connection(kind: str, *, doubt: bool) -> None:
    site = Setting(tries=0)
    async with site.queue.running():
        for host in ("a.example", "b.example", "c.example"):
            site.browser.on(f"https://{host}/", FetchFailed(f"https://{host}/", FailureKind(kind), "no"))
            await site.visitor.ends(task(url=f"https://{host}/", host=host))

    assert site.outage.in_doubt is doubt


async def test_a_page_with_a_proxy_is_held_with_the_mend() -> None:
    site = Setting(proxy="http://proxy.example:3128")

    result = await site.visit()

    assert result.report.outcome == "deferred"
    assert result.report.error is not None
    assert "set fetch to http, or unset proxy" in result.report.error[1]
    assert site.browser.visits == []


async def test_where_there_is_no_browser_the_page_is_held_with_the_mend() -> None:
    site = Setting()
    site.browser.on(PAGE, ProcessError("no browser is installed; apt install chromium-headless-shell"))

    result = await site.visit()

    assert result.report.outcome == "deferred"
    assert result.report.error is not None
    assert "apt install chromium-headless-shell" in result.report.error[1]
    assert result.failure is None


async def test_T62_a_page_that_is_taken_off_the_list_while_it_waits_is_not_visited() -> None:
    site = Setting()
    page = task(url=PAGE, host="app.example")
    site.visitor.expect(page)
    site.visitor.withdraw([page.page_id])

    result = await site.visit()

    assert result.report.outcome == "skipped"
    assert site.browser.visits == []


async def test_waiting_for_the_browser_is_no_lateness_and_can_be_given_up() -> None:
    site = Setting()
    site.queue.places.note(limit=1, rendering=1, are_waiting=False)
    page = task(url=PAGE, host="app.example", due_at=START - HOUR)
    site.visitor.expect(page)
    late = site.visitor.waiting_since()
    async with site.queue.running(), asyncio.TaskGroup() as group:
        visit = group.create_task(site.visitor.visit(page))
        await settle()
        waiting, dropped = site.visitor.waiting_since(), site.visitor.drop()
        site.queue.places.note(limit=1, rendering=0, are_waiting=False)

    assert (late, waiting, dropped) == (START - HOUR, None, [page.page_id])
    assert (visit.result().report.outcome, site.browser.visits) == ("skipped", [])


async def test_a_page_that_is_to_say_so_tells_once_after_three_checks_that_it_needs_a_browser() -> None:
    site = Setting(fetch="auto")
    site.web.page(PAGE, SHELL)
    told, flags = [], NO_FLAGS
    for _ in range(5):
        result = await site.visit(flags=flags)
        flags = result.flags
        told.append([alert.type for alert in result.alerts])

    assert told == [[], [], ["tocsin.page.needs-browser.v1"], [], []]
    assert site.browser.visits == []


async def test_a_rule_about_the_picture_has_checks_take_one_and_compare_it() -> None:
    site = Setting(signal_rules=("picture by 5 %: minor",))
    seen = SeenPicture(KeptPicture("ab", 1280, 2000, 3, "cd", PictureDifference(0.07)))
    site.browser.on(PAGE, dom(PAGE, html(created="1")), dom(PAGE, html(created="1"), seen=seen))

    first = await site.visit()
    assert first.state is not None
    known = SignalContext(known=first.learnt.known)
    second = await site.visit(state=stored(created="1"), body_digest=first.state.body_digest, beside=known)

    assert [(each.wants_picture, each.compares_picture, each.page_id) for each in site.browser.visits] == [
        (True, True, 1)
    ] * 2
    assert (second.report.outcome, second.report.signals) == ("minor", ("picture",))
    assert second.learnt.picture == seen.kept


@pytest.mark.parametrize("rules", [(), ("picture: ignore",), ("content by 5 %: minor",)])
async def test_without_such_a_rule_no_picture_is_taken_of_a_check(rules: tuple[str, ...]) -> None:
    site = Setting(signal_rules=rules)
    site.browser.on(PAGE, dom(PAGE, html(created="1")))

    await site.visit()

    assert [(each.wants_picture, each.compares_picture) for each in site.browser.visits] == [(False, False)]


async def test_checks_that_find_the_page_unchanged_count_too_and_one_that_finds_another_page_does_not() -> None:
    site = Setting(fetch="auto")
    site.web.page(PAGE, SHELL)
    first = await site.visit()
    assert first.state is not None
    kept = {"state": stored(), "body_digest": first.state.body_digest, "set_at": START - HOUR}

    same = await site.visit(flags=first.flags, **kept)
    site.web.page(PAGE, "%PDF-1.7")
    other = await site.visit(flags=same.flags, **kept)
    site.web.page(PAGE, SHELL)
    third = await site.visit(flags=other.flags, **kept)

    assert [result.report.outcome for result in (same, other, third)] == ["unchanged", "suspect", "unchanged"]
    assert [result.flags.shells for result in (first, same, other, third)] == [1, 2, 2, 3]
    assert [alert.type for alert in third.alerts] == ["tocsin.page.needs-browser.v1"]


async def test_a_page_that_stops_being_a_shell_is_counted_anew() -> None:
    site = Setting(fetch="auto")
    site.web.page(PAGE, "<title>Harbour</title><p>" + "The harbour is open all day, and at night as well. " * 9)

    result = await site.visit(flags=PageFlags(is_shell=True, shells=3))

    assert result.flags == NO_FLAGS


@pytest.mark.parametrize("fetch", ["http", "auto"])
async def test_only_where_the_user_wants_to_be_told_are_checks_counted(fetch: str) -> None:
    site = Setting(fetch=fetch)
    site.web.page(PAGE, SHELL)

    result = await site.visit(flags=PageFlags(is_shell=True, shells=2))

    assert (result.flags.is_shell, len(result.alerts)) == (True, int(fetch == "auto"))
