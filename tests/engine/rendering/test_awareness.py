"""What follows from a rendering, without a store: states, items, awareness."""

from __future__ import annotations

import asyncio
import threading
from datetime import timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.awareness import (
    DAY,
    NEW,
    NEWER,
    OLD,
    POLICY,
    SECOND,
    fields,
    job_of,
    page_html,
    rendered_of,
    task_of,
    verdict_of,
)
from tests.builders import with_changes
from tests.engine.rendering.kept import Kept, packed
from tests.fakes import START, RecordingTelemetry, SeededChance
from tests.spec.microdata.making import item, page
from tocsin.engine.judging.contents import TextPair
from tocsin.engine.judging.events import EventWriter
from tocsin.engine.rendering import awareness as comparing
from tocsin.engine.rendering.awareness import LARGE_BYTES, Awareness, Comparisons, RenderedAssessment
from tocsin.errors import FetchFailed, FetchRefused
from tocsin.model import (
    Attempt,
    FieldValues,
    Instant,
    PageFlags,
    PageItems,
    RenderCommit,
    Rendered,
    RenderJob,
)
from tocsin.settings import PageSettings
from tocsin.spec.microdata.reading.packing import pack

MINUTE = 60 * SECOND
ATTEMPT = Attempt(START, "status", 503, "answered 503", 7)


@pytest.fixture
def awareness() -> Awareness:
    return Awareness(EventWriter("tocsin", SeededChance()))


def render(
    awareness: Awareness,
    job: RenderJob,
    found: FieldValues = NEW,
    *,
    after: int = MINUTE,
    body: bytes | None = None,
    policy: PageSettings = POLICY,
) -> RenderCommit:
    """Conclude a rendering that began so long after the check's set and found this state."""
    rendered = rendered_of(job.task, found, at=START + after, body=body)
    return awareness.given(job, rendered, policy, START + after + SECOND)


def test_T70_a_page_that_was_rendered_is_pruned(awareness: Awareness) -> None:
    result = render(awareness, job_of())

    assert (result.prune, result.served, len(result.alerts), result.failure) == (True, (41,), 1, None)


def test_the_rendering_shows_what_was_received(awareness: Awareness) -> None:
    row = render(awareness, job_of()).rendering

    assert (row.kind, row.status, row.title, row.error) == ("http", 200, "A page", None)
    assert row.bytes == len(page_html(NEW))
    assert row.digest is not None
    assert row.digest.startswith("sha256:")


def test_T20_the_state_that_was_judged_is_stored_once_more(awareness: Awareness) -> None:
    result = render(awareness, job_of())

    assert result.state is not None
    assert (result.state.equal, result.state.stored_at) == (True, START + MINUTE + SECOND)
    assert result.rendering.same_state is True
    assert result.alerts[0].event["data"]["rendered"] is None


@pytest.mark.parametrize("found", [NEW, NEWER])
@pytest.mark.parametrize("after", [0, 10 * SECOND])
def test_T21_within_ten_seconds_of_the_check_the_state_is_only_reported(
    awareness: Awareness, found: FieldValues, after: int
) -> None:
    result = render(awareness, job_of(), found, after=after)

    assert result.state is None
    assert result.rendering.same_state is (found == NEW)
    assert result.alerts[0].event["data"]["rendered"] is None
    assert result.prune


def test_T21_after_ten_seconds_the_state_is_stored_and_told(awareness: Awareness) -> None:
    result = render(awareness, job_of(), NEWER, after=10 * SECOND + 1)

    assert result.state is not None
    assert (result.state.fields, result.state.equal) == (NEWER, False)
    rendered = result.alerts[0].event["data"]["rendered"]
    assert (rendered["outcome"], rendered["reason"]) == ("major", "topper-major")
    assert rendered["changes"][0]["latest"] == "2026-01-02 2026-03-04 2026-05-06"
    assert rendered["latest"]["stored"] == "2026-11-18T11:06:51.000Z"


def test_T21_another_period_that_the_user_agreed_to_counts_instead(awareness: Awareness) -> None:
    patient = msgspec.structs.replace(POLICY, min_gap=timedelta(hours=1))

    assert render(awareness, job_of(), NEWER, policy=patient).state is None


def test_T43_a_rendering_before_the_refresh_of_the_page_stores_nothing(awareness: Awareness) -> None:
    impatient = fields(topper_major="2026", refresh="600")

    result = render(awareness, job_of(), impatient)

    assert (result.state, result.alerts[0].event["data"]["rendered"]) == (None, None)
    assert result.rendering.same_state is False


def test_stored_never_goes_back_when_the_clock_does(awareness: Awareness) -> None:
    task = task_of(stored_at=START + DAY)
    task = with_changes(task, set_at=START)
    job = job_of(task, verdict_of(task, OLD, NEW, START + DAY))

    result = render(awareness, job)

    assert result.state is not None
    assert result.state.stored_at == START + DAY


def test_the_validators_of_the_answer_belong_to_the_state_that_is_stored(awareness: Awareness) -> None:
    result = render(awareness, job_of(), NEWER)

    assert result.state is not None
    assert result.state.validators is not None
    assert (result.state.validators.etag, result.state.validators.hop_url) == ('"etag"', "https://example.org/812")


def test_HTML_that_became_something_else_is_not_silently_compared(awareness: Awareness) -> None:
    result = render(awareness, job_of(), body=b"%PDF-1.7")

    assert (result.state, result.rendering.same_state) == (None, False)
    assert (result.known, result.items, result.copies, result.snapshot, result.flags) == (None,) * 5


def test_HTML_that_a_rendering_stores_is_what_later_answers_are_compared_with(awareness: Awareness) -> None:
    document = with_changes(task_of(state=fields()), not_html=True)
    job = job_of(document, verdict_of(document, fields(), fields(), START))

    result = render(awareness, job, NEWER)

    assert result.state is not None
    assert result.flags == PageFlags()


@pytest.mark.parametrize(("before", "stored"), [(fields(created="2026"), False), (OLD, True)])
def test_T51_of_a_page_on_auto_a_state_is_stored_where_the_page_asks_or_asked_for_it(
    awareness: Awareness, before: FieldValues, *, stored: bool
) -> None:
    task = task_of(state=before)
    job = job_of(task, verdict_of(task, OLD, NEW, START))
    policy = msgspec.structs.replace(POLICY, mode="auto")

    result = render(awareness, job, fields(created="2027"), policy=policy)

    assert (result.state is not None) is stored


def test_one_rendering_answers_every_verdict_and_the_last_alert_goes_on_with_the_chain(awareness: Awareness) -> None:
    task = task_of(state=NEW)
    first = verdict_of(task, fields(), OLD, START - MINUTE, id_=40)
    job = job_of(task, first, verdict_of(task, OLD, NEW, START))

    result = render(awareness, job, NEWER)

    datas = [draft.event["data"] for draft in result.alerts]
    assert result.served == (40, 41)
    assert [data["latest"]["fields"]["topper-major"] for data in datas] == ["2026-01-02", "2026-01-02 2026-03-04"]
    assert datas[0]["rendered"] is None
    assert datas[1]["rendered"]["latest"]["fields"]["topper-major"] == "2026-01-02 2026-03-04 2026-05-06"


def test_T60_what_was_owed_is_told_in_a_recovered_event_of_its_question(awareness: Awareness) -> None:
    job = job_of(task_of(question_id=77), owed=True)

    result = render(awareness, job)

    (alert,) = result.alerts
    assert alert.type == "tocsin.page.recovered.v1"
    assert alert.event["data"]["question"]["id"] == "77"
    assert alert.event["data"]["rendering"]["status"] == 200
    assert result.recovered


def test_T60_what_a_rendering_stored_is_told_once(awareness: Awareness) -> None:
    task = task_of(question_id=77)
    both = render(awareness, job_of(task, verdict_of(task, OLD, NEW, START), owed=True), NEWER)
    owed_only = render(awareness, job_of(task, owed=True), NEWER)

    changed, recovered = (draft.event["data"]["rendered"] for draft in both.alerts)
    assert changed["latest"]["fields"]["topper-major"] == "2026-01-02 2026-03-04 2026-05-06"
    assert recovered is None
    assert owed_only.alerts[0].event["data"]["rendered"] == changed


def test_T60_a_rendering_that_failed_stays_owed_and_says_why(awareness: Awareness) -> None:
    error = FetchFailed("https://example.org/812", "status", "answered 503", status=503)

    result = awareness.failed(job_of(), [ATTEMPT, ATTEMPT], error)

    assert (result.prune, result.recovered, result.state, result.set_at) == (False, False, None, None)
    assert result.failure is not None
    assert (result.failure.cause, result.failure.during, len(result.failure.attempts)) == ("status 503", "rendering", 2)
    shown = result.alerts[0].event["data"]["rendering"]
    assert shown["error"] == {"kind": "status", "status": 503, "message": "answered 503"}
    assert (shown["received"], shown["same_state"]) == (None, None)


def test_T60_a_failure_of_what_is_owed_is_not_told_twice(awareness: Awareness) -> None:
    error = FetchFailed("https://example.org/812", "timeout", "no answer")

    result = awareness.failed(job_of(owed=True), [ATTEMPT], error)

    assert (result.alerts, result.served) == ((), ())
    assert result.failure is not None


def test_a_page_that_no_parser_may_be_given_is_a_failure(awareness: Awareness) -> None:
    with pytest.raises(FetchRefused, match="too-complex"):
        render(awareness, job_of(), body=b"<body>" * 100_000 + page_html(NEW))


def test_a_copy_is_told_of_and_stored_nowhere(awareness: Awareness) -> None:
    job = job_of(task_of(question_id=77), copy_url="https://archive.example/a")

    result = render(awareness, job, NEWER)

    assert (result.state, result.prune, result.set_at, result.served) == (None, False, None, ())
    assert (result.rendering.kind, result.recovered) == ("copy", True)


def test_a_copy_that_cannot_be_had_answers_no_verdict(awareness: Awareness) -> None:
    error = FetchFailed("https://archive.example/a", "timeout", "no answer")

    result = awareness.failed(job_of(copy_url="https://archive.example/a"), [ATTEMPT], error)

    assert (result.rendering.kind, result.served, result.alerts) == ("copy", (), ())


@given(body=st.binary(max_size=200), after=st.integers(-DAY, DAY))
def test_a_verdict_has_one_alert_whatever_a_rendering_finds(body: bytes, after: int) -> None:
    awareness = Awareness(EventWriter("tocsin", SeededChance()))

    result = render(awareness, job_of(), after=after, body=body)

    assert (len(result.alerts), result.served) == (1, (41,))
    assert (result.alerts[0].event["data"]["rendered"] is None) == (result.state is None or result.state.equal)


def test_T60_a_chosen_copy_that_robots_txt_forbids_is_a_failure_that_is_asked_about(awareness: Awareness) -> None:
    result = awareness.disallowed(job_of(copy_url="https://archive.example/a"), START, "forbidden by robots.txt")

    assert result.failure is not None
    assert (result.failure.cause, result.failure.silent, len(result.failure.attempts)) == ("copy disallowed", False, 1)


def test_T62_a_page_that_robots_txt_forbids_is_a_silent_failure_of_its_rendering(awareness: Awareness) -> None:
    result = awareness.disallowed(job_of(), START, "forbidden by robots.txt")

    assert result.failure is not None
    assert result.failure.silent


def job() -> RenderJob:
    return job_of(task_of(), verdict_of(task_of(), OLD, NEW, START))


def items_named(name: str) -> PageItems:
    found = pack(page(item(name=name)))
    return PageItems(START, found.digest, found.packed, found.count)


async def test_a_damaged_text_costs_the_difference_and_not_the_alert() -> None:
    telemetry = RecordingTelemetry()

    told = await Comparisons(Kept(latest=packed("Two bells.")[:-2]), telemetry).add_differences(job())

    assert told.verdicts[0].data["difference"] is None
    assert told.verdicts[0].data["outcome"] == job().verdicts[0].data["outcome"]
    (warned,) = telemetry.happenings
    assert (warned.name, warned.values["page_id"], warned.values["url"]) == (
        "text.damaged",
        job().page_id,
        job().task.url,
    )
    assert warned.values["error"]


async def test_damaged_items_cost_what_differs_and_not_the_alert() -> None:
    telemetry, latest = RecordingTelemetry(), items_named("latest")
    damaged = replace(latest, digest=b"other", packed=latest.packed[:-2])

    changes = await Comparisons(Kept(items=damaged), telemetry).compare_items(job(), latest)

    assert changes is None
    assert telemetry.names() == ["items.damaged"]


@pytest.mark.parametrize("what", ["texts", "items"])
async def test_the_loop_goes_on_while_contents_are_compared(monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    """Otherwise its other tasks would have no turn until the comparison is done."""
    begun, may_end = asyncio.Event(), threading.Event()
    owner, name = (TextPair, "difference") if what == "texts" else (comparing, "difference_of_items")
    loop, compare = asyncio.get_running_loop(), getattr(owner, name)
    before, latest = (packed(f"{word} rings.\n" * 99) for word in ("One bell", "Another one"))

    def held(*contents: object) -> Any:
        loop.call_soon_threadsafe(begun.set)
        assert may_end.wait(30), "the loop stood still meanwhile"
        return compare(*contents)

    async def compared() -> object:
        comparisons = Comparisons(Kept(before, latest, items_named("before")), RecordingTelemetry())
        if what == "texts":
            return (await comparisons.add_differences(job())).verdicts[0].data["difference"]
        return await comparisons.compare_items(job(), items_named("latest"))

    monkeypatch.setattr(owner, name, held)
    async with asyncio.TaskGroup() as group:
        comparison = group.create_task(compared())
        await begun.wait()
        may_end.set()

    assert comparison.result() is not None


async def test_a_short_difference_takes_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "A bell rings.\n" * 999
    monkeypatch.setattr(asyncio, "to_thread", None)

    compared = await Comparisons(Kept(packed(text), packed(text + "One more.")), RecordingTelemetry()).add_differences(
        job()
    )

    assert compared.verdicts[0].data["difference"]["added"] == ["One more."]


class HeldAwareness(Awareness):
    """Reads an answer once the loop has had a turn meanwhile; on the loop itself it would wait for ever."""

    def __init__(self) -> None:
        super().__init__(EventWriter("tocsin", SeededChance()))
        self.loop, self.may_end = asyncio.get_running_loop(), threading.Event()

    def look(self, job: RenderJob, rendered: Rendered, policy: PageSettings, now: Instant) -> RenderedAssessment:
        self.loop.call_soon_threadsafe(self.may_end.set)
        assert self.may_end.wait(30), "the loop stood still meanwhile"
        return super().look(job, rendered, policy, now)


async def test_the_loop_goes_on_while_a_large_page_is_read() -> None:
    task = task_of()
    rendered = rendered_of(task, body=page_html(NEW).ljust(LARGE_BYTES))

    looked = await Comparisons(Kept(), RecordingTelemetry()).look(
        HeldAwareness(), job_of(task), rendered, POLICY, START
    )

    assert looked.assessment.state.values == NEW
