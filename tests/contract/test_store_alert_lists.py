"""Lists of alerts and questions for people, and what they have seen of them."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs

from tests.contract.desk import DAY, HOUR, MINUTE, NOW, A, B, C, Desk, alert
from tocsin.adapters.stores.sql.pages.walks import COUNTED
from tocsin.errors import UsageError
from tocsin.events import CHANGED, HOST_CHANGED, OUTAGE_BEGAN, OUTAGE_ENDED, RECOVERED, UNREACHABLE
from tocsin.model import AlertDraft, AlertQuery, BoundedCount, ChangeMark, DeliveryResult, Instruction


def told(name: str, kind: str = CHANGED, *, page_id: int | None = 1, **data: Any) -> AlertDraft:
    """An alert with what lists look at."""
    draft = alert(name, page_id, kind)
    return structs.replace(draft, event={**draft.event, "data": data})


async def listed(desk: Desk, limit: int = 2, **query: Any) -> list[str]:
    """The names of a list's alerts, a part at a time."""
    names: list[str] = []
    cursor: str | None = None
    while True:
        part = await desk.store.browse_alerts(AlertQuery(**query), cursor=cursor, limit=limit)
        names += [row.id.lstrip("0") for row in part.rows]
        cursor = part.next
        if cursor is None:
            assert await desk.store.tally_alerts(AlertQuery(**query)) == BoundedCount(len(names))
            return names


async def fill(desk: Desk) -> None:
    """Alerts of every kind: of a page and of none, major and minor, of two groups."""
    main: dict[str, Any] = {"page": {"group": "main"}}
    other: dict[str, Any] = {"page": {"group": "other"}}
    for draft in (
        told("a", outcome="major", **main),
        told("b", outcome="minor", **main),
        told("c", outcome="major", **other, page_id=2),
        told("d", UNREACHABLE, **main),
        told("e", RECOVERED, page_id=2, **other),
        told("f", OUTAGE_BEGAN, page_id=None),
        told("g", OUTAGE_ENDED, page_id=None),
        told("h", HOST_CHANGED, page_id=None, outcome="minor"),
    ):
        await desk.store.write_alert(draft)


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ({}, "hgfedcba"),
        ({"outcome": "major"}, "ca"),
        ({"outcome": "minor"}, "hb"),
        ({"kind": "changed"}, "cba"),
        ({"kind": "outage"}, "gf"),
        ({"kind": "storm"}, "h"),
        ({"problems": True}, "gfd"),
        ({"problems": True, "unseen": True}, "gfd"),
        ({"kind": "unreachable"}, "d"),
        ({"kind": "nothing"}, ""),
        ({"group": "main"}, "dba"),
        ({"group": "other"}, "ec"),
        ({"unseen": True, "group": "other"}, "ec"),
        ({"page_id": 2}, "ec"),
        ({"page_id": 1 << 70}, ""),
        ({"dead": True}, ""),
    ],
)
async def test_alerts_are_listed_by_what_they_are_the_latest_first(
    desk: Desk, query: dict[str, Any], names: str
) -> None:
    await desk.watch(A, B)
    await fill(desk)

    assert await listed(desk, **query) == list(names)


async def test_a_list_is_filtered_further_a_bounded_number_of_alerts_at_a_time(desk: Desk) -> None:
    names = [f"{number:04}" for number in range(1205)]
    for name in names:
        await desk.store.write_alert(told(name, page_id=None))
    rare = {"0003", "1100", "1101", "1102"}
    parts: list[list[str]] = []
    cursor: str | None = None
    while not parts or cursor is not None:
        part = await desk.store.browse_alerts(
            AlertQuery(), cursor=cursor, limit=2, takes=lambda alert: alert.id[-4:] in rare
        )
        parts.append([row.id[-4:] for row in part.rows])
        cursor = part.next

    assert parts == [["1102", "1101"], ["1100"], ["0003"]]


async def test_an_alert_that_two_channels_did_not_take_is_listed_once(desk: Desk) -> None:
    await desk.store.set_channels(["one", "two"])
    for name in "abc":
        await desk.store.write_alert(told(name, page_id=None))
    for name, channel in (("a", "one"), ("a", "two"), ("c", "two")):
        await desk.store.record_deliveries([DeliveryResult(name.rjust(26, "0"), channel, "dead", NOW, None, "no")])

    assert await listed(desk, dead=True) == ["c", "a"]


async def test_what_was_seen_is_in_no_list_of_the_unseen_until_it_is_marked_again(desk: Desk) -> None:
    await fill(desk)
    seen = [name.rjust(26, "0") for name in "ac"]

    assert await desk.store.mark_seen([*seen, "nothing"], NOW, seen=True) == 2
    assert await desk.store.mark_seen(seen, NOW + 1, seen=True) == 0
    assert await listed(desk, unseen=True) == list("hgfedb")
    assert await listed(desk, unseen=True, outcome="major") == []
    assert (await desk.store.browse_alerts(AlertQuery(outcome="major"))).rows[0].seen_at == NOW
    assert await desk.store.mark_seen(seen[:1], NOW, seen=False) == 1
    assert await listed(desk, unseen=True, outcome="major") == ["a"]


async def test_all_of_a_list_are_marked_up_to_what_was_shown(desk: Desk) -> None:
    await fill(desk)

    assert await desk.store.mark_all_seen(AlertQuery(group="main"), NOW, up_to=3) == 2
    assert await listed(desk, unseen=True) == list("hgfedc")
    assert await desk.store.mark_all_seen(AlertQuery(unseen=True), NOW, up_to=7) == 5
    assert await listed(desk, unseen=True) == ["h"]
    assert await desk.store.mark_all_seen(AlertQuery(), NOW, up_to=1 << 70) == 1


async def test_problems_that_were_seen_are_listed_among_all_alone(desk: Desk) -> None:
    await desk.watch(A, B)
    await fill(desk)

    assert await desk.store.mark_all_seen(AlertQuery(problems=True), NOW, up_to=6) == 2

    assert await listed(desk, problems=True, unseen=True) == ["g"]
    assert await listed(desk, problems=True) == ["g", "f", "d"]


async def test_a_thousand_and_more_are_marked_step_by_step(desk: Desk) -> None:
    await desk.watch(A)
    drafts = tuple(told(f"x{number}") for number in range(1203))
    await desk.check(A, alerts=drafts)

    assert await desk.store.mark_all_seen(AlertQuery(), NOW, up_to=1202) == 1202
    assert await listed(desk, unseen=True) == ["x1202"]


@pytest.mark.parametrize(
    "query",
    [
        AlertQuery(unseen=True, kind="changed"),
        AlertQuery(outcome="major", kind="changed"),
        AlertQuery(dead=True, page_id=1),
        AlertQuery(problems=True, outcome="major"),
        AlertQuery(problems=True, unseen=True, group="main"),
        AlertQuery(group="main", kind="changed"),
    ],
)
async def test_what_cannot_be_fast_is_refused_with_what_is_offered(desk: Desk, query: AlertQuery) -> None:
    for asked in (
        desk.store.browse_alerts(query),
        desk.store.tally_alerts(query),
        desk.store.mark_all_seen(query, NOW, up_to=1),
    ):
        with pytest.raises(UsageError, match="leave one of them out"):
            await asked


async def test_a_cursor_of_another_list_of_alerts_is_refused(desk: Desk) -> None:
    await fill(desk)
    cursor = (await desk.store.browse_alerts(AlertQuery(group="main"), limit=1)).next

    for query in (AlertQuery(), AlertQuery(group="other"), AlertQuery(kind="main")):
        with pytest.raises(UsageError, match="cursor"):
            await desk.store.browse_alerts(query, cursor=cursor)


async def test_T60_the_question_about_the_most_pages_comes_first(desk: Desk) -> None:
    urls = [f"https://h{host}.example/{number}" for host, pages in ((1, 1), (2, 3), (3, 2)) for number in range(pages)]
    await desk.watch(*urls)
    for url in urls:
        await desk.fail(url)

    first = await desk.store.browse_questions(limit=2)
    rest = await desk.store.browse_questions(cursor=first.next, limit=2)

    rows = [*first.rows, *rest.rows]
    assert [(row.host, row.pages) for row in rows] == [("h2.example", 3), ("h3.example", 2), ("h1.example", 1)]
    assert [row.pages for row in await desk.store.questions()] == [1, 3, 2]
    assert rest.next is None


async def test_T60_questions_that_ended_are_a_list_the_latest_first(desk: Desk) -> None:
    await desk.watch(A, C)
    for url in (A, C):
        await desk.fail(url)
    for url in (C, A):
        desk.now += HOUR
        await desk.check(url, recovery=None)

    assert [row.host for row in (await desk.store.browse_questions(closed=True)).rows] == ["one.example", "two.example"]
    assert (await desk.store.browse_questions()).rows == ()


async def test_T60_only_what_was_asked_and_has_no_answer_is_counted(desk: Desk) -> None:
    await desk.watch(A, C)
    for url in (A, C):
        await desk.fail(url)
    before = await desk.store.tally_questions()
    for question in await desk.store.questions():
        await desk.store.announce(question.id, alert(str(question.id), None, UNREACHABLE), NOW)
    asked = await desk.store.tally_questions()
    await desk.store.answer(1, Instruction("again"), scope="page", url=None, now=NOW)

    assert (before, asked, await desk.store.tally_questions()) == (BoundedCount(0), BoundedCount(2), BoundedCount(1))


async def test_T60_rules_in_force_are_a_list_the_latest_first(desk: Desk) -> None:
    await desk.watch(A, B, C)
    for url in (A, B, C):
        await desk.fail(url)
    for question in await desk.store.questions():
        await desk.store.answer(question.id, Instruction("never"), scope="page", url=None, now=NOW)

    first = await desk.store.browse_standing_answers(limit=2)
    rest = await desk.store.browse_standing_answers(cursor=first.next, limit=2)

    rows = [*first.rows, *rest.rows]
    assert rows == (await desk.store.standing_answers())[::-1]
    assert await desk.store.standing_answer(rows[0].id) == rows[0]
    assert (await desk.store.standing_answer(99), rest.next) == (None, None)


async def test_a_question_counts_pages_that_come_leave_and_are_removed(desk: Desk) -> None:
    await desk.watch(A, B)
    for url in (A, B):
        await desk.fail(url)
    await desk.store.remove_pages([1])

    assert [row.pages for row in (await desk.store.browse_questions()).rows] == [1]


async def test_T55_pages_that_wait_for_their_rendering_are_counted(desk: Desk) -> None:
    await desk.watch(A)
    await desk.check(A, "1")
    await desk.check(A, "2")

    assert (await desk.store.tally_renders(), COUNTED) == (BoundedCount(1), 10_000)


async def test_the_changes_of_a_page_since_a_time_are_read_without_what_changed(desk: Desk) -> None:
    (page_id, other) = await desk.watch(A, B)
    began = desk.now
    for url in (A, B):
        for number in range(4):
            desk.now += DAY
            await desk.check(url, f"2026-0{number + 1}")

    marks = await desk.store.change_marks(page_id, began + 3 * DAY, limit=10)

    assert marks == [ChangeMark(began + day * DAY, "major", "declared") for day in (4, 3)]
    assert len(await desk.store.change_marks(other, 0, limit=2)) == 2


async def test_states_verdicts_and_renderings_of_a_page_are_read_from_their_end(desk: Desk) -> None:
    (page_id,) = await desk.watch(A)
    for major in ("1", "2", "3"):
        desk.now += HOUR
        await desk.check(A, major)
        if major != "1":
            await desk.render(A)

    for records, number in ((desk.store.states_of, 3), (desk.store.verdicts_of, 2), (desk.store.renderings_of, 2)):
        first = await records(page_id, limit=1)
        rest = await records(page_id, cursor=first.next, limit=9)
        ids = [row.id for row in (*first.rows, *rest.rows)]
        assert (len(ids), ids, rest.next) == (number, sorted(ids, reverse=True), None)
        assert (await records(1 << 70)).rows == ()
    verdict = (await desk.store.verdicts_of(page_id)).rows[0]
    assert await desk.store.verdict(verdict.id) == verdict
    assert verdict.alert_id is not None
    assert await desk.store.verdict(99) is None
    newest = (await desk.store.states_of(page_id)).rows[0]
    assert (newest.fields, newest.in_table) == ((await desk.page(A)).state.fields, True)


async def test_alerts_of_a_time_are_those_that_were_told_in_it(desk: Desk) -> None:
    await desk.watch(A)
    for number, name in enumerate("abcd"):
        await desk.store.write_alert(alert(name, 1, at=NOW + number * MINUTE))

    assert await listed(desk, since=NOW + MINUTE) == ["d", "c", "b"]
    assert await listed(desk, until=NOW + MINUTE) == ["a"]
    assert await listed(desk, unseen=True, since=NOW + 1, until=NOW + 3 * MINUTE) == ["c", "b"]
    assert await listed(desk, since=NOW + DAY) == []


async def test_unseen_alerts_are_counted_by_group(desk: Desk) -> None:
    await desk.watch(A, B)
    assert await desk.store.unseen_by_group() == {}
    await fill(desk)

    await desk.store.mark_all_seen(AlertQuery(unseen=True, group="main"), NOW, up_to=2)

    assert await desk.store.unseen_by_group() == {"main": BoundedCount(1), "other": BoundedCount(2)}
