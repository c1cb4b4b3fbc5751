from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.spec.links.reading import PAGE, bases_of, tree_of
from tocsin.spec.links.copies import (
    CopyKind,
    HeaderLink,
    PageCopy,
    may_name_copies,
    read_copies,
    read_link_headers,
    read_references,
)

HTML = "text/html; charset=utf-8"
XHTML = "application/xhtml+xml"
MSET, MEMENTO, TIMEMAP = CopyKind


def copies_of(markup: str, *headers: str) -> tuple[PageCopy, ...]:
    return read_copies(f"<!DOCTYPE html>{markup}".encode(), HTML, PAGE, headers)


def urls_of(markup: str, *headers: str) -> list[str]:
    return [copy.url for copy in copies_of(markup, *headers)]


def test_MS05_a_copy_has_a_url_a_date_and_a_type() -> None:
    copies = copies_of("<a href='http://a.example/x#y' mset='2014-01-01, http://c.example/1 2014-03-10 Memento'>x</a>")

    assert copies == (PageCopy("http://a.example/x", "http://c.example/1", "2014-03-10", "memento", MSET),)


def test_MS07_copies_and_targets_are_resolved_against_the_base() -> None:
    assert copies_of("<base href=/b/><a href=t mset=c>") == (
        PageCopy("http://e.org/b/t", "http://e.org/b/c", None, None, MSET),
    )


def test_MS07_xml_base_counts() -> None:
    page = "<html xmlns='http://www.w3.org/1999/xhtml'><p xml:base='/b/'><a href='t' mset='c'/></p></html>"

    assert read_copies(page.encode(), XHTML, PAGE) == (
        PageCopy("http://e.org/b/t", "http://e.org/b/c", None, None, MSET),
    )


@pytest.mark.parametrize("markup", ["<a mset=c>x</a>", "<area href=t mset=c>", "<svg><a href=t mset=c></a></svg>"])
def test_MS01_mset_means_nothing_but_on_an_a_with_an_href(markup: str) -> None:
    assert copies_of(markup) == ()


def test_MS06_a_date_of_reference_is_no_copy() -> None:
    markup = "<a href=t mset='2014-03-17, c 2014-03-10'>"
    tree = tree_of(markup)

    (reference,) = read_references(tree.elements(), bases_of(tree))

    assert reference.value.temporal == ("2014-03-17",)
    assert len(reference.value.copies) == len(copies_of(markup)) == 1


@pytest.mark.parametrize("copy", ["javascript:alert(1)", "ftp://c.example/", "file:///etc/passwd", "data:x"])
def test_only_what_can_be_fetched_is_offered(copy: str) -> None:
    assert urls_of(f"<a href=t mset='{copy}, http://c.example/'>") == ["http://c.example/"]


def test_a_url_with_a_password_is_not_offered() -> None:
    assert urls_of("<a href=t mset=http://u:secret@c.example/>") == []


def test_a_target_is_named_as_it_would_be_watched() -> None:
    (copy,) = copies_of("<a href=HTTP://u:secret@A.example:80/x#y mset=http://c.example/>")

    assert copy.target == "http://a.example/x"


def test_what_cannot_be_watched_has_no_copies() -> None:
    assert (
        copies_of("<a href=mailto:a@e.example mset=http://c.example/><a href='http://[' mset=http://c.example/>") == ()
    )


def test_nothing_is_its_own_copy() -> None:
    assert copies_of("<a href=http://a.example/x#1 mset=http://a.example/x#2>") == ()


def test_a_copy_is_named_once_with_the_date_that_any_naming_has() -> None:
    markup = "<a href=t mset=c></a><a href=t mset='c 2014-01-01'></a><a href=t mset='c 2015-01-01'></a>"

    assert [copy.datetime for copy in copies_of(markup)] == ["2014-01-01"]


def test_a_page_names_its_own_mementos() -> None:
    markup = """<link rel='first memento' href=http://c.example/1 datetime='Tue, 20 Jun 2000 18:02:59 GMT'>
        <a rel=memento href=/2 datetime=yesterday></a><link rel=timemap href=http://c.example/all>"""

    assert copies_of(markup) == (
        PageCopy(PAGE, "http://c.example/1", "2000-06-20T18:02:59Z", "memento", MEMENTO),
        PageCopy(PAGE, "http://e.org/2", None, "memento", MEMENTO),
        PageCopy(PAGE, "http://c.example/all", None, "timemap", TIMEMAP),
    )


@pytest.mark.parametrize("rel", ["premento", "memento-list", "me mento", "T\u0130MEMAP"])
def test_no_other_relation_names_a_copy(rel: str) -> None:
    assert copies_of(f"<link rel='{rel}' href=http://c.example/><!-- memento -->") == ()


def test_link_headers_count_too() -> None:
    header = '</1>; rel="memento"; datetime="Tue, 20 Jun 2000 18:02:59 GMT", <http://c.example/all>; rel=timemap'

    assert copies_of("<p>", header) == (
        PageCopy(PAGE, "http://e.org/1", "2000-06-20T18:02:59Z", "memento", MEMENTO),
        PageCopy(PAGE, "http://c.example/all", None, "timemap", TIMEMAP),
    )


def test_a_header_about_another_page_does_not_count() -> None:
    assert copies_of("<p>", "<http://c.example/>; rel=memento; anchor='/other'") == ()


def test_the_mementos_of_a_copy_are_of_its_original() -> None:
    (copy,) = copies_of("<link rel=original href=http://a.example/x><link rel=memento href=http://c.example/2>")

    assert copy.target == "http://a.example/x"


def test_the_content_of_a_template_names_nothing() -> None:
    assert copies_of("<template><a href=t mset=c></a></template>") == ()


def test_a_page_in_utf16_is_read() -> None:
    page = "<!DOCTYPE html><a href=t mset=/c>".encode("utf-16")

    assert [copy.url for copy in read_copies(page, None, PAGE)] == ["http://e.org/c"]


def test_attribute_names_match_in_any_case() -> None:
    assert urls_of("<A HREF=t MSET=/c>") == ["http://e.org/c"]


def test_a_page_whose_bytes_name_none_is_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("tocsin.spec.links.copies.find_elements")

    assert copies_of("<a href=t>x</a>") == ()


def test_a_page_that_no_parser_may_be_given_names_none() -> None:
    assert copies_of("<html a>" * 20_000 + "<a href=t mset=c>") == ()


def test_no_more_than_a_thousand_are_given() -> None:
    markup = "".join(f"<a href=t{number} mset='a, b, c'></a>" for number in range(500))

    assert len(copies_of(markup)) == 1000
    assert len(copies_of("<p>" + "<a href=t mset=" + ",".join(map(str, range(3000))) + ">")) == 1000


def test_candidates_that_cannot_be_offered_are_not_read_without_end() -> None:
    tree = tree_of("".join(f"<a href=t{number} mset='{'ftp:x,' * 999}'></a>" for number in range(20)))

    assert len(list(read_references(tree.elements(), bases_of(tree)))) == 10


def test_where_guessing_is_forbidden_nothing_is_guessed() -> None:
    page = b"<!DOCTYPE html><a href=t mset=/c>"

    assert len(read_copies(page, None, PAGE)) == 1
    assert read_copies(page, None, PAGE, nosniff=True) == ()


PIECES = [
    "<a href=t mset='",
    "http://c/ 2014-01-01 memento",
    ",",
    "'>",
    "<base href=/b/>",
    "<link rel=memento href=",
    "m>",
]


@given(
    st.lists(st.sampled_from(PIECES)).map("".join),
    st.text('<>;="memento,', max_size=40),
    st.sampled_from([HTML, XHTML]),
)
def test_no_page_and_no_header_raise(markup: str, header: str, content_type: str) -> None:
    for copy in read_copies(markup.encode(), content_type, PAGE, (header,)):
        assert copy.url.startswith(("http:", "https:"))


@given(st.binary())
def test_no_bytes_raise(body: bytes) -> None:
    read_copies(b"mset" + body, None, PAGE)


@pytest.mark.parametrize(
    "sign",
    ["mset=''", "MSET\n = x", "rel=x/mset=", 'rel="x"mset=""', "rel=memento", "rel='TimeMap'", "rel=original timemap"],
)
@pytest.mark.parametrize("encoding", ["ascii", "utf-16-le", "utf-16-be"])
def test_a_page_with_a_sign_of_copies_is_looked_into_in_any_case_and_encoding(sign: str, encoding: str) -> None:
    assert may_name_copies(f"<p>members only</p><a href=/ {sign}>".encode(encoding))


@pytest.mark.parametrize(
    "text",
    ["", "<a href=/>members remember</a>", "<a href=/ rel=original>time map</a>", "\0", "Umsetzung", "formset ="],
)
def test_a_page_without_a_sign_of_copies_is_not_looked_into(text: str) -> None:
    assert not may_name_copies(text.encode())


def test_a_link_has_a_target_and_parameters() -> None:
    assert read_link_headers(['</a b>; rel="next prev"; Title = x ;hreflang=de']) == (
        HeaderLink("/a b", {"rel": "next prev", "title": "x", "hreflang": "de"}),
    )


def test_links_stand_between_commas_and_in_several_headers() -> None:
    links = read_link_headers(["<a>;rel=x,<b>; t=1 , <c,;>", "<d>"])

    assert [link.target for link in links] == ["a", "b", "c,;", "d"]


def test_a_quoted_value_may_hold_anything() -> None:
    (first, second) = read_link_headers(['<a>; title="x, <b>; \\"y\\" \\\\", <c>'])

    assert first.parameters == {"title": 'x, <b>; "y" \\'}
    assert second.target == "c"


def test_of_several_parameters_of_one_name_the_first_counts() -> None:
    assert read_link_headers(["<a>; rel=x; rel=y"])[0].parameters == {"rel": "x"}


def test_a_parameter_may_have_no_value() -> None:
    assert read_link_headers(["<a>; crossorigin; rel=x"])[0].parameters == {"crossorigin": "", "rel": "x"}


def test_bytes_that_are_not_ascii_are_escaped() -> None:
    assert read_link_headers(["</\u00e9>".encode().decode("latin-1")])[0].target == "/%C3%A9"


def test_what_is_malformed_ends_its_header() -> None:
    assert [link.target for link in read_link_headers(["<a>; rel=x nonsense, <b>", "no, <c>", "<d", '<e>; t="f'])] == [
        "a",
        "b",
        "e",
    ]


def test_no_more_than_a_thousand_are_read() -> None:
    assert len(read_link_headers(["<a>," * 3000])) == 1000


def test_the_time_is_linear() -> None:
    for piece in ('<a>; t="\\', "<a>;;;;", "; =", "<a>; x=y ", '<a>;a="b"c', " \t,"):
        read_link_headers([piece * 1_000_000])


@given(st.text('<>;,="\\ ax\t'))
def test_no_header_raises(value: str) -> None:
    read_link_headers([value])
