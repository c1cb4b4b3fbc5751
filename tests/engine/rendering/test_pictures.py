"""Pictures of renderings: kept with them, compared with the one before, and told in the event."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from tests.awareness import DAY, NEW, NEWER, Bench, ScriptedRenderer
from tests.fakes import FakeBrowser, ManualClock, RecordingTelemetry, dom
from tocsin.adapters.stores.sql.store import SqlStore
from tocsin.engine.rendering.browser_queue import BrowserQueue
from tocsin.engine.rendering.pictures import Pictures, PictureVisits
from tocsin.errors import StoreError
from tocsin.events import picture_link
from tocsin.model import KeptPicture, PagePicture, PictureDifference, Rendered, RenderJob, SeenPicture
from tocsin.ports.browser import BrowserVisit, VisitedPage

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

    async def latest_picture(self, _page_id: int, before: int | None = None) -> None:  # noqa: ARG002 - of the port
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


# Of checks ----------------------------------------------------------------------------------------------------------

PAGE = "https://site.example/"
TAKEN = PagePicture(b"second", 1280, 2000)


async def differing(_before: bytes, _latest: bytes) -> PictureDifference | None:
    return FOUND


async def alike(_before: bytes, _latest: bytes) -> PictureDifference | None:
    return PictureDifference(0.0)


async def too_late(_before: bytes, _latest: bytes) -> PictureDifference | None:
    return None


async def note_first(bench: Bench) -> str:
    """Let a first check of the page "a" take the picture "first"; returns its digest."""
    digest = await bench.store.keep_picture(b"first")
    assert digest is not None
    await bench.add("a", picture=KeptPicture(digest, 1280, 2000, 5))
    return digest


async def test_the_picture_of_a_check_is_compared_before_it_is_judged_and_its_file_kept(
    bench: Bench, store: SqlStore
) -> None:
    first, pictures = await note_first(bench), Pictures(store, differing, bench.telemetry)

    found = await pictures.look(bench.page_id("a"), TAKEN)

    assert found.problem is None
    assert found.kept is not None
    assert (found.kept.before, found.share, found.kept.bytes) == (first, 0.05, 6)
    # No row names it before the check is written.
    assert await store.picture(found.kept.digest) is None
    assert await store.latest_picture(bench.page_id("a")) == (first, b"first")


async def test_the_first_picture_of_a_page_has_nothing_to_be_compared_with(bench: Bench, store: SqlStore) -> None:
    await bench.add("a")

    found = await Pictures(store, differing, bench.telemetry).look(bench.page_id("a"), TAKEN)

    assert found.kept is not None
    assert (found.kept.before, found.share) == (None, None)


async def test_no_file_is_written_of_a_picture_that_looks_alike(bench: Bench, store: SqlStore) -> None:
    await note_first(bench)
    page_id = bench.page_id("a")

    assert await Pictures(store, alike, bench.telemetry).look(page_id, TAKEN) == SeenPicture()
    same = PagePicture(b"first", 1280, 2000)
    assert await Pictures(store, too_late, bench.telemetry).look(page_id, same) == SeenPicture()


async def test_why_no_picture_was_compared_is_told_with_the_mend(bench: Bench, store: SqlStore) -> None:
    await note_first(bench)
    page_id, telemetry = bench.page_id("a"), bench.telemetry

    problems = [
        (await pictures.look(page_id, taken)).problem or ""
        for pictures, taken in (
            (Pictures(store, None, telemetry), TAKEN),
            (Pictures(store, differing, telemetry, keeps=False), TAKEN),
            (Pictures(store, differing, telemetry), None),
            (Pictures(store, too_late, telemetry), TAKEN),
            (Pictures(FullDisk(), differing, telemetry), TAKEN),
            (Pictures(NoFolder(), differing, telemetry), TAKEN),
        )
    ]

    mends = ["pip install 'tocsin[pictures]'", "snapshots.per_page", "gave none", "time or memory", "no room"]
    assert [mend in problem for mend, problem in zip([*mends, "set store.pictures"], problems, strict=True)] == [
        True
    ] * 6


class NoFolder(FullDisk):
    """A store without a folder of pictures."""

    async def keep_picture(self, _png: bytes) -> str | None:
        return None


async def test_a_rendering_is_compared_with_the_picture_from_before_the_change_that_a_check_saw(
    studio: Bench, store: SqlStore
) -> None:
    first = await note_first(studio)
    pictures = Pictures(store, differing, studio.telemetry)
    studio.clock.set_wall(studio.clock.now() + DAY)
    seen = await pictures.look(studio.page_id("a"), TAKEN)
    studio.renderer.found = NEWER
    await studio.check("a", NEWER, picture=seen.kept)
    await studio.drain()

    (latest, oldest) = await store.pictures_of(studio.page_id("a"), limit=9)

    assert (latest.before, latest.by_check, oldest.digest) == (first, False, first)
    assert await store.latest_picture(studio.page_id("a")) == (latest.digest, b"1")


async def test_where_none_are_kept_a_rendering_has_no_picture(studio: Bench, store: SqlStore) -> None:
    studio.pictures = Pictures(store, None, studio.telemetry, keeps=False)
    studio.queue = studio.fresh_queue()
    await studio.add("a")

    assert await change(studio, NEW) is None


async def visited(bench: Bench, *, compares: bool) -> VisitedPage:
    """Visit the page "a" by a browser whose worker says that it compared pictures itself."""
    browser = FakeBrowser()
    lie = SeenPicture(problem="a lie of the worker")
    browser.on(PAGE, dom(PAGE, "<p>text", picture=TAKEN, seen=lie))
    queue = BrowserQueue(lambda _group: browser, 1, ManualClock(), bench.telemetry)
    visits = PictureVisits(queue, Pictures(bench.store, differing, bench.telemetry))
    visit = BrowserVisit(PAGE, page_id=bench.page_id("a"), wants_picture=True, compares_picture=compares)

    async def admit(_url: str) -> None:
        pass

    async with queue.running():
        return await visits.visit(visit, admit, is_urgent=True)


async def test_what_a_check_is_given_is_how_its_picture_differs_and_not_the_picture(bench: Bench) -> None:
    await note_first(bench)

    page = await visited(bench, compares=True)

    assert page.picture is None
    assert page.seen is not None
    assert (page.seen.share, page.seen.problem) == (0.05, None)


async def test_a_rendering_is_given_its_picture_and_a_worker_s_own_comparison_is_not_believed(bench: Bench) -> None:
    await bench.add("a")

    page = await visited(bench, compares=False)

    assert (page.picture, page.seen) == (TAKEN, None)
