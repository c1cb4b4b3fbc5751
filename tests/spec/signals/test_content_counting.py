# ruff: noqa: RUF001 - the text is of many scripts
"""What a short line counts is noise in any language; facts are not, nor is anything that stands in a sentence."""

from __future__ import annotations

import pytest

from tests.spec.signals.pages_of_content import compared, content, page
from tocsin.spec.signals.content import content_digest
from tocsin.spec.signals.fleeting import settle, without_tokens

COUNTED = {
    "a word nobody knows": ("Bilda 6879 porfas", "Bilda 6880 porfas"),
    "thousands": ("Bilda 6.879 porfas", "Bilda 12.880 porfas"),
    "two of them": ("44 zorbas 12 mirfas", "51 zorbas 9 mirfas"),
    "views in Spanish": ("Pedro Ruiz Visto 6879 veces", "Pedro Ruiz Visto 7001 veces"),
    "a byline": (
        "Por Pedro Ruiz · Publicado 15 de octubre de 2025 · 6521 miradas nuevas",
        "Por Pedro Ruiz · Publicado 15 de octubre de 2025 · 6601 miradas nuevas",
    ),
    "a label that counts": ("Visitors so far: 10413", "Visitors so far: 10502"),
    "ratings in Chinese": ("4.13分（2096条评价）", "4.15分（2101条评价）"),
    "people in Japanese": ("36人が見ました", "41人が見ました"),
    "Korean": ("기사를 231명이 봄", "기사를 240명이 봄"),
}
TOKENS = {
    "hexadecimal": ("Request 7a4e8c1d4e0ad6bf7a4e8c1d4e0ad6bf", "Request ddfd0ab5174e2cc1dd1d0ab5174e2cc1"),
    "a ray": ("Ray ID: 8c2f5a7b1d3e9f01", "Ray ID: 9a01bc2d3e4f5061"),
    "a universally unique identifier": (
        "Reference 550e8400-e29b-41d4-a716-446655440000",
        "Reference 123e4567-e89b-12d3-a456-426614174000",
    ),
    "base64": ("Session dGhpcyBpcyBhIHRlc3Q0NTY3ODk=", "Session b25lIG1vcmUgb2YgdGhlbSA0NTY3ODk="),
    "few letters": ("Build a1b2c3d4", "Build 9f8e7d6c"),
}
FACTS = {
    "a price": ("12.50", "13.50"),
    "a price in euros": ("€ 12,50", "€ 13,50"),
    "a price in whole dollars": ("From $12 a night", "From $15 a night"),
    "a currency's code": ("USD 12 a night", "USD 15 a night"),
    "a label": ("Deadline: 12 of the month", "Deadline: 19 of the month"),
    "a date": ("Ends 12 March", "Ends 19 March"),
    "a year": ("Founded in 1987", "Founded in 1989"),
    "opening hours": ("Open 9–17", "Open 9–18"),
    "opening hours in full": ("Open 09:00–17:00 daily", "Open 09:00–18:00 daily"),
    "a telephone number": ("Call 030 12345 67 today", "Call 030 12345 68 today"),
    "another telephone number": ("Call +49 30 123456 today", "Call +49 30 123457 today"),
    "a distance": ("A trail of 12 km", "A trail of 14 km"),
    "a share": ("Now 20 % cheaper", "Now 30 % cheaper"),
    "a size": ("A flat of 54 m²", "A flat of 58 m²"),
    "a size in bytes": ("With 16 GB of memory", "With 32 GB of memory"),
    "a version": ("Version 3.2", "Version 3.3"),
    "a version with its letter": ("Release v2 is out", "Release v3 is out"),
    "a number that belongs to a word": ("Meet in room 12", "Meet in room 14"),
    "a quantity in a list": ("<ul><li>2 eggs</ul>", "<ul><li>3 eggs</ul>"),
    "a row": ("<table><tr><td>Seats<td>12</table>", "<table><tr><td>Seats<td>14</table>"),
    "a definition": ("<dl><dt>Seats<dd>12 in all</dl>", "<dl><dt>Seats<dd>14 in all</dl>"),
    "a heading": ("<h2>Five winners and 12 losers</h2>", "<h2>Five winners and 14 losers</h2>"),
    "a headline": (
        "<p><a href=/1>Police find 12 cats at home</a></p>",
        "<p><a href=/1>Police find 14 cats at home</a></p>",
    ),
    "a sentence": ("The bridge has 12 piers.", "The bridge has 14 piers."),
    "a day behind its month": ("Ends March 12 at noon", "Ends March 19 at noon"),
    "a word with its figure": ("Take bus M12 to us", "Take bus M14 to us"),
    "a number in a series": ("第 12 集现在播出", "第 14 集现在播出"),
    "a price in Chinese": ("会员每月30元起", "会员每月35元起"),
}


@pytest.mark.parametrize("form", COUNTED)
def test_figures_beside_words_are_a_counter_in_any_language(form: str) -> None:
    before, latest = COUNTED[form]

    change = compared(page(inner=f"<p>{before}</p>"), page(inner=f"<p>{latest}</p>"))

    assert not change.is_change
    assert change.noise


@pytest.mark.parametrize("form", TOKENS)
def test_the_name_of_a_request_is_noise(form: str) -> None:
    before, latest = (page(inner=f"<p>{text}</p>") for text in TOKENS[form])

    change = compared(before, latest)

    assert not change.is_change
    assert content_digest(content(before).fingerprint) == content_digest(content(latest).fingerprint)


@pytest.mark.parametrize("fact", FACTS)
def test_a_fact_that_changed_is_an_edit_however_short(fact: str) -> None:
    before, latest = (text if text.startswith("<") else f"<p>{text}</p>" for text in FACTS[fact])

    assert compared(page(inner=before), page(inner=latest)).is_change


def test_a_line_that_counts_is_missed_when_it_goes() -> None:
    assert compared(page(inner="<p>Bilda 6879 porfas</p>"), page()).is_change


@pytest.mark.parametrize("word", ["iPhone15Pro", "SAVE20NOW", "DE89370400440532013000", "9h30-12h30", "COVID-19"])
def test_words_that_people_read_are_no_tokens(word: str) -> None:
    assert without_tokens(f"About {word}") == f"About {word}"


def test_a_line_of_many_words_is_left_as_it_is() -> None:
    line = "one two three four five six seven eight nine 10 eleven twelve"

    assert settle(line) == line


@pytest.mark.parametrize(
    "label",
    [
        "Más sobre este tema",
        "延伸阅读",
        "관련 기사",
        "Przeczytaj także",
        "Läs också",
        "Leggi anche",
        "İlgili haberler",
    ],
)
def test_a_line_of_a_label_and_a_link_is_read_also_in_many_languages(label: str) -> None:
    line = "<p>{}: <a href=/{}>{}</a></p>"

    change = compared(
        page(inner=line.format(label, 1, "Cat on roof")), page(inner=line.format(label, 2, "Dog bites man"))
    )

    assert not change.is_change


def test_an_attribute_names_a_box_whose_classes_say_nothing() -> None:
    box = '<div class="css-264kp2" data-component="related-content"><h3>{}</h3></div>'

    change = compared(page(inner=box.format("Cat on roof")), page(inner=box.format("Dog bites man")))

    assert not change.is_change


def test_a_date_in_figures_is_no_price() -> None:
    assert not compared(page(inner="<p>08 .12 .19</p>"), page(inner="<p>11 .12 .19</p>")).is_change
