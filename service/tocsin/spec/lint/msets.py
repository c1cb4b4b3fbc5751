"""The mset attributes of links: dates of reference, and copies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.spec.html.findings import Found, Level
from tocsin.spec.html.microsyntax import SPACE
from tocsin.spec.infrastructure.urls import is_absolute_url
from tocsin.spec.links.mset import MsetProblem, parse_mset
from tocsin.spec.links.relations import check_rel
from tocsin.spec.lint.page import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.spec.lint.page import WrittenPage

_ANYWHERE = "https://page.invalid/"
"""Where a page of unknown address stands: whether a relative URL resolves, any address tells."""

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
        for copy in read.copies:
            if copy.rel is not None and _is_unknown(copy.rel):
                message = (
                    f"{shown(copy.rel)} is no link type that is registered; write such as memento, or leave it out"
                )
                yield Found(written.at(copy.rel_at or 0), "MS-08", Level.WARNING, message)


def _is_unknown(rel: str) -> bool:
    return any(problem.code in {"unregistered", "synonym"} for problem in check_rel("a", rel))
