"""What a check adds to what is known of a page's pace, and what follows for its next check."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from tests.builders import DAY, HOUR, READ, digest_of, fields, html, received, stored, task
from tests.fakes import START, SeededChance
from tocsin.engine.judging.conclude import Conclusion, Conclusions
from tocsin.engine.judging.events import EventWriter
from tocsin.engine.judging.pace import find_declared
from tocsin.errors import Disallowed, FetchFailed
from tocsin.model import Attempt, PageKnowledge, SignalContext
from tocsin.model.knowledge import ChangePace
from tocsin.settings import PageSettings
from tocsin.spec.topper.state import EMPTY, PageState

if TYPE_CHECKING:
    from tocsin.model import CheckResult, PageTask, ReceivedPage

BEFORE = ChangePace(checks=10.0, found=2.0, found_s=2 * 86_400.0, quiet_s=8 * 86_400.0)
ATTEMPT = Attempt(START, "connect", None, "refused", 3)


def conclude(page: PageTask, **policy: Any) -> Conclusion:
    settings = msgspec.structs.replace(PageSettings(), **({"adaptive": True} | policy))
    return Conclusions(EventWriter("tocsin", SeededChance()), time_zone="UTC").of(page, settings, START)


def check(page: PageTask, came: ReceivedPage | bytes, **policy: Any) -> CheckResult:
    answer = received(came) if isinstance(came, bytes) else came
    return conclude(page, **policy).received(answer, START, conditional=False, tried=0)


def known_page(pace: ChangePace | None = BEFORE, **changes: Any) -> PageTask:
    assert READ.known is not None
    beside = SignalContext(known=msgspec.structs.replace(READ.known, pace=pace))
    return msgspec.structs.replace(task(state=stored(created="2026")), beside=beside, **changes)


def pace_after(result: CheckResult) -> ChangePace:
    assert result.known is not None
    assert result.known.pace is not None
    return result.known.pace


def test_a_check_that_found_nothing_adds_quiet_time() -> None:
    after = pace_after(check(known_page(), html(created="2026"), signals="none"))

    assert after.found == pytest.approx(BEFORE.found, rel=0.04)
    assert after.quiet_s == pytest.approx(BEFORE.quiet_s + 86_400, rel=0.04)
    assert after.checks > BEFORE.checks


def test_a_change_of_the_twelve_fields_is_one_change() -> None:
    after = pace_after(check(known_page(), html(created="2027"), signals="none"))

    assert after.found == pytest.approx(BEFORE.found + 1, rel=0.04)


def test_a_change_of_a_signal_is_one_change() -> None:
    body = (
        html(created="2026") + b'<script type="application/ld+json">{"@type":"Article","dateModified":"2025"}</script>'
    )
    page = known_page()
    first = check(page, body)
    assert first.known is not None
    later = body.replace(b"2025", b"2026-01-01")

    after = check(msgspec.structs.replace(page, beside=SignalContext(known=first.known)), later)

    assert after.report.outcome == "minor"
    assert pace_after(after).found == pytest.approx(pace_after(first).found + 1, rel=0.1)


def test_T45_a_state_that_is_told_again_after_a_long_time_is_no_change() -> None:
    page = msgspec.structs.replace(known_page(), state=stored(at=START - 90 * DAY, created="2026"))

    result = check(page, html(created="2026"), signals="none")

    assert result.report.outcome == "major"
    assert pace_after(result).found < BEFORE.found


@pytest.mark.parametrize("is_304", [True, False])
def test_a_304_and_an_equal_body_are_no_change(*, is_304: bool) -> None:
    body = html(created="2026")
    page = known_page(body_digest=digest_of(body))

    after = pace_after(check(page, received(status=304) if is_304 else body))

    assert after.quiet_s > BEFORE.quiet_s


def test_a_date_that_the_page_declares_is_when_it_changed() -> None:
    page = known_page()

    after = pace_after(
        check(page, html(**{"created": "2026", "dcterms.modified": iso(START - 6 * HOUR)}), signals="none")
    )

    assert after.dated == 1
    assert after.quiet_s == pytest.approx(BEFORE.quiet_s * 0.965 + 6 * 3600, rel=0.01)


def test_the_first_check_of_a_page_takes_its_date() -> None:
    result = check(task(), html(**{"dcterms.modified": iso(START - 2 * HOUR)}), signals="none")

    assert pace_after(result).dated == 1
    assert result.known == PageKnowledge("", {}, pace=pace_after(result))


def test_the_first_check_of_a_page_without_a_date_leaves_nothing() -> None:
    result = check(task(), html(created="2026"), signals="none")

    assert result.known is None
    assert result.next_why == "adaptive: nothing known yet; every 24h"


@pytest.mark.parametrize("policy", [{"adaptive": False}, {"cron": "0 6 * * *"}])
def test_pages_that_are_not_adaptive_keep_what_is_known_and_write_nothing(policy: dict[str, Any]) -> None:
    assert check(known_page(), html(created="2026"), signals="none", **policy).known is None


def test_T43_what_came_too_soon_says_nothing() -> None:
    page = msgspec.structs.replace(known_page(), state=stored(at=START - HOUR, created="2026"))

    result = check(page, b"<!doctype html><meta http-equiv=refresh content=9999><meta name=created content=2027>")

    assert result.report.outcome == "too-soon"
    assert result.known is None


def test_a_suspect_says_nothing() -> None:
    came = received(b"%PDF-1.7", headers={"content-type": "application/pdf", "cache-control": "max-age=80000"})

    result = check(known_page(), came, every_min=PageSettings().every / 48)

    assert result.report.outcome == "suspect"
    assert result.known is None
    assert "as its server says" not in result.next_why


def test_the_next_check_follows_from_this_one_too() -> None:
    seldom = check(known_page(), html(created="2026"), signals="none")
    often = check(known_page(), html(created="2027"), signals="none")

    assert (seldom.next_why, often.next_why) == (
        "adaptive: changed in 2 of 11 checks, about every 4d; every 2d",
        "adaptive: changed in 3 of 11 checks, about every 3d; every 40h",
    )
    assert seldom.next_at is not None
    assert often.next_at is not None
    assert often.next_at < seldom.next_at


def test_a_page_that_was_not_received_keeps_its_pace() -> None:
    result = conclude(known_page()).unreachable([ATTEMPT], FetchFailed("http://x/", "connect", "refused"))

    assert result.next_why.startswith("adaptive: changed in 2 of 10 checks")


def test_LM_43_a_page_that_robots_txt_forbids_keeps_its_pace() -> None:
    result = conclude(known_page()).disallowed(Disallowed("http://x/", "Disallow: /", None))

    assert result.next_why.startswith("adaptive: changed in 2 of 10 checks")


def test_what_the_server_says_of_its_answer_holds_for_a_304_too() -> None:
    busy = ChangePace(checks=20.0, dated=100.0, quiet_s=86_400.0)
    body = html(created="2026")
    page = known_page(busy, body_digest=digest_of(body))

    result = check(page, received(status=304, headers={"cache-control": "max-age=43200"}))

    assert result.next_why.endswith("every 12h, as its server says")


def test_the_latest_date_that_is_not_to_come_is_the_page_s() -> None:
    state = PageState(
        fields(**{"dcterms.modified": "2026-05-01", "topper": "true 2026-05-03 2026-05-04", "topper-minor": "2031"})
    )
    values = {"json-ld.modified": "2026-05-02T10:00:00Z", "header.last-modified": "2026-05-09T10:00:00Z"}

    assert find_declared(state, values, at("2026-06-01")) == at("2026-05-04")


def test_a_page_s_own_date_goes_before_its_list_s_and_that_before_its_server_s() -> None:
    values = {
        "json-ld.modified": "2026-05-02T10:00:00Z",
        "sitemap": "2026-05-03",
        "header.last-modified": "2026-05-09T10:00:00Z",
    }
    found = []
    for gone in values:
        found.append(find_declared(EMPTY, values, at("2026-06-01")))
        values = {name: value for name, value in values.items() if name != gone}

    assert found == [at("2026-05-02T10:00"), at("2026-05-03"), at("2026-05-09T10:00")]


@pytest.mark.parametrize("text", ["", "3.2", "yesterday", "2026-13-01", "0000-00-00", "2026-05-01T99:00:00Z", "-"])
def test_what_is_no_date_says_nothing(text: str) -> None:
    state = PageState(fields(**{"dcterms.modified": text or "x", "topper": "true"}))

    assert find_declared(state, {"json-ld.modified": text, "json-ld.version": "20260501"}, START) is None


def at(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * 1_000_000


def iso(moment: int) -> str:
    return datetime.fromtimestamp(moment / 1e6, UTC).isoformat().replace("+00:00", "Z")
