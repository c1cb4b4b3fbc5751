"""Login forms where a page was."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.spec.suspicion.case import LOGIN
from tocsin.spec.suspicion.words import LOGIN_TELLS, LOGIN_TITLES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.spec.suspicion.case import Case

_MOST_TEXT = 900
_MOST_BESIDE_A_HEADING = 250
_HARDLY_ANY = 300
_NEXT_TO_NOTHING = 120
_HANDED_ON = ("input.name=samlrequest", "input.name=samlresponse", "input.name=wresult")


def find_login(case: Case) -> str | None:
    """Find what makes a page a login.

    Any of these, with at most 900 letters of text

    - a password field, and a redirect to a place of logins, or, with hardly any other text, to
      one whose query brings back to the page;
    - a field, next to no text, and a redirect to a place of another host whose query brings back to the page;
    - a password field, and a title that says so and nothing else; for a heading, hardly any other text;
    - a password field, words that ask the visitor to log in, and hardly any other text;
    - a redirect to such a place, and words, and a field or hardly any text;
    - a form that hands the browser on to a login (SAML, WS-Federation), or a refresh to a place of logins.

    Never where the page that was asked for is a place of logins itself. Fields in a page's head, navigation, side and
    foot do not count.
    """
    sight = case.sight
    if sight.is_cut or sight.own > _MOST_TEXT or case.place.asked & LOGIN or case.speaks_for_itself:
        return None
    return next(_find(case), None)


def _find(case: Case) -> Iterator[str]:
    sight = case.sight
    place = case.place.leads_to(LOGIN)
    where = f"sent to {case.shown(case.final_url)}"
    titled = LOGIN_TITLES.opens(sight.title_parts, spare=3)
    headed = LOGIN_TITLES.opens(sight.heading_parts[:3], spare=3)
    if sight.passwords and place:
        yield f"{where}, which asks for a password"
    if case.place.returns:
        yield from _find_way_back(case)
    if sight.passwords and titled and sight.links <= _MOST_TEXT:
        yield f'its title says "{titled}", and it asks for a password'
    if sight.passwords and headed and sight.own <= _MOST_BESIDE_A_HEADING and sight.links <= _HARDLY_ANY:
        yield f'its heading says "{headed}", and it asks for a password; {sight.own} letters of text'
    told = LOGIN_TELLS.found_in(sight.text) if sight.own <= _MOST_BESIDE_A_HEADING else []
    if sight.passwords and told and sight.links <= _HARDLY_ANY:
        yield f'it says "{told[0]}", and asks for a password; {sight.own} letters of text'
    asks = sight.fields or sight.own + sight.links <= _HARDLY_ANY
    if (place or case.place.returns) and (titled or headed) and asks:
        yield f'{where}, which says "{titled or headed}"'
    if sight.seen <= _HARDLY_ANY:
        handed = next((mark for mark in _HANDED_ON if mark in sight.code), None)
        if handed:
            yield f"a form hands on to a login ({handed.partition('=')[2]})"
        steps = (case.refresh or "").replace("?", "/").replace("=", "/").replace(".", "/").split("/")
        if any(step in LOGIN for step in steps):
            yield f"forwards to {case.shown(case.refresh or '')}"


def _find_way_back(case: Case) -> Iterator[str]:
    sight = case.sight
    where = f"sent to {case.shown(case.final_url)}"
    if sight.passwords and sight.own <= _MOST_BESIDE_A_HEADING and sight.links <= _HARDLY_ANY:
        yield f"{where}, which asks for a password before it brings back"
    if case.place.abroad and sight.fields and sight.own <= _NEXT_TO_NOTHING and sight.links <= _NEXT_TO_NOTHING:
        yield f"{where}, which asks for something before it brings back; {sight.own} letters of text"
