"""Copies that pages name, what pages say to robots, and bytes that were not sent again."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec import structs

from tests.contract.desk import DAY, NOW, A, B, C, Desk, fields
from tocsin.model import CheckReport, CopyLink, Instruction, KnownCopy, NewState, PageFlags

LIST = "https://list.example/"


def copy(target: str, url: str, day: int | None = None) -> CopyLink:
    """A copy of this page that was made on this day of 2026."""
    if day is None:
        return CopyLink(target, url, None, None, None, "mset")
    return CopyLink(target, url, f"2026-01-{day:02}", NOW + day * DAY, "memento", "mset")


@pytest.fixture
async def desk(database: str, tmp_path: Path) -> AsyncIterator[Desk]:
    """A store with three pages and one that links to them."""
    desk = await Desk.at(tmp_path, database)
    async with desk.store:
        await desk.watch(A, B, C, LIST)
        yield desk


async def names(desk: Desk, *copies: CopyLink, on: str = LIST) -> None:
    """Let a page that is read whole name these copies."""
    await desk.check(on, copies=copies)


async def offered(desk: Desk, url: str = A) -> list[KnownCopy]:
    """The copies that the question of this page offers."""
    await desk.fail(url)
    question_id = (await desk.page(url)).question_id
    assert question_id is not None
    question = await desk.store.question(question_id)
    assert question is not None
    return list(question.copies)


async def test_MS12_a_question_offers_the_copies_of_its_page_newest_first(desk: Desk) -> None:
    await names(
        desk, copy(A, "https://old.example/"), copy(A, "https://x.example/", 2), copy(A, "https://y.example/", 9)
    )

    assert await offered(desk) == [
        KnownCopy(A, "https://y.example/", "2026-01-09", "memento", "mset", LIST),
        KnownCopy(A, "https://x.example/", "2026-01-02", "memento", "mset", LIST),
        KnownCopy(A, "https://old.example/", None, None, "mset", LIST),
    ]


async def test_MS13_the_question_that_is_announced_has_the_copies_too(desk: Desk) -> None:
    await names(desk, copy(A, "https://x.example/", 2))
    await desk.fail(A)

    (question,) = await desk.store.questions_to_announce(NOW + DAY)

    assert [known.url for known in question.copies] == ["https://x.example/"]


async def test_copies_of_other_pages_are_not_offered(desk: Desk) -> None:
    await names(desk, copy(B, "https://x.example/", 2), copy(f"{A}/", "https://y.example/", 2))

    assert await offered(desk) == []


async def test_a_page_read_whole_again_names_only_what_it_names_now(desk: Desk) -> None:
    await names(desk, copy(A, "https://x.example/", 2), copy(B, "https://x.example/b", 2))
    await names(desk, copy(A, "https://y.example/", 3))

    assert [known.url for known in await offered(desk)] == ["https://y.example/"]


async def test_a_check_that_did_not_read_the_whole_page_leaves_its_copies(desk: Desk) -> None:
    await names(desk, copy(A, "https://x.example/", 2))
    await desk.check(LIST)

    assert [known.url for known in await offered(desk)] == ["https://x.example/"]


async def test_a_rendering_remembers_the_copies_that_it_found(desk: Desk) -> None:
    await desk.check(LIST, "1")
    await desk.check(LIST, "2")
    await desk.render(LIST, copies=(copy(A, "https://x.example/", 2),))

    assert [known.url for known in await offered(desk)] == ["https://x.example/"]


async def test_copies_go_with_the_page_that_named_them(desk: Desk) -> None:
    await names(desk, copy(A, "https://x.example/", 2))
    await desk.store.remove_pages([(await desk.page(LIST)).id])

    assert await offered(desk) == []


async def test_a_copy_that_several_pages_name_is_offered_once(desk: Desk) -> None:
    await names(desk, copy(A, "https://x.example/", 2))
    await names(desk, copy(A, "https://x.example/"), on=C)

    assert [(known.url, known.seen_on) for known in await offered(desk)] == [("https://x.example/", LIST)]


async def test_a_page_is_no_copy_of_itself(desk: Desk) -> None:
    await names(desk, copy(A, A, 2))

    assert await offered(desk) == []


async def test_at_most_a_hundred_copies_are_offered(desk: Desk) -> None:
    await names(desk, *(copy(A, f"https://x.example/{number}", 1 + number % 28) for number in range(300)))

    assert len(await offered(desk)) == 100


async def test_T60_a_question_of_many_pages_offers_those_of_the_first_page_first(desk: Desk) -> None:
    await names(desk, copy(A, "https://x.example/a", 2), copy(B, "https://x.example/b", 9))
    await desk.fail(A)
    await desk.fail(B)

    (question,) = await desk.store.questions()
    of_all = await desk.store.question_copies(question.id)

    assert [known.url for known in question.copies] == ["https://x.example/a"]
    assert [(known.of, known.url) for known in of_all] == [(A, "https://x.example/a"), (B, "https://x.example/b")]


async def test_a_question_that_is_not_there_offers_nothing(desk: Desk) -> None:
    assert await desk.store.question_copies(77) == []


async def test_MS10_the_copies_of_any_page_can_be_asked_for(desk: Desk) -> None:
    await names(desk, copy(A, "https://x.example/a", 2), copy(A, "https://y.example/a"))

    assert [known.url for known in await desk.store.copies_of(A)] == ["https://x.example/a", "https://y.example/a"]
    assert await desk.store.copies_of(B) == []


async def test_a_copy_that_failed_leaves_what_is_owed_as_it_was(desk: Desk) -> None:
    await desk.check(A, "1")
    await desk.fail(A)
    await desk.store.answer(1, Instruction("copy", copy_url="https://x.example/"), scope="page", url=None, now=NOW)
    job = await desk.job(A)
    failed = desk.unrendered(job)
    await desk.store.commit_renderings(
        desk.claim, [structs.replace(failed, rendering=structs.replace(failed.rendering, kind="copy"))]
    )

    assert not (await desk.task(A)).owed
    assert len(await desk.store.questions()) == 1


async def test_LM45_what_a_page_says_to_robots_stands_in_its_row_until_it_is_read_again(desk: Desk) -> None:
    await desk.check(A, noindex=True, nofollow=True)
    first = await desk.page(A)
    task = await desk.task(A)
    await desk.check(A, noindex=False, nofollow=False)
    second = await desk.page(A)

    assert (first.flags.noindex, first.flags.nofollow) == (task.flags.noindex, task.flags.nofollow) == (True, True)
    assert (second.flags.noindex, second.flags.nofollow) == (False, False)


async def test_LM45_a_rendering_says_what_the_page_says_to_robots_now(desk: Desk) -> None:
    await desk.check(A, "1", noindex=True)
    await desk.check(A, "2", noindex=True)
    await desk.render(A, flags=PageFlags(nofollow=True))

    row = await desk.page(A)
    assert (row.flags.noindex, row.flags.nofollow) == (False, True)


async def test_bytes_that_were_not_sent_again_are_summed_up_in_the_pages_row(desk: Desk) -> None:
    await desk.check(A, body_bytes=700)
    spared = CheckReport(A, "unchanged", not_modified=True, saved_bytes=700)
    await desk.check(A, report=spared)
    await desk.check(A, report=spared, state=None)

    assert (await desk.task(A)).last.body_bytes == 700
    assert (await desk.page(A)).saved_bytes == 1400


async def test_the_length_of_a_body_is_that_of_the_state_stored_last(desk: Desk) -> None:
    await desk.check(A, body_bytes=700)
    await desk.check(A, body_bytes=800)
    of_equal = (await desk.task(A)).last.body_bytes
    await desk.check(A, "2", body_bytes=900)
    of_another = (await desk.task(A)).last.body_bytes
    found = NewState(NOW, fields("2"), equal=True, validators=None, body_digest=None, body_bytes=60)
    await desk.render(A, state=found)

    assert (of_equal, of_another, (await desk.task(A)).last.body_bytes) == (800, 900, 60)
