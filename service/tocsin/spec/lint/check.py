"""The checker: a page in, all findings for its author out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import nsmallest
from typing import Final

from tocsin.spec.html.document import to_meta
from tocsin.spec.html.positions import FindingLevel, Found, Lines, PageFinding, PlacedMeta
from tocsin.spec.lint.elements import (
    check_bases,
    check_fields,
    check_languages,
    check_names,
    check_references,
    check_times,
    check_xml,
)
from tocsin.spec.lint.links import check_links, check_msets, check_relations, check_urls
from tocsin.spec.lint.metas import check_encodings, check_metas, check_robots
from tocsin.spec.lint.microdata import check_microdata
from tocsin.spec.lint.page import WrittenPage, open_page
from tocsin.spec.topper.lint import find_topper_faults

# The number of findings of a page that are listed; the others are counted.
MOST_FINDINGS: Final = 1000

_CHECKS: Final[tuple[Callable[[WrittenPage], Iterator[Found]], ...]] = (
    check_xml,
    check_metas,
    check_encodings,
    check_robots,
    check_bases,
    check_names,
    check_references,
    check_links,
    check_relations,
    check_urls,
    check_languages,
    check_msets,
    check_microdata,
    check_fields,
    check_times,
)


def lint(body: bytes, content_type: str | None = None) -> tuple[PageFinding, ...]:
    """Find every rule that a page breaks, in the order of its text; `RULES` tells what they are.

    content_type  the value of the HTTP header, None if there was none
    Returns at most MOST_FINDINGS findings, and then one, of rule CI-08, that says how many more there are.
    Raises TooComplex for a page that is too complex to parse.
    """
    page = open_page(body, content_type)
    if page is None:
        return ()
    found = set(_find_all(page))
    lines = Lines(page.text)
    first = nsmallest(MOST_FINDINGS, found)
    told = [PageFinding(*lines.position_of(at.place), at.rule, at.level, at.message) for at in first]
    if len(found) > len(first):
        told.append(_more(told, len(found), sum(at.level is FindingLevel.ERROR for at in found)))
    return tuple(told)


def _find_all(page: WrittenPage) -> Iterator[Found]:
    metas = [
        PlacedMeta(to_meta(element.get), element.span, element.spans, in_head=element.in_head)
        for element in page.named("meta")
    ]
    yield from find_topper_faults(page.text, metas)
    for check in _CHECKS:
        yield from check(page)


def _more(told: list[PageFinding], count: int, errors: int) -> PageFinding:
    """Report the number of findings that are not listed, at the place of the last listed one.

    count, errors  of all there are
    """
    untold = errors - sum(finding.level is FindingLevel.ERROR for finding in told)
    level = FindingLevel.ERROR if untold else FindingLevel.WARNING
    message = f"{count - len(told)} more findings, {untold} of them errors, are not shown; mend these, then look again"
    return PageFinding(told[-1].line, told[-1].column, "CI-08", level, message)
