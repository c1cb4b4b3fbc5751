"""What is extracted of a page for whoever asks: of its kept items where they are enough, else of the page received."""

from __future__ import annotations

import re
from functools import partial
from math import ceil
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

import msgspec
from fastapi import Depends, Request
from msgspec import Struct

from tocsin.configuration import resolve_readable
from tocsin.errors import FetchFailed, NotAllowed, ProcessError, StoreError, TooComplex
from tocsin.events import Happening
from tocsin.model import CheckOutcome
from tocsin.server.absence import why_no_items
from tocsin.server.access.auditing import audit
from tocsin.server.converting import (
    Damaged,
    Done,
    OfItems,
    OfPage,
    Refused,
    Written,
    kept_back,
    too_complex,
)
from tocsin.server.kept_items import Told
from tocsin.server.making import Busy, Making
from tocsin.server.parts import Given, Parts
from tocsin.server.problems import Problem
from tocsin.server.receipts import Finding, NotReceived, Receipts, Standing, in_a_word, not_received
from tocsin.server.shelf import Shelf
from tocsin.spec.microdata.formats.catalogue import FORMATS

if TYPE_CHECKING:
    from collections.abc import Callable

    from tocsin.errors import FetchError
    from tocsin.model import Instant, JsonObject, PageItems, PageRow, Rendered
    from tocsin.server.access.caller import Caller
    from tocsin.server.converting import Wanted, Work
    from tocsin.server.making import Waiter

    Has: TypeAlias = Callable[[str, Instant], bool]

AT_ONCE: Final = 16
"""Pages are received at one time for those who ask; the others wait for their turn, and what is at hand for none."""
MOST_BYTES: Final = 8 * 2**20
"""Of documents that are kept: who asks whether anything is new gets no second conversion."""
MOST_OF_ONE: Final = MOST_BYTES - 2**10
LARGE_BYTES: Final = 2**18
FAILED_S: Final = 600.0
"""So long nobody tries again what took too long, or what the process that did it died of."""

_UNSEEN: Final = (CheckOutcome.UNREACHABLE, CheckOutcome.DEFERRED, CheckOutcome.DISALLOWED)

PAUSED: Final = "paused"
OFF: Final = "off"
_LOOKED_AT: Final = 5
"""Renderings of a page, the latest: one that failed knows no title, and one of a copy that of the copy."""
_NO_NAME: Final = re.compile(r"[^A-Za-z0-9.-]+")
_read_done = msgspec.msgpack.Decoder(Done).decode


class Document(Struct, frozen=True):
    """What was extracted.

    tag    its ETag: equal documents have the same
    name   of the file that it would be
    since  when it was read first as it is, as far as that is known
    at     when the bytes that it is of were received
    stale  why it may be behind the page, in a word: the page is not received, or something else stands in its place
    said   what was left out, in words
    empty  where the page has nothing of the kind: what was looked for, and what it has
    is_known  whoever asks has it already; its body may be left out then
    """

    body: bytes
    media_type: str
    tag: str
    name: str
    since: Instant
    at: Instant
    stale: str | None = None
    said: tuple[str, ...] = ()
    empty: str = ""
    is_known: bool = False


class _Outcome(Struct, frozen=True):
    """What came of a conversion.

    until_s  it may be tried again then, in monotonic time; None: it would come to the same
    is_bare  it is too long to be kept, so that its body was left out
    """

    found: Written | Refused | Damaged
    until_s: float | None = None
    is_bare: bool = False


class _Asked(Struct, frozen=True):
    """What somebody asks for.

    waiter  who asks
    has     says whether they have what has this tag, and was read first then
    """

    caller: Caller
    page: PageRow
    wanted: Wanted
    waiter: Waiter
    has: Has


_Key: TypeAlias = tuple[object, ...]


class Extraction:
    """What all that is extracted through an application shares."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self._receipts = Receipts(parts.service.receive, parts.clock)
        self._outcomes: Shelf[_Key, _Outcome] = Shelf(MOST_BYTES)
        self.receiving: Making[_Key, Rendered] = Making(AT_ONCE)
        self.converting: Making[_Key, _Outcome] = Making()

    async def get(self, caller: Caller, page: PageRow, wanted: Wanted, waiter: Waiter, has: Has) -> Document:
        """Extract what is wanted of a page, unless everybody who wants it has hung up when its turn comes.

        has  says whether they have what has this tag, and was read first then

        Of kept items where the page's bytes are still those that they were read from, and where the page cannot be
        received. Raises Problem: 404 nothing of the kind, 409 kept back or not to be asked for, 422 cannot be read,
        502 and 503 not received or not converted; ClientDisconnect where nobody waits for it any more.
        """
        if wanted.form in FORMATS and page.noindex:
            raise _problem(kept_back(page.url))
        document = await self._get(_Asked(caller, page, wanted, waiter, has))
        return msgspec.structs.replace(document, stale=document.stale or _unseen_since(page, document.at))

    async def _get(self, asked: _Asked) -> Document:
        page, wanted = asked.page, asked.wanted
        kept = await self.parts.store.latest_items(page.id) if wanted.is_in_items else None
        body = await self.parts.store.page_body(page.id)
        # What is kept of a document that is no page looks like that of a page without items.
        is_page = not page.not_html or (kept is not None and kept.count > 0 and _standing(page) is Standing.SUSPECT)
        if kept is not None and is_page and not kept.is_cut and kept.body and kept.body == body:
            return await self._of_items(asked, kept) or await self._of_page(asked, body, None)
        try:
            return await self._of_page(asked, body, kept)
        except (NotReceived, Busy) as exc:
            if kept is None or (page.not_html and not kept.count):
                raise
            found = await self._of_items(asked, kept)
            if found is None:
                raise
            return msgspec.structs.replace(found, stale=exc.kind)

    async def anew(self, caller: Caller, page: PageRow, wanted: Wanted, waiter: Waiter) -> Document:
        """Receive a page now, whatever is known of it, and extract what is wanted.

        Raises Problem, FetchError, UsageError, and ClientDisconnect as `get` does.
        """
        received = await self.parts.service.receive(page.id)
        await audit(self.parts, caller, "page.extract", page=str(page.id), form=wanted.form)
        return await self._of_received(_Asked(caller, page, wanted, waiter, _has_nothing), received, None)

    async def items(self, page: PageRow, waiter: Waiter) -> bytes:
        """Give the items that are kept of a page, as `KeptItems` in JSON.

        Raises Problem, StoreError, and ClientDisconnect as `get` does.
        """
        kept, keeps = await self.parts.store.items_before(page.id), self.parts.service.settings().items.keep
        why = None if kept is not None and kept.count else why_no_items(page, is_read=kept is not None, keeps=keeps)
        told = Told(page.id, kept, page.noindex, why)
        key = (page.id, None if kept is None else (kept.at, kept.digest), page.noindex, why)
        outcome = await self.converting.get(key, partial(self._do, page, told), waiter)
        match outcome.found:
            case Written(body):
                return body
            case Refused() as refused:
                raise _problem(refused, FAILED_S)
            case Damaged(why):
                raise StoreError(why)

    async def _of_items(self, asked: _Asked, kept: PageItems) -> Document | None:
        """Write kept items; None where they are damaged."""
        title = None if kept.count else await self._title(asked.page)
        mark = (kept.digest, kept.first_at, title)
        return await self._write(asked, mark, kept.at, OfItems(asked.wanted, kept, title))

    async def _title(self, page: PageRow) -> str | None:
        """Give the title of a page as it was read whole last: with items that are none, nothing else is kept."""
        found = await self.parts.store.renderings_of(page.id, limit=_LOOKED_AT)
        told = (each.rendering for each in found.rows)
        return next((each.get("title") for each in told if not each.get("error") and each.get("kind") != "copy"), None)

    async def _of_page(self, asked: _Asked, body: bytes, kept: PageItems | None) -> Document:
        """Write what the page says, received now if it was not yet."""
        page, form = asked.page, asked.wanted.form

        async def made(error: FetchError | None) -> None:
            kind = None if error is None else error.kind
            await audit(self.parts, asked.caller, "page.extract", page=str(page.id), form=form, error=kind)

        finding = _finding(page, body)
        received = self._receipts.at_hand(page.id, finding)
        if received is None and page.paused:
            raise not_received(NotAllowed(page.url, PAUSED, "the page is paused; resume it first"), None)
        if received is None:
            receive = partial(self._receipts.get, page.id, finding, on_made=made)
            # Whoever knows that the page is back does not share what was asked for before.
            key = (page.id, finding.mark, finding.standing, finding.at)
            received = await self.receiving.get(key, receive, asked.waiter)
        return await self._of_received(asked, received, kept)

    async def _of_received(self, asked: _Asked, received: Rendered, kept: PageItems | None) -> Document:
        page, wanted = asked.page, asked.wanted
        public_url = self.parts.service.settings().http.public_url.rstrip("/")
        self_url = f"{public_url}/api/v1/pages/{page.id}/extract/{wanted.form}" if public_url else None
        is_suspect = _standing(page) is Standing.SUSPECT
        # What is a document, and no page, is looked at as one only where something else stands in its place.
        watched = page.url if (is_suspect or not page.not_html) and await self._holds_suspects(page) else None
        work = OfPage(wanted, received, kept, page.last_changed_at, self_url, watched, is_suspect=is_suspect)
        mark = (received.received_at, b"" if kept is None else kept.digest, *msgspec.structs.astuple(work)[3:])
        document = await self._write(asked, mark, received.received_at, work)
        assert document is not None  # noqa: S101 - only what was kept can be damaged
        return document if document.stale is None or kept is None else msgspec.structs.replace(document, at=kept.at)

    async def _holds_suspects(self, page: PageRow) -> bool:
        """Say whether the user has not said to take whatever comes for the page."""
        for_all, groups = await self.parts.store.overrides()
        group: JsonObject = next((settings for name, settings in groups.values() if name == page.group), {})
        base = self.parts.service.settings().pages
        return resolve_readable(base, for_all, group, page.settings).settings.suspects == "hold"

    async def _write(self, asked: _Asked, mark: _Key, at: Instant, work: Work) -> Document | None:
        """Write a document, unless it was written before; None where what it is written of is damaged.

        mark  names what it is written of
        at    when that was received
        """
        page, wanted = asked.page, asked.wanted
        key = (page.id, wanted, mark)
        known = self._known(key)
        if known is None or (known.is_bare and not _is_had(known.found, asked)):
            size = len(work.page.body) if isinstance(work, OfPage) else 0

            async def make() -> _Outcome:
                made = await self._do(page, work)
                self._keep(key, made)
                return made

            known = await self.converting.get(key, make, asked.waiter, size=size, is_large=size > LARGE_BYTES)
        if isinstance(work, OfPage) and not isinstance(known.found, Damaged) and known.found.is_doubtful:
            self._receipts.doubt(page.id, work.page)
        match known.found:
            case Written() as written:
                return _document(asked, at, written)
            case Refused() as refused:
                now_s = self.parts.clock.monotonic()
                raise _problem(refused, None if known.until_s is None else known.until_s - now_s)
            case Damaged():
                return None

    def _keep(self, key: _Key, made: _Outcome) -> None:
        """Keep an outcome; of a document that there is no room for, what says whether somebody has it already."""
        size = len(made.found.body) if isinstance(made.found, Written) else 0
        if isinstance(made.found, Written) and size > MOST_OF_ONE:
            made, size = _Outcome(msgspec.structs.replace(made.found, body=b""), made.until_s, is_bare=True), 0
        self._outcomes.put(key, made, size)

    def _known(self, key: _Key) -> _Outcome | None:
        found = self._outcomes.get(key)
        is_over = found is not None and found.until_s is not None and found.until_s <= self.parts.clock.monotonic()
        return None if is_over else found

    async def _do(self, page: PageRow, work: Work) -> _Outcome:
        """Have work done where it holds up nobody."""
        try:
            return _Outcome(_read_done(await self.parts.aside.do(msgspec.msgpack.encode(work))))
        except (TooComplex, ProcessError) as exc:
            values = {"page_id": page.id, "url": page.url, "error": str(exc)}
            self.parts.telemetry.emit(Happening("page.unconverted", "warning", values))
            refused = too_complex(str(exc)) if isinstance(exc, TooComplex) else _not_converted(str(exc))
            return _Outcome(refused, self.parts.clock.monotonic() + FAILED_S)


async def extraction(request: Request, parts: Given) -> Extraction:
    """Give what the extracts of this application share."""
    found = getattr(request.app.state, "extraction", None)
    if not isinstance(found, Extraction) or found.parts is not parts:
        found = request.app.state.extraction = Extraction(parts)
    return found


Extracting = Annotated[Extraction, Depends(extraction)]


def _finding(page: PageRow, body: bytes) -> Finding:
    """Say what checks found last: the bytes, or, of a page of which no state is stored, when they were received."""
    report, standing, failed = page.last_report or {}, _standing(page), None
    if report.get("outcome") == CheckOutcome.UNREACHABLE and (error := report.get("error")):
        failed = FetchFailed(page.url, *error, status=report.get("status"))
    mark = (body,) if body else (b"", page.last_received_at)
    return Finding(mark, standing, page.last_checked_at or 0, failed)


def _standing(page: PageRow) -> Standing:
    """Say how the page stood when it was checked last."""
    outcome = (page.last_report or {}).get("outcome")
    if outcome == CheckOutcome.SUSPECT:
        return Standing.SUSPECT
    return Standing.UNSEEN if outcome in _UNSEEN else Standing.SOUND


def _unseen_since(page: PageRow, at: Instant) -> str | None:
    """Say why the page's checks do not see whether it is still as it was then, in a word; None where they do."""
    if page.paused or page.next_why == OFF:
        return PAUSED if page.paused else OFF
    report = page.last_report or {}
    outcome = report.get("outcome")
    if page.last_checked_at is None or page.last_checked_at <= at:
        return None
    if outcome in (CheckOutcome.UNREACHABLE, CheckOutcome.DEFERRED):
        kind, _ = report.get("error") or (outcome, "")
        return in_a_word(kind, report.get("status"))
    return outcome if outcome in (CheckOutcome.DISALLOWED, CheckOutcome.SUSPECT) else None


def _document(asked: _Asked, at: Instant, written: Written) -> Document:
    page, wanted = asked.page, asked.wanted
    return Document(
        written.body,
        wanted.media_type,
        written.tag,
        f"{_NO_NAME.sub('-', page.host).strip('.-')}-{page.id}{wanted.suffix}",
        written.since,
        at,
        stale=CheckOutcome.SUSPECT.value if written.stale else None,
        said=written.said,
        empty=written.empty,
        is_known=_is_had(written, asked),
    )


def _is_had(found: Written | Refused | Damaged, asked: _Asked) -> bool:
    return isinstance(found, Written) and asked.has(found.tag, found.since)


def _has_nothing(_: str, __: Instant) -> bool:
    return False


def _problem(refused: Refused, wait_s: float | None = None) -> Problem:
    headers = None if wait_s is None else {"Retry-After": str(max(ceil(wait_s), 1))}
    return Problem(refused.status, refused.type, refused.title, refused.detail, mend=refused.mend, headers=headers)


def _not_converted(why: str) -> Refused:
    mend = "ask for another form; pages that are smaller, or say less, can be converted"
    return Refused(503, "not-converted", "The page could not be converted", why, mend)
