from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.effort import calls_of
from tocsin.spec.html.safe_copy import MOST_LETTERS, SafeCopy, copy_safely
from tocsin.spec.html.whole import parse_whole

PIECES = (
    *(
        "<p>",
        "</p>",
        "<div id=a class='b c'>",
        "</div>",
        "<svg>",
        "</svg>",
        "<math>",
        "<mi>",
        "<table>",
        "<tr>",
        "<td>",
    ),
    *("<script>", "</script>", "<style>", "</style>", "<template>", "</template>", "<noscript>", "</noscript>"),
    *("<a href=javascript:x onclick=y>", "</a>", "<img src=x onerror=y>", "<iframe srcdoc='<p>'>", "<base href=//x>"),
    *("<meta http-equiv=refresh content=0>", "<form action=//x>", "<input autofocus onfocus=x>", "<!--", "-->"),
    *("<![CDATA[", "<textarea>", "<title>", "<plaintext>", "<xmp>", "&lt;script&gt;", "<p id='\"><script>'>", "text"),
)
ALLOWED = {"id", "class"}


def copy_of(markup: str) -> SafeCopy:
    whole = parse_whole(b"<!doctype html><body>" + markup.encode(), "text/html; charset=utf-8")
    assert whole is not None
    return copy_safely(whole)


class _Tags(HTMLParser):
    """Notes the tags and attributes of a copy."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


@pytest.mark.parametrize(
    ("markup", "copied"),
    [
        ("<h1 id=top class='big red'>A &amp; B</h1>", '<h1 id="top" class="big red">A &amp; B</h1>'),
        ("<p onclick=x style=color:red title=t>text", "<p>text</p>"),
        ("<a href=https://a.example/ ping=x>link</a>", "<a>link</a>"),
        ("a<br>b<hr>", "a<br>b<hr>"),
        (
            "<form action=/x><label>Name <input value=secret></label><button>Go</button></form>",
            "<label>Name </label>Go",
        ),
        ("<x-card><p>text</x-card>", "<p>text</p>"),
        ("<script>x</script><style>y</style><template><p>z</template><noscript>n</noscript>", ""),
        ("<svg><text>chart</text></svg><math><mi>x</mi></math><p>after", "<p>after</p>"),
        ("<img src=x onerror=y><iframe src=z></iframe><object data=x><p>instead</object>", ""),
        ("<p>&lt;script&gt;alert(1)&lt;/script&gt;", "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>"),
        ("""<p id='"><script>'>text""", '<p id="&quot;&gt;&lt;script&gt;">text</p>'),
        (f"<p id={'x' * 401}>text", "<p>text</p>"),
        ("", ""),
    ],
)
def test_a_copy_has_elements_ids_classes_and_text_and_nothing_else(markup: str, copied: str) -> None:
    assert copy_of(markup) == (copied, False)


@given(st.lists(st.sampled_from(PIECES)).map("".join))
def test_no_markup_brings_anything_else_into_a_copy(markup: str) -> None:
    html = copy_of(markup).html

    tags = _Tags()
    tags.feed(html)
    assert not tags.tags & {"script", "style", "img", "iframe", "form", "input", "base", "meta", "svg", "template"}
    assert tags.attributes <= ALLOWED
    # A browser that reads the copy reads the same again.
    assert copy_of(copy_of(html).html).html == copy_of(html).html


@pytest.mark.parametrize("unit", ["<div>", "<p>text", "text and text ", "<p class=a>", "<b>", "<table><tr><td>"])
def test_a_copy_is_cut_where_it_is_long_enough(unit: str) -> None:
    few, many = copy_of(unit * 9_000), copy_of(unit * 60_000)

    assert not few.is_cut or unit == "<table><tr><td>"
    assert len(many.html) < 2 * MOST_LETTERS


def test_a_deep_page_is_copied_in_proportion() -> None:
    few, many = calls_of(lambda: copy_of("<div>" * 1_000)), calls_of(lambda: copy_of("<div>" * 8_000))

    assert many < 9 * few
