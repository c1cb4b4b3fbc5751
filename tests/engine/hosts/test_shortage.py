"""A shortage of this machine pauses checking, costs no page a try, and is told once."""

from __future__ import annotations

import errno
from pathlib import Path

import msgspec
import pytest

from tests.builders import URL, html
from tests.engine.visiting.checking import engine_on, many
from tests.fakes import ManualClock, RecordingTelemetry
from tocsin.engine.hosts.process_limits import MET, ShortageWatch
from tocsin.engine.visiting.visit import contained
from tocsin.errors import FetchFailed, Shortage, shortage_of
from tocsin.events import Happening

SHORT = Shortage("files", "this process may open no more")


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def telemetry() -> RecordingTelemetry:
    return RecordingTelemetry()


@pytest.fixture
def watch(clock: ManualClock, telemetry: RecordingTelemetry) -> ShortageWatch:
    return ShortageWatch(clock, telemetry)


async def test_T60_a_page_that_meets_a_shortage_is_put_off_and_not_asked_about(tmp_path: Path) -> None:
    async with engine_on(tmp_path, [URL]) as engine:
        engine.web.on(URL, SHORT)

        (result,) = await engine.run()

        assert result.report.outcome == "deferred"
        assert result.report.error == ("shortage", str(SHORT))
        assert result.held_attempts == ()
        assert await engine.store.questions() == []


async def test_T58_a_try_that_failed_before_a_shortage_stays_the_only_one_spent(tmp_path: Path) -> None:
    async with engine_on(tmp_path, [URL]) as engine:
        engine.policies.configure(msgspec.structs.replace(engine.policies.base, tries=2))
        engine.web.on(URL, FetchFailed(URL, "timeout", "too late"), SHORT)

        (result,) = await engine.run()

        assert [attempt.kind for attempt in result.held_attempts] == ["timeout"]
        assert result.failure is None


async def test_a_shortage_is_no_sign_of_an_outage(tmp_path: Path) -> None:
    urls = many(5, 1)
    async with engine_on(tmp_path, urls) as engine:
        for url in urls:
            engine.web.on(url, SHORT)

        await engine.run()

        assert not engine.outage.in_doubt
        assert not engine.outage.is_outage()


async def test_while_checking_pauses_for_a_shortage_nothing_is_asked_for(tmp_path: Path) -> None:
    async with engine_on(tmp_path, [URL]) as engine:
        engine.web.page(URL, html(created="1"))
        looks: list[int] = []

        def is_short() -> bool:
            looks.append(len(engine.web.requests))
            return len(looks) < 3

        engine.scheduler._is_short = is_short
        results = await engine.run()

        assert looks[:3] == [0, 0, 0]
        assert [result.report.outcome for result in results] == ["first"]


def test_an_import_that_finds_no_file_left_is_no_crash_of_its_page(telemetry: RecordingTelemetry) -> None:
    with pytest.raises(Shortage), contained(7, URL, telemetry):
        raise OSError(errno.EMFILE, "too many open files", "encodings/cp932.py")

    assert telemetry.happenings == []


def test_what_caused_an_error_is_looked_at_too() -> None:
    error = ImportError("no module")
    error.__cause__ = OSError(errno.EMFILE, "too many open files")

    assert shortage_of(error) is not None
    assert shortage_of(ImportError("no module")) is None


async def test_a_shortage_is_told_once_with_the_mend_and_its_end_once(
    watch: ShortageWatch, clock: ManualClock, telemetry: RecordingTelemetry, tmp_path: Path
) -> None:
    for _ in range(3):
        watch.emit(Happening(MET, "debug", {"error": str(SHORT)}))
        await clock.advance(10)
    async with engine_on(tmp_path, [URL]) as engine:
        engine.web.page(URL, html(created="1"))
        received = await engine.run()
    watch.committed(received)
    early = telemetry.names()
    await clock.advance(60)
    watch.committed(received)
    watch.committed(received)

    assert early == ["shortage.began"]
    assert telemetry.names() == ["shortage.began", "shortage.ended"]
    assert "ulimit -n" in telemetry.happenings[0].values["error"]
    assert telemetry.happenings[1].values["put_off"] == 3
    assert watch.put_off == 3


async def test_the_pause_grows_while_the_shortage_lasts(watch: ShortageWatch, clock: ManualClock) -> None:
    paused_s = []
    for _ in range(7):
        watch.met(str(SHORT))
        seconds = 0
        while watch.is_pausing:
            await clock.advance(1)
            seconds += 1
        paused_s.append(seconds)

    assert paused_s == [1, 2, 4, 8, 16, 30, 30]


async def test_the_pause_does_not_grow_while_other_pages_are_received(
    watch: ShortageWatch, clock: ManualClock, tmp_path: Path
) -> None:
    async with engine_on(tmp_path, [URL]) as engine:
        engine.web.page(URL, html(created="1"))
        received = await engine.run()
    for _ in range(5):
        watch.met(str(SHORT))
        await clock.advance(15)
        watch.committed(received)

    watch.met(str(SHORT))
    await clock.advance(1)

    assert not watch.is_pausing


def test_many_pages_that_meet_it_at_once_do_not_make_the_pause_longer(watch: ShortageWatch) -> None:
    for _ in range(100):
        watch.met(str(SHORT))

    assert watch._pause_s == 1
