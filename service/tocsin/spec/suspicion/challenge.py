"""Challenges: "prove that you are no robot", before a page is given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.spec.suspicion.case import CHALLENGE
from tocsin.spec.suspicion.marks import CAPTCHAS, CHALLENGE_HEADERS, CHALLENGE_MARKS, FAINT, find_mark
from tocsin.spec.suspicion.words import CHALLENGE_TELLS, CHALLENGE_TITLES, SCRIPT_TELLS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.spec.suspicion.case import Case

_MOST_BESIDE_A_MARK = 1500
_MOST_BESIDE_WORDS = 700
_NEXT_TO_NOTHING = 200
_RELOADS = ("location.reload", "location.href", "location.replace", "location.assign", "location =", "location=")


def find_challenge(case: Case) -> str | None:
    """Find what makes a page a challenge.

    Any of

    - a header in which the product says so;
    - a mark that only challenges carry, and at most 1500 letters of text;
    - a mark of a product that full pages carry too, next to no text, and words, a reload, noindex or 202;
    - a captcha, words, at most one field beside it, and at most 700 letters;
    - words in title or heading, other words in the text (or the same and a reload) that speak to the visitor, above
      400 letters several of them or noindex, and at most 700 letters;
    - a redirect to a place of challenges, with words or a captcha;
    - a script that sets a cookie and loads again, and nothing else at all.
    """
    for mark in CHALLENGE_HEADERS:
        name, _, value = mark.needle.partition(": ")
        if case.headers.get(name, "").strip().lower().startswith(value):
            return f'{mark.whose} says it in the header "{mark.needle}"'
    sight = case.sight
    if sight.is_cut or sight.own > _MOST_BESIDE_A_MARK:
        return None
    sure = find_mark(CHALLENGE_MARKS, sight.code)
    if sure is not None:
        return f'{sure.whose}: "{_one_line(sure.needle)}" in its code; {sight.own} letters of text'
    if case.speaks_for_itself or sight.own > _MOST_BESIDE_WORDS or sight.passwords:
        return None
    return next(_find_by_words(case), None) or _find_by_reload(case)


def _find_by_words(case: Case) -> Iterator[str]:
    sight = case.sight
    said = CHALLENGE_TITLES.opens(sight.title_parts, spare=2) or CHALLENGE_TITLES.opens(
        [*sight.heading_parts, *sight.beginning[:2]], spare=1
    )
    told = CHALLENGE_TELLS.found_in(f"{sight.text} {sight.noscript} {sight.controls}")
    if said:  # what a script fills asks for scripts, too, but is not called so
        told += SCRIPT_TELLS.found_in(sight.text)
    captcha = find_mark(CAPTCHAS, sight.code)
    faint = find_mark(FAINT, sight.code)
    place = case.place.leads_to(CHALLENGE)
    words = f'says "{said or told[0]}"' if said or told else ""
    if place and (words or captcha):
        yield f"sent to {case.shown(case.final_url)}; {words or (captcha and captcha.whose)}"
    if captcha and words and sight.fields <= 1 and sight.links <= _MOST_BESIDE_WORDS:
        yield f"{captcha.whose} and {words}; {sight.own} letters of text"
    if sight.seen > _MOST_BESIDE_WORDS:
        return
    beside = [thing for thing in told if said and thing not in said]
    if said and any(reload in sight.code for reload in _RELOADS):
        beside += told
    if said and case.is_told_enough(beside):
        yield f'says "{said}" and "{beside[0]}"; {sight.own} letters of text'
    runs = "script" in sight.code or case.refresh is not None
    if said and runs and sight.seen <= _NEXT_TO_NOTHING and (case.is_hidden or case.is_put_off or faint):
        yield f"{words} and hardly anything else"
    if faint and sight.seen <= _NEXT_TO_NOTHING and sight.media <= 1 and (words or case.is_put_off):
        yield f'{faint.whose}: "{faint.needle}" in its code, and hardly any text'


def _find_by_reload(case: Case) -> str | None:
    sight = case.sight
    if sight.seen > _NEXT_TO_NOTHING // 2 or sight.media or sight.fields or not case.is_silent:
        return None
    if "document.cookie" in sight.code and any(reload in sight.code for reload in _RELOADS):
        return "a script sets a cookie and loads again; there is nothing else"
    return None


def _one_line(needle: str) -> str:
    return needle.replace("\n", " ")
