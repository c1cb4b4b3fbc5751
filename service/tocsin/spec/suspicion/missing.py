"""Soft 404s: pages that say that there is no such page, as if that were one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.spec.suspicion.case import MISSING
from tocsin.spec.suspicion.folding import is_noise
from tocsin.spec.suspicion.marks import MISSING_CLASSES
from tocsin.spec.suspicion.words import NOT_FOUND_TELLS, NOT_FOUND_TITLES

if TYPE_CHECKING:
    from tocsin.spec.suspicion.case import Case

_MOST_TEXT = 1500
_LITTLE_TEXT = 400
_NOTHING = 120
_SEVERAL = 2
_TELLING_WORDS = 3


def find_missing(case: Case) -> str | None:
    """Find what makes a page a soft 404.

    A title or heading that says so and nothing else, and, by the length of its text

    - up to 120 letters: nothing more, where the title says it in three words, or says 404;
    - up to 400 letters: one of these: words that speak to a visitor who looks for a page; noindex; a class or id such
      as `error404`; a redirect to a place such as /404 or from a deep URL to /; a heading that
      says it in other words than the title;
    - up to 1500 letters: two of these, where several different words count for one.

    The number 404 alone says nothing: years, houses and pages about it are called so too; with a text that says the
    words it does, up to 400 letters, and so does an exclamation. Never where the page that was asked for is such a
    place itself.
    """
    sight = case.sight
    if sight.is_cut or sight.own > _MOST_TEXT or case.speaks_for_itself or case.place.asked & MISSING:
        return None
    titled = NOT_FOUND_TITLES.opens(sight.title_parts, spare=0)
    headed = NOT_FOUND_TITLES.opens(sight.heading_parts, spare=0)
    said = titled or headed
    if not said and sight.own <= _LITTLE_TEXT and not sight.headings:
        said = NOT_FOUND_TITLES.opens(sight.beginning[:2])
    if not said and sight.own <= _LITTLE_TEXT and _is_numbered(case):
        said = max(NOT_FOUND_TITLES.found_in(sight.text), key=len, default="")
        if not _find_told(case) and (sight.own > _NOTHING or len(said.split()) < _TELLING_WORDS):
            return None
        titled = titled or said
    if not said:
        return None
    reasons = _find_reasons(case)
    needed = 2 if sight.own > _LITTLE_TEXT else 1
    if sight.own <= _NOTHING and titled and (len(titled.split()) >= _TELLING_WORDS or _is_numbered(case)):
        needed = 0
    if len(reasons) < needed:
        return None
    return f'says "{said}"{"".join(f", {reason}" for reason in reasons)}; {sight.own} letters of text'


def _find_reasons(case: Case) -> list[str]:
    told = _find_told(case)
    reasons = []
    if len(told) >= (_SEVERAL if case.sight.own > _LITTLE_TEXT else 1):
        reasons.append(f'tells of "{told[0]}"')
    if case.is_hidden:
        reasons.append("noindex")
    marked = next((mark for mark in MISSING_CLASSES if mark in case.sight.code), None)
    if marked:
        reasons.append(f'marked "{marked.strip()}"')
    place = case.place.leads_to(MISSING)
    if place or case.place.is_root:
        reasons.append(f"sent to {case.shown(case.final_url)}")
    sight = case.sight
    titled, headed = NOT_FOUND_TITLES.opens(sight.title_parts), NOT_FOUND_TITLES.opens(sight.heading_parts)
    if not reasons and titled and headed and titled != headed:
        reasons.append(f'and once more "{headed}"')
    return reasons


def _find_told(case: Case) -> list[str]:
    return NOT_FOUND_TELLS.found_in(f"{case.sight.text} {case.sight.controls}")


def _is_numbered(case: Case) -> bool:
    """Say whether title or headings say no more than a number or an exclamation."""
    titles = (*case.sight.headings, case.sight.title)
    return any("404" in text.split() or (text and is_noise(text)) for text in titles)
