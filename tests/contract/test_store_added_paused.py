from __future__ import annotations

from tests.contract.desk import DAY, NOW, A, B, Desk, new_page
from tocsin.model import PageFilter


async def test_a_page_that_is_added_paused_is_not_checked_before_it_is_resumed(desk: Desk) -> None:
    page_id, _ = await desk.store.add_pages([new_page(A, paused=True), new_page(B)], NOW)
    assert page_id is not None

    listed = [(page.url, page.paused) for page in await desk.store.pages(PageFilter())]
    before = [task.url for task in await desk.due(at=NOW + DAY)]
    await desk.edit(page_id, paused=False)
    after = [task.url for task in await desk.due(at=NOW + DAY)]

    assert listed == [(A, True), (B, False)]
    assert (before, A in after) == ([B], True)
