"""What takes the interpreter for long is done in another process, which may die of it."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import icalendar
import msgspec
import pytest

from tests.app.crew import PATIENCE_S
from tests.conftest import ROOT
from tests.fakes import settle
from tests.server.diary import BODY, page
from tocsin.adapters.processes.aside import ProcessAside
from tocsin.errors import ProcessError, TooComplex
from tocsin.server.converting import Done, OfPage, Refused, Written, perform, read_wanted

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

AT = 1_795_000_000_000_000


@pytest.fixture
async def odd(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ProcessAside]:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    # One that ends by itself is to do so, however long the machine stands still meanwhile.
    monkeypatch.setattr("tocsin.adapters.processes.aside._GRACE_S", PATIENCE_S)
    async with ProcessAside("tests.app.odd_aside", limit_s=PATIENCE_S) as aside:
        yield aside


async def test_a_page_is_converted_in_a_process_of_its_own() -> None:
    work = msgspec.msgpack.encode(OfPage(read_wanted("ical", None, None), page(at=AT), None))

    async with ProcessAside(limit_s=PATIENCE_S) as aside:
        before = aside.pid
        done = await aside.do(work)

    assert (before, done) == (None, perform(work))
    written = msgspec.msgpack.decode(done, type=Done)
    assert isinstance(written, Written)
    assert len(icalendar.Calendar.from_ical(written.body).walk("VEVENT")) == 1


async def test_the_same_process_does_one_piece_of_work_after_the_other(odd: ProcessAside) -> None:
    first, large, last = [await odd.do(work) for work in (b"pid", b"x" * 3_000_000, b"pid")]

    assert first == last == b"%d" % (odd.pid or 0)
    assert len(large) == 3_000_000


async def test_those_who_want_something_done_at_one_time_have_their_turns(odd: ProcessAside) -> None:
    async with asyncio.TaskGroup() as group:
        doing = [group.create_task(odd.do(b"%d" % number)) for number in range(20)]

    assert [each.result() for each in doing] == [b"%d" % number for number in range(20)]


async def test_what_is_printed_meanwhile_is_no_answer(odd: ProcessAside) -> None:
    assert [await odd.do(work) for work in (b"print", b"next")] == [b"print", b"next"]


async def test_work_that_kills_its_process_fails_alone(odd: ProcessAside) -> None:
    before = await odd.do(b"pid")

    with pytest.raises(TooComplex, match="signal 9"):
        await odd.do(b"die")

    assert await odd.do(b"pid") != before


async def test_a_process_that_leaves_by_itself_is_a_fault_of_ours_and_not_of_the_work(odd: ProcessAside) -> None:
    with pytest.raises(ProcessError, match="status 3"):
        await odd.do(b"leave")

    assert await odd.do(b"next") == b"next"


async def test_nobody_takes_more_than_1_GiB_of_memory(odd: ProcessAside) -> None:
    with pytest.raises(ProcessError, match="status 1;"):
        await odd.do(b"take")

    assert await odd.do(b"next") == b"next"


def test_whoever_lets_it_take_less_is_heeded() -> None:
    code = (
        "import resource as r; from tocsin.app.aside import bound_memory; data = r.RLIMIT_DATA;"
        " r.setrlimit(data, (2**29, r.getrlimit(data)[1])); bound_memory(2**30); print(r.getrlimit(data)[0])"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout

    assert int(said) == 2**29


async def test_a_page_that_takes_more_memory_than_there_is_for_it_is_too_complex_and_fails_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    large, small = (
        msgspec.msgpack.encode(OfPage(read_wanted("links", None, None), page(body, at=AT), None))
        for body in (BODY + b" " * 40_000_000, BODY)
    )
    async with ProcessAside("tests.app.small_aside", limit_s=PATIENCE_S) as aside:
        refused = msgspec.msgpack.decode(await aside.do(large), type=Done)
        pid = aside.pid
        written = msgspec.msgpack.decode(await aside.do(small), type=Done)

        assert aside.pid == pid
    assert isinstance(refused, Refused)
    assert (refused.status, refused.type) == (422, "too-complex")
    assert "memory" in refused.detail
    assert isinstance(written, Written)


async def test_a_process_that_others_ended_while_it_had_nothing_to_do_fails_no_work(odd: ProcessAside) -> None:
    pid = int(await odd.do(b"pid"))
    os.kill(pid, signal.SIGKILL)
    async with asyncio.timeout(PATIENCE_S):
        while odd.pid is not None:  # noqa: ASYNC110 - that it ended comes from the machine, and is told to nobody
            await asyncio.sleep(0)

    assert int(await odd.do(b"pid")) != pid


async def test_work_that_takes_too_long_is_ended_with_its_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    async with ProcessAside("tests.app.odd_aside", limit_s=0.3) as aside:
        with pytest.raises(ProcessError, match="longer than"):
            await aside.do(b"hang")

        assert aside.pid is None


async def test_a_process_that_cannot_be_started_is_told(odd: ProcessAside, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/no/such/program")

    with pytest.raises(ProcessError, match="could not be started"):
        await odd.do(b"pid")


async def test_a_process_that_has_nothing_to_do_gives_its_memory_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    async with ProcessAside("tests.app.odd_aside", limit_s=PATIENCE_S, idle_s=0) as aside:
        first = await aside.do(b"pid")
        await settle()

        assert aside.pid is None
        assert await aside.do(b"pid") != first


async def test_a_process_that_has_work_again_is_not_ended_for_having_had_none(odd: ProcessAside) -> None:
    await odd.do(b"first")
    ends_it = odd._idle
    await odd.do(b"next")

    assert ends_it is not None
    assert ends_it.cancelled()
    assert odd._idle is not ends_it


async def test_a_service_that_ends_leaves_no_process_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    async with ProcessAside("tests.app.odd_aside") as aside:
        pid = int(await aside.do(b"pid"))

    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_whoever_stops_waits_for_no_work(odd: ProcessAside) -> None:
    pid = int(await odd.do(b"pid"))
    async with asyncio.TaskGroup() as group:
        working = group.create_task(odd.do(b"hang"))
        await asyncio.sleep(0)
        working.cancel()

    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_it_loads_neither_the_web_framework_nor_what_makes_requests() -> None:
    code = "import sys, tocsin.app.aside; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout.split()

    assert not {"fastapi", "uvicorn", "aiohttp", "aiosqlite", "rdflib", "tocsin.app.assembly"} & set(loaded)
