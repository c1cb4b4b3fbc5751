"""Dates of articles as today's blogs write them, which have no `pubdate`."""

from __future__ import annotations

import pytest

from tests.spec.microdata.test_to_atom import SEEN, convert, read

WORDPRESS = """<article class="post hentry"><h2>Rain</h2>
<time class="entry-date published" datetime="2026-06-03T07:30:00+02:00">3 June</time>
<time class="updated" datetime="2026-06-04T10:00:00+02:00">4 June</time><p>At last.</p></article>"""
SCHEMA = """<article itemscope itemtype="http://schema.org/BlogPosting"><h2 itemprop=headline>Rain</h2>
<meta itemprop=datePublished content=2026-06-03><time itemprop=dateModified datetime=2026-06-04T08:00Z>4 June</time>
</article>"""


@pytest.mark.parametrize(
    ("html", "published", "updated"),
    [
        (WORDPRESS, "2026-06-03T05:30:00Z", "2026-06-04T08:00:00Z"),
        (SCHEMA, "2026-06-03T00:00:00Z", "2026-06-04T08:00:00Z"),
        (
            '<article class="h-entry"><time class="dt-published" datetime="2026-06-03">a</time></article>',
            "2026-06-03T00:00:00Z",
            "2026-06-03T00:00:00Z",
        ),
        ("<article><time class=published>2026-06-03</time></article>", "2026-06-03T00:00:00Z", "2026-06-03T00:00:00Z"),
    ],
)
def test_an_article_of_today_has_the_dates_that_it_says(html: str, published: str, updated: str) -> None:
    found = read(html)

    assert (found.of_entries("published"), found.of_entries("updated")) == ([published], [updated])
    assert not any("no date" in problem for problem in found.problems)


@pytest.mark.parametrize("html", [WORDPRESS, SCHEMA])
def test_AT_11_to_the_letter_only_pubdate_dates_an_article(html: str) -> None:
    assert read(html, profile="text").of_entries("published") == [SEEN]


def test_AT_11_pubdate_comes_before_what_else_dates_an_article() -> None:
    found = read(
        "<article><time class=published datetime=2026-06-01>a</time>"
        "<time pubdate datetime=2026-06-03>b</time></article>"
    )

    assert found.of_entries("published") == ["2026-06-03T00:00:00Z"]


def test_AT_09_the_latest_change_counts_however_it_is_said() -> None:
    found = read(f"{WORDPRESS[:-10]}<ins datetime=2026-06-05T00:00Z>More.</ins></article>")

    assert found.of_entries("updated") == ["2026-06-05T00:00:00Z"]


@pytest.mark.parametrize(
    "within",
    [
        "<div itemprop=comment itemscope><time itemprop=datePublished datetime=2026-06-09>a</time></div>",
        '<div class="h-cite"><time class=dt-published datetime=2026-06-09>a</time></div>',
        "<article><time class=published datetime=2026-06-09>a</time></article>",
        "<time datetime=2026-06-09>a</time>",
        "<time class=published datetime=soon>a</time>",
        "<span class=published>2026-06-09</span>",
    ],
)
def test_a_date_of_something_else_dates_no_article(within: str) -> None:
    found = convert(f"<article><h2>Rain</h2>{within}</article>")

    assert f"<published>{SEEN}</published>" in (found.text or "")
    assert any("1 article has no date" in problem for problem in found.problems)


def test_of_several_the_first_that_can_be_read_counts() -> None:
    times = "".join(f"<time class=published datetime={day}>a</time>" for day in ("soon", "2026-06-03", "2026-06-09"))

    assert read(f"<article>{times}</article>").of_entries("published") == ["2026-06-03T00:00:00Z"]
