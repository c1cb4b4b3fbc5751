"""Metadata of a page, and dates of HTTP."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.spec.links.reading import tree_of
from tocsin.spec.html.microsyntax import read_refresh
from tocsin.spec.infrastructure.datetimes import read_http_date, to_text
from tocsin.spec.links.metadata import (
    Metadata,
    Metadatum,
    Refresh,
    find_target,
    read_metadata,
    read_whole_refresh,
    split_keywords,
)

NOTHING = Metadatum(None, None, None, None, None, None, None)


def said(markup: str, *headers: tuple[str, str]) -> Metadata:
    return read_metadata(tree_of(markup), headers)


def test_LM16_a_meta_element_is_a_name_and_a_value() -> None:
    (meta,) = said("<meta name=' Author ' content=' A. B. '>").metas

    assert (meta.name, meta.content) == ("Author", " A. B. ")


def test_a_meta_element_may_say_nothing() -> None:
    assert said("<meta>").metas == (NOTHING,)


def test_all_that_a_meta_element_can_declare_is_read() -> None:
    metas = said("<meta charset=utf-8><meta http-equiv=Default-Style content=x><meta property=og:type content=y>").metas

    assert [(each.charset, each.http_equiv, each.property) for each in metas] == [
        ("utf-8", None, None),
        (None, "default-style", None),
        (None, None, "og:type"),
    ]


def test_LM22_lang_is_the_language_of_the_content() -> None:
    metas = said("<html lang=en><meta name=author lang=fr content='A. L. H.'><meta name=author content=B>").metas

    assert [each.language for each in metas] == ["fr", "en"]


def test_LM23_a_scheme_is_kept() -> None:
    (meta,) = said("<meta name=identifier scheme=ISBN content=0-8230-2355-9>").metas

    assert (meta.name, meta.scheme, meta.content) == ("identifier", "ISBN", "0-8230-2355-9")


def test_LM25_only_the_first_profile_counts() -> None:
    assert said("<head profile=' http://a.example/P \n http://b.example/'>").profile == "http://a.example/P"


def test_a_page_may_have_no_profile() -> None:
    assert said("<p profile=x>").profile is None
    assert said("<head profile=' '>").profile is None


def test_LM26_lang_stands_above_the_pragma_and_that_above_the_header() -> None:
    header = ("Content-Language", "de")
    pragma = "<meta http-equiv=Content-Language content='fr '>"

    assert said(f"<html lang=en>{pragma}", header).language == "en"
    assert said(pragma, header).language == "fr"
    assert said("<p>", header).language == "de"
    assert said("<p>").language is None


def test_LM26_a_list_of_languages_tells_none() -> None:
    assert said("<p>", ("content-language", "de, en")).language is None
    assert said("<meta http-equiv=content-language content='de, en'>").language is None


def test_LM26_a_pragma_that_tells_no_language_leaves_it_to_the_header() -> None:
    for content in ("de, en", " "):
        pragma = f"<meta http-equiv=content-language content='{content}'>"
        assert said(pragma, ("content-language", "fr")).language == "fr"


def test_LM26_the_last_pragma_counts_that_tells_a_language() -> None:
    pragmas = [f"<meta http-equiv=content-language content='{content}'>" for content in ("de", "fr CA", "en, it")]

    assert said("".join(pragmas)).language == "fr"


def test_LM26_the_pages_language_is_also_that_of_a_content() -> None:
    assert said("<meta name=author content=A>", ("content-language", "de")).metas[0].language == "de"


def test_LM26_a_root_of_no_language_has_none() -> None:
    assert said("<html lang=''>", ("content-language", "de")).language is None


def test_LM18_keywords_stand_between_commas() -> None:
    assert said("<meta name=KEYWORDS content='sea, old  ships,,sea'><meta name=keywords content=sun>").keywords == (
        "sea",
        "old ships",
        "sun",
    )
    assert split_keywords(" , a b ") == ["a b"]


def test_LM29_the_first_description_counts() -> None:
    assert said("<meta name=description content=' '><meta name=Description content='To\nthe sea'>").description == (
        "To the sea"
    )


def test_LM17_expires_is_a_hint() -> None:
    assert said("<meta http-equiv=Expires content='Tue, 20 Aug 1996 14:25:27 GMT'>").expires == "1996-08-20T14:25:27Z"


def test_LM17_a_real_header_wins() -> None:
    pragma = "<meta http-equiv=expires content='Tue, 20 Aug 1996 14:25:27 GMT'>"

    assert said(pragma, ("expires", "Wed, 21 Aug 1996 00:00:00 GMT")).expires == "1996-08-21T00:00:00Z"
    assert said(pragma, ("expires", "0")).expires is None


def test_LM20_labels_are_kept_as_written() -> None:
    assert said("<meta http-equiv=PICS-Label content=' (PICS-1.1 \"x\"\n  l) '>").labels == (' (PICS-1.1 "x"\n  l) ',)


@pytest.mark.parametrize(
    ("markup", "title"), [("<title> a\n b </title>", "a b"), ("<title> </title>", None), ("", None)]
)
def test_the_title_is_folded(markup: str, title: str | None) -> None:
    assert said(f"{markup}<p>").title == title


PAGE = "https://a.example/dir/page"


@pytest.mark.parametrize(
    ("content", "seconds", "url"),
    [
        ("30", "30", None),
        (" 007 ;\n", "7", None),
        ("30,next", "30", "next"),
        ("30 next", "30", "next"),
        ("30; Url = next", "30", "next"),
        ("30;URL='ne\"xt' and more", "30", 'ne"xt'),
        ('30;url="next', "30", "next"),
        ("30;'next'", "30", "next"),
        ("30;url=", "30", ""),
        ("30;url=''", "30", ""),
        ("30;urn:x", "30", "urn:x"),
        ("30;url next", "30", "url next"),
        ("30; ;next", "30", ";next"),
        ("30.7.8;next", "30", "next"),
        (".9 , url=next", "0", "next"),
        ("30;url=url=next", "30", "url=next"),
    ],
)
def test_LM19_a_refresh_says_when_and_where_to(content: str, seconds: str, url: str | None) -> None:
    assert read_whole_refresh(content) == Refresh(seconds, url)


@pytest.mark.parametrize("content", ["", "soon", "-1", "+1;next", "30s", "30url=next", ";30", "\v30", "url=next;30"])
def test_LM19_what_does_not_begin_with_a_number_is_no_refresh(content: str) -> None:
    assert read_whole_refresh(content) is None


@given(st.text(st.sampled_from("0123456789.,; \t\v'\"=urlURL") | st.characters()))
def test_both_readings_agree_on_the_seconds(content: str) -> None:
    whole = read_whole_refresh(content)

    assert (whole and whole.seconds) == read_refresh(content)


@pytest.mark.parametrize(
    ("url", "target"),
    [
        (None, PAGE),
        ("", "https://b.example/base"),
        ("next", "https://b.example/next"),
        ("?\u00e9", "https://b.example/base?%E9"),
        ("JavaScript:alert(1)", None),
        ("http://[", None),
    ],
)
def test_a_refresh_loads_a_page_and_runs_nothing(url: str | None, target: str | None) -> None:
    assert find_target(Refresh("3", url), PAGE, "https://b.example/base", "windows-1252") == target


@pytest.mark.parametrize(("url", "target"), [(None, None), ("next", None), ("https://c.example", "https://c.example/")])
def test_a_refresh_of_a_page_of_unknown_address_loads_what_it_names_whole(url: str | None, target: str | None) -> None:
    assert find_target(Refresh("3", url), None, None) == target


MOMENT = datetime(1996, 8, 20, 14, 25, 27, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "Tue, 20 Aug 1996 14:25:27 GMT",
        " tue, 20 AUG 1996 14:25:27 gmt\t",
        "Tuesday, 20-Aug-96 14:25:27 GMT",
        "Tue Aug 20 14:25:27 1996",
    ],
)
def test_LM17_each_of_the_three_forms_is_read(text: str) -> None:
    assert read_http_date(text) == MOMENT


def test_a_day_of_one_digit_is_padded_in_the_oldest_form() -> None:
    assert read_http_date("Thu Aug  1 00:00:00 1996") == datetime(1996, 8, 1, tzinfo=UTC)


@pytest.mark.parametrize(("year", "means"), [("70", 1970), ("99", 1999), ("00", 2000), ("69", 2069)])
def test_a_year_of_two_digits_has_its_century(year: str, means: int) -> None:
    moment = read_http_date(f"Sunday, 06-Nov-{year} 08:49:37 GMT")

    assert moment is not None
    assert moment.year == means


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0",
        "-1",
        "1996-08-20",
        "Tue, 20 Aug 1996 14:25:27",
        "Tue, 31 Feb 1996 14:25:27 GMT",
        "Tue, 20 Aug 1996 25:25:27 GMT",
        "Tue, 20 Aug 1996 14:25:61 GMT",
        "Tue, 20 Aug 0000 14:25:27 GMT",
        "Tue, 20 Aug 1996 14:25:27 CET",
    ],
)
def test_nothing_else_is_a_date(text: str) -> None:
    assert read_http_date(text) is None


def test_a_leap_second_is_the_one_before() -> None:
    assert read_http_date("Sat, 31 Dec 2016 23:59:60 GMT") == datetime(2016, 12, 31, 23, 59, 59, tzinfo=UTC)


@given(st.datetimes())
def test_what_is_written_can_be_read(moment: datetime) -> None:
    whole = moment.replace(microsecond=0, tzinfo=UTC)

    assert datetime.fromisoformat(to_text(whole)) == whole


@given(st.text())
def test_no_text_raises(text: str) -> None:
    read_http_date(text)
