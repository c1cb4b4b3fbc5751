"""What every fetcher promises: the one on the network, and the one that stands in for it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from tests.fakes import ScriptedFetcher, answer
from tests.origin import Origin, Page
from tests.wire import fetcher
from tocsin.errors import FetchFailed
from tocsin.model import FailureKind, HopRequest
from tocsin.ports import Fetcher


class World(ABC):
    """A fetcher, and pages that it can reach."""

    fetcher: Fetcher
    nowhere: str

    @abstractmethod
    def url(self, path: str) -> str: ...

    @abstractmethod
    def serve(self, path: str, body: bytes, *, status: int = 200, etag: str | None = None) -> None: ...


class ScriptedWorld(World):
    nowhere = "http://nowhere.example/"

    def __init__(self) -> None:
        self.fetcher = self.script = ScriptedFetcher()

    def url(self, path: str) -> str:
        return f"http://a.example{path}"

    def serve(self, path: str, body: bytes, *, status: int = 200, etag: str | None = None) -> None:
        headers = [("content-type", "text/html"), *([("etag", etag)] if etag else [])]
        self.script.on(self.url(path), answer(self.url(path), body, status=status, headers=headers))


class NetworkWorld(World):
    nowhere = "http://127.0.0.1:1/"

    def __init__(self, origin: Origin, client: Fetcher) -> None:
        self.origin, self.fetcher = origin, client

    def url(self, path: str) -> str:
        return self.origin.url(path)

    def serve(self, path: str, body: bytes, *, status: int = 200, etag: str | None = None) -> None:
        # The site writes its headers in UTF-8.
        sent = etag.encode("latin-1").decode() if etag else None
        self.origin.pages[path] = Page(body, status=status, etag=sent, content_type="text/html")


@pytest.fixture(params=["network", "scripted"])
async def world(request: pytest.FixtureRequest) -> AsyncIterator[World]:
    if request.param == "scripted":
        yield ScriptedWorld()
        return
    async with AsyncExitStack() as stack:
        origin = await stack.enter_async_context(Origin())
        yield NetworkWorld(origin, await stack.enter_async_context(fetcher()))


async def test_a_page_is_given_with_its_url_status_body_and_length(world: World) -> None:
    world.serve("/a", b"<p>words")

    answered = await world.fetcher.shared().get(HopRequest(url=world.url("/a")))

    assert (answered.url, answered.status, answered.body) == (world.url("/a"), 200, b"<p>words")
    assert answered.wire_bytes == 8
    assert answered.elapsed_ms >= 0


async def test_header_names_are_in_lower_case_and_values_a_character_for_each_byte(world: World) -> None:
    etag = 'W/"Aé"'.encode().decode("latin-1")
    world.serve("/a", b"x", etag=etag)

    answered = await world.fetcher.shared().get(HopRequest(url=world.url("/a")))

    assert answered.header("etag") == etag
    assert answered.header("x-none") is None
    assert all(name == name.lower() for name, _ in answered.headers)


@pytest.mark.parametrize("status", [404, 410, 500, 503])
async def test_a_status_is_an_answer_and_no_failure(world: World, status: int) -> None:
    world.serve("/a", b"", status=status)

    assert (await world.fetcher.shared().get(HopRequest(url=world.url("/a")))).status == status


async def test_where_nobody_answers_the_failure_is_connect_and_names_the_url(world: World) -> None:
    with pytest.raises(FetchFailed) as caught:
        await world.fetcher.shared().get(HopRequest(url=world.nowhere))

    assert caught.value.kind == FailureKind.CONNECT
    assert caught.value.url == world.nowhere
    assert world.nowhere in str(caught.value)


async def test_T60_a_fresh_session_fetches_as_the_shared_one_does(world: World) -> None:
    world.serve("/a", b"x")

    async with world.fetcher.fresh() as session:
        answered = await session.get(HopRequest(url=world.url("/a")))

    assert answered.body == b"x"
    assert (await world.fetcher.shared().get(HopRequest(url=world.url("/a")))).body == b"x"
