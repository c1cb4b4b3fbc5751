from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.spec.robots import KNOWN_TERMS, Directives, name_of, read_directives, split_terms


def of_metas(*metas: tuple[str | None, str | None]) -> Directives:
    return read_directives(metas, (), "Tocsin")


def of_headers(*values: str) -> Directives:
    return read_directives((), values, "Tocsin")


def test_LM47_a_page_that_says_nothing_may_be_indexed_and_followed() -> None:
    assert of_metas() == Directives(index=True, follow=True, archive=True, terms=())


@pytest.mark.parametrize(
    ("content", "index", "follow"),
    [
        ("noindex", False, True),
        ("nofollow", True, False),
        ("NoIndex,\tNOFOLLOW", False, False),
        ("none", False, False),
        ("all", True, True),
        ("index, follow", True, True),
        (" , ,", True, True),
        ("", True, True),
        ("noindex nofollow", True, True),
        ("noindexes, not-nofollow", True, True),
        ("max-image-preview:none", True, True),
        ("max-image-preview: none, noindex", False, True),
    ],
)
def test_LM44_to_LM48_terms_stand_between_commas_in_any_case(content: str, *, index: bool, follow: bool) -> None:
    found = of_metas(("ROBOTS", content))

    assert (found.index, found.follow) == (index, follow)


def test_LM49_of_several_elements_the_most_restrictive_wins() -> None:
    found = of_metas(("robots", "index, follow"), ("robots", "noindex"), ("robots", "all"), ("robots", "nofollow"))

    assert (found.index, found.follow) == (False, False)


def test_an_element_named_like_us_speaks_to_us_and_one_named_like_another_does_not() -> None:
    found = of_metas(("tocsin", "nofollow"), ("otherbot", "noindex"), ("description", "noindex"), (None, "noindex"))

    assert (found.index, found.follow) == (True, False)


def test_an_element_without_content_says_nothing() -> None:
    assert of_metas(("robots", None)) == Directives()


def test_the_kelvin_sign_is_no_k() -> None:
    assert read_directives([("boo\u212aer", "noindex")], (), "booker").index


@pytest.mark.parametrize("term", ["noarchive", "NoCache"])
def test_a_page_can_keep_copies_of_itself_from_being_kept(term: str) -> None:
    assert of_metas(("robots", term)) == Directives(archive=False, terms=(term.lower(),))


@pytest.mark.parametrize(
    ("value", "index", "follow"),
    [
        ("noindex", False, True),
        ("noindex, nofollow", False, False),
        ("tocsin: noindex", False, True),
        ("TOCSIN: none", False, False),
        ("tocsin/1.2: noindex", False, True),
        ("*: noindex", False, True),
        ("robots: noindex", False, True),
        ("otherbot: noindex, nofollow", True, True),
        ("nofollow, otherbot: noindex, nofollow", True, False),
        ("otherbot: nofollow, tocsin: noindex", False, True),
        ("tocsin: , noindex", False, True),
        ("tocsin : noindex", False, True),
        (": noindex", True, True),
        ("", True, True),
    ],
)
def test_a_header_may_name_the_robot_that_it_speaks_to(value: str, *, index: bool, follow: bool) -> None:
    found = of_headers(value)

    assert (found.index, found.follow) == (index, follow)


@pytest.mark.parametrize(
    "value",
    [
        "unavailable_after: 25 Jun 2030 15:00:00 GMT, noindex",
        "unavailable_after: Tue, 25-Jun-30 15:00:00 GMT, noindex",
        "unavailable_after: 2030-06-25T15:00:00Z, noindex",
        "max-snippet: 20, noindex",
        "max-video-preview:-1, noindex",
        "Max-Image-Preview: large, noindex",
        "tocsin: max-snippet: 20, noindex",
    ],
)
def test_what_stands_before_the_colon_of_a_valued_term_is_no_robot(value: str) -> None:
    assert not of_headers(value).index


def test_a_valued_term_for_another_robot_is_not_ours() -> None:
    assert of_headers("otherbot: unavailable_after: 25 Jun 2030 15:00:00 GMT, noindex") == Directives()


def test_headers_and_elements_are_read_together_each_header_anew() -> None:
    found = read_directives([("robots", "nofollow")], ["otherbot: nosnippet", "noindex"], "tocsin")

    assert found == Directives(index=False, follow=False, terms=("nofollow", "noindex"))


def test_terms_are_told_once_each_also_unknown_ones() -> None:
    assert of_metas(("robots", "NOODP, noindex"), ("robots", "noindex,noodp")).terms == ("noodp", "noindex")


def test_a_checker_can_tell_known_terms_from_unknown_ones() -> None:
    names = [name_of(term) for term in split_terms("NOINDEX, max-snippet : 3, no-such")]

    assert names == ["noindex", "max-snippet", "no-such"]
    assert "noindex" in KNOWN_TERMS


texts = st.text(st.sampled_from("tocsin:,*/ \tnoindexfw-_\u212a") | st.characters())


@given(st.lists(st.tuples(st.none() | texts, st.none() | texts)), st.lists(texts), texts)
def test_LM49_more_that_is_said_never_allows_more(
    metas: list[tuple[str | None, str | None]], headers: list[str], agent: str
) -> None:
    less = read_directives(metas[1:], headers[1:], agent)
    more = read_directives(metas, headers, agent)

    assert more.index <= less.index
    assert more.follow <= less.follow
    assert more.archive <= less.archive
