"""What the rows of size are measured on is what they say it is."""

from __future__ import annotations

import asyncio
import time
from contextlib import ExitStack, closing
from datetime import timedelta
from pathlib import Path
from shutil import copyfile
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest

from benchmarks.bench.memory import slope
from benchmarks.bench.processes import SizeSite
from benchmarks.bench.results import result_of
from benchmarks.bench.size_rows import demand_equal, differences, write_bare
from benchmarks.bench.size_running import run_once
from benchmarks.bench.size_site import BODY, ETAG, TYPE
from benchmarks.bench.size_stores import LARGE, URL_BYTES, Shape, make_store, postpone
from benchmarks.bench.storing import LATER, claimed
from tocsin.adapters.stores import open_store
from tocsin.adapters.stores.sqlite.connection import connect
from tocsin.engine.judging.assess import assess
from tocsin.model import Claim, PageFilter, PageTask
from tocsin.ports import Store

SHAPE = Shape(40, 4, hot=10)
PORT = 28_000


async def tasks_of(store: Store) -> tuple[Claim, list[PageTask]]:
    claim = await claimed(store)
    hosts = [host async for host, _ in await store.host_agenda(claim, since_revision=None)]
    return claim, await store.due_pages(claim, hosts, LATER, per_host=100)


def test_a_shape_has_urls_of_one_length_and_so_many_hosts() -> None:
    shape = Shape.usual(LARGE)

    urls = [shape.url(number, PORT) for number in range(shape.pages)]

    assert {len(url) for url in urls} == {URL_BYTES}
    assert len(set(urls)) == shape.pages
    assert len({urlsplit(url).hostname for url in urls}) == shape.hosts


def test_a_tenth_of_a_wide_shape_is_on_one_host() -> None:
    shape = Shape.wide(LARGE)

    hosts = [shape.host(number) for number in range(shape.pages)]

    assert LARGE // 10 <= hosts.count(shape.host(0)) <= LARGE // 9


def test_the_site_s_page_has_200_bytes_of_values() -> None:
    values = assess("", BODY, TYPE, None, None).state.values

    assert sum(len(value or "") for value in values) == 200


async def test_a_store_has_every_page_with_the_state_that_the_site_shows(tmp_path: Path) -> None:
    path = await make_store(SHAPE, PORT, tmp_path)

    async with await open_store(f"sqlite:{path}", engine=True) as store:
        _, tasks = await tasks_of(store)

    values = assess("", BODY, TYPE, None, None).state.values
    assert {task.url for task in tasks} == {SHAPE.url(number, PORT) for number in range(SHAPE.pages)}
    assert {task.state.fields for task in tasks if task.state is not None} == {values}
    assert {task.last.validators.etag for task in tasks if task.last.validators is not None} == {ETAG.decode()}


async def test_a_store_of_yesterday_is_overdue_at_a_start(tmp_path: Path) -> None:
    path = await make_store(SHAPE, PORT, tmp_path)

    postpone(path)

    async with await open_store(f"sqlite:{path}", engine=True) as store:
        claim = await claimed(store)
        moved = await store.spread_overdue(claim, time.time_ns() // 1000, at_launch=timedelta(hours=1), cron="")
        assert moved == await store.count_pages(PageFilter()) == SHAPE.pages


@pytest.mark.parametrize("changed", [False, True])
async def test_the_same_rows_written_bare_are_the_same(tmp_path: Path, changed: bool) -> None:  # noqa: FBT001 - a case
    path = await make_store(SHAPE, PORT, tmp_path)
    copyfile(path, tmp_path / "bare.db")
    async with await open_store(f"sqlite:{path}", engine=True) as store:
        claim, tasks = await tasks_of(store)
        with ExitStack() as opened:
            ours, bare = (
                opened.enter_context(closing(connect(str(at), busy=timedelta(seconds=5), writes=True)))
                for at in (path, tmp_path / "bare.db")
            )

            await store.commit(claim, [result_of(task, 1, changed=changed) for task in tasks])

            with pytest.raises(RuntimeError, match="the rows of pages"):
                demand_equal(ours, bare)
            for statements in differences(ours, bare, [[task.page_id for task in tasks]]):
                write_bare(bare, statements, durable=changed)
            demand_equal(ours, bare)


async def test_an_unchanged_page_is_one_row_in_one_table(tmp_path: Path) -> None:
    path = await make_store(SHAPE, PORT, tmp_path)
    copyfile(path, tmp_path / "bare.db")
    async with await open_store(f"sqlite:{path}", engine=True) as store:
        claim, tasks = await tasks_of(store)
        await store.commit(claim, [result_of(task, 1, changed=False) for task in tasks])

    with (
        closing(connect(str(path), busy=timedelta(seconds=5), writes=True)) as ours,
        closing(connect(str(tmp_path / "bare.db"), busy=timedelta(seconds=5), writes=True)) as bare,
    ):
        (statements,) = differences(ours, bare, [[task.page_id for task in tasks]])

    assert [(text.split(" set ")[0], len(rows)) for text, rows in statements] == [("update pages", SHAPE.pages)]


def test_a_slope_is_that_of_the_line_through_its_points() -> None:
    assert slope([(0, 5.0), (10, 7.0), (20, 9.0)]) == pytest.approx(0.2)


async def test_the_site_lets_requests_wait_until_it_is_told_to_answer() -> None:
    def get(url: str) -> bytes:
        with urlopen(Request(url)) as answer:  # noqa: S310 - our own site
            body: bytes = answer.read()
            return body

    async with SizeSite() as site, asyncio.TaskGroup() as group:
        await site.ask("hold")
        asking = group.create_task(asyncio.to_thread(get, f"http://127.0.0.1:{site.port}/1"), name="asking")
        while not (await site.ask("stats"))["held"]:
            assert not asking.done()
        await site.ask("release")

        assert await asking == BODY


async def test_two_rows_that_want_one_port_have_a_site_each() -> None:
    async with SizeSite() as site, SizeSite(site.port) as other:
        assert other.port not in {0, site.port}
        assert (await other.ask("stats"))["pages"] == 0


async def test_a_running_service_is_measured() -> None:
    async with SizeSite() as site:
        run = await run_once(site, SHAPE, 30)

    assert 0 < run.start_s < run.first_s
    assert run.main_mb > 1
