"""What is kept of the contents of pages: signals, texts and items."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Protocol

from tocsin.model import HostNoise, Instant, ItemChangeEntry, PageItems, PictureRow, SignalContext, Slice, SnapshotRow


class SignalStore(Protocol):
    """What checks learned of pages beside their states, and what feeds and sitemaps say of them."""

    async def learnt(self, url: str) -> tuple[int, SignalContext] | None:
        """Return a page's id and its context for signals; None if the page is not watched."""

    async def noise_of_host(self, host: str) -> list[HostNoise]:
        """Return the noise of a host: muted places first, then by the number of pages that share them."""

    async def hear(self, page_id: int, keys: Sequence[int], *, muted: bool) -> None:
        """Report changes at these places of a page although they are noise; or (`muted`) stop doing so.

        Pages that are not watched are ignored.

        keys  of `PageNoise`
        """

    async def hear_host(self, host: str, keys: Sequence[int], *, muted: bool) -> None:
        """Do the same for all pages of a host; unknown keys are ignored."""

    async def take_listings(self, now: Instant) -> int:
        """Apply the dates that feeds and sitemaps list for other pages, in steps; returns how many pages had news.

        A page whose listed date changed is due soon. Entries of feeds and sitemaps that are not watched any more are
        deleted.
        """


class SnapshotStore(Protocol):
    """Texts of pages, kept to show differences."""

    async def snapshots(self, url: str, *, limit: int) -> list[SnapshotRow]:
        """Return the kept texts of a page, newest first; none if it is not watched."""

    async def snapshot_text(self, snapshot_id: int) -> bytes | None:
        """Return the text of a snapshot, as `spec.signals.texts` packed it; None if it was deleted meanwhile."""

    async def prune_snapshots(self, now: Instant, *, keep: timedelta, per_page: int, limit: int) -> int:
        """Delete texts by age and number, at most `limit` of them; returns how many.

        keep      how long; the latest of a page is never too old
        per_page  how many of a page, the newest
        """

    async def limit_texts(self, total: int) -> None:
        """Remember how many bytes all texts may take, for `texts_are_short` and `PageTask.is_short`."""

    async def texts_are_short(self) -> bool:
        """Tell whether texts take nine tenths of their limit: first texts of pages are not kept then."""

    async def fit_snapshots(self, *, total: int, limit: int) -> int:
        """Delete the oldest texts, at most `limit`, until all together fit into `total` bytes; returns how many.

        Costs next to nothing where they fit already.
        """


class PictureStore(Protocol):
    """Pictures of pages, of renderings and of checks that compare them; the files lie beside the store."""

    async def keep_picture(self, png: bytes) -> str | None:
        """Keep the file of a picture, whose row is written with its rendering or check within the hour.

        Returns the digest that names it; None where this store has no folder of pictures. Raises StoreError.
        """

    async def picture(self, digest: str) -> bytes | None:
        """Return a picture that a row names (PNG); None if there is none, or its file is gone."""

    async def latest_picture(self, page_id: int, before: Instant | None = None) -> tuple[str, bytes] | None:
        """Return the digest and the latest picture of a page, of those from before an instant; None without any."""

    async def pictures_of(self, page_id: int, *, limit: int) -> list[PictureRow]:
        """Return the pictures of a page, newest first."""

    async def count_pictures(self) -> tuple[int, str | None]:
        """Return how many files rows name, and their folder; None where this store has none."""

    async def check_pictures(self) -> list[str]:
        """Return what is wrong with the files of pictures, with the mend; empty if nothing is.

        Files are missing, are not what was written, or have been named by no row for two hours.
        """

    async def sweep_pictures(self) -> int:
        """Remove files that no row names, and parts of files; returns how many. Young ones stay."""


class ItemStore(Protocol):
    """Microdata of pages, written with the check or rendering that found it.

    Changes are deleted with the rendering that found them, the latest items with their page.
    """

    async def latest_items(self, page_id: int) -> PageItems | None:
        """Return the latest kept items of a page; None if there are none."""

    async def item_changes(self, page_id: int, *, cursor: str | None = None, limit: int = 50) -> Slice[ItemChangeEntry]:
        """Return changes of a page's items, newest first."""
