"""Forms carry a token that another site cannot know."""

from __future__ import annotations

import re
from secrets import compare_digest
from typing import TYPE_CHECKING

from tocsin.server.problems import FORMS, Problem

if TYPE_CHECKING:
    from starlette.requests import Request

    from tocsin.server.access.caller import Caller

FIELD = "csrf"
HEADER = "x-csrf-token"
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_USUAL_CHARSET = re.compile(r""";\s*charset=(?P<quote>"?)(?:utf-?8|us-ascii)(?P=quote)\s*(?=;|$)""", re.IGNORECASE)


def refuse_odd_charset(request: Request) -> None:
    """Refuse a form in another charset than UTF-8, before it is read. Raises Problem: 415.

    Forms would be decoded by whichever codec they name: some of those take the square of a text's length, others make
    halves of letters. Browsers send UTF-8, as every page of ours asks them to.
    """
    kind = request.headers.get("content-type", "")
    if any(form in kind.lower() for form in FORMS) and "charset" in _USUAL_CHARSET.sub("", kind).lower():
        raise Problem(
            415,
            "unknown-charset",
            "The form's charset is not read here",
            "forms come in UTF-8",
            mend="leave charset out of Content-Type, or say charset=utf-8",
        )


async def check_form(request: Request, caller: Caller) -> None:
    """Let a form through that carries its caller's token, and scripts that send it as `X-CSRF-Token`.

    Whoever shows a token of their own in each request needs none. Raises Problem: 403.
    """
    if request.method in SAFE or not caller.csrf:
        return
    said = request.headers.get(HEADER)
    if said is None:
        if not _is_form(request):
            if not _is_browser(request):
                return
        else:
            found = (await request.form()).get(FIELD)
            said = found if isinstance(found, str) else None
    if said is None or not compare_digest(said.encode(), caller.csrf.encode()):
        raise Problem(
            403,
            "csrf",
            "The form is not one of ours",
            "it lacks the token of this session, or has that of another one",
            mend="load the page again and send the form from there; a program sends a token as `Authorization: Bearer`",
        )


def _is_form(request: Request) -> bool:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower() in FORMS


def _is_browser(request: Request) -> bool:
    """Say whether a browser sent this: it says so itself, whatever a page tells it to send."""
    return "sec-fetch-site" in request.headers or "origin" in request.headers or "cookie" in request.headers
