"""Endpoints for supervisors and Prometheus: `/healthz`, `/readyz` and `/metrics`."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter
from starlette.responses import JSONResponse, Response

from tocsin.errors import StoreError
from tocsin.model import LiveState
from tocsin.server.access.rights import Reading
from tocsin.server.parts import Given
from tocsin.settings import unread_channels

_WITHIN_S = 2.0  # Less than the deadline of usual probes.

router = APIRouter()


@router.get("/healthz", tags=["health"], summary="Say that the process is alive")
async def healthz() -> JSONResponse:
    """Answer: the process is alive."""
    return JSONResponse({"status": "alive"})


@router.get("/readyz", tags=["health"], summary="Say whether the service does its work")
async def readyz(parts: Given) -> JSONResponse:
    """Say whether store, engine and fetchers are as they should be; 503 where one is not."""
    live = parts.service.live()
    try:
        async with asyncio.timeout(_WITHIN_S):
            # One reads the file system, the other the database.
            is_held, _ = await parts.store.is_held(), await parts.store.has_tokens()
    except (StoreError, TimeoutError):
        # The reason is in the log: this answer needs no token.
        is_held, store = False, "unusable"
    else:
        store = _writing(live, parts.service.settings().store.lease.total_seconds())
    ready = sum(fetcher.is_ready for fetcher in live.fetchers)
    found = {
        "store": store,
        "engine": "ok" if is_held and live.has_lease else "waits for its lease",
        "fetchers": "ok" if ready == len(live.fetchers) else f"{ready} of {len(live.fetchers)} ready",
    }
    if live.shortage is not None:
        # Checks are fewer, or paused, and resume by themselves; the log names the shortage and the mend.
        found["machine"] = "short of files, memory or ports"
    channels = parts.service.settings().channels
    if unread := len(unread_channels(parts.service.settings())):
        # Pages are still checked, and alerts wait; the log names the channels and the reason.
        found["channels"] = f"{unread} of {len(channels)} without a secret that can be read"
    is_ready = store == "ok" and is_held and live.has_lease and ready > 0
    return JSONResponse({"status": "ready" if is_ready else "not ready", **found}, 200 if is_ready else 503)


def _writing(live: LiveState, lease_s: float) -> str:
    """Say whether results are written: after the lease has run out, another engine could do their work."""
    if live.unwritten_s <= lease_s:
        return "ok"
    return f"cannot be written for {live.unwritten_s:.0f} s: {live.unwritten_why}"


_CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@router.get("/metrics", tags=["metrics"], summary="Counts and figures, for Prometheus", response_class=Response)
async def metrics(parts: Given, _caller: Reading) -> Response:
    """Return all metrics; needs the scope `read`, also as the password of Basic."""
    return Response(
        parts.service.metrics(), media_type=None, headers={"Content-Type": _CONTENT_TYPE, "Cache-Control": "no-store"}
    )
