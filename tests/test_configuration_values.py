from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.adapters.channels.webhook import WebhookSettings
from tocsin.configuration import mask, parse_page_settings, parse_size, parse_span, show_size, show_span
from tocsin.configuration.convert import ChannelName
from tocsin.errors import SettingsError


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("100ms", timedelta(milliseconds=100)),
        ("10s", timedelta(seconds=10)),
        ("5m", timedelta(minutes=5)),
        ("24h", timedelta(hours=24)),
        ("80d", timedelta(days=80)),
        ("2w", timedelta(days=14)),
        ("1h30m", timedelta(minutes=90)),
        ("0", timedelta()),
    ],
)
def test_a_duration_is_read(text: str, span: timedelta) -> None:
    assert parse_span(text) == span


@pytest.mark.parametrize("text", ["", "5", "5 m", "-5m", "1.5h", "5min", "m", "٣m", "999999999999w", "5m\n", "5M"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"^"):
        parse_span(text)


def test_a_day_and_a_minute_are_written_in_the_unit_below() -> None:
    assert [show_span(timedelta(days=1)), show_span(timedelta(minutes=1)), show_span(timedelta(days=2))] == [
        "24h",
        "60s",
        "2d",
    ]


@given(st.integers(min_value=0, max_value=10**12))
def test_a_duration_that_was_written_is_read_as_it_was(milliseconds: int) -> None:
    span = timedelta(milliseconds=milliseconds)

    assert parse_span(show_span(span)) == span


@given(st.text(max_size=20))
def test_reading_a_duration_or_a_size_never_fails_otherwise(text: str) -> None:
    for read in (parse_span, parse_size):
        try:
            read(text)
        except ValueError:
            continue


@pytest.mark.parametrize(
    ("text", "size"), [("512KiB", 524_288), ("10MiB", 10_485_760), ("1GB", 10**9), ("4096", 4096), ("7 B", 7)]
)
def test_a_size_is_read(text: str, size: int) -> None:
    assert parse_size(text) == size


@given(st.integers(min_value=0, max_value=2**50))
def test_a_size_that_was_written_is_read_as_it_was(size: int) -> None:
    assert parse_size(show_size(size)) == size


OPS = ChannelName("ops", WebhookSettings)


@pytest.mark.parametrize(
    ("path", "value", "shown"),
    [
        (("channels", OPS, "secret"), "whsec_abc", "***"),
        (("channels", OPS, "secret"), "", ""),
        (("channels", OPS, "url"), "https://u:p@example.org/hook/T0K3N?key=1", "https://***@example.org/***"),
        (("channels", OPS, "url"), "https://example.org/", "https://example.org/"),
        (("channels", "ops", "a-key"), "of an unknown type", "***"),
        (("pages", "proxy"), "http://u:p@proxy:8080", "http://***@proxy:8080"),
        (("pages", "auth"), "u:p", "***"),
        (("pages", "headers"), {"Authorization": "Bearer x"}, {"Authorization": "***"}),
        (("pages", "cookies"), {"sid": "x"}, {"sid": "***"}),
        (("pages", "mode"), "on", "on"),
    ],
)
def test_T64_a_secret_is_never_shown(path: tuple[str, ...], value: object, shown: object) -> None:
    assert mask(path, value) == shown


@pytest.mark.parametrize("cron", ["*/2 * * * * *", "0 6 * *", f"{','.join(['0'] * 20_000)} * * * *"])
def test_a_cron_expression_has_five_fields_and_an_end(cron: str) -> None:
    with pytest.raises(SettingsError, match=r"allowed is a cron expression of five fields") as caught:
        parse_page_settings({"cron": cron})

    assert len(str(caught.value)) < 400


def test_an_interval_below_a_second_is_refused_with_what_is_allowed() -> None:
    with pytest.raises(SettingsError, match=r"allowed is a duration from 1s to "):
        parse_page_settings({"every": "999ms"})
