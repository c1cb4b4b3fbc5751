"""The narrator over a real store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.contract.desk import MINUTE, A, Desk
from tocsin.demo.show import Narrator
from tocsin.events import OUTAGE_BEGAN
from tocsin.model import AlertDraft, DeliveryResult, VerdictRow

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    opened = await Desk.at(tmp_path)
    yield opened
    await opened.store.close()


@pytest.fixture
def narrator(desk: Desk) -> Narrator:
    return Narrator(desk.store, answer="tocsin attention answer")


async def change(desk: Desk, url: str, major: str) -> None:
    """Commit a check that found a major change, a minute later."""
    desk.now += MINUTE
    changes = [{"field": "topper-major", "previous": None, "latest": major}]
    data = {"changes": changes, "minor_count": 0, "thresholds": {"minor": 3}}
    verdict = VerdictRow(desk.now, "major", "topper-major", "T44", "declared", data, awareness=True)
    await desk.check(url, major, verdict=verdict)


async def told(narrator: Narrator) -> list[tuple[str, str, str]]:
    return [(line.row, line.path, line.outcome) for line in await narrator.new_lines()]


async def test_a_page_that_was_not_checked_is_not_told_of(desk: Desk, narrator: Narrator) -> None:
    await desk.watch(A)

    assert await told(narrator) == []


async def test_each_check_is_told_once(desk: Desk, narrator: Narrator) -> None:
    await desk.watch(A)
    await desk.check(A)

    assert [await told(narrator), await told(narrator)] == [[("check", "/a", "first")], []]

    desk.now += MINUTE
    await desk.check(A)

    assert await told(narrator) == [("check", "/a", "unchanged")]


async def test_T40_a_first_storing_is_told_once_when_later_checks_have_followed(desk: Desk, narrator: Narrator) -> None:
    await desk.watch(A)
    await desk.check(A)
    desk.now += MINUTE
    await desk.check(A)
    desk.now += MINUTE
    first = await told(narrator)
    await desk.check(A)

    assert first == [("check", "/a", "first"), ("check", "/a", "unchanged")]
    assert await told(narrator) == [("check", "/a", "unchanged")]


async def test_T60_a_question_is_told_with_its_tries_before_the_check_that_opened_it(
    desk: Desk, narrator: Narrator
) -> None:
    await desk.watch(A)
    await desk.fail(A)

    assert await told(narrator) == [
        ("try", "/a", "failed"),
        ("check", "/a", "unreachable"),
        ("question", "/a", "opened"),
    ]
    assert await told(narrator) == []


async def test_T44_a_verdict_is_told_once_and_stays_when_later_checks_follow(desk: Desk, narrator: Narrator) -> None:
    await desk.watch(A)
    await desk.check(A)
    await told(narrator)
    await change(desk, A, "2026-01-01")
    desk.now += MINUTE
    await desk.check(A, "2026-01-01")

    first, second = await told(narrator), await told(narrator)

    assert first == [("verdict", "/a", "major"), ("check", "/a", "unchanged")]
    assert "verdict" not in {row for row, *_ in second}


async def test_T72_an_alert_is_told_once_whatever_becomes_of_its_delivery(desk: Desk, narrator: Narrator) -> None:
    await desk.store.set_channels(["journal"])
    event = {"id": "1", "subject": A, "data": {}}
    await desk.store.write_alert(AlertDraft("1", OUTAGE_BEGAN, None, desk.now, event))
    assert await told(narrator) == [("alert", "/a", "began")]

    refused = DeliveryResult("1", "journal", "waiting", desk.now, desk.now + MINUTE, "answered 503")
    await desk.store.record_deliveries([refused])

    assert await told(narrator) == []
