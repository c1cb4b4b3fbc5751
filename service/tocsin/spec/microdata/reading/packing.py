"""A page's microdata as it is stored: flat, so that shared and cyclic items cost nothing, compressed, and bounded.

A byte for the version, then JSON compressed to zlib's format: an array of address, title, the numbers of the top-level
items, all items in tree order, problems, and whether it is cut. An item is `[type, id, errors, properties]`, a property
`[names, kind, value, language]`, where the value of kind "item" is that item's number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final, TypeAlias

import msgspec
from isal import isal_zlib

from tocsin.errors import DamagedItems
from tocsin.spec.microdata.values import Item, Microdata, Property, Value, ValueKind

# Of a page, items within items included.
MOST_ITEMS: Final = 1_000

# Of a page, as JSON.
MOST_BYTES: Final = 256 * 2**10

# Letters of one value: a picture within its URL would leave no room for anything else.
LONGEST: Final = 16_384

CUT: Final = "there are more items than are kept"
SHORTENED: Final = "a value is longer than is kept"

_VERSION: Final = b"\x01"
# The highest of this library.
_LEVEL: Final = 3
# Equal items are recognised by it; 128 bits never collide by chance.
_DIGEST_BYTES: Final = 16
# Bytes of JSON around the items.
_FRAME: Final = 128

# Bytes that the number of an item takes, with the comma.
_NUMBER: Final = 5

_MOST_PROBLEMS: Final = 4
_LONGEST_PROBLEM: Final = 200
_ISAL_ERROR: Final[type[Exception]] = isal_zlib.error  # type: ignore[assignment] # its stub gives the type of an instance

_FlatProperty: TypeAlias = tuple[tuple[str, ...], ValueKind, str | int, str | None]
_FlatItem: TypeAlias = tuple[str | None, str | None, int, tuple[_FlatProperty, ...]]
_Flat: TypeAlias = tuple[str | None, str | None, tuple[int, ...], tuple[_FlatItem, ...], tuple[str, ...], bool]

_encode = msgspec.json.Encoder().encode
_read = msgspec.json.Decoder(_Flat).decode


@dataclass(frozen=True, slots=True)
class Packed:
    """Microdata, ready to be stored.

    digest  16 bytes, the same for equal microdata; of all that was read, not only of what is stored
    count   of the stored items, items within items included
    is_cut  there was more than is stored, or than was read
    """

    packed: bytes
    digest: bytes
    count: int
    is_cut: bool


def pack(data: Microdata) -> Packed:
    """Pack microdata; beyond 1,000 items or 256 KiB, only the first top-level items, of which the last may be partial.

    Microdata that was cut says so in `problems`.
    """
    packing = _Packing(room=MOST_BYTES - _FRAME)
    flat = packing.flatten(data)
    text = _encode(flat)
    whole = _whole(data) if packing.is_cut or packing.is_shortened else text
    digest = sha256(whole).digest()[:_DIGEST_BYTES]
    return Packed(_VERSION + isal_zlib.compress(text, _LEVEL), digest, len(flat[3]), flat[5])


def unpack(packed: bytes) -> Microdata:
    """Unpack what `pack` packed; raises DamagedItems for other bytes."""
    if packed[:1] != _VERSION:
        raise DamagedItems("they are of no version that this program knows")
    inflater = isal_zlib.decompressobj()
    try:
        text: bytes = inflater.decompress(packed[1:], MOST_BYTES + 1)
        if not inflater.eof or inflater.unused_data or len(text) > MOST_BYTES:
            raise DamagedItems("they are not whole")
        address, title, tops, flat, problems, is_cut = _read(text)
        items = [Item(type_, id_, (), errors) for type_, id_, errors, _ in flat]
        for item, (*_, properties) in zip(items, flat, strict=True):
            item.properties = tuple([_to_property(each, items) for each in properties])
        return Microdata(address, title, tuple([_numbered(items, top) for top in tops]), tuple(items), problems, is_cut)
    except (_ISAL_ERROR, msgspec.MsgspecError, UnicodeDecodeError) as exc:
        raise DamagedItems(str(exc)) from exc


@dataclass(slots=True)
class _Packing:
    """Packs the microdata of one page into limited room.

    room          bytes of JSON that are left
    is_cut        items or properties were left out
    is_shortened  a value was cut
    """

    room: int
    is_cut: bool = False
    is_shortened: bool = False

    def flatten(self, data: Microdata) -> _Flat:
        address, title = self._bounded(data.address), self._bounded(data.title)
        foreign = [each for each in data.problems if each not in (CUT, SHORTENED)][:_MOST_PROBLEMS]
        problems = [self._bounded(each, _LONGEST_PROBLEM) or "" for each in foreign]
        self.room -= len(_encode((address, title, problems)))
        ordered = _from_the_top(data)
        kept = self._choose(ordered)
        known = dict(zip(ordered, kept, strict=False))
        in_tree = [item for item in data.all if item in known]
        numbers = {item: number for number, item in enumerate(in_tree)}
        places = [numbers[item] for item in ordered[: len(kept)]]
        tops = tuple([numbers[top] for top in data.items if top in numbers])
        # Microdata that was cut before stays marked as cut.
        own = ((CUT, self.is_cut), (SHORTENED, self.is_shortened))
        problems += [said for said, is_so in own if is_so or said in data.problems]
        is_cut = data.is_cut or self.is_cut or self.is_shortened
        flat = tuple([_renumber(known[item], places) for item in in_tree])
        return address, title, tops, flat, tuple(problems), is_cut

    def _choose(self, ordered: Sequence[Item]) -> list[_FlatItem]:
        """Flatten the first of these items until there is no room; an item as a value is its place in `ordered`."""
        places = {item: place for place, item in enumerate(ordered)}
        kept: list[_FlatItem] = []
        for item in ordered:
            head = self._bounded(item.type), self._bounded(item.id), item.errors
            properties = [self._flatten(each, places) for each in item.properties]
            size = len(_encode(head)) + _NUMBER
            if len(kept) == MOST_ITEMS or size > self.room:
                self.is_cut = True
                break
            self.room -= size
            taken = self._take(properties)
            kept.append((*head, tuple(properties[:taken])))
            if taken < len(properties):
                self.is_cut = True
                break
        return kept

    def _take(self, properties: Sequence[_FlatProperty]) -> int:
        """Take room for the first of these properties; returns for how many there is room."""
        if (size := len(_encode(properties)) + _NUMBER * len(properties)) <= self.room:
            self.room -= size
            return len(properties)
        for place, each in enumerate(properties):
            size = len(_encode(each)) + _NUMBER
            if size > self.room:
                return place
            self.room -= size
        return len(properties)

    def _flatten(self, each: Property, places: dict[Item, int]) -> _FlatProperty:
        names = tuple([self._bounded(name) or "" for name in each.names])
        language, value = self._bounded(each.language), each.value
        if isinstance(value, Item):
            return names, ValueKind.ITEM, places[value], language
        if len(value) > LONGEST and each.kind is ValueKind.URL:
            # A URL that is cut leads elsewhere.
            self.is_shortened, value = True, ""
        return names, each.kind, self._bounded(value) or "", language

    def _bounded(self, text: str | None, most: int = LONGEST) -> str | None:
        if text is None:
            return None
        if len(text) > most:
            self.is_shortened, text = True, f"{text[: most - 1]}…"
        return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _whole(data: Microdata) -> bytes:
    """Serialise everything that items say, shared properties once; only its digest is used."""
    items: dict[Value, int] = {item: number for number, item in enumerate(data.all)}
    said: list[object] = [items[top] for top in data.items]
    numbers: dict[Property, int] = {}
    distinct: dict[tuple[tuple[str, ...], Value | int], int] = {}
    for item in data.all:
        said += item.type, item.id, len(item.properties)
        for each in item.properties:
            number = numbers.get(each)
            if number is None:
                key = each.names, items.get(each.value, each.value)
                number = numbers[each] = distinct.setdefault(key, len(distinct))
            said.append(number)
    return repr((said, list(distinct))).encode("utf-8", "surrogatepass")


def _from_the_top(data: Microdata) -> list[Item]:
    """List each item once: top-level items in tree order, each followed by the items within it, then all others."""
    ordered: dict[Item, None] = {}
    for start in (*data.items, *data.all):
        waiting = [start]
        while waiting:
            item = waiting.pop()
            if item in ordered:
                continue
            ordered[item] = None
            waiting += [each.value for each in reversed(item.properties) if isinstance(each.value, Item)]
    return list(ordered)


def _renumber(flat: _FlatItem, numbers: Sequence[int]) -> _FlatItem:
    """Let the properties of an item name other items by their final numbers; items that are not stored are left out."""
    type_, id_, errors, properties = flat
    renumbered: list[_FlatProperty] = []
    for names, kind, value, language in properties:
        if isinstance(value, str):
            renumbered.append((names, kind, value, language))
        elif value < len(numbers):
            renumbered.append((names, kind, numbers[value], language))
    return type_, id_, errors, tuple(renumbered)


def _to_property(flat: _FlatProperty, items: Sequence[Item]) -> Property:
    names, kind, value, language = flat
    if isinstance(value, str) is (kind is ValueKind.ITEM):
        raise DamagedItems("a value is of another kind than it says")
    return Property(names, kind, value if isinstance(value, str) else _numbered(items, value), language)


def _numbered(items: Sequence[Item], number: int) -> Item:
    if not 0 <= number < len(items):
        raise DamagedItems(f"there is no item {number}")
    return items[number]


# The packed microdata of a page without any.
NOTHING: Final = pack(Microdata(None, None, (), ()))
