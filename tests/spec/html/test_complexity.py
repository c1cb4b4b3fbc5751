"""Formatting elements that are opened again and again are refused, whatever is closed in between."""

from __future__ import annotations

import pytest
import turbohtml
from hypothesis import given
from hypothesis import strategies as st

from tocsin.errors import TooComplex
from tocsin.spec.html import complexity
from tocsin.spec.html.complexity import refuse_reopening

_OPEN = "".join(f"<i class=c{number}>" for number in range(200))


@pytest.mark.parametrize("closed", ["", "<b>x</b>", "<b class='a'>x</b>", "<B id=x>y</B >", '<em title="a">x</em>'])
def test_CI08_what_is_closed_at_once_hides_nothing_that_is_not(closed: str) -> None:
    page = _OPEN + f"{closed}<p>" * 5000

    with pytest.raises(TooComplex, match="formatting"):
        refuse_reopening(page.encode())


@pytest.mark.parametrize("html", ["<b itemprop=a>x</b>", "<b itemprop='a'>x</b> <i>y</i>", "<B>x</B><p>"])
def test_CI08_what_is_closed_at_once_is_never_too_much(html: str) -> None:
    refuse_reopening((html * 50_000).encode())


def test_slashes_of_addresses_are_no_attributes_that_make_a_page_be_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(complexity, "_OpenFormatting", None)

    refuse_reopening(b'<p><a itemprop="url" href="/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p">x</a>' * 20_000)


_ATTRIBUTES = " ".join(f"a{number:x}" for number in range(160))
_LINK, _BOLD = f"<p><a {_ATTRIBUTES}>", f"<p><b {_ATTRIBUTES}>"


@pytest.mark.parametrize(
    "opened",
    [
        pytest.param(_LINK, id="a short link with many attributes"),
        pytest.param(f"<p><NOBR/{_ATTRIBUTES}>", id="another name"),
        pytest.param("<p><a" + "".join(f" a{number}='>'" for number in range(160)) + ">", id="ends within values"),
        *[
            pytest.param(f"{opened}{closed}", id=f"{name}, closed in {where}")
            for name, opened, end in (("a link", _LINK, "</a>"), ("bold", _BOLD, "</b>"))
            for where, closed in (
                ("a comment", f"<!--{end}-->"),
                ("a cell", f"<table><tr><td>{end}</table>"),
                ("a second cell", f"<table><tr><td>x<td>{end}</table>"),
                ("a script", f"<script>'{end}'</script>"),
                ("a title", f"<title>{end}</title>"),
                ("a value", f'<i title="{end}">x</i>'),
                ("an object", f"<object>{end}</object>"),
                ("CDATA", f"<svg><![CDATA[ > {end}]]></svg>"),
                ("blocks", f"{'<div>' * 12}{end}{'</div>' * 12}"),
            )
        ],
        pytest.param(f"<svg><style>{_LINK[3:]}</style></svg><p>", id="begun in a style of SVG"),
        pytest.param(f"<svg><![CDATA[></svg>]]><style>{_BOLD}</style></svg>", id="begun in a style behind CDATA"),
        pytest.param(_LINK + "<table><tr><td><a href=x>y</a></table>", id="another link in a cell"),
    ],
)
def test_CI08_what_is_opened_again_is_counted_with_its_attributes_whatever_seems_to_close_it(opened: str) -> None:
    with pytest.raises(TooComplex, match="formatting"):
        refuse_reopening((opened + "<p>x" * 20_000).encode())


@pytest.mark.parametrize(
    "piece",
    [
        pytest.param('<p><a href="/a/b/c?d=e" class="x y" title="z" data-a="1">w</a>', id="links"),
        pytest.param('<a href="/a" class="b c" target="d"><svg><path d="M0"/></svg><span>x</span></a>', id="icons"),
        pytest.param('<table><tr><td><a href="/a" title="b">c</a><td><b class="d">e</b></table>', id="cells"),
        pytest.param('<a href="/a" id="%d" class="c d"><div><p>x</p></div></a>', id="cards, each another one"),
        pytest.param('<td><font size="2" face="x">y', id="fonts that are never closed"),
        pytest.param('<a name="%d" class="b c" href="/d/e/f/g/h">x', id="anchors that are never closed"),
        pytest.param("<a href=x><object><a href=y></object></a>", id="links in objects"),
    ],
)
def test_CI08_what_is_closed_or_light_is_not_too_much_on_a_large_page(piece: str) -> None:
    refuse_reopening("".join(piece.replace("%d", str(number)) for number in range(30_000)).encode())


@pytest.mark.parametrize(
    "link",
    [
        "<a href=/a/b/c>", "<a href='/a'>", '<a href="a>b" title=x>', '<a\thref="a"\nb>', "<a hidden/>", '<A x="1" />',
        "<a>", "<a/b/c>",
    ],
)  # fmt: skip
def test_no_link_of_few_attributes_makes_a_page_be_followed(link: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(complexity, "_OpenFormatting", None)

    refuse_reopening(f"<p>{link}x</a>".encode() * 20_000)


@pytest.mark.parametrize("how", [' a{}="x"', " a{}='>'", " a{}=x", " a{}", "/a{}", ' a{}="x"/'])
def test_CI08_a_link_of_many_attributes_is_found_however_they_are_written(how: str) -> None:
    link = f"<a{''.join(how.format(number) for number in range(200))}>"

    with pytest.raises(TooComplex, match="formatting"):
        refuse_reopening((link + "<p>" * 9000).encode())


_VALUE = st.sampled_from(["", '="a b"', "='a b'", "=a/b", '="x>y"', "='<a b>'", " = x", '=""', "=a'b", "/"])


@given(st.lists(st.tuples(st.sampled_from("abcdefgh"), _VALUE, st.sampled_from([" ", "\n", "  ", "/", "\t/ "]))))
def test_what_looks_like_a_usual_tag_has_no_more_attributes_than_it_looks_like(
    written: list[tuple[str, str, str]],
) -> None:
    tag = "".join(name + value + space for name, value, space in written) + ">"
    node = turbohtml.parse(f"<body><i {tag}").find("i")
    most = next((most for most in range(9) if complexity.usual_of(most).match(tag.encode())), None)

    assert most is None or node is None or len(node.attrs) <= most
