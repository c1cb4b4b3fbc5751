"""The demo's site and its receiver, asked over loopback."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import aiohttp
import pytest

from tocsin.adapters.channels.signing import read_secrets, sign
from tocsin.demo.site import DemoSite

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

SECRET = "whsec_c2VjcmV0"
EVENT = b'{"id": "one"}'


@pytest.fixture
async def site() -> AsyncIterator[DemoSite]:
    async with DemoSite(secret=SECRET) as opened:
        yield opened


@pytest.fixture
async def client() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


async def post(client: aiohttp.ClientSession, site: DemoSite, headers: dict[str, str]) -> int:
    async with client.post(site.hook_url, data=EVENT, headers=headers) as answer:
        return answer.status


async def test_every_page_is_served_at_its_url(site: DemoSite, client: aiohttp.ClientSession) -> None:
    for path, page in site.pages.items():
        async with client.get(site.url(path)) as answer:
            assert (answer.status, await answer.text()) == (200, page.html())


async def test_a_machine_with_one_loopback_address_serves_every_page_there(client: aiohttp.ClientSession) -> None:
    async with DemoSite(secret=SECRET, hosts=("127.0.0.2", "192.0.2.1", "127.0.0.4")) as site:
        assert site.hosts == ("127.0.0.1",)
        for path in site.pages:
            async with client.get(site.url(path)) as answer:
                assert answer.status == 200


async def test_who_has_the_version_is_answered_304(site: DemoSite, client: aiohttp.ClientSession) -> None:
    page = site.pages["/news"]

    async with client.get(site.url("/news"), headers={"If-None-Match": page.etag}) as answer:
        assert answer.status == 304


async def test_a_failing_page_answers_503(site: DemoSite, client: aiohttp.ClientSession) -> None:
    site.pages["/shop"].failing = True

    async with client.get(site.url("/shop")) as answer:
        assert answer.status == 503


async def test_an_unknown_path_answers_404(site: DemoSite, client: aiohttp.ClientSession) -> None:
    async with client.get(f"{site.url('/news')}/nothing") as answer:
        assert answer.status == 404


async def test_held_answers_wait_for_the_release_and_conditional_ones_do_not(
    site: DemoSite, client: aiohttp.ClientSession
) -> None:
    site.hold()
    async with asyncio.TaskGroup() as group:
        held = group.create_task(client.get(site.url("/news")))
        async with client.get(site.url("/news"), headers={"If-None-Match": '"older"'}) as answer:
            assert answer.status == 200
        assert not held.done()

        site.release()

    assert held.result().status == 200
    held.result().release()


async def test_the_receiver_takes_what_is_signed_once_it_is_to_take_anything(
    site: DemoSite, client: aiohttp.ClientSession
) -> None:
    headers = sign(read_secrets(SECRET), "one", 1_800_000_000_000_000, EVENT)

    assert [await post(client, site, headers) for _ in range(2)] == [503, 503]
    site.take_alerts()
    assert await post(client, site, headers) == 204
    assert site.received == [{"id": "one"}]


@pytest.mark.parametrize("change", [{"webhook-id": "two"}, {"webhook-signature": "v1,AAAA"}, {"webhook-timestamp": ""}])
async def test_the_receiver_refuses_what_is_not_signed_with_its_secret(
    site: DemoSite, client: aiohttp.ClientSession, change: dict[str, str]
) -> None:
    headers = sign(read_secrets(SECRET), "one", 1_800_000_000_000_000, EVENT)
    site.take_alerts()

    assert await post(client, site, headers | change) == 401
    assert site.received == []
