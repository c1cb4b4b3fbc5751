"""The HTTP edge on a real store, with a stand-in for the service, asked without sockets."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import cache
from types import SimpleNamespace
from typing import Any, cast

import httpx
from msgspec.structs import replace

from tests.fakes import ManualClock, RecordingTelemetry, SeededChance
from tocsin.adapters.channels.context import ChannelContext
from tocsin.adapters.channels.registry import open_channel
from tocsin.engine.alerting.messages import message_of
from tocsin.errors import SettingsError, UsageError
from tocsin.model import (
    FetcherLife,
    JsonObject,
    LiveState,
    MessagePreview,
    PagePicture,
    PageRow,
    Rendered,
    RenderSlots,
    Saved,
    Scope,
    StepResult,
)
from tocsin.model.saved import merge
from tocsin.ports import Store
from tocsin.server.access.credentials import digest_of, new_token
from tocsin.server.access.guard import Doorkeeper
from tocsin.server.app import Application, at_work, make_app
from tocsin.server.parts import Parts
from tocsin.settings import ChannelSettings, HttpSettings, RouteSettings, Settings

LOCAL = ("127.0.0.1", 40_000)
ELSEWHERE = ("192.0.2.7", 40_000)
BASE = "http://localhost:8330"


class NoDemo:
    """A demo site that is never there; implements `ports.DemoDesk`."""

    is_on = False

    async def begin(self) -> None:
        raise UsageError("there is no demo site here")

    async def end(self) -> int:
        return 0


class StillService:
    """A service that does nothing; implements `ports.Service`.

    state     what `live` says
    settings_ what `settings` says
    tried     channels that were tried
    bodies    of pages, by URL, as `receive` gives them; an error is raised
    received  the URLs that were received
    """

    def __init__(self, clock: ManualClock, settings: Settings | None = None) -> None:
        self.clock = clock
        self.settings_ = settings or Settings(http=HttpSettings(listen="127.0.0.1:8330"))
        life = FetcherLife(0, 1, is_ready=True, in_flight=0, checks=0, restarts=0)
        self.state = LiveState(
            started_at=clock.now(),
            version="0",
            in_flight=0,
            checks=0,
            fetchers=(life,),
            renders=RenderSlots(8, 4),
        )
        self.demo = NoDemo()
        self.tried: list[str] = []
        self.bodies: dict[str, bytes | Exception] = {}
        self.received: list[str] = []
        self.on_trial: list[JsonObject] = []
        self.steps: tuple[StepResult, ...] = ()
        self.picture: PagePicture | None = None
        self.saved_, self.store = Saved(), cast("Store", None)
        self.unusable: dict[str, str] = {}
        self.node_ = "one"

    def configure(self, **http: Any) -> None:
        """Set keys of [http]."""
        self.settings_ = replace(self.settings_, http=replace(self.settings_.http, **http))

    @property
    def node(self) -> str:
        return self.node_

    def live(self) -> LiveState:
        return self.state

    def settings(self) -> Settings:
        return self.settings_

    def origins(self) -> Mapping[str, str]:
        return {}

    def saved(self) -> Saved:
        return self.saved_

    def unusable_routes(self) -> Mapping[str, str]:
        return self.unusable

    async def take_up(self) -> None:
        """Merge what is saved with what is configured, as the real one does."""
        before = self.saved_
        made = {entry.name for entry in before.channels}, {entry.name for entry in before.routes}
        configured = replace(
            self.settings_,
            channels={name: each for name, each in self.settings_.channels.items() if name not in made[0]},
            routes=tuple(route for route in self.settings_.routes if route.name not in made[1]),
        )
        self.saved_ = await self.store.saved()
        merged = merge(configured, self.saved_)
        self.settings_, self.unusable = merged.settings, dict(merged.unusable)

    def demand_route(self, route: RouteSettings) -> None:
        """Refuse a template that there is not."""
        if route.template == "gone.txt":
            raise SettingsError(f"routes.{route.name}.template: gone.txt: there is no such file")

    async def preview(self, name: str, event: JsonObject, route: str) -> MessagePreview:
        """Write the built-in message; a channel called broken has a template that fails."""
        message = message_of(event, "de" if route == "german" else "en")
        failed = "pager.json, line 3: 'tilte' is undefined" if name == "broken" else ""
        return MessagePreview(message, "application/json", '{"text": "…"}', failed)

    async def demand_channel(self, name: str, section: ChannelSettings) -> None:
        """Refuse what cannot be opened, and private.example, as the address policy would."""
        asides = SimpleNamespace(why_not=lambda: "")
        context = cast("ChannelContext", SimpleNamespace(session=None, clock=self.clock, dial=None, asides=asides))
        await open_channel(name, section, context).close()
        if "private.example" in section.address():
            raise SettingsError(f"channels.{name}: private.example is 10.0.0.7, which is private; allow it")

    async def try_channel(self, name: str, section: ChannelSettings | None = None) -> None:
        if section is None and name not in self.settings_.channels:
            raise UsageError(f"channels.{name}: there is no such channel")
        self.tried.append(name)

    async def receive(self, page: PageRow, *, is_trial: bool = False) -> Rendered:
        """Receive a page that was laid here."""
        self.on_trial += [page.settings] if is_trial else []
        self.received.append(page.url)
        body = self.bodies.get(page.url, b"<!doctype html><p>A page.")
        if isinstance(body, Exception):
            raise body
        now, title = self.clock.now(), re.search(rb"<title>([^<]*)", body)
        name = title[1].decode() if title is not None else None
        plain = (None, None)
        return Rendered(
            now,
            now,
            200,
            page.url,
            "text/html; charset=utf-8",
            name,
            body,
            plain,
            page.url,
            steps=self.steps,
            picture=self.picture,
        )

    def metrics(self) -> bytes:
        return b"tocsin_up 1\n"

    async def next_alert(self, after: int, timeout_s: float) -> None:
        del after, timeout_s


class Rig:
    """An application and those who ask it."""

    def __init__(self, app: Application, store: Store, service: StillService, clock: ManualClock) -> None:
        self.app, self.store, self.service, self.clock = app, store, service, clock
        self.telemetry: RecordingTelemetry = app.state.parts.telemetry

    @asynccontextmanager
    async def asking(
        self, token: str = "", *, client: tuple[str, int] = LOCAL, base: str = BASE
    ) -> AsyncIterator[httpx.AsyncClient]:
        """Give somebody who asks, with a token or without one; redirections are not followed."""
        transport = httpx.ASGITransport(self.app, raise_app_exceptions=False, client=client)
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        async with httpx.AsyncClient(transport=transport, base_url=base, headers=headers) as asked:
            yield asked

    async def token(self, scope: Scope, name: str = "") -> str:
        """Make a token; from then on everybody needs one."""
        secret = new_token()
        await self.store.add_token(name or scope.value, scope, digest_of(secret), self.clock.now())
        return secret


@asynccontextmanager
async def served(
    store: Store, clock: ManualClock | None = None, settings: Settings | None = None
) -> AsyncIterator[Rig]:
    """Serve a store inside."""
    clock = ManualClock()
    service = StillService(clock, settings)
    service.store = store
    await service.take_up()
    app = _application()
    app.state.parts = parts = Parts(store, service, clock, SeededChance(), RecordingTelemetry())
    app.state.stopping, app.state.doorkeeper = parts.stopping, Doorkeeper(parts)
    routes = list(app.router.routes)
    try:
        async with at_work(app):
            yield Rig(app, store, service, clock)
    finally:
        # Routes that a test has added go with it.
        app.router.routes[:] = routes


@cache
def _application() -> Application:
    """Make it once: its routes take a third of a second."""
    clock = ManualClock()
    # Everything here is exchanged by whoever uses it.
    app = make_app(Parts(cast("Store", None), StillService(clock), clock, SeededChance(), RecordingTelemetry()))
    # Described before any test adds routes of its own.
    app.openapi()
    return app
