"""The types of links: whether they are known, allowed and up to date."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tocsin.spec.html.findings import Found, Level
from tocsin.spec.html.microsyntax import lower_ascii
from tocsin.spec.links.registry import REGISTRY, SYNONYMS, Standing
from tocsin.spec.links.relations import check_rel
from tocsin.spec.lint.page import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.spec.html.layout import PlacedElement
    from tocsin.spec.links.relations import RelProblem
    from tocsin.spec.lint.page import WrittenPage

REGISTER_AT: Final = "microformats.org/wiki/existing-rel-values"
"""Where link types of one's own are registered (C-08)."""

_MOST_TYPES = 1000
"""So many link types of one element are looked at."""


def check_relations(page: WrittenPage) -> Iterator[Found]:
    """Judge the link types of links (LK-13, LK-14, LK-40 to LK-42, LK-44)."""
    for element in page.named("a", "area", "link"):
        if element.get("rel"):
            yield from _check_types(page, element)
        if element.get("rev"):
            yield from _check_rev(page, element)


def _check_types(page: WrittenPage, element: PlacedElement) -> Iterator[Found]:
    tokens = page.tokens(element, "rel")[:_MOST_TYPES]
    problems = iter(check_rel(element.tag, " ".join(token for _, token in tokens)))
    problem = next(problems, None)
    seen: set[str] = set()
    for place, token in tokens:
        keyword = token if ":" in token else lower_ascii(token)
        is_first = keyword not in seen
        seen.add(keyword)
        if problem is not None and problem.keyword == keyword and (problem.code != "duplicate") == is_first:
            yield _found(place, element, problem)
            problem = next(problems, None)
        elif is_first and (known := REGISTRY.get(keyword)) is not None and known.standing is Standing.OBSOLETE:
            message = f"HTML has given up the link type {shown(keyword)}; it is still read here, but not everywhere"
            yield Found(place, "LK-44", Level.WARNING, message)


def _found(place: int, element: PlacedElement, problem: RelProblem) -> Found:
    keyword = problem.keyword
    what = shown(keyword)
    if problem.code == "duplicate":
        return Found(place, "LK-13", Level.ERROR, f"{what} stands twice in one rel; remove one")
    if problem.code == "synonym":
        canonical = SYNONYMS.get(keyword)
        mend = f"write {canonical}" if canonical else "write the type that it stands for"
        return Found(place, "LK-14", Level.ERROR, f"{what} is read, but may not be written; {mend}")
    if problem.code == "not-allowed":
        message = f"{what} means nothing on the element {element.tag}; leave it out"
        return Found(place, "LK-40", Level.ERROR, message)
    if ":" in keyword:
        message = f"{what} holds a colon but is no absolute URL; write the URL that defines the type"
        return Found(place, "LK-42", Level.ERROR, message)
    if (known := REGISTRY.get(keyword)) is not None and known.standing is Standing.DISCONTINUED:
        return Found(place, "LK-40", Level.ERROR, f"the link type {what} has been withdrawn; leave it out")
    message = f"{what} is no link type that is registered; leave it out, or register it at {REGISTER_AT}"
    return Found(place, "LK-40", Level.WARNING, message)


def _check_rev(page: WrittenPage, element: PlacedElement) -> Iterator[Found]:
    rev = element.get("rev") or ""
    mend = "rel=author" if lower_ascii(rev) == "made" else "the opposite type as rel"
    message = f"HTML has given up rev; it is still read here, but not everywhere: write {mend}"
    yield Found(page.place_in(element, "rev"), "LK-44", Level.WARNING, message)
