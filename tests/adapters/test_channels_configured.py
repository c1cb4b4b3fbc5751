"""A channel that cannot work is refused when it is built, with the key and the mend."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import aiohttp
import msgspec
import pytest
from msgspec import Meta

from tests.fakes import ManualClock
from tests.far_ends.brokers import BROKERS
from tests.receivers import no_dial, no_tls
from tocsin.adapters.channels.apprise import AppriseSettings
from tocsin.adapters.channels.context import ChannelContext
from tocsin.adapters.channels.file import FileSettings
from tocsin.adapters.channels.registry import open_channel
from tocsin.adapters.channels.webhook import WebhookSettings
from tocsin.configuration import load, mask
from tocsin.configuration.channels import forget_types, load_type, our_types
from tocsin.configuration.convert import ChannelName, described, walk
from tocsin.configuration.schema import to_schema
from tocsin.errors import SettingsError
from tocsin.settings import ChannelSettings, Secret, Settings

CONTEXT = ChannelContext(aiohttp.ClientSession, ManualClock(), no_dial, no_tls)
URL = "https://example.org/hook"


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (WebhookSettings(type="webhook", secret="raw:x"), r"channels\.ops\.url: .*needs the URL"),
        (
            WebhookSettings(type="webhook", url="ftp://a/", secret="raw:x"),
            r"channels\.ops\.url: .*not an absolute http",
        ),
        (WebhookSettings(type="webhook", url="/hook", secret="raw:x"), r"channels\.ops\.url: .*not an absolute http"),
        (WebhookSettings(type="webhook", url="http://[::1/", secret="raw:x"), r"channels\.ops\.url: .*not a URL"),
        (WebhookSettings(type="webhook", url=URL), r"channels\.ops\.secret: .*secret_file"),
        (WebhookSettings(type="webhook", url=URL, secret="whsec_!"), r"channels\.ops\.secret: .*not base64"),
        (
            WebhookSettings(type="webhook", url=URL, secret="raw:x", headers={"Webhook-Id": "1"}),
            r"channels\.ops\.headers: Webhook-Id .*leave it out",
        ),
        (
            WebhookSettings(
                type="webhook", url="https://me:x@a/", secret="raw:x", headers={"authorization": "Bearer x"}
            ),
            r"channels\.ops\.headers: authorization .*leave one of them out",
        ),
        (
            WebhookSettings(type="webhook", url=URL, secret="raw:x", headers={"X-Key": "a\r\nX-Other: b"}),
            r"channels\.ops\.headers: 'X-Key' .*control characters; mend it",
        ),
        (
            WebhookSettings(type="webhook", url=URL, secret="raw:x", headers={"X Key": "a"}),
            r"channels\.ops\.headers: 'X Key' is no header",
        ),
        (AppriseSettings(type="apprise"), r"channels\.ops\.url: this is no URL of Apprise, .*mend it"),
        (AppriseSettings(type="apprise", url="ntfy:x"), r"channels\.ops\.url: this is no URL of Apprise"),
        (AppriseSettings(type="apprise", url="syslog://"), r"channels\.ops\.url: this is no URL of Apprise"),
        (AppriseSettings(type="apprise", url="syslog://user"), r"syslog:// is not allowed here; .*use type 'stdout'"),
        (AppriseSettings(type="apprise", url="Mailtos://a:b@c"), r"mailtos:// is not allowed here; use type 'mail'"),
        (AppriseSettings(type="apprise", url="mqtt://a/b"), r"mqtt:// is not allowed here; use type 'mqtt'"),
        (AppriseSettings(type="apprise", url="xmpp://a:b@c"), r"xmpp:// is not allowed here; .*proxy of HTTP"),
        (AppriseSettings(type="apprise", url="ntfy://a/b"), r"channels\.ops: Apprise runs in a cell, but this process"),
        (FileSettings(type="file"), r"channels\.ops\.path: .*needs the path"),
        (FileSettings(type="file", path="/"), r"channels\.ops\.path: / is a folder"),
        (
            FileSettings(type="file", path="/dev/null"),
            r"channels\.ops\.path: /dev/null is no regular file; .*'stdout'",
        ),
        (
            FileSettings(type="file", path="/no/such/place"),
            r"channels\.ops\.path: the folder /no/such does not exist",
        ),
    ],
)
def test_a_setting_that_a_channel_cannot_work_with_is_named_with_its_mend(
    settings: WebhookSettings | FileSettings | AppriseSettings, told: str
) -> None:
    with pytest.raises(SettingsError, match=told):
        open_channel("ops", settings, CONTEXT)


def test_a_secret_does_not_show_in_what_is_told_of_it() -> None:
    with pytest.raises(SettingsError) as caught:
        open_channel("ops", WebhookSettings(type="webhook", url=URL, secret="whsec_t0p!"), CONTEXT)

    assert "t0p" not in str(caught.value)


@pytest.mark.parametrize("url", ["", "https://a.example/", "{scheme}://", "{scheme}://a.example:x", "{scheme}://a?b=c"])
@pytest.mark.parametrize("name", BROKERS)
def test_an_address_that_is_no_brokers_is_refused_and_not_repeated(name: str, url: str) -> None:
    scheme = BROKERS[name].server_type.scheme
    settings = msgspec.convert({"type": name, "url": url.format(scheme=scheme)}, load_type(name, ()).Settings)

    with pytest.raises(SettingsError, match=rf'channels\.ops\.url: .* write one such as "{scheme}:') as caught:
        open_channel("ops", settings, CONTEXT)

    assert not url or "a.example" not in str(caught.value)


def test_nothing_is_opened_when_a_channel_is_built(tmp_path: Path) -> None:
    open_channel("ops", FileSettings(type="file", path=str(tmp_path / "alerts.jsonl")), CONTEXT)

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("url", ["http://[::1/s3cr3t", "ftp://example.org/s3cr3t", "/s3cr3t"])
def test_a_URL_that_is_refused_is_not_repeated(url: str) -> None:
    with pytest.raises(SettingsError) as caught:
        open_channel("ops", WebhookSettings(type="webhook", url=url, secret="raw:x"), CONTEXT)

    assert "s3cr3t" not in str(caught.value)


class PigeonSettings(ChannelSettings, frozen=True, kw_only=True):
    """A plug-in's settings."""

    loft: Annotated[str, Meta(extra={"check": lambda text: "no x" if "x" in text else None})]
    ring: Secret = ""
    speed: Annotated[int, Meta(ge=1, le=9)] = 3


class PigeonType:
    """A plug-in's type."""

    Settings = PigeonSettings
    example = 'type = "pigeon"\nloft = "roof"\n'


@pytest.fixture
def pigeons(tmp_path: Path) -> Iterator[None]:
    """Install a package that brings a type of channels, in a folder of its own."""
    made = tmp_path / "installed" / "pigeon-1.0.dist-info"
    made.mkdir(parents=True)
    (made / "METADATA").write_text("Metadata-Version: 2.1\nName: pigeon\nVersion: 1.0\n")
    (made / "entry_points.txt").write_text(
        f"[tocsin.channels]\npigeon = {__name__}:PigeonType\nfile = {__name__}:PigeonType\n"
        "broken = nowhere.at_all:Type\n"
    )
    sys.path.insert(0, str(made.parent))
    forget_types()
    yield
    sys.path.remove(str(made.parent))
    forget_types()


def configured(folder: Path, text: str) -> Settings:
    (folder / "tocsin.toml").write_text(text)
    return load(environ={}, cwd=folder).settings


def complaint_of(folder: Path, text: str) -> str:
    with pytest.raises(SettingsError) as caught:
        configured(folder, text)
    return str(caught.value)


@pytest.mark.usefixtures("pigeons")
def test_a_type_of_another_package_is_used_where_the_configuration_names_it(tmp_path: Path) -> None:
    text = '[delivery]\nplugins = ["pigeon"]\n[channels.roof]\ntype = "pigeon"\nloft = "north"\nring = "s3cret"\n'

    settings = configured(tmp_path, text)

    assert settings.channels["roof"] == PigeonSettings(type="pigeon", loft="north", ring="s3cret")
    assert "s3cret" not in str([mask(path, value) for path, value in walk(settings)])


@pytest.mark.usefixtures("pigeons")
def test_a_type_of_another_package_has_a_schema_where_it_is_named() -> None:
    found = to_schema(["pigeon"])

    assert found["$defs"]["pigeon"]["properties"]["type"] == {"const": "pigeon"}
    assert "pigeon" not in to_schema()["$defs"]


@pytest.mark.usefixtures("pigeons")
@pytest.mark.parametrize(
    ("plugins", "section", "told"),
    [
        ("", 'type = "pigeon"', 'another package, .*; if you trust it, write plugins = ["pigeon"] below [delivery]'),
        ("pigeon", 'type = "pigeon"', "channels.roof: loft is missing"),
        ("pigeon", 'type = "pigeon"\nloft = "x"', 'channels.roof.loft: found "x", allowed is no x'),
        (
            "pigeon",
            'type = "pigeon"\nlofd = "a"',
            "unknown key; the nearest known key is channels.roof.loft",
        ),
        (
            "pigeon",
            'type = "pigeon"\nloft = "a"\nspeed = 10',
            "channels.roof.speed: found 10, allowed is a whole number from 1 to 9",
        ),
        ("broken", 'type = "broken"', "type 'broken' cannot be loaded (ModuleNotFoundError: "),
        ("pigeon", 'type = "pigoen"', "there is no channel of type 'pigoen'; did you mean 'pigeon'?"),
        ("", 'type = "owl"', "there is no channel of type 'owl'; use one of: webhook, file, stdout"),
        ("", "type = 3", "channels.roof.type: found 3, allowed is text in quotes"),
        ("", 'type = "file"\nurl = "a"', "channels.roof.url: unknown key"),
        ("", 'type = "webhook"\nurl_fil = "a"', "the nearest known key is channels.roof.url"),
        ("", 'timeout = "1s"', 'channels.roof: type is missing; give it, as in type = "webhook"'),
        ("", 'type = "file"\npath_file = "a"', "channels.roof.path_file: unknown key"),
    ],
)
def test_what_is_wrong_with_a_channel_is_named_with_its_key_and_its_mend(
    tmp_path: Path, plugins: str, section: str, told: str
) -> None:
    names = f'"{plugins}"' if plugins else ""

    said = complaint_of(tmp_path, f"[delivery]\nplugins = [{names}]\n[channels.roof]\n{section}\n")

    assert re.search(re.escape(told).replace(r"\.\*", ".*"), said), said
    assert len(said.splitlines()) <= 2


@pytest.mark.usefixtures("pigeons")
def test_another_package_does_not_take_the_place_of_a_type_of_ours(tmp_path: Path) -> None:
    settings = configured(tmp_path, '[channels.lines]\ntype = "file"\npath = "a"\n')

    assert settings.channels["lines"] == FileSettings(type="file", path=str(tmp_path / "a"))


def test_each_type_of_ours_is_described_key_for_key() -> None:
    for name in our_types():
        kind = load_type(name, ()).Settings
        for key in kind.__struct_fields__:
            assert described(("channels", ChannelName("any", kind), key)), (name, key)
