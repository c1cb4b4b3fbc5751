"""What is read or written of one page, group, host or storm leaves its neighbours alone, and is not taken from them.

Each test has a second one of the kind beside the first: a join or a key that is missing in a statement shows only then.
"""

from __future__ import annotations

from datetime import timedelta

from tests.contract.desk import DAY, HOUR, MINUTE, NOW, A, B, C, Desk, alert
from tests.contract.test_store_snapshots import keep, kept
from tests.contract.test_store_storms import change, waiting
from tocsin.adapters.stores.sql.attention.storms import LEAST_US
from tocsin.events import HOST_CHANGED
from tocsin.model import PageQuery
from tocsin.spec.signals.texts import unpack_text

D, E, F = "https://one.example/d", "https://one.example/e", "https://one.example/f"
OTHERS = ("https://two.example/d", "https://two.example/e", "https://two.example/f")


async def test_the_texts_around_an_instant_are_those_of_the_page(desk: Desk) -> None:
    first, second = await desk.watch(A, B)
    await keep(desk, A, "a, older")
    await keep(desk, B, "b, older")
    at_a, at_b = desk.now, desk.now + HOUR
    await desk.check(A, "2", snapshot=kept("a, latest", at_a))
    desk.now = at_b
    await desk.check(B, "2", snapshot=kept("b, latest", at_b))
    desk.now += HOUR
    await desk.check(A, "3", snapshot=kept("a, later still", desk.now))

    around = {page: await desk.store.texts_around(page, at) for page, at in ((first, at_a), (second, at_b))}

    told = {page: [unpack_text(text) for text in texts or ()] for page, texts in around.items()}
    assert told == {first: ["a, older", "a, latest"], second: ["b, older", "b, latest"]}


async def test_the_latest_text_is_that_of_the_page(desk: Desk) -> None:
    first, second = await desk.watch(A, B)
    await keep(desk, A, "of a, older", "of a")
    await keep(desk, B, "of b, older", "of b")

    texts = [await desk.store.latest_text(page) for page in (first, second)]

    assert [unpack_text(text) for text in texts if text is not None] == ["of a", "of b"]


async def test_T54_a_page_is_left_off_though_another_group_is_on(desk: Desk) -> None:
    await desk.watch(A, group="quiet")
    await desk.watch(C, group="loud")
    await desk.store.edit_group("quiet", NOW, settings={"mode": "off"}, unset=[])
    await desk.store.edit_group("loud", NOW, settings={"mode": "on"}, unset=[])

    quiet, loud = await desk.task(A), await desk.task(C)

    results = [desk.result(quiet, next_at=None, next_why="off"), desk.result(loud, next_at=NOW + HOUR)]
    await desk.store.commit(desk.claim, results)

    assert [(await desk.page(url)).due.at for url in (A, C)] == [None, NOW + HOUR]


async def test_a_question_names_the_group_of_its_own_page(desk: Desk) -> None:
    await desk.watch(A, group="papers")
    await desk.watch(C, group="shops")
    await desk.fail(A)
    await desk.fail(C)

    questions = await desk.store.questions()

    assert {(row.host, row.page.url, row.page.group) for row in questions} == {
        ("one.example", A, "papers"),
        ("two.example", C, "shops"),
    }


async def test_a_question_is_asked_when_it_was_gathered_itself(desk: Desk) -> None:
    await desk.watch(A, C)
    await desk.fail(A)
    desk.now += 59 * 1_000_000
    await desk.fail(C)
    desk.now += 2 * 1_000_000

    due = await desk.store.questions_to_announce(desk.now)

    assert [row.host for row in due] == ["one.example"]


async def test_a_storm_withholds_the_alerts_of_its_own_pages_only(desk: Desk) -> None:
    await desk.watch(A, B, D, *OTHERS)
    for url in (A, B, D, *OTHERS):
        await desk.check(url, "1")
    desk.now += HOUR
    await change(desk, *OTHERS[:2], key=b"another change")

    await change(desk, A, B, D)

    assert await waiting(desk) == {4, 5}
    assert [storm.host for storm in await desk.store.storms(limit=9)] == ["one.example"]


async def test_a_storm_that_withholds_alerts_leaves_those_that_an_earlier_one_let_through(desk: Desk) -> None:
    await desk.watch(A, B, D, E)
    for url in (A, B, D, E):
        await desk.check(url, "1")
    desk.now += HOUR
    # The alert of a page whose rendering waits for another verdict of its own is not withheld.
    await change(desk, A, B, D)
    (first,) = await desk.store.storms(limit=9)
    await desk.store.release_storm(first.id, desk.now)
    released = await waiting(desk)
    desk.now += MINUTE

    await change(desk, B, D, E, key=b"the next change")

    assert released == {1, 2, 3}
    assert {1, 2, 3} <= await waiting(desk)
    assert 4 not in await waiting(desk)


async def test_each_storm_is_told_in_its_own_time_with_its_own_host_and_pages(desk: Desk) -> None:
    await desk.watch(A, B, D, *OTHERS)
    for url in (A, B, D, *OTHERS):
        await desk.check(url, "1")
    desk.now += HOUR
    await change(desk, A, B, D)
    (first,) = await desk.store.storms_to_announce(desk.now + DAY)
    early, began = first.announce_at, desk.now
    desk.now += MINUTE
    await change(desk, *OTHERS)

    due = await desk.store.storms_to_announce(early)
    both = await desk.store.storms_to_announce(early + DAY)

    assert [(storm.host, storm.pages) for storm in due] == [("one.example", 3)]
    assert [(storm.host, storm.pages, storm.sample) for storm in both] == [
        ("one.example", 3, (A, B, D)),
        ("two.example", 3, OTHERS),
    ]
    assert [(storm.first_at, storm.latest_at) for storm in both] == [(began, began), (desk.now, desk.now)]


async def test_a_storm_that_was_told_leaves_the_next_one_to_be_told(desk: Desk) -> None:
    await desk.watch(A, B, D)
    for url in (A, B, D):
        await desk.check(url, "1")
    desk.now += HOUR
    await change(desk, A, B, D)
    (first,) = await desk.store.storms_to_announce(desk.now + DAY)
    await desk.store.announce_storm(first.id, alert("storm 1", None, HOST_CHANGED), desk.now, excerpt=None)
    desk.now += 3 * LEAST_US
    await change(desk, A, B, D, key=b"the next change")

    due = await desk.store.storms_to_announce(desk.now + DAY)

    assert [storm.id for storm in due] == [first.id + 1]


async def test_a_question_is_shown_with_the_page_that_failed_first_of_several(desk: Desk) -> None:
    for url, group in ((A, "papers"), (B, "shops"), (D, "maps")):
        await desk.watch(url, group=group)
    await desk.watch(C, group="far")
    for url in (B, A, D, C):
        await desk.fail(url)
    number = (await desk.page(B)).question_id or 0

    async def shown() -> set[tuple[str | None, str | None]]:
        rows = [
            await desk.store.question(number),
            *await desk.store.questions(),
            *(await desk.store.browse_questions()).rows,
            *await desk.store.questions_to_announce(desk.now + HOUR),
        ]
        found = [(row.page.url, row.page.group) for row in rows if row is not None and row.id == number]
        assert len(found) == 4
        return set(found)

    first = await shown()
    await desk.store.remove_pages([(await desk.page(B)).id])
    then = await shown()

    assert (first, then) == ({(B, "shops")}, {(A, "papers")})


async def test_questions_after_one_are_those_after_it(desk: Desk) -> None:
    await desk.watch(A, C)
    await desk.fail(A)
    await desk.fail(C)

    parts = [[row.host for row in await desk.store.questions(after_id=number, limit=1)] for number in (0, 1, 2)]

    assert parts == [["one.example"], ["two.example"], []]


async def test_pages_that_can_be_rendered_now_are_counted_and_no_others(desk: Desk) -> None:
    ids = await desk.watch(A, B, D, E)
    for url in (A, B, D, E):
        await desk.check(url, "1")
    desk.now += HOUR
    for url in (A, B, D, E):
        await desk.check(url, "2")
    await desk.edit(ids[0], paused=True)
    await desk.job(B)
    await desk.job(D)
    await desk.store.release_render(desk.claim, ids[2], not_before=desk.now + HOUR)

    counts = [await desk.store.count_waiting(now=at) for at in (desk.now, desk.now + HOUR)]

    assert counts == [1, 2]


async def test_texts_are_forgotten_of_the_pages_that_have_too_many(desk: Desk) -> None:
    await desk.watch(A, B)
    await keep(desk, A, "1", "2", "3")
    await keep(desk, B, "4")

    forgotten = await desk.store.prune_snapshots(desk.now, keep=timedelta(days=9), per_page=2, limit=9)

    assert forgotten == 1
    assert [len(await desk.store.snapshots(url, limit=9)) for url in (A, B)] == [2, 1]


async def test_beside_a_host_with_a_request_others_are_due_when_their_pages_are(desk: Desk) -> None:
    wanted, _, _, paused = await desk.watch(A, B, C, "https://two.example/paused")
    tasks = {task.url: task for task in await desk.due()}
    await desk.edit(paused, paused=True)
    await desk.store.request_check([wanted], desk.now)

    due, _ = await desk.store.commit(desk.claim, [desk.result(tasks[url], next_at=NOW + HOUR) for url in (B, C)])

    assert due == {tasks[B].host_id: 0, tasks[C].host_id: NOW + HOUR}


async def test_the_ids_of_a_host_are_those_of_its_own_pages(desk: Desk) -> None:
    first, _, second, third = await desk.watch(A, C, B, D)
    query = PageQuery(host="one.example")

    part = await desk.store.browse_ids(query, last_id=third, limit=2)
    rest = await desk.store.browse_ids(query, cursor=part.next, last_id=third, limit=2)
    whole = await desk.store.browse_ids(query, last_id=second, limit=9)

    assert [part.rows, rest.rows, whole.rows] == [(first, second), (third,), (first, second)]
