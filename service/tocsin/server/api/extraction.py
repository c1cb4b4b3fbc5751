"""What a page's data is taken away in: records, documents of every format, and its items as they are kept."""

from __future__ import annotations

from email.utils import formatdate
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from fastapi import Header, Query, Request, Response
from pydantic import Field

from tocsin.model import to_rfc3339
from tocsin.server.access import Reading
from tocsin.server.api.given import NumberInPath, make_router, number, problems
from tocsin.server.api.schemas.common import Model
from tocsin.server.api.schemas.pages import KeptItems
from tocsin.server.conditional import is_known
from tocsin.server.converting import JSON, read_wanted
from tocsin.server.decisions import demand_page
from tocsin.server.extraction import Extracting
from tocsin.server.header_text import to_header
from tocsin.server.making import waiting
from tocsin.server.parts import Given
from tocsin.spec.microdata.formats.catalogue import FORMATS

if TYPE_CHECKING:
    from tocsin.model import Instant
    from tocsin.server.converting import One
    from tocsin.server.extraction import Document

router = make_router("pages")

Way = Literal["meta", "links", "robots", "copies", "microdata", "vcard", "ical", "turtle", "ntriples", "jsonld", "atom"]
"""Every form and format, written out for the description; a test compares."""

POLICY: Final = "default-src 'none'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'; sandbox"
"""Stricter than that of our own pages: whatever a browser makes of these documents, it is not ours."""

_S: Final = 1_000_000
_LEFT_OUT: Final = "left out"
"""In the words of every format for what it left out."""


class Choice(Model):
    """Which profile of a format, and which item."""

    profile: Annotated[
        Literal["export", "text", "living"] | None,
        Field(description="by default what today's readers take; what a format does not have is refused"),
    ] = None
    item: Annotated[
        str | None,
        Field(
            pattern=r"^(all|[1-9][0-9]{0,3})$",
            description="of formats that count items: the number of one, or `all`",
            examples=["all"],
        ),
    ] = None


def _contents() -> dict[str, Any]:
    """Describe the answer: one kind of content for each media type."""
    of_type: dict[str, Any] = {JSON: {"schema": {"$ref": "#/components/schemas/Extracted"}}}
    for way in FORMATS.values():
        media_type = way.media_type.partition(";")[0]
        of_type[media_type] = {"schema": {} if media_type.endswith("json") else {"type": "string"}}
        if way.name in _EXAMPLES:
            of_type[media_type]["example"] = _EXAMPLES[way.name]
    return of_type


_EVENT: Final = "http://microformats.org/profile/hcalendar#vevent"
_EXAMPLES: Final[dict[str, Any]] = {
    "microdata": {"items": [{"type": _EVENT, "properties": {"summary": ["Jazz"], "dtstart": ["2026-12-05"]}}]},
    "vcard": "BEGIN:VCARD\r\nPROFILE:VCARD\r\nVERSION:3.0\r\nFN:Ann Lee\r\nN:Lee;Ann;;;\r\nEND:VCARD\r\n",
    "ical": "BEGIN:VCALENDAR\r\nPRODID:-//Tocsin//Tocsin//EN\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\n"
    "DTSTAMP:20261121T080000Z\r\nUID:1@example.org\r\nDTSTART;VALUE=DATE:20261205\r\nSUMMARY:Jazz\r\n"
    "END:VEVENT\r\nEND:VCALENDAR\r\n",
    "ntriples": '<https://example.org/> <http://purl.org/dc/terms/title> "A diary"@en .\n',
}
_ESCAPED: Final = "letters that are not ASCII are their bytes in UTF-8, each as `%C3`"
_TOLD: Final = {
    "ETag": "equal documents have the same",
    "Last-Modified": "when the page was read first with this data, as far as that is known",
    "Tocsin-Received": "when the bytes that it is of were received",
    "Tocsin-Stale": "it may be behind the page, which was not seen: why, in a word, such as `timeout`, `status-410`, "
    "`disallowed`, `suspect` (something else stands in its place), `paused`, `off` or `busy` (too many ask)",
    "Tocsin-Left-Out": f"what was left out, and why: there was too much of it, or an event has no date; {_ESCAPED}",
    "Tocsin-Note": "what else is to be known of it, such as what the page lacks for a valid feed, written as that",
    "Tocsin-Empty": "the page has nothing of the kind: what was looked for, and what it has instead, written as those",
}
_HEADERS: Final = {name: {"description": about, "schema": {"type": "string"}} for name, about in _TOLD.items()}


@router.get(
    "/pages/{page_id}/extract/{form}",
    summary="Take a page's data away",
    operation_id="extract_document",
    response_class=Response,
    responses={
        200: {
            "description": "Records as JSON, or a document of the format.",
            "content": _contents(),
            "headers": _HEADERS,
        },
        304: {"description": "It is what the reader has already.", "headers": _HEADERS},
        **problems(404, 409, 502),
        503: {
            "description": "The page was asked for less than a minute ago, cannot be converted, or was not there in "
            "time; see Retry-After."
        },
    },
)
async def extract_document(
    caller: Reading,
    parts: Given,
    extraction: Extracting,
    request: Request,
    page_id: NumberInPath,
    form: Way,
    asked: Annotated[Choice, Query()],
    if_none_match: Annotated[str | None, Header(description="the ETag that the reader has")] = None,
    if_modified_since: Annotated[str | None, Header(description="the Last-Modified that the reader has")] = None,
) -> Response:
    """Give what a page says in a form that other programs read.

    `meta`, `links`, `robots` and `copies` are records; the others are documents: a calendar program subscribes to
    `ical`, a feed reader to `atom`, with a token to read as the password of Basic authentication.

    Calendars, contacts and microdata are written of the items that were kept when the page was read last, as long as
    its checks find the bytes that those were read from. Otherwise the page is received, at its host's turn: once for
    what its checks found last, and never more often than once a minute, whoever asks and however often. If that
    fails, they are of the items kept before, and `Tocsin-Stale` says why, as it does where the last check did not see
    the page; other forms are refused with 502 or 503, and with 409 where the page is paused or off, or robots.txt is
    against it. Such a request is in the audit log, and nothing is stored or compared.

    Whoever asks for what is being received or converted already waits for it, some fifty seconds at most.

    `Tocsin-Received` says when the bytes were received. Equal data has an equal `ETag`. A page without events is an
    empty calendar, so that a subscription lasts, a page without items or statements an empty document, and
    `Tocsin-Empty` says so; where a page has nothing else of the kind, that is a 404. The text of a page that is not to
    be indexed is kept back (409), and of what is no HTML nothing but `robots` can be had (422).
    """
    page = await demand_page(parts, number(page_id))
    wanted = read_wanted(form, asked.profile, _one(asked.item))

    def dated(since: Instant) -> int | None:
        # What is as new as this second may be followed by more of the same one, which no reader is to miss.
        return since // _S if since // _S < parts.clock.now() // _S else None

    def has(tag: str, since: Instant) -> bool:
        return is_known(if_none_match, if_modified_since, tag, dated(since), is_exact=True)

    document = await extraction.get(caller, page, wanted, waiting(request), has)
    headers, since_s = _headers(document), dated(document.since)
    if since_s is not None:
        headers["Last-Modified"] = formatdate(since_s, usegmt=True)
    if document.is_known:
        return Response(status_code=304, headers=headers)
    headers["Content-Disposition"] = f'inline; filename="{document.name}"'
    return Response(document.body, headers=headers, media_type=document.media_type)


@router.get(
    "/pages/{page_id}/items",
    summary="List the items of a page",
    operation_id="list_items",
    response_model=KeptItems,
    responses=problems(404),
)
async def list_items(
    _: Reading, parts: Given, extraction: Extracting, request: Request, page_id: NumberInPath
) -> Response:
    """List a page's microdata as it was when the page was read whole last; no request is made for it.

    At most 1,000 items and 256 KiB are kept, and none of a page that is not to be indexed or archived: `why` says it.
    So it does where the page has more (`cut`). `count` is of all items that are kept, those within others too; `items`
    are those at the top, as what changes count as added, removed and changed.
    `at` is null where none were read to be kept, and no formats are named then; of a page that is not to be archived
    they can be had all the same, of the page as it is received for whoever asks.
    """
    page = await demand_page(parts, number(page_id))
    return Response(await extraction.items(page, waiting(request)), media_type=JSON)


def _one(text: str | None) -> One:
    match text:
        case None | "all":
            return text
    return int(text)


def _headers(document: Document) -> dict[str, str]:
    """Say of a document what holds for a 304, too."""
    headers = {
        "ETag": document.tag,
        "Cache-Control": "private, no-cache",
        "Vary": "Authorization, Cookie",
        "Content-Security-Policy": POLICY,
        "Tocsin-Received": to_rfc3339(document.at),
    }
    if document.stale is not None:
        headers["Tocsin-Stale"] = document.stale
    left_out = [text for text in document.said if _LEFT_OUT in text]
    notes = [text for text in document.said if _LEFT_OUT not in text]
    told = (("Tocsin-Left-Out", left_out), ("Tocsin-Note", notes), ("Tocsin-Empty", [document.empty]))
    return headers | {name: text for name, texts in told if (text := to_header("; ".join(texts)))}
