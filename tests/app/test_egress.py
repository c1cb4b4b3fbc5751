"""Processes aside as the service uses them: how many there are, how they end, and what they reach."""

from __future__ import annotations

import asyncio
import os
import select
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.aside import write_echo
from tests.origin import RawOrigin
from tocsin.app.egress import CellAsides
from tocsin.errors import ProcessError
from tocsin.events import Happening
from tocsin.settings import NetworkSettings

HELLO = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
FORBIDDEN = "this machine allows no cell; mend it"
WITHIN_S = 30.0


@pytest.fixture
def echo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    return write_echo(tmp_path, monkeypatch)


@asynccontextmanager
async def asides(*allow: str, happenings: list[Happening] | None = None, **options: Any) -> AsyncIterator[CellAsides]:
    told = [] if happenings is None else happenings
    opened = CellAsides(NetworkSettings(allow=allow), told.append, **{"most": 1} | options)
    yield opened
    await opened.close()


async def test_a_process_serves_one_job_after_the_other_and_no_more_start_than_allowed(echo: str) -> None:
    async with asides(most=2) as opened:
        answers = await asyncio.gather(*(opened.ask(echo, b"who", WITHIN_S) for _ in range(6)))
        after = await opened.ask(echo, b"who", WITHIN_S)

    used = {answer.body for answer in answers}
    assert 1 <= len(used) <= 2
    assert after.body in used


async def test_a_job_that_is_late_ends_its_process_and_the_next_job_gets_another(echo: str) -> None:
    async with asides() as opened:
        before = await opened.ask(echo, b"who", WITHIN_S)
        with pytest.raises(TimeoutError):
            await opened.ask(echo, b"hang", 0.05)
        after = await opened.ask(echo, b"who", WITHIN_S)

        assert after.body != before.body
        assert not Path(f"/proc/{int(before.body)}").exists()


async def test_a_process_that_dies_is_an_error_and_the_next_job_gets_another(echo: str) -> None:
    async with asides() as opened:
        with pytest.raises(ProcessError, match="ended amid a job"):
            await opened.ask(echo, b"die", WITHIN_S)

        assert (await opened.ask(echo, b"abc", WITHIN_S)).body == b"cba"


async def test_a_process_without_a_job_ends_after_a_while_and_at_the_close(echo: str) -> None:
    async with asides(idle_s=0.0) as opened:
        first = int((await opened.ask(echo, b"who", WITHIN_S)).body)
        watched = os.pidfd_open(first)
        # A descriptor of a process becomes readable when it ends.
        await asyncio.to_thread(select.select, [watched], [], [])
        os.close(watched)
    async with asides() as opened:
        second = int((await opened.ask(echo, b"who", WITHIN_S)).body)

    assert not Path(f"/proc/{second}").exists()


async def test_a_process_reaches_an_allowed_address_and_is_told_apart_from_a_refused_one(echo: str) -> None:
    happenings: list[Happening] = []
    async with RawOrigin(HELLO) as origin, asides("127.0.0.1/32", happenings=happenings) as opened:
        reached = await opened.ask(echo, origin.url().encode(), WITHIN_S)
        refused = await opened.ask(echo, f"http://127.0.0.2:{origin.port}/".encode(), WITHIN_S)

    assert (reached.body, reached.refusals) == (b"hello", ())
    assert refused.body == b"403"
    assert "127.0.0.2 is a loopback address; if it is yours" in refused.refusals[0]
    assert [(each.name, each.level, each.values["host"]) for each in happenings] == [
        ("egress.refused", "warning", "127.0.0.2")
    ]


@pytest.mark.parametrize(
    ("allow", "is_started"),
    [((), False), (("127.0.0.0/8", "::/0"), False), (("0.0.0.0/0",), True), (("10.1.2.3/0",), True)],
)
async def test_without_cells_a_process_starts_only_if_every_address_is_allowed(
    echo: str, allow: tuple[str, ...], *, is_started: bool
) -> None:
    async with RawOrigin(HELLO) as origin, asides(*allow, no_cells=lambda: FORBIDDEN) as opened:
        why = opened.why_not()
        if is_started:
            assert (await opened.ask(echo, origin.url().encode(), WITHIN_S)).body == b"hello"
        else:
            with pytest.raises(ProcessError, match="allows no cell"):
                await opened.ask(echo, b"who", WITHIN_S)

    assert (why is None) is is_started
    assert why is None or why.startswith(FORBIDDEN)
    assert why is None or 'allow = ["0.0.0.0/0"]' in why
