"""The activity page: charts, channels, dead letters."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.conftest import ROOT
from tests.fakes import START
from tests.server.web.visiting import Visitor, told, tree
from tocsin.model import ActivityRow, BoundedCount, ChannelState, JobRow, PageQuery, View
from tocsin.model.live import CrowdedHost, CrowdedHosts
from tocsin.server.jobs import Progress
from tocsin.server.web.activity import HEIGHT, SPAN_US, SPANS, WIDTH, coarser, gather, plot, punctuality, stack
from tocsin.server.web.jobs import told_of
from tocsin.wording.words import words_of


async def test_a_day_is_drawn_and_told_as_a_table(visitor: Visitor) -> None:
    page = tree(await visitor.get("/activity"))

    assert all(page.xpath(f"//*[@class='plot']//*[@class='{kind}']/@d")[0] for kind in "qnjx")
    assert len(page.xpath("//table[@class='numbers']/tbody/tr")) == 24


@pytest.mark.parametrize(("span", "rows"), [("hour", 12), ("day", 24), ("week", 28)])
async def test_an_hour_a_day_and_a_week_have_a_picture_each(visitor: Visitor, span: str, rows: int) -> None:
    page = tree(await visitor.get(f"/activity?span={span}"))

    assert len(page.xpath("//table[@class='numbers']/tbody/tr")) == rows
    assert page.xpath("//*[@aria-label='Span']/*[@aria-current]")[0].text.lower() == span


async def test_the_first_sentence_says_whether_all_is_well(visitor: Visitor) -> None:
    def first(text: str) -> str:
        return " ".join(tree(text).xpath("//*[@id='now']/*[1]")[0].text_content().split())

    for channel in ("lines", "ops"):
        await visitor.store.save_channel_state(ChannelState(channel))
    assert first(await visitor.get("/activity")).startswith("All is well.")

    visitor.rig.service.state = replace(visitor.rig.service.state, late_s=7300.0, has_lease=False)
    said = first(await visitor.get("/activity"))

    assert said.startswith("Not all is well. This service waits for another engine")
    assert "Checks are late by 2 h 1 min." in said


async def test_a_figure_that_takes_long_is_left_out_and_the_page_is_served(
    visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = visitor.rig.app.state.parts.store
    tally = store.tally_pages

    async def counting(query: PageQuery) -> BoundedCount:
        if query.view is View.PROBLEMS:
            await asyncio.Event().wait()
        return BoundedCount((await tally(query)).number)

    monkeypatch.setattr(store, "tally_pages", counting)
    monkeypatch.setattr("tocsin.server.web.activity.COUNTING_S", 0.0)
    for channel in ("lines", "ops"):
        await visitor.store.save_channel_state(ChannelState(channel))

    page = tree(await visitor.get("/activity"))

    said = " ".join(page.xpath("//*[@id='now']/*[1]")[0].text_content().split())
    assert said == "5 of 6 figures. Pages that cannot be read are still being counted."
    assert [tile.text_content() for tile in page.xpath("//*[@class='tiles']/*[3]/b")] == ["…"]


async def test_hosts_that_were_not_counted_yet_are_not_called_fine(visitor: Visitor) -> None:
    visitor.rig.service.state = replace(visitor.rig.service.state, figures=None)

    assert "Hosts are still being counted." in tree(await visitor.get("/activity")).text_content()


async def test_it_is_told_how_punctual_checks_and_alerts_were_and_what_share_of_pages_is_crowded(
    visitor: Visitor,
) -> None:
    now = visitor.rig.clock.now()
    row = ActivityRow(
        now - now % SPAN_US, {"first": 1}, delays={"100": 197, "5000": 1, "300000": 2}, delivered=96, late=1
    )
    await visitor.store.note_activity(row)
    figures = await visitor.store.figures(now)
    visitor.rig.service.state = replace(
        visitor.rig.service.state,
        figures=replace(figures, pages=50),
        crowded=CrowdedHosts(1, (CrowdedHost("busy.example", 12, 9.0, 3.0),), 12),
    )

    page = tree(await visitor.get("/activity"))

    tiles = [" ".join(each.text_content().split()) for each in page.xpath("//*[@class='tiles']/div")]
    assert "≤ 5 sdelay of 99 % of the checks" in tiles
    assert "1 of 96alerts delivered later than 10 s" in tiles
    assert "12 pages, 24 % of all" in page.text_content()
    assert "/pages?by=host&q=busy.example" in page.xpath("//*[@aria-labelledby='hosts']//a/@href")


@pytest.mark.parametrize(
    ("delays", "told"),
    [
        ({}, (0, 0, None)),
        ({"100": 99, "300000": 1}, (100, 99, 0.1)),
        ({"100": 98, "60000": 1, "300000": 1}, (100, 99, 60.0)),
        ({"": 2, "250": 98}, (100, 98, None)),
    ],
)
def test_the_delay_of_nearly_all_checks_is_that_of_99_of_100(
    delays: dict[str, int], told: tuple[int, int, float | None]
) -> None:
    found = punctuality([ActivityRow(START, {}, delays=delays)])

    assert (found.checks, found.on_time, found.delay_s) == told


async def test_the_log_says_in_words_who_did_what_to_what(visitor: Visitor) -> None:
    await visitor.done("/pages/1/pause", paused="yes")

    (row, *_) = tree(await visitor.get("/activity")).xpath("//*[@aria-labelledby='log']//tbody/tr")

    assert "local" in row.text_content()
    assert "paused " in row.text_content()
    assert row.xpath(".//a/@href") == ["/pages/1"]


async def test_every_change_that_is_audited_has_words_in_the_log() -> None:
    found = set()
    for path in (ROOT / "service/tocsin/server").rglob("*.py"):
        found |= set(re.findall(r'audit\(\s*(?:\w+(?:\.\w+)?, ){2}"([a-z.-]+)"', path.read_text("utf-8")))

    assert len(found) > 15
    assert [what for what in sorted(found) if f"audit.{what}" not in words_of("en")] == []


async def test_channels_are_counted_with_a_link_to_the_page_that_edits_them(visitor: Visitor) -> None:
    (line,) = tree(await visitor.get("/activity")).xpath("//*[@id='channels']")

    assert "2 channels" in line.text_content()
    assert "/notifications#channels" in line.xpath(".//a/@href")


async def test_a_job_that_is_cancelled_by_a_page_is_audited_as_one_that_a_program_cancels(visitor: Visitor) -> None:
    may_end = asyncio.Event()

    async def work(_progress: Progress) -> dict[str, Any]:
        await may_end.wait()
        return {}

    job = await visitor.rig.app.state.jobs.start("pages.check", "me", work)

    assert told(await visitor.done(f"/jobs/{job.row.id}/cancel")) == "Cancelled; completed work is kept."
    assert [(entry.what, entry.detail) for entry in await visitor.audited()][:1] == [
        ("job.cancel", {"job": job.row.id})
    ]
    number = len(await visitor.audited())
    assert told(await visitor.done(f"/jobs/{job.row.id}/cancel")).startswith("Cancelled")
    assert len(await visitor.audited()) == number


async def test_dead_letters_are_given_again_after_a_question(visitor: Visitor) -> None:
    assert "Give 3 alerts to ops again?" in (await visitor.post("/activity/dead/replay", channel="ops")).text

    assert told(await visitor.done("/activity/dead/replay", channel="ops", confirmed="yes")) == "3 alerts queued again."


async def test_a_channels_address_is_masked(visitor: Visitor) -> None:
    for path in ("/activity", "/settings/force"):
        text = await visitor.get(path)
        assert "9f27c1" not in text
        assert "whsec_" not in text


async def test_a_move_and_an_edit_of_pages_say_where_to_and_what(visitor: Visitor) -> None:
    now = visitor.rig.clock.now()
    for number, result in enumerate(({"pages": 2, "group": "<b>news"}, {"pages": 3, "set": {"every": "6h"}})):
        await visitor.store.save_job(JobRow(f"01JOB{number}", "pages.edit", "local", now, state="done", result=result))

    text = " ".join(tree(await visitor.get("/activity/jobs")).text_content().split())

    assert "Pages edited: moved to group <b>news" in text
    assert "Pages edited: every" in text
    (title,) = tree(await visitor.get("/jobs/01JOB0")).xpath("//h1/text()")
    assert title == "Pages edited: moved to group <b>news"
    assert "every 6h" in tree(await visitor.get("/jobs/01JOB1")).text_content()


def test_whoever_moved_pages_is_told_where_to() -> None:
    row = JobRow("01JOB", "pages.edit", "local", 0, state="done", result={"pages": 2, "group": "news"})

    assert told_of(row) == ("pages_moved", {"n": 2, "group": "news"})


BAR = re.compile(r"M([\d.]+) ([\d.-]+)h([\d.]+)v([\d.]+)h-([\d.]+)z")
COUNTS = st.lists(st.lists(st.integers(0, 10**9), min_size=1, max_size=60), min_size=1, max_size=6)


def bars(path: str) -> list[tuple[float, float, float, float]]:
    """Left, top, width and height of each bar of a path."""
    return [(float(left), float(top), float(wide), float(high)) for left, top, wide, high, _ in BAR.findall(path)]


def test_what_was_noted_every_five_minutes_is_added_up_to_half_hours() -> None:
    rows = [ActivityRow(START - place * SPAN_US // 6, {"unchanged": 2}, 1, 1, 10, 100) for place in range(3)]

    spans = gather(rows, START)

    assert (len(spans), sum(span.checks for span in spans)) == (SPANS, 6)
    assert sum(span.wire_bytes for span in spans) == 30


def test_the_last_span_is_the_one_that_goes_on_now() -> None:
    spans = gather([ActivityRow(START, {"major": 1})], START)

    assert spans[-1].of("major") == 1
    assert spans[-1].at <= START < spans[-1].at + SPAN_US


def test_what_lies_outside_of_the_day_is_left_out() -> None:
    rows = [ActivityRow(START - 49 * SPAN_US, {"major": 1}), ActivityRow(START + SPAN_US, {"major": 1})]

    assert all(not span.outcomes for span in gather(rows, START))


def test_hours_hold_what_their_half_hours_hold() -> None:
    spans = gather([ActivityRow(START - place * SPAN_US, {"minor": place}) for place in range(SPANS)], START)

    hours = coarser(spans, 2)

    assert (len(hours), sum(hour.of("minor") for hour in hours)) == (24, sum(span.of("minor") for span in spans))


def test_a_day_without_anything_draws_nothing() -> None:
    drawn = plot(gather([], START))

    assert (drawn.same, drawn.minor, drawn.major, drawn.bad, drawn.most) == ("", "", "", "", 0)


def test_one_major_change_among_a_million_checks_is_seen() -> None:
    drawn = plot(gather([ActivityRow(START, {"unchanged": 10**6, "major": 1})], START))

    ((_, _, _, height),) = bars(drawn.major)
    assert height >= 1.5


@given(st.integers(0, 10**9))
def test_the_upper_line_of_a_picture_is_an_even_number_above_its_bars(most: int) -> None:
    drawn = plot(gather([ActivityRow(START, {"minor": most})], START))

    assert most <= drawn.top <= max(2 * most, 2)
    assert drawn.top % 2 == 0


@given(COUNTS)
def test_no_bar_leaves_its_drawing(values: list[list[int]]) -> None:
    number = min(map(len, values))
    columns = [series[:number] for series in values]
    most = max(map(sum, zip(*columns, strict=True)))

    for path in stack(columns, most):
        for left, top, wide, high in bars(path):
            assert left >= 0
            assert left + wide <= WIDTH + 0.2
            assert top >= -0.3
            assert top + high <= HEIGHT + 0.3


@given(COUNTS)
def test_what_is_nothing_has_no_bar(values: list[list[int]]) -> None:
    number = min(map(len, values))
    columns = [series[:number] for series in values]
    most = max(map(sum, zip(*columns, strict=True)))

    for series, path in zip(columns, stack(columns, most), strict=True):
        assert len(bars(path)) == sum(value > 0 for value in series)
