"""From bytes to a state, and to a judgement."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from cronsim import CronSim
from hypothesis import given
from hypothesis import strategies as st

from tests import builders
from tests.builders import URL, digest_of, html, stored
from tests.fakes import START, SeededChance
from tocsin.engine.judging.assess import assess, decide
from tocsin.engine.judging.cadence import CRON_SPREAD_US, next_check
from tocsin.engine.judging.events import EventWriter
from tocsin.engine.judging.judge import Occasion, assess_received, judge
from tocsin.errors import FetchRefused
from tocsin.model import Validators, phase_of
from tocsin.settings import PageSettings
from tocsin.spec.topper.state import EMPTY

DEEP = b"<div>" * 100_000


def test_a_page_of_html_is_read() -> None:
    found = assess(URL, html(topper_major="2026-01-02"), "text/html; charset=utf-8", None, None)

    assert found.is_html
    assert found.state["topper-major"] == "2026-01-02"


@pytest.mark.parametrize("content_type", ["application/pdf", "image/png", "application/json", "text/plain"])
def test_what_is_not_html_has_an_empty_state_and_a_problem_that_says_so(content_type: str) -> None:
    found = assess(URL, html(topper_major="2026"), content_type, None, None)

    assert not found.is_html
    assert found.state == EMPTY
    assert content_type in (found.problem or "")


def test_a_pdf_that_is_served_as_html_is_no_html() -> None:
    found = assess(URL, b"%PDF-1.7 ...", "text/html", None, None)

    assert "PDF" in (found.problem or "")


@pytest.mark.parametrize("content_type", [None, "", "application/unknown", ";;;"])
def test_a_page_without_a_type_is_read_as_html(content_type: str | None) -> None:
    assert assess(URL, html(created="2026"), content_type, None, None).state["created"] == "2026"


def test_the_same_bytes_stand_for_the_state_before_without_being_read() -> None:
    before = stored(created="what was stored")
    body = html(created="2026")

    found = assess(URL, body, "text/html", before, digest_of(body))

    assert found.state.values == before.fields


def test_the_same_bytes_under_another_type_are_read_anew() -> None:
    body = html(created="2026")

    found = assess(URL, body, "text/html", stored(created="other"), digest_of(body, "text/html; charset=koi8-r"))

    assert found.state["created"] == "2026"


def test_xhtml_is_read_as_xml() -> None:
    body = b'<html xmlns="http://www.w3.org/1999/xhtml"><head><meta name="created" content="2026"/></head></html>'

    assert assess(URL, body, "application/xhtml+xml", None, None).state["created"] == "2026"


@pytest.mark.parametrize(
    ("body", "content_type", "title"),
    [
        (b"<title>The\n council</title><meta name=topper content=1><p>Text", "text/html", "The council"),
        (b"<title> </title><meta name=topper content=1>", "text/html", ""),
        # Only more of the page than is parsed would tell.
        (b"<meta name=topper content=1><title>The council</title>", "text/html", None),
        (b"<p><title>The council</title><meta name=topper content=1>", "text/html", None),
        # A page that is parsed as a whole tells it anyway.
        (b"<p>Text<title>The council</title>", "text/html", "The council"),
        (b"<svg><title>A drawing</title></svg><p>Text", "text/html", ""),
        (b'<html xmlns="http://www.w3.org/1999/xhtml"><head/></html>', "application/xhtml+xml", ""),
        (b"The council", "text/plain", None),
    ],
)
def test_a_title_is_read_with_the_meta_elements_where_these_tell_it(
    body: bytes, content_type: str, title: str | None
) -> None:
    received = builders.received(body, headers={"content-type": content_type})

    assert assess_received(builders.task(), received, PageSettings()).title == title


def test_a_page_that_no_parser_may_be_given_is_refused_as_too_complex() -> None:
    body = b"<html a>" * 100_000 + b"<meta name=created content=2026>"

    with pytest.raises(FetchRefused) as caught:
        assess(URL, body, "text/html", None, None)

    assert caught.value.kind == "too-complex"


def test_a_page_nested_a_hundred_thousand_deep_is_read() -> None:
    assert assess(URL, DEEP + b"<meta name=created content=2026>", "text/html", None, None).state["created"] == "2026"


@given(st.binary(max_size=2000), st.sampled_from(["text/html", None, "application/xhtml+xml", "x"]))
def test_no_bytes_raise_anything_but_too_complex(body: bytes, content_type: str | None) -> None:
    assess(URL, body, content_type, None, None)


_ALERTS = EventWriter("tocsin", SeededChance())
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@given(
    elapsed_s=st.integers(-100, 1000),
    threshold_s=st.integers(0, 1000),
    mode=st.sampled_from(["on", "auto"]),
    report=st.lists(st.sampled_from(["unchanged", "too-soon"]), unique=True).map(tuple),
    values=st.dictionaries(
        st.sampled_from(["created", "topper", "topper_major", "refresh"]), st.just("2026"), max_size=4
    ),
)
def test_T42_T45_a_304_comes_to_what_the_comparison_of_equal_states_says(
    elapsed_s: int, threshold_s: int, mode: str, report: tuple[str, ...], values: dict[str, str]
) -> None:
    before = builders.stored(START, **values)
    task = builders.task(state=before, validators=Validators('"1"', None, builders.URL))
    # Parameters of a test are no literals.
    policy = PageSettings(mode=mode, report=report, durational_threshold=timedelta(seconds=threshold_s))  # type: ignore[arg-type]
    received = builders.received(status=304)
    assessment = assess_received(task, received, policy)
    now = START + elapsed_s * builders.SECOND

    judged = judge(Occasion(task, policy, now), received, assessment, now, _ALERTS)

    expected = decide(before, assessment.state, max(now, START), policy)
    if judged.comparison is not None:
        assert str(judged.outcome) == expected.outcome.value
        assert judged.comparison.rule == expected.rule
    else:
        assert mode == "auto"
        assert not assessment.state.is_subject


def test_T42_an_unchanged_page_is_told_of_in_full_where_that_is_asked_for() -> None:
    before = builders.stored(START - builders.DAY, topper="2026-01-01")
    task = builders.task(state=before, validators=Validators('"1"', None, builders.URL))
    policy = PageSettings(report=("unchanged",))
    received = builders.received(status=304)

    judged = judge(Occasion(task, policy, START), received, assess_received(task, received, policy), START, _ALERTS)

    (alert,) = judged.alerts
    assert alert.event["data"]["minor_count"] == 1


@given(page_id=st.integers(1, 10**6), seconds=st.integers(1_700_000_000, 1_900_000_000), part=st.integers(0, 999_999))
def test_a_cron_time_is_the_first_one_after_the_check_to_the_microsecond(page_id: int, seconds: int, part: int) -> None:
    now = seconds * builders.SECOND + part
    cron = "*/7 3-5 * * *"

    at, _ = next_check(page_id, now, PageSettings(cron=cron, min_gap=timedelta(0)))

    jitter = int(phase_of(page_id) * CRON_SPREAD_US)
    first = next(CronSim(cron, _EPOCH + timedelta(microseconds=now - jitter)))
    assert at == (first - _EPOCH) // timedelta(microseconds=1) + jitter
