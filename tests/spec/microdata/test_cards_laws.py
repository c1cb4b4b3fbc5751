"""Whatever a page holds, what is written to the letter is what the text's own steps make of it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from tests.spec.microdata.cards import ADDRESS, NOW, PRODUCT, names, pages, to_icalendar, to_vcard
from tests.spec.microdata.literal_cards import icalendar, vcard
from tocsin.spec.microdata.formats.vcard import find_cards

if TYPE_CHECKING:
    from tocsin.spec.microdata.values import Microdata

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
