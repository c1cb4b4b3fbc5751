"""Maintenance pages where a page was."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.spec.suspicion.case import MAINTENANCE
from tocsin.spec.suspicion.folding import fold_words
from tocsin.spec.suspicion.words import MAINTENANCE_TELLS, MAINTENANCE_TITLES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.spec.suspicion.case import Case

_MOST_TEXT = 900
_MOST_LINKS = 600
_FEW_LINKS = 300
_HARDLY_ANY = 250
_NOTHING = 60


def find_maintenance(case: Case) -> str | None:
    """Find what makes a page one of maintenance.

    Any of these, with at most 900 letters of text and few links

    - a title or first heading that says so and nothing else, and words that ask to come back later, above
      400 letters several of them or a hint of these: a Retry-After, a refresh, noindex, status 202;
    - such a title, hardly any text, and such a hint; or such a heading, too, of more than
      a word, and nothing else;
    - where there is no heading, such a beginning, and words that ask to come back later;
    - a redirect to a place of maintenance, and words.

    Never where the page that was asked for is such a place itself.
    """
    sight = case.sight
    if sight.is_cut or sight.own > _MOST_TEXT or sight.links > _MOST_LINKS or case.speaks_for_itself:
        return None
    if case.place.asked & MAINTENANCE:
        return None
    return next(_find(case), None)


def _find(case: Case) -> Iterator[str]:
    sight = case.sight
    titled = MAINTENANCE_TITLES.opens(sight.title_parts, spare=1)
    headed = MAINTENANCE_TITLES.opens(sight.heading_parts[:2], spare=1)
    if not headed and sight.own <= 2 * _HARDLY_ANY:
        headed = MAINTENANCE_TITLES.opens(sight.beginning[:3], spare=1)
    said = titled or headed
    told = MAINTENANCE_TELLS.found_in(sight.text)
    if case.place.leads_to(MAINTENANCE) and (said or told):
        yield f'sent to {case.shown(case.final_url)}, which says "{said or told[0]}"'
    if said and case.is_told_enough(told) and (titled or sight.links <= _FEW_LINKS):
        yield f'says "{said}" and "{told[0]}"; {sight.own} letters of text'
    if titled and headed and " " in fold_words(titled) and sight.own + sight.links <= _NOTHING:
        yield f'says "{titled}" and nothing else'
    is_short = sight.own + sight.links <= _HARDLY_ANY
    if titled and is_short and case.hints:
        yield f'its title says "{titled}", with {case.hints[0]}, and hardly anything else'
