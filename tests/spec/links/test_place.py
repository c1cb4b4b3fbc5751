from __future__ import annotations

from tests.spec.links.reading import bases_of, links_of, tree_of
from tocsin.spec.links.links import (
    Alternate,
    default_feed,
    read_alternates,
    read_depths,
    read_links,
    read_permalinks,
    read_tags,
    read_translations,
)


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
