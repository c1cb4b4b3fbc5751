"""What is kept of the contents of pages: signals, texts and items."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import timedelta

    from tocsin.model import HostNoise, Instant, ItemChanges, PageItems, SignalContext, Slice, SnapshotRow


class SignalStore(Protocol):
    """What is known of pages beside their states."""

    async def learnt(self, url: str) -> tuple[int, SignalContext] | None:
        """What is known of a page beside its state, with its id; None where the page is not watched."""

    async def noise_of_host(self, host: str) -> list[HostNoise]:
        """What changes from check to check on pages of a host: what is muted first, then by how many pages share it."""

    async def hear(self, page_id: int, keys: Sequence[int], *, muted: bool) -> None:
        """Let the user hear of these places of a page, muted or not; or mute them again as they are learnt.

        keys  of `Noise`; a page that is not watched is left out
        """

    async def hear_host(self, host: str, keys: Sequence[int], *, muted: bool) -> None:
        """The same for these places on all pages of a host; those that nothing is known of are left out."""

    async def take_listings(self, now: Instant) -> int:
        """Take over what feeds and sitemaps say of other pages, a step at a time; returns of how many it was news.

        A page of which one of them says something else than before is due soon. What a feed or sitemap said that is
        watched no more is forgotten.
        """


class SnapshotStore(Protocol):
    """Texts of pages, kept to show differences."""

    async def snapshots(self, url: str, *, limit: int) -> list[SnapshotRow]:
        """The texts that are kept of a page, newest first; none where it is not watched."""

    async def snapshot_text(self, snapshot_id: int) -> bytes | None:
        """The text of a snapshot, as `spec.signals.texts` packed it; None where it was forgotten meanwhile."""

    async def prune_snapshots(self, now: Instant, *, keep: timedelta, per_page: int, limit: int) -> int:
        """Forget texts by their age and number, at most `limit` of them; returns how many.

        keep      how long; the latest of a page stays
        per_page  how many of a page, the newest
        """

    async def fit_snapshots(self, *, total: int, limit: int) -> int:
        """Forget the oldest texts, at most `limit`, until all take no more than so many bytes; returns how many.

        It costs next to nothing where they do so already.
        """


class ItemStore(Protocol):
    """Microdata of pages; it is written with what found it, a check or a rendering.

    Changes are kept as long as the rendering that found them; the latest items as long as the page.
    """

    async def latest_items(self, page_id: int) -> PageItems | None:
        """The items of a page that were kept last; None without any."""

    async def item_changes(self, page_id: int, *, cursor: str | None = None, limit: int = 50) -> Slice[ItemChanges]:
        """How a page's items changed, the newest first."""
