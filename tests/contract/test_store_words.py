"""Pages found by words: of URLs and of the user's own texts, as they come, change and go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.contract.desk import NOW, A, B, Desk, new_page
from tocsin.adapters.stores.sql.pages import words as word_search
from tocsin.adapters.stores.sql.pages.words import BLOCK_PAGES
from tocsin.model import BoundedCount, PageQuery

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

MANY = BLOCK_PAGES + 400
"""More pages than the words of are kept at once."""


def url(number: int) -> str:
    """The page's URL: it has a word with all others, one with each tenth, and one of its own."""
    return f"https://h{number % 7}.example/shared/tenth{number % 10}/own{number}z"


@pytest.fixture
async def many(tmp_path: Path) -> AsyncIterator[Desk]:
    """A store of more than one block of pages, numbered as their ids are."""
    desk = await Desk.at(tmp_path)
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
