from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.spec.html.whole import Whole, parse_whole
from tocsin.spec.signals.content import read_content
from tocsin.spec.signals.parts import MOST_SELECTORS, PageParts, SelectorUse, read_parts, split_selectors

AGENDA = """<!doctype html><title>Agenda of the council</title><nav><a href=/>Home</a> <a href=/c>Council</a></nav>
<main><h1>Agenda of the council</h1>
<div id=date><p>Meeting of the council: <b>Friday</b> 4 December 2026, 18:30</p></div>
<div class=market>Visit the winter market, which is open until the end of the year!</div>
<table><tr><td>Budget<td>12,000</table>
<ol class=items><li>Minutes of the last meeting<li>Questions of citizens</ol>
<p>3 minutes ago</p><p id=crowd>The mayor answers <span class=n>no more than five</span> questions of citizens</p>"""


def whole_of(markup: str) -> Whole:
    whole = parse_whole(markup.encode(), "text/html; charset=utf-8")
    assert whole is not None
    return whole


def parts_of(look_at: str = "", ignore: str = "", markup: str = AGENDA) -> PageParts:
    return read_parts(whole_of(markup), look_at, ignore)


def left_out(parts: PageParts) -> dict[str, str | None]:
    return {part.text: part.selector or part.left_out_by for part in parts.parts if part.left_out_by}


def test_every_part_of_a_page_is_listed_in_its_order_with_its_kind() -> None:
    found = [(part.text, part.kind) for part in parts_of().parts if part.left_out_by is None]

    assert found == [
        ("Agenda of the council", "heading"),
        ("Agenda of the council", "heading"),
        ("Meeting of the council: Friday 4 December 2026, 18:30", "text"),
        ("Visit the winter market, which is open until the end of the year!", "text"),
        ("Budget 12,000", "row"),
        ("Minutes of the last meeting", "item"),
        ("Questions of citizens", "item"),
        ("The mayor answers no more than five questions of citizens", "text"),
    ]


def test_a_part_that_is_left_out_says_by_what() -> None:
    assert left_out(parts_of(ignore=".market, #crowd, .cookies")) == {
        "Visit the winter market, which is open until the end of the year!": ".market",
        "3 minutes ago": "fleeting",
        "The mayor answers no more than five questions of citizens": "#crowd",
    }


def test_what_is_not_chosen_is_told_apart_from_what_is_left_out() -> None:
    found = parts_of(look_at="#date, ol", ignore="li:first-child")

    assert [part.text for part in found.parts if part.left_out_by is None] == [
        "Meeting of the council: Friday 4 December 2026, 18:30",
        "Questions of citizens",
    ]
    assert left_out(found)["Budget 12,000"] == "unchosen"
    assert left_out(found)["Minutes of the last meeting"] == "li:first-child"


def test_a_part_that_loses_some_of_its_text_is_compared_without_it() -> None:
    found = {part.text: part.left_out_by for part in parts_of(ignore=".n").parts}

    assert found["The mayor answers questions of citizens"] is None


def test_each_selector_says_what_it_matches() -> None:
    assert parts_of(look_at="main", ignore=".market, .cookies, .market").selectors == (
        SelectorUse("look_at", "main", 1, 8),
        SelectorUse("ignore", ".market", 1, 1),
        SelectorUse("ignore", ".cookies", 0, 0),
    )


def test_no_more_selectors_are_judged_than_a_page_has_time_for() -> None:
    many = ", ".join(f".a{number}" for number in range(100))

    assert len(parts_of(ignore=many).selectors) == MOST_SELECTORS


@pytest.mark.parametrize(
    ("text", "split"),
    [
        ("", []),
        ("  ,  ", []),
        (".a, #b", [".a", "#b"]),
        (":is(h1, h2) p,.c", [":is(h1, h2) p", ".c"]),
        ("""a[title="x, y"], [rel='z, "']""", ["""a[title="x, y"]""", """[rel='z, "']"""]),
        (r".a\,b, .c", [r".a\,b", ".c"]),
        ("a), b", ["a)", "b"]),
    ],
)
def test_a_list_of_selectors_is_split_at_its_own_commas(text: str, split: list[str]) -> None:
    assert split_selectors(text) == split


PIECES = (
    *("<p>one", "<h2>two", "<li class=a>three", "<div class=a>four", "<nav><a href=x>five</a></nav>"),
    *("<p>6 minutes ago", "<div id=b>", "</div>", "text"),
)


@given(
    st.lists(st.sampled_from(PIECES)),
    st.sampled_from(["", ".a", "#b", "p", "li, h2"]),
    st.sampled_from(["", "#b", "p, li"]),
)
def test_the_parts_that_are_compared_are_the_content_that_checks_compare(
    pieces: list[str], ignore: str, look_at: str
) -> None:
    whole = whole_of("<!doctype html>" + "".join(pieces))

    found = [part.text for part in read_parts(whole, look_at, ignore).parts if part.left_out_by is None]

    text = read_content(whole, look_at, ignore).text
    assert sorted(found) == sorted(text.split("\n") if text else [])
