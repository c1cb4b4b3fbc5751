"""From the blocks of a page to its content: which of them count, and what is kept of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from xxhash import xxh3_64_intdigest

from tocsin.spec.html.blocks import CELL, HEADING, ITEM, LINKED, OUTSIDE, Blocks, read_blocks, read_blocks_of
from tocsin.spec.signals.content_fingerprint import (
    FIGURES,
    MOST_BESIDE,
    MOST_SENTENCES,
    ORDERED,
    SHORT,
    Beside,
    Block,
    pack,
)
from tocsin.spec.signals.content_fleeting import LONGEST_GREETING, MOST_LETTERS, is_fleeting, is_greeting, without_ages
from tocsin.spec.signals.content_text import DIGITS, fold, to_comparable, to_sentences
from tocsin.spec.signals.content_text import FIGURES as _FIGURES
from tocsin.spec.signals.values import Content

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.spec.html.whole import Whole

CHOSEN: Final = 3
"""The level of a content that was chosen by a selector, or that is no page's."""

_LITTLE: Final = 200
_SENTENCE: Final = 80
_SHORT_SENTENCE: Final = 25
_LONG: Final = 160
_ENDS: Final = (".", "!", "?", "。", "！", "？", "؟", "…")
_PLACES: Final = 0xFF_FFFF
_SHOWN: Final = 60
_READ: Final = 200


def read_page_content(whole: Whole, look_at: str, ignore: str) -> Content:
    """Read the content of a page."""
    without = frozenset(whole.select(ignore)) if ignore else frozenset()
    if look_at:
        return to_content(read_blocks_of(whole.select(look_at), without), CHOSEN)
    for level in range(3):
        blocks = read_blocks(whole, without, landmarks=level < 2, names=level < 1)
        if level == 2 or _is_enough(blocks):
            return to_content(blocks, level, whole.title)
    raise AssertionError


def _is_enough(blocks: Blocks) -> bool:
    """Say whether what counts can be a page's content, beside what does not."""
    inside = outside = 0
    for text, mark in zip(blocks.texts, blocks.marks, strict=True):
        if mark & OUTSIDE:
            outside += len(text)
        else:
            inside += len(text)
            if inside >= _LITTLE:
                return True
    return 5 * inside >= outside


def to_content(read: Blocks, level: int, title: str = "") -> Content:
    """Make a content of blocks; all of them count where the level says that they were chosen."""
    beside: list[Beside] = []
    bits: list[str] = []
    kept: list[tuple[str, int, int]] = [(title, HEADING, 0)] if title else []
    for text, mark, path in zip(*read, strict=True):
        if mark & OUTSIDE:
            digest = xxh3_64_intdigest(text.encode("utf-8", "replace")) & 0xFFFF
            beside.append(Beside(digest, _mix(path, b""), 0))
            bits.append(text[:_READ].strip())
        elif folded := fold(text):
            kept.append((folded, mark, path))
    lines = without_ages("\n".join([text for text, _, _ in kept])) if kept else ""
    blocks: list[Block] = []
    counted: list[str] = []
    for (text, mark, path), data in zip(kept, to_comparable(lines), strict=bool(kept)):
        has_figures = len(data.translate(None, DIGITS)) != len(data)
        masked = data.translate(None, _FIGURES) if has_figures else data
        letters = len(text)
        place = 0
        if letters <= MOST_LETTERS and level != CHOSEN:
            is_heading = mark & HEADING != 0
            if (
                is_fleeting(text, is_cell=mark & CELL != 0, is_heading=is_heading)
                if has_figures
                else letters <= LONGEST_GREETING and not is_heading and is_greeting(text)
            ):
                beside.append(Beside(xxh3_64_intdigest(data) & 0xFFFF, _mix(path, masked), SHORT))
                bits.append(text)
                continue
        if letters < _SENTENCE and not (letters >= _SHORT_SENTENCE and text.endswith(_ENDS)):
            mark |= SHORT
            place = _mix(path, masked if has_figures else b"")
        else:
            if not mark & (ITEM | LINKED | CELL):
                mark |= ORDERED
            if has_figures:
                place = _mix(0, masked)
        if has_figures:
            mark |= FIGURES
        sentences = b""
        if letters > _LONG:
            sentences = bytes([xxh3_64_intdigest(part) & 0xFF for part in to_sentences(data, MOST_SENTENCES)])
        counted.append(text)
        blocks.append(Block(xxh3_64_intdigest(data) & 0xFFFFFFFF, place, mark, letters, sentences))
    return Content(pack(level, blocks, beside), "\n".join(counted), tuple([bit[:_SHOWN] for bit in bits[:MOST_BESIDE]]))


def _mix(path: int, data: bytes) -> int:
    """Give 24 bits for a place, never 0."""
    return xxh3_64_intdigest(data, path) & _PLACES or 1


def content_of_lines(lines: Sequence[str]) -> Content:
    """Make a content of what is no page: each line is a block, and all of it counts."""
    return to_content(Blocks(list(lines), [ITEM] * len(lines), [0] * len(lines)), CHOSEN)


def content_of_block(body: bytes) -> Content:
    """Make a content of bytes that nobody reads as text."""
    return Content(pack(CHOSEN, [Block(xxh3_64_intdigest(body) & 0xFFFFFFFF, 0, 0, len(body))], []), "")
