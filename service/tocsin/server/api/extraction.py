"""The items kept of a page: listed, and as documents for calendar programs and address books."""

from __future__ import annotations

import asyncio
import re
from email.utils import formatdate
from functools import partial
from typing import Annotated, Any, Final, Literal

from fastapi import Header, Path, Query, Response
from pydantic import Field

from tocsin.model import PageRow
from tocsin.model.records.history import KeptItems
from tocsin.server.api.operations import Input, NumberInPath, make_router, problems
from tocsin.server.decisions import demand_page
from tocsin.server.kept_items import (
    KEPT_FORMATS,
    ItemFormat,
    ItemNumber,
    choose_format,
    is_known,
    tell_items,
    to_header,
    why_no_items,
    why_stale,
    write_document,
)
from tocsin.server.parts import Given, Parts, Reading
from tocsin.server.problems import Problem
from tocsin.spec.microdata.formats.catalogue import FORMATS

router = make_router("pages")

# Described as the formats served; the others of `tocsin extract` are accepted for the sake of the answer.
FormatName = Annotated[str, Path(json_schema_extra={"enum": list(KEPT_FORMATS)})]

# Stricter than the policy of our own pages: a browser may render these documents, and their content is foreign.
POLICY: Final = "default-src 'none'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'; sandbox"

_S: Final = 1_000_000
# Renderings to search for a title: one that failed has none, and the title of a copy is not the page's.
_RENDERINGS: Final = 5
_NOT_IN_A_FILE_NAME: Final = re.compile(r"[^A-Za-z0-9.-]+")


class ExtractChoice(Input):
    """The profile of a format, and the item."""

    profile: Annotated[
        Literal["export", "text", "living"] | None,
        Field(description="`export`, the default, is what today's programs read; unsupported profiles are refused"),
    ] = None
    item: Annotated[
        str | None,
        Field(pattern=r"^(all|[1-9][0-9]{0,3})$", description="the number of one item, or `all`", examples=["all"]),
    ] = None


_EVENT: Final = "http://microformats.org/profile/hcalendar#vevent"
_EXAMPLES: Final[dict[str, Any]] = {
    "microdata": {"items": [{"type": _EVENT, "properties": {"summary": ["Jazz"], "dtstart": ["2026-12-05"]}}]},
    "vcard": "BEGIN:VCARD\r\nPROFILE:VCARD\r\nVERSION:3.0\r\nFN:Ann Lee\r\nN:Lee;Ann;;;\r\nEND:VCARD\r\n",
    "ical": "BEGIN:VCALENDAR\r\nPRODID:-//Tocsin//Tocsin//EN\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\n"
    "DTSTAMP:20261121T080000Z\r\nUID:1@example.org\r\nDTSTART;VALUE=DATE:20261205\r\nSUMMARY:Jazz\r\n"
    "END:VEVENT\r\nEND:VCALENDAR\r\n",
}
_CONTENTS: Final[dict[str, Any]] = {
    FORMATS[name].media_type.partition(";")[0]: {
        "schema": {} if name == "microdata" else {"type": "string"},
        "example": _EXAMPLES[name],
    }
    for name in KEPT_FORMATS
}
_ESCAPED: Final = "letters beyond ASCII are their bytes in UTF-8, each as `%C3`"
_HEADERS: Final = {
    name: {"description": about, "schema": {"type": "string"}}
    for name, about in (
        ("ETag", "the same for equal items, format, profile, item and version of Tocsin"),
        ("Last-Modified", "when the items were read last: at a rendering, or at the first check"),
        (
            "Tocsin-Stale",
            "why the items may be behind the page: `timeout`, `status-410`, `disallowed`, `suspect`, `paused`, `off` …",
        ),
        ("Tocsin-Left-Out", f"the parts left out, and why, such as an event without a date; {_ESCAPED}"),
        ("Tocsin-Note", f"other remarks on the document; {_ESCAPED}"),
        ("Tocsin-Empty", f"the page has nothing of the kind: the content searched for, and what it has; {_ESCAPED}"),
    )
}


@router.get(
    "/pages/{page_id}/extract/{form}",
    summary="Get the kept items of a page as a document",
    operation_id="extract_document",
    response_class=Response,
    responses={
        200: {"description": "A document of the format.", "content": _CONTENTS, "headers": _HEADERS},
        304: {"description": "The reader's copy is up to date.", "headers": _HEADERS},
        **problems(409),
    },
)
async def extract_document(
    _: Reading,
    parts: Given,
    page_id: NumberInPath,
    form: FormatName,
    choice: Annotated[ExtractChoice, Query()],
    if_none_match: Annotated[str | None, Header(description="the ETag that the reader has")] = None,
    if_modified_since: Annotated[str | None, Header(description="the Last-Modified that the reader has")] = None,
) -> Response:
    """Give the items of a page as they were read last, at its last rendering or its first check.

    A calendar program subscribes to `ical`, with a token to read as the password of Basic authentication. No request
    is made for the page: ask for a check to have it read again. `vcard` gives the first contact, or the one that
    `item` names.

    Only `microdata`, `vcard` and `ical` are served. The other formats, and the profile `living`, are made of the whole
    page, which is not kept: they are a 404 (`not-kept`) that names the command `tocsin extract`. So is a page whose
    items are not kept. Without events, `ical` is an empty calendar, so that a subscription lasts, and `Tocsin-Empty`
    says so. The text of a page that asks not to be indexed is kept back (409).
    """
    page = await demand_page(parts, int(page_id))
    asked = choose_format(form, choice.profile, _item(choice.item), page.url)
    if page.flags.noindex:
        detail = f"{page.url} asks robots not to index it, so that none of its data is given away"
        mend = "ask its author; of your own page, use: tocsin extract --own"
        raise Problem(409, "kept-back", "The page keeps this back", detail, mend=mend)
    kept = await parts.store.items_before(page.id)
    if kept is None:
        raise _nothing_kept(parts, page, form)
    title = None if kept.count else await _title(parts, page)
    tag = asked.tag(kept, title)
    read_s = kept.at // _S
    # A second that has not passed may bring other items, which a reader with its date would miss.
    date_s = read_s if read_s < parts.clock.now() // _S else None
    headers = _validators(tag, date_s, why_stale(page, kept.at))
    if is_known(if_none_match, if_modified_since, tag, date_s, is_exact=True):
        return Response(status_code=304, headers=headers)
    document = await asyncio.to_thread(write_document, kept, asked, title)
    remarks = (
        ("Tocsin-Left-Out", document.left_out),
        ("Tocsin-Note", document.notes),
        ("Tocsin-Empty", (document.empty,)),
    )
    headers |= {name: text for name, texts in remarks if (text := to_header("; ".join(texts)))}
    headers["Content-Disposition"] = f'inline; filename="{_file_name(page, asked)}"'
    return Response(document.body, headers=headers, media_type=asked.format.media_type)


@router.get("/pages/{page_id}/items", summary="List the items of a page", operation_id="list_items")
async def list_items(_: Reading, parts: Given, page_id: NumberInPath) -> KeptItems:
    """List a page's microdata as it was when the page was read whole last; no request is made for it.

    At most 1,000 items and 256 KiB are kept, and none of a page that is not to be indexed or archived; `why` gives the
    reason. `cut` says that the page has more. `count` is of all items that are kept, nested ones too; `items` are the
    top-level ones, as changes count them as added, removed and changed. `at` is null where none were read.
    """
    page = await demand_page(parts, int(page_id))
    kept = await parts.store.items_before(page.id)
    keeps = parts.service.settings().items.keep
    # A thousand items take 10 ms: other requests have their turn meanwhile.
    return await asyncio.to_thread(partial(tell_items, page, kept, keeps=keeps))


def _item(text: str | None) -> ItemNumber:
    match text:
        case None | "all":
            return text
    return int(text)


def _nothing_kept(parts: Parts, page: PageRow, form: str) -> Problem:
    why = why_no_items(page, is_read=False, keeps=parts.service.settings().items.keep)
    mend = (
        f"items are read at the first check and after a change; to read them now: tocsin extract --as {form} {page.url}"
    )
    return Problem(404, "not-kept", "No items of this page are kept", f"{page.url}: {why}", mend=mend)


async def _title(parts: Parts, page: PageRow) -> str | None:
    """Read the title of a page from its latest renderings: an empty calendar has no other source for its name."""
    found = await parts.store.renderings_of(page.id, limit=_RENDERINGS)
    told = (each.rendering for each in found.rows)
    return next((each.get("title") for each in told if not each.get("error") and each.get("kind") != "copy"), None)


def _validators(tag: str, date_s: int | None, stale: str | None) -> dict[str, str]:
    """Make the headers that a 304 has, too."""
    headers = {
        "ETag": tag,
        "Cache-Control": "private, no-cache",
        "Vary": "Authorization, Cookie",
        "Content-Security-Policy": POLICY,
    }
    if date_s is not None:
        headers["Last-Modified"] = formatdate(date_s, usegmt=True)
    if stale is not None:
        headers["Tocsin-Stale"] = stale
    return headers


def _file_name(page: PageRow, asked: ItemFormat) -> str:
    return f"{_NOT_IN_A_FILE_NAME.sub('-', page.host).strip('.-')}-{page.id}{asked.format.suffix}"
