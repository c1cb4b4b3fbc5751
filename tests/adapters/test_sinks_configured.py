"""A sink that cannot work is refused when it is built, with the key and the mend."""

from __future__ import annotations

from typing import TYPE_CHECKING

import aiohttp
import pytest

from tests.fakes import ManualClock
from tocsin.adapters.sinks.context import SinkContext
from tocsin.adapters.sinks.registry import open_sink
from tocsin.errors import SettingsError
from tocsin.settings import SinkSettings

if TYPE_CHECKING:
    from pathlib import Path

CONTEXT = SinkContext(aiohttp.ClientSession, ManualClock())
URL = "https://example.org/hook"


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (SinkSettings(type="webhok"), r"sinks\.ops\.type: .*'webhok'; did you mean 'webhook'\?"),
        (SinkSettings(type="pigeon"), r"sinks\.ops\.type: .*use one of: webhook, file, stdout"),
        (SinkSettings(type="webhook", secret="raw:x"), r"sinks\.ops\.url: .*needs the URL"),
        (SinkSettings(type="webhook", url="ftp://a/", secret="raw:x"), r"sinks\.ops\.url: .*not an absolute http"),
        (SinkSettings(type="webhook", url="/hook", secret="raw:x"), r"sinks\.ops\.url: .*not an absolute http"),
        (SinkSettings(type="webhook", url="http://[::1/", secret="raw:x"), r"sinks\.ops\.url: .*not a URL"),
        (SinkSettings(type="webhook", url=URL), r"sinks\.ops\.secret: .*secret_file"),
        (SinkSettings(type="webhook", url=URL, secret="whsec_!"), r"sinks\.ops\.secret: .*not base64"),
        (
            SinkSettings(type="webhook", url=URL, secret="raw:x", headers={"Webhook-Id": "1"}),
            r"sinks\.ops\.headers: Webhook-Id .*leave it out",
        ),
        (
            SinkSettings(type="webhook", url="https://me:x@a/", secret="raw:x", headers={"authorization": "Bearer x"}),
            r"sinks\.ops\.headers: authorization .*leave one of them out",
        ),
        (
            SinkSettings(type="webhook", url=URL, secret="raw:x", headers={"X-Key": "a\r\nX-Other: b"}),
            r"sinks\.ops\.headers: 'X-Key' .*control characters; mend it",
        ),
        (
            SinkSettings(type="webhook", url=URL, secret="raw:x", headers={"X Key": "a"}),
            r"sinks\.ops\.headers: 'X Key' is no header",
        ),
        (SinkSettings(type="file"), r"sinks\.ops\.path: .*needs the path"),
        (SinkSettings(type="file", path="/"), r"sinks\.ops\.path: / is a folder"),
        (SinkSettings(type="file", path="/dev/null"), r"sinks\.ops\.path: /dev/null is no regular file; .*'stdout'"),
        (SinkSettings(type="file", path="/no/such/place"), r"sinks\.ops\.path: the folder /no/such does not exist"),
    ],
)
def test_a_setting_that_a_sink_cannot_work_with_is_named_with_its_mend(settings: SinkSettings, told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        open_sink("ops", settings, CONTEXT)


def test_a_secret_does_not_show_in_what_is_told_of_it() -> None:
    with pytest.raises(SettingsError) as caught:
        open_sink("ops", SinkSettings(type="webhook", url=URL, secret="whsec_t0p!"), CONTEXT)

    assert "t0p" not in str(caught.value)


def test_nothing_is_opened_when_a_sink_is_built(tmp_path: Path) -> None:
    open_sink("ops", SinkSettings(type="file", path=str(tmp_path / "alerts.jsonl")), CONTEXT)

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("url", ["http://[::1/s3cr3t", "ftp://example.org/s3cr3t", "/s3cr3t"])
def test_a_URL_that_is_refused_is_not_repeated(url: str) -> None:
    with pytest.raises(SettingsError) as caught:
        open_sink("ops", SinkSettings(type="webhook", url=url, secret="raw:x"), CONTEXT)

    assert "s3cr3t" not in str(caught.value)
