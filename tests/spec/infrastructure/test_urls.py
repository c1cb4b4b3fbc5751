"""URLs as HTML and the URL standard read them, and letters that are unsafe to show."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.spec.links.reading import PAGE, XHTML, bases_of, tree_of
from tocsin.spec.html.tree import read_tree
from tocsin.spec.infrastructure.unsafe import safe_line, safe_text
from tocsin.spec.infrastructure.urls import Bases, document_base, is_absolute_url, is_valid_url, resolve, write_iri

DOCUMENT = "https://a.example/dir/page?q#f"


@pytest.mark.parametrize(
    ("reference", "url"),
    [
        ("next", "https://a.example/dir/next"),
        (" ../x\\y ", "https://a.example/x/y"),
        ("//B.example:443/\u00e9", "https://b.example/%C3%A9"),
        ("?\u00e9#\u00e9", "https://a.example/dir/page?%C3%A9#%C3%A9"),
        ("MAILTO:me@a.example", "mailto:me@a.example"),
        ("a\ud800b", "https://a.example/dir/a%EF%BF%BDb"),
        ("http://[", None),
        ("http://a b/", None),
    ],
)
def test_URL19_a_reference_leads_where_browsers_go(reference: str, url: str | None) -> None:
    assert resolve(reference, DOCUMENT) == url


@pytest.mark.parametrize(("reference", "url"), [("http://B.example", "http://b.example/"), ("b", None), ("//b", None)])
def test_without_a_base_only_an_absolute_reference_leads_anywhere(reference: str, url: str | None) -> None:
    assert resolve(reference, None) == url


@pytest.mark.parametrize(
    ("encoding", "query"),
    [
        ("utf-8", "%C3%A9%E2%98%BA%E3%81%82"),
        ("latin1", "%E9%26%239786%3B%26%2312354%3B"),
        ("Shift_JIS", "%26%23233%3B%26%239786%3B%82%A0"),
        ("iso-2022-jp", "%26%23233%3B%26%239786%3B%1B$B$%22%1B(B"),
        ("utf-16", "%C3%A9%E2%98%BA%E3%81%82"),
        ("replacement", "%C3%A9%E2%98%BA%E3%81%82"),
        ("no-such-label", "%C3%A9%E2%98%BA%E3%81%82"),
    ],
)
def test_URL08_and_URL11_the_query_is_written_in_the_documents_encoding(encoding: str, query: str) -> None:
    path = "https://a.example/%C3%A9"

    assert resolve("/\u00e9?\u00e9\u263a\u3042#\u00e9?\u00e9", DOCUMENT, encoding) == f"{path}?{query}#%C3%A9?%C3%A9"


@pytest.mark.parametrize(
    ("encoding", "letter", "octets"),
    [
        ("shift_jis", "\u2460", "%87@"),
        ("shift_jis", "\u301c", "%26%2312316%3B"),
        ("ks_c_5601-1987", "\ub620", "%8Cc"),
        ("gbk", "\u4e00", "%D2%BB"),
        ("big5", "\u4e00", "%A4@"),
        ("euc-jp", "\u3042", "%A4%A2"),
        ("koi8-r", "\u044f", "%D1"),
        ("x-user-defined", "\uf7ff", "%FF"),
        ("iso-8859-8-i", "\u05d0", "%E0"),
        ("gb18030", "\u263a", "%817%A82"),
    ],
)
def test_URL08_letters_are_written_as_the_encoding_standard_reads_them(encoding: str, letter: str, octets: str) -> None:
    assert resolve(f"?{letter}", "https://a.example/", encoding) == f"https://a.example/?{octets}"


@pytest.mark.parametrize(
    ("reference", "url"),
    [
        (" ?\u00e9\n\t'<%x ", "https://a.example/dir/page?%E9%27%3C%x"),
        ("#?\u00e9", "https://a.example/dir/page?q#?%C3%A9"),
        ("\u00e9?a", "https://a.example/dir/%C3%A9?a"),
        ("urn:x?\u00e9", "urn:x?%C3%A9"),
        ("wss://a.example?\u00e9", "wss://a.example/?%C3%A9"),
    ],
)
def test_URL08_only_the_query_of_what_pages_fetch_is(reference: str, url: str) -> None:
    assert resolve(reference, DOCUMENT, "windows-1252") == url


@pytest.mark.parametrize(
    ("hrefs", "base"),
    [
        ([], DOCUMENT),
        ([None, "/b/", "/c/"], "https://a.example/b/"),
        ([""], "https://a.example/dir/page?q"),
        (["http://["], DOCUMENT),
        (["http://[", "/c/"], DOCUMENT),
        (["data:,x"], DOCUMENT),
        (["javascript:1"], DOCUMENT),
        (["?\u00e9"], "https://a.example/dir/page?%E9"),
    ],
)
def test_URL07_the_first_base_with_an_href_sets_the_base(hrefs: list[str | None], base: str) -> None:
    assert document_base(DOCUMENT, hrefs, "windows-1252") == base


@pytest.mark.parametrize(
    ("text", "absolute"),
    [
        ("http://A.example", True),
        ("urn:x:1", True),
        ("dc:title", True),
        ("a/b", False),
        ("//a.example/", False),
        (" http://a.example/", False),
        ("http://a b/", False),
        ("", False),
    ],
)
def test_URL15_an_absolute_url_has_a_scheme_and_leads_somewhere(text: str, *, absolute: bool) -> None:
    assert is_absolute_url(text) is absolute


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a/b;c=d,e?f/g?h#i/j?k",
        "./a:b",
        "/a:b",
        "a%2Fb",
        "//me:pw@a.example:8080/",
        "http://a.example:/",
        "http://[2001:db8::1]:80/",
        "http://[::ffff:192.0.2.1]/",
        "http://[v7.a:b]/",
        "mailto:me@a.example",
        "urn:a:b",
        "file:///a",
        "http://b\u00fccher.example/\u4e00\U00010000\U000efffd#\u00e9",
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "windows-1252"])
def test_URL01_uri_and_iri_references_are_valid_urls(text: str, encoding: str) -> None:
    assert is_valid_url(text, encoding)


@pytest.mark.parametrize(
    "text",
    [
        " a",
        "a b",
        "a|b",
        "a\\b",
        "a[b",
        'a"b',
        "a^b",
        "a%zz",
        "a%2",
        "a#b#c",
        "1a:b",
        ":",
        "a b:c",
        "http://a:b/",
        "http://a@b@c/",
        "http://a%zz/",
        "http://[::1",
        "http://[::1]x/",
        "http://[::1%25eth0]/",
        "http://[1:2]/",
        "http://[]/",
        "http://a[/",
        "//me|@a.example/",
        "\ufffe",
        "\U0001fffe",
        "\U000e0001",
        "a\ue000",
        "#\ue000",
        "a\x7f",
        "a\x80",
        "\ud800",
    ],
)
def test_URL01_other_texts_are_not_valid(text: str) -> None:
    assert not is_valid_url(text)


@pytest.mark.parametrize(
    ("encoding", "valid"), [("UTF8", True), ("utf-16", True), ("utf-16be", True), ("latin1", False), ("gb18030", False)]
)
@pytest.mark.parametrize("query", ["\u00e9", "\ue000"])
def test_URL01_letters_beyond_ascii_in_a_query_need_unicode(encoding: str, query: str, *, valid: bool) -> None:
    assert is_valid_url(f"/?{query}", encoding) is valid


texts = st.text(st.sampled_from("htp:/?#[]@%2\\. \t\n\u00e9\u263a\ud800\ufffe") | st.characters(exclude_categories=()))


@given(texts, st.none() | st.just(DOCUMENT) | texts, st.sampled_from(["utf-8", "latin1", "iso-2022-jp", "big5", "x"]))
def test_no_text_raises_and_what_is_resolved_stays(text: str, base: str | None, encoding: str) -> None:
    url = resolve(text, base, encoding)

    assert url is None or resolve(url, base) == url
    is_valid_url(text, encoding)


@pytest.mark.parametrize(
    "piece",
    ["a", ":", "/", "../", "%", "%41", "@", "?", "#", "[", "\u00e9", "?\u00e9", ".\u00e9", "\u00e9.", "//", "a:"],
)
@pytest.mark.parametrize("start", ["", "//", "http://"])
def test_a_text_of_any_length_takes_time_in_proportion(start: str, piece: str) -> None:
    text = start + piece * 20_000

    assert not is_valid_url(text + " ")
    resolve(text, DOCUMENT, "shift_jis")


@pytest.mark.parametrize(
    ("url", "iri"),
    [
        ("http://e/a b|c", "http://e/a%20b%7Cc"),
        ("http://e/é\u0085", "http://e/é%C2%85"),
        ("http://e/\ud800", "http://e/%EF%BF%BD"),
    ],
)
def test_an_iri_escapes_what_no_iri_can_hold_as_utf_8(url: str, iri: str) -> None:
    assert write_iri(url) == iri


def base_of(markup: str, address: str | None = PAGE) -> str | None:
    return bases_of(tree_of(markup), address).document


def test_LM11_without_a_base_element_it_is_the_pages_url() -> None:
    assert base_of("<p>x") == PAGE


def test_LM10_the_base_element_gives_it() -> None:
    assert base_of("<base href=http://www.example.com/intro.html>") == "http://www.example.com/intro.html"


def test_URL07_the_first_with_an_href_counts_and_is_resolved() -> None:
    assert base_of("<base target=x><base href='/c/'><base href='/d/'>") == "http://e.org/c/"


@pytest.mark.parametrize("href", ["http://a%zz/", "data:x", "javascript:x", ""])
def test_URL07_one_that_leads_nowhere_leaves_the_pages_url(href: str) -> None:
    assert base_of(f"<base href='{href}'><base href=/d/>") == PAGE


@pytest.mark.parametrize("markup", ["<body><base href=/c/>", "<head></head><body><p><base href=/c/>"])
def test_URL07_a_base_outside_the_head_does_not_count(markup: str) -> None:
    assert base_of(markup) == PAGE


def test_a_page_of_unknown_url_has_the_base_that_it_names() -> None:
    assert base_of("<base href=http://a.example/x/>", None) == "http://a.example/x/"
    assert base_of("<base href=/x/>", None) is None
    assert base_of("<p>x", None) is None


def test_without_a_base_only_what_is_absolute_leads_anywhere() -> None:
    tree = tree_of("<p>")
    bases = bases_of(tree, None)
    assert tree.root is not None

    assert bases.resolve(tree.root, "a") is None
    assert bases.resolve(tree.root, "http://a.example") == "http://a.example/"


def test_URL06_xml_base_counts_from_the_outside_in() -> None:
    tree = tree_of(
        "<head><base href='/top/'/></head><body xml:base='b/'><p xml:base='c/'><a href='x'/></p>"
        "<q xml:base='http://[/'><b xml:base='d/'/></q></body>",
        XHTML,
    )
    bases = bases_of(tree)

    assert {each.tag: bases.of(each) for each in tree.elements("head", "body", "p", "a", "q", "b")} == {
        "head": "http://e.org/top/",
        "body": "http://e.org/top/b/",
        "p": "http://e.org/top/b/c/",
        "a": "http://e.org/top/b/c/",
        "q": "http://e.org/top/b/",
        "b": "http://e.org/top/b/d/",
    }


def test_URL08_a_query_is_written_in_the_pages_encoding() -> None:
    page = "<!DOCTYPE html><meta charset=iso-8859-2><a href='/?\u0161'>".encode("iso-8859-2")
    tree = read_tree(page, None)
    bases = Bases(tree.elements(), PAGE, tree.encoding)
    (link,) = tree.elements("a")

    assert bases.resolve(link, link.attributes["href"]) == "http://e.org/?%B9"


def test_a_base_that_is_too_long_for_a_url_is_none() -> None:
    assert base_of(f"<base href='/{'x' * 9000}/'>") == PAGE
    tree = tree_of(f"<p xml:base='/{'x' * 9000}/'/>", XHTML)
    (element,) = tree.elements("p")

    assert bases_of(tree).of(element) == PAGE


def test_a_reference_that_nobody_could_follow_is_not_resolved() -> None:
    tree = tree_of("<p>")
    assert tree.root is not None

    assert bases_of(tree).resolve(tree.root, "x" * 70_000) is None


UNSAFE = [
    *["\x00", "\x07", "\x0b", "\x1b", "\x7f", "\x85", "\x9b"],
    *["\u061c", "\u200e", "\u200f", "\u2028", "\u2029", "\u202a", "\u202e", "\u2066", "\u2069"],
    *["\ufeff", "\ufff9", "\ufffe", "\uffff", "\ud800", "\udfff"],
]


@pytest.mark.parametrize("letter", UNSAFE)
def test_what_moves_turns_or_is_no_letter_is_not_shown(letter: str) -> None:
    assert safe_line(f"a{letter}b") == safe_text(f"a{letter}b") == "a\ufffdb"


@pytest.mark.parametrize("letter", ["\t", "\n", "\r"])
def test_a_text_has_lines_and_a_line_has_none(letter: str) -> None:
    assert safe_text(f"a{letter}b") == f"a{letter}b"
    assert safe_line(f"a{letter}b") == "a\ufffdb"


@pytest.mark.parametrize(
    "text", ["\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "\U0001f468\u200d\U0001f469", "\u05d0", "\u65e5\u672c"]
)
def test_letters_of_all_languages_and_what_joins_them_stay(text: str) -> None:
    assert safe_line(text) == safe_text(text) == text


@given(st.text())
def test_as_many_letters_are_shown_as_there_were_and_all_can_be_encoded(text: str) -> None:
    assert len(safe_line(text).encode().decode()) == len(text)
    assert safe_text(safe_line(text)) == safe_line(text)
