"""Pictures of renderings: kept with them, compared with the one before, and told in the event."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from tests.awareness import DAY, NEW, NEWER, Bench, ScriptedRenderer
from tests.fakes import RecordingTelemetry
from tocsin.adapters.stores.sql.store import SqlStore
from tocsin.engine.rendering.pictures import Pictures
from tocsin.errors import StoreError
from tocsin.events import picture_link
from tocsin.model import PagePicture, PictureDifference, Rendered, RenderJob

FOUND = PictureDifference(0.05, ((0, 16, 32, 48),))


class Photographer(ScriptedRenderer):
    """Takes a picture of each page: its bytes are the number of the rendering, unless a test says others."""

    png: bytes | None = None
    body: bytes | None = None

    async def render(self, job: RenderJob) -> Rendered:
        rendered = await super().render(job)
        png = self.png or str(len(self.asked)).encode()
        changed: dict[str, Any] = {} if self.body is None else {"body": self.body}
        return replace(rendered, picture=PagePicture(png, 1280, 2000), **changed)


@pytest.fixture
async def studio(store: SqlStore) -> Bench:
    bench = Bench(store)
    bench.renderer = Photographer(bench.clock)
    await bench.lease.take()
    compared: list[tuple[bytes, bytes]] = []

    async def compare(before: bytes, latest: bytes) -> PictureDifference | None:
        compared.append((before, latest))
        return FOUND

    bench.pictures = Pictures(store, compare, bench.telemetry)
    bench.queue = bench.fresh_queue()
    return bench


async def change(bench: Bench, state: Any) -> dict[str, Any]:
    """Change the page and render it; returns what its event says of the picture."""
    bench.clock.set_wall(bench.clock.now() + DAY)
    bench.renderer.found = state
    await bench.check("a", state)
    await bench.drain()
    bench.queue = bench.fresh_queue()
    shot: dict[str, Any] = (await bench.events())[-1]["data"]["rendering"]["screenshot"]
    return shot


async def test_the_first_picture_is_told_and_the_second_is_compared_with_it(studio: Bench, store: SqlStore) -> None:
    await studio.add("a")

    first, second = await change(studio, NEW), await change(studio, NEWER)

    latest, oldest = await store.pictures_of(studio.page_id("a"), limit=9)
    assert first == {
        "url": None,
        "digest": f"sha256:{oldest.digest}",
        "width": 1280,
        "height": 2000,
        "changed": None,
    }
    assert (second["digest"], second["changed"]) == (f"sha256:{latest.digest}", 0.05)
    assert (latest.before, latest.difference) == (oldest.digest, FOUND)
    assert await store.picture(latest.digest) == b"2"


async def test_the_same_picture_again_does_not_differ_and_is_one_file(studio: Bench, store: SqlStore) -> None:
    await studio.add("a")
    assert isinstance(studio.renderer, Photographer)
    studio.renderer.png = b"same"

    first, second = await change(studio, NEW), await change(studio, NEWER)

    assert (first["digest"], second["changed"]) == (second["digest"], 0.0)
    assert len(await store.pictures_of(studio.page_id("a"), limit=9)) == 2


async def test_no_picture_is_kept_of_a_page_that_forbids_copies(studio: Bench, store: SqlStore) -> None:
    await studio.add("a")
    assert isinstance(studio.renderer, Photographer)
    studio.renderer.body = b'<meta name=robots content=noarchive><meta name=topper-major content="2026-01-02">'

    assert await change(studio, NEW) is None
    assert await store.pictures_of(studio.page_id("a"), limit=9) == []


class FullDisk:
    """Keeps no picture."""

    async def keep_picture(self, _png: bytes) -> str | None:
        raise StoreError("no room")

    async def latest_picture(self, _page_id: int) -> tuple[str, bytes] | None:
        return None


async def test_an_alert_does_not_wait_for_a_picture_that_cannot_be_kept(studio: Bench) -> None:
    telemetry = RecordingTelemetry()
    studio.pictures = Pictures(FullDisk(), None, telemetry)
    studio.queue = studio.fresh_queue()
    await studio.add("a")

    assert await change(studio, NEW) is None
    assert telemetry.names() == ["picture.lost"]


def test_a_picture_has_a_link_where_the_web_pages_have_an_address() -> None:
    assert picture_link("https://tocsin.example/t/", "ab") == "https://tocsin.example/t/api/v1/pictures/ab"
    assert picture_link("", "ab") is None
