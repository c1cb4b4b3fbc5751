"""How robots.txt is asked for again: its validators, a 304, and errors that last (RFC 9309, 2.3 and 2.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from tests.engine.hosts.robots_site import FORBIDDING, HOUR, ORIGIN, PAGE, ROBOTS, Kept, Site
from tests.fakes import answer
from tocsin.errors import FetchFailed

if TYPE_CHECKING:
    from tocsin.model import HopRequest, HopResponse

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


@pytest.fixture
def site() -> Site:
    return Site()


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
