"""Light, dark, or as the browser has it: kept in a cookie, since it is nobody else's business."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form
from fastapi.responses import RedirectResponse, Response

from tocsin.server.access.rights import Reading
from tocsin.server.web.rendering import LOOK_COOKIE, LOOKS
from tocsin.server.web.words import local_path

router = APIRouter(include_in_schema=False)
_YEAR_S = 365 * 86_400


@router.post("/look")
async def set_look(
    _caller: Reading, look: Annotated[str, Form()] = "auto", back: Annotated[str, Form()] = "/"
) -> Response:
    """Keep how this browser wants pages to look, and go back to where it was asked."""
    answer = RedirectResponse(local_path(back), status_code=303)
    if look in LOOKS and look != "auto":
        answer.set_cookie(LOOK_COOKIE, look, max_age=_YEAR_S, httponly=True, samesite="lax")
    else:
        answer.delete_cookie(LOOK_COOKIE, httponly=True, samesite="lax")
    return answer
