"""What marks stand in: however it is found, it is the same."""

from __future__ import annotations

import turbohtml
from hypothesis import given
from hypothesis import strategies as st

from tocsin.spec.html.marked import FEW, SHALLOW, AnyLineage, ShallowLineage, find_lineage

_MARKED = "[itemscope],[itemprop],[lang]"
_PARTS = (
    "<div itemscope>",
    "<div itemscope itemprop=a>",
    "<p>",
    "<b itemprop=b>",
    "<i lang=de>",
    "<table itemprop=c><td itemscope>",
    "</div>",
    "</p>",
    "</b>",
    "</table>",
    "text",
)


@given(st.lists(st.sampled_from(_PARTS), max_size=30).map("".join))
def test_the_parser_and_the_way_upwards_find_the_same_items_around_each_mark(html: str) -> None:
    document = turbohtml.parse(html)
    nodes = document.select(_MARKED)
    items = {place for place, node in enumerate(nodes) if node.attr("itemscope") is not None}

    found, walked = ShallowLineage(nodes), AnyLineage(nodes, items)

    assert list(found.owners()) == list(walked.owners())
    assert found.above() == walked.above()


def test_a_page_is_shallow_up_to_a_depth_that_is_told() -> None:
    within = SHALLOW - len(("html", "body", "b"))

    def is_shallow(depth: int) -> bool:
        document = turbohtml.parse("<div>" * depth + "<b itemprop=a></b>" * (FEW + 1))
        return find_lineage(document, document.select(_MARKED), ()).is_shallow

    assert is_shallow(within)
    assert not is_shallow(within + 1)


def test_what_is_no_element_of_html_makes_no_item_whatever_it_says() -> None:
    document = turbohtml.parse("<div itemscope><svg itemscope><desc><p itemprop=a>")
    nodes = document.select(_MARKED)

    lineage = find_lineage(document, nodes, {1})

    assert list(lineage.owners()) == [(True, -1), (False, 0), (False, 0)]
