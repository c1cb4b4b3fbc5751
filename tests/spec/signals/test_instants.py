from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.spec.signals.instants import LONGEST, keep_same, to_text, to_value

INSTANT = "2023-11-02T15:36:52Z"


@pytest.mark.parametrize(
    "written",
    [
        "2023-11-02T15:36:52Z",
        "2023-11-02T21:06:52+05:30",
        "2023-11-02T21:06:52+0530",
        "2023-11-02T21:06:52&#x2B;05:30",
        "2023-11-02 21:06:52 +05:30",
        "2023-11-02T15:36:52.000Z",
        "2023-11-02T15:36:52+00",
        "2023-11-02T15:36:52ZZ",
        "2023-11-02T15:36:52 UTC",
        "2023-11-02@15:36:52 UTC",
        "2023-11-02T16:36:52+01:00CET",
        "2023-11-2t15:36:52z",
        "2023/11/02 15:36:52Z",
        "20231102T15:36:52Z",
        "20231102T153652Z",
        "20231102T163652+0100",
        "Thu, 02 Nov 2023 15:36:52 GMT",
        "Thu, 2 Nov 2023 16:36:52 +0100",
        "Thursday, 02-Nov-23 15:36:52 GMT",
        "2 November 2023 15:36:52 UTC",
        "Thu Nov 02 2023 16:36:52 GMT+0100 (Central European Standard Time)",
        "Thu Nov  2 15:36:52 UTC 2023",
        "1698939412",
        "1698939412000",
        "1698939412.5",
        " \n2023-11-02T15:36:52Z\t",
    ],
)
def test_an_instant_is_the_same_whatever_words_name_it(written: str) -> None:
    assert to_value(written) == INSTANT


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("2023-11-02", "2023-11-02"),
        ("2023-11-2", "2023-11-02"),
        ("20231102", "2023-11-02"),
        ("2023-11-02 15:36", "2023-11-02T15:36:00"),
        ("2023-11-02T15:36:52", "2023-11-02T15:36:52"),
        ("20231102153652", "2023-11-02T15:36:52"),
        ("Thu Nov  2 15:36:52 2023", "2023-11-02T15:36:52"),
        ("2023-11-02T15:36:5Z", "2023-11-02T15:36:05Z"),
        ("2023-11-02T15:36:52.0500Z", "2023-11-02T15:36:52.05Z"),
        ("2023-11-02T15:36:52:684Z", "2023-11-02T15:36:52.684Z"),
        ("2016-12-31T23:59:60Z", "2016-12-31T23:59:59Z"),
    ],
)
def test_what_tells_no_zone_or_no_time_stays_without(written: str, value: str) -> None:
    assert to_value(written) == value


@pytest.mark.parametrize(
    "written",
    [
        "06/13/2019",
        "10.12.2022, 09:15:02",
        "Di., 25.01.2022 - 14:45",
        "Updated: August 22, 2019",
        "2023-13-02",
        "2023-02-30T10:00:00Z",
        "2023-11-02T24:00:00Z",
        "2023-11-02T10:00:00+99:00",
        "0001-01-01T00:00:00+01:00",
        "2020-09-29T01:21:51PDT",
        "۱۳۹۹/۰۲/۲۱",
        "vor 3 Tagen",
    ],
)
def test_what_no_standard_reads_stays_as_it_is_written(written: str) -> None:
    assert to_value(written) == written


@pytest.mark.parametrize(
    "written",
    [
        None,
        "",
        " \n\t",
        "0",
        "0;0",
        "null",
        "Invalid Date",
        "0000-00-00",
        "0000-00-00 00:00:00",
        "-0001-11-30T00:00:00+00:00",
        "0001-01-01T00:00:00",
        "1970-01-01T00:00:00Z",
        "1970-01-01T01:00:00+01:00",
        "{{ page.updated | date: 1 }}",
        "Date modified (YYYY-MM-DD) / Date de modification (AAAA-MM-JJ)",
    ],
)
def test_what_stands_where_a_date_should_is_no_value(written: str | None) -> None:
    assert to_value(written) is None


def test_a_long_text_is_cut() -> None:
    assert to_value("7" * 5000) == "7" * LONGEST


def test_a_version_needs_no_figure() -> None:
    assert to_text(" second\nedition ") == "second edition"


@given(st.datetimes(datetime(1971, 1, 1), datetime(9998, 1, 1)), st.integers(-14 * 60, 14 * 60))  # noqa: DTZ001 - its zone is drawn
def test_zones_and_ways_of_writing_name_one_instant(naive: datetime, offset: int) -> None:
    at = naive.replace(microsecond=0, tzinfo=UTC).astimezone(timezone(timedelta(minutes=offset)))

    values = {
        to_value(text) for text in (at.isoformat(), at.isoformat(" "), f"{at:%Y%m%dT%H%M%S%z}", format_datetime(at))
    }

    assert values == {at.astimezone(UTC).isoformat().replace("+00:00", "Z")}


@given(st.text())
def test_any_text_has_a_bounded_value_that_stays_as_it_is(text: str) -> None:
    value = to_value(text)

    assert value is None or (0 < len(value) <= LONGEST and "\n" not in value)
    assert value is None or "&" in value or to_value(value) == value


@pytest.mark.parametrize(
    ("before", "latest", "kept"),
    [
        ("2026-05-10T15:25:45.901Z", "2026-05-10T15:25:47.272Z", "before"),
        ("2026-05-10T15:25:45Z", "2026-05-10T15:25:43Z", "before"),
        ("2026-05-10T15:25:45Z", "2026-05-10T15:25:48Z", "latest"),
        ("2026-05-10T15:25:45Z", "2026-05-10T15:25:45", "latest"),
        ("2026-05-10", "2026-05-11", "latest"),
        ("version 1", "version 2", "latest"),
        ("1 of many Ts 1", "1 of many Ts 2", "latest"),
    ],
)
def test_instants_two_seconds_apart_are_the_same(before: str, latest: str, kept: str) -> None:
    values = keep_same({"a": before}, {"a": latest, "b": latest})

    assert values == {"a": before if kept == "before" else latest, "b": latest}
