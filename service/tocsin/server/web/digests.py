"""*Digests*: which wait, which were sent, which were refused, with their alerts."""

from __future__ import annotations

from typing import Annotated, Final
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import Response

from tocsin.model import AlertQuery, BundleState
from tocsin.server import notifications as deeds
from tocsin.server.parts import Given, Reading, Writing
from tocsin.server.web.rendering import ask, go_on, language_of, page
from tocsin.server.web.telling import tell

router = APIRouter(include_in_schema=False)

_HOME: Final = "/notifications/digests"
_PART: Final = 40
_MOST_DIGITS: Final = 10**17
TONES: Final[dict[BundleState, str]] = {"open": "same", "sealed": "minor", "accepted": "good", "dead": "bad"}


@router.get(_HOME)
async def digests(
    request: Request,
    _: Reading,
    parts: Given,
    state: BundleState | None = None,
    before: Annotated[int | None, Query(ge=1, le=_MOST_DIGITS)] = None,
) -> Response:
    """List digests."""
    rows = await parts.store.bundles(limit=_PART + 1, before=before, state=state)
    shown = rows[:_PART]
    given = {"state": state} if state is not None else {}
    first = f"{_HOME}?{urlencode(given)}" if given else _HOME
    following = f"{_HOME}?{urlencode({**given, 'before': shown[-1].id})}" if len(rows) > _PART else None
    lists = [(_HOME, "all", None, state is None)]
    lists += [(f"{_HOME}?state={each}", each, None, state == each) for each in TONES]
    return await page(
        request,
        "digests.html",
        rows=shown,
        lists=lists,
        tones=TONES,
        following=following,
        first=first if before is not None else None,
    )


@router.get(f"{_HOME}/{{number:int}}")
async def digest(
    request: Request,
    _: Reading,
    parts: Given,
    number: int,
    cursor: Annotated[str | None, Query(max_length=200)] = None,
) -> Response:
    """Show a digest with its alerts."""
    row = await deeds.demand_digest(parts, number)
    found = await parts.store.browse_alerts(AlertQuery(digest=number), cursor=cursor, limit=_PART)
    here = f"{_HOME}/{number}"
    return await page(
        request,
        "digest.html",
        row=row,
        tones=TONES,
        alerts=[tell(each, language_of(request)) for each in found.rows],
        following=f"{here}?{urlencode({'cursor': found.next})}" if found.next else None,
        first=here if cursor else None,
    )


@router.post(f"{_HOME}/{{number:int}}/send")
async def send(request: Request, caller: Writing, parts: Given, number: int) -> Response:
    """Send a digest now or again."""
    row = await deeds.demand_digest(parts, number)
    await deeds.send_digest(parts, caller, number)
    return go_on(request, f"{_HOME}/{number}", "digest_sent", number=number, channel=row.channel)


@router.post(f"{_HOME}/{{number:int}}/give-up")
async def give_up(
    request: Request, caller: Writing, parts: Given, number: int, confirmed: Annotated[str, Form()] = ""
) -> Response:
    """Give a digest up, after a question."""
    row = await deeds.demand_digest(parts, number)
    if not confirmed:
        return await ask(
            request,
            "give_up",
            f"{_HOME}/{number}/give-up",
            back=f"{_HOME}/{number}",
            section="notifications",
            danger=True,
            n=row.alerts,
            number=number,
            channel=row.channel,
        )
    await deeds.give_up_digest(parts, caller, number)
    return go_on(request, f"{_HOME}/{number}", "digest_given_up", kind="warn", number=number)
