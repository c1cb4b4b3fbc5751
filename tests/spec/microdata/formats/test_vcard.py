"""Contacts as vCard, in both profiles."""

from __future__ import annotations

import pytest

from tests.spec.microdata.cards import ADDRESS, card, components_of, read, to_vcard
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


NAMED = "<p itemprop=fn>A</p><p itemprop=n itemscope><b itemprop=family-name>A</b></p>"


def export_lines(html: str) -> list[str]:
    """The export_lines of a card that has a name."""
    first, second, *rest = card(NAMED + html)
    assert (first, second) == ("FN:A", "N:A;;;;")
    return rest


@pytest.mark.parametrize(
    ("html", "name"),
    [
        ("<p itemprop=fn>Ann Lee</p>", "Lee;Ann;;;"),
        ("<p itemprop=fn>Ann Bea Cid Lee</p>", "Lee;Ann;Bea Cid;;"),
        ("<p itemprop=fn>Lee, Ann</p>", "Lee;Ann;;;"),
        ("<p itemprop=fn>Lee, Ann Bea Cid</p>", "Lee;Ann;Bea Cid;;"),
        ("<p itemprop=fn>Lee A.</p>", "Lee;A.;;;"),
        ("<p itemprop=fn>Ann Lee, MA, MD</p>", "Lee;Ann;;;MA\\, MD"),
        ("<p itemprop=fn>Madonna</p>", "Madonna;;;;"),
        ("<p itemprop=fn>Ann;\n Lee</p>", "Lee;Ann\\;;;;"),
        ("<p itemprop=fn>ACME Works</p><p itemprop=org>ACME Works</p>", "ACME Works;;;;"),
        ("<p itemprop=org>ACME, Inc</p>", "ACME\\, Inc;;;;"),
        ("<p itemprop=org itemscope><b itemprop=organization-name>ACME Works</b></p>", "ACME Works;;;;"),
        ("<p itemprop=fn>Ann Lee</p><p itemprop=n itemscope></p>", "Lee;Ann;;;"),
        ("<p itemprop=fn>x</p><p itemprop=n>Ann Lee</p>", "Lee;Ann;;;"),
        ("", ";;;;"),
    ],
)
def test_VC21_where_the_parts_of_a_name_are_missing_they_are_inferred(html: str, name: str) -> None:
    assert [line for line in card(html) if line.startswith("N:")] == [f"N:{name}"]


@pytest.mark.parametrize(
    ("html", "name"),
    [
        (
            "<p itemprop=n itemscope><b itemprop=family-name>Lee</b><b itemprop=honorific-prefix>Dr</b></p>",
            "Dr Lee",
        ),
        ("<p itemprop=org>ACME</p><p itemprop=nickname>a</p>", "ACME"),
        ("<p itemprop=nickname>Bo</p>", "Bo"),
        ("<p itemprop=email>a@b.example</p>", "a@b.example"),
        ("<p itemprop=tel itemscope><b itemprop=value>+1</b></p>", "+1"),
        ("<a itemprop=email href=mailto:a%2Bb@b.example?subject=x>mail</a>", "a+b@b.example"),
        ("<a itemprop=tel href=TEL:+49-1>call</a>", "+49-1"),
        ("<p itemprop=tel itemscope><a itemprop=value href=tel:123>x</a></p>", "123"),
        ("<p itemprop=email>mailto:a@b.example</p>", "a@b.example"),
        ("<a itemprop=email href=/contact>x</a><a itemprop=tel href=mailto:>x</a><p itemprop=nickname>", "Unknown"),
        ("<a itemprop=email href='mailto:?subject=x'>x</a><p itemprop=role>box office</p>", "box office"),
        ("<p itemprop=fn> </p>", "Unknown"),
        ("<a itemprop='fn url' href=/ann>Ann</a><p itemprop=nickname>Ann</p>", "Ann"),
        ("<a itemprop=fn href=/ann>Ann</a><p itemprop=fn>Ann Lee</p>", "Ann Lee"),
        ("<title>Us</title><a itemprop='fn url' href=/ann>Ann</a>", "https://site.example/ann"),
        ("<a itemprop=fn href=mailto:>Ann</a><a itemprop=fn href=tel:+1>Ann</a>", "+1"),
        ("<title>Us</title><a itemprop=fn href=javascript:x>Ann</a>", "Us"),
        ("<title> The office </title>", "The office"),
    ],
)
def test_VC21_where_the_name_as_written_is_missing_it_is_inferred(html: str, name: str) -> None:
    assert [line for line in card(html) if line.startswith("FN:")] == [f"FN:{name}"]


def test_VC21_the_letter_of_the_text_infers_nothing() -> None:
    assert card("<p itemprop=fn>Ann Lee</p>", "text") == ["FN:Ann Lee"]


@pytest.mark.parametrize(
    "name", ["begin", "END", "version", "profile", "source", "name", "a:b", "a.b", "x_y", "\u017f"]
)
def test_names_that_would_break_a_card_are_left_out(name: str) -> None:
    assert export_lines(f"<p itemprop='{name}'>VCARD</p>") == []


@pytest.mark.parametrize("name", ["fn", "uid", "bday", "geo", "tz", "class", "rev"])
def test_what_a_card_says_once_is_said_once(name: str) -> None:
    value = {"bday": "2000-01-02", "rev": "2000-01-02", "geo": "1;2"}.get(name, "+01:00")
    prop = f"<p itemprop={name}>{value}</p>"

    assert sum(line.upper().startswith(name.upper()) for line in card(NAMED + prop + prop)) == 1


def test_an_identifier_of_the_page_stands_above_one_of_its_properties() -> None:
    page = read(f"<p itemscope itemtype={HCARD} itemid=urn:x:1><b itemprop=uid>2</b>")

    assert (to_vcard(page) or "").count("UID:") == 1


@pytest.mark.parametrize("html", ["<p itemprop=tel> </p>", "<img itemprop=photo>", "<p itemprop=adr itemscope></p>"])
def test_what_says_nothing_is_left_out(html: str) -> None:
    assert export_lines(html) == []


@pytest.mark.parametrize(
    ("html", "line"),
    [
        ("<a itemprop=email href=mailto:a%2Bb@c.example?subject=x>x</a>", "EMAIL:a+b@c.example"),
        ("<a itemprop=tel href=TEL:+1-2>x</a>", "TEL:+1-2"),
        ("<a itemprop=email href=/contact>x</a>", "EMAIL;VALUE=URI:https://site.example/contact"),
        ("<a itemprop=url href=/a,b>x</a>", "URL;VALUE=URI:https://site.example/a\\,b"),
        ("<p itemprop=url>https://a.example/</p>", "URL;VALUE=URI:https://a.example/"),
        ("<img itemprop=photo src=data:image/png;base64,AA>", "PHOTO;VALUE=URI:data:image/png\\;base64\\,AA"),
        (
            "<p itemprop=url itemscope><b itemprop=type>home</b><a itemprop=value href=/a>x</a></p>",
            "URL;VALUE=URI;TYPE=home:https://site.example/a",
        ),
        ("<p itemprop=bday>1970-01-02</p>", "BDAY;VALUE=DATE:1970-01-02"),
        (
            "<time itemprop=rev datetime=2008-07-20T21:00+01:00>x</time>",
            "REV;VALUE=DATE-TIME:2008-07-20T21:00:00+01:00",
        ),
        ("<p itemprop=tz>Europe/Berlin</p>", "TZ;VALUE=TEXT:Europe/Berlin"),
        ("<p itemprop=tz>+01:00</p>", "TZ:+01:00"),
        ("<p itemprop=agent>Tony</p>", "AGENT;VALUE=TEXT:Tony"),
        ("<p itemprop=adr>1 Road, L</p>", "ADR:;;1 Road\\, L;;;;"),
        ("<p itemprop=note>\n a\n b\x85c\x07 \n</p>", "NOTE:a\\n b\\nc"),
        ("<p itemprop=GEO>1;2</p>", "GEO:1;2"),
    ],
)
def test_values_are_written_as_readers_expect_them(html: str, line: str) -> None:
    assert export_lines(html) == [line]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("bday", "May"), ("bday", "12009-01-02"), ("photo", "me.png"), ("url", "site"), ("photo", "javascript:x")),
        *(("geo", "1,2"), ("geo", "90.1;0"), ("geo", "-91;0"), ("geo", "0;181"), ("geo", f"0;1.{'0' * 40}")),
        *(("rev", "soon"), ("rev", "2008-07-20T21:00"), ("rev", "12008-07-20T21:00Z")),
    ],
)
def test_values_that_the_format_does_not_allow_are_left_out(name: str, value: str) -> None:
    assert export_lines(f"<p itemprop={name}>{value}</p>") == []


@pytest.mark.parametrize("name", ["url", "x-page", "note"])
@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "JAVASCRIPT:x", "vbscript:x", "data:text/html,x", "file:///srv/a", "smb://h/a"]
)
def test_what_runs_or_lies_where_the_page_was_read_is_no_link(name: str, url: str) -> None:
    assert export_lines(f"<a itemprop={name} href={url}>x</a>") == []


def test_a_card_does_not_show_the_path_of_a_file() -> None:
    page = read(
        f"<p itemscope itemtype={HCARD}><b itemprop=fn>Ann Lee</b><a itemprop=url href=b.html>x</a>",
        "file:///srv/a.html",
    )

    assert "file:" not in (to_vcard(page) or "")
    assert "SOURCE:file:///srv/a.html" in (to_vcard(page, profile="text") or "")


@pytest.mark.parametrize("position", ["90;180", "-90.0;-180.0", "+0;0"])
def test_every_position_on_earth_is_one(position: str) -> None:
    assert export_lines(f"<p itemprop=geo>{position}</p>") == [f"GEO:{position}"]


def test_a_link_in_the_place_of_a_name_or_an_address_is_read_as_one() -> None:
    (one,) = components_of(
        to_vcard(read(f"<div itemscope itemtype={HCARD}><a itemprop='n adr' href=/x>x</a></div>")) or ""
    )

    assert (one.n.value.family, one.adr.value.street) == ("https://site.example/x", "https://site.example/x")


def test_all_contacts_are_had_at_once_without_those_who_are_only_agents() -> None:
    page = read(
        f"<div itemscope itemtype={HCARD}><p itemprop=fn>Ann</p>"
        f"<div itemprop=agent itemscope itemtype={HCARD}><p itemprop=fn>Bob</p></div></div>"
        f"<div itemscope itemtype={HCARD}><p itemprop=fn>Cid</p></div>"
    )

    cards = components_of(to_vcard(page, which=None) or "")

    assert [one.fn.value for one in cards] == ["Ann", "Cid"]
    assert [one.fn.value for one in components_of(to_vcard(page, which=2) or "")] == ["Bob"]


def test_of_two_who_are_one_anothers_agents_the_first_stays() -> None:
    page = read(
        f"<div id=a itemprop=agent itemscope itemtype={HCARD} itemref=b><p itemprop=fn>Ann</p></div>"
        f"<div id=b itemprop=agent itemscope itemtype={HCARD} itemref=a><p itemprop=fn>Bob</p></div>"
    )

    assert [one.fn.value for one in components_of(to_vcard(page, which=None) or "")] == ["Ann"]


def test_vobject_reads_what_the_page_says() -> None:
    (first,) = components_of(
        to_vcard(
            read(
                f"<div itemscope itemtype={HCARD}><p itemprop=fn>Ann Lee, MD</p><p itemprop=adr itemscope>"
                "<b itemprop=street-address>1, A</b><b itemprop=street-address>B</b><b itemprop=locality>L</b></p>"
                "<p itemprop=org itemscope><b itemprop=organization-name>O;</b><b itemprop=organization-unit>U</b></p>"
                "<p itemprop=tel itemscope><b itemprop=type>work</b><b itemprop=value>+1</b></p>"
                "<p itemprop=note>a\nb</p>"
            )
        )
        or ""
    )

    assert first.validate(raiseException=True)
    assert (first.fn.value, first.n.value.given, first.n.value.family) == ("Ann Lee, MD", "Ann", "Lee")
    assert (first.adr.value.street, first.adr.value.city) == (["1, A", "B"], "L")
    assert (first.org.value, first.tel.type_param, first.note.value) == (["O;", "U"], "work", "a\nb")
