"""Names at which nobody runs a site any more: parked domains, suspended accounts, a server's default page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.spec.suspicion.case import PARKED
from tocsin.spec.suspicion.folding import fold_words
from tocsin.spec.suspicion.marks import PARKING_MARKS, find_mark
from tocsin.spec.suspicion.words import PARKED_TELLS, PARKED_TITLES

if TYPE_CHECKING:
    from tocsin.spec.suspicion.case import Case

_MOST_TEXT = 1200
_MOST_LINKS = 1500
_HARDLY_ANY = 300
_NOTHING = 150


def find_parked(case: Case) -> str | None:
    """Find what makes a page a parked domain or the like.

    Any of these, with at most 1200 letters of text

    - a parking service's code, and words, or a redirect to such a place, or hardly any text;
    - a title, heading or beginning that says so and nothing else (but for the domain's name), and words that speak
      to the visitor or the owner (above 400 letters several of them), or at most 300 letters;
    - a redirect to a place of parking, and words.
    """
    sight = case.sight
    if sight.is_cut or sight.own > _MOST_TEXT or sight.links > _MOST_LINKS or case.speaks_for_itself:
        return None
    mark = find_mark(PARKING_MARKS, sight.code)
    told = PARKED_TELLS.found_in(f"{sight.text} {sight.controls}")
    said = PARKED_TITLES.opens(_without_host(case), spare=2)
    place = case.place.leads_to(PARKED)
    words = f'says "{said or told[0]}"' if said or told else ""
    if mark and (words or place or sight.own + sight.links <= _NOTHING):
        return f'{mark.whose}: "{mark.needle}" in its code; {words or "hardly any text"}'
    if said and not case.asks and (case.is_told_enough(told) or sight.own + sight.links <= _HARDLY_ANY):
        also = f' and "{told[0]}"' if told else ""
        return f'says "{said}"{also}; {sight.own} letters of text'
    if place and words:
        return f"sent to {case.shown(case.final_url)}, which {words}"
    return None


def _without_host(case: Case) -> list[str]:
    """Give what its title, headings and beginning say beside the name of the host."""
    sight = case.sight
    titles = [sight.title, *sight.headings[:3]]
    if sight.own <= _MOST_TEXT // 2:
        titles += [" ".join(sight.beginning[:3]), *sight.beginning[:3]]
    hosts = [name for name in (case.place.host, case.place.host.removeprefix("www.")) if "." in name]
    parts: list[str] = []
    for title in titles:
        folded = title.lower()
        for host in hosts:
            folded = folded.replace(host, "\n")
        parts += [fold_words(part) for part in folded.replace("|", "\n").replace(" - ", "\n").splitlines()]
    return [part for part in parts if part] + sight.title_parts + sight.heading_parts[:3]
