"""What meta elements ask of robots."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from tocsin.spec.html.findings import Found, Level
from tocsin.spec.html.microsyntax import SPACE, lower_ascii
from tocsin.spec.lint.page import MOST_TOKENS, shown
from tocsin.spec.robots.directives import KNOWN_TERMS, ROBOTS, VALUED_TERMS, name_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.spec.lint.page import WrittenPage

_TERM = re.compile("[^,]+")
_OPPOSITES = {"index": ("noindex", "none"), "follow": ("nofollow", "none"), "all": ("noindex", "nofollow", "none")}
_UNTIL = "unavailable_after"


def check_robots(page: WrittenPage) -> Iterator[Found]:
    """Judge the terms of the robots meta elements, alone and together (LM-47, LM-49)."""
    terms = [*_find_terms(page)]
    until = False
    for place, term in terms:
        name = name_of(term)
        is_known = name in VALUED_TERMS if ":" in term else name in KNOWN_TERMS
        if not is_known and not (until and term[0].isdecimal()):  # the rest of a date that holds a comma
            message = f"no robot is known to obey {shown(term)}; {_mend(term)}"
            yield Found(place, "LM-49", Level.WARNING, message)
        until = name == _UNTIL
    said = {term for _, term in terms}
    for place, term in terms:
        against = next((other for other in _OPPOSITES.get(term, ()) if other in said), None)
        if against is not None:
            message = f"{term} stands against {against}, and the stricter one counts; remove one of them"
            yield Found(place, "LM-49", Level.WARNING, message)


def _find_terms(page: WrittenPage) -> Iterator[tuple[int, str]]:
    for element in page.named("meta"):
        if lower_ascii(element.get("name") or "") != ROBOTS:
            continue
        content = page.value_at(element, "content")
        for match in islice(_TERM.finditer(content.text), MOST_TOKENS):
            term = match[0].strip(SPACE)
            if term:
                offset = match.start() + len(match[0]) - len(match[0].lstrip(SPACE))
                yield content.at(offset), lower_ascii(term)


def _mend(term: str) -> str:
    if all(part in KNOWN_TERMS for part in term.split()):
        return "write a comma between its terms"
    return "take it out, or write index, noindex, follow, nofollow, all or none"
