"""Two contents beside each other: what is new, what is gone, and what of it anybody edited."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from xxhash import xxh3_64_digest, xxh3_64_intdigest

from tocsin.spec.signals.content_fingerprint import CELL, FIGURES, HEADING, ITEM, SHORT, Fingerprint, to_block, unpack
from tocsin.spec.signals.values import GONE, ContentChange, Place

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from tocsin.spec.signals.content_fingerprint import Block, Row
    from tocsin.spec.signals.values import Content

_EXCERPT: Final = 200
_FEW: Final = 6
_MOST_PLACES: Final = 100
_SHOWN: Final = 60
_MOST_TRIED: Final = 50
_ALIKE: Final = 0.3


def key_of(place: int) -> int:
    """Give the key of a place, 63 bits."""
    return xxh3_64_intdigest(place.to_bytes(3, "little")) >> 1 or 1


def compare(before: bytes, latest: Content, muted: Collection[int]) -> ContentChange:
    """Compare; see `content.compare_contents`."""
    if before == latest.fingerprint:
        return ContentChange(is_change=False)
    old = unpack(before)
    new = unpack(latest.fingerprint)
    if isinstance(old, str) or isinstance(new, str):
        why = old if isinstance(old, str) else new
        return ContentChange(is_change=False, noise=(f"the content before cannot be compared: {why}",))
    gone, come = _differences(old, new)
    places, noise = _beside(old, new, latest.beside)
    lines = latest.text.split("\n") if come or gone else []
    digests = {block.digest for block in (*gone, *come)}
    known = {to_block(row): index for index, row in enumerate(new.rows) if row[0] in digests}
    masks = {block.place for block in gone if block.flags & FIGURES} & {
        block.place for block in come if block.flags & FIGURES
    }
    for block in (*come, *gone):
        if block.flags & SHORT or block.place in masks:
            index = known.get(block, -1)
            bit = lines[index][:_SHOWN] if 0 <= index < len(lines) else ""
            places.setdefault(key_of(block.place), _what(block, bit))
    if muted:
        is_muted = {place for place in {block.place for block in (*gone, *come)} if key_of(place) in muted}
        noise += [places[key_of(place)] for place in is_muted if key_of(place) in places]
        gone = [block for block in gone if block.place not in is_muted]
        come = [block for block in come if block.place not in is_muted]
    is_moved = not gone and not come and old.order != new.order
    if old.level != new.level and (not gone or not come):
        # Only how much of the page counts has changed.
        gone, come = [], []
        is_moved = False
    is_rest = old.rest != new.rest
    letters = old.letters + new.letters
    share = 0.0
    if gone or come:
        share = min(1.0, _differing(gone, come) / max(letters, 1))
    excerpt = ""
    if come:
        index = known[come[0]]
        excerpt = lines[index][:_EXCERPT] if index < len(lines) else ""
    return ContentChange(
        is_change=bool(gone or come or is_moved or is_rest),
        share=share or (1 / max(letters, 1) if is_moved or is_rest else 0.0),
        blocks=len(new.rows),
        added=len(come),
        removed=len(gone),
        places=tuple([Place(key, what) for key, what in places.items()][:_MOST_PLACES]),
        noise=tuple(dict.fromkeys(noise)),
        key=_key(gone, come),
        excerpt=excerpt,
    )


def _differences(old: Fingerprint, new: Fingerprint) -> tuple[list[Block], list[Block]]:
    """Give the blocks that are gone and those that are new: that the other one does not have, or has less often."""
    before, after = (Counter([row[0] for row in each.rows]) for each in (old, new))
    return _without(old.rows, before, after), _without(new.rows, after, before)


def _without(rows: Sequence[Row], own: Counter[int], others: Counter[int]) -> list[Block]:
    """Give the blocks that others do not have, or have less often, counted by their digests."""
    left = {digest: others.get(digest, 0) for digest, times in own.items() if times > others.get(digest, 0)}
    found = []
    for row in rows if left else ():
        more = left.get(row[0])
        if more:
            left[row[0]] = more - 1
        elif more is not None:
            found.append(to_block(row))
    return found


def _beside(old: Fingerprint, new: Fingerprint, bits: Sequence[str]) -> tuple[dict[int, str], list[str]]:
    """Name what differs of the blocks that do not count."""
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
    if not 1 <= len(left) + len(right) <= _FEW:
        return None
    named = b"".join([digest.to_bytes(4, "little") for digest in left])
    return xxh3_64_digest(named + b"|" + b"".join([digest.to_bytes(4, "little") for digest in right]))


def digest_of(fingerprint: bytes, muted: Collection[int]) -> int:
    """Digest what counts, whatever its order but for prose; 63 bits."""
    read = unpack(fingerprint)
    if isinstance(read, str):
        return xxh3_64_intdigest(fingerprint) >> 1
    if muted:
        places = [(row, to_block(row).place) for row in read.rows]
        read = read._replace(rows=[row for row, place in places if not place or key_of(place) not in muted])
    named = [row[0].to_bytes(4, "little") for row in read.rows]
    ordered = [digest.to_bytes(4, "little") for digest in read.order]
    return xxh3_64_intdigest(b"".join(sorted(named)) + b"|" + b"".join(ordered), read.rest) >> 1


def resemblance(a: bytes, b: bytes) -> float:
    """Say how much two contents share, 0 to 1."""
    old, new = unpack(a), unpack(b)
    if isinstance(old, str) or isinstance(new, str):
        return float(a == b)
    letters = old.letters + new.letters
    return 1 - min(1.0, _differing(*_differences(old, new)) / letters) if letters else 1.0
