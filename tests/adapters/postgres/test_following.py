"""Nodes notice what others publish: by a notification, and without one by a look."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager, suppress
from datetime import timedelta

import pytest

from tests.contract.desk import NOW, Desk, alert
from tests.postgres import postgres
from tocsin.adapters.stores import open_store
from tocsin.adapters.stores.postgres import connection
from tocsin.errors import StoreError

PATIENCE_S = 60


class News:
    """Counts the calls of somebody who follows."""

    def __init__(self) -> None:
        self.number = 0
        self._came = asyncio.Event()

    def __call__(self) -> None:
        self.number += 1
        self._came.set()

    async def next(self) -> None:
        """Wait for a call that has not been waited for."""
        await self._came.wait()
        self._came.clear()


@asynccontextmanager
async def following(desk: Desk) -> AsyncIterator[News]:
    """Follow the alerts of another process inside."""
    news = News()
    async with (
        await open_store(desk.behind.url, engine=False) as other,
        asyncio.timeout(PATIENCE_S),
        asyncio.TaskGroup() as group,
    ):
        task = group.create_task(other.follow_alerts(news))
        # It listens by now.
        await news.next()
        yield news
        task.cancel()


async def test_an_alert_that_another_process_publishes_is_noticed_at_once(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "LOOK_S", PATIENCE_S)
    async with following(desk) as news:
        await desk.store.write_alert(alert("first", None))

        await news.next()


def without_notification(desk: Desk) -> None:
    """Let no notification come, as where a connection is lost in between."""
    desk.behind.alter("alter table alerts disable trigger alerts_came")


def with_a_restart(_desk: Desk) -> None:
    """Take all connections away."""
    postgres().restart()


@pytest.mark.parametrize("trouble", [without_notification, with_a_restart])
async def test_an_alert_without_its_notification_is_noticed_by_a_look(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, trouble: Callable[[Desk], None]
) -> None:
    monkeypatch.setattr(connection, "LOOK_S", 0.05)
    async with following(desk) as news:
        trouble(desk)
        try:
            with suppress(StoreError):
                # The store's own connection was lost, too.
                await desk.store.interrupt_jobs(NOW)
            await desk.store.write_alert(alert("first", None))
            await news.next()
        finally:
            desk.behind.alter("alter table alerts enable trigger alerts_came")


async def test_an_edit_is_looked_for_only_after_a_notification_and_each_few_seconds(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "LOOK_S", PATIENCE_S)
    await desk.store.foreign_revision()
    desk.behind.alter("alter table store disable trigger revision_came")
    try:
        desk.behind.alter("update store set revision = revision + 1")
        unnoticed = await desk.store.foreign_revision()
        monkeypatch.setattr(connection, "LOOK_S", 0)
        noticed = await desk.store.foreign_revision()
    finally:
        desk.behind.alter("alter table store enable trigger revision_came")

    assert unnoticed is None
    assert noticed is not None


async def test_a_notification_that_comes_while_the_one_before_is_handled_does_not_keep_the_loop_busy(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop, watched = asyncio.get_running_loop(), list[int]()
    add, remove, waits = loop.add_reader, loop.remove_reader, asyncio.Event()

    def watch(number: int, callback: Callable[[], None]) -> None:
        watched.append(number)
        waits.set()
        add(number, callback)

    def leave(number: int) -> bool:
        if number in watched:
            watched.remove(number)
        return remove(number)

    monkeypatch.setattr(loop, "add_reader", watch)
    monkeypatch.setattr(loop, "remove_reader", leave)
    place = connection.PostgresPlace(desk.behind.url, timedelta(seconds=1))
    async with aclosing(connection.notifications(place, "alerts")) as each:
        begun = await anext(each), list(watched)
        async with asyncio.TaskGroup() as group:
            coming = group.create_task(anext(each))
            await waits.wait()
            await desk.store.write_alert(alert("first", None))

        assert (begun, coming.result(), watched) == ((True, []), True, [])
