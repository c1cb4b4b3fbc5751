"""Rows that are written once are compared with what was written: a changed bit is found, and never told as an alert."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.contract.desk import SECOND, A, Desk


@pytest.fixture
async def told(tmp_path: Path) -> AsyncIterator[Desk]:
    """A store with states, verdicts and alerts that a channel waits for; it need not be sound when the test is over."""
    desk = await Desk.at(tmp_path)
    await desk.store.set_channels(["ops"])
    await desk.watch(A)
    for month in ("2026-01", "2026-02", "2026-03"):
        await desk.check(A, month)
        desk.now += 60 * SECOND
    job = await desk.job(A)
    await desk.store.commit_renderings(desk.claim, [desk.rendered(job)])
    yield desk
    await desk.store.close()


def change(desk: Desk, statement: str) -> None:
    """Change a row as a fault of the disk would: the program knows nothing of it."""
    assert desk.behind.alter(statement) > 0


@pytest.mark.parametrize(
    ("statement", "finding"),
    [
        ("update states set fields = cast(replace(cast(fields as text), '2026-03', '2026-07') as blob)", "state "),
        ("update states set first_at = first_at - 1024", "state "),
        ("update verdicts set outcome = 'minor' where outcome = 'major'", "verdict "),
        ("update verdicts set data = replace(data, '2026', '2027')", "verdict "),
        ("update verdicts set rule = 'T45'", "verdict "),
        ("update renderings set rendering = replace(rendering, '\"status\":', '\"status\": ')", "rendering "),
        ("update renderings set started_at = started_at + 1", "rendering "),
        ("update alerts set created_at = created_at + 1", "alert "),
        ("update alerts set type = replace(type, 'changed', 'chanfed')", "alert "),
        ("update alerts set digest = '0000'", "alert "),
        ("update alerts set event = cast(x'7b22ff227d' as text)", "alert "),
    ],
)
async def test_a_change_of_what_was_written_is_found(told: Desk, statement: str, finding: str) -> None:
    assert await told.store.check() == []

    change(told, statement)

    found = [line for line in await told.store.check() if "is not what was written" in line]
    assert found
    assert all(line.startswith(finding) for line in found)


@pytest.mark.parametrize(
    ("read", "write"),
    [
        ("select fields from states where id = 1", "update states set fields = ? where id = 1"),
        (
            "select cast(data as blob) from verdicts where id = 1",
            "update verdicts set data = cast(? as text) where id = 1",
        ),
        (
            "select cast(rendering as blob) from renderings",
            "update renderings set rendering = cast(? as text)",
        ),
        (
            "select cast(event as blob) from alerts where position = 1",
            "update alerts set event = cast(? as text) where position = 1",
        ),
    ],
)
async def test_a_flipped_bit_is_found_wherever_it_is_in_a_row(told: Desk, read: str, write: str) -> None:
    with closing(sqlite3.connect(told.folder / "tocsin.db", isolation_level=None)) as db:
        (value,) = db.execute(read).fetchone()
        for place in range(0, len(value), max(len(value) // 8, 1)):
            flipped = bytearray(value)
            flipped[place] ^= 1 << place % 8
            db.execute(write, (bytes(flipped),))
            found = [line for line in await told.store.check() if "is not what was written" in line]
            assert found, place
        db.execute(write, (value,))
    assert await told.store.check() == []


async def test_a_falsified_alert_is_a_dead_letter_and_the_next_one_goes(told: Desk) -> None:
    (first,) = await told.store.due_deliveries("ops", told.now, limit=10)
    change(told, "update alerts set event = cast(x'7b22ff227d' as text) where position = 1")

    assert await told.store.due_deliveries("ops", told.now, limit=10) == []

    assert (await told.store.channel_state("ops")).dead == 1
    (second,) = await told.store.due_deliveries("ops", told.now, limit=10)
    assert second.position > first.position


async def test_one_row_that_cannot_be_read_hides_no_other(told: Desk) -> None:
    change(told, "update pages set url = cast(x'ff' as text)")
    change(told, "update verdicts set rule = 'T45'")

    found = await told.store.check()

    assert any("a row cannot be read" in line for line in found)
    assert any("is not what was written" in line for line in found)


@pytest.mark.parametrize("table", ["states", "verdicts", "renderings", "alerts"])
async def test_a_row_without_its_digest_is_found(told: Desk, table: str) -> None:
    change(told, f"update {table} set digest = null")  # noqa: S608 - a table of ours

    assert any("is not what was written" in line for line in await told.store.check())


@pytest.mark.parametrize(
    "damage",
    [
        "last_report = substr(last_report, 2)",
        "last_report = '[1]]'",
        "last_report = '[' || replace(hex(zeroblob(20)), '00', '0,') || '0]'",
        "last_report = '[200,1,2,3,\"x\",{}]'",
        "outcome = 77",
    ],
)
async def test_a_report_that_cannot_be_read_is_found_and_the_list_shows_the_page_without_it(
    told: Desk, damage: str
) -> None:
    change(told, f"update pages set {damage}")  # noqa: S608 - of this test

    found = [line for line in await told.store.check() if "report of its last check" in line]

    assert found == ["page 1: the report of its last check cannot be read, and is shown as none"]
    page = await told.store.page(A)
    assert page is not None
    assert page.last.report is None
