"""What may take so many bytes takes no more, and what is asked for stays."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tocsin.server.shelf import Shelf

MIB = 2**20


def test_what_was_not_asked_for_the_longest_goes_first() -> None:
    shelf: Shelf[str, str] = Shelf(3 * MIB)
    shelf.put("a", "A", MIB)
    shelf.put("b", "B", MIB)
    shelf.get("a")

    shelf.put("c", "C", MIB)

    assert (shelf.get("a"), shelf.get("b"), shelf.get("c")) == ("A", None, "C")


def test_sixteen_pages_of_ten_mebibytes_take_no_more_room_than_there_is() -> None:
    shelf: Shelf[int, int] = Shelf(32 * MIB)

    for number in range(16):
        shelf.put(number, number, 10 * MIB)

    assert [number for number in range(16) if number in shelf] == [13, 14, 15]
    assert shelf.used <= 32 * MIB


def test_what_has_no_room_at_all_drives_nothing_out() -> None:
    shelf: Shelf[str, str] = Shelf(MIB)
    shelf.put("small", "S", 1)

    shelf.put("large", "L", 2 * MIB)

    assert (shelf.get("small"), shelf.get("large")) == ("S", None)


def test_many_small_ones_do_not_pass_for_nothing() -> None:
    shelf: Shelf[int, int] = Shelf(MIB)

    for number in range(10_000):
        shelf.put(number, number, 0)

    assert sum(number in shelf for number in range(10_000)) < 5_000


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2000)), max_size=40))
def test_it_counts_what_it_holds(puts: list[tuple[int, int]]) -> None:
    shelf: Shelf[int, int] = Shelf(4096)

    for key, size in puts:
        shelf.put(key, key, size)
        assert 0 <= shelf.used <= 4096
    for key in range(6):
        shelf.drop(key)

    assert shelf.used == 0
