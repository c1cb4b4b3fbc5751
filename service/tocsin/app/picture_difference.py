"""The process aside that compares two pictures of a page, within bounds of memory; its parent bounds its time.

python -m tocsin.app.picture_difference DESCRIPTOR PARENT
"""

# Rows of pixels are matched first, so that an inserted line does not change all that is below it: the browser draws
# what is the same in the same way, to the last pixel. Only what lies between matched rows is compared tile by tile.
# What moved sideways, or beside something that grew in another column, counts as changed.

from __future__ import annotations

import io
import resource
import sys
from bisect import bisect_left
from collections import Counter
from typing import Final, NamedTuple, TypeAlias

import msgspec
from PIL import Image, ImageChops, UnidentifiedImageError

from tocsin.adapters.processes.aside import serve_jobs
from tocsin.model import PictureDifference

MOST_MEMORY_BYTES: Final = 768 * 2**20
# The browser takes none that is larger; it is not trusted.
MOST_WIDTH, MOST_HEIGHT = 1280, 10_000
_TILE: Final = 16
# Of 255 shades of each colour; fainter differences are not seen.
_FAINT: Final = 24
# Mean of a tile in which a tenth of the pixels differ.
_FEW: Final = 25
_MOST_BOXES: Final = 200

# Left, top, width and height in px.
Box: TypeAlias = tuple[int, int, int, int]
_Row: TypeAlias = bytes


class _Gap(NamedTuple):
    """Rows that were not matched: of the picture before, and of the latest one."""

    before: range
    latest: range


def carry_out(job: bytes) -> bytes:
    """Compare two pictures (PNG); returns a `PictureDifference`, or nil for pictures that cannot be read."""
    before, latest = msgspec.msgpack.decode(job, type=tuple[bytes, bytes])
    try:
        found = compare(_open(before), _open(latest))
    except (OSError, ValueError, SyntaxError, UnidentifiedImageError, Image.DecompressionBombError):
        # What a decoder raises for bytes that are no whole PNG.
        return msgspec.msgpack.encode(None)
    return msgspec.msgpack.encode(found)


def _open(png: bytes) -> Image.Image:
    found = Image.open(io.BytesIO(png), formats=["PNG"])
    if found.width > MOST_WIDTH or found.height > MOST_HEIGHT:
        raise ValueError(f"a picture of {found.width} x {found.height} px")
    return found.convert("RGB")


def compare(before: Image.Image, latest: Image.Image) -> PictureDifference:
    """Find where two pictures (RGB) differ."""
    width = max(before.width, latest.width)
    before, latest = _widen(before, width), _widen(latest, width)
    boxes: list[Box] = []
    removed: list[Box] = []
    for gap in _find_gaps(_rows(before), _rows(latest)):
        common = min(len(gap.before), len(gap.latest))
        boxes += _differing(before, latest, gap, common)
        if len(gap.latest) > common:
            boxes.append((0, gap.latest.start + common, width, len(gap.latest) - common))
        if len(gap.before) > common:
            removed.append((0, gap.before.start + common, width, len(gap.before) - common))
    area = sum(box[2] * box[3] for box in (*boxes, *removed))
    share = min(area / (width * max(before.height, latest.height)), 1.0)
    return PictureDifference(round(share, 4), tuple(_fewer(boxes)), tuple(_fewer(removed)))


def _widen(picture: Image.Image, width: int) -> Image.Image:
    if picture.width == width:
        return picture
    wide = Image.new("RGB", (width, picture.height), "white")
    wide.paste(picture)
    return wide


def _rows(picture: Image.Image) -> list[_Row]:
    pixels, row_bytes = picture.tobytes(), picture.width * len(picture.getbands())
    return [pixels[start : start + row_bytes] for start in range(0, len(pixels), row_bytes)]


def _find_gaps(before: list[_Row], latest: list[_Row]) -> list[_Gap]:
    """Match the rows of two pictures in order; what lies between is a gap.

    Rows that are in each picture once are matched where their order is the same in both, and equal ones beside them.
    """
    gaps: list[_Gap] = []
    old = new = 0
    for at, to in [*_anchors(before, latest), (len(before), len(latest))]:
        if at < old or to < new:
            continue  # matched already, beside an earlier one
        while old < at and new < to and before[old] == latest[new]:
            old, new = old + 1, new + 1
        end, last = at, to
        while end > old and last > new and before[end - 1] == latest[last - 1]:
            end, last = end - 1, last - 1
        if end > old or last > new:
            gaps.append(_Gap(range(old, end), range(new, last)))
        old, new = at, to
    return gaps


def _anchors(before: list[_Row], latest: list[_Row]) -> list[tuple[int, int]]:
    """Return the longest run of rows, each once in both pictures, that is in the same order in both."""
    once = {row for row, count in Counter(latest).items() if count == 1}
    places = {row: place for place, row in enumerate(latest) if row in once}
    counts = Counter(before)
    pairs = [(place, places[row]) for place, row in enumerate(before) if counts[row] == 1 and row in places]
    # Patience sorting: `tops` holds where the shortest run of each length ends.
    tops: list[int] = []
    ends: list[int] = []
    links: list[int] = []
    for number, (_, to) in enumerate(pairs):
        length = bisect_left(tops, to)
        tops[length:] = [to] if length == len(tops) else [to, *tops[length + 1 :]]
        ends[length : length + 1] = [number]
        links.append(ends[length - 1] if length else -1)
    found: list[tuple[int, int]] = []
    number = ends[-1] if ends else -1
    while number >= 0:
        found.append(pairs[number])
        number = links[number]
    return found[::-1]


def _differing(before: Image.Image, latest: Image.Image, gap: _Gap, height: int) -> list[Box]:
    """Compare the first rows of a gap, tile by tile; returns boxes of the latest picture."""
    if not height:
        return []
    width, top = latest.width, gap.latest.start
    was = before.crop((0, gap.before.start, width, gap.before.start + height))
    now = latest.crop((0, top, width, top + height))
    # In the colour that differs most: a red box in place of a blue one may be as bright.
    red, green, blue = ImageChops.difference(was, now).split()
    most = ImageChops.lighter(ImageChops.lighter(red, green), blue)
    seen = most.point([0] * (_FAINT + 1) + [255] * (255 - _FAINT))
    tiles = seen.reduce(_TILE)
    values, across = tiles.tobytes(), tiles.width
    found: list[Box] = []
    for down in range(tiles.height):
        tall = min(_TILE, height - down * _TILE)
        start = None
        for place in range(across + 1):
            is_other = place < across and values[down * across + place] > _FEW
            if is_other and start is None:
                start = place
            elif not is_other and start is not None:
                left = start * _TILE
                found.append((left, top + down * _TILE, min(place * _TILE, width) - left, tall))
                start = None
    return found


def _fewer(boxes: list[Box]) -> list[Box]:
    """Join boxes below one another that are as wide; of too many, neighbours become one."""
    joined: list[Box] = []
    open_boxes: dict[tuple[int, int, int], int] = {}
    for left, top, width, height in boxes:
        place = open_boxes.pop((left, width, top), None)
        if place is None:
            place = len(joined)
            joined.append((left, top, width, height))
        else:
            joined[place] = (left, joined[place][1], width, joined[place][3] + height)
        open_boxes[(left, width, top + height)] = place
    step = -(-len(joined) // _MOST_BOXES) or 1
    return [_around(joined[start : start + step]) for start in range(0, len(joined), step)]


def _around(boxes: list[Box]) -> Box:
    left, top = min(box[0] for box in boxes), min(box[1] for box in boxes)
    right, bottom = max(box[0] + box[2] for box in boxes), max(box[1] + box[3] for box in boxes)
    return left, top, right - left, bottom - top


def main() -> None:
    """Run with the arguments given."""
    descriptor, parent = map(int, sys.argv[1:])
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY_BYTES, MOST_MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    serve_jobs(descriptor, parent, carry_out)


if __name__ == "__main__":
    main()
