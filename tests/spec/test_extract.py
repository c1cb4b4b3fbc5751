from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.errors import TooComplex
from tocsin.spec.extract import Extract, Form, extract

HTML = "text/html; charset=utf-8"
PAGE = "http://e.org/dir/page.html"
NOINDEX = "<meta name=robots content=noindex>"
NOFOLLOW = "<meta name=Robots content=NOFOLLOW>"
TEXTS = """<title>Secret title</title><meta name=description content='Secret text'><meta name=keywords content=Secret>
    <meta property=og:title content='Secret'><meta name=topper content=2026-01-02>
    <link rel=alternate hreflang=fr title='Secret' href=f><a href=x title=Secret>Secret</a>"""


def extracted(markup: str, form: Form, **options: Any) -> Extract:
    body = f"<!DOCTYPE html>{markup}".encode()
    return extract(body, HTML, form=form, **{"url": PAGE, **options})


def the(markup: str, form: Form, **options: Any) -> dict[str, Any]:
    (record,) = extracted(markup, form, **options).records
    return record


def test_meta_is_what_a_page_says_of_itself() -> None:
    record = the(
        "<html lang=en><head profile=http://p.example/ ><title>T</title><meta name=author scheme=s lang=fr content=A>",
        Form.META,
    )

    assert {key: record[key] for key in ("encoding", "base", "title", "language", "profile", "metas")} == {
        "encoding": "utf-8",
        "base": PAGE,
        "title": "T",
        "language": "en",
        "profile": "http://p.example/",
        "metas": [
            {
                "name": "author",
                "http_equiv": None,
                "property": None,
                "content": "A",
                "charset": None,
                "lang": "fr",
                "scheme": "s",
            }
        ],
    }


def test_meta_is_also_what_the_links_say_of_the_page_as_a_whole() -> None:
    record = the(
        """<link rel=alternate type=application/rss+xml href=feed><link rel=icon href=big sizes=64x64>
        <link rel=icon href=small sizes=32x32><link rel=alternate hreflang=fr href=fr title=F>
        <p><a rel='index up' href=/></a><article id=a><a rel='bookmark tag' href=b>""",
        Form.META,
    )

    assert {key: record[key] for key in ("feed", "icons", "alternates", "translations", "depths")} == {
        "feed": "http://e.org/dir/feed",
        "icons": ["http://e.org/dir/small", "http://e.org/dir/big"],
        "alternates": [
            {"url": "http://e.org/dir/fr", "title": "F", "translation": "fr", "format": None, "medium": None}
        ],
        "translations": {"fr": "http://e.org/dir/fr"},
        "depths": [1],
    }
    assert {key: record[key] for key in ("permalinks", "tags")} == {
        "permalinks": [{"url": "http://e.org/dir/b", "article": "a"}],
        "tags": ["http://e.org/dir/b"],
    }


@pytest.mark.parametrize(
    ("content", "refresh"),
    [
        ("3, url=/x", {"seconds": "3", "href": "/x", "url": "http://e.org/x"}),
        ("5", {"seconds": "5", "href": None, "url": PAGE}),
        ("1;javascript:x", {"seconds": "1", "href": "javascript:x", "url": None}),
        ("soon", None),
    ],
)
def test_LM19_meta_tells_where_a_refresh_leads(content: str, refresh: dict[str, str] | None) -> None:
    assert the(f"<meta http-equiv=refresh content='{content}'>", Form.META)["refresh"] == refresh


def test_headers_count_in_any_case() -> None:
    headers = (("Expires", "Tue, 20 Aug 1996 14:25:27 GMT"), ("CONTENT-LANGUAGE", "de"))

    record = the("<p>", Form.META, headers=headers)

    assert (record["expires"], record["language"]) == ("1996-08-20T14:25:27Z", "de")


def test_links_have_all_that_is_known_of_them() -> None:
    markup = (
        "<a href='x#y' rel='next nofollow foo icon' rev=prev title=T lang=de hreflang=fr type=a/b target=t ping=/p>L"
    )

    assert the(markup, Form.LINKS) == {
        "element": "a",
        "href": "x#y",
        "url": "http://e.org/dir/x#y",
        "anchor": None,
        "links": [{"kind": "hyperlink", "types": ["next"], "up": 0, "feed": False, "alternative": False}],
        "annotations": ["nofollow"],
        "unknown": ["foo"],
        "not_allowed": ["icon"],
        "rev": ["prev"],
        "label": "L",
        "title": "T",
        "lang": "de",
        "hreflang": "fr",
        "type": "a/b",
        "media": None,
        "target": "t",
        "pings": ["http://e.org/p"],
    }


@pytest.mark.parametrize("href", ["#sec", PAGE + "#SEC", "page.html#sec"])
def test_LM02_a_link_into_its_own_page_names_the_place(href: str) -> None:
    assert the(f"<h2 id=sec></h2><a href={href}>", Form.LINKS)["anchor"] == "h2"


@pytest.mark.parametrize("href", ["#no", "x#sec", "#", "page.html"])
def test_LM02_any_other_link_names_none(href: str) -> None:
    assert the(f"<h2 id=sec></h2><a href={href}>", Form.LINKS)["anchor"] is None


def test_LM02_a_place_is_found_where_no_url_is_known() -> None:
    assert the("<h2 id=sec></h2><a href=#sec>", Form.LINKS, url=None)["anchor"] == "h2"


@pytest.mark.parametrize(
    ("url", "base", "markup", "leads_to"),
    [
        (PAGE, None, "", "http://e.org/dir/x"),
        (PAGE, None, "<base href=/b/>", "http://e.org/b/x"),
        (PAGE, "http://u.example/", "<base href=/b/>", "http://u.example/x"),
        (None, None, "", None),
        (None, None, "<base href=http://b.example/>", "http://b.example/x"),
        (None, "http://u.example/", "", "http://u.example/x"),
    ],
)
def test_relative_urls_are_resolved_against_what_is_known(
    url: str | None, base: str | None, markup: str, leads_to: str | None
) -> None:
    record = the(f"{markup}<a href=x>", Form.LINKS, url=url, base=base)

    assert (record["href"], record["url"]) == ("x", leads_to)


def test_LM44_robots_is_what_a_page_asks_and_its_result() -> None:
    record = the("<meta name=ROBOTS content='NOFOLLOW, x'>", Form.ROBOTS, headers=[("X-Robots-Tag", "tocsin: noindex")])

    assert record == {
        "index": False,
        "follow": False,
        "archive": True,
        "terms": ["nofollow", "x", "noindex"],
        "metas": [{"name": "ROBOTS", "content": "NOFOLLOW, x"}],
        "headers": ["tocsin: noindex"],
    }


def test_LM44_our_own_name_is_a_meta_name_too() -> None:
    record = the("<meta name=Tocsin content=noindex><meta name=other content=nofollow>", Form.ROBOTS)

    assert (record["index"], record["follow"], record["metas"]) == (
        False,
        True,
        [{"name": "Tocsin", "content": "noindex"}],
    )


def test_LM44_what_is_no_page_can_ask_by_its_headers() -> None:
    found = extract(b"%PDF-1.4", "application/pdf", form="robots", headers=[("x-robots-tag", "noindex")])

    assert not found.is_page
    assert found.records[0]["index"] is False


@pytest.mark.parametrize("form", [Form.META, Form.LINKS, Form.COPIES])
def test_of_what_is_no_page_nothing_is_extracted(form: Form) -> None:
    found = extract(b"%PDF-1.4", None, form=form)

    assert (found.records, found.is_page, found.problems) == ((), False, ("not HTML: a PDF document",))


def test_MS06_copies_and_dates_of_reference_are_told_apart() -> None:
    records = extracted("<a href=t mset='2014-03-17, c 2014-03-10 memento'>", Form.COPIES).records

    of = {"of": "http://e.org/dir/t", "href": "t"}
    assert records == (
        {**of, "kind": "reference", "url": None, "datetime": "2014-03-17", "rel": None},
        {**of, "kind": "mset", "url": "http://e.org/dir/c", "datetime": "2014-03-10", "rel": "memento"},
    )


def test_a_pages_own_copies_are_copies_of_it() -> None:
    (first, second) = extracted(
        "<link rel=memento href=/m>", Form.COPIES, headers=[("link", "</all>; rel=timemap")]
    ).records

    assert first == {
        "of": PAGE,
        "href": None,
        "kind": "timemap",
        "url": "http://e.org/all",
        "datetime": None,
        "rel": "timemap",
    }
    assert (second["of"], second["url"]) == (PAGE, "http://e.org/m")


def test_copies_that_cannot_be_offered_are_left_out() -> None:
    assert extracted("<a href=t mset=javascript:x><link rel=memento href=data:x>", Form.COPIES).records == ()


@pytest.mark.parametrize("form", [Form.META, Form.LINKS])
def test_LM45_a_page_that_is_not_to_be_indexed_keeps_its_texts(form: Form) -> None:
    found = extracted(NOINDEX + TEXTS, form)

    assert found.no_text
    assert "Secret" not in json.dumps(found.records)
    assert "2026-01-02" in json.dumps(found.records) or form is Form.LINKS
    assert "http://e.org/dir/x" in json.dumps(found.records) or form is Form.META


@pytest.mark.parametrize("form", [Form.META, Form.LINKS])
def test_LM45_not_from_its_owner(form: Form) -> None:
    found = extracted(NOINDEX + TEXTS, form, own=True)

    assert not found.no_text
    assert json.dumps(found.records).count("Secret") >= 3


def test_LM45_a_header_asks_as_well_as_an_element() -> None:
    assert extracted(TEXTS, Form.META, headers=[("X-Robots-Tag", "noindex")]).no_text


def test_LM46_a_page_whose_links_are_not_to_be_followed_shows_none() -> None:
    found = extracted(NOFOLLOW + TEXTS, Form.LINKS)

    assert (found.records, found.no_links, found.no_text) == ((), True, False)
    assert the(NOFOLLOW + TEXTS, Form.META)["alternates"] == []


def test_LM46_but_to_its_owner() -> None:
    found = extracted(NOFOLLOW + TEXTS, Form.LINKS, own=True)

    assert len(found.records) == 2
    assert not found.no_links


def test_LM46_copies_are_shown_since_the_user_asks() -> None:
    assert len(extracted(NOFOLLOW + "<a href=t mset=c>", Form.COPIES).records) == 1


def test_a_page_of_too_many_links_is_read_up_to_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tocsin.spec.extract.MOST_LINKS", 3)

    assert extracted("<a href=x></a>" * 3, Form.LINKS).problems == ()
    assert extracted("<a href=x></a>" * 4, Form.LINKS).problems == ("too many links; only the first 3 are read",)


def test_links_that_a_base_makes_endless_are_read_up_to_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tocsin.spec.extract._MOST_CHARACTERS", 10_000)

    found = extracted(f"<base href='/{'x' * 5000}/'>" + "<a href=y></a>" * 9, Form.LINKS)

    assert (len(found.records), found.problems) == (1, ("too many links; only the first 1 are read",))


def test_an_unknown_form_is_a_callers_bug() -> None:
    with pytest.raises(ValueError, match="pdf"):
        extract(b"<p>", form="pdf")


def test_a_page_that_no_parser_may_be_given_is_refused() -> None:
    with pytest.raises(TooComplex):
        extracted("<html a>" * 20_000, Form.LINKS)


PIECES = [
    "<a href='",
    "x",
    "#y'",
    "' rel='next up index'>",
    "<link rel=icon href=",
    "<base href='//[",
    "<meta name=robots",
]
PIECES += [" content='", "none", "3;url=", " http-equiv=refresh", ">", "\0", "<title>", "<svg>", " ping=", " mset="]


@given(
    st.lists(st.sampled_from(PIECES)).map("".join),
    st.sampled_from(list(Form)),
    st.sampled_from([HTML, "application/xhtml+xml", "text/html; charset=utf-16"]),
    st.sampled_from([None, PAGE]),
)
def test_no_page_raises_and_every_record_is_json(markup: str, form: Form, content_type: str, url: str | None) -> None:
    found = extract(markup.encode(), content_type, form=form, url=url, headers=[("link", markup), ("expires", markup)])

    json.dumps(found.records)
