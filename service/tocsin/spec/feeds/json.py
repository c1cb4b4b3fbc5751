"""JSON Feed."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from tocsin.spec.feeds.found import LONGEST_VALUE, MOST_ENTRIES, MOST_LETTERS_OF_URLS, Entry, Feed
from tocsin.spec.feeds.plain import fold, strip_markup
from tocsin.spec.infrastructure.urls import resolve

_VERSION = ("https://jsonfeed.org/version/", "http://jsonfeed.org/version/")
_Object = dict[str, msgspec.Raw]
_T = TypeVar("_T")


def read_json_feed(text: str, url: str) -> Feed | None:
    """Read a JSON Feed; None for any other JSON, and for what is none.

    Source  JSON Feed 1.1
    """
    feed = _decode(text.encode(errors="replace"), _Object)
    if feed is None or not (_string(feed, "version") or "").startswith(_VERSION):
        return None
    items = _decode(feed.get("items", b"[]"), list[msgspec.Raw])
    if items is None:
        return Feed("json", (), "its items are no list")
    objects = (_decode(item, _Object) for item in items[:MOST_ENTRIES])
    problem = f"more than {MOST_ENTRIES:,} entries" if len(items) > MOST_ENTRIES else None
    entries: list[Entry] = []
    letters = 0
    for item in objects:
        if item is None:
            continue
        entries.append(_read_item(item, url))
        letters += len(entries[-1].url or "")
        if letters > MOST_LETTERS_OF_URLS:
            problem = "its addresses are too long"
            break
    return Feed("json", tuple(entries), problem)


def _read_item(item: _Object, url: str) -> Entry:
    link = _string(item, "url")
    named = _string(item, "id") or ""
    if link is None and named.startswith(("https://", "http://")):
        link = named
    texts = (
        fold(_string(item, "content_text") or ""),
        strip_markup(_string(item, "content_html") or ""),
        fold(_string(item, "summary") or ""),
    )
    date = _string(item, "date_modified") or _string(item, "date_published")
    return Entry(
        resolve(link, url) if link and len(link) <= LONGEST_VALUE else None,
        fold(date[:LONGEST_VALUE]) or None if date else None,
        fold(_string(item, "title") or ""),
        max(texts, key=len),
    )


def _string(item: _Object, key: str) -> str | None:
    return _decode(item[key], str) if key in item else None


def _decode(source: Any, type_: type[_T]) -> _T | None:
    try:
        return msgspec.json.decode(source, type=type_)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
