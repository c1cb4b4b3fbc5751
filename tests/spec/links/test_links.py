from __future__ import annotations

import pytest

from tests.spec.links.reading import PAGE, links_of
from tocsin.spec.links.relations import TEXT, Effect


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
