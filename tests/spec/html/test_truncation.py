"""Only as much of a page is parsed as can hold meta elements: the result must be that of the whole."""

from __future__ import annotations

from contextlib import suppress
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.spec.pages import element
from tocsin.errors import TooComplex
from tocsin.spec.html.decoding import decode
from tocsin.spec.html.document import Meta, _parse, read_metas, read_whole

PLANT = "<meta name=topper content=2014>"
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

    assert read_metas(body, encoding).metas == metas
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
