"""*Rules*: what each rule that decides about a change says."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import RedirectResponse, Response

from tocsin.server.parts import Reading
from tocsin.server.web.rendering import page

router = APIRouter(include_in_schema=False)

# In the order in which they are tried; their texts are in the section `rule` of the words.
DECLARED: Final = ("T40", "T45", "T42", "T43", "T44", "T09", "T46", "T47")
SIGNALS: Final = ("S4", "S1", "S2", "S3", "S5", "S6", "S7", "S8", "S9")


@router.get("/rules")
async def show(request: Request, _caller: Reading) -> Response:
    """Show all rules."""
    return await page(request, "rules.html", parts=(("declared", DECLARED), ("signals", SIGNALS)))


@router.get("/rules/{name}")
async def find_rule(_caller: Reading, name: str) -> Response:
    """Go to one rule on the page of all of them."""
    if name not in (*DECLARED, *SIGNALS):
        raise HTTPException(404, "there is no such rule; all rules are listed at /rules")
    return RedirectResponse(f"/rules#{name}", status_code=303)
