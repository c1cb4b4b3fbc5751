"""Lists that are sent as they are read: each holds a place for as long as somebody takes it."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING, Annotated, Final

from fastapi import Depends, Request

from tocsin.server.parts import Given, Parts
from tocsin.server.problems import Problem

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

MOST: Final = 8
"""Fewer than requests may be under way: whoever takes nothing of what they asked for must not keep out the others."""


class Downloads:
    """What all downloads of an application share."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self._open = 0

    def demand_place(self) -> None:
        """Raise Problem where there is no place for one more."""
        if self._open >= MOST:
            raise Problem(
                503,
                "too-many-downloads",
                "Too many download at one time",
                f"{MOST} downloads are under way",
                mend="ask again when one has ended",
                headers={"Retry-After": "10"},
            )

    async def counted(self, pieces: AsyncGenerator[str]) -> AsyncGenerator[str]:
        """Give these pieces, counted as one download from the first to the last."""
        self._open += 1
        try:
            async with aclosing(pieces):
                async for piece in pieces:
                    yield piece
        finally:
            self._open -= 1


async def downloads(request: Request, parts: Given) -> Downloads:
    """Give what the downloads of this application share."""
    found = getattr(request.app.state, "downloads", None)
    if not isinstance(found, Downloads) or found.parts is not parts:
        found = request.app.state.downloads = Downloads(parts)
    return found


Shared = Annotated[Downloads, Depends(downloads)]
