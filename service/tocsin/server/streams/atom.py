"""Atom documents: whatever a page says of itself, it stays text of ours.

Source  RFC 4287; RFC 5005 section 3 (paged feeds); XML 1.0, production 2 (Char)
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from tocsin.model import to_rfc3339
from tocsin.spec.infrastructure.uri import write_iri

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.model import Instant

MEDIA_TYPE: Final = "application/atom+xml; charset=utf-8"
_NO_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ESCAPES: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;", "\r": "&#13;"})


class Link(Struct, frozen=True):
    """Where something is; `rel` is a registered relation of RFC 4287 or RFC 5005."""

    rel: str
    href: str
    type: str | None = None


class Entry(Struct, frozen=True):
    """One entry.

    id       an IRI, the same for ever
    content  HTML, as its readers get it
    """

    id: str
    title: str
    updated: Instant
    links: tuple[Link, ...]
    categories: tuple[str, ...]
    summary: str
    content: str


class Feed(Struct, frozen=True):
    """A feed, the latest entry first."""

    id: str
    title: str
    updated: Instant
    author: str
    links: tuple[Link, ...]
    generator: str
    entries: Sequence[Entry]


def escape(text: str) -> str:
    """Write text as it may stand in XML and HTML, between tags and in quoted attributes.

    Characters that XML does not know are replaced; `>` is escaped, too, so that no CDATA section can end here.
    """
    return _NO_XML.sub("\ufffd", text).translate(_ESCAPES)


def write_feed(feed: Feed) -> bytes:
    """Write an Atom document."""
    parts = [
        '<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">\n',
        f"<id>{escape(feed.id)}</id>\n<title>{escape(feed.title)}</title>\n",
        f"<updated>{to_rfc3339(feed.updated)}</updated>\n<author><name>{escape(feed.author)}</name></author>\n",
        *map(_link, feed.links),
        f"<generator>{escape(feed.generator)}</generator>\n",
        *map(_entry, feed.entries),
        "</feed>\n",
    ]
    return "".join(parts).encode("utf-8")


def _entry(entry: Entry) -> str:
    return "".join(
        (
            f"<entry>\n<id>{escape(entry.id)}</id>\n<title>{escape(entry.title)}</title>\n",
            f"<updated>{to_rfc3339(entry.updated)}</updated>\n<published>{to_rfc3339(entry.updated)}</published>\n",
            *map(_link, entry.links),
            *(f'<category term="{escape(term)}"/>\n' for term in entry.categories),
            f"<summary>{escape(entry.summary)}</summary>\n",
            f'<content type="html">{escape(entry.content)}</content>\n</entry>\n',
        )
    )


def _link(link: Link) -> str:
    kind = f' type="{escape(link.type)}"' if link.type else ""
    return f'<link rel="{escape(link.rel)}"{kind} href="{escape(write_iri(link.href))}"/>\n'
