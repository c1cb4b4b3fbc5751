"""A page's content: its main text in blocks, made comparable.

The documentation says which blocks count. When that changes, `READ_AS` changes, too.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from xxhash import xxh3_64_intdigest as _digest

from tocsin.spec.html.blocks import CELL, HEADING, ITEM, LINKED, OUTSIDE, Blocks, read_blocks, read_blocks_of
from tocsin.spec.html.search import count
from tocsin.spec.shells import is_shell
from tocsin.spec.signals.clocks import LONGEST, find_clock
from tocsin.spec.signals.fingerprint import (
    FIGURES,
    MOST_BESIDE,
    MOST_SENTENCES,
    ORDERED,
    REPEATED,
    SHORT,
    Block,
    Content,
    Fingerprint,
    compare,
    digest_of,
    pack,
    resemblance,
    unpack,
)
from tocsin.spec.signals.fleeting import (
    LONGEST_GREETING,
    MOST_LETTERS,
    MOST_PARTED,
    MOST_SETTLED,
    SENTENCE_ENDS,
    has_parts,
    is_fleeting,
    is_greeting,
    settle,
    to_steady,
    without_ages,
    without_fleeting_parts,
    without_last_age,
    without_tokens,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from tocsin.spec.html.whole import Whole
    from tocsin.spec.signals.clocks import Clock, Received
    from tocsin.spec.signals.fingerprint import ContentChange


# White space makes no difference at all, so that a line break between Japanese words makes none either.
_NOTHING: Final = b" \t\r\f\v\x00"
_ALIKE: Final = bytes.maketrans(b'"`', b"''")
# What follows the first two bytes of U+2000 to U+203F: spaces, dashes, quotation marks, ellipsis.
_PUNCTUATION: Final[dict[int, bytes]] = (
    dict.fromkeys(range(0x80, 0x90), b"")
    | dict.fromkeys(range(0x90, 0x96), b"-")
    | dict.fromkeys(range(0x98, 0xA0), b"'")
    | {0xA6: b"..."}
    | dict.fromkeys(range(0xA8, 0xB0), b"")
    | dict.fromkeys((0xB2, 0xB3, 0xB9, 0xBA), b"'")
)
_REPLACED: Final = (
    (b"\xc2\xa0", b""),  # no-break space
    (b"\xc2\xad", b""),  # soft hyphen
    (b"\xe2\x81\xa0", b""),  # word joiner
    (b"\xef\xbb\xbf", b""),  # zero width no-break space
    (b"\xe3\x80\x80", b""),  # ideographic space
    (b"\xc2\xab", b"'"),
    (b"\xc2\xbb", b"'"),
    (b"\xe2\x88\x92", b"-"),  # minus
)
# How letters begin that NFC may write in another way: combining marks, signs, Hangul's parts, voiced kana, Arabic's
# hamza, compatibility ideographs, the scripts of India.
_DECOMPOSED: Final = (
    b"\xcc", b"\xcd", b"\xe1\x84", b"\xe1\x85", b"\xe1\x86", b"\xe3\x82\x99", b"\xe3\x82\x9a", b"\xd9\x93", b"\xd9\x94",
    b"\xd9\x95", b"\xe2\x84", b"\xef\xa4", b"\xe0",
)  # fmt: skip
_ENDS: Final = bytes.maketrans(b"!?;", b"...")
_DIGITS: Final = b"0123456789"
# What else a figure is written with.
_BESIDE_DIGITS: Final = b".,:'"
_PIECE: Final = 256
# The later parts of a Korean syllable.
_JAMO: Final = frozenset(map(chr, range(0x1160, 0x1200)))
_OTHER_DIGITS: Final = re.compile(r"[^\D0-9]")


def fold(text: str) -> str:
    """Fold white space as a browser shows it."""
    text = text.strip()
    if "\n" in text or "  " in text or "\t" in text or "\xa0" in text or "\r" in text:
        return " ".join(text.split())
    return text


def to_comparable(text: str) -> list[bytes]:
    """Return the comparable bytes of each line of a text.

    White space, zero-width letters, the kind of quotation marks and dashes, and how letters are composed (NFC) make no
    difference; digits of other scripts are those of ASCII.
    """
    return _to_plain(text).split(b"\n")


def to_compared_lines(text: str) -> list[tuple[bytes, bytes | None]]:
    """Return the comparable bytes of each line of a text, and the same without figures; None where it has none."""
    data = _to_plain(text)
    without_digits = data.translate(None, _DIGITS)
    if len(without_digits) == len(data):
        return [(line, None) for line in data.split(b"\n")]
    lines = zip(
        data.split(b"\n"),
        without_digits.split(b"\n"),
        without_digits.translate(None, _BESIDE_DIGITS).split(b"\n"),
        strict=True,
    )
    return [(line, None if len(line) == len(bare) else masked) for line, bare, masked in lines]


def _to_plain(text: str) -> bytes:
    data = text.encode("utf-8", "surrogatepass")
    if len(data) != len(text):
        if any(count(data, mark) for mark in _DECOMPOSED):
            text = _OTHER_DIGITS.sub(_to_ascii, _compose(text))
            data = text.encode("utf-8", "surrogatepass")
        elif count(data, b"\xd9") or count(data, b"\xdb") or count(data, b"\xef\xbc"):
            data = _OTHER_DIGITS.sub(_to_ascii, text).encode("utf-8", "surrogatepass")
        for old, new in _REPLACED:
            if count(data, old):
                data = data.replace(old, new)
        if count(data, b"\xe2\x80"):
            data = _plain_punctuation(data)
    return data.translate(_ALIKE, _NOTHING)


def _compose(text: str) -> str:
    """Compose letters (NFC), piece by piece: marks in a row take time that grows with the square of their number."""
    pieces = []
    start = 0
    while start < len(text):
        end = start + _PIECE
        while end < min(start + 2 * _PIECE, len(text)) and _may_join(text[end]):
            end += 1
        pieces.append(unicodedata.normalize("NFC", text[start:end]))
        start = end
    return "".join(pieces)


def _may_join(letter: str) -> bool:
    """Return whether a letter may become one with the letters before it."""
    return unicodedata.category(letter).startswith("M") or letter in _JAMO


def _to_ascii(digit: re.Match[str]) -> str:
    return str(unicodedata.digit(digit[0], 0))


def _plain_punctuation(data: bytes) -> bytes:
    first, *others = data.split(b"\xe2\x80")
    found = [first]
    for each in others:
        plain = _PUNCTUATION.get(each[0]) if each else None
        found.append(b"\xe2\x80" + each if plain is None else plain + each[1:])
    return b"".join(found)


def to_sentences(data: bytes, most: int) -> list[bytes]:
    """Split comparable bytes where sentences end; the text after the first `most` sentences is dropped."""
    if not data.isascii():
        data = data.replace(b"\xe3\x80\x82", b".")
    return data.translate(_ENDS).split(b".", most)[:most]


# The level of a content that was chosen by a selector, or that is no page's.
CHOSEN: Final = 3
# The level of a page whose zones say nothing useful: all of it counts.
ALL: Final = 2

_LITTLE: Final = 200
_FEW_OF: Final = 5
_SENTENCE: Final = 80
_SHORT_SENTENCE: Final = 25
_LONG: Final = 160
_SHORT_LINK: Final = 30
_PLACES: Final = 0xFF_FFFF
_DIGEST: Final = 0xFF_FFFF
_BITS: Final = 0xFFFF
_SHOWN: Final = 60
_MARKS: Final = HEADING | CELL | ITEM | LINKED
_LOOKED_AT: Final = 200


class PageBlocks(NamedTuple):
    """The blocks of a page.

    level  how much of the page counts
    title  of the page, which is its first heading
    """

    blocks: Blocks
    level: int
    title: str = ""

    def digest(self) -> int:
        """Return a digest of the blocks that count, 63 bits: of equal ones, the contents compare as unchanged.

        Only what is beside the content differs then, which makes half of the differences between texts of a page.
        """
        counted = [
            f"{text}\0{mark}\0{path}" for text, mark, path in zip(*self.blocks, strict=True) if not mark & OUTSIDE
        ]
        named = "\0".join((str(self.level), self.title, *counted))
        return _digest(named.encode(errors="surrogatepass")) >> 1 or 1


def choose_blocks(whole: Whole, look_at: str, ignore: str) -> PageBlocks:
    """Read the blocks of a page, see `read_content`; the level is the first on which enough of them count."""
    without = frozenset(whole.select(ignore)) if ignore else frozenset()
    if look_at:
        return PageBlocks(read_blocks_of(whole.select(look_at), without), CHOSEN)
    level = 0
    blocks = read_blocks_at(whole, level, without)
    while level < ALL and not _is_enough(blocks):
        if level + 1 == ALL and is_shell(whole):
            break  # the menus around a text that scripts make are no text
        level += 1
        blocks = read_blocks_at(whole, level, without)
    return PageBlocks(blocks, level, whole.title)


def read_content_at(whole: Whole, level: int) -> Content:
    """Read the content of a page as on a level, even if next to nothing counts there."""
    return to_content(read_blocks_at(whole, level), level, whole.title)


def read_blocks_at(whole: Whole, level: int, without: Collection[Any] = ()) -> Blocks:
    """Read the blocks of a page as on a level."""
    return read_blocks(whole, without, landmarks=level < ALL, names=level == 0)


def content_of_lines(lines: Sequence[str]) -> Content:
    """Make the content of something other than a page: each line is a block, and all blocks count."""
    return to_content(Blocks(list(lines), [ITEM] * len(lines), [0] * len(lines)), CHOSEN)


def content_of_plain(lines: Blocks) -> Content:
    """Make the content of text that is no page: its lines count as a page's do, so that clocks and greetings do not."""
    return to_content(lines, ALL)


def content_of_block(body: bytes) -> Content:
    """Make the content of bytes that are not text: one block."""
    return Content(pack(CHOSEN, [Block(_digest(body) & _DIGEST, 0, 0, len(body))], []), "")


def to_content(read: Blocks, level: int, title: str = "", received: Received | None = None) -> Content:
    """Make a content of blocks; all of them count where the level says that they were chosen.

    received  between which times; None where that is not known, so that no date is known to be that of the visit
    """
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
    # A short link that is in the page's navigation, too, is a part of that.
    outside = "\n".join([text for text, mark in zip(read.texts, read.marks, strict=True) if mark & OUTSIDE])
    blocks: list[tuple[int, int, int, int, bytes]] = []
    counted: list[str] = []
    clocks: dict[int, Clock] = {}
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
                masked = to_steady(lasting)  # noqa: PLW2901 - the rest of the loop uses the steady form
                settled = _settle(lasting, mark)
                if settled != lasting:
                    data, _ = to_compared_lines(settled)[0]  # noqa: PLW2901 - as above
                    place = _digest(masked, path) & _PLACES or 1
                    beside.append((_digest(text.encode("utf-8", "replace")) & _BITS, place, SHORT))
                    bits.append(text)
            if masked is not None and received is not None and (clock := _clock_of(lasting, received)) is not None:
                clocks[len(blocks)] = clock
            counted.append(text)
            again = REPEATED if mark & LINKED and len(text) <= _SHORT_LINK and text in outside else 0
            blocks.append(_to_block(lasting, mark | again, path, data, masked))
    kept = tuple([bit[:_SHOWN] for bit in bits[:MOST_BESIDE]])
    at = received[1] if received is not None else None
    return Content(pack(level, blocks, beside, clocks), "\n".join(counted), kept, at)


def _compared(
    lines: list[str], marks: list[int], level: int
) -> tuple[Sequence[str], Sequence[tuple[bytes, bytes | None]]]:
    """Return the lasting part of each line, its comparable bytes, and these without figures where it has any."""
    if not lines:
        return (), ()
    if level == CHOSEN:
        lasting = "\n".join(lines)
    else:
        # Without signs between parts only short lines can lose something.
        longest = MOST_PARTED if has_parts("\n".join(lines)) else LONGEST_GREETING
        kept = [_lasting(line, mark) if len(line) <= longest else line for line, mark in zip(lines, marks, strict=True)]
        lasting = without_ages("\n".join(kept))
    return [line.strip() for line in lasting.split("\n")], to_compared_lines(lasting)


def _is_enough(blocks: Blocks) -> bool:
    """Return whether what counts can be a page's content, beside what does not."""
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


def _clock_of(text: str, received: Received) -> Clock | None:
    if len(text) > LONGEST:
        return None
    return find_clock(text, received, is_sentence=text.endswith(SENTENCE_ENDS))


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


# The version of the reader; contents of different versions cannot be compared.
READ_AS: Final = "3"


def read_content(whole: Whole, look_at: str, ignore: str, received: Received | None = None) -> Content:
    """Read the content of a page.

    look_at   CSS selectors of the only elements that are looked at, and all of them; "" for the page's main text
    ignore    CSS selectors of elements that are not
    received  between which times, so that dates of the visit can be told; None where that is not known
    Raises ValueError where one is no selector, see `check_selector`.
    """
    return to_content(*choose_blocks(whole, look_at, ignore), received)


def find_content_problems(whole: Whole, look_at: str, ignore: str, *, own_ignore: bool = True) -> tuple[str, ...]:
    """Return, in words, the selectors that match nothing on the page although they should, see `Asked`.

    Raises ValueError where one is no selector.
    """
    asked = (("look_at", look_at, True), ("ignore", ignore, own_ignore))
    return tuple(
        f"{name} = {selector!r} matches nothing on this page"
        for name, selector, is_expected in asked
        if selector and not whole.select(selector) and is_expected
    )


def content_of_bytes(body: bytes) -> Content:
    """Make the content of bytes that are not text: one block."""
    return content_of_block(body)


def content_of_entries(entries: Sequence[str]) -> Content:
    """Make a content of a feed: each entry is a block."""
    return content_of_lines(entries)


def compare_contents(before: bytes, latest: Content, muted: Collection[int] = ()) -> ContentChange:
    """Compare a content with the fingerprint of an earlier one.

    muted  keys of places that do not count
    An invalid fingerprint is no change, with the reason in `noise`.
    """
    return compare(before, latest, muted, _digest_line)


def _digest_line(text: str, flags: int, level: int) -> int | None:
    read = unpack(to_content(Blocks([text], [flags & _MARKS], [0]), level).fingerprint)
    return read.rows[0][0] if isinstance(read, Fingerprint) and read.rows else None


def content_digest(fingerprint: bytes, muted: Collection[int] = ()) -> int:
    """Return a digest of a content, 63 bits: contents that compare as unchanged have the same."""
    return digest_of(fingerprint, muted)


def similarity(a: bytes, b: bytes) -> float:
    """Return the share of letters that two contents have in common, 0 to 1."""
    return resemblance(a, b)
