"""`/feed.atom`: the latest alerts as an Atom feed: of all pages, a group, or a page."""

from __future__ import annotations

from collections import OrderedDict
from email.utils import formatdate
from hashlib import blake2b
from typing import Annotated, Final, Literal
from urllib.parse import quote
from uuid import NAMESPACE_URL, uuid5

from fastapi import APIRouter, Depends, Header, Request
from msgspec import Struct
from starlette.responses import Response

from tocsin.model import AlertQuery, AlertRow, Slice
from tocsin.server.access.origins import SENDER
from tocsin.server.access.rights import Reading
from tocsin.server.decisions import demand_page, missing
from tocsin.server.header_values import is_known
from tocsin.server.parts import Given, Parts
from tocsin.server.streams.atom import MEDIA_TYPE, AtomFeed, FeedLink, entry_of, write_feed

ENTRIES: Final = 30
_VERSION: Final = "1"  # Increase it with each change of an entry's content.
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
    """What the request for a feed says: validators, cursor, and path prefix.

    prefix  the path below which the reader sees the service
    """

    cursor: str | None
    if_none_match: str | None
    if_modified_since: str | None
    published: Published
    prefix: str


async def asked(
    request: Request,
    remembered: Annotated[Published, Depends(published)],
    cursor: str | None = None,
    if_none_match: Annotated[str | None, Header()] = None,
    if_modified_since: Annotated[str | None, Header()] = None,
) -> FeedRequest:
    """Read the parts that every request for a feed has."""
    return FeedRequest(cursor, if_none_match, if_modified_since, remembered, request.scope[SENDER].prefix)


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
    public_url = parts.service.settings().http.public_url.rstrip("/")
    newest = next(iter((await parts.store.browse_alerts(subject.query, cursor=known.cursor, limit=1)).rows), None)
    base = public_url or known.prefix
    tag = _tag(subject, base, newest, known.cursor)
    headers = {"ETag": tag, "Cache-Control": "private, no-cache", "Vary": "Authorization, Cookie"}
    now_s = parts.clock.now() // _S
    changed_s = None
    if known.cursor is None:
        changed_s = known.published.at(f"{subject.path} {base}", newest.id if newest else "", now_s)
        if changed_s < now_s:
            headers["Last-Modified"] = formatdate(changed_s, usegmt=True)
    if is_known(known.if_none_match, known.if_modified_since, tag, changed_s):
        return Response(status_code=304, headers=headers)
    found = await parts.store.browse_alerts(subject.query, cursor=known.cursor, limit=ENTRIES)
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
            entries=[entry_of(alert, public_url) for alert in found.rows],
        )
    )
