"""What a fetcher process tells the main one."""

from __future__ import annotations

import pytest

from tocsin.engine.fetchers.main_link import MainLink
from tocsin.ports.messages import TryNotes
from tocsin.settings import LogSettings


@pytest.fixture
def desk() -> MainLink:
    return MainLink(LogSettings())


async def tries(desk: MainLink) -> list[tuple[str, str | None]]:
    return [one for message in await desk.gathered() if isinstance(message, TryNotes) for one in message.tries]


async def test_failures_before_an_answer_are_told_too_since_they_show_whose_fault_they_are(desk: MainLink) -> None:
    desk.note("gone.example", ok=False, kind="dns")
    desk.note("good.example", ok=True)
    desk.note("late.example", ok=False, kind="connect")

    assert await tries(desk) == [("gone.example", "dns"), ("good.example", None), ("late.example", "connect")]


async def test_many_answers_are_told_as_one(desk: MainLink) -> None:
    for number in range(100):
        desk.note(f"host{number}.example", ok=True)

    assert await tries(desk) == [("host0.example", None)]


async def test_a_host_that_failed_is_named_when_it_answers_again(desk: MainLink) -> None:
    desk.note("gone.example", ok=False, kind="dns")
    await tries(desk)
    desk.note("good.example", ok=True)
    desk.note("gone.example", ok=True)

    assert await tries(desk) == [("good.example", None), ("gone.example", None)]
