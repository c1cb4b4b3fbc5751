"""Foreign bytes are read in processes aside: PDFs become text, pictures are compared; what is hostile ends in time."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest
from PIL import Image, ImageDraw

from tests.app.crew import Crew
from tests.aside import write_echo
from tests.origin import Origin, Page
from tests.pdfs import bomb, endless, pdf, with_password
from tocsin.adapters.processes.aside import SingleAside
from tocsin.app.asides import DocumentReader, PictureComparer
from tocsin.app.pdf import MOST_MEMORY_BYTES
from tocsin.errors import FetchError, FetchFailed, FetchRefused, ProcessError
from tocsin.model import HopResponse
from tocsin.settings import FetchSettings, PageSettings
from tocsin.spec.documents import read_document
from tocsin.spec.signals.texts import unpack_text

URL: Final = "https://harbour.example/tariff.pdf"
NOTICE: Final = pdf(["Berths", "A berth by day costs 12.50 crowns"], ["Caf\u00e9 (open)"], title="Tariff (2027)")


def answer(body: bytes, content_type: str = "application/pdf") -> HopResponse:
    return HopResponse(URL, 200, (("content-type", content_type), ("etag", '"1"')), body, len(body), 5)


@pytest.fixture
async def reader() -> AsyncIterator[DocumentReader]:
    async with DocumentReader() as opened:
        yield opened


async def test_a_pdf_becomes_its_paragraphs_whatever_its_server_calls_it(reader: DocumentReader) -> None:
    for content_type in ("application/pdf", "application/octet-stream", "text/html"):
        found = await reader.read(answer(NOTICE, content_type))

        assert read_document(found.body) == (
            "Tariff (2027)",
            ["Berths", "A berth by day costs 12.50 crowns", "Caf\u00e9 (open)"],
        )
        assert found.headers == (("content-type", "application/pdf"), ("etag", '"1"'))
        assert found.wire_bytes == len(NOTICE)


async def test_other_answers_are_given_back_without_a_process() -> None:
    async with DocumentReader("no.such.module") as reader:
        given = answer(b"<p>page", "text/html")

        assert await reader.read(given) is given


BAD: Final = {
    "a password": (with_password(), "it needs a password"),
    "cut off": (NOTICE[:80], "it is damaged or incomplete"),
    "a signature alone": (b"%PDF-1.7", "it is damaged or incomplete"),
    "noise": (b"%PDF-1.7\n" + bytes(range(256)) * 200, "it is damaged or incomplete"),
}


@pytest.mark.parametrize("name", BAD)
async def test_a_pdf_that_cannot_be_read_is_refused_with_the_reason(reader: DocumentReader, name: str) -> None:
    body, reason = BAD[name]

    with pytest.raises(FetchRefused) as refused:
        await reader.read(answer(body))

    assert (refused.value.kind, reason in refused.value.detail) == ("too-complex", True)
    # The next one is read as ever.
    assert read_document((await reader.read(answer(NOTICE))).body)


async def test_a_pdf_that_unpacks_to_more_than_may_be_taken_costs_no_more_and_harms_no_other() -> None:
    async with DocumentReader(within_s=60) as reader:
        # The library gives up a stream of so many bytes, or ends the process.
        with suppress(FetchError):
            found = await reader.read(answer(bomb(MOST_MEMORY_BYTES + 2**27)))
            assert read_document(found.body) == ("", [])

        assert read_document((await reader.read(answer(NOTICE))).body)


async def test_a_pdf_that_never_ends_is_given_up_at_its_deadline() -> None:
    async with DocumentReader(within_s=1) as reader:
        with pytest.raises(FetchRefused, match="longer than 1 s"):
            await reader.read(answer(endless()))

        assert read_document((await reader.read(answer(NOTICE))).body)


async def test_a_reader_that_dies_is_a_failure_that_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "dying.py").write_text("raise SystemExit(3)")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    async with DocumentReader("dying") as reader:
        with pytest.raises(FetchFailed) as failed:
            await reader.read(answer(NOTICE))

    assert failed.value.kind == "crashed"


async def test_a_process_is_kept_between_jobs_and_replaced_after_many_a_death_or_a_hang(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    aside = SingleAside(write_echo(tmp_path, monkeypatch), 2, most_jobs=3, in_cell=False)
    try:
        first, again = await aside.ask(b"who"), await aside.ask(b"who")
        assert first == again
        assert await aside.ask(b"abc") == b"cba"
        second = await aside.ask(b"who")
        with pytest.raises(ProcessError):
            await aside.ask(b"die")
        third = await aside.ask(b"who")
        with pytest.raises(TimeoutError):
            await aside.ask(b"hang")
        assert len({first, second, third, await aside.ask(b"who")}) == 4
    finally:
        await aside.close()


@pytest.mark.parametrize("fetchers", [0, 1])
async def test_another_paragraph_of_a_pdf_is_a_change_whichever_process_receives_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fetchers: int
) -> None:
    async with Origin() as site:
        url = site.url("/tariff")
        site.pages["/tariff"] = Page(NOTICE, content_type="application/pdf")
        async with Crew.at(tmp_path, monkeypatch, url, fetch=FetchSettings(fetchers=fetchers)) as crew:
            first = (await crew.check())["tariff"]
            site.pages["/tariff"] = Page(NOTICE.replace(b"12.50", b"13.75"), content_type="application/pdf")
            second = (await crew.check())["tariff"]
            site.pages["/tariff"] = Page(NOTICE[:80], content_type="application/pdf")
            third = (await crew.check())["tariff"]
            row = await crew.store.page(url)
            texts = [await crew.store.snapshot_text(each.id) for each in await crew.store.snapshots(url, limit=9)]

    assert [each.outcome for each in (first, second, third)] == ["first", "minor", "unreachable"]
    assert (first.problem or "").endswith("; read as PDF of 3 paragraphs")
    assert third.error == ("too-complex", "its PDF cannot be read: it is damaged or incomplete")
    assert row is not None
    assert row.title == "Tariff (2027)"
    assert ["13.75" in unpack_text(text) for text in texts if text is not None] == [True, False]


@pytest.mark.parametrize("body", [NOTICE, NOTICE[:80]], ids=["readable", "damaged"])
async def test_in_the_place_of_an_html_page_a_pdf_is_held_until_the_page_is_back_and_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: bytes
) -> None:
    html, pdf = Page("<title>Tariff</title><p>A kilo costs 12.50."), Page(body, content_type="application/pdf")
    async with Origin() as site:
        site.pages["/tariff"] = [html, pdf, pdf, html]
        async with Crew.at(tmp_path, monkeypatch, site.url("/tariff"), fetch=FetchSettings(fetchers=0)) as crew:
            found = [(await crew.check())["tariff"].outcome for _ in range(4)]
            alerts = await crew.store.alerts(limit=9)

    assert found == ["first", "suspect", "suspect", "unchanged"]
    assert [alert.type.split(".")[2] for alert in alerts] == ["suspect"]


async def test_a_pdf_that_the_user_accepts_in_the_place_of_an_html_page_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = PageSettings(min_gap=timedelta(0), tries=0, suspects="accept")
    async with Origin() as site:
        site.pages["/tariff"] = [Page("<title>Tariff</title><p>Closed."), Page(NOTICE, content_type="application/pdf")]
        sections = {"pages": pages, "fetch": FetchSettings(fetchers=0)}
        async with Crew.at(tmp_path, monkeypatch, site.url("/tariff"), **sections) as crew:
            await crew.check()
            second = (await crew.check())["tariff"]

    assert second.outcome != "suspect"
    assert (second.problem or "").endswith("; read as PDF of 3 paragraphs")


def picture(*lines: str, width: int = 640, height: int = 480) -> bytes:
    """Draw lines of text, one below the other."""
    drawn = Image.new("RGB", (width, height), "white")
    pen = ImageDraw.Draw(drawn)
    for number, line in enumerate(lines):
        pen.text((20, 20 + 24 * number), line, fill="black")
    return png(drawn)


def png(drawn: Image.Image) -> bytes:
    stream = io.BytesIO()
    drawn.save(stream, "PNG")
    return stream.getvalue()


LINES: Final = tuple(f"Ferry {number} leaves pier {number * 7 % 10} at {number + 8}:15" for number in range(12))


@pytest.fixture
async def comparer() -> AsyncIterator[PictureComparer]:
    async with PictureComparer() as opened:
        yield opened


async def test_equal_pictures_do_not_differ(comparer: PictureComparer) -> None:
    found = await comparer.compare(picture(*LINES), picture(*LINES))

    assert found is not None
    assert (found.share, found.boxes, found.removed) == (0.0, (), ())


async def test_a_changed_line_is_marked_where_it_is(comparer: PictureComparer) -> None:
    found = await comparer.compare(picture(*LINES), picture(*LINES[:4], "Ferry 4 does not run today", *LINES[5:]))

    assert found is not None
    assert 0 < found.share < 0.05
    assert all(100 <= top <= 150 and top + height <= 150 for _, top, _, height in found.boxes)


async def test_an_inserted_line_does_not_change_those_below_it(comparer: PictureComparer) -> None:
    found = await comparer.compare(picture(*LINES), picture(*LINES[:4], "A new ferry runs", *LINES[4:]))

    assert found is not None
    assert 0 < found.share < 0.12
    assert all(top >= 100 and top + height <= 480 for _, top, _, height in found.boxes)
    assert not any(150 < top < 400 for _, top, _, _ in found.boxes)


async def test_a_page_that_grew_is_marked_below_and_one_that_shrank_before(comparer: PictureComparer) -> None:
    short, long = picture(*LINES, height=480), picture(*LINES, "The end", height=640)

    grown, shrunk = await comparer.compare(short, long), await comparer.compare(long, short)

    assert grown is not None
    assert shrunk is not None
    assert (sum(height for *_, height in grown.boxes) >= 160, bool(shrunk.removed)) == (True, True)


@pytest.mark.parametrize(
    "other",
    [b"", b"\x89PNG\r\n\x1a\n", picture(*LINES)[:500], b"GIF89a", png(Image.new("1", (20_000, 20_000)))],
    ids=["nothing", "a signature", "cut off", "another format", "four hundred million pixels"],
)
async def test_pictures_that_cannot_be_read_are_not_compared(comparer: PictureComparer, other: bytes) -> None:
    assert await comparer.compare(picture(*LINES), other) is None
    assert await comparer.compare(picture(*LINES), picture(*LINES)) is not None


async def test_one_line_of_a_page_and_a_clock_on_it_are_less_than_a_twentieth(comparer: PictureComparer) -> None:
    page = [f"Ferry {number} leaves pier {number * 7 % 10} at {number + 8}:15" for number in range(80)]
    height = 40 + 24 * 82
    at_eight, at_nine = (picture(f"It is {hour}", *page, height=height) for hour in ("08:00:00", "09:31:47"))
    longer = picture("It is 08:00:00", *page[:9], "A new ferry runs", *page[9:], height=height + 24)

    clock, line = await comparer.compare(at_eight, at_nine), await comparer.compare(at_eight, longer)

    assert clock is not None
    assert line is not None
    assert 0 < clock.share < 0.01
    assert 0 < line.share < 0.05


async def test_another_colour_that_is_as_bright_differs(comparer: PictureComparer) -> None:
    blue, red = (Image.new("RGB", (640, 480), colour) for colour in ("#2277cc", "#cc3333"))

    found = await comparer.compare(png(blue), png(red))

    assert found is not None
    assert found.share == 1.0
