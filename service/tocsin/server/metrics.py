"""`/metrics`: what Prometheus reads."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from tocsin.server.access import Reading
from tocsin.server.parts import Given

router = APIRouter(tags=["metrics"])
_CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@router.get("/metrics", summary="Counts and figures, for Prometheus", response_class=Response)
async def metrics(parts: Given, _caller: Reading) -> Response:
    """Give everything that is measured; a token with the scope read is enough, also as the password of Basic."""
    return Response(
        parts.service.metrics(), media_type=None, headers={"Content-Type": _CONTENT_TYPE, "Cache-Control": "no-store"}
    )
