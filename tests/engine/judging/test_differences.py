"""What differs in a page's text is in its alert; and texts of pages that want no copy kept are not."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.awareness import DAY, NEW, NEWER, OLD, Bench, fields, job_of, rendered_of, task_of
from tests.builders import received, stored, task
from tests.engine.rendering.kept import packed
from tests.fakes import START, SeededChance
from tocsin.adapters.stores import open_store
from tocsin.engine.judging.conclude import Conclusions
from tocsin.engine.judging.contents import difference_data
from tocsin.engine.judging.events import EventWriter
from tocsin.engine.rendering.awareness import Awareness
from tocsin.errors import FetchFailed
from tocsin.model import NO_COPY, CheckResult, FailureKind, JsonObject, KeptContents, PageTask, RenderCommit
from tocsin.settings import PageSettings
from tocsin.spec.signals.texts import unpack_text

LONG = "A paragraph that is long enough to count as the content of a page, with words that people would want to read."
MINUTE = 60_000_000


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    """A render queue over a real store."""
    store = await open_store(f"sqlite:{tmp_path / 'tocsin.db'}", engine=True)
    try:
        yield Bench(store)
    finally:
        await store.close()


def body(*, head: str = "", text: str = LONG) -> bytes:
    return f"<!doctype html><title>A page</title>{head}<main><h1>A page</h1><p>{text}</main>".encode()


def check(page: PageTask, answer: bytes, *, headers: dict[str, str] | None = None, **options: Any) -> CheckResult:
    conclusion = Conclusions(EventWriter("tocsin", SeededChance()), time_zone="UTC", **options)
    arrived = received(answer, headers=headers)
    return conclusion.of(page, PageSettings(), START).received(arrived, START, conditional=False, tried=0)


async def differences(bench: Bench) -> list[JsonObject | None]:
    return [event["data"]["difference"] for event in await bench.events()]


async def test_an_alert_shows_what_differs_from_the_text_before(bench: Bench) -> None:
    await bench.add("a")
    await bench.check("a", NEW, text="It rains. We open at nine.")
    await bench.clock.advance(60)
    await bench.check("a", NEWER, text="It rains. We open at ten.")

    await bench.drain()

    expected = {"added": ["We open at ten."], "removed": ["We open at nine."], "cut": False}
    assert [found and {key: found[key] for key in expected} for found in await differences(bench)] == [None, expected]


async def test_each_verdict_of_a_page_has_the_difference_of_its_own_time(bench: Bench) -> None:
    await bench.add("a")
    for state, text in ((NEW, "One bell."), (NEWER, "Two bells."), (OLD, "Three bells.")):
        await bench.clock.advance(60)
        await bench.check("a", state, text=text)

    await bench.drain()

    told = await differences(bench)
    assert [said["added"] if said else None for said in told] == [None, ["Two bells."], ["Three bells."]]


async def test_a_change_that_left_the_text_alone_has_no_difference(bench: Bench) -> None:
    await bench.add("a")
    for created, text in (("1", "One bell."), ("2", "Two bells."), ("3", None)):
        await bench.clock.advance(60)
        await bench.check("a", fields(created=created), text=text)

    await bench.drain()

    assert (await differences(bench))[-1] is None


async def test_an_alert_without_its_rendering_shows_what_differs_all_the_same(bench: Bench) -> None:
    await bench.add("a")
    await bench.check("a", NEW, text="One bell.")
    await bench.clock.advance(60)
    await bench.check("a", NEWER, text="Two bells.")
    refused = FetchFailed("https://example.org/a", FailureKind.CONNECT, "connection refused")
    bench.renderer.on("https://example.org/a", refused)

    await bench.drain()

    (*_, last) = await bench.events()
    assert last["data"]["rendering"]["error"] is not None
    assert last["data"]["difference"]["added"] == ["Two bells."]


def test_the_difference_of_long_texts_is_cut() -> None:
    before, latest = ("\n".join(f"{word} {n} {n % 7}" for n in range(2_000)) for word in ("old", "new"))

    found = difference_data(packed(before), packed(latest))

    assert found is not None
    assert found["cut"]


def test_texts_that_differ_in_spaces_alone_have_no_difference() -> None:
    assert difference_data(packed("a  b\n\nc"), packed("a b\nc")) is None


def test_the_text_of_a_page_is_kept_from_its_first_check_on() -> None:
    kept = check(task(), body()).learnt.snapshot

    assert kept is not None
    assert kept.at == START
    assert LONG in unpack_text(kept.packed)


@pytest.mark.parametrize(
    ("head", "headers"),
    [
        ('<meta name="robots" content="noindex">', None),
        ('<meta name="ROBOTS" content="follow, NoArchive">', None),
        ('<meta name="robots" content="none">', None),
        ("", {"x-robots-tag": "noarchive"}),
    ],
)
def test_of_a_page_that_wants_no_copy_kept_none_is_kept_and_those_that_were_go(
    head: str, headers: dict[str, str] | None
) -> None:
    first = check(task(), body(head=head), headers=headers)
    later = check(task(state=stored()), body(head=head, text=f"{LONG} And more."), headers=headers)

    assert first.learnt.snapshot == later.learnt.snapshot == NO_COPY


def test_where_no_texts_are_kept_at_all_those_of_such_a_page_go_too() -> None:
    page, none = task(state=stored()), KeptContents(texts=False)

    assert check(page, body(head='<meta name="robots" content="noindex">'), keeps=none).learnt.snapshot == NO_COPY
    assert check(task(), body(), keeps=none).learnt.snapshot is None


def test_a_page_that_was_not_modified_keeps_its_texts() -> None:
    page = task(state=stored(), set_at=START - DAY)
    conclusion = Conclusions(EventWriter("tocsin", SeededChance()), time_zone="UTC").of(page, PageSettings(), START)

    assert conclusion.received(received(status=304), START, conditional=True, tried=0).learnt.snapshot is None


def test_what_stands_in_the_place_of_a_page_takes_none_of_its_texts_away() -> None:
    page = task(state=stored(created="2026"))
    answer = received(b"%PDF-1.7", headers={"content-type": "application/pdf", "x-robots-tag": "noindex"})
    conclusion = Conclusions(EventWriter("tocsin", SeededChance()), time_zone="UTC").of(page, PageSettings(), START)

    result = conclusion.received(answer, START, conditional=False, tried=0)

    assert result.report.outcome == "suspect"
    assert result.learnt.snapshot is None


def rendering(answer: bytes, **options: Any) -> RenderCommit:
    """A rendering of a page whose check was a minute before."""
    page = task_of()
    rendered = rendered_of(page, at=START + MINUTE, body=answer)
    awareness = Awareness(EventWriter("tocsin", SeededChance()), **options)
    return awareness.given(job_of(page), rendered, PageSettings(), START + MINUTE)


def test_the_text_of_another_state_that_a_rendering_found_is_kept() -> None:
    head = '<meta name="topper-major" content="2026-07-08">'

    kept = rendering(body(head=head)).snapshot

    assert kept is not None
    assert LONG in unpack_text(kept.packed)
    assert rendering(body(head=head), keeps_texts=False).snapshot is None


def test_a_rendering_too_finds_that_no_copy_is_to_be_kept() -> None:
    head = '<meta name="topper-major" content="2026-07-08"><meta name="robots" content="noarchive">'

    assert rendering(body(head=head)).snapshot == NO_COPY


def test_what_came_too_soon_changes_nothing_of_what_is_kept() -> None:
    page = task(state=msgspec.structs.replace(stored(refresh="3600"), last_at=START - MINUTE))

    head = '<meta name="robots" content="noindex"><meta http-equiv="refresh" content="3600"><meta name="topper-major" '
    result = check(page, body(head=f'{head}content="2026">'))

    assert result.report.outcome == "too-soon"
    assert result.learnt.snapshot is None
