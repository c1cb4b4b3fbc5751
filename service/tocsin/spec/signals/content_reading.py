"""From the blocks of a page to its content: which of them count, and what is kept of each."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from xxhash import xxh3_64_intdigest

from tocsin.spec.html.blocks import CELL, HEADING, ITEM, LINKED, OUTSIDE, Blocks, read_blocks, read_blocks_of
from tocsin.spec.signals.content_fingerprint import (
    FIGURES,
    MOST_BESIDE,
    MOST_BLOCKS,
    MOST_SENTENCES,
    ORDERED,
    SHORT,
    Beside,
    Block,
    pack,
)
from tocsin.spec.signals.content_fleeting import is_fleeting, might_tell_ages, without_ages, without_figures
from tocsin.spec.signals.content_text import ALIKE, NOTHING, fold, to_comparable
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
_DIGIT: Final = re.compile(r"\d")
_SENTENCES: Final = re.compile(rb"[.!?]|\xe3\x80\x82|\xef\xbc[\x81\x9f]|\xd8\x9f")
_PLACES: Final = 0xFF_FFFF
_SHOWN: Final = 60
_UNREAD: Final = 1_000


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
    texts = [fold(text) for text in read.texts]
    lines = "\n".join([title, *texts])
    masked = lines
    if might_tell_ages(lines):
        masked = "\n".join([without_ages(line) if _DIGIT.search(line) else line for line in lines.split("\n")])
    digests = to_comparable(masked).translate(ALIKE, NOTHING).split(b"\n")
    blocks: list[Block] = []
    beside: list[Beside] = []
    counted: list[str] = []
    bits: list[str] = []
    chosen = level == CHOSEN
    marks = read.marks
    paths = read.paths
    if title:
        counted.append(title)
        blocks.append(Block(xxh3_64_intdigest(digests[0]) & 0xFFFFFFFF, 0, HEADING, len(title)))
    for index, text in enumerate(texts):
        if not text:
            continue
        data = digests[index + 1]
        digest = xxh3_64_intdigest(data)
        mark = marks[index]
        letters = len(text)
        if mark & OUTSIDE:
            beside.append(Beside(digest & 0xFFFF, _mix(paths[index], b""), 0))
            bits.append(text[:_SHOWN])
            continue
        is_short = letters < _SENTENCE and not (letters >= _SHORT_SENTENCE and text.endswith(_ENDS))
        has_figures = letters < _UNREAD and _DIGIT.search(text) is not None
        if (
            not chosen
            and letters <= 110
            and is_fleeting(text, has_figures=has_figures, is_cell=mark & CELL != 0, is_heading=mark & HEADING != 0)
        ):
            beside.append(
                Beside(digest & 0xFFFF, _mix(paths[index], without_figures(text).encode("utf-8", "replace")), SHORT)
            )
            bits.append(text[:_SHOWN])
            continue
        place = 0
        flags = mark
        if is_short:
            flags |= SHORT
        elif not mark & (ITEM | LINKED | CELL):
            flags |= ORDERED
        if has_figures:
            flags |= FIGURES
            place = _mix(paths[index] if is_short else 0, without_figures(text).encode("utf-8", "replace"))
        elif is_short:
            place = _mix(paths[index], b"")
        sentences = b""
        if letters > _LONG:
            parts = _SENTENCES.split(data)
            sentences = bytes([xxh3_64_intdigest(part) & 0xFF for part in parts[:MOST_SENTENCES] if part])
        counted.append(text)
        blocks.append(Block(digest & 0xFFFFFFFF, place, flags, letters, sentences))
    return Content(pack(level, blocks, beside), "\n".join(counted), tuple(bits[:MOST_BESIDE]))


def _mix(path: int, data: bytes) -> int:
    """Give 24 bits for a place, never 0."""
    return xxh3_64_intdigest(data, path) & _PLACES or 1


def content_of_lines(lines: Sequence[str]) -> Content:
    """Make a content of what is no page: each line is a block, and all of it counts."""
    return to_content(Blocks(list(lines), [ITEM] * len(lines), [0] * len(lines)), CHOSEN)


def content_of_block(body: bytes) -> Content:
    """Make a content of bytes that nobody reads as text."""
    return Content(pack(CHOSEN, [Block(xxh3_64_intdigest(body) & 0xFFFFFFFF, 0, 0, len(body))], []), "")
