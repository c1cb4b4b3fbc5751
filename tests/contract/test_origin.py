"""What the loopback site promises to the tests that use it."""

from __future__ import annotations

from tests.origin import Origin, Page
from tests.wire import fetcher, request


async def test_a_list_of_pages_is_answered_one_after_the_other_and_the_last_one_stays() -> None:
    async with Origin() as origin, fetcher() as client:
        origin.pages["/"] = [Page("one"), Page("two", status=503), Page("three")]

        answers = [await client.get(request(origin.url("/"))) for _ in range(4)]

    assert [answer.status for answer in answers] == [200, 503, 200, 200]
    assert answers[3].body == b"three"


async def test_conditions_that_hold_are_answered_with_304() -> None:
    async with Origin() as origin, fetcher() as client:
        origin.pages["/"] = Page("words", etag='"1"', last_modified="Sat, 21 Nov 2026 09:00:00 GMT")

        same = await client.get(request(origin.url("/"), headers=(("If-None-Match", '"1"'),)))
        other = await client.get(request(origin.url("/"), headers=(("If-None-Match", '"2"'),)))
        date = "Sat, 21 Nov 2026 09:00:00 GMT"
        dated = await client.get(request(origin.url("/"), headers=(("If-Modified-Since", date),)))

    assert [same.status, other.status, dated.status] == [304, 200, 304]
    assert same.header("etag") == '"1"'


async def test_a_body_may_be_made_from_the_request_and_every_request_is_logged() -> None:
    async with Origin() as origin, fetcher() as client:
        origin.pages["/a"] = Page(lambda asked: asked.path.upper())

        answer = await client.get(request(origin.url("/a?b")))

    assert answer.body == b"/A?B"
    assert [asked.path for asked in origin.log] == ["/a?b"]
