"""Messages by the user's own templates: rendered aside, bounded, and replaced where they fail."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import msgspec
import pytest

from tests.alert_examples import examples
from tocsin.adapters.channels.mail import MailSettings
from tocsin.adapters.channels.webhook import WebhookSettings
from tocsin.app.messages import MessageWriter
from tocsin.engine.alerting.messages import message_of
from tocsin.errors import SettingsError
from tocsin.events import Happening
from tocsin.model import JsonObject
from tocsin.settings import ChannelSettings, InstanceSettings, MessageSettings, RouteSettings, Settings

EVENT = examples()[0]


@pytest.fixture
def happened() -> list[Happening]:
    return []


@pytest.fixture
def settings_of(tmp_path: Path) -> Callable[..., Settings]:
    def make(**templates: str) -> Settings:
        for kind, text in templates.items():
            (tmp_path / kind).write_text(text, encoding="utf-8")
        named = MessageSettings(**{kind: str(tmp_path / kind) for kind in templates})
        return Settings(instance=InstanceSettings(language="de"), messages=named)

    return make


@asynccontextmanager
async def writing(settings: Settings, happened: list[Happening]) -> AsyncIterator[MessageWriter]:
    writer = MessageWriter(settings, happened.append)
    try:
        yield writer
    finally:
        await writer.close()


async def test_templates_of_the_user_replace_the_built_in_ones(
    settings_of: Callable[..., Settings], happened: list[Happening]
) -> None:
    settings = settings_of(
        html="<p>{{ alert.title }} <b>{{ '<' }}</b> {{ t('message.why') }}</p>", text="{{ alert.summary }} {{ '<' }}"
    )
    async with writing(settings, happened) as writer:
        message = await writer.write(EVENT)

    built_in = message_of(EVENT, "de")
    assert message.html == "<p>A page <b>&lt;</b> Warum</p>"
    assert message.text.startswith("„Bluesday Tuesday“ wurde")
    assert message.text.endswith(" <")
    assert (message.markdown, message.subject) == (built_in.markdown, built_in.subject)
    assert happened == []


@pytest.mark.parametrize(
    ("template", "why"),
    [
        ("{{ 'a' * 10**9 }}", "text: TemplateSyntaxError|text, line 1: it takes too much memory"),
        ("\n{{ alert.title * 10**6 }}", "text, line 2: it makes more than 256 KiB"),
        (
            "{% for a in range(999) %}\n{{ alert.title * 1000 }}{% endfor %}",
            "text, line 2: it makes more than 256 KiB",
        ),
        (
            "{% for a in range(99999) %}\n{% for b in range(99999) %}{% set c = b %}{% endfor %}{% endfor %}",
            "text, line 2: it takes too long",
        ),
        ("{% for a in range(10**9) %}{% endfor %}", "text, line 1: OverflowError: Range too big"),
        ("\n\n{{ ''.__class__.__mro__ }}", "text, line 3: SecurityError: access to attribute '__class__'"),
        ("{{ alert.title.no.such }}", "text, line 1: UndefinedError: 'str object' has no attribute 'no'"),
        ("one\n{{ tilte }}", "text, line 2: UndefinedError: 'tilte' is undefined"),
        ("one\ntwo {% if %}", "text, line 2: TemplateSyntaxError: Expected an expression"),
        ("{% set zero = 0 %}{{ 1 / zero }}", "text, line 1: ZeroDivisionError: division by zero"),
        ("{% include '/etc/passwd' %}", "text, line 1: TemplateNotFound: /etc/passwd"),
        ("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "text, line 1: it calls itself without end"),
        ("{{ t('no.such.key') }}", "text, line 1: KeyError: 'no.such.key'"),
    ],
)
async def test_a_template_that_fails_is_replaced_by_the_built_in_one_which_says_so(
    template: str, why: str, settings_of: Callable[..., Settings], happened: list[Happening]
) -> None:
    async with writing(settings_of(text=template), happened) as writer:
        message = await writer.write(EVENT)
        again = await writer.write(EVENT)

    built_in = message_of(EVENT, "de").text
    assert message.text.startswith(built_in.rstrip("\n"))
    told = "Ihre Vorlage war nicht verwendbar, darum ist dies die eingebaute Nachricht: "
    assert any(f"{told}{each}" in message.text for each in why.split("|")), message.text[-200:]
    assert message == again
    (said,) = happened
    assert (said.name, said.level) == ("message.template_failed", "error")


async def test_a_process_that_was_killed_is_replaced(
    settings_of: Callable[..., Settings], happened: list[Happening]
) -> None:
    async with writing(settings_of(text="{{ alert.title }}"), happened) as writer:
        await writer.write(EVENT)
        assert writer._process is not None
        await writer._process.end()
        message = await writer.write(EVENT)

    assert message.text == "A page"


def test_a_template_that_cannot_be_read_is_named_at_the_start(tmp_path: Path) -> None:
    settings = Settings(messages=MessageSettings(html=str(tmp_path / "gone.html")))

    with pytest.raises(SettingsError, match=r"messages\.html: .*gone\.html cannot be read"):
        MessageWriter(settings, print)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pager.json").write_text(
        '{"text": "{{ alert.title }}: {{ t(\'message.why\') }}", "rows": {{ alert.rows|length }}, '
        '"all": {{ alert|tojson }}, "none": {{ none }}, "yes": {{ is_digest }}}'
    )
    (tmp_path / "other.json").write_text('["{{ alert.title }}"]')
    (tmp_path / "pager.xml").write_text("<alert title='{{ alert.title }}'>{{ '<&>' }}</alert>")
    (tmp_path / "news.txt").write_text("News: {{ alert.summary }}")
    (tmp_path / "desk.txt").write_text("Desk: {{ alert.short }}")
    (tmp_path / "desk.html").write_text("<p>{{ alert.title }}</p>")
    return tmp_path


def of_folder(folder: Path, *, general: str = "", **keys: Any) -> Settings:
    """A mail and a webhook, each with these keys; routes that override some."""
    mail = MailSettings(type="mail", host="h", to=("a@example.org",), sender="b@example.org", **keys)
    pager = WebhookSettings(type="webhook", url="https://example.org/", format="template", template="pager.json")
    xml = WebhookSettings(type="webhook", url="https://example.org/", format="template", template="pager.xml")
    routes = (
        RouteSettings("newsroom", ("mail", "pager"), template="news.txt", language="de"),
        RouteSettings("pagers", ("pager",), template="other.json"),
        RouteSettings("plain", ("mail",)),
    )
    messages = MessageSettings(text=general and str(folder / general), folder=str(folder))
    channels: dict[str, ChannelSettings] = {"mail": mail, "pager": pager, "xml": xml}
    return Settings(messages=messages, channels=channels, routes=routes)


HOSTILE = 'Fish & "Chips" <b>\\'


def titled(title: str) -> JsonObject:
    return EVENT | {"data": EVENT["data"] | {"page": EVENT["data"]["page"] | {"title": title}}}


async def test_a_route_decides_on_language_and_template_before_its_channel_and_that_before_messages(
    folder: Path, happened: list[Happening]
) -> None:
    german, english = message_of(EVENT, "de"), message_of(EVENT, "en")
    async with writing(of_folder(folder, general="desk.html"), happened) as writer:
        general = await writer.write(EVENT, "mail", "plain")
        routed = await writer.write(EVENT, "mail", "newsroom")
        gone = await writer.write(EVENT, "mail", "a route that was removed")
    async with writing(of_folder(folder, template="desk.txt", language="de"), happened) as writer:
        own = await writer.write(EVENT, "mail", "plain")

    assert general.text == gone.text == "<p>A page</p>"
    assert (general.subject, general.html) == (english.subject, english.html)
    assert (routed.text, routed.subject) == (f"News: {read(german.text)}", german.subject)
    assert (own.text, own.subject) == (f"Desk: {german.subject.partition(': ')[2]}", german.subject)
    assert {general.id, routed.id, gone.id, own.id} == {EVENT["id"]}
    assert happened == []


def read(text: str) -> str:
    """The sentence of a text."""
    return text.splitlines()[1]


async def test_a_channel_sends_what_its_template_makes_escaped_as_its_kind_is(
    folder: Path, happened: list[Happening]
) -> None:
    async with writing(of_folder(folder), happened) as writer:
        pager = await writer.write(titled(HOSTILE), "pager", "newsroom")
        other = await writer.write(titled(HOSTILE), "pager", "pagers")
        xml = await writer.write(titled(HOSTILE), "xml")

    assert happened == []
    assert pager.body is not None
    made = json.loads(pager.body)
    # Its route is for mail, too: a text is no body of a pager.
    assert (made["text"], made["none"], made["yes"]) == (f"{HOSTILE}: Warum", None, False)
    assert made["all"]["title"] == HOSTILE
    assert json.loads(other.body or "") == [HOSTILE]
    alert = ET.fromstring(xml.body or "")  # noqa: S314 - our own
    assert (alert.get("title"), alert.text) == (HOSTILE, "<&>")


@pytest.mark.parametrize(
    ("template", "why"),
    [
        ('{"a": {{ alert.title }}}', "what it makes is not JSON: Expecting value in line 1 of it"),
        ('{"a":\n "{{ tilte }}"}', "pager.json, line 2: UndefinedError: 'tilte' is undefined"),
    ],
)
async def test_a_body_that_cannot_be_made_is_no_message_and_leaves_other_alerts_alone(
    template: str, why: str, folder: Path, happened: list[Happening]
) -> None:
    (folder / "pager.json").write_text("{% if alert.title == 'bad' %}" + template + "{% else %}{}{% endif %}")
    async with writing(of_folder(folder), happened) as writer:
        bad = await writer.write(titled("bad") | {"id": "bad"}, "pager")
        good = await writer.write(titled("good"), "pager")

    assert bad.body is None
    assert why in bad.failed
    assert (good.body, good.failed) == ("{}", "")


async def test_templates_are_read_anew_with_another_configuration(folder: Path, happened: list[Happening]) -> None:
    settings = of_folder(folder, template="desk.txt")
    async with writing(settings, happened) as writer:
        await writer.write(EVENT, "mail")
        (folder / "desk.txt").write_text("mended")
        writer.configure(settings)

        assert (await writer.write(EVENT, "mail")).text == "mended"


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ({"template": "gone.txt"}, r"channels\.mail\.template: gone\.txt: .*gone\.txt cannot be read: No such file"),
        ({"template": "pager.json"}, r"channels\.mail\.template: pager\.json: a message has no such part"),
    ],
)
async def test_a_template_that_a_channel_cannot_use_is_named_with_its_place(
    keys: dict[str, str], why: str, folder: Path, happened: list[Happening]
) -> None:
    settings = of_folder(folder, **keys)

    with pytest.raises(SettingsError, match=why):
        MessageWriter(settings, happened.append)
    # One that was made at run time must not keep the service from starting.
    writer = MessageWriter(settings, happened.append, {"channels.mail"})
    assert (await writer.write(EVENT, "mail")).id == EVENT["id"]


def test_without_a_folder_no_template_is_read(folder: Path) -> None:
    settings = of_folder(folder)
    with pytest.raises(SettingsError, match=r"channels\.pager\.template: pager\.json: there is no folder of templates"):
        MessageWriter(msgspec.structs.replace(settings, messages=MessageSettings()), print)


@pytest.mark.parametrize("event", examples(), ids=lambda event: str(event["type"]))
async def test_the_template_of_the_documentation_makes_json_of_every_alert(
    event: JsonObject, folder: Path, happened: list[Happening]
) -> None:
    text = (Path(__file__).parents[2] / "docs" / "alert-receivers.md").read_text("utf-8")
    (folder / "pager.json").write_text(text.split("```jinja\n")[1].split("```")[0], "utf-8")
    async with writing(of_folder(folder), happened) as writer:
        message = await writer.write(event, "pager")

    assert message.failed == ""
    made = json.loads(message.body or "")
    assert made["title"] == message.subject
    assert made["link"] == message.link
