"""A page, or its kept items, as what somebody wants of it. Pure; it may take seconds, and is done in another process.

Everything crosses as msgpack: `perform` takes a piece of work and gives what came of it.
"""

from __future__ import annotations

import dataclasses
import json
from datetime import timedelta
from hashlib import blake2b
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import msgspec
from msgspec import Struct

from tocsin.errors import DamagedItems, TooComplex, UsageError
from tocsin.model import EPOCH, Instant, PageItems, Rendered, to_rfc3339
from tocsin.server.kept_items import Told, tell_items
from tocsin.spec.extract import Form, extract
from tocsin.spec.html.content_type import is_nosniff
from tocsin.spec.html.whole import parse_whole
from tocsin.spec.microdata.formats.catalogue import ALL, FORMATS, convert
from tocsin.spec.microdata.reading.items import read_items
from tocsin.spec.microdata.reading.packing import pack, unpack
from tocsin.spec.suspicion.look import find_suspicion

if TYPE_CHECKING:
    from datetime import datetime

    from tocsin.model import JsonObject
    from tocsin.spec.extract import Extract
    from tocsin.spec.microdata.formats.catalogue import Converted

One: TypeAlias = int | Literal["all"] | None
"""The number of an item, from 1; None: what the format gives where none is named."""

JSON: Final = "application/json"
_LONGEST_SAID: Final = 500
_NOWHERE: Final = "about:blank"


class Wanted(Struct, frozen=True):
    """What is wanted of a page.

    form     a value of `Form`, or a name in FORMATS
    profile  of a format; None for records, which have none
    """

    form: str
    profile: str | None = None
    item: One = None

    @property
    def is_in_items(self) -> bool:
        """Say whether the page's items are enough."""
        way = FORMATS.get(self.form)
        return way is not None and self.profile not in way.whole

    @property
    def media_type(self) -> str:
        """The media type, as in a Content-Type header."""
        return FORMATS[self.form].media_type if self.form in FORMATS else JSON

    @property
    def suffix(self) -> str:
        """The end of a file's name."""
        return FORMATS[self.form].suffix if self.form in FORMATS else f"-{self.form}.json"


class OfItems(Struct, frozen=True, tag_field="what", tag=True):
    """Kept items are to be written.

    title  of the page, where nothing was kept that says it
    """

    wanted: Wanted
    kept: PageItems
    title: str | None = None


class OfPage(Struct, frozen=True, tag_field="what", tag=True):
    """A page that was received is to be written.

    kept        its items as they were read last: where they are still the same, they are as old as these say
    changed     when the page was found changed last: what has no date of its own bears this one, and keeps it
    self_url    where the document is had; None: not known
    watched     its URL as it is watched, where what stands in its place is not to be taken for it
    is_suspect  its last check found that something does
    """

    wanted: Wanted
    page: Rendered
    kept: PageItems | None = None
    changed: Instant | None = None
    self_url: str | None = None
    watched: str | None = None
    is_suspect: bool = False


class Written(Struct, frozen=True, tag_field="what", tag=True):
    """What was extracted.

    since        when it was read first as it is, as far as that is known: equal ones say the same
    tag          its ETag: equal documents have the same; `perform` writes it
    said         what was left out, in words
    empty        where the page has nothing of the kind: what was looked for, and what it has
    stale        of the kept items, because something else stands in the page's place
    is_doubtful  something else seems to stand there, which may be over soon
    """

    body: bytes
    since: Instant
    said: tuple[str, ...] = ()
    empty: str = ""
    stale: bool = False
    is_doubtful: bool = False
    tag: str = ""


class Refused(Struct, frozen=True, tag_field="what", tag=True):
    """Why nothing was, as `Problem` has it.

    is_doubtful  as of `Written`
    """

    status: int
    type: str
    title: str
    detail: str
    mend: str
    is_doubtful: bool = False


class Damaged(Struct, frozen=True, tag_field="what", tag=True):
    """The kept items cannot be read any more; how they are damaged."""

    why: str


Work: TypeAlias = OfItems | OfPage | Told
Done: TypeAlias = Written | Refused | Damaged

_read = msgspec.msgpack.Decoder(Work).decode


def perform(work: bytes) -> bytes:
    """Do a piece of `Work`; gives what came of it, which is `Done`."""
    try:
        return msgspec.msgpack.encode(_tagged(_perform(_read(work))))
    except MemoryError:
        # Told below, where what was made until then has gone.
        pass
    return msgspec.msgpack.encode(too_complex("converting it takes more memory than there is for that"))


def _tagged(done: Done) -> Done:
    if not isinstance(done, Written):
        return done
    return msgspec.structs.replace(done, tag=f'"{blake2b(done.body, digest_size=12).hexdigest()}"')


def _perform(work: Work) -> Done:
    try:
        match work:
            case OfItems(wanted, kept, title):
                return _write_items(wanted, kept, title)
            case OfPage():
                return _write_page(work)
            case Told():
                return Written(_to_json(tell_items(work)), 0)
    except DamagedItems as exc:
        return Damaged(str(exc))
    except TooComplex as exc:
        return too_complex(str(exc))


def read_wanted(form: str, profile: str | None, item: One) -> Wanted:
    """Say what is wanted, nothing of it left open. Raises UsageError for what a format does not have."""
    if form not in FORMATS:
        if profile is not None or item is not None:
            raise UsageError(f"{form} has neither profiles nor items to choose from; leave them out")
        return Wanted(Form(form).value)
    way = FORMATS[form]
    if item is not None and item != ALL and way.counted is None:
        raise UsageError(f"{form} gives all that the page has; leave the item out")
    return Wanted(form, way.profile(profile), way.default if item is None else item)


def _write_items(wanted: Wanted, kept: PageItems, title: str | None = None) -> Written | Refused:
    data = unpack(kept.packed)
    if data.address is None:
        # A page without a mark of any item is not even kept with its address; what has no items needs none.
        data = dataclasses.replace(data, address=_NOWHERE, title=data.title or title)
    found = convert(wanted.form, data, profile=wanted.profile, item=wanted.item, now=_moment(kept.first_at))
    return _document(wanted, kept.first_at, found.text, found)


def _write_page(work: OfPage) -> Done:
    wanted, page, kept = work.wanted, work.page, work.kept
    if wanted.form not in FORMATS:
        return _records(work)
    if kept is not None and _has_same_items(page, kept):
        since = now = kept.first_at
    else:
        since, now = page.received_at, page.received_at
        if work.changed is not None and not wanted.is_in_items:
            now = min(now, work.changed)
    found = _extract(work, now)
    doubt = None if wanted.is_in_items and found.found and not found.no_text else _find_doubt(work)
    if doubt is not None and (instead := _write_instead(work, doubt)) is not None:
        return instead
    done: Written | Refused
    if not found.is_page:
        done = _no_page(page.final_url, found)
    elif found.no_text:
        done = kept_back(page.final_url)
    else:
        done = _document(wanted, since, found.document, found)
    return msgspec.structs.replace(done, is_doubtful=doubt is not None)


def _find_doubt(work: OfPage) -> str | None:
    """Say what it is that stands in a page's place; None where that is the page itself, or is to be taken for it."""
    page = work.page
    if work.watched is None:
        return None
    whole = parse_whole(page.body, page.content_type, nosniff=is_nosniff(_values(page, "x-content-type-options")))
    if whole is None:
        return "what came is no page"
    found = find_suspicion(
        whole,
        body=page.body,
        status=page.status,
        url=work.watched,
        final_url=page.final_url,
        headers=page.headers,
    )
    return None if found is None else f"{found.kind}: {found.evidence}"


def _write_instead(work: OfPage, doubt: str) -> Written | Refused | None:
    """Write kept items, if there are any, where something else stands in a page's place; None: what came is given.

    Whoever subscribed to a page's events takes a login page's for none, and deletes them all.
    """
    if work.kept is not None and work.kept.count:
        try:
            done = _write_items(work.wanted, work.kept)
        except DamagedItems:
            return None
        return msgspec.structs.replace(done, stale=True, is_doubtful=True) if isinstance(done, Written) else None
    return _suspect(work, doubt) if work.is_suspect else None


def _suspect(work: OfPage, doubt: str) -> Refused:
    """Say that what came is not the page."""
    title, mend = "Something else stands in the page's place", "answer its question, or let it take whatever comes"
    why = _sayable(f"{work.page.final_url}: {doubt}")
    return Refused(502, "suspect", title, why, f'{mend} (suspects = "accept")', is_doubtful=True)


def too_complex(why: str) -> Refused:
    """Say that a page is more than can be read."""
    mend = "ask for another form, which may take less; where none can be had, its author alone can mend that"
    return Refused(422, "too-complex", "The page cannot be read", _sayable(why), mend)


def kept_back(url: str) -> Refused:
    """Say that a page does not want its text to be shown elsewhere."""
    return Refused(
        409,
        "kept-back",
        "The page keeps this back",
        f"{_sayable(url)} asks robots not to index it, so that none of its text is given away",
        "ask its author; `links` and `robots` can be had, and all of your own pages with `tocsin extract --own`",
    )


def _no_page(url: str, found: Extract) -> Refused:
    """Say that what was received is no page: an empty document would say that the page has nothing."""
    return Refused(
        422,
        "no-page",
        "There is no page to read",
        f"{_sayable(url)}: {_sayable('; '.join(found.problems))}",
        "only of HTML and XHTML this can be had; `robots` can be had of everything",
    )


def _records(work: OfPage) -> Done:
    wanted, page = work.wanted, work.page
    found, doubt = _extract(work, page.received_at), _find_doubt(work)
    if doubt is not None and work.is_suspect:
        return _suspect(work, doubt)
    if not found.is_page and wanted.form != Form.ROBOTS:
        return msgspec.structs.replace(_no_page(page.final_url, found), is_doubtful=doubt is not None)
    told = {
        "url": page.final_url,
        "received_at": to_rfc3339(page.received_at),
        "form": wanted.form,
        "records": found.records,
        "problems": found.problems,
        "no_text": found.no_text,
        "no_links": found.no_links,
    }
    return Written(_to_json(told), page.received_at, is_doubtful=doubt is not None)


def _extract(work: OfPage, now: Instant) -> Extract:
    wanted, page = work.wanted, work.page
    return extract(
        page.body,
        page.content_type,
        form=wanted.form,
        url=page.final_url,
        headers=page.headers,
        profile=wanted.profile,
        item=wanted.item,
        now=_moment(now),
        self_url=work.self_url,
    )


def _has_same_items(page: Rendered, kept: PageItems) -> bool:
    """Say whether what is written of the page's items is as it was when they were kept, but for the time."""
    nosniff = is_nosniff(_values(page, "x-content-type-options"))
    data = read_items(page.body, page.content_type, address=page.final_url, nosniff=nosniff)
    return pack(data).digest == kept.digest


def _document(wanted: Wanted, since: Instant, text: str | None, found: Converted | Extract) -> Written | Refused:
    if text is not None:
        return Written(text.encode("utf-8", "replace"), since, tuple(map(_sayable, found.problems)))
    if found.empty is None:
        return _nothing(wanted, found)
    return Written(
        found.empty.encode("utf-8", "replace"),
        since,
        tuple(map(_sayable, found.problems)),
        _sayable(found.absence or ""),
    )


def _nothing(wanted: Wanted, found: Converted | Extract) -> Refused:
    why = found.absence or "; ".join(found.problems) or f"nothing of it can be given as {wanted.form}"
    is_beyond = wanted.item != ALL and 0 < found.found < (wanted.item or 0)
    mend = f"choose an item from 1 to {found.found}" if is_beyond else "see what it has: GET /api/v1/pages/{id}/items"
    return Refused(404, "nothing-of-the-kind", "The page has nothing of the kind", _sayable(why), mend)


def _sayable(text: str) -> str:
    """Shorten a text, without halves of letters, which cannot cross."""
    return text[:_LONGEST_SAID].encode("utf-8", "replace").decode()


def _to_json(told: JsonObject) -> bytes:
    return json.dumps(told, ensure_ascii=False).encode("utf-8", "replace")


def _values(page: Rendered, name: str) -> list[str]:
    return [value for each, value in page.headers if each == name]


def _moment(at: Instant) -> datetime:
    return EPOCH + timedelta(microseconds=at)
