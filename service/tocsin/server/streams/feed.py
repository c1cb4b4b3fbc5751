"""`/feed.atom`: the latest alerts as an Atom feed: of all pages, a group, or a page."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Sequence
from email.utils import formatdate
from hashlib import blake2b
from typing import Annotated, Final, Literal
from urllib.parse import quote, urlencode
from uuid import NAMESPACE_URL, UUID, uuid5

import msgspec
from fastapi import APIRouter, Depends, Header, Request
from msgspec import Struct
from msgspec.structs import replace
from starlette.responses import Response

from tocsin.engine.alerting.matching import Matcher
from tocsin.events import page_link, question_link
from tocsin.model import AlertQuery, AlertRow, Instant, Slice, to_rfc3339
from tocsin.server.decisions import demand_page, missing
from tocsin.server.kept_items import is_known
from tocsin.server.matching import Matching, taking
from tocsin.server.parts import SENDER, Given, Parts, Reading
from tocsin.server.web.telling import AlertInWords, Differing, tell
from tocsin.spec.infrastructure.urls import write_iri
from tocsin.wording.words import Words, words_of

# Atom documents of alerts; the texts of pages are escaped.
#
# Source  RFC 4287; RFC 5005 section 3 (paged feeds); XML 1.0, production 2 (Char)


MEDIA_TYPE: Final = "application/atom+xml; charset=utf-8"
_NO_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ESCAPES: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;", "\r": "&#13;"})


class FeedLink(Struct, frozen=True):
    """A link; `rel` is a registered relation of RFC 4287 or RFC 5005."""

    rel: str
    href: str
    type: str | None = None


class AlertEntry(Struct, frozen=True):
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
    entries: Sequence[AlertEntry]


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


def _entry(entry: AlertEntry) -> str:
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


# Readers download the whole feed each time.
_LONGEST: Final = 2000
_MOST_LINES: Final = 50
_CROCKFORD: Final = {letter: place for place, letter in enumerate("0123456789ABCDEFGHJKMNPQRSTVWXYZ")}
# 128 bits, five to a letter.
_ULID_LENGTH: Final = 26
_WEB: Final = ("http://", "https://")


def entry_of(alert: AlertRow, public_url: str, language: str = "en") -> AlertEntry:
    """Make an entry of an alert.

    public_url  the URL of our web pages; empty: entries link to the watched page
    """
    told, words = tell(alert, language), words_of(language)
    return AlertEntry(
        id=urn_of(alert.id),
        title=_cut(f"{told.label}: {told.name}" if told.name else told.label),
        updated=alert.created_at,
        links=_links(told, public_url),
        categories=tuple(term for term in (told.label, told.group) if term),
        summary=_cut(" ".join(_sentences(told, words)) or told.label),
        content="\n".join(_content(told, words)),
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


def _sentences(told: AlertInWords, words: Words) -> list[str]:
    said = [told.summary] if told.summary else []
    if told.why and told.rule:
        said.append(f"{told.why.rstrip('.')} ({told.rule}).")
    elif f"basis_long.{told.basis}" in words:
        basis = words.say(f"basis_long.{told.basis}")
        said.append(f"{basis[:1].upper()}{basis[1:]}.")
    return [*said, *(note if note.endswith(".") else f"{note}." for note in told.notes)]


def _content(told: AlertInWords, words: Words) -> list[str]:
    name = escape(_cut(told.name or told.label))
    is_web = told.address is not None and told.address.startswith(_WEB)
    subject = f'<a href="{escape(write_iri(told.address or ""))}">{name}</a>' if is_web else name
    parts = [f"<p><strong>{escape(told.label)}</strong>: {subject}</p>"]
    parts += [f"<p>{escape(_cut(sentence))}</p>" for sentence in _sentences(told, words)]
    if told.fields or told.signals:
        rows = "".join(_row(each) for each in (*told.fields, *told.signals))
        titles = "".join(f"<th>{escape(words.say(f'changes.{key}'))}</th>" for key in ("what", "before", "now"))
        parts.append(f"<table><tr>{titles}</tr>{rows}</table>")
    if told.held:
        items = "".join(f"<li>{escape(_cut(line))}</li>" for line in told.held[:_MOST_LINES])
        parts.append(f"<ul>{items}</ul>")
    if len(told.held) > _MOST_LINES:
        parts.append(f"<p>{escape(words.say('changes.more_items'))}</p>")
    for tag, lines in (("ins", told.added), ("del", told.removed)):
        if lines:
            items = "".join(f"<li><{tag}>{escape(_cut(line))}</{tag}></li>" for line in lines[:_MOST_LINES])
            parts.append(f"<ul>{items}</ul>")
    if told.is_cut or max(len(told.added), len(told.removed)) > _MOST_LINES:
        parts.append(f"<p>{escape(words.say('changes.more'))}</p>")
    return parts


def _row(each: Differing) -> str:
    cells = (each.name, each.previous or "", each.latest or "")
    return f"<tr>{''.join(f'<td>{escape(_cut(cell))}</td>' for cell in cells)}</tr>"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …"


ENTRIES: Final = 30
_VERSION: Final = "3"  # Increase it with each change of an entry's content.
_MOST_NOTED: Final = 1000
_S: Final = 1_000_000

router = APIRouter(tags=["streams"], include_in_schema=False)


class Subject(Struct, frozen=True):
    """The subject of a feed.

    path  of the feed
    page  the web page of the same subject
    """

    path: str
    page: str
    title: str
    query: AlertQuery


class Published:
    """The second in which this process first saw the newest alert of each feed: its Last-Modified.

    The time of an alert is that of its check, which may be long before it is published. Two alerts within one second
    get two seconds, so that no reader misses the later one.
    """

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self._seen: OrderedDict[str, tuple[str, int]] = OrderedDict()

    def at(self, path: str, newest: str, now_s: int) -> int:
        """Return the second, which may be in the future."""
        before = self._seen.pop(path, None)
        second = now_s
        if before is not None:
            second = before[1] if before[0] == newest else max(now_s, before[1] + 1)
        self._seen[path] = (newest, second)
        if len(self._seen) > _MOST_NOTED:
            self._seen.popitem(last=False)
        return second


async def published(request: Request, parts: Given) -> Published:
    """Return the feed times of this application."""
    found = getattr(request.app.state, "published", None)
    if not isinstance(found, Published) or found.parts is not parts:
        found = request.app.state.published = Published(parts)
    return found


class FeedRequest(Struct, frozen=True):
    """What the request for a feed says: validators, cursor, path prefix, and what it is filtered by.

    prefix   the path below which the reader sees the service
    matcher  of `basis`, `host`, `url`, `rule`, `field` and `words`, as in routes
    """

    cursor: str | None
    if_none_match: str | None
    if_modified_since: str | None
    published: Published
    prefix: str
    matcher: Matcher | None = None


async def asked(
    request: Request,
    remembered: Annotated[Published, Depends(published)],
    matcher: Matching,
    cursor: str | None = None,
    if_none_match: Annotated[str | None, Header()] = None,
    if_modified_since: Annotated[str | None, Header()] = None,
) -> FeedRequest:
    """Read the parts that every request for a feed has."""
    prefix = request.scope[SENDER].prefix
    return FeedRequest(cursor, if_none_match, if_modified_since, remembered, prefix, matcher)


Knowing = Annotated[FeedRequest, Depends(asked)]


@router.get("/feed.atom", summary="The latest alerts, as an Atom feed")
async def feed(
    parts: Given, _caller: Reading, known: Knowing, outcome: Literal["major", "minor"] | None = None
) -> Response:
    """Return the latest alerts of all pages, or only changes with this outcome."""
    which = f"?outcome={outcome}" if outcome else ""
    title = f"{outcome} changes" if outcome else "alerts"
    return await _answer(parts, known, Subject(f"/feed.atom{which}", "/changes", title, AlertQuery(outcome=outcome)))


@router.get("/groups/{name:path}/feed.atom", summary="The latest alerts of a group, as an Atom feed")
async def feed_of_group(parts: Given, _caller: Reading, known: Knowing, name: str) -> Response:
    """Return the latest alerts of a group's pages."""
    if all(group.name != name for group in await parts.store.group_rows()):
        raise missing("group", name, "GET /api/v1/groups")
    path = f"/groups/{quote(name, safe='')}"
    subject = Subject(
        f"{path}/feed.atom", f"/?group={quote(name, safe='')}", f"alerts of {name}", AlertQuery(group=name)
    )
    return await _answer(parts, known, subject)


@router.get("/pages/{page_id}/feed.atom", summary="The latest alerts of a page, as an Atom feed")
async def feed_of_page(parts: Given, _caller: Reading, known: Knowing, page_id: int) -> Response:
    """Return the latest alerts of one page."""
    page = await demand_page(parts, page_id)
    path, title = f"/pages/{page_id}", page.text or page.url
    return await _answer(parts, known, Subject(f"{path}/feed.atom", path, title, AlertQuery(page_id=page_id)))


async def _answer(parts: Parts, known: FeedRequest, subject: Subject) -> Response:
    """Answer with a feed, or with 304."""
    if known.matcher is not None:
        given = urlencode(msgspec.to_builtins(known.matcher.settings), doseq=True)
        mark = "&" if "?" in subject.path else "?"
        subject = replace(subject, path=f"{subject.path}{mark}{given}")
    public_url = parts.service.settings().http.public_url.rstrip("/")
    newest = next(iter((await parts.store.browse_alerts(subject.query, cursor=known.cursor, limit=1)).rows), None)
    base = public_url or known.prefix
    tag = _tag(subject, base, newest, known.cursor)
    headers = {"ETag": tag, "Cache-Control": "private, no-cache", "Vary": "Authorization, Cookie"}
    now_s = parts.clock.now() // _S
    changed_s = None
    # Of several nodes each sees the newest alert at a time of its own clock: there only the ETag counts.
    if known.cursor is None and not parts.store.is_shared:
        changed_s = known.published.at(f"{subject.path} {base}", newest.id if newest else "", now_s)
        if changed_s < now_s:
            headers["Last-Modified"] = formatdate(changed_s, usegmt=True)
    if is_known(known.if_none_match, known.if_modified_since, tag, changed_s):
        return Response(status_code=304, headers=headers)
    takes = taking(known.matcher)
    found = await parts.store.browse_alerts(subject.query, cursor=known.cursor, limit=ENTRIES, takes=takes)
    return Response(_document(parts, subject, found, base), headers=headers, media_type=MEDIA_TYPE)


def _tag(subject: Subject, base: str, newest: AlertRow | None, cursor: str | None) -> str:
    known = "\n".join((_VERSION, subject.path, subject.title, base, newest.id if newest else "", cursor or ""))
    return f'W/"{blake2b(known.encode("utf-8", "replace"), digest_size=12).hexdigest()}"'


def _document(parts: Parts, subject: Subject, found: Slice[AlertRow], base: str) -> bytes:
    settings, live = parts.service.settings(), parts.service.live()
    public_url = settings.http.public_url.rstrip("/")
    links = []
    if public_url:
        links = [
            FeedLink("self", public_url + subject.path),
            FeedLink("alternate", public_url + subject.page, "text/html"),
        ]
    if found.next is not None:
        mark = "&" if "?" in subject.path else "?"
        links.append(FeedLink("next", f"{base}{subject.path}{mark}cursor={quote(found.next, safe='')}"))
    name = settings.instance.name
    return write_feed(
        AtomFeed(
            id=uuid5(NAMESPACE_URL, f"tocsin:{name}:{subject.path}").urn,
            title=f"{name}: {subject.title}",
            updated=max((alert.created_at for alert in found.rows), default=live.started_at),
            author=name,
            links=tuple(links),
            generator=f"Tocsin {live.version}",
            entries=[entry_of(alert, public_url, settings.instance.language) for alert in found.rows],
        )
    )
