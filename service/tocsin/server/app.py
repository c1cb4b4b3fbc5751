"""The application: all routes, behind the guard."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from fastapi import APIRouter, Depends, FastAPI
from fastapi.routing import iter_route_contexts
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp

import tocsin
from tocsin.errors import StoreError
from tocsin.model import LiveState
from tocsin.server import problems
from tocsin.server.access.guard import Doorkeeper, Envelope, Guard, demand_declared_scope
from tocsin.server.access.limits import RequestLimits
from tocsin.server.api import router as api
from tocsin.server.api.describing import describe
from tocsin.server.jobs import running_jobs
from tocsin.server.parts import Given, Parts, Reading
from tocsin.server.streams import routers as streams
from tocsin.server.web import router as pages
from tocsin.server.web.rendering import router as files
from tocsin.server.web.rendering import warm
from tocsin.settings import unread_channels

# Endpoints for supervisors and Prometheus: `/healthz`, `/readyz` and `/metrics`.


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
        store = _writing(live, parts.service.settings().cluster.lease.total_seconds())
    # One fetcher is enough to be ready: a restarted one must not take the service out of a balancer.
    ready = sum(fetcher.is_ready for fetcher in live.fetchers)
    found = {
        "store": store,
        "engine": "ok" if is_held and live.has_lease else "waits for its lease",
        "fetchers": "ok" if ready == len(live.fetchers) else f"{ready} of {len(live.fetchers)} ready",
    }
    if live.shortage.error is not None:
        # Checks are fewer, or paused, and resume by themselves; the log names the shortage and the mend.
        found["machine"] = "short of files, memory, ports or certificates"
    channels = parts.service.settings().channels
    if unread := len(unread_channels(parts.service.settings())):
        # Pages are still checked, and alerts wait; the log names the channels and the reason.
        found["channels"] = f"{unread} of {len(channels)} without a secret that can be read"
    is_ready = store == "ok" and is_held and live.has_lease and ready > 0
    return JSONResponse({"status": "ready" if is_ready else "not ready", **found}, 200 if is_ready else 503)


def _writing(live: LiveState, lease_s: float) -> str:
    """Say whether results are written: after the lease has run out, another engine could do their work."""
    if live.unwritten.for_s <= lease_s:
        return "ok"
    return f"cannot be written for {live.unwritten.for_s:.0f} s: {live.unwritten.why}"


_CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@router.get("/metrics", tags=["metrics"], summary="Counts and figures, for Prometheus", response_class=Response)
async def metrics(parts: Given, _caller: Reading) -> Response:
    """Return all metrics; needs the scope `read`, also as the password of Basic."""
    return Response(
        parts.service.metrics(), media_type=None, headers={"Content-Type": _CONTENT_TYPE, "Cache-Control": "no-store"}
    )


class Application(FastAPI):
    """FastAPI inside our middleware: every answer, also to an error of the framework, passes the guard."""

    def openapi(self) -> dict[str, Any]:
        """Describe the API."""
        return describe(self)

    def build_middleware_stack(self) -> ASGIApp:
        """Put the guard first: it reads no body, and the limits need the caller."""
        return Envelope(Guard(RequestLimits(super().build_middleware_stack()), self.state), self.state)


def make_app(parts: Parts) -> Application:
    """Make the application; `at_work` must be entered before it answers."""
    app = build_app()
    equip(app, parts)
    return app


def equip(app: Application, parts: Parts) -> None:
    """Set the parts of an application: `parts`, `stopping`, `doorkeeper` and, while it serves, `jobs` of its state."""
    app.state.parts, app.state.stopping = parts, parts.stopping
    app.state.doorkeeper = Doorkeeper(parts)


def prepare(app: Application) -> None:
    """Compile templates and make the API description. It takes a second: call it on a thread."""
    warm()
    app.openapi()


def build_app() -> Application:
    """Make an application without its parts: the slow steps that need no engine."""
    app = Application(
        title="Tocsin",
        version=tocsin.__version__,
        summary="Watches web pages, and tells of changes that their authors declare.",
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        dependencies=[Depends(demand_declared_scope)],
    )
    problems.install(app)
    # Files first: finding the route of a request costs more than to give a file, and any client may ask for them.
    for each in (files, router, api, pages, *streams):
        app.include_router(each)
    # FastAPI leaves this to the first request, which would block the engine.
    for _ in iter_route_contexts(app.routes):
        pass
    return app


@asynccontextmanager
async def at_work(app: Application) -> AsyncIterator[None]:
    """Run the background jobs of an application; enter it before the first request.

    It also prepares the application, so that no first request waits for that.
    """
    await asyncio.to_thread(prepare, app)
    async with running_jobs(app.state.parts) as jobs:
        app.state.jobs = jobs
        # Opens the read connection; an error is reported by the first request that reads.
        with suppress(StoreError):
            await app.state.parts.store.group_rows()
        yield
