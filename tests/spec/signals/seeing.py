"""Answers as signals see them, for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tocsin.spec.html.whole import parse_whole
from tocsin.spec.signals.signal import Seen, Signal

URL = "https://example.org/news/bridge"


def seen(
    page: str = "",
    *,
    headers: Sequence[tuple[str, str]] = (),
    listed: Mapping[str, str] | None = None,
    url: str = URL,
) -> Seen:
    """See an answer with this markup."""
    return Seen(parse_whole(page.encode(), "text/html; charset=utf-8"), headers, listed or {}, url)


def read(signal: Signal, page: str, *, url: str = URL) -> str | None:
    """Read one signal of a page."""
    return signal.read(seen(page, url=url))
