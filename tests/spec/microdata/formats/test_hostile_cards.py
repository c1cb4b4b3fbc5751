"""Any microdata makes files that readers accept: content lines, cards, calendars."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.spec.microdata.cards import (
    ADDRESS,
    KNOWN,
    NOW,
    PRODUCT,
    components_of,
    names,
    pages,
    parts_of,
    read,
    texts,
    to_icalendar,
    to_vcard,
)
from tests.spec.microdata.literal_cards import icalendar, vcard
from tocsin.spec.microdata.formats.content_lines import (
    MOST_LETTERS,
    Budget,
    Sheet,
    clean,
    escape,
    fold_letters,
    fold_octets,
    is_name,
    write_line,
)
from tocsin.spec.microdata.formats.icalendar import write_calendar
from tocsin.spec.microdata.formats.vcard import find_cards, write_cards
from tocsin.spec.microdata.values import HCARD, VEVENT, Item, Microdata, Property, ValueKind
from tocsin.spec.microdata.vocabulary import NAME_PARTS


@given(pages())
def test_every_exported_calendar_is_read_by_icalendar(page: Microdata) -> None:
    written = to_icalendar(page)
    if written is None:
        return

    parts = parts_of(written)

    assert {part.name for part in parts} <= {"VCALENDAR", "VEVENT"}
    assert all(part["DTSTART"] and part["UID"] and part["DTSTAMP"] for part in parts[1:])
    assert [part.errors for part in parts if part.errors] == []
    assert len({str(part["UID"]) for part in parts[1:]}) == len(parts) - 1


@pytest.mark.parametrize("value", ["0", "a\x85b;c=d:e,f", "2009-05-05", "P1D", "1;2;3;4;5;6;7;8", '"', "\\"])
def test_by_whatever_name_that_a_reader_knows_a_text_stands_it_is_read(value: str) -> None:
    for at in range(0, len(KNOWN), 10):
        event = Item(VEVENT, None, (*(text(name, value) for name in KNOWN[at : at + 10]), START))
        written = to_icalendar(page_of(event)) or ""

        assert [part.errors for part in parts_of(written)] == [[], []]
        assert components_of(written)[0].validate(raiseException=True)


@given(pages())
def test_every_exported_calendar_is_read_by_vobject(page: Microdata) -> None:
    written = to_icalendar(page)
    for calendar in components_of(written or ""):
        assert calendar.validate(raiseException=True)
        assert len(calendar.vevent_list) == sum(1 for each in parts_of(written or "")[1:])


@given(pages())
def test_every_exported_card_is_read_by_vobject(page: Microdata) -> None:
    for which in (1, None):
        written = to_vcard(page, which=which)
        assert (written is None) is (find_cards(page) == ())
        for card in components_of(written or ""):
            assert card.name == "VCARD"
            assert card.validate(raiseException=True)
            assert [len(card.contents[name]) for name in ("fn", "n", "version")] == [1, 1, 1]


@given(pages())
def test_the_same_page_gives_the_same_file(page: Microdata) -> None:
    assert to_vcard(page, which=None) == to_vcard(page, which=None)
    assert to_icalendar(page) == to_icalendar(page)


@given(st.lists(texts, max_size=4), st.tuples(texts, texts, texts, texts))
def test_every_text_of_a_card_is_read_as_the_page_has_it(notes: list[str], parts: tuple[str, ...]) -> None:
    name, address = (
        Item(None, None, tuple(text(called, value) for called, value in zip(names, parts, strict=True)))
        for names in (NAME_PARTS[1:], ("street-address", "street-address", "locality", "region"))
    )
    holding = (Property(("n",), ValueKind.ITEM, name), Property(("adr",), ValueKind.ITEM, address))
    card = Item(HCARD, None, (text("fn", "Ann"), *(text("note", note) for note in notes), *holding))

    (found,) = components_of(to_vcard(page_of(card)) or "")

    assert [note.value for note in found.contents.get("note", [])] == list(filter(None, map(shown, notes)))
    first, second, third, fourth = map(shown, parts)
    if any(map(shown, parts)):
        assert (
            vars(found.n.value).items()
            >= {
                "family": "",
                "given": first,
                "additional": second,
                "prefix": third,
                "suffix": fourth,
            }.items()
        )
        street = [first, second] if first and second else first or second
        assert (found.adr.value.street, found.adr.value.city, found.adr.value.region) == (street, third, fourth)


@given(st.lists(texts, max_size=4))
def test_every_text_of_an_event_is_read_as_the_page_has_it(comments: list[str]) -> None:
    event = Item(VEVENT, None, (START, *(text("comment", comment) for comment in comments)))
    written = to_icalendar(page_of(event)) or ""

    found = parts_of(written)[1].get("COMMENT", [])
    (by_another,) = components_of(written)

    expected = list(filter(None, map(shown, comments)))
    assert [str(one) for one in (found if isinstance(found, list) else [found])] == expected
    assert [one.value for one in by_another.vevent.contents.get("comment", [])] == expected


def shown(value: str) -> str:
    """What a reader shows of a text, all line ends as one."""
    return re.sub("[\ud800-\udfff]", "\ufffd", re.sub("\r\n?", "\n", clean(value)))


def text(name: str, value: str) -> Property:
    return Property((name,), ValueKind.TEXT, value)


START = text("dtstart", "2009-05-05")


def page_of(*items: Item) -> Microdata:
    return Microdata("https://site.example/", None, items, items)


def test_C14_agents_without_end_are_cut_where_eight_stand_in_one_another() -> None:
    cards = [Item(HCARD, None, (text("fn", f"Card {at}"),)) for at in range(12)]
    for card, agent in pairwise(cards):
        card.properties += (Property(("agent",), ValueKind.ITEM, agent),)

    written = to_vcard(page_of(*cards), profile="text") or ""

    assert "Card 8" in written.replace("\r\n ", "")
    assert "Card 9" not in written.replace("\r\n ", "")


def test_C14_cards_that_are_all_one_anothers_agents_end_and_are_bounded() -> None:
    cards = [Item(HCARD, None, (text("fn", f"Card {at}"),)) for at in range(40)]
    for card in cards:
        card.properties += tuple(Property(("agent",), ValueKind.ITEM, agent) for agent in cards)

    written, problems = write_cards(page_of(*cards), profile="text")

    assert len(written or "") < 1.2 * MOST_LETTERS
    assert (written or "").endswith("END:VCARD\r\n")
    assert problems == ("too much for one file: properties of one contact are left out",)


def test_a_card_that_was_cut_short_is_a_card_all_the_same() -> None:
    card = Item(HCARD, None, (text("note", "x" * MOST_LETTERS), text("fn", "Ann")))

    (read_again,) = components_of(to_vcard(page_of(card)) or "")

    assert read_again.validate(raiseException=True)


def test_events_that_share_very_much_are_cut_and_the_calendar_says_so() -> None:
    shared = (*(text("description", "x" * 100_000) for _ in range(10)), START)
    events = [Item(VEVENT, None, shared) for _ in range(1000)]

    for profile in ("text", "export"):
        written, problems = write_calendar(page_of(*events), profile=profile, now=NOW, product=PRODUCT)
        assert len(written or "") < 1.2 * MOST_LETTERS
        assert (written or "").endswith("END:VEVENT\r\nEND:VCALENDAR\r\n")
        assert problems[0].startswith("too much for one file: properties of one event, and ")


def test_an_event_that_was_cut_short_is_an_event_all_the_same() -> None:
    events = [Item(VEVENT, None, (text("description", "x" * MOST_LETTERS), START))] * 2

    calendar, event = parts_of(to_icalendar(page_of(*events)) or "")

    assert calendar.errors == event.errors == []
    assert all(name in event for name in ("DTSTART", "UID", "DTSTAMP"))


def test_parts_that_share_very_much_end() -> None:
    address = Item(None, None, (text("street-address", "x" * 1000),) * 10_000)
    card = Item(HCARD, None, (Property(("adr",), ValueKind.ITEM, address),) * 10_000)

    written, problems = write_cards(page_of(card))

    assert len(written or "") < 1.2 * MOST_LETTERS
    assert problems


@pytest.mark.parametrize("name", ["tel", "adr"])
def test_ways_that_share_one_very_long_type_end(name: str) -> None:
    way = Item(None, None, (text("type", "x" * 1_000_000), text("value", "1")))
    card = Item(HCARD, None, (Property((name,), ValueKind.ITEM, way),) * 1000)

    for profile in ("text", "export"):
        written, problems = write_cards(page_of(card), profile=profile)
        assert len(written or "") < 1.2 * MOST_LETTERS
        assert problems


def test_times_that_share_what_is_no_date_end() -> None:
    shared = (Property(("dtstart",), ValueKind.TIME, "9" * 1_000_000),)
    events = [Item(VEVENT, None, shared) for _ in range(1000)]

    _, problems = write_calendar(page_of(*events), profile="text", now=NOW, product=PRODUCT)

    assert problems == ("too much for one file: properties of one event, and 991 events are left out",)


@pytest.mark.parametrize("name", ["org", "bday", "geo", "fn", "tel", "n"])
def test_contacts_that_share_one_very_long_text_end(name: str) -> None:
    shared = (text(name, " x" * 500_000),)
    cards = [Item(HCARD, None, shared) for _ in range(1000)]

    written, problems = write_cards(page_of(*cards), which=None)

    assert len(written or "") < 1.5 * MOST_LETTERS
    assert problems


@pytest.mark.parametrize("name", ["dtend", "url", "summary", "duration", "rrule", "geo", "status", "priority", "x-foo"])
def test_events_that_share_one_very_long_text_end(name: str) -> None:
    shared = (text("dtstart", "2009-05-05T19:00-05:00"), text(name, " x" * 500_000))
    events = [Item(VEVENT, None, shared) for _ in range(1000)]

    written, problems = write_calendar(page_of(*events), now=NOW, product=PRODUCT)

    assert len(written or "") < 1.2 * MOST_LETTERS
    assert problems[-1].startswith("too much for one file: properties of one event, and 99")


def test_a_hostile_page_ends_no_line_of_its_own() -> None:
    page = read(
        f"<title>a\nEND:VCARD</title><div itemscope itemtype={HCARD} itemid='urn:x:%0d&#13;&#10;FN:b'>"
        "<p itemprop=fn>c&#13;&#10;END:VCARD&#x2028;X:1</p><p itemprop='x&#10;y:z' >d</p></div>"
    )

    assert {line.partition(":")[0] for line in (to_vcard(page) or "").splitlines()} == {
        *("BEGIN", "PROFILE", "VERSION", "SOURCE", "NAME", "UID", "FN", "N", "X", "END"),
    }


PARTS = (
    *("family-name", "given-name", "additional-name", "honorific-prefix", "honorific-suffix", "type", "value"),
    *("post-office-box", "extended-address", "street-address", "locality", "region", "postal-code", "country-name"),
    *("organization-name", "organization-unit"),
)

called = st.sampled_from(PARTS) | names


def without_surrogates(written: str | None) -> str | None:
    """What we write in their place, which no file can hold."""
    return None if written is None else re.sub("[\ud800-\udfff]", "\ufffd", written)


@given(pages(called))
def test_VC09_to_VC20_every_card_is_what_the_steps_of_the_text_make(page: Microdata) -> None:
    page = replace(page, address=ADDRESS)  # each of the text's has one

    assert to_vcard(page, profile="text") == without_surrogates(vcard(page.all, page))
    for number, card in enumerate(find_cards(page), 1):
        assert to_vcard(page, profile="text", which=number) == without_surrogates(vcard([card], page))


@given(pages(called))
def test_IC07_to_IC12_every_calendar_is_what_the_steps_of_the_text_make(page: Microdata) -> None:
    written = icalendar(page, PRODUCT, f"{NOW:%Y%m%dT%H%M%SZ}")

    assert to_icalendar(page, profile="text") == without_surrogates(written)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a,b;c\\d", "a\\,b\\;c\\\\d"),
        ("a\r\nb\rc\nd", "a\\nb\\nc\\nd"),
        ("\n\r", "\\n\\n"),
        ("\\n", "\\\\n"),
        ('a:b"c', 'a:b"c'),
        ("", ""),
    ],
)
def test_VC18_backslash_comma_semicolon_and_line_ends_are_escaped(text: str, written: str) -> None:
    assert escape(text) == written


def test_VC18_where_semicolons_part_a_value_they_stay() -> None:
    assert escape("1;2,3", with_semicolons=False) == "1;2\\,3"


@pytest.mark.parametrize(
    ("letters", "lines"),
    [
        (75, ["x" * 75]),
        (76, ["x" * 75, " x"]),
        (149, ["x" * 75, " " + "x" * 74]),
        (150, ["x" * 75, " " + "x" * 74, " x"]),
    ],
)
def test_VC19_a_line_is_folded_after_75_letters_and_then_after_74(letters: int, lines: list[str]) -> None:
    assert fold_letters("x" * letters) == fold_octets("x" * letters) == "".join(f"{line}\r\n" for line in lines)


def test_VC19_letters_are_code_points_and_none_is_split() -> None:
    first, second, end = fold_letters("\U0001f600" * 80).split("\r\n")

    assert (first, second, end) == ("\U0001f600" * 75, " " + "\U0001f600" * 5, "")


def test_VC19_the_name_is_in_ascii_capitals_and_parameters_in_their_order() -> None:
    assert (
        write_line("x-\u017f\xe9a", "v", [("TYPE", "work"), ("VALUE", "URI")], fold=fold_octets)
        == "X-\u017f\xe9A;TYPE=work;VALUE=URI:v\r\n"
    )


def test_a_lone_surrogate_does_not_keep_a_file_from_being_written() -> None:
    assert write_line("a", "\ud800", fold=fold_octets).encode() == b"A:\xef\xbf\xbd\r\n"


@given(st.text())
def test_VC19_unfolding_gives_the_line_again(text: str) -> None:
    line = escape(text).replace("\r", "").replace("\n", "")

    assert fold_letters(line).replace("\r\n ", "").removesuffix("\r\n") == line


@given(st.text(st.sampled_from("ax\xe9\u0416\u2014\u65e5\U0001f600"), max_size=300))
def test_a_line_of_an_export_has_75_octets_at_most_and_no_letter_is_cut(text: str) -> None:
    *lines, end = fold_octets(text).encode().split(b"\r\n")

    assert end == b""
    assert all(0 < len(line) <= 75 for line in lines if text)
    assert all(line.decode().startswith(" ") for line in lines[1:])
    assert "".join(line.decode().removeprefix(" ") for line in lines) == text
    # No line is shorter than it must be: the next letter would not have fitted.
    assert all(len(line) + len(after.decode()[1].encode()) > 75 for line, after in pairwise(lines))


@given(st.text())
def test_what_is_clean_and_escaped_is_one_line_for_every_reader(text: str) -> None:
    written = escape(clean(text))

    assert len(f"{written}.".splitlines()) == 1
    assert all(letter >= " " or letter == "\t" for letter in written)


def test_tabs_and_line_ends_of_all_kinds_stay_when_a_text_is_cleaned() -> None:
    assert clean(" \n a\tb\u2028c\x85d\x0be\0\x07\x7ff \r\n") == "a\tb\nc\nd\nef"


@pytest.mark.parametrize(
    ("text", "is_one"), [("x-foo", True), ("a.b", False), ("a:b", False), ("", False), ("\xe9", False)]
)
def test_names_are_letters_digits_and_hyphens(text: str, is_one: bool) -> None:  # noqa: FBT001 - a table's column
    assert is_name(text) is is_one


def test_what_does_not_fit_is_left_out_and_nothing_after_it_is_added() -> None:
    budget = Budget(20)
    sheet = Sheet(budget, fold_octets)

    for value in ("a" * 10, "b" * 10, ""):
        sheet.add("x", value)
    sheet.frame("end", "x")

    assert sheet.text == f"X:{'a' * 10}\r\nEND:x\r\n"
    assert budget.is_spent


@pytest.mark.parametrize("letter", ["\xfc", "\u65e5", "\U0001f600"])
@pytest.mark.parametrize("of", ["calendar", "contact"])
def test_no_line_of_an_export_is_longer_than_75_octets(of: str, letter: str) -> None:
    text = f"a {letter * 300}, " * 3
    if of == "calendar":
        body = (
            f"<p itemprop=summary>{text}</p><p itemprop=x-{letter}>{text}</p><time itemprop=dtstart>2026-05-05</time>"
        )
        page = read(f"<title>{text}</title><div itemscope itemtype={VEVENT}>{body}</div>")
        written = to_icalendar(page)
    else:
        agent = f"<div itemprop=agent itemscope itemtype={HCARD}><p itemprop=fn>{text}</p></div>"
        page = read(f"<title>{text}</title><div itemscope itemtype={HCARD}><p itemprop=note>{text}</p>{agent}</div>")
        written = to_vcard(page)

    assert written is not None
    assert max(len(line) for line in written.encode().split(b"\r\n")) == 75
    assert components_of(written)[0].name == ("VCALENDAR" if of == "calendar" else "VCARD")
    assert text.strip().replace(",", "\\,") in written.replace("\r\n ", "")
