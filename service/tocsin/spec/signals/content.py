"""A page's content: its main text in blocks, and how one differs from another.

What counts and what does not is told in the documentation; `READ_AS` changes whenever it does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tocsin.spec.signals.content_comparing import compare, digest_of, resemblance
from tocsin.spec.signals.content_reading import content_of_block, content_of_lines, read_page_content

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from tocsin.spec.html.whole import Whole
    from tocsin.spec.signals.values import Content, ContentChange

READ_AS: Final = "1"
"""The version of the reader: what another one read cannot be compared."""


def read_content(whole: Whole, look_at: str, ignore: str) -> Content:
    """Read the content of a page.

    look_at  CSS selectors of the only elements that are looked at, and all of them; "" for the page's main text
    ignore   CSS selectors of elements that are not
    Raises ValueError where one is no selector, see `check_selector`.
    """
    return read_page_content(whole, look_at, ignore)


def find_content_problems(whole: Whole, look_at: str, ignore: str, *, own_ignore: bool = True) -> tuple[str, ...]:
    """Say in words which selectors match nothing on the page, where they should: see `Asked`.

    Raises ValueError where one is no selector.
    """
    asked = (("look_at", look_at, True), ("ignore", ignore, own_ignore))
    return tuple(
        f"{name} = {selector!r} matches nothing on this page"
        for name, selector, is_expected in asked
        if selector and not whole.select(selector) and is_expected
    )


def content_of_bytes(body: bytes) -> Content:
    """Make a content of what is no page: one block, that nobody reads as text."""
    return content_of_block(body)


def content_of_entries(entries: Sequence[str]) -> Content:
    """Make a content of a feed: each entry is a block."""
    return content_of_lines(entries)


def compare_contents(before: bytes, latest: Content, muted: Collection[int] = ()) -> ContentChange:
    """Compare a content with the fingerprint of an earlier one.

    muted  keys of places that do not count
    A fingerprint that is none, whatever its bytes, is no change, with the reason in `noise`.
    """
    return compare(before, latest, muted)


def content_digest(fingerprint: bytes, muted: Collection[int] = ()) -> int:
    """Name a content by 63 bits that are the same for all that compare as no change."""
    return digest_of(fingerprint, muted)


def similarity(a: bytes, b: bytes) -> float:
    """Say how much two contents share, 0 to 1, by letters."""
    return resemblance(a, b)
