"""A search that found nothing says what it may have meant, from few pages."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.desk import new_page
from tests.server.web.visiting import Visitor, tree
from tocsin.server.web import near_words


@pytest.fixture
async def seeker(visitor: Visitor) -> Visitor:
    """Somebody who searches the pages of a harbour."""
    pages = [("https://harbour.example/tides", "Water levels of the quay"), ("https://council.example/agenda", None)]
    await visitor.store.add_pages([new_page(url, group="town hall", text=text) for url, text in pages], 1)
    return visitor


async def meant(visitor: Visitor, query: str) -> list[tuple[str, str]]:
    found = tree(await visitor.get(f"/pages?{query}")).xpath("//*[@class='empty']//a")
    return [(each.text, each.get("href")) for each in found]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("q=watre", [("water", "/pages?q=water&by=words")]),
        ("q=wtaer+levels", [("water levels", "/pages?q=water+levels&by=words")]),
        ("q=town+hal", [("town hall", "/pages?group=town+hall")]),
        ("q=harbuor.example&by=host", [("harbour.example", "/pages?q=harbour.example&by=host")]),
        ("q=zzzzzz", []),
        ("q=!a", []),
        ("q=" + "a" * 200, []),
        ("q=nowhere.test&by=host", []),
    ],
)
async def test_a_search_without_a_match_names_what_is_spelled_nearly_so(
    seeker: Visitor, query: str, said: list[tuple[str, str]]
) -> None:
    assert await meant(seeker, query) == said


async def test_what_is_named_finds_something(seeker: Visitor) -> None:
    ((_, path),) = await meant(seeker, "q=watre")

    assert "Water levels of the quay" in await seeker.get(path)


async def test_words_that_are_each_there_but_on_no_page_together_name_none(seeker: Visitor) -> None:
    assert await meant(seeker, "q=water+agenda") == []


async def test_no_more_pages_are_read_than_for_a_part_of_a_list(
    seeker: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, limits = seeker.rig.app.state.parts.store, []
    browse = store.browse_pages

    async def browsing(query: Any, *, limit: int, **place: Any) -> Any:
        limits.append(limit)
        return await browse(query, limit=limit, **place)

    monkeypatch.setattr(store, "browse_pages", browsing)

    await seeker.get("/pages?q=watre+levles+qauy+tiedes+hrabour")

    assert max(limits) <= near_words._PAGES
    assert len(limits) <= 2 * 5 + 3
