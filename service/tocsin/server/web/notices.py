"""Notices after an action: shown on the page that the browser is redirected to, with an undo if there is one.

Notices are kept in memory for some minutes. Their keys are random and bound to the caller, so that no other client
sees them.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from secrets import token_urlsafe
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from fastapi.responses import RedirectResponse
from msgspec import Struct
from starlette.requests import Request

from tocsin.model import Instant
from tocsin.server.access.rights import CALLER, Caller

KEY: Final = "told"
_KEPT: Final = 200
_KEPT_US: Final = 600 * 1_000_000


class Undo(Struct, frozen=True):
    """A form with one button that undoes an action.

    path    posted to, with these values (texts, or sequences of them)
    verb    the label of the button
    """

    path: str
    verb: str
    values: Mapping[str, str | Sequence[str]]


class Notice(Struct, frozen=True):
    """The result of an action.

    kind  "good", "warn" or "loud"
    more  a link: path and label
    """

    text: str
    kind: str
    who: str
    at: Instant
    undo: Undo | None = None
    more: tuple[str, str] | None = None


def go_on(
    request: Request,
    path: str,
    text: str,
    *,
    kind: str = "good",
    undo: Undo | None = None,
    more: tuple[str, str] | None = None,
) -> RedirectResponse:
    """Redirect the browser (303) to a page that shows this notice."""
    kept, now = _kept(request), request.app.state.parts.clock.now()
    while kept and (len(kept) >= _KEPT or next(iter(kept.values())).at < now - _KEPT_US):
        kept.popitem(last=False)
    key = token_urlsafe(9)
    kept[key] = Notice(text, kind, _who(request), now, undo, more)
    parts = urlsplit(path)
    query = "&".join(
        [each for each in parts.query.split("&") if each and not each.startswith(f"{KEY}=")] + [f"{KEY}={key}"]
    )
    return RedirectResponse(urlunsplit(parts._replace(query=query)), status_code=303)


def find(request: Request) -> Notice | None:
    """Return the notice of this request."""
    notice = _kept(request).get(request.query_params.get(KEY, ""))
    now = request.app.state.parts.clock.now()
    if notice is None or notice.who != _who(request) or notice.at < now - _KEPT_US:
        return None
    return notice


def _kept(request: Request) -> OrderedDict[str, Notice]:
    state = request.app.state
    if not hasattr(state, "notices"):
        state.notices = OrderedDict()
    kept: OrderedDict[str, Notice] = state.notices
    return kept


def _who(request: Request) -> str:
    caller = request.scope.get(CALLER)
    return caller.who if isinstance(caller, Caller) else ""
