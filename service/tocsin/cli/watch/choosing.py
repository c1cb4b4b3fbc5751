"""Which pages a command means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tocsin.errors import NotWatched
from tocsin.spec.html.urls import watch_url

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from tocsin.model import PageFilter, PageRow
    from tocsin.ports import Store

BATCH: Final = 1000
"""Rows of one transaction: short enough for an engine that runs beside us."""


async def batches(store: Store, which: PageFilter) -> AsyncIterator[list[PageRow]]:
    """Yield the pages by the batch, in order of id; pages that go meanwhile do no harm."""
    after = 0
    while pages := await store.pages(which, after_id=after, limit=BATCH):
        yield pages
        after = pages[-1].id


async def pages_named(store: Store, texts: Sequence[str]) -> list[PageRow]:
    """Find the pages with these URLs.

    Raises BadUrl; NotWatched, naming all that are not on the list.
    """
    urls = list(dict.fromkeys(watch_url(text).url for text in texts))
    found = [(url, await store.page(url)) for url in urls]
    missing = [url for url, page in found if page is None]
    if missing:
        raise NotWatched("\n".join(f"{url}: not watched; add it with: tocsin watch add {url}" for url in missing))
    return [page for _, page in found if page is not None]
