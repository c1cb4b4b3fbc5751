"""Titles of pages: kept with what read them, shown beside pages, and added to alerts that were made without."""

from __future__ import annotations

import pytest
from msgspec import structs

from tests.contract.desk import A, B, Desk, alert
from tests.contract.test_store_items import begin, change
from tocsin.events import UNREACHABLE
from tocsin.model import RenderingRow

ROW = RenderingRow("http", 1, 1, 200, A, "text/html", "A", 1, "sha256:1", same_state=True, error=None)


def rendering(title: str | None) -> RenderingRow:
    """What a rendering received, with this title."""
    return structs.replace(ROW, title=title)


async def title_of(desk: Desk, url: str = A) -> str | None:
    return (await desk.page(url)).title


async def test_the_title_of_the_first_check_is_kept_until_a_rendering_reads_another(desk: Desk) -> None:
    await desk.watch(B)
    await begin(desk, A, title="The council")
    assert (await title_of(desk), await title_of(desk, B)) == ("The council", None)

    await change(desk, A, "1", rendering=rendering(f"The \n {'c' * 200}"), copies=())
    assert await title_of(desk) == f"The {'c' * 156}"


@pytest.mark.parametrize("title", [None, " \n ", "The council"])
async def test_a_rendering_without_a_title_or_with_the_same_writes_none(desk: Desk, title: str | None) -> None:
    await begin(desk, A, title="The council")
    before = desk.behind.look("select page_id, title from summaries")

    await change(desk, A, "1", rendering=rendering(title), copies=())

    assert desk.behind.look("select page_id, title from summaries") == before


async def test_what_is_in_place_of_a_page_has_not_its_title(desk: Desk) -> None:
    await begin(desk, A, title="The council")

    await change(desk, A, "1", rendering=rendering("Sign in"), copies=None)

    assert await title_of(desk) == "The council"


async def test_an_alert_without_a_title_is_given_that_of_its_page(desk: Desk) -> None:
    (page_id, other) = (await begin(desk, A, title="The council"), await begin(desk, B))
    pages = {
        "known": {"id": str(page_id), "title": None},
        "its own": {"id": str(page_id), "title": "Sign in"},
        "unknown": {"id": str(other), "title": None},
        "none": None,
    }
    for name, page in pages.items():
        draft = alert(name, page_id, UNREACHABLE)
        draft.event["data"] = {"page": page}
        await desk.store.write_alert(draft)

    written = [row.event["data"]["page"] for row in await desk.store.after(0, limit=9)]

    assert [page and page["title"] for page in written] == ["The council", "Sign in", None, None]


async def test_the_title_of_a_page_goes_with_it(desk: Desk) -> None:
    page_id = await begin(desk, A, title="The council")
    assert await desk.store.check() == []

    await desk.store.remove_pages([page_id])

    assert desk.behind.look("select * from summaries") == []


async def test_a_title_that_is_too_long_or_of_no_page_is_found(desk: Desk) -> None:
    page_id = await begin(desk, A, title="x" * 161)
    desk.behind.alter("insert into summaries (page_id, title) values (77, 'gone')")

    found = await desk.store.check()

    told = "is gone and its summary is kept, or its title is too long"
    assert found == [f"page {page_id}: {told} (161 characters)", f"page 77: {told} (4 characters)"]
    desk.behind.alter("delete from summaries")
