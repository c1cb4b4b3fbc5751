"""What of pages' contents is kept beside their states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

if TYPE_CHECKING:
    from tocsin.settings import Settings


class KeptContents(Struct, frozen=True):
    """What the user lets be kept of pages; a page's own wish for less comes first (LM-45).

    texts  their texts, to show differences
    items  their microdata, to tell how it changed
    """

    texts: bool = True
    items: bool = True


KEEPS_ALL: Final = KeptContents()


def what_is_kept(settings: Settings) -> KeptContents:
    """Say what of pages' contents the settings let be kept."""
    return KeptContents(texts=settings.snapshots.per_page > 0, items=settings.items.keep)
