"""Checks that made no request: what the last real one found still stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from tests.contract.desk import HOUR, MINUTE, NOW, A, attempt
from tocsin.model import CheckOutcome, CheckReport, Failure

if TYPE_CHECKING:
    from tests.contract.desk import Desk
    from tocsin.model import CheckResult


async def skip(desk: Desk, problem: str = "checked within 10s") -> CheckResult:
    """Commit a check that made no request."""
    report = CheckReport(A, CheckOutcome.SKIPPED, problem=problem)
    found = desk.failed(await desk.task(A), report=report, failure=None, next_at=desk.now + HOUR)
    await desk.store.commit(desk.claim, [found])
    return found


async def test_T21_a_skipped_check_leaves_what_the_last_real_one_found(desk: Desk) -> None:
    await desk.watch(A)
    error = ("status", "answered 410")
    failed = CheckReport(A, "unreachable", status=410, error=error)
    failure = Failure("status 410", (attempt(NOW),), "check")
    await desk.store.commit(desk.claim, [desk.failed(await desk.task(A), report=failed, failure=failure)])
    before = await desk.page(A)
    desk.now += MINUTE

    await skip(desk)

    after = await desk.page(A)
    assert before.last_report is not None
    assert (before.last_report["outcome"], before.last_report["error"]) == ("unreachable", list(error))
    assert after == replace(before, next_at=desk.now + HOUR)


async def test_of_a_page_that_never_had_a_real_check_the_skipped_one_is_told_until_it_has(desk: Desk) -> None:
    await desk.watch(A)
    await skip(desk, "off")
    told = await desk.page(A)
    desk.now += MINUTE

    await desk.check(A, "2026")

    checked = await desk.page(A)
    assert told.last_report is not None
    assert checked.last_report is not None
    assert (told.last_checked_at, told.last_report["outcome"], told.last_report["problem"]) == (NOW, "skipped", "off")
    assert (checked.last_checked_at, checked.last_report["outcome"]) == (desk.now, "first")
