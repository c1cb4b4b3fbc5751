"""The fingerprint of a page's content, and the comparison of two: new blocks, removed blocks, noise.

A fingerprint has a digest for each block of text. Two contents resemble each other by the share of blocks in common
(Broder's resemblance, with blocks as shingles). A long block also has one byte for each sentence, so that an edited
word differs from a new text.

Sources  A. Z. Broder, On the resemblance and containment of documents, 1997. P. Li and A. C. König, b-Bit minwise
         hashing, 2010: a few bits of each digest are enough to estimate the resemblance of two sets.
"""

from __future__ import annotations

import struct
from collections import Counter
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import accumulate, islice, pairwise
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from msgspec import Struct
from xxhash import xxh3_64_digest, xxh3_64_intdigest

from tocsin.spec.signals.clocks import Clock, is_moved
from tocsin.spec.signals.time_zones import find_moved

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence


class Content(Struct, frozen=True, gc=False):
    """A page's content.

    fingerprint  of its blocks, as `compare_contents` needs it
    text         what people read: the blocks that count, a line each
    beside       the first letters of each block that does not, in the fingerprint's order
    at           when it was received; None where that is not known
    """

    fingerprint: bytes
    text: str
    beside: tuple[str, ...] = ()
    at: datetime | None = None


# How `ContentPlace.what` ends where nothing is left to recognise it by.
GONE: Final = ", gone"


class ContentPlace(Struct, frozen=True, gc=False):
    """Where a content differs from the one before.

    key   names the place on every page of the host
    what  for people: the kind of place, and a bit of its text
    """

    key: int
    what: str


class ContentChange(Struct, frozen=True):
    """How one content differs from another.

    is_change  it was edited: more than noise differs
    share      how much of the text differs, 0 to 1, by letters
    blocks     of how many blocks
    added, removed  blocks that are new or gone, as far as they count
    places     all that differs, with noise, for learning
    noise      what differs but does not count, in words
    key        names exactly these new and gone blocks, for pages that share them; None if they are too many
    excerpt    of the new text, one line
    """

    is_change: bool
    share: float = 0.0
    blocks: int = 0
    added: int = 0
    removed: int = 0
    places: tuple[ContentPlace, ...] = ()
    noise: tuple[str, ...] = ()
    key: bytes | None = None
    excerpt: str = ""


# That have a digest of their own; all further ones share one.
MOST_BLOCKS: Final = 2000
MOST_BESIDE: Final = 200
MOST_SENTENCES: Final = 24
MOST_CLOCKS: Final = 20
_NO_CLOCKS: Final[Mapping[int, Clock]] = {}

HEADING: Final = 1
CELL: Final = 2
ITEM: Final = 4
LINKED: Final = 8
# Its position among the others matters.
ORDERED: Final = 16
# Less than a sentence: may turn out to be noise, and is identified by its place.
SHORT: Final = 32
# Contains figures: identified by the text around them.
FIGURES: Final = 64
SKETCHED: Final = 128
# A short link that the page's navigation has, too: no short block is ordered, so both together can mean that.
REPEATED: Final = SHORT | ORDERED

_VERSION: Final = 2
# Version, level, and how many blocks, blocks beside the content, and kinds of both there are.
_HEAD: Final = struct.Struct("<BBHHH")
# In the level: there are blocks beyond the limit, whose digest follows.
_HAS_REST: Final = 128
_REST: Final = struct.Struct("<Q")
_WORD, _WORDS = struct.Struct("<I").pack, struct.Struct("<I").iter_unpack
_HALF, _HALVES = struct.Struct("<H").pack, struct.Struct("<H").iter_unpack
# Of a block: an edited one has the same in one of sixteen million cases.
_DIGEST_BYTES: Final = 3
# Kinds that one byte can number.
_FEW_KINDS: Final = 256
_CLOCK: Final = struct.Struct("<HHHH")
_LENGTHS: Final = tuple(round(1.045**code) for code in range(256))
_CODES: Final[dict[int, int]] = {}
_FLAGS: Final = 24
_PLACES: Final = (1 << _FLAGS) - 1
_IN_ORDER: Final = ORDERED << _FLAGS
_IS_REPEATED: Final = REPEATED << _FLAGS
_IS_SKETCHED: Final = SKETCHED << _FLAGS


class Block(NamedTuple):
    """A block that counts: the digest of its text, 24 bits for its place (0: none), flags, letters, sentences."""

    digest: int
    place: int
    flags: int
    letters: int
    sentences: bytes = b""


# A block as it is packed, for few are ever looked at: its digest, its place below its flags, letters, sentences.
Row: TypeAlias = tuple[int, int, int, bytes]
# A block that another content does not have, and the digest of the block before it that both have; 0: none.
Differing: TypeAlias = "tuple[Block, int]"


class Beside(NamedTuple):
    """A block that does not count: 16 bits of its digest, 24 for its place, flags."""

    digest: int
    place: int
    flags: int


class Fingerprint(NamedTuple):
    """The parts of a fingerprint.

    level   how much of the page counted, see `content_reading`
    rows    its blocks that count, see `to_block`
    pairs   the blocks beside the content, see `beside`
    rest    the digest of the blocks beyond the first MOST_BLOCKS; 0 if there are none
    clocks  the blocks that show the date of the visit or count days, by their number
    """

    level: int
    rows: list[Row]
    pairs: list[tuple[int, int]]
    rest: int
    clocks: Mapping[int, Clock] = _NO_CLOCKS

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
        return [digest for digest, told, _, _ in self.rows if told & _IS_REPEATED == _IN_ORDER]


def pack(
    level: int,
    blocks: Sequence[tuple[int, int, int, int, bytes]],
    beside: Sequence[tuple[int, int, int]],
    clocks: Mapping[int, Clock] = _NO_CLOCKS,
) -> bytes:
    """Write a fingerprint of the values of `Block` and `Beside`; blocks beyond the limit become one digest."""
    rest = 0
    if len(blocks) > MOST_BLOCKS:
        digests = b"".join([block[0].to_bytes(4, "little") for block in islice(blocks, MOST_BLOCKS, None)])
        rest = xxh3_64_intdigest(digests) or 1
        blocks = blocks[:MOST_BLOCKS]
    beside = beside[:MOST_BESIDE]
    # In columns: most blocks share their place and flags with others, which are written once.
    told = [place | flags << _FLAGS | (_IS_SKETCHED if sentences else 0) for _, place, flags, _, sentences in blocks]
    told += [place | flags << _FLAGS for _, place, flags in beside]
    kinds = {kind: number for number, kind in enumerate(dict.fromkeys(told))}
    digests = b"".join([_WORD(block[0]) for block in blocks])
    numbers = [kinds[kind] for kind in told]
    return b"".join(
        (
            _HEAD.pack(_VERSION, level | _HAS_REST if rest else level, len(blocks), len(beside), len(kinds)),
            _REST.pack(rest) if rest else b"",
            *[digests[byte::4] for byte in range(_DIGEST_BYTES)],
            bytes([_CODES[letters] if letters in _CODES else _code(letters) for _, _, _, letters, _ in blocks]),
            bytes(numbers) if len(kinds) <= _FEW_KINDS else b"".join([_HALF(number) for number in numbers]),
            b"".join([_HALF(digest) for digest, _, _ in beside]),
            b"".join([_WORD(kind) for kind in kinds]),
            *[bytes((len(block[4]),)) + block[4] for block in blocks if block[4]],
            *[
                _CLOCK.pack(index, *clock)
                for index, clock in islice(clocks.items(), MOST_CLOCKS)
                if index < MOST_BLOCKS
            ],
        )
    )


# To compare two contents, and to name what differs, both are asked for up to four times.
@lru_cache(maxsize=4)
def unpack(fingerprint: bytes) -> Fingerprint | str:
    """Read a fingerprint; returns its fault, in words, if it is invalid."""
    if len(fingerprint) < _HEAD.size or fingerprint[0] != _VERSION:
        return "it is not a fingerprint of this version"
    _, level, count, beside_count, kind_count = _HEAD.unpack_from(fingerprint)
    place, rest = _HEAD.size, 0
    planes = bytearray(4 * count)
    sentences = [b""] * count
    try:
        if level & _HAS_REST:
            (rest,) = _REST.unpack_from(fingerprint, place)
            place += _REST.size
        for byte in range(_DIGEST_BYTES):
            planes[byte::4] = fingerprint[place : place + count]
            place += count
        letters = [_LENGTHS[code] for code in fingerprint[place : place + count]]
        place += count
        width = 1 if kind_count <= _FEW_KINDS else 2
        starts = accumulate((place, width * (count + beside_count), 2 * beside_count, 4 * kind_count))
        columns = [fingerprint[start:end] for start, end in pairwise(starts)]
        numbers = columns[0] if width == 1 else [number for (number,) in _HALVES(columns[0])]
        kinds = [kind for (kind,) in _WORDS(columns[2])]
        told = [kinds[number] for number in numbers]
        place += sum(map(len, columns))
        for index in [index for index, kind in enumerate(told[:count]) if kind & _IS_SKETCHED]:
            end = place + 1 + fingerprint[place]
            sentences[index] = fingerprint[place + 1 : end]
            place = end
        rows = list(zip([digest for (digest,) in _WORDS(planes)], told[:count], letters, sentences, strict=True))
        pairs = list(zip([digest for (digest,) in _HALVES(columns[1])], told[count:], strict=True))
    except (struct.error, IndexError, ValueError):
        return "it is cut off"
    more = len(fingerprint) - place
    if more < 0 or more % _CLOCK.size:
        return "it is cut off" if more < 0 else "it is not as long as it says"
    clocks = {index: Clock(*clock) for index, *clock in _CLOCK.iter_unpack(fingerprint[place:])}
    return Fingerprint(level & ~_HAS_REST, rows, pairs, rest, clocks)


def to_block(row: Row) -> Block:
    """Unpack a block."""
    digest, told, letters, sentences = row
    return Block(digest, told & _PLACES, told >> _FLAGS & ~SKETCHED, letters, sentences)


def _code(letters: int) -> int:
    """Return a length's code: the greatest one for this length or less."""
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


_EXCERPT: Final = 200
# Blocks of a menu or a banner, both its old and its new ones, that pages of a host may share.
_MOST_SHARED: Final = 100
_MOST_PLACES: Final = 100
_SHOWN: Final = 60
_MOST_TRIED: Final = 50
_ALIKE: Final = 0.3
# Blocks of a content of which one may change by itself.
_MANY: Final = 10
_DATED: Final = SHORT | FIGURES
# A date of the visit, in any zone, is none of the past.
_LATELY: Final = timedelta(hours=48)
# Blocks of a slide: a heading, a sentence, a link.
_MOST_OF_SLIDE: Final = 4
# A sentence, and who said it.
_WITH_SIGNATURE: Final = 2


def key_of(place: int) -> int:
    """Return the key of a place, 63 bits."""
    return xxh3_64_intdigest(place.to_bytes(3, "little")) >> 1 or 1


def compare(
    before: bytes, latest: Content, muted: Collection[int], digest_line: Callable[[str, int, int], int | None]
) -> ContentChange:
    """Compare; see `content.compare_contents`.

    digest_line  returns the digest of a block of this text, with these flags, on this level; None if it does not count
    """
    if before == latest.fingerprint:
        return ContentChange(is_change=False)
    old = unpack(before)
    new = unpack(latest.fingerprint)
    if isinstance(old, str) or isinstance(new, str):
        why = old if isinstance(old, str) else new
        return ContentChange(is_change=False, noise=(f"the content before cannot be compared: {why}",))
    gone_at, come_at = _differences(old, new)
    places, noise = _beside(old, new, latest.beside)
    lines = latest.text.split("\n") if gone_at or come_at else []
    silent: set[int] = set()
    for why, was, now, number in _find_moved(old, new, gone_at, come_at, latest, digest_line):
        gone_at.remove(was)
        come_at.remove(now)
        silent |= {was[0].digest, now[0].digest}
        noise.append(f"{why}: “{lines[number][:_SHOWN] if number < len(lines) else ''}”")
    gone, come = [block for block, _ in gone_at], [block for block, _ in come_at]
    digests = {block.digest for block in (*gone, *come)}
    known = {to_block(row): index for index, row in enumerate(new.rows) if row[0] in digests}
    at = _positions(gone_at, come_at)
    keys = _muted_by(gone_at, come_at, at, muted) if muted else {}
    silent |= {block.digest for block, found in keys.items() if found}
    for block, key in _learnable(old, new, gone_at, come_at, at, silent).items():
        index = known.get(block, -1)
        places.setdefault(key, _what(block, lines[index][:_SHOWN] if 0 <= index < len(lines) else ""))
    if keys:
        noise += dict.fromkeys(places[key] for found in keys.values() for key in found if key in places)
        gone = [block for block in gone if not keys[block]]
        come = [block for block in come if not keys[block]]
    is_moved = not gone and not come and _order(old, silent) != _order(new, silent)
    if old.level != new.level and (not gone or not come):
        # Only how much of the page counts has changed.
        gone, come = [], []
        is_moved = False
    is_rest = old.rest != new.rest
    letters = old.letters + new.letters
    share = min(1.0, _differing(gone, come) / max(letters, 1)) if gone or come else 0.0
    index = known[come[0]] if come else len(lines)
    return ContentChange(
        is_change=bool(gone or come or is_moved or is_rest),
        share=share or (1 / max(letters, 1) if is_moved or is_rest else 0.0),
        blocks=len(new.rows),
        added=len(come),
        removed=len(gone),
        places=tuple([ContentPlace(key, what) for key, what in places.items()][:_MOST_PLACES]),
        noise=tuple(dict.fromkeys(noise)),
        key=_key(gone, come),
        excerpt=lines[index][:_EXCERPT] if index < len(lines) else "",
    )


def _differences(old: Fingerprint, new: Fingerprint) -> tuple[list[Differing], list[Differing]]:
    """Return the blocks that are gone and those that are new: that the other one does not have, or has less often."""
    before, after = (Counter([row[0] for row in each.rows]) for each in (old, new))
    return _without(old.rows, before, after), _without(new.rows, after, before)


def _moved(
    old: Fingerprint, new: Fingerprint, gone: Sequence[Differing], come: Sequence[Differing]
) -> list[tuple[Differing, Differing, int]]:
    """Find the versions of lines that differ by the time between them alone, with the number of the newer one."""
    if not old.clocks or not new.clocks:
        return []
    was = {old.rows[index][0]: clock for index, clock in old.clocks.items() if index < len(old.rows)}
    now = {new.rows[index][0]: (clock, index) for index, clock in new.clocks.items() if index < len(new.rows)}
    left = [each for each in gone if each[0].digest in was]
    found = []
    for each in come:
        if each[0].digest not in now:
            continue
        clock, number = now[each[0].digest]
        before = next((other for other in left if is_moved(was[other[0].digest], clock)), None)
        if before is not None:
            left.remove(before)
            found.append((before, each, number))
    return found


def _find_moved(
    old: Fingerprint,
    new: Fingerprint,
    gone: Sequence[Differing],
    come: Sequence[Differing],
    latest: Content,
    digest_line: Callable[[str, int, int], int | None],
) -> list[tuple[str, Differing, Differing, int]]:
    """Find the versions of lines that differ by dates alone that are no edit: why, both, and the newer one's number."""
    found = [("date of the visit", *each) for each in _moved(old, new, gone, come)]
    if latest.at is None or not gone or not come:
        return found
    lines = latest.text.split("\n")
    numbers = {row[0]: index for index, row in enumerate(new.rows)}
    done = {id(each) for _, was, now, _ in found for each in (was, now)}
    dated = [each for each in come if each[0].flags & _DATED == _DATED and id(each) not in done]
    known = {each[0].digest: each for each in gone if each[0].flags & FIGURES and id(each) not in done}
    moved = find_moved(
        [lines[numbers[each[0].digest]] for each in dated],
        latest.at - _LATELY,
        lambda number, text: known.get(digest_line(text, dated[number][0].flags, new.level) or 0),
    )
    # Each earlier line is that of one later line.
    pairs = {was[0].digest: (was, dated[number]) for number, was in moved.items()}
    return found + [("date in another zone", was, now, numbers[now[0].digest]) for was, now in pairs.values()]


def _without(rows: Sequence[Row], own: Counter[int], others: Counter[int]) -> list[Differing]:
    """Return the blocks that others do not have, or have less often, counted by their digests."""
    left = {digest: others.get(digest, 0) for digest, times in own.items() if times > others.get(digest, 0)}
    found, anchor = [], 0
    for row in rows if left else ():
        more = left.get(row[0])
        if more == 0:
            # What the navigation still says, or says already, is neither gone nor new.
            if row[1] & _IS_REPEATED != _IS_REPEATED:
                found.append((to_block(row), anchor))
            continue
        anchor = row[0]
        if more:
            left[anchor] = more - 1
    return found


def _muted_by(
    gone: Sequence[Differing], come: Sequence[Differing], at: Mapping[Block, int], muted: Collection[int]
) -> dict[Block, set[int]]:
    """Return the muted keys of each block that differs; what takes turns with a muted text is muted, too."""
    keys = {block: _keys_of(block, at).intersection(muted) for block, _ in (*gone, *come)}
    for was, now in _runs_of(gone, come).values():
        turning = {_text_key(block.digest) for block in (*was, *now)}.intersection(muted)
        if turning and len(was) == len(now):
            keys |= {block: keys[block] | turning for block in (*was, *now)}
    return keys


def _runs_of(gone: Sequence[Differing], come: Sequence[Differing]) -> dict[int, tuple[list[Block], list[Block]]]:
    """Return what is gone and what is new behind each block that both contents have."""
    runs: dict[int, tuple[list[Block], list[Block]]] = {}
    for side, blocks in enumerate((gone, come)):
        for block, anchor in blocks:
            runs.setdefault(anchor, ([], []))[side].append(block)
    return runs


def _keys_of(block: Block, at: Mapping[Block, int]) -> set[int]:
    """Return the keys by which a block that differs may be muted; a sentence of prose by its position or its words."""
    keys = {_text_key(block.digest)} | ({at[block]} if block in at else set())
    return keys if block.flags & ORDERED else {key_of(block.place), *keys}


def _order(read: Fingerprint, silent: Collection[int]) -> list[int]:
    return [digest for digest in read.order if digest not in silent] if silent else read.order


def _positions(gone: Sequence[Differing], come: Sequence[Differing]) -> dict[Block, int]:
    """Return the keys of blocks that were replaced in their position: between the same blocks as the ones before.

    Unlike the key of a place, this one needs neither the words of a block nor those of its class.
    """
    found: dict[Block, int] = {}
    for anchor, (was, now) in _runs_of(gone, come).items():
        run = (*was, *now)
        # A heading is one of a teaser, and a row of a table one that is a fact, unless it is replaced alone.
        is_box = len(was) == len(now) and (len(was) == 1 or not any(block.flags & (HEADING | CELL) for block in run))
        has_sentences = not all(block.flags & SHORT for block in run)
        if is_box and (not has_sentences or (_is_quotation(was) and _is_quotation(now))):
            found |= {block: _position(anchor, is_sentence=not block.flags & SHORT) for block in run}
    return found


def _is_quotation(run: Sequence[Block]) -> bool:
    """Return whether a run is one sentence, alone or with its signature, and no teaser, which has a link."""
    # A link with a figure in it may be a line with a clock.
    is_teaser = any(block.flags & LINKED and not block.flags & FIGURES for block in run)
    sentences = sum(not block.flags & (SHORT | HEADING | CELL) for block in run)
    return len(run) <= _WITH_SIGNATURE and sentences == 1 and not is_teaser


def _text_key(digest: int) -> int:
    return xxh3_64_intdigest(digest.to_bytes(4, "little"), 3) >> 1 or 1


def _position(anchor: int, *, is_sentence: bool) -> int:
    return xxh3_64_intdigest(anchor.to_bytes(4, "little"), 1 + is_sentence) >> 1 or 1


def _learnable(
    old: Fingerprint,
    new: Fingerprint,
    gone_at: Sequence[Differing],
    come_at: Sequence[Differing],
    at: Mapping[Block, int],
    silent: Collection[int],
) -> dict[Block, int]:
    """Return the keys by which differing blocks may turn out to be noise.

    at      keys of those that were replaced in their position
    silent  digests of those that are muted already
    """
    gone, come = [block for block, _ in gone_at], [block for block, _ in come_at]
    masks = {block.place for block in gone if block.flags & FIGURES} & {
        block.place for block in come if block.flags & FIGURES
    }
    found: dict[Block, int] = {}
    key: int | None
    differing = (*come, *gone)
    crowds = Counter(row[1] & _PLACES for read in (old, new) for row in read.rows) if differing else Counter()
    changed = Counter(block.place for block in differing)
    # An edit of a sentence tells nothing of noise, unless it is the only one among many that differs.
    sentences = [sum(not block.flags & SHORT and block.digest not in silent for block in side) for side in (gone, come)]
    is_alone = len(new.rows) >= _MANY and sentences == [1, 1]
    # Of a slide of a heading and a sentence, the same words come and go again and again; those of a teaser do not.
    runs = [
        (*was, *now) for was, now in _runs_of(gone_at, come_at).values() if 1 < len(was) == len(now) <= _MOST_OF_SLIDE
    ]
    of_slides = {block for run in runs for block in run}
    for block in differing:
        position = at.get(block)
        if block.flags & SHORT:
            # Of a list that got some new entries, the other entries are no noise.
            is_mostly = 2 * changed[block.place] >= crowds[block.place]
            if block.flags & FIGURES:
                key = key_of(block.place) if position is None or block.flags & CELL else position
            else:
                key = key_of(block.place) if is_mostly else position
        elif position is not None and (is_alone or block.digest in silent):
            key = position
        else:
            key = key_of(block.place) if block.place in masks and not block.flags & ORDERED else None
        if key is None and block in of_slides:
            key = _text_key(block.digest)
        if key is not None:
            found[block] = key
    return found


def _beside(old: Fingerprint, new: Fingerprint, bits: Sequence[str]) -> tuple[dict[int, str], list[str]]:
    """Describe the differences between the blocks that do not count."""
    if old.pairs == new.pairs:
        return {}, []
    places: dict[int, str] = {}
    before, after = old.beside, new.beside
    known = {block[:2] for block in before}
    for index, block in enumerate(after):
        if block[:2] not in known:
            bit = bits[index] if index < len(bits) else ""
            name = "counter or date" if block.flags & SHORT else "beside the content"
            places.setdefault(key_of(block.place), f"{name}: “{bit}”")
    known = {block[:2] for block in after}
    for block in before:
        if block[:2] not in known:
            places.setdefault(key_of(block.place), f"beside the content{GONE}")
    return places, list(places.values())


def _what(block: Block, bit: str) -> str:
    name = "text"
    if block.flags & HEADING:
        name = "heading"
    elif block.flags & CELL:
        name = "table"
    elif block.flags & ITEM:
        name = "list item"
    return f"{name}: “{bit}”" if bit else f"{name}{GONE}"


def _differing(gone: Sequence[Block], come: Sequence[Block]) -> float:
    """Count the letters that differ; of a block that was rewritten in part, only its other sentences."""
    letters = float(sum(block.letters for block in gone) + sum(block.letters for block in come))
    left = [block for block in gone if block.sentences] if len(come) <= _MOST_TRIED else []
    for block in come:
        if not block.sentences or not left or len(left) > _MOST_TRIED:
            continue
        best = max(left, key=lambda each: _resemblance(each.sentences, block.sentences))
        alike = _resemblance(best.sentences, block.sentences)
        if alike > _ALIKE:
            left.remove(best)
            letters -= alike * (best.letters + block.letters)
    return letters


def _resemblance(a: bytes, b: bytes) -> float:
    common = (Counter(a) & Counter(b)).total()
    return common / max(len(a), len(b), 1)


def _key(gone: Sequence[Block], come: Sequence[Block]) -> bytes | None:
    left = sorted({block.digest for block in gone})
    right = sorted({block.digest for block in come})
    if not 1 <= len(left) + len(right) <= _MOST_SHARED:
        return None
    named = b"".join([digest.to_bytes(4, "little") for digest in left])
    return xxh3_64_digest(named + b"|" + b"".join([digest.to_bytes(4, "little") for digest in right]))


def digest_of(fingerprint: bytes, muted: Collection[int]) -> int:
    """Digest the blocks that count, 63 bits; only prose is compared in order."""
    read = unpack(fingerprint)
    if isinstance(read, str):
        return xxh3_64_intdigest(fingerprint) >> 1
    shown = {read.rows[index][0]: clock.rest for index, clock in read.clocks.items() if index < len(read.rows)}
    if muted:
        places = [(row, to_block(row).place) for row in read.rows]
        kept = [row for row, place in places if not place or key_of(place) not in muted]
        read = read._replace(rows=[row for row in kept if _text_key(row[0]) not in muted])
        read = read._replace(rows=_without_positions(read.rows, muted))
    lasting = [row for row in read.rows if row[1] & _IS_REPEATED != _IS_REPEATED]
    named = [shown.get(row[0], row[0]).to_bytes(4, "little") for row in lasting]
    ordered = [shown.get(digest, digest).to_bytes(4, "little") for digest in read.order]
    return xxh3_64_intdigest(b"".join(sorted(named)) + b"|" + b"".join(ordered), read.rest) >> 1


def _without_positions(rows: Sequence[Row], muted: Collection[int]) -> list[Row]:
    """Leave out the blocks in muted positions, each behind the one that it was always found behind."""
    kept: list[Row] = []
    anchor: int | None = 0
    for row in rows:
        is_sentence = not row[1] >> _FLAGS & SHORT
        if anchor is not None and _position(anchor, is_sentence=is_sentence) in muted:
            anchor = None
        else:
            kept.append(row)
            anchor = row[0]
    return kept


def resemblance(a: bytes, b: bytes) -> float:
    """Return the share that two contents have in common, 0 to 1."""
    old, new = unpack(a), unpack(b)
    if isinstance(old, str) or isinstance(new, str):
        return float(a == b)
    letters = old.letters + new.letters
    gone, come = ([block for block, _ in blocks] for blocks in _differences(old, new))
    return 1 - min(1.0, _differing(gone, come) / letters) if letters else 1.0
