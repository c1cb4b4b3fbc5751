from __future__ import annotations

import contextlib
import time
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.cli.arguments import parse_past, parse_time
from tocsin.cli.formatting import json_time, show_time
from tocsin.errors import UsageError
from tocsin.model import EPOCH

NOW = (datetime(2026, 11, 21, 12, tzinfo=UTC) - EPOCH) // timedelta(microseconds=1)


def test_a_time_may_be_a_duration_from_now() -> None:
    assert parse_time("6h", now=NOW, option="--at") == NOW + 6 * 3_600_000_000


def test_a_time_with_an_offset_is_that_instant() -> None:
    assert json_time(parse_time("2026-11-22T01:00:00+01:00", now=NOW, option="--at")) == "2026-11-22T00:00:00.000Z"


def test_a_time_without_an_offset_is_local() -> None:
    local = datetime(2026, 12, 1, 18, 0).astimezone()

    assert json_time(parse_time("2026-12-01 18:00", now=NOW, option="--at")) == local.astimezone(UTC).strftime(
        "%Y-%m-%dT%H:%M:%S.000Z"
    )


@pytest.mark.parametrize("text", ["", "whenever", "25:00", "-6h", "0001-01-01", "2020-01-01"])
def test_what_is_no_time_to_come_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--at"):
        parse_time(text, now=NOW, option="--at")


@pytest.mark.parametrize("text", ["3651d", "9999999d", "9999-12-31T23:59:59Z"])
def test_a_time_beyond_ten_years_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"--at: .* is too far away; give a time within 3650 days"):
        parse_time(text, now=NOW, option="--at")


@pytest.mark.parametrize("text", ["", "soon", "3651d", "9999999d"])
def test_a_span_that_reaches_too_far_back_or_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--older"):
        parse_past(text, option="--older")


@given(st.integers(-(2**63), 2**63 - 1), st.sampled_from(["Asia/Tokyo", "America/Los_Angeles", "UTC"]))
def test_any_instant_that_a_store_can_hold_can_be_shown(at: int, zone: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", zone)
        time.tzset()
        try:
            assert show_time(at)
        finally:
            patch.undo()
            time.tzset()


def test_the_end_of_the_calendar_is_shown_east_of_greenwich(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    last = (datetime.max.replace(tzinfo=UTC) - EPOCH) // timedelta(microseconds=1)

    shown = show_time(last)

    monkeypatch.undo()
    time.tzset()
    assert shown == "9999-12-31 23:59:59 UTC"


@given(st.text(max_size=30))
def test_no_text_at_all_raises_anything_else(text: str) -> None:
    with contextlib.suppress(UsageError):
        assert parse_time(text, now=0, option="--at") >= 0
