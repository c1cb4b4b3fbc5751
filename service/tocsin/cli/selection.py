"""The pages that a command means: named by URL, or all that fit a filter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from tocsin.errors import NotWatched
from tocsin.lists.pages import find_group
from tocsin.spec.html.urls import watch_url

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from tocsin.model import PageFilter, PageRow
    from tocsin.ports import Store


# Rows of one transaction: short enough for an engine that runs beside us.
BATCH: Final = 1000


async def batches(store: Store, which: PageFilter) -> AsyncIterator[list[PageRow]]:
    """Yield the pages by the batch, in order of id; pages that go meanwhile do no harm."""
    after = 0
    while pages := await store.pages(which, after_id=after, limit=BATCH):
        yield pages
        after = pages[-1].id


class Selection(Struct, frozen=True):
    """Which pages a command changes: those that are named, or all that were on the list when it looked.

    ids       those that were named; None for the pages that fit `which`
    last_id   of the pages that fit: pages that are added later are not meant
    pages     how many there are
    """

    ids: tuple[int, ...] | None
    which: PageFilter
    last_id: int
    pages: int

    async def batches(self, store: Store) -> AsyncIterator[list[int]]:
        """Yield the ids in batches and in order, each once, also while earlier pages are being changed."""
        if self.ids is not None:
            for start in range(0, len(self.ids), BATCH):
                yield list(self.ids[start : start + BATCH])
            return
        after = 0
        while found := await store.page_ids(self.which, after_id=after, last_id=self.last_id, limit=BATCH):
            yield found
            after = found[-1]


async def select(store: Store, urls: Sequence[str], which: PageFilter) -> Selection:
    """Look for the pages that are named, or that fit where none is. Raises NotWatched, BadUrl."""
    if urls:
        ids = tuple(page.id for page in await pages_named(store, urls))
        return Selection(ids, which, 0, len(ids))
    last_id = await store.last_page_id()
    return Selection(None, which, last_id, await store.count_pages(which))


async def demand_group(store: Store, name: str | None) -> str | None:
    """Return the name of a group as the store has it; raises UsageError for a group that is not there."""
    if name is None:
        return None
    return find_group(name, (known for known, _ in (await store.overrides())[1].values()))


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
