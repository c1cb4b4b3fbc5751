"""The application: every route, behind the guard."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from fastapi import Depends, FastAPI, Request
from fastapi.routing import iter_route_contexts

import tocsin
from tocsin.errors import StoreError
from tocsin.server import monitoring, problems
from tocsin.server.access import login
from tocsin.server.access.guard import Doorkeeper, Guard, is_public
from tocsin.server.access.headers import Envelope
from tocsin.server.access.limits import Limits
from tocsin.server.access.rights import wanted_of
from tocsin.server.api import router as api
from tocsin.server.api.describing import describe
from tocsin.server.jobs import running_jobs
from tocsin.server.parts import Parts
from tocsin.server.streams import routers as streams
from tocsin.server.web import router as pages
from tocsin.server.web.rendering import warm

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.types import ASGIApp


class Application(FastAPI):
    """FastAPI behind the guard: nothing it answers, errors of its own among it, goes round that."""

    def openapi(self) -> dict[str, Any]:
        """Describe the API."""
        return describe(self)

    def build_middleware_stack(self) -> ASGIApp:
        """Put the guard before everything: it reads no body, and the limits need to know who asks."""
        return Envelope(Guard(Limits(super().build_middleware_stack()), self.state), self.state)


async def declared(request: Request) -> None:
    """Let nobody through to a route that does not say who may use it. Raises Problem."""
    route = request.scope["route"]
    if not is_public(request.scope["path"]) and wanted_of(route.dependant) is None:
        raise problems.Problem(
            403, "undeclared", "Nobody may use this", "the route does not say who may", mend="please report it"
        )


def make_app(parts: Parts) -> Application:
    """Make the application; `at_work` must be entered before it answers."""
    app = build_app()
    equip(app, parts)
    return app


def equip(app: Application, parts: Parts) -> None:
    """Give an application what it works with.

    Its `state` has `parts`, `stopping`, `doorkeeper` and, at work, `jobs`.
    """
    app.state.parts, app.state.stopping = parts, parts.stopping
    app.state.doorkeeper = Doorkeeper(parts)


def prepare(app: Application) -> None:
    """Make what is made once: templates and the description of the API. It takes a second, and belongs on a thread."""
    warm()
    app.openapi()


def build_app() -> Application:
    """Make an application without its parts: all that takes time and needs nothing of the engine."""
    app = Application(
        title="Tocsin",
        version=tocsin.__version__,
        summary="Watches web pages, and tells of changes that their authors declare.",
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        dependencies=[Depends(declared)],
    )
    problems.install(app)
    for router in (monitoring.router, login.router, api, pages, *streams):
        app.include_router(router)
    # What FastAPI leaves to the first request, which the engine would have to wait for.
    for _ in iter_route_contexts(app.routes):
        pass
    return app


@asynccontextmanager
async def at_work(app: Application) -> AsyncIterator[None]:
    """Keep going what works on after a request was answered; it is entered before the first one is.

    What is made once is made before anyone is let in, where that was not done before: no first page waits for it.
    """
    await asyncio.to_thread(prepare, app)
    async with running_jobs(app.state.parts) as jobs:
        app.state.jobs = jobs
        # Opens the connection that people read through; where that fails, the first who reads is told.
        with suppress(StoreError):
            await app.state.parts.store.group_rows()
        yield
