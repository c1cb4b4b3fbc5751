from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tocsin.spec.links.copies import HeaderLink, read_link_headers


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
