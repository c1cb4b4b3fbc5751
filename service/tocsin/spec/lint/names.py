"""What a page can be addressed by: identifiers, the names of anchors, and references to them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tocsin.spec.html.findings import Found, Level
from tocsin.spec.html.microsyntax import SPACE
from tocsin.spec.infrastructure.microsyntaxes import is_valid_hash_name
from tocsin.spec.lint.page import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.spec.html.layout import PlacedElement
    from tocsin.spec.lint.page import WrittenPage

_PLAIN = re.compile("[A-Za-z][A-Za-z0-9.-]*")
_SPACED = re.compile(f"[{SPACE}]")


def check_names(page: WrittenPage) -> Iterator[Found]:
    """Judge identifiers and the names of anchors (LM-04, LM-05)."""
    identified = [(element, element.values["id"]) for element in page.places.elements if element.values.get("id")]
    named = [(element, element.values["name"]) for element in page.named("a") if element.values.get("name")]
    yield from _find_twins(page, identified, "id")
    yield from _find_twins(page, named, "name")
    yield from _check_shapes(page, identified)


def _find_twins(page: WrittenPage, elements: list[tuple[PlacedElement, str]], attribute: str) -> Iterator[Found]:
    exact: set[str] = set()
    folded: dict[str, str] = {}
    what = "another element has the id" if attribute == "id" else "another anchor has the name"
    for element, value in elements:
        place = page.place_in(element, attribute)
        if value in exact:
            message = f"{what} {shown(value)}, and only the first can be addressed; give this one another"
            yield Found(place, "LM-04", Level.ERROR, message)
        elif value.lower() in folded:
            other = folded[value.lower()]
            message = f"{what} {shown(other)}, which some readers take for {shown(value)}; give this one another"
            yield Found(place, "LM-04", Level.WARNING, message)
        exact.add(value)
        folded.setdefault(value.lower(), value)


def _check_shapes(page: WrittenPage, identified: list[tuple[PlacedElement, str]]) -> Iterator[Found]:
    """Report identifiers that no text allows one by one; those that only the oldest forbids together, once a page."""
    odd: list[tuple[PlacedElement, str]] = []
    for element, value in identified:
        if _SPACED.search(value):
            message = f"the id {shown(value)} holds white space, so nothing can refer to it; leave that out"
            yield Found(page.place_in(element, "id"), "LM-05", Level.WARNING, message)
        elif not _PLAIN.fullmatch(value):
            odd.append((element, value))
    if odd:
        element, value = odd[0]
        others = f" (as are {len(odd) - 1} more)" if len(odd) > 1 else ""
        message = (
            f'the id {shown(value)} is not a letter followed by letters, digits, "-" or "."{others}; '
            f"old readers cannot address it"
        )
        yield Found(page.place_in(element, "id"), "LM-05", Level.WARNING, message)


def check_references(page: WrittenPage) -> Iterator[Found]:
    """Judge references within the page (LM-03, REF-02)."""
    targets = {element.values["id"] for element in page.places.elements if element.values.get("id")}
    targets |= {element.values["name"] for element in page.named("a") if element.values.get("name")}
    folded = {target.lower(): target for target in targets}
    for element in page.named("a", "area"):
        href = element.values.get("href", "")
        name = href.strip(SPACE)[1:]
        if not href.strip(SPACE).startswith("#") or name in targets or name.lower() not in folded:
            continue
        message = f"the page has no {shown(name)}, only {shown(folded[name.lower()])}; write it alike"
        yield Found(page.place_in(element, "href"), "LM-03", Level.WARNING, message)
    maps = {element.values["name"] for element in page.named("map") if element.values.get("name")}
    for element in page.named("img", "object"):
        usemap = element.values.get("usemap")
        if usemap is None or is_valid_hash_name(usemap, maps):
            continue
        message = (
            f'{shown(usemap)} is no reference to a map of this page; write "#" and the map\'s name, letter by letter'
        )
        yield Found(page.place_in(element, "usemap"), "REF-02", Level.ERROR, message)
