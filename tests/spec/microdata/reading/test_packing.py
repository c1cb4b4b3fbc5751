"""Microdata as it is stored."""

from __future__ import annotations

import tracemalloc
import zlib
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.effort import calls_of
from tests.spec.microdata.cards import to_icalendar, to_vcard
from tests.spec.microdata.making import ADDRESS, holding, item, page, pages, seen, text
from tocsin.errors import DamagedItems
from tocsin.spec.microdata.formats.items_json import to_json
from tocsin.spec.microdata.reading.items import read_items
from tocsin.spec.microdata.reading.packing import CUT, LONGEST, MOST_BYTES, MOST_ITEMS, SHORTENED, pack, unpack
from tocsin.spec.microdata.values import HCARD, VEVENT, Item, Microdata, Property, ValueKind

NOW = datetime(2026, 1, 2, tzinfo=UTC)

EVERYTHING = f"""<!doctype html><html lang=de><title>Events</title>
<div itemscope itemtype={VEVENT} itemid=/1 itemref=more><b itemprop=summary>Grüße</b><a itemprop=url href=/u>x</a>
<time itemprop="dtstart dtstamp" datetime=2009-05-05>5</time><time itemprop=dtend>9pm</time></div>
<p id=more lang=en>at <i itemprop=location>Hall</i></p>
<div itemscope itemtype={HCARD}><p itemprop=fn>Ann Lee<p itemprop=n itemscope><b itemprop=family-name>Lee</b></p></div>
"""


def json_of(packed: bytes) -> bytes:
    return zlib.decompress(packed[1:])


@given(pages())
def test_all_of_it_comes_back_shared_and_cyclic_items_too(data: Microdata) -> None:
    assert seen(unpack(pack(data).packed)) == seen(data)


@given(pages(), pages())
def test_digests_are_equal_where_all_that_there_is_to_see_is(one: Microdata, other: Microdata) -> None:
    assert (pack(one).digest == pack(other).digest) == (seen(one) == seen(other))


@given(pages())
def test_the_same_microdata_is_always_packed_into_the_same_bytes(data: Microdata) -> None:
    again = unpack(pack(data).packed)

    assert pack(again) == pack(data)


def test_what_formats_need_besides_is_kept() -> None:
    event = Item("a b", "urn:x", (Property(("dtstart", "when"), ValueKind.TIME, "2009-05-05", "en-GB"),), errors=2)
    data = Microdata(ADDRESS, "Events", (event,), (event,))

    kept = unpack(pack(data).packed)

    assert (kept.address, kept.title) == (ADDRESS, "Events")
    (one,) = kept.items
    assert (one.type, one.id, one.errors) == ("a b", "urn:x", 2)
    (dtstart,) = one.properties
    assert (dtstart.names, dtstart.kind, dtstart.language) == (("dtstart", "when"), ValueKind.TIME, "en-GB")


def test_every_format_makes_the_same_of_what_is_kept() -> None:
    read = read_items(EVERYTHING.encode(), "text/html; charset=utf-8", address=ADDRESS)

    kept = unpack(pack(read).packed)

    for way in (to_json, partial(to_vcard, which=None), to_icalendar):
        written = way(kept)
        assert written
        assert written == way(read)


def test_of_more_than_a_thousand_items_the_first_are_kept_and_it_says_so() -> None:
    packed = pack(page(*[item(name=str(number)) for number in range(MOST_ITEMS + 1)]))

    kept = unpack(packed.packed)
    assert (packed.count, packed.is_cut, kept.problems) == (MOST_ITEMS, True, (CUT,))
    assert [one.properties[0].text for one in kept.items] == [str(number) for number in range(MOST_ITEMS)]
    assert not pack(page(*[item(name=str(number)) for number in range(MOST_ITEMS)])).is_cut


def test_items_within_others_count_too() -> None:
    packed = pack(page(*[item(part=[item(), item()]) for _ in range(400)]))

    kept = unpack(packed.packed)
    assert (packed.count, packed.is_cut) == (MOST_ITEMS, True)
    assert [len(one.properties) for one in kept.items] == [2] * 333 + [0]


@pytest.mark.parametrize("letter", ["a", "\x01", "字", "🌊"])
def test_of_much_text_the_first_items_are_kept_whole_and_the_last_in_part(letter: str) -> None:
    packed = pack(page(*[item(name=letter * 3_000, summary=letter * 4_000) for _ in range(100)]))

    kept = unpack(packed.packed)
    assert packed.is_cut
    assert MOST_BYTES - 30_000 < len(json_of(packed.packed)) <= MOST_BYTES
    assert {len(one.properties) for one in kept.items[:-1]} == {2}
    assert len(kept.items[-1].properties) < 2


def test_one_item_with_more_properties_than_there_is_room_for_keeps_the_first() -> None:
    kept = unpack(pack(page(item(part=[str(number) for number in range(50_000)]))).packed)

    values = [each.text for each in kept.items[0].properties]
    assert values == [str(number) for number in range(len(values))]
    assert len(values) > 5_000


def test_a_long_value_is_cut_and_a_long_url_is_none_at_all() -> None:
    picture = Property(("image",), ValueKind.URL, "data:image/png;base64," + "A" * LONGEST)
    packed = pack(page(Item(None, None, (text("description", "d" * (LONGEST + 1)), picture, text("name", "n")))))

    values = [each.text or "" for each in unpack(packed.packed).items[0].properties]
    assert [len(value) for value in values] == [LONGEST, 0, 1]
    assert values[0].endswith("d…")
    assert packed.is_cut
    assert unpack(packed.packed).problems == (SHORTENED,)


def test_an_item_that_is_not_stored_is_no_value() -> None:
    inner = item(name="x" * 10)
    crowd = [item(name="y") for _ in range(MOST_ITEMS - 1)]

    kept = unpack(pack(page(item(part=[*crowd, inner]), inner)).packed)

    assert len(kept.items[0].properties) == MOST_ITEMS - 1


def test_what_was_cut_stays_cut_however_often_it_is_packed() -> None:
    data = page(*[item(name="x" * 1_000, part=item(name="y")) for _ in range(600)])

    once = pack(data)

    again = pack(unpack(once.packed))
    assert (again.packed, again.count, again.is_cut) == (once.packed, once.count, True)
    assert once.is_cut


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (page(item(name=f"{'x' * 99_999}y")), page(item(name="x" * 100_000))),
        (page(*[item(name="x")] * MOST_ITEMS, item(name="y")), page(*[item(name="x")] * MOST_ITEMS, item(name="z"))),
        (page(*[item(a="x" * 9_000) for _ in range(50)]), page(*[item(a="x" * 9_000) for _ in range(51)])),
        (page(*[item()] * MOST_ITEMS, item("t")), page(*[item()] * MOST_ITEMS, item("u"))),
        (page(*[item()] * MOST_ITEMS, item("t", "urn:1")), page(*[item()] * MOST_ITEMS, item("t", "urn:2"))),
        (page(item(name="\ud800" * 20_000)), page(item(name="\ud801" * 20_000))),
    ],
    ids=["value", "item", "room", "type", "id", "surrogates"],
)
def test_what_differs_in_what_is_not_kept_has_another_digest(one: Microdata, other: Microdata) -> None:
    assert pack(one).digest != pack(other).digest
    assert pack(one).digest == pack(one).digest
    assert len(pack(one).digest) == 16


def test_what_was_left_out_when_the_page_was_read_is_said_too() -> None:
    packed = pack(page(item(), cut=("too many items",)))

    assert packed.is_cut
    kept = unpack(packed.packed)
    assert (kept.problems, kept.is_cut) == (("too many items",), True)


def test_what_is_wrong_with_the_page_takes_nothing_from_its_items() -> None:
    data = Microdata(ADDRESS, None, (), (), ("not HTML: a PDF document",))

    assert not pack(data).is_cut
    assert seen(unpack(pack(data).packed)) == seen(data)


def test_half_a_surrogate_is_replaced_instead_of_refused() -> None:
    kept = unpack(pack(page(item(name="a\ud800b"))).packed)

    assert kept.items[0].properties[0].text == "a?b"


def test_a_chain_of_items_as_deep_as_it_may_be_is_kept() -> None:
    chain = item()
    for _ in range(3 * MOST_ITEMS):
        chain = Item(None, None, (holding("part", chain),))

    packed = pack(page(chain))

    assert (packed.count, packed.is_cut) == (MOST_ITEMS, True)
    assert len(unpack(packed.packed).all) == MOST_ITEMS


def test_ten_times_the_items_take_ten_times_the_work_to_pack_and_unpack() -> None:
    def calls_for(items: int) -> int:
        names = {f"name{number}": f"a value of some length {number}" for number in range(5)}
        data = page(*[item(summary=str(number), **names) for number in range(items)])
        return calls_of(lambda: unpack(pack(data).packed))

    assert calls_for(MOST_ITEMS) < 11 * calls_for(MOST_ITEMS // 10)


def test_a_text_that_many_items_share_takes_its_memory_once() -> None:
    shared = text("name", "x" * 100_000)
    data = page(*[Item(None, None, (shared,)) for _ in range(200)])

    tracemalloc.start()
    try:
        pack(data)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 20 * 100_000


@given(st.binary())
def test_bytes_that_are_no_items_are_refused_in_words(packed: bytes) -> None:
    with pytest.raises(DamagedItems, match="damaged"):
        unpack(packed)


def repacked(value: object) -> bytes:
    return b"\x01" + zlib.compress(msgspec.json.encode(value))


@pytest.mark.parametrize(
    "damage",
    [
        lambda packed: packed[:-1],
        lambda packed: packed + b"more",
        lambda packed: packed[:-3] + b"abc",
        lambda packed: b"\x02" + packed[1:],
        lambda _: b"",
        lambda _: b"\x01" + zlib.compress(b"\xff\xfe"),
        lambda _: b"\x01" + zlib.compress(b" " * (MOST_BYTES + 1)),
        lambda _: b"\x01" + zlib.compress(bytes(2**24)),
        lambda _: repacked([None, None, [1], [[None, None, 0, []]], [], False]),
        lambda _: repacked([None, None, [-1], [[None, None, 0, []]], [], False]),
        lambda _: repacked([None, None, [0], [[None, None, 0, [[["a"], "item", 1, None]]]], [], False]),
        lambda _: repacked([None, None, [0], [[None, None, 0, [[["a"], "text", 0, None]]]], [], False]),
        lambda _: repacked([None, None, [0], [[None, None, 0, [[["a"], "item", "0", None]]]], [], False]),
        lambda _: repacked([None, None, [0], [[None, None, 0, [[["a"], "else", "0", None]]]], [], False]),
        lambda _: repacked({"address": None}),
    ],
    ids=[
        "cut", "longer", "checksum", "another version", "nothing", "no UTF-8", "too much", "a bomb", "no such item",
        "a number below zero", "no such value", "an item as text", "a text as item", "no such kind", "no array",
    ],
)  # fmt: skip
def test_damaged_items_are_refused_in_words(damage: Callable[[bytes], bytes]) -> None:
    with pytest.raises(DamagedItems, match="tocsin store check"):
        unpack(damage(pack(page(item(name="a"))).packed))
