"""Records for the log, and the CloudEvents of alerts, whose shapes are promised to receivers."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from tocsin.model.common import to_rfc3339

if TYPE_CHECKING:
    from tocsin.model import Instant, JsonObject

CHANGED = "tocsin.page.changed.v1"
UNREACHABLE = "tocsin.page.unreachable.v1"
RECOVERED = "tocsin.page.recovered.v1"
DISALLOWED = "tocsin.page.disallowed.v1"
SUSPECT = "tocsin.page.suspect.v1"
NEEDS_BROWSER = "tocsin.page.needs-browser.v1"
UNCHANGED = "tocsin.page.unchanged.v1"
TOO_SOON = "tocsin.page.too-soon.v1"
HOST_CHANGED = "tocsin.host.changed.v1"
OUTAGE_BEGAN = "tocsin.outage.began.v1"
OUTAGE_ENDED = "tocsin.outage.ended.v1"
TEST = "tocsin.channel.test.v1"
DIGEST = "tocsin.digest.v1"


class Happening(Struct, frozen=True):
    """An occurrence that is worth a line in the log.

    name    `area.verb`, such as "page.changed", "host.waits" or "channel.failed"
    values  its details; names of numbers carry their unit
    """

    name: str
    level: Literal["debug", "info", "warning", "error"] = "info"
    values: dict[str, Any] = {}


@lru_cache(maxsize=64)  # there are some twenty types; each alert asks twice
def kind_of(event_type: str) -> str:
    """Give the kind that alerts are listed by: the last part of a page's event, else "storm", "outage" or "channel"."""
    _, area, kind, *_ = f"{event_type}...".split(".")
    if area == "page":
        return kind
    return "storm" if area == "host" else area


def cloud_event(*, id: str, source: str, type: str, subject: str, at: Instant, data: JsonObject) -> JsonObject:  # noqa: A002 - the attributes' own names
    """Wrap `data` as a CloudEvents 1.0 event."""
    return {
        "specversion": "1.0",
        "id": id,
        "source": source,
        "type": type,
        "subject": subject,
        "time": to_rfc3339(at),
        "datacontenttype": "application/json",
        "data": data,
    }


def page_link(public_url: str, page_id: int | str) -> str | None:
    """Give the URL of a page in the web pages; None without a public URL."""
    return f"{public_url.rstrip('/')}/pages/{page_id}" if public_url else None


def picture_link(public_url: str, digest: str) -> str | None:
    """Give the URL of a picture; None without a public URL."""
    return f"{public_url.rstrip('/')}/api/v1/pictures/{digest}" if public_url else None


def alert_link(public_url: str, alert_id: str) -> str | None:
    """Give the URL of an alert in the web pages; None without a public URL."""
    return f"{public_url.rstrip('/')}/changes/{alert_id}" if public_url else None


def question_link(public_url: str, question_id: int | str) -> str | None:
    """Give the URL where a question is answered; None without a public URL."""
    return f"{public_url.rstrip('/')}/questions/{question_id}" if public_url else None
