"""Items that hold each other, as RDF: told in every context in which a way leads to them (RDF-14, C-14)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from tests.spec.microdata.test_rdf import ADDRESS, BOAT, HTML, assert_states, read
from tocsin.spec.microdata.reading.items import read_items

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.spec.microdata.values import Item

MICRODATA = "http://www.w3.org/1999/xhtml/microdata#"
CARD = "itemscope itemtype=http://microformats.org/profile/hcard"


def test_RDF14_C14_an_item_that_one_way_could_not_go_into_is_told_on_another() -> None:
    assert_states(
        f"<p {BOAT} itemref='b c'><p id=b itemprop=tender itemscope itemref='c n'><p id=n itemprop=name>Tern"
        f"<p id=c itemprop=owner {CARD} itemref=b>",
        "<> md:item [ a <https://ships.example/boat>; boat:tender _:b; boat:owner _:c ] ."
        " _:b boat:tender%20name 'Tern'; boat:tender%20owner _:c; card:tender%20name 'Tern'; card:tender%20owner _:c ."
        " _:c a <http://microformats.org/profile/hcard>; card:tender _:b .",
    )


def test_C14_where_there_are_more_ways_than_anybody_can_go_it_is_said() -> None:
    all_of_them = " ".join(f"i{n}" for n in range(14))
    html = f"<p {BOAT} itemref='{all_of_them}'>" + "".join(
        f"<p id=i{n} itemprop=a itemscope itemref='{all_of_them}'>" for n in range(14)
    )

    found = read(html)

    assert "the page states the same too often" in found.problems[-1]
    assert len({each.predicate for each in found.triples}) == 17  # of each number of steps, md:item, and the type's


SHAPES = st.lists(
    st.tuples(st.sampled_from(["a", "b", "a b"]), st.booleans(), st.lists(st.integers(0, 4), max_size=3)),
    min_size=5,
    max_size=5,
)


@given(SHAPES, st.lists(st.integers(0, 4), max_size=3))
def test_RDF14_C14_every_way_that_goes_into_no_item_twice_is_told(
    shapes: list[tuple[str, bool, list[int]]], first: list[int]
) -> None:
    def refer(numbers: list[int]) -> str:
        return f"itemref='{' '.join(f'i{n}' for n in numbers)}'"

    html = f"<p itemscope itemtype=urn:t:top itemid=urn:top {refer(first)}>" + "".join(
        f"<p id=i{n} itemprop='{names}' itemscope {f'itemtype=urn:t:{n}' if is_typed else ''} itemid=urn:i:{n}"
        f" {refer(numbers)}>"
        for n, (names, is_typed, numbers) in enumerate(shapes)
    )
    data = read_items(f"<!DOCTYPE html>{html}".encode(), HTML, address=ADDRESS)

    found = read(html).triples

    of_items = [each for each in found if each.predicate.text.startswith(f"{MICRODATA}urn:")]
    assert {tuple(part[0] for part in each) for each in of_items} == {
        told for item in data.items for told in _tell(item, "", (item,))
    }


def _tell(item: Item, outer: str, way: tuple[Item, ...]) -> Iterator[tuple[str, str, str]]:
    """Go every way, as the text does, but into no item that is on it already."""
    context = outer if item.type is None else f"{item.type}%23:"
    for each in item.properties:
        for name in each.names:
            assert item.id is not None
            assert each.item is not None
            assert each.item.id is not None
            joined = context + ("" if context.endswith(":") else "%20") + name
            yield item.id, MICRODATA + joined, each.item.id
            if each.item not in way:
                yield from _tell(each.item, joined, (*way, each.item))
