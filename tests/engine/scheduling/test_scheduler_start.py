"""Checking begins before the agenda of a large store is read to its end."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from tests.builders import html
from tests.engine.visiting.checking import engine_on, many
from tocsin.engine.scheduling.scheduler import HOSTS_A_LOOK

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tocsin.engine.scheduling.scheduler import Scheduler
    from tocsin.model import Instant
    from tocsin.ports import Store

MUCH_LATER = 2**60


class EndlessAgenda:
    """A store whose agenda begins with the hosts that it has, and goes on until somebody has seen enough."""

    def __init__(self, store: Store, enough: asyncio.Event) -> None:
        self._store, self._enough = store, enough

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def host_agenda(self, *given: Any, **named: Any) -> AsyncIterator[tuple[int, Instant]]:
        """The hosts of the store, then others that nothing is due of."""
        of_store = [entry async for entry in await self._store.host_agenda(*given, **named)]

        async def entries() -> AsyncIterator[tuple[int, Instant]]:
            for entry in of_store:
                yield entry
            for host_id in range(1000, 1000 + HOSTS_A_LOOK):
                yield host_id, MUCH_LATER
            await self._enough.wait()

        return entries()


def read_from(scheduler: Scheduler, store: Any) -> None:
    """Let a scheduler read its agenda from another store."""
    scheduler._store = store


async def test_a_page_is_checked_before_the_last_host_is_read(tmp_path: Path) -> None:
    urls = many(3, 2)
    async with engine_on(tmp_path, urls, requested=False) as engine, asyncio.timeout(60), asyncio.TaskGroup() as group:
        enough, stopping = asyncio.Event(), asyncio.Event()
        read_from(engine.scheduler, EndlessAgenda(engine.store, enough))
        for url in urls:
            engine.web.page(url, html(created="1"))
        group.create_task(engine.run(stopping))
        while not any(engine.web.asked(url) for url in urls):  # noqa: ASYNC110 - the web tells nobody
            await asyncio.sleep(0)

        assert not enough.is_set()

        enough.set()
        stopping.set()
