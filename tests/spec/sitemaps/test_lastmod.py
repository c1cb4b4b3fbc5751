"""When a sitemap says that its pages changed last (sitemaps.org protocol 0.9)."""

from __future__ import annotations

import pytest

from tocsin.spec.sitemaps import Location, SitemapReader


def read(body: str, *, pieces: int = 1_000_000) -> list[Location]:
    reader = SitemapReader()
    source = body.encode()
    found = [place for at in range(0, len(source), pieces) for place in reader.feed(source[at : at + pieces])]
    return found + reader.close()


ONE = Location(1, "https://a.example/1", "2026-11-21")


@pytest.mark.parametrize("pieces", [1, 3, 1000])
@pytest.mark.parametrize(
    "entry",
    [
        "<loc>https://a.example/1</loc><lastmod>2026-11-21</lastmod>",
        "<lastmod> 2026-11-21 </lastmod><changefreq>daily</changefreq><loc>https://a.example/1</loc>",
        "<loc>https://a.example/1</loc><lastmod/><lastmod>2026-11-21</lastmod><lastmod>2020-01-01</lastmod>",
    ],
)
def test_a_page_has_the_date_of_its_element_wherever_that_stands(entry: str, pieces: int) -> None:
    assert read(f"<urlset><url>{entry}</url></urlset>", pieces=pieces) == [ONE]


def test_a_date_is_of_its_own_page_only() -> None:
    body = (
        "<urlset><lastmod>2020-01-01</lastmod><url><loc>https://a.example/0</loc></url>"
        "<url><loc>https://a.example/1</loc><lastmod>2026-11-21</lastmod></url>"
        "<url><loc>https://a.example/2</loc><news><lastmod>2020-01-02</lastmod></news></url></urlset>"
    )

    assert [place.lastmod for place in read(body)] == [None, "2026-11-21", None]


def test_an_index_has_dates_too() -> None:
    body = "<sitemapindex><sitemap><loc>https://a.example/1</loc><lastmod>2026-11-21</lastmod></sitemap></sitemapindex>"

    assert read(body) == [ONE]


def test_a_feed_has_none_here() -> None:
    body = "<rss><channel><item><link>https://a.example/1</link><lastmod>2026-11-21</lastmod></item></channel></rss>"

    assert read(body) == [Location(1, "https://a.example/1")]


@pytest.mark.parametrize("rest", ["", "<lastmod>2026", "<lastmod>2026-11-21</lastmod>", "</urlset>", "<&"])
def test_an_address_before_a_break_is_given(rest: str) -> None:
    found = read(f"<urlset><url><loc>https://a.example/1</loc>{rest}")

    assert [place.url for place in found] == ["https://a.example/1"]


def test_several_addresses_of_one_element_are_all_given() -> None:
    found = read("<urlset><url><loc>https://a.example/1</loc><loc>https://a.example/2</loc></url></urlset>")

    assert [place.url[-1] for place in found] == ["1", "2"]
