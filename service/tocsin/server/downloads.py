"""Streamed downloads: each holds a slot until its client has taken it."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING, Annotated, Final

from fastapi import Depends, Request

from tocsin.server.parts import Given, Parts
from tocsin.server.problems import Problem

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

MOST: Final = 8  # Fewer than the limit of requests, so that slow clients of downloads cannot block other requests.


class Downloads:
    """The open downloads of an application."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self._open = 0

    def demand_place(self) -> None:
        """Raise Problem where all slots are taken."""
        if self._open >= MOST:
            raise Problem(
                503,
                "too-many-downloads",
                "Too many downloads",
                f"{MOST} downloads are in progress",
                mend="ask again when one has ended",
                headers={"Retry-After": "10"},
            )

    async def counted(self, pieces: AsyncGenerator[str]) -> AsyncGenerator[str]:
        """Yield these pieces, counted as one open download."""
        self._open += 1
        try:
            async with aclosing(pieces):
                async for piece in pieces:
                    yield piece
        finally:
            self._open -= 1


async def downloads(request: Request, parts: Given) -> Downloads:
    """Return the downloads of this application."""
    found = getattr(request.app.state, "downloads", None)
    if not isinstance(found, Downloads) or found.parts is not parts:
        found = request.app.state.downloads = Downloads(parts)
    return found


Shared = Annotated[Downloads, Depends(downloads)]
