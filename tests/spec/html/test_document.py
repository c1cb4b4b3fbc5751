"""Meta elements and titles of HTML: only the part of a page that can hold them is parsed."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import suppress
from random import Random
from xml.dom.minidom import Element, Node

import html5lib
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser

from tests.spec.pages import element
from tocsin.errors import TooComplex
from tocsin.spec.html.complexity import MOST_METAS, MOST_TAGS
from tocsin.spec.html.decoding import decode
from tocsin.spec.html.document import Meta, _parse, find_landmarks, read_metas, read_title, read_whole
from tocsin.spec.html.page import read_page
from tocsin.spec.topper.state import FIELDS, SIGNS, fields_of, read_state

PLANTED = Meta(name="topper", content="2014")
PLANT = "<meta name=topper content=2014>"
ATTRIBUTES = ("name", "http-equiv", "property", "content", "charset")
NULS = "\0" * 70_000


def metas(source: str) -> list[Meta]:
    return list(read_metas(source.encode(), "utf-8").metas)


def as_html5lib_reads(text: str) -> list[Meta]:
    """The meta elements that another parser of HTML sees, template content left out."""

    def walk(node: Node) -> Iterator[Meta]:
        for child in node.childNodes:
            if not isinstance(child, Element):
                continue
            if child.tagName == "meta":
                yield Meta(*(child.getAttribute(name) or None for name in ATTRIBUTES))
            elif child.tagName != "template":
                yield from walk(child)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Its other builder of trees loses what a table gives away to a paragraph.
        return list(walk(html5lib.parse(text, treebuilder="dom", namespaceHTMLElements=False)))


@pytest.mark.parametrize(
    "source",
    [
        PLANT,
        "<head>" + PLANT + "</head>",
        "<p>x" + PLANT,
        "<noscript>" + PLANT + "</noscript>",
        "<head><noscript>" + PLANT + "</noscript></head>",
        "<table><tr>" + PLANT,
        "<svg><g>" + PLANT,
        "<math><mi>" + PLANT,
        "<META NAME='topper' CONTENT=\"2014\"/>",
        "<meta/name='topper'/content='2014'/>",
        "<meta name=topper name=x content=2014 content=y>",
        "<meta name='&#116;opper' content='20&#49;4'>",
        "<meta\nname\n=\ntopper\fcontent\r=\r2014>",
        "<a title='>'>" + PLANT + "<a title='",
        PLANT + "<meta name=x content='",
    ],
)
def test_the_meta_elements_of_a_page_are_those_that_html_sees(source: str) -> None:
    assert metas(source) == [PLANTED]


@pytest.mark.parametrize(
    "source",
    [
        "",
        "no markup",
        f"<template>{PLANT}</template>",
        f"<!-- {PLANT} -->",
        f"<!-- {PLANT}",
        f"<script>{PLANT}</script>",
        f"<style>{PLANT}</style>",
        f"<title>{PLANT}</title>",
        f"<textarea>{PLANT}</textarea>",
        f"<plaintext>{PLANT}",
        f"<a title='{PLANT}'>",
        f"<a title='{PLANT}",
        "<meta name=topper content=2014",
        "<meta name=topper content='2014>",
        "</meta name=topper content=2014>",
        "<metal name=topper content=2014>",
        f"<p>{PLANT}<frameset><frame></frameset>",
        f"<p>{PLANT}<FrameSet>",
    ],
)
def test_what_is_not_the_pages_element_is_not_read(source: str) -> None:
    assert metas(source) == []


def test_T12_an_attribute_without_a_value_is_absent() -> None:
    assert metas("<meta name content='' property=x http-equiv=''>") == [Meta(property="x")]


@pytest.mark.parametrize("padding", ["", "<!--" + "x" * 70_000 + "-->"])
@pytest.mark.parametrize(
    ("source", "count"),
    [
        (f"{PLANT}<p>{PLANT}<template><frameset></template>{PLANT}", 1),
        (f"<svg><template><foreignObject>{PLANT}", 1),
        (f"<svg><foreignObject><template>{PLANT}</template>{PLANT}", 1),
        ("<template>" * 20_000 + PLANT, 0),
    ],
)
def test_whichever_parser_reads_it_a_template_keeps_what_is_in_it(source: str, count: int, padding: str) -> None:
    assert len(metas(padding + source)) == count


def test_elements_come_in_tree_order() -> None:
    source = "<meta name=a><p><meta name=b><table><meta name=c></table><meta name=d>"

    assert [meta.name for meta in metas(source)] == ["a", "b", "c", "d"]


@pytest.mark.parametrize("padding", ["", "<!--" + "x" * 70_000 + "-->"])
def test_the_chosen_option_is_no_second_copy_of_its_elements(padding: str) -> None:
    source = (
        "<select><button><selectedcontent></selectedcontent></button>"
        "<option selected><meta name=a content='<SelectedContent>'></option></select>"
    )

    assert metas(padding + source) == [Meta(name="a", content="<SelectedContent>")]


@pytest.mark.parametrize("before", ["<meta \x02\x03\x02>", "<meta name=&#2;&#3;&#2;>", "<!-- \x02\x03\x02 -->"])
def test_no_page_can_tell_the_reader_where_it_ends(before: str) -> None:
    source = f"{before}<meta content='<meta name=x>' name=topper>"

    assert metas(source)[-1] == Meta(name="topper", content="<meta name=x>")


@pytest.mark.parametrize("encoding", ["windows-1252", "shift_jis", "utf-16le", "utf-16be", "iso-2022-jp", "utf-8"])
def test_a_page_is_read_in_its_encoding(encoding: str) -> None:
    source = '<title>x</title><meta name="page-version" content="1">'

    assert read_metas(source.encode(encoding), encoding).metas == (Meta(name="page-version", content="1"),)


def test_letters_come_as_the_encoding_means_them() -> None:
    source = '<meta name="page-version" content="\u00e9\u65e5">'

    assert metas(source)[0].content == "\u00e9\u65e5"
    assert read_metas(b"<meta content=\xe9\x80>", "windows-1252").metas == (Meta(content="\u00e9\u20ac"),)
    assert read_metas("<meta content=\u65e5>".encode("shift_jis"), "shift_jis").metas == (Meta(content="\u65e5"),)


def test_a_byte_order_mark_does_not_open_the_body() -> None:
    body = "\ufeff<title>t</title><meta name=a><frameset><meta name=b>".encode()

    assert [meta.name for meta in read_metas(body, "utf-8").metas] == ["a"]


def test_bytes_that_are_not_utf8_are_a_problem_not_an_error() -> None:
    reading = read_metas(b"<meta name=a content=x\xffy>", "utf-8")

    assert reading.metas == (Meta(name="a", content="x\ufffdy"),)
    assert reading.problems == ("not valid UTF-8 from byte 22 on; read with replacement characters",)


def test_what_follows_the_last_meta_element_is_not_looked_at() -> None:
    assert read_metas(PLANT.encode() + b"\xff" + b"<div>" * 100_000, "utf-8").problems == ()


@pytest.mark.parametrize(
    ("source", "title"),
    [
        ("<title> A \n b </title>", "A b"),
        ("<title>a</title><title>b</title>", "a"),
        ("<title>&amp;<b></title>", "&<b>"),
        ("<body><p><title>late</title>", "late"),
        ("<title> </title>", None),
        ("<p>x", None),
        ("<svg><title>x</title></svg>", None),
        ("<svg><g><title>x</title></g><foreignObject><title>y</title></foreignObject></svg>", "y"),
        ("<template><title>x</title></template><title>y</title>", "y"),
        ("<math><title><title>x</title></title></math><p><title>y</title>", "y"),
        ("<math><mi><title>x</title></mi></math>", "x"),
        ("<svg><mi><title>x</title></mi></svg>", None),
        ("<svg><math><mi><title>x</title></mi></math></svg>", None),
        ("<math><annotation-xml><title>x</title></annotation-xml></math>", None),
        ("<math><annotation-xml encoding=Text/HTML><title>x</title></annotation-xml></math>", "x"),
    ],
)
@pytest.mark.parametrize("padding", ["", "<!--" + "x" * 70_000 + "-->"])
def test_the_title_is_read_whichever_parser_reads_it(source: str, title: str | None, padding: str) -> None:
    assert read_title((padding + source).encode(), "utf-8") == title


def test_a_whole_page_has_its_title_and_its_elements() -> None:
    whole = read_whole(f"{PLANT}<title>t\u00e9</title><p>x".encode("latin-1"), "utf-8")

    assert (whole.title, whole.metas) == ("t\ufffd", (PLANTED,))
    assert whole.problems == ("not valid UTF-8 from byte 39 on; read with replacement characters",)


DEEP = 100_000


@pytest.mark.parametrize(
    "before",
    [
        *("<div>" * DEEP, "<ul><li>" * DEEP, "<svg><g>" * DEEP, "<table><tr><td>" * DEEP, "<b>" * DEEP, "<a>" * DEEP),
        *("<i>" * DEEP + "</b>" * DEEP, "<span>" * DEEP + "</p>" * DEEP, "<p " + " a=1" * DEEP + ">"),
        "<p " + " ".join(f"a{number}" for number in range(DEEP)) + ">",
        *("<select><option>" * DEEP, "<template>" * 100 + "</template>" * 100, "<table>" + "<b>x" * DEEP),
        "<meta name=x content=y>" * DEEP,
        *("<" * DEEP, "&amp" * DEEP, "\0" * DEEP, "<!--" + "-" * DEEP + "-->", "\ufffd" * DEEP),
    ],
    ids=lambda before: before[:12],
)
def test_a_page_built_to_be_slow_is_read_like_any_other(before: str) -> None:
    assert metas(before + PLANT)[-1] == PLANTED


@pytest.mark.parametrize(
    "before",
    [
        "<html a>" * DEEP,
        "<BODY a>" * DEEP,
        "<html>" + "<html " + " ".join(f"a{number}" for number in range(DEEP)) + ">",
        "".join(f"<b id={number}><p>" for number in range(20_000)),
        "".join(f"<FONT id={number}><p>" for number in range(20_000)),
        "<!--" + "x" * 70_000 + "-->" + "<selectedcontent>" * 20,
        "".join(f"<b id={number}><p>" for number in range(1000)),
        "<p>" + "<b><b><b><I><i><i><tt><tt><tt><u><u><u>" + "<p>x" * 40_000,
        "<p><b " + " ".join(f"a{number}" for number in range(1000)) + ">" + "<p>x" * 9_000,
        "<p><a " + " ".join(f"a{number}" for number in range(1000)) + ">" + "<p>x" * 9_000,
        "<p><b " + " ".join(f"a{number}" for number in range(5000)) + ">" + "<p>x" * 330,
        "<p><A " + " ".join(f"a{number}='>'" for number in range(4000)) + ">" + "<p>x" * 900,
        "<p>" * (MOST_TAGS + 1),
        "<meta>" * (MOST_METAS + 1),
    ],
    ids=lambda before: before[:12],
)
def test_what_html_itself_makes_slow_is_too_complex(before: str) -> None:
    with pytest.raises(TooComplex):
        read_metas((before + PLANT).encode(), "utf-8")


@pytest.mark.parametrize("piece", ["<a href='", "<a b='>", "<b a='", "<font a=\"<b c='", "<a it's", "<b <i <u "])
@pytest.mark.parametrize("length", [60_000, 1_000_000])
def test_attributes_that_hold_tags_that_hold_attributes_take_no_time(piece: str, length: int) -> None:
    with suppress(TooComplex):
        metas(piece * (length // len(piece)) + PLANT)


def test_formatting_elements_that_are_closed_are_not_complex() -> None:
    assert metas("<i class=a></i><b><u>x</u></b><p>" * 20_000 + PLANT) == [PLANTED]


def test_links_and_few_formatting_elements_that_are_never_closed_are_not_complex() -> None:
    assert metas("<font face=arial><a href=/a>x<p>" * 20_000 + PLANT) == [PLANTED]


def test_long_links_are_not_complex_where_they_are_closed() -> None:
    assert metas(f"<p><a href='/?{'x' * 900}'><img><b>x</b></a>" * 9_000 + PLANT) == [PLANTED]


def test_a_large_page_without_meta_elements_is_not_parsed() -> None:
    assert metas("<html a>" * DEEP) == []


words = st.sampled_from(
    [
        *("<p>", "</p>", "<b>", "</b>", "<a href=x>", "</a>", "<table>", "</table>", "<tr>", "<td>", "<svg>", "</svg>"),
        *("<div>", "</div>", "<li>", "</body>", "</html>", "<head>", "</head>", "<html>", "<body>", "x", " ", "<br>"),
        *("<!-- x -->", "<!-->", "<!x>", "</>", "<", "&", "&lt", "<noscript>", "</noscript>", "<h1>", "<form>"),
        *("<title>x</title>", "<script>'<meta>'</script>", "<style>x</style>", "<template><meta></template>"),
        *("<a title='<meta name=x>'>", "<meta name=a content=b>", "<META property=p>", "<meta x='>'>", "<meta/>"),
    ]
)


# In SVG an end tag of p leaves it today; to html5lib, which is older, it does not.
known = words.filter(lambda word: word != "</p>")


@settings(derandomize=True)  # html5lib errs, or ends with an error of its own, on one page in 50,000
@given(st.lists(known, max_size=12), st.lists(known, max_size=12))
def test_a_valid_element_in_a_mangled_page_is_read_as_html5lib_reads_it(before: list[str], after: list[str]) -> None:
    source = "".join(before) + PLANT + "".join(after)

    assert metas(source) == as_html5lib_reads(source)


@given(st.lists(words, max_size=12))
def test_another_parser_sees_the_same_elements(parts: list[str]) -> None:
    source = "".join(parts) + PLANT

    # Else it copies the chosen option of a select, elements and all.
    tree = LexborHTMLParser(source, options=LexborDocumentOptions.WO_EVENTS.value)

    assert metas(source) == [
        Meta(*(node.attributes.get(name) or None for name in ATTRIBUTES)) for node in tree.tags("meta")
    ]


nuls = st.sampled_from(
    ["\0", "x\0", "<me\0ta name=c>", "<meta\0name=d>", "<meta na\0me=e content='\0\0'>", "<title>\0"]
)


@given(st.lists(words | nuls, max_size=12))
def test_it_is_the_same_page_with_more_nuls_than_a_parser_should_remember(parts: list[str]) -> None:
    source = f"{''.join(parts)}{PLANT}<title>a\0b"
    large = f"<!--{NULS}-->{source}"

    assert read_whole(large.encode(), "utf-8") == read_whole(source.encode(), "utf-8")


def test_nuls_that_could_let_a_frameset_in_are_too_many() -> None:
    few = f"<p>\0<frameset>{PLANT}"

    assert metas(few) == []
    with pytest.raises(TooComplex, match="NUL characters in a page with a frameset; remove them"):
        metas(f"<!--{NULS}-->{few}")


@given(st.binary(max_size=300), st.sampled_from(["utf-8", "windows-1252", "utf-16le", "gb18030", "iso-2022-jp"]))
def test_no_bytes_raise(body: bytes, encoding: str) -> None:
    for source in (body, b"<meta " + body, body + b"<meta name=a>"):
        read_metas(source, encoding)
        read_whole(source, encoding)


WORDS = "river lantern ferry harbour window orchard ledger meadow signal kettle stone bridge autumn carpet".split()  # noqa: SIM905 - prose

# What may open, close, hide or move what stands around it.
PIECES = [
    *(
        PLANT,
        "<META/NAME=a>",
        "<meta name=a content='<meta > x'>",
        '<meta content="<meta x=\'" name=b>',
        "<meta",
        "<metal>",
    ),
    *("<meta name=a content=b=' d='e>", "<meta a='", '<a title="<meta name=t>">', "<a title='>", "<meta x='>'>"),
    *("<noscript>", "</noscript>", "<template>", "</template>", "<frameset>", "<FRAMESET><frame>", "</frameset>"),
    *(
        "<plaintext>",
        "<svg>",
        "</svg>",
        "<math>",
        "<mi>",
        "</math>",
        "<foreignObject>",
        "<desc>",
        "<title>",
        "</title>",
    ),
    *(
        "<![CDATA[",
        "<![CDATA[ <meta name=c> ]]>",
        "]]>",
        "<!--",
        "-->",
        "<!-- <meta name=c> -->",
        "<!-->",
        "<?x <meta> ?>",
    ),
    *("<script>'<meta name=s>'</script>", "<script>", "</script>", "<script><!--<script>", "<style>", "</style>"),
    *("<title a='<title></title>'>x", "<title>y</title>"),
    *("<textarea>", "</textarea>", "<xmp>", "<iframe>", "<noframes>", "<noembed>", "<select>", "</select>", "<option>"),
    *("<table>", "<caption>", "<colgroup>", "<tr>", "<td>", "</td>", "</table>", "<b>", "</b>", "<a href=x>", "</a>"),
    *(
        "<p>",
        "</p>",
        "<div>",
        "</div>",
        "<li>",
        "<h1>",
        "<form>",
        "</form>",
        "<button>",
        "<selectedcontent>",
        "<object>",
    ),
    *("<head>", "</head>", "<body>", "</body>", "<html>", "</html>", "<br>", "</br>", "<image>", "<!doctype html>"),
    *('"', "'", ">", "<", "=", "/", "\0", "&lt;meta", "\r\n", "\u00e9", " ", "x"),
]


def real_like(chance: Random) -> str:
    """A page of some thousand letters with the parts that pages have."""

    def text(words: int) -> str:
        return " ".join(chance.choices(WORDS, k=words))

    head = [
        '<meta charset="utf-8">',
        f"<title>{text(4)}</title>",
        '<meta name="viewport" content="width=device-width">',
        f'<meta name=description content="How to write &lt;meta> and <meta name=x> in {text(6)}">',
        f"<meta property='og:title' content='{text(3)}' />",
        '<link rel="stylesheet" href="/s.css?a=1&b=2">',
        f'<script>var metas = document.querySelectorAll("<meta>"); if (1<2) {{"{text(9)}"}}</script>',
        "<!--[if lt IE 9]><meta http-equiv=X-UA-Compatible content=IE=edge><![endif]-->",
        "<noscript><meta http-equiv=refresh content='0; url=/plain'></noscript>",
        f"<style>.a>b{{margin:0}} /* <meta> {text(5)} */</style>",
        '<meta name="article:modified_time" content="2026-01-02T03:04:05Z">',
    ]
    body = [
        f"<div class={chance.choice(WORDS)}><p><a href='/{chance.randrange(99)}'>{text(3)}</a> {text(20)}</div>"
        for _ in range(chance.randrange(20))
    ]
    body.insert(
        chance.randrange(len(body) + 1),
        "<table><tr><td itemscope><meta itemprop=price content=1><svg><title>x</title></svg></table>",
    )
    return (
        "<!DOCTYPE html>\n<html lang=en><head>" + "\n".join(head) + "</head><body>" + "\n".join(body) + "</body></html>"
    )


def mangled(page: str, chance: Random, changes: int) -> str:
    """The page with pieces put in, cut out and repeated anywhere."""
    for _ in range(changes):
        place, other = sorted((chance.randrange(len(page) + 1), chance.randrange(len(page) + 1)))
        match chance.randrange(8):
            case 0:
                page = page[:place] + page[min(other, place + 99) :]
            case 1:
                page = page[:place] + page[place : min(other, place + 300)] + page[place:]
            case _:
                page = page[:place] + chance.choice(PIECES) + page[place:]
    return page


def assert_read_as_whole(body: bytes, encoding: str = "utf-8") -> None:
    title, metas = _parse(decode(body, encoding), with_title=True)

    reading = read_metas(body, encoding)
    assert reading.metas == metas
    assert reading.title in (None, title or "")
    assert (read_whole(body, encoding).title, read_whole(body, encoding).metas) == (title, metas)


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ('<meta name=topper content="<meta > x">', 1),
        ("<meta name=topper content='<meta <meta > > <frameset>'>", 1),
        ("<meta name=topper a='\"' content=\"<meta a='>\">", 1),
        ("<meta name=topper content=<meta >", 1),
        ("<meta name=topper content=b=' d='e> f'>", 1),
        ('<meta name=topper a=b=" content="<meta > x">', 1),
        ("<meta name=topper content = \n '<meta > x'/>", 1),
        ("<a title='<meta >'>" + PLANT + "<a title='<meta >", 1),
        (PLANT + "<p><frameset>", 1),
        ("<p>" + PLANT + "<frameset>", 0),
        ("<p>" + PLANT + "x<frameset>" + PLANT, 2),
        (PLANT + "<metal><feta><mrameset>", 1),
    ],
)
def test_a_tag_ends_where_its_last_attribute_does(source: str, count: int) -> None:
    body = source.encode()

    assert len(read_metas(body, "utf-8").metas) == count
    assert_read_as_whole(body)


@pytest.mark.parametrize(
    ("source", "title"),
    [
        ("<title>a</title><p>" + "x" * 9, "a"),
        ("<title>a<title>b</title>c", "a<title>b"),
        ("<title>a</titles></TITLE x='>'>c</title>", "a</titles>"),
        ("<title a='<title></title>'>b</title>", "b"),
        ("<title a='<title>'>b</title>", "b"),
        ("<title>a", "a"),
        ("<svg><title>a</title></svg><p><title>b</title>", "b"),
        ("<svg><title>a</title></svg>", None),
        ("<table><tr><td><title>a</title></td></tr><title>b</title></table>", "b"),
        ("<p><title>a</title><frameset>", None),
        ("<title></title>" + PLANT + "<p>x", None),
    ],
)
def test_a_title_is_read_to_its_end(source: str, title: str | None) -> None:
    body = source.encode()

    assert read_whole(body, "utf-8").title == title
    assert_read_as_whole(body)


@given(st.integers(0, 2**32), st.integers(0, 12))
def test_what_is_parsed_gives_what_the_whole_page_gives(seed: int, changes: int) -> None:
    chance = Random(seed)  # noqa: S311 - a page that can be made again
    body = mangled(real_like(chance), chance, changes).encode()

    assert_read_as_whole(body)


@given(st.lists(st.sampled_from(PIECES), max_size=14))
def test_so_it_is_for_any_markup(pieces: list[str]) -> None:
    body = "".join(pieces).encode()

    assert_read_as_whole(body)


@given(
    st.sampled_from([Meta(name="a", content="b"), Meta(content="<meta > \" ' <meta name='x'>")]), st.binary(max_size=40)
)
def test_so_it_is_for_any_bytes_and_encoding(meta: Meta, rest: bytes) -> None:
    for encoding in ("utf-8", "windows-1252", "shift_jis", "gb18030", "big5", "iso-2022-jp", "utf-16le"):
        body = rest[:20] + element(meta).encode("ascii") + rest[20:]
        assert_read_as_whole(body, encoding)


@pytest.mark.parametrize(
    "piece", ["<meta ", "<meta a='", "<meta a=\"<meta b='", "<meta a=x ", "<meta <meta a=''", "<title>", "<title "]
)
def test_tags_within_tags_within_tags_take_no_time(piece: str) -> None:
    body = (piece * (1_000_000 // len(piece))).encode()

    with suppress(TooComplex):
        read_whole(body[:700_000], "utf-8")


DULL = "<meta name=viewport content=x>"
SPOKEN = [
    "<meta name=Created content=2026>",
    "<meta name='&#116;opper' content=&quot;>",
    "<meta property='og:x article:modified_time' content=2026>",
    "<meta http-equiv=REFRESH content=5>",
    "<meta content='<meta name=created content=2>' name=page-version>",
    "<meta a='<meta name=x>' name=topper content=1>",
    "<meta name=x content='<meta name=x' /><meta charset=koi8-r>",
    "<meta itemprop=topper content=1>",
    "<meta \x02\x03\x02>",
    "topper",
    "&",
    DULL,
]


def those_that_speak(metas: tuple[Meta, ...]) -> list[Meta]:
    return [meta for meta in metas if fields_of(meta)]


def test_a_sign_stands_in_the_name_of_every_field() -> None:
    assert all(any(sign in field.encode() for sign in SIGNS) for field in FIELDS)


def test_a_page_without_a_sign_is_not_parsed() -> None:
    body = (DULL + "<html a>" * 100_000 + DULL).encode()

    assert read_metas(body, "utf-8", SIGNS).metas == ()
    with pytest.raises(TooComplex):
        read_metas(body, "utf-8")


def test_what_follows_the_last_sign_is_not_looked_at() -> None:
    body = (PLANT + "<html a>" * 100_000 + DULL).encode()

    assert those_that_speak(read_metas(body, "utf-8", SIGNS).metas) == list(read_metas(PLANT.encode(), "utf-8").metas)


@pytest.mark.parametrize("source", SPOKEN)
@pytest.mark.parametrize("before", ["", DULL, "<!--", "<script>topper", "<template>"])
@pytest.mark.parametrize("after", ["", DULL, "<p>topper" + DULL, "<meta name=x content='>", "<frameset>"])
def test_an_element_that_says_what_is_asked_for_is_found_among_others(before: str, source: str, after: str) -> None:
    body = (before + source + after).encode()

    found = read_metas(body, "utf-8", SIGNS).metas

    assert those_that_speak(found) == those_that_speak(read_metas(body, "utf-8").metas)


@given(st.integers(0, 2**32), st.integers(0, 12), st.lists(st.sampled_from(SPOKEN), max_size=3))
def test_a_state_is_that_of_all_elements(seed: int, changes: int, spoken: list[str]) -> None:
    chance = Random(seed)  # noqa: S311 - a page that can be made again
    page = real_like(chance)
    for source in spoken:
        place = chance.randrange(len(page) + 1)
        page = page[:place] + source + page[place:]
    body = mangled(page, chance, changes).encode()

    assert_said_as_whole(body)


@given(st.lists(st.sampled_from(PIECES + SPOKEN), max_size=14))
def test_elements_about_a_field_are_found_in_any_markup(pieces: list[str]) -> None:
    assert_said_as_whole("".join(pieces).encode())


def assert_said_as_whole(body: bytes) -> None:
    all_of_it, asked_for = (read_page(body, "text/html", about=about) for about in ((), SIGNS))

    assert read_state(asked_for.metas) == read_state(all_of_it.metas)
    assert asked_for.encoding == all_of_it.encoding
    assert asked_for.title in (None, _parse(decode(body, asked_for.encoding or ""), with_title=True)[0] or "")


@pytest.mark.parametrize("name", ["<meta>", "<META/", "<mEtA ", "<meta\t", "<meta\n", "<meta\f", "<meta\r"])
def test_the_last_meta_element_is_found_whatever_follows_its_name(name: str) -> None:
    body = f"<meta>x{name}".encode()

    assert find_landmarks(body) == (7, -1)


@pytest.mark.parametrize("other", ["<metas", "<metal>", "<meta\0", "<meta", "<metas" * 8, "</meta>"])
def test_what_only_begins_as_a_meta_element_does_is_none(other: str) -> None:
    assert find_landmarks(f"<p><meta>{other}".encode()) == (3, -1)
    assert find_landmarks(other.encode()) == (-1, -1)


def test_of_many_names_that_begin_so_only_the_last_are_looked_at() -> None:
    assert find_landmarks(b"<meta>" + b"<metas" * 100) == (6 + 91 * 6, -1)


def test_the_last_frameset_is_found_wherever_it_stands() -> None:
    assert find_landmarks(b"<frameset><meta><FrameSets") == (10, 16)
