"""Messages in the JSON of services that take them by a webhook. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from tocsin.model.messages import Message

JSON: Final = "application/json; charset=utf-8"
TEXT: Final = "text/plain; charset=utf-8"
# Of what templates make, by their ending.
TYPES: Final = {
    "json": JSON,
    "xml": "application/xml; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "md": "text/markdown; charset=utf-8",
}
# A little less than each service takes.
_MOST_OF_SLACK: Final = 3500
_MOST_OF_DISCORD: Final = 4000
_MOST_OF_TEAMS: Final = 6000
_MOST_OF_NTFY_BYTES: Final = 3800
_CUT: Final = "\n\n…"
_OF_SLACK: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def to_text(message: Message) -> bytes:
    """Write the text as it is."""
    return message.text.encode()


def to_slack(message: Message) -> bytes:
    """Write for an incoming webhook of Slack, or of what takes the same, such as Mattermost.

    Nothing in it is markup: a page cannot mention users, or hide where a link leads.
    Source  Slack, "Sending messages using incoming webhooks", "Formatting text".
    """
    text = _cut(message.text, _MOST_OF_SLACK).translate(_OF_SLACK)
    return _encode({"text": text, "mrkdwn": False, "unfurl_links": False, "unfurl_media": False})


def to_discord(message: Message) -> bytes:
    """Write for a webhook of Discord; it mentions no user. Source: Discord, "Execute Webhook"."""
    embed = {"description": _cut(message.markdown, _MOST_OF_DISCORD)}
    return _encode({"embeds": [embed], "allowed_mentions": {"parse": []}})


def to_teams(message: Message) -> bytes:
    """Write an adaptive card, for a workflow of Microsoft Teams that starts with a webhook request."""
    card: dict[str, Any] = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": [{"type": "TextBlock", "text": _cut(message.markdown, _MOST_OF_TEAMS), "wrap": True}],
    }
    if message.link is not None:
        card["actions"] = [{"type": "Action.OpenUrl", "title": "Tocsin", "url": message.link}]
    attachment = {"contentType": "application/vnd.microsoft.card.adaptive", "content": card}
    return _encode({"type": "message", "attachments": [attachment]})


def to_ntfy(message: Message, topic: str) -> bytes:
    """Write for ntfy. Source: ntfy, "Publish as JSON"."""
    # A longer one would become a file.
    text = message.text.encode()
    if len(text) > _MOST_OF_NTFY_BYTES:
        text = text[:_MOST_OF_NTFY_BYTES].decode(errors="ignore").encode() + _CUT.encode()
    body = {"topic": topic, "title": message.subject, "message": text.decode()}
    return _encode(body if message.link is None else {**body, "click": message.link})


def ntfy_place(url: str) -> tuple[str, str] | None:
    """Divide the URL of a topic into the path that takes JSON and the topic; None if it has none."""
    above, _, topic = urlsplit(url).path.rstrip("/").rpartition("/")
    return (f"{above}/", topic) if topic else None


WRITERS: Final[dict[str, tuple[Callable[[Message], bytes], str]]] = {
    "text": (to_text, TEXT),
    "slack": (to_slack, JSON),
    "discord": (to_discord, JSON),
    "teams": (to_teams, JSON),
}


def _cut(text: str, most: int) -> str:
    """Shorten a text at the end of a paragraph, so that no markup is cut, or else of a line."""
    if len(text) <= most:
        return text
    kept = text[:most]
    for end in ("\n\n", "\n", " "):
        if (at := kept.rfind(end)) > 0:
            return f"{kept[:at]}{_CUT}"
    return f"{kept}{_CUT}"


def _encode(body: dict[str, Any]) -> bytes:
    return msgspec.json.encode(body)
