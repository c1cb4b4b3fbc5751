# ruff: noqa: RUF001 - some dates are of other scripts
from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

import pytest

from tests.spec.signals.pages_of_content import compared, compared_at, page

NOW: Final = datetime(2026, 9, 15, 12, tzinfo=UTC)


def compared_lines(before: str, latest: str) -> tuple[bool, tuple[str, ...]]:
    was, now = (page(inner="".join([f"<h3>{line}</h3>" for line in lines.split(" | ")])) for lines in (before, latest))
    change = compared_at(was, NOW - timedelta(days=1), now, NOW)
    return change.is_change, change.noise


@pytest.mark.parametrize(
    ("before", "latest"),
    [
        ("17 déc. 2020 | 30 oct. 2019", "18 déc. 2020 | 31 oct. 2019"),
        ("Version of December 17, 2020 | May 2, 2019", "Version of December 16, 2020 | May 1, 2019"),
        ("17.12.2020 | 01.02.2021 | 10.05.2021", "16.12.2020 | 31.01.2021 | 09.05.2021"),
        ("12/17/2020 23:30 | 1/3/2021 14:05", "12/18/2020 2:30 | 1/3/2021 17:05"),
        ("2020-12-17 10:30 | 2020-11-05 09:15", "2020-12-17 05:00 | 2020-11-05 03:45"),
        ("2020年12月17日 | 2020年11月5日", "2020年12月18日 | 2020年11月6日"),
        ("17 декабря 2020 | 1 ноября 2020 | 9 мая 2019", "16 декабря 2020 | 31 октября 2020 | 8 мая 2019"),
        (
            "2020. december 17. Budget | 2020. december 9. Roads",
            "2020. december 18. Budget | 2020. december 10. Roads",
        ),
    ],
)
def test_dates_of_the_past_that_all_move_alike_are_in_another_time_zone(before: str, latest: str) -> None:
    assert compared_lines(before, latest) == (
        False,
        tuple([f"date in another zone: “{line}”" for line in latest.split(" | ")]),
    )


@pytest.mark.parametrize(
    ("before", "latest"),
    [
        # One date alone, or one in two lines, may be corrected.
        ("17 December 2020 | 30 October 2019", "18 December 2020 | 30 October 2019"),
        (
            "Valid from 17 December 2020 | Made on 17 December 2020",
            "Valid from 18 December 2020 | Made on 18 December 2020",
        ),
        # What is still to come may be put off, and so may a time without a date.
        ("17 December 2026 | 30 October 2026", "18 December 2026 | 31 October 2026"),
        (
            "Mon 9:00-17:00 until 2020 | Sat 9:00-12:00 until 2020",
            "Mon 10:00-18:00 until 2020 | Sat 10:00-13:00 until 2020",
        ),
        # Not alike, or further apart than zones are.
        ("17 December 2020 | 20 October 2019", "18 December 2020 | 19 October 2019"),
        ("17 December 2020 | 20 October 2019", "21 December 2020 | 24 October 2019"),
        # More than the dates.
        (
            "17 December 2020: 3 towns | 20 October 2019: 5 towns",
            "18 December 2020: 4 towns | 21 October 2019: 6 towns",
        ),
        # Two instants in one day's line.
        (
            "17.12.2020 10:00 to 11:00 | 18.12.2020 10:00 to 11:00",
            "17.12.2020 11:00 to 12:00 | 18.12.2020 11:00 to 12:00",
        ),
        ("17.12.2020 10:00 am | 18.12.2020 10:00 am", "17.12.2020 11:00 am | 18.12.2020 11:00 am"),
        ("17.12.2020 – 19.12.2021 | 18.12.2020 – 20.12.2021", "18.12.2020 – 20.12.2021 | 19.12.2020 – 21.12.2021"),
    ],
)
def test_dates_that_may_have_been_edited_are_told(before: str, latest: str) -> None:
    assert compared_lines(before, latest)[0]


def test_a_new_entry_beside_dates_in_another_time_zone_is_told() -> None:
    before = "17 December 2020 | 30 October 2019"

    is_change, noise = compared_lines(before, "2 May 2021 | 18 December 2020 | 31 October 2019")

    assert (is_change, len(noise)) == (True, 2)


def test_without_a_time_of_receipt_dates_that_move_are_told() -> None:
    was, latest = (page(inner=f"<h3>{day} May 2020</h3><h3>{day} June 2020</h3>") for day in (3, 4))

    assert compared(was, latest).is_change
