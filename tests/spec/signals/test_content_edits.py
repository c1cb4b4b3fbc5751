from __future__ import annotations

import pytest

from tests.spec.signals.pages_of_content import ARABIC, FRAMES, GERMAN, JAPANESE, PARAGRAPHS, compared, content, page
from tocsin.spec.signals.content import content_digest

LANGUAGES = {"en": PARAGRAPHS, "de": GERMAN, "ja": JAPANESE, "ar": ARABIC}
EDITS = {
    "a price": ("<p>Adults: 2.50 €</p>", "<p>Adults: 3.50 €</p>"),
    "a bare price": ("<div>$19</div>", "<div>$20</div>"),
    "a price by its class": ('<span class="price">19.90</span> each', '<span class="price">24.90</span> each'),
    "a figure in a table": (
        "<table><tr><td>Basic</td><td>10</td></tr></table>",
        "<table><tr><td>Basic</td><td>12</td></tr></table>",
    ),
    "a time in a table": (
        "<table><tr><td>Bus 12</td><td>9:15</td><td>9:30</td></tr></table>",
        "<table><tr><td>Bus 12</td><td>9:15</td><td>9:35</td></tr></table>",
    ),
    "figures of a table that change places": (
        "<table><tr><td>Adults</td><td>10</td></tr><tr><td>Children</td><td>5</td></tr></table>",
        "<table><tr><td>Adults</td><td>5</td></tr><tr><td>Children</td><td>10</td></tr></table>",
    ),
    "a wrapped cell": (
        "<table><tr><td><p>Basic</p></td><td><div>10</div></td></tr></table>",
        "<table><tr><td><p>Basic</p></td><td><div>12</div></td></tr></table>",
    ),
    "a definition": ("<dl><dt>People</dt><dd>1,234</dd></dl>", "<dl><dt>People</dt><dd>1,235</dd></dl>"),
    "a table's caption": ("<table><caption>Fares</caption></table>", "<table><caption>Prices</caption></table>"),
    "an item": ("<ul><li>One apple</li></ul>", "<ul><li>One apple</li><li>Two pears</li></ul>"),
    "a word of an item": ("<ul><li>One apple</li></ul>", "<ul><li>Two apples</li></ul>"),
    "a linked item": (
        '<ul><li><a href="/1">Rules for 2025</a></li></ul>',
        '<ul><li><a href="/1">Rules for 2025</a></li><li><a href="/2">Rules for all</a></li></ul>',
    ),
    "a heading": ("<h2>Rules</h2>", "<h2>New rules</h2>"),
    "a caption": (
        "<figure><img src=a><figcaption>The bridge in 1999</figcaption></figure>",
        "<figure><img src=a><figcaption>The bridge in 2001</figcaption></figure>",
    ),
    "a quotation": ("<blockquote>To be or not.</blockquote>", "<blockquote>To be or maybe not.</blockquote>"),
    "whose quotation it is": (
        "<blockquote>To be.<footer>Hamlet, third act</footer></blockquote>",
        "<blockquote>To be.<footer>Macbeth, first act</footer></blockquote>",
    ),
    "code": ("<pre>x = 1\ny = 2</pre>", "<pre>x = 1\ny = 3</pre>"),
    "opening hours": ("<p>Open: Mon-Fri 9:00-17:00</p>", "<p>Open: Mon-Fri 9:00-18:00</p>"),
    "a deadline": ("<p>Deadline: 12 March 2027</p>", "<p>Deadline: 14 March 2027</p>"),
    "a version": ("<p>Version 2.3.1</p>", "<p>Version 2.3.2</p>"),
    "a note in an aside": (
        '<aside class="note"><p>The ferry does not run on Sundays.</p></aside>',
        '<aside class="note"><p>The ferry does not run on Mondays.</p></aside>',
    ),
    "what can be unfolded": (
        "<details><summary>When?</summary><p>On Sunday at noon.</p></details>",
        "<details><summary>When?</summary><p>On Monday at noon.</p></details>",
    ),
    "a short word": ("", "<p>Updated.</p>"),
    "text without an element": ("All of it is <b>true</b>.", "None of it is <b>true</b>."),
    "a negative figure": ("<p>Temperature: 5 degrees</p>", "<p>Temperature: -5 degrees</p>"),
    "where a point stands": ("<p>The share is 1.5 per cent.</p>", "<p>The share is 15 per cent.</p>"),
    "a date of an event": ("<p>Online course: 12 March 2027</p>", "<p>Online course: 19 March 2027</p>"),
}


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_is_a_change_whatever_holds_the_text(edit: str, frame: str) -> None:
    before, latest = EDITS[edit]

    change = compared(page(frame=frame, inner=before), page(frame=frame, inner=latest))

    assert change.is_change
    assert 0 < change.share <= 1


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("language", LANGUAGES)
def test_an_edit_of_prose_is_a_change_in_every_language(language: str, frame: str) -> None:
    first, second, third = LANGUAGES[language]
    before = page((first, second, third), frame=frame)
    edits = {
        "removed": (first, second),
        "added": (first, second, third, first[:-9] + second[-15:]),
        "rewritten": (first, third[:20] + second[-20:], third),
        "a sentence more": (f"{first} {second[:20]}.", second, third),
        "a word": (first, second.replace(second[6:10], "XY"), third),
        "a letter": (first[:-4] + first[-2:], second, third),
        "in another order": (second, first, third),
    }

    found = {name: compared(before, page(edited, frame=frame)).is_change for name, edited in edits.items()}

    assert found == dict.fromkeys(edits, True)


@pytest.mark.parametrize("frame", FRAMES)
def test_another_title_is_a_change(frame: str) -> None:
    change = compared(page(frame=frame), page(frame=frame, title="Old bridge open again"))

    assert change.is_change
    assert change.excerpt.startswith("Old bridge open again")


def test_another_version_has_another_digest() -> None:
    before, latest = content(page()), content(page(PARAGRAPHS[:2]))

    assert content_digest(before.fingerprint) != content_digest(latest.fingerprint)
    assert 0 <= content_digest(before.fingerprint) < 2**63


def test_a_figure_in_a_sentence_is_part_of_it() -> None:
    change = compared(page(), page((*PARAGRAPHS[:2], PARAGRAPHS[2].replace("2.50", "3.50"))))

    assert (change.added, change.removed) == (1, 1)
    assert change.excerpt == PARAGRAPHS[2].replace("2.50", "3.50")


def test_a_paragraph_differs_from_everything() -> None:
    others = tuple(f"Nothing of this is what the page said before, and this is sentence {n}." for n in range(3))

    little = compared(page(PARAGRAPHS * 4), page((*PARAGRAPHS * 4, "A ferry will run from Monday on, at all hours.")))
    all_of_it = compared(page(), page(others, title="Something else"))

    assert 0 < little.share < 0.1
    assert (little.added, little.removed, little.blocks) == (1, 0, 15)
    assert all_of_it.share > 0.9


def test_of_a_long_paragraph_only_the_sentence_that_differs_is_its_share() -> None:
    long = " ".join(PARAGRAPHS)
    before = page((long, "Nothing else has been said."))

    change = compared(before, page((long.replace("Neighbours", "People"), "Nothing else has been said.")))

    assert (change.added, change.removed) == (1, 1)
    assert change.share < 0.5


def test_what_is_longer_than_the_excerpt_is_cut() -> None:
    change = compared(page(), page((*PARAGRAPHS, "a very long text " * 100)))

    assert len(change.excerpt) == 200
    assert change.excerpt.startswith("a very long text a very")


def test_the_same_edit_has_the_same_key_on_pages_that_share_it() -> None:
    notice = "<p>From Monday on all libraries are closed for a week.</p>"
    notice += "".join(f"<div><a href=/{n}>Library number {n} of the town</a></div>" for n in range(30))
    other = ("This is another page of the same paper, on something else.",)

    keys = {
        compared(page(), page(inner=notice)).key,
        compared(page(other, title="Weather"), page(other, title="Weather", inner=notice)).key,
    }

    assert len(keys) == 1
    assert None not in keys
    assert compared(page(), page(inner="<p>From Tuesday on.</p>")).key not in keys


def test_too_many_blocks_have_no_key() -> None:
    change = compared(page(), page((*PARAGRAPHS, *[f"This is new, and it is number {n}." for n in range(101)])))

    assert change.is_change
    assert change.key is None
