"""The history of a page: a year of squares and the habits of its changes; laws of the pure parts."""

from __future__ import annotations

import re
from datetime import UTC, date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.contract.desk import DAY, HOUR, MINUTE, NOW, A
from tests.web.asking import Reader, words_of
from tocsin.events import CHANGED
from tocsin.model import EPOCH, AlertDraft, ChangeMark, DayMark, DayMarks
from tocsin.server.web import page
from tocsin.server.web.page_history import draw_year, find_habits

TODAY = date(2026, 11, 22)  # A Sunday.
MOVES = re.compile(r"M([\d.]+) ([\d.]+)")


def marked(*days_ago: int, mark: DayMark = DayMark.MAJOR, today: date = TODAY) -> DayMarks:
    found = DayMarks()
    for ago in days_ago:
        found = found.with_mark((today - EPOCH.date()).days - ago, mark)
    return found


def mark(at: int, outcome: str = "minor", basis: str = "inferred") -> ChangeMark:
    return ChangeMark(at, outcome, basis)


@pytest.mark.parametrize(
    ("today", "ago", "place"),
    [
        (TODAY, 0, (52, 6)),
        (TODAY, 6, (52, 0)),
        (TODAY, 7, (51, 6)),
        (TODAY, 370, (0, 0)),
        (TODAY - timedelta(days=6), 0, (52, 0)),
        (TODAY - timedelta(days=6), 364, (0, 0)),
    ],
)
def test_a_day_has_the_square_of_its_week_and_weekday(today: date, ago: int, place: tuple[int, int]) -> None:
    ((x, y),) = MOVES.findall(draw_year(marked(ago, today=today), today).major)

    assert (float(x), float(y)) == (30 + 13 * place[0] + 5.5, 14 + 13 * place[1])


def test_each_kind_of_day_has_a_path_and_is_counted() -> None:
    days = marked(1, 2)
    for ago, kind in ((3, DayMark.MINOR), (4, DayMark.PROBLEM), (5, DayMark.PROBLEM)):
        days = days.with_mark(days.day + 1 - ago, kind)

    drawn = draw_year(days, TODAY)

    assert (drawn.majors, drawn.minors, drawn.problems) == (2, 1, 2)
    assert [len(MOVES.findall(path)) for path in (drawn.major, drawn.minor, drawn.problem)] == [2, 1, 2]


@given(st.dates(date(2000, 1, 1), date(2100, 1, 1)), st.lists(st.integers(0, 500)))
def test_no_square_of_any_year_leaves_the_picture(today: date, days_ago: list[int]) -> None:
    drawn = draw_year(marked(*days_ago, today=today), today)

    assert drawn.weeks in (51, 52)
    assert [month for _, month in drawn.months] == sorted(
        {month for _, month in drawn.months}, key=[month for _, month in drawn.months].index
    )
    for x, y in MOVES.findall(drawn.major):
        assert 30 < float(x) < drawn.width
        assert 14 <= float(y) < 105


def test_a_year_of_changes_takes_few_bytes() -> None:
    drawn = draw_year(marked(*range(0, 364, 9)), TODAY)

    assert len(drawn.major) < 2_000


def test_a_page_that_changes_on_one_weekday_has_that_habit() -> None:
    changes = [mark(NOW - 7 * DAY * number - number * MINUTE) for number in range(6)]

    found = find_habits(changes, UTC)

    assert (found.weekday, found.hour) == (4, 7)
    assert (found.majors, found.minors, found.bases) == (0, 6, (("inferred", 6),))


@pytest.mark.parametrize("days", [(0, 1, 2, 3, 4), (0, 7, 14), ()])
def test_changes_on_any_day_or_too_few_are_no_habit(days: tuple[int, ...]) -> None:
    found = find_habits([mark(NOW - DAY * day) for day in days], UTC)

    assert (found.weekday, found.hour) == (None, None)


def test_the_longest_quiet_is_between_two_changes() -> None:
    found = find_habits([mark(NOW - day * DAY, "major", "declared") for day in (0, 2, 40, 41)], UTC)

    assert (found.quiet_days, found.quiet_until) == (38, NOW - 2 * DAY)
    assert (found.majors, found.bases) == (4, (("declared", 4),))


async def test_of_a_page_that_changed_often_few_changes_are_read(
    reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "_MARKS", 3)
    (page_id,) = await reader.desk.watch(A)
    for number in range(6):
        reader.desk.now += HOUR
        await reader.desk.check(A, str(number))
    reader.rig.clock.set_wall(reader.desk.now)

    assert "more than 3 in a year" in words_of(await reader.read(f"/pages/{page_id}"))


async def test_the_last_change_is_told_by_its_alert_together_and_side_by_side(reader: Reader) -> None:
    (page_id,) = await reader.desk.watch(A)
    await reader.desk.check(A, "first")
    reader.desk.now += HOUR
    await reader.desk.check(A, "second")
    job = await reader.desk.job(A)
    rows = [
        {"kind": "changed", "pieces": [["same", "Open until "], ["removed", "five"], ["added", "six"]]},
        {"kind": "unchanged", "lines": 4},
    ]
    data = {
        "outcome": "major",
        "rule": "T44",
        "basis": "declared",
        "summary": "“six” instead of “five”.",
        "new_dates": {"major": ["2026-11-22"]},
        "difference": {"rows": rows},
    }
    told = AlertDraft("1".rjust(26, "0"), CHANGED, page_id, reader.desk.now, {"id": "1", "data": data})
    await reader.desk.store.commit_renderings(reader.desk.claim, [reader.desk.rendered(job, alerts=(told,))])
    reader.rig.clock.set_wall(reader.desk.now)

    html = await reader.read(f"/pages/{page_id}")
    sides = await reader.read(f"/pages/{page_id}?diff=sides")

    words = words_of(html)
    assert "“six” instead of “five”." in words
    assert "Open until removed: five added: six 4 lines unchanged" in words
    assert "Why major The page says so itself: it added 22 November" in words
    assert '<a href="/rules/T44">rule T44</a>' in html
    assert "Sent to no channel" in words
    assert '<div dir="auto">Open until <del><span class="hidden">removed: </span>five</del></div>' in sides
    # It is remembered for the next page.
    assert '<div class="sides">' in await reader.read(f"/pages/{page_id}")
    assert '<div class="sides">' not in await reader.read(f"/pages/{page_id}?diff=together")
    assert '<div dir="auto">Open until <ins><span class="hidden">added: </span>six</ins></div>' in sides
