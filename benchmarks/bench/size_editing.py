"""All pages edited, paused and removed in small steps, while a service checks them."""

from __future__ import annotations

import asyncio
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.bench.measure import Aim, figure
from benchmarks.bench.size_asking import SizeSite
from benchmarks.bench.size_running import reached
from benchmarks.bench.size_service import Service
from benchmarks.bench.size_stores import Shape, make_store, site_port
from tocsin.adapters.stores import open_store
from tocsin.model import PageFilter

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from benchmarks.bench.measure import Figure, Sizes
    from tocsin.ports import Store

    Edit = Callable[[Store, list[int], Callable[[int], None]], Awaitable[int]]

_BEFORE_S = 4.0
_STEP = 1000
_LONGEST_MS = 1000
"""A tenth of what others wait for the store before they give up."""


class _Edited(NamedTuple):
    """How many pages it was, how long it took, its longest step, and checks a second before and meanwhile."""

    pages: int
    whole_s: float
    longest_ms: float
    rate_before: float
    rate: float


async def measure(sizes: Sizes) -> list[Figure]:
    """Edit all pages of the longest list, pause half of them, and remove those."""
    pages = sizes.watched[-1]
    lines = []
    async with SizeSite(port=site_port()) as site:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            path = await make_store(Shape.usual(pages), site.port, folder)
            async with Service(folder) as service, await open_store(f"sqlite:{path}", engine=False) as store:
                await reached(site, service, sizes.checks)
                for what, edit, share in (("set", _set, 1.0), ("paused", _pause, 0.5), ("removed", _remove, 0.5)):
                    service.demand_running()
                    seen = await _edit(store, site, edit, int(pages * share), _BEFORE_S if pages > _STEP else 0.5)
                    lines += _figures(what, seen)
            if troubles := service.troubles():
                raise RuntimeError(f"the service had trouble: {troubles[:3]}")
    return lines


def _figures(what: str, seen: _Edited) -> list[Figure]:
    started = f"{seen.pages:,} pages {what} while checking goes on"
    return [
        figure(started, [seen.whole_s], "s"),
        figure("… longest step", [seen.longest_ms], "ms", aim=Aim("<=", _LONGEST_MS)),
        figure("… checks meanwhile", [seen.rate], "1/s", beside="before", reference=[seen.rate_before]),
    ]


async def _edit(store: Store, site: SizeSite, edit: Edit, pages: int, before_s: float) -> _Edited:
    rate_before = await _rate(site, asyncio.sleep(before_s))
    steps = [time.perf_counter()]
    whole: list[int] = []

    async def all_of_them() -> None:
        last_id, after = await store.last_page_id(), 0
        while sum(whole) < pages:
            some = await store.page_ids(PageFilter(), last_id=last_id, after_id=after, limit=_STEP)
            # What the reading took is no part of a step.
            steps.append(time.perf_counter())
            whole.append(await edit(store, some, lambda _pages: steps.append(time.perf_counter())))
            after = some[-1]

    rate = await _rate(site, all_of_them())
    longest = max(later - earlier for earlier, later in pairwise(steps))
    return _Edited(sum(whole), steps[-1] - steps[0], longest * 1000, rate_before, rate)


async def _rate(site: SizeSite, work: Awaitable[None]) -> float:
    """Checks a second, as the site sees them, for as long as this takes."""
    began, before = time.perf_counter(), (await site.ask("stats"))["pages"]
    await work
    seen = (await site.ask("stats"))["pages"] - before
    return float(seen / (time.perf_counter() - began))


async def _set(store: Store, page_ids: list[int], on_step: Callable[[int], None]) -> int:
    return await _change(store, page_ids, on_step, settings={"every": "2s"}, paused=None)


async def _pause(store: Store, page_ids: list[int], on_step: Callable[[int], None]) -> int:
    return await _change(store, page_ids, on_step, settings={}, paused=True)


async def _change(
    store: Store,
    page_ids: list[int],
    on_step: Callable[[int], None],
    *,
    settings: dict[str, str],
    paused: bool | None,
) -> int:
    return await store.edit_pages(
        page_ids,
        time.time_ns() // 1000,
        settings=settings,
        unset=(),
        paused=paused,
        group=None,
        text=None,
        clear_text=False,
        on_step=on_step,
    )


async def _remove(store: Store, page_ids: list[int], on_step: Callable[[int], None]) -> int:
    return await store.remove_pages(page_ids, on_step=on_step)
