"""Each shortcut in reading silent pages, against the whole way that it spares: on pages, and on mangled ones."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from benchmarks.pairs.plan import pairs
from tocsin.errors import TooComplex
from tocsin.spec.html.page import read_page
from tocsin.spec.html.whole import parse_whole

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
