from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.errors import TooComplex
from tocsin.spec.html.blocks import read_blocks
from tocsin.spec.html.page import Kind
from tocsin.spec.html.whole import Whole, check_selector, parse_whole, to_html

_XHTML = "application/xhtml+xml"
_REOPENED = "".join([f"<b id=a{number}>" for number in range(2000)]) + "<p>" * 2000


def parsed(markup: str | bytes, content_type: str = "text/html; charset=utf-8") -> Whole:
    whole = parse_whole(markup if isinstance(markup, bytes) else markup.encode(), content_type)
    assert whole is not None
    return whole


@given(st.binary(max_size=300), st.sampled_from(["text/html", _XHTML, "text/plain", None]))
def test_nothing_raises_on_any_bytes(body: bytes, content_type: str | None) -> None:
    whole = parse_whole(body, content_type)

    assert whole is None or isinstance(whole.title, str)


@pytest.mark.parametrize(
    ("body", "content_type"), [(b"", "text/html"), (b"%PDF-1.7", None), (b"{}", "application/json")]
)
def test_what_is_no_page_is_not_parsed(body: bytes, content_type: str | None) -> None:
    assert parse_whole(body, content_type) is None


def test_title_and_metas_are_those_of_the_page_not_of_its_templates() -> None:
    whole = parsed(
        "<template><title>no</title><meta name=a></template><title> A \n page </title><meta name=b content=c>"
    )

    assert whole.title == "A page"
    assert [(meta.name, meta.content) for meta in whole.metas] == [("b", "c")]


def test_selected_elements_are_not_those_of_templates() -> None:
    whole = parsed("<template><p class=x>no</p></template><p class=x>yes</p>")

    assert [node.text for node in whole.select(".x")] == ["yes"]
    assert [node.text for node in whole.elements("p")] == ["yes"]


def test_what_templates_hold_is_no_text_of_the_page() -> None:
    cell = "<table><tr><td><p>5{}</p></td><td>x</td></tr></table>"
    held = "<template>no<template>neither</template><script>let a</script></template>"

    assert read_blocks(parsed(cell.format(held))).texts == read_blocks(parsed(cell.format(""))).texts
    assert parsed(cell.format(held)).text_digest() == parsed(cell.format("")).text_digest()


def test_a_frame_without_an_end_does_not_swallow_the_page_from_within_a_noscript_element() -> None:
    whole = parse_whole(b"<body><noscript><iframe src=/count></noscript><p>Text.</p>", "text/html")

    assert whole is not None
    assert [node.text for node in whole.elements("p")] == ["Text."]


def test_scripts_are_found_by_their_type() -> None:
    whole = parsed('<script type=" Application/LD+JSON ">{}</script><script>let a</script>')

    assert list(whole.scripts("application/ld+json")) == ["{}"]


def test_the_encoding_is_the_one_that_the_page_declares() -> None:
    whole = parsed("<meta charset=windows-1252><title>Fähre</title>".encode("windows-1252"), "text/html")

    assert (whole.encoding, whole.title) == ("windows-1252", "Fähre")


def test_a_space_of_another_encoding_than_the_page_names_is_a_space() -> None:
    whole = parsed(b"<meta charset=windows-1252><p>Text\xc2\xa0goes on.</p><p>\xc2\xa0</p>", "text/html")

    assert [node.text for node in whole.elements("p")] == ["Text\xa0goes on.", "\xa0"]


def test_a_page_in_utf_16_is_looked_at_before_it_is_parsed_too() -> None:
    with pytest.raises(TooComplex):
        parsed(_REOPENED.encode("utf-16"), "text/html")


@pytest.mark.parametrize("markup", ["<p>" * 1_000_001, "<meta>" * 131_073, _REOPENED])
def test_CI_08_a_page_that_no_parser_may_be_given_is_refused(markup: str) -> None:
    with pytest.raises(TooComplex):
        parsed(markup)


@pytest.mark.parametrize("name", ["a", "nobr", "b", "strong"])
def test_CI_08_quotation_marks_that_are_none_hide_no_attributes(name: str) -> None:
    attributes = " ".join([f"a{number}" for number in range(2000)])

    with pytest.raises(TooComplex):
        parsed(f"""<p><{name} href=x"y z="w>" {attributes}>""" + "<p>x" * 2000)


@pytest.mark.parametrize("name", ["a", "b"])
def test_stray_quotation_marks_are_read(name: str) -> None:
    whole = parsed(f"""<p><{name} href=x"y" class="z""> one</{name}>""" * 500)

    assert len(whole.elements(name)) == 500


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ('<script src="a"/><p>text</p>', "text"),
        ("<title/><p>text</p>", "text"),
        ('<div class="a>b"/><p>text</p>', "text"),
        ("<p>a<br/>b</p>", "ab"),
        ("<p><![CDATA[1 < 2 & 3]]></p>", "1 < 2 & 3"),
        ("<p><![CDATA[never ended</p>", "never ended"),
        ("<p a='/'>x</p><textarea/><p>y</p>", "xy"),
    ],
)
def test_XHTML_is_read_as_XML_means_it(written: str, read: str) -> None:
    whole = parsed(f'<html xmlns="http://www.w3.org/1999/xhtml"><body>{written}</body></html>', _XHTML)

    assert whole.kind is Kind.XHTML
    body = whole.document.find("body")
    assert body is not None
    assert body.text.startswith(read)


def test_a_script_within_CDATA_is_what_it_says() -> None:
    whole = parsed('<html><head><script type="a">//<![CDATA[\n1 < 2 && 3\n//]]></script></head></html>', _XHTML)

    assert next(iter(whole.scripts("a"))) == "//\n1 < 2 && 3\n//"


@given(st.text(alphabet="<>/ap\"' ![CDATA]", max_size=60))
def test_writing_XHTML_as_HTML_never_raises_and_leaves_plain_text(text: str) -> None:
    assert isinstance(to_html(text), str)
    assert to_html(text.replace("<", "")) == text.replace("<", "")


@pytest.mark.parametrize(("selector", "is_wrong"), [("", False), (" ", False), (".a, #b > c", False), ("a[", True)])
def test_a_selector_is_checked(selector: str, is_wrong: bool) -> None:  # noqa: FBT001 - a column of the table
    assert (check_selector(selector) is not None) is is_wrong


def digest(markup: str) -> int:
    whole = parse_whole(f"<!doctype html><title>A page</title>{markup}".encode(), "text/html; charset=utf-8")
    assert whole is not None
    return whole.text_digest()


SAID = "<h1>A bridge</h1><p class=a>It was built in <b>spring</b>.</p>"


@pytest.mark.parametrize(
    "other",
    [
        SAID.replace("class=a", "class=b data-token=81fc"),
        f"<input type=hidden value=4711>{SAID}",
        SAID.replace("<h1>", "<h1 id=x>"),
        SAID.replace("<p ", "<!-- made at 10:38 --><p "),
    ],
)
def test_pages_that_differ_in_markup_alone_have_the_same_text(other: str) -> None:
    assert digest(SAID) == digest(other) != 0


def test_what_scripts_and_styles_hold_is_no_text() -> None:
    page = "<style>b {{color: {0}}}</style>{1}<script>let token = '{0}'</script>"

    assert digest(page.format("red", SAID)) == digest(page.format("blue", SAID)) != 0


def test_a_script_that_begins_as_the_text_before_it_is_no_text_either() -> None:
    text = "It was built in spring, and stands on four pillars of red sandstone."
    page = f"<p>{text} And more.</p><script>{text}{{}}</script>"

    assert digest(page.format("red")) == digest(page.format("blue")) != 0


def test_code_is_no_text_of_the_elements_around_it_and_is_kept_apart() -> None:
    whole = parsed("<nav><a>One</a><script>let a</script><style>b {}</style></nav><svg><style>c<b>d</b></style></svg>")

    assert [node.text for node in whole.elements("nav", "svg")] == ["One", ""]
    assert [whole.code_of(node) for node in whole.elements("script", "style")] == ["let a", "b {}", "c"]


@pytest.mark.parametrize(
    "other", [SAID.replace("spring", "autumn"), f"{SAID}<p>And more.</p>", SAID.replace("bridge", "Bridge")]
)
def test_another_text_has_another_digest(other: str) -> None:
    assert digest(SAID) != digest(other)


def test_another_title_is_another_text() -> None:
    pages = [parse_whole(f"<title>{title}</title>{SAID}".encode(), "text/html") for title in ("One", "Two")]

    assert len({page.text_digest() for page in pages if page is not None}) == 2


@given(
    st.lists(
        st.sampled_from(
            ("<p>", "</p>", "<script>", "</script>", "<template>", "</template>", "<svg>", "<style>", "a", " ", "b")
        )
    )
)
def test_the_text_of_any_page_has_a_digest(parts: list[str]) -> None:
    assert 0 <= digest("".join(parts)) < 2**63


_PIECES = st.sampled_from(
    ["<p>a", "<script>b</script>", "<style>c</style>", "<template><p>d<h1>e</template>", "<main>", "<article>",
     "<h1>f</h1>", "<a>g</a>", "<time>h</time>", "<title>i</title>", "<svg><title>j</title></svg>", "<meta name=k>",
     "<iframe>l</iframe>", "<select><selectedcontent>"]
)  # fmt: skip


@given(st.lists(_PIECES, max_size=12))
def test_elements_that_are_listed_ahead_are_those_that_the_parser_finds(pieces: list[str]) -> None:
    whole = parsed("".join(("<p>", *pieces)))

    tags = ("script", "style", "meta", "title", "selectedcontent", "main", "article", "h1", "p", "a", "time", "div")
    assert [list(whole.elements(tag)) for tag in tags] == [whole.document.find_all(tag) for tag in tags]


@pytest.mark.parametrize(
    ("markup", "content_type"),
    [
        (b"<p itemprop=a>", "text/html"),
        (b"<p ITEMPROP=a>", "text/html"),
        ("<p itemprop=a>".encode("utf-16le"), "text/html; charset=utf-16le"),
    ],
)
def test_an_attribute_may_be_there_however_its_name_is_written(markup: bytes, content_type: str) -> None:
    assert parsed(markup, content_type).may_have(b"itemprop")


def test_an_attribute_whose_name_is_nowhere_cannot_be_there() -> None:
    assert not parsed("<p class=a>").may_have(b"itemprop")
