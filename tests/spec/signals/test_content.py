from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.spec.signals.pages_of_content import PARAGRAPHS, compared, content, page, whole
from tocsin.errors import TooComplex
from tocsin.spec.html.whole import parse_whole
from tocsin.spec.signals.content import (
    compare_contents,
    content_digest,
    content_of_bytes,
    content_of_entries,
    find_content_problems,
    read_content,
    similarity,
)
from tocsin.spec.signals.fingerprint import MOST_BLOCKS, Beside, Block, Fingerprint, pack, unpack

_PIECES = st.sampled_from(
    [
        "<p>", "</p>", "<div class=ad>", "<div>", "</div>", "<table><tr><td>", "</table>", "<li>", "<h2>Most read</h2>",
        "<aside>", "<main>", "<h1>", "<button>OK</button>", "<input type=email>", "<a href=/>", "</a>", "<x-y>", "<br>",
        "We use cookies.", "12 views", "3 hours ago", "vor 3 Stunden", "By A · 3 May · 4 views", " yesterday", "10 €",
        "\n",
        "終了まで1:02:03",
        "مشاهدة 12", "Hello, you", "a sentence that goes on for a while, as sentences do.", "<svg>",
        "<template>", "<form>", "<footer>", "<header>", "<nav>", "\x00", "\x85", "\u2028", "\ud7ff", "e\u0301",
    ]
)  # fmt: skip
_MARKUP = st.lists(_PIECES, max_size=30).map(lambda pieces: "".join(["<!DOCTYPE html>", *pieces]))


@given(st.binary(max_size=400))
def test_nothing_raises_on_any_bytes(body: bytes) -> None:
    parsed = parse_whole(body, "text/html")
    if parsed is not None:
        read_content(parsed, "", "")
    content_of_bytes(body)
    compare_contents(body, content(page()))
    content_digest(body)
    similarity(body, body)
    unpack(body)


@given(_MARKUP)
def test_a_page_does_not_differ_from_itself(markup: str) -> None:
    read = content(markup)

    change = compare_contents(read.fingerprint, content(markup))

    assert not change.is_change
    assert (change.share, change.places, change.noise) == (0.0, (), ())


@given(_MARKUP, _MARKUP)
def test_contents_that_compare_as_no_change_have_one_digest(before: str, latest: str) -> None:
    one, two = content(before), content(latest)

    change = compare_contents(one.fingerprint, two)

    is_same = content_digest(one.fingerprint) == content_digest(two.fingerprint)
    assert is_same or change.is_change or unpack(one.fingerprint)[0] != unpack(two.fingerprint)[0]
    assert 0 <= change.share <= 1
    assert len(change.excerpt) <= 200
    assert all(0 < place.key < 2**63 for place in change.places)


@given(_MARKUP, _MARKUP)
def test_a_change_is_one_in_both_directions(before: str, latest: str) -> None:
    one, two = content(before), content(latest)

    there, back = compare_contents(one.fingerprint, two), compare_contents(two.fingerprint, one)

    assert (there.is_change, there.added, there.removed) == (back.is_change, back.removed, back.added)


_BLOCKS = st.builds(
    Block,
    st.integers(0, 2**24 - 1),
    st.integers(0, 2**24 - 1),
    st.integers(0, 127),
    st.integers(0, 10**6),
    st.binary(max_size=24),
)
_BESIDES = st.builds(Beside, st.integers(0, 2**16 - 1), st.integers(0, 2**24 - 1), st.integers(0, 255))


@given(st.integers(0, 3), st.lists(_BLOCKS, max_size=20), st.lists(_BESIDES, max_size=20))
def test_a_fingerprint_round_trips(level: int, blocks: list[Block], beside: list[Beside]) -> None:
    read = unpack(pack(level, blocks, beside))

    assert isinstance(read, Fingerprint)
    assert (read.level, read.beside, read.rest) == (level, beside, 0)
    assert [block[:3] for block in read.blocks] == [block[:3] for block in blocks]
    assert [block.sentences for block in read.blocks] == [block.sentences for block in blocks]
    assert all(
        got.letters <= max(given.letters, 1) and given.letters <= 1.05 * got.letters + 1
        for got, given in zip(read.blocks, blocks, strict=True)
        if given.letters < 70_000
    )


@pytest.mark.parametrize("broken", [b"", b"\x01", b"\x07" * 40, bytes(14), b"\x02" * 40])
def test_what_is_no_fingerprint_is_not_compared_and_says_why(broken: bytes) -> None:
    change = compare_contents(broken, content(page()))

    assert not change.is_change
    assert change.noise[0].startswith("the content before cannot be compared: ")


def test_a_fingerprint_that_is_cut_off_is_not_compared() -> None:
    known = content(page()).fingerprint

    found = {compare_contents(known[:length], content(page())).is_change for length in range(len(known))}

    assert found == {False}


def test_a_fingerprint_takes_about_ten_bytes_a_block() -> None:
    known = content(page(PARAGRAPHS * 30)).fingerprint

    assert len(known) < 10 * 92 + 60


def test_of_a_page_of_very_many_blocks_a_change_at_its_end_is_seen() -> None:
    paragraphs = tuple(f"This is paragraph {n} of the page." for n in range(2 * MOST_BLOCKS))

    change = compared(page(paragraphs), page((*paragraphs[:-1], "This is not what it was.")))

    assert change.is_change
    assert len(content(page(paragraphs)).fingerprint) < 10 * MOST_BLOCKS + 200


def test_the_text_is_what_people_read_a_block_a_line() -> None:
    read = content(page(PARAGRAPHS[:2], inner='<p>12 views</p><div class="ad">Tyres!</div>', title="A bridge"))

    assert read.text.split("\n") == ["A bridge | Paper", "A bridge", *PARAGRAPHS[:2]]


def test_only_what_is_looked_at_counts_and_all_of_it() -> None:
    markup = page(inner='<nav id="x"><a href=/1>{}</a><span>{} views</span></nav>')

    elsewhere = compared(markup, markup.replace("council", "board"), "#x")
    figure = compared(markup.format("News", 12), markup.format("News", 13), "#x")

    assert not elsewhere.is_change
    assert figure.is_change


def test_what_is_ignored_does_not_count() -> None:
    markup = page(inner='<p class="x">{}</p><p>And {}</p>')

    ignored = compared(markup.format("one thing", "this"), markup.format("another", "this"), "", ".x")
    other = compared(markup.format("one thing", "this"), markup.format("another", "that"), "", ".x")

    assert not ignored.is_change
    assert other.is_change


def test_what_is_ignored_within_what_is_looked_at_does_not_count() -> None:
    markup = page(inner='<div id="x"><p>One</p><b class="y">{}</b></div>')

    assert not compared(markup.format("two"), markup.format("three"), "#x", ".y").is_change
    assert compared(markup.format("two"), markup.format("three"), "#x").is_change


def test_what_is_looked_at_within_what_is_looked_at_counts_once() -> None:
    read = content(page(inner='<div class="x"><div class="x">One thing</div></div>'), ".x")

    assert read.text == "One thing"


def test_a_selector_that_matches_nothing_is_told() -> None:
    parsed = whole(page())

    problems = find_content_problems(parsed, "#nowhere", "p")

    assert problems == ("look_at = '#nowhere' matches nothing on this page",)
    assert read_content(parsed, "#nowhere", "").text == ""


def test_what_is_muted_does_not_count() -> None:
    before, latest = (content(page(inner=f"<p>Quote of the day: {quote}</p>")) for quote in ("To be", "Or not"))
    change = compare_contents(before.fingerprint, latest)
    muted = {place.key for place in change.places}

    without = compare_contents(before.fingerprint, latest, muted)

    assert change.is_change
    assert not without.is_change
    assert without.noise == ("text: “Quote of the day: Or not”",)
    assert content_digest(before.fingerprint, muted) == content_digest(latest.fingerprint, muted)


def test_a_slide_that_takes_turns_with_a_known_one_is_no_change() -> None:
    one, two, three = (
        content(page(inner=f"<h3>{name}</h3><p>{name} tells us why this old town was the one to choose, of all.</p>"))
        for name in ("Ann Ash", "Bob Birch", "Cyd Cedar")
    )
    before, after = (
        {place.key for place in compare_contents(was.fingerprint, now).places}
        for was, now in ((one, two), (two, three))
    )
    known = before & after

    assert not compare_contents(one.fingerprint, two, known).is_change
    assert not compare_contents(two.fingerprint, three, known).is_change
    assert compare_contents(one.fingerprint, three, known).is_change


def test_a_place_has_the_same_key_on_other_pages_of_a_host() -> None:
    quote = '<div class="quote q-{}"><p>Quote of the day: {}</p></div>'
    others = ("Another page of the paper, with other sentences on it.",)

    here = compared(page(inner=quote.format(1, "To be")), page(inner=quote.format(2, "Or not")))
    there = compared(
        page(others, title="Weather", inner=quote.format(7, "A horse")),
        page(others, title="Weather", inner=quote.format(8, "A kingdom")),
    )

    assert [place.key for place in here.places] == [place.key for place in there.places]


def test_prose_is_no_place_for_noise() -> None:
    change = compared(page(), page((PARAGRAPHS[0].replace("closed", "opened"), *PARAGRAPHS[1:])))

    assert change.is_change
    assert change.places == ()


def test_prose_of_which_only_figures_changed_may_turn_out_to_be_noise() -> None:
    others = tuple(f"{PARAGRAPHS[0]} The {number} day." for number in ("first", "next", "third", "last") * 2)
    change = compared(
        page((*PARAGRAPHS, *others)), page((*PARAGRAPHS[:2], PARAGRAPHS[2].replace("12,500", "12,900"), *others))
    )

    assert change.is_change
    assert len(change.places) == 1


def test_bytes_that_are_no_page_are_one_block() -> None:
    one, two = content_of_bytes(b"%PDF-1.7 one"), content_of_bytes(b"%PDF-1.7 two")

    change = compare_contents(one.fingerprint, two)

    assert one.text == ""
    assert (change.is_change, change.share, change.blocks) == (True, 1.0, 1)
    assert not compare_contents(one.fingerprint, content_of_bytes(b"%PDF-1.7 one")).is_change


def test_each_entry_of_a_feed_is_a_block_whose_order_says_nothing() -> None:
    entries = ["Old bridge closed", "Ferry runs on Sundays too", "12 views"]
    known = content_of_entries(entries).fingerprint

    assert not compare_contents(known, content_of_entries(entries[::-1])).is_change
    assert compare_contents(known, content_of_entries(["13 views", *entries[:2]])).is_change
    assert compare_contents(known, content_of_entries(["New entry", *entries])).added == 1


def test_similarity_goes_from_nothing_to_all() -> None:
    one = content(page()).fingerprint
    two = content(page(PARAGRAPHS[:2])).fingerprint
    other = content(page(("Nothing of this is what the other page says.",), title="Weather")).fingerprint

    assert similarity(one, one) == 1.0
    assert 0.5 < similarity(one, two) < 1.0
    assert similarity(one, other) < 0.2
    assert similarity(b"", b"") == 1.0


@pytest.mark.parametrize(
    "markup",
    ["<div class=comments>{}</div>", "<aside>{}</aside>", "<footer>{}</footer>", "<div class=ad>{}</div>"],
)
def test_where_nothing_else_is_there_what_seems_to_be_beside_the_content_is_it(markup: str) -> None:
    before = markup.format(f"<p>{PARAGRAPHS[0]}</p><p>{PARAGRAPHS[1]}</p>")

    assert compared(before, before.replace("council", "board")).is_change


def test_a_class_does_not_lose_what_holds_the_heading() -> None:
    markup = f"<body class=sidebar><div class='ad popup related'>{page()}</div></body>"

    assert compared(markup, markup.replace("council", "board")).is_change


def test_a_long_text_counts_whatever_its_class_is() -> None:
    long = "".join([f"<p>{n}: {PARAGRAPHS[n % 3]}</p>" for n in range(40)])
    word = f"{' '.join(PARAGRAPHS)} {' '.join(PARAGRAPHS)}"
    markup = f"<h1>Old bridge</h1><p>{word}</p><div class='promo'>{long}</div>"

    assert compared(markup, markup.replace("39: ", "40: ")).is_change


@pytest.mark.parametrize("markup", ["<p>" * 200_000, "<div>" * 200_000, "<table><tr><td>" * 30_000, "<b>x" * 400])
def test_hostile_pages_are_read_or_refused(markup: str) -> None:
    try:
        read = content(markup)
    except TooComplex:
        return
    assert not compare_contents(read.fingerprint, read).is_change
