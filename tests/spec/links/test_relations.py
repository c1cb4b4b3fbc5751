from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.spec.links.relations import (
    REGISTRY,
    SYNONYMS,
    TEXT,
    Effect,
    LinkType,
    MadeLink,
    Relations,
    RelProblem,
    Standing,
    check_rel,
    classify,
    split_relations,
)

HYPERLINK, RESOURCE = Effect.HYPERLINK, Effect.RESOURCE
IMPLIED = MadeLink(HYPERLINK, ())
WORDS = st.sampled_from([*REGISTRY, *SYNONYMS, "UP", "Next", "up", "http://e.org/X", "foo", "x:y"])


def hyperlinks(*types: str) -> tuple[MadeLink, ...]:
    return tuple(MadeLink(HYPERLINK, (each,)) for each in types)


@pytest.mark.parametrize("element", ["link", "a", "area"])
@pytest.mark.parametrize("word", [each for each in TEXT if each not in {"up", "alternate"}])
def test_LK01_a_type_makes_what_its_row_says(element: str, word: str) -> None:
    effect = TEXT[word].on(element)

    made = classify(element, word)

    assert [link.kind for link in made.links if link.types == (word,)] == [effect] * (effect in {HYPERLINK, RESOURCE})
    assert made.annotations == ((word,) if effect is Effect.ANNOTATION else ())
    assert made.not_allowed == ((word,) if effect is None else ())


def test_LK01_each_keyword_makes_a_link_in_order() -> None:
    assert classify("link", "tag license").links == hyperlinks("tag", "license")


@pytest.mark.parametrize("rel", [None, "", "nofollow", "foo", "stylesheet"])
def test_LK02_an_anchor_without_a_hyperlink_of_its_own_makes_an_implied_one(rel: str | None) -> None:
    assert classify("a", rel).links == (IMPLIED,)
    assert classify("area", rel).links == (IMPLIED,)


def test_LK02_an_external_resource_does_not_replace_the_implied_hyperlink() -> None:
    assert classify("a", "prefetch").links == (MadeLink(RESOURCE, ("prefetch",)), IMPLIED)


@pytest.mark.parametrize("rel", [None, "", "foo", "nofollow"])
def test_a_link_element_makes_no_implied_hyperlink(rel: str | None) -> None:
    assert classify("link", rel).links == ()


def test_LM07_keywords_stand_between_any_white_space_in_any_case() -> None:
    assert split_relations(" Index\tCOPYRIGHT\n") == ["index", "copyright"]


def test_LK12_a_keyword_with_a_colon_keeps_its_case() -> None:
    assert classify("a", "http://e.org/Rel FOO").unknown == ("http://e.org/Rel", "foo")


def test_LK12_only_ascii_letters_fold() -> None:
    assert classify("a", "nofollow lin\u212a").unknown == ("lin\u212a",)


@pytest.mark.parametrize(("synonym", "keyword"), SYNONYMS.items())
def test_LK14_a_synonym_is_read_as_its_keyword(synonym: str, keyword: str) -> None:
    assert classify("link", synonym) == classify("link", keyword)


def test_a_repeated_keyword_makes_one_link() -> None:
    assert classify("a", "tag TAG toc index").links == hyperlinks("tag", "index")


def test_LK15_alternate_makes_a_style_sheet_an_alternative_one() -> None:
    made = classify("link", "alternate stylesheet")

    assert made.links == (MadeLink(RESOURCE, ("stylesheet",), alternative=True),)
    assert classify("link", "stylesheet").links == (MadeLink(RESOURCE, ("stylesheet",)),)


def test_LK15_an_anchor_has_no_style_sheet() -> None:
    assert classify("a", "alternate stylesheet") == Relations(hyperlinks("alternate"), (), (), ("stylesheet",))


@pytest.mark.parametrize("media_type", ["application/rss+xml", " Application/Atom+XML "])
def test_LK15_alternate_with_a_feeds_type_is_a_feed(media_type: str) -> None:
    assert classify("a", "alternate", media_type=media_type).links == (MadeLink(HYPERLINK, ("alternate",), feed=True),)


@pytest.mark.parametrize(("rel", "media_type"), [("alternate", "text/html"), ("alternate", None)])
def test_LK15_another_alternate_is_no_feed(rel: str, media_type: str | None) -> None:
    assert classify("a", rel, media_type=media_type).links == hyperlinks("alternate")


def test_LK15_only_alternate_makes_a_feed() -> None:
    assert not any(link.feed for link in classify("a", "next alternate", media_type="application/rss+xml").links[:1])


@pytest.mark.parametrize("rel", [None, "author"])
def test_LK20_rev_made_is_an_author(rel: str | None) -> None:
    assert classify("link", rel, "MADE").links == hyperlinks("author")


def test_LK37_repeated_up_is_a_distance() -> None:
    assert classify("a", "up UP").links == (MadeLink(HYPERLINK, ("up",), up=2),)


def test_LK38_up_and_index_make_one_link() -> None:
    made = classify("a", "tag index up up up next")

    assert made.links == (
        *hyperlinks("tag"),
        MadeLink(HYPERLINK, ("index", "up"), up=3),
        *hyperlinks("next"),
    )
    assert classify("a", "index").links == hyperlinks("index")


def test_LK44_what_came_later_is_known_where_it_is_asked_for() -> None:
    assert classify("link", "canonical").unknown == ("canonical",)
    assert classify("link", "canonical", types=REGISTRY).links == hyperlinks("canonical")
    assert classify("a", "memento noopener", types=REGISTRY).annotations == ("noopener",)


def test_LM12_a_relation_of_old_stays_though_the_registry_has_it_for_people() -> None:
    assert classify("link", "parent", types=REGISTRY).unknown == ("parent",)


@given(st.sampled_from(["link", "a", "area"]), st.lists(WORDS).map(" ".join), st.text())
def test_every_keyword_ends_in_one_place(element: str, rel: str, media_type: str) -> None:
    made = classify(element, rel, media_type=media_type, types=REGISTRY)

    ends = [word for link in made.links for word in link.types]
    ends += made.annotations + made.unknown + made.not_allowed
    absorbed = {"alternate"} if element == "link" and "stylesheet" in ends else set()
    assert set(ends) | absorbed == {SYNONYMS.get(word, word) for word in split_relations(rel)} | absorbed
    assert len(ends) == len(set(ends))


def test_LK13_a_keyword_is_not_repeated() -> None:
    assert check_rel("a", "next tag NEXT next") == [RelProblem("duplicate", "next")] * 2


def test_LK13_up_may_be_repeated() -> None:
    assert check_rel("a", "index up up") == []


def test_LK14_a_synonym_is_not_for_documents() -> None:
    assert check_rel("link", "next TOC") == [("synonym", "toc")]


@pytest.mark.parametrize(("element", "rel"), [("link", "nofollow"), ("a", "icon"), ("area", "stylesheet")])
def test_a_type_stands_only_where_it_may(element: str, rel: str) -> None:
    assert check_rel(element, rel) == [("not-allowed", rel)]


def test_LK40_what_is_registered_may_be_used() -> None:
    assert check_rel("a", "memento") == check_rel("link", "canonical") == []


def test_LK40_what_nobody_knows_or_the_registry_has_withdrawn_may_not() -> None:
    assert check_rel("link", "foo subresource") == [("unregistered", "foo"), ("unregistered", "subresource")]


def test_LK40_another_registry_can_be_given() -> None:
    mine = {"foo": LinkType("foo", HYPERLINK, None, Standing.PROPOSED, ("oof",))}

    assert check_rel("link", "foo next", mine) == []
    assert check_rel("a", "foo", mine) == [("not-allowed", "foo")]
    assert check_rel("link", "oof memento", mine) == [("synonym", "oof"), ("unregistered", "memento")]


def test_LK42_a_keyword_with_a_colon_is_an_absolute_url() -> None:
    assert check_rel("a", "http://e.org/rel/x") == []
    assert check_rel("a", "http://[ :x") == [("unregistered", "http://["), ("unregistered", ":x")]


@given(st.sampled_from(["link", "a"]), st.text())
def test_no_rel_raises(element: str, rel: str) -> None:
    classify(element, rel, rel, rel, types=REGISTRY)
    check_rel(element, rel)
