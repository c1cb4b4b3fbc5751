"""Of a page only as much is parsed as can say what is asked for."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.spec.html.test_truncation import PIECES, PLANT, mangled, real_like
from tocsin.errors import TooComplex
from tocsin.spec.html.document import read_metas
from tocsin.spec.html.page import read_page
from tocsin.spec.topper.state import FIELDS, SIGNS, fields_of, read_state

if TYPE_CHECKING:
    from tocsin.spec.html.document import Meta

DULL = "<meta name=viewport content=x>"
SPOKEN = [
    "<meta name=Created content=2026>",
    "<meta name='&#116;opper' content=&quot;>",
    "<meta property='og:x article:modified_time' content=2026>",
    "<meta http-equiv=REFRESH content=5>",
    "<meta content='<meta name=created content=2>' name=page-version>",
    "<meta a='<meta name=x>' name=topper content=1>",
    "<meta name=x content='<meta name=x' /><meta charset=koi8-r>",
    "<meta itemprop=topper content=1>",
    "<meta \x02\x03\x02>",
    "topper",
    "&",
    DULL,
]


def those_that_speak(metas: tuple[Meta, ...]) -> list[Meta]:
    return [meta for meta in metas if fields_of(meta)]


def test_a_sign_stands_in_the_name_of_every_field() -> None:
    assert all(any(sign in field.encode() for sign in SIGNS) for field in FIELDS)


def test_a_page_without_a_sign_is_not_parsed() -> None:
    body = (DULL + "<html a>" * 100_000 + DULL).encode()

    assert read_metas(body, "utf-8", SIGNS).metas == ()
    with pytest.raises(TooComplex):
        read_metas(body, "utf-8")


def test_what_follows_the_last_sign_is_not_looked_at() -> None:
    body = (PLANT + "<html a>" * 100_000 + DULL).encode()

    assert those_that_speak(read_metas(body, "utf-8", SIGNS).metas) == list(read_metas(PLANT.encode(), "utf-8").metas)


@pytest.mark.parametrize("source", SPOKEN)
@pytest.mark.parametrize("before", ["", DULL, "<!--", "<script>topper", "<template>"])
@pytest.mark.parametrize("after", ["", DULL, "<p>topper" + DULL, "<meta name=x content='>", "<frameset>"])
def test_an_element_that_says_what_is_asked_for_is_found_among_others(before: str, source: str, after: str) -> None:
    body = (before + source + after).encode()

    found = read_metas(body, "utf-8", SIGNS).metas

    assert those_that_speak(found) == those_that_speak(read_metas(body, "utf-8").metas)


@given(st.integers(0, 2**32), st.integers(0, 12), st.lists(st.sampled_from(SPOKEN), max_size=3))
def test_a_state_is_that_of_all_elements(seed: int, changes: int, spoken: list[str]) -> None:
    chance = Random(seed)  # noqa: S311 - a page that can be made again
    page = real_like(chance)
    for source in spoken:
        place = chance.randrange(len(page) + 1)
        page = page[:place] + source + page[place:]
    body = mangled(page, chance, changes).encode()

    assert_said_as_whole(body)


@given(st.lists(st.sampled_from(PIECES + SPOKEN), max_size=14))
def test_so_it_is_for_any_markup(pieces: list[str]) -> None:
    assert_said_as_whole("".join(pieces).encode())


def assert_said_as_whole(body: bytes) -> None:
    all_of_it, asked_for = (read_page(body, "text/html", about=about) for about in ((), SIGNS))

    assert read_state(asked_for.metas) == read_state(all_of_it.metas)
    assert asked_for.encoding == all_of_it.encoding
