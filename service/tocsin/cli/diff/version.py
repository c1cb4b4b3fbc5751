"""One of two texts that are compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from tocsin.model import Instant


class Version(Struct, frozen=True):
    """One of two texts that are compared.

    name    the page's URL, or the file
    number  of the snapshot, 1 the latest; None for a file
    """

    name: str
    text: str
    number: int | None = None
    at: Instant | None = None
    digest: str | None = None
