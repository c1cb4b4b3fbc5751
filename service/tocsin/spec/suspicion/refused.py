"""Refusals and breakdowns that come as pages: "access denied", "something went wrong", binary data, nothing at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.spec.html.decoding import NOT_ASCII
from tocsin.spec.html.sniffing import BINARY, SNIFFED_BYTES
from tocsin.spec.suspicion.case import ERROR
from tocsin.spec.suspicion.words import BLOCKED_TELLS, BLOCKED_TITLES, ERROR_TELLS, ERROR_TITLES

if TYPE_CHECKING:
    from tocsin.spec.suspicion.case import Case
    from tocsin.spec.suspicion.folding import Phrases

_MOST_TEXT = 900
_MOST_LINKS = 500
_NOTHING = 60
# Compressed data have five times as many, and texts next to none.
_BINARY_SHARE = 1 / 50
_FEWEST_BINARY = 8
# How programs break down in the middle of a page, folded.
_BREAKDOWNS = (
    "fatal error uncaught",
    "fatal error allowed memory",
    "fatal error call to",
    "php fatal error",
    "parse error syntax error",
    "warning mysqli",
    "warning mysql",
    "warning pdo",
    "traceback most recent call last",
    "could not connect to the database",
    "error connecting to database",
    "there has been a critical error on this website",
    "upstream connect error",
    "no healthy upstream",
)


def find_blocked(case: Case) -> str | None:
    """Find what makes a page a refusal.

    A title, heading or beginning that says so and nothing else, words of a permission, an address, an
    incident or a country, at most 900 letters and few links; above 400 letters it takes several of such words, or a
    hint such as noindex. Or nothing more at all.
    """
    return _find(case, BLOCKED_TITLES, BLOCKED_TELLS)


def find_error(case: Case) -> str | None:
    """Find what makes a page a breakdown.

    A title, heading or beginning that says so and nothing else, words of trying again or of those in
    charge, at most 900 letters and few links; above 400 letters it takes several of such words, or a hint such as
    noindex. Or nothing more at all; or a program's own message as the first text of the page.
    """
    sight = case.sight
    if not sight.is_cut and not case.speaks_for_itself and sight.own <= 2 * _MOST_TEXT and sight.links <= _MOST_LINKS:
        message = next((text for text in _BREAKDOWNS if sight.text.startswith(text)), None)
        if message:
            return f'begins with "{message}"'
    return None if case.place.asked & ERROR else _find(case, ERROR_TITLES, ERROR_TELLS)


def find_empty(case: Case) -> str | None:
    """Find that there is nothing on a page.

    No title, text, picture, frame or button, no script or style, no element in its body, and no meta element that says
    what it is about: what a script fills is not empty, nor what breaks off within its head.
    """
    sight = case.sight
    if sight.is_cut or sight.title or sight.controls or sight.noscript:
        return None
    if sight.seen or sight.media or sight.fields or sight.passwords:
        return None
    if case.refresh is not None or not case.is_silent or sight.code or sight.has_elements:
        return None
    return "there is nothing on it"


def find_binary(case: Case) -> str | None:
    """Find that an answer which its server calls HTML is binary, such as data whose compression is not named.

    At least eight of its first 1,445 bytes, and a fiftieth of them, are control characters that no text has (SNF-09),
    in an encoding in which no letter is written with them.
    """
    head = case.body[:SNIFFED_BYTES]
    if not head or case.encoding in NOT_ASCII or case.speaks_for_itself or not case.is_silent:
        return None
    found = len(BINARY.findall(head))
    if found < max(_FEWEST_BINARY, _BINARY_SHARE * len(head)):
        return None
    return f"{found} of its first {len(head)} bytes are control characters that no text has"


def _find(case: Case, titles: Phrases, tells: Phrases) -> str | None:
    sight = case.sight
    if sight.is_cut or sight.own > _MOST_TEXT or sight.links > _MOST_LINKS or case.speaks_for_itself:
        return None
    if sight.passwords or case.asks:
        return None
    said = titles.opens(sight.title_parts, spare=1) or titles.opens(sight.heading_parts[:2], spare=1)
    if not said and sight.own <= _MOST_TEXT // 2:
        said = titles.opens(sight.beginning[:2], spare=1)
    if not said:
        return None
    told = tells.found_in(f"{sight.text} {sight.controls}")
    if case.is_told_enough(told):
        return f'says "{said}" and "{told[0]}"; {sight.own} letters of text'
    return f'says "{said}" and nothing else' if sight.own + sight.links <= _NOTHING else None
