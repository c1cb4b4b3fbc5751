"""Consent and age gates where a page was."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.spec.suspicion.case import CONSENT
from tocsin.spec.suspicion.folding import split_parts
from tocsin.spec.suspicion.marks import CONSENT_MARKS, find_mark
from tocsin.spec.suspicion.words import CONSENT_BUTTONS, CONSENT_TELLS, CONSENT_TITLES

if TYPE_CHECKING:
    from tocsin.spec.suspicion.case import Case

_MOST_TEXT = 2500
_MOST_LINKS = 600
_LITTLE_TEXT = 700
_FEW_LINKS = 100


def find_consent(case: Case) -> str | None:
    """Find what makes a page a gate of consent.

    Any of these, with at most 2500 letters of text and few links

    - a redirect to a place of consent, and a title, heading or button that says so, or a consent product;
    - a title that says so and nothing else, a button, and words of data or age;
    - headings that say so, all of them, a button, such words, at most 700 letters, and hardly any link.

    A banner over a page is none, whatever it says: the page keeps its own title and its own address.
    """
    sight = case.sight
    if sight.is_cut or case.place.asked & CONSENT or case.speaks_for_itself or sight.passwords:
        return None
    place = case.place.leads_to(CONSENT)
    titled = CONSENT_TITLES.opens(sight.title_parts, spare=3)
    button = CONSENT_BUTTONS.opens(sight.labels, spare=2)
    if sight.own > _MOST_TEXT or sight.links > _MOST_LINKS:
        return None
    if place:
        said = titled or CONSENT_TITLES.opens(sight.heading_parts, spare=3) or button
        mark = find_mark(CONSENT_MARKS, sight.code)
        if said or mark:
            because = f'says "{said}"' if said else f"carries {mark and mark.whose}"
            return f"sent to {case.shown(case.final_url)}, which {because}"
    if titled and button:
        told = CONSENT_TELLS.found_in(sight.text)
        if told:
            return f'its title says "{titled}", a button "{button}", and its text "{told[0]}"'
    headed = _head_of(case)
    if headed and button and sight.own <= _LITTLE_TEXT and sight.links + sight.furniture <= _FEW_LINKS:
        told = CONSENT_TELLS.found_in(sight.text)
        if told:
            return f'nothing but "{headed}", a button "{button}", and "{told[0]}"; {sight.own} letters of text'
    return None


def _head_of(case: Case) -> str | None:
    """Give what the first heading asks for, where all others ask for it, too: a page under a banner has its own."""
    said = [CONSENT_TITLES.opens(split_parts(heading), spare=3) for heading in case.sight.headings]
    return said[0] if said and all(said) else None
