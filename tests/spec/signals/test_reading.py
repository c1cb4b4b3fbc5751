from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.spec.signals.seeing import URL
from tocsin.errors import TooComplex
from tocsin.spec.html.whole import parse_whole
from tocsin.spec.signals import SIGNALS, SOURCES
from tocsin.spec.signals.content import content_digest
from tocsin.spec.signals.reading import ContentSelectors, read_as, read_other, read_signals
from tocsin.spec.signals.signal import Seen

PAGE = """<!doctype html><html><head>
<meta property="og:updated_time" content="2024-05-01T10:00:00Z">
<meta http-equiv="last-modified" content="Wed, 01 May 2024 10:00:01 GMT">
<script type="application/ld+json">{"@type": "Article", "dateModified": "2024-05-01T10:00:02Z", "version": 7}</script>
</head><body><main itemscope itemtype="https://schema.org/Article">
<meta itemprop="dateModified" content="2024-05-01T10:00:03Z">
<time class="updated" datetime="2024-05-01T10:00:04Z"></time>
<p>A bridge was built.</p></main>"""
HEADERS = [("last-modified", "Wed, 01 May 2024 10:00:05 GMT"), ("etag", '"7"')]
LISTED = {"feed": "2024-05-01T10:00:06Z", "sitemap": "2024-05-01"}
PIECES = st.sampled_from(
    [
        b"<script type=application/ld+json>",
        b"</script>",
        b'{"@type":"Article",',
        b'"dateModified":',
        b'"2024-05-01"',
        b"}",
        b"<time class=updated datetime=",
        b"<meta itemprop=dateModified content=",
        b"<div itemscope itemtype=Article>",
        b"<meta property=og:updated_time content=",
        b"<template>",
        b">",
        b"&#x2B;",
        b"0000-00-00",
        b"\0",
        b"\xff",
    ]
)


def test_every_signal_is_read_in_the_order_in_which_they_are_told() -> None:
    whole = parse_whole(PAGE.encode(), "text/html")
    assert whole is not None

    readings = read_signals(whole, HEADERS, LISTED, ContentSelectors(), URL)

    assert list(readings.values.items()) == [
        ("json-ld.modified", "2024-05-01T10:00:02Z"),
        ("json-ld.version", "7"),
        ("microdata.modified", "2024-05-01T10:00:03Z"),
        ("open-graph.updated", "2024-05-01T10:00:00Z"),
        ("time.modified", "2024-05-01T10:00:04Z"),
        ("meta.last-modified", "2024-05-01T10:00:01Z"),
        ("feed", "2024-05-01T10:00:06Z"),
        ("sitemap", "2024-05-01"),
        ("header.last-modified", "2024-05-01T10:00:05Z"),
        ("header.etag", "7"),
    ]
    assert list(readings.values) == [signal.name for signal in SIGNALS] == list(SOURCES)


def test_what_a_page_does_not_have_is_absent() -> None:
    whole = parse_whole(b"<p>A bridge.", "text/html")
    assert whole is not None

    assert read_signals(whole, (), {}, ContentSelectors(), URL).values == {}


def test_what_is_no_page_has_its_headers_and_lists() -> None:
    assert list(read_other(b"%PDF", "application/pdf", HEADERS, LISTED, ContentSelectors()).values) == [
        "feed",
        "sitemap",
        "header.last-modified",
        "header.etag",
    ]


def test_what_is_no_page_is_compared_by_its_bytes() -> None:
    one, same, other = (
        read_other(body, "application/pdf", (), {}, ContentSelectors()).content
        for body in (b"%PDF 1", b"%PDF 1", b"%PDF 2")
    )

    assert one is not None
    assert one == same != other


def test_the_content_is_read_where_the_user_says() -> None:
    whole = parse_whole(PAGE.encode(), "text/html")
    assert whole is not None

    texts = [
        found.text if (found := read_signals(whole, (), {}, asked, URL).content) is not None else None
        for asked in (
            ContentSelectors(),
            ContentSelectors("p"),
            ContentSelectors("", "p"),
            ContentSelectors("b"),
            ContentSelectors("p["),
        )
    ]

    assert texts == ["A bridge was built.", "A bridge was built.", "", "", None]


def test_a_selector_that_matches_nothing_or_is_none_is_a_problem() -> None:
    whole = parse_whole(b"<p>A bridge.", "text/html")
    assert whole is not None

    assert read_signals(whole, (), {}, ContentSelectors("p", "p"), URL).problems == ()
    assert "matches nothing" in read_signals(whole, (), {}, ContentSelectors("b"), URL).problems[0]
    assert "selector" in read_signals(whole, (), {}, ContentSelectors("p["), URL).problems[0]


def test_what_many_pages_ignore_need_not_be_on_each_of_them() -> None:
    whole = parse_whole(b"<p>A bridge.", "text/html")
    assert whole is not None

    assert read_signals(whole, (), {}, ContentSelectors("", "b", own_ignore=False), URL).problems == ()
    assert "ignore = 'b' matches nothing" in read_signals(whole, (), {}, ContentSelectors("", "b"), URL).problems[0]
    assert "matches nothing" in read_signals(whole, (), {}, ContentSelectors("b", own_ignore=False), URL).problems[0]
    assert "selector" in read_signals(whole, (), {}, ContentSelectors("", "p[", own_ignore=False), URL).problems[0]


def test_a_script_that_is_no_json_is_a_problem() -> None:
    whole = parse_whole(b"<script type=application/ld+json>{'dateModified': 1}</script>", "text/html")
    assert whole is not None

    assert read_signals(whole, (), {}, ContentSelectors(), URL).problems


def test_other_selectors_are_other_readings() -> None:
    asked = [
        ContentSelectors(),
        ContentSelectors("main"),
        ContentSelectors("", "main"),
        ContentSelectors("main", "nav"),
    ]

    assert len({read_as(each) for each in asked}) == len(asked)
    assert read_as(ContentSelectors("main")) == read_as(ContentSelectors("main", ""))


@pytest.mark.parametrize(
    "piece", ["<b itemprop=dateModified>", "<time property=dateModified>", "<time class=updated>", "<b itemscope>"]
)
def test_a_text_within_many_elements_is_not_read_for_each(piece: str) -> None:
    whole = parse_whole((piece * 30_000 + "x" * 2_000_000).encode(), "text/html")

    for signal in SIGNALS:
        signal.read(Seen(whole, (), {}, URL))


@given(st.lists(PIECES | st.binary(max_size=20), max_size=40).map(b"".join), st.text(max_size=40), st.text(max_size=40))
def test_nothing_raises_on_any_bytes(body: bytes, header: str, listed: str) -> None:
    try:
        whole = parse_whole(body, "text/html")
    except TooComplex:
        whole = None
    headers = [("etag", header), ("last-modified", header)]
    asked = ContentSelectors("main", "nav")

    for content_type in ("text/html", "application/json", "text/plain", None):
        read_other(body, content_type, headers, {"feed": listed}, asked)
    readings = None if whole is None else read_signals(whole, headers, {"sitemap": listed}, asked, URL)

    assert readings is None or all(readings.values.values())


STORED = """<!doctype html><title>A bridge</title><nav><a href=/>Home</a></nav><main><h1>A bridge</h1>\
<p>It was built in spring, and
stands on four pillars of red sandstone. Each of them is 12 m high.</p>\
<p>The ferry that took its place for a while was sold in autumn; a museum \
on the
other bank shows “what is left” of it. Nobody knows where its bell is.</p>\
<ul><li>Open 3 days a week<li><a href=x>More</a></ul>
<table><tr><td>Toll<td>2.50 €</table><p>12 people online</p></main>"""


def test_what_was_stored_by_earlier_versions_stays_comparable() -> None:
    whole = parse_whole(STORED.encode(), "text/html; charset=utf-8")
    assert whole is not None

    readings = read_signals(whole, (), {}, ContentSelectors(), URL)

    # Whoever changes one of these changes what is compared with stores of users: `READ_AS` tells that they cannot be.
    assert readings.read_as == "1.3"
    assert readings.text == 2969134811944213249
    assert readings.content is not None
    assert content_digest(readings.content.fingerprint) == 5472389756588042612
    assert readings.content.fingerprint.hex() == (
        "0200070002000800727274b3c3e6398585cc56ab16d98282ef7c84a66330306771422237000001020304050607a5192f"
        "9dc294d32188a6a95000000010b59cb364c294d32ca28e7566b59cb320c931e220"
    )
