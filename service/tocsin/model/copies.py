"""Copies of pages: as the pages that name them say it, and as they are offered."""

from __future__ import annotations

from msgspec import Struct

from tocsin.model.common import Instant


class CopyLink(Struct, frozen=True, gc=False):
    """A copy that a page names.

    target    the URL that it is a copy of, serialised, without fragment
    datetime  when the copy was made, as the page says it
    made_at   the same as an instant; None where it is not known
    rel       its link type, such as "memento"
    kind      how the page names it: "mset", "memento" or "timemap"
    """

    target: str
    url: str
    datetime: str | None
    made_at: Instant | None
    rel: str | None
    kind: str


class KnownCopy(Struct, frozen=True, gc=False):
    """A copy that can be offered in the stead of a watched page.

    of       the page that it is a copy of
    seen_on  the watched page that names it
    """

    of: str
    url: str
    datetime: str | None
    rel: str | None
    kind: str
    seen_on: str
