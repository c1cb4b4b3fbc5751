"""What was read of a page's signals, and what a comparison of contents finds."""

from __future__ import annotations

from typing import Final

from msgspec import Struct


class Content(Struct, frozen=True, gc=False):
    """A page's content.

    fingerprint  of its blocks, as `compare_contents` needs it
    text         what people read: the blocks that count, a line each
    beside       the first letters of each block that does not, in the fingerprint's order
    """

    fingerprint: bytes
    text: str
    beside: tuple[str, ...] = ()


GONE: Final = ", gone"
"""How `Place.what` ends where nothing is left to recognise it by."""


class Place(Struct, frozen=True, gc=False):
    """Where a content differs from the one before.

    key   names the place on every page of the host
    what  how people recognise it: where it stands, and a bit of its text
    """

    key: int
    what: str


class ContentChange(Struct, frozen=True):
    """How one content differs from another.

    is_change  somebody edited it: more than noise differs
    share      how much of the text differs, 0 to 1, by letters
    blocks     of how many blocks
    added, removed  blocks that are new or gone, as far as they count
    places     all that differs, noise too: what is learnt of
    noise      what differs but does not count, in words
    key        names exactly these new and gone blocks, for pages that share them; None if they are too many
    excerpt    of what is new, one line
    """

    is_change: bool
    share: float = 0.0
    blocks: int = 0
    added: int = 0
    removed: int = 0
    places: tuple[Place, ...] = ()
    noise: tuple[str, ...] = ()
    key: bytes | None = None
    excerpt: str = ""


class Readings(Struct, frozen=True):
    """What a page says of its changes beside the twelve fields.

    read_as   by which readers, and with which selectors: only what was read alike can be compared
    values    by the signal's name; what the page does not have is absent
    content   None where it has none, or it was not read
    problems  in words for the page's reader
    text      digest of all its text; 0: unknown. Of a text whose content the reader was told to know, none was read
    """

    read_as: str
    values: dict[str, str]
    content: Content | None = None
    problems: tuple[str, ...] = ()
    text: int = 0
