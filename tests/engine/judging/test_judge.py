"""What equal states come to without a comparison is what the comparison says."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from cronsim import CronSim
from hypothesis import given
from hypothesis import strategies as st

from tests import builders
from tests.fakes import START, SeededChance
from tocsin.engine.judging.assess import decide
from tocsin.engine.judging.cadence import CRON_SPREAD_US, next_check
from tocsin.engine.judging.events import EventWriter
from tocsin.engine.judging.judge import Occasion, assess_received, judge
from tocsin.model import Validators, phase_of
from tocsin.settings import PageSettings

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
