"""How words of pages are kept: whatever they are, an expression finds all pages that have one, and no other."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tocsin.adapters.stores.sql.pages.words import (
    BLOCK_PAGES,
    BLOCK_ROWS,
    MOST,
    Beginning,
    pack_block,
    repack,
    row_of,
    words_asked,
    words_in,
    words_of_page,
)

words = st.text("ab1é", min_size=1, max_size=3)
pages = st.dictionaries(st.integers(0, 40), st.lists(words, max_size=4), max_size=30)


def named(found: dict[int, list[str]]) -> list[tuple[int, str, None, str, None]]:
    """Pages with these words, in order of id."""
    return [(page_id, "", None, " ".join(found[page_id]), None) for page_id in sorted(found)]


def looked_for(rows: dict[int, bytes], word: str) -> set[int]:
    """The places that rows say have a word with this beginning."""
    beginning = Beginning(words_in(word)[0])
    kept = [row for number, row in rows.items() if beginning.first <= number <= beginning.last]
    return {place for row in kept for place in beginning.places(row)}


@given(pages, words)
def test_every_page_with_such_a_word_is_found_and_no_other(found: dict[int, list[str]], word: str) -> None:
    wanted = {page_id for page_id, has in found.items() if Beginning(words_in(word)[0]).is_in(words_in(" ".join(has)))}

    assert looked_for(pack_block(named(found)), word) == wanted


@given(pages, pages)
def test_what_is_taken_out_and_put_in_is_as_if_it_had_been_so(
    before: dict[int, list[str]], after: dict[int, list[str]]
) -> None:
    def places(of: dict[int, list[str]], row: int) -> dict[str, set[int]]:
        having: dict[str, set[int]] = {}
        for page_id, has in of.items():
            for word in words_in(" ".join(has)):
                if row_of(word) == row:
                    having.setdefault(word, set()).add(page_id)
        return having

    rows = pack_block(named(before))
    numbers = {*rows, *pack_block(named(after))}
    changed = {row: repack(rows.get(row, b""), places(before, row), places(after, row)) for row in numbers}

    assert {row: packed for row, packed in changed.items() if packed} == pack_block(named(after))


def test_a_whole_block_of_one_word_takes_a_few_bytes() -> None:
    (row,) = pack_block([(number, "", None, "same", None) for number in range(BLOCK_PAGES)]).values()

    assert len(row) < len("same") + 8
    assert Beginning("sa").places(row) == list(range(BLOCK_PAGES))


@given(st.text(min_size=1))
def test_a_word_has_its_row_within_the_block(text: str) -> None:
    for word in words_in(text):
        assert 0 <= row_of(word) < BLOCK_ROWS
        assert Beginning(word[0]).first <= row_of(word) <= Beginning(word[0]).last


@given(st.text(), st.text(), st.text())
def test_words_of_a_page_are_what_a_search_for_them_asks(url: str, text: str, title: str) -> None:
    has = words_of_page(url, None, text, title)

    assert len(has) <= MOST
    for word in has:
        assert words_asked(word) == [word]
