"""The demo site among other pages: no redirect leads there, and what it answers says nothing of our own connection."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.fakes import EagerClock, ScriptedFetcher, answer
from tocsin.engine.hosts.gates import Gates
from tocsin.engine.hosts.outage import OutageWatch
from tocsin.engine.hosts.process_limits import RequestSlots
from tocsin.engine.visiting.receive import PageRequest, Receiver
from tocsin.errors import FetchRefused
from tocsin.model import DEMO_HOST, FailureKind
from tocsin.settings import FetchSettings, HostSettings, PageSettings

SITE = f"http://{DEMO_HOST}"
ELSEWHERE = "http://site.example/page"


async def received(web: ScriptedFetcher, url: str, host: str) -> str:
    clock = EagerClock()
    gates = Gates(HostSettings(delay=timedelta(0)), clock)
    receiver = Receiver(gates, None, OutageWatch(clock), RequestSlots(10), FetchSettings(), clock)
    return (await receiver.receive(PageRequest(url, host, PageSettings()), web)).final_url


@pytest.mark.parametrize("target", [f"{SITE}/news", "//demo.tocsin.invalid/news", "http://DEMO.Tocsin.invalid:80/news"])
async def test_another_page_is_not_led_to_the_demo_site(target: str) -> None:
    web = ScriptedFetcher()
    web.on(ELSEWHERE, answer(ELSEWHERE, status=302, headers=[("location", target)]))
    web.page(f"{SITE}/news", "<p>news")

    with pytest.raises(FetchRefused) as caught:
        await received(web, ELSEWHERE, "site.example")

    assert caught.value.kind is FailureKind.BLOCKED_ADDRESS
    assert "demo site" in str(caught.value)


async def test_its_own_pages_may_lead_to_one_another() -> None:
    web = ScriptedFetcher()
    web.on(f"{SITE}/old", answer(f"{SITE}/old", status=302, headers=[("location", "/news")]))
    web.page(f"{SITE}/news", "<p>news")

    assert await received(web, f"{SITE}/old", DEMO_HOST) == f"{SITE}/news"


async def test_that_the_demo_site_answers_does_not_hide_an_outage_of_our_own() -> None:
    web, clock = ScriptedFetcher(), EagerClock()
    gates, outage = Gates(HostSettings(delay=timedelta(0)), clock), OutageWatch(clock)
    receiver = Receiver(gates, None, outage, RequestSlots(10), FetchSettings(), clock)
    web.page(f"{SITE}/news", "<p>news")

    for number in range(3):
        outage.note(f"host{number}.example", ok=False, kind=FailureKind.CONNECT)
        await receiver.receive(PageRequest(f"{SITE}/news", DEMO_HOST, PageSettings()), web)

    assert outage.in_doubt
