"""The running service as the HTTP edge sees it."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import msgspec

from tocsin import __version__
from tocsin.adapters.metrics import Metrics
from tocsin.configuration import is_reloaded
from tocsin.engine.hosts.duties import LEADER
from tocsin.errors import SettingsError, StoreError
from tocsin.events import Happening
from tocsin.model import AlertQuery, LiveState, PageTask, RenderJob, RenderSlots, ShortageState, Unwritten
from tocsin.model.saved import merge
from tocsin.settings import unread_channels
from tocsin.spec.html.urls import host_and_origin

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tocsin.app.assembly import Assembly
    from tocsin.configuration import Loaded
    from tocsin.model import JsonObject, MessagePreview, PageRow, Rendered, Saved
    from tocsin.ports import Clock, DemoDesk, Store
    from tocsin.settings import ChannelSettings, RouteSettings, Settings


# How soon a running service notices what a command saved.
_FOLLOW_S: Final = 1.0


def _with_channels(settings: Settings, others: Settings) -> Settings:
    """Return settings with the channels, routes, silences and templates of others."""
    return msgspec.structs.replace(
        settings,
        delivery=msgspec.structs.replace(settings.delivery, plugins=others.delivery.plugins),
        messages=others.messages,
        channels=others.channels,
        routes=others.routes,
        silences=others.silences,
    )


class RunningService:
    """Implements `ports.Service` from an assembly.

    demo  the demo site's switch
    """

    def __init__(
        self,
        loaded: Loaded,
        engine: Assembly,
        store: Store,
        clock: Clock,
        demo: DemoDesk,
    ) -> None:
        self._configured, self._origins = loaded.settings, dict(loaded.origins)
        self._merged, self._saved = engine.merged, engine.saved
        self._muted, self._refused = frozenset(engine.saved.muted(clock.now())), -1
        self._turn = asyncio.Lock()
        self._engine, self._store, self._clock = engine, store, clock
        self._started_at = clock.now()
        self._metrics = Metrics(
            engine.counts, lambda: engine.activity.alerts, self.live, clock.now, leads=engine.duties.of(LEADER)
        )
        self.demo = demo

    @property
    def _settings(self) -> Settings:
        return self._merged.settings

    async def take_up(self, configured: Settings | None = None) -> None:
        """Let channels and routes that were saved take effect, and those of another configuration.

        Raises SettingsError: then nothing has changed.
        """
        async with self._turn:
            saved, now = await self._store.saved(), self._clock.now()
            base = _with_channels(self._configured, configured or self._configured)
            merged = merge(base, saved)
            await self._engine.change_channels(merged.settings, saved)
            self._configured, self._merged, self._saved = base, merged, saved
            self._muted = frozenset(saved.muted(now))

    async def follow_saved(self) -> None:
        """Take up what a command saves, and let mutes end, within a second."""
        while True:
            await self._clock.sleep(_FOLLOW_S)
            revision = -1
            try:
                revision = await self._store.saved_revision()
                is_muted_else = frozenset(self._saved.muted(self._clock.now())) != self._muted
                if revision not in {self._saved.revision, self._refused} or is_muted_else:
                    await self.take_up()
            except StoreError:
                # The next look reads it.
                continue
            except SettingsError as exc:
                self._refused = revision
                self._engine.telemetry.emit(Happening("saved.refused", "error", {"error": str(exc)}))

    async def follow_alerts(self) -> None:
        """Notice the alerts that other nodes publish."""
        await self._store.follow_alerts(self._engine.announced)

    def reload(self, settings: Settings, origins: Mapping[str, str]) -> None:
        """Take over what a running service can take up of another configuration; `take_up` does it for channels."""
        render = msgspec.structs.replace(
            self._settings.render, limit=settings.render.limit, resume_at=settings.render.resume_at
        )
        http = msgspec.structs.replace(self._settings.http, tokens=settings.http.tokens)
        self._configured = msgspec.structs.replace(
            self._configured, pages=settings.pages, hosts=settings.hosts, render=render, http=http
        )
        self._merged = msgspec.structs.replace(
            self._merged,
            settings=_with_channels(self._configured, self._merged.settings),
        )
        kept = {key: value for key, value in self._origins.items() if not is_reloaded(key)}
        self._origins = kept | {key: value for key, value in origins.items() if is_reloaded(key)}

    def saved(self) -> Saved:
        """See `ports.Service`."""
        return self._saved

    def unusable_routes(self) -> Mapping[str, str]:
        """See `ports.Service`."""
        return self._merged.unusable

    @property
    def node(self) -> str:
        """See `ports.Service`."""
        return self._engine.node

    def live(self) -> LiveState:
        """See `ports.Service`."""
        engine, render = self._engine, self._settings.render
        fetchers = engine.lives()
        return LiveState(
            started_at=self._started_at,
            version=__version__,
            in_flight=sum(fetcher.in_flight for fetcher in fetchers),
            checks=engine.checks,
            fetchers=fetchers,
            renders=RenderSlots(render.limit, render.resume_at, len(engine.renders.busy)),
            outage_since=engine.outage.began_at,
            shortage=ShortageState(engine.shortage.error or None, engine.shortage.put_off),
            crowded=engine.crowded,
            late_s=engine.scheduler.late_s(),
            lag_s=engine.loop_time.lag_s,
            figures=engine.activity.figures,
            has_lease=engine.has_lease,
            unwritten=Unwritten(*engine.unwritten),
            unread_channels=tuple(unread_channels(self._settings)),
            node=engine.node,
            parts=engine.parts[0],
        )

    def settings(self) -> Settings:
        """See `ports.Service`."""
        return self._settings

    def origins(self) -> Mapping[str, str]:
        """See `ports.Service`."""
        return self._origins

    async def try_channel(self, name: str, section: ChannelSettings | None = None) -> None:
        """See `ports.Service`."""
        if section is None and name in self._muted:
            section = self._settings.channels.get(name)
        await self._engine.try_channel(name, section)

    def demand_route(self, route: RouteSettings) -> None:
        """See `ports.Service`."""
        self._engine.demand_route(route)

    async def preview(self, name: str, event: JsonObject, route: str) -> MessagePreview:
        """See `ports.Service`."""
        return await self._engine.preview(name, self._settings.channels[name], event, route)

    async def demand_channel(self, name: str, section: ChannelSettings) -> None:
        """See `ports.Service`."""
        await self._engine.demand_channel(name, section)

    async def receive(self, page: PageRow, *, is_trial: bool = False) -> Rendered:
        """See `ports.Service`."""
        _, groups = await self._store.overrides()
        group_id = next((each for each, (name, _) in groups.items() if name == page.group), 0)
        host = host_and_origin(page.url)[0]
        task = PageTask(page.id, 0, host, page.url, group_id, page.settings, None, secrets=page.secrets)
        return await self._engine.renderer.render(
            RenderJob(page.id, major=False, since=self._clock.now(), verdicts=(), task=task, is_trial=is_trial)
        )

    def metrics(self) -> bytes:
        """See `ports.Service`."""
        return self._metrics.text()

    async def next_alert(self, after: int, timeout_s: float) -> None:
        """See `ports.Service`."""
        rung = self._engine.bell.next()
        latest = await self._store.browse_alerts(AlertQuery(), limit=1)
        if latest.rows and latest.rows[0].position > after:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await rung.wait()
