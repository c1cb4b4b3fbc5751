"""Signals of one value: headers, meta elements, feeds and sitemaps, time elements."""

from __future__ import annotations

import pytest

from tests.spec.signals.seeing import read, seen
from tocsin.spec.signals import entity_tag, last_modified
from tocsin.spec.signals.last_modified import META
from tocsin.spec.signals.listed import FEED, SITEMAP
from tocsin.spec.signals.open_graph import UPDATED
from tocsin.spec.signals.signal import Signal
from tocsin.spec.signals.times import MODIFIED


@pytest.mark.parametrize(
    "written", ['"a-1"', 'W/"a-1"', 'w/"a-1"', "a-1", ' "a-1" ', '"a-1-gzip"', '"a-1;br"', 'W/"a-1:zstd"']
)
def test_one_version_has_one_tag_however_it_was_sent(written: str) -> None:
    assert entity_tag.HEADER.read(seen(headers=[("etag", written)])) == "a-1"


@pytest.mark.parametrize("written", ["", '""', 'W/""'])
def test_an_empty_tag_is_none(written: str) -> None:
    assert entity_tag.HEADER.read(seen(headers=[("etag", written)])) is None


def test_an_answer_without_it_has_no_value() -> None:
    assert entity_tag.HEADER.read(seen()) is None


def test_a_long_tag_is_cut() -> None:
    assert entity_tag.HEADER.read(seen(headers=[("etag", f'"{"a" * 100_000}"')])) == "a" * 200


WRITTEN, VALUE = "Wed, 01 May 2024 10:00:00 GMT", "2024-05-01T10:00:00Z"


@pytest.mark.parametrize("attribute", ["name", "http-equiv"])
def test_the_meta_element_is_read_by_either_name(attribute: str) -> None:
    assert read(META, f"<meta {attribute}=Last-Modified content='{WRITTEN}'>") == VALUE


def test_the_header_is_read() -> None:
    assert last_modified.HEADER.read(seen(headers=[("date", "x"), ("last-modified", WRITTEN)])) == VALUE


def test_each_is_read_for_itself() -> None:
    assert last_modified.HEADER.read(seen(f"<meta name=last-modified content='{WRITTEN}'>")) is None
    assert META.read(seen(headers=[("last-modified", WRITTEN)])) is None


def test_the_time_of_a_request_is_no_signal() -> None:
    assert read(META, "<meta name=confluence-request-time content=1714557600000>") is None


@pytest.mark.parametrize("signal", [FEED, SITEMAP])
def test_what_a_list_says_is_read(signal: Signal) -> None:
    listed = {signal.name: "Wed, 01 May 2024 12:00:00 +0200"}

    assert signal.read(seen(listed=listed)) == "2024-05-01T10:00:00Z"
    assert signal.read(seen()) is None


def test_each_list_speaks_for_itself() -> None:
    assert SITEMAP.read(seen(listed={"feed": "2024-05-01"})) is None


@pytest.mark.parametrize("attribute", ["property", "name"])
def test_the_time_is_read_by_property_and_by_name(attribute: str) -> None:
    assert read(UPDATED, f"<meta {attribute}=OG:updated_time content=1714557600>") == "2024-05-01T10:00:00Z"


def test_an_empty_one_is_passed_over() -> None:
    page = "<meta property=og:updated_time content=''><meta property=og:updated_time content=2024-05-01>"

    assert read(UPDATED, page) == "2024-05-01"


def test_a_page_without_it_has_no_value() -> None:
    assert read(UPDATED, "<meta property=og:title content=2024>") is None
    assert read(UPDATED, "<meta property=og:updated_time>") is None


NEW, OLD = "2024-05-01T10:00:00Z", "2020-01-01T00:00:00Z"


@pytest.mark.parametrize(
    "mark",
    [
        "itemprop=dateModified",
        "property=dateModified",
        "property='schema:dateModified'",
        "property='dcterms:modified'",
        "class=updated",
        "class='post-meta dt-updated'",
        "class=lastModified",
        "class=entry-date_updated",
    ],
)
def test_a_marked_time_is_read(mark: str) -> None:
    assert read(MODIFIED, f"<time {mark} datetime={NEW}>today</time>") == NEW


@pytest.mark.parametrize(
    "mark", ["", "class=published", "class=unmodifiable", "class=update-banner", "itemprop=datePublished"]
)
def test_another_time_is_not(mark: str) -> None:
    assert read(MODIFIED, f"<time {mark} datetime={OLD}>long ago</time>") is None


def test_a_named_time_without_the_attribute_says_it_in_its_text() -> None:
    assert read(MODIFIED, "<time property=dateModified>2024-05-01</time>") == "2024-05-01"
    assert read(MODIFIED, "<time class=updated>3 hours ago</time>") is None


def test_the_main_part_goes_before_what_is_beside_it() -> None:
    beside = f"<aside><time itemprop=dateModified datetime={OLD}></time></aside>"

    assert read(MODIFIED, f"{beside}<main><time class=updated datetime={NEW}></time></main>") == NEW


def test_a_comment_goes_after_the_article() -> None:
    comment = f"<article><time class=updated datetime={OLD}></time></article>"

    assert read(MODIFIED, f"<article>{comment}<time class=updated datetime={NEW}></time></article>") == NEW


def test_a_property_goes_before_a_class() -> None:
    page = f"<time class=updated datetime={OLD}></time><time property=dateModified datetime={NEW}></time>"

    assert read(MODIFIED, page) == NEW


def test_published_and_updated_in_one_tells_until_there_is_one_that_says_updated_alone() -> None:
    published = f"<time class='entry-date published updated' datetime={OLD}></time>"

    assert read(MODIFIED, published) == OLD
    assert read(MODIFIED, f"{published}<time class=updated datetime={NEW}></time>") == NEW


def test_of_several_alike_the_first_counts() -> None:
    assert (
        read(MODIFIED, f"<time class=updated datetime={NEW}></time><time class=updated datetime={OLD}></time>") == NEW
    )
