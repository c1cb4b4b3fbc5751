"""Microdata of a page: read with the page, kept where it may be, and compared at its renderings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from tests.awareness import DAY, NEW, NEWER, OLD, POLICY, SECOND, job_of, page_html, rendered_of, task_of, verdict_of
from tests.builders import URL, html, received, stored, task
from tests.engine.judging.items_of_pages import CANCELLED, EVENT, LATER, event, items_of
from tests.engine.rendering.kept import Kept
from tests.fakes import START, EagerClock, RecordingTelemetry, ScriptedFetcher, SeededChance
from tests.spec.microdata.making import item, page
from tocsin.engine.hosts.gates import Gates
from tocsin.engine.hosts.outage import OutageWatch
from tocsin.engine.hosts.process_limits import RequestSlots
from tocsin.engine.judging.conclude import Conclusions
from tocsin.engine.judging.contents import find_items
from tocsin.engine.judging.events import MAX_EVENT_BYTES, EventWriter
from tocsin.engine.policies import Policies
from tocsin.engine.rendering.awareness import Awareness, Comparisons
from tocsin.engine.rendering.renderer import PageRenderer
from tocsin.engine.visiting.receive import Receiver
from tocsin.model import (
    KEEPS_ALL,
    NO_ITEMS,
    CheckResult,
    JsonObject,
    KeptContents,
    PageItems,
    PageTask,
    ReceivedPage,
    RenderCommit,
    Rendered,
    StoredState,
    to_rfc3339,
)
from tocsin.settings import FetchSettings, HostSettings, PageSettings
from tocsin.spec.microdata.reading.packing import pack, unpack
from tocsin.spec.robots import Directives

MINUTE = 60 * SECOND
FORBIDDEN = [
    ('<meta name="robots" content="noindex">', {}),
    ('<meta name="ROBOTS" content="follow, NoArchive">', {}),
    ('<meta name="tocsin" content="none">', {}),
    ("", {"x-robots-tag": "noarchive"}),
]


# At checks ------------------------------------------------------------------------------------------------------


def check(page: PageTask, answer: ReceivedPage, keeps: KeptContents = KEEPS_ALL, **policy: Any) -> CheckResult:
    settings = msgspec.structs.replace(PageSettings(), **policy)
    conclusions = Conclusions(EventWriter("tocsin", SeededChance()), time_zone="UTC", keeps=keeps)
    conclusion = conclusions.of(page, settings, START)
    return conclusion.received(answer, START, conditional=answer.not_modified, tried=0)


def test_MD_19_the_items_of_a_page_are_read_at_its_first_check() -> None:
    found = check(task(), received(EVENT)).learnt.items

    assert found is not None
    assert (found.at, found.count) == (START, 1)
    kept = unpack(found.packed)
    assert kept.address == URL
    assert [each.text for each in kept.items[0].named("dtstart")] == ["2026-05-05"]


@pytest.mark.parametrize(
    ("head", "answer", "known", "title"),
    [
        ("<title>The\n council</title>", {}, None, "The council"),
        (f"<title>{'t' * 200}</title>", {}, None, "t" * 160),
        ("", {}, None, None),
        ("<title>The council</title>", {"content-type": "text/plain"}, None, None),
        # Later ones are read by renderings.
        ("<title>The council</title>", {}, stored(created="0"), None),
        *((f"<title>The council</title>{head}", headers, None, None) for head, headers in FORBIDDEN),
    ],
)
def test_the_title_of_a_page_is_read_at_its_first_check(
    head: str, answer: dict[str, str], known: StoredState | None, title: str | None
) -> None:
    page = f'<!doctype html>{head}<meta name="created" content="1"><p>Text'.encode()

    found = check(task(state=known), received(page, headers={"content-type": "text/html"} | answer))

    assert found.learnt.title == title


def test_that_a_page_has_none_is_known_from_its_first_check_on() -> None:
    found = check(task(), received(html(created="1"))).learnt.items

    assert found is not None
    assert (found.count, unpack(found.packed).all) == (0, ())


def test_a_page_that_came_with_its_states_from_elsewhere_has_its_items_read_when_it_is_received_first() -> None:
    found = check(task(state=stored(created="1")), received(EVENT)).learnt.items

    assert found is not None
    assert found.count == 1


def test_later_checks_leave_the_items_to_the_renderings() -> None:
    page = task(state=stored(created="1"), set_at=START - DAY)

    assert check(page, received(EVENT)).learnt.items is None
    assert check(page, received(status=304)).learnt.items is None


def test_a_page_that_is_not_stored_has_no_items_kept() -> None:
    result = check(task(), received(EVENT), mode="auto")

    assert (result.report.outcome, result.learnt.items) == ("not-subject", None)


@pytest.mark.parametrize(("head", "headers"), FORBIDDEN)
def test_LM45_of_a_page_that_wants_no_copy_kept_none_is_and_what_was_kept_goes(
    head: str, headers: dict[str, str]
) -> None:
    body = event("2026-05-05", head=head)

    assert check(task(), received(body, headers=headers)).learnt.items is None
    assert check(task(state=stored()), received(body, headers=headers)).learnt.items == NO_ITEMS


def test_where_the_user_keeps_no_items_none_are_and_what_was_kept_goes() -> None:
    known = task(state=stored(), set_at=START - DAY)

    assert check(task(), received(EVENT), KeptContents(items=False)).learnt.items is None
    assert check(known, received(EVENT), KeptContents(items=False)).learnt.items == NO_ITEMS
    assert check(known, received(status=304), KeptContents(items=False)).learnt.items is None


def test_where_the_user_keeps_no_items_those_of_a_page_that_came_with_the_same_bytes_go_too() -> None:
    first = check(task(), received(EVENT)).state
    assert first is not None
    known = task(state=stored(), body_digest=first.body_digest, set_at=START - DAY)

    assert check(known, received(EVENT)).learnt.items is None
    assert check(known, received(EVENT), KeptContents(items=False)).learnt.items == NO_ITEMS


def test_what_a_rendering_kept_of_a_page_that_says_so_again_goes() -> None:
    page = task(state=stored(), noindex=True)

    assert (
        check(page, received(event("2026-05-05", head='<meta name="robots" content="noindex">'))).learnt.items
        == NO_ITEMS
    )


def test_what_stands_in_the_place_of_a_page_or_comes_too_soon_takes_nothing_away() -> None:
    instead = {"content-type": "application/pdf", "x-robots-tag": "noindex"}
    soon = task(state=msgspec.structs.replace(stored(refresh="3600"), last_at=START - MINUTE))
    head = (
        '<meta name="robots" content="noindex"><meta http-equiv="refresh" content="3600"><meta name=created content=1>'
    )

    suspect = check(task(state=stored(created="2026")), received(b"%PDF-1.7", headers=instead))
    too_soon = check(soon, received(event("2026-05-05", head=head)))

    assert (suspect.report.outcome, suspect.learnt.items) == ("suspect", None)
    assert (too_soon.report.outcome, too_soon.learnt.items) == ("too-soon", None)


# Where the bytes are --------------------------------------------------------------------------------------------


async def render(
    body: bytes, *, copy_url: str | None = None, headers: Sequence[tuple[str, str]] = (), keeps_items: bool = True
) -> Rendered:
    job, web, clock = job_of(copy_url=copy_url), ScriptedFetcher(), EagerClock()
    web.page(copy_url or job.task.url, body, headers=(("content-type", "text/html"), *headers))
    receiver = Receiver(Gates(HostSettings(), clock), None, OutageWatch(clock), RequestSlots(1), FetchSettings(), clock)
    return await PageRenderer(receiver, web, Policies(POLICY), Watched(), clock, keeps_items=keeps_items).render(job)


class Watched:
    """Knows that every page is watched."""

    async def still_watched(self, page_ids: Sequence[int]) -> set[int]:
        return set(page_ids)


async def test_a_rendering_brings_the_items_of_the_page() -> None:
    rendered = await render(EVENT)

    assert rendered.items is not None
    assert (rendered.items.count, rendered.items.at) == (1, rendered.received_at)
    assert unpack(rendered.items.packed).address == rendered.final_url


async def test_a_rendering_of_a_page_without_items_says_that_it_has_none() -> None:
    rendered = await render(page_html(NEW))

    assert rendered.items is not None
    assert (rendered.items.count, unpack(rendered.items.packed).all) == (0, ())


async def test_CI08_of_a_page_that_is_too_complex_for_its_items_all_else_is_received() -> None:
    body = EVENT + b"<script>" + b"<" * 1_000_001

    rendered = await render(body)

    assert (rendered.title, rendered.items) == ("A page", None)
    assert rendered.unread == "too complex to be read for its items: more than 1000000 tags; split the page"
    first = check(task(), received(body))
    assert (first.report.outcome, first.learnt.items) == ("first", None)


async def test_a_rendering_brings_no_items_where_the_user_keeps_none() -> None:
    assert (await render(EVENT, keeps_items=False)).items == NO_ITEMS
    assert (await render(EVENT, copy_url="https://archive.example/a", keeps_items=False)).items is None


async def test_a_copy_elsewhere_has_no_items_of_the_page() -> None:
    assert (await render(EVENT, copy_url="https://archive.example/a")).items is None


@pytest.mark.parametrize(("head", "headers"), FORBIDDEN)
async def test_LM45_a_rendering_brings_no_items_of_a_page_that_wants_no_copy_kept(
    head: str, headers: dict[str, str]
) -> None:
    rendered = await render(event("2026-05-05", head=head), headers=tuple(headers.items()))

    assert rendered.items == NO_ITEMS


def test_a_page_that_may_not_be_kept_is_not_read_for_its_items() -> None:
    """It would be too complex to be."""
    deep = b"<div itemscope>" * 100_000

    assert find_items(URL, deep, "text/html", (), Directives(archive=False), START) == NO_ITEMS


# What follows ---------------------------------------------------------------------------------------------------


def concluded(rendered: Rendered, *, state: Any = NEW) -> RenderCommit:
    """A rendering of a page whose check was a minute before."""
    job = job_of(task_of(state=state))
    awareness = Awareness(EventWriter("tocsin", SeededChance()))
    return awareness.given(job, rendered, PageSettings(), START + MINUTE)


def rendered_with(body: bytes, items: PageItems | None, at: int = START + MINUTE) -> Rendered:
    return msgspec.structs.replace(rendered_of(task_of(), at=at, body=body), items=items)


def test_items_are_written_with_the_digest_that_the_page_has_for_its_bytes() -> None:
    result = concluded(rendered_with(EVENT, items_of("2026-05-05")))

    assert result.state is not None
    assert result.state.body_digest
    assert result.items == items_of("2026-05-05")


def test_a_rendering_that_is_too_early_to_store_its_state_keeps_its_items() -> None:
    result = concluded(rendered_with(EVENT, items_of("2026-05-05"), at=START + 1))

    assert result.state is None
    assert result.items is not None


def test_what_stands_in_the_place_of_the_page_has_no_items_of_it() -> None:
    login = b"<title>Log in</title><form><input type=password name=p><button>Log in</button></form>"

    result = concluded(rendered_with(login, items_of("2026-05-05")), state=NEWER)

    assert result.state is None
    assert result.items is None


async def compare(before: PageItems | None, found: PageItems | None) -> JsonObject | None:
    return await Comparisons(Kept(items=before), RecordingTelemetry()).compare_items(job_of(), found)


async def test_MD_19_a_date_that_changed_is_told_with_the_time_of_the_items_before() -> None:
    changes = await compare(items_of("2026-05-05"), items_of("2026-05-06"))

    assert changes is not None
    assert (changes["since"], changes["changed"]) == (to_rfc3339(START), 1)
    (change,) = changes["changes"]
    assert (change["property"], change["previous"], change["latest"]) == ("dtstart", ["2026-05-05"], ["2026-05-06"])


@pytest.mark.parametrize(
    ("before", "found"),
    [
        (None, LATER),
        (None, items_of()),
        (None, NO_ITEMS),
        (None, None),
        (LATER, None),
        (LATER, NO_ITEMS),
        (LATER, LATER),
        (items_of(), items_of()),
    ],
    ids=["first", "never any", "forbidden", "unread", "unread now", "forbidden now", "equal", "none any more"],
)
async def test_where_nothing_is_compared_nothing_is_told(before: PageItems | None, found: PageItems | None) -> None:
    assert await compare(before, found) is None


async def test_items_that_are_all_gone_are_told_as_removed() -> None:
    changes = await compare(LATER, items_of())

    assert changes is not None
    assert (changes["removed"], changes["added"]) == (1, 0)


async def test_items_that_differ_in_nothing_that_is_data_are_told_of_nothing() -> None:
    """Another title is no other item."""
    one, other = (pack(page(item(name="a"), title=title)) for title in ("One", "Two"))
    before, found = (PageItems(START, each.digest, each.packed, each.count) for each in (one, other))

    assert await compare(before, found) is None


async def test_of_more_than_is_kept_it_is_told_that_more_may_differ() -> None:
    def of(number: int) -> PageItems:
        packed = pack(page(item(name="a", description=f"{'x' * 300_000}{number}")))
        return PageItems(START, packed.digest, packed.packed, packed.count, packed.is_cut)

    changes = await compare(of(1), of(2))

    assert changes is not None
    assert (changes["cut"], changes["changed"], changes["changes"]) == (True, 0, [])
    assert await compare(of(1), of(1)) is None


# In alerts ------------------------------------------------------------------------------------------------------


def alerts_of(*, owed: bool, verdicts: int, changes: Any = CANCELLED) -> list[Any]:
    """What the alerts of a rendering say of items."""
    page = task_of()
    due = [verdict_of(page, OLD, NEW, START, id_) for id_ in range(41, 41 + verdicts)]
    awareness = Awareness(EventWriter("tocsin", SeededChance()))
    rendered = rendered_of(page, at=START + MINUTE)
    result = awareness.given(job_of(page, *due, owed=owed), rendered, POLICY, START + MINUTE, changes=changes)
    return [alert.event["data"]["items"] for alert in result.alerts]


def test_how_items_changed_is_told_once_by_the_last_verdict() -> None:
    assert alerts_of(owed=False, verdicts=3) == [None, None, CANCELLED]
    assert alerts_of(owed=True, verdicts=1) == [CANCELLED, None]


def test_a_page_that_is_received_again_tells_how_its_items_changed() -> None:
    assert alerts_of(owed=True, verdicts=0) == [CANCELLED]
    assert alerts_of(owed=True, verdicts=0, changes=None) == [None]


def test_a_copy_elsewhere_takes_nothing_from_the_items_of_the_page() -> None:
    job = job_of(copy_url="https://archive.example/a")
    rendered = msgspec.structs.replace(rendered_of(job.task), items=LATER)

    result = Awareness(EventWriter("tocsin", SeededChance())).given(job, rendered, POLICY, START)

    assert (result.items, result.changes, result.alerts[0].event["data"]["items"]) == (None, None, None)


def test_a_verdict_that_was_written_before_there_were_items_has_the_key_all_the_same() -> None:
    page = task_of()
    verdict = verdict_of(page, OLD, NEW, START)
    del verdict.data["items"]
    awareness = Awareness(EventWriter("tocsin", SeededChance()))

    result = awareness.given(job_of(page, verdict), rendered_of(page), POLICY, START)

    assert result.alerts[0].event["data"]["items"] is None


async def test_an_event_with_everything_in_it_is_no_longer_than_receivers_take() -> None:
    page = task_of(url="https://example.org/" + "a" * 2_000)
    verdict = verdict_of(page, OLD, (*["x" * 30_000] * 11, None), START)
    verdict.data["difference"] = {"added": ["é" * 1_000] * 20, "removed": ["é" * 1_000] * 20, "cut": True}
    before, found = (items_of(*[value * 300 for _ in range(100)]) for value in ("字", "é"))
    changes = await compare(before, found)
    awareness = Awareness(EventWriter("tocsin", SeededChance()))

    result = awareness.given(job_of(page, verdict), rendered_of(page), POLICY, START, changes=changes)

    event = result.alerts[0].event
    assert len(msgspec.json.encode(event)) <= MAX_EVENT_BYTES
    assert event["data"]["items"]["changed"] == 100
    assert event["data"]["page"]["url"] == page.url
