"""Each shortcut in reading silent pages, against the whole way that it spares: on pages, and on mangled ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from benchmarks.pairs.plan import Pair, pairs
from tests.builders import received
from tests.engine.watching import NEWS, Watched, page
from tocsin.engine.judging.judge import assess_received
from tocsin.engine.judging.signals import SAME
from tocsin.engine.policies import asked_as
from tocsin.errors import TooComplex
from tocsin.spec.html.page import read_page, read_whole_page
from tocsin.spec.html.relevant import find_relevant
from tocsin.spec.html.whole import parse_whole
from tocsin.spec.signals.content import choose_blocks, compare_contents, to_content
from tocsin.spec.signals.reading import ContentSelectors, read_signals

TYPE = "text/html"
PAIRS = list(pairs(7, 24))
HEAD = (
    b'<!doctype html><meta charset=utf-8><meta name=robots content="noarchive"><title>The bridge</title>'
    b'<meta property="article:modified_time" content="2026-02-03"><script>let a = 1;</script>'
)
# What changes how everything after it is read, wherever it stands.
PIECES = (
    *(b"<", b">", b'"', b"'", b"<!--", b"-->", b"<script>", b"</script>", b"<style>", b"</style>", b"<title>"),
    *(b"</title>", b"<template>", b"</template>", b"<svg>", b"</svg>", b"<math>", b"<![CDATA[", b"]]>", b"<frameset>"),
    *(b"<select>", b"<selectedcontent>", b"<plaintext>", b"<textarea>", b"</textarea>", b"<noscript>", b"</noscript>"),
    *(b"<iframe>", b"<xmp>", b"</head>", b"<body>", b"<table>", b"</p>", b"\0", b"\xff", b"<p title='", b'<a b="'),
    *(b'<meta name="page-version" content="2">', b"<meta name=robots content=noindex>", b"<input type=hidden value=1>"),
)

CUTS = st.lists(st.tuples(st.integers(0, 4000), st.integers(0, 30), st.sampled_from((b"", *PIECES))), max_size=5)


def mangle(body: bytes, cuts: Sequence[tuple[int, int, bytes]]) -> bytes:
    """Put something else in the place of a few bytes, again and again."""
    for place, length, piece in cuts:
        place %= len(body) + 1  # noqa: PLW2901 - any number is a place
        body = body[:place] + piece + body[place + length :]
    return body


@given(st.sampled_from([pair.new for pair in PAIRS]), CUTS)
def test_the_meta_elements_of_a_page_parsed_whole_are_those_that_are_read_alone(
    body: bytes, cuts: list[tuple[int, int, bytes]]
) -> None:
    mangled = mangle(HEAD + body[:3000], cuts)
    try:
        whole, reading = parse_whole(mangled, TYPE), read_page(mangled, TYPE)
    except TooComplex:
        return

    metas = whole.exact_metas if whole is not None else None

    if metas is not None:
        assert (metas, ()) == (reading.metas, reading.problems)
        assert whole is not None
        assert (whole.title or None) == read_whole_page(mangled, TYPE).title


TOKEN = b"QZ7"
# Where pages write tokens, and what one may be; a nasty one ends what it stands in.
LEFT_OUT = (
    *(b'<script>let a = "QZ7"</script>', b"<script src='/a.js?QZ7'></script>", b"<style>p{QZ7}</style>", b"<!--QZ7-->"),
    *(b"<link rel=x href=QZ7>", b"<link QZ7>", b"<style QZ7></style>", b"<script>QZ7</script>"),
)
AROUND = (
    *(
        b"<svg>",
        b"</svg>",
        b"<select>",
        b"</select>",
        b"<textarea>",
        b"</textarea>",
        b"<title>x</title>",
        b"<template>",
    ),
    *(b"<p title='a>b'>", b'<p x="', b"<p y='", b'"', b"'", b'="', b"<col>", b"<math>", b"<desc>", b"<table>", b"</"),
    *(b"<!", b"<?", b"<![CDATA[", b"<foreignobject>", b"<iframe>", b"</iframe>", b"<div ", b">", b"-->", b"<!--"),
    *(b"<p>It is read.</p>", b"<h1>A heading</h1>", b"<script>", b"</script>", b"<style>", b"<frameset>", b"<option>"),
)
TOKENS = (
    *(
        b"x",
        b'"',
        b"'",
        b"</script>",
        b"</style>",
        b"-->",
        b"--!>",
        b"<b>text</b>",
        b'a b="',
        b">",
        b"<",
        b"<!--",
        b"-",
    ),
    *(b"<script", b"itemprop=dateModified content=2025-01-01", b"</textarea>more", b"</title>", b"<p>other words</p>"),
    *(b"</svg>", b"</select>", b"type=application/ld+json", b"]]>", b"/", b""),
)


def read_all(body: bytes) -> Any:
    """Read all that counts of a page, without a shortcut."""
    whole = parse_whole(body, TYPE)
    assert whole is not None
    readings = read_signals(whole, (), {}, ContentSelectors(), "https://site.example/")
    return readings.values, readings.content, read_page(body, TYPE).metas


@given(
    st.lists(st.sampled_from(LEFT_OUT) | st.sampled_from(AROUND), min_size=1, max_size=8),
    st.sampled_from(TOKENS),
    st.sampled_from(TOKENS),
)
def test_pages_of_which_the_same_is_relevant_are_read_alike(parts: list[bytes], one: bytes, other: bytes) -> None:
    body = b"<!doctype html><title>T</title><body>" + b"".join(parts) + b"<p>The end of it.</p>"
    bodies = body.replace(TOKEN, one), body.replace(TOKEN, other)

    relevant = [find_relevant(each) for each in bodies]

    if relevant[0] is not None and relevant[0] == relevant[1]:
        assert read_all(bodies[0]) == read_all(bodies[1])


@pytest.mark.parametrize("part", LEFT_OUT)
def test_scripts_styles_comments_and_links_are_not_relevant(part: bytes) -> None:
    body = page() + part

    assert find_relevant(body.replace(TOKEN, b"one")) == find_relevant(body.replace(TOKEN, b"two")) is not None


@pytest.mark.parametrize(
    "part",
    [
        b'<script type="application/ld+json">{"dateModified": "QZ7"}</script>',
        b'<link itemprop="dateModified" content="QZ7">',
        b"<p>QZ7</p>",
        b"<meta name=created content=QZ7>",
        b"<textarea><script>QZ7</script></textarea>",
        b'<p title="<!-- QZ7 -->"',
        b"<svg><style>QZ7</style></svg>",
        b"<plaintext><!-- QZ7 -->",
        b"<script><!-- <script> QZ7 </script>",
    ],
)
def test_what_may_be_read_is_relevant_or_nothing_is_said(part: bytes) -> None:
    one, two = (find_relevant(page() + part.replace(TOKEN, each)) for each in (b"one", b"two"))

    assert one is None or one != two


def rewritten(number: int, *paragraphs: str) -> bytes:
    return page(*paragraphs) + b"<script>let token = %d</script>" % number


def test_a_page_with_another_token_in_a_script_is_recognised_before_it_is_parsed() -> None:
    watched = Watched()
    for number in range(2):  # the second answer shows that a mark is of use
        watched.check(rewritten(number), headers={"etag": f'"{number}"'})

    answer = received(rewritten(3), headers={"etag": '"3"'})
    found = assess_received(watched.task, replace(answer, asked_as=asked_as(watched.policy, None)), watched.policy)

    assert found.directives is None, "it was parsed"
    assert found.readings is not None
    assert found.readings.values == {"header.etag": "3"}


def test_an_edit_of_a_page_with_a_mark_is_told() -> None:
    watched = Watched()
    for number in range(3):
        watched.check(rewritten(number))

    assert watched.check(rewritten(4, NEWS)).report.outcome == "minor"


def test_no_mark_is_looked_for_again_where_markup_differs_that_may_count() -> None:
    watched = Watched()
    results = [watched.check(page() + b"<div class=a%d></div>" % number) for number in range(4)]

    marks = [result.learnt.known.mark if result.learnt.known is not None else None for result in results]

    assert marks[0] == 0
    assert marks[1] not in {0, -1, None}
    assert marks[2:] == [-1, None]


BESIDE = b"<nav><a href=/>Home</a> <a href=/b>QZ7</a></nav>"


@given(pair=st.sampled_from(PAIRS), cuts=CUTS, is_beside=st.booleans())
def test_contents_of_the_same_blocks_compare_as_unchanged(
    *, pair: Pair, cuts: list[tuple[int, int, bytes]], is_beside: bool
) -> None:
    one = mangle(pair.old, cuts)
    # Half of them differ beside the content alone, as far as the parser agrees.
    other = one.replace(b"<p>", b"<nav><a href=/new>News</a></nav><p>", 1) if is_beside else mangle(pair.new, cuts)
    try:
        pages = [parse_whole(body, TYPE) for body in (one, other)]
    except TooComplex:
        return
    blocks = [choose_blocks(whole, "", "") for whole in pages if whole is not None]

    if len(blocks) == 2 and blocks[0].digest() == blocks[1].digest():
        before, latest = (to_content(*each) for each in blocks)
        assert before.text == latest.text
        assert not compare_contents(before.fingerprint, latest).is_change


@pytest.mark.parametrize("part", [b"<h1>Another</h1>", b"<title>Another</title>"])
def test_another_block_that_counts_is_another_content(part: bytes) -> None:
    pages = [parse_whole(body, TYPE) for body in (page(), part + page())]

    assert len({choose_blocks(whole, "", "").digest() for whole in pages if whole is not None}) == 2


def test_where_only_text_beside_the_content_differs_no_content_is_made_and_an_edit_is_told() -> None:
    watched = Watched()
    watched.check(page() + BESIDE)
    answer = received(page() + BESIDE.replace(TOKEN, b"News"))
    found = assess_received(watched.task, replace(answer, asked_as=asked_as(watched.policy, None)), watched.policy)
    outcomes = [watched.check(body).report.outcome for body in (answer.response.body, page(NEWS) + BESIDE)]

    assert found.readings is not None
    assert (found.readings.content, found.change) == (None, SAME)
    assert outcomes == ["unchanged", "minor"]
