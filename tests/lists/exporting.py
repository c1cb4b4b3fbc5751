"""Exports as other programs make them, written here by hand."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from typing import Any

from tocsin.lists import ListEntry, ListNotice, RefusedLine, open_list

ONE, TWO, NEWS = (f"{letter * 8}-0000-4000-8000-000000000000" for letter in "abc")
A, B = "https://example.org/a", "https://example.org/b"

APPLICATION: dict[str, Any] = {
    "settings": {"application": {"schema_version": 26, "tags": {NEWS: {"title": "News", "uuid": NEWS}}}}
}


def watch(url: str = A, **changes: Any) -> dict[str, Any]:
    """A watch as changedetection.io keeps it, of which nothing was set."""
    plain: dict[str, Any] = {
        "url": url, "title": None, "tags": [], "paused": False, "processor": "text_json_diff", "method": "GET",
        "fetch_backend": "system", "headers": {}, "include_filters": [], "subtractive_selectors": [], "body": None,
        "time_between_check_use_default": True, "notification_urls": [],
        "time_between_check": {"weeks": None, "days": None, "hours": None, "minutes": None, "seconds": None},
    }  # fmt: skip
    return {**plain, **changes}


def archive(members: Mapping[str, Any], *, compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A backup with these files; what is no bytes is written as JSON."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", compression) as made:
        for name, body in members.items():
            made.writestr(name, body if isinstance(body, bytes) else json.dumps(body))
    return target.getvalue()


def items(body: bytes | Any, *, kind: str | None = None) -> tuple[str, list[ListEntry], list[str], list[str]]:
    """Read an export; returns its format, the pages, what was refused, and what was named."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    found, listed = open_list(io.BytesIO(content), name="export", kind=kind)
    entries, refused, named = [], [], []
    for item in listed:
        match item:
            case ListEntry():
                entries.append(item)
            case RefusedLine():
                refused.append(f"{item.line}: {item.reason}")
            case ListNotice():
                named.append(item.told)
    return found, entries, refused, named
