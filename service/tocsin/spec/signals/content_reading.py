"""From the blocks of a page to its content: which of them count, and what is kept of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from xxhash import xxh3_64_intdigest as _digest

from tocsin.spec.html.blocks import CELL, HEADING, ITEM, LINKED, OUTSIDE, Blocks, read_blocks, read_blocks_of
from tocsin.spec.signals.content_counting import MOST_SETTLED, settle, to_steady, without_tokens
from tocsin.spec.signals.content_fingerprint import (
    FIGURES,
    MOST_BESIDE,
    MOST_SENTENCES,
    ORDERED,
    SHORT,
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
    to_compared_lines,
    to_sentences,
)
from tocsin.spec.signals.values import Content

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    return Content(pack(CHOSEN, [Block(_digest(body) & _DIGEST, 0, 0, len(body))], []), "")


def to_content(read: Blocks, level: int, title: str = "") -> Content:
    """Make a content of blocks; all of them count where the level says that they were chosen."""
    # Plain tuples and one loop: there are dozens of lines to a page, and calls and names would take half of the time.
    beside: list[tuple[int, int, int]] = []
    bits: list[str] = []
    lines, marks, paths = ([title], [HEADING], [0]) if title else ([], [], [])
    for text, mark, path in zip(*read, strict=True):
        if mark & OUTSIDE:
            beside.append((_digest(text.encode("utf-8", "replace")) & _BITS, _digest(b"", path) & _PLACES or 1, 0))
            bits.append(" ".join(text[:_LOOKED_AT].split()))
        elif folded := fold(text):
            lines.append(folded)
            marks.append(mark)
            paths.append(path)
    blocks: list[tuple[int, int, int, int, bytes]] = []
    counted: list[str] = []
    is_chosen = level == CHOSEN
    for text, mark, path, lasting, (data, masked) in zip(
        lines, marks, paths, *_compared(lines, marks, level), strict=True
    ):
        if not is_chosen and (not data or _is_fleeting(lasting, mark, has_figures=masked is not None)):
            beside.append(
                (_digest(text.encode("utf-8", "replace")) & _BITS, _digest(masked or b"", path) & _PLACES or 1, SHORT)
            )
            bits.append(text)
        else:
            if masked is not None and not is_chosen and len(lasting) <= MOST_SETTLED:
                masked = to_steady(lasting)  # noqa: PLW2901 - what follows takes what is left
                settled = _settle(lasting, mark)
                if settled != lasting:
                    data, _ = to_compared_lines(settled)[0]  # noqa: PLW2901 - as above
                    place = _digest(masked, path) & _PLACES or 1
                    beside.append((_digest(text.encode("utf-8", "replace")) & _BITS, place, SHORT))
                    bits.append(text)
            counted.append(text)
            blocks.append(_to_block(lasting, mark, path, data, masked))
    kept = tuple([bit[:_SHOWN] for bit in bits[:MOST_BESIDE]])
    return Content(pack(level, blocks, beside), "\n".join(counted), kept)


def _compared(
    lines: list[str], marks: list[int], level: int
) -> tuple[Sequence[str], Sequence[tuple[bytes, bytes | None]]]:
    """Give what lasts of each line, and the bytes that stand for that, with those without figures where it has any."""
    if not lines:
        return (), ()
    if level == CHOSEN:
        lasting = "\n".join(lines)
    else:
        lasting = without_ages("\n".join([_lasting(line, mark) for line, mark in zip(lines, marks, strict=True)]))
    return [line.strip() for line in lasting.split("\n")], to_compared_lines(lasting)


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


def _lasting(text: str, mark: int) -> str:
    return text if mark & (CELL | HEADING) else without_last_age(without_fleeting_parts(text))


def _is_fleeting(text: str, mark: int, *, has_figures: bool) -> bool:
    if has_figures:
        if len(text) > MOST_LETTERS or mark & CELL:
            return False
        return is_fleeting(text, is_heading=mark & HEADING != 0, is_item=mark & ITEM != 0)
    return len(text) <= LONGEST_GREETING and not mark & HEADING and is_greeting(text)


def _settle(text: str, mark: int) -> str:
    """Leave out of a short line the figures that count something, and the names of requests; cells are facts."""
    if mark & CELL:
        return text
    if mark & (HEADING | LINKED):
        return without_tokens(text)
    return settle(text, is_item=mark & ITEM != 0)


def _to_block(text: str, flags: int, path: int, data: bytes, masked: bytes | None) -> tuple[int, int, int, int, bytes]:
    """Make a block as `content_fingerprint.Block` has it.

    masked  its bytes without figures; None where it has none
    """
    letters = len(text)
    place = 0
    if letters < _SENTENCE and not (letters >= _SHORT_SENTENCE and text.endswith(SENTENCE_ENDS)):
        flags |= SHORT
        place = _digest(masked or b"", path) & _PLACES or 1
    else:
        if not flags & (ITEM | LINKED | CELL):
            flags |= ORDERED
        if masked is not None:
            place = _digest(masked, 0) & _PLACES or 1
    if masked is not None:
        flags |= FIGURES
    sentences = b""
    if letters > _LONG:
        sentences = bytes([_digest(part) & 0xFF for part in to_sentences(data, MOST_SENTENCES)])
    return _digest(data) & _DIGEST, place, flags, letters, sentences
