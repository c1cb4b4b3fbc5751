"""The running service as the HTTP edge sees it."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING

import msgspec

from tocsin import __version__
from tocsin.adapters.metrics import Metrics
from tocsin.configuration import is_reloaded
from tocsin.errors import Disallowed, LeftAlone, NotAllowed, NotWatched, Postponed, SettingsError, Withdrawn
from tocsin.model import REFUSED_SETTINGS, AlertQuery, CrowdedHost, LiveState, PageTask, RenderJob, unread_channels

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tocsin.app.assembly import Assembly
    from tocsin.configuration import Loaded
    from tocsin.model import PageRow, Rendered
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
        told = engine.rounds.told
        fetchers = engine.lives()
        unwritten_s, unwritten_why = engine.unwritten
        return LiveState(
            started_at=self._started_at,
            version=__version__,
            in_flight=sum(fetcher.in_flight for fetcher in fetchers),
            checks=engine.checks,
            fetchers=fetchers,
            renders_limit=render.limit,
            renders_resume_at=render.resume_at,
            rendering=len(engine.renders.busy),
            outage_since=engine.outage.began_at,
            shortage=engine.shortage.error or None,
            put_off=engine.shortage.put_off,
            crowded=tuple(CrowdedHost(row.host, row.pages, row.round_s, row.wanted_s) for row in told.worst),
            crowded_hosts=told.hosts,
            late_s=engine.scheduler.late_s(),
            lag_s=engine.loop_time.lag_s,
            figures=engine.activity.figures,
            has_lease=engine.has_lease,
            unwritten_s=unwritten_s,
            unwritten_why=unwritten_why,
            unread_channels=tuple(unread_channels(self._settings)),
        )

    def settings(self) -> Settings:
        """See `ports.Service`."""
        return self._settings

    def origins(self) -> Mapping[str, str]:
        """See `ports.Service`."""
        return self._origins

    async def receive(self, page_id: int) -> Rendered:
        """See `ports.Service`."""
        page = await self._store.page_by_id(page_id)
        if page is None:
            raise NotWatched(f"page {page_id} is not on the list")
        job = RenderJob(page_id, major=False, since=self._clock.now(), verdicts=(), task=self._task_of(page))
        try:
            if self._engine.policies.of(job.task).mode == "off":
                mend = "turn it on first: its own mode, that of its group or of all pages"
                raise NotAllowed(page.url, "off", f"the page is off; {mend}")
            return await self._engine.renderer.render(job)
        except SettingsError as exc:
            raise NotAllowed(page.url, REFUSED_SETTINGS, str(exc)) from exc
        except Disallowed as exc:
            detail = f"forbidden by robots.txt: {exc.rule}; its site can change that, or hosts.rules for its host"
            raise NotAllowed(exc.url, "disallowed", detail, is_asked=exc.url != page.url) from exc
        except Postponed as exc:
            wait = timedelta(microseconds=max(exc.not_before - self._clock.now(), 0))
            raise LeftAlone(page.url, wait) from exc
        except Withdrawn as exc:
            raise NotAllowed(page.url, "paused", "the page is paused; resume it first") from exc

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

    def _task_of(self, page: PageRow) -> PageTask:
        _, groups = self._engine.policies.overrides
        # A group without settings of its own is not among them, and none are looked for under this number.
        group_id = next((number for number, (name, _) in groups.items() if name == page.group), -1)
        return PageTask(
            page_id=page.id,
            host_id=0,
            host=page.host,
            url=page.url,
            group_id=group_id,
            settings=page.settings or None,
            state=None,
            validators=None,
            last_set_at=None,
            last_checked_at=None,
            conditional_run=0,
            body_digest=None,
            secrets=page.secrets,
            group=page.group,
            text=page.text,
        )
