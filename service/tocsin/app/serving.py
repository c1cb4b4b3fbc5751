"""The running service as the HTTP edge sees it."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from tocsin import __version__
from tocsin.adapters.metrics import Metrics
from tocsin.configuration import is_reloaded
from tocsin.model import AlertQuery, CrowdedHost, CrowdedHosts, LiveState, RenderSlots, ShortageState, Unwritten
from tocsin.settings import unread_channels

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tocsin.app.assembly import Assembly
    from tocsin.configuration import Loaded
    from tocsin.ports import Clock, DemoDesk, Store
    from tocsin.settings import Settings


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
        self._settings, self._origins = loaded.settings, dict(loaded.origins)
        self._engine, self._store, self._clock = engine, store, clock
        self._started_at = clock.now()
        self._metrics = Metrics(engine.counts, lambda: engine.activity.alerts, self.live, clock.now)
        self.demo = demo

    def reload(self, settings: Settings, origins: Mapping[str, str]) -> None:
        """Take over what a running service can take up of another configuration."""
        render = msgspec.structs.replace(
            self._settings.render, limit=settings.render.limit, resume_at=settings.render.resume_at
        )
        http = msgspec.structs.replace(self._settings.http, tokens=settings.http.tokens)
        self._settings = msgspec.structs.replace(
            self._settings,
            pages=settings.pages,
            hosts=settings.hosts,
            render=render,
            http=http,
            channels=settings.channels,
        )
        kept = {key: value for key, value in self._origins.items() if not is_reloaded(key)}
        self._origins = kept | {key: value for key, value in origins.items() if is_reloaded(key)}

    def live(self) -> LiveState:
        """See `ports.Service`."""
        engine, render = self._engine, self._settings.render
        told = engine.host_capacity.told
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
            crowded=CrowdedHosts(
                told.hosts, tuple(CrowdedHost(row.host, row.pages, row.round_s, row.wanted_s) for row in told.worst)
            ),
            late_s=engine.scheduler.late_s(),
            lag_s=engine.loop_time.lag_s,
            figures=engine.activity.figures,
            has_lease=engine.has_lease,
            unwritten=Unwritten(*engine.unwritten),
            unread_channels=tuple(unread_channels(self._settings)),
        )

    def settings(self) -> Settings:
        """See `ports.Service`."""
        return self._settings

    def origins(self) -> Mapping[str, str]:
        """See `ports.Service`."""
        return self._origins

    async def try_channel(self, name: str) -> None:
        """See `ports.Service`."""
        await self._engine.try_channel(name)

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
