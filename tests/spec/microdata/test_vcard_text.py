"""vCards to the letter of the text; one example for each of its rules."""

from __future__ import annotations

import pytest

from tests.spec.microdata.cards import ADDRESS, card, read, to_vcard
from tocsin.spec.microdata.formats.vcard import find_cards
from tocsin.spec.microdata.values import HCARD


def lines(html: str) -> list[str]:
    return card(html, "text")


def test_VC09_the_first_contact_of_the_page_is_taken() -> None:
    page = read(f"<p itemscope></p><p itemscope itemtype={HCARD} itemid=urn:x:1></p><p itemscope itemtype={HCARD}></p>")

    assert "UID:urn:x:1" in (to_vcard(page, profile="text") or "")


def test_VC09_without_a_contact_there_is_no_card() -> None:
    assert to_vcard(read("<p itemscope itemtype=https://a.example/person>"), profile="text") is None


def test_VC09_each_other_contact_is_had_by_its_number() -> None:
    page = read("".join(f"<p itemscope itemtype={HCARD} itemid=urn:x:{number}></p>" for number in (1, 2, 3)))

    assert "UID:urn:x:2" in (to_vcard(page, which=2) or "")
    assert to_vcard(page, which=4) is to_vcard(page, which=0) is None
    assert len(find_cards(page)) == 3


def test_VC10_a_card_says_whence_it_is_and_who_is_meant() -> None:
    page = read(f"<title>Us, all</title><p itemscope itemtype={HCARD} itemid='urn:x:1,2'>")

    assert to_vcard(page, profile="text") == (
        "BEGIN:VCARD\r\nPROFILE:VCARD\r\nVERSION:3.0\r\n"
        f"SOURCE:{ADDRESS}\r\nNAME:Us\\, all\r\nUID:urn:x:1\\,2\r\nEND:VCARD\r\n"
    )


def test_VC10_a_page_of_unknown_address_names_no_source() -> None:
    page = read(f"<p itemscope itemtype={HCARD}>", address=None)

    assert to_vcard(page, profile="text") == "BEGIN:VCARD\r\nPROFILE:VCARD\r\nVERSION:3.0\r\nEND:VCARD\r\n"


def test_VC11_each_name_of_each_property_has_a_line_known_or_not() -> None:
    assert lines("<p itemprop='note x-foo'>a</p><p itemprop=https://a.example/b>c</p><p itemprop=note>b</p>") == [
        "NOTE:a",
        "X-FOO:a",
        "HTTPS://A.EXAMPLE/B:c",
        "NOTE:b",
    ]


def test_VC12_of_each_part_of_a_name_the_first_is_taken() -> None:
    html = (
        "<p itemprop=n itemscope><b itemprop=honorific-prefix>Dr</b><b itemprop=given-name>Ann</b>"
        "<b itemprop=given-name>Bea</b><b itemprop=family-name>Lee;</b><b itemprop=additional-name itemscope></b></p>"
    )

    assert lines(html) == ["N:Lee\\;;Ann;;Dr;"]


def test_VC13_of_an_address_some_parts_are_many_and_the_others_the_first() -> None:
    html = (
        "<p itemprop=adr itemscope><b itemprop=type>home</b><b itemprop=type>pref</b>"
        "<b itemprop=street-address>1, A</b>"
        "<b itemprop=street-address>B</b><b itemprop=locality>L</b><b itemprop=locality>M</b>"
        "<b itemprop=post-office-box>7</b><b itemprop=country-name>C</b></p>"
    )

    assert lines(html) == ["ADR;TYPE=home:7;;1\\, A,B;L;;;C"]


def test_VC14_an_organisation_is_followed_by_its_units() -> None:
    html = (
        "<p itemprop=org itemscope><b itemprop=organization-unit>U;1</b><b itemprop=organization-unit itemscope></b>"
        "<b itemprop=organization-name>O</b><b itemprop=organization-unit>V</b></p>"
    )

    assert lines(html) == ["ORG:O;U\\;1;V"]


def test_VC15_an_agents_card_stands_in_the_card_escaped_once_more() -> None:
    (line, *rest) = "".join(
        one.removeprefix(" ")
        for one in lines(f"<p itemprop=agent itemscope itemtype={HCARD}><b itemprop=fn>B;C</b></p>")
    ).split("\n")

    assert rest == []
    assert line == (
        f"AGENT;VALUE=VCARD:BEGIN:VCARD\\nPROFILE:VCARD\\nVERSION:3.0\\nSOURCE:{ADDRESS}\\nFN:B\\\\\\;C\\nEND:VCARD\\n"
    )


def test_VC15_who_is_their_own_agent_is_left_out() -> None:
    page = read(
        f"<p itemscope itemtype={HCARD} itemref=a></p><p itemprop=agent itemscope itemtype={HCARD} id=a itemref=a>"
    )

    assert (to_vcard(page, profile="text") or "").count("AGENT") == 1


def test_VC16_of_other_items_the_value_counts_and_a_plain_type() -> None:
    html = (
        "<p itemprop=tel itemscope><b itemprop=type>work</b><b itemprop=value>+1,2</b></p>"
        "<p itemprop=rev itemscope><b itemprop=type>date-time</b><b itemprop=value>2008-07-20T21:00:00+01:00</b></p>"
        "<p itemprop=email itemscope></p>"
    )

    assert lines(html) == ["TEL;TYPE=work:+1\\,2", "REV:2008-07-20T21:00:00+01:00", "EMAIL:"]


def test_VC16_an_empty_type_is_no_type() -> None:
    html = "<p itemprop=email itemscope><b itemprop=type></b><b itemprop=value>a@b.example</b></p>"

    assert lines(html) == ["EMAIL:a@b.example"]
    assert lines(html.replace("email", "adr")) == ["ADR:;;;;;;"]


@pytest.mark.parametrize(
    ("html", "line"),
    [
        ("<img itemprop=photo src=/a,b.png>", "PHOTO;VALUE=URI:https://site.example/a\\,b.png"),
        ("<img itemprop=photo>", "PHOTO;VALUE=URI:"),
        ("<time itemprop=bday datetime=1970-01-02>x</time>", "BDAY;VALUE=DATE:1970-01-02"),
        ("<time itemprop=bday>1970-01-02</time>", "BDAY;VALUE=DATE:1970-01-02"),
        ("<time itemprop=rev datetime=2008-07-20T21:00Z>x</time>", "REV;VALUE=DATE-TIME:2008-07-20T21:00Z"),
        ("<time itemprop=bday datetime=May>x</time>", "BDAY:May"),
        ("<p itemprop=bday>1970-01-02</p>", "BDAY:1970-01-02"),
    ],
)
def test_VC17_urls_dates_and_moments_say_what_they_are(html: str, line: str) -> None:
    assert lines(html) == [line]


def test_VC18_a_position_keeps_its_semicolon() -> None:
    assert lines("<p itemprop='geo x-geo'>1.5;-2.5</p>") == ["GEO:1.5;-2.5", "X-GEO:1.5\\;-2.5"]


def test_VC20_items_among_the_texts_of_a_part_leave_no_comma() -> None:
    street = "<b itemprop=street-address>{}</b>"
    html = f"{street.format('A')}<b itemprop=street-address itemscope></b>{street.format('B')}"

    assert lines(f"<p itemprop=adr itemscope>{html}</p>") == ["ADR:;;A,B;;;;"]


def test_VC22_a_card_without_a_name_is_written_all_the_same() -> None:
    assert lines("<p itemprop=note>a</p>") == ["NOTE:a"]
