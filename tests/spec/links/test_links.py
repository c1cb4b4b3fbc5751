"""Links of a page and their relations."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.spec.links.reading import PAGE, bases_of, links_of, tree_of
from tocsin.spec.links.links import (
    ANY,
    Alternate,
    Anchors,
    Icon,
    Size,
    default_feed,
    rank_icons,
    read_alternates,
    read_depths,
    read_links,
    read_permalinks,
    read_sizes,
    read_tags,
    read_translations,
)
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


def test_LM01_a_link_has_a_target_and_a_label() -> None:
    (link,) = links_of("<a href=' x.html '> the <b>label</b>\n</a>")

    assert (link.element.tag, link.href, link.url, link.label) == (
        "a",
        "x.html",
        "http://e.org/dir/x.html",
        "the label",
    )


def test_LK03_without_an_href_there_is_no_link() -> None:
    assert links_of("<a rel=next>x</a><a name=y>z</a><area rel=next><link rel=next>") == []


def test_links_are_in_tree_order() -> None:
    links = links_of("<link rel=next href=1><map><area href=2></map><p><a href=3></a><link rel=prev href=4>")

    assert [(link.element.tag, link.href) for link in links] == [
        ("link", "1"),
        ("area", "2"),
        ("a", "3"),
        ("link", "4"),
    ]


def test_LK01_a_link_element_without_a_relation_is_no_link() -> None:
    assert links_of("<link href=x><link href=x rel=' '>") == []


def test_LK08_a_link_that_leads_nowhere_is_told_as_written() -> None:
    (link,) = links_of("<a href='http://a b/'>x</a>")

    assert (link.href, link.url) == ("http://a b/", None)


def test_LK04_white_space_within_an_href_stays_as_it_was_written() -> None:
    (link,) = links_of("<a href=' a  b\tc\n'>x</a>")

    assert (link.href, link.url) == ("a  b\tc", "http://e.org/dir/a%20%20bc")


def test_LM06_a_link_may_lead_into_a_page() -> None:
    assert [link.url for link in links_of("<a href='#s'></a><a href='../x#Y'></a>")] == [
        f"{PAGE}#s",
        "http://e.org/x#Y",
    ]


def test_an_areas_label_is_its_alt() -> None:
    assert [link.label for link in links_of("<map><area href=x alt=' the  sea '><area href=y></map>")] == [
        "the sea",
        "",
    ]


def test_LM09_a_title_is_kept() -> None:
    assert [link.title for link in links_of("<a href=x title=' Ski\nConditions '></a><a href=x title=''></a>")] == [
        "Ski Conditions",
        None,
    ]


def test_LM08_a_reversed_relation_is_stated_of_the_target() -> None:
    (link,) = links_of("<link rev=Contents rel=Chapter href=chap2.html>")

    assert list(link.triples(PAGE)) == [
        (PAGE, "chapter", "http://e.org/dir/chap2.html"),
        ("http://e.org/dir/chap2.html", "index", PAGE),
    ]


def test_LM08_a_link_that_leads_nowhere_states_nothing() -> None:
    (link,) = links_of("<a rel=next href='http://a b/'>")

    assert list(link.triples(PAGE)) == []


def test_LK20_rev_made_is_a_link_to_the_author() -> None:
    (link,) = links_of("<link rev=made href=mailto:a@e.example>")

    assert (link.types, link.reverse, link.url) == (("author",), (), "mailto:a@e.example")


def test_LM27_the_language_of_a_link_element_is_its_titles_and_targets() -> None:
    (link,) = links_of("<html lang=en><link rel=alternate lang=de title='Leben' href=x>")

    assert (link.language, link.hreflang) == ("de", "de")


def test_LM14_hreflang_stands_above_lang() -> None:
    (link,) = links_of("<link rel=alternate lang=en hreflang=fr title='In French' href=x>")

    assert (link.language, link.hreflang) == ("en", "fr")


def test_LM14_lang_on_an_anchor_tells_nothing_of_its_target() -> None:
    (link,) = links_of("<a lang=de href=x>")

    assert (link.language, link.hreflang) == ("de", None)


def test_LM26_the_pages_default_language_counts_where_no_lang_does() -> None:
    links = links_of("<a href=1></a><p lang=fr><a href=2></a><p lang=''><a href=3>", language="de")

    assert [link.language for link in links] == ["de", "fr", None]


def test_LM13_what_a_target_is_said_to_be_is_kept() -> None:
    (link,) = links_of("<link rel=stylesheet media=print type=text/css href=p.css>")

    assert (link.media, link.media_type, link.target) == ("print", "text/css", None)
    assert [made.kind for made in link.links] == [Effect.RESOURCE]


def test_LK09_pings_are_resolved_one_by_one() -> None:
    (link,) = links_of("<a href=x ping='/p http://[bad\thttps://t.example/'>x</a>")

    assert link.pings == ("http://e.org/p", "https://t.example/")


def test_LK44_both_the_text_and_what_lives_are_known() -> None:
    markup = "<link rel=canonical href=x><a rel='up sidebar' href=y>"

    assert [link.types for link in links_of(markup)] == [("canonical",), ("up", "sidebar")]
    assert [link.types for link in links_of(markup, TEXT)] == [(), ("up", "sidebar")]


@pytest.mark.parametrize("element", ["svg", "math"])
def test_only_links_of_html_count(element: str) -> None:
    assert links_of(f"<{element}><a href=x>y</a></{element}>") == []


def test_nested_links_of_a_large_page_take_linear_time() -> None:
    markup = "<a href=x><object>" * 200 + "<b></b>" * 50_000

    assert len(links_of(markup)) == 200


def found(markup: str, fragment: str) -> str | None:
    element = Anchors(tree_of(markup)).find(fragment)
    return None if element is None else element.get("class")


@pytest.mark.parametrize(
    ("markup", "fragment"), [("<a name=s3.2 class=x>", "s3.2"), ("<h2 id=sec3.2 class=x>", "sec3.2")]
)
def test_LM02_a_fragment_leads_to_an_id_or_the_name_of_an_a(markup: str, fragment: str) -> None:
    assert found(markup, fragment) == "x"


def test_LM02_only_an_a_has_a_name() -> None:
    assert found("<p name=s class=x>", "s") is None


def test_LM02_an_a_may_be_both_ends() -> None:
    assert found("<a name=j93 href=http://e.example/ class=x>", "j93") == "x"


def test_LM03_the_case_counts_only_where_it_must() -> None:
    markup = "<b id=sec class=lower></b><b id=SEC class=upper></b>"

    assert [found(markup, each) for each in ("sec", "SEC", "Sec")] == ["lower", "upper", "lower"]


def test_LM03_letters_are_not_normalised() -> None:
    assert found("<b id=\u00e9 class=x>", "e\u0301") is None
    assert found("<b id=\u00c9 class=x>", "\u00e9") == "x"


def test_LM04_of_duplicates_the_first_counts() -> None:
    assert found("<b id=s class=1></b><b id=s class=2></b><a name=s class=3></a>", "s") == "1"


def test_an_id_stands_above_a_name() -> None:
    assert found("<a name=s class=1></a><b id=s class=2></b>", "s") == "2"


def test_a_fragment_may_be_escaped() -> None:
    assert found("<b id='\u00e9 x' class=y>", "%C3%A9%20x") == "y"
    assert found("<b id=%41 class=y>", "%41") == "y"


def test_an_empty_fragment_leads_to_nothing() -> None:
    assert found("<b id='' class=x>", "") is None


def ranked(*icons: Icon, wanted: int = 32) -> str:
    return "".join(icon.url for icon in rank_icons(icons, wanted))


def test_LK25_sizes_are_read_in_order() -> None:
    assert read_sizes("64x32\tany 1X2") == [Size(64, 32), ANY, Size(1, 2)]


@pytest.mark.parametrize("bad", ["064x64", "64x064", "64x", "x64", "64", "1x2x3", "0x0", "-1x1", "\u0661x1", "big"])
def test_LK25_what_represents_nothing_is_left_out(bad: str) -> None:
    assert read_sizes(f"16x16 {bad} any") == [Size(16, 16), ANY]


def test_a_number_of_any_length_is_harmless() -> None:
    assert read_sizes("9" * 10_000 + "x1") == []


@given(st.text())
def test_no_sizes_raise(sizes: str) -> None:
    read_sizes(sizes)


def test_LK24_of_equal_icons_the_last_comes_first() -> None:
    assert ranked(Icon("a"), Icon("b"), Icon("c")) == "cba"


def test_LK24_the_nearest_size_that_need_not_grow_comes_first() -> None:
    icons = (
        Icon("a", sizes="16x16 24x24"),
        Icon("b", sizes="512x512"),
        Icon("c", sizes="48x48"),
        Icon("d", sizes="any"),
    )

    assert ranked(*icons) == "cbda"
    assert ranked(*icons, wanted=16) == "acbd"


def test_LK24_an_unknown_size_comes_after_a_fitting_one_and_before_a_small_one() -> None:
    assert ranked(Icon("a"), Icon("b", sizes="16x16"), Icon("c", sizes="any"), Icon("d", sizes="?")) == "cabd"


def test_LK24_an_icon_for_another_medium_or_of_no_image_comes_late() -> None:
    icons = (Icon("a", media_type="text/plain", sizes="32x32"), Icon("b", media="print", sizes="32x32"), Icon("c"))

    assert ranked(*icons, Icon("d", media_type="image/png", media="Screen")) == "dcba"


def alternates_of(markup: str) -> list[Alternate]:
    tree = tree_of(markup)
    return read_alternates(tree, list(read_links(tree, bases_of(tree))))


def test_LK16_the_default_feed_is_the_first_in_tree_order() -> None:
    markup = """<a rel=alternate type=text/html href=no></a>
        <a rel="tag alternate" type=application/rss+xml href=yes></a>
        <link rel=alternate type=application/atom+xml href=late>"""

    assert default_feed(links_of(markup)) == "http://e.org/dir/yes"


def test_LK16_a_page_may_have_no_feed() -> None:
    assert default_feed(links_of("<link rel=feed type=application/rss+xml href=x>")) is None


def test_LK39_each_paragraph_tells_its_own_depth() -> None:
    markup = "<p><a rel='index up up up' href=/></a><a rel='up' href=a></a><p><b><a rel='index up' href=/></a></b>"

    assert read_depths(links_of(markup)) == [3, 1]


def test_LK39_outside_of_paragraphs_it_is_the_documents() -> None:
    markup = "<link rel='up index' href=/><p><a rel='index up up' href=/></a></p><div><a rel='toc up up up' href=/></a>"

    assert read_depths(links_of(markup)) == [3, 2]


def test_LK39_of_two_that_contradict_each_other_the_larger_counts() -> None:
    assert read_depths(links_of("<p><a rel='index up up' href=/></a><a rel='index up' href=/></a>")) == [2]


def test_LK38_up_or_index_alone_tells_no_depth() -> None:
    assert read_depths(links_of("<p><a rel='up up' href=/></a><a rel=index href=/></a>")) == []


def test_LK21_a_permalink_is_its_nearest_articles() -> None:
    markup = """<a rel=bookmark href=1></a><article id=x><p><a rel=bookmark href=2></a>
        <article id=y><b><a rel=bookmark href=3></a></b></article><a rel=bookmark href=4></a></article>"""

    permalinks = read_permalinks(links_of(markup))

    assert [(each.url, each.article.get("id") if each.article else None) for each in permalinks] == [
        ("http://e.org/dir/1", None),
        ("http://e.org/dir/2", "x"),
        ("http://e.org/dir/3", "y"),
        ("http://e.org/dir/4", "x"),
    ]


def test_LK21_a_link_element_has_no_permalink() -> None:
    assert read_permalinks(links_of("<link rel=bookmark href=x>")) == []


def test_LK17_language_type_and_medium_tell_how_a_version_differs() -> None:
    (found,) = alternates_of(
        "<html lang=en><link rel=alternate hreflang=fr type=application/pdf media=print title=T href=f>"
    )

    assert found == Alternate("http://e.org/dir/f", "T", "fr", "application/pdf", "print")


def test_LK17_the_language_of_the_page_is_no_translation() -> None:
    (found,) = alternates_of("<html lang=en-GB><link rel=alternate hreflang=EN-gb href=f>")

    assert found.translation is None


def test_LK17_feeds_and_style_sheets_are_no_other_versions() -> None:
    assert not alternates_of(
        "<link rel=alternate type=application/atom+xml href=f><link rel='alternate stylesheet' href=s>"
        "<link rel=alternate href='http://a b/'>"
    )


def test_LM28_translations_are_found_by_language() -> None:
    markup = "<html lang=en><link rel=alternate lang=fr href=1><link rel=alternate lang=DE href=2>"
    markup += "<link rel=alternate hreflang=FR href=3><link rel=alternate href=4 type=text/plain>"

    assert read_translations(alternates_of(markup)) == {"fr": "http://e.org/dir/1", "de": "http://e.org/dir/2"}


def test_LK36_the_tags_of_a_page_are_gathered() -> None:
    markup = (
        "<a rel=tag href=/t/b></a><link rel='TAG' href=/t/a><a rel=tag href=/t/b></a><a rel=tag href='http://a b/'>"
    )

    assert read_tags(links_of(markup)) == ["http://e.org/t/b", "http://e.org/t/a"]


def test_deep_pages_with_many_links_take_linear_time() -> None:
    markup = "<div>" * 500 + "<a rel=bookmark href=x></a>" * 20_000

    assert len(read_permalinks(links_of(markup))) == 20_000


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
