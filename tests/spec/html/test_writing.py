from __future__ import annotations

from collections.abc import Iterator

import pytest
import turbohtml
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree  # type: ignore[import-untyped]  # has no stubs

from tocsin.errors import TooComplex
from tocsin.spec.html.page import Kind
from tocsin.spec.html.tree import Element, Tree, read_tree
from tocsin.spec.html.writing import Template, is_xml, read_markup, write_html, write_xml, xml_text, xml_value

XHTML = "application/xhtml+xml"
TOP = '<html xmlns="http://www.w3.org/1999/xhtml" xmlns:x="http://www.w3.org/1999/xlink"><body>'
PIECES = (
    *(
        "<div>",
        "</div>",
        "<p>",
        "</p>",
        "<pre>",
        "\n",
        "</pre>",
        "<textarea>",
        "</textarea>",
        "<listing>",
        "<b>",
        "</b>",
    ),
    *(
        "<svg viewbox=1 xlink:href=a xml:lang=b>",
        "</svg>",
        "<math definitionurl=x>",
        "<mi>",
        "</math>",
        "<br>",
        "<wbr>",
    ),
    *(
        "<template>",
        "</template>",
        "<!--c-->",
        "<!-->",
        "<?pi x?>",
        "<![CDATA[a<b]]>",
        "<script>",
        "a<b&c",
        "</script>",
    ),
    *(
        "<style>",
        "</style>",
        "<noscript>",
        "</noscript>",
        "<iframe>",
        "</iframe>",
        "<table>",
        "<tr>",
        "<td>",
        "</table>",
    ),
    *('<a href="x&amp;y&quot;z">', "</a>", "<img src=a>", "&nbsp;", "&#13;", "&amp;", "\0", "<select>", "<option>"),
    *("<xmp>", "</xmp>", "<plaintext>", "<article>", "<foreignObject>", "<title>", "<noembed>", '<p a"b=c>', "<input>"),
    *("<command>", "<frameset>", "<keygen>", "<image>", "<selectedcontent>", "x y", "</p", "<source>"),
)
TEXTS = st.text(st.sampled_from("<>&\"'\n\t\xa0 ab\u2028\U0001f514"), min_size=1, max_size=6)
VALUES = st.dictionaries(st.sampled_from(("title", "lang", "data-x", "class")), TEXTS, max_size=2)


def body_of(html: str) -> Element:
    (body,) = read_markup(f"<!DOCTYPE html><body>{html}".encode(), "text/html; charset=utf-8").elements("body")
    return body


def again(html: str, without: str = "") -> str | None:
    body = body_of(html)
    return write_html(body.children, frozenset(body.elements(without)) if without else ())


def xml_of(markup: str) -> str | None:
    (body,) = read_tree(f"{TOP}{markup}</body></html>".encode(), XHTML).elements("body")
    return write_xml(body.children)


@pytest.mark.parametrize(
    "html",
    [
        "a &amp; b &lt;c&gt;&nbsp;\"'",
        '<p title="&amp;&nbsp;&quot;<\'>">x</p>',
        '<p z="1" a="2" hidden="">x</p>',
        '<br><img src="a"><input><wbr><hr>',
        "<script>a<b&&c</script><style>a>b</style><iframe><b></iframe><noembed>&amp;</noembed><xmp>&amp;</xmp>",
        "<noscript><p>a &lt; b</p></noscript>",
        "<pre>\n\na</pre><textarea>\n\na</textarea><listing>\n\n</listing>",
        "<pre>a\n</pre>",
        '<svg viewBox="1" xlink:href="a" xml:lang="b"><style>a&lt;b</style><link></link></svg>',
        "<template><b>a</b><template>b</template></template>",
        "<!-- a <b> & -->",
    ],
)
def test_markup_is_written_as_it_stands_there(html: str) -> None:
    assert again(html) == html


@pytest.mark.parametrize(
    ("html", "written"),
    [
        ("<P CLASS=a Id='b'>x", '<p class="a" id="b">x</p>'),
        ("<pre>\na</pre>", "<pre>a</pre>"),
        ("<p>&#13;&eacute;", "<p>\ré</p>"),
        ("<p>a<plaintext></p>b", "<p>a</p><plaintext></p>b</plaintext>"),
        ("<svg><![CDATA[a<b]]>", "<svg>a&lt;b</svg>"),
    ],
)
def test_markup_is_written_as_HTML_reads_it(html: str, written: str) -> None:
    assert again(html) == written


def test_what_is_left_out_takes_all_with_it() -> None:
    assert again("<div>a<nav>b<i>c</i></nav>d</div><nav>e</nav>", "nav") == "<div>ad</div>"


def test_a_line_feed_that_becomes_the_first_is_kept() -> None:
    assert again("<pre><nav>a</nav>\nb</pre>", "nav") == "<pre>\n\nb</pre>"


@pytest.mark.parametrize("write", [write_html, write_xml])
def test_what_is_longer_than_it_may_be_is_not_written(write: object) -> None:
    (body,) = read_tree(f"{TOP}<p>abc</p></body></html>".encode(), XHTML).elements("body")

    assert callable(write)
    assert (write(body.children, letters=10), write(body.children, letters=9)) == ("<p>abc</p>", None)


def test_elements_without_end_tags_take_room_too() -> None:
    (body,) = read_tree(b"<!DOCTYPE html><body><br><br>", "text/html").elements("body")

    assert (write_html(body.children, letters=8), write_html(body.children, letters=7)) == ("<br><br>", None)


@settings(max_examples=150)
@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
def test_any_markup_is_written_as_another_writer_has_it(html: str) -> None:
    try:
        root = read_markup(f"<!DOCTYPE html>{html}".encode(), "text/html; charset=utf-8").root
    except TooComplex:
        return

    assert root is not None
    other = turbohtml.parse(f"<!DOCTYPE html>{html}", positions=False).find("html")
    assert other is not None
    assert write_html([root]) == other.html


def elements(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Elements that HTML lets stand in each other, and that hold others."""

    def written(tag: str, values: dict[str, str], inside: list[str]) -> str:
        said = "".join(f' {name}="{xml_text(value).replace(chr(34), "&quot;")}"' for name, value in values.items())
        return f"<{tag}{said}>{''.join(inside)}</{tag}>"

    tags = st.sampled_from(("div", "span", "section", "ins", "blockquote", "template", "pre", "noscript", "x-y"))
    return st.builds(written, tags, VALUES, st.lists(inner, max_size=3))


LEAVES = (
    TEXTS.map(xml_text)
    | TEXTS.map(lambda text: f"<textarea>\n{xml_text(text)}</textarea>")
    | TEXTS.map(lambda text: f"<style>{text.replace('<', '')}</style>")
    | st.sampled_from(("<br>", "<!--a-->", '<svg viewBox="0"><a xlink:href="b">c</a></svg>', "<math><mi>x</mi></math>"))
)


def shape(element: Element) -> Iterator[object]:
    for node in element.below():
        yield node if isinstance(node, str) else (node.tag, node.namespace, dict(node.attributes))


@settings(max_examples=150)
@given(st.recursive(LEAVES, elements, max_leaves=12))
def test_what_is_written_is_read_as_the_same(html: str) -> None:
    body = body_of(html)

    written = write_html(body.children)

    assert written is not None
    assert list(shape(body_of(written))) == list(shape(body))
    assert again(written) == written


@pytest.mark.parametrize(
    ("markup", "written"),
    [
        ("<p title='&lt;&quot;&#10;'>a &amp; b&#13;</p>", '<p title="&lt;&quot;&#10;">a &amp; b&#13;</p>'),
        ("<br/><p></p>", "<br/><p/>"),
        ('<s:svg xmlns:s="http://www.w3.org/2000/svg"><s:a x:href="b" xml:lang="c"/></s:svg>',) * 2,
        ('<a xmlns=""><b xmlns="urn:c"/></a>',) * 2,
    ],
)
def test_xml_is_written_with_its_namespaces(markup: str, written: str) -> None:
    found = xml_of(markup)

    assert canonical(found) == canonical(written)


def canonical(markup: str | None) -> list[tuple[str, str | None, dict[str, str]]]:
    root = etree.fromstring(f"{TOP}{markup}</body></html>")
    return [(each.tag, each.text, dict(each.attrib)) for each in root.iter()]


def test_xml_names_the_namespace_of_an_attribute() -> None:
    assert xml_of('<p x:href="a" x:role="b"/>') == (
        '<p xmlns:n1="http://www.w3.org/1999/xlink" n1:href="a" n1:role="b"/>'
    )


@given(st.text())
def test_any_text_becomes_text_of_xml(text: str) -> None:
    document = f'<a b="{xml_value(text)}">{xml_text(text)}</a>'.encode()

    read = etree.fromstring(document)

    if is_xml(text):
        assert ((read.text or ""), read.get("b")) == (text, text)
    else:
        assert "\ufffd" in read.text


def test_nothing_recurses() -> None:
    inner = innermost = Element("b", "http://www.w3.org/1999/xhtml", {}, None)
    for _ in range(20_000):
        outer = Element("b", inner.namespace, {}, None)
        outer.children.append(inner)
        inner = outer
    innermost.children.append("a")

    assert write_html([inner]) == f"{'<b>' * 20_001}a{'</b>' * 20_001}" == write_xml([inner])


def markup_of(html: str) -> Tree:
    return read_markup(f"<!DOCTYPE html><body>{html}".encode(), "text/html; charset=utf-8")


def body_with_templates(html: str) -> Element:
    (body,) = markup_of(html).elements("body")
    return body


def test_who_walks_through_it_meets_what_any_tree_has() -> None:
    page = b"<!DOCTYPE html><p>a<!--b--><template><p>c</template><svg><title>d</title></svg><i>e"

    found, plain = (read(page, "text/html") for read in (read_markup, read_tree))

    assert [each.tag for each in found.elements() if each.namespace] == [each.tag for each in plain.elements()]
    assert (body_with_templates("<p>a<!--b-->").text(), body_with_templates("<template>c</template>").text()) == (
        "a",
        "",
    )


def test_what_a_template_holds_is_beside_its_children() -> None:
    (template,) = body_with_templates("<template><p>a</p></template>").children

    assert isinstance(template, Template)
    assert (template.children, write_html(template.content.children)) == ([], "<p>a</p>")


def test_an_element_of_a_template_has_no_page_above_it() -> None:
    (template,) = body_with_templates("<template><p>a</p></template>").children

    assert isinstance(template, Template)
    (paragraph,) = template.content.elements("p")
    assert [above.tag for above in paragraph.above()] == ["#content"]


def test_a_comment_before_the_page_is_not_its_root() -> None:
    root = read_markup(b"<!--a--><!DOCTYPE html><!--b--><p>c", "text/html").root

    assert root is not None
    assert (root.tag, root.parent) == ("html", None)


def test_xhtml_is_read_as_xml() -> None:
    tree = read_markup(b'<html xmlns="http://www.w3.org/1999/xhtml"><!--a--><P/></html>', "application/xhtml+xml")

    assert (tree.kind, [each.tag for each in tree.elements()]) == (Kind.XHTML, ["html", "P"])


def test_what_is_no_page_has_no_root() -> None:
    tree = read_markup(b"%PDF-1.7", "application/pdf")

    assert (tree.root, tree.problems) == (None, ("not HTML: its server calls it application/pdf",))


@pytest.mark.parametrize("page", [b"<" * 2_000_001, b"<html a>" * 5000])
def test_CI08_what_no_parser_may_be_given_is_refused(page: bytes) -> None:
    with pytest.raises(TooComplex):
        read_markup(page, "text/html")
