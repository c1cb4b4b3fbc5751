from __future__ import annotations

import pytest

from tocsin.spec.html.blocks import CELL, HEADING, ITEM, LINKED, OUTSIDE, read_blocks, read_blocks_of
from tocsin.spec.html.whole import parse_whole
from tocsin.spec.html.zones import KNOWN_NAMES, Zone, name_zone, to_heading


def read(markup: str, *, landmarks: bool = True, names: bool = True) -> list[tuple[str, int]]:
    whole = parse_whole(f"<!DOCTYPE html><body>{markup}".encode(), "text/html; charset=utf-8")
    assert whole is not None
    blocks = read_blocks(whole, landmarks=landmarks, names=names)
    return [(" ".join(text.split()), mark) for text, mark in zip(blocks.texts, blocks.marks, strict=True)]


@pytest.mark.parametrize(
    ("markup", "blocks"),
    [
        ("<p>One</p><p>two <b>and</b> three</p>", [("One", 0), ("two and three", 0)]),
        ("<div>One<p>two</p>three</div>", [("One", 0), ("two", 0), ("three", 0)]),
        ("<h2>One</h2><pre>a\nb</pre>", [("One", HEADING), ("a b", 0)]),
        ("<ul><li>One<li>two <ul><li>three</ul></ul>", [("One", ITEM), ("two", ITEM), ("three", ITEM)]),
        ("<table><tr><td>One<td>two</table>", [("One two", CELL | ITEM)]),
        ("<table><caption>One</caption></table>", [("One", CELL | ITEM)]),
        ("<table><tr><td>One<br>two<td>three</table>", [("One two three", CELL | ITEM)]),
        ("<table><tr><td><h2>One</h2><p>two</table>", [("One", HEADING), ("two", 0)]),
        ("<dl><dt>One<dd>two</dl>", [("One", CELL | ITEM), ("two", CELL | ITEM)]),
        ("<p>One<br>two</p>", [("One two", 0)]),
        ("<a href=/><div>One</div></a>", [("One", LINKED)]),
        ("<p><a href=/>One</a> x</p>", [("One x", LINKED)]),
        ("<p><a href=/>One</a> two three</p>", [("One two three", 0)]),
        ("<x-card><p>One</p></x-card>", [("One", 0)]),
        ("<p>One<script>two</script><style>x</style><noscript>y</noscript></p>", [("One", 0)]),
        ("<svg><title>One</title></svg><select><option>two</select><textarea>x</textarea>three", [("three", 0)]),
        ("<template><p>One</p></template><p>two</p>", [("two", 0)]),
        ("  \n <p> </p><div>\n</div>", []),
    ],
)
def test_text_is_divided_as_its_markup_says(markup: str, blocks: list[tuple[str, int]]) -> None:
    assert read(markup) == blocks


@pytest.mark.parametrize(
    "markup",
    [
        "<nav><a href=/>One</a></nav>",
        "<aside><p>One</p></aside>",
        "<footer>One</footer>",
        "<header>One</header>",
        "<div role=search>One</div>",
        "<div role=banner>One</div>",
        "<div hidden>One</div>",
        '<div style="display:none">One</div>',
        "<div aria-hidden=true>One</div>",
        "<div class='cookie-banner'>One</div>",
        "<div class='c-page__sidebar'>One</div>",
        "<div class=relatedPosts>One</div>",
        "<div id=newsletter-signup>One</div>",
        "<ul class=main-menu><li><a href=/>One</a></ul>",
        "<li class=sponsored>One</li>",
        "<div class=view-count>1</div>",
        "<section aria-label=Werbung>One</section>",
        "<div data-ad-slot=7>One</div>",
        "<section><h2>Related articles</h2><p>One</p></section>",
        "<section><div><h2>Most read</h2></div><p>One</p></section>",
        "<section><b>Sponsored</b><p>One</p></section>",
        "<div><p>We use cookies.</p><div><button>OK</button></div></div>",
        "<div><p>Our letter, each week</p><input type=email></div>",
        "<p>Read also: <a href=/>One</a></p>",
    ],
)
def test_what_is_beside_the_content_is_told_apart(markup: str) -> None:
    found = read(f"<div><p>Text.</p></div>{markup}")

    assert found[0] == ("Text.", 0)
    assert {mark for _, mark in found[1:]} == {OUTSIDE}


@pytest.mark.parametrize(
    "markup",
    [
        "<article><header><p>One</p></header></article>",
        "<header><h1>One</h1></header>",
        "<blockquote><footer>One</footer></blockquote>",
        "<aside class=callout-warning>One</aside>",
        "<aside role=note>One</aside>",
        "<div hidden=until-found>One</div>",
        "<ul class=menu><li>Soup, 5 euros</ul>",
        "<div class='has-sidebar'>One</div>",
        "<div class='layout--with-sidebar'>One</div>",
        "<div class='elementor-widget'>One</div>",
        "<div class='promo price'>One</div>",
        "<div class=sidebar><h1>One</h1></div>",
        "<div class='views-row'>A row of a list that is called so, and is no counter of anything at all.</div>",
        "<p>Related to this, we found: nothing.</p>",
    ],
)
def test_what_only_seems_to_be_beside_the_content_counts(markup: str) -> None:
    assert OUTSIDE not in {mark for _, mark in read(markup)}


PROSE = (
    "We tell our partners which pages you have read, and for how long; they keep that for a year, and no longer.",
    "You can ask us at any time what we know of you, and we answer within a month, in the language of your letter.",
    "Where the law of your country gives you more rights than these terms do, the law holds, and not the terms.",
)
SENTENCES = "".join([f"<p>{sentence}</p>" for sentence in PROSE])


@pytest.mark.parametrize(
    "markup",
    [
        *(f'<div class="{name}">{SENTENCES}</div>' for name in ("col-4 sidebar", "cta", "related", "lightbox-1")),
        *(
            f"<div {attribute}>{SENTENCES}</div>"
            for attribute in ("hidden", 'style="display:none"', "aria-hidden=true")
        ),
        f"<section><h2>Newsletter</h2>{SENTENCES * 3}</section>",
        f"<ol><li><u>ADVERTISING.</u><li>{'<li>'.join(PROSE)}</ol>",
        f"<h2>Comments</h2><ol><li>{'<li>'.join(PROSE)}</ol>",
        "".join([f'<div class="LinkOverlay teaser">{sentence}</div>' for sentence in PROSE]) + "<p>All of it.</p>",
        f"<main><h1>Cookies</h1></main><div>{SENTENCES}</div>",
    ],
)
def test_neither_a_name_nor_a_label_nor_a_small_main_element_takes_prose_away(markup: str) -> None:
    assert (PROSE[-1], OUTSIDE) not in (found := read(markup))
    assert PROSE[-1] in {text for text, _ in found}


@pytest.mark.parametrize(
    "markup",
    [
        f'<div class="cookie-settings">{SENTENCES}</div>',
        f'<div class="sidebar">{"".join([f"<p><a href=/>{sentence}</a></p>" for sentence in PROSE])}</div>',
        f"{SENTENCES * 3}<section><h2>Comments</h2>{SENTENCES}</section>",
        '<main><p>Few words.</p></main><div><a href="/">'
        + "Some other page of ours that we like. " * 20
        + "</a></div>",
        "<main><p>Few words.</p></main><nav>" + "Some other page of ours that we like. " * 20 + "</nav>",
    ],
)
def test_consent_links_and_a_box_below_much_more_prose_are_beside_the_content(markup: str) -> None:
    text, mark = read(markup)[-1]

    assert text == "Few words." or mark == OUTSIDE


def test_prose_behind_a_list_of_related_pages_counts() -> None:
    prose = "And this is what the text goes on with, after the box, for a while."

    found = read(f"<div><p>Text.</p><h2>Related</h2><ul><li><a href=/>One</a></ul><p>{prose}</p></div>")

    assert [mark for _, mark in found] == [0, OUTSIDE, OUTSIDE, 0]


def test_counters_and_advertisements_within_a_line_are_left_out() -> None:
    found = read(
        "<p>Text <span class=badge>7</span><a class=btn href=/>Buy</a><a rel=sponsored href=/>ad</a> goes on.</p>"
    )

    assert found == [("Text goes on.", 0)]


def test_of_a_page_with_a_main_element_only_that_and_its_heading_are_read() -> None:
    found = read("<div><h1>Title</h1><p>Slogan</p></div><main><p>Text.</p></main><p>More</p>")

    assert found == [("Title", HEADING), ("Text.", 0)]


def test_zones_can_be_left_alone() -> None:
    markup = "<aside>One</aside><div class=ad>two</div>"

    assert [mark for _, mark in read(markup, landmarks=False, names=False)] == [0, 0]
    assert [mark for _, mark in read(markup, names=False)] == [OUTSIDE, 0]


def test_elements_can_be_chosen_and_left_out() -> None:
    whole = parse_whole(b"<body><aside id=a>One<p class=b>two</p></aside><div id=c>three</div>", "text/html")
    assert whole is not None

    blocks = read_blocks_of(whole.select("#a, #a p, #c"), frozenset(whole.select(".b")))

    assert blocks.texts == ["One", "three"]


def test_where_a_block_stands_has_the_same_number_whatever_figures_its_classes_hold() -> None:
    def path(markup: str) -> int:
        whole = parse_whole(f"<!DOCTYPE html>{markup}".encode(), "text/html")
        assert whole is not None
        return read_blocks(whole).paths[0]

    assert path("<div class='box box-17'><p>x</p></div>") == path("<div class='box box-42'><p>y</p></div>")
    assert path("<div class='box'><p>x</p></div>") != path("<div class='bag'><p>x</p></div>")


def test_names_are_remembered_up_to_a_bound() -> None:
    KNOWN_NAMES.clear()
    for number in range(9000):
        name_zone(f"name-{number}")

    assert len(KNOWN_NAMES) <= 8192
    assert name_zone("ad")[0] is Zone.APART


@pytest.mark.parametrize(
    ("name", "zone"),
    [
        ("u_0_4_AD", None),
        ("u_0_3f_ad", None),
        ("x-5ad2", None),
        ("daf6ad4", None),
        ("l9j0dhe7 ad2k81qe", None),
        ("Teaser-8f9b26c0-4ad7-b717-a79de0bd3942", None),
        ("Page_text__3xAdB", None),
        ("ad-1-2", Zone.APART),
        ("ad300x250", Zone.APART),
        ("sidebar2", Zone.PLACE),
        ("top100Counter", Zone.COUNT),
        ("Page_sidebar__x7a9K", Zone.PLACE),
        ("page__sidebar", Zone.PLACE),
        ("sidebar__title", None),
    ],
)
def test_a_word_in_a_name_that_a_machine_made_up_says_nothing(name: str, zone: Zone | None) -> None:
    assert name_zone(name)[0] is zone


@pytest.mark.parametrize(
    ("name", "zone"),
    [
        ("box d-lg-none", Zone.PLACE),
        ("d-block d-md-none", Zone.PLACE),
        ("d-md-inline-block d-xl-none", Zone.PLACE),
        ("flex lg:hidden", Zone.PLACE),
        ("visible-xs-block", Zone.PLACE),
        ("hidden-md hidden-lg", Zone.PLACE),
        ("show-for-small-only", Zone.PLACE),
        ("d-none d-lg-block", None),
        ("d-md-none d-xl-flex", None),
        ("hidden lg:block", None),
        ("hidden-md", None),
        ("hidden-md-down", None),
        ("price d-lg-none", None),
    ],
)
def test_an_element_that_is_shown_on_small_screens_alone_is_a_place(name: str, zone: Zone | None) -> None:
    assert name_zone(name)[0] is zone


@pytest.mark.parametrize(
    ("text", "heading"),
    [(" Related\n", "related"), ("Comments (12)", "comments"), ("Read also: This", "read also"), ("x" * 61, "")],
)
def test_a_heading_is_looked_up_without_figures_and_up_to_a_colon(text: str, heading: str) -> None:
    assert to_heading(text) == heading
