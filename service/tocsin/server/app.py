"""The application: all routes, behind the guard."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from fastapi import Depends, FastAPI
from fastapi.routing import iter_route_contexts
from starlette.types import ASGIApp

import tocsin
from tocsin.errors import StoreError
from tocsin.server import monitoring, problems
from tocsin.server.access import login
from tocsin.server.access.guard import Doorkeeper, Guard, demand_declared_scope
from tocsin.server.access.headers import Envelope
from tocsin.server.access.limits import RequestLimits
from tocsin.server.api import router as api
from tocsin.server.api.describing import describe
from tocsin.server.jobs import running_jobs
from tocsin.server.parts import Parts
from tocsin.server.streams import routers as streams
from tocsin.server.web import router as pages
from tocsin.server.web.rendering import warm


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
    for router in (monitoring.router, login.router, api, pages, *streams):
        app.include_router(router)
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
