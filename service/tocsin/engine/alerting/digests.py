"""The event of a digest: its alerts as far as there is room, the others counted by group and host. Pure."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from tocsin import events
from tocsin.events import cloud_event
from tocsin.model import Instant, JsonObject, to_rfc3339
from tocsin.wording.summary import summarise

MOST_ALERTS: Final = 500
MOST_BYTES: Final = 256 * 2**10
# Groups and hosts that the other alerts are counted by; alerts beyond them are counted together.
MOST_PLACES: Final = 200
# Kept for what is counted, and for the envelope.
_ROOM: Final = 48 * 2**10
# From here on entries do not show what differs, so that more of them find room.
_WITHOUT_ROWS: Final = 128 * 2**10
_MOST_ROWS: Final = 6
_LONGEST: Final = 200
_encode = msgspec.json.encode


class DigestWriter:
    """Gathers the alerts of one digest, one after the other, in bounded memory.

    language  of the sentences of events that have none
    """

    def __init__(self, language: str = "en") -> None:
        self._language = language
        self._entries: list[JsonObject] = []
        self._rest: Counter[tuple[str | None, str | None]] = Counter()
        self._bytes = 0
        self.count = 0

    def add(self, event: JsonObject) -> None:
        """Add an alert by its event, oldest first."""
        self.count += 1
        entry = _entry_of(event, self._language, with_rows=self._bytes < _WITHOUT_ROWS)
        size = len(_encode(entry)) + 1
        # No later alert is shown where an earlier one is only counted.
        if not self._rest and len(self._entries) < MOST_ALERTS and self._bytes + size <= MOST_BYTES - _ROOM:
            self._entries.append(entry)
            self._bytes += size
            return
        place = entry["group"], entry["host"]
        self._rest[place if place in self._rest or len(self._rest) < MOST_PLACES else (None, None)] += 1

    def event(
        self,
        *,
        id: str,  # noqa: A002 - the attribute's own name
        source: str,
        route: str,
        key: str,
        began_at: Instant,
        due_at: Instant,
        silenced: int = 0,
        public_url: str = "",
    ) -> JsonObject:
        """Write the digest, at most 256 KiB; the same alerts give the same event.

        began_at  when it was opened, and due_at when it is due
        silenced  alerts that were held back meanwhile
        """
        rest = [{"group": group, "host": host, "count": found} for (group, host), found in self._rest.most_common()]
        data: JsonObject = {
            "route": route,
            "key": key,
            "count": self.count,
            "from": to_rfc3339(began_at),
            "to": to_rfc3339(due_at),
            "silenced": silenced,
            "alerts": self._entries,
            "rest": rest,
            "links": {"page": f"{public_url.rstrip('/')}/changes" if public_url else None},
        }
        subject = f"route:{route}" if route else "digest"
        return cloud_event(id=id, source=source, type=events.DIGEST, subject=subject, at=due_at, data=data)


def _entry_of(event: JsonObject, language: str, *, with_rows: bool) -> JsonObject:
    data = _table(event, "data")
    page, links = _table(data, "page"), _table(data, "links")
    summary = data.get("summary")
    subject = str(event.get("subject") or "")
    rows = _table(data, "difference").get("rows") or _table(data, "excerpt").get("rows") or []
    return {
        "id": event.get("id"),
        "type": event.get("type"),
        "subject": subject if len(subject) <= 10 * _LONGEST else f"{subject[: 10 * _LONGEST]}…",
        "title": _short(page.get("text") or page.get("title")),
        "group": _short(page.get("group")),
        "host": _short(_host_of(subject)),
        "outcome": data.get("outcome"),
        "basis": data.get("basis"),
        "time": event.get("time"),
        "summary": summary if isinstance(summary, str) else summarise(event, language).sentence,
        "link": links.get("page"),
        "rows": rows[:_MOST_ROWS] if with_rows and isinstance(rows, list) else [],
    }


def _table(data: Any, key: str) -> JsonObject:
    found = data.get(key)
    return found if isinstance(found, dict) else {}


def _short(value: Any) -> str | None:
    return value[:_LONGEST] if isinstance(value, str) and value else None


def _host_of(subject: str) -> str:
    try:
        return urlsplit(subject).hostname or subject
    except ValueError:
        return subject
