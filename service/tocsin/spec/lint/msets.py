"""The mset attributes of links: dates of reference, and copies."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from tocsin.spec.html.findings import Found, Level
from tocsin.spec.html.microsyntax import SPACE
from tocsin.spec.infrastructure.datetimes import is_valid_date, is_valid_global
from tocsin.spec.infrastructure.urls import is_absolute_url
from tocsin.spec.links.mset import MOST_CANDIDATES, MsetProblem, parse_mset
from tocsin.spec.links.relations import check_rel
from tocsin.spec.lint.page import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.spec.lint.page import Value, WrittenPage

_ANYWHERE = "https://page.invalid/"
"""Where a page of unknown address stands: whether a relative URL resolves, any address tells."""
# The first token of a candidate: a year alone, or one with more of a date behind it; 2014/ is a folder.
_LIKE_A_DATE = re.compile(
    rf"(?:\A|,)[{SPACE}]*+([12][0-9]{{3}}(?:[-/.][0-9TZ:/.+-]{{0,60}}+)?+)(?<=[0-9Z])(?=[{SPACE},]|\Z)"
)

_RULES = {
    MsetProblem.EMPTY: ("MS-16", Level.WARNING),
    MsetProblem.EMPTY_CANDIDATE: ("MS-02", Level.ERROR),
    MsetProblem.DATE_AND_MORE: ("MS-03", Level.ERROR),
    MsetProblem.COPY_AND_MORE: ("MS-05", Level.ERROR),
    MsetProblem.UNRESOLVABLE: ("MS-07", Level.ERROR),
    MsetProblem.INVALID_URL: ("MS-07", Level.ERROR),
    MsetProblem.TOO_MANY: ("MS-02", Level.WARNING),
}


def check_msets(page: WrittenPage) -> Iterator[Found]:
    """Judge where mset attributes stand, and their values (MS-01 to MS-08, MS-16)."""
    base = next((href.strip(SPACE) for element in page.named("base") if (href := element.get("href"))), "")
    base = base if is_absolute_url(base) else _ANYWHERE
    for element in page.places.elements:
        value = element.get("mset")
        if value is None:
            continue
        if element.tag != "a" or element.get("href") is None:
            message = "mset says something of a link, and this is none; move it to an a element with an href"
            yield Found(page.place_in(element, "mset"), "MS-01", Level.ERROR, message)
            continue
        written = page.value_at(element, "mset")
        read = parse_mset(value, base, page.encoding)
        for error in read.errors:
            rule, level = _RULES[error.code]
            yield Found(written.at(error.offset), rule, level, error.message)
        yield from _find_lost_dates(written)
        for copy in read.copies:
            if copy.rel is not None and _is_unknown(copy.rel):
                message = (
                    f"{shown(copy.rel)} is no link type that is registered; write such as memento, or leave it out"
                )
                yield Found(written.at(copy.rel_at or 0), "MS-08", Level.WARNING, message)


def _find_lost_dates(written: Value) -> Iterator[Found]:
    """Find what its author most likely took for a date, and every reader takes for a relative URL (C-44)."""
    for match in islice(_LIKE_A_DATE.finditer(written.text), MOST_CANDIDATES):
        text = match[1]
        if not (is_valid_date(text) or is_valid_global(text)):
            message = f"{shown(text)} is no whole date, so it is read as a URL; write such as 2026-11-21, or ./{text}"
            yield Found(written.at(match.start(1)), "MS-04", Level.WARNING, message)


def _is_unknown(rel: str) -> bool:
    return any(problem.code in {"unregistered", "synonym"} for problem in check_rel("a", rel))
