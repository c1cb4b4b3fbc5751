"""Our parser of HTML beside two others, on hostile and mangled pages: it is never alone with what it sees.

Our parser is young C code, and it reads what strangers write. lexbor, in C too, follows today's standard; html5lib is
older, and in Python. Where both of them see the same tree, ours sees it, too. The exceptions are in `ALONE`, and in
docs/reading-the-web.md.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from random import Random
from typing import Any, TypeAlias
from xml.dom.minidom import Comment, Element, Node, Text

import html5lib
import pytest
import turbohtml
from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser, LexborNode

# An element: its name, attributes and what is in it; a comment: its text, trimmed as selectolax gives it; a text.
Tree: TypeAlias = tuple[str, frozenset[tuple[str, str]], tuple[Any, ...]] | tuple[str, str] | str

WORDS_A_SEED, MANGLED_A_SEED = 1_500, 300
STARTS = ("", "<!doctype html>", "<!DOCTYPE html><html lang=en><head><meta charset=utf-8>")
WORDS = (
    *("<p>", "</p>", "<p a=1 a=2 B=c/>", "<b>", "</b>", "<i class=a>", "</i>", "<a href=x>", "</a>", "<a title='<b>'>"),
    *("<font size=1>", "</font>", "<nobr>", "</nobr>", "<div>", "</div>", "<center>", "</center>", "<address>"),
    *("<table>", "</table>", "<tbody>", "<tr>", "<td>", "</td>", "<th>", "<caption>", "<colgroup>", "<col>"),
    *("<svg>", "</svg>", "<math>", "<mi>", "</math>", "<foreignObject>", "<desc>", "<mglyph>", "<malignmark>"),
    *("<annotation-xml encoding=text/html>", "<![CDATA[x]]>", "<title>x</title>", "<script>'<p>'</script>"),
    *("<style>x</style>", "<template>", "</template>", "<iframe></iframe>", "<xmp>x</xmp>", "<noembed>x</noembed>"),
    *("<li>", "<ul>", "</ul>", "<dd>", "<dt>", "<h1>", "</h2>", "<form>", "</form>", "<input>", "<input type=hidden>"),
    *("<button>", "</button>", "<option>", "<optgroup>", "<select>", "</select>", "<ruby>", "<rt>", "<rp>", "<rb>"),
    *("<section>", "<main>", "<search>", "<summary>", "<details>", "<dialog>", "<object>", "</object>", "<marquee>"),
    *("<meta name=a>", "<link>", "<base href=x>", "<img>", "<hr>", "<area>", "<wbr>", "<embed>", "<plaintext>", "<br>"),
    *("</br>", "</body>", "</html>", "<head>", "</head>", "<body class=b>", "<frameset>", "<frame>", "<x-y>", "</x-y>"),
    *("x", " ", "\n", "\r\n", "\f", "\0", "\xe9", "<", "</>", "<!-- x -->", "<!-->", "<!x>", "<?pi?>"),
    *("&", "&lt", "&amp;", "&notit;", "&#x80;", "&#0;", "<noscript>", "</noscript>"),
)
PAGE = """<!doctype html><html lang=en><head><meta charset=utf-8><title>Boats &amp; tides</title>
<meta name="topper-major" content="2026-11-01"><link rel=stylesheet href=/s.css><style>p > a { color: red }</style>
<script>if (a < b && "</p>") { document.write("<b>") }</script></head><body class="wide open"><header><nav><ul><li>
<a href="/a">A</a><li><a href=/b title='x > y'>B</a></ul></nav></header><main><h1>The harbour</h1><p>First <b>bold
<i>both</b> italic</i> text<p>Second &eacute; &notin; &#169; one<table><caption>Hours</caption><tr><th>Day<td>Time<tr>
<td>Monday<td><form action=/go><input name=q><select><option>1<option selected>2</select></form></table><svg
viewBox="0 0 1 1"><title>s</title><path d="M0"/></svg><math><mi>x</mi></math><dl><dt>a<dd>b</dl><!-- a comment -->
<article itemscope
itemtype="https://schema.org/Event"><time itemprop=startDate datetime=2026-12-10>soon</time></article>
</main></body></html>
"""
HOSTILE = {
    "depth": "<div>" * 200,
    "depth of lists": "<ul><li>" * 90,
    "depth of tables": "<table><tr><td>" * 60,
    "tables in tables": "<table>" * 60 + "x",
    "depth of SVG": "<svg><foreignObject>" * 60,
    "depth of MathML": "<math><mi>" * 60,
    "depth of buttons": "<button>" * 60,
    "formatting, never closed": "".join(f"<font size={number}>" for number in range(40)) + "<p>x" * 20,
    "formatting, closed across": "<b><p></b></p>" * 40,
    "formatting that is all the same": "<b>" * 50 + "<p>x" * 5,
    "anchors, never closed": "<a href=x>" * 60,
    "adoption, eight times and once more": "<b>" + "<i>" * 12 + "<div>" * 12 + "x</b>y",
    "text and rows": "<table>" + "x<tr>y" * 40,
    "forms in tables": "<table><form><tr><form><td><form>" * 20,
    "attributes": "<p " + " ".join(f"a{number}=b" for number in range(300)) + ">",
    "attributes that are all the same": "<p " + "a=b " * 300 + ">",
    "attributes of nothing": "<p = =a ='b' \"c\"=d e'f=g <h>x",
    "references": "&amp;&ampx;&a;&#x110000;&#xD800;&#1114111;&#x0;&#38;&lt&gt&&#" * 20,
    "NULs": "\0<\0p>\0<p\0 a\0=\0>\0<!--\0-->\0" * 20,
    "comments that are none": "<!--><!---><!----!><!--a--!><!-<!a><!--<!---->-->" * 10,
    "script that looks closed": "<script><!--<script></script>--></script>x",
    "raw text, never closed": "<title><style><textarea><script>x",
    "a tag, never closed": "<p><a title='<p>" * 20,
    "end tags of nothing": "</x></p></br></table></body></html></svg></template>" * 20,
    "templates": "<template><tr><td>" * 30 + "</template>" * 10,
}


def ours(source: str) -> Tree:
    """The tree as our parser sees it."""

    def read(node: turbohtml.Element) -> Tree:
        inner = [] if node.tag == "template" else [read_any(child) for child in node.children]
        return node.tag.lower(), attributes((name, node.attr(name)) for name in node.attrs), join(inner)

    def read_any(node: turbohtml.Node) -> Tree:
        if isinstance(node, turbohtml.Element):
            return read(node)
        if isinstance(node, turbohtml.Comment):
            return "<!--", node.data.strip()
        return node.data if isinstance(node, turbohtml.Text) else ""

    root = turbohtml.parse(source, positions=False).find("html")
    assert root is not None
    return read(root)


def lexbor(source: str) -> Tree:
    """The tree as lexbor sees it."""

    def read(node: LexborNode) -> Tree:
        if node.is_text_node:
            return str(node.text_lexbor())
        if node.is_comment_node:
            return "<!--", str(node.comment_content).strip()
        inner, child = [], node.child if node.tag != "template" else None
        while child is not None:
            inner.append(read(child))
            child = child.next
        return str(node.tag).lower(), attributes(node.attributes.items()), join(inner)

    # Else it copies the chosen option of a select, elements and all.
    root = LexborHTMLParser(source, options=LexborDocumentOptions.WO_EVENTS.value).root
    assert root is not None
    return read(root)


def older(source: str) -> Tree | None:
    """The tree as html5lib sees it; None where it ends with an error of its own."""

    def read(node: Node) -> Tree:
        if isinstance(node, Comment):
            return "<!--", node.data.strip()
        if isinstance(node, Text):
            return node.data
        assert isinstance(node, Element)
        inner = [] if node.tagName == "template" else [read(child) for child in node.childNodes]
        return node.tagName.lower(), attributes(node.attributes.items()), join(inner)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return read(html5lib.parse(source, treebuilder="dom", namespaceHTMLElements=False).documentElement)
        except (AssertionError, AttributeError, IndexError, KeyError, TypeError, ValueError):
            return None


def attributes(pairs: Iterable[tuple[str, str | None]]) -> frozenset[tuple[str, str]]:
    """Attributes, whatever the letters' case in SVG, which one of the parsers does not tell."""
    return frozenset((name.lower(), value or "") for name, value in pairs)


def join(nodes: Sequence[Tree]) -> tuple[Tree, ...]:
    """Nodes with texts that follow each other made one."""
    found: list[Tree] = []
    for node in nodes:
        if isinstance(node, str) and found and isinstance(found[-1], str):
            found[-1] += node
        elif node != "":
            found.append(node)
    return tuple(found)


def is_alone(source: str) -> bool:
    """Whether the two others see one tree, and ours another one."""
    found, other = ours(source), lexbor(source)
    return found != other and other == older(source)


def mangle(page: str, random: Random) -> str:
    """A page with parts of it gone, twice there, exchanged, or with something between."""
    for _ in range(random.randrange(1, 6)):
        start = random.randrange(len(page))
        end = start + random.choice((1, 2, 5, 20, 80))
        match random.randrange(4):
            case 0:
                page = page[:start] + page[end:]
            case 1:
                page = page[:end] + page[start:]
            case 2:
                page = page[:start] + random.choice(WORDS) + page[start:]
            case _:
                page = (
                    page[end:] + page[:start]
                    if random.random() < 0.1
                    else page[:start] + random.choice(WORDS) + page[end:]
                )
    return page


@pytest.mark.parametrize("seed", range(4))
def test_our_parser_is_not_alone_on_hostile_markup(seed: int) -> None:
    random = Random(seed)  # noqa: S311 - pages that can be made again
    for _ in range(WORDS_A_SEED):
        words = [random.choice(WORDS) for _ in range(random.randrange(1, 16))]
        source = random.choice(STARTS) + "".join(words)

        assert not is_alone(source), repr(source)


@pytest.mark.parametrize("seed", range(4))
def test_our_parser_is_not_alone_on_mangled_pages(seed: int) -> None:
    random = Random(seed)  # noqa: S311 - pages that can be made again
    for _ in range(MANGLED_A_SEED):
        source = mangle(PAGE, random)

        assert not is_alone(source), repr(source)


@pytest.mark.parametrize("name", HOSTILE)
def test_our_parser_is_not_alone_on_pages_built_to_break_parsers(name: str) -> None:
    for source in (HOSTILE[name], STARTS[2] + HOSTILE[name], f"{HOSTILE[name]}<p>x<b>y</p>z"):
        assert not is_alone(source)


def test_all_three_see_the_same_page() -> None:
    assert ours(PAGE) == lexbor(PAGE) == older(PAGE)


ALONE = {
    "formatting reopened before a source": "<p><b><hr><source>",
    "formatting reopened before a param": "<p><b><form><param>",
    "formatting reopened before a track": "<p><b><hr><track>",
    "formatting reopened before a textarea": "<p><b><hr><textarea>x</textarea>",
    "formatting reopened for the line end that begins a pre": "<p><b><pre>\n",
    "white space in a head's noscript before what ends it": "<noscript> x",
    "attributes of an html tag behind a frameset": "<frameset><html lang=en>",
    "a comment behind an html tag that follows the body": "</body><html lang=en><!x>",
}


@pytest.mark.parametrize("name", ALONE)
def test_where_our_parser_is_alone_it_still_is(name: str) -> None:
    # Once it no longer is: take it out here and in docs/reading-the-web.md.
    assert is_alone(ALONE[name])
