"""Webhooks in the formats of services for people: what each is sent, and what its answers mean."""

from __future__ import annotations

import json
from typing import Any

import aiohttp
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from tests.fakes import ManualClock
from tests.receivers import EVENT, Answer, WebhookReceiver, no_dial, no_tls
from tocsin.adapters.channels.context import ChannelContext
from tocsin.adapters.channels.formats import to_discord, to_ntfy, to_slack, to_teams, to_text
from tocsin.adapters.channels.registry import open_channel
from tocsin.adapters.channels.webhook import WebhookSettings
from tocsin.adapters.system import SystemClock
from tocsin.errors import DeliveryError, SettingsError
from tocsin.model import SerializedEvent
from tocsin.model.messages import Message
from tocsin.ports import Notification

MESSAGE = Message(
    id="01KAK0000000000000000000AA",
    subject="A page: 1 line <!channel> changed & more",
    text="A page\n1 line <!channel> changed & more.\n\nPage: https://example.org/a\n",
    html="<p>A page</p>",
    markdown="[A page](https://example.org/a)\n\n1 line \\<\\!channel\\> changed & more.\n",
    short="A page: 1 line changed",
    link="https://tocsin.example.org/pages/1",
)
CONTEXT = ChannelContext(aiohttp.ClientSession, SystemClock(), no_dial, no_tls)
SECRET = "whsec_dG9jc2luLXRlc3RzLXNpZ24td2l0aC10aGlz"


async def deliver(answer: Answer, *, message: Message = MESSAGE, **settings: Any) -> tuple[str, bytes]:
    """Give a receiver the message; returns its content type, and what came."""
    async with WebhookReceiver(answer) as receiver:
        section = WebhookSettings(type="webhook", url=receiver.url, **settings)
        channel = open_channel("ops", section, CONTEXT)
        assert channel.takes_messages
        try:
            await channel.deliver(Notification(SerializedEvent.of(EVENT), message))
        finally:
            await channel.close()
        [delivered] = receiver.got
        assert "webhook-signature" not in delivered.headers
        return delivered.headers["content-type"], delivered.body


async def sent(format_: str) -> Any:
    content_type, body = await deliver(Answer(), format=format_)
    assert content_type.startswith("application/json")
    return json.loads(body)


async def test_text_is_the_message_as_it_is_and_signed_where_there_is_a_secret() -> None:
    assert await deliver(Answer(), format="text") == ("text/plain; charset=utf-8", MESSAGE.text.encode())
    async with WebhookReceiver() as receiver:
        channel = open_channel(
            "ops", WebhookSettings(type="webhook", url=receiver.url, secret=SECRET, format="text"), CONTEXT
        )
        await channel.deliver(Notification(SerializedEvent.of(EVENT), MESSAGE))
        await channel.close()

    [delivered] = receiver.got
    assert delivered.headers["webhook-id"] == EVENT["id"]
    assert delivered.headers["webhook-signature"].startswith("v1,")


@pytest.mark.parametrize(
    ("keys", "content_type"),
    [
        ({"template": "a.json"}, "application/json; charset=utf-8"),
        ({"template": "a.xml"}, "application/xml; charset=utf-8"),
        ({"template": "a.html"}, "text/html; charset=utf-8"),
        ({"template": "a.txt"}, "text/plain; charset=utf-8"),
        ({"template": "a.json", "content_type": "application/vnd.pager+json"}, "application/vnd.pager+json"),
    ],
)
async def test_what_a_template_made_is_sent_as_it_is(keys: dict[str, str], content_type: str) -> None:
    message = msgspec.structs.replace(MESSAGE, body='{"a": "ä"}')

    assert await deliver(Answer(), message=message, format="template", **keys) == (content_type, '{"a": "ä"}'.encode())


async def test_an_alert_that_the_template_failed_at_is_refused_and_says_why() -> None:
    message = msgspec.structs.replace(MESSAGE, failed="a.json, line 3: UndefinedError: 'tilte' is undefined")
    channel = open_channel(
        "ops", WebhookSettings(type="webhook", url="http://h/", format="template", template="a.json"), CONTEXT
    )

    with pytest.raises(DeliveryError, match=r"a\.json, line 3: UndefinedError: 'tilte'") as caught:
        await channel.deliver(Notification(SerializedEvent.of(EVENT), message))

    assert caught.value.blames == "alert"
    await channel.close()


def test_without_a_template_nothing_can_be_made() -> None:
    with pytest.raises(SettingsError, match=r"channels\.ops\.template: format = .template. needs one"):
        open_channel("ops", WebhookSettings(type="webhook", url="http://h/", format="template"), CONTEXT)


async def test_slack_is_sent_no_markup() -> None:
    body = await sent("slack")

    assert body["mrkdwn"] is False
    assert "1 line &lt;!channel&gt; changed &amp; more." in body["text"]


async def test_discord_is_sent_markdown_that_mentions_no_user() -> None:
    body = await sent("discord")

    assert body["allowed_mentions"] == {"parse": []}
    assert body["embeds"] == [{"description": MESSAGE.markdown}]


async def test_teams_is_sent_a_card_with_its_link() -> None:
    [attachment] = (await sent("teams"))["attachments"]

    assert attachment["contentType"] == "application/vnd.microsoft.card.adaptive"
    assert attachment["content"]["body"][0]["text"] == MESSAGE.markdown
    [action] = attachment["content"]["actions"]
    assert (action["url"], action["title"]) == (MESSAGE.link, "tocsin.example.org")


async def test_teams_is_shown_what_differs_without_marks_that_its_cards_do_not_know() -> None:
    markdown = "◆ A page\n\n> Open 9 to ~~1\\*6~~ **18**.\n>\n> *… 5 lines*\n\nWhy: a \\> b\n\nMinor\n"
    [attachment] = json.loads(to_teams(structs.replace(MESSAGE, markdown=markdown)))["attachments"]

    assert attachment["content"]["body"] == [
        {"type": "TextBlock", "text": "◆ A page", "wrap": True},
        {
            "type": "RichTextBlock",
            "inlines": [
                {"type": "TextRun", "text": "Open 9 to "},
                {"type": "TextRun", "text": "1*6", "strikethrough": True},
                {"type": "TextRun", "text": " "},
                {"type": "TextRun", "text": "18", "weight": "Bolder"},
                {"type": "TextRun", "text": "."},
            ],
        },
        {"type": "RichTextBlock", "inlines": [{"type": "TextRun", "text": "… 5 lines", "italic": True}]},
        {"type": "TextBlock", "text": "Why: a \\> b\n\nMinor\n", "wrap": True},
    ]


async def test_ntfy_is_sent_json_at_the_servers_address_with_the_topic() -> None:
    async with WebhookReceiver() as receiver:
        url = f"{receiver.url}/page-alerts?auth=abc"
        channel = open_channel("ops", WebhookSettings(type="webhook", url=url, format="ntfy"), CONTEXT)
        await channel.deliver(Notification(SerializedEvent.of(EVENT), MESSAGE))
        await channel.close()

    [delivered] = receiver.got
    assert delivered.target == "/hook/?auth=abc"
    assert delivered.event == {
        "topic": "page-alerts",
        "title": MESSAGE.subject,
        "message": MESSAGE.text,
        "click": MESSAGE.link,
    }


@pytest.mark.parametrize(
    ("status", "blames"),
    [
        (400, "alert"),
        (401, "channel"),
        (403, "channel"),
        (404, "channel"),
        (410, "gone"),
        (429, "channel"),
        (500, "channel"),
    ],
)
async def test_a_service_that_does_not_know_the_URL_blames_the_channel(status: int, blames: str) -> None:
    with pytest.raises(DeliveryError) as caught:
        await deliver(Answer(status), format="slack")

    assert caught.value.blames == blames


async def test_without_a_message_nothing_is_sent() -> None:
    channel = open_channel("ops", WebhookSettings(type="webhook", url="http://127.0.0.1:9/", format="slack"), CONTEXT)

    with pytest.raises(DeliveryError, match="no message for people"):
        await channel.deliver(Notification(SerializedEvent.of(EVENT)))


def test_ntfy_without_a_topic_is_refused() -> None:
    section = WebhookSettings(type="webhook", url="https://ntfy.example.org/", format="ntfy")

    with pytest.raises(SettingsError, match=r"channels\.ops\.url: names no topic"):
        open_channel("ops", section, ChannelContext(aiohttp.ClientSession, ManualClock(), no_dial, no_tls))


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=50), st.integers(0, 400))
def test_a_long_message_is_cut_to_what_each_service_takes(piece: str, times: int) -> None:
    long = (piece + "\n\n" + "> x\n\n") * times
    message = Message("a", "subject", long, "", long, "short")

    assert to_text(message).decode() == long
    assert len(json.loads(to_slack(message))["text"]) <= 40_000
    assert len(json.loads(to_discord(message))["embeds"][0]["description"]) <= 4096
    assert len(to_teams(message)) <= 28_000
    assert len(json.loads(to_ntfy(message, "t"))["message"].encode()) <= 4096
