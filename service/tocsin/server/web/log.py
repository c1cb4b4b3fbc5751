"""The audit log in words: who did what to what."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from tocsin.model import AuditEntry, Instant
from tocsin.model.records.service import audit_line_of
from tocsin.server.parts import Parts
from tocsin.server.web.formatting import setting, short, short_url


class LogLine(Struct, frozen=True):
    """An entry of the audit log.

    key     of its text, below "audit."
    object  what it was done to; "" for nothing that has a name
    path    of that, among our pages; "" for none
    more    the rest, as settings are written
    """

    at: Instant
    who: str
    key: str
    object: str
    path: str
    more: str


async def read_log(parts: Parts, entries: Sequence[AuditEntry]) -> list[LogLine]:
    """Put entries into words; pages are called by their names."""
    lines = [(entry, audit_line_of(entry)) for entry in entries]
    ids = {
        int(line.object_id)
        for _, line in lines
        if line.object == "page" and line.object_id and line.object_id.isdigit()
    }
    names = {
        row.id: row.text or row.title or short_url(row.url, 60) for row in await parts.store.pages_by_id(sorted(ids))
    }
    found = []
    for entry, line in lines:
        is_page = line.object == "page" and line.object_id is not None and line.object_id.isdigit()
        number = int(line.object_id or 0) if is_page else 0
        name = names.get(number, "") if is_page else line.object_id or ""
        rest = {
            key: value for key, value in entry.detail.items() if key != line.object and value not in (None, {}, [], "")
        }
        if line.object in ("page", "url"):
            rest.pop("url", None)
        name = name or short_url(str(entry.detail.get("url") or line.object_id or ""), 60)
        path = f"/pages/{number}" if number in names else ""
        found.append(LogLine(entry.at, entry.who, entry.what, short(name, 80), path, short(setting(rest), 200)))
    return found
