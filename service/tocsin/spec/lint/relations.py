"""The types of links: whether they are known, allowed and up to date."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tocsin.spec.html.findings import Found, Level
from tocsin.spec.html.microsyntax import lower_ascii, split_tokens
from tocsin.spec.links.registry import REGISTRY, SYNONYMS, Standing
from tocsin.spec.links.relations import check_rel
from tocsin.spec.lint.page import MOST_TOKENS, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.spec.html.layout import PlacedElement
    from tocsin.spec.links.relations import RelProblem
    from tocsin.spec.lint.page import WrittenPage

REGISTER_AT: Final = "microformats.org/wiki/existing-rel-values"
"""Where link types of one's own are registered (C-08)."""

_OF_A_LINK_ELEMENT: Final = "write an a element, which needs no type"


class _Judged(NamedTuple):
    """What was found at a token of a rel."""

    number: int
    rule: str
    level: Level
    message: str


def check_relations(page: WrittenPage) -> Iterator[Found]:
    """Judge the link types of links (LK-13, LK-14, LK-40 to LK-42, LK-44)."""
    judged: dict[tuple[str, str], list[_Judged]] = {}  # the links of a page say much the same
    for element in page.named("a", "area", "link"):
        rel = element.get("rel")
        if rel:
            found = judged.get((element.tag, rel))
            if found is None:
                found = judged[element.tag, rel] = [*_judge(element.tag, split_tokens(rel)[:MOST_TOKENS])]
            places = page.tokens(element, "rel") if found else []
            for at in found:
                yield Found(places[at.number][0], at.rule, at.level, at.message)
        if element.get("rev"):
            yield from _check_rev(page, element)


def _judge(tag: str, tokens: list[str]) -> Iterator[_Judged]:
    problems = iter(check_rel(tag, " ".join(tokens)))
    problem = next(problems, None)
    seen: set[str] = set()
    for number, token in enumerate(tokens):
        keyword = token if ":" in token else lower_ascii(token)
        is_first = keyword not in seen
        seen.add(keyword)
        if problem is not None and problem.keyword == keyword and (problem.code != "duplicate") == is_first:
            yield _Judged(number, *_explain(tag, problem))
            problem = next(problems, None)
        elif is_first and (known := REGISTRY.get(keyword)) is not None and known.standing is Standing.OBSOLETE:
            mend = _OF_A_LINK_ELEMENT if tag == "link" else "leave it out"
            message = (
                f"HTML has given up the link type {shown(keyword)}; it is still read here, but not everywhere: {mend}"
            )
            yield _Judged(number, "LK-44", Level.WARNING, message)


def _explain(tag: str, problem: RelProblem) -> tuple[str, Level, str]:
    keyword = problem.keyword
    what = shown(keyword)
    if problem.code == "duplicate":
        return "LK-13", Level.ERROR, f"{what} stands twice in one rel; remove one"
    if problem.code == "synonym":
        canonical = SYNONYMS.get(keyword)
        mend = f"write {canonical}" if canonical else "write the type that it stands for"
        return "LK-14", Level.ERROR, f"{what} is read, but may not be written; {mend}"
    if problem.code == "not-allowed":
        return "LK-40", Level.ERROR, f"{what} means nothing on the element {tag}; leave it out"
    if ":" in keyword:
        return "LK-42", Level.ERROR, f"{what} holds a colon but is no absolute URL; write the URL that defines the type"
    if (known := REGISTRY.get(keyword)) is not None and known.standing is Standing.DISCONTINUED:
        return "LK-40", Level.ERROR, f"the link type {what} has been withdrawn; leave it out"
    message = f"{what} is no link type that is registered; leave it out, or register it at {REGISTER_AT}"
    return "LK-40", Level.WARNING, message


def _check_rev(page: WrittenPage, element: PlacedElement) -> Iterator[Found]:
    rev = element.get("rev") or ""
    mend = "rel=author" if lower_ascii(rev) == "made" else "the opposite type as rel"
    message = f"HTML has given up rev; it is still read here, but not everywhere: write {mend}"
    yield Found(page.place_in(element, "rev"), "LK-44", Level.WARNING, message)
