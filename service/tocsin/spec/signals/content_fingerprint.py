"""A content's fingerprint: a digest for each block of its text, and what comparing them needs.

Two contents resemble each other as far as they share blocks, which is Broder's resemblance of documents with blocks for
shingles; long blocks carry a byte for each of their sentences too, so that a word changed differs from another text.

Sources  A. Z. Broder, On the resemblance and containment of documents, 1997. P. Li and A. C. König, b-Bit minwise
         hashing, 2010: few bits of each digest suffice to tell how much two sets share.
"""

from __future__ import annotations

import struct
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from xxhash import xxh3_64_intdigest

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_BLOCKS: Final = 2000
"""That have a digest of their own; all further ones share one."""
MOST_BESIDE: Final = 200
MOST_SENTENCES: Final = 24

HEADING: Final = 1
CELL: Final = 2
ITEM: Final = 4
LINKED: Final = 8
ORDERED: Final = 16
"""Where it stands among the others matters."""
SHORT: Final = 32
"""Less than a sentence: may turn out to be noise, and is known by its place."""
FIGURES: Final = 64
"""Holds figures: is known by what stands around them."""
SKETCHED: Final = 128

_VERSION: Final = 1
_HEAD: Final = struct.Struct("<BBHHQ")
_BLOCK: Final = struct.Struct("<IIB")
_BESIDE: Final = struct.Struct("<HI")
_LENGTHS: Final = tuple(round(1.045**code) for code in range(256))
_CODES: Final[dict[int, int]] = {}
_FLAGS: Final = 24
_PLACES: Final = (1 << _FLAGS) - 1
_IN_ORDER: Final = ORDERED << _FLAGS
_IS_SKETCHED: Final = SKETCHED << _FLAGS


class Block(NamedTuple):
    """A block that counts: the digest of its text, 24 bits for its place (0: none), flags, letters, sentences."""

    digest: int
    place: int
    flags: int
    letters: int
    sentences: bytes = b""


Row: TypeAlias = tuple[int, int, int, bytes]
"""A block as it is packed, for few are ever looked at: its digest, its place below its flags, letters, sentences."""


class Beside(NamedTuple):
    """A block that does not count: 16 bits of its digest, 24 for its place, flags."""

    digest: int
    place: int
    flags: int


class Fingerprint(NamedTuple):
    """What a fingerprint holds.

    level   how much of the page counted, see `content_reading`
    rows    its blocks that count, see `to_block`
    pairs   what stands beside them, see `beside`
    rest    the digest of the blocks for which there was no room; 0 if there are none
    """

    level: int
    rows: list[Row]
    pairs: list[tuple[int, int]]
    rest: int

    @property
    def blocks(self) -> list[Block]:
        """Its blocks that count."""
        return [to_block(row) for row in self.rows]

    @property
    def beside(self) -> list[Beside]:
        """Its blocks that do not count."""
        return [Beside(digest, told & _PLACES, told >> _FLAGS) for digest, told in self.pairs]

    @property
    def letters(self) -> int:
        """How many letters all of them have."""
        return sum([letters for _, _, letters, _ in self.rows])

    @property
    def order(self) -> list[int]:
        """The digests of those whose order matters."""
        return [digest for digest, told, _, _ in self.rows if told & _IN_ORDER]


def pack(
    level: int, blocks: Sequence[tuple[int, int, int, int, bytes]], beside: Sequence[tuple[int, int, int]]
) -> bytes:
    """Write a fingerprint of what `Block` and `Beside` hold; of more than fit, the further ones become one digest."""
    rest = 0
    if len(blocks) > MOST_BLOCKS:
        digests = b"".join([block[0].to_bytes(4, "little") for block in islice(blocks, MOST_BLOCKS, None)])
        rest = xxh3_64_intdigest(digests) or 1
        blocks = blocks[:MOST_BLOCKS]
    beside = beside[:MOST_BESIDE]
    parts = [_HEAD.pack(_VERSION, level, len(blocks), len(beside), rest)]
    for digest, place, flags, letters, sentences in blocks:
        code = _CODES.get(letters)
        if code is None:
            code = _code(letters)
        if sentences:
            parts.append(_BLOCK.pack(digest, place | (flags | SKETCHED) << _FLAGS, code))
            parts.append(bytes((len(sentences),)) + sentences)
        else:
            parts.append(_BLOCK.pack(digest, place | flags << _FLAGS, code))
    parts += [_BESIDE.pack(digest, place | flags << _FLAGS) for digest, place, flags in beside]
    return b"".join(parts)


def unpack(fingerprint: bytes) -> Fingerprint | str:
    """Read a fingerprint; what is wrong with it, in words, where it is none."""
    if len(fingerprint) < _HEAD.size or fingerprint[0] != _VERSION:
        return "it is not a fingerprint of this version"
    _, level, count, beside_count, rest = _HEAD.unpack_from(fingerprint)
    place = _HEAD.size
    rows: list[Row] = []
    read, size = _BLOCK.unpack_from, _BLOCK.size  # names and calls would take half of the time
    try:
        for _ in range(count):
            digest, told, code = read(fingerprint, place)
            place += size
            sentences = b""
            if told & _IS_SKETCHED:
                end = place + 1 + fingerprint[place]
                sentences = fingerprint[place + 1 : end]
                place = end
            rows.append((digest, told, _LENGTHS[code], sentences))
    except (struct.error, IndexError):
        return "it is cut off"
    missing = place + beside_count * _BESIDE.size - len(fingerprint)
    if missing:
        return "it is cut off" if missing > 0 else "it is not as long as it says"
    return Fingerprint(level, rows, list(_BESIDE.iter_unpack(memoryview(fingerprint)[place:])), rest)


def to_block(row: Row) -> Block:
    """Read what a block is."""
    digest, told, letters, sentences = row
    return Block(digest, told & _PLACES, told >> _FLAGS & ~SKETCHED, letters, sentences)


def _code(letters: int) -> int:
    """Give a length's code: of all that stand for as many or less, the greatest."""
    low, high = 0, len(_LENGTHS) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if _LENGTHS[middle] <= letters:
            low = middle
        else:
            high = middle - 1
    if letters < 4 * MOST_BLOCKS:
        _CODES[letters] = low
    return low
