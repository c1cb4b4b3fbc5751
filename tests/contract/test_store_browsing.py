"""Lists of pages for people: pagination, tallies, and the search for words."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from tests.contract.desk import DAY, MINUTE, NOW, A, B, C, Desk, new_page, passing_desk
from tests.contract.stores import STORES
from tests.contract.test_store_items import change
from tocsin.adapters.stores.sql.pages import walks
from tocsin.adapters.stores.sql.pages import words as word_search
from tocsin.adapters.stores.sql.pages.walks import COUNTED
from tocsin.adapters.stores.sql.pages.words import BLOCK_PAGES
from tocsin.adapters.stores.sql.store import SqlStore
from tocsin.errors import UsageError
from tocsin.model import BoundedCount, PageQuery, PageRow, PageSort, RenderingRow, View

SOME = 5


async def walk(store: SqlStore, query: PageQuery, limit: int = SOME) -> list[PageRow]:
    """All pages of a list, a part at a time."""
    rows: list[PageRow] = []
    cursor: str | None = None
    while True:
        part = await store.browse_pages(query, cursor=cursor, limit=limit)
        assert len(part.rows) <= limit
        rows += part.rows
        cursor = part.next
        if cursor is None:
            return rows


async def ids_of(store: SqlStore, query: PageQuery) -> list[int]:
    """The ids of a list, as a job walks it."""
    ids: list[int] = []
    cursor: str | None = None
    while True:
        part = await store.browse_ids(query, cursor=cursor, limit=SOME, last_id=1 << 70)
        ids += part.rows
        cursor = part.next
        if cursor is None:
            return ids


async def urls(desk: Desk, **query: object) -> list[str]:
    """The URLs of a list."""
    return [row.url for row in await walk(desk.store, PageQuery(**query))]  # type: ignore[arg-type]  # as each test has it


@pytest.mark.parametrize("view", View)
async def test_every_view_is_empty_where_nothing_is_watched(desk: Desk, view: View) -> None:
    assert await desk.store.browse_pages(PageQuery(view)) == await desk.store.browse_pages(PageQuery(view, "main"))
    assert await desk.store.tally_pages(PageQuery(view)) == BoundedCount(0)


async def test_the_page_added_last_comes_first(desk: Desk) -> None:
    await desk.watch(A, B, C)

    assert await urls(desk) == [C, B, A]


async def test_what_changed_last_comes_first_of_what_has_changed(desk: Desk) -> None:
    await desk.watch(A, B, C)
    for url in (B, A):
        await desk.check(url, "1")
        desk.now += MINUTE
        await desk.check(url, "2")

    assert await urls(desk, view=View.CHANGED) == [A, B]
    assert await urls(desk, view=View.CHANGED, group="main") == [A, B]


async def test_T53_a_page_that_declares_something_is_listed_as_long_as_it_does(desk: Desk) -> None:
    await desk.watch(A, B)
    await desk.check(A, "1")
    await desk.check(B)
    declaring = await urls(desk, view=View.DECLARING)
    desk.now += DAY
    await desk.check(A)

    assert (declaring, await urls(desk, view=View.DECLARING)) == ([A], [])


async def test_T53_a_failed_check_takes_no_declaration_back(desk: Desk) -> None:
    await desk.watch(A)
    await desk.check(A, "1")
    desk.now += DAY
    await desk.fail(A)

    assert await urls(desk, view=View.DECLARING) == [A]


async def test_T60_what_was_not_received_is_a_problem_and_asked_about_until_it_is(desk: Desk) -> None:
    await desk.watch(A, B)
    await desk.fail(A)
    before = await urls(desk, view=View.PROBLEMS), await urls(desk, view=View.ASKED), await urls(desk, view=View.NEW)
    desk.now += DAY
    await desk.check(A)

    assert before == ([A], [A], [B])
    assert await urls(desk, view=View.PROBLEMS) == await urls(desk, view=View.ASKED) == []


async def test_T52_pages_that_are_paused_or_off_are_lists(desk: Desk) -> None:
    first, second, _ = await desk.watch(A, B, C)
    await desk.edit(first, paused=True)
    await desk.edit(second, settings={"mode": "off"})

    assert (await urls(desk, view=View.PAUSED), await urls(desk, view=View.OFF)) == ([A], [B])


async def test_a_page_moves_from_the_list_of_its_group_to_that_of_another(desk: Desk) -> None:
    first, _ = await desk.watch(A, B)
    await desk.edit(first, group="mine")

    assert (await urls(desk, group="mine"), await urls(desk, group="main")) == ([A], [B])
    assert [(row.name, row.pages) for row in await desk.store.group_rows()] == [("main", 1), ("mine", 1)]


async def test_a_host_has_a_list_of_its_own(desk: Desk) -> None:
    await desk.watch(A, B, C)

    assert await urls(desk, host="one.example") == [B, A]
    assert await urls(desk, host="nowhere.example") == []
    assert await desk.store.tally_pages(PageQuery(host="one.example")) == BoundedCount(2)


@pytest.mark.parametrize(
    "query",
    [
        PageQuery(View.NEW, host="one.example"),
        PageQuery(group="main", words="one"),
        PageQuery(host="one.example", words="one"),
        PageQuery(words="  --  "),
        PageQuery(words=" ".join("abcdefghijklmnopq")),
    ],
)
async def test_what_cannot_be_fast_is_refused_with_what_is_offered(desk: Desk, query: PageQuery) -> None:
    for asked in (desk.store.browse_pages(query), desk.store.tally_pages(query)):
        with pytest.raises(UsageError, match=r"leave one of them out|give"):
            await asked


@pytest.mark.parametrize("cursor", ["", "x", "é", "AAAA", "a" * 4000, "bnVsbA", "////", "=", "gqFh"])
async def test_a_cursor_that_was_made_up_is_refused(desk: Desk, cursor: str) -> None:
    with pytest.raises(UsageError, match="cursor: invalid; pass"):
        await desk.store.browse_pages(PageQuery(), cursor=cursor)


async def test_a_cursor_of_another_list_is_refused(desk: Desk) -> None:
    await desk.watch(A, B)
    cursor = (await desk.store.browse_pages(PageQuery(), limit=1)).next

    for other in (PageQuery(View.NEW), PageQuery(group="main"), PageQuery(host="one.example")):
        with pytest.raises(UsageError, match="cursor"):
            await desk.store.browse_pages(other, cursor=cursor)


async def test_a_tally_ends_where_counting_on_would_take_too_long(desk: Desk) -> None:
    await desk.store.add_pages([new_page(f"https://one.example/{n}") for n in range(COUNTED + 1)], NOW)

    tallies = [
        await desk.store.tally_pages(query)
        for query in (PageQuery(), PageQuery(group="main"), PageQuery(View.NEW), PageQuery(host="one.example"))
    ]

    exact, counted = BoundedCount(COUNTED + 1), BoundedCount(COUNTED, is_exact=False)
    assert tallies == [exact, exact, counted, counted]


async def test_one_page_and_its_revision_are_found_by_id(desk: Desk) -> None:
    (page_id,) = await desk.watch(A)
    before = await desk.store.page_revision(page_id)
    await desk.check(A, "1")
    checked = await desk.store.page_revision(page_id)
    await desk.edit(page_id, text="mine")

    page = await desk.store.page_by_id(page_id)
    assert page == await desk.store.page(A)
    assert (before, checked, await desk.store.page_revision(page_id)) == (0, 0, 1)
    for unknown in (0, -1, 99, 1 << 70):
        assert await desk.store.page_by_id(unknown) is None
        assert await desk.store.page_revision(unknown) is None


async def test_pages_are_found_by_their_ids_at_once(desk: Desk) -> None:
    first, second = await desk.watch(A, B)

    found = await desk.store.pages_by_id([second, 99, first, 1 << 70, second])

    assert [page.url for page in found] == [A, B]
    assert await desk.store.pages_by_id([]) == []


async def test_a_state_is_found_by_its_id_among_those_of_its_page_and_the_one_before_it(desk: Desk) -> None:
    page_id, other = await desk.watch(A, B)
    for year in ("2024", "2025", "2026"):
        await desk.check(A, year)
    await desk.check(B, "2020")
    listed = (await desk.store.states_of(page_id)).rows
    (elsewhere,) = (await desk.store.states_of(other)).rows

    assert [await desk.store.state(page_id, entry.id) for entry in listed] == list(listed)
    assert [await desk.store.state_before(page_id, entry.id) for entry in listed] == [*listed[1:], None]
    for unknown in (elsewhere.id, 0, 99, 1 << 70):
        assert await desk.store.state(page_id, unknown) is None


async def test_an_edit_of_a_group_or_of_all_pages_moves_its_own_revision(desk: Desk) -> None:
    await desk.watch(A)
    await desk.store.edit_group("main", NOW, settings={"tell": "major"}, unset=())
    await desk.store.edit_group(None, NOW, settings={"tell": "any"}, unset=())
    await desk.check(A, "1")

    assert [(row.name, row.revision) for row in await desk.store.group_rows()] == [("main", 1)]
    assert await desk.store.revision_for_all() == 1


GROUPS = ("main", "a", "b")
Step = tuple[str, int, str]


def steps() -> st.SearchStrategy[list[Step]]:
    """What is done between two looks at a list: something, to a page, with a group."""
    kinds = st.sampled_from(("add", "remove", "pause", "move", "check", "fail", "change"))
    return st.lists(st.tuples(kinds, st.integers(0, 30), st.sampled_from(GROUPS)), max_size=12)


async def do(desk: Desk, step: Step, known: dict[int, str]) -> None:
    """Do it."""
    kind, number, group = step
    if kind == "add":
        url = f"https://h{number % 3}.example/{len(known)}-{number}"
        known.update(dict.fromkeys(await desk.watch(url, group=group), url))
        return
    page_id = sorted(known)[number % len(known)] if known else None
    if page_id is None:
        return
    if kind == "remove":
        await desk.store.remove_pages([page_id])
        del known[page_id]
    elif kind == "pause":
        await desk.edit(page_id, paused=bool(number % 2))
    elif kind == "move":
        await desk.edit(page_id, group=group)
    else:
        desk.now += MINUTE
        task = next((task for task in await desk.due() if task.page_id == page_id), None)
        if task is not None:
            result = desk.failed(task, "connect") if kind == "fail" else desk.result(task, str(number))
            await desk.store.commit(desk.claim, [result])


@pytest.mark.parametrize("database", STORES)
@settings(max_examples=8, deadline=None)
@given(
    before=steps(),
    meanwhile=steps(),
    view=st.sampled_from(View),
    group=st.sampled_from((None, *GROUPS)),
    since=st.integers(0, 9).map(lambda minutes: NOW + minutes * MINUTE),
)
async def test_a_list_that_is_walked_gives_each_page_once_and_in_order(
    database: str, before: list[Step], meanwhile: list[Step], view: View, group: str | None, since: int
) -> None:
    query, known = PageQuery(view, group, since=since), dict[int, str]()
    async with passing_desk(database) as desk:
        store = desk.store
        for number in range(8):
            await do(desk, ("add", number, GROUPS[number % 3]), known)
        for step in before:
            await do(desk, step, known)

        whole = await walk(store, query, limit=100)
        walked = await walk(store, query, limit=2)
        assert walked == whole
        assert await store.tally_pages(query) == BoundedCount(len(whole))
        assert {row.id for row in whole} == set(await ids_of(store, query))

        first = await store.browse_pages(query, limit=2)
        for step in meanwhile:
            await do(desk, ("add", *step[1:]), known)
        rest = first.next and await store.browse_pages(query, cursor=first.next, limit=100)
        # What comes while a list is walked stands before what was seen of it.
        assert [*first.rows, *(rest.rows if rest else ())] == whole
        assert await store.check() == []


def order_of(row: PageRow, sort: PageSort) -> tuple[bool, Any]:
    """What a page is sorted by; without a value it comes last."""
    changed = row.last.changed_at
    value = {
        PageSort.CHANGED: None if changed is None else -changed,
        PageSort.TITLE: row.title and row.title[:16].lower(),
        PageSort.NEXT: None if row.paused else row.due.at,
        PageSort.HOST: row.host,
    }[sort]
    return value is None, value or 0


@pytest.mark.parametrize("database", STORES)
@settings(max_examples=8, deadline=None)
@given(
    before=steps(), view=st.sampled_from((View.ALL, View.CHANGED, View.PROBLEMS)), group=st.sampled_from((None, "a"))
)
async def test_a_list_is_given_whole_in_each_order_a_part_at_a_time(
    database: str, before: list[Step], view: View, group: str | None
) -> None:
    known = dict[int, str]()
    async with passing_desk(database) as desk:
        for number, title in enumerate(
            ("Minutes of the board", "agenda", "Agenda", "minutes of the bored", None, "Zoo")
        ):
            await do(desk, ("add", number, GROUPS[number % 2]), known)
            if title is not None:
                desk.behind.alter("insert into summaries (page_id, title) values (?, ?)", max(known), title)
        for step in before:
            await do(desk, step, known)
        plain = await walk(desk.store, PageQuery(view, group))

        for sort in PageSort:
            found = await walk(desk.store, PageQuery(view, group, sort=sort), limit=2)

            assert sorted(row.id for row in found) == sorted(row.id for row in plain)
            keys = [order_of(row, sort) for row in found]
            assert keys == sorted(keys)
            assert await ids_of(desk.store, PageQuery(view, group, sort=sort)) == await ids_of(
                desk.store, PageQuery(view, group)
            )


async def test_quiet_pages_did_not_change_since_a_time_and_were_added_before_it(desk: Desk) -> None:
    await desk.watch(A, B, C)
    for url in (A, B):
        await desk.check(url, "1")
    desk.now += MINUTE
    await desk.check(B, "2")
    since = desk.now = desk.now + MINUTE
    await desk.check(A, "2")
    await desk.watch("https://late.example/")

    assert await urls(desk, view=View.QUIET, since=since) == [B, C]
    assert await urls(desk, view=View.RECENT, since=since) == [A]
    assert await desk.store.tally_pages(PageQuery(View.QUIET, since=since)) == BoundedCount(2)


@pytest.mark.parametrize(
    "query", [PageQuery(View.QUIET, sort=PageSort.TITLE), PageQuery(host="one.example", sort=PageSort.TITLE)]
)
async def test_an_order_that_is_not_offered_is_refused(desk: Desk, query: PageQuery) -> None:
    with pytest.raises(UsageError, match="leave"):
        await desk.store.browse_pages(query)


async def test_a_long_list_without_an_index_for_an_order_is_refused_in_it(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walks, "MOST_SORTED", 1)
    await desk.watch(A, B)

    for sort, group in ((PageSort.NEXT, None), (PageSort.TITLE, "main"), (PageSort.HOST, "main")):
        with pytest.raises(UsageError, match="more than 1 pages"):
            await desk.store.browse_pages(PageQuery(group=group, sort=sort))
    assert await urls(desk, sort=PageSort.HOST) == [A, B]


async def test_pages_without_an_index_are_looked_for_a_fixed_number_at_a_time(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walks, "LOOKED_AT", 1)
    await desk.watch(A, B, C)
    await desk.check(B, "1")
    desk.now += MINUTE
    await desk.check(B, "2")

    assert await urls(desk, sort=PageSort.CHANGED) == [B, C, A]
    assert sorted(await ids_of(desk.store, PageQuery(View.QUIET, since=desk.now))) == [1, 3]


@pytest.mark.parametrize("database", STORES)
@settings(max_examples=6, deadline=None)
@given(before=steps())
async def test_the_lists_of_all_groups_are_the_list_of_all(database: str, before: list[Step]) -> None:
    known = dict[int, str]()
    async with passing_desk(database) as desk:
        store = desk.store
        for step in before:
            await do(desk, step, known)
        for view in View:
            all_of_them = [row.id for row in await walk(store, PageQuery(view))]
            by_group = [row.id for group in GROUPS for row in await walk(store, PageQuery(view, group))]

            assert Counter(all_of_them) == Counter(by_group)
        assert {row.id for row in await walk(store, PageQuery())} == set(known)


MANY = BLOCK_PAGES + 400
"""More pages than the words of are kept at once."""


def url(number: int) -> str:
    """The page's URL: it has a word with all others, one with each tenth, and one of its own."""
    return f"https://h{number % 7}.example/shared/tenth{number % 10}/own{number}z"


@pytest.fixture
async def many(database: str, tmp_path: Path) -> AsyncIterator[Desk]:
    """A store of more than one block of pages, numbered as their ids are."""
    desk = await Desk.at(tmp_path, database)
    async with desk.store:
        await desk.store.add_pages([new_page(url(number)) for number in range(1, MANY + 1)], NOW)
        yield desk
        assert await desk.store.check() == []


async def found(desk: Desk, words: str) -> list[int]:
    """The ids of all pages that a search finds."""
    ids: list[int] = []
    cursor: str | None = None
    while True:
        part = await desk.store.browse_pages(PageQuery(words=words), cursor=cursor, limit=1000)
        ids += [row.id for row in part.rows]
        cursor = part.next
        if cursor is None:
            return ids


async def met(desk: Desk, words: str) -> list[int]:
    """The same as a job walks it."""
    ids: list[int] = []
    cursor: str | None = None
    while True:
        part = await desk.store.browse_ids(PageQuery(words=words), cursor=cursor, limit=999, last_id=MANY)
        ids += part.rows
        cursor = part.next
        if cursor is None:
            return ids


async def test_a_search_finds_what_has_a_word_with_each_beginning(many: Desk) -> None:
    for words in ("shared", "tenth3", "own41", "own17z", "nothing", "shared h2 tenth4", "h1 h2", "s", "o t"):
        wanted = [
            number
            for number in range(MANY, 0, -1)
            if all(any(part.startswith(word) for part in url(number).split("/")) for word in words.split())
        ]

        assert await found(many, words) == wanted
        assert await met(many, words) == wanted[::-1]
        assert await many.store.tally_pages(PageQuery(words=words)) == BoundedCount(len(wanted))


async def test_a_search_that_would_take_too_long_gives_a_part_and_goes_on(
    many: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = await found(many, "shared tenth3")
    monkeypatch.setattr(word_search, "LOOKED_AT", 1)

    first = await many.store.browse_pages(PageQuery(words="nothing"))
    assert (first.rows, first.next is None) == ((), False)
    assert await found(many, "shared tenth3") == whole
    assert await met(many, "shared tenth3") == whole[::-1]
    assert not (await many.store.tally_pages(PageQuery(words="nothing"))).is_exact


async def test_a_page_is_found_by_its_title_as_soon_as_that_is_known(many: Desk) -> None:
    old, gone, late = 17, 24, MANY - 9
    for number in (old, gone, late):
        await many.check(url(number), "0", title="Räte: the 2nd Meeting")
    every = [late, gone, old]
    wanted = {"rate": [], "räte meet": every, "meeting h3": [gone, old], "meeting tenth7": [late, old]}
    for words, pages in wanted.items():
        assert await found(many, words) == pages, words
        assert await met(many, words) == pages[::-1]
        assert await many.store.tally_pages(PageQuery(words=words)) == BoundedCount(len(pages))
    await many.store.remove_pages([gone])
    await many.edit(old, text="custard")
    assert await many.store.check() == []

    assert await many.store.keep_titles() == 1
    assert await many.store.keep_titles() == 0
    assert await found(many, "räte meet") == [late, old]
    assert await found(many, "custard meeting") == [old]


async def test_a_page_is_found_by_its_title_of_now_once_that_is_among_its_words(many: Desk) -> None:
    await many.check(url(17), "0", title="The council")
    await many.store.keep_titles()
    row = RenderingRow("http", 1, 1, 200, url(17), "text/html", "A", 1, "sha256:1", same_state=True, error=None)
    await change(many, url(17), "1", rendering=structs.replace(row, title="The board"), copies=())

    assert await found(many, "board") == [17]
    await many.edit(17, text="custard")
    assert await many.store.check() == []
    await many.store.keep_titles()

    assert await found(many, "council") == []
    assert await found(many, "board custard own17z") == [17]


async def test_what_is_removed_or_given_another_text_is_found_by_what_it_is(many: Desk) -> None:
    old, late = 17, MANY - 3
    await many.edit(old, text="Rubarb, and custard")
    await many.edit(late, text="custard")
    both = await found(many, "cust")
    await many.edit(old, text="rubarb")
    await many.store.remove_pages([late, 18])

    assert both == [late, old]
    assert (await found(many, "cust"), await found(many, "RUBARB own"), await found(many, "own18z")) == ([], [old], [])


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("größe", "GRÖSSE der Seite"),
        ("\uff34\uff2f\uff23", "toc of full width"),
        ("東京", "東京の天気"),
        ("https://one.example/a", None),
        ("ONE.example", None),
        ("x" * 40, "x" * 30),
        ("caf", "café"),
    ],
)
async def test_case_form_and_scheme_make_no_difference(desk: Desk, words: str, text: str | None) -> None:
    first, _ = await desk.watch(A, B)
    await desk.edit(first, text=text, clear_text=text is None)

    assert first in await found(desk, words)


async def test_a_path_is_found_as_it_reads_and_as_it_was_typed(desk: Desk) -> None:
    await desk.watch("https://one.example/t%C3%AAte", given="https://one.example/Tête-à-tête")

    assert await found(desk, "tête") == [1]
    assert await found(desk, "à") == [1]


@pytest.mark.parametrize("words", ["' or 1=1 --x", "%x", "a*", '"quoted', "NEAR(a b)", "x\x00y", "\\d", "[a", "x\x02"])
async def test_signs_in_a_search_are_only_signs(desk: Desk, words: str) -> None:
    await desk.watch(A)
    parts: Any = await desk.store.browse_pages(PageQuery(words=words))

    assert {row.url for row in parts.rows} <= {A}
