"""Two contents beside each other: what is new, what is gone, and what of it anybody edited."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from xxhash import xxh3_64_digest, xxh3_64_intdigest

from tocsin.spec.signals.content_fingerprint import CELL, FIGURES, HEADING, ITEM, ORDERED, SHORT, Fingerprint, unpack
from tocsin.spec.signals.values import GONE, ContentChange, Place

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from tocsin.spec.signals.content_fingerprint import Block
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
    gone = _without(old.blocks, new.blocks)
    come = _without(new.blocks, old.blocks)
    places, noise = _beside(old, new, latest.beside)
    lines = latest.text.split("\n")
    known = {block: index for index, block in enumerate(new.blocks)}
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
    is_moved = not gone and not come and _order(old) != _order(new)
    if old.level != new.level and (not gone or not come):
        # Only how much of the page counts has changed.
        gone, come = [], []
        is_moved = False
    is_rest = old.rest != new.rest
    letters = sum(block.letters for block in old.blocks) + sum(block.letters for block in new.blocks)
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
        blocks=len(new.blocks),
        added=len(come),
        removed=len(gone),
        places=tuple([Place(key, what) for key, what in places.items()][:_MOST_PLACES]),
        noise=tuple(dict.fromkeys(noise)),
        key=_key(gone, come),
        excerpt=excerpt,
    )


def _without(blocks: Sequence[Block], others: Sequence[Block]) -> list[Block]:
    """Give the blocks that the others do not have, or have less often."""
    left = Counter([block.digest for block in others])
    found = []
    for block in blocks:
        if left[block.digest] > 0:
            left[block.digest] -= 1
        else:
            found.append(block)
    return found


def _beside(old: Fingerprint, new: Fingerprint, bits: Sequence[str]) -> tuple[dict[int, str], list[str]]:
    """Name what differs of the blocks that do not count."""
    places: dict[int, str] = {}
    before = {(block.digest, block.place) for block in old.beside}
    after = {(block.digest, block.place) for block in new.beside}
    for index, block in enumerate(new.beside):
        if (block.digest, block.place) not in before:
            bit = bits[index] if index < len(bits) else ""
            name = "counter or date" if block.flags & SHORT else "beside the content"
            places.setdefault(key_of(block.place), f"{name}: “{bit}”")
    for block in old.beside:
        if (block.digest, block.place) not in after:
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


def _order(fingerprint: Fingerprint) -> list[int]:
    return [block.digest for block in fingerprint.blocks if block.flags & ORDERED]


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
    blocks = read.blocks
    if muted:
        blocks = [block for block in blocks if not block.place or key_of(block.place) not in muted]
    named = [block.digest.to_bytes(4, "little") for block in blocks]
    ordered = [block.digest.to_bytes(4, "little") for block in blocks if block.flags & ORDERED]
    return xxh3_64_intdigest(b"".join(sorted(named)) + b"|" + b"".join(ordered), read.rest) >> 1


def resemblance(a: bytes, b: bytes) -> float:
    """Say how much two contents share, 0 to 1."""
    old, new = unpack(a), unpack(b)
    if isinstance(old, str) or isinstance(new, str):
        return float(a == b)
    letters = sum(block.letters for block in old.blocks) + sum(block.letters for block in new.blocks)
    if not letters:
        return 1.0
    return 1 - min(1.0, _differing(_without(old.blocks, new.blocks), _without(new.blocks, old.blocks)) / letters)
