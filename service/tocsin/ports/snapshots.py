"""Texts of pages as they were."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from datetime import timedelta

    from tocsin.model import Instant, SnapshotRow


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
