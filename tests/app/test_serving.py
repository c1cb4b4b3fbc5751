"""The running service as the HTTP edge sees it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.app.crew import PATIENCE_S
from tests.contract.desk import new_page
from tests.fakes import RecordingTelemetry
from tests.origin import Origin, Page
from tests.server.rig import NoDemo
from tocsin.adapters.channels.file import FileSettings
from tocsin.adapters.channels.webhook import WebhookSettings
from tocsin.adapters.system import SystemClock
from tocsin.app.assembly import Assembly, assemble, open_store_for
from tocsin.app.serving import RunningService
from tocsin.configuration import Loaded
from tocsin.errors import DeliveryError, SettingsError
from tocsin.ports import Store
from tocsin.settings import (
    HostSettings,
    NetworkSettings,
    PageSettings,
    RenderSettings,
    Settings,
    StoreSettings,
)


class Running:
    """A service whose engine is put together, and does nothing by itself."""

    def __init__(self, service: RunningService, engine: Assembly, store: Store, settings: Settings) -> None:
        self.service, self.engine, self.store, self.settings = service, engine, store, settings


@asynccontextmanager
async def running(folder: Path) -> AsyncIterator[Running]:
    settings = Settings(
        store=StoreSettings(url=f"sqlite:{folder / 'tocsin.db'}"),
        network=NetworkSettings(allow=("127.0.0.0/8",)),
        pages=PageSettings(min_gap=timedelta(0)),
        hosts=HostSettings(delay=timedelta(0)),
        channels={"journal": FileSettings(type="file", path=str(folder / "alerts.jsonl"))},
    )
    async with (
        open_store_for(settings, engine=True) as store,
        assemble(settings, store, RecordingTelemetry()) as engine,
    ):
        origins = {"pages.every": "default", "instance.name": "default"}
        service = RunningService(Loaded(settings, origins, None), engine, store, SystemClock(), NoDemo())
        yield Running(service, engine, store, settings)


async def test_a_channel_is_tried_and_an_unknown_one_is_named(tmp_path: Path) -> None:
    async with running(tmp_path) as made:
        await made.service.try_channel("journal")
        with pytest.raises(SettingsError, match=r"channels\.nobody"):
            await made.service.try_channel("nobody")

    assert "tocsin.channel.test.v1" in (tmp_path / "alerts.jsonl").read_text("utf-8")


async def test_an_alert_that_is_there_already_is_not_waited_for(tmp_path: Path) -> None:
    async with running(tmp_path) as made:
        await made.store.write_alert(made.engine._alerts.test_event("journal", SystemClock().now()))

        async with asyncio.timeout(PATIENCE_S):
            await made.service.next_alert(0, timeout_s=2 * PATIENCE_S)


async def test_whoever_waits_for_an_alert_is_woken_as_one_is_written(tmp_path: Path) -> None:
    async with running(tmp_path) as made, asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as group:
        waiting = group.create_task(made.service.next_alert(0, timeout_s=2 * PATIENCE_S))
        while not waiting.done():
            # It may still be asking the store.
            made.engine.bell.ring()
            await asyncio.sleep(0)


async def test_a_wait_for_alerts_ends_with_its_time(tmp_path: Path) -> None:
    async with running(tmp_path) as made, asyncio.timeout(PATIENCE_S):
        await made.service.next_alert(0, timeout_s=0.01)


async def test_what_is_live_costs_no_look_at_the_store(tmp_path: Path) -> None:
    async with running(tmp_path) as made:
        await made.store.close()

        live = made.service.live()

    assert (live.checks, live.in_flight, live.renders.taken, live.has_lease) == (0, 0, 0, False)
    assert [(life.number, life.is_ready) for life in live.fetchers] == [(0, True)]
    assert live.renders.limit == made.settings.render.limit


async def test_another_configuration_is_in_force_as_far_as_a_running_service_takes_it_up(tmp_path: Path) -> None:
    async with running(tmp_path) as made:
        new = replace(
            made.settings,
            pages=PageSettings(every=timedelta(hours=7)),
            render=RenderSettings(limit=3, resume_at=2),
            instance=replace(made.settings.instance, name="other"),
        )

        made.service.reload(new, {"pages.every": "tocsin.toml", "instance.name": "tocsin.toml"})

        settings = made.service.settings()
        assert (settings.pages.every, settings.render.limit, made.service.live().renders.limit) == (
            timedelta(hours=7),
            3,
            3,
        )
        assert settings.instance.name == made.settings.instance.name
        assert made.service.origins() == {"pages.every": "tocsin.toml", "instance.name": "default"}


async def test_what_another_process_saves_takes_effect_without_a_restart(tmp_path: Path) -> None:
    async with running(tmp_path) as made, asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as group:
        following = group.create_task(made.service.follow_saved())
        settings = {"type": "file", "path": str(tmp_path / "more.jsonl")}
        async with open_store_for(made.settings, engine=False) as other:
            await other.save_entry("channel", "more", settings, 0, who="kim", if_revision=0)
            await other.save_entry("route", "all", {"channels": ["more"]}, 0, who="kim", if_revision=0)
        while "more" not in made.service.settings().channels or not made.service.settings().routes:
            await made.store.saved_revision()
        await made.service.try_channel("more")
        following.cancel()

    assert "tocsin.channel.test.v1" in (tmp_path / "more.jsonl").read_text("utf-8")


async def test_a_muted_channel_is_given_nothing_but_can_be_tested_and_goes_on_afterwards(
    tmp_path: Path,
) -> None:
    journal = tmp_path / "alerts.jsonl"
    async with running(tmp_path) as made:
        await made.store.mute_channel("journal", 0, until_at=None, who="kim")
        await made.service.take_up()
        await made.store.write_alert(made.engine._alerts.test_event("journal", SystemClock().now()))
        await made.engine._delivery.drain(PATIENCE_S)
        assert not journal.exists()

        await made.service.try_channel("journal")
        assert len(journal.read_text("utf-8").splitlines()) == 1

        await made.store.unmute_channel("journal")
        await made.service.take_up()
        await made.engine._delivery.drain(PATIENCE_S)
        assert len(journal.read_text("utf-8").splitlines()) == 2


async def test_a_saved_channel_that_can_no_longer_be_opened_stops_no_other(tmp_path: Path) -> None:
    async with running(tmp_path) as made:
        lost = {"type": "file", "path": str(tmp_path / "gone" / "x.jsonl")}
        await made.store.save_entry("channel", "lost", lost, 0, who="kim", if_revision=0)
        await made.service.take_up()

        await made.service.try_channel("journal")
        assert "lost" in made.service.settings().channels


async def test_a_private_address_is_refused_when_a_channel_is_saved_and_when_it_is_tried(tmp_path: Path) -> None:
    section = WebhookSettings(type="webhook", url="http://10.0.0.7/hook", secret="raw:a-key-of-24-bytes-or-so")
    async with running(tmp_path) as made:
        with pytest.raises(SettingsError, match=r"10\.0\.0\.7"):
            await made.service.demand_channel("ops", section)
        with pytest.raises(DeliveryError, match=r"10\.0\.0\.7"):
            await made.service.try_channel("ops", section)


async def test_a_configuration_with_a_saved_name_is_refused_and_the_old_one_stays(tmp_path: Path) -> None:
    async with running(tmp_path) as made:
        out = {"type": "stdout"}
        await made.store.save_entry("channel", "out", out, 0, who="kim", if_revision=0)
        await made.service.take_up()
        new = replace(made.settings, channels={"out": FileSettings(type="file", path=str(tmp_path / "o"))})

        with pytest.raises(SettingsError, match=r"channels\.out: the configuration has"):
            await made.service.take_up(new)

        assert set(made.service.settings().channels) == {"journal", "out"}


async def test_a_page_is_received_as_its_rendering_would_receive_it_and_nothing_is_stored(tmp_path: Path) -> None:
    async with Origin() as origin, running(tmp_path) as made:
        origin.pages["/"] = Page("<p>A text.")
        await made.store.add_pages([new_page(origin.url("/"), settings={"headers": {"X-Desk": "7"}})], 0)
        row = await made.store.page_by_id(1)
        assert row is not None

        received = await made.service.receive(row)

        assert (received.body, received.final_url) == (b"<p>A text.", origin.url("/"))
        assert [asked.headers.get("x-desk") for asked in origin.log if asked.path == "/"] == ["7"]
        assert (await made.store.states_of(1)).rows == ()
