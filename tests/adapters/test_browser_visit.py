"""What a browser is asked: as little as possible, since each question and each change takes all of its processes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from tests.browsing import visit_of
from tocsin.adapters.browser.request_filter import PageRequests
from tocsin.adapters.browser.visit import PageVisit, VisitClock
from tocsin.spec.steps import ReadyRule

NETWORK = ReadyRule("network")
LONG_AGO = -60.0


class AskedPage:
    """A page that is complete; `asked` counts how often it was asked, and each time `meanwhile` happens."""

    def __init__(self) -> None:
        self.asked, self.meanwhile = 0, list[Callable[[], object]]()

    async def send(self, method: str, _: dict[str, Any]) -> dict[str, Any]:
        if method == "Page.createIsolatedWorld":
            return {"executionContextId": 1}
        self.asked += 1
        for each in self.meanwhile:
            each()
        return {"result": {"value": "complete"}}


@pytest.fixture
async def visit() -> PageVisit:
    async def permit(_host: str, _document: str) -> None: ...

    async with asyncio.timeout(None) as timeout, asyncio.TaskGroup() as group:
        clock = VisitClock(timeout, 60.0)
        return PageVisit(
            visit_of("http://app.example/"), clock, user_agent="", most_requests=9, permit=permit, group=group
        )


async def is_ready(visit: PageVisit, page: AskedPage) -> bool:
    return await visit._is_ready(page, NETWORK)  # type: ignore[arg-type]  # what it uses of a session


async def test_a_page_whose_network_is_busy_is_not_asked(visit: PageVisit) -> None:
    page = AskedPage()
    visit._changed_at = asyncio.get_running_loop().time()

    assert not await is_ready(visit, page)
    assert page.asked == 0


async def test_a_quiet_page_is_asked_once(visit: PageVisit) -> None:
    page = AskedPage()
    visit._changed_at = LONG_AGO

    assert await is_ready(visit, page)
    assert page.asked == 1


async def test_a_page_that_begins_a_request_before_it_answers_is_not_ready(visit: PageVisit) -> None:
    """On a busy machine a script runs long after it was loaded."""
    page = AskedPage()
    page.meanwhile.append(lambda: visit._under_way.add(object()))  # type: ignore[arg-type]  # any request
    visit._changed_at = LONG_AGO

    assert not await is_ready(visit, page)


@pytest.mark.parametrize(
    ("own", "changed"),
    [
        ((), {}),
        ((("X-Token", "a"),), {"headers": [{"name": "Accept", "value": "*/*"}, {"name": "x-token", "value": "a"}]}),
    ],
)
async def test_a_request_goes_with_headers_of_ours_only_where_the_page_has_some(
    own: tuple[tuple[str, str], ...], changed: dict[str, Any]
) -> None:
    async def permit(_host: str, _document: str) -> None: ...

    requests = PageRequests(
        "http://app.example/", own, secrets=(), wants_picture=False, most=9, permit=permit, end=lambda _: None
    )
    request = {"url": "http://app.example/data", "headers": {"Accept": "*/*"}}

    assert await requests.judge({"resourceType": "Fetch", "frameId": "", "request": request}) == changed
