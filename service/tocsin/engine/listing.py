"""What a feed or sitemap that is watched says of other pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tocsin.model import Listing


def read_listing(body: bytes, content_type: str | None, url: str) -> Listing | None:
    """Read what a feed or sitemap says of pages; None for anything else."""
    del body, content_type, url
    return None
