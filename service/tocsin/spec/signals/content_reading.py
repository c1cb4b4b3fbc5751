"""From the blocks of a page to its content: which of them count, and what is kept of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

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
from tocsin.spec.signals.content_fleeting import (
    LONGEST_GREETING,
    MOST_LETTERS,
    is_fleeting,
    is_greeting,
    without_ages,
    without_fleeting_parts,
    without_last_age,
)
from tocsin.spec.signals.content_text import (
    SENTENCE_ENDS,
    fold,
    has_digits,
    to_comparable,
    to_sentences,
    without_figures,
)
from tocsin.spec.signals.values import Content

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tocsin.spec.html.whole import Whole

CHOSEN: Final = 3
"""The level of a content that was chosen by a selector, or that is no page's."""
_ALL: Final = 2
"""The level of a page whose zones say nothing useful: all of it counts."""

_LITTLE: Final = 200
_FEW_OF: Final = 5
_SENTENCE: Final = 80
_SHORT_SENTENCE: Final = 25
_LONG: Final = 160
_PLACES: Final = 0xFF_FFFF
_DIGEST: Final = 0xFFFF_FFFF
_BITS: Final = 0xFFFF
_SHOWN: Final = 60
_LOOKED_AT: Final = 200
_MOST_PARTED: Final = 250


class _Line(NamedTuple):
    """A block whose white space is folded, what it is, and a number for where it stands."""

    text: str
    mark: int
    path: int


def read_page_content(whole: Whole, look_at: str, ignore: str) -> Content:
    """Read the content of a page, see `content.read_content`."""
    without = frozenset(whole.select(ignore)) if ignore else frozenset()
    if look_at:
        return to_content(read_blocks_of(whole.select(look_at), without), CHOSEN)
    level = 0
    blocks = read_blocks(whole, without)
    while level < _ALL and not _is_enough(blocks):
        level += 1
        blocks = read_blocks(whole, without, landmarks=level < _ALL, names=False)
    return to_content(blocks, level, whole.title)


def content_of_lines(lines: Sequence[str]) -> Content:
    """Make a content of what is no page: each line is a block, and all of it counts."""
    return to_content(Blocks(list(lines), [ITEM] * len(lines), [0] * len(lines)), CHOSEN)


def content_of_block(body: bytes) -> Content:
    """Make a content of bytes that nobody reads as text."""
    return Content(pack(CHOSEN, [Block(xxh3_64_intdigest(body) & _DIGEST, 0, 0, len(body))], []), "")


def to_content(read: Blocks, level: int, title: str = "") -> Content:
    """Make a content of blocks; all of them count where the level says that they were chosen."""
    beside: list[Beside] = []
    bits: list[str] = []
    lines = [_Line(title, HEADING, 0)] if title else []
    for text, mark, path in zip(*read, strict=True):
        if mark & OUTSIDE:
            beside.append(_to_beside(text, path, b"", 0))
            bits.append(" ".join(text[:_LOOKED_AT].split()))
        elif folded := fold(text):
            lines.append(_Line(folded, mark, path))
    blocks: list[Block] = []
    counted: list[str] = []
    for (text, mark, path), lasting, data in _compared(lines, level):
        has_figures = has_digits(data)
        masked = without_figures(data) if has_figures else b""
        if level != CHOSEN and (not data or _is_fleeting(lasting, mark, has_figures=has_figures)):
            beside.append(_to_beside(text, path, masked, SHORT))
            bits.append(text)
        else:
            counted.append(text)
            blocks.append(_to_block(_Line(lasting, mark, path), data, masked, has_figures=has_figures))
    kept = tuple([bit[:_SHOWN] for bit in bits[:MOST_BESIDE]])
    return Content(pack(level, blocks, beside), "\n".join(counted), kept)


def _compared(lines: list[_Line], level: int) -> Iterator[tuple[_Line, str, bytes]]:
    """Give each line with what lasts of its text, and with the bytes that stand for that."""
    if not lines:
        return
    if level == CHOSEN:
        lasting = "\n".join([line.text for line in lines])
    else:
        lasting = without_ages("\n".join([_lasting(line) for line in lines]))
    for line, text, data in zip(lines, lasting.split("\n"), to_comparable(lasting), strict=True):
        yield line, text.strip(), data


def _to_beside(text: str, path: int, masked: bytes, flags: int) -> Beside:
    return Beside(xxh3_64_intdigest(text.encode("utf-8", "replace")) & _BITS, _place(path, masked), flags)


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
    return _FEW_OF * inside >= outside and inside > 0


def _lasting(line: _Line) -> str:
    text = line.text
    if len(text) > _MOST_PARTED or line.mark & (CELL | HEADING):
        return text
    return without_last_age(without_fleeting_parts(text))


def _is_fleeting(text: str, mark: int, *, has_figures: bool) -> bool:
    is_heading = mark & HEADING != 0
    if has_figures:
        if len(text) > MOST_LETTERS or mark & CELL:
            return False
        return is_fleeting(text, is_heading=is_heading, is_item=mark & ITEM != 0)
    return len(text) <= LONGEST_GREETING and not is_heading and is_greeting(text)


def _to_block(line: _Line, data: bytes, masked: bytes, *, has_figures: bool) -> Block:
    text, flags, path = line
    letters = len(text)
    place = 0
    if letters < _SENTENCE and not (letters >= _SHORT_SENTENCE and text.endswith(SENTENCE_ENDS)):
        flags |= SHORT
        place = _place(path, masked)
    else:
        if not flags & (ITEM | LINKED | CELL):
            flags |= ORDERED
        if has_figures:
            place = _place(0, masked)
    if has_figures:
        flags |= FIGURES
    sentences = b""
    if letters > _LONG:
        sentences = bytes([xxh3_64_intdigest(part) & 0xFF for part in to_sentences(data, MOST_SENTENCES)])
    return Block(xxh3_64_intdigest(data) & _DIGEST, place, flags, letters, sentences)


def _place(path: int, data: bytes) -> int:
    """Give 24 bits for a place, never 0."""
    return xxh3_64_intdigest(data, path) & _PLACES or 1
