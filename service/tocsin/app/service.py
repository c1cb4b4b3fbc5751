"""The service: it runs until a signal stops it, and reloads its configuration at SIGHUP."""

from __future__ import annotations

import asyncio
import signal
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from tocsin.adapters.demo_site import ReservedPort
from tocsin.adapters.processes.starting import EarlyStarter, LocalStarter
from tocsin.adapters.system import SystemClock
from tocsin.adapters.telemetry import LogTelemetry
from tocsin.app.edge import Edge
from tocsin.app.ending import StopSignal
from tocsin.app.executing import fetchers_of, leave_loaded_alone
from tocsin.configuration import needs_restart
from tocsin.errors import SettingsError
from tocsin.events import Happening
from tocsin.server.access.auditing import current_request_id

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from tocsin.app.assembly import Assembly
    from tocsin.app.serving import RunningService
    from tocsin.configuration import Loaded
    from tocsin.ports import Telemetry
    from tocsin.settings import Settings

# Twice what a stop may take on a busy machine, and less than compose.yaml grants it.
LONGEST_STOP_S = 25.0


async def run(load: Callable[[], Loaded]) -> None:
    """Serve until SIGTERM or SIGINT; SIGHUP reads the configuration again.

    load  reads the configuration; raises SettingsError
    """
    loaded = load()
    settings = loaded.settings
    telemetry = LogTelemetry(settings.log, request_id=current_request_id)
    if not settings.instance.contact:
        mend = "set instance.contact to an address or URL, so that those whose pages you ask for can reach you"
        telemetry.emit(Happening("instance.no_contact", "warning", {"mend": mend}))
    for doubt in loaded.doubts:
        telemetry.emit(Happening("configuration.doubt", "warning", {"doubt": doubt}))
    ending, reloading = StopSignal(telemetry, LONGEST_STOP_S), asyncio.Event()
    stopping, loop = ending.stopping, asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ending.stop)
    loop.add_signal_handler(signal.SIGHUP, reloading.set)
    starter, fetchers = EarlyStarter(LocalStarter()), fetchers_of(settings)
    async with _edge(settings, stopping, telemetry) as edge, starter.ahead(fetchers):
        # They load their program while we load ours, and open the store.
        from tocsin.app.assembly import assemble, open_store_for  # noqa: PLC0415 - see above
        from tocsin.app.demo import DemoSwitch  # noqa: PLC0415 - see above
        from tocsin.app.serving import RunningService  # noqa: PLC0415 - see above

        leave_loaded_alone()
        async with open_store_for(settings, engine=True, telemetry=telemetry) as store:
            if edge is not None:
                await edge.settle(store, SystemClock().now())
            place = ReservedPort()
            demo = DemoSwitch(place, store, SystemClock(), telemetry)
            async with (
                demo.running(),
                assemble(
                    settings, store, telemetry, fetchers=fetchers, starter=starter, demo_port=place.port
                ) as engine,
                asyncio.TaskGroup() as group,
            ):
                service = RunningService(loaded, engine, store, SystemClock(), demo)
                declare = partial(edge.declare, store=store) if edge is not None else None
                rereading = _reload(load, loaded, service, engine, reloading, telemetry, declare)
                watching = group.create_task(rereading, name="reload")
                following = group.create_task(service.follow_saved(), name="follow-saved")
                showing = group.create_task(demo.follow(), name="follow-demo")
                noticing = group.create_task(service.follow_alerts(), name="follow-alerts")
                if edge is not None:
                    edge.open(service, store, engine.telemetry)
                await engine.runner.serve(stopping, at_launch=settings.pages.at_launch, cron=settings.pages.cron)
                watching.cancel()
                following.cancel()
                noticing.cancel()
                showing.cancel()
                if edge is not None:
                    # Requests under way still need the store.
                    await edge.ended()


@asynccontextmanager
async def _edge(settings: Settings, stopping: asyncio.Event, telemetry: Telemetry) -> AsyncIterator[Edge | None]:
    """Keep the HTTP edge going inside, where one is wanted; raises SettingsError if its address is not available."""
    if not settings.http.listen:
        yield None
        return
    edge = Edge(settings.http, stopping, telemetry)
    async with asyncio.TaskGroup() as group:
        group.create_task(edge.run(), name="http")
        yield edge


async def _reload(
    load: Callable[[], Loaded],
    loaded: Loaded,
    service: RunningService,
    engine: Assembly,
    reloading: asyncio.Event,
    telemetry: Telemetry,
    declare: Callable[..., Awaitable[None]] | None,
) -> None:
    """Take up another configuration at each SIGHUP; a bad one leaves the old one in force."""
    settings, file = loaded.settings, loaded.file
    while True:
        await reloading.wait()
        reloading.clear()
        try:
            read = load()
            new = _still_there(read, file)
            await service.take_up(new)
        except SettingsError as exc:
            telemetry.emit(
                Happening("configuration.refused", "error", {"error": str(exc), "mend": "the old one stays"})
            )
            continue
        restart = needs_restart(settings, new)
        engine.policies.configure(new.pages)
        engine.gates.configure(new.hosts)
        if engine.fetchers is not None:
            engine.fetchers.configure(new.hosts)
        engine.renders.configure(new.render)
        engine.host_capacity.configure(new.pages, new.hosts)
        engine.clock_watch.configure(new.hosts)
        engine.scheduler.reconfigure()
        service.reload(new, read.origins)
        if declare is not None:
            await declare(new.http, now=SystemClock().now())
        values = {"needs_restart": restart}
        telemetry.emit(Happening("configuration.read", "warning" if restart else "info", values))
        # What needs a restart keeps its old value, so that it is named again the next time.
        http = msgspec.structs.replace(settings.http, tokens=new.http.tokens)
        settings = msgspec.structs.replace(
            settings,
            pages=new.pages,
            hosts=new.hosts,
            http=http,
            messages=new.messages,
            channels=new.channels,
            routes=new.routes,
            silences=new.silences,
        )


def _still_there(new: Loaded, file: Path | None) -> Settings:
    """Give the settings that were read anew; a file that was in force and is gone is no wish for all defaults."""
    if file is not None and new.file is None:
        raise SettingsError(f"{file}: the configuration file is gone; put it back, or stop the service")
    return new.settings
