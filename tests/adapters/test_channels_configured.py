"""A channel that cannot work is refused when it is built, with the key and the mend."""

from __future__ import annotations

from pathlib import Path

import aiohttp
import pytest

from tests.fakes import ManualClock
from tocsin.adapters.channels.context import ChannelContext
from tocsin.adapters.channels.registry import open_channel
from tocsin.errors import SettingsError
from tocsin.settings import ChannelSettings

CONTEXT = ChannelContext(aiohttp.ClientSession, ManualClock())
URL = "https://example.org/hook"


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (ChannelSettings(type="webhok"), r"channels\.ops\.type: .*'webhok'; did you mean 'webhook'\?"),
        (ChannelSettings(type="pigeon"), r"channels\.ops\.type: .*use one of: webhook, file, stdout"),
        (ChannelSettings(type="webhook", secret="raw:x"), r"channels\.ops\.url: .*needs the URL"),
        (
            ChannelSettings(type="webhook", url="ftp://a/", secret="raw:x"),
            r"channels\.ops\.url: .*not an absolute http",
        ),
        (ChannelSettings(type="webhook", url="/hook", secret="raw:x"), r"channels\.ops\.url: .*not an absolute http"),
        (ChannelSettings(type="webhook", url="http://[::1/", secret="raw:x"), r"channels\.ops\.url: .*not a URL"),
        (ChannelSettings(type="webhook", url=URL), r"channels\.ops\.secret: .*secret_file"),
        (ChannelSettings(type="webhook", url=URL, secret="whsec_!"), r"channels\.ops\.secret: .*not base64"),
        (
            ChannelSettings(type="webhook", url=URL, secret="raw:x", headers={"Webhook-Id": "1"}),
            r"channels\.ops\.headers: Webhook-Id .*leave it out",
        ),
        (
            ChannelSettings(
                type="webhook", url="https://me:x@a/", secret="raw:x", headers={"authorization": "Bearer x"}
            ),
            r"channels\.ops\.headers: authorization .*leave one of them out",
        ),
        (
            ChannelSettings(type="webhook", url=URL, secret="raw:x", headers={"X-Key": "a\r\nX-Other: b"}),
            r"channels\.ops\.headers: 'X-Key' .*control characters; mend it",
        ),
        (
            ChannelSettings(type="webhook", url=URL, secret="raw:x", headers={"X Key": "a"}),
            r"channels\.ops\.headers: 'X Key' is no header",
        ),
        (ChannelSettings(type="file"), r"channels\.ops\.path: .*needs the path"),
        (ChannelSettings(type="file", path="/"), r"channels\.ops\.path: / is a folder"),
        (
            ChannelSettings(type="file", path="/dev/null"),
            r"channels\.ops\.path: /dev/null is no regular file; .*'stdout'",
        ),
        (
            ChannelSettings(type="file", path="/no/such/place"),
            r"channels\.ops\.path: the folder /no/such does not exist",
        ),
    ],
)
def test_a_setting_that_a_channel_cannot_work_with_is_named_with_its_mend(settings: ChannelSettings, told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        open_channel("ops", settings, CONTEXT)


def test_a_secret_does_not_show_in_what_is_told_of_it() -> None:
    with pytest.raises(SettingsError) as caught:
        open_channel("ops", ChannelSettings(type="webhook", url=URL, secret="whsec_t0p!"), CONTEXT)

    assert "t0p" not in str(caught.value)


def test_nothing_is_opened_when_a_channel_is_built(tmp_path: Path) -> None:
    open_channel("ops", ChannelSettings(type="file", path=str(tmp_path / "alerts.jsonl")), CONTEXT)

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("url", ["http://[::1/s3cr3t", "ftp://example.org/s3cr3t", "/s3cr3t"])
def test_a_URL_that_is_refused_is_not_repeated(url: str) -> None:
    with pytest.raises(SettingsError) as caught:
        open_channel("ops", ChannelSettings(type="webhook", url=url, secret="raw:x"), CONTEXT)

    assert "s3cr3t" not in str(caught.value)
