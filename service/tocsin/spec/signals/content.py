"""A page's content: for now, whether it is the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xxhash import xxh3_64_intdigest

from tocsin.spec.signals.values import Content, ContentChange

if TYPE_CHECKING:
    from collections.abc import Collection


def compare_contents(before: bytes, latest: Content, muted: Collection[int]) -> ContentChange:
    """Compare a content with the one before."""
    del muted
    is_change = before != latest.fingerprint
    return ContentChange(is_change, share=float(is_change), blocks=1, added=int(is_change), removed=int(is_change))


def version_of(fingerprint: bytes) -> int:
    """Give a digest of a content: equal ones have equal ones."""
    return xxh3_64_intdigest(fingerprint) >> 1
