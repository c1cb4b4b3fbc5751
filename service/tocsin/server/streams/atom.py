"""Atom documents of alerts; the texts of pages are escaped.

Source  RFC 4287; RFC 5005 section 3 (paged feeds); XML 1.0, production 2 (Char)
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final
from uuid import NAMESPACE_URL, UUID, uuid5

from msgspec import Struct

from tocsin.events import page_link, question_link
from tocsin.model import AlertRow, Instant, to_rfc3339
from tocsin.server.web.telling import BASES, AlertInWords, Differing, tell
from tocsin.spec.infrastructure.urls import write_iri

MEDIA_TYPE: Final = "application/atom+xml; charset=utf-8"
_NO_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ESCAPES: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;", "\r": "&#13;"})


class FeedLink(Struct, frozen=True):
    """A link; `rel` is a registered relation of RFC 4287 or RFC 5005."""

    rel: str
    href: str
    type: str | None = None


class FeedEntry(Struct, frozen=True):
    """One entry.

    id       a permanent IRI
    content  HTML
    """

    id: str
    title: str
    updated: Instant
    links: tuple[FeedLink, ...]
    categories: tuple[str, ...]
    summary: str
    content: str


class AtomFeed(Struct, frozen=True):
    """A feed, newest entry first."""

    id: str
    title: str
    updated: Instant
    author: str
    links: tuple[FeedLink, ...]
    generator: str
    entries: Sequence[FeedEntry]


def escape(text: str) -> str:
    """Escape a text for XML and HTML, between tags and in quoted attributes.

    Characters that XML forbids are replaced; `>` is escaped too, so that no CDATA section can end here.
    """
    return _NO_XML.sub("\ufffd", text).translate(_ESCAPES)


def write_feed(feed: AtomFeed) -> bytes:
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


def _entry(entry: FeedEntry) -> str:
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


def _link(link: FeedLink) -> str:
    kind = f' type="{escape(link.type)}"' if link.type else ""
    return f'<link rel="{escape(link.rel)}"{kind} href="{escape(write_iri(link.href))}"/>\n'


_LONGEST: Final = 2000
_MOST_LINES: Final = 50
_CROCKFORD: Final = {letter: place for place, letter in enumerate("0123456789ABCDEFGHJKMNPQRSTVWXYZ")}
_ULID_LENGTH: Final = 26
_WEB: Final = ("http://", "https://")


def entry_of(alert: AlertRow, public_url: str) -> FeedEntry:
    """Make an entry of an alert.

    public_url  the URL of our web pages; empty: entries link to the watched page
    """
    told = tell(alert)
    return FeedEntry(
        id=urn_of(alert.id),
        title=_cut(f"{told.label}: {told.name}" if told.name else told.label),
        updated=alert.created_at,
        links=_links(told, public_url),
        categories=tuple(term for term in (told.label, told.group) if term),
        summary=_cut(" ".join(_sentences(told)) or told.label),
        content="\n".join(_content(told)),
    )


def urn_of(alert_id: str) -> str:
    """Return an alert's id as a permanent URN: an ULID has the 128 bits of a UUID."""
    number = 0
    for letter in alert_id:
        number = number * 32 + _CROCKFORD.get(letter, 32 * 2**128)
    if len(alert_id) == _ULID_LENGTH and number < 2**128:
        return UUID(int=number).urn
    return uuid5(NAMESPACE_URL, f"tocsin-alert:{alert_id}").urn


def _links(told: AlertInWords, public_url: str) -> tuple[FeedLink, ...]:
    address = told.address if told.address and told.address.startswith(_WEB) else None
    ours = page_link(public_url, told.page_id) if told.page_id is not None else None
    if told.question_id is not None:
        ours = question_link(public_url, told.question_id) or ours
    found = []
    if ours:
        found.append(FeedLink("alternate", ours, "text/html"))
    if address:
        found.append(FeedLink("related" if ours else "alternate", address))
    return tuple(found)


def _sentences(told: AlertInWords) -> list[str]:
    said = []
    if told.why and told.rule:
        said.append(f"{told.why} ({told.rule}).")
    if told.basis in BASES:
        said.append(f"{BASES[told.basis].capitalize()}.")
    return [*said, *(note if note.endswith(".") else f"{note}." for note in told.notes)]


def _content(told: AlertInWords) -> list[str]:
    name = escape(_cut(told.name or told.label))
    is_web = told.address is not None and told.address.startswith(_WEB)
    subject = f'<a href="{escape(write_iri(told.address or ""))}">{name}</a>' if is_web else name
    parts = [f"<p><strong>{escape(told.label)}</strong>: {subject}</p>"]
    parts += [f"<p>{escape(_cut(sentence))}</p>" for sentence in _sentences(told)]
    if told.fields or told.signals:
        rows = "".join(_row(each) for each in (*told.fields, *told.signals))
        parts.append(f"<table><tr><th>What</th><th>Before</th><th>Now</th></tr>{rows}</table>")
    if told.held:
        items = "".join(f"<li>{escape(_cut(line))}</li>" for line in told.held[:_MOST_LINES])
        parts.append(f"<ul>{items}</ul>")
    if len(told.held) > _MOST_LINES:
        parts.append("<p>More of its items changed.</p>")
    for tag, lines in (("ins", told.added), ("del", told.removed)):
        if lines:
            items = "".join(f"<li><{tag}>{escape(_cut(line))}</{tag}></li>" for line in lines[:_MOST_LINES])
            parts.append(f"<ul>{items}</ul>")
    if told.is_cut or max(len(told.added), len(told.removed)) > _MOST_LINES:
        parts.append("<p>There is more of the difference.</p>")
    return parts


def _row(each: Differing) -> str:
    cells = (each.name, each.previous or "none", each.latest or "none")
    return f"<tr>{''.join(f'<td>{escape(_cut(cell))}</td>' for cell in cells)}</tr>"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …"
