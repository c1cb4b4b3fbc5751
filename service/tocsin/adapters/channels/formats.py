"""Messages in the JSON of services that take them by a webhook. Pure."""

from __future__ import annotations

import re
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
_MOST_OF_TEAMS_BYTES: Final = 26_000
_MOST_OF_NTFY_BYTES: Final = 3800
_CUT: Final = "\n\n…"
# Marks and escapes of Markdown in a line that shows what differs, and what a card calls them.
_MARKS: Final = re.compile(r"(\\.|~~|\*\*|\*)")
_STYLES: Final[dict[str, dict[str, Any]]] = {
    "~~": {"strikethrough": True},
    "**": {"weight": "Bolder"},
    "*": {"italic": True},
}
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
    """Write an adaptive card, for a workflow of Microsoft Teams that starts with a webhook request.

    What differs is rich text: the Markdown of cards knows neither quotes nor struck words.
    Source  Microsoft, "Text features" of Adaptive Cards; "Format cards in Microsoft Teams".
    """
    body: list[dict[str, Any]] = []
    left = _MOST_OF_TEAMS_BYTES
    for block in _card_blocks(_cut(message.markdown, _MOST_OF_TEAMS)):
        left -= len(_encode(block)) + 1
        if left < 0:
            body.append({"type": "TextBlock", "text": "…"})
            break
        body.append(block)
    card: dict[str, Any] = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": body,
    }
    if message.link is not None:
        # To Tocsin, or to the page: its host tells which, in every language.
        title = urlsplit(message.link).hostname or "Tocsin"
        card["actions"] = [{"type": "Action.OpenUrl", "title": title, "url": message.link}]
    attachment = {"contentType": "application/vnd.microsoft.card.adaptive", "content": card}
    return _encode({"type": "message", "attachments": [attachment]})


def _card_blocks(markdown: str) -> list[dict[str, Any]]:
    """Divide Markdown into paragraphs that a card reads as such, and lines that show what differs."""
    blocks: list[dict[str, Any]] = []
    for part in markdown.split("\n\n"):
        if part.startswith("> "):
            rows = (_runs_of(row.removeprefix("> ")) for row in part.split("\n>\n"))
            blocks += [{"type": "RichTextBlock", "inlines": runs} for runs in rows if runs]
        elif blocks and blocks[-1]["type"] == "TextBlock":
            blocks[-1]["text"] += f"\n\n{part}"
        else:
            blocks.append({"type": "TextBlock", "text": part, "wrap": True})
    return blocks


def _runs_of(row: str) -> list[dict[str, Any]]:
    runs: list[dict[str, Any]] = []
    marks: list[str] = []
    for piece in _MARKS.split(row):
        if piece in marks:
            marks.remove(piece)
        elif piece in _STYLES:
            marks.append(piece)
        elif piece:
            style = {key: value for mark in marks for key, value in _STYLES[mark].items()}
            text = piece[1:] if _MARKS.fullmatch(piece) else piece
            if runs and {**runs[-1], "text": ""} == {"type": "TextRun", "text": "", **style}:
                runs[-1]["text"] += text
            else:
                runs.append({"type": "TextRun", "text": text, **style})
    return runs


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
