"""What misbehaving servers sent is let go of with the failure that it became, not when somebody tidies up."""

from __future__ import annotations

import asyncio
import gc
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from random import Random
from urllib.parse import urlsplit

import msgspec
import pytest

from tests.hostile.behaviour import KIBI, MEBI, PLENTY_S, UNCHANGED, Answer, Behaviour
from tests.hostile.leaks import leaving_nothing_behind, watch_memory
from tests.hostile.meeting import GRACE_S
from tests.hostile.rig import Rig, limits
from tests.hostile.site import Site
from tests.hostile.tree_table import CREATED
from tests.hostile.wording import CHUNKED, END, OK, TYPE, answer, coded, many, spun, then_hold, unframed, zipped
from tests.origin import TURNS
from tocsin.adapters.http.bodies import room_for_bodies

LONG = b"x" * (MEBI - 1)
SIZED = OK + TYPE + b"Content-Length: %d\r\n\r\n" % MEBI
NOISE = zipped(Random(1).randbytes(900 * KIBI))  # noqa: S311 - the same bytes each time
PLENTY = 50
SPARE_BYTES = 16 * MEBI
PIECE_BYTES = 64 * KIBI
BUFFER_BYTES = 256 * KIBI
"""What a connection may have read ahead."""
LAST_PIECE_BYTES = 3 * BUFFER_BYTES
"""What came last may still be named by the failure, and is less than the body."""


@pytest.fixture
def untidied() -> Iterator[None]:
    """Nothing is collected but what nobody refers to."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("untidied")
@pytest.mark.parametrize(
    ("page", "kind"),
    [
        pytest.param(then_hold(SIZED + LONG), "timeout", id="never ends"),
        pytest.param(then_hold(coded(b"gzip", NOISE)[:-1]), "timeout", id="never ends, coded"),
        pytest.param(SIZED + LONG, "protocol", id="cut off"),
        pytest.param(
            OK + TYPE + CHUNKED + END + b"f0000\r\n" + LONG[:0xF0000] + b"\r\nzz\r\n", "protocol", id="a broken chunk"
        ),
        pytest.param(unframed(LONG * 2), "too-large", id="too long"),
        pytest.param(coded(b"gzip", zipped(bytes(4 * MEBI))), "too-large", id="a bomb"),
        pytest.param(coded(b"gzip", NOISE + b"more"), "decode", id="garbage behind"),
        pytest.param(spun(many(60_000, b"<html a%d=b>"), CREATED), "too-complex", id="too complex"),
        pytest.param(answer(b"", b"X: " + b"y" * 9_000), "empty", id="empty"),
    ],
)
async def test_the_body_of_a_page_that_failed_is_let_go_of_at_once(page: Answer, kind: str, tmp_path: Path) -> None:
    total_s = 1.0 if kind == "timeout" else PLENTY_S
    behaviour = Behaviour("fails", page, UNCHANGED, total_s=total_s, max_body=MEBI, max_wire=MEBI)
    async with Rig.at(tmp_path) as rig, Site(behaviour) as site:
        await rig.watch(site.url)
        # What a process loads at its first check stays: whichever test is its first would count that.
        await rig.check(fetch=limits(behaviour))
        await site.misbehave()
        tracemalloc.start()
        before, _ = tracemalloc.get_traced_memory()

        (report,) = await rig.check(fetch=limits(behaviour))

        after, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert report.error is not None
        assert report.error[0] == kind
        assert after - before < LAST_PIECE_BYTES


async def test_hosts_that_hoard_what_they_send_take_no_more_memory_than_all_bodies_may(
    tmp_path: Path, hasten: Callable[[float], None]
) -> None:
    awaited: set[str] = set()
    done = asyncio.Event()

    def end(host: str) -> None:
        awaited.discard(host)
        if not awaited:
            done.set()

    async def hoard(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for at in range(0, len(SIZED + LONG), PIECE_BYTES):
            writer.write((SIZED + LONG)[at : at + PIECE_BYTES])
            await writer.drain()
            for _ in range(TURNS):
                # Until the other side has taken it.
                await asyncio.sleep(0)
        end(writer.get_extra_info("sockname")[0])
        await reader.read()

    hoards = Behaviour("hoards", hoard, UNCHANGED, max_body=MEBI, max_wire=MEBI)
    well = Behaviour("well", b"", UNCHANGED)
    fetch = msgspec.structs.replace(limits(hoards), in_flight=2 * PLENTY)
    async with leaving_nothing_behind(), Rig.at(tmp_path) as rig, AsyncExitStack() as sites:
        hoarding = [await sites.enter_async_context(Site(hoards, host=f"127.0.1.{n}")) for n in range(1, PLENTY + 1)]
        healthy = await sites.enter_async_context(Site(well))
        await rig.watch(*(site.url for site in hoarding), healthy.url)
        for site in hoarding:
            await site.misbehave()

        grown = watch_memory()
        awaited |= {host_of(site.url) for site in (*hoarding, healthy)}
        async with asyncio.timeout(PLENTY_S + GRACE_S), asyncio.TaskGroup() as group:
            checking = group.create_task(rig.check(fetch=fetch, heard=lambda report: end(host_of(report.url))))
            # Every page is done but those whose host holds back its last byte.
            await done.wait()
            hasten(PLENTY_S)
        reports, peak = checking.result(), grown()

        kinds = Counter(report.error[0] if report.error else None for report in reports)
        assert set(kinds) == {"too-large", "timeout", None}
        assert kinds[None] == 1
        assert room_for_bodies(fetch) < PLENTY * MEBI
        assert peak <= room_for_bodies(fetch) + PLENTY * BUFFER_BYTES + SPARE_BYTES


def host_of(url: str) -> str:
    return urlsplit(url).hostname or ""
