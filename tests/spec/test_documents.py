"""Paged documents become paragraphs: edits of one are not edits of those below it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tocsin.spec.documents import is_pdf, read_document, to_paragraphs, write_document
from tocsin.spec.html.page import read_whole_page
from tocsin.spec.signals.plain import read_plain

PROSE = "The harbour office gives notice that the eastern pier stays closed to all vessels until the repairs are done."
LONG = f"{PROSE} {PROSE.replace('eastern', 'western')} {PROSE.replace('pier', 'lock')}"


def wrapped(text: str, width: int) -> list[str]:
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + len(word) >= width:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def test_lines_of_a_paragraph_are_joined_also_where_they_break_elsewhere() -> None:
    assert to_paragraphs([wrapped(LONG, 70)]) == to_paragraphs([wrapped(LONG, 90)]) == [LONG]


def test_a_paragraph_goes_on_across_pages_below_running_heads_and_page_numbers() -> None:
    lines = wrapped(LONG, 70)
    pages = [["Harbour Gazette", *lines[number : number + 1], f"Page {number + 1} of 5"] for number in range(5)]

    assert to_paragraphs(pages) == [" ".join(lines[:5])]


def test_headings_entries_and_rows_of_tables_stay_apart() -> None:
    lines = [
        "1. Berths",
        *wrapped(LONG, 70),
        "• The first berth is reserved for pilots and for vessels in distress,",
        "• the second one for all others, in the order in which they were told:",
        "Berth of the first class, by day, with water and electric light  12.50",
        "Berth of the second class, by day, with water and electric light 10.00",
    ]

    found = to_paragraphs([lines])

    assert (found[0], found[1], len(found)) == ("1. Berths", LONG, 6)


def test_a_word_that_is_divided_between_two_lines_is_whole_again() -> None:
    first = "The harbour office gives notice that the eastern pier stays closed to all ves\ufffe"

    assert to_paragraphs([[first, "sels until further notice"]]) == [
        "The harbour office gives notice that the eastern pier stays closed to all vessels until further notice"
    ]


@given(st.text(), st.lists(st.lists(st.text(), max_size=8), max_size=6))
def test_any_text_is_written_and_read_again_as_the_same_paragraphs(title: str, pages: list[list[str]]) -> None:
    body = write_document(title, pages)

    found = read_document(body)

    assert found is not None
    assert not is_pdf(body)
    assert found[0] == " ".join(title.split()).encode(errors="replace").decode()
    assert [line.encode(errors="replace").decode() for line in to_paragraphs(pages) if line] == found[1]


def test_a_document_is_read_by_paragraphs_and_has_its_own_title() -> None:
    body = write_document("Tariff 2027", [["Berths", "Water"]])

    plain = read_plain(body, "application/pdf")

    assert plain is not None
    assert (plain.summary, plain.blocks.texts) == ("read as PDF of 2 paragraphs", ["Berths", "Water"])
    assert read_whole_page(body, "application/pdf").title == "Tariff 2027"
    assert read_whole_page(write_document("", [["x"]]), "application/pdf").title is None


def test_other_bytes_are_no_document() -> None:
    assert [read_document(body) for body in (b"", b"%PDF-1.7", b"text", b"<p>")] == [None] * 4
