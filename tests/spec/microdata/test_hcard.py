from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given

from tests.spec.microdata.cards import pages, read, to_vcard
from tocsin.spec.lint.vocabulary import find_card_faults
from tocsin.spec.microdata.formats.vcard import find_cards
from tocsin.spec.microdata.values import HCARD
from tocsin.spec.microdata.vocabulary import is_valid_geo, is_valid_tz

if TYPE_CHECKING:
    from tocsin.spec.microdata.values import Microdata


NAMED = "<b itemprop=fn>A</b><b itemprop=n itemscope><i itemprop=given-name>A</i></b>"


def faults(html: str) -> list[str]:
    """The rules that a contact with a name and these properties breaks."""
    return [
        fault.rule for fault in find_card_faults(read(f"<div itemscope itemtype={HCARD}>{NAMED}{html}</div>").all[0])
    ]


@pytest.mark.parametrize(
    ("names", "rule"),
    [
        ("nickname mailer title role categories note sort-string", "VC-01"),
        ("tel email label", "VC-05"),
        ("org", "VC-14"),
    ],
)
def test_what_the_vocabulary_has_as_text_is_no_url(names: str, rule: str) -> None:
    for name in names.split():
        assert faults(f"<b itemprop={name}>x</b>") == []
        assert faults(f"<a itemprop={name} href=x>x</a>") == [rule]


@pytest.mark.parametrize(("names", "rule"), [("photo logo sound url", "VC-08"), ("impp", "VC-05")])
def test_what_the_vocabulary_has_as_a_url_is_no_text(names: str, rule: str) -> None:
    for name in names.split():
        assert faults(f"<a itemprop={name} href=x>x</a>") == []
        assert faults(f"<b itemprop={name}>x</b>") == [rule]


@pytest.mark.parametrize(
    ("names", "types"),
    [
        ("adr label", "dom intl postal parcel home work pref"),
        ("tel", "home msg work voice fax cell video pager bbs modem car isdn pcs pref"),
        ("email", "internet x400 pref"),
        ("impp", "personal business home work mobile pref"),
    ],
)
def test_VC04_every_type_of_the_text_is_one(names: str, types: str) -> None:
    written = "".join(f"<i itemprop=type>{one}</i>" for one in types.split())
    for name in names.split():
        value = (
            "" if name == "adr" else "<a itemprop=value href=x>x</a>" if name == "impp" else "<i itemprop=value>1</i>"
        )
        assert faults(f"<b itemprop={name} itemscope>{written}{value}</b>") == []
        assert faults(f"<b itemprop={name} itemscope><i itemprop=type>X400</i>{value}</b>") == ["VC-04"]


@pytest.mark.parametrize("text", ["+00:00", "-23:59", "+01:30"])
def test_VC06_a_time_zone_has_sign_hours_and_minutes(text: str) -> None:
    assert is_valid_tz(text)


@pytest.mark.parametrize(
    "text", ["01:00", "+1:00", "+24:00", "+00:60", "+0100", "Z", "", "+01:00\n", "+\u0660\u0661:00"]
)
def test_VC06_what_is_no_time_zone(text: str) -> None:
    assert not is_valid_tz(text)


@pytest.mark.parametrize("text", ["34.052339;-118.410623", "1;2", "+1.0;-2.0", "-0;+0"])
def test_VC07_a_position_is_latitude_and_longitude(text: str) -> None:
    assert is_valid_geo(text)


@pytest.mark.parametrize(
    "text", ["34.05,-118.4", "1.;2", ".5;2", "1;2;3", "1; 2", "1", "", "1;2\n", "\u0661;2", "1e3;2"]
)
def test_VC07_what_is_no_position(text: str) -> None:
    assert not is_valid_geo(text)


def test_VC22_a_contact_without_a_name_is_told_and_exported_all_the_same() -> None:
    page = read(f"<p itemscope itemtype={HCARD}><b itemprop=note>x</b>")

    faults = list(find_card_faults(page.all[0]))

    assert [(fault.rule, fault.problem.partition(":")[0]) for fault in faults] == [
        ("VC-01", "fn missing"),
        ("VC-01", "n missing"),
    ]
    assert "NOTE:x\r\n" in (to_vcard(page) or "")


def test_VC02_given_names_may_stand_more_than_once() -> None:
    html = "<b itemprop=fn>A B</b><p itemprop=n itemscope><b itemprop=given-name>A</b><b itemprop=given-name>B</b></p>"

    assert list(find_card_faults(read(f"<div itemscope itemtype={HCARD}>{html}</div>").all[0])) == []


def test_a_fault_stands_where_it_is_to_be_mended() -> None:
    html = "<p itemprop=tel itemscope><b itemprop=type>Work</b><b itemprop=value>1</b></p>"
    page = read(f"<div itemscope itemtype={HCARD}>{html}</div>")

    (fault,) = [one for one in find_card_faults(page.all[0]) if one.rule == "VC-04"]

    assert fault.at is page.all[1].properties[0]
    assert fault.value == "Work"


@given(pages())
def test_no_contact_raises(page: Microdata) -> None:
    for card in find_cards(page):
        assert all(fault.problem for fault in find_card_faults(card))
